//! What a change of mode, owner or attributes leaves an owner of a directory.
//!
//! A hook that may not be started, and a directory that may not be entered, keep the guard from answering just as well as its removal.

use crate::interpreter::{Arguments, Machine, Value};
use crate::nature::Nature;
use crate::world::{Entry, Right};

/// Reading, writing and entering, of the owner.
const EVERY: u32 = 0o700;

/// What a change leaves the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Every right.
    Left,
    /// The same, and everybody may write.
    Opened,
    /// Not all of them: the owner may no longer read, write or enter.
    Taken,
}

impl Rights {
    pub(crate) fn nature(self) -> Nature {
        match self {
            Self::Left => Nature::LeavesRights,
            Self::Opened => Nature::OpensRights,
            Self::Taken => Nature::TakesRights,
        }
    }

    pub(crate) fn note(self) -> &'static str {
        match self {
            Self::Left => "leaves its owner every right",
            Self::Opened => "lets everybody write",
            Self::Taken => "takes rights from its owner",
        }
    }
}

/// What a change of rights leaves the owner; `None` when that cannot be said. `user` is who the agent runs as.
pub(super) fn of_call(program: &str, arguments: &Arguments, user: Option<&str>) -> Option<Rights> {
    if arguments.uncertain {
        return None;
    }
    match program {
        "chmod" => {
            let wanted = arguments.operand(0).filter(|_| !arguments.has(&["--reference"]));
            // `chmod -x x`: the mode looks like an option.
            let taken = ["-r", "-w", "-x"].iter().any(|option| arguments.has(&[option]));
            if taken { Some(Rights::Taken) } else { of_mode(wanted?) }
        }
        "chown" => {
            let owner = arguments.operand(0).filter(|_| !arguments.has(&["--reference", "--from"]))?;
            let owner = owner.split([':', '.']).next().unwrap_or(owner);
            Some(if owner.is_empty() || Some(owner) == user { Rights::Left } else { Rights::Taken })
        }
        "chgrp" => Some(Rights::Left),
        "setfacl" => {
            let entries = arguments.values(&["-m", "--modify", "--set"]).filter_map(Value::as_exact);
            let takes = |entry: &str| {
                let parts: Vec<&str> = entry.trim_start_matches("d:").split(':').collect();
                let (&[who, name, rights] | &[who, name, rights, ..]) = parts.as_slice() else {
                    return false;
                };
                let own = matches!(who, "u" | "user") && (name.is_empty() || Some(name) == user);
                let all = ["r", "w", "x"].iter().all(|right| rights.contains(right)) || rights == "7";
                (own || matches!(who, "m" | "mask")) && !all
            };
            Some(if entries.flat_map(|text| text.split(',')).any(takes) {
                Rights::Taken
            } else {
                Rights::Left
            })
        }
        _ => None,
    }
}

/// What whoever gets the mode of this file or directory leaves its owner; `None` when that cannot be said.
pub(crate) fn of_place(machine: &Machine<'_>, place: &Value) -> Option<Rights> {
    let path = machine.one_path_through(place)?;
    if let Some(mode) = machine.mode_given(&path) {
        return of_mode(&mode);
    }
    match machine.entry(&path) {
        Entry::File(facts) => Some(of_bits(facts.mode)),
        Entry::Directory if machine.has_touched(&path) => Some(Rights::Left),
        Entry::Directory => {
            let is_allowed = |right| machine.world().allows(&path, right);
            let has_all = is_allowed(Right::Read) && is_allowed(Right::Write) && is_allowed(Right::Enter);
            Some(if has_all { Rights::Left } else { Rights::Taken })
        }
        Entry::Missing | Entry::Symlink(_) | Entry::Special | Entry::Unknown => None,
    }
}

/// Whether a copy gives what it writes the modes of what it reads.
pub(super) fn brings_modes(arguments: &Arguments) -> bool {
    let named = arguments.value(&["--preserve"]).and_then(Value::as_exact);
    named.is_some_and(|what| what.split(',').any(|what| matches!(what, "mode" | "all")))
        || named.is_none() && arguments.has(&["--preserve"])
        || arguments.has(&["-a", "--archive", "-p"])
}

/// The same, of a mode in digits or letters (`755`, `go-w`, `u=rx`).
pub(crate) fn of_mode(mode: &str) -> Option<Rights> {
    if let Ok(bits) = u32::from_str_radix(mode.trim_start_matches("0o"), 8) {
        return Some(of_bits(bits));
    }
    let takes = |clause: &str| {
        let at = clause.find(['+', '-', '=']).filter(|at| clause.is_char_boundary(*at))?;
        let (who, what) = clause.split_at(at);
        let concerns_owner = who.is_empty() || who.contains(['u', 'a']);
        let right = |letter: char| what.contains(letter);
        let takes = match what.chars().next()? {
            '-' => right('r') || right('w') || right('x'),
            '=' => !(right('r') && right('w') && (right('x') || right('X'))),
            _ => false,
        };
        Some(concerns_owner && takes)
    };
    let clauses: Option<Vec<bool>> = mode.split(',').map(takes).collect();
    Some(if clauses?.contains(&true) {
        Rights::Taken
    } else if mode.split(',').any(opens) {
        Rights::Opened
    } else {
        Rights::Left
    })
}

/// Whether a clause in letters lets everybody write, or do what the owner or the group may (`o=u`).
fn opens(clause: &str) -> bool {
    clause
        .split_once(['+', '='])
        .is_some_and(|(who, what)| who.contains(['o', 'a']) && what.contains(['w', 'u', 'g']))
}

/// Whether `chmod` with this mode (`644`, `a+r`, `+rw`) lets those read or write who are neither the owner nor in the group.
pub(super) fn opens_to_others(mode: &str) -> bool {
    if let Ok(bits) = u32::from_str_radix(mode.trim_start_matches("0o"), 8) {
        return bits & (READ_BY_ALL | WRITE_BY_ALL) != 0;
    }
    mode.split(',').any(|clause| {
        clause.split_once(['+', '=']).is_some_and(|(who, what)| {
            (who.is_empty() || who.contains(['o', 'a'])) && what.contains(['r', 'w', 'u', 'g'])
        })
    })
}

/// The right to read of those who are neither the owner nor in the group.
const READ_BY_ALL: u32 = 0o004;
/// The right to write of those who are neither the owner nor in the group.
const WRITE_BY_ALL: u32 = 0o002;

/// The same, of the bits of a mode.
pub(crate) fn of_bits(bits: u32) -> Rights {
    match (bits & EVERY == EVERY, bits & WRITE_BY_ALL != 0) {
        (false, _) => Rights::Taken,
        (true, true) => Rights::Opened,
        (true, false) => Rights::Left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_is_read_as_chmod_does() {
        for mode in ["777", "644", "0604", "602", "o+r", "a+w", "+r", "=rw", "u=rw,go=r", "o=u"] {
            assert!(opens_to_others(mode), "{mode}");
        }
        for mode in ["600", "0400", "700", "711", "u+rw", "g+r", "go-rwx", "o-r", "+x", "a+X", "-r", "x"] {
            assert!(!opens_to_others(mode), "{mode}");
        }
    }

    #[test]
    fn modes_are_read_as_chmod_does() {
        for mode in ["000", "0", "600", "500", "0644", "u-x", "-x", "a-r", "=r", "u=rx", "go-w,u-w", "a="] {
            assert_eq!(of_mode(mode), Some(Rights::Taken), "{mode}");
        }
        for mode in ["755", "700", "2775", "+x", "u+rwx", "go-w", "g-w,o-rwx", "u=rwx,go=rx", "a+rX", "u=rwX"]
        {
            assert_eq!(of_mode(mode), Some(Rights::Left), "{mode}");
        }
        for mode in ["777", "0777", "1777", "a+rwX", "o+w", "u=rwx,go=rwx", "ugo+rwx", "o=u", "a+g"] {
            assert_eq!(of_mode(mode), Some(Rights::Opened), "{mode}");
        }
        assert_eq!(of_mode("what"), None);
    }
}
