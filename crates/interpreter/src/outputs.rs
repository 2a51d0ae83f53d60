//! Places of the guard that the words of a call name, and of which the entry of the program says nothing.
//!
//! No list of options is complete. So an option or variable whose name says that something is written there is believed when its value is a
//! place of the guard. What an opaque program does with a place of the guard that it is given is not known.

mod options;

use crate::effect::{Effect, EffectKind, Severity, Target};
use crate::path::AbsolutePath;
use crate::world::{Entry, GuardedPath};

use super::call::Call;
use super::draft::Draft;
use super::machine::Machine;
use super::shell::VariableContent;
use super::value::Value;

/// Parts of the names of options and variables behind which stands a place that is written: `--output-dir`, `-coverprofile`, `DESTDIR`.
const WRITTEN: &[&str] = &[
    "append",
    "asciicast",
    "backup",
    "basetemp",
    "bindir",
    "blockprofile",
    "bundle",
    "cache",
    "capture",
    "checkpoint",
    "cidfile",
    "coverage",
    "coverprofile",
    "cpuprofile",
    "dest",
    "destdir",
    "destination",
    "download",
    "dump",
    "emit",
    "export",
    "gobin",
    "hardcopy",
    "histfile",
    "history",
    "hsts",
    "iidfile",
    "install",
    "installdir",
    "jar",
    "junitxml",
    "keyout",
    "log",
    "logfile",
    "logs",
    "map",
    "memprofile",
    "metadatafile",
    "mutexprofile",
    "out",
    "outdir",
    "outfile",
    "outform",
    "output",
    "outputdir",
    "outputfile",
    "outputs",
    "pack",
    "partial",
    "pidfile",
    "prefix",
    "prof",
    "profile",
    "profraw",
    "record",
    "recording",
    "redirect",
    "report",
    "reports",
    "result",
    "results",
    "root",
    "rootdir",
    "save",
    "screenshot",
    "snapshot",
    "spool",
    "sslkeylogfile",
    "stderr",
    "stdout",
    "svc",
    "target",
    "temp",
    "tmp",
    "tmpdir",
    "trace",
    "tracefile",
    "transcript",
    "warnings",
    "write",
    "writebatch",
];
/// Names of options and variables behind which stands nothing but a file that is written, whatever stood in it.
const FILES_WRITTEN: &[&str] = &[
    "blockprofile",
    "cidfile",
    "coverprofile",
    "cpuprofile",
    "exportmarks",
    "iidfile",
    "junitxml",
    "logfile",
    "memprofile",
    "metadatafile",
    "mutexprofile",
    "out",
    "outfile",
    "output",
    "outputfile",
    "outputs",
    "pidfile",
    "recording",
    "screenshot",
    "transcript",
    "writebatch",
];
/// How many places that stand in one call are looked at.
const PLACES: usize = 64;

impl Machine<'_> {
    /// Adds what a call writes to the guard by what its words say, where none of the effects since `before` is about that place.
    pub(super) fn note_unseen_writes(&mut self, call: &Call, before: usize) {
        if self.away.is_some() {
            return;
        }
        self.write_what_options_name(call, before);
        self.note_files_written(call, before);
        self.note_packages_named_as_guard(before);
        self.write_what_variables_name(call, before);
        if self.world.place().guarded.is_empty() {
            return;
        }
        let mut places = Vec::new();
        let mut words = call.words.iter().peekable();
        while let Some(word) = words.next() {
            for text in word.alternatives().unwrap_or_default() {
                if let Some((key, value)) = assigned(text) {
                    if says_written(key) {
                        places.push(value.to_owned());
                    }
                } else if let Some(name) = text.strip_prefix('-').filter(|name| says_written(name)) {
                    let next = words.peek().and_then(|next| next.alternatives()).unwrap_or_default();
                    let value = |next: &&String| !name.is_empty() && !next.starts_with('-');
                    places.extend(next.iter().filter(value).cloned());
                } else if let Some(rest) = text.strip_prefix("-o").or_else(|| text.strip_prefix("-O")) {
                    let is_read = |path: &AbsolutePath| {
                        self.effects_since(before).any(|effect| effect.target.path() == Some(path))
                    };
                    let next = if rest.is_empty() {
                        words.peek().and_then(|next| next.as_exact())
                    } else {
                        Some(rest)
                    };
                    let unread = next.filter(|text| {
                        self.paths_through(&Value::exact(*text))
                            .iter()
                            .any(|aim| aim.target.path().is_some_and(|path| !is_read(path)))
                    });
                    places.extend(unread.map(str::to_owned));
                }
            }
        }
        // A program that is known through and through reads the variables that its entry names.
        if !self.table.is_read_through(&call.program) {
            places.extend(self.exported_places());
        }
        let is_opaque = self.effects_since(before).any(|effect| effect.kind == EffectKind::Opaque);
        if places.is_empty() && !is_opaque {
            return;
        }
        let guarded = self.world.guarded();
        for place in places.iter().take(PLACES) {
            let place = Value::exact(place);
            if let Some((path, _)) = self.guarded_at(&place, &guarded)
                && !self.effects_since(before).any(|effect| writes_to(effect, &path))
            {
                self.write(&place);
            }
            self.note_brought_over(&place, before, &guarded);
        }
        if is_opaque {
            self.note_named(call, before, &guarded);
        }
    }

    /// Adds that a program fills the very folder of a file of the guard with what nobody knows by name, where none of the effects since
    /// `before` is about that folder. In a folder of programs each has a name of its own, and in the workspace programs write all day.
    pub(super) fn note_brought_over(&mut self, place: &Value, before: usize, guarded: &[GuardedPath]) {
        let host = self.world.place();
        for aim in self.paths_through(place) {
            let Some(path) = aim.target.path() else { continue };
            let is_ordinary =
                path.is_within(&host.workspace) || *path == host.home || path.name() == Some("bin");
            let is_folder = guarded.iter().any(|guarded| guarded.path.parent().as_ref() == Some(path));
            // Who gives a program the right to write there has written nothing yet.
            let is_opened = self.call.opened.contains(path);
            if is_folder
                && !is_ordinary
                && !is_opened
                && !self.effects_since(before).any(|effect| writes_to(effect, path))
            {
                self.add(Draft::at(EffectKind::FileCreate, aim).recursive().possible());
            }
        }
    }

    /// Adds that a program writes over a file elsewhere that an option names, where none of the effects since `before` is about that file.
    fn note_files_written(&mut self, call: &Call, before: usize) {
        let mut places: Vec<String> = Vec::new();
        let mut words = call.words.iter().peekable();
        while let Some(word) = words.next() {
            let Some(text) = word.as_exact().filter(|text| text.starts_with('-')) else { continue };
            match assigned(text) {
                Some((key, value)) if is_file_written(key) => places.push(value.to_owned()),
                None if is_file_written(text) => {
                    places.extend(words.peek().and_then(|next| next.as_exact()).map(str::to_owned));
                }
                // A short name means so only where nothing is known of the program, or a part.
                None if text == "-o" && !self.table.is_read_through(&call.program) => {
                    places.extend(words.peek().and_then(|next| next.as_exact()).map(str::to_owned));
                }
                Some(_) | None => {}
            }
        }
        for place in places.iter().filter(|place| place.contains('/')).take(PLACES) {
            let place = Value::exact(place);
            let paths = self.paths_through(&place);
            let Some(path) = paths.first().and_then(|aim| aim.target.path()).cloned() else { continue };
            let is_elsewhere = !path.is_within(&self.world.place().workspace) && !self.is_temporary(&path);
            let is_known = self.effects_since(before).any(|effect| effect.target.path() == Some(&path));
            if is_elsewhere && !is_known && matches!(self.entry(&path), Entry::File(_)) {
                self.write(&place);
            }
        }
    }

    /// Adds that a program writes the files that its own options name, where none of the effects since `before` is about them.
    fn write_what_options_name(&mut self, call: &Call, before: usize) {
        let next = |at: usize| call.words.get(at + 1).and_then(Value::as_exact);
        let named = call.words.iter().enumerate().filter_map(|(at, word)| {
            options::file_written(&call.program, word.as_exact()?, next(at)).map(str::to_owned)
        });
        let named: Vec<String> = named.filter(|name| name != "-").take(PLACES).collect();
        for name in named {
            let place = Value::Exact(name);
            let paths = self.paths_through(&place);
            let Some(path) = paths.first().and_then(|aim| aim.target.path()) else { continue };
            if !self.effects_since(before).any(|effect| writes_to(effect, path)) {
                self.write(&place);
            }
        }
    }

    /// Adds that a program of which it is not known what it does may change what it is given of the guard.
    fn note_named(&mut self, call: &Call, before: usize, guarded: &[GuardedPath]) {
        let home = self.world.place().home.as_str().to_owned();
        let texts = call.words.iter().flat_map(|word| word.alternatives().unwrap_or_default());
        let mut found: Vec<(AbsolutePath, String)> = Vec::new();
        for text in texts {
            // Most words hold no name that is the guard's.
            let is_named =
                |guarded: &&GuardedPath| guarded.path.name().is_some_and(|name| text.contains(name));
            if !guarded.iter().any(|path| is_named(&path)) {
                continue;
            }
            for token in text.split(|c: char| !(c.is_alphanumeric() || "/._~$-{}@+".contains(c))).take(PLACES)
            {
                let token = ["~/", "$HOME/", "${HOME}/"]
                    .iter()
                    .find_map(|start| token.strip_prefix(start).map(|rest| format!("{home}/{rest}")))
                    .unwrap_or_else(|| token.to_owned());
                if let Some(at) = self.guarded_at(&Value::Exact(token), guarded)
                    && !found.contains(&at)
                {
                    found.push(at);
                }
            }
        }
        for (path, role) in found {
            if self.effects_since(before).any(|effect| effect.target.path() == Some(&path)) {
                continue;
            }
            self.add(
                Draft::new(EffectKind::GuardTampering, Target::Path(path))
                    .possible()
                    .severity(Severity::High)
                    .irreversible()
                    .note(format!("may change {role}: what `{}` does with it is not known", call.program)),
            );
        }
    }

    /// The place of the guard that a word names, with its part in the guard.
    fn guarded_at(&self, word: &Value, guarded: &[GuardedPath]) -> Option<(AbsolutePath, String)> {
        self.paths_through(word).iter().find_map(|aim| {
            let path = aim.target.path()?;
            let holder = guarded.iter().find(|guarded| {
                path.is_within(&guarded.path) || self.world.is_same_file(path, &guarded.path)
            })?;
            Some((path.clone(), holder.role.clone()))
        })
    }

    /// What the variables hold that the command itself gave to the program, and whose names say that something is written there.
    fn exported_places(&self) -> Vec<String> {
        let variables = self.shell.variables.iter();
        let given = variables.filter(|(name, variable)| variable.exported && says_written(name));
        given
            .filter_map(|(_, variable)| match &variable.content {
                VariableContent::Scalar(Value::Exact(text)) if text.contains('/') => Some(text.clone()),
                VariableContent::Scalar(_)
                | VariableContent::List(_)
                | VariableContent::Map(_)
                | VariableContent::Unknown
                | VariableContent::Unset => None,
            })
            .collect()
    }
}

fn writes_to(effect: &Effect, path: &AbsolutePath) -> bool {
    effect.kind.file_change().is_some() && effect.target.path() == Some(path)
}

/// The last name that a word gives a value, and the value: `--output=x`, `type=local,dest=x`, `-p StandardOutput=file:x`,
/// `%output{x}`.
fn assigned(text: &str) -> Option<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut found = None;
    for (at, sign) in text.char_indices().filter(|(_, c)| matches!(c, '=' | '{')) {
        let before = text.get(..at)?;
        let key = before.rsplit(|c| !is_name(c)).next().unwrap_or_default();
        let value = text.get(at + sign.len_utf8()..)?.split([',', '}']).next().unwrap_or_default();
        if !key.is_empty() {
            // `file:`, `append:` and the like say how it is written.
            let place = value.split_once(':').filter(|(_, place)| place.starts_with('/'));
            found = Some((key, place.map_or(value, |(_, place)| place)));
            if says_written(key) {
                return found;
            }
        }
    }
    found
}

/// Whether the name of an option says that what stands behind it is a file that is written: `--output`, `-out`, `--log-file`, `--junit-xml`.
fn is_file_written(name: &str) -> bool {
    let parts: Vec<&str> = name.trim_start_matches('-').split(['-', '_']).collect();
    let whole = parts.concat().to_ascii_lowercase();
    FILES_WRITTEN.contains(&whole.as_str())
        || matches!(
            parts.as_slice(),
            [.., "output" | "out" | "report" | "log" | "save" | "index", "file" | "path" | "json"]
        )
}

/// Whether the name of an option or variable says that what it names is written.
fn says_written(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    let whole = name.to_ascii_lowercase();
    if WRITTEN.contains(&whole.as_str()) {
        return true;
    }
    let mut parts: Vec<String> = vec![String::new()];
    let mut previous = ' ';
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') || c.is_ascii_uppercase() && previous.is_ascii_lowercase() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut()
            && c.is_ascii_alphabetic()
        {
            part.push(c.to_ascii_lowercase());
        }
        previous = c;
    }
    parts.len() > 1 && parts.iter().any(|part| WRITTEN.contains(&part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whether_something_is_written() {
        for name in [
            "--output",
            "-out",
            "--outDir",
            "--log-file",
            "-coverprofile",
            "DESTDIR",
            "CARGO_TARGET_DIR",
            "GIT_TRACE2",
            "--trace-ascii",
        ] {
            assert!(says_written(name), "{name}");
        }
        for name in ["--config", "-c", "--settings", "--file", "-m", "CONFIG", "", "--router", "--catalog"] {
            assert!(!says_written(name), "{name}");
        }
    }

    #[test]
    fn names_of_files_that_are_written_are_told_from_others() {
        for name in
            ["--output", "-out", "--log-file", "--junit-xml", "-coverprofile", "--reports-output-path"]
        {
            assert!(is_file_written(name), "{name}");
        }
        for name in [
            "--output-format",
            "--log-level",
            "--cache",
            "--save",
            "-c",
            "--target",
            "--output-dir",
            "--logger",
        ] {
            assert!(!is_file_written(name), "{name}");
        }
    }

    #[test]
    fn values_are_found_behind_the_name_that_writes() {
        for (word, found) in [
            ("--output=x", Some(("--output", "x"))),
            ("type=local,dest=/x", Some(("dest", "/x"))),
            ("-Wl,-Map=/x", Some(("-Map", "/x"))),
            ("StandardOutput=append:/x", Some(("StandardOutput", "/x"))),
            ("%output{/x}y", Some(("output", "/x"))),
            ("plain", None),
            ("=x", None),
        ] {
            assert_eq!(assigned(word), found, "{word}");
        }
    }
}
