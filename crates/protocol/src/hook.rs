//! What a client's hook tells and what it is told, in our own words. Clients translate to and from this.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::action::Action;
use crate::change::Change;
use crate::id::{ActionId, SessionId};
use crate::path::AbsolutePath;

/// The client whose hook speaks, by its name on the command line and in records. Which there are is said by the crate that knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Client(&'static str);

impl Client {
    /// Claude Code.
    pub const CLAUDE: Self = Self("claude");

    /// A client with this name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// Identifies a sub-agent; the main agent has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActorId(pub String);

/// How a client decides by itself what may run, as its hooks are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// A user is asked about what no rule of theirs allows.
    Default,
    /// Edits inside the project go ahead, a user is asked about the rest.
    AcceptEdits,
    /// The agent is to plan only.
    Plan,
    /// A model decides in place of the user.
    Auto,
    /// What no rule allows is refused; nobody is asked.
    DontAsk,
    /// Everything goes ahead.
    BypassPermissions,
    /// A mode that this version does not know.
    Other,
}

impl PermissionMode {
    /// The mode that a client calls so.
    pub fn of_name(name: &str) -> Self {
        match name {
            "default" => Self::Default,
            "acceptEdits" => Self::AcceptEdits,
            "plan" => Self::Plan,
            "auto" => Self::Auto,
            "dontAsk" => Self::DontAsk,
            "bypassPermissions" => Self::BypassPermissions,
            _ => Self::Other,
        }
    }
}

/// One call of a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// Who calls.
    pub client: Client,
    /// In which session.
    pub session: SessionId,
    /// The working directory at that moment.
    pub cwd: AbsolutePath,
    /// The sub-agent that acts, if it is one.
    pub actor: Option<ActorId>,
    /// The client's own name of the event.
    pub name: String,
    /// Where the client writes down the session, when it says so; of a sub-agent that ends, its own.
    pub transcript: Option<AbsolutePath>,
    /// How the client decides what may run; `None` when it does not say.
    pub permission_mode: Option<PermissionMode>,
    /// What is happening.
    pub moment: HookEventKind,
}

/// What is happening.
#[derive(Debug, Clone, PartialEq)]
pub enum HookEventKind {
    /// The agent wants to do something.
    BeforeAction {
        /// The call.
        call: Option<ActionId>,
        /// What it wants to do.
        action: Action,
    },
    /// Something was done.
    AfterAction(Outcome),
    /// The client is about to ask the user for permission.
    PermissionAsked {
        /// What for.
        action: Action,
    },
    /// The user said something.
    Prompt {
        /// What they said.
        text: String,
    },
    /// A session begins or goes on.
    SessionStarted {
        /// How: `startup`, `resume`, `clear`, `compact`.
        source: String,
    },
    /// The session is over.
    SessionEnded,
    /// The agent wants to end its turn.
    TurnEnding {
        /// What it said last, when the client says so.
        message: Option<String>,
    },
    /// A sub-agent begins.
    SubagentStarted,
    /// A sub-agent wants to end.
    SubagentEnding {
        /// What it said last, when the client says so.
        message: Option<String>,
    },
    /// The results of several calls are about to be given to the model.
    BatchDone,
    /// A settings file of the client has changed.
    ConfigurationChanged {
        /// Which, when the client says so.
        file: Option<AbsolutePath>,
    },
    /// Anything else; recorded only.
    Other {
        /// The fields of the event, without those that every event has.
        fields: Json,
    },
}

/// How an action went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The call.
    pub call: Option<ActionId>,
    /// What was done, as it ran.
    pub action: Action,
    /// Whether it failed.
    pub failed: bool,
    /// Whether the client says that it failed when it did.
    pub success: SuccessReporting,
    /// The error text of a failure.
    pub error: Option<String>,
    /// The output, as text.
    pub output: String,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The output as the client gave it, where its hooks may give another in its place; `None` where they may not.
    pub answered: Option<Json>,
    /// What the client itself says that it changed: for tools that write files.
    pub reported: Vec<Change>,
    /// Whether it is over.
    pub progress: CallProgress,
}

/// Whether a client tells failures of a tool from successes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuccessReporting {
    /// It does.
    Told,
    /// It does not: what is no failure may be one.
    NotTold,
}

/// What the model reads of what a tool of the client answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutput {
    /// All of it, as it is.
    #[default]
    Shown,
    /// The same with the secrets in it masked: the client takes what its hooks give in its place.
    Masked,
    /// A text of ours in its place, with masks, where keys, tokens or known secrets stand in it. What a tool shows of a list of settings may have
    /// another form there than the file, so that reading one is judged as if all were shown.
    Replaced,
}

/// Whether what is typed into a program that a call left open comes to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Typing {
    /// Nobody types: the input of commands is closed, or each text is reviewed as a call.
    #[default]
    Reviewed,
    /// The agent types, and no hook hears of it.
    Unseen,
}

/// Whether a call is over when its outcome is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallProgress {
    /// It is.
    Finished,
    /// It goes on in the background.
    Running,
}

/// Why the client need not ask anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// A user wants that for what can be taken back, and everything that the call does can be.
    Recoverable,
    /// A user was asked about this very call, and said yes.
    Approved,
    /// It only reads and prints, and what it prints is masked. The client would ask about the pipe through the mask, though not about the
    /// call as the agent made it.
    OnlyReads,
}

impl Consent {
    /// The same in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Recoverable => "checkrein: everything this does can be taken back",
            Self::Approved => "checkrein: the user was asked about this call and allowed it",
            Self::OnlyReads => "checkrein: this only reads, and secrets in what it prints are masked",
        }
    }
}

/// What the client is told.
#[derive(Debug, Clone, PartialEq)]
pub enum HookResponse {
    /// No opinion: the client's own rules decide.
    NoOpinion,
    /// Goes ahead, and the client need not ask anybody: where a user wants that for what can be taken back, or said yes to this very call.
    Allow {
        /// Why nobody need be asked.
        consent: Consent,
        /// The text for the model; may be empty.
        text: String,
    },
    /// Goes ahead; the model reads this beside the result.
    Context {
        /// The text for the model.
        text: String,
    },
    /// Goes ahead in another form.
    Rewrite {
        /// Why the client need not ask anybody; `None` where its own permission rules apply to the new form.
        consent: Option<Consent>,
        /// The whole new input of the tool.
        input: Json,
        /// What was changed and why, for the model.
        text: String,
    },
    /// A user is asked.
    Ask {
        /// What they read.
        reason: String,
        /// The whole new input of the tool, when a yes is to run a safer form.
        input: Option<Json>,
    },
    /// Refused.
    Deny {
        /// What the model reads.
        reason: String,
    },
    /// The model reads something else in place of what a tool answered.
    Replaced {
        /// What it reads, in the form of the tool.
        output: Json,
        /// What is answered besides.
        besides: Box<HookResponse>,
    },
    /// The agent is stopped, where the client can; the call is refused where it can not.
    Halt {
        /// What the user reads.
        reason: String,
    },
}

impl HookResponse {
    /// The same in other words. What runs or is shown in the place of something stays as it is.
    #[must_use]
    pub fn worded(self, other: &dyn Fn(String) -> String) -> Self {
        match self {
            Self::NoOpinion => Self::NoOpinion,
            Self::Allow { consent, text } => Self::Allow { consent, text: other(text) },
            Self::Context { text } => Self::Context { text: other(text) },
            Self::Rewrite { consent, input, text } => Self::Rewrite { consent, input, text: other(text) },
            Self::Ask { reason, input } => Self::Ask { reason: other(reason), input },
            Self::Deny { reason } => Self::Deny { reason: other(reason) },
            Self::Replaced { output, besides } => {
                Self::Replaced { output, besides: Box::new(besides.worded(other)) }
            }
            Self::Halt { reason } => Self::Halt { reason: other(reason) },
        }
    }

    /// What is said with it; empty when nothing is.
    pub fn text(&self) -> &str {
        match self {
            Self::NoOpinion => "",
            Self::Allow { text, .. } | Self::Context { text } | Self::Rewrite { text, .. } => text,
            Self::Ask { reason, .. } | Self::Deny { reason } | Self::Halt { reason } => reason,
            Self::Replaced { besides, .. } => besides.text(),
        }
    }
}
