//! The time and the memory of a session that only hooks look after. Under `checkrein run` the supervisor holds both, more closely.

use std::collections::BTreeMap;
use std::fs;

use checkrein_effects::Timestamp;
use checkrein_ledger::SessionState;
use checkrein_policy::Config;
use checkrein_review::{Review, VerdictKind};

/// Refuses a call of a session that has gone on for longer, or whose client takes more memory with everything that it started, than the
/// configuration allows. What cannot be found out is noted in the review.
pub(crate) fn enforce(review: &mut Review, state: &SessionState, now: Timestamp, config: &Config) {
    if review.verdict.kind >= VerdictKind::Block {
        return;
    }
    let over = over_time(state, now, config).or_else(|| over_memory(review, config));
    if let Some(reason) = over {
        review.verdict.kind = VerdictKind::Block;
        review.rewrite = None;
        review.reasoning.primary = reason;
        review.alternatives =
            vec!["stop here and say what is done and what is left; the user can raise the limit".to_owned()];
    }
}

fn over_time(state: &SessionState, now: Timestamp, config: &Config) -> Option<String> {
    let limit = config.execution_limit_seconds().filter(|limit| *limit > 0)?;
    let lasted = now.0.saturating_sub(state.entered()?.0) / 1000;
    (lasted > limit).then(|| {
        format!("the session has gone on for {lasted} seconds, more than its limit of {limit} (`limits.execution_seconds`)")
    })
}

fn over_memory(review: &mut Review, config: &Config) -> Option<String> {
    let limit = config.memory_limit_mb().filter(|limit| *limit > 0)?;
    let Some(used) = memory_of_client() else {
        review.failures.push("how much memory the client takes could not be found out".to_owned());
        return None;
    };
    let used = used >> 20;
    (used > limit).then(|| {
        format!("the client and what it started take {used} MB of memory, more than the limit of {limit} (`limits.memory_mb`)")
    })
}

/// What is known of one process.
struct Process {
    parent: u32,
    name: String,
    resident_pages: u64,
}

/// The resident memory of the client that started this hook and of everything below it, in bytes; `None` when `/proc` does not tell.
fn memory_of_client() -> Option<u64> {
    let processes: BTreeMap<u32, Process> = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|id: u32| Some((id, process(id)?)))
        .collect();
    let own = std::process::id();
    // Clients start a hook through a shell.
    let mut client = processes.get(&own)?.parent;
    while let Some(above) = processes.get(&client).filter(|above| is_shell(&above.name)) {
        client = above.parent;
    }
    let is_below = |id: u32| {
        let mut at = id;
        // A chain of parents is no longer than there are processes.
        for _ in 0..processes.len() {
            if at == client {
                return true;
            }
            match processes.get(&at) {
                Some(process) => at = process.parent,
                None => return false,
            }
        }
        false
    };
    let pages: u64 =
        processes.iter().filter(|(id, _)| is_below(**id)).map(|(_, process)| process.resident_pages).sum();
    Some(pages * u64::try_from(rustix::param::page_size()).ok()?)
}

fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "dash" | "bash" | "zsh")
}

/// Field 24 of `stat` is the number of resident pages; the name stands in parentheses and may hold any letter.
fn process(id: u32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (start, rest) = text.rsplit_once(')')?;
    let (_, name) = start.split_once('(')?;
    let mut fields = rest.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let resident_pages = fields.nth(19)?.parse().ok()?;
    Some(Process { parent, name: name.to_owned(), resident_pages })
}
