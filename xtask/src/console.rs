//! `console`: the pictures of the console for the documentation, and the figures of the server.

use crate::{Outcome, cargo, root, run};

/// What can be set, and the variable by which the tests take it.
const SETTINGS: [(&str, &str, &str); 7] = [
    ("--records", "CHECKREIN_FIGURES_RECORDS", "records in the index"),
    ("--sessions", "CHECKREIN_FIGURES_SESSIONS", "sessions that they are of"),
    ("--busy", "CHECKREIN_FIGURES_BUSY", "sessions that write at once"),
    ("--rate", "CHECKREIN_FIGURES_RATE", "calls a second of all of them"),
    ("--seconds", "CHECKREIN_FIGURES_SECONDS", "how long they write"),
    ("--kills", "CHECKREIN_KILLS", "how often the server is killed"),
    (
        "--folder",
        "CHECKREIN_FIGURES_FOLDER",
        "where the records are written; a million take about a gigabyte",
    ),
];

/// `console pictures` draws the pages anew; `console figures [--records N] ... [--profile NAME]` measures.
pub(crate) fn console(arguments: &[String]) -> Outcome {
    match arguments.split_first() {
        Some((what, [])) if what == "pictures" => pictures(),
        Some((what, rest)) if what == "figures" => figures(rest),
        _ => Err(usage()),
    }
}

fn usage() -> String {
    let settings = SETTINGS.map(|(name, _, meaning)| format!("\n  {name} VALUE  {meaning}"));
    format!(
        "usage: cargo xtask console pictures | figures [--profile NAME] [SETTING...]{}",
        settings.concat()
    )
}

/// The pages as a browser draws them, in both themes and on a phone. The test that draws them holds them to everything else too.
fn pictures() -> Outcome {
    let mut test = cargo(&["test", "--package", "checkrein", "--test", "serve_browser", "--"]);
    test.args(["every_page", "--nocapture"]);
    run(test.env("CHECKREIN_CONSOLE_PICTURES", root().join("docs/pictures")))
}

/// Each test says its figures; a debug build says so.
fn figures(arguments: &[String]) -> Outcome {
    let mut profile = "dev".to_owned();
    let mut variables = Vec::new();
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let value = rest.next().ok_or_else(usage)?;
        match SETTINGS.iter().find(|(known, _, _)| known == name) {
            Some((_, variable, _)) => variables.push((*variable, value)),
            None if name == "--profile" => profile.clone_from(value),
            None => return Err(usage()),
        }
    }
    println!("profile `{profile}`{}", if profile == "dev" { ": a debug build" } else { "" });
    for (test, filter) in [
        ("serve_figures", "many_records"),
        ("serve_figures", "busy_sessions"),
        ("serve_kills", ""),
        ("serve_load", ""),
        ("serve_browser", "on_the_screen"),
        ("serve_browser", "answered_by_a_click"),
    ] {
        let mut command = cargo(&["test", "--quiet", "--package", "checkrein", "--profile", &profile]);
        command.args(["--test", test, "--", "--nocapture", "--test-threads", "1"]);
        command.args((!filter.is_empty()).then_some(filter)).envs(variables.iter().copied());
        run(&mut command)?;
    }
    Ok(())
}
