//! What a command answers when it has run.

use super::call::Input;
use super::value::Value;

/// The answer of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// What is known of the exit status.
    pub status: Status,
    /// What the standard output carries.
    pub output: Output,
}

/// What is known of an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It succeeds.
    Success,
    /// It fails.
    Failure,
    /// It does its work, so it presumably succeeds; a prediction holds "if the command succeeds".
    Unknown,
    /// It asks a question whose answer is not known (`test`, `grep -q`): either way is as likely.
    Open,
}

impl Status {
    /// The status behind `!`.
    #[must_use]
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Success => Self::Failure,
            Self::Failure => Self::Success,
            Self::Unknown | Self::Open => Self::Open,
        }
    }

    /// The status of two commands together, of which both must succeed.
    #[must_use]
    pub(crate) fn and_then(self, other: Self) -> Self {
        match (self, other) {
            (Self::Failure, _) | (_, Self::Failure) => Self::Failure,
            (Self::Open, _) | (_, Self::Open) => Self::Open,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Success, Self::Success) => Self::Success,
        }
    }

    /// The status of one of two ways.
    #[must_use]
    pub(crate) fn join(self, other: Self) -> Self {
        if self == other {
            self
        } else if matches!((self, other), (Self::Success, Self::Unknown) | (Self::Unknown, Self::Success)) {
            Self::Unknown
        } else {
            Self::Open
        }
    }

    /// The status of a decided question, or [`Status::Open`].
    pub(crate) fn of(answer: Option<bool>) -> Self {
        match answer {
            Some(true) => Self::Success,
            Some(false) => Self::Failure,
            None => Self::Open,
        }
    }
}

/// What the standard output of a command carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Nothing.
    Nothing,
    /// Text of which something is known, as it is written, newlines included.
    Text(Value),
    /// What came over the network: the URL or host.
    Network(String),
    /// A secret: the path it was read from.
    Secret(String),
    /// The content of local files: the first path.
    Local(String),
    /// Text by which a program prepares the shell that asks it: its name.
    Setup(String),
    /// Nothing is known.
    Unknown,
}

impl Output {
    /// The output of one command followed by that of another.
    #[must_use]
    pub fn followed_by(self, next: Self) -> Self {
        match (self, next) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (Self::Text(first), Self::Text(second)) => Self::Text(first.followed_by(&second)),
            (Self::Secret(path), _) | (_, Self::Secret(path)) => Self::Secret(path),
            (Self::Network(url), _) | (_, Self::Network(url)) => Self::Network(url),
            (Self::Local(path), Self::Local(_)) => Self::Local(path),
            _ => Self::Unknown,
        }
    }

    /// The output of one of two ways.
    #[must_use]
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            (first, second) if first == second => first,
            (Self::Text(first), Self::Text(second)) => Self::Text(first.join(&second)),
            (Self::Secret(path), _) | (_, Self::Secret(path)) => Self::Secret(path),
            (Self::Network(url), _) | (_, Self::Network(url)) => Self::Network(url),
            (Self::Local(path), Self::Nothing | Self::Local(_)) | (Self::Nothing, Self::Local(path)) => {
                Self::Local(path)
            }
            _ => Self::Unknown,
        }
    }

    /// The place of a secret that is printed: a path, or the name of a variable behind `$`. `None` when none is.
    pub fn as_secret(&self) -> Option<&str> {
        match self {
            Self::Secret(place) => Some(place),
            Self::Nothing
            | Self::Text(_)
            | Self::Network(_)
            | Self::Local(_)
            | Self::Setup(_)
            | Self::Unknown => None,
        }
    }

    /// The text that it is; unknown where it is more, or is not known.
    pub fn into_text(self) -> Value {
        match self {
            Self::Text(text) => text,
            Self::Nothing
            | Self::Network(_)
            | Self::Secret(_)
            | Self::Local(_)
            | Self::Setup(_)
            | Self::Unknown => Value::Unknown,
        }
    }

    /// As [`Output::as_secret`], with the place handed over.
    pub fn into_secret(self) -> Option<String> {
        self.as_secret().map(str::to_owned)
    }

    /// What a program makes of this that it does not pass on as it is: no text of it stays known, but where it came from does.
    #[must_use]
    pub fn made_over(self) -> Self {
        match self {
            Self::Nothing | Self::Text(_) | Self::Setup(_) | Self::Unknown => Self::Unknown,
            Self::Network(_) | Self::Secret(_) | Self::Local(_) => self,
        }
    }

    /// What the next stage of a pipeline reads.
    pub fn into_input(self) -> Input {
        match self {
            Self::Nothing => Input::Text(Value::exact("")),
            Self::Text(value) => Input::Text(value),
            Self::Network(url) => Input::Network(url),
            Self::Secret(path) => Input::Secret(path),
            Self::Local(path) => Input::Local(path),
            Self::Setup(_) | Self::Unknown => Input::Unknown,
        }
    }

    /// What a command that passes its input on writes.
    pub fn from_input(input: &Input) -> Self {
        match input {
            Input::Inherited | Input::Unknown => Self::Unknown,
            Input::Text(value) => Self::Text(value.clone()),
            Input::Network(url) => Self::Network(url.clone()),
            Input::Secret(path) => Self::Secret(path.clone()),
            Input::Local(path) => Self::Local(path.clone()),
        }
    }
}

impl Exit {
    /// Presumably succeeds and writes nothing.
    pub fn silent() -> Self {
        Self { status: Status::Unknown, output: Output::Nothing }
    }

    /// Presumably succeeds and writes something.
    pub fn unknown() -> Self {
        Self { status: Status::Unknown, output: Output::Unknown }
    }

    /// Succeeds and writes nothing.
    pub fn success() -> Self {
        Self { status: Status::Success, output: Output::Nothing }
    }

    /// Fails and writes nothing.
    pub fn failure() -> Self {
        Self { status: Status::Failure, output: Output::Nothing }
    }

    /// Answers a question, writing nothing: `None` when the answer is not known.
    pub(crate) fn answer(known: Option<bool>) -> Self {
        Self { status: Status::of(known), output: Output::Nothing }
    }

    /// Succeeds and writes this text.
    pub fn printing(value: Value) -> Self {
        Self { status: Status::Success, output: Output::Text(value) }
    }

    /// Presumably succeeds and writes this.
    pub fn with(output: Output) -> Self {
        Self { status: Status::Unknown, output }
    }
}
