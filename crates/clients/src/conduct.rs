//! What a client does with the answers of its hooks, in words: the rows of the page of agents.

use checkrein_protocol::ToolOutput;

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

/// Which test holds the form of each answer, for clients that are not driven too.
const FORMS: &str = "\n## The form, for all twelve\n\n\
    | what | held by |\n\
    |---|---|\n\
    | the hook takes longer than the client waits: then the call runs, as the sections say | the deadlines of the hook itself: `hook::an_input_that_never_closes_is_answered` |\n\
    | several hooks | `clients::the_canary_of_every_client_is_refused_and_a_failure_refuses_too`; Claude Code for real: `real_client_questions::a_hook_of_the_project_does_not_answer_for_a_person` |\n\
    | the canary of `doctor` | `clients::doctor_proves_the_protection_of_every_client` |\n\
    | recorded conversations of ACP and MCP | `acp::streams::recorded_conversations_pass_byte_for_byte_and_in_order`, `mcp::everything_else_passes_byte_for_byte_and_in_order` |\n\
    | made up hostile conversations of ACP and MCP | `crates/proxies/tests/hostile.rs`, `crates/gateway/tests/hostile.rs`; in any order, with answers to what was heard and to what was not: `crates/proxies/tests/sequences.rs`, `crates/gateway/tests/sequences.rs` |\n\
    | a payload that says something twice | `client_readings::a_call_that_says_two_things_is_refused_for_every_client` |\n\
    | \"always allow\" in an editor | `acp::judged::what_the_user_allows_for_good_is_kept_here_and_each_call_is_judged_anew`, `acp::streams::a_lasting_yes_to_any_recorded_agent_becomes_one_for_the_call_and_answers_the_next_one` |\n\
    | keys and tokens in what a tool prints | `client_readings::tokens_in_what_a_tool_prints_reach_no_model_that_can_be_kept_from_them` |\n\
    | the time of a call | `client_readings::a_call_costs_about_the_same_for_every_client` |\n\
    | 100,000 messages of ACP, rate and memory | `acp::streams::a_flood_passes_in_order_within_bounded_memory` |\n\
    | Claude Code and OpenCode with one server behind the gateway | `mcp_real_clients::one_server_that_claude_code_and_opencode_share_is_one_behind_the_gateway` |\n";

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
    page.push_str(&crate::shown::section(clients));
    page.push_str(FORMS);
    page.push_str(&crate::events::section(clients));
    for client in clients {
        let conduct = &client.conduct;
        page.extend(["\n## ", client.title, "\n\n| | |\n|---|---|\n"]);
        let masks = match client.tool_output {
            ToolOutput::Shown => "shown as they are",
            ToolOutput::Masked => "masked",
            ToolOutput::Replaced => "masked; a text with masks takes the place of the output",
        };
        for (what, how) in [
            ("a refusal", conduct.deny),
            ("keys and tokens in what a tool prints", masks),
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
