//! Inputs that say several things: each field that runs something or names a file is judged, whatever the agent calls the call.

use serde_json::{Value as Json, json};

use crate::connection::{Connection, chooses, requests};
use crate::support::TestEnvironment;

fn question(id: &Json, mut params: Json) -> Json {
    params["sessionId"] = json!("s1");
    params["options"] = json!([
        { "optionId": "once", "name": "Allow", "kind": "allow_once" },
        { "optionId": "no", "name": "Reject", "kind": "reject_once" } ]);
    requests(id, "session/request_permission", &params)
}

fn about(number: usize, kind: Option<&str>, input: &Json) -> Json {
    let mut call = json!({ "toolCallId": format!("c{number}"), "title": "t", "rawInput": input });
    if let Some(kind) = kind {
        call["kind"] = json!(kind);
    }
    json!({ "toolCall": call })
}

/// Each is refused, or shown to the user with the reason.
fn are_held(all: &[Json]) {
    // Hints and refusals make later reviews stricter, so no more than a few come in one session.
    for some in all.chunks(6) {
        let environment = TestEnvironment::new();
        let mut connection = Connection::open(&environment);
        connection.begin("s1", &environment.project());
        let home = environment.home().display().to_string();
        for (number, params) in some.iter().enumerate() {
            let params: Json = serde_json::from_str(&params.to_string().replace("HOME", &home)).unwrap();
            let asked = question(&json!(number), params.clone());
            connection.agent_says(&asked);
            let heard = connection.editor_hears();
            assert_ne!(heard, asked, "{params}");
            if heard["method"] == "session/request_permission" {
                assert!(heard.to_string().contains("checkrein asks you first"), "{params}: {heard}");
                connection.editor_says(&chooses(&json!(number), "no"));
            } else {
                assert!(heard.to_string().contains("stopped"), "{params}: {heard}");
            }
            let answer = connection.agent_hears();
            assert_eq!(answer["result"]["outcome"]["optionId"], json!("no"), "{params}: {answer}");
        }
        connection.end();
    }
}

#[test]
fn whatever_else_a_call_is_a_command_in_it_is_judged() {
    let named = |name: &str, kind: &str, input: Json| {
        let mut params = about(0, Some(kind), &input);
        params["toolCall"]["_meta"] = json!({ "toolName": name });
        params
    };
    are_held(&[
        about(0, Some("execute"), &json!({ "command": "rm", "args": ["-rf", "HOME"] })),
        about(1, Some("execute"), &json!({ "command": "bash", "args": ["-c", "rm -rf HOME"] })),
        about(2, Some("execute"), &json!({ "command": "ls", "cmd": "rm -rf HOME" })),
        about(3, Some("execute"), &json!({ "command": "ls", "commands": ["rm -rf HOME"] })),
        about(4, Some("other"), &json!({ "request": { "program": "rm", "argv": ["rm", "-rf", "HOME"] } })),
        about(5, None, &json!({ "command": "ls", "commands": "[\"rm -rf HOME\"]" })),
        about(6, Some("think"), &json!({ "command": "rm -rf HOME" })),
        about(7, Some("edit"), &json!({ "file_path": "src/b.py", "content": "x", "command": "rm -rf HOME" })),
        about(8, Some("read"), &json!({ "file_path": "src/b.py", "command": "rm -rf HOME" })),
        named("Read", "read", json!({ "file_path": "src/a.py", "command": "rm -rf HOME" })),
        named("think", "think", json!({ "command": "rm -rf HOME" })),
        named("mcp__x__think", "think", json!({ "command": "rm", "args": ["-rf", "HOME"] })),
        named(
            "Bash",
            "execute",
            json!({ "command": "ls", "env": { "BASH_FUNC_ls%%": "() { rm -rf HOME; }" } }),
        ),
    ]);
}

#[test]
fn a_request_that_names_two_things_is_judged_by_both() {
    let read = |id: &str| json!({ "toolCallId": id, "kind": "read", "title": "r", "rawInput": { "path": "README.md" } });
    are_held(&[
        json!({ "toolCall": read("c1"), "subject": { "type": "command", "command": "rm -rf HOME" } }),
        json!({ "toolCall": read("c2"), "subject": { "type": "tool_call", "toolCall":
            { "toolCallId": "d", "kind": "execute", "title": "x", "rawInput": { "command": "rm -rf HOME" } } } }),
        json!({ "toolCall": read("c3"), "command": "rm", "args": ["-rf", "HOME"] }),
    ]);
}

#[test]
fn each_file_that_a_call_names_is_judged() {
    let guarded = "HOME/.claude/settings.json";
    let shown = json!([{ "type": "diff", "path": guarded, "newText": "{}" }]);
    let mut beside = about(0, Some("edit"), &json!({ "file_path": "src/b.py", "content": "x" }));
    beside["toolCall"]["content"] = shown;
    are_held(&[
        beside,
        about(1, Some("edit"), &json!({ "file_path": "src/b.py", "path": guarded, "content": "x" })),
        about(2, Some("edit"), &json!({ "target": guarded, "body": "{}" })),
        about(3, Some("edit"), &json!({ "edits": [{ "file": guarded, "body": "{}" }] })),
        about(4, Some("delete"), &json!({ "target": guarded })),
        about(5, Some("delete"), &json!({ "path": "x", "files": [guarded] })),
        about(6, Some("move"), &json!({ "source": guarded, "destination": "/tmp/x" })),
        json!({ "toolCall": { "toolCallId": "m", "kind": "move", "title": "m", "locations": [{ "path": guarded }] } }),
        about(8, None, &json!({ "file_path": guarded, "content": "x", "command": "ls" })),
    ]);
}

#[test]
fn ordinary_calls_with_several_fields_pass_as_they_came() {
    let environment = TestEnvironment::new();
    environment.write("src/a.py", "x = 1\n");
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let project = environment.project();
    let file = project.join("src/a.py");
    let named = |name: &str, kind: &str, input: Json| {
        let mut params = about(0, Some(kind), &input);
        params["toolCall"]["_meta"] = json!({ "claudeCode": { "toolName": name } });
        params
    };
    let mut edit = named("Edit", "edit", json!({ "file_path": file, "old_string": "1", "new_string": "2" }));
    edit["toolCall"]["content"] =
        json!([{ "type": "diff", "path": file, "oldText": "x = 1\n", "newText": "x = 2\n" }]);
    edit["toolCall"]["locations"] = json!([{ "path": file }]);
    for (number, mut params) in [
        edit,
        named(
            "Bash",
            "execute",
            json!({ "command": "ls -la", "description": "List the files", "timeout": 5 }),
        ),
        named("Read", "read", json!({ "file_path": file, "limit": 20 })),
        named("Grep", "search", json!({ "pattern": "TODO", "path": project, "glob": "*.py" })),
        named("LS", "read", json!({ "path": project })),
        named(
            "TodoWrite",
            "think",
            json!({ "todos": [{ "content": "Run the tests", "status": "pending" }] }),
        ),
        named("Task", "think", json!({ "prompt": "rm -rf is what it is about", "description": "d" })),
        named("mcp__docs__search", "other", json!({ "path": "guide", "query": "rm", "source": "web" })),
        about(
            0,
            Some("execute"),
            &json!({ "command": "ls", "args": ["-l", "src"], "env": { "LC_ALL": "C" } }),
        ),
        about(
            0,
            Some("execute"),
            &json!({ "command": ["bash", "-lc", "ls src"], "cwd": project,
            "parsed_cmd": [{ "type": "list_files", "cmd": "ls src", "path": "src" }] }),
        ),
        about(
            0,
            Some("edit"),
            &json!({ "command": "create", "path": project.join("n.py"), "file_text": "x" }),
        ),
        about(0, Some("move"), &json!({ "source": file, "destination": project.join("src/b.py") })),
        about(0, Some("read"), &json!({ "operations": [{ "mode": "Line", "path": file }] })),
    ]
    .into_iter()
    .enumerate()
    {
        params["toolCall"]["toolCallId"] = json!(format!("c{number}"));
        let asked = question(&json!(number), params.clone());
        connection.agent_says(&asked);
        let mut heard = connection.editor_hears();
        // What was saved before may be told beside the question.
        while heard["method"] == "session/update" && !heard.to_string().contains("stopped") {
            heard = connection.editor_hears();
        }
        assert_eq!(heard, asked, "{params}");
        connection.reaches_agent(&chooses(&json!(number), "no"));
    }
    connection.end();
}

#[test]
fn a_review_holds_for_what_it_has_seen_alone() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let home = environment.home();
    let input = json!({ "command": format!("echo 'x;' 'rm -rf {}'", home.display()) });
    let asked = question(&json!(1), about(1, Some("execute"), &input));
    connection.reaches_editor(&asked);
    connection.reaches_agent(&chooses(&json!(1), "once"));
    let args = json!(["x;", format!("rm -rf {}", home.display())]);
    let create = json!({ "sessionId": "s1", "command": "echo", "args": args });
    connection.agent_says(&requests(&json!(2), "terminal/create", &create));
    assert!(connection.editor_hears().to_string().contains("stopped"));
    assert_eq!(connection.agent_hears()["error"]["code"], json!(-32000));
    // Words and text that are both harmless stay one call.
    let asked = question(&json!(3), about(3, Some("execute"), &json!({ "command": "echo 'a b' c" })));
    connection.reaches_editor(&asked);
    connection.reaches_agent(&chooses(&json!(3), "once"));
    let create = json!({ "sessionId": "s1", "command": "echo", "args": ["a b", "c"] });
    connection.reaches_editor(&requests(&json!(4), "terminal/create", &create));
    connection.end();
}

#[test]
fn the_tool_of_a_server_that_is_called_through_the_editor_is_judged() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let command = json!({ "command": format!("rm -rf {}", environment.home().display()) });
    let call = json!({ "name": "run", "arguments": command });
    for (id, params) in [
        json!({ "sessionId": "s1", "method": "tools/call", "params": call }),
        json!({ "sessionId": "s1", "message": { "method": "tools/call", "params": call } }),
    ]
    .into_iter()
    .enumerate()
    {
        connection.agent_says(&requests(&json!(id), "mcp/message", &params));
        assert!(connection.editor_hears().to_string().contains("stopped"), "{params}");
        assert_eq!(connection.agent_hears()["error"]["code"], json!(-32000), "{params}");
    }
    for params in [
        json!({ "connectionId": "1", "method": "tools/list", "params": {} }),
        json!({ "connectionId": "1", "method": "tools/call", "params": { "name": "list_pages", "arguments": {} } }),
    ] {
        connection.reaches_editor(&requests(&json!("x"), "mcp/message", &params));
        connection.reaches_agent(&json!({ "jsonrpc": "2.0", "id": "x", "result": {} }));
    }
    connection.end();
}

#[test]
fn a_way_to_log_in_that_is_only_offered_begins_no_session() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    let terminal =
        json!({ "label": "Log in", "command": "node", "args": ["/opt/agent/cli.js", "/login"], "env": {} });
    let method = json!({ "id": "x", "name": "Log in", "_meta": { "terminal-auth": terminal } });
    connection.reaches_editor(
        &json!({ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": 1, "authMethods": [method] } }),
    );
    connection.end();
    let sessions = std::fs::read_dir(environment.state().join("sessions"));
    let names: Vec<_> = sessions.into_iter().flatten().flatten().map(|one| one.file_name()).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_way_to_log_in_that_runs_what_must_not_is_taken_out() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    let of = |command: &str, args: Json| json!({ "id": "x", "name": "Log in", "_meta": { "terminal-auth": { "label": "Log in", "command": command, "args": args, "env": {} } } });
    let plain = json!({ "id": "key", "name": "Use a key", "description": null });
    let fine = of("node", json!(["/opt/agent/cli.js", "/login"]));
    let offers = |methods: Json| json!({ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": 1, "authMethods": methods } });
    connection.reaches_editor(&offers(json!([plain, fine])));
    connection.agent_says(&offers(json!([of("/bin/rm", json!(["-rf", environment.home()])), plain])));
    assert_eq!(connection.editor_hears(), offers(json!([plain])));
    let (_, said) = connection.end();
    assert!(said.contains("took out a way to log in"), "{said}");
}
