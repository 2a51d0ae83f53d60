//! The server as a real process: its contract, keys, and what it says of what hooks write down.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod serve_support;
mod support;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};
use serve_support::{Http, Serving};
use support::{TestEnvironment, shell_call};

/// A call of a session, as its hook is told of it.
fn call(environment: &TestEnvironment, id: &str, command: &str) {
    environment.answer_to(&environment.payload("live", "PreToolUse", shell_call(id, command, json!({}))));
}

// Source: seed 003-2
#[test]
fn it_answers_by_its_contract() {
    let environment = TestEnvironment::new();
    let mut server = Serving::start(&environment);
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    assert!(server.open.starts_with(&format!("{}/open/", server.url)), "{}", server.open);

    assert_eq!(server.get("/healthz", &[]).status, 200);
    let refused = server.get("/v1/sessions", &[]);
    assert_eq!((refused.status, refused.json()["error"]["kind"].clone()), (401, json!("no_key")));
    assert_eq!(server.get("/metrics", &[]).status, 401);
    assert_eq!(server.get("/metrics", &[("Authorization", "Bearer 0")]).status, 401);
    assert_eq!(server.asked("/v1/nothing").status, 404);
    let wrong_host = server.get("/healthz", &[("Host", "evil.example")]);
    assert_eq!((wrong_host.status, wrong_host.json()["error"]["kind"].clone()), (403, json!("wrong_host")));
    let origin = server.get("/v1/sessions", &[("Origin", "https://evil.example")]);
    assert_eq!(origin.status, 403);
    assert_eq!(origin.header("x-content-type-options").as_deref(), Some("nosniff"));
    assert!(origin.header("content-security-policy").unwrap().starts_with("default-src 'none'"));

    // The link logs one browser in, once, and leads to the console.
    let path = server.open.strip_prefix(&server.url).unwrap().to_owned();
    let opened = server.get(&path, &[]);
    assert_eq!((opened.status, opened.header("location").as_deref()), (303, Some("/")));
    let cookie = opened.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(server.get(&path, &[]).status, 401);
    // A browser that comes from a mail or a chat brings no cookie over a redirect: a page of ours leads on.
    let link = server.post("/v1/links", &json!({})).json()["open"].as_str().unwrap().to_owned();
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let as_viewer = server.form("/v1/links", "", &[("Authorization", &format!("Bearer {viewer}"))]);
    assert_eq!(as_viewer.status, 403, "{}", as_viewer.body);
    let opened = server.get(&link, &[("Sec-Fetch-Site", "cross-site"), ("Accept", "text/html")]);
    assert_eq!((opened.status, opened.header("location")), (200, None), "{}", opened.body);
    assert!(opened.body.contains("http-equiv=\"refresh\" content=\"0; url=/\""), "{}", opened.body);
    assert!(opened.header("set-cookie").unwrap().contains("SameSite=Strict"));

    // The key stays over a new start, the file is the owner's, and the record of logins holds no key.
    let again = Serving::start(&environment);
    assert_eq!(again.token, server.token);
    let file = environment.state().join("server/checkrein.token");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), server.token);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(visits.contains("one-time link") && visits.contains("wrong key"), "{visits}");
    assert!(!visits.contains(&server.token));

    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn a_user_opens_the_console_of_the_server_that_runs() {
    let environment = TestEnvironment::new();
    let none = environment.checkrein(&["open"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no server runs"));
    let first = Serving::start(&environment);
    let mut second = Serving::start(&environment);
    let link = |output: &str| -> Json { serde_json::from_str(output).unwrap() };
    let told = link(&environment.succeed(&["open", "--json"]));
    assert_eq!((&told["url"], &told["schema"]), (&json!(second.url), &json!("checkrein/server-link/1")));
    let path = |link: &str, server: &Serving| link.trim().strip_prefix(&server.url).unwrap().to_owned();
    let opened = second.get(&path(told["open"].as_str().unwrap(), &second), &[]);
    assert_eq!((opened.status, opened.header("location").as_deref()), (303, Some("/")));
    // An agent gets none.
    let mut inside = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let inside = inside.args(["open", "--print"]).env("CLAUDECODE", "1").output().unwrap();
    assert!(String::from_utf8_lossy(&inside.stderr).contains("for humans only"));
    // A server that has ended is not asked, however it ended.
    assert_eq!(second.terminate(), Some(0));
    let printed = environment.succeed(&["open", "--print"]);
    assert_eq!(first.get(&path(&printed, &first), &[]).status, 303, "{printed}");
    // The browser gets a file that only the user reads; others read command lines.
    let folder = environment.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("xdg-open");
    std::fs::write(&program, "#!/bin/sh\ncat \"$1\" > \"$HOME/seen\"; stat -c %a \"$1\" >> \"$HOME/seen\"\n")
        .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut open = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = open.arg("open").env("PATH", search).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let seen = std::fs::read_to_string(environment.home().join("seen")).unwrap();
    assert!(seen.ends_with("600\n"), "{seen}");
    let link = seen.split("url=").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(first.get(&path(link, &first), &[]).status, 303, "{seen}");
    drop(first);
    assert_eq!(environment.checkrein(&["open"]).status.code(), Some(1));
}

#[test]
fn it_listens_to_this_machine_alone_and_an_agent_does_not_start_it() {
    let environment = TestEnvironment::new();
    for address in ["0.0.0.0:0", "192.168.0.1:80", "nowhere"] {
        let output = environment.checkrein(&["serve", "--listen", address, "--json"]);
        assert_eq!(output.status.code(), Some(1), "{address}");
    }
    let told = environment.checkrein(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(String::from_utf8_lossy(&told.stderr).contains("need TLS"));
    let inside = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&inside.stderr).contains("for humans only"));
    // Nor does it read the key, by whatever name it comes to it.
    let _server = Serving::start(&environment);
    let token = environment.state().join("server/checkrein.token");
    let of_links = environment.state().join("server/links.key");
    for command in [
        format!("cat {}", token.display()),
        format!("cat {}", of_links.display()),
        "cat ~/.local/state/checkrein/server/*".to_owned(),
    ] {
        let output = environment.checkrein(&["check", "--json", &command]);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("secret_read"), "{command}: {told}");
        assert_ne!(output.status.code(), Some(0), "{command}: {told}");
    }
}

#[test]
fn it_answers_on_a_socket() {
    let environment = TestEnvironment::new();
    let path = environment.home().join("console.sock");
    let server = Serving::start_at(&environment, &format!("unix:{}", path.display()));
    let answer = Http::over_socket(&path, "GET", "/healthz", &[], "");
    assert_eq!(answer.status, 200);
    drop(server);
}

// Source: seed 000-106, 003-34, 002-69
#[test]
fn what_hooks_write_shows_in_metrics_events_and_api() {
    use std::io::BufRead as _;
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    let mut events = server.events();
    let begin = std::time::Instant::now();
    call(&environment, "first", "ls -la");
    let told = loop {
        let mut line = String::new();
        assert!(events.read_line(&mut line).unwrap() > 0, "the stream ended");
        if line.starts_with("data: ") && line.contains("\"review\"") {
            break line;
        }
    };
    let latency = begin.elapsed();
    assert!(latency < std::time::Duration::from_secs(2), "{latency:?}");
    assert!(told.contains("Bash: ls -la"), "{told}");
    call(&environment, "second", "rm -rf ~");

    let sessions = server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 2).json();
    let name = sessions["sessions"][0]["session"].as_str().unwrap().to_owned();
    assert_eq!(sessions["sessions"][0]["state"], "active");
    let timeline = server.asked(&format!("/v1/sessions/{name}/timeline?type=review")).json();
    let newest = &timeline["records"][0];
    assert_eq!((&newest["type"], &newest["verdict"]), (&json!("review"), &json!("block")), "{timeline}");
    let paged = server.asked(&format!("/v1/sessions/{name}/timeline?type=review&limit=1")).json();
    let next = paged["next"].as_i64().unwrap();
    let second =
        server.asked(&format!("/v1/sessions/{name}/timeline?type=review&limit=1&before={next}")).json();
    assert_eq!(second["records"][0]["verdict"], "ok", "{second}");
    let action = newest["action"].as_str().unwrap();
    let call = server.asked(&format!("/v1/sessions/{name}/calls/{action}")).json();
    assert!(!call["items"][0]["body"]["reason"].as_str().unwrap().is_empty(), "{call}");

    let metrics = server.asked("/metrics").body;
    assert!(
        metrics.contains("checkrein_reviews_total{decision=\"block\",verdict=\"block\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("checkrein_review_duration_seconds_count{decision=\"allow\"} 1\n"), "{metrics}");

    // What a person may do, by the same commands.
    let halted = server.post(&format!("/v1/sessions/{name}/halt"), &json!({ "reason": "lunch" }));
    assert_eq!(
        (halted.status, &halted.json()["result"]["result"]),
        (200, &json!("halted")),
        "{}",
        halted.body
    );
    let shown = server.asked(&format!("/v1/sessions/{name}")).json();
    assert_eq!((&shown["state"], &shown["halted"]), (&json!("halted"), &json!("lunch")));
    let resumed = server.post(&format!("/v1/sessions/{name}/resume"), &json!({}));
    assert_eq!(resumed.status, 200, "{}", resumed.body);
    let wrong = server.post(&format!("/v1/calls/{action}/wrong"), &json!({}));
    assert_eq!((wrong.status, &wrong.json()["result"]["opinion"]), (200, &json!("wrong")), "{}", wrong.body);
    server
        .until("/metrics", |answer| answer.body.contains("checkrein_opinions_total{opinion=\"wrong\"} 1\n"));
    assert!(server.asked("/metrics").body.contains("checkrein_false_positive_ratio 1\n"));

    for path in
        ["issues", "incidents", "tickets", "interventions", "spending", "stats", "calls", "openapi.json"]
    {
        let answer = server.asked(&format!("/v1/{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json();
    }
    let asked = server.post("/v1/check", &json!({ "command": "rm -rf /", "cwd": environment.project() }));
    assert_eq!((asked.status, &asked.json()["verdict"]), (200, &json!("block")), "{}", asked.body);
    assert_eq!(server.post("/v1/halt", &json!({ "resaon": "x" })).status, 400);
    assert_eq!(server.asked("/v1/sessions/nobody").status, 404);
    assert_eq!(server.post("/v1/sessions", &json!({})).status, 405);
}

// Source: seed 003-2
#[test]
fn an_agent_framework_asks_before_it_acts() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    let message = |kind: &str, command: &str| {
        json!({
            "protocol": "acgp", "protocol_version": "1.0.0", "message_type": kind, "message_id": "m1",
            "timestamp": "2026-01-01T00:00:00Z", "sender_id": "urn:acgp:agent:test", "receiver_id": "any",
            "payload": {
                "trace_id": "t1", "reasoning": "cleaning up", "confidence": 0.9,
                "action": { "name": "Bash", "parameters": { "command": command, "cwd": environment.project() } },
            },
        })
    };
    for kind in ["EVAL", "TRACE"] {
        let answer = server.post("/acgp/v1/messages", &message(kind, "rm -rf ~")).json();
        assert_eq!(answer["message_type"], "INTERVENTION", "{answer}");
        assert_eq!(
            (&answer["payload"]["intervention"], &answer["payload"]["trace_id"]),
            (&json!("block"), &json!("t1"))
        );
        assert_eq!(
            (&answer["in_reply_to"], &answer["receiver_id"]),
            (&json!("m1"), &json!("urn:acgp:agent:test"))
        );
    }
    let fine = server.post("/acgp/v1/messages", &message("EVAL", "ls")).json();
    assert_eq!(fine["payload"]["intervention"], "ok", "{fine}");
    assert!(fine["payload"]["ctq_score"].as_f64().unwrap() > 0.75, "{fine}");
    let mut other = message("EVAL", "ls");
    other["protocol"] = json!("another");
    let refused = server.post("/acgp/v1/messages", &other);
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (400, &json!("acgp_3001")));

    // The client of the examples, as it stands there.
    let example = support::repository().join("examples/acgp/ask.py");
    let ask = |command: &str| {
        environment
            .command("python3")
            .arg(&example)
            .args(["--url", &server.url, "--cwd", environment.project().to_str().unwrap(), command])
            .env("CHECKREIN_TOKEN", &server.token)
            .output()
            .unwrap()
    };
    let (fine, bad) = (ask("ls"), ask("rm -rf ~"));
    assert_eq!(fine.status.code(), Some(0), "{}", String::from_utf8_lossy(&fine.stderr));
    assert_eq!(bad.status.code(), Some(2), "{}", String::from_utf8_lossy(&bad.stderr));
}

#[test]
fn the_console_shows_it_and_its_buttons_work() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    environment.write("notes.txt", "kept\n");
    call(&environment, "first", "echo '<script>alert(1)</script>'");
    call(&environment, "second", "rm notes.txt");
    server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 2);
    let opened = server.get(server.open.strip_prefix(&server.url).unwrap(), &[]);
    let cookie = opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let page = |path: &str| {
        let answer = server.get(path, &[("Cookie", &cookie), ("Accept", "text/html")]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.header("content-type").unwrap().starts_with("text/html"), "{path}");
        let inline = answer.body.replace("<script src=\"/assets/live.js\" defer></script>", "");
        assert!(
            !inline.contains("<script") && !inline.contains(" style=") && !inline.contains(" onclick"),
            "{path}"
        );
        assert!(!inline.contains("http://") && !inline.contains("https://"), "{path}: {inline}");
        answer.body
    };
    assert!(page("/").contains("Halt all sessions"));
    let session = page("/sessions/live");
    assert!(session.contains("&#60;script&#62;") || session.contains("&lt;script&gt;"), "{session}");
    assert!(page("/sessions/live/calls/second").contains("Predicted effects"));
    page("/sessions/live?type=review&verdict=ok&search=notes");
    page("/calls");
    page("/review");
    assert!(page("/stats?days=7").contains("<svg"));
    page("/sessions/live/snapshots");
    for path in ["/assets/style.css", "/assets/live.js"] {
        assert_eq!(server.get(path, &[("Cookie", &cookie)]).status, 200);
    }

    // The snapshot that the hook took before the removal brings the file back.
    std::fs::remove_file(environment.project().join("notes.txt")).unwrap();
    let saved = server.asked("/v1/snapshots?session=live").json();
    let id = saved["items"].as_array().unwrap().last().expect("a snapshot")["id"].clone();
    let shown = page(&format!("/sessions/live/snapshots/{id}"));
    assert!(shown.contains("notes.txt") && shown.contains("1 lines come back, 0 go"), "{shown}");
    assert!(shown.contains("<ins>kept</ins>") && shown.contains("comes back: "), "{shown}");
    // The lines are for who may restore them.
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let viewer = format!("Bearer {viewer}");
    let seen = server.get(&format!("/sessions/live/snapshots/{id}"), &[("Authorization", &viewer)]);
    assert!(seen.body.contains("notes.txt") && !seen.body.contains("kept"), "{}", seen.body);
    let lines = format!("/v1/snapshots/{id}/diff?session=live&lines=on");
    assert_eq!(server.get(&lines, &[("Authorization", &viewer)]).status, 403);
    let told = server.asked(&lines).json();
    assert_eq!(told["items"][0]["text"]["lines"][0]["text"], "kept", "{told}");
    let form = |path: &str, body: &str, origin: &str| {
        server.form(path, body, &[("Cookie", &cookie), ("Origin", origin)])
    };
    let path = format!("/v1/snapshots/{id}/restore");
    assert_eq!(form(&path, "session=live&then=%2F", "http://evil.example").status, 403);
    // What cannot be read is no wish for all of it.
    for body in ["session=live&paths=notes.txt&then=%2F", "session=live&paths=&then=%2F"] {
        assert_eq!(form(&path, body, "http://localhost").status, 400, "{body}");
    }
    let rollback = "/v1/sessions/live/rollback";
    assert_eq!(form(rollback, "before=1&preview=yes&then=%2F", "http://localhost").status, 400);
    assert!(!environment.project().join("notes.txt").exists());
    let done = form(&path, "session=live&then=%2Fsessions%2Flive", "http://localhost");
    assert_eq!(
        (done.status, done.header("location").as_deref()),
        (303, Some("/sessions/live")),
        "{}",
        done.body
    );
    assert_eq!(std::fs::read_to_string(environment.project().join("notes.txt")).unwrap(), "kept\n");

    // Without a key a browser reads why, and nothing of the sessions.
    let refused = server.get("/", &[("Accept", "text/html")]);
    assert_eq!(refused.status, 401);
    assert!(refused.body.contains("no key") && !refused.body.contains("/sessions/live"), "{}", refused.body);
}

/// Ends a process that nobody waits for.
struct Left(std::path::PathBuf);

impl Drop for Left {
    fn drop(&mut self) {
        if let Ok(number) = std::fs::read_to_string(&self.0) {
            drop(std::process::Command::new("kill").args(["-9", number.trim()]).status());
        }
    }
}

#[test]
fn a_server_that_was_left_behind_takes_no_halt_back() {
    let environment = TestEnvironment::new();
    environment.succeed(&["halt", "--all", "--reason", "lunch"]);
    let left = Left(environment.home().join("pid"));
    let script = format!(
        "echo $$ > {}; exec {} serve --listen 127.0.0.1:0 --json",
        left.0.display(),
        env!("CARGO_BIN_EXE_checkrein")
    );
    // Who started it has ended, and it has no terminal, as what an agent leaves behind.
    let server = Serving::of(environment.command("setsid").args(["-w", "setsid", "-f", "sh", "-c", &script]));
    assert_eq!(server.asked("/v1/sessions").status, 200);
    let refused = server.post("/v1/resume", &json!({}));
    assert_ne!(refused.status, 200, "{}", refused.body);
    assert!(refused.body.contains("cannot be told"), "{}", refused.body);
    // The person takes it back.
    environment.succeed(&["resume", "--all"]);
}

#[test]
fn an_agent_is_overseen_more_closely_by_api_and_page() {
    let environment = TestEnvironment::new();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    let server = Serving::start(&environment);
    let agents = server.asked("/v1/agents").json();
    let agent = &agents["items"][0];
    assert_eq!((&agent["client"], &agent["tier"]), (&json!("claude"), &json!("2")), "{agents}");
    let path = format!("/v1/agents/{}/tier", agent["agent"].as_str().unwrap());
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let refused =
        server.sent("POST", &path, "{\"tier\":\"4\"}", &[("Authorization", &format!("Bearer {viewer}"))]);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let given = server.post(&path, &json!({ "tier": "4", "note": "on production" }));
    assert_eq!((given.status, &given.json()["result"]["tier"]), (200, &json!("4")), "{}", given.body);
    for wrong in ["6", "1", "", "four"] {
        let refused = server.post(&path, &json!({ "tier": wrong }));
        assert!([400, 422].contains(&refused.status), "{wrong}: {}", refused.body);
    }
    let page = server.asked("/review").body;
    assert!(page.contains("Tier 4 (given by a user: on production)"), "{page}");
    let back = server.post(&path, &json!({ "tier": "configured" }));
    assert_eq!(back.json()["result"]["given"], Json::Null, "{}", back.body);
}

#[test]
fn an_incident_is_closed_with_a_word_by_who_may() {
    let environment = TestEnvironment::new();
    environment.configure(
        "config.yaml",
        "governance:
  tripwires:
    - {id: no_dates, condition: 'action.command == \"date\"', on_fail: {decision: halt, reason: dates are out}}
",
    );
    environment.bash("s", "date");
    let server = Serving::start(&environment);
    let all = server.asked("/v1/incidents").json();
    let id = all["items"][0]["id"].as_str().unwrap().to_owned();
    let refused = environment.bash("other", &format!("checkrein incident close {id} --note fine"));
    assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], "deny", "{refused}");
    let path = format!("/v1/incidents/{id}/close");
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let body = "{\"note\":\"fine\"}";
    let refused = server.sent("POST", &path, body, &[("Authorization", &format!("Bearer {viewer}"))]);
    assert_eq!(refused.status, 403, "{}", refused.body);
    for wordless in [json!({}), json!({ "note": "" }), json!({ "note": "  " })] {
        let refused = server.post(&path, &wordless);
        assert!([400, 422].contains(&refused.status), "{wordless}: {}", refused.body);
    }
    assert!(server.asked("/review").body.contains(&path), "it can be closed on the page");
    let closed = server.post(&path, &json!({ "note": "the test asked for it" }));
    let closed = &closed.json()["result"]["closed"];
    assert_eq!(
        (&closed["note"], &closed["source"]),
        (&json!("the test asked for it"), &json!("api")),
        "{closed}"
    );
    assert_eq!(server.post(&path, &json!({ "note": "again" })).status, 422, "it is closed once");
    let page = server.asked("/review").body;
    assert!(page.contains("the test asked for it") && !page.contains(&path), "{page}");
    let recorded =
        server.until("/v1/sessions/s/timeline", |answer| answer.body.contains("incident was closed"));
    assert!(recorded.body.contains("the test asked for it"), "{}", recorded.body);
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(visits.contains(&path), "{visits}");
    let report = environment.succeed(&["incident", "show", &id]);
    assert!(report.contains("Closed by"), "{report}");
    // A stop that comes to it later is one that nobody has looked at.
    environment.succeed(&["halt", "s", "--reason", "once more"]);
    let again = server.asked("/v1/incidents").json();
    let again = again["items"].as_array().unwrap().iter().find(|one| one["id"] == id.as_str()).unwrap();
    assert!(again["further_stops"][0]["reason"].is_string() && again["closed"].is_null(), "{again}");
}

#[test]
fn sessions_that_spend_much_of_their_limit_show_with_the_threshold_that_they_passed() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "limits: {dollars: 10}\n");
    let state = checkrein_ledger::StateDirectory::new(environment.state());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    for (session, millionths) in
        [("cheap", 4_900_000), ("half", 5_100_000), ("much", 8_500_000), ("whole", 10_500_000)]
    {
        let usage = json!({
            "type": "usage", "from": 0,
            "mark": { "file": 1, "offset": 2, "answer": 3,
                      "counted": { "input": 1, "output": 1, "cache_write": 0, "cache_read": 0 } },
            "models": [{ "model": "m", "answers": 1, "cost": millionths,
                         "tokens": { "input": 1, "output": 1, "cache_write": 0, "cache_read": 0 } }],
        });
        let body: checkrein_protocol::RecordBody = serde_json::from_value(usage).unwrap();
        let id = checkrein_protocol::SessionId(session.to_owned());
        let at = checkrein_protocol::Timestamp(u64::try_from(now).unwrap());
        let ledger = checkrein_session::SessionLedger::open(&state, &id);
        ledger.append_all(at, vec![body], checkrein_ledger::Durability::Plain).unwrap();
    }
    let server = Serving::start(&environment);
    server.until("/v1/sessions", |answer| answer.json()["sessions"].as_array().unwrap().len() == 4);
    let page = server.asked("/stats").body;
    assert!(page.contains("A session may cost $10.00."), "{page}");
    for (session, passed) in [("half", "above half"), ("much", "above four fifths"), ("whole", "reached")] {
        let is_of = |row: &&str| row.contains(&format!("/sessions/{session}\""));
        let row = page.split("<tr>").find(is_of).unwrap_or_else(|| panic!("{session}: {page}"));
        assert!(row.contains(&format!("<td>{passed}</td>")), "{row}");
    }
    assert!(!page.contains("/sessions/cheap\""), "{page}");
    assert!(page.contains("Dollars by project"), "{page}");
}
