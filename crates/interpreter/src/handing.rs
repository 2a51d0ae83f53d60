//! Settings that a substitution hands over to a command which shows nothing of them: `export $(grep -v '^#' .env | xargs)`.

use checkrein_shell::{Block, Command, Part, PipelineStage, Simple, Word};

use crate::path::AbsolutePath;
use crate::places;
use crate::world::Entry;

use super::machine::Machine;
use super::sweeps::{Remainder, written};
use super::told_words::{DECLARING, is_quiet};
use super::value::Value;

/// What takes remarks out of a list of settings, and empty lines, as a script of `sed`.
const REMARKS: &[&str] =
    &["s/#.*//", "s/#.*//g", "s/#.*$//", "/^#/d", "/^$/d", "/^\\s*#/d", "/^[[:space:]]*#/d"];

/// A file of settings that a substitution gives.
struct Handed {
    name: String,
    remarks: Remarks,
}

/// What becomes of the remarks in a list of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remarks {
    /// They are given like the settings.
    Given,
    /// They are left out.
    LeftOut,
}

impl Machine<'_> {
    /// Notes, when the substitutions of a command only hand settings of a file over to it, that nothing of these is shown.
    /// Answers the file, of which the shell holds the settings then.
    pub(super) fn note_handed(&mut self, simple: &Simple) -> Option<String> {
        let files = handed_over(simple).unwrap_or_default();
        let paths: Vec<_> = files
            .iter()
            .filter_map(|file| {
                Some((self.one_path_through(&Value::exact(file.name.as_str()))?, file.remarks))
            })
            .collect();
        let is_plain = |(path, remarks): &(AbsolutePath, Remarks)| {
            // What is not there is taken for a list of settings, by its name.
            if self.entry(path) == Entry::Missing && !self.tree.is_known(path) {
                return true;
            }
            // A word of a remark would be told as one that is no name; so would a part of a value with blanks.
            self.text(path).as_exact().is_some_and(|text| {
                text.lines()
                    .filter(|line| *remarks == Remarks::Given || !line.starts_with('#'))
                    .all(|line| !line.trim().contains(char::is_whitespace) && !line.contains(['$', '`', '#']))
            })
        };
        let is_handed = !paths.is_empty() && paths.len() == files.len() && paths.iter().all(is_plain);
        let name = simple.words.first().and_then(written).unwrap_or_default();
        let is_shadowed = self.shell.functions.contains_key(&name) || self.shell.aliases.contains_key(&name);
        // A test and a declaration complain of a word that is not what they want, and its text is not known yet.
        let complains = matches!(name.as_str(), "[" | "test") || DECLARING.contains(&name.as_str());
        let is_use = is_declaration(simple) || !complains && is_quiet(&name, &[]);
        self.flow.sweep.handed = if is_handed {
            Remainder::Names
        } else if is_use && !is_shadowed && !self.flow.shows_commands {
            Remainder::Held
        } else {
            Remainder::Anything
        };
        paths.first().filter(|_| is_handed).map(|(path, _)| path.as_str().to_owned())
    }
}

impl Machine<'_> {
    /// Runs what gets the settings of a file that the substitutions of the running command hand over; answers the work itself where they do
    /// something else.
    pub fn with_settings_handed_over<T, W: FnOnce(&mut Self) -> T>(&mut self, work: W) -> Result<T, W> {
        let Some(place) = self.call.settings.take() else { return Err(work) };
        let is_new = self.flow.settings_held.insert(place.clone());
        let answer = work(self);
        if is_new {
            self.flow.settings_held.remove(&place);
        }
        Ok(answer)
    }
}

/// Whether a command gives variables values, and a word that is none cannot be told as one.
pub(super) fn is_declaration(simple: &Simple) -> bool {
    let sets = |word: &Word| match word.parts.first() {
        Some(Part::Literal(text)) => text.starts_with('-') || text.contains('='),
        _ => false,
    };
    simple.written_name().is_some_and(|name| DECLARING.contains(&name))
        && simple.words.iter().skip(1).all(sets)
}

/// The files of settings that the substitutions of a command hand over, where that is all they do.
fn handed_over(simple: &Simple) -> Option<Vec<Handed>> {
    let (first, rest) = simple.words.split_first()?;
    let takes = match written(first)?.as_str() {
        "export" => rest,
        // Behind the settings stands the program that gets them.
        "env" if rest.last().and_then(written).is_some_and(|word| !word.contains('=')) => {
            rest.split(|word| written(word).is_some()).next().unwrap_or_default()
        }
        _ => return None,
    };
    if takes.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    let mut files = Vec::new();
    for word in takes {
        let [Part::CommandSubstitution(block)] = word.parts.as_slice() else { return None };
        files.push(file_of(block)?);
    }
    Some(files)
}

/// The file of settings whose lines a substitution gives.
fn file_of(block: &Block) -> Option<Handed> {
    let [statement] = block.as_slice() else { return None };
    let stages: Vec<&Simple> = match &statement.command {
        Command::Simple(simple) => vec![simple],
        Command::Pipeline(pipeline) => pipeline.stages.iter().map(simple).collect::<Option<_>>()?,
        _ => return None,
    };
    let mut file = None;
    let mut remarks = Remarks::Given;
    for stage in stages {
        if !stage.redirects.is_empty() || !stage.assignments.is_empty() {
            return None;
        }
        let words: Vec<String> = stage.words.iter().map(written).collect::<Option<_>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let rest = match words.as_slice() {
            ["cat", rest @ ..] => rest,
            ["grep" | "egrep", "-v" | "-Ev" | "-vE", pattern, rest @ ..] => {
                if pattern.contains('#') {
                    remarks = Remarks::LeftOut;
                }
                rest
            }
            ["sed", rest @ ..] => {
                let is_option = |word: &&str| matches!(*word, "-e" | "-E" | "-r");
                let rest = rest.get(usize::from(rest.first().is_some_and(is_option))..)?;
                let (script, rest) = rest.split_first()?;
                if !script.split(';').all(|edit| REMARKS.contains(&edit.trim())) {
                    return None;
                }
                if script.contains('#') {
                    remarks = Remarks::LeftOut;
                }
                rest
            }
            ["xargs"] | ["xargs", "-0" | "-d\\n" | "-L1" | "-n1"] | ["xargs", "-d", "\\n"] => &[],
            _ => return None,
        };
        match rest {
            [] => {}
            [only] if file.is_none() => file = Some((*only).to_owned()),
            _ => return None,
        }
    }
    let name = file.filter(|file| places::environment_file(file.rsplit('/').next().unwrap_or(file)))?;
    Some(Handed { name, remarks })
}

fn simple(stage: &PipelineStage) -> Option<&Simple> {
    match &stage.command {
        Command::Simple(simple) => Some(simple),
        _ => None,
    }
}
