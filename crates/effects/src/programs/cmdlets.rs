//! What text of PowerShell does, by a table of cmdlets and their aliases.
//!
//! Sources: `System.IO.File`, `System.IO.Directory` and `System.Net.WebClient` of .NET; those of the cmdlets stand in `table`.
//!
//! | module | holds |
//! |---|---|
//! | `called` | what a statement calls, and what it is given |
//! | `items` | what goes through a pipeline: items that are listed, texts, what a variable holds |
//! | `processes` | the end of processes |
//! | `table` | the cmdlets with their aliases, and what each does |
//! | `text` | statements, words, blocks, what stands in parentheses |

mod called;
mod items;
mod processes;
mod table;
mod text;

use called::{Calling, is_script, parameters};
use table::{CMDLETS, Deed, SWITCHES};
use text::{address, blocks, closed, cut, inside_parentheses, statements, words};

use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::interpreter::{Draft, Input, Machine, Value};

/// How deep blocks and texts are followed, and how many statements (ours).
const DEPTH: usize = 12;
const STATEMENTS: usize = 512;
/// How many directories that the text may have gone to are followed (ours).
const PLACES: usize = 4;

/// Adds what a text does.
pub(super) fn follow(machine: &mut Machine<'_>, text: &str) {
    Reader {
        machine,
        variables: Vec::new(),
        held: Vec::new(),
        tables: Vec::new(),
        aliases: Vec::new(),
        places: vec![None],
        pushed: Vec::new(),
        left: STATEMENTS,
    }
    .text(text, DEPTH);
}

struct Reader<'a, 'm> {
    machine: &'a mut Machine<'m>,
    variables: Vec<(String, String)>,
    /// What variables hold of files.
    held: Vec<(String, Vec<Value>)>,
    /// Parameters that variables hold as tables.
    tables: Vec<(String, Vec<String>)>,
    /// Names that the text gives to commands.
    aliases: Vec<(String, String)>,
    /// Where the text may have gone to; `None` stands for where it was started.
    places: Vec<Option<Value>>,
    /// The same before each `Push-Location`.
    pushed: Vec<Vec<Option<Value>>>,
    left: usize,
}

impl Reader<'_, '_> {
    fn text(&mut self, text: &str, depth: usize) {
        if depth == 0 {
            self.machine.unread("more blocks in each other than are looked at");
            return;
        }
        for (calling, statement) in statements(text) {
            if self.left == 0 {
                self.machine.unread("more statements than are looked at");
                return;
            }
            self.left -= 1;
            self.statement(statement, calling, depth);
        }
    }

    fn statement(&mut self, statement: &str, calling: Calling, depth: usize) {
        self.calls_of_classes(statement, depth);
        self.methods_of_items(statement);
        processes::end(self.machine, statement);
        let trimmed = statement.trim();
        if let Some((name, value)) = trimmed.strip_prefix('$').and_then(|rest| rest.split_once('=')) {
            let name = name.trim().to_ascii_lowercase();
            if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                self.note_items(&name, value);
                if let Some(pairs) = parameters(value) {
                    self.tables.push((name.clone(), pairs));
                }
                let words = words(value);
                if let [only] = words.as_slice()
                    && let Some(text) = self.value(only).as_exact()
                {
                    self.variables.push((name, text.to_owned()));
                }
                return self.pipeline(value, calling, depth);
            }
        }
        self.pipeline(trimmed, calling, depth);
    }

    /// Commands joined by `|`: what the one lists, the next removes or reads.
    fn pipeline(&mut self, text: &str, calling: Calling, depth: usize) {
        let mut listed: Vec<Value> = Vec::new();
        let mut came: Option<String> = address(text).filter(|_| text.contains('('));
        for element in cut(text, &['|']) {
            for block in blocks(element) {
                for block in self.with_items_put_in(element, block, &listed) {
                    self.text(&block, depth - 1);
                }
            }
            if let Some(items) = self.items_in_parentheses(element) {
                listed = items;
                continue;
            }
            let words = self.redirected(words(element), depth);
            let words = self.splatted(words);
            // Texts, or what a variable holds, that go on through the pipeline: `'a', 'b' | Remove-Item`.
            if calling == Calling::Plain
                && words.iter().all(|word| word.starts_with(['\'', '"', '$']) && !word.contains('('))
            {
                listed = words.iter().flat_map(|word| self.items(word)).collect();
                continue;
            }
            let mut words = words
                .iter()
                .map(String::as_str)
                .filter(|word| !matches!(*word, "&" | "." | "if" | "else" | "try" | "do"));
            let Some(first) = words.next() else { continue };
            let name = self.called(first, calling);
            let rest: Vec<&str> = words.collect();
            if rest.iter().any(|word| word.eq_ignore_ascii_case("-whatif")) {
                continue;
            }
            if let Some(inner) = inside_parentheses(element)
                && depth > 1
            {
                self.text(inner, depth - 1);
            }
            if self.note_alias(&name, &rest) {
                continue;
            }
            if is_script(&name) || matches!(name.as_str(), "import-module" | "ipmo") {
                let file = if is_script(&name) { Some(name.as_str()) } else { rest.first().copied() };
                if let Some(file) = file.filter(|file| is_script(file.trim_matches(['"', '\''])) && depth > 1)
                {
                    self.script(file, depth);
                }
                continue;
            }
            self.member_of_each(&name, &rest, &listed);
            self.object_made(&name, &rest);
            let deed =
                CMDLETS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, deed)| *deed);
            let Some(deed) = deed else {
                self.native(first, &rest);
                continue;
            };
            self.cmdlet(deed, &name, &rest, &mut listed, &mut came, depth);
        }
    }

    /// A program of the machine that is called by its name.
    fn native(&mut self, program: &str, rest: &[&str]) {
        if !self.machine.knows(program) {
            return;
        }
        let words: Vec<Value> =
            std::iter::once(Value::exact(program)).chain(rest.iter().map(|word| self.value(word))).collect();
        for place in self.places.clone() {
            let mut words = words.clone();
            if let Some(directory) = place {
                words.splice(0..0, [Value::exact("env"), Value::exact("-C"), directory]);
            }
            self.machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
        }
    }

    /// Goes to another directory. One that is not known to be there, or a step that depends on something, may leave the text where it was.
    fn enter(&mut self, name: &str, to: Option<&Value>, depth: usize) {
        if matches!(name, "pop-location" | "popd") {
            self.places = self.pushed.pop().unwrap_or_else(|| vec![None]);
            return;
        }
        if matches!(name, "push-location" | "pushd") {
            self.pushed.push(self.places.clone());
        }
        let home = Value::exact(self.machine.world().place().home.as_str());
        let to = to.unwrap_or(&home);
        let entered: Vec<Value> =
            self.places.iter().map(|place| placed(place.as_ref(), to)).take(PLACES).collect();
        let is_sure =
            depth == DEPTH && entered.iter().all(|place| self.machine.is_directory(place) == Some(true));
        if is_sure {
            self.places.clear();
        }
        self.places.extend(entered.into_iter().map(Some));
        self.places.truncate(PLACES);
    }

    fn cmdlet(
        &mut self,
        deed: Deed,
        name: &str,
        rest: &[&str],
        listed: &mut Vec<Value>,
        came: &mut Option<String>,
        depth: usize,
    ) {
        let given = self.paths(rest);
        let is_of_files = match deed {
            Deed::Enters => return self.enter(name, given.first(), depth),
            Deed::Removes | Deed::Writes | Deed::Moves | Deed::Copies | Deed::Reads | Deed::Lists => true,
            Deed::Requests
            | Deed::Evaluates
            | Deed::Starts
            | Deed::ChangesMachine
            | Deed::EndsMachine
            | Deed::Lasts => false,
        };
        if !is_of_files {
            return self.perform(deed, (name, rest), given, listed, came, depth);
        }
        for place in self.places.clone() {
            let paths = given.iter().map(|path| placed(place.as_ref(), path)).collect();
            self.perform(deed, (name, rest), paths, listed, came, depth);
        }
    }

    fn perform(
        &mut self,
        deed: Deed,
        (name, rest): (&str, &[&str]),
        paths: Vec<Value>,
        listed: &mut Vec<Value>,
        came: &mut Option<String>,
        depth: usize,
    ) {
        match deed {
            Deed::Enters => {}
            Deed::Lists => *listed = self.listed(name, paths, rest),
            Deed::Removes => {
                let targets = if paths.is_empty() { listed.clone() } else { paths };
                for target in targets {
                    self.machine.possibly(|machine| machine.delete(&target, Depth::Recursive));
                }
            }
            Deed::Writes => {
                if rest.iter().any(|word| word.to_ascii_lowercase().contains("$profile")) {
                    self.lasts("the profile of PowerShell");
                }
                // `Out-File` takes its text from the pipeline, the others their paths too (Microsoft.PowerShell.Management, "Clear-Content").
                let targets = match paths.first() {
                    Some(target) => vec![target.clone()],
                    None if name.ends_with("-content") || matches!(name, "clc" | "sc" | "ac") => {
                        listed.clone()
                    }
                    None => Vec::new(),
                };
                for target in targets {
                    self.write(&target, depth);
                }
            }
            Deed::Moves | Deed::Copies => {
                let (sources, to) = match paths.as_slice() {
                    [from, to, ..] => (vec![from.clone()], Some(to)),
                    [to] => (listed.clone(), Some(to)),
                    [] => (Vec::new(), None),
                };
                for (from, to) in sources.iter().zip(to.into_iter().cycle()) {
                    let program: &[&str] = if deed == Deed::Moves { &["mv"] } else { &["cp", "-r"] };
                    let mut words: Vec<Value> = program.iter().map(|word| Value::exact(*word)).collect();
                    words.extend([from.clone(), to.clone()]);
                    if depth == DEPTH {
                        self.machine.run_words(&words, Input::Inherited);
                    } else {
                        self.machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
                    }
                }
            }
            Deed::Reads => {
                let is = |word: &&str, option: &str| word.eq_ignore_ascii_case(option);
                let is_search = matches!(name, "select-string" | "sls");
                // The first of the words of a search is what it looks for.
                let names_both = rest
                    .iter()
                    .any(|word| is(word, "-path") || is(word, "-literalpath") || is(word, "-pattern"));
                let files =
                    if is_search && !names_both { paths.get(1..).unwrap_or_default() } else { &paths };
                let files = if files.is_empty() { listed.as_slice() } else { files };
                for path in files.iter().take(8) {
                    let words = [Value::exact("cat"), path.clone()];
                    self.machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
                }
            }
            Deed::Requests => {
                *came = self.request(rest).or(came.take());
            }
            Deed::Evaluates => match (came.as_ref(), paths.first().and_then(Value::as_exact)) {
                (Some(url), _) => {
                    let url = url.clone();
                    self.machine.runs_from_network(&url);
                }
                (None, Some(text)) if depth > 1 => {
                    let text = text.to_owned();
                    self.text(&text, depth - 1);
                }
                (None, _) => self.machine.unread("the text that is evaluated is not known"),
            },
            Deed::Starts => {
                if rest.iter().any(|word| word.eq_ignore_ascii_case("runas")) {
                    let draft = Draft::new(
                        EffectKind::PrivilegeEscalation,
                        Target::Process("administrator".to_owned()),
                    );
                    self.machine.add(draft.severity(Severity::High).note("starts it with all rights"));
                }
                self.start(&paths);
            }
            Deed::ChangesMachine | Deed::EndsMachine => {
                let text = rest.join(" ").to_ascii_lowercase();
                if name.contains("itemproperty") || matches!(name, "sp" | "rp") {
                    if text.contains("currentversion\\run")
                        || text.contains("winlogon")
                        || text.contains("image file execution")
                    {
                        self.lasts("the registry");
                    } else if !text.contains("hklm") && !text.contains("hkey_local") {
                        return;
                    }
                }
                let severity = if deed == Deed::EndsMachine { Severity::Critical } else { Severity::High };
                let draft = Draft::new(EffectKind::SystemModification, Target::Service(name.to_owned()));
                self.machine
                    .add(draft.severity(severity).note("changes the machine, its protection or its users"));
            }
            Deed::Lasts => self.lasts(name),
        }
    }

    /// Writes a file: for sure where nothing stands around the statement.
    fn write(&mut self, target: &Value, depth: usize) {
        if depth == DEPTH && !matches!(target, Value::Unknown) {
            self.machine.write(target);
        } else {
            self.machine.possibly(|machine| machine.write(target));
        }
    }

    fn lasts(&mut self, what: &str) {
        let draft = Draft::new(EffectKind::Persistence, Target::Service(what.to_owned()));
        self.machine.add(draft.severity(Severity::High).note("runs later by itself"));
    }

    /// A request, as curl would make it; the address that it asks.
    fn request(&mut self, rest: &[&str]) -> Option<String> {
        let of = |names: &[&str]| {
            rest.iter()
                .zip(rest.iter().skip(1))
                .find(|(name, _)| names.contains(&name.to_ascii_lowercase().as_str()))
                .map(|(_, value)| *value)
        };
        let url =
            of(&["-uri", "-source"]).or_else(|| rest.iter().find(|word| word.contains("://")).copied())?;
        let url = self.value(url);
        let mut words = vec![Value::exact("curl")];
        for (names, option) in [
            (&["-infile"][..], "-T"),
            (&["-outfile", "-destination"][..], "-o"),
            (&["-method"][..], "-X"),
            (&["-body"][..], "-d"),
        ] {
            if let Some(value) = of(names) {
                words.push(Value::exact(option));
                words.push(self.value(value));
            }
        }
        words.push(url.clone());
        self.machine.run_words(&words, Input::Inherited);
        Some(url.known_start())
    }

    /// Starts a program with arguments, of which each may hold several with blanks between (Microsoft.PowerShell.Management,
    /// "Start-Process", `-ArgumentList`; .NET 8, `Process.Start`).
    fn start(&mut self, words: &[Value]) {
        let Some((program, arguments)) = words.split_first() else { return };
        let is_known = program
            .as_exact()
            .is_some_and(|name| name.contains('/') || self.machine.knows(name.trim_end_matches(".exe")));
        if !is_known {
            return;
        }
        let mut whole = vec![program.clone()];
        for argument in arguments {
            match argument.as_exact() {
                Some(text) => {
                    let words = crate::interpreter::strings::quoted_words(text);
                    whole.extend(words.iter().map(|word| self.value(word)));
                }
                None => whole.push(argument.clone()),
            }
        }
        self.machine.possibly(|machine| machine.run_words(&whole, Input::Inherited));
    }

    /// Calls of classes of .NET: `[IO.Directory]::Delete($HOME, $true)`.
    fn calls_of_classes(&mut self, statement: &str, depth: usize) {
        for (at, _) in statement.match_indices("]::").take(32) {
            let class = statement
                .get(..at)
                .and_then(|before| before.rsplit('[').next())
                .unwrap_or_default()
                .to_ascii_lowercase();
            let Some((method, behind)) = statement.get(at + 3..).and_then(|rest| rest.split_once('(')) else {
                continue;
            };
            if method.trim().eq_ignore_ascii_case("new") {
                self.read_by(&class, closed(behind));
                continue;
            }
            let is_process = class.ends_with("diagnostics.process");
            if !(class.ends_with("io.directory") || class.ends_with("io.file") || is_process) {
                continue;
            }
            let given: Vec<Value> =
                cut(closed(behind), &[',']).into_iter().map(|word| self.value(word.trim())).collect();
            if is_process {
                if method.trim().eq_ignore_ascii_case("start") {
                    self.start(&given);
                }
                continue;
            }
            let Some(first) = given.first().cloned() else { continue };
            match method.trim().to_ascii_lowercase().as_str() {
                "delete" => self.machine.possibly(|machine| machine.delete(&first, Depth::Recursive)),
                "writealltext" | "writeallbytes" | "writealllines" | "appendalltext" | "create"
                | "openwrite" => {
                    self.write(&first, depth);
                }
                "opentext" | "openread" | "readlines" | "readalltext" | "readallbytes" | "readalllines" => {
                    self.machine.possibly(|machine| {
                        machine.run_words(&[Value::exact("cat"), first], Input::Inherited)
                    });
                }
                "move" | "copy" => {
                    let program = if method.trim().eq_ignore_ascii_case("move") { "mv" } else { "cp" };
                    let words: Vec<Value> =
                        std::iter::once(Value::exact(program)).chain(given.into_iter().take(2)).collect();
                    self.machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
                }
                _ => {}
            }
        }
        for (method, option) in [(".downloadfile(", "-o"), (".uploadfile(", "-T")] {
            let lower = statement.to_ascii_lowercase();
            let Some(behind) = lower.find(method).and_then(|at| statement.get(at + method.len()..)) else {
                continue;
            };
            let given: Vec<Value> =
                cut(closed(behind), &[',']).into_iter().map(|word| self.value(word.trim())).collect();
            if let [url, file, ..] = given.as_slice() {
                let words = [Value::exact("curl"), Value::exact(option), file.clone(), url.clone()];
                self.machine.run_words(&words, Input::Inherited);
            }
        }
    }

    /// The operands, and the values of parameters that name files or texts.
    fn paths(&self, rest: &[&str]) -> Vec<Value> {
        const NAMED: &[&str] = &[
            "-path",
            "-literalpath",
            "-lp",
            "-pspath",
            "-filepath",
            "-destination",
            "-outfile",
            "-command",
            "-argumentlist",
            "-name",
            "-newname",
        ];
        let mut found = Vec::new();
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let lower = word.to_ascii_lowercase();
            if !lower.starts_with('-') {
                found.push(self.value(word));
            } else if NAMED.contains(&lower.as_str()) {
                found.extend(words.next().map(|word| self.value(word)));
            } else if !SWITCHES.iter().any(|switch| switch.starts_with(&lower)) && !lower.contains(':') {
                words.next();
            }
        }
        found
    }

    /// What an expression in brackets comes to, where it puts a path together or names one.
    fn in_brackets(&self, word: &str) -> Value {
        let inner = word.trim_start_matches('@').strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let words: Vec<&str> = inner.unwrap_or_default().split_whitespace().collect();
        let Some((name, rest)) = words.split_first() else { return Value::Unknown };
        let name = name.to_ascii_lowercase();
        match (name.as_str(), rest) {
            ("join-path", [directory, below]) => {
                self.value(directory).followed_by(&Value::exact("/")).followed_by(&self.value(below))
            }
            (
                "resolve-path" | "rvpa" | "convert-path" | "get-item" | "gi" | "get-command" | "gcm",
                [path],
            ) => self.value(path),
            (_, []) if name.starts_with(['"', '\'', '$']) => self.value(words.first().unwrap_or(&"")),
            _ => Value::Unknown,
        }
    }

    /// A word with its variables filled in; `~` and the home directory of Windows are home.
    fn value(&self, word: &str) -> Value {
        let is_literal = word.starts_with('\'');
        let bare = word.trim_matches(['"', '\'']);
        if is_literal {
            return Value::exact(bare);
        }
        if bare.starts_with('(') || bare.starts_with("@(") {
            return self.in_brackets(bare);
        }
        let home = self.machine.world().place().home.as_str().to_owned();
        let mut value = Value::exact("");
        let mut rest = bare;
        if let Some(behind) = rest.strip_prefix('~') {
            value = Value::exact(home.clone());
            rest = behind;
        }
        while let Some((before, behind)) = rest.split_once('$') {
            value = value.followed_by(&Value::exact(before.replace('\\', "/")));
            let braced = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (name, behind) = braced.unwrap_or_else(|| {
                let end = behind
                    .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
                    .unwrap_or(behind.len());
                behind.split_at(end)
            });
            let name = name.to_ascii_lowercase();
            let known = match name.as_str() {
                "home" | "env:home" | "env:userprofile" => Some(home.clone()),
                "pwd" | "psscriptroot" => Some(".".to_owned()),
                _ => self
                    .variables
                    .iter()
                    .rev()
                    .find(|(known, _)| *known == name)
                    .map(|(_, text)| text.clone()),
            };
            value = value.followed_by(&known.map_or(Value::Unknown, Value::Exact));
            rest = behind;
        }
        let value = value.followed_by(&Value::exact(rest.replace('\\', "/")));
        match value {
            Value::Exact(text) if text.contains(['*', '?']) && !text.contains("://") => Value::Glob(text),
            other => other,
        }
    }
}

/// Where a path lies, seen from a directory that the text has gone to.
fn placed(directory: Option<&Value>, path: &Value) -> Value {
    match directory {
        Some(directory) if !path.known_start().starts_with(['/', '~']) => {
            directory.followed_by(&Value::exact("/")).followed_by(path)
        }
        Some(_) | None => path.clone(),
    }
}
