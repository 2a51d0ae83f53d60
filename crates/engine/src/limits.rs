//! The time and the memory of a session that only hooks look after. Under `checkrein run` the supervisor holds both, more closely.

use std::collections::BTreeMap;
use std::fs;

use checkrein_intervention::{LimitedResource, Throttle};
use checkrein_patterns::ActionNumber;
use checkrein_policy::Config;
use checkrein_protocol::Timestamp;
use checkrein_session::SessionState;

use crate::docket::Docket;
use crate::processes::Process;

/// The longest `meminfo` that is read, in bytes; the kernel writes far less.
const LONGEST: u64 = 64 * 1024;

/// Why a call is refused of a session that has gone on for longer, or whose client takes more memory with everything that it started, than
/// the configuration allows. What cannot be found out is noted.
pub(crate) fn exceeded(
    docket: &mut Docket,
    state: &SessionState,
    now: Timestamp,
    config: &Config,
) -> Option<String> {
    let tight = Tightness::of(state);
    over_time(state, now, config, tight).or_else(|| over_memory(docket, config, tight))
}

/// The tighter limits that an intervention left a session with, at its next call (seed 000).
#[derive(Debug, Clone, Copy)]
struct Tightness<'a>(Option<(&'a Throttle, ActionNumber)>);

impl<'a> Tightness<'a> {
    fn of(state: &'a SessionState) -> Self {
        let next = ActionNumber(state.actions() + 1);
        Self(state.controller().throttle().map(|throttle| (throttle, next)))
    }

    /// What holds of a limit.
    fn of_limit(self, resource: LimitedResource, limit: u64) -> u64 {
        self.0.map_or(limit, |(throttle, next)| throttle.reduced(resource, limit, next))
    }

    /// What stands behind a limit that is tighter than the configuration says.
    fn why(self, resource: LimitedResource, whole: u64) -> String {
        let is_tight = self.0.is_some_and(|(throttle, next)| throttle.factor_for(resource, next) < 1.0);
        if is_tight {
            format!(", tighter for now than {whole} because the session went wrong")
        } else {
            String::new()
        }
    }
}

fn over_time(state: &SessionState, now: Timestamp, config: &Config, tight: Tightness<'_>) -> Option<String> {
    let whole = config.execution_limit_seconds().filter(|limit| *limit > 0)?;
    let limit = tight.of_limit(LimitedResource::Seconds, whole);
    let lasted = now.0.saturating_sub(state.entered()?.0) / 1000;
    (lasted > limit).then(|| {
        format!("the session has gone on for {lasted} seconds, more than its limit of {limit} (`limits.execution_seconds`{})", tight.why(LimitedResource::Seconds, whole))
    })
}

fn over_memory(docket: &mut Docket, config: &Config, tight: Tightness<'_>) -> Option<String> {
    let whole = config.memory_limit_mb().filter(|limit| *limit > 0)?;
    let limit = tight.of_limit(LimitedResource::Megabytes, whole);
    // A part is not larger than the whole, which one file tells; the processes are looked at only where it could matter.
    if memory_in_use().is_some_and(|used| used >> 20 <= limit) {
        return None;
    }
    let Some(used) = memory_of_client() else {
        docket.did_not_run("how much memory the client takes could not be found out");
        return None;
    };
    let used = used >> 20;
    (used > limit).then(|| {
        format!("the client and what it started take {used} MB of memory, more than the limit of {limit} (`limits.memory_mb`{})", tight.why(LimitedResource::Megabytes, whole))
    })
}

/// The memory of the machine that is in use, in bytes; `None` when `/proc` does not tell.
fn memory_in_use() -> Option<u64> {
    let text = checkrein_files::read_text("/proc/meminfo", LONGEST).ok()?;
    let kilobytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some(kilobytes("MemTotal:")?.saturating_sub(kilobytes("MemAvailable:")?) * 1024)
}

/// The resident memory of the client that started this hook and of everything below it, in bytes; `None` when `/proc` does not tell.
fn memory_of_client() -> Option<u64> {
    let processes: BTreeMap<i32, Process> = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|number: i32| Some((number, Process::read(number)?)))
        .collect();
    let own = i32::try_from(std::process::id()).ok()?;
    // Clients start a hook through a shell.
    let mut client = processes.get(&own)?.parent;
    while let Some(above) = processes.get(&client).filter(|above| above.is_shell()) {
        client = above.parent;
    }
    let is_below = |number: i32| {
        let mut at = number;
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
    let pages: u64 = processes
        .iter()
        .filter(|(number, _)| is_below(**number))
        .map(|(_, process)| process.resident_pages)
        .sum();
    Some(pages * u64::try_from(rustix::param::page_size()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 000-24, 000-26, 001-51, 001-52
    #[test]
    fn time_and_memory_get_tighter_for_a_while_and_say_why() {
        let throttle = Throttle::new(0.25, ActionNumber(40), Vec::new());
        let at = |number| Tightness(Some((&throttle, ActionNumber(number))));
        let (time, memory) = (LimitedResource::Seconds, LimitedResource::Megabytes);
        assert_eq!((at(41).of_limit(time, 300), at(41).of_limit(memory, 512)), (75, 128));
        let why = at(41).why(time, 300);
        assert!(why.contains("than 300 because the session went wrong"), "{why}");
        let after = 40 + Throttle::LASTING + 1;
        assert_eq!((at(after).of_limit(time, 300), at(after).why(time, 300)), (300, String::new()));
        assert_eq!(
            (Tightness(None).of_limit(time, 300), Tightness(None).why(time, 300)),
            (300, String::new())
        );
        // Time that grew makes the limit of time tighter, and no other one.
        let throttle = throttle.clone().with_each(vec![(time, 0.5)]);
        let own = Tightness(Some((&throttle, ActionNumber(41))));
        assert_eq!((own.of_limit(time, 300), own.of_limit(memory, 512)), (150, 512));
    }
}
