//! One run in full: what it is, how it ended, and what is used of each limit.

use std::path::PathBuf;
use std::time::Duration;

use checkrein_sandbox::Bytes;
use checkrein_supervise::runs::{RunLimits, RunSpending, RunState};

use serde::Deserialize;

use crate::render::time;
use crate::terminal::plain;

/// The rows of a run, each with its title; `how` says how far it is. What is not known or not there has no row.
pub(super) fn rows(state: &RunState, how: &str, agent: &str) -> Vec<(&'static str, String)> {
    let end = state.end();
    let how = end.map_or_else(|| how.to_owned(), |end| format!("{how}, exit status {}", end.status));
    let mut rows = vec![("run", state.id.to_string()), ("state", how)];
    rows.extend(end.and_then(|end| end.reason.as_deref()).map(|reason| ("why", plain(reason))));
    rows.push(("began", time(state.created)));
    rows.push(("agent", plain(agent)));
    rows.push(("in", plain(&state.directory.to_string_lossy())));
    rows.extend(state.worktree.as_deref().map(|name| ("worktree", plain(name))));
    rows.push(("session", state.session().map_or_else(|| "unknown".to_owned(), plain)));
    rows.push(("profile", plain(&state.profile.0)));
    let bounds =
        state.manner.scope.clone().and_then(|scope| serde_json::from_value::<KeptBounds>(scope).ok());
    rows.extend(bounds.iter().flat_map(KeptBounds::in_words).map(|(title, words)| (title, plain(&words))));
    if state.attempts.len() > 1 {
        rows.push(("starts", state.attempts.len().to_string()));
    }
    rows.extend(spent(&state.limits, &state.counted, &state.spent(), state.told()));
    rows.extend(state.limits.memory.map(|bytes| ("memory", format!("at most {}", Bytes(bytes)))));
    rows.extend(state.manner.idle.map(|limit| ("silence", format!("at most {}", period(limit)))));
    rows.extend(state.manner.tasks.map(|limit| ("processes", format!("at most {limit}"))));
    rows
}

/// The bounds of an agent as a run keeps them, also one of another system.
#[derive(Deserialize)]
struct KeptBounds {
    write: Vec<PathBuf>,
    read: Vec<PathBuf>,
    network: Vec<String>,
}

impl KeptBounds {
    /// What each bound says, behind its title.
    fn in_words(&self) -> [(&'static str, String); 3] {
        let listed = |paths: &[PathBuf], none: &str| match paths {
            [] => none.to_owned(),
            paths => paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        };
        let hosts = if self.network.is_empty() { "every host".to_owned() } else { self.network.join(", ") };
        [
            ("may write", listed(&self.write, "the directory in which it works")),
            ("may read", listed(&self.read, "everything")),
            ("may reach", hosts),
        ]
    }
}

/// What a run has used, of what, since its limits were given, and in all.
fn spent(
    limits: &RunLimits,
    counted: &RunSpending,
    all: &RunSpending,
    told: bool,
) -> [(&'static str, String); 4] {
    let unknown = || "unknown".to_owned();
    let known = |number: u64| if told { number.to_string() } else { unknown() };
    let dollars = |spending: &RunSpending| match spending.dollars.filter(|_| told) {
        Some(dollars) => format!("{dollars:.2}"),
        None => unknown(),
    };
    let of = |limit: Option<String>, counted: String, all: String, unit: &str| match limit {
        None => format!("{all}{unit}"),
        Some(limit) if counted == all => format!("{all} of {limit}{unit}"),
        Some(limit) => format!("{counted} of {limit}{unit}, {all} in all"),
    };
    let number = |limit: Option<u64>, of_this: fn(&RunSpending) -> u64| {
        of(limit.map(|limit| limit.to_string()), known(of_this(counted)), known(of_this(all)), "")
    };
    [
        (
            "time",
            of(limits.milliseconds.map(period), period(counted.milliseconds), period(all.milliseconds), ""),
        ),
        (
            "cost",
            of(
                limits.dollars.map(|dollars| format!("{dollars:.2}")),
                dollars(counted),
                dollars(all),
                " dollars",
            ),
        ),
        ("tokens", number(limits.tokens, |spending| spending.tokens)),
        ("answers", number(limits.iterations, |spending| spending.iterations)),
    ]
}

/// A period, from milliseconds, in its two largest units.
fn period(milliseconds: u64) -> String {
    let seconds = Duration::from_millis(milliseconds).as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours, minutes % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_stands_beside_what_is_used_of_it() {
        let limits = RunLimits { dollars: Some(5.0), milliseconds: Some(7_200_000), ..RunLimits::default() };
        let now = RunSpending { dollars: Some(1.5), tokens: 1_100, iterations: 8, milliseconds: 61_000 };
        let words = |all: &RunSpending, told| spent(&limits, &now, all, told).map(|(_, words)| words);
        assert_eq!(words(&now, true), ["1 min 1 s of 2 h", "1.50 of 5.00 dollars", "1100", "8"]);
        assert_eq!(
            words(&now.plus(&now), true),
            ["1 min 1 s of 2 h, 2 min 2 s in all", "1.50 of 5.00 dollars, 3.00 in all", "2200", "16"]
        );
        assert_eq!(words(&now, false), ["1 min 1 s of 2 h", "unknown of 5.00 dollars", "unknown", "unknown"]);
    }

    #[test]
    fn periods_have_units() {
        let all = [0, 999, 59_000, 60_000, 3_599_000, 3_600_000, 9_000_000].map(period);
        assert_eq!(all, ["0 s", "0 s", "59 s", "1 min", "59 min 59 s", "1 h", "2 h 30 min"]);
    }
}
