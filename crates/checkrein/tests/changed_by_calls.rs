//! The cases of `cases/code/changed_by_calls.md` against the real programs: with printing in the place of what takes away, each prints the
//! home directory where its case says that it may go, and does not where the case says that all is well.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

#[path = "support/literate.rs"]
#[allow(dead_code, reason = "only the cases are read here")]
mod literate;

use std::path::Path;
use std::process::{Command, Stdio};

use checkrein_testkit::not_run;
use literate::read_page;

/// Each program with what takes away in its cases, and what prints what that is given.
const PRINTING: [(&str, &str, &str); 6] = [
    ("python3", "shutil.rmtree(", "print("),
    ("node", "fs.rmSync(", "console.log("),
    ("perl", "system(", "print("),
    ("php", "system(", "print("),
    ("ruby", "FileUtils.rm_rf(", "puts("),
    ("lua", "os.execute(", "print("),
];

/// Where the cases have the home directory; nothing needs to stand there.
const HOME: &str = "/home/dev";

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[test]
fn the_real_programs_put_the_place_where_the_cases_say() {
    let page = std::fs::read_to_string(Path::new("tests/cases/code/changed_by_calls.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for (program, takes_away, prints) in PRINTING {
        if !is_there(program) {
            not_run(&format!("{program} is not installed here"));
            continue;
        }
        let cases = read_page(&page);
        let own: Vec<_> =
            cases.iter().filter(|case| case.action.split(' ').next() == Some(program)).collect();
        assert!(own.len() > 5, "{program}: {} cases", own.len());
        for case in own {
            let harmless = case.action.replace(takes_away, prints);
            assert!(harmless != case.action && !harmless.contains(takes_away), "{harmless}");
            let output = Command::new("bash")
                .args(["-c", &harmless])
                .current_dir(folder.path())
                .env("HOME", HOME)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let is_reached = String::from_utf8_lossy(&output.stdout).contains(HOME);
            let is_stopped = !case.expected.starts_with("ok");
            if is_reached != is_stopped {
                wrong.push(format!("{harmless}: {output:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
