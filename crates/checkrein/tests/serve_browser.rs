//! The console in a real browser: what a user clicks, what they see and when, by mouse and by keyboard, on a desk and on a phone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod browser_support;
mod serve_support;
mod support;

use std::fs;
use std::time::{Duration, SystemTime};

use browser_support::{Browser, label, role, text};
use serde_json::json;
use serve_support::Serving;
use support::client;
use support::model::{Model, Turn, bash};
use support::waiting::{CALL, answer_of, asks, unattended};
use support::{TestEnvironment, decision, reason, shell_call};

/// A call of a session, as its hook is told of it.
fn call(environment: &TestEnvironment, id: &str, command: &str) {
    environment.answer_to(&environment.payload("live", "PreToolUse", shell_call(id, command, json!({}))));
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

#[test]
fn a_call_is_on_the_screen_within_a_second() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    // Without a login there is a page that says how to get one, for people.
    let without = browser.act("go", json!({ "to": server.url }));
    assert_eq!(without["status"], 401);
    assert!(browser.text().contains("open the link"), "{}", browser.text());
    browser.act("begin", json!({}));
    browser.go(&server.open);
    browser.shown(role("heading", "Sessions"));
    assert_eq!(browser.at(), format!("{}/", server.url));
    call(&environment, "first", "ls -la");
    browser.shown(role("link", "live"));
    browser.click(role("link", "live"));
    browser.shown(text("Bash: ls -la"));
    browser.shown(json!({ "within": "#state", "text": "live" }));
    // The quickest of a few: what else the machine does is not measured here.
    let times = (0..4).map(|round| {
        std::thread::sleep(Duration::from_millis(1200));
        let begin = now();
        call(&environment, &format!("timed{round}"), &format!("cat round-{round}"));
        browser.shown(text(&format!("Bash: cat round-{round}"))) - begin
    });
    let times: Vec<u64> = times.collect();
    eprintln!("from the call to the pixel: {times:?} ms");
    assert!(times.iter().any(|time| *time < 1000), "{times:?}");
    assert_eq!(browser.act("faults", json!({})), json!([]));
}

#[test]
fn a_waiting_call_is_answered_by_a_click() {
    let environment = unattended("");
    let server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    browser.go(&server.open);
    browser.click(role("link", "Approvals"));
    browser.shown(text("No call waits."));
    browser.shown(json!({ "within": "#state", "text": "live" }));
    // It shows without anything being pressed.
    let hook = asks(&environment, "s", "one", CALL);
    browser.shown(text("rm ../diary.md"));
    browser.is_for_everybody("a call that waits");
    let begin = now();
    browser.click(role("button", "Allow this call"));
    let told = answer_of(hook);
    eprintln!("from the click to the call going on: {} ms", now() - begin);
    browser.shown(text("No call waits."));
    assert_eq!(decision(&told), Some("allow"));
    let hook = asks(&environment, "t", "two", CALL);
    browser.shown(role("button", "Refuse"));
    browser.click(text("Other answers"));
    browser.fill(label("A word to the agent"), "keep the diary");
    // What a user writes stays while the page renews itself.
    call(&environment, "other", "ls");
    std::thread::sleep(Duration::from_secs(2));
    browser.click(role("button", "Refuse with this word"));
    browser.shown(text("No call waits."));
    let told = answer_of(hook);
    assert_eq!(decision(&told), Some("deny"));
    assert!(reason(&told).contains("keep the diary"), "{told}");
}

/// Where the buttons of an answer are, as far as they can be pressed without anything being moved: each by its words.
const REACHED: &str = "[...document.querySelectorAll('.answers button')].filter((one) => {
    const box = one.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return box.width > 0 && box.top >= 0 && box.bottom <= innerHeight && one.contains(at);
  }).map((one) => one.textContent)";

#[test]
fn a_thumb_reaches_the_buttons_below_any_text() {
    let environment = unattended("server: {public_address: 'https://answers.localhost'}\n");
    let server = Serving::start(&environment);
    let Some(mut phone) = Browser::start(&environment, &[]) else { return };
    phone.act("begin", json!({ "width": 375, "height": 667 }));
    phone.go(&server.open);
    phone.go(&format!("{}/approvals", server.url));
    phone.shown(text("No call waits."));
    let long = format!("{CALL} # {}", "and so on, word by word, ".repeat(60));
    let hook = asks(&environment, "s", "one", &long);
    phone.shown(text("rm ../diary.md"));
    let tall = "document.querySelector('.asked').getBoundingClientRect().height > 2 * innerHeight";
    assert_eq!(phone.act("evaluate", json!({ "script": tall })), true, "the text is not long enough");
    assert_eq!(
        phone.act("evaluate", json!({ "script": "[scrollY, innerHeight].join()" })),
        "0,667",
        "nothing was moved"
    );
    assert_eq!(phone.act("evaluate", json!({ "script": REACHED })), json!(["Allow this call", "Refuse"]));
    phone.is_for_everybody("a long call on a phone");
    // All answers are, once they are asked for, and the rest of the text is read above them.
    phone.click(text("Other answers"));
    let reached = phone.act("evaluate", json!({ "script": REACHED }));
    assert!(reached.as_array().unwrap().iter().any(|one| one == "Refuse with this word"), "{reached}");
    phone.click(role("button", "Allow this call"));
    phone.shown(text("No call waits."));
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
}

#[test]
fn a_browser_is_logged_out_for_good() {
    let environment = TestEnvironment::new();
    let mut server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    browser.go(&server.open);
    browser.shown(role("heading", "Sessions"));
    let cookies = browser.act("cookies", json!({}));
    let cookie = format!("checkrein={}", cookies[0]["value"].as_str().unwrap());
    let seen = |server: &Serving| server.get("/v1/sessions", &[("Cookie", &cookie)]).status;
    assert_eq!(seen(&server), 200);
    // A page elsewhere logs nobody out.
    let elsewhere = [("Cookie", cookie.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(server.form("/logout", "", &elsewhere).status, 403);
    assert_eq!(seen(&server), 200);
    browser.click(role("button", "Log out"));
    browser.shown(role("heading", "You are logged out"));
    browser.is_for_everybody("the page after the end of a login");
    assert_eq!(browser.act("cookies", json!({})), json!([]));
    // What somebody copied of the cookie opens nothing either, nor at the next server.
    assert_eq!(seen(&server), 401);
    server.terminate();
    let server = Serving::start(&environment);
    assert_eq!(seen(&server), 401);
    let visits = fs::read_to_string(environment.state().join("server/access.jsonl")).unwrap();
    assert!(visits.contains("\"kind\":\"logout\""), "{visits}");
}

#[test]
fn it_installs_as_an_app() {
    let environment = TestEnvironment::new();
    let server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    browser.go(&server.open);
    browser.go(&format!("{}/approvals", server.url));
    let told = browser.act("app", json!({}));
    assert_eq!(told["errors"], json!([]), "{told}");
    assert_eq!(told["manifest"]["display"], "standalone", "{told}");
    assert_eq!(told["manifest"]["start_url"], "/approvals", "{told}");
}

#[test]
fn a_session_is_halted_and_resumed_and_a_file_comes_back() {
    let environment = TestEnvironment::new();
    environment.configure(
        "config.yaml",
        "governance:
  tripwires:
    - {id: no_dates, condition: 'action.command == \"date\"', on_fail: {decision: halt, reason: dates are out}}
    - {id: watched, condition: 'action.command == \"uname\"', on_fail: {decision: ok, flag: medium, reason: watched}}
",
    );
    let server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    environment.write("notes.txt", "kept\n");
    call(&environment, "first", "rm notes.txt");
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 1);
    browser.go(&server.open);
    browser.click(role("link", "live"));
    browser.fill(label("Reason"), "lunch");
    browser.click(role("button", "Halt"));
    browser.shown(role("button", "Resume"));
    browser.shown(text("halted: lunch"));
    let answer = environment.bash("live", "ls");
    assert_eq!(decision(&answer), Some("deny"), "{answer}");
    browser.click(role("button", "Resume"));
    browser.shown(role("button", "Halt"));
    assert_ne!(decision(&environment.bash("live", "ls")), Some("deny"));

    browser.click(role("link", "snapshots"));
    browser.click(json!({ "within": "table", "role": "link" }));
    browser.shown(text("comes back"));
    browser.is_for_everybody("what a restore would change");
    browser.click(role("button", "Restore"));
    browser.shown(text("Nothing: all of it is as it was."));
    assert_eq!(fs::read_to_string(environment.project().join("notes.txt")).unwrap(), "kept\n");

    // What was flagged, and what a session was stopped for, is closed with a word.
    for (command, end) in [("uname", "No flagged call is open."), ("date", "Closed")] {
        environment.bash("stopped", command);
        browser.go(&format!("{}/review", server.url));
        browser.click(role("button", "Close"));
        assert!(browser.at().ends_with("/review"), "without a word nothing is sent");
        browser.fill(label("Note for"), "seen by me");
        browser.click(role("button", "Close"));
        browser.shown(text(end));
    }
    browser.shown(text("seen by me"));
    let closed = server.asked("/v1/incidents").json();
    let one = closed["items"].as_array().unwrap().iter().find(|one| one["session"] == "stopped").unwrap();
    assert_eq!(one["closed"]["source"], "console", "{closed}");
    let tickets = server.asked("/v1/tickets").json();
    assert_eq!(tickets["items"][0]["closed"], "seen by me", "{tickets}");
}

#[test]
fn every_page_is_for_everybody_in_both_themes_and_on_a_phone() {
    let environment = unattended("");
    let server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    environment.write("notes.txt", "kept\n");
    environment.answer_to(&environment.payload("live", "SessionStart", json!({ "source": "startup" })));
    call(&environment, "first", "rm notes.txt");
    let long = format!("echo {}", "a-word-without-an-end".repeat(20));
    for (id, command) in [("second", "ls"), ("third", "rm -rf ~"), ("fourth", long.as_str())] {
        call(&environment, id, command);
    }
    let hook = asks(&environment, "s", "one", CALL);
    server.until("/v1/approvals", |answer| answer.body.contains("\"pending\""));
    server.until("/v1/sessions", |answer| answer.json()["sessions"].as_array().unwrap().len() == 2);
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    let saved = server.asked("/v1/snapshots?session=live").json();
    let snapshot = saved["items"].as_array().unwrap().last().unwrap()["id"].clone();
    browser.go(&server.open);
    let pages = [
        "/".to_owned(),
        "/sessions/live".to_owned(),
        "/sessions/live/calls/third".to_owned(),
        "/sessions/live/calls/first".to_owned(),
        "/sessions/live/rollback?before=first".to_owned(),
        "/sessions/live/snapshots".to_owned(),
        format!("/sessions/live/snapshots/{snapshot}"),
        "/approvals".to_owned(),
        "/calls".to_owned(),
        "/review".to_owned(),
        "/stats?days=7".to_owned(),
        "/nothing".to_owned(),
    ];
    for page in &pages {
        let answer = browser.act("go", json!({ "to": format!("{}{page}", server.url) }));
        let wanted = if page == "/nothing" { 404 } else { 200 };
        assert_eq!(answer["status"], wanted, "{page}: {}", browser.text());
        if page == "/nothing" {
            continue;
        }
        for theme in ["light", "dark"] {
            for width in [1280, 375] {
                browser.act("theme", json!({ "theme": theme }));
                browser.act("size", json!({ "width": width }));
                browser.is_for_everybody(&format!("{page}, {theme}, {width} pixels wide"));
            }
        }
        // Each page says where in the console it is.
        let marked = "document.querySelectorAll('nav a[aria-current=page]').length";
        let wanted = u64::from(!page.starts_with("/sessions/"));
        assert_eq!(browser.act("evaluate", json!({ "script": marked })), wanted, "{page}");
    }
    // What is drawn in a graph can be told from the ground in both themes.
    browser.go(&format!("{}/stats?days=7", server.url));
    for theme in ["light", "dark"] {
        browser.act("theme", json!({ "theme": theme }));
        let script = "(() => { const bars = [...document.querySelectorAll('.graph rect')];
            const ground = getComputedStyle(document.body).backgroundColor;
            return bars.length > 0 && bars.every((bar) => getComputedStyle(bar).fill !== ground
                && bar.getBoundingClientRect().width > 0); })()";
        assert_eq!(browser.act("evaluate", json!({ "script": script })), true, "{theme}");
    }
    pictures(&mut browser, &server.url, &environment.home());
    drop(server);
    drop(hook);
}

/// Draws the main pages for the documentation into the folder that `CHECKREIN_CONSOLE_PICTURES` names, where it names one.
fn pictures(browser: &mut Browser, url: &str, home: &std::path::Path) {
    let Some(folder) = std::env::var_os("CHECKREIN_CONSOLE_PICTURES") else { return };
    for (name, page, theme, width, height) in [
        ("console-approvals", "/approvals", "light", 960, 480),
        ("console-approvals-dark", "/approvals", "dark", 960, 480),
        ("console-sessions", "/", "light", 960, 480),
        ("console-timeline", "/sessions/live", "dark", 960, 640),
        ("console-stats", "/stats?days=7", "light", 960, 640),
        ("console-stats-dark", "/stats?days=7", "dark", 960, 640),
        ("console-phone", "/approvals", "dark", 375, 667),
        ("console-phone-light", "/sessions/live", "light", 375, 667),
    ] {
        browser.act("theme", json!({ "theme": theme }));
        browser.act("size", json!({ "width": width, "height": height }));
        browser.go(&format!("{url}{page}"));
        // The page is the real one; only where the test made its home is not what a user has.
        let script = format!(
            "(() => {{ const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (all.nextNode()) {{ all.currentNode.data = all.currentNode.data.replaceAll({}, '/home/you'); }} }})()",
            json!(home.display().to_string())
        );
        browser.act("evaluate", json!({ "script": script }));
        let shown = browser.text();
        assert!(!shown.contains("/tmp"), "{name} shows where it was drawn: {shown}");
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        browser.act("picture", json!({ "to": path }));
        assert!(fs::metadata(&path).unwrap().len() < 150_000, "{name} is too large for a page");
    }
}

#[test]
fn the_real_claude_code_goes_on_by_a_click() {
    let environment = unattended("");
    environment.succeed(&["init", "--yes"]);
    let server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    browser.go(&server.open);
    browser.click(role("link", "Approvals"));
    browser.shown(text("No call waits."));
    let model = Model::start(vec![bash(CALL), Turn::Says("finished")], vec![]);
    let waits = r#"{"env":{"CHECKREIN_APPROVALS_WAIT":"unattended"}}"#;
    let result = std::thread::scope(|scope| {
        let client = scope.spawn(|| client::run(&environment, &model, &["--settings", waits]));
        browser.shown(text("rm ../diary.md"));
        assert!(environment.home().join("diary.md").exists(), "it did not wait");
        browser.click(role("button", "Allow this call"));
        client.join().unwrap()
    });
    assert_eq!(result["is_error"], false, "{result}");
    assert!(!environment.home().join("diary.md").exists(), "{}", model.heard());
    browser.shown(text("No call waits."));
}

#[test]
fn all_of_it_is_done_by_keyboard_alone() {
    let environment = unattended("");
    let server = Serving::start(&environment);
    let Some(mut browser) = Browser::start(&environment, &[]) else { return };
    call(&environment, "first", "ls");
    server.until("/v1/sessions", |answer| answer.json()["sessions"][0]["calls"] == 1);
    let hook = asks(&environment, "s", "one", CALL);
    server.until("/v1/approvals", |answer| answer.body.contains("\"pending\""));
    browser.go(&server.open);
    // The first thing to be reached leads past the navigation.
    browser.press("Tab");
    assert_eq!(browser.act("focused", json!({}))["text"], "Skip to the content");
    browser.tab_to("Approvals");
    browser.press("Enter");
    browser.shown(role("heading", "Calls that wait for an answer"));
    browser.tab_to("Allow this call");
    browser.press("Enter");
    browser.shown(text("No call waits."));
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    browser.tab_to("Sessions");
    browser.press("Enter");
    browser.shown(role("link", "live"));
    browser.tab_to("live");
    browser.press("Enter");
    browser.shown(role("heading", "Timeline"));
    browser.tab_to("reason");
    browser.act("type", json!({ "value": "tea" }));
    browser.tab_to("Halt");
    browser.press("Enter");
    browser.shown(text("halted: tea"));
    browser.tab_to("Resume");
    browser.press("Enter");
    browser.shown(role("button", "Halt"));
}
