//! The shape of a catalogue file as a user writes it, and how it is compiled.
//!
//! Shared with the build script, which compiles the built-in files; user files are compiled when the program runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::entry::{
    Answers, CommandSource, Condition, Conditions, DefaultStore, EffectClause, Grammar, OtherOptions, Pick,
    Program, Run, RunContext, Shows, StandardInputRunner, Subcommand, SubcommandEntry, Times,
    UnknownSubcommand, WordRange, WordSelection, Writes,
};
use super::text::{NameList, Text};
use super::variable::{WrittenPlace, WrittenVariable};
use checkrein_protocol::{Certainty, EffectKind, NetworkReach, Severity};
use checkrein_protocol::{Nature, Relief};

/// One catalogue file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// The programs that it describes.
    #[serde(default)]
    pub program: Vec<Spanned<SourceEntry>>,
    /// The variables that name what programs write.
    #[serde(default)]
    pub variable: Vec<Spanned<SourceVariable>>,
}

/// A variable that names what programs write.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceVariable {
    names: Vec<String>,
    programs: Vec<String>,
    #[serde(default)]
    when: Vec<String>,
    #[serde(default)]
    input: bool,
    writes: WrittenPlace,
    #[serde(default)]
    files: Vec<String>,
}

/// A program or a subcommand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    names: Vec<String>,
    #[serde(default)]
    summary: String,
    options: Option<Grammar>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    attached: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    other_options: OtherOptions,
    effects: Option<Vec<Spanned<SourceClause>>>,
    semantics: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    runs: Vec<SourceRun>,
    #[serde(default)]
    subcommands: Vec<Spanned<SourceEntry>>,
    unknown: Option<UnknownSubcommand>,
    #[serde(default)]
    output: Writes,
    #[serde(default)]
    status: Answers,
    #[serde(default)]
    shows: Shows,
    store: Option<DefaultStore>,
    #[serde(default)]
    examples: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceClause {
    kind: EffectKind,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    when: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    recursive: Vec<String>,
    #[serde(default)]
    certainty: Option<Certainty>,
    severity: Option<Severity>,
    reach: Option<NetworkReach>,
    reversible: Option<bool>,
    nature: Option<Spanned<Nature>>,
    keeps_text: Option<Spanned<bool>>,
    #[serde(default)]
    note: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceRun {
    words: Option<String>,
    text: Option<String>,
    file: Option<String>,
    code: Option<String>,
    line: Option<String>,
    source: Option<String>,
    input: Option<StandardInputRunner>,
    #[serde(default)]
    when: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    assignments: bool,
    #[serde(default, rename = "as")]
    place: RunContext,
    host: Option<String>,
    #[serde(default)]
    times: Times,
    #[serde(default)]
    clears: Vec<String>,
    #[serde(default)]
    purifies: Vec<String>,
    changes: Option<String>,
}

/// A table, or an array of tables. Written out, since an untagged enum would lose the messages of the errors below it.
fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<SourceRun>, D::Error> {
    struct Runs;
    impl<'de> serde::de::Visitor<'de> for Runs {
        type Value = Vec<SourceRun>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a table or an array of tables")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            SourceRun::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(|run| vec![run])
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, sequence: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(sequence))
        }
    }
    deserializer.deserialize_any(Runs)
}

/// Why a catalogue file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct CatalogueError {
    /// The file, as it was named by the caller.
    pub file: String,
    /// The line, counted from 1, at which what is wrong begins.
    pub line: usize,
    /// The column in it, counted from 1 in characters.
    pub column: usize,
    /// What is wrong.
    pub problem: CatalogueProblem,
}

/// What is wrong with a catalogue file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueProblem {
    /// The file is not TOML of the right shape.
    #[error("{0}")]
    Shape(String),
    /// An entry has no name.
    #[error("an entry has no name; give `names` (and `programs` of a variable) at least one")]
    Nameless,
    /// A name is given twice among siblings.
    #[error("`{0}` is described twice; keep one entry for it")]
    Twice(String),
    /// A name that no program can have.
    #[error("`{0}` is not the basename of a program; leave out the directory and blanks")]
    Name(String),
    /// A top-level entry says nothing about itself.
    #[error("`{0}` has no summary; say in one clause what it does")]
    Summary(String),
    /// A top-level entry has no example.
    #[error("`{0}` has no example; add `examples = [\"command => effects\"]`")]
    Example(String),
    /// An entry does not say what it does.
    #[error("`{0}` says nothing of what it does; write `effects = []` for a program without effects")]
    Silent(String),
    /// A selection that cannot be read.
    #[error(
        "`{0}` is not a selection; known are none, operands[:RANGE], option:NAMES, options:NAMES, variable:NAME, cwd[/NAME], path:PATH, text:TEXT"
    )]
    Selection(String),
    /// A condition that cannot be read.
    #[error(
        "`{0}` is not a condition; known are an option, OPTION=VALUE, operands, !operands, operands=VALUE, input, !input, shown, always"
    )]
    Condition(String),
    /// A word that should be an option.
    #[error("`{0}` is not an option; options begin with `-` or `+`")]
    Option(String),
    /// A run must say exactly one thing to run.
    #[error("a `runs` table names exactly one of words, text, file, code, input")]
    Run,
    /// A nature that takes from the weight of an effect, in an entry of a user.
    #[error(
        "`{}` makes an effect weigh less, which an entry of one's own cannot; leave it out, or use one of {}", .0.name(), stricter_natures()
    )]
    Relief(Nature),
    /// An entry of a user that vouches for what a file tells others to do.
    #[error("`keeps_text` makes a change weigh less, which an entry of one's own cannot; leave it out")]
    KeepsText,
    /// An example without the arrow.
    #[error("the example `{0}` has no `=>`")]
    Arrow(String),
}

impl SourceFile {
    /// Reads the text of a catalogue file; `file` is used in errors only.
    pub fn parse(text: &str, file: &str) -> Result<Self, CatalogueError> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let (line, column) = place_of(text, start);
            let problem = CatalogueProblem::Shape(error.message().to_owned());
            CatalogueError { file: file.to_owned(), line, column, problem }
        })
    }

    /// The compiled programs, in the order of the file, each once whatever its number of names.
    pub fn compile(&self, text: &str, file: &str, author: Author) -> Result<Vec<Program>, CatalogueError> {
        let compiler = Compiler { text, file, author };
        compiler.siblings(&self.program)?;
        self.program.iter().map(|entry| compiler.top(entry)).collect()
    }

    /// The variables that name what programs write, by the names of these programs.
    pub fn variables(
        &self,
        text: &str,
        file: &str,
    ) -> Result<BTreeMap<String, Vec<WrittenVariable>>, CatalogueError> {
        let mut all: BTreeMap<String, Vec<WrittenVariable>> = BTreeMap::new();
        for entry in &self.variable {
            let source = entry.get_ref();
            let fault = |problem| {
                let (line, column) = place_of(text, entry.span().start);
                CatalogueError { file: file.to_owned(), line, column, problem }
            };
            if source.names.is_empty() || source.programs.is_empty() {
                return Err(fault(CatalogueProblem::Nameless));
            }
            if let Some(bad) = source.programs.iter().find(|name| !is_name(name)) {
                return Err(fault(CatalogueProblem::Name(bad.clone())));
            }
            let variable = WrittenVariable {
                names: NameList::new(&source.names),
                when: source.when.iter().map(|text| Text::from(text.as_str())).collect(),
                needs_input: source.input,
                writes: source.writes,
                files: NameList::new(&source.files),
            };
            for program in &source.programs {
                all.entry(program.clone()).or_default().push(variable.clone());
            }
        }
        Ok(all)
    }
}

/// Who wrote a catalogue file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// This project.
    #[allow(dead_code, reason = "only the build script compiles the project's own files")]
    Project,
    /// A user, for their own machine.
    Person,
}

struct Compiler<'a> {
    text: &'a str,
    file: &'a str,
    author: Author,
}

impl Compiler<'_> {
    fn error<T>(&self, place: &Spanned<T>, problem: CatalogueProblem) -> CatalogueError {
        let (line, column) = place_of(self.text, place.span().start);
        CatalogueError { file: self.file.to_owned(), line, column, problem }
    }

    fn siblings(&self, entries: &[Spanned<SourceEntry>]) -> Result<(), CatalogueError> {
        let mut seen = std::collections::BTreeSet::new();
        for entry in entries {
            for name in &entry.get_ref().names {
                if !seen.insert(name.as_str()) {
                    return Err(self.error(entry, CatalogueProblem::Twice(name.clone())));
                }
            }
        }
        Ok(())
    }

    fn top(&self, entry: &Spanned<SourceEntry>) -> Result<Program, CatalogueError> {
        let source = entry.get_ref();
        let name = source.names.first().cloned().unwrap_or_default();
        if source.summary.is_empty() {
            return Err(self.error(entry, CatalogueProblem::Summary(name)));
        }
        if source.examples.is_empty() {
            return Err(self.error(entry, CatalogueProblem::Example(name)));
        }
        self.entry(entry)
    }

    fn entry(&self, entry: &Spanned<SourceEntry>) -> Result<Program, CatalogueError> {
        let source = entry.get_ref();
        let fault = |problem| self.error(entry, problem);
        let Some(first) = source.names.first() else {
            return Err(fault(CatalogueProblem::Nameless));
        };
        if let Some(bad) = source.names.iter().find(|name| !is_name(name)) {
            return Err(fault(CatalogueProblem::Name(bad.clone())));
        }
        if let Some(bad) = source.examples.iter().find(|line| !line.contains("=>")) {
            return Err(fault(CatalogueProblem::Arrow(bad.clone())));
        }
        for option in source.values.iter().chain(&source.attached).chain(&source.flags) {
            if !is_option_name(option) {
                return Err(fault(CatalogueProblem::Option(option.clone())));
            }
        }
        let speaks = source.effects.is_some()
            || source.semantics.is_some()
            || !source.runs.is_empty()
            || !source.subcommands.is_empty();
        if !speaks {
            return Err(fault(CatalogueProblem::Silent(first.clone())));
        }
        self.siblings(&source.subcommands)?;
        Ok(Program {
            names: NameList::new(&source.names),
            summary: Text::from(source.summary.as_str()),
            grammar: source.options,
            values: NameList::new(&source.values),
            attached: NameList::new(&source.attached),
            flags: NameList::new(&source.flags),
            other_options: source.other_options,
            clauses: source
                .effects
                .iter()
                .flatten()
                .map(|clause| self.clause(clause))
                .collect::<Result<_, _>>()?,
            semantics: source.semantics.as_deref().map(Text::from),
            runs: source.runs.iter().map(|run| self.run(entry, run)).collect::<Result<_, _>>()?,
            subcommands: source
                .subcommands
                .iter()
                .map(|sub| self.subcommand(sub))
                .collect::<Result<_, _>>()?,
            unknown: source.unknown.unwrap_or_default(),
            output: source.output,
            status: source.status,
            shows: source.shows,
            store: source.store,
        })
    }

    fn subcommand(&self, source: &Spanned<SourceEntry>) -> Result<Subcommand, CatalogueError> {
        let entry = self.entry(source)?;
        Ok(Subcommand { names: entry.names.clone(), entry: SubcommandEntry::Here(Box::new(entry)) })
    }

    fn clause(&self, clause: &Spanned<SourceClause>) -> Result<EffectClause, CatalogueError> {
        let source = clause.get_ref();
        Ok(EffectClause {
            kind: source.kind,
            target: self.selection(clause, source.target.as_deref().unwrap_or("none"))?,
            conditions: self.conditions(clause, [&source.when, &source.all, &source.unless])?,
            recursive: self.condition_list(clause, &source.recursive)?,
            certainty: source.certainty.unwrap_or(Certainty::Certain),
            severity: source.severity,
            reach: source.reach,
            reversible: source.reversible,
            nature: self.nature(source.nature.as_ref())?,
            keeps_text: self.keeps_text(source.keeps_text.as_ref())?,
            note: Text::from(source.note.as_str()),
        })
    }

    /// A user's entry may say what makes an effect weigh more, nothing that takes from it: it could be anybody's.
    fn nature(&self, nature: Option<&Spanned<Nature>>) -> Result<Nature, CatalogueError> {
        let Some(nature) = nature else { return Ok(Nature::Ordinary) };
        let said = *nature.get_ref();
        match (self.author, said.relief()) {
            (Author::Project, _) | (Author::Person, Relief::None) => Ok(said),
            (
                Author::Person,
                Relief::VersionControl
                | Relief::Rewritten
                | Relief::Absent
                | Relief::Elsewhere
                | Relief::Waived,
            ) => Err(self.error(nature, CatalogueProblem::Relief(said))),
        }
    }

    /// The same of what a changed file tells others to do: only what is written here is believed to leave it alone.
    fn keeps_text(&self, keeps: Option<&Spanned<bool>>) -> Result<bool, CatalogueError> {
        match (self.author, keeps) {
            (Author::Person, Some(keeps)) if *keeps.get_ref() => {
                Err(self.error(keeps, CatalogueProblem::KeepsText))
            }
            (Author::Project | Author::Person, keeps) => Ok(keeps.is_some_and(|keeps| *keeps.get_ref())),
        }
    }

    fn run(&self, entry: &Spanned<SourceEntry>, source: &SourceRun) -> Result<Run, CatalogueError> {
        type Make = fn(WordSelection) -> CommandSource;
        let named: [(&Option<String>, Make); 6] = [
            (&source.words, CommandSource::Words),
            (&source.text, CommandSource::Text),
            (&source.line, CommandSource::Line),
            (&source.file, CommandSource::File),
            (&source.code, CommandSource::Code),
            (&source.source, CommandSource::Source),
        ];
        let mut named = named.iter().filter_map(|(selection, make)| Some((selection.as_deref()?, make)));
        let what = match (named.next(), named.next(), source.input) {
            (Some((selection, make)), None, None) => make(self.selection(entry, selection)?),
            (None, None, Some(runner)) => CommandSource::Input(runner),
            _ => return Err(self.error(entry, CatalogueProblem::Run)),
        };
        Ok(Run {
            what,
            conditions: self.conditions(entry, [&source.when, &source.all, &source.unless])?,
            assignments: source.assignments,
            place: source.place,
            host: source.host.as_deref().map(|host| self.selection(entry, host)).transpose()?,
            times: source.times,
            clears: self.condition_list(entry, &source.clears)?,
            purifies: self.condition_list(entry, &source.purifies)?,
            changes: source.changes.as_deref().map(|changes| self.selection(entry, changes)).transpose()?,
        })
    }

    fn conditions<T>(&self, place: &Spanned<T>, lists: [&[String]; 3]) -> Result<Conditions, CatalogueError> {
        let [when, all, unless] = lists;
        Ok(Conditions {
            when: self.condition_list(place, when)?,
            all: self.condition_list(place, all)?,
            unless: self.condition_list(place, unless)?,
        })
    }

    fn condition_list<T>(
        &self,
        place: &Spanned<T>,
        list: &[String],
    ) -> Result<Vec<Condition>, CatalogueError> {
        list.iter()
            .map(|text| {
                condition(text).ok_or_else(|| self.error(place, CatalogueProblem::Condition(text.clone())))
            })
            .collect()
    }

    fn selection<T>(&self, place: &Spanned<T>, text: &str) -> Result<WordSelection, CatalogueError> {
        let picks: Option<Vec<Pick>> = text.split('|').map(|part| pick(part.trim())).collect();
        picks
            .map(WordSelection)
            .ok_or_else(|| self.error(place, CatalogueProblem::Selection(text.to_owned())))
    }
}

fn condition(text: &str) -> Option<Condition> {
    match text {
        "always" => return Some(Condition::Always),
        "operands" => return Some(Condition::Operands),
        "!operands" => return Some(Condition::NoOperands),
        "input" => return Some(Condition::Input),
        "!input" => return Some(Condition::NoInput),
        "shown" => return Some(Condition::Shown),
        _ => {}
    }
    if let Some(pattern) = text.strip_prefix("operands=") {
        return Some(Condition::Operand(Text::from(pattern)));
    }
    if !is_option(text) {
        return None;
    }
    Some(match text.split_once('=') {
        Some((name, value)) => Condition::Value(Text::from(name), Text::from(value)),
        None => Condition::Option(Text::from(text)),
    })
}

fn pick(text: &str) -> Option<Pick> {
    match text {
        "none" => return Some(Pick::None),
        "operands" => return Some(Pick::Operands(WordRange { from: 0, to: None })),
        "cwd" => return Some(Pick::Cwd(Text::default())),
        _ => {}
    }
    if let Some(range) = text.strip_prefix("operands:") {
        return range_of(range).map(Pick::Operands);
    }
    if let Some(names) = text.strip_prefix("option:") {
        return option_names(names).map(Pick::Option);
    }
    if let Some(names) = text.strip_prefix("options:") {
        return option_names(names).map(Pick::Options);
    }
    if let Some(name) = text.strip_prefix("variable:") {
        return Some(Pick::Variable(Text::from(name)));
    }
    if let Some(name) = text.strip_prefix("cwd/") {
        return Some(Pick::Cwd(Text::from(name)));
    }
    if let Some(word) = text.strip_prefix("behind:") {
        return Some(Pick::Behind(Text::from(word)));
    }
    if let Some(rest) = text.strip_prefix("below:") {
        let (name, inner) = rest.split_once(':')?;
        return pick(inner).map(|inner| Pick::Below(Text::from(name), Box::new(inner)));
    }
    if let Some(rest) = text.strip_prefix("setting:") {
        let (options, key) = rest.split_once('=')?;
        return option_names(options).map(|options| Pick::Setting(options, Text::from(key)));
    }
    if let Some(path) = text.strip_prefix("path:") {
        return (path.starts_with('/') || path.starts_with('~')).then(|| Pick::Path(Text::from(path)));
    }
    text.strip_prefix("text:").map(|text| Pick::Text(Text::from(text)))
}

fn range_of(text: &str) -> Option<WordRange> {
    let Some((from, to)) = text.split_once("..") else {
        let index: i32 = text.parse().ok()?;
        // `-1` is the last: the range ends at the end, which no number from the front can say.
        let to = if index == -1 { None } else { Some(index.checked_add(1)?) };
        return Some(WordRange { from: index, to });
    };
    let from = if from.is_empty() { 0 } else { from.parse().ok()? };
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    Some(WordRange { from, to })
}

fn option_names(text: &str) -> Option<NameList> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    names.iter().all(|name| is_option_name(name)).then(|| NameList::new(&names))
}

fn is_option(text: &str) -> bool {
    text.len() > 1 && (text.starts_with('-') || text.starts_with('+'))
}

/// An option by itself; a condition may go on with `=` and any text.
fn is_option_name(text: &str) -> bool {
    is_option(text) && !text.contains(char::is_whitespace)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c == '/' || c.is_whitespace())
}

/// The line and the column of an offset, both from 1.
fn place_of(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before.get(start..).unwrap_or_default().chars().count() + 1)
}

/// The natures that an entry of a user may name, as an error tells them.
fn stricter_natures() -> String {
    let stricter = Nature::ALL.into_iter().filter(|nature| nature.relief() == Relief::None);
    let names: Vec<&str> = stricter.map(Nature::name).collect();
    names.join(", ")
}
