//! Programs that are told in commands of their own what to fetch and what to put elsewhere: `sftp`, `ftp`, `lftp`, `tftp`, `smbclient`.
//!
//! Sources: sftp(1) "INTERACTIVE COMMANDS", ftp(1) (BSD and tnftp), lftp(1), tftp(1) of tftp-hpa, smbclient(1), ncftpget(1).

use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Upload, Value};

use super::archives::replace_below;
use super::containers::write_over_tree;
use super::downloads::{come_into, here};
use super::network::remote_name;
use super::remote::{from_host, host_of, local_commands, receive, send};

/// The greatest number of files of commands that name each other (`source` of lftp; ours).
const NESTED: usize = 4;

/// What a session did so far.
struct Session {
    /// The local directory, as `lcd` left it.
    here: Value,
    /// What comes from the other side.
    content: Output,
    /// Whether anything is sent.
    sends: bool,
    /// Whether commands could not be read.
    unknown: bool,
    /// Whether files of the other side are removed.
    destroys: bool,
    /// The other side, where an order names it.
    opened: Option<String>,
}

/// Interprets a call of sftp, ftp, lftp or tftp: what its commands fetch, where that comes to lie, and what they put there.
pub(crate) fn session(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    local_commands(machine, call);
    let host = arguments.operands.first().map(host_of);
    let mut session = Session {
        here: here(),
        content: host.as_ref().map_or(Output::Unknown, from_host),
        sends: false,
        unknown: !matches!(call.input, Input::Inherited | Input::Text(Value::Exact(_))),
        destroys: false,
        opened: None,
    };
    match call.program.as_str() {
        "sftp" => session.named_file(machine, call),
        "ncftpget" => session.files_of_ncftpget(machine, call),
        "ftp" | "tnftp" => session.addresses(machine, call),
        _ => {}
    }
    let is_tftp = call.program == "tftp";
    let mut orders: Vec<Value> = if is_tftp {
        // `tftp -c get a b`: the words behind are one command.
        let behind: Vec<&str> = call
            .words
            .iter()
            .skip_while(|word| word.as_exact() != Some("-c"))
            .skip(1)
            .map_while(Value::as_exact)
            .collect();
        vec![Value::Exact(behind.join(" "))]
    } else {
        arguments.values(&["-e", "-c"]).cloned().collect()
    };
    if let Some(batch) = arguments.value(&["-b", "-f"]).filter(|file| file.as_exact() != Some("-")).cloned() {
        orders.push(machine.read(&batch).into_text());
    }
    if let Input::Text(text) = &call.input {
        orders.push(text.clone());
    }
    for order in orders {
        session.carry_out(machine, &call.program, &order, 0);
    }
    if session.destroys {
        let named = arguments.operand(0).map(str::to_owned).or_else(|| session.opened.clone());
        let target = named.map_or(Target::Unknown, Target::Service);
        machine.add(Draft::new(EffectKind::InfrastructureDestroy, target).note("removes files there"));
    }
    let Some(host) = host else { return Exit::unknown() };
    // `ftp -u ADDRESS FILE`
    let (address, files) = match (call.program.as_str(), arguments.value(&["-u"])) {
        ("ftp" | "tnftp", Some(address)) => (address.clone(), arguments.operands.clone()),
        ("ncftpput", _) => (host, arguments.operands.get(1..).unwrap_or_default().to_vec()),
        _ => (host, Vec::new()),
    };
    for file in &files {
        send(machine, file, Depth::Single);
        session.sends = true;
    }
    machine.host(&address, if session.sends { Upload::Yes } else { Upload::No });
    if session.unknown {
        // Whatever is fetched may come to lie here.
        come_into(machine, &session.here);
        if !session.sends {
            machine.possibly(|machine| machine.host(&address, Upload::Yes));
        }
    }
    Exit::unknown()
}

/// Interprets a call of smbclient.
pub(crate) fn file_server(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let Some(host) = arguments.operands.first().cloned() else { return Exit::unknown() };
    let mut session = Session {
        here: here(),
        content: from_host(&host),
        sends: false,
        unknown: false,
        destroys: false,
        opened: None,
    };
    let mut orders: Vec<Value> = arguments.values(&["-c", "--command"]).cloned().collect();
    match &call.input {
        Input::Text(text) => orders.push(text.clone()),
        Input::Inherited => {}
        Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => session.unknown = true,
    }
    for order in &orders {
        session.carry_out(machine, "smbclient", order, 0);
    }
    // `-Tx FILE` unpacks what was packed by `-Tc FILE`, on the other side; it reads and writes the file here.
    if let Some((how, file)) = tar_option(call) {
        if how.contains('c') {
            machine.write(&file);
        } else {
            send(machine, &file, Depth::Single);
            session.sends = true;
        }
    }
    let destroys = orders.iter().any(|order| {
        let verbs = ["del", "rm", "rmdir", "deltree", "wdel"];
        let known = order.as_exact().map(commands_of).unwrap_or_default();
        known.iter().any(|words| words.first().is_some_and(|verb| verbs.contains(&verb.as_str())))
    });
    if destroys {
        let target = host.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()));
        machine.add(Draft::new(EffectKind::InfrastructureDestroy, target).note("removes files there"));
    }
    if session.unknown {
        come_into(machine, &session.here);
    }
    if session.sends || session.unknown {
        let target = host.as_exact().map_or(Target::Unknown, |text| Target::Host(text.to_owned()));
        machine.add(
            Draft::new(EffectKind::DataUpload, target).severity(Severity::High).note("puts files there"),
        );
    }
    machine.host(&host, Upload::No);
    Exit::unknown()
}

/// The letters behind `-T`, and the file that they are about (smbclient(1)).
fn tar_option(call: &Call) -> Option<(String, Value)> {
    let mut words = call.words.iter();
    let how = words.find_map(|word| {
        let text = word.as_exact()?;
        text.strip_prefix("-T").or_else(|| text.strip_prefix("--tar=")).map(str::to_owned)
    })?;
    Some((how, words.next()?.clone()))
}

/// The commands of a text, each as its words: `;`, `&&` and `||` divide them, quotes and backslashes hold words together.
fn commands_of(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            match (letter, quote) {
                ('\\', None | Some('"')) => {
                    let next = letters.next().unwrap_or('\\');
                    word.get_or_insert_default().push(next);
                }
                (letter, Some(open)) if letter == open => quote = None,
                ('"' | '\'', None) => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                ('#', None) if word.is_none() && words.is_empty() => break,
                // The rest of the line belongs to the shell.
                ('!', None)
                    if words.is_empty() && word.as_deref().is_none_or(|mark| matches!(mark, "-" | "@")) =>
                {
                    words = vec!["!".to_owned(), letters.by_ref().collect()];
                    word = None;
                }
                (';' | '&' | '|' | '(' | ')', None) => {
                    words.extend(word.take());
                    all.push(std::mem::take(&mut words));
                }
                ('>', None) => {
                    words.extend(word.take());
                    words.push(">".to_owned());
                }
                (letter, None) if letter.is_whitespace() => words.extend(word.take()),
                (letter, _) => word.get_or_insert_default().push(letter),
            }
        }
        words.extend(word);
        all.push(words);
    }
    all.retain(|words| !words.is_empty());
    all
}

impl Session {
    /// `sftp host:file [here]` fetches it.
    fn named_file(&self, machine: &mut Machine<'_>, call: &Call) {
        let arguments = &call.arguments;
        let plain = arguments.operand(0).map(|first| first.trim_start_matches("sftp://"));
        let there = plain.and_then(|first| first.split_once(':')).map(|(_, there)| there);
        let Some(there) = there.filter(|there| !there.is_empty() && !there.ends_with('/')) else { return };
        let depth = if arguments.has(&["-r"]) { Depth::Recursive } else { Depth::Single };
        self.fetch(machine, there, arguments.operand(1), depth);
    }

    /// `ncftpget HOST DIRECTORY FILES`, `ncftpget ADDRESSES`.
    fn files_of_ncftpget(&self, machine: &mut Machine<'_>, call: &Call) {
        let arguments = &call.arguments;
        let words: Vec<&str> = arguments.operands.iter().filter_map(Value::as_exact).collect();
        if arguments.has(&["-c"]) {
            return;
        }
        let depth = if arguments.has(&["-R"]) { Depth::Recursive } else { Depth::Single };
        match words.as_slice() {
            [first, ..] if first.contains("://") => self.addresses(machine, call),
            [_, directory, files @ ..] => {
                for file in files {
                    receive(machine, &directory_named(directory), &Value::exact(*file), depth, &self.content);
                }
            }
            _ => come_into(machine, &self.here),
        }
    }

    /// Addresses as operands are fetched to their own names here, or to the file of `-o`.
    fn addresses(&self, machine: &mut Machine<'_>, call: &Call) {
        let arguments = &call.arguments;
        if let Some(file) = arguments.value(&["-o"]).filter(|file| file.as_exact() != Some("-")).cloned() {
            machine.write_from(&file, &self.content);
            return;
        }
        for address in arguments.operands.iter().filter(|word| word.known_start().contains("://")) {
            match remote_name(address, None) {
                Some(name) => receive(machine, &self.here, &Value::Exact(name), Depth::Single, &self.content),
                None if address.known_end().ends_with('/') => {}
                None => come_into(machine, &self.here),
            }
        }
    }

    /// Carries commands out, those of a file that is named among them.
    fn carry_out(&mut self, machine: &mut Machine<'_>, program: &str, order: &Value, depth: usize) {
        let Some(text) = order.as_exact() else {
            self.unknown = true;
            return;
        };
        for words in commands_of(text) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if let ["source", file] = words.as_slice()
                && program == "lftp"
            {
                let inner = if depth < NESTED {
                    machine.read(&Value::exact(*file)).into_text()
                } else {
                    Value::Unknown
                };
                self.carry_out(machine, program, &inner, depth + 1);
            } else {
                self.command(machine, program, &words);
            }
        }
    }

    fn command(&mut self, machine: &mut Machine<'_>, program: &str, words: &[&str]) {
        let Some((verb, rest)) = words.split_first() else { return };
        let verb = verb.trim_start_matches(['-', '@']);
        let has_letter = |letter: char| {
            rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
        };
        match verb {
            "!" | "shell" | "local" => {
                let text = Value::Exact(rest.join(" "));
                machine.run_text(&text, Input::Inherited);
            }
            "queue" | "command" | "repeat" | "at" | "wait" if program == "lftp" => {
                let known = rest.iter().position(|word| is_verb(word));
                if let Some(inner) = known.and_then(|at| rest.get(at..)) {
                    self.command(machine, program, inner);
                }
            }
            "open" => self.opened = operands(rest, &["-u", "-p"]).first().map(|host| (*host).to_owned()),
            // Commands of lftp that carry out another one (lftp(1)).
            "glob" | "eval" if program == "lftp" => {
                let at = rest.iter().position(|word| !word.starts_with('-'));
                if let Some(inner) = at.and_then(|at| rest.get(at..)) {
                    self.command(machine, program, inner);
                }
            }
            "lcd" => self.here = rest.first().map_or_else(|| Value::exact("~"), |place| self.at(place)),
            "get" | "reget" | "recv" | "newer" | "pget" | "get1" if program == "lftp" => {
                self.files_of_lftp(machine, rest);
            }
            "get" | "reget" | "recv" | "newer" => {
                let depth = if has_letter('r') || has_letter('R') { Depth::Recursive } else { Depth::Single };
                let names: Vec<&str> = operands(rest, &[]);
                match names.first() {
                    Some(there) => self.fetch(machine, there, names.get(1).copied(), depth),
                    // It asks for the name.
                    None => self.unknown = true,
                }
            }
            "mget" | "mreget" => {
                let directory =
                    option(rest, &["-O"]).map_or_else(|| self.here.clone(), |place| self.at(place));
                for there in operands(rest, &["-O"]) {
                    if there.contains(['*', '?', '[', '{']) {
                        come_into(machine, &directory);
                    } else {
                        receive(machine, &directory, &Value::exact(there), Depth::Single, &self.content);
                    }
                }
            }
            // The list of a directory there, into a file here.
            "mls" | "mdir" | "ls" | "dir" | "nlist" if matches!(program, "ftp" | "tnftp" | "ncftp") => {
                if let [_, .., file] = operands(rest, &[]).as_slice() {
                    machine.write_from(&self.at(file), &self.content);
                }
            }
            "mirror" if rest.iter().any(|word| matches!(*word, "--dry-run" | "--just-print")) => {}
            "mirror" if rest.iter().any(|word| *word == "--reverse" || is_letter_of(word, 'R')) => {
                let file = operands(rest, MIRROR_VALUES).first().copied().unwrap_or(".");
                send(machine, &self.at(file), Depth::Recursive);
                self.sends = true;
            }
            "mirror" => self.mirror(machine, rest),
            "put" | "mput" | "reput" | "send" | "append" => {
                let file = operands(rest, &["-O"]).first().copied().unwrap_or(".");
                send(machine, &self.at(file), Depth::Single);
                self.sends = true;
            }
            "tar" if program == "smbclient" => {
                if let [_, file, ..] = operands(rest, &[]).as_slice() {
                    machine.write(&self.at(file));
                }
            }
            verb if removes(program, verb, rest) => self.destroys = true,
            _ => {}
        }
        if verb == "mirror"
            && !rest.iter().any(|word| matches!(*word, "--dry-run" | "--just-print"))
            && rest.iter().any(|word| *word == "--reverse" || is_letter_of(word, 'R'))
            && rest.iter().any(|word| {
                word.starts_with("--delete") || *word == "--Remove-source-files" || is_letter_of(word, 'e')
            })
        {
            self.destroys = true;
        }
        // `cat file > here` of lftp.
        if let Some(file) = rest.iter().position(|word| *word == ">").and_then(|at| rest.get(at + 1)) {
            machine.write_from(&self.at(file), &self.content);
        }
    }

    /// A local path, as the session means it.
    fn at(&self, path: &str) -> Value {
        if path.starts_with(['/', '~']) || self.here == here() {
            return Value::exact(path);
        }
        self.here.clone().followed_by(&Value::exact("/")).followed_by(&Value::exact(path))
    }

    /// Writes what is fetched: to the name that is given, or into it when it is a directory, else to its own name here.
    fn fetch(&self, machine: &mut Machine<'_>, there: &str, to: Option<&str>, depth: Depth) {
        let is_pattern = there.contains(['*', '?', '[']);
        match to {
            Some(to) if is_pattern => come_into(machine, &self.at(to)),
            None if is_pattern => come_into(machine, &self.here),
            Some("-") => {}
            Some(to) => receive(machine, &self.at(to), &Value::exact(there), depth, &self.content),
            None => receive(machine, &directory_of(&self.here), &Value::exact(there), depth, &self.content),
        }
    }

    /// `get [-O base] file [-o here] ...`
    fn files_of_lftp(&self, machine: &mut Machine<'_>, words: &[&str]) {
        let base = option(words, &["-O"]).map_or_else(|| self.here.clone(), |place| self.at(place));
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            match *word {
                "-O" | "-n" => {
                    words.next();
                }
                word if word.starts_with('-') => {}
                there => {
                    if words.peek() == Some(&&"-o") {
                        words.next();
                        if let Some(file) = words.next() {
                            self.fetch(machine, there, Some(file), Depth::Single);
                        }
                    } else {
                        receive(
                            machine,
                            &directory_of(&base),
                            &Value::exact(there),
                            Depth::Single,
                            &self.content,
                        );
                    }
                }
            }
        }
    }

    /// `mirror [there [here]]` of lftp: a tree, over what stands there.
    fn mirror(&self, machine: &mut Machine<'_>, words: &[&str]) {
        if words.contains(&"--dry-run") || words.contains(&"--just-print") {
            return;
        }
        let names = operands(words, MIRROR_VALUES);
        let to = names.get(1).copied().or_else(|| option(words, &["-O", "--target-directory"]));
        let place = to.map_or_else(|| self.here.clone(), |to| self.at(to));
        if !write_over_tree(machine, &place) {
            come_into(machine, &place);
        }
        if let Some(path) = machine.one_path_through(&place) {
            replace_below(machine, &path);
        }
        let deletes = ["--delete", "-e", "--delete-first"];
        if words.iter().any(|word| deletes.contains(word) || is_letter_of(word, 'e')) {
            machine.possibly(|machine| machine.delete(&place, Depth::Recursive));
        }
    }
}

/// Whether a command removes files of the other side (sftp(1), ftp(1), lftp(1), ncftp(1)). A single file goes like one that is moved away.
fn removes(program: &str, verb: &str, rest: &[&str]) -> bool {
    let names = operands(rest, &[]);
    match verb {
        "rm" | "delete" | "del" | "mdelete" | "mdel" | "mrm" | "rmdir" | "rmd" => {
            program != "smbclient" && !names.is_empty()
        }
        _ => false,
    }
}

/// Options of `mirror` with a value (lftp(1)).
const MIRROR_VALUES: &[&str] = &[
    "-x",
    "--exclude",
    "-i",
    "--include",
    "-X",
    "--exclude-glob",
    "-I",
    "--include-glob",
    "-N",
    "--newer-than",
    "--older-than",
    "-P",
    "--parallel",
    "--use-pget-n",
    "-O",
    "--target-directory",
    "-f",
    "--file",
    "-F",
    "--directory",
    "--size-range",
    "--log",
    "--on-change",
];

/// Whether a word is a bundle of short options with this letter.
fn is_letter_of(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

fn is_verb(word: &str) -> bool {
    matches!(
        word,
        "get"
            | "pget"
            | "reget"
            | "mget"
            | "mirror"
            | "put"
            | "mput"
            | "reput"
            | "lcd"
            | "!"
            | "shell"
            | "rm"
            | "mrm"
            | "rmdir"
            | "glob"
    )
}

/// A directory by its name, also where it is not there yet.
fn directory_named(name: &str) -> Value {
    directory_of(&Value::exact(name))
}

fn directory_of(place: &Value) -> Value {
    if place.known_end().ends_with('/') {
        place.clone()
    } else {
        place.clone().followed_by(&Value::exact("/"))
    }
}

/// The words that are no options, nor the values of these.
fn operands<'a>(words: &[&'a str], with_value: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if with_value.contains(word) {
            words.next();
        } else if *word == ">" {
            break;
        } else if !word.starts_with('-') || *word == "-" {
            found.push(*word);
        }
    }
    found
}

/// The value of one of these options, attached or behind it.
fn option<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if names.contains(word) {
            return words.next().copied();
        }
        if let Some((name, value)) = word.split_once('=')
            && names.contains(&name)
        {
            return Some(value);
        }
    }
    None
}
