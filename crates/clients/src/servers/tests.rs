use super::*;

const JSON: ServerForm = ServerForm::Json(&[&["mcpServers"], &["projects", "*", "mcpServers"]]);
const WORDS: ServerForm = ServerForm::JsonWords(&[&["mcp"]]);

/// Files as people and programs write them.
const FILES: &[(ServerForm, &str)] = &[
    (
        JSON,
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"x\"],\n      \"env\": {\"K\": \"v\"}\n    }\n  }\n}\n",
    ),
    (
        JSON,
        r#"{"mcpServers":{"a":{"args":["-y","x"],"command":"npx"},"b":{"command":"b"},"c":{"command":"c","args":[]}}}"#,
    ),
    (
        JSON,
        "{\"mcpServers\": {\"a\": {\"command\": \"C:\\\\x\\u0041.exe\", \"args\": [\n  // why\n  \"one\", /* two */ \"two\",\n]}}}",
    ),
    (JSON, "{\"mcpServers\": {\"a\": {\"command\": \"a\", \"args\": [ /* none */ ]}}}\r\n"),
    (
        JSON,
        r#"{"projects": {"/p": {"mcpServers": {"a": {"command": "a"}}}, "/q": {}}, "mcpServers": {"r": {"type": "http", "url": "https://x"}}}"#,
    ),
    (
        WORDS,
        "{\n  // servers\n  \"mcp\": { \"a\": { \"type\": \"local\", \"command\": [\"bun\", \"x\"], \"enabled\": true } },\n}\n",
    ),
    (WORDS, r#"{"mcp":{"a":{"command":[ "one" ]}}}"#),
    (
        ServerForm::Toml,
        "# mine\nmodel = \"m\"\n\n[mcp_servers.a]\ncommand = 'npx' # why\nargs = [\n  \"-y\", # yes\n  'x',\n]\n\n[mcp_servers.a.env]\nK = \"v\"\n",
    ),
    (
        ServerForm::Toml,
        "[mcp_servers]\na = { command = \"a\" }\nb = { args = [\"x\"], command = \"b\" }\n[mcp_servers.\"c d\"]\ncommand = \"c\" # last\n",
    ),
    (ServerForm::Toml, "[mcp_servers.r]\nurl = \"https://x\"\n"),
];

#[test]
fn what_is_put_behind_the_gateway_comes_back_byte_for_byte() {
    for (form, text) in FILES {
        let changed = form.behind(text, "/opt/bin/checkrein").unwrap();
        for server in form.servers(&changed).unwrap() {
            assert!(matches!(server.way, ServerWay::Gateway | ServerWay::Remote), "{server:?}: {changed}");
        }
        let has_direct = form.servers(text).unwrap().iter().any(|server| server.way == ServerWay::Direct);
        assert_eq!(changed != *text, has_direct, "{changed}");
        assert_eq!(form.behind(&changed, "/opt/bin/checkrein").unwrap(), changed, "twice is once");
        let moved = form.behind(&changed, "checkrein").unwrap();
        assert_eq!(form.direct(&moved).unwrap(), *text, "{changed}");
        assert_eq!(form.direct(text).unwrap(), *text, "what is direct stays");
    }
}

#[test]
fn the_gateway_is_told_the_name_and_the_whole_command() {
    let text = r#"{"mcpServers":{"my server":{"command":"npx","args":["-y","x"]},"b":{"command":"b"}}}"#;
    let changed: serde_json::Value = serde_json::from_str(&JSON.behind(text, "checkrein").unwrap()).unwrap();
    assert_eq!(changed["mcpServers"]["my server"]["command"], "checkrein");
    let arguments = serde_json::json!(["mcp", "--name", "my server", "--", "npx", "-y", "x"]);
    assert_eq!(changed["mcpServers"]["my server"]["args"], arguments);
    assert_eq!(changed["mcpServers"]["b"]["args"], serde_json::json!(["mcp", "--name=b", "--", "b"]));
}

#[test]
fn what_somebody_changed_since_is_still_taken_back() {
    let text = "{\"mcpServers\":{\"a\":{\"command\":\"checkrein\",\"args\":[\"mcp\",\"--name\",\"a\",\"--\",\"npx\",\n \"x\"]}}}";
    let direct: serde_json::Value = serde_json::from_str(&JSON.direct(text).unwrap()).unwrap();
    assert_eq!(direct["mcpServers"]["a"], serde_json::json!({ "command": "npx", "args": ["x"] }));
}

#[test]
fn what_cannot_be_read_is_an_error_and_what_is_unclear_is_left() {
    for (form, text) in [
        (JSON, "{"),
        (JSON, "[]"),
        (JSON, r#"{"mcpServers": []}"#),
        (ServerForm::Toml, "[mcp_servers.a]\ncommand = \n"),
        (ServerForm::Toml, "[mcp_servers.a]\ncommand = 5\n"),
    ] {
        assert!(form.behind(text, "checkrein").is_err(), "{text}");
        assert!(form.direct(text).is_err(), "{text}");
    }
    for text in [
        r#"{"mcpServers":{"a":{"command":"a","args":[1]}}}"#,
        r#"{"mcpServers":{"a":{"command":"a","command":"b"}}}"#,
        r#"{"mcpServers":{"a":{}}}"#,
        r#"{"mcpServers":{"a":5}}"#,
    ] {
        assert!(
            matches!(&JSON.servers(text).unwrap()[..], [NamedServer { way: ServerWay::Unclear(_), .. }]),
            "{text}"
        );
        assert_eq!(JSON.behind(text, "checkrein").unwrap(), text);
    }
    assert_eq!(JSON.servers("").unwrap(), []);
}
