//! What functions about files and directories do.

use super::super::evaluator::{Evaluator, Given};
use super::super::value::ScriptValue;
use crate::effect::Depth;
use crate::interpreter::{Input, Value};
use crate::programs::files;

impl Evaluator<'_, '_, '_> {
    pub(super) fn perform_delete(&mut self, depth: Depth, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        for item in self.paths_given(given) {
            self.delete(&item, depth);
        }
        unknown
    }

    pub(super) fn perform_delete_first(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let depth = if given.is_on("recursive") { Depth::Recursive } else { Depth::Single };
        for item in given.at(0).items() {
            self.delete(&item.value(), depth);
        }
        unknown
    }

    pub(super) fn perform_write(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let (path, text) = (given.at(0).value(), given.at(1));
        let flag = given
            .named("flag")
            .or_else(|| given.named("mode"))
            .and_then(ScriptValue::exact)
            .unwrap_or_default();
        let appends = flag.starts_with('a')
            || matches!(given.positional.get(2), Some(ScriptValue::Name(name)) if name.contains("APPEND"));
        if appends {
            self.append_text(&path, &text);
        } else {
            self.write(&path, &text);
        }
        unknown
    }

    pub(super) fn perform_write_second(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let path = given.at(1).value();
        self.write(&path, &unknown);
        unknown
    }

    pub(super) fn perform_append(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let path = given.at(0).value();
        self.append_text(&path, &given.at(1));
        unknown
    }

    pub(super) fn perform_touch(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        for path in self.paths_given(given) {
            self.act(|machine| machine.touch(&path));
        }
        unknown
    }

    pub(super) fn perform_make_directory(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let path = given.at(0).value();
        self.act(|machine| machine.make_directory(&path));
        unknown
    }

    pub(super) fn perform_move(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        // The functions of libraries move into a directory that is there, those of the system put one name in the place of another.
        let inside = ["shutil.move", "FileUtils.mv", "FileUtils.move", "File::Copy::move"].contains(&name);
        self.transfer(files::mv, "mv", given, if inside { &["-f"] } else { &["-f", "-T"] });
        unknown
    }

    pub(super) fn perform_copy(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let plain = name.trim_end_matches("Sync");
        let over =
            ["copytree", "copy_tree", "fs.cp", "fs.copy", "dircopy"].iter().any(|end| plain.ends_with(end));
        let mut options = vec!["-r", "-f"];
        if over {
            options.push("-T");
        }
        // What a tree is copied by may give second names instead.
        let by = given.named("copy_function").or_else(|| given.positional.get(4));
        if ["cp_lr", "link_entry"].iter().any(|end| plain.ends_with(end))
            || plain == "shutil.copytree" && matches!(by, Some(ScriptValue::Name(by)) if by == "os.link")
        {
            options.push("-l");
        }
        self.transfer(files::cp, "cp", given, &options);
        unknown
    }

    pub(super) fn perform_link(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let (to, at) = (given.at(0).value(), given.at(1).value());
        if matches!(
            name.trim_end_matches("Sync"),
            "os.link"
                | "fs.link"
                | "link"
                | "ln"
                | "File.link"
                | "FileUtils.ln"
                | "FileUtils.link"
                | "Deno.link"
        ) {
            self.act(|machine| machine.second_name(&to));
        }
        self.act(|machine| machine.make_link(&at, &to));
        unknown
    }

    pub(super) fn perform_copied_mode(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let (from, to) = (given.at(0).value(), given.at(1).value());
        let rights = files::of_place(self.machine, &from).unwrap_or(files::Rights::Taken);
        self.give_rights(&to, Some(rights));
        unknown
    }

    pub(super) fn perform_mode(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let path = given.at(0).value();
        self.change_rights(name, &path, given.positional.get(1));
        unknown
    }

    pub(super) fn perform_mode_of_rest(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let skipped = usize::from(name.contains("chown"));
        for item in given.positional.iter().skip(1 + skipped).flat_map(ScriptValue::items) {
            let path = item.value();
            self.change_rights(name, &path, given.positional.first());
        }
        unknown
    }

    pub(super) fn perform_unpack(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let archive = given.at(0).value();
        let directory = given.positional.get(1).map_or_else(|| Value::exact("."), ScriptValue::value);
        self.act(|machine| {
            crate::programs::archives::unpack_from(
                machine,
                Some(&archive),
                &directory,
                crate::programs::archives::Names::Without(0),
            );
        });
        unknown
    }

    pub(super) fn perform_lines(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let file = given.at(0);
        let text = self.read(&file);
        // `fileinput.input(file, inplace=True)`
        if name.starts_with("fileinput.") && given.is_on("inplace") {
            for path in file.items() {
                self.write(&path.value(), &unknown);
            }
        }
        self.lines(&text)
    }

    pub(super) fn perform_home(&mut self, name: &str) -> ScriptValue {
        let home = self.machine.variable("HOME").unwrap_or(Value::Unknown);
        if name.contains("Path") || name.contains("Pathname") {
            ScriptValue::Path(home)
        } else {
            ScriptValue::Text(home)
        }
    }

    pub(super) fn perform_archive(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let root = given
            .named("root_dir")
            .or_else(|| given.positional.get(2))
            .map_or_else(|| Value::exact("."), ScriptValue::value);
        let archive = given.at(0).value().followed_by(&Value::exact(".tar"));
        let words = [Value::exact("tar"), Value::exact("-cf"), archive, root];
        self.act(|machine| machine.run_words(&words, Input::Inherited));
        unknown
    }

    pub(super) fn perform_save(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let path = given.at(0).value();
        self.write(&path, &unknown);
        unknown
    }

    pub(super) fn perform_enter(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let wanted = self.directory_wanted(given);
        let place = self.machine.directory(&wanted);
        let place = if self.doubt > 0 { self.machine.shell.cwd.clone().join(&place) } else { place };
        self.machine.shell.cwd = place;
        self.machine.shell.logical = None;
        unknown
    }

    pub(super) fn perform_list(&mut self, given: &Given) -> ScriptValue {
        self.lists_hidden = true;
        self.machine.reach.hidden = true;
        let all = given.at(0).value().followed_by(&Value::Glob("/*".to_owned()));
        self.listed(all);
        ScriptValue::List(vec![ScriptValue::Text(Value::Glob("*".to_owned()))])
    }

    pub(super) fn perform_walk(&mut self, name: &str, given: &Given) -> ScriptValue {
        self.note_reach(name, given);
        let root = if given.positional.is_empty() { ScriptValue::text(".") } else { given.at(0) };
        let inside = self.listed(root.value().followed_by(&Value::exact("/")).followed_by(&Value::Unknown));
        let names = || ScriptValue::List(vec![ScriptValue::Text(Value::Glob("*".to_owned()))]);
        match name {
            "os.walk" => ScriptValue::List(vec![ScriptValue::List(vec![inside, names(), names()])]),
            // The last is the directory itself, opened.
            "os.fwalk" => {
                let opened = ScriptValue::File(inside.value());
                ScriptValue::List(vec![ScriptValue::List(vec![inside, names(), names(), opened])])
            }
            // Entries of a directory have a name and a path.
            "os.scandir" => {
                let entry = root.value().followed_by(&Value::exact("/"));
                ScriptValue::List(vec![ScriptValue::Path(entry.followed_by(&Value::Glob("*".to_owned())))])
            }
            _ => ScriptValue::List(vec![inside]),
        }
    }
}
