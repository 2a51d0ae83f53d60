//! What is shown of each client, and by which test: the matrix on the page of agents. A test holds that each test is there, and that no other is.

use crate::adapter::ClientAdapter;
use crate::conduct::Source;

/// An ability, and who shows it.
#[derive(Debug, Clone, Copy)]
pub struct Ability {
    /// Its column in the matrix.
    pub title: &'static str,
    /// What is shown.
    pub what: &'static str,
    /// The test with a real client: the program, modules and function. `NAME` stands for the name of the client, a `*` at the end for the
    /// rest of the name.
    pub test: &'static str,
    /// The test that holds its form for clients that nobody here could run; `None` where only a real client shows it.
    pub form: Option<&'static str>,
    /// The clients with which it is shown, by name.
    pub clients: &'static [&'static str],
}

/// Clients that are driven for real, in their mode that approves everything.
const DRIVEN: &[&str] =
    &["claude", "codex", "gemini", "qwen", "copilot", "cline", "droid", "opencode", "kilo"];

/// Clients whose output `checkrein run` understands as a whole.
const SUPERVISED: &[&str] = &["claude", "codex", "gemini", "qwen", "copilot", "opencode"];

/// What is shown, one column each.
pub const SHOWN: &[Ability] = &[
    Ability {
        title: "obeys",
        what: "a deletion of the home directory does not run; a call runs in a safer form, or is refused with it; a question without a user is \
               a refusal that says so; a hint reaches the model where it can; a hook that is removed meanwhile still holds, or cannot be removed; a loop is stopped",
        test: "real_further_clients_obeying::NAME::obeys",
        form: Some("clients::every_client_is_refused_in_its_form_and_not_disturbed_otherwise"),
        clients: DRIVEN,
    },
    Ability {
        title: "hook fails",
        what: "the hook crashes, is silent, prints nonsense or half an answer: nothing runs; it takes 14 seconds: its answer counts",
        test: "real_further_clients_obeying::NAME::fails_closed_whatever_the_hook_does",
        form: Some("clients::the_line_that_calls_the_hook_passes_on_what_it_hears_and_refuses_silence"),
        clients: DRIVEN,
    },
    Ability {
        title: "inputs",
        what: "an input that can be read in more than one way",
        test: "real_further_clients_inputs::NAME_*",
        form: None,
        clients: &["gemini", "qwen", "copilot", "cline", "droid", "opencode"],
    },
    Ability {
        title: "counted",
        what: "`checkrein run` without hooks knows session, answers, tokens and cost",
        test: "real_further_clients::NAME::is_counted",
        form: None,
        clients: &["claude", "codex", "gemini", "qwen", "copilot", "opencode", "droid"],
    },
    Ability {
        title: "with hooks",
        what: "`checkrein run` with hooks counts each call once, none that was refused as one that ran, and ends at a limit of tokens",
        test: "real_further_clients::NAME::is_counted_with_hooks",
        form: None,
        clients: SUPERVISED,
    },
    Ability {
        title: "limited",
        what: "`checkrein run` without hooks ends at a limit of tokens while the client works; Copilot CLI, which names its session at its end, after 10 s",
        test: "real_further_clients::NAME::is_limited_without_hooks",
        form: None,
        clients: SUPERVISED,
    },
    Ability {
        title: "judged",
        what: "an unattended `checkrein run` without hooks ends at a call that would have been stopped",
        test: "real_further_clients::NAME::is_judged_without_hooks",
        form: None,
        clients: &["claude", "codex", "gemini", "qwen", "copilot", "opencode", "droid"],
    },
    Ability {
        title: "goes on",
        what: "`checkrein run --resume` goes on with the session: nothing is done twice",
        test: "real_further_clients::NAME::goes_on_with_its_session",
        form: None,
        clients: SUPERVISED,
    },
    Ability {
        title: "starts another",
        what: "an agent that it starts by a shell call has a parent in the records, and what that one spends counts for its limits",
        test: "real_trees::NAME_starts_*",
        form: None,
        clients: DRIVEN,
    },
    Ability {
        title: "ACP",
        what: "behind `checkrein acp` a refusal holds, also where its hooks do not run",
        test: "acp::real::NAME_*",
        form: None,
        clients: &["gemini", "qwen", "opencode"],
    },
    Ability {
        title: "MCP",
        what: "a server behind `checkrein mcp`: calls are judged, secrets masked",
        test: "mcp_real_clients::NAME_*",
        form: None,
        clients: &["claude", "opencode"],
    },
    Ability {
        title: "day",
        what: "a day of forty calls goes to its end; honest work is not stopped",
        test: "working_day::NAME_works_a_day",
        form: None,
        clients: &["claude", "codex", "gemini", "copilot", "cline", "droid", "opencode", "kilo"],
    },
    Ability {
        title: "folders",
        what: "a call behind a `cd` of an earlier call is judged in the folder where it runs",
        test: "real_folders::NAME_is_judged_where_it_runs",
        form: None,
        clients: DRIVEN,
    },
];

/// Which newer versions than the pinned ones were tried, and when.
const NEWEST: &str = "The newest versions were tried on 2026-11-30: the tests below held with Claude Code 2.1.332, Codex 0.171.0 and\n\
    OpenCode 1.18.34 (of which 3 was not run) as with the versions above; of the others those were the newest.\n\
    `cargo xtask clients --latest` tries them again.\n\n";

/// The section of the page that holds the matrix.
pub(crate) fn section(clients: &[ClientAdapter]) -> String {
    let mut page = "\n## What is shown with the real client\n\n\
        Each number is a test that drives the real client by a scripted model (`cargo xtask clients` fetches them; one that is not there is\n\
        named as not run). `form` means that no package could be run here: the tests of the section below hold the form alone. A cell without\n\
        either is not shown.\n\n"
        .to_owned();
    page.push_str(NEWEST);
    page.push_str("| client |");
    for ability in SHOWN {
        page.extend([" ", ability.title, " |"]);
    }
    page.extend(["\n|---|", &"---|".repeat(SHOWN.len()), "\n"]);
    for client in clients {
        page.extend(["| ", client.title, " |"]);
        for (number, ability) in (1..).zip(SHOWN) {
            let cell = match client.conduct.source {
                Source::Documented if ability.form.is_some() => "form".to_owned(),
                Source::Observed if ability.clients.contains(&client.client.name()) => number.to_string(),
                Source::Documented | Source::Observed => String::new(),
            };
            page.extend([" ", &cell, " |"]);
        }
        page.push('\n');
    }
    page.push('\n');
    for (number, ability) in (1..).zip(SHOWN) {
        page.extend([&number.to_string(), ". ", ability.what, ": `", ability.test, "`"]);
        if let Some(form) = ability.form {
            page.extend(["; its form: `", form, "`"]);
        }
        page.push('\n');
    }
    page
}
