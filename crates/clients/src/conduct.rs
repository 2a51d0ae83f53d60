//! What a client does with the answers of its hooks, in words: the rows of the page of agents.

use crate::adapter::ClientAdapter;

/// What a client does with the answers of its hooks. Each field is a cell of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conduct {
    /// How a call is refused, and what becomes of the agent then.
    pub deny: &'static str,
    /// What becomes of a question to the user.
    pub ask: &'static str,
    /// Whether a call can be changed before it runs.
    pub rewrite: &'static str,
    /// Whether the model can be told something beside a call.
    pub context: &'static str,
    /// Whether a hook can stop the agent.
    pub stop: &'static str,
    /// What becomes of a call when the hook crashes, is too late or prints something else, as it is registered.
    pub failing: &'static str,
    /// Whose answer wins where several hooks answer.
    pub precedence: &'static str,
    /// Whether a tool call can take the hook out of a running session.
    pub removal: &'static str,
    /// The version of which that is known.
    pub version: &'static str,
    /// How it is known.
    pub source: Source,
}

/// How something about a client is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The client was run and watched.
    Observed,
    /// Its documentation says so; nobody here has seen it.
    Documented,
}

impl Source {
    /// The word of it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Documented => "documented",
        }
    }
}

/// Returns the page of agents: one row for each client.
pub fn page(clients: &[ClientAdapter]) -> String {
    let mut page = "# Agents and what each obeys\n\n\
        What each client does with the answers of its hooks. With the name of a client, `checkrein init --client` registers them, and\n\
        `checkrein doctor --client` proves it with a deletion that is never run. \"Observed\" was seen with the version that is named;\n\
        \"documented\" is what the vendor says, and nobody here has tried it. Below the table, each client has a section of its own.\n\n\
        | client | name | question | changed call | version |\n\
        |---|---|---|---|---|\n"
        .to_owned();
    for client in clients {
        let conduct = &client.conduct;
        let version = format!("{}, {}", conduct.version, conduct.source.word());
        let cells =
            [client.title, client.client.name(), conduct.ask, conduct.rewrite, version.as_str()].join(" | ");
        page.extend(["| ", &cells, " |\n"]);
    }
    for client in clients {
        let conduct = &client.conduct;
        page.extend(["\n## ", client.title, "\n\n| | |\n|---|---|\n"]);
        for (what, how) in [
            ("a refusal", conduct.deny),
            ("words for the model", conduct.context),
            ("a stop", conduct.stop),
            ("the hook crashes, is late or prints nonsense", conduct.failing),
            ("several hooks", conduct.precedence),
            ("can a call remove the hook", conduct.removal),
        ] {
            page.extend(["| ", what, " | ", how, " |\n"]);
        }
        if !client.open.is_empty() {
            page.push_str("\nWhat stays open:\n\n");
        }
        for open in client.open {
            page.extend(["- ", open, "\n"]);
        }
    }
    page
}
