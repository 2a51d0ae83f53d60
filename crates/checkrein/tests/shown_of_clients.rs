//! The matrix of clients on the page of agents says what is so: each test that it names is there, and where it names none there is none.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::fs;
use std::path::Path;

use checkrein_clients::{CLIENTS, SHOWN, Source};

/// The part of a source that a module makes up: its body, or the whole where a macro makes it out of a list of names.
fn module<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    if let Some((_, body)) = source.split_once(&format!("\nmod {name} {{\n")) {
        return Some(body.split_once("\n}\n").map_or(body, |(body, _)| body));
    }
    let is_listed = source.lines().any(|line| {
        line.split_once("!(")
            .and_then(|(_, list)| list.strip_suffix(");"))
            .is_some_and(|list| list.split(',').any(|one| one.trim() == name))
    });
    is_listed.then_some(source)
}

/// Whether a test is there, by its program, modules and function; `*` at the end stands for the rest of its name.
fn is_there(test: &str) -> bool {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let parts: Vec<&str> = test.split("::").collect();
    let [program, modules @ .., function] = parts.as_slice() else { panic!("{test}") };
    let (mut path, mut modules) = (tests.join(format!("{program}.rs")), modules);
    if let [first, rest @ ..] = modules {
        let inner = tests.join(program).join(format!("{first}.rs"));
        if inner.is_file() {
            (path, modules) = (inner, rest);
        }
    }
    let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut part = source.as_str();
    for name in modules {
        let Some(found) = module(part, name) else { return false };
        part = found;
    }
    let wanted = match function.strip_suffix('*') {
        Some(start) => format!("fn {start}"),
        None => format!("fn {function}("),
    };
    let lines: Vec<&str> = part.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&wanted))
}

#[test]
fn each_cell_of_the_matrix_has_its_test_and_no_empty_one_has() {
    for ability in SHOWN {
        for client in CLIENTS {
            let name = client.client.name();
            let is_shown = ability.clients.contains(&name);
            let test = ability.test.replace("NAME", name);
            assert_eq!(is_there(&test), is_shown, "{} of {name}: `{test}`", ability.title);
            assert!(!is_shown || client.conduct.source == Source::Observed, "{name} was never seen");
        }
        for name in ability.clients {
            assert!(checkrein_clients::named(name).is_some(), "{name}");
        }
    }
}

/// What each client that can be run is asked for: nothing of it may be missing for one of them.
#[test]
fn every_client_that_can_be_run_is_driven_through_every_situation() {
    for ability in SHOWN.iter().filter(|ability| ability.test.starts_with("real_further_clients_obeying")) {
        for client in CLIENTS.iter().filter(|client| client.conduct.source == Source::Observed) {
            assert!(ability.clients.contains(&client.client.name()), "{}: {}", ability.title, client.title);
        }
    }
}

#[test]
fn every_test_that_the_page_names_is_there() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = fs::read_to_string(page).unwrap();
    let mut count = 0;
    for word in page.split('`').skip(1).step_by(2) {
        if word.contains("::") && !word.contains("NAME") {
            assert!(is_there(word), "`{word}` is not there");
            count += 1;
        }
        if word.starts_with("crates/") {
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(word).is_file(), "{word}");
        }
    }
    assert!(count >= 8, "{count}");
}
