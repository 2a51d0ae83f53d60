//! The list of an interactive rebase (git-rebase(1), "INTERACTIVE MODE"): what the editor that the command names leaves in it, git carries out.

use crate::effect::{Certainty, EffectKind, Target};
use crate::interpreter::{Input, ShellProgram, Value};
use crate::nature::Nature;

use super::Git;
use super::options::Words;

/// A list as git writes it before the editor opens it, with more commits than most commands choose.
const LIST: &str = "pick 1111111 one\npick 2222222 two\npick 3333333 three\npick 4444444 four\n\
                    pick 5555555 five\npick 6666666 six\npick 7777777 seven\npick 8888888 eight\n";

impl Git<'_, '_> {
    /// Runs the commands that the editor of the command itself may have written into the list.
    pub(super) fn follow_rebase_list(&mut self, words: &Words) {
        if !words.any(&["-i", "--interactive", "--edit-todo"]) {
            return;
        }
        let editor = ["sequence.editor", "core.editor"].iter().find_map(|key| self.settings.given_value(key));
        let (Some(editor), Some(directory)) = (editor, self.repository_directory()) else { return };
        // git has it one directory further in, which it makes and takes away again.
        let list = directory.join("git-rebase-todo");
        self.machine.remember_written(&Target::Path(list.clone()), Value::exact(LIST));
        let before = self.machine.effect_count();
        // Taken as run, so that what it leaves is known; whether git comes so far is not.
        let line = editor.followed_by(&Value::exact(" \"$1\""));
        let handed = [Value::exact(list.as_str())];
        let name = Value::exact("git");
        self.machine.run_text_with(ShellProgram::Either, &line, &name, &handed, Input::Inherited);
        let own = Target::Path(directory);
        self.machine.amend(before, |effect| {
            effect.certainty = Certainty::Possible;
            if effect.target.path() == Some(&list) {
                effect.kind = EffectKind::FileModify;
                effect.target = own.clone();
                effect.nature = Nature::KeptByVersionControl;
            }
        });
        let text = self.machine.text(&list);
        let Some(texts) = text.alternatives().map(<[String]>::to_vec) else {
            self.machine.opaque("what the editor leaves in the list of the rebase is not known");
            return;
        };
        let lines = texts.iter().flat_map(|text| text.lines());
        let commands = lines.filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("exec ").or_else(|| line.strip_prefix("x "))
        });
        for command in commands {
            let command = Value::exact(command);
            self.machine.possibly(|machine| machine.run_text(&command, Input::Inherited));
        }
    }
}
