//! Requests in other words than those of the protocol: methods of extensions, methods in another case, questions that show a title alone,
//! choices of kinds that nobody knows.

use serde_json::{Value as Json, json};

use crate::connection::{Connection, asks, chooses, requests, told};
use crate::support::TestEnvironment;

#[test]
fn what_an_extension_is_to_run_is_judged_like_a_terminal() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let home = environment.home();
    for (id, (method, params)) in [
        ("_acme/exec", json!({ "sessionId": "s1", "command": "rm", "args": ["-rf", home] })),
        ("_acme/exec", json!({ "command": "rm -rf ~" })),
        ("acme/do", json!({ "session_id": "s1", "request": { "Cmd": "rm -rf ~" } })),
        ("_acme/exec", json!({ "sessionId": "s1", "command": "sh", "args": ["-c", "rm -rf ~"] })),
        ("_acme/delete_file", json!({ "sessionId": "s1", "path": home })),
        ("Terminal/Create", json!({ "sessionId": "s1", "command": "rm -rf ~" })),
        ("FS/Write_Text_File", json!({ "sessionId": "s1", "path": home.join(".bashrc"), "content": "x" })),
        ("terminal/Create", json!({ "command": "rm -rf ~" })),
    ]
    .into_iter()
    .enumerate()
    {
        connection.agent_says(&requests(&json!(id), method, &params));
        if method == "FS/Write_Text_File" {
            let asked = connection.editor_hears();
            assert_eq!(asked["method"], "session/request_permission", "{asked}");
            connection.editor_says(&chooses(&asked["id"], "reject"));
            connection.editor_hears();
        } else if params.get("sessionId").is_some() || method != "terminal/Create" {
            assert!(told(&connection.editor_hears()).contains("stopped"), "{method} {params}");
        }
        let answer = connection.agent_hears();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(id), &json!(-32000)),
            "{method} {params}"
        );
    }
    // A notification waits for no answer, and is not passed on either; what names nothing to do goes on as it came.
    connection.agent_says(
        &json!({ "jsonrpc": "2.0", "method": "_acme/exec", "params": { "command": "rm -rf ~" } }),
    );
    assert!(told(&connection.editor_hears()).contains("stopped"));
    for (method, params) in [
        ("_acme/progress", json!({ "sessionId": "s1", "text": "rm -rf ~" })),
        ("craft/drainMidTurnQueue", json!({ "sessionId": "s1" })),
        ("_acme/exec", json!({ "sessionId": "s1", "command": "ls", "args": ["-l"] })),
        ("_acme/open", json!({ "path": environment.project().join("README.md"), "line": 3 })),
        ("Terminal/Output", json!({ "sessionId": "s1", "terminalId": "t" })),
    ] {
        connection.reaches_editor(&requests(&json!("x"), method, &params));
        connection.reaches_agent(&json!({ "jsonrpc": "2.0", "id": "x", "result": {} }));
    }
    connection.end();
}

#[test]
fn edits_that_an_agent_sends_the_editor_are_judged_by_their_fields() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let at = |name: &str| format!("file://{}", environment.home().join(name).display());
    let kept = format!("file://{}", environment.project().join("README.md").display());
    let edit = json!([{ "range": {}, "newText": "x" }]);
    for (id, (method, edits)) in [
        ("workspace/applyEdit", json!({ "changes": { at(".bashrc"): edit } })),
        (
            "_zed/apply",
            json!({ "documentChanges": [{ "textDocument": { "uri": at(".bashrc"), "version": 1 }, "edits": edit }] }),
        ),
        ("_zed/do", json!({ "documentChanges": [{ "kind": "delete", "uri": at(".bashrc") }] })),
        (
            "_zed/do",
            json!({ "documentChanges": [{ "kind": "rename", "oldUri": kept, "newUri": at(".bash_profile") }] }),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let params = json!({ "sessionId": "s1", "edit": edits });
        connection.agent_says(&requests(&json!(id), method, &params));
        let heard = connection.editor_hears();
        if heard["method"] == "session/request_permission" {
            connection.editor_says(&chooses(&heard["id"], "reject"));
            connection.editor_hears();
        } else {
            assert!(told(&heard).contains("stopped"), "{method} {params} {heard}");
        }
        let answer = connection.agent_hears();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32000)), "{params}");
    }
    for params in [
        json!({ "changes": { "added": 3 }, "title": "two edits" }),
        json!({ "edit": { "changes": { kept: edit } } }),
    ] {
        connection.reaches_editor(&requests(&json!("x"), "workspace/applyEdit", &params));
    }
    connection.end();
}

#[test]
fn a_question_with_a_title_alone_is_judged_by_it_where_it_reads_as_a_command() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let asked = |id: usize, call: Json| {
        let params = json!({ "sessionId": "s1", "options": [
            { "optionId": "once", "name": "Allow", "kind": "allow_once" },
            { "optionId": "no", "name": "Reject", "kind": "reject_once" } ], "toolCall": call });
        requests(&json!(id), "session/request_permission", &params)
    };
    for (id, call) in [
        json!({ "toolCallId": "c1", "title": "rm -rf ~" }),
        json!({ "toolCallId": "c2", "title": "rm -rf ~", "kind": "other" }),
        json!({ "toolCallId": "c3", "title": "Run `rm -rf ~`" }),
        json!({ "toolCallId": "c4", "title": "rm -rf ~", "rawInput": { "description": "list files" } }),
    ]
    .into_iter()
    .enumerate()
    {
        connection.agent_says(&asked(id, call.clone()));
        let answer = connection.agent_hears();
        assert_eq!(
            (&answer["id"], &answer["result"]["outcome"]["optionId"]),
            (&json!(id), &json!("no")),
            "{call}"
        );
        assert!(told(&connection.editor_hears()).contains("stopped"), "{call}");
    }
    for (id, title) in [
        "Tidy the build folder",
        "Start the server",
        "npm test",
        "Edit `src/main.rs`",
        "list_repos",
        "make the button blue",
    ]
    .into_iter()
    .enumerate()
    {
        connection.agent_says(&asked(10, json!({ "toolCallId": format!("t{id}"), "title": title })));
        // What was saved before an unknown call may be told beside the question.
        let heard = [connection.editor_hears()]
            .into_iter()
            .find(|heard| heard["method"] == "session/request_permission");
        let heard = heard.unwrap_or_else(|| connection.editor_hears());
        assert_eq!(heard["method"], "session/request_permission", "{title}: {heard}");
        connection.reaches_agent(&chooses(&json!(10), "no"));
    }
    connection.end();
}

#[test]
fn a_question_about_one_call_offers_no_choice_of_another_kind() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    for (number, kind) in ["allow_session", "proceed_always", ""].into_iter().enumerate() {
        let id = json!(number);
        let mut asked = asks(&id, "s1", &format!("c{number}"), "git push --force origin main");
        asked["params"]["options"][0]["kind"] = json!(kind);
        connection.agent_says(&asked);
        let shown = connection.editor_hears();
        let offered: Vec<_> =
            shown["params"]["options"].as_array().unwrap().iter().map(|one| &one["optionId"]).collect();
        assert_eq!(offered, ["once", "no"], "{kind}");
        // An editor that chooses what was not offered has not said yes to this call.
        connection.editor_says(&chooses(&id, "always"));
        let expected = if kind.starts_with("allow") {
            json!({ "outcome": "selected", "optionId": "once" })
        } else {
            json!({ "outcome": "cancelled" })
        };
        assert_eq!(connection.agent_hears()["result"]["outcome"], expected, "{kind}");
        if kind.starts_with("allow") {
            connection.editor_hears();
        }
    }
    connection.end();
}
