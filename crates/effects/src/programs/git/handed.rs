//! Programs that git hands names of files to: a pager for what `grep` found, a tool for differences, a program for mails; and files that it writes instead of printing.

use crate::interpreter::{Input, ShellProgram, Value};
use crate::world::VersionState;

use super::options::Words;
use super::tree::{self, Found, NAMED};
use super::{Git, settings};

/// Options of `git send-email` that are commands (git-send-email(1), "OPTIONS").
const MAIL_COMMANDS: &[&str] = &["--to-cmd", "--cc-cmd", "--header-cmd", "--sendmail-cmd"];

impl Git<'_, '_> {
    /// Runs shell text as git runs it: with what it is handed behind it.
    pub(super) fn run_with(&mut self, text: &Value, handed: &[Value]) {
        let whole = text.followed_by(&Value::exact(" \"$@\""));
        let name = Value::exact("git");
        self.machine.possibly(|machine| {
            machine.run_text_with(ShellProgram::Either, &whole, &name, handed, Input::Inherited)
        });
    }

    /// Runs shell text with tracked files of the work tree behind it: those that these words choose, or any.
    pub(super) fn run_with_files(&mut self, text: &Value, chosen: &[Value]) {
        let handed = self.tracked_among(chosen);
        self.run_with(text, &handed);
    }

    /// The tracked files that words choose; where they are too many, what stands for them.
    fn tracked_among(&self, chosen: &[Value]) -> Vec<Value> {
        const TRACKED: [VersionState; 2] = [VersionState::TrackedClean, VersionState::TrackedModified];
        let all = |root: &str| Value::Glob(format!("{}/**", root.trim_end_matches('/')));
        let Some(start) = self.cwd.clone().filter(|_| self.is_natural()) else { return vec![Value::Unknown] };
        let patterns: Option<Vec<&str>> = chosen.iter().map(Value::as_exact).collect();
        match (tree::files(&self.known(), std::slice::from_ref(&start), &TRACKED), patterns) {
            (Found::All(files), Some(patterns)) => {
                let fits = |name: &str| {
                    patterns.is_empty()
                        || patterns.iter().any(|pattern| super::listing::matches_pathspec(pattern, name))
                };
                let files: Vec<Value> = files
                    .iter()
                    .filter(|file| file.relative_to(&start).is_some_and(fits))
                    .map(|file| Value::exact(file.as_str()))
                    .collect();
                if files.len() > NAMED { vec![all(start.as_str())] } else { files }
            }
            (Found::All(_) | Found::Unclear, _) => vec![all(start.as_str())],
        }
    }

    /// Runs the program that `git grep` opens what it found with.
    pub(super) fn open_found(&mut self, words: &Words) {
        // The first operand is what is looked for, unless an option says it.
        let has_pattern = words.any(&["-e", "-f"]);
        let chosen = words.operands_from(usize::from(!has_pattern)).to_vec();
        for pager in words.arguments.values(&["-O", "--open-files-in-pager"]).cloned().collect::<Vec<_>>() {
            let harmless =
                pager.as_exact().is_some_and(|text| settings::is_harmless_program("core.pager", text));
            if !harmless {
                self.run_with_files(&pager, &chosen);
            }
        }
    }

    /// Runs the commands that `git send-email` asks for addresses, for headers, and to send.
    pub(super) fn run_mail_commands(&mut self, words: &Words) {
        for command in words.arguments.values(MAIL_COMMANDS).cloned().collect::<Vec<_>>() {
            self.run_with(&command, &[Value::Unknown]);
        }
        // A path in the place of a host is a program.
        for server in words.arguments.values(&["--smtp-server"]).cloned().collect::<Vec<_>>() {
            if server.known_start().starts_with('/') {
                let program = [server, Value::exact("-i"), Value::Unknown];
                self.machine.possibly(|machine| machine.run_words(&program, Input::Inherited));
            }
        }
    }

    /// Writes the files that a subcommand which prints is told to write instead: all that show differences take `--output`
    /// (git-diff(1); tried with git 2.47).
    pub(super) fn write_output(&mut self, name: &str, words: &Words) {
        const DIFFERENCES: &[&str] = &[
            "log",
            "show",
            "diff",
            "stash",
            "reflog",
            "whatchanged",
            "diff-tree",
            "diff-index",
            "diff-files",
            "diff-pairs",
            "range-diff",
            "shortlog",
            "format-patch",
            "rev-list",
        ];
        if DIFFERENCES.contains(&name) {
            let output: Vec<Value> = words.arguments.values(&["--output"]).cloned().collect();
            self.write_all(&output);
        }
        if name == "mailinfo" {
            self.write_all(words.operands().get(..2).unwrap_or_default());
        }
    }
}
