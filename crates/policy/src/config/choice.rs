//! Settings that are one of a few words.

/// Declares an enum whose variants are the words of a setting, in the order of their declaration.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $( $(#[$variant_meta])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// The words, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word that stands for it in configuration.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            /// What the word stands for; `None` when it is not one of [`Self::WORDS`].
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use choice;

choice! {
    /// What is done with verdicts. Later is stricter.
    Mode {
        /// Everything is recorded, nothing is enforced.
        Observe = "observe",
        /// Verdicts are enforced.
        Enforce = "enforce",
    }
}

impl From<Mode> for checkrein_protocol::Enforcement {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Observe => Self::Observe,
            Mode::Enforce => Self::Enforce,
        }
    }
}

choice! {
    /// How much an agent may do before someone is asked (design 10). Later is stricter.
    Profile {
        /// A user is near: generous limits, saves and nudges, asks rarely.
        Interactive = "interactive",
        /// Nobody is near: the limits of seed 001.
        Unattended = "unattended",
        /// Asks whenever there is doubt.
        Strict = "strict",
    }
}

choice! {
    /// Which limits hold in the profiles `unattended` and `strict` where none are set. Later is stricter.
    LimitPreset {
        /// What a task of some length of a real client fits in (ours).
        Standard = "standard",
        /// The numbers of the seeds (001, 004).
        Seed = "seed",
    }
}

choice! {
    /// Whether an action waits for its review (seed 002). Later is stricter.
    ReviewMode {
        /// Actions of low risk may run before their review is done.
        Async = "async",
        /// Every action waits.
        Blocking = "blocking",
    }
}

choice! {
    /// Which built-in rules apply (seed 002). Later is stricter.
    BuiltinRules {
        /// None of them.
        None = "none",
        /// Those without which nothing is safe.
        Essential = "essential",
        /// All of them.
        All = "all",
    }
}

choice! {
    /// When a ledger record is forced to the disk (ours). Later is safer.
    Sync {
        /// Never: a crash of the machine may lose the last records.
        Never = "never",
        /// For blocks, halts, approvals and snapshots.
        Important = "important",
        /// For every record.
        Always = "always",
    }
}

choice! {
    /// What is let through without the client asking anybody (ours). Later is stricter.
    Approve {
        /// An action whose every effect is certain, lies where the task is, and can be taken back.
        Recoverable = "recoverable",
        /// Nothing: the client asks as it always does.
        Never = "never",
    }
}

choice! {
    /// Which questions wait for an answer from outside the client (ours). Later is stricter: what waits for nobody is refused or asked at once.
    ApprovalWait {
        /// Every question, also those that the client would ask.
        Always = "always",
        /// Those of nobody's profile, and those that the client loses or decides by itself.
        Lost = "lost",
        /// Those of the profiles in which nobody is at the client: `unattended` and `strict`.
        Unattended = "unattended",
        /// None.
        Never = "never",
    }
}

choice! {
    /// Which commands run within bounds that the kernel enforces (design 10).
    ContainedCommands {
        /// None.
        Off = "off",
        /// Those that a user would be asked about only because they cannot be understood.
        Questionable = "questionable",
        /// All that cannot be understood.
        Opaque = "opaque",
    }
}

choice! {
    /// What a contained command may talk to, besides the hosts that it names (design 10). Later is stricter.
    ContainedNetwork {
        /// Everything.
        Open = "open",
        /// This machine.
        Loopback = "loopback",
        /// Nothing.
        None = "none",
    }
}

choice! {
    /// How much is written to the diagnostic log (seed 001).
    LogLevel {
        /// Everything.
        Debug = "debug",
        /// What a user may want to know.
        Info = "info",
        /// What is probably wrong.
        Warn = "warn",
        /// What is wrong.
        Error = "error",
    }
}

choice! {
    /// How an agent talks itself into new work (seed 004).
    CascadeCategory {
        /// It offers to go on.
        ContinuationOffer = "continuation_offer",
        /// It lists what could be chosen.
        NumberedChoice = "numbered_choice",
        /// It goes over from what is done to something else.
        TaskCompletionPivot = "task_completion_pivot",
        /// It finds more to do.
        ScopeExpansion = "scope_expansion",
    }
}

choice! {
    /// Which events are written into the event log. Later is stricter.
    TelemetryEvents {
        /// None.
        Off = "off",
        /// What is worth a look.
        Notable = "notable",
        /// Also calls that pass without a word, and outcomes.
        All = "all",
    }
}

choice! {
    /// The form of an export (seed 001).
    ExportFormat {
        /// The records as they are, as JSON Lines.
        JsonLines = "jsonl",
        /// A table, as comma-separated values.
        Csv = "csv",
        /// Events in Common Event Format.
        Cef = "cef",
        /// Events as OCSF.
        Ocsf = "ocsf",
        /// The older name of `jsonl`.
        Json = "json",
    }
}

choice! {
    /// How easily a pattern is seen (seed 001). Later is stricter.
    Sensitivity {
        /// Only what is beyond doubt.
        Low = "low",
        /// The published thresholds.
        Medium = "medium",
        /// The first signs.
        High = "high",
    }
}

choice! {
    /// How much context a reinforcement repeats (seed 000). Later is stronger.
    Strength {
        /// The goal only.
        Light = "light",
        /// Goal and constraints.
        Medium = "medium",
        /// All of it.
        Strong = "strong",
    }
}

choice! {
    /// What is done when the same approach goes on failing after the agent was told (seed 004, two strikes). Later is stricter.
    TwoStrikes {
        /// The agent is told again, more strongly; the session is not stopped for it.
        Advise = "advise",
        /// The session is stopped.
        Halt = "halt",
    }
}

choice! {
    /// How the controller picks an intervention (seed 000).
    StrategyType {
        /// By what worked before.
        Progressive = "progressive",
        /// By the table of issue types.
        PatternSpecific = "pattern_specific",
        /// By own rules.
        Custom = "custom",
    }
}
