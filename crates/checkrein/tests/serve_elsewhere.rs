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

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use browser_support::{Browser, label, role, text};
use data_encoding::BASE64URL_NOPAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
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

/// An issuer of OpenID Connect. A code is the token that it is exchanged for, so that a test says what the issuer vouches for.
struct Issuer {
    url: String,
    pair: EcdsaKeyPair,
    random: SystemRandom,
    /// The form that was exchanged last.
    asked: Arc<Mutex<String>>,
}

impl Issuer {
    fn start() -> Self {
        let random = SystemRandom::new();
        let way = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(way, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(way, document.as_ref(), &random).unwrap();
        let point = pair.public_key().as_ref();
        let part = |range: std::ops::Range<usize>| BASE64URL_NOPAD.encode(&point[range]);
        let keys = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "kid": "k1", "x": part(1..33), "y": part(33..65) }] });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let told = json!({
            "issuer": url, "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"), "jwks_uri": format!("{url}/keys"),
        });
        let asked = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut first, mut length) = (String::new(), 0);
                reader.read_line(&mut first).unwrap();
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let body = String::from_utf8(body).unwrap();
                let answer = if first.contains("/.well-known/openid-configuration") {
                    told.to_string()
                } else if first.contains("/keys") {
                    keys.to_string()
                } else {
                    let code = field(&body, "code");
                    *kept.lock().unwrap() = body;
                    json!({ "access_token": "a", "token_type": "Bearer", "id_token": code }).to_string()
                };
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    answer.len()
                );
                drop(stream.write_all((head + &answer).as_bytes()));
            }
        });
        Self { url, pair, random, asked }
    }

    fn token(&self, header: &Json, claims: &Json) -> String {
        let part = |value: &Json| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let message = format!("{}.{}", part(header), part(claims));
        let signature = self.pair.sign(&self.random, message.as_bytes()).unwrap();
        format!("{message}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
    }
}

/// A field of a form or of the end of an address.
fn field(text: &str, name: &str) -> String {
    let pairs = text.split(['?', '&']).filter_map(|pair| pair.split_once('='));
    let value = pairs.clone().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
    value.replace("%3A", ":").replace("%2F", "/")
}

#[test]
fn whom_the_issuer_vouches_for_gets_in_with_their_role_and_nobody_else() {
    let environment = TestEnvironment::new();
    environment.bash("live", "ls");
    let issuer = Issuer::start();
    let configure = |viewers: &str| {
        let url = &issuer.url;
        let viewers: &[&str] = if viewers.is_empty() { &[] } else { &[viewers] };
        let file = json!({ "issuer": url, "client_id": "console", "approvers": ["Ada@example.org"], "viewers": viewers });
        environment.configure("oidc.json", &file.to_string());
    };
    configure("bob@example.org");
    let server = Open::start(&environment, &[]);
    let url = server.elsewhere("url");
    let ask = |path: &str, more: &[&str]| {
        let to = format!("{url}{path}");
        curl(&environment, &[&[to.as_str()][..], more].concat())
    };
    assert!(ask("/login", &[]).1.contains("/login/oidc"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    // What the browser has before it comes back: the cookie, the state, and what the issuer signs.
    let begun = |email: &str| {
        let (status, told) = ask("/login/oidc", &["-H", "Sec-Fetch-Site: same-origin"]);
        assert_eq!(status, 303, "{told}");
        let line = told.lines().find(|line| line.to_ascii_lowercase().starts_with("location: ")).unwrap();
        let to = line.split_once(": ").unwrap().1.trim().to_owned();
        assert!(to.starts_with(&format!("{}/authorize?", issuer.url)), "{to}");
        assert_eq!(
            (field(&to, "response_type"), field(&to, "code_challenge_method")),
            ("code".to_owned(), "S256".to_owned())
        );
        assert_eq!(field(&to, "redirect_uri"), format!("{url}/login/oidc/back"));
        let claims = json!({
            "iss": issuer.url, "aud": "console", "exp": now + 300, "iat": now, "nonce": field(&to, "nonce"),
            "sub": "1", "email": email, "email_verified": true,
        });
        (format!("Cookie: {}", cookie(&told)), to, claims)
    };
    let header = json!({ "alg": "ES256", "kid": "k1" });
    let back = |held: &str, to: &str, token: &str| {
        let path = format!("/login/oidc/back?code={token}&state={}", field(to, "state"));
        ask(&path, &["-H", held, "-H", "Sec-Fetch-Site: cross-site", "-H", "Accept: text/html"])
    };
    let shown = |told: &str| {
        let line = told
            .lines()
            .find(|line| line.contains("__Host-checkrein=o."))
            .unwrap_or_else(|| panic!("{told}"));
        assert!(line.contains("Secure; HttpOnly; SameSite=Strict"), "{line}");
        format!("Cookie: {}", line.split_once(": ").unwrap().1.split(';').next().unwrap())
    };
    let origin = format!("Origin: {url}");
    let (held, to, claims) = begun("ada@EXAMPLE.org");
    let (status, told) = back(&held, &to, &issuer.token(&header, &claims));
    assert_eq!(status, 200, "{told}");
    let ada = shown(&told);
    assert_eq!(ask("/v1/sessions", &["-H", &ada]).0, 200);
    assert_eq!(ask("/v1/sessions/live/halt", &["-H", &ada, "-H", &origin, "-d", ""]).0, 200);
    // What was exchanged proves that it is who began.
    let form = issuer.asked.lock().unwrap().clone();
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(field(&form, "code_verifier")));
    assert_eq!(challenge, field(&to, "code_challenge"), "{form}");
    // The same way back once more leads nowhere.
    assert_eq!(back(&held, &to, &issuer.token(&header, &claims)).0, 401);
    let (held, to, claims) = begun("bob@example.org");
    let bob = shown(&back(&held, &to, &issuer.token(&header, &claims)).1);
    assert_eq!(ask("/v1/sessions", &["-H", &bob]).0, 200);
    assert_eq!(ask("/v1/halt", &["-H", &bob, "-H", &origin, "-d", ""]).0, 403);

    // Whatever is not signed for this login of somebody who is listed opens nothing.
    let other = Issuer::start();
    let none = |claims: &Json| {
        let part = |value: &Json| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        format!("{}.{}.", part(&json!({ "alg": "none" })), part(claims))
    };
    for (what, why) in [
        ("audience", "for another program"),
        ("expired", "has expired"),
        ("nonce", "of another login"),
        ("none", "signed in a way that counts"),
        ("signer", "not signed by the issuer"),
        ("unknown", "is not listed"),
        ("unverified", "not verified"),
        ("browser", "another browser"),
    ] {
        let (mut held, to, mut claims) =
            begun(if what == "unknown" { "eve@example.org" } else { "ada@example.org" });
        match what {
            "audience" => claims["aud"] = json!("another"),
            "expired" => claims["exp"] = json!(now - 300),
            "nonce" => claims["nonce"] = json!("another"),
            "unverified" => claims["email_verified"] = json!(false),
            "browser" => held = begun("ada@example.org").0,
            _ => {}
        }
        let token = match what {
            "none" => none(&claims),
            "signer" => other.token(&header, &claims),
            _ => issuer.token(&header, &claims),
        };
        let (status, told) = back(&held, &to, &token);
        assert!(
            status == 401 && told.contains(why) && !told.contains("__Host-checkrein=o."),
            "{what}: {told}"
        );
    }
    let visits = std::fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(
        visits.contains("issuer: ada@example.org as approver") && visits.contains("is not listed"),
        "{visits}"
    );
    // A login that was ended, and who is not listed any more, is out.
    assert_eq!(ask("/logout", &["-H", &ada, "-H", &origin, "-d", ""]).0, 200);
    assert_eq!(ask("/v1/sessions", &["-H", &ada]).0, 401);
    drop(server);
    configure("");
    let server = Open::start(&environment, &[]);
    let to = format!("{}/v1/sessions", server.elsewhere("url"));
    assert_eq!(curl(&environment, &[&to, "-H", &bob]).0, 401);
}
