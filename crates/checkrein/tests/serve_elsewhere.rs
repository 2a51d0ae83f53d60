//! The server for other machines: TLS alone, a password or a paired phone, and nothing that counts on this machine alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod browser_support;
mod serve_support;
mod support;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use browser_support::{Browser, label, role, text};
use serde_json::{Value as Json, json};
use support::waiting::{CALL, answer_of, asks, unattended};
use support::{TestEnvironment, decision};

/// A server that answers other machines too; ended when dropped.
struct Open {
    child: Child,
    told: Json,
}

impl Open {
    fn start(environment: &TestEnvironment, more: &[&str]) -> Self {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--tls", "--json"]).args(more);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, told: serde_json::from_str(&line).unwrap() }
    }

    fn elsewhere(&self, name: &str) -> String {
        self.told["elsewhere"][name].as_str().unwrap().to_owned()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Status, head and body of a request by `curl`, which takes any certificate.
fn curl(environment: &TestEnvironment, arguments: &[&str]) -> (u16, String) {
    let output = environment
        .command("curl")
        .args(["--silent", "--show-error", "--include", "--insecure", "--max-time", "20"])
        .args(arguments)
        .output()
        .expect("curl");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let status = told.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, told)
}

fn cookie(told: &str) -> String {
    let line = told.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: ")).unwrap();
    line.split_once(": ").unwrap().1.split(';').next().unwrap().to_owned()
}

/// Sets the password at a terminal, as a user does.
fn set_password(environment: &TestEnvironment, password: &str) -> String {
    let program = env!("CARGO_BIN_EXE_checkrein");
    let typed = format!("sleep 1; echo '{password}'; sleep 1; echo '{password}'; sleep 1");
    let script = format!("({typed}) | script -qec '{program} serve --set-password' /dev/null");
    let output = environment.command("bash").args(["-c", &script]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn other_machines_get_tls_and_a_login_and_nothing_else() {
    let environment = TestEnvironment::new();
    environment.bash("live", "ls");
    let server = Open::start(&environment, &["--name", "desk.example"]);
    let url = server.elsewhere("url");
    let at = url.strip_prefix("https://").unwrap();
    let ask = |path: &str, more: &[&str]| {
        let to = format!("{url}{path}");
        curl(&environment, &[&[to.as_str()][..], more].concat())
    };
    // The key of the certificate is the owner's.
    let key = environment.state().join("server/tls.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    // Without TLS nothing but a hint is answered.
    let (status, told) = curl(&environment, &[&format!("http://{at}/healthz")]);
    assert!(status == 400 && told.contains("use `https://`"), "{told}");
    assert_eq!(ask("/healthz", &[]).0, 200);
    // Keys and links of this machine count for nothing there, nor other hosts and origins.
    let key = format!("Authorization: Bearer {}", server.told["token"].as_str().unwrap());
    let (status, told) = ask("/v1/sessions", &["-H", &key]);
    assert!(status == 403 && told.contains("\"elsewhere\""), "{told}");
    let open = server.told["open"].as_str().unwrap();
    let local = server.told["url"].as_str().unwrap();
    assert_eq!(ask(open.strip_prefix(local).unwrap(), &[]).0, 401);
    assert_eq!(ask("/healthz", &["-H", "Host: evil.example"]).0, 403);
    assert_eq!(ask("/healthz", &["-H", "Host: localhost"]).0, 403);
    assert_eq!(ask("/healthz", &["-H", "Host: desk.example:99"]).0, 200);
    assert_eq!(ask("/login", &["-H", "Origin: https://evil.example"]).0, 403);
    let (status, told) = ask("/", &["-H", "Accept: text/html"]);
    assert!(status == 303 && told.to_ascii_lowercase().contains("location: /login"), "{told}");
    assert_eq!(ask("/v1/sessions", &[]).0, 401);
    assert_eq!(ask("/assets/style.css", &[]).0, 200);

    // A password, once one is set; a form of another page does not bring it.
    let origin = format!("Origin: {url}");
    let log_in = |password: &str, origin: &str| {
        ask("/login", &["-H", origin, "--data-urlencode", &format!("password={password}")])
    };
    assert_eq!(log_in("seven red kites", &origin).0, 403);
    let said = set_password(&environment, "seven red kites");
    assert!(said.contains("the password is set"), "{said}");
    let file = environment.state().join("server/password");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("$argon2id$"));
    assert!(set_password(&environment, "short").contains("at least 10"), "{said}");
    let none = environment.checkrein(&["serve", "--set-password"]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("terminal"), "{none:?}");
    assert_eq!(log_in("seven red kites", "Origin: https://evil.example").0, 403);
    let (status, told) = log_in("seven red kites", &origin);
    assert_eq!(status, 303, "{told}");
    assert!(
        told.contains("__Host-checkrein=") && told.contains("Secure; HttpOnly; SameSite=Strict"),
        "{told}"
    );
    let held = format!("Cookie: {}", cookie(&told));
    assert_eq!(ask("/v1/sessions", &["-H", &held]).0, 200);
    assert_eq!(ask("/v1/links", &["-H", &held, "-H", &origin, "-d", ""]).0, 403);
    assert_eq!(ask("/v1/halt", &["-H", &held, "-d", ""]).0, 403, "without an origin");
    assert_eq!(ask("/v1/halt", &["-H", &held, "-H", &origin, "-d", ""]).0, 200);
    // Another password, and who had the one before is out.
    set_password(&environment, "eight blue kites");
    assert_eq!(ask("/v1/sessions", &["-H", &held]).0, 401);
    let tried: Vec<u16> = (0..7).map(|_| log_in("seven red kites", &origin).0).collect();
    assert_eq!((tried[0], tried[6]), (401, 429), "{tried:?}");
    // The right one waits too: there is no telling who tries.
    assert_eq!(log_in("eight blue kites", &origin).0, 429);
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    for (detail, from) in [("\"password\"", "127.0.0.1"), ("\"wrong password\"", "127.0.0.1")] {
        let line = visits.lines().find(|line| line.contains(detail)).unwrap_or_else(|| panic!("{visits}"));
        assert!(line.contains(&format!("\"from\":\"{from}\"")), "{line}");
    }
    assert!(!visits.contains("kites"), "{visits}");
}

#[test]
fn an_agent_opens_no_door() {
    let environment = TestEnvironment::new();
    for arguments in [
        &["serve", "--lan"][..],
        &["serve", "--listen", "0.0.0.0:0", "--tls"],
        &["serve", "--set-password"],
        &["serve", "--devices"],
        &["serve", "--remove-device", "phone"],
        &["open", "--phone"],
    ] {
        let mut inside = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let output = inside.args(arguments).env("CLAUDECODE", "1").stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("for humans only"), "{arguments:?}: {said}");
        let command = format!("checkrein {}", arguments.join(" "));
        let told = environment.checkrein(&["check", "--json", &command]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("guard_tampering"), "{command}: {told}");
    }
    let _server = Open::start(&environment, &[]);
    let folder = environment.state().join("server");
    std::fs::write(folder.join("password"), "$argon2id$").unwrap();
    for name in ["tls.key", "password"] {
        let told =
            environment.checkrein(&["check", "--json", &format!("cat {}", folder.join(name).display())]);
        let said = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(said.contains("secret_read") && told.status.code() != Some(0), "{name}: {said}");
    }
    let pairs = format!("mkdir -p {0}; cp x.json {0}/ab12cd34.json", folder.join("devices").display());
    let told = environment.checkrein(&["check", "--json", &pairs]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("guard_tampering"), "{told:?}");
}

#[test]
fn a_phone_is_paired_answers_with_one_tap_and_is_removed() {
    let environment = unattended("");
    let server = Open::start(&environment, &[]);
    let Some(mut phone) = Browser::start(&environment, &["--ignore-certificate-errors"]) else { return };
    phone.act("begin", json!({ "width": 375, "height": 700, "insecure": true }));
    let (url, pair) = (server.elsewhere("url"), server.elsewhere("pair"));
    let fingerprint = server.elsewhere("fingerprint");
    assert!(pair.ends_with(&fingerprint.replace(':', "").to_lowercase()), "{pair}");
    // Who looks into the link uses nothing up.
    for _ in 0..2 {
        phone.go(&pair);
    }
    assert!(phone.text().contains(&fingerprint), "{}", phone.text());
    phone.is_for_everybody("the page that pairs");
    phone.fill(label("Name of this device"), "pocket");
    phone.click(role("button", "Pair this device"));
    phone.shown(role("heading", "Calls that wait for an answer"));
    assert_eq!(phone.at(), format!("{url}/approvals"));
    // It is an app: a manifest with icons, and a worker that keeps nothing.
    let script = "(async () => { const link = document.querySelector('link[rel=manifest]').href;
        const manifest = await (await fetch(link)).json();
        const icons = await Promise.all(manifest.icons.map(async (icon) => (await fetch(icon.src)).status));
        await navigator.serviceWorker.ready;
        return [manifest.display, icons.every((status) => status === 200), (await caches.keys()).length]; })()";
    assert_eq!(phone.act("evaluate", json!({ "script": script })), json!(["standalone", true, 0]));
    let hook = asks(&environment, "s", "one", CALL);
    phone.shown(text("rm ../diary.md"));
    phone.click(role("button", "Allow this call"));
    phone.shown(text("No call waits."));
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(visits.contains("paired pocket") && visits.contains("127.0.0.1, pocket ("), "{visits}");

    // The code is used up; the next one is for a device that only looks.
    let (status, _) = curl(&environment, &[&pair, "-H", &format!("Origin: {url}"), "-d", "name=x"]);
    assert_eq!(status, 401);
    let told: Json =
        serde_json::from_str(&environment.succeed(&["open", "--phone", "--role", "viewer", "--json"]))
            .unwrap();
    assert_eq!(told["fingerprint"], fingerprint, "{told}");
    let shown = environment.succeed(&["open", "--phone"]);
    assert!(shown.contains('▀') && shown.contains("/pair/") && shown.contains(&fingerprint), "{shown}");
    phone.act("begin", json!({ "width": 375, "height": 700, "insecure": true }));
    phone.go(told["pair"].as_str().unwrap());
    phone.fill(label("Name of this device"), "wall");
    phone.click(role("button", "Pair this device"));
    let hook = asks(&environment, "t", "two", CALL);
    phone.shown(text("rm ../diary.md"));
    let buttons = "[...document.querySelectorAll('main button')].filter((one) => one.offsetParent).length";
    assert_eq!(phone.act("evaluate", json!({ "script": buttons })), 0);
    let post = "fetch('/v1/halt', { method: 'POST' }).then((answer) => answer.status)";
    assert_eq!(phone.act("evaluate", json!({ "script": post })), 403);
    // The browser tells of that answer too.
    assert_eq!(phone.act("faults", json!({})).as_array().map(Vec::len), Some(1));
    // Removed, it is out at once.
    let listed = environment.succeed(&["serve", "--devices"]);
    assert!(listed.contains("pocket") && listed.contains("viewer"), "{listed}");
    environment.succeed(&["serve", "--remove-device", "wall"]);
    phone.act("go", json!({ "to": format!("{url}/approvals") }));
    assert_eq!(phone.at(), format!("{url}/login"));
    phone.is_for_everybody("the login");
    drop(server);
    drop(hook);
}
