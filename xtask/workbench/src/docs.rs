//! `docs`: the reference pages that are made from the code.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use checkrein_ledger::mask::{Counts, NATIONAL_NUMBERS};
use checkrein_policy::rules;

use xtask::{Outcome, root};

/// A generated page: where it lies and what it says.
struct Page {
    path: PathBuf,
    text: String,
}

/// `docs [--fresh]`: writes every page, or fails when one is not what the code says.
pub(crate) fn docs(arguments: &[String]) -> Outcome {
    match arguments {
        [] => write(),
        [option] if option == "--fresh" => are_fresh(),
        _ => Err("usage: cargo xtask docs [--fresh]".to_owned()),
    }
}

fn write() -> Outcome {
    for page in pages()? {
        if let Some(folder) = page.path.parent() {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        fs::write(&page.path, &page.text)
            .map_err(|error| format!("cannot write {}: {error}", page.path.display()))?;
    }
    Ok(())
}

fn are_fresh() -> Outcome {
    for page in pages()? {
        let found = fs::read_to_string(&page.path).unwrap_or_default();
        if found != page.text {
            return Err(format!("{} is stale: run `cargo xtask docs`", page.path.display()));
        }
    }
    Ok(())
}

fn pages() -> Result<Vec<Page>, String> {
    let folder = root().join("docs/reference");
    let schema =
        serde_json::to_string_pretty(&checkrein_policy::schema()).map_err(|error| error.to_string())?;
    let json_schema =
        serde_json::to_string_pretty(&checkrein_cli::api::schema()).map_err(|error| error.to_string())?;
    Ok(vec![
        Page { path: folder.join("configuration.md"), text: checkrein_policy::reference() },
        Page { path: folder.join("checkrein.schema.json"), text: schema + "\n" },
        Page { path: folder.join("json.md"), text: checkrein_cli::api::page() },
        Page { path: folder.join("json.schema.json"), text: json_schema + "\n" },
        Page { path: folder.join("rules.md"), text: rule_page() },
        Page { path: folder.join("escapes.md"), text: escape_page() },
        Page { path: folder.join("sources.md"), text: crate::sources::page()? },
        Page { path: folder.join("national-numbers.md"), text: national_page() },
        Page {
            path: root().join("docs/agents.md"),
            text: checkrein_clients::page(checkrein_clients::CLIENTS),
        },
    ])
}

/// The list that the test of the ways out goes through.
#[path = "../../../crates/sandbox/tests/escapes/table.rs"]
#[allow(dead_code, reason = "what is only for the test")]
mod table;

/// What the page ends with.
#[path = "../../../crates/sandbox/src/not_held.rs"]
#[allow(dead_code, unreachable_pub, reason = "what is for `checkrein doctor`")]
mod not_held;

use not_held::{NOT_HELD, NotHeld};

fn escape_page() -> String {
    let mut page = format!(
        "# Ways out of a scope\n\n\
        What is tried against `checkrein exec`, and what holds it. Each is tried by a real process in `crates/sandbox/tests/escapes`\n\
        (`cargo test -p checkrein-sandbox --test escapes`), which then looks from outside whether anything happened: files with all that is\n\
        known about them, a process, servers. {}\n\n\
        \"seccomp, judged by us\" means that the kernel asks: we look up what is meant and do exactly that, or nothing. Made by `cargo xtask docs`.\n\n\
        | attempt | with Landlock | without, in a view of the file system of its own |\n|---|---|---|\n",
        table::SEEN
    );
    for escape in table::ESCAPES {
        let _ = writeln!(page, "| {} | {} | {} |", escape.attempt, escape.landlock, escape.view);
    }
    page.push_str("\n## What is not held\n\n");
    for NotHeld { text, .. } in NOT_HELD {
        let _ = writeln!(page, "- {text}");
    }
    page
}

fn national_page() -> String {
    let mut page = "# National numbers\n\n\
        The numbers that states give to persons, as records know and mask them as `national_id`. `9` is a digit, `A` a\n\
        capital letter, `X` either. A form **in bold** counts by itself: of a thousand numbers of its length less than one is a\n\
        chance hit, or nothing else is written with signs in these places. The other forms count where one of the words\n\
        stands at most 48 bytes in front of them on the line, or is the key of the value. Tests compare with python-stdnum,\n\
        and count chance hits (`crates/ledger/tests/national_numbers.rs`). Social security numbers of the United States are\n\
        known by their form alone, as `ssn`. Made by `cargo xtask docs`.\n\n\
        | country | number | forms | checked by | words |\n|---|---|---|---|---|\n"
        .to_owned();
    for one in NATIONAL_NUMBERS {
        let forms: Vec<String> = one
            .forms
            .iter()
            .map(|form| match form.counts {
                Counts::Alone => format!("**`{}`**", form.written),
                Counts::Named => format!("`{}`", form.written),
            })
            .collect();
        let words: Vec<String> = one.words.iter().map(|word| format!("`{word}`")).collect();
        let (forms, words) = (forms.join(", "), words.join(", "));
        let _ = writeln!(page, "| {} | {} | {forms} | {} | {words} |", one.country, one.name, one.checked);
    }
    page
}

fn rule_page() -> String {
    let mut page = "# Rules\n\nThe built-in rules, one file each in `crates/policy/src/rules/`. Made by `cargo xtask docs`.\n".to_owned();
    for rule in rules::ALL {
        let set = format!("{:?}", rule.set).to_lowercase();
        let _ = write!(
            page,
            "\n## {}\n\nSet: {set}.\n\n{}\n\n**Why it matters.** {}\n\n**Example.** `{}`\n\n**Instead.** {}\n\n**Limits.** {}\n",
            rule.name,
            rule.docs.detects,
            rule.docs.danger,
            rule.docs.example,
            rule.docs.instead,
            rule.docs.limits
        );
    }
    page
}
