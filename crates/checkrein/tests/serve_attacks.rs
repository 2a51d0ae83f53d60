//! Attempts to answer a call from inside a session, by every door that there is, and to reach the server from a page of somebody else.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod browser_support;
mod serve_support;
mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use browser_support::{Browser, role};
use serde_json::{Value as Json, json};
use serve_support::Serving;
use support::waiting::{CALL, answer_of, asks, unattended};
use support::{TestEnvironment, copy_program, decision};

/// Sends one request and prints the status: over TCP or a socket, with headers and a body.
const SEND: &str = "import socket, sys
place, method, path, headers, body = sys.argv[1:6]
if place.startswith('/'):
    wire = socket.socket(socket.AF_UNIX); wire.connect(place)
else:
    host, port = place.rsplit(':', 1); wire = socket.create_connection((host, int(port)))
head = f'{method} {path} HTTP/1.1\\r\\nConnection: close\\r\\nContent-Length: {len(body)}\\r\\n{headers}\\r\\n'
wire.sendall((head + body).encode())
answer = b''
while True:
    piece = wire.recv(65536)
    if not piece: break
    answer += piece
print(answer.decode(errors='replace'))
";

/// A client that runs what it is told, as an agent does: its name alone tells what it is, since whoever cares takes the variables away.
struct Agent<'a> {
    environment: &'a TestEnvironment,
    program: PathBuf,
}

impl<'a> Agent<'a> {
    fn new(environment: &'a TestEnvironment) -> Self {
        let program = environment.home().join("claude");
        copy_program("/bin/bash", &program);
        std::fs::write(environment.home().join("send.py"), SEND).unwrap();
        Self { environment, program }
    }

    /// What a command below the client says, on both ways.
    fn says(&self, script: &str) -> String {
        // The shell stays above what it starts.
        let script = format!("{script}\ntrue");
        let output = self.environment.command(&self.program).args(["-c", &script]).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// The status of a request that it sends.
    fn sends(&self, place: &str, path: &str, headers: &[String], body: &str) -> u16 {
        let lines: String = headers.iter().flat_map(|line| [line.as_ref(), "\r\n"]).collect();
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let send = self.environment.home().join("send.py");
        let arguments: Vec<String> =
            [place, "POST", path, &lines, body].iter().map(|one| quoted(one)).collect();
        let said = self.says(&format!("python3 {} {}", send.display(), arguments.join(" ")));
        let status = said.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.unwrap_or_else(|| panic!("{path}: {said}"))
    }
}

/// The one question that waits: its name, and the digest of what is shown of it.
fn waiting(server: &Serving) -> (String, String) {
    let is_there = |answer: &serve_support::Http| answer.body.contains("\"pending\"");
    let all = server.until("/v1/approvals", is_there).json();
    let one = all["items"].as_array().unwrap().iter().find(|one| one["state"] == "pending").unwrap();
    (one["id"].as_str().unwrap().to_owned(), one["shown"].as_str().unwrap().to_owned())
}

/// The cookie of a browser that a person logged in.
fn cookie(server: &Serving) -> String {
    let opened = server.get(server.open.strip_prefix(&server.url).unwrap(), &[]);
    opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// The link of the notice that tells of the question.
fn link(environment: &TestEnvironment) -> String {
    let begin = std::time::Instant::now();
    loop {
        let told = std::fs::read_to_string(environment.home().join("told")).unwrap_or_default();
        if let Some(at) = told.find("/answer/") {
            return told[at..].split(['"', '\\', ' ', '\n']).next().unwrap().to_owned();
        }
        assert!(begin.elapsed() < std::time::Duration::from_secs(20), "no notice came: {told}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn no_door_is_open_to_an_agent_that_came_by_every_key() {
    let environment = unattended(
        "interventions: {emergency_stop: {notification_channels: [command]}}\n\
         notifications: {command: 'cat >> ~/told'}\n\
         server: {public_address: 'https://answers.localhost'}\n",
    );
    let server = Serving::start(&environment);
    let socket = environment.home().join("server.sock");
    let at_socket = Serving::start_at(&environment, &format!("unix:{}", socket.display()));
    let agent = Agent::new(&environment);
    let hook = asks(&environment, "s", "one", CALL);
    let (id, shown) = waiting(&server);
    let key = std::fs::read_to_string(environment.state().join("server/checkrein.token")).unwrap();
    let bearer = format!("Authorization: Bearer {}", key.trim());
    let cookie = format!("Cookie: {}", cookie(&server));
    let link = link(&environment);
    let (page, query) = link.split_once('?').unwrap();
    let (allow, json_body) = (format!("/v1/approvals/{id}/allow"), json!({ "shown": shown }).to_string());
    let form = "Content-Type: application/x-www-form-urlencoded".to_owned();
    let host = |name: &str| format!("Host: {name}");
    let own = format!("http://{}", server.address());
    let socket_place = socket.display().to_string();
    let pressed = format!("shown={}&for=once&then=%2Fapprovals", shown.replace(':', "%3A"));
    let by_link = format!("{query}&answer=allow");
    let doors: Vec<(&str, &str, &str, Vec<String>, &str)> = vec![
        (
            "the API with the key",
            server.address(),
            &allow,
            vec![host("localhost"), bearer.clone()],
            &json_body,
        ),
        (
            "the same with the names of other machines in the head",
            server.address(),
            &allow,
            vec![
                host("127.0.0.1"),
                bearer.clone(),
                "X-Forwarded-For: 192.168.1.5".to_owned(),
                "X-Real-IP: 192.168.1.5".to_owned(),
                "Forwarded: for=192.168.1.5;proto=https".to_owned(),
            ],
            &json_body,
        ),
        ("a socket", &socket_place, &allow, vec![host("localhost"), bearer.clone()], &json_body),
        (
            "the button of the console with the cookie of a person",
            server.address(),
            &allow,
            vec![host(server.address()), cookie.clone(), format!("Origin: {own}"), form.clone()],
            &pressed,
        ),
        (
            "the button of the page behind the link of a notice",
            server.address(),
            page,
            vec![host("localhost"), form.clone()],
            &by_link,
        ),
        (
            "the same at the public address",
            server.address(),
            page,
            vec![host("answers.localhost"), "Origin: https://answers.localhost".to_owned(), form.clone()],
            &by_link,
        ),
        (
            "a login for a browser of its own",
            server.address(),
            "/v1/links",
            vec![host("localhost"), bearer.clone()],
            "",
        ),
        (
            "a phone of its own",
            server.address(),
            "/v1/pairings",
            vec![host("localhost"), bearer.clone()],
            "{}",
        ),
        ("taking back a halt", server.address(), "/v1/resume", vec![host("localhost"), bearer.clone()], ""),
    ];
    for (door, place, path, headers, body) in &doors {
        assert_eq!(agent.sends(place, path, headers, body), 403, "{door}");
    }
    // A process that left the line of the agent, without a variable that tells of it, and holds the key: nobody can tell who started it.
    let send = environment.home().join("send.py");
    for (way, path) in [("links", "/v1/links"), ("answer", allow.as_str()), ("halt", "/v1/resume")] {
        let lines = format!("Host: localhost\r\n{bearer}\r\n");
        let out = environment.home().join(way);
        let script = format!(
            "(setsid -f env -i PATH=$PATH python3 {} {} POST {path} '{lines}' '{json_body}' > {out}.part && mv {out}.part {out} &)",
            send.display(),
            server.address(),
            out = out.display()
        );
        agent.says(&script);
        let begin = std::time::Instant::now();
        let said = loop {
            // The name comes before the answer is written.
            match std::fs::read_to_string(&out) {
                Ok(said) if said.contains("\r\n\r\n") => break said,
                Ok(_) | Err(_) => assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{way}"),
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        assert!(said.starts_with("HTTP/1.1 403") && said.contains("cannot be told"), "{way}: {said}");
    }
    // The command line, under its own name and a copy of it, and a server or browser of its own.
    let program = env!("CARGO_BIN_EXE_checkrein");
    for command in [
        format!("{program} approval allow {id}"),
        format!("env -i HOME=$HOME PATH=$PATH {program} approval allow {id} --always"),
        format!("setsid {program} approval allow {id}"),
        format!("cp {program} ./ours && ./ours approval allow {id}"),
        format!("{program} open --print"),
        format!("{program} open --phone"),
        format!("{program} serve --listen 127.0.0.1:0 --json"),
        format!("{program} approval put --json < /dev/null"),
    ] {
        let said = agent.says(&command);
        let is_refused = said.contains("humans only") || said.contains("agent") || said.contains("person");
        assert!(is_refused, "{command}: {said}");
        assert!(!said.contains("went on"), "{command}: {said}");
    }
    // The question still waits for a person, who answers it by the very link.
    let listed = server.asked("/v1/approvals").json();
    assert!(
        listed["items"].as_array().unwrap().iter().any(|one| one["id"] == *id && one["state"] == "pending")
    );
    let kind = [("Host", "answers.localhost"), ("Origin", "https://answers.localhost")];
    let given = server.form(page, &by_link, &kind);
    assert_eq!(given.status, 200, "{}", given.body);
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    // Each attempt is on record, and so is the answer.
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(visits.matches("sent by an agent").count() >= doors.len(), "{visits}");
    assert_eq!(visits.matches("sent by a process that nobody knows").count(), 3, "{visits}");
    drop(at_socket);
}

/// A program that serves one page to whoever asks, as a page of somebody else: its port.
fn evil(page: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let page = page.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                page.len()
            );
            drop(stream.write_all((head + &page).as_bytes()));
        }
    });
    port
}

/// Everything that a page can try at another origin; each with what came of it.
const TRIES: &str = r#"(async (base) => {
  const told = {};
  const within = (work) => Promise.race([work, new Promise((done) => setTimeout(() => done("nothing came"), 3000))]);
  const read = async (path, more) => {
    try { const answer = await fetch(base + path, { credentials: "include", ...more }); return answer.type + " " + answer.status + " " + (await answer.text()).length; }
    catch (error) { return "refused"; }
  };
  told.read = await read("/v1/sessions");
  told.blind = await read("/v1/sessions", { mode: "no-cors" });
  told.halt = await read("/v1/halt", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  told.simple = await read("/v1/halt", { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body: "{}" });
  told.form = await read("/v1/halt", { method: "POST", mode: "no-cors", body: new URLSearchParams({ reason: "evil" }) });
  told.key = await read("/v1/sessions", { headers: { Authorization: "Bearer x" } });
  told.events = await within(new Promise((done) => {
    const events = new EventSource(base + "/v1/events", { withCredentials: true });
    events.onopen = () => done("open");
    events.onerror = () => { events.close(); done("refused"); };
  }));
  told.socket = await within(new Promise((done) => {
    const socket = new WebSocket(base.replace("http", "ws") + "/v1/events");
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
  }));
  const loads = (name, attribute) => within(new Promise((done) => {
    const one = document.createElement(name);
    one.onload = () => done("loaded");
    one.onerror = () => done("refused");
    one[attribute] = base + (name === "script" ? "/v1/sessions" : "/assets/icon-192.png");
    document.body.append(one);
  }));
  told.script = await loads("script", "src");
  told.picture = await loads("img", "src");
  told.frame = await within(new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.src = base + "/approvals";
    frame.onload = () => { try { done(frame.contentDocument === null ? "closed" : frame.contentDocument.body.innerText); } catch (error) { done("closed"); } };
    document.body.append(frame);
  }));
  const sent = document.createElement("form");
  sent.method = "post"; sent.action = base + "/v1/halt"; sent.target = "elsewhere";
  const into = document.createElement("iframe");
  into.name = "elsewhere";
  document.body.append(into, sent);
  await within(new Promise((done) => { into.onload = done; sent.submit(); }));
  return told;
})"#;

#[test]
fn a_page_of_somebody_else_reads_nothing_and_does_nothing() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    environment.bash("s", "ls");
    server.until("/v1/sessions", |answer| answer.body.contains("\"calls\":1"));
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    // The browser is logged in, and another port of this machine is the same site to it: its cookie goes along.
    browser.go(&server.open);
    browser.shown(role("heading", "Sessions"));
    let port = evil("<!doctype html><title>evil</title><body>");
    let nothing: Json = json!({
        "read": "refused", "blind": "refused", "halt": "refused", "simple": "refused", "form": "refused", "key": "refused",
        "events": "refused", "socket": "refused", "script": "refused", "picture": "refused", "frame": "closed",
    });
    for page in [format!("http://127.0.0.1:{port}/"), format!("http://evil.localhost:{port}/")] {
        browser.go(&page);
        let told = browser.act("evaluate", json!({ "script": format!("{TRIES}('{}')", server.url) }));
        assert_eq!(told, nothing, "from {page}");
    }
    assert!(!environment.state().join("halts").join("ALL").exists());
    assert_ne!(decision(&environment.bash("s", "ls")), Some("deny"), "it was halted");
    // A name of somebody else that leads here is not ours, whatever its page tries.
    let rebound = server.url.replace("127.0.0.1", "rebound.localhost");
    let answer = browser.act("go", json!({ "to": format!("{rebound}/") }));
    assert_eq!(answer["status"], 403, "{answer}");
    let script = "fetch('/v1/sessions').then((answer) => answer.status)";
    assert_eq!(browser.act("evaluate", json!({ "script": script })), 403);
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(visits.contains("wrong origin") && visits.contains("wrong host"), "{visits}");
    // The person who is logged in goes on as before.
    browser.go(&server.url);
    browser.shown(role("heading", "Sessions"));
    assert!(Path::new(&environment.state()).exists());
}
