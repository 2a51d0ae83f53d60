//! Calls that are refused, asked about, let through and looked at afterwards.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::connection::{Connection, PATIENCE, asks, chooses, options, prompt, requests, tells, told};
use crate::support::TestEnvironment;

/// The records of a session of the proxy of one kind.
fn records(environment: &TestEnvironment, session: &str, kind: &str) -> Vec<Json> {
    let all = environment.records(&format!("acp-{session}"));
    all.into_iter().map(|record| record["body"].clone()).filter(|body| body["type"] == kind).collect()
}

#[test]
fn a_request_to_delete_the_home_directory_never_reaches_the_editor() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    connection.agent_says(&asks(&json!(0), "s1", "call-1", "rm -rf ~"));
    let answer = connection.agent_hears();
    assert_eq!(answer["id"], json!(0));
    assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "no" }));
    let reason = answer["result"]["_meta"]["checkrein"]["reason"].as_str().unwrap();
    assert!(reason.contains("home directory") && reason.lines().count() <= 5, "{reason}");
    let said = connection.editor_hears();
    assert!(told(&said).contains("checkrein: stopped `rm -rf ~`"), "{said}");
    // What is harmless goes on as it came, and is the next thing that the editor sees.
    connection.reaches_editor(&asks(&json!(1), "s1", "call-2", "ls"));
    connection.reaches_agent(&chooses(&json!(1), "once"));
    connection.end();
    let reviews = records(&environment, "s1", "review");
    let seen: Vec<_> =
        reviews.iter().map(|one| (one["action_id"].as_str(), one["verdict"].as_str())).collect();
    assert_eq!(seen, [(Some("call-1"), Some("block")), (Some("call-2"), Some("ok"))]);
    assert_eq!(records(&environment, "s1", "session_started")[0]["client"], "acp");
    assert_eq!(records(&environment, "s1", "prompt")[0]["text"], "clean up");
}

#[test]
fn a_command_that_stands_elsewhere_is_found_and_one_that_stands_nowhere_is_asked_about() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let content = |text: &str| json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    let asked = |id: usize, request: Json| {
        let mut params = json!({ "sessionId": "s1", "options": options() });
        params.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
        requests(&json!(id), "session/request_permission", &params)
    };
    let call = |id: &str, more: Json| {
        let mut call = json!({ "toolCallId": id, "kind": "execute", "title": "Clean up" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "toolCall": call })
    };
    for (id, request) in [
        call("c1", json!({ "content": content("rm -rf ~") })),
        call(
            "run_shell_command__1",
            json!({ "title": "rm -rf ~", "rawInput": { "description": "list files" } }),
        ),
        json!({ "title": "Clean up", "subject": { "type": "command", "command": "rm -rf ~" } }),
        call("c4", json!({ "rawInput": { "what": "rm -rf ~" } })),
    ]
    .into_iter()
    .enumerate()
    {
        connection.agent_says(&asked(id, request.clone()));
        let answer = connection.agent_hears();
        assert_eq!(
            (&answer["id"], &answer["result"]["outcome"]["optionId"]),
            (&json!(id), &json!("no")),
            "{request}"
        );
        assert!(told(&connection.editor_hears()).contains("stopped"), "{request}");
    }
    connection.agent_says(&asked(9, call("c9", json!({}))));
    let shown = connection.editor_hears();
    assert!(shown.to_string().contains("checkrein asks you first"), "{shown}");
    assert!(!shown["params"]["options"].to_string().contains("allow_always"), "{shown}");
    connection.agent_says(&requests(
        &json!(10),
        "_editor/terminal/create",
        &json!({ "sessionId": "s1", "command": "rm", "args": ["-rf", environment.home()] }),
    ));
    assert_eq!(connection.agent_hears()["error"]["code"], json!(-32000));
    connection.end();
}

#[test]
fn a_refusal_is_a_cancellation_where_no_single_rejection_is_offered() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let mut asked = asks(&json!("x"), "s1", "call-1", "rm -rf ~");
    asked["params"]["options"] = json!([{ "optionId": "y", "name": "Yes", "kind": "allow_once" }]);
    connection.agent_says(&asked);
    assert_eq!(connection.agent_hears()["result"]["outcome"], json!({ "outcome": "cancelled" }));
    // A request that cannot be understood is refused too.
    connection
        .agent_writes(b"{\"id\":5,\"method\":\"session/request_permission\",\"params\":{\"options\":]}}\n");
    connection.agent_says(&requests(
        &json!(6),
        "session/request_permission",
        &json!({ "options": options() }),
    ));
    let answer = connection.agent_hears();
    assert_eq!((&answer["id"], &answer["result"]["outcome"]["optionId"]), (&json!(6), &json!("no")));
    connection.end();
}

#[test]
fn a_question_is_the_one_of_the_editor_with_the_reason_beside_it_each_time() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    for (number, call) in ["call-1", "call-2"].into_iter().enumerate() {
        let mut asked = asks(&json!(number), "s1", call, "git push --force origin main");
        asked["params"]["toolCall"]["content"] =
            json!([{ "type": "content", "content": { "type": "text", "text": "as the agent has it" } }]);
        connection.agent_says(&asked);
        let shown = connection.editor_hears();
        let content = shown["params"]["toolCall"]["content"].as_array().unwrap();
        assert_eq!(content[0]["content"]["text"], "as the agent has it");
        let reason = content[1]["content"]["text"].as_str().unwrap();
        assert!(
            reason.contains("checkrein asks you first") && reason.contains("--force-with-lease"),
            "{reason}"
        );
        // A choice that holds for later calls, too, is left out; all else is as it came.
        let kinds: Vec<&str> = (shown["params"]["options"].as_array().unwrap().iter())
            .map(|option| option["kind"].as_str().unwrap())
            .collect();
        assert!(kinds.contains(&"allow_once") && !kinds.contains(&"allow_always"), "{kinds:?}");
        let mut rest = shown.clone();
        rest["params"]["toolCall"]["content"] = asked["params"]["toolCall"]["content"].clone();
        rest["params"]["options"] = asked["params"]["options"].clone();
        assert_eq!(rest, asked);
        // However lasting the answer of an editor is, it holds for this call alone.
        connection.editor_says(&chooses(&json!(number), "always"));
        assert_eq!(connection.agent_hears(), chooses(&json!(number), "once"));
        let said = connection.editor_hears();
        assert!(told(&said).contains("this one call"), "{said}");
    }
    connection.end();
    assert_eq!(records(&environment, "s1", "review").len(), 2);
}

#[test]
fn what_the_user_allows_for_good_is_kept_here_and_each_call_is_judged_anew() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    connection.begin("s2", &environment.project());
    // The agent goes on asking, since it hears of no lasting yes.
    for (id, command, covered) in
        [(0, "git log -2", "`git log ...`"), (10, "git push origin topic", "`git push origin topic ...`")]
    {
        connection.reaches_editor(&asks(&json!(id), "s1", command, command));
        connection.editor_says(&chooses(&json!(id), "always"));
        assert_eq!(connection.agent_hears(), chooses(&json!(id), "once"), "{command}");
        let said = connection.editor_hears();
        assert!(told(&said).contains(covered), "{said}");
    }
    connection.agent_says(&asks(&json!("1"), "s1", "c2", "git log --oneline"));
    assert_eq!(connection.agent_hears(), chooses(&json!("1"), "once"));
    // Nothing else is covered, and nothing in another session.
    connection.reaches_editor(&asks(&json!(2), "s1", "c3", "git status -s"));
    connection.reaches_agent(&chooses(&json!(2), "no"));
    connection.reaches_editor(&asks(&json!(3), "s2", "c4", "git log -2"));
    connection.reaches_agent(&chooses(&json!(3), "no"));
    connection.reaches_editor(&asks(&json!(4), "s1", "c5", "git log -2; git status"));
    connection.reaches_agent(&chooses(&json!(4), "no"));
    // What it covers and must not run does not.
    connection.agent_says(&asks(&json!(5), "s1", "c6", "git push origin topic --force"));
    assert_eq!(connection.agent_hears()["result"]["outcome"]["optionId"], "no");
    let said = connection.editor_hears();
    assert!(told(&said).contains("checkrein"), "{said}");
    connection.end();
    let seen = records(&environment, "s1", "review").len();
    assert_eq!(seen, 6, "each call is reviewed");
}

#[test]
fn a_lasting_yes_goes_on_where_the_agent_offers_no_other_and_that_is_said() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let mut asked = asks(&json!(0), "s1", "c1", "git log -2");
    asked["params"]["options"] = json!([options()[0], options()[2]]);
    connection.reaches_editor(&asked);
    connection.reaches_agent(&chooses(&json!(0), "always"));
    let said = connection.editor_hears();
    assert!(told(&said).contains("no yes for one call"), "{said}");
    // It asked about such calls before; that says nothing of this one, which runs already.
    connection.agent_says(&tells(
        "s1",
        &json!({ "sessionUpdate": "tool_call", "toolCallId": "c2", "kind": "execute", "status": "in_progress",
            "title": "rm -rf ~", "rawInput": { "command": "rm -rf ~" }, "content": [] }),
    ));
    assert_eq!(connection.agent_hears()["method"], "session/cancel");
    connection.end();
}

#[test]
fn a_call_that_turns_into_another_one_after_the_yes_ends_the_turn() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    connection.reaches_editor(&asks(&json!(0), "s1", "c1", "git log -2"));
    connection.reaches_agent(&chooses(&json!(0), "once"));
    connection.agent_says(&tells(
        "s1",
        &json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "kind": "execute", "status": "in_progress",
            "title": "rm -rf ~", "rawInput": { "command": "rm -rf ~" } }),
    ));
    assert_eq!(connection.agent_hears()["method"], "session/cancel");
    connection.end();
}

#[test]
fn an_answer_of_the_user_that_says_two_things_is_a_no() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    for (number, twice) in [
        r#"{"outcome":{"outcome":"selected","optionId":"no","optionId":"once"}}"#,
        r#"{"outcome":{"outcome":"selected","optionId":"once","optionId":"no"}}"#,
        r#"{"outcome":{"outcome":"selected","optionId":"no"},"outcome":{"outcome":"selected","optionId":"once"}}"#,
    ]
    .into_iter()
    .enumerate()
    {
        connection.reaches_editor(&asks(&json!(number), "s1", &format!("c{number}"), "git log -2"));
        connection.editor_writes(format!("{{\"id\":{number},\"result\":{twice}}}\n").as_bytes());
        let answer = connection.agent_hears();
        assert_eq!((&answer["id"], &answer["result"]["outcome"]["outcome"]), (&json!(number), &json!("cancelled")));
    }
    connection.end();
}

#[test]
fn a_file_that_the_agent_has_written_is_saved_before_and_comes_back() {
    let environment = TestEnvironment::new();
    let notes = environment.project().join("notes.txt");
    environment.write("notes.txt", "the only copy\n");
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let write = requests(
        &json!(0),
        "fs/write_text_file",
        &json!({ "sessionId": "s1", "path": notes, "content": "gone\n" }),
    );
    connection.agent_says(&write);
    // It may be told that the file was saved; the request itself is unchanged.
    let mut heard = connection.editor_hears();
    if heard != write {
        heard = connection.editor_hears();
    }
    assert_eq!(heard, write);
    fs::write(&notes, "gone\n").unwrap();
    connection.reaches_agent(&json!({ "jsonrpc": "2.0", "id": 0, "result": null }));
    connection.end();
    let outcome = &records(&environment, "s1", "outcome")[0];
    assert_eq!((&outcome["tool"], &outcome["failed"]), (&json!("Write"), &json!(false)));
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "the only copy\n");
}

#[test]
fn what_the_editor_is_asked_to_do_and_must_not_is_an_error_with_the_reason() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let home = environment.home();
    let refused = [
        ("terminal/create", json!({ "sessionId": "s1", "command": "rm -rf ~" })),
        ("terminal/create", json!({ "sessionId": "s1", "command": "sh", "args": ["-c", "rm -rf ~"] })),
        ("terminal/create", json!({ "sessionId": "s1", "command": "rm -rf ~ #", "args": ["x"] })),
        ("terminal/create", json!({ "sessionId": "s1", "command": ["rm"] })),
        (
            "fs/write_text_file",
            json!({ "sessionId": "s1", "path": home.join(".config/checkrein/config.yaml"), "content": "mode: observe" }),
        ),
        ("fs/write_text_file", json!({ "sessionId": "s1", "path": "a.txt" })),
        ("fs/write_text_file", json!({ "path": "a.txt", "content": "x" })),
    ];
    for (number, (method, params)) in refused.iter().enumerate() {
        connection.agent_says(&requests(&json!(number), method, params));
        let answer = connection.agent_hears();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(number), &json!(-32000)), "{params}");
        let reason = answer["error"]["message"].as_str().unwrap();
        assert!(reason.contains("checkrein") && reason.lines().count() <= 5, "{reason}");
    }
    connection.end();
}

#[test]
fn where_the_agent_asks_nobody_we_ask_the_editor() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let push = json!({ "sessionId": "s1", "command": "git push --force origin main" });
    for (number, option) in ["allow", "reject"].into_iter().enumerate() {
        let request = requests(&json!(number), "terminal/create", &push);
        connection.agent_says(&request);
        let question = connection.editor_hears();
        assert_eq!(question["method"], "session/request_permission");
        assert_eq!(question["params"]["toolCall"]["title"], "git push --force origin main");
        // It waits; what comes behind it does not.
        connection.reaches_editor(&tells("s1", &json!({ "sessionUpdate": "plan", "entries": [] })));
        // An answer with the id of the request itself is not one to the question.
        let id = question["id"].as_str().unwrap();
        assert!(id.starts_with("checkrein-"), "{id}");
        connection.editor_says(&chooses(&question["id"], option));
        let ended = connection.editor_hears();
        assert_eq!(ended["params"]["update"]["toolCallId"], id);
        if option == "allow" {
            assert_eq!(connection.editor_hears(), request);
            connection.reaches_agent(&json!({ "jsonrpc": "2.0", "id": 0, "result": { "terminalId": "t1" } }));
            connection.reaches_editor(&requests(
                &json!(9),
                "terminal/wait_for_exit",
                &json!({ "sessionId": "s1", "terminalId": "t1" }),
            ));
            connection.reaches_agent(
                &json!({ "jsonrpc": "2.0", "id": 9, "result": { "exitCode": 3, "signal": null } }),
            );
        } else {
            let answer = connection.agent_hears();
            assert_eq!(answer["id"], json!(1));
            assert!(answer["error"]["message"].as_str().unwrap().contains("rejected"), "{answer}");
        }
    }
    // Who cancels the turn answers no question any more.
    connection.agent_says(&requests(&json!(2), "terminal/create", &push));
    let question = connection.editor_hears();
    connection.reaches_agent(
        &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s1" } }),
    );
    assert!(connection.agent_hears()["error"]["message"].as_str().unwrap().contains("cancelled"));
    connection.editor_says(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "outcome": { "outcome": "cancelled" } } }));
    connection.reaches_agent(&json!({ "jsonrpc": "2.0", "method": "x/after", "params": {} }));
    connection.end();
    let outcomes = records(&environment, "s1", "outcome");
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    assert_eq!(outcomes[0]["error"], "Exit code 3");
}

#[test]
fn a_call_that_the_agent_makes_by_itself_is_looked_at_afterwards() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let call = |status: &str, command: &str| {
        tells(
            "s1",
            &json!({ "sessionUpdate": "tool_call", "toolCallId": command, "kind": "execute", "status": status,
            "title": command, "rawInput": { "command": command }, "content": [] }),
        )
    };
    let end = |command: &str| {
        tells(
            "s1",
            &json!({ "sessionUpdate": "tool_call_update", "toolCallId": command, "status": "completed" }),
        )
    };
    connection.reaches_editor(&call("in_progress", "true"));
    // It does something else than it said.
    thread::sleep(Duration::from_millis(50));
    environment.write("src/unforeseen.txt", "x");
    connection.agent_says(&end("true"));
    let (first, second) = (connection.editor_hears(), connection.editor_hears());
    let said = format!("{}{}", told(&first), told(&second));
    assert!(said.contains("not do what was predicted") && said.contains("unforeseen.txt"), "{said}");
    // One that must not run ends the turn.
    connection.agent_says(&call("in_progress", "rm -rf ~"));
    assert_eq!(
        connection.agent_hears(),
        json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s1" } })
    );
    let said = connection.editor_hears();
    assert!(
        told(&said).contains("stopped `rm -rf ~`") && told(&said).contains("turn is cancelled"),
        "{said}"
    );
    connection.end();
    assert!(!records(&environment, "s1", "outcome").is_empty());
}

#[test]
fn that_a_call_is_refused_is_told_once_however_often_the_agent_names_it() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let announced = |call: &str, command: &str| {
        tells(
            "s1",
            &json!({ "sessionUpdate": "tool_call", "toolCallId": call, "kind": "execute", "status": "pending",
            "title": command, "rawInput": { "command": command }, "content": [] }),
        )
    };
    // Announced first, then asked about: the user reads of it at the first.
    connection.reaches_editor(&announced("c1", "rm -rf ~"));
    assert!(told(&connection.editor_hears()).contains("checkrein: stopped `rm -rf ~`"));
    connection.agent_says(&asks(&json!(1), "s1", "c1", "rm -rf ~"));
    assert_eq!(connection.agent_hears()["result"]["outcome"]["optionId"], "no");
    connection.reaches_editor(&asks(&json!(2), "s1", "c2", "ls"));
    connection.reaches_agent(&chooses(&json!(2), "once"));
    // Another command under the same name is another thing.
    connection.agent_says(&asks(&json!(3), "s1", "c1", "rm -rf ~/project/.git"));
    assert_eq!(connection.agent_hears()["result"]["outcome"]["optionId"], "no");
    let said = connection.editor_hears();
    assert!(told(&said).contains(".git"), "{said}");
    // Asked about twice: the second time it is known.
    connection.agent_says(&asks(&json!(4), "s1", "c1", "rm -rf ~/project/.git"));
    assert_eq!(connection.agent_hears()["result"]["outcome"]["optionId"], "no");
    connection.reaches_editor(&asks(&json!(5), "s1", "c5", "pwd"));
    connection.reaches_agent(&chooses(&json!(5), "once"));
    // What is asked about is told in the question alone.
    connection.reaches_editor(&announced("c6", "git push --force origin main"));
    connection.agent_says(&asks(&json!(6), "s1", "c6", "git push --force origin main"));
    let question = connection.editor_hears();
    assert_eq!(question["method"], "session/request_permission", "{question}");
    connection.reaches_agent(&chooses(&json!(6), "no"));
    connection.end();
}

#[test]
fn an_approved_write_is_reviewed_once() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let path = environment.project().join("a.txt");
    let diff = json!({ "type": "diff", "path": path, "oldText": null, "newText": "hello\n" });
    let asked = requests(
        &json!(0),
        "session/request_permission",
        &json!({ "sessionId": "s1", "options": options(),
        "toolCall": { "toolCallId": "w1", "kind": "edit", "title": "Writing to a.txt", "content": [diff], "locations": [{ "path": path }] } }),
    );
    connection.reaches_editor(&asked);
    connection.reaches_agent(&chooses(&json!(0), "once"));
    let write = |id: u32, text: &str| {
        requests(
            &json!(id),
            "fs/write_text_file",
            &json!({ "sessionId": "s1", "path": path, "content": text }),
        )
    };
    connection.reaches_editor(&write(1, "hello\n"));
    connection.reaches_agent(&json!({ "jsonrpc": "2.0", "id": 1, "result": null }));
    fs::write(&path, "hello\n").unwrap();
    connection.reaches_editor(&tells("s1", &json!({ "sessionUpdate": "tool_call_update", "toolCallId": "w1", "status": "completed", "content": [diff] })));
    // Another text is another call.
    connection.agent_says(&write(2, "bye\n"));
    let mut heard = connection.editor_hears();
    if heard["method"] == "session/update" {
        heard = connection.editor_hears();
    }
    assert_eq!(heard, write(2, "bye\n"));
    connection
        .reaches_agent(&json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": 1, "message": "disk full" } }));
    connection.end();
    assert_eq!(records(&environment, "s1", "review").len(), 2);
    let errors: Vec<Json> =
        records(&environment, "s1", "outcome").iter().map(|one| one["error"].clone()).collect();
    assert_eq!(errors, [Json::Null, json!("disk full")]);
}

#[test]
fn a_call_that_the_user_rejected_is_not_made_by_the_editor() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let path = environment.project().join("a.txt");
    let asked = requests(
        &json!(0),
        "session/request_permission",
        &json!({ "sessionId": "s1", "options": options(),
        "toolCall": { "toolCallId": "w1", "kind": "edit", "title": "t", "rawInput": { "file_path": path, "content": "x" } } }),
    );
    connection.reaches_editor(&asked);
    connection.reaches_agent(&chooses(&json!(0), "no"));
    connection.agent_says(&requests(
        &json!(1),
        "fs/write_text_file",
        &json!({ "sessionId": "s1", "path": path, "content": "x" }),
    ));
    assert!(connection.agent_hears()["error"]["message"].as_str().unwrap().contains("rejected"));
    connection.end();
}

#[test]
fn a_halt_ends_the_turn_and_refuses_what_follows_until_it_is_lifted() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    let turn = connection.begin("s1", &environment.project());
    environment.succeed(&["halt", "acp-s1", "--reason", "wrong branch"]);
    assert_eq!(connection.agent_hears()["method"], "session/cancel");
    assert!(told(&connection.editor_hears()).contains("wrong branch"));
    connection.agent_says(&asks(&json!(0), "s1", "call-1", "ls"));
    let answer = connection.agent_hears();
    assert_eq!(answer["result"]["outcome"]["optionId"], "no", "{answer}");
    assert!(told(&connection.editor_hears()).contains("halted at `ls`"));
    connection.agent_says(&requests(
        &json!(1),
        "fs/read_text_file",
        &json!({ "sessionId": "s1", "path": "a" }),
    ));
    assert!(connection.agent_hears()["error"]["message"].as_str().unwrap().contains("wrong branch"));
    connection
        .reaches_editor(&json!({ "jsonrpc": "2.0", "id": turn, "result": { "stopReason": "cancelled" } }));
    // The next prompt is not passed on either.
    connection.editor_says(&prompt(&json!("again"), "s1", "go on"));
    assert!(told(&connection.editor_hears()).contains("wrong branch"));
    assert_eq!(
        connection.editor_hears(),
        json!({ "jsonrpc": "2.0", "id": "again", "result": { "stopReason": "refusal" } })
    );
    environment.succeed(&["resume", "acp-s1"]);
    connection.reaches_agent(&prompt(&json!("once more"), "s1", "go on"));
    connection.reaches_editor(&asks(&json!(2), "s1", "call-2", "ls"));
    connection.end();
}

#[test]
fn two_sessions_and_colliding_ids_are_kept_apart() {
    let environment = TestEnvironment::new();
    let other = environment.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    connection.begin("s2", &other);
    // The same id as a number, as a text, as null, of both sides and in both sessions at once.
    let one = asks(&json!(1), "s1", "c1", "ls");
    let text = asks(&json!("1"), "s2", "c1", "pwd");
    let null = asks(&Json::Null, "s1", "c2", "date");
    for request in [&one, &text, &null] {
        connection.reaches_editor(request);
    }
    connection.reaches_agent(&prompt(&json!(1), "s1", "and this"));
    for id in [json!("1"), Json::Null, json!(1)] {
        connection.reaches_agent(&chooses(&id, "once"));
    }
    connection.reaches_editor(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "stopReason": "end_turn" } }));
    // Twice the same id in flight.
    connection.reaches_editor(&asks(&json!(7), "s1", "c3", "ls -l"));
    connection.reaches_editor(&asks(&json!(7), "s2", "c4", "ls -a"));
    connection.agent_says(&asks(&json!(7), "s2", "c5", "rm -rf ~"));
    assert_eq!(connection.agent_hears()["id"], json!(7));
    assert!(told(&connection.editor_hears()).contains("stopped"));
    connection.reaches_agent(&chooses(&json!(7), "no"));
    connection.reaches_agent(&chooses(&json!(7), "once"));
    connection.end();
    let commands = |session: &str| -> Vec<String> {
        let all = records(&environment, session, "review");
        all.iter().map(|one| one["input"]["command"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(commands("s1"), ["ls", "date", "ls -l"]);
    assert_eq!(commands("s2"), ["pwd", "ls -a", "rm -rf ~"]);
    assert_eq!(records(&environment, "s2", "session_started")[0]["cwd"], other.to_str().unwrap());
}

#[test]
fn what_a_resumed_session_tells_of_its_past_is_not_judged() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.reaches_agent(&json!({ "jsonrpc": "2.0", "id": 1, "method": "session/load",
        "params": { "sessionId": "s1", "cwd": environment.project(), "mcpServers": [] } }));
    let past = tells(
        "s1",
        &json!({ "sessionUpdate": "tool_call", "toolCallId": "old", "kind": "execute",
        "status": "completed", "title": "rm -rf ~", "rawInput": { "command": "rm -rf ~" } }),
    );
    connection.reaches_editor(&past);
    connection.reaches_editor(&json!({ "jsonrpc": "2.0", "id": 1, "result": null }));
    connection.end();
    assert!(records(&environment, "s1", "review").is_empty());
    assert_eq!(records(&environment, "s1", "session_started")[0]["source"], "resume");
}

#[test]
fn what_cannot_be_recorded_is_asked_about_and_what_nobody_can_be_asked_about_is_refused() {
    let environment = TestEnvironment::new();
    // The state directory is a file: nothing can be written down.
    fs::create_dir_all(environment.state().parent().unwrap()).unwrap();
    fs::write(environment.state(), "not a folder").unwrap();
    let mut connection = Connection::open(&environment);
    let id = json!("new");
    connection.reaches_agent(&json!({ "jsonrpc": "2.0", "id": id, "method": "session/new", "params": { "cwd": environment.project() } }));
    connection.agent_says(&json!({ "jsonrpc": "2.0", "id": id, "result": { "sessionId": "s1" } }));
    connection.agent_says(&requests(
        &json!(0),
        "terminal/create",
        &json!({ "sessionId": "s1", "command": "touch x" }),
    ));
    let started = std::time::Instant::now();
    loop {
        let heard = connection.editor_hears();
        assert_ne!(heard["method"], "terminal/create", "it went through unrecorded");
        if heard["method"] == "session/request_permission" {
            break;
        }
        assert!(started.elapsed() < PATIENCE);
    }
    connection.end();

    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "profile: unattended\n");
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    connection.agent_says(&requests(
        &json!(0),
        "terminal/create",
        &json!({ "sessionId": "s1", "command": "git push --force origin main" }),
    ));
    let answer = connection.agent_hears();
    assert!(answer["error"]["message"].as_str().unwrap().contains("unattended"), "{answer}");
    connection.end();
}
