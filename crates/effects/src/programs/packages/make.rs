//! `make`: which makefiles are read, and with which variables. `run` says which recipes run, and in which order.

mod run;

use crate::interpreter::{Call, Exit, Input, Machine, Output, Value};
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::makefile::{Makefile, RULES};
use super::spawned;
use crate::interpreter::strings::quoted_words;
use crate::programs::instructions::{instructions, not_read};
use run::{MakeRun, Manner, names_of};

/// The makefiles that are looked for, in this order (GNU make, "Names for Makefiles").
pub(super) const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// The greatest number of ways in which one call reads its makefiles, where what they ask is not known (ours).
const READINGS: usize = 32;
/// How often one call reads its makefiles again, because a rule has made one (ours).
const READ_AGAIN: usize = 3;
/// The greatest length of what is read in all of them together, in bytes (ours).
const READ: usize = 1024 * 1024;

/// How a word begins that sets the options of make as a variable.
const ON_LINE: &str = "MAKEFLAGS=";

/// Interprets a call of make.
pub(crate) fn make(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if call.arguments.has(&["-v", "--version", "-h", "--help"]) {
        return Exit::unknown();
    }
    // Options also come from the environment, in front of the others.
    for name in ["MAKEFLAGS", "GNUMAKEFLAGS"] {
        let Some(flags) = given(machine, name) else { continue };
        let Some(text) = flags.as_exact() else {
            if !matches!(flags.known_start().split_once(char::is_whitespace), None | Some(("", _)))
                || !flags.known_start().trim_start().starts_with("-j")
            {
                machine.opaque(format!("the options of `make` in `{name}` are not known"));
            }
            continue;
        };
        let mut words = flags_of_environment(text);
        if text.contains('$') {
            words.insert(0, Value::Exact(format!("--eval={}", expanded(text))));
        }
        if words.is_empty() {
            continue;
        }
        words.extend(call.words.iter().cloned());
        let without = vec![(name.to_owned(), Value::exact(""))];
        return machine
            .with_variables(without, |machine| machine.call_program(&call.program, &call.written, &words));
    }
    // What a variable of the command line sets counts as soon as the makefiles are read.
    let on_line = call.words.iter().filter_map(Value::as_exact).find_map(|word| word.strip_prefix(ON_LINE));
    // By then the environment has been taken in, but whether everything is made anew is not settled (tried with GNU make 4.3).
    let counts = |word: &Value| {
        let text = word.known_start();
        text == "--always-make"
            || text.starts_with("--eval")
            || !text.starts_with("--") && text.starts_with('-') && text.contains('B')
    };
    let flags = on_line.map(|text| flags_of_environment(text).into_iter().filter(counts).collect::<Vec<_>>());
    if let Some(flags) = flags.filter(|flags| !flags.is_empty()) {
        let is_other = |word: &&Value| !word.known_start().starts_with(ON_LINE);
        let words: Vec<Value> =
            flags.into_iter().chain(call.words.iter().filter(is_other).cloned()).collect();
        return machine.call_program(&call.program, &call.written, &words);
    }
    match call.arguments.value(&["-C", "--directory"]).cloned() {
        Some(directory) => machine.inside(&directory, |machine| make_here(machine, call)),
        None => make_here(machine, call),
    }
}

/// A line of a makefile that expands a text: what functions in it run, runs. Variables of the command line go to every recipe expanded, and
/// the variables that hold options are expanded as they are read (GNU make 4.4: `decode_env_switches`, "Communicating Variables to a
/// Sub-make").
fn expanded(text: &str) -> String {
    format!(".EXPANDED := {}", text.replace('\n', " "))
}

/// The value of a variable that the command itself sets for programs.
fn given(machine: &Machine<'_>, name: &str) -> Option<Value> {
    if machine.shell.variables.contains_key(name) { machine.variable(name) } else { None }
}

/// The words of `MAKEFLAGS`, without what make does not take from there: targets, and the options that its table of switches keeps to the
/// command line (`-C`, `-f`, `-o`, `-W`, `-h`).
fn flags_of_environment(text: &str) -> Vec<Value> {
    let mut words = Vec::new();
    let mut all = quoted_words(text).into_iter().enumerate();
    while let Some((place, word)) = all.next() {
        let word = if place == 0 && !word.starts_with('-') && !word.contains('=') {
            format!("-{word}")
        } else {
            word
        };
        let name = word.split('=').next().unwrap_or_default();
        if matches!(
            name,
            "-C" | "-f" | "-o" | "-W" | "--directory" | "--file" | "--makefile" | "--old-file" | "--what-if"
        ) {
            if name == word {
                all.next();
            }
        } else if word == "--" {
            // Of what follows only variables count.
            words.extend(
                all.by_ref().filter(|(_, word)| word.contains('=')).map(|(_, word)| Value::Exact(word)),
            );
        } else if word.contains('=')
            || word.starts_with('-') && !word.starts_with("-f") && !word.starts_with("-C")
        {
            words.push(Value::Exact(word));
        }
    }
    words
}

/// The texts of the makefiles that a call names, or of the one that lies here, with their names; `None` when one cannot be read.
fn makefiles(machine: &mut Machine<'_>, call: &Call, cwd: &AbsolutePath) -> Option<Vec<(String, String)>> {
    let named: Vec<Value> = call.arguments.values(&["-f", "--file", "--makefile"]).cloned().collect();
    let mut texts = Vec::new();
    for value in &named {
        let name = value.as_exact()?;
        let text = match (name, &call.input) {
            ("/dev/null", _) => Value::exact(""),
            ("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0", Input::Text(text)) => text.clone(),
            (
                "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0",
                Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown,
            ) => Value::Unknown,
            (name, _) => Value::Exact(instructions(machine, &cwd.join(name))?),
        };
        if let Value::Unknown = text {
            machine.unread("a makefile that comes in cannot be read");
        }
        texts.push((name.to_owned(), text.as_exact()?.to_owned()));
    }
    if named.is_empty() {
        let present = FILES
            .into_iter()
            .find(|name| !matches!(machine.entry(&cwd.join(name)), Entry::Missing | Entry::Unknown));
        match present {
            Some(name) => texts.push((name.to_owned(), instructions(machine, &cwd.join(name))?)),
            // What a repository holds that this command has cloned is not known.
            None if came_over_network(machine, cwd).is_some() => return None,
            None if machine.entry(&cwd.join("Makefile")) == Entry::Missing => {}
            None => return None,
        }
    }
    Some(texts)
}

/// The address from which the makefile of a directory came in this command.
fn came_over_network(machine: &Machine<'_>, directory: &AbsolutePath) -> Option<String> {
    match machine.peek(&Value::exact(directory.join("Makefile").as_str())) {
        Output::Network(url) => Some(url),
        Output::Nothing
        | Output::Text(_)
        | Output::Secret(_)
        | Output::Local(_)
        | Output::Setup(_)
        | Output::Unknown => None,
    }
}

fn make_here(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let Some(cwd) = machine.cwd().cloned() else {
        return spawned(machine, "make", "which makefile is read is not known");
    };
    let manner = Manner {
        // What is taken for new makes what hangs on it.
        always: arguments.has(&["-B", "--always-make"])
            || arguments.values(&["-W", "--what-if", "--assume-new", "--new-file"]).next().is_some(),
        keeps_going: arguments.has(&["-k", "--keep-going"]),
        ignores_errors: arguments.has(&["-i", "--ignore-errors"]),
        only_says: arguments.has(&["-n", "--just-print", "--dry-run", "--recon", "-q", "--question"]),
        environment_wins: arguments.has(&["-e", "--environment-overrides"]),
    };
    let mut makefile = Makefile::new(cwd.as_str());
    match machine.environment_of_programs() {
        Some(environment) => {
            for (name, value) in environment {
                makefile.inherit(&name, value.as_deref());
            }
        }
        None => makefile.inherit_unknown(),
    }
    if manner.environment_wins {
        makefile.let_environment_win();
    }
    let mut goals = Vec::new();
    for word in &arguments.operands {
        match word.as_exact() {
            Some(text) if text.contains('=') => makefile.give(text),
            Some(goal) => goals.push(goal.to_owned()),
            None => return spawned(machine, "make", "which target is made is not known"),
        }
    }
    makefile.give_goals(&goals);
    let mut evaluated: Vec<Value> = arguments.values(&["--eval", "-E"]).cloned().collect();
    for text in arguments.operands.iter().filter_map(Value::as_exact) {
        if let Some((_, value)) = text.split_once('=').filter(|(_, value)| value.contains('$')) {
            evaluated.push(Value::Exact(expanded(value)));
        }
    }
    let has_own_rules = !arguments.has(&["-r", "--no-builtin-rules", "-R", "--no-builtin-variables"]);
    if let Some(Value::Exact(names)) =
        given(machine, "MAKEFILES").filter(|names| names.known_start().contains('$'))
    {
        evaluated.push(Value::Exact(expanded(&names)));
    }
    let Some(texts) = makefiles(machine, call, &cwd) else {
        if let Input::Network(url) = &call.input {
            machine.runs_from_network(&url.clone());
        } else if let Some(url) = came_over_network(machine, &cwd) {
            machine.runs_from_network(&url);
        }
        run_evaluated(machine, &evaluated, &mut makefile);
        return spawned(machine, "make", "the makefile could not be read");
    };
    let of_words = arguments.operands.iter().filter_map(Value::as_exact);
    let before = of_words
        .filter_map(|word| word.strip_prefix("MAKEFILES="))
        .next_back()
        .map(Value::exact)
        .or_else(|| given(machine, "MAKEFILES"));
    run_evaluated(machine, &evaluated, &mut makefile);
    let before = before.unwrap_or_else(|| Value::exact(""));
    let before = before.as_exact().map_or_else(
        || {
            machine.opaque("which makefiles `MAKEFILES` names is not known");
            String::new()
        },
        str::to_owned,
    );
    let directories: Vec<AbsolutePath> = arguments
        .values(&["-I", "--include-dir"])
        .filter_map(|directory| directory.as_exact().map(|directory| cwd.join(directory)))
        .collect();
    let places = Places { cwd, directories };
    let before: Vec<(String, String)> = before
        .split_whitespace()
        .filter_map(|name| Some((name.to_owned(), instructions(machine, &places.of(machine, name))?)))
        .collect();
    let texts: Vec<(String, String)> = before.into_iter().chain(texts).collect();
    let session = Session { start: makefile, places, goals, manner, has_own_rules };
    session.run(machine, &texts, 0)
}

/// Where makefiles are looked for that others name.
struct Places {
    cwd: AbsolutePath,
    /// What `-I` names, in order.
    directories: Vec<AbsolutePath>,
}

impl Places {
    /// The file that an `include` of this name reads: here, or in the first directory that has it.
    fn of(&self, machine: &Machine<'_>, name: &str) -> AbsolutePath {
        let here = self.cwd.join(name);
        if name.starts_with('/') || machine.entry(&here) != Entry::Missing {
            return here;
        }
        let elsewhere = self.directories.iter().map(|directory| directory.join(name));
        elsewhere.into_iter().find(|path| machine.entry(path) != Entry::Missing).unwrap_or(here)
    }
}

/// A call of make, as far as it is the same however often the makefiles are read.
struct Session {
    /// What is known before the makefiles are read.
    start: Makefile,
    places: Places,
    goals: Vec<String>,
    manner: Manner,
    has_own_rules: bool,
}

impl Session {
    /// Reads the makefiles, makes them again where they say how, and makes the goals; where a makefile was made, all are read again before.
    fn run(&self, machine: &mut Machine<'_>, texts: &[(String, String)], again: usize) -> Exit {
        let readings = readings(machine, &self.start, &self.places, texts);
        for name in readings.iter().flat_map(|makefile| &makefile.included) {
            let path = self.places.of(machine, name);
            if machine.text(&path).as_exact().is_some() {
                continue;
            }
            let from_network = matches!(machine.peek(&Value::exact(path.as_str())), Output::Network(_));
            if again > 0 && machine.has_changed_within(&path) && !from_network {
                // What a compiler writes of dependencies is what builds read.
                machine.opaque(format!("`{name}` is made and read by `make` itself"));
            } else {
                not_read(machine, &path);
            }
        }
        match <[Makefile; 1]>::try_from(readings) {
            Ok([makefile]) => self.run_read(machine, makefile, texts, again),
            Err(readings) => {
                for makefile in readings {
                    machine.possibly(|machine| self.run_read(machine, makefile, texts, again));
                }
                Exit::unknown()
            }
        }
    }

    fn run_read(
        &self,
        machine: &mut Machine<'_>,
        mut makefile: Makefile,
        texts: &[(String, String)],
        again: usize,
    ) -> Exit {
        let goals = if self.goals.is_empty() {
            makefile.default_goal().into_iter().collect()
        } else {
            self.goals.clone()
        };
        makefile.own_rules = makefile.rules.len();
        if self.has_own_rules {
            makefile.read(RULES, &|_| None, 0);
        }
        let names: Vec<String> = texts.iter().map(|(name, _)| name.clone()).collect();
        let mut run = MakeRun::new(machine, makefile, self.places.cwd.clone(), self.manner);
        if run.remake(&names) && again < READ_AGAIN {
            let text_of = |(name, text): &(String, String)| {
                let now = machine.text(&self.places.of(machine, name)).as_exact().map(str::to_owned);
                (name.clone(), now.unwrap_or_else(|| text.clone()))
            };
            let texts: Vec<(String, String)> = texts.iter().map(text_of).collect();
            return self.run(machine, &texts, again + 1);
        }
        run.run(&goals)
    }
}

/// The makefiles as they read, in each way in which what they ask and nobody knows may come out.
fn readings(
    machine: &mut Machine<'_>,
    start: &Makefile,
    places: &Places,
    texts: &[(String, String)],
) -> Vec<Makefile> {
    let length: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let most = READINGS.min((READ / length.max(1)).max(1));
    let mut start = start.clone();
    let mut readings: Vec<Makefile> = Vec::new();
    let mut waiting: Vec<Vec<bool>> = vec![Vec::new()];
    let mut read = 0_usize;
    while let Some(forced) = waiting.pop() {
        if read >= most {
            machine.unread("the makefile asks more that is not known than is followed");
            break;
        }
        read += 1;
        let of_forced = forced.len();
        let mut makefile = start.deciding(forced);
        for (_, text) in texts {
            let include = |name: &str| machine.text(&places.of(machine, name)).as_exact().map(str::to_owned);
            makefile.read(text, &include, 0);
        }
        // What stands there decides what is read: once it is known, all is read again.
        let mut looked = false;
        for pattern in makefile.patterns_to_look_at() {
            if let Some(names) = names_of(machine, &places.cwd, &pattern) {
                start.find(pattern, names);
                looked = true;
            }
        }
        if looked {
            waiting.push(makefile.forced_before());
            continue;
        }
        let decided = makefile.decided();
        for place in of_forced..decided.len() {
            let other = decided.iter().take(place).copied();
            waiting.push(other.chain(decided.get(place).map(|answer| !answer)).collect());
        }
        makefile.forget_decisions();
        makefile.forget_names();
        if !readings.contains(&makefile) {
            readings.push(makefile);
        }
    }
    readings
}

/// Reads what `--eval` gives; what is not known of it is made to be run unread.
fn run_evaluated(machine: &mut Machine<'_>, texts: &[Value], makefile: &mut Makefile) {
    for text in texts {
        match text.as_exact() {
            Some(text) => makefile.read(text, &|_| None, 0),
            None => machine.unread("what `make --eval` reads and runs is not known"),
        }
    }
}
