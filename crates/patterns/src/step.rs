//! Steps: what detectors are told about an action and its outcome.

use checkrein_protocol::{Effect, EffectKind, Fingerprint, Observation};
use serde::{Deserialize, Serialize};

use crate::issue::ActionNumber;
use crate::observation::ActionSuccess;
use crate::own_pattern::FiredPattern;
use crate::polling;
use crate::repeated_verdicts::VerdictCause;
use crate::scope::Touch;

/// An action that was reviewed and let through; its outcome comes later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionFacts {
    /// Its number in the session.
    pub number: ActionNumber,
    /// Who acts: the agent itself, or one of its sub-agents, whose loops are its own.
    pub actor: Fingerprint,
    /// What makes it the same action as another.
    pub action: Fingerprint,
    /// Its very text, which may differ where the action is the same.
    #[serde(default)]
    pub exact: Fingerprint,
    /// What makes it the same but for its options; zero where that is not known.
    #[serde(default)]
    pub without_options: Fingerprint,
    /// What it is called where it is spoken of: the first line of its command, cut; empty where it has none.
    #[serde(default)]
    pub name: String,
    /// Whether what runs afterwards may come out otherwise.
    #[serde(default)]
    pub bearing: Bearing,
    /// What it is for.
    pub deed: Activity,
    /// Whether it pauses.
    #[serde(default)]
    pub pace: Pace,
    /// Whether its effects are understood.
    pub clarity: Clarity,
    /// What it finds out.
    pub probe: Probe,
    /// The first place that it touches, if any.
    pub place: Option<VisitedPlace>,
    /// The edit that it makes, if it is one.
    pub edit: Option<Edit>,
    /// How well it serves the goals, in hundredths; `None` when no goal is known.
    pub alignment: Option<u8>,
    /// How many file operations it makes.
    pub file_operations: u32,
    /// How many programs it starts.
    pub processes: u32,
    /// How many bytes it writes, as far as that is known beforehand.
    pub bytes_written: u64,
    /// The places that it touches, as far as the scope is concerned, at most 8 (ours).
    pub touches: Vec<Touch>,
    /// Why it did not pass plainly; `None` where it did.
    #[serde(default)]
    pub cause: Option<VerdictCause>,
    /// The patterns and tripwires of the user that fired with it.
    #[serde(default)]
    pub fired: Vec<FiredPattern>,
}

/// What an action is for, as far as progress is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Activity {
    /// It only looks.
    Looks,
    /// It changes something.
    Changes,
    /// It waits for something else, so that equal answers are to be expected.
    Waits,
    /// It waits, and then runs something of its own: while that succeeds it may wait for something, once it fails it is a try like any other.
    Retries,
    /// It may do anything.
    Runs,
}

/// Whether an action gives what it asks about time to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Pace {
    /// It does not pause.
    #[default]
    Prompt,
    /// It sleeps, or waits for something.
    Paused,
}

/// Programs that pause.
const PAUSING: [&str; 4] = ["sleep", "wait", "watch", "inotifywait"];

impl Pace {
    /// Whether one of the programs of an action pauses.
    pub fn of(programs: &[String]) -> Self {
        let pauses = programs.iter().any(|name| PAUSING.contains(&name.as_str()));
        if pauses { Self::Paused } else { Self::Prompt }
    }
}

/// Whether what is run after an action may come out otherwise because of it, or is a try of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Bearing {
    /// It may, or it is.
    #[default]
    Counts,
    /// Neither: it reads, or makes something empty, or gives a file a new time.
    Idle,
}

/// What an action finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Probe {
    /// Whether the tests pass.
    Tests,
    /// Something else.
    Other,
}

/// Whether it is known what an action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Clarity {
    /// It is.
    Understood,
    /// It is not, or somebody else does it: an empty answer then says little.
    Opaque,
}

/// A place in the file system, as far as wandering is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitedPlace {
    /// The path.
    pub path: Fingerprint,
    /// The directory that holds it.
    pub directory: Fingerprint,
    /// How many parts the directory has.
    pub depth: u8,
}

/// An edit of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The file.
    pub path: Fingerprint,
    /// What stood there; zero when that is not known, because the whole file is written.
    pub before: Fingerprint,
    /// What stands there afterwards.
    pub after: Fingerprint,
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeFacts<'a> {
    /// Whether it succeeded.
    pub success: ActionSuccess,
    /// What was observed.
    pub observation: &'a Observation,
    /// The length of the output in bytes.
    pub output_bytes: u64,
    /// How long it took, in milliseconds; `None` when nobody says.
    pub duration_ms: Option<u64>,
    /// How long nothing was done before it, in milliseconds.
    pub pause_ms: u64,
    /// What its client says that went wrong, masked; `None` where it says nothing.
    pub error: Option<&'a str>,
}

impl Activity {
    /// What the effects and the programs of an action say that it is for; of a call that is no command, with its command `None`.
    pub fn of(tool: &str, effects: &[Effect], programs: &[String], command: Option<&str>) -> Self {
        /// Tools of clients that ask how something in the background is getting on.
        const POLLING_TOOLS: [&str; 6] =
            ["BashOutput", "TaskOutput", "AgentOutput", "Monitor", "write_stdin", "wait"];
        /// Programs that look at something, or only say something.
        const LOOKING: [&str; 24] = [
            "test", "[", "ls", "cat", "tail", "head", "grep", "rg", "stat", "wc", "find", "file", "du", "df",
            "date", "uptime", "free", "id", "git", "jq", "echo", "printf", "true", "false",
        ];
        let watches = |name: &String| polling::asks(name, command.unwrap_or_default());
        if POLLING_TOOLS.contains(&tool) {
            return Self::Waits;
        }
        if Pace::of(programs) == Pace::Paused {
            let looks = |effect: &Effect| {
                matches!(
                    effect.kind,
                    EffectKind::NetworkRequest | EffectKind::FileRead | EffectKind::SecretRead
                )
            };
            // A run of tests may have no effect at all, or read its script alone, and is no look.
            let is_sent = effects.iter().any(|effect| effect.kind == EffectKind::NetworkRequest);
            let tries = !is_sent && command.is_some_and(|text| Probe::of(text) == Probe::Tests);
            let only_looks = !effects.is_empty() && effects.iter().all(looks) && !tries;
            let known = |name: &String| {
                [&PAUSING[..], &LOOKING[..]].iter().any(|names| names.contains(&name.as_str()))
                    || watches(name)
            };
            return if only_looks || programs.iter().all(known) { Self::Waits } else { Self::Retries };
        }
        if effects.iter().any(|effect| effect.kind.is_mutating()) {
            return Self::Changes;
        }
        // A program that asks another machine, or how something that runs is getting on, may hear the same for long.
        let asks = |effect: &Effect| effect.kind == EffectKind::NetworkRequest;
        let only_asks = !effects.is_empty() && effects.iter().all(asks);
        if !programs.is_empty() && (only_asks || programs.iter().any(watches)) {
            return Self::Waits;
        }
        let looks = |effect: &Effect| matches!(effect.kind, EffectKind::FileRead | EffectKind::SecretRead);
        if !effects.is_empty() && effects.iter().all(looks) { Self::Looks } else { Self::Runs }
    }
}

impl Bearing {
    /// The bearing of an action with these effects and programs; of a call that is no command, with its command `None`.
    pub fn of(effects: &[Effect], programs: &[String], command: Option<&str>) -> Self {
        /// Programs that make only what is empty.
        const MAKE_EMPTY: [&str; 2] = ["touch", "mkdir"];
        // A redirection is all else in a command that could put something into what is made.
        let makes_empty = !programs.is_empty()
            && programs.iter().all(|name| MAKE_EMPTY.contains(&name.as_str()))
            && command.is_some_and(|text| !text.contains('>'));
        let is_idle = |effect: &Effect| {
            matches!(effect.kind, EffectKind::FileRead | EffectKind::SecretRead)
                || makes_empty && effect.kind == EffectKind::FileCreate
        };
        let tries = command.is_some_and(|text| Probe::of(text) == Probe::Tests) && effects.is_empty();
        if (command.is_some() || !effects.is_empty()) && effects.iter().all(is_idle) && !tries {
            Self::Idle
        } else {
            Self::Counts
        }
    }
}

impl Probe {
    /// What a command finds out, by its words: generously, since who ran tests in an unusual way has run them all the same.
    pub fn of(command: &str) -> Self {
        const WORDS: [&str; 8] = ["test", "spec", "check", "make", "tox", "nox", "jest", "verify"];
        let lower = command.to_lowercase();
        if WORDS.iter().any(|word| lower.contains(word)) { Self::Tests } else { Self::Other }
    }
}

impl Clarity {
    /// Whether one of the effects is opaque or happens elsewhere.
    pub fn of(effects: &[Effect]) -> Self {
        let unseen = |effect: &Effect| matches!(effect.kind, EffectKind::Opaque | EffectKind::NetworkRequest);
        if effects.iter().any(unseen) { Self::Opaque } else { Self::Understood }
    }
}

impl VisitedPlace {
    /// The place at an absolute path.
    pub fn of(path: &str) -> Self {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let depth = directory.bytes().filter(|byte| *byte == b'/').count();
        Self {
            path: Fingerprint::of(path),
            directory: Fingerprint::of(directory),
            depth: u8::try_from(depth).unwrap_or(u8::MAX),
        }
    }
}

/// A finished step as it is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) number: ActionNumber,
    pub(crate) actor: Fingerprint,
    pub(crate) action: Fingerprint,
    /// Its very text.
    #[serde(default)]
    pub(crate) exact: Fingerprint,
    /// What makes it the same but for its options, where it failed and said how; else zero.
    #[serde(default)]
    pub(crate) without_options: Fingerprint,
    #[serde(default)]
    pub(crate) bearing: Bearing,
    /// What was seen; zero for nothing.
    pub(crate) result: Fingerprint,
    /// What makes it the same failure as another one; zero where that is the result alone.
    #[serde(default)]
    pub(crate) failure: Fingerprint,
    /// How often a user had spoken.
    pub(crate) turn: u32,
    pub(crate) success: ActionSuccess,
    pub(crate) deed: Activity,
    #[serde(default)]
    pub(crate) pace: Pace,
    pub(crate) clarity: Clarity,
    #[serde(default)]
    pub(crate) fate: Fate,
    #[serde(default)]
    pub(crate) run: Run,
    #[serde(default)]
    pub(crate) answer: Answer,
}

/// What a step says about what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// How it stands, or why nothing is known of it.
    #[default]
    Plain,
    /// That it is under way, though the call failed.
    NotYet,
}

/// Whether a step ran. What was refused did not, and so it did not fail, whatever it counts as in a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Run {
    /// It did.
    #[default]
    Done,
    /// It was refused.
    Refused,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Fate {
    /// It ran, or is a refused repetition of one that did.
    #[default]
    Counts,
    /// It was refused, and nothing like it ran before: a loop around it goes on.
    Refused,
}

impl Step {
    /// Whether nothing tells the two apart.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let is_same_failure = !self.failure.is_zero() && self.failure == other.failure;
        (self.action == other.action || self.differs_in_options(other))
            && (self.result == other.result || is_same_failure)
            && self.success == other.success
    }

    /// Whether both failed, and were asked for the same thing with other options: options that change nothing about a failure are turned
    /// in vain. What succeeds tells something else with each.
    pub(crate) fn differs_in_options(&self, other: &Self) -> bool {
        self.action != other.action
            && self.without_options != Fingerprint::default()
            && self.without_options == other.without_options
            && self.success == ActionSuccess::Failed
            && other.success == ActionSuccess::Failed
    }

    /// Whether so little is known of it that being equal to another says less.
    pub(crate) fn says_little(&self) -> bool {
        self.clarity == Clarity::Opaque
            && self.result == Fingerprint::default()
            && self.success == ActionSuccess::Succeeded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_protocol::Target;

    #[test]
    fn the_bearing_of_an_action() {
        let effect = |kind| Effect::new(kind, Target::Unknown);
        let (read, create, run) =
            (effect(EffectKind::FileRead), effect(EffectKind::FileCreate), effect(EffectKind::ProcessSpawn));
        for (command, programs, effects, bearing) in [
            ("ls src", &["ls"][..], vec![], Bearing::Idle),
            ("cat a", &["cat"], vec![read.clone()], Bearing::Idle),
            ("touch a", &["touch"], vec![create.clone()], Bearing::Idle),
            ("touch a; echo 1 > b", &["touch"], vec![create.clone(), create.clone()], Bearing::Counts),
            ("cp a b", &["cp"], vec![read, create], Bearing::Counts),
            ("npm run build", &["npm"], vec![run], Bearing::Counts),
            ("make check", &["make"], vec![], Bearing::Counts),
        ] {
            let programs: Vec<String> = programs.iter().map(ToString::to_string).collect();
            assert_eq!(Bearing::of(&effects, &programs, Some(command)), bearing, "{command}");
        }
        assert_eq!(Bearing::of(&[], &[], None), Bearing::Counts, "nothing is known of it");
    }
}
