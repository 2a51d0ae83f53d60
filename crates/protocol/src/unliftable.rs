//! What speaks against allowing a call beforehand.

use serde::{Deserialize, Serialize};

/// How much of an allowance something rules out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuledOut {
    /// One for longer than a single call.
    Lasting,
    /// Every one.
    All,
}

/// Declares the reasons from their rows.
macro_rules! reasons {
    ($($(#[$documentation:meta])* $reason:ident $name:literal, $out:ident, $why:literal, $instead:literal;)*) => {
        /// Why a call that was asked about or refused cannot be allowed, or for a single call only.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Unliftable {
            $($(#[$documentation])* $reason,)*
        }

        impl Unliftable {
            /// All of them, in the order of their declaration.
            pub const ALL: [Self; [$(Self::$reason),*].len()] = [$(Self::$reason),*];

            /// The word used on the wire, such as `failed_check`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$reason => $name,)* }
            }

            /// How much it rules out.
            pub fn rules_out(self) -> RuledOut {
                match self { $(Self::$reason => RuledOut::$out,)* }
            }

            /// Why, as a clause for people.
            pub fn why(self) -> &'static str {
                match self { $(Self::$reason => $why,)* }
            }

            /// What to do instead, for people.
            pub fn instead(self) -> &'static str {
                match self { $(Self::$reason => $instead,)* }
            }
        }
    };
}

reasons! {
    // name                        rules out  why and what to do instead
    /// It touches the guard itself.
    Guard "guard", All,
        "it changes or deletes Checkrein itself",
        "have the agent name only the files that it means, or make the change yourself, outside the agent";
    /// A check did not run.
    FailedCheck "failed_check", All,
        "a check did not run, and the verdict rests on that",
        "fix what the message says, then let the agent try again; `checkrein doctor` examines the installation";
    /// A tripwire fired.
    Tripwire "tripwire", All,
        "a tripwire stops it",
        "change that tripwire in the configuration; `checkrein show ID --verbose` names it";
    /// A rule of the user or the team stops it.
    OwnRule "own_rule", All,
        "a rule of your own or of your team stops it",
        "change that rule in the configuration; `checkrein show ID --verbose` names it";
    /// It acts on production that the configuration names, without an approved change record.
    Production "production", All,
        "it acts on production, for which the configuration wants an approved change record",
        "have the agent open one with `checkrein change open`, then approve it";
    /// It pushes what the gates of the configuration did not let pass.
    PushGates "push_gates", All,
        "the gates that the configuration wants before a push did not pass",
        "have the agent finish what they name, or push it yourself";
    /// It writes a mask where a value stands.
    WritesMask "writes_mask", All,
        "it writes a mask, which only stands for a value: the value would be lost",
        "write the value yourself";
    /// It sends something after the session read from outside and what is private.
    Flow "flow", All,
        "it sends something out after its session read both private and foreign text",
        "answer the question when it comes: a yes settles what was read until then";
    /// Earlier calls of the session did what was not foreseen.
    Doubt "doubt", All,
        "it cannot be read, and earlier calls of its session had unexpected effects",
        "run it yourself, or answer the question when it comes; `checkrein surprise list` shows the calls";
    /// The session goes round in circles.
    Loop "loop", All,
        "its session repeats itself, so its limits are tightened for now",
        "tell the agent how to go on; the limits end when something changes";
    /// A plugin of the user speaks against it.
    Plugin "plugin", All,
        "a plugin of yours speaks against it in this session",
        "answer the question when it comes, or `checkrein plugin disable NAME`";
    /// A limit is used up.
    Limit "limit", All,
        "a limit of its session is used up",
        "raise the limit that the message names; `checkrein config show limits` shows where it is set";
    /// A rollback waits for an answer.
    Rollback "rollback", All,
        "its session waits for your decision about a rollback",
        "run the rollback that the message names, or tell the agent how to go on";
    /// The review took too long.
    Contract "contract", All,
        "its review took longer than the configuration allows",
        "let the agent try again; `checkrein config show step_reviewer` shows the contract";
    /// The session is halted.
    Halt "halt", All,
        "its session is halted",
        "`checkrein resume` lets the session go on";
    /// The record does not hold all of it.
    CutShort "cut_short", All,
        "the record does not hold all of it, so that you cannot see what you would allow",
        "run it yourself, or have the agent split it";
    /// It was recorded by a version that did not look at the code of calls.
    Older "older", All,
        "an earlier version recorded it, without the code that it runs",
        "let the agent try again, then allow that call";
    /// It takes what must not be lost.
    Critical "critical", Lasting,
        "it destroys something that must not be lost",
        "use `--once`";
    /// It runs code that nobody sees beforehand.
    UnseenCode "unseen_code", Lasting,
        "it runs code that cannot be seen beforehand, which may differ each time",
        "use `--once`";
    /// What it does depends on values that nobody sees beforehand.
    UnseenValue "unseen_value", Lasting,
        "it depends on a variable, an output or a name that cannot be seen beforehand",
        "use `--once`, or have the agent write the value out";
    /// Secrets in it are masked in the record.
    Masked "masked", Lasting,
        "a secret in it is masked in the record, so that you do not see all of it",
        "use `--once`";
}

/// A file of code that a call runs, as its review read it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CodeRecord {
    /// Where it stands.
    pub path: crate::path::AbsolutePath,
    /// The SHA-256 of its text, as `sha256:` and hexadecimal digits.
    pub digest: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_name_on_the_wire_and_says_what_to_do() {
        for reason in Unliftable::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
            let is_once = reason.instead().contains("`--once`");
            assert_eq!(reason.rules_out() == RuledOut::Lasting, is_once, "{reason:?}");
        }
    }
}
