//! What text of PowerShell does, by a table of cmdlets and their aliases.
//!
//! Sources: `System.IO.File`, `System.IO.Directory` and `System.Net.WebClient` of .NET; those of the cmdlets stand in `table`.

mod processes;
mod table;

use table::{CMDLETS, Deed, SWITCHES};

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
        for statement in cut(text, &[';', '\n', '&']) {
            if self.left == 0 {
                self.machine.unread("more statements than are looked at");
                return;
            }
            self.left -= 1;
            self.statement(statement, depth);
        }
    }

    fn statement(&mut self, statement: &str, depth: usize) {
        self.calls_of_classes(statement);
        processes::end(self.machine, statement);
        let trimmed = statement.trim();
        if let Some((name, value)) = trimmed.strip_prefix('$').and_then(|rest| rest.split_once('=')) {
            let name = name.trim().to_ascii_lowercase();
            if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                self.note_items(&name, value);
                let words = words(value);
                if let [only] = words.as_slice()
                    && let Some(text) = self.value(only).as_exact()
                {
                    self.variables.push((name, text.to_owned()));
                }
                return self.pipeline(value, depth);
            }
        }
        self.pipeline(trimmed, depth);
    }

    /// Commands joined by `|`: what the one lists, the next removes or reads.
    fn pipeline(&mut self, text: &str, depth: usize) {
        let mut listed: Vec<Value> = Vec::new();
        let mut came: Option<String> = address(text).filter(|_| text.contains('('));
        for element in cut(text, &['|']) {
            for block in blocks(element) {
                for block in self.with_items_put_in(element, block, &listed) {
                    self.text(&block, depth - 1);
                }
            }
            let words = words(element);
            // Texts, or what a variable holds, that go on through the pipeline: `'a', 'b' | Remove-Item`.
            if words.iter().all(|word| word.starts_with(['\'', '"', '$'])) {
                listed = words.iter().flat_map(|word| self.items(word)).collect();
                continue;
            }
            let mut words = words
                .iter()
                .map(String::as_str)
                .filter(|word| !matches!(*word, "&" | "." | "if" | "else" | "try" | "do"));
            let Some(first) = words.next() else { continue };
            let name = first
                .trim_matches(['(', '"', '\'', '@'])
                .rsplit('\\')
                .next()
                .unwrap_or(first)
                .to_ascii_lowercase();
            let rest: Vec<&str> = words.collect();
            if rest.iter().any(|word| word.eq_ignore_ascii_case("-whatif")) {
                continue;
            }
            if let Some(inner) = inside_parentheses(element)
                && depth > 1
            {
                self.text(inner, depth - 1);
            }
            let deed =
                CMDLETS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, deed)| *deed);
            let Some(deed) = deed else {
                self.native(first, &rest);
                continue;
            };
            self.cmdlet(deed, &name, &rest, &mut listed, &mut came, depth);
        }
    }

    /// What a variable is given of files: `$old = Get-ChildItem x`, `$old = 'a', 'b'`.
    fn note_items(&mut self, name: &str, value: &str) {
        let bare = value.trim().trim_start_matches('@').trim_start_matches('(').trim_end_matches(')');
        let words = words(bare);
        let Some((first, rest)) = words.split_first() else { return };
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let command = first.to_ascii_lowercase();
        let items = match command.as_str() {
            "get-childitem" | "gci" | "ls" | "dir" => self.paths(&rest).iter().map(below).collect(),
            "get-item" | "gi" | "resolve-path" | "rvpa" => self.paths(&rest),
            _ if words.iter().all(|word| word.starts_with(['\'', '"'])) => {
                words.iter().map(|word| self.value(word)).collect()
            }
            _ => return,
        };
        self.held.push((name.to_owned(), items));
    }

    /// The files that a word stands for: a text, or what a variable holds.
    fn items(&self, word: &str) -> Vec<Value> {
        let name = word.strip_prefix('$').map(str::to_ascii_lowercase);
        let held = name.and_then(|name| self.held.iter().rev().find(|(known, _)| *known == name));
        held.map_or_else(|| vec![self.value(word)], |(_, items)| items.clone())
    }

    /// A block once for each of the items that it is run for, with the item in the place of its variable: `ForEach-Object { rm $_ }`,
    /// `foreach ($file in Get-ChildItem x) { rm $file }` (about_Foreach, `about_PSItem`).
    fn with_items_put_in(&mut self, element: &str, block: &str, listed: &[Value]) -> Vec<String> {
        let lower = element.trim_start().to_ascii_lowercase();
        let of_loop = lower.strip_prefix("foreach").map(str::trim_start).filter(|rest| rest.starts_with('('));
        let (variables, items) = if of_loop.is_some() {
            let head = element.split_once('(').map_or("", |(_, behind)| closed(behind));
            let Some((variable, among)) = head.split_once(" in ") else { return vec![block.to_owned()] };
            let name = variable.trim().trim_start_matches('$').to_ascii_lowercase();
            self.note_items("(among)", among);
            let among = among.trim();
            let items = if among.starts_with('$') { self.items(among) } else { self.items("$(among)") };
            (vec![format!("${name}")], items)
        } else {
            (vec!["$_".to_owned(), "$psitem".to_owned()], listed.to_vec())
        };
        let texts: Vec<String> = items
            .iter()
            .filter_map(|item| match item {
                Value::Exact(text) | Value::Glob(text) => Some(text.clone()),
                Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => None,
            })
            .take(PLACES)
            .collect();
        if texts.is_empty() {
            return vec![block.to_owned()];
        }
        texts.iter().map(|text| put_in(block, &variables, text)).collect()
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
            Deed::Lists => {
                let paths = if paths.is_empty() { vec![Value::exact(".")] } else { paths };
                let is_children = matches!(name, "get-childitem" | "gci" | "ls" | "dir");
                if let Some(found) = filtered(&paths, rest).filter(|_| is_children) {
                    *listed = found;
                    return;
                }
                *listed = paths
                    .into_iter()
                    .map(|path| {
                        let is_file = self.machine.is_directory(&path) == Some(false);
                        if is_children && !is_file { below(&path) } else { path }
                    })
                    .collect();
            }
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
                if let Some(target) = paths.first() {
                    self.machine.possibly(|machine| machine.write(target));
                }
            }
            Deed::Moves | Deed::Copies => {
                if let [from, to, ..] = paths.as_slice() {
                    let program: &[&str] = if deed == Deed::Moves { &["mv"] } else { &["cp", "-r"] };
                    let mut words: Vec<Value> = program.iter().map(|word| Value::exact(*word)).collect();
                    words.extend([from.clone(), to.clone()]);
                    self.machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
                }
            }
            Deed::Reads => {
                for path in paths.iter().take(if name == "select-string" || name == "sls" { 0 } else { 8 }) {
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
    fn calls_of_classes(&mut self, statement: &str) {
        for (at, _) in statement.match_indices("]::").take(32) {
            let class = statement
                .get(..at)
                .and_then(|before| before.rsplit('[').next())
                .unwrap_or_default()
                .to_ascii_lowercase();
            let Some((method, behind)) = statement.get(at + 3..).and_then(|rest| rest.split_once('(')) else {
                continue;
            };
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
                    self.machine.possibly(|machine| machine.write(&first));
                }
                "readalltext" | "readallbytes" | "readalllines" => {
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
            ("resolve-path" | "rvpa" | "convert-path" | "get-item" | "gi", [path]) => self.value(path),
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

/// A block with a path in the place of a variable, and of what an item says of its path.
fn put_in(block: &str, variables: &[String], path: &str) -> String {
    let mut out = String::with_capacity(block.len());
    let mut rest = block;
    while let Some(at) = rest.find('$') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let end = behind
            .char_indices()
            .skip(1)
            .find(|(_, letter)| !(letter.is_alphanumeric() || *letter == '_'))
            .map_or(behind.len(), |(at, _)| at);
        let (name, mut left) = behind.split_at(end);
        if variables.contains(&name.to_ascii_lowercase()) {
            let member = [".FullName", ".PSPath", ".Path", ".Name"]
                .iter()
                .find(|member| left.to_ascii_lowercase().starts_with(&member.to_ascii_lowercase()));
            left = member.and_then(|member| left.get(member.len()..)).unwrap_or(left);
            out.push_str(path);
        } else {
            out.push_str(name);
        }
        rest = left;
    }
    out.push_str(rest);
    out
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

/// What a listing of directories finds where it is told the names (Microsoft.PowerShell.Management, "Get-ChildItem": `-Filter`, `-Include`,
/// `-Recurse`).
fn filtered(directories: &[Value], rest: &[&str]) -> Option<Vec<Value>> {
    let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
    let at = rest.iter().position(|word| is(word, "-filter") || is(word, "-include"))?;
    let names = rest.get(at + 1..)?.iter().take_while(|word| !word.starts_with('-'));
    let recurses = rest.iter().any(|word| is(word, "-recurse") || is(word, "-r"));
    let between = if recurses { "/**/" } else { "/" };
    let found: Vec<Value> = names
        .map(|name| name.trim_matches(['"', '\'']))
        .flat_map(|name| {
            directories.iter().filter_map(Value::as_exact).map(move |directory| {
                let directory = directory.trim_end_matches('/');
                Value::Glob(format!("{directory}{between}{name}"))
            })
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

/// What lies in a directory that is listed.
fn below(directory: &Value) -> Value {
    match directory {
        Value::Exact(text) if !text.contains('*') => Value::Glob(format!("{}/*", text.trim_end_matches('/'))),
        other => other.clone(),
    }
}

/// The address that a text fetches for itself: `(iwr URL)`, `.DownloadString('URL')`.
fn address(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let fetches = [
        ".downloadstring(",
        ".downloaddata(",
        "iwr ",
        "irm ",
        "invoke-webrequest",
        "invoke-restmethod",
        "curl ",
        "wget ",
        "getstringasync(",
    ]
    .iter()
    .any(|name| lower.contains(name));
    let at = text.find("://").filter(|_| fetches)?;
    let start = text.get(..at)?.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |before| before + 1);
    let end = text
        .get(start..)?
        .find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ')' | ';' | '|'))
        .map_or(text.len(), |end| start + end);
    text.get(start..end).map(str::to_owned)
}

/// The pieces between signs that stand outside of quotes, brackets and blocks.
fn cut<'a>(text: &'a str, signs: &[char]) -> Vec<&'a str> {
    let (mut pieces, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '{' | '[') => depth += 1,
            (None, ')' | '}' | ']') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && signs.contains(&letter) => {
                pieces.extend(text.get(start..at));
                start = at + letter.len_utf8();
            }
            (Some(_) | None, _) => {}
        }
    }
    pieces.extend(text.get(start..));
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

/// The words of a command; what stands in parentheses is one word.
fn words(text: &str) -> Vec<String> {
    cut(text, &[' ', '\t', ',']).into_iter().map(|word| word.trim().to_owned()).collect()
}

/// The texts in braces, without the names of variables in braces.
fn blocks(text: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    let mut before = ' ';
    let mut of_name = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' if depth == 0 && before == '$' => of_name = true,
            '{' => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            '}' if of_name => of_name = false,
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.extend(text.get(start..at));
                }
            }
            _ => {}
        }
        before = letter;
    }
    found
}

/// The text in the first parentheses of a command, where it is a command: `rm (Get-Item x)`.
fn inside_parentheses(text: &str) -> Option<&str> {
    let (before, behind) = text.split_once('(')?;
    (!before.ends_with(|c: char| c.is_alphanumeric())).then(|| closed(behind))
}

/// The text as far as the parenthesis that closes what was opened before it.
fn closed(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}
