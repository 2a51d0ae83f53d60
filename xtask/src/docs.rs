//! `docs`: the reference pages that are made from the code.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use checkrein_policy::rules;

use crate::{Outcome, root};

/// A generated page: where it lies and what it says.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Writes every page.
pub(crate) fn write() -> Outcome {
    for page in pages()? {
        if let Some(folder) = page.path.parent() {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        fs::write(&page.path, &page.text)
            .map_err(|error| format!("cannot write {}: {error}", page.path.display()))?;
    }
    Ok(())
}

/// Fails when a page is not what the code says.
pub(crate) fn are_fresh() -> Outcome {
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
    Ok(vec![
        Page { path: folder.join("configuration.md"), text: checkrein_policy::reference() },
        Page { path: folder.join("checkrein.schema.json"), text: schema + "\n" },
        Page { path: folder.join("rules.md"), text: rule_page() },
        Page { path: folder.join("escapes.md"), text: escape_page() },
    ])
}

/// The list that the test of the ways out goes through.
#[path = "../../crates/supervise/tests/escapes/table.rs"]
#[allow(dead_code, reason = "what is only for the test")]
mod table;

fn escape_page() -> String {
    let mut page = format!(
        "# Ways out of a scope\n\n\
        What is tried against `checkrein exec`, and what holds it. Each is tried by a real process in `crates/supervise/tests/escapes`\n\
        (`cargo test -p checkrein-supervise --test escapes`), which then looks from outside whether anything happened: files with all that is\n\
        known about them, a process, servers. {}\n\n\
        \"seccomp, judged by us\" means that the kernel asks: we look up what is meant and do exactly that, or nothing. Made by `cargo xtask docs`.\n\n\
        | attempt | with Landlock | without, in a view of the file system of its own |\n|---|---|---|\n",
        table::SEEN
    );
    for escape in table::ESCAPES {
        let _ = writeln!(page, "| {} | {} | {} |", escape.attempt, escape.landlock, escape.view);
    }
    page.push_str(
        "\n## What is not held\n\n\
        - Reading, unless `--read` is given; in a view of its own not even then, which is said before and refused with `--require`.\n\
        - A file inside that has a second name outside since before (a hard link): it is one file, and the scope names it.\n\
        - What is written inside and run by others later: `.git/hooks`, `.git/config`, `.envrc`, `Makefile`, `package.json`, `.vscode/tasks.json`,\n  \
          `.claude/settings.json`, `conftest.py`, and whatever else a program takes from the folder that it works in. A broken\n  \
          `checkrein.yaml` has the guard refuse until a person mends it.\n\
        - Other terminals of the same user where they are reached by a second mount of their folder (that of a `chroot`). A command has the\n  \
          terminals that are its input and outputs, the one that controls it, and those that it makes; in a view of its own, where they\n  \
          have other names, the first two only as open files and as `/dev/tty`.\n\
        - Shared locks on files that it may read (`flock`, and `fcntl`, which knows no other ones there): writers outside wait for them. In the\n  \
          state directory of checkrein those of `flock` are refused too.\n\
        - Semaphores and shared memory of POSIX are files of everybody in `/dev/shm`. With Landlock a command may make those whose names begin\n  \
          as libraries choose them (`sem.`, `psm_`, `torch_`), and use and remove what it made; what is left goes at the end. So it may\n  \
          take such a name that a program outside would take. `--write /dev/shm` would let it reach those of all programs of the user.\n\
        - Names of local sockets that are no paths: a command may take one that a program outside would take or look for.\n\
        - What System V has processes share is left where a command makes it and does not remove it; memory in sockets, in pipes\n  \
          and in files of memory that are passed from one to another and not open meanwhile is not counted by `--memory`.\n\
        - How much is written to the disk in all: `--file-size` bounds each file.\n\
        - Memory that is used faster than it is measured, where no control group can be made: it is looked at every 20 ms, every 2 ms from half\n  \
          of the limit on.\n\
        - What a server inside the scope of the network does for the command.\n",
    );
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
