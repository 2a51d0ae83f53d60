//! Calls that wait in a real hook and are answered through the server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod serve_support;
mod support;

use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::waiting::{CALL, answer_of, asks, unattended};
use support::{TestEnvironment, decision, reason};

/// The name of the one question that waits, as the API tells it.
fn waiting(server: &Serving) -> String {
    let is_waiting = |answer: &serve_support::Http| {
        answer.json()["items"].as_array().unwrap().iter().any(|one| one["state"] == "pending")
    };
    let all = server.until("/v1/approvals", is_waiting).json();
    let one = all["items"].as_array().unwrap().iter().find(|one| one["state"] == "pending").unwrap().clone();
    one["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_waits_and_is_answered_by_api_and_by_button() {
    let environment = unattended("");
    let server = Serving::start(&environment);

    let hook = asks(&environment, "s", "one", CALL);
    let id = waiting(&server);
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let viewer = format!("Bearer {viewer}");
    let refused = server.form(&format!("/v1/approvals/{id}/allow"), "", &[("Authorization", &viewer)]);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let given = server.post(&format!("/v1/approvals/{id}/allow"), &json!({ "for": "once" }));
    assert_eq!((given.status, &given.json()["result"]["went_on"]), (200, &json!(true)), "{}", given.body);
    let by = &given.json()["result"]["approval"]["answered_by"];
    assert_eq!(by["source"], "api", "{by}");
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    // It counts once.
    assert_eq!(server.post(&format!("/v1/approvals/{id}/allow"), &json!({})).status, 422);

    let hook = asks(&environment, "t", "two", CALL);
    let id = waiting(&server);
    let opened = server.get(server.open.strip_prefix(&server.url).unwrap(), &[]);
    let cookie = opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let page = server.get("/approvals", &[("Cookie", &cookie)]);
    assert!(page.body.contains("rm ../diary.md") && page.body.contains("Refuse"), "{}", page.body);
    let headers = [("Cookie", cookie.as_str()), ("Origin", "http://localhost")];
    let path = format!("/v1/approvals/{id}/deny");
    // What stood on the page is what is answered: not what is there by now, nor whatever it is.
    let listed = server.asked("/v1/approvals").json();
    let one = listed["items"].as_array().unwrap().iter().find(|one| one["id"] == *id).unwrap();
    let shown = one["shown"].as_str().unwrap().to_owned();
    assert!(page.body.contains(&shown), "{}", page.body);
    let allow = format!("/v1/approvals/{id}/allow");
    let another = format!("shown={}&then=%2Fapprovals", shown.replace(':', "%3A0"));
    let refused = server.form(&allow, &another, &headers);
    assert!(refused.status == 422 && refused.body.contains("another question"), "{}", refused.body);
    assert_eq!(server.form(&allow, "then=%2Fapprovals", &headers).status, 400);
    assert_eq!(server.post(&allow, &json!({ "shown": "sha256:0" })).status, 422);
    let form = format!("message=keep+the+diary&then=%2Fapprovals&shown={}", shown.replace(':', "%3A"));
    let done = server.form(&path, &form, &headers);
    assert_eq!((done.status, done.header("location").as_deref()), (303, Some("/approvals")), "{}", done.body);
    let told = answer_of(hook);
    assert_eq!(decision(&told), Some("deny"));
    assert!(reason(&told).contains("keep the diary"), "{told}");
    assert!(environment.home().join("diary.md").exists());
}

#[test]
fn an_agent_that_came_by_the_key_answers_nothing() {
    let environment = unattended("");
    let server = Serving::start(&environment);
    let hook = asks(&environment, "s", "one", CALL);
    let id = waiting(&server);
    let key = std::fs::read_to_string(environment.state().join("server/checkrein.token")).unwrap();
    let (host, port) = server.address().rsplit_once(':').unwrap();
    let request = format!(
        "POST /v1/approvals/{id}/allow HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer {}\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n",
        key.trim()
    );
    let script = format!("exec 3<>/dev/tcp/{host}/{port}; printf '{request}' >&3; head -1 <&3");
    let sent = |command: &mut std::process::Command| {
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mut below = std::process::Command::new("bash");
    let answer = sent(below.args(["-c", &script]).env("CLAUDECODE", "1"));
    assert!(answer.contains(" 403 "), "{answer}");
    // The same in a sandbox that lets it talk to this machine.
    let mut contained = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let answer = sent(contained.args(["exec", "--net", "loopback", "--", "bash", "-c", &script]));
    assert!(answer.contains(" 403 "), "{answer}");
    assert_eq!(server.post(&format!("/v1/approvals/{id}/deny"), &json!({})).status, 200);
    assert_eq!(decision(&answer_of(hook)), Some("deny"));
}

/// A HITL message with this payload, sent with the key of the viewer.
fn hitl(server: &Serving, viewer: &str, id: &str, payload: &Json) -> serve_support::Http {
    let message = json!({
        "protocol": "acgp", "protocol_version": "1.0.0", "message_type": "HITL", "message_id": id,
        "timestamp": "2026-01-01T00:00:00Z", "sender_id": "urn:acgp:agent:test", "receiver_id": "any",
        "payload": payload,
    });
    let key = format!("Bearer {viewer}");
    server.sent("POST", "/acgp/v1/messages", &message.to_string(), &[("Authorization", &key)])
}

#[test]
fn a_framework_puts_a_question_and_a_person_answers_it() {
    let environment = TestEnvironment::new();
    std::fs::write(environment.home().join("diary.md"), "dear diary\n").unwrap();
    let server = Serving::start(&environment);
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let action = |command: &str| json!({ "name": "Bash", "parameters": { "command": command, "cwd": environment.project() } });
    let ask = |id: &str, payload: Json| {
        let answer = hitl(&server, &viewer, id, &payload);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer = answer.json();
        assert_eq!(
            (&answer["message_type"], &answer["in_reply_to"]),
            (&json!("HITL"), &json!(id)),
            "{answer}"
        );
        answer["payload"].clone()
    };

    // It waits, with what is asked about and by whom, in the list of all questions.
    let put = ask("m1", json!({ "trace_id": "t", "action": action(CALL), "message": "may I tidy up?" }));
    let question = put["hitl_id"].as_str().unwrap().to_owned();
    assert_eq!(
        (&put["status"], &put["intervention"], &put["hitl_result"]),
        (&json!("pending"), &json!("escalate"), &Json::Null),
        "{put}"
    );
    let listed = server.asked("/v1/approvals").json()["items"][0].clone();
    for (field, value) in [
        ("id", json!(question)),
        ("client", json!("acgp")),
        ("asked_by", json!("urn:acgp:agent:test")),
        ("asked_with", json!("may I tidy up?")),
        ("action_hash", put["action_hash"].clone()),
        ("answers", json!(["once", "no"])),
    ] {
        assert_eq!(listed[field], value, "{listed}");
    }
    assert!(listed["action"].as_str().unwrap().contains(CALL), "{listed}");
    assert_eq!(
        server.post(&format!("/v1/approvals/{question}/allow"), &json!({ "for": "always" })).status,
        422
    );
    // Its sender cannot answer it, nor ask about another action with it.
    let own = server.form(
        &format!("/v1/approvals/{question}/allow"),
        "",
        &[("Authorization", &format!("Bearer {viewer}"))],
    );
    assert_eq!(own.status, 403);
    let other = hitl(&server, &viewer, "m2", &json!({ "hitl_id": question, "action": action("rm -rf ~") }));
    assert_eq!((other.status, &other.json()["error"]["kind"]), (409, &json!("acgp_3003")));
    // A request waits for the answer, which comes by the command line.
    let answer = std::thread::scope(|scope| {
        let waits = scope
            .spawn(|| ask("m3", json!({ "hitl_id": question, "action": action(CALL), "wait_seconds": 30 })));
        std::thread::sleep(std::time::Duration::from_millis(300));
        let said = environment.succeed(&["approval", "allow", &question]);
        assert!(said.contains("may I tidy up?") && said.ends_with("the call went on\n"), "{said}");
        waits.join().unwrap()
    });
    assert_eq!((&answer["status"], &answer["intervention"]), (&json!("allowed"), &json!("ok")), "{answer}");
    let result = &answer["hitl_result"];
    assert_eq!(
        (&result["decision"], &result["reviewer"], &result["action_hash"]),
        (&json!("approved"), &json!("dev"), &put["action_hash"])
    );
    // The yes is for one receiver, who may have lost it on the way, and for no other.
    assert_eq!(ask("m3", json!({ "hitl_id": question }))["status"], "allowed");
    let used = ask("m4", json!({ "hitl_id": question }));
    assert_eq!((&used["status"], &used["intervention"]), (&json!("used"), &json!("block")), "{used}");
    assert_eq!(server.post(&format!("/v1/approvals/{question}/allow"), &json!({})).status, 422);

    // By API a no, with a word.
    let put = ask("m5", json!({ "action": action(CALL) }));
    let question = put["hitl_id"].as_str().unwrap().to_owned();
    let denied = server.post(&format!("/v1/approvals/{question}/deny"), &json!({ "message": "leave it" }));
    assert_eq!((denied.status, &denied.json()["result"]["went_on"]), (200, &json!(false)), "{}", denied.body);
    let answer = ask("m6", json!({ "hitl_id": question }));
    assert_eq!((&answer["status"], &answer["message"]), (&json!("denied"), &json!("leave it")), "{answer}");
    assert_eq!(answer["hitl_result"]["decision"], "rejected");
    // Nobody answers.
    let answer = ask("m7", json!({ "action": action(CALL), "timeout_seconds": 1, "wait_seconds": 20 }));
    assert_eq!(
        (&answer["status"], &answer["intervention"]),
        (&json!("expired"), &json!("block")),
        "{answer}"
    );
    // What is refused anyway is put to nobody.
    let answer = ask("m8", json!({ "action": action("rm -rf ~") }));
    assert_eq!(
        (&answer["status"], &answer["intervention"], &answer["hitl_id"]),
        (&json!("refused"), &json!("block"), &Json::Null),
        "{answer}"
    );
    // What cannot be read, and what nobody put.
    for (payload, status) in [
        (json!({}), 400),
        (json!({ "action": action(CALL), "wait_seconds": 1000 }), 400),
        (json!({ "action": action(CALL), "timeout_seconds": "soon" }), 400),
        (json!({ "action": { "name": "Bash", "parameters": { "command": "ls", "cwd": "/nowhere" } } }), 400),
        (json!({ "hitl_id": "0123456789" }), 404),
        (json!({ "hitl_id": "../../x" }), 404),
    ] {
        let answer = hitl(&server, &viewer, "m9", &payload);
        assert_eq!(answer.status, status, "{payload}: {}", answer.body);
    }
    // A question of a hook is not told to who sends messages.
    environment.configure("config.yaml", "profile: unattended\n");
    let hook = asks(&environment, "s", "one", CALL);
    let of_hook = waiting(&server);
    assert_eq!(hitl(&server, &viewer, "m10", &json!({ "hitl_id": of_hook })).status, 404);
    server.post(&format!("/v1/approvals/{of_hook}/deny"), &json!({}));
    answer_of(hook);
    // On record, in a session of its own.
    let events: Vec<Json> = environment
        .records(listed["session"].as_str().unwrap())
        .iter()
        .map(|one| one["body"]["name"].clone())
        .collect();
    assert_eq!(events.iter().filter(|name| **name == "checkrein.approval_answered").count(), 3, "{events:?}");

    // The example as it stands there.
    let example = support::repository().join("examples/acgp/ask.py");
    let asking = environment
        .command("python3")
        .arg(&example)
        .args(["--url", &server.url, "--people", "--cwd", environment.project().to_str().unwrap(), CALL])
        .env("CHECKREIN_TOKEN", &viewer)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let question = waiting(&server);
    assert_eq!(server.post(&format!("/v1/approvals/{question}/allow"), &json!({})).status, 200);
    let output = asking.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(environment.home().join("diary.md").exists(), "asking runs nothing");
}

#[test]
fn a_question_outlives_the_server_that_put_it() {
    let environment = TestEnvironment::new();
    std::fs::write(environment.home().join("diary.md"), "dear diary\n").unwrap();
    let mut server = Serving::start(&environment);
    let key = server.token.clone();
    let action = json!({ "name": "Bash", "parameters": { "command": CALL, "cwd": environment.project() } });
    let put = hitl(&server, &key, "m1", &json!({ "action": action })).json();
    let question = put["payload"]["hitl_id"].as_str().unwrap().to_owned();
    assert_eq!(server.terminate(), Some(0));
    environment.succeed(&["approval", "allow", &question]);
    let server = Serving::start(&environment);
    let answer = hitl(&server, &key, "m2", &json!({ "hitl_id": question })).json();
    assert_eq!(answer["payload"]["status"], "allowed", "{answer}");
}

const PUBLIC: &str = "answers.example";

/// A home in which people are told of questions by a command, and reach the server at a public address.
fn told_with_links(more: &str) -> TestEnvironment {
    unattended(&format!(
        "interventions: {{emergency_stop: {{notification_channels: [command]}}}}\n\
         notifications: {{command: cat > told.json}}\n\
         server: {{public_address: 'https://{PUBLIC}'}}\n{more}"
    ))
}

/// The text of the notice that comes next.
fn notice(environment: &TestEnvironment) -> String {
    let path = environment.project().join("told.json");
    let begin = std::time::Instant::now();
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Ok(notice) = serde_json::from_str::<Json>(&text) {
            std::fs::remove_file(&path).unwrap();
            return notice["text"].as_str().unwrap().to_owned();
        }
        assert!(begin.elapsed() < std::time::Duration::from_secs(30));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The path of the link in a notice.
fn link_in(notice: &str) -> String {
    let link =
        notice.lines().find_map(|line| line.split_once(": https://")).unwrap_or_else(|| panic!("{notice}")).1;
    link.strip_prefix(PUBLIC).unwrap().to_owned()
}

/// The fields of a link as a form sends them, with an answer.
fn fields(link: &str, answer: &str) -> (String, String) {
    let (path, query) = link.split_once('?').unwrap();
    (path.to_owned(), format!("{query}&answer={answer}"))
}

#[test]
fn a_signed_link_in_a_notice_answers_its_question_once() {
    let environment = told_with_links("");
    // Without a server there is no link.
    let hook = asks(&environment, "s", "none", CALL);
    let told = notice(&environment);
    assert!(!told.contains("https://"), "{told}");
    let id = told.split("approval allow ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    environment.succeed(&["approval", "deny", &id]);
    answer_of(hook);

    let server = Serving::start(&environment);
    let public = [("Host", PUBLIC)];
    let hook = asks(&environment, "t", "one", CALL);
    let link = link_in(&notice(&environment));
    let id = waiting(&server);
    assert!(link.starts_with(&format!("/answer/{id}?")), "{link}");
    // Opening it, as often as programs that look into mail like, answers nothing.
    for _ in 0..3 {
        let page = server.get(&link, &[("Host", PUBLIC), ("Sec-Fetch-Site", "cross-site")]);
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(
            page.body.contains("rm ../diary.md") && page.body.contains("Allow this call"),
            "{}",
            page.body
        );
        assert!(!page.body.contains("<script") && !page.body.contains("style="), "{}", page.body);
        assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    }
    assert_eq!(server.get("/answer/style.css", &public).status, 200);
    assert_eq!(waiting(&server), id);
    // Nothing else is there for people elsewhere, and a link that was altered in any part is none.
    for path in ["/", "/healthz", "/v1/sessions", "/approvals"] {
        assert_eq!(server.get(path, &public).status, 403, "{path}");
    }
    let until = link.split("until=").nth(1).unwrap().split('&').next().unwrap();
    let later = format!("{}", until.parse::<u64>().unwrap() + 1);
    let last = link.chars().last().unwrap();
    let other = if last == '0' { "1" } else { "0" };
    for altered in [
        link.replace(&format!("until={until}"), &format!("until={later}")),
        format!("{}{other}", &link[..link.len() - 1]),
        link.replace("role=approver", "role=admin"),
        link.replace(&id, "0123456789"),
        format!("/answer/{id}"),
    ] {
        assert_eq!(server.get(&altered, &public).status, 403, "{altered}");
        let (path, form) = fields(if altered.contains('?') { &altered } else { &link }, "allow");
        if altered.contains('?') {
            assert_eq!(server.form(&path, &form, &public).status, 403, "{altered}");
        }
    }
    let (path, form) = fields(&link, "allow");
    let foreign = server.form(&path, &form, &[("Host", PUBLIC), ("Origin", "https://evil.example")]);
    assert_eq!(foreign.status, 403);
    assert_eq!(server.form(&path, &fields(&link, "perhaps").1, &public).status, 400);
    assert_eq!(waiting(&server), id);
    // The button answers, once, and it is on record by what way.
    let origin = format!("https://{PUBLIC}");
    let done = server.form(
        &path,
        &form,
        &[("Host", PUBLIC), ("Origin", &origin), ("Sec-Fetch-Site", "same-origin")],
    );
    assert!(done.status == 200 && done.body.contains("The call went on"), "{} {}", done.status, done.body);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    assert_eq!(server.form(&path, &form, &public).status, 410);
    assert_eq!(server.get(&link, &public).status, 410);
    let listed = server.asked("/v1/approvals").json();
    let one =
        listed["items"].as_array().unwrap().iter().find(|one| one["id"] == id.as_str()).unwrap().clone();
    assert_eq!(
        (&one["answered_by"]["source"], &one["answered_by"]["name"]),
        (&json!("link"), &json!("the holder of a link"))
    );
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(
        visits.contains("answered by a link: done") && visits.contains("link that is not valid"),
        "{visits}"
    );
    assert!(!visits.contains(link.split("signature=").nth(1).unwrap()), "no signature is written down");

    // A no with a word, and a link whose question has ended.
    let hook = asks(&environment, "u", "two", CALL);
    let link = link_in(&notice(&environment));
    let (path, form) = fields(&link, "deny");
    assert_eq!(server.form(&path, &format!("{form}&message=keep+it"), &public).status, 200);
    let told = answer_of(hook);
    assert!(decision(&told) == Some("deny") && reason(&told).contains("keep it"), "{told}");
    // Who has the key of the links changed has all of them end.
    let hook = asks(&environment, "v", "three", CALL);
    let link = link_in(&notice(&environment));
    std::fs::write(environment.state().join("server/links.key"), "0".repeat(64)).unwrap();
    assert_eq!(server.get(&link, &public).status, 403);
    let id = waiting(&server);
    server.post(&format!("/v1/approvals/{id}/deny"), &json!({}));
    answer_of(hook);
}

#[test]
fn a_link_ends_with_its_question_and_a_flood_of_false_ones_is_slowed_down() {
    let environment = told_with_links("approvals: {wait_seconds: 2}\n");
    let server = Serving::start(&environment);
    let hook = asks(&environment, "s", "one", CALL);
    let link = link_in(&notice(&environment));
    assert_eq!(decision(&answer_of(hook)), Some("deny"));
    let public = [("Host", PUBLIC)];
    let late = server.get(&link, &public);
    assert!(late.status == 410 && late.body.contains("nothing waits"), "{} {}", late.status, late.body);
    let statuses: Vec<u16> =
        (0..25).map(|_| server.get("/answer/0123456789?role=approver&until=1", &public).status).collect();
    assert!(statuses.starts_with(&[403]) && statuses.ends_with(&[429]), "{statuses:?}");
    // Who has the key is not kept waiting.
    assert_eq!(server.asked("/v1/sessions").status, 200);
}
