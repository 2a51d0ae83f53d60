//! Substitutions: the output of commands as text, and as a file.

use checkrein_shell::Block;

use crate::call::Input;
use crate::effect::EffectKind;
use crate::exit::Output;
use crate::machine::Machine;
use crate::path::AbsolutePath;
use crate::sweeps::Remainder;
use crate::value::Value;

impl Machine<'_> {
    /// The text that a command substitution becomes: its output without the newlines at the end.
    pub(crate) fn substitute(&mut self, block: &Block) -> Value {
        if self.budget.scanning > 0 {
            return Value::Unknown;
        }
        if self.call.failed && self.position.unsure == 0 {
            // Behind an error in the same word nothing of it is expanded any more, unless there was none.
            return self.possibly(|machine| machine.substitute(block));
        }
        self.budget.substitutions += 1;
        if let Some(value) = self.file_of(block) {
            return value;
        }
        // In bash a substitution is not ended by a failure in it, whatever the shell around it is told; in others it is.
        let options = self.shell.options;
        self.shell.options.errexit = false;
        self.shell.options.inherited_errexit |= options.errexit;
        let conditions = std::mem::take(&mut self.position.conditions);
        self.position.outer_conditions += conditions;
        let handed = std::mem::replace(&mut self.flow.sweep.handed, Remainder::Anything);
        let left = std::mem::replace(&mut self.flow.sweep.left, handed);
        let before = self.effect_count();
        let done = self.captured(|machine| machine.run_subshell(block));
        self.flow.sweep.handed = handed;
        self.flow.sweep.left = left;
        self.position.outer_conditions -= conditions;
        self.position.conditions = conditions;
        self.shell.options = options;
        // What it would print otherwise is not known.
        self.unseen += usize::from(self.absent.is_some());
        self.remember_status(done.status);
        match done.output {
            Output::Nothing => Value::exact(""),
            Output::Text(value) => {
                // Whose words these are matters where they are sent, whatever they are.
                let own = self.own_file_read_since(before).filter(|_| value.as_exact() != Some(""));
                self.call.substituted.extend(own.map(|path| Output::Local(path.as_str().to_owned())));
                without_newlines(value)
            }
            other => {
                self.note_captured(&other);
                self.call.substituted.push(other);
                Value::Unknown
            }
        }
    }

    /// The file of the user that was read since there were `before` effects: in the home directory, not hidden, and not of the project.
    fn own_file_read_since(&self, before: usize) -> Option<AbsolutePath> {
        let place = self.world().place();
        let is_own = |path: &&AbsolutePath| {
            let relative = path.relative_to(&place.home);
            relative.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('.'))
                && !path.is_within(&place.workspace)
                && !place.is_temporary(path)
        };
        let read = self.effects_since(before).filter(|effect| effect.kind == EffectKind::FileRead);
        read.filter_map(|effect| effect.target.path()).find(is_own).cloned()
    }

    /// The text of a file that is all of a substitution: `$(<file)`.
    fn file_of(&mut self, block: &Block) -> Option<Value> {
        let [statement] = block.as_slice() else { return None };
        let checkrein_shell::Command::Simple(simple) = &statement.command else { return None };
        if !simple.words.is_empty() || !simple.assignments.is_empty() {
            return None;
        }
        let [redirect] = simple.redirects.as_slice() else { return None };
        let (None, checkrein_shell::RedirectOperation::Read(word)) =
            (&redirect.descriptor, &redirect.operation)
        else {
            return None;
        };
        let file = self.expand_text(word);
        let output = self.read(&file);
        self.shell.last_status = crate::exit::Status::Open;
        Some(match output {
            Output::Nothing => Value::exact(""),
            Output::Text(value) => without_newlines(value),
            other => {
                self.note_captured(&other);
                self.call.substituted.push(other);
                Value::Unknown
            }
        })
    }

    /// The path that a process substitution becomes.
    pub(super) fn process_substitution(
        &mut self,
        direction: checkrein_shell::Direction,
        block: &Block,
    ) -> Value {
        self.note_reader();
        if self.budget.scanning > 0 {
            return Value::Unknown;
        }
        let path = format!("/dev/fd/{}", 63_usize.saturating_add(self.flow.ends.len()));
        match direction {
            checkrein_shell::Direction::Read => {
                let shown = self.flow.commits_shown;
                let done = self.captured(|machine| machine.run_subshell(block));
                if self.flow.commits_shown > shown {
                    self.flow.committed_ends.insert(path.clone());
                }
                self.flow.ends.insert(path.clone(), done.output);
            }
            checkrein_shell::Direction::Write => {
                // What the command passes on is what it reads; what else it writes is not known.
                let passed = match self.input.clone() {
                    Input::Inherited => Input::Unknown,
                    other => other,
                };
                let outer = std::mem::replace(&mut self.input, passed);
                self.run_subshell(block);
                self.input = outer;
                self.flow.ends.insert(path.clone(), Output::Nothing);
            }
        }
        Value::Exact(path)
    }
}

/// The value without the newlines at its end.
pub(crate) fn without_newlines(value: Value) -> Value {
    // Null bytes are left out on the way.
    let cut = |text: &String| text.replace('\0', "").trim_end_matches('\n').to_owned();
    match value {
        Value::Exact(text) => Value::Exact(cut(&text)),
        Value::AnyOf(texts) => Value::one_of(texts.iter().map(cut).collect()),
        Value::Between { prefix, suffix } => {
            let suffix = cut(&suffix);
            if prefix.is_empty() && suffix.is_empty() {
                Value::Unknown
            } else {
                Value::Between { prefix, suffix }
            }
        }
        Value::Glob(pattern) => Value::Glob(cut(&pattern)),
        Value::Unknown => value,
    }
}
