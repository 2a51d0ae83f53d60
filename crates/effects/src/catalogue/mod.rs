//! The built-in catalogue of commands, and what an entry says about one call.
//!
//! | module | holds |
//! |---|---|
//! | `words` | words sorted into options and operands |
//! | `evaluate` | what an entry says about one call |
//!
//! The built-in entries are compiled by the build script into one blob with a sorted index; a program is decoded only
//! when a command names it, and a subcommand only when it is called.

use std::borrow::Cow;

mod evaluate;
mod words;

use checkrein_catalogue::{Program, SubcommandEntry, UserCatalogue, WrittenVariable};
use checkrein_interpreter::{Call, Exit, Machine, Programs};

#[allow(clippy::unreadable_literal)]
mod built_in {
    include!(concat!(env!("OUT_DIR"), "/catalogue_index.rs"));
}

/// The entry for a program: of the user, else built in; under its name, else under its name without a version
/// (`python3.11`, `gcc-13`).
pub(crate) fn find<'a>(name: &str, user: &'a UserCatalogue) -> Option<Cow<'a, Program>> {
    let exact = |name: &str| match user.entry(name) {
        Some(program) => Some(Cow::Borrowed(program)),
        None => built_in_entry(name).map(Cow::Owned),
    };
    let (name, bare) = names_of(name);
    exact(name).or_else(|| exact(bare?))
}

/// The name of a program without what says how its file is run, and without a version where it has one.
fn names_of(name: &str) -> (&str, Option<&str>) {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    (name, Some(bare).filter(|bare| !bare.is_empty() && *bare != name))
}

/// The built-in catalogue, as the interpreter asks it.
pub(crate) struct BuiltIn;

impl Programs for BuiltIn {
    fn entry<'a>(&self, name: &str, user: &'a UserCatalogue) -> Option<Cow<'a, Program>> {
        find(name, user)
    }

    fn run(&self, machine: &mut Machine<'_>, program: &Program, call: Call) -> Exit {
        evaluate::run(machine, program, call)
    }

    fn follow_by_custom(&self, machine: &mut Machine<'_>, call: &Call) {
        crate::programs::loaded_by_custom(machine, call);
        crate::programs::own_languages(machine, call);
        crate::programs::handed_input(machine, call);
    }

    fn is_read_through(&self, name: &str) -> bool {
        is_read_through(name)
    }

    fn variables(&self, name: &str, user: &UserCatalogue) -> Vec<WrittenVariable> {
        let (name, bare) = names_of(name);
        let mut all = built_in_variables(name);
        if let (true, Some(bare)) = (all.is_empty(), bare) {
            all = built_in_variables(bare);
        }
        all.extend_from_slice(user.variables(name));
        all
    }
}

/// The entry of a subcommand.
fn entry_of(entry: &SubcommandEntry) -> Option<Cow<'_, Program>> {
    match entry {
        SubcommandEntry::Here(program) => Some(Cow::Borrowed(program)),
        SubcommandEntry::BuiltIn(start, end) => decode(*start, *end).map(Cow::Owned),
    }
}

/// The names of all built-in programs, sorted.
pub fn program_names() -> impl Iterator<Item = &'static str> {
    built_in::INDEX.iter().map(|(name, ..)| *name)
}

/// Whether everything that a program does to files is read from its words: builtins of the shell, and the families of the built-in
/// catalogue that say all of it. What others do, builds and tests and packages and interpreters and unknown ones, is known in part.
pub fn is_read_through(program: &str) -> bool {
    crate::interpreter::builtins::is_built_in(program)
        || built_in_row(program).is_some_and(|(_, _, _, is_read_through)| *is_read_through)
}

fn built_in_row(name: &str) -> Option<&'static (&'static str, u32, u32, bool)> {
    let place = built_in::INDEX.binary_search_by(|(known, ..)| (*known).cmp(name)).ok()?;
    built_in::INDEX.get(place)
}

fn built_in_entry(name: &str) -> Option<Program> {
    let (_, start, end, _) = built_in_row(name)?;
    decode(*start, *end)
}

fn built_in_variables(name: &str) -> Vec<WrittenVariable> {
    let place = built_in::VARIABLES.binary_search_by(|(known, ..)| (*known).cmp(name)).ok();
    let row = place.and_then(|place| built_in::VARIABLES.get(place));
    row.and_then(|(_, start, end)| decode(*start, *end)).unwrap_or_default()
}

fn decode<T: serde::Deserialize<'static>>(start: u32, end: u32) -> Option<T> {
    let bytes = built_in::BLOB.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?;
    postcard::from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nature::{Nature, Relief};

    #[test]
    fn every_built_in_entry_decodes_and_names_its_handler() {
        for name in program_names() {
            let program = built_in_entry(name).unwrap_or_else(|| panic!("`{name}` does not decode"));
            assert!(program.names.contains(name));
            let mut stack = vec![program];
            while let Some(entry) = stack.pop() {
                if let Some(semantics) = &entry.semantics {
                    assert!(
                        crate::programs::handler(semantics).is_some(),
                        "`{name}` asks for the handler `{semantics}`"
                    );
                }
                for sub in &entry.subcommands {
                    let decoded = entry_of(&sub.entry)
                        .unwrap_or_else(|| panic!("a subcommand of `{name}` does not decode"));
                    assert_eq!(decoded.names, sub.names);
                    stack.push(decoded.into_owned());
                }
            }
        }
    }

    #[test]
    fn every_program_with_variables_is_known() {
        for (program, ..) in built_in::VARIABLES {
            assert!(!built_in_variables(program).is_empty(), "the variables of `{program}` do not decode");
            assert!(built_in_entry(program).is_some(), "`{program}` is not in the catalogue");
        }
        assert!(built_in_variables("no-such-program").is_empty());
    }

    #[test]
    fn names_are_found_with_versions() {
        let user = UserCatalogue::default();
        assert!(find("python3.11", &user).unwrap().names.contains("python"));
        assert!(find("md5sum", &user).is_some());
        assert_eq!(find("no-such-program", &user), None);
        assert_eq!(find("7", &user), None);
    }

    #[test]
    fn what_runs_code_is_not_read_through() {
        for program in ["ls", "rm", "cd", "[[", "git", "sed", "xargs", "sh", "kubectl"] {
            assert!(is_read_through(program), "{program}");
        }
        for program in
            ["cargo", "make", "npx", "python3", "gcc", "tsc", "prettier", "unheard-of", "./wipe", ""]
        {
            assert!(!is_read_through(program), "{program}");
        }
    }

    #[test]
    fn user_entries_have_subcommands_too() {
        let text = "[[program]]\nnames = [\"ours\"]\nsummary = \"is ours\"\nexamples = [\"ours =>\"]\n[[program.subcommands]]\nnames = [\"up\", \"start\"]\neffects = []\n";
        let user = UserCatalogue::parse(text, "mine.toml").unwrap();
        let ours = find("ours", &user).unwrap();
        let up = ours.subcommands.iter().find(|sub| sub.names.contains("start")).unwrap();
        assert_eq!(entry_of(&up.entry).unwrap().names.iter().collect::<Vec<_>>(), ["up", "start"]);
        assert!(!up.names.contains(""));
    }

    #[test]
    fn user_entries_replace_built_in_ones() {
        let text = "[[program]]\nnames = [\"rm\"]\nsummary = \"does nothing here\"\neffects = []\nexamples = [\"rm x =>\"]\n";
        let user = UserCatalogue::parse(text, "mine.toml").unwrap();
        assert!(find("rm", &user).unwrap().clauses.is_empty());
    }

    #[test]
    fn user_entries_can_say_what_is_graver_and_nothing_that_takes_from_a_stake() {
        let entry = |nature: Nature| {
            let name = nature.name();
            format!(
                "[[program]]\nnames = [\"ours\"]\nsummary = \"is ours\"\nexamples = [\"ours =>\"]\neffects = [{{ kind = \"file_delete\", nature = \"{name}\" }}]\n"
            )
        };
        for nature in Nature::ALL {
            let read = UserCatalogue::parse(&entry(nature), "mine.toml");
            match nature.relief() {
                Relief::None => {
                    let user = read.unwrap();
                    assert_eq!(find("ours", &user).unwrap().clauses[0].nature, nature);
                }
                Relief::VersionControl
                | Relief::Rewritten
                | Relief::Absent
                | Relief::Elsewhere
                | Relief::Waived => {
                    let fault = read.unwrap_err().to_string();
                    assert!(
                        fault.starts_with(&format!(
                            "mine.toml:5:45: `{}` makes an effect weigh less",
                            nature.name()
                        )),
                        "{fault}"
                    );
                }
            }
        }
    }

    #[test]
    fn user_entries_cannot_vouch_for_the_text_of_a_file() {
        let entry = |keeps: &str| {
            format!(
                "[[program]]\nnames = [\"ours\"]\nsummary = \"is ours\"\nexamples = [\"ours =>\"]\neffects = [{{ kind = \"file_modify\", keeps_text = {keeps} }}]\n"
            )
        };
        let fault = UserCatalogue::parse(&entry("true"), "mine.toml").unwrap_err().to_string();
        assert!(fault.starts_with("mine.toml:5:") && fault.contains("`keeps_text`"), "{fault}");
        assert!(
            !find("ours", &UserCatalogue::parse(&entry("false"), "mine.toml").unwrap()).unwrap().clauses[0]
                .keeps_text
        );
    }

    #[test]
    fn errors_say_where_and_what() {
        let fault = |text: &str| UserCatalogue::parse(text, "mine.toml").unwrap_err().to_string();
        let head = "[[program]]\nnames = [\"x\"]\nsummary = \"s\"\nexamples = [\"x =>\"]\n";
        assert_eq!(
            fault(&format!("{head}effects = [{{ kind = \"file_delete\", target = \"operand\" }}]\n")),
            "mine.toml:5:12: `operand` is not a selection; known are none, operands[:RANGE], option:NAMES, options:NAMES, variable:NAME, cwd[/NAME], path:PATH, text:TEXT"
        );
        assert!(fault(&format!("{head}efects = []\n")).starts_with("mine.toml:5:1: unknown field `efects`"));
        assert!(
            fault(&format!("{head}runs = {{ word = \"operands\" }}\n"))
                .starts_with("mine.toml:5:10: unknown field `word`")
        );
        let nature = |word: &str| {
            fault(&format!("{head}effects = [\n  {{ kind = \"file_delete\", nature = \"{word}\" }},\n]\n"))
        };
        let unknown = nature("movd");
        assert!(
            unknown.starts_with("mine.toml:6:36: unknown variant `movd`, expected one of `ordinary`"),
            "{unknown}"
        );
        assert!(fault(head).contains("says nothing of what it does"));
        assert!(
            fault(&format!("{head}values = [\"-a -b\"]\neffects = []\n"))
                .contains("`-a -b` is not an option")
        );
        assert!(
            fault("[[program]]\nnames = [\"x\"]\neffects = []\n")
                .contains("mine.toml:1:1: `x` has no summary")
        );
    }
}
