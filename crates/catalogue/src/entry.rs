//! The compiled form of a catalogue entry: what the running program decodes.

use serde::{Deserialize, Serialize};

use super::text::{NameList, Text};
use checkrein_protocol::Nature;
use checkrein_protocol::{Certainty, EffectKind, NetworkReach, Severity};

/// What a program or a subcommand does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Program {
    /// Its names; at least one.
    pub names: NameList,
    /// What it does, third person; empty for most subcommands.
    pub summary: Text,
    /// How its words are told apart; `None` is the way of the parent, `gnu` at the top.
    pub grammar: Option<Grammar>,
    /// Options that take a value.
    pub values: NameList,
    /// Options whose value, if any, is attached.
    pub attached: NameList,
    /// Further options, without a value.
    pub flags: NameList,
    /// What an option is that is not listed.
    pub other_options: OtherOptions,
    /// What it changes.
    pub clauses: Vec<EffectClause>,
    /// The handler that is asked instead of the clauses.
    pub semantics: Option<Text>,
    /// What it runs.
    pub runs: Vec<Run>,
    /// Its subcommands.
    pub subcommands: Vec<Subcommand>,
    /// What a subcommand is that is not listed.
    pub unknown: UnknownSubcommand,
    /// What it writes to its standard output.
    pub output: Writes,
    /// What its exit status says.
    pub status: Answers,
    /// What it shows of files that its operands name and of which its clauses say nothing.
    pub shows: Shows,
    /// Where the store is that it talks to, when it is not told; `None` when it talks to none, or where is not known.
    pub store: Option<DefaultStore>,
}

/// A subcommand: its names, and its entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Subcommand {
    /// Its names.
    pub names: NameList,
    /// What it does.
    pub entry: SubcommandEntry,
}

/// Where the entry of a subcommand is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub enum SubcommandEntry {
    /// Here, as a user described it.
    Here(Box<Program>),
    /// Among the built-in entries, from the first to before the second byte: decoded only when it is called.
    BuiltIn(u32, u32),
}

/// Where a program looks for its store when it is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultStore {
    /// A server on this machine: what the manuals of `psql`, `mysql`, `redis-cli`, `mongosh` say.
    Machine,
    /// What the configuration of the project names for development.
    Project,
}

/// What a program writes to its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// What it read from files, else something of its own.
    #[default]
    Own,
    /// What it read from files, else what it read from the standard input.
    Filter,
    /// Nothing.
    Nothing,
}

/// What a program shows of files that its operands name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// What is in them, or a part of it.
    #[default]
    Content,
    /// Nothing of what is in them, or its operands are no files.
    Nothing,
}

/// What an exit status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// Whether the work was done.
    #[default]
    Done,
    /// The answer to a question, either way as likely: `grep -q`, `test`.
    Question,
    /// Whether every file that is named is there: `ls`, `cat`.
    Present,
}

/// How words are told to be options or operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grammar {
    /// Bundled shorts, `--long=value`, options anywhere, `--` ends.
    #[default]
    Gnu,
    /// The same, but the first operand ends the options.
    Posix,
    /// `-long value` and `-long=value`.
    Dash,
    /// Every word is an operand.
    Raw,
}

/// What an option is that the entry does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherOptions {
    /// One without a value, of no interest here.
    #[default]
    Ignored,
    /// A mistake: the program says so and does nothing, so that its effects are only possible.
    Refused,
}

/// What a subcommand is that the entry does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownSubcommand {
    /// Without effect.
    Quiet,
    /// Not understood.
    #[default]
    Opaque,
    /// No subcommand at all: the clauses of the entry itself hold.
    #[serde(rename = "self")]
    Itself,
}

/// One sort of change that a program makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct EffectClause {
    /// What changes.
    pub kind: EffectKind,
    /// What it changes.
    pub target: WordSelection,
    /// When it does.
    pub conditions: Conditions,
    /// Any of these makes it reach below the target.
    pub recursive: Vec<Condition>,
    /// How sure that is.
    pub certainty: Certainty,
    /// How grave it is; `None` when that follows from what it changes.
    pub severity: Option<Severity>,
    /// How far it reaches; `None` when that follows from what it changes.
    pub reach: Option<NetworkReach>,
    /// Whether it can be taken back; `None` when that follows from what it changes.
    pub reversible: Option<bool>,
    /// What is special about it.
    pub nature: Nature,
    /// Whether what a changed file tells others to do stays as it was: a manifest gets another dependency, and its scripts stay.
    pub keeps_text: bool,
    /// What a user reads about it.
    pub note: Text,
}

/// Under which options something holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Conditions {
    /// One of these, unless the list is empty.
    pub when: Vec<Condition>,
    /// Each of these.
    pub all: Vec<Condition>,
    /// None of these.
    pub unless: Vec<Condition>,
}

/// One question about how a program was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub enum Condition {
    /// Yes.
    Always,
    /// The option was given.
    Option(Text),
    /// The option was given with a value of this form (`*` stands for any text).
    Value(Text, Text),
    /// There are operands.
    Operands,
    /// There are none.
    NoOperands,
    /// Some operand has this form (`*` stands for any text).
    Operand(Text),
    /// Something is connected to the standard input.
    Input,
    /// Nothing is.
    NoInput,
    /// Something takes in what is printed, or shows it: it does not go to `/dev/null`.
    Shown,
}

/// Which words are meant: the first pick that finds something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct WordSelection(
    /// The picks in order.
    pub Vec<Pick>,
);

/// One way to find words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub enum Pick {
    /// An effect without a target.
    None,
    /// Operands by position.
    Operands(WordRange),
    /// The last value given to one of the options.
    Option(NameList),
    /// All values given to the options.
    Options(NameList),
    /// The value of a variable, when it is set.
    Variable(Text),
    /// The working directory, or a name in it.
    Cwd(Text),
    /// A fixed path; `~` is the home directory.
    Path(Text),
    /// Fixed text.
    Text(Text),
    /// All words of the call behind the first that is this one.
    Behind(Text),
    /// A name below the directories that another way finds.
    Below(Text, Box<Self>),
    /// The value of a setting that one of the options gives: `--config build.target-dir="out"`.
    Setting(NameList, Text),
}

/// Positions `from..to`; negative ones count from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordRange {
    /// The first one.
    pub from: i32,
    /// `None` is the end.
    pub to: Option<i32>,
}

impl WordRange {
    /// The half-open range of indices that is meant among `length` words; empty when it lies outside.
    pub fn within(self, length: usize) -> std::ops::Range<usize> {
        let place = |index: i32| {
            let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
            if index < 0 { length.checked_sub(distance) } else { Some(distance.min(length)) }
        };
        let to = self.to.map_or(Some(length), place).unwrap_or(0);
        // A single word counted from the end that does not exist is nothing; an open range from there is everything.
        let from = match (place(self.from), self.to) {
            (Some(from), _) => from,
            (None, None) => length,
            (None, Some(_)) => 0,
        };
        from.min(to)..to
    }
}

/// Something that a program runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Run {
    /// Where it comes from.
    pub what: CommandSource,
    /// When it runs.
    pub conditions: Conditions,
    /// Whether leading `NAME=value` words are variables set for it.
    pub assignments: bool,
    /// As whom or where it runs.
    pub place: RunContext,
    /// For [`RunContext::Remote`]: the words that name the machine.
    pub host: Option<WordSelection>,
    /// How often it runs.
    pub times: Times,
    /// When it inherits no variable of the environment.
    pub clears: Vec<Condition>,
    /// When it inherits those of the user alone: where the home directory is, what the user is called.
    pub purifies: Vec<Condition>,
    /// Variables that it finds otherwise: `NAME=value` is set, `NAME` alone is taken away.
    pub changes: Option<WordSelection>,
}

/// Where what is run comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub enum CommandSource {
    /// Words of a command.
    Words(WordSelection),
    /// Shell text; several words are joined by blanks.
    Text(WordSelection),
    /// Shell text where the first word is more than a name, else words of a command.
    Line(WordSelection),
    /// A script file; the operands behind it are its arguments.
    File(WordSelection),
    /// Text in another language.
    Code(WordSelection),
    /// A file of code in another language, which its ending tells.
    Source(WordSelection),
    /// What comes in on the standard input.
    Input(StandardInputRunner),
}

/// Who runs what comes in on the standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandardInputRunner {
    /// A shell.
    Shell,
    /// An interpreter of another language.
    Code,
}

/// As whom or where something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunContext {
    /// Here, as the agent.
    #[default]
    #[serde(rename = "self")]
    Itself,
    /// Here, with more rights.
    Elevated,
    /// Here, where nothing tells later from where it was started: in a terminal that a server holds.
    Apart,
    /// On another machine or in a container.
    Remote,
}

/// How often something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Times {
    /// Once.
    #[default]
    Once,
    /// An unknown number of times, each with unknown further operands.
    Many,
}
