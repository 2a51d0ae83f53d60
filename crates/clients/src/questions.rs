//! What becomes of a question to a user: some clients ask, some ask not always, some lose it.

use std::collections::BTreeMap;

use checkrein_protocol::{AbsolutePath, Effect, PermissionMode, ToolName};

/// A call about which a user is to be asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// How the client decides what may run, when it says so.
    pub permission_mode: Option<PermissionMode>,
    /// The tool that is called.
    pub tool: &'a ToolName,
    /// The text for the shell, of a call that has one.
    pub shell_text: Option<&'a str>,
    /// What the call is understood to do.
    pub effects: &'a [Effect],
    /// The workspace.
    pub workspace: &'a AbsolutePath,
    /// The home directory.
    pub home: &'a AbsolutePath,
    /// The environment of the hook.
    pub variables: &'a BTreeMap<String, String>,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// A user is asked, as far as can be told.
    Asked,
    /// A user is asked at the terminal, in the client's own words alone: why a hook wants it asked they are shown when they have answered.
    AskedUnexplained,
    /// The client runs without a user. Nobody is asked, unless a program above it has an argument that begins so: then that program is.
    AskedOfProgram(&'static str),
    /// A user is asked, unless the client was started with one of these arguments: then it runs without a user.
    AskedUnless(&'static [&'static str]),
    /// The user does not want to be asked.
    NotWanted,
    /// In this mode the client decides about such a call by itself, whatever its hooks say.
    Decided(PermissionMode),
    /// The client does not know questions of hooks: the call would run, or wait for ever.
    Lost,
}

/// Who answers the questions of a client, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answerer {
    /// A user at the terminal.
    User,
    /// A user or a program.
    NotKnown,
}
