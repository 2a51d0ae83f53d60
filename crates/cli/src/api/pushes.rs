//! Answers of the hook that looks at pushes.

use schemars::JsonSchema;
use serde::Serialize;

use super::answers;
use super::gates::GateAnswer;

/// What gates say about a push.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PushAnswer {
    /// The remote.
    pub remote: String,
    /// Whether all of it passed.
    pub passed: bool,
    /// Each name that is pushed.
    pub pushed: Vec<PushedAnswer>,
}

/// What gates say about one name that is pushed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PushedAnswer {
    /// The name at the remote.
    pub name: String,
    /// The commit that is pushed; `null` where nothing is, or no commit.
    pub commit: Option<String>,
    /// The newest commit below it that the remote has; `null` where it has none.
    pub since: Option<String>,
    /// Whether all gates passed.
    pub passed: bool,
    /// Why no gate looked, where none did.
    pub cause: Option<String>,
    /// What each gate says.
    pub gates: Vec<GateAnswer>,
}

/// What became of the hook of a repository.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PushHookAnswer {
    /// Its file.
    pub hook: String,
    /// `installed`, `removed`, or `absent`: there was none.
    pub state: String,
}

answers! { PushAnswer => "push", PushHookAnswer => "push_hook" }
