//! What the rest of the program knows of a client: one row of a table.

use std::collections::BTreeMap;
use std::ffi::OsString;

use checkrein_protocol::{AbsolutePath, Client, HookEvent, HookResponse, ToolOutput, Typing};

use crate::canary::{Canary, refuses_by_status};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::command::Answering;
use crate::conduct::{Conduct, Source};
use crate::error::DecodeError;
use crate::events::ClientEvent;
use crate::output::HookOutput;
use crate::placed::WorkspaceSource;
use crate::questions::{Answerer, Question, Questions};
use crate::registration::{HookForm, HookLayout, Notation, Unit};
use crate::rewind::Rewind;
use crate::servers::ServerFile;
use crate::status_line::StatusLineLayout;
use crate::transcript::TranscriptPlace;

/// All that is one client's own. The rest of the program asks a row and never for a name.
#[derive(Debug)]
pub struct ClientAdapter {
    /// Its name on the command line and in records.
    pub client: Client,
    /// Its name for people.
    pub title: &'static str,
    /// Its programs, by name.
    pub programs: &'static [&'static str],
    /// Parts of the path of its scripts, where an interpreter runs it.
    pub packages: &'static [&'static str],
    /// Whether what the agent types into a program that a call left open comes to its hooks.
    pub typing: Typing,
    /// Reads one hook payload.
    pub decode: fn(&[u8]) -> Result<HookEvent, DecodeError>,
    /// Who says where a session works.
    pub workspace: WorkspaceSource,
    /// The output for an answer to an event, with a line for the user alone where there is one. An answer that the event cannot carry becomes
    /// the strictest form that it can; a line that it cannot carry is left out.
    pub encode: fn(&HookEvent, &HookResponse, Option<&str>) -> HookOutput,
    /// The output that lets nothing through when nothing about the payload is known, with the reason.
    pub refuse: fn(&str) -> HookOutput,
    /// Whether the model reads what a hook gives in place of what a tool answered.
    pub tool_output: ToolOutput,
    /// When the model reads what is said beside a call that runs.
    pub hints: HintDelivery,
    /// What becomes of a question to a user.
    pub questions: fn(&Question<'_>) -> Questions,
    /// Who answers its own questions, by the environment of its hooks.
    pub answerer: fn(&BTreeMap<String, String>) -> Answerer,
    /// Whether it tells its hooks of each question that a user is about to be asked.
    pub announces_questions: Announces,
    /// A call that must be refused.
    pub canary: Canary,
    /// Where it finds hooks and whatever else decides about them.
    pub places: ClientPaths,
    /// How hooks are written down in its settings.
    pub hooks: HookLayout,
    /// The files in which it finds MCP servers.
    pub servers: &'static [ServerFile],
    /// How its settings say which status line it shows; `None` where it shows none of a program.
    pub status_line: Option<StatusLineLayout>,
    /// Variables that say, in the environment of its tools, that it started them.
    pub marks: &'static [&'static str],
    /// The variable that names the directory in which a session was started; `None` where there is none.
    pub project_variable: Option<&'static str>,
    /// The words that start it again so that it goes on with a session; `None` where that is not known.
    pub resume: Option<Resume>,
    /// How it goes on from an earlier turn of a session; `None` where that is not known.
    pub rewind: Option<Rewind>,
    /// Arguments with which its hooks may not run.
    pub silencing: &'static [&'static str],
    /// Words of its command line with which its output tells what it spends, in a form that `checkrein run` understands; empty where there are none.
    pub telling: &'static [&'static str],
    /// Whether its hooks find out what it spends.
    pub transcript: Transcript,
    /// Where its transcripts are, for who is not told; `None` where that is not known, or they do not tell what was spent.
    pub transcripts: Option<TranscriptPlace>,
    /// The provider whose models it calls.
    pub provider: Provider,
    /// Where it is told which model to use.
    pub models: ModelPlaces,
    /// What a user must have agreed to before it runs our hooks; `None` when nothing.
    pub trust: Option<TrustRequirement>,
    /// What a user must do after the hooks were registered; `None` when nothing.
    pub next_step: Option<&'static str>,
    /// What it cannot do, or lets pass unseen, each in a sentence.
    pub open: &'static [&'static str],
    /// What it tells hooks of, each with what becomes of it.
    pub events: &'static [ClientEvent],
    /// What it does with the answers of its hooks, in words.
    pub conduct: Conduct,
}

/// When the model reads what a hook says beside a call that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintDelivery {
    /// With the call, or it has nothing to read it with.
    WithTheCall,
    /// Only what is said to the outcome: before a call it is dropped, or shown to the user alone.
    WithTheOutcome,
}

/// The words of a command line, and the session to go on with, to the words that go on with it; `None` when these words cannot.
pub type Resume = fn(&[OsString], &str) -> Option<Vec<OsString>>;

/// What a user must have agreed to before a client runs hooks.
#[derive(Debug)]
pub struct TrustRequirement {
    /// Where that is written down.
    pub file: ClientPath,
    /// What a user types in it to agree.
    pub typed: &'static str,
    /// Why the review of calls does not run, by a settings file, its text and what is written down; `None` when it runs.
    pub doubt: fn(&AbsolutePath, &str, &str) -> Option<String>,
}

/// Whether the hooks of a client find out what it spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transcript {
    /// It writes the usage of each answer into a transcript, which its hooks are told of.
    Tells,
    /// It writes one, of which its hooks are not told with each call: it is where `transcripts` says.
    Keeps,
    /// No transcript with usage is known.
    Absent,
}

/// Whether a client tells its hooks of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announces {
    /// Each one, before a user sees it.
    Each,
    /// None, or not each.
    NotAll,
}

/// Which provider a client calls.
#[derive(Debug)]
pub struct Provider {
    /// Its name where nothing else is set.
    pub name: &'static str,
    /// The host that it calls there, where that is known to be the only one.
    pub host: Option<&'static str>,
    /// The variable with another address.
    pub address: Option<&'static str>,
    /// Variables by which it is another one, and that one's name.
    pub instead: &'static [(&'static str, &'static str)],
}

/// Where a client finds what decides about its hooks.
#[derive(Debug)]
pub struct ClientPaths {
    /// Its folder in the home directory.
    pub folder: &'static str,
    /// The variable that names another folder.
    pub folder_variable: Option<&'static str>,
    /// The files in which hooks may be registered, by whom they are for; a scope that it does not have is not among them.
    pub settings: &'static [(SettingsScope, ClientPath)],
    /// From which folders it takes the settings of a project.
    pub project_settings: ProjectSettings,
    /// Files beside the settings that call the hook for further events, by name; for a client that has a file for each event.
    pub companions: &'static [&'static str],
    /// Other files that can switch its hooks off.
    pub switches: &'static [ClientPath],
    /// Files with hooks that only an administrator writes.
    pub managed: &'static [ClientPath],
    /// What an agent must not change, with what that is for people.
    pub guarded: &'static [(ClientPath, &'static str)],
    /// Variables by which another program stands before our command line, or none of ours is called: once we are called, they may as well
    /// have changed what we are told.
    pub interposing: &'static [&'static str],
    /// Files of a project that set variables for the client and its hooks.
    pub environment: &'static [&'static str],
    /// Files of a project that the client itself writes while it works.
    pub written: &'static [&'static str],
    /// Files of the folder in which it starts, each with the key behind which code is named that it runs then.
    pub runs: &'static [(&'static str, &'static str)],
    /// Folders of a project with documents whose heads may register hooks.
    pub documents: &'static [&'static str],
    /// The folder of its plugins, in its own folder; `None` where a project can enable none that brings hooks.
    pub plugins: Option<&'static str>,
    /// Folders in the home directory in which its agents are expected to write.
    pub expected: &'static [&'static str],
}

/// Whom a settings file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsScope {
    /// Everyone who works in the project, on every machine.
    Team,
    /// One user in the project.
    Local,
    /// One user in every project.
    User,
}

/// From which folders a client takes the settings of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectSettings {
    /// From the one where it is started, and from no other: a folder of the project is another project.
    WhereStarted,
    /// From those above as well, up to the root of the repository, or that is not known.
    Upward,
}

/// Where something of a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientPath {
    /// Below the workspace.
    Project(&'static str),
    /// Below the client's folder.
    Folder(&'static str),
    /// Below the root.
    Machine(&'static str),
}

impl ClientPaths {
    /// The client's folder, where the variables of its environment are these.
    pub fn folder<'a>(
        &self,
        home: &AbsolutePath,
        variable: impl Fn(&str) -> Option<&'a String>,
    ) -> AbsolutePath {
        self.folder_variable
            .and_then(variable)
            .and_then(|text| AbsolutePath::new(text))
            .unwrap_or_else(|| home.join(self.folder))
    }

    /// The settings file of a scope; `None` where the client has no such scope.
    pub fn of_scope(&self, scope: SettingsScope) -> Option<ClientPath> {
        self.settings.iter().find(|(own, _)| *own == scope).map(|(_, place)| *place)
    }

    /// The scope of one user: in a project where the client has settings for that, else in all.
    pub fn own_scope(&self) -> SettingsScope {
        if self.of_scope(SettingsScope::Local).is_some() { SettingsScope::Local } else { SettingsScope::User }
    }
}

impl ClientPath {
    /// The path, below the workspace or the client's folder where it is there.
    pub fn at(self, workspace: &AbsolutePath, folder: &AbsolutePath) -> AbsolutePath {
        match self {
            Self::Project(path) => workspace.join(path),
            Self::Folder(path) => folder.join(path),
            Self::Machine(path) => AbsolutePath::root().join(path),
        }
    }

    /// The path below where it begins.
    pub fn below(self) -> &'static str {
        match self {
            Self::Project(path) | Self::Folder(path) | Self::Machine(path) => path,
        }
    }
}

/// A row of which nothing is known but what must be: the strict side of everything. Rows begin with it.
pub(crate) const PLAIN: ClientAdapter = ClientAdapter {
    client: Client::new(""),
    title: "",
    programs: &[],
    packages: &[],
    typing: Typing::Reviewed,
    decode: |_| Err(DecodeError::NotAnObject),
    workspace: WorkspaceSource::Payload,
    encode: |_, _, _| HookOutput::refusal(""),
    refuse: HookOutput::refusal,
    tool_output: ToolOutput::Shown,
    hints: HintDelivery::WithTheCall,
    questions: |_| Questions::Lost,
    answerer: |_| Answerer::NotKnown,
    announces_questions: Announces::NotAll,
    canary: Canary { call: |_| serde_json::Value::Null, refuses: refuses_by_status },
    places: NOWHERE,
    hooks: HookLayout {
        client: "",
        form: HookForm::Groups,
        notation: Notation::Strict,
        answering: Answering::Object,
        events: &[],
        reviewing: "PreToolUse",
        vital: &["PreToolUse"],
        every_name: "*",
        unit: Unit::Seconds,
        switched_off: |_| None,
        handler_types: &[],
        variables: |_| Vec::new(),
        leads_guard: |_| false,
    },
    servers: &[],
    status_line: None,
    marks: &[],
    project_variable: None,
    resume: None,
    rewind: None,
    silencing: &[],
    telling: &[],
    transcript: Transcript::Absent,
    transcripts: None,
    provider: Provider { name: "", host: None, address: None, instead: &[] },
    models: ModelPlaces { options: &["--model"], variables: &[], files: &[], form: ModelForm::Json },
    trust: None,
    next_step: None,
    open: &[],
    events: &[],
    conduct: Conduct {
        deny: "",
        ask: "",
        rewrite: "no",
        context: "no",
        stop: "no",
        failing: "",
        precedence: "",
        removal: "",
        version: "",
        source: Source::Documented,
    },
};

/// No place at all.
pub(crate) const NOWHERE: ClientPaths = ClientPaths {
    folder: "",
    folder_variable: None,
    settings: &[],
    project_settings: ProjectSettings::Upward,
    companions: &[],
    switches: &[],
    managed: &[],
    guarded: &[],
    interposing: &[],
    environment: &[],
    written: &[],
    runs: &[],
    documents: &[],
    plugins: None,
    expected: &[],
};
