//! Ending processes, and keeping them from their work: by number, by name, by what a list holds.

use super::limits::user_of;
use super::patterns::{Comparison, is_everything, is_shell_of_hook};
use super::roles;
use crate::effect::{Effect, EffectKind, Severity, Target};
use crate::interpreter::guarded::PARENT;
use crate::interpreter::process_lists::{ListedProcesses, OPTIONS_WITH_VALUES, users_of};
use crate::interpreter::signals::{Signal, signal};
use crate::interpreter::{Call, Draft, Exit, Machine, Output, Value};
use crate::nature::Nature;
use crate::world::Entry;

/// `kill`.
pub(crate) fn kill(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some(signal) = signal(&call.words, &[]) else { return Exit::unknown() };
    if signal.harmless {
        return Exit::silent();
    }
    for target in signal.targets.iter().copied() {
        let text = target.as_exact();
        if signal.reloads && !text.is_some_and(|text| text == "-1" || crate::guard::is_held_up(text)) {
            continue;
        }
        let draft = if let Some(text) = text {
            let is_number = !text.is_empty() && text.chars().all(|sign| sign.is_ascii_digit());
            let picked = of_processes_read(machine).filter(|_| is_number);
            match picked {
                Some(list) => listed_kill(&list),
                None if signal.suspends => suspended(text),
                None => numbered_kill(text),
            }
        } else {
            // A pattern stands for the numbers of a range that is too long to be written out, or for the folders of `/proc`.
            let by_pattern = is_pattern(target).then_some(ListedProcesses::Counted);
            match listed_in(machine).or(by_pattern).or_else(|| of_processes_read(machine)) {
                Some(list) => listed_kill(&list),
                None => found_kill(&signal, machine.substituted()),
            }
        };
        machine.add(draft.nature(Nature::Signal));
    }
    Exit::silent()
}

/// What is said of a process that is held up, where nothing tells which one it is.
pub(crate) const HELD_UP: &str =
    "which process is stopped is not known: the guard or the client could be, and does not answer then";
/// What is said of numbers out of a list that somebody wrote for another purpose than to name one process.
const OF_A_LIST: &str =
    "which processes are ended stands in a list that is not read, the guard may be among them";

/// The stop of a process by its number, or by the word that stands for it.
pub(crate) fn suspended(text: &str) -> Draft {
    let draft = numbered_kill(text);
    if is_anybody(text) { draft.severity(Severity::High).note(HELD_UP) } else { draft }
}

/// Whether a number is that of any process, and not one of a job of this shell, of the shell itself, or of what is told apart by its number.
fn is_anybody(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or(text);
    number.is_empty() || number.chars().all(|sign| sign.is_ascii_digit()) && !matches!(number, "0" | "1")
}

/// The end of processes whose numbers another command found, or a file holds.
fn found_kill(signal: &Signal<'_>, outputs: &[Output]) -> Draft {
    let draft = Draft::new(EffectKind::ProcessKill, Target::Unknown);
    if signal.suspends {
        return draft.severity(Severity::High).note(HELD_UP);
    }
    if outputs.iter().any(is_list) {
        return draft.severity(Severity::High).note(OF_A_LIST);
    }
    draft.note("a process found by another command")
}

/// Whether what a command printed are numbers out of a list: programs keep their own number in files that are named for it.
fn is_list(output: &Output) -> bool {
    match output {
        Output::Network(_) => true,
        Output::Local(path) => !path.starts_with("/proc/") && !names_a_process(path),
        Output::Nothing | Output::Text(_) | Output::Secret(_) | Output::Setup(_) | Output::Unknown => false,
    }
}

fn names_a_process(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.contains("pid") || name.ends_with(".lock")
}

/// Every process, where the command read what the kernel shows of many of them (proc(5)): which of them it picked is not known.
fn of_processes_read(machine: &Machine<'_>) -> Option<ListedProcesses> {
    let number_of = |effect: &Effect| {
        let rest = effect.target.text()?.strip_prefix("/proc/")?;
        let (number, file) = rest.split_once('/')?;
        let is_number = number.chars().all(|sign| sign.is_ascii_digit() || "[]*?-".contains(sign));
        let tells = matches!(file, "comm" | "cmdline" | "status" | "stat" | "exe" | "environ" | "maps");
        (effect.kind == EffectKind::FileRead && is_number && tells).then(|| number.to_owned())
    };
    let mut numbers = machine.effects_since(0).filter_map(number_of);
    let first = numbers.next()?;
    (first.contains(['*', '[', '?']) || numbers.any(|number| number != first)).then_some(ListedProcesses::All)
}

fn is_pattern(target: &Value) -> bool {
    match target {
        Value::Glob(_) => true,
        Value::Exact(_) | Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => false,
    }
}

/// The list whose numbers the words of the running command are; those of who started a process stand in files of the kernel (proc(5)).
pub(super) fn listed_in(machine: &Machine<'_>) -> Option<ListedProcesses> {
    let file_of = |output: &Output, names: &[&str]| matches!(output, Output::Local(path) if path.starts_with("/proc/") && names.iter().any(|name| path.ends_with(name)));
    ListedProcesses::in_words(machine).or_else(|| {
        let shows = |names: &[&str]| machine.substituted().iter().any(|output| file_of(output, names));
        // Children that are not those of this shell are those of who started it.
        let of_this = |output: &Output| matches!(output, Output::Local(path) if path.starts_with("/proc/$$/") || path.starts_with("/proc/self/"));
        if shows(&["/children"]) {
            let is_own = machine.substituted().iter().any(of_this);
            return (!is_own).then_some(ListedProcesses::All);
        }
        shows(&["/stat", "/status"]).then(|| ListedProcesses::Chosen(PARENT.to_owned()))
    })
}

/// The end of a process by its number, or by the word that stands for it.
pub(crate) fn numbered_kill(text: &str) -> Draft {
    let draft = Draft::new(EffectKind::ProcessKill, Target::Process(text.to_owned()));
    match text {
        "-1" => draft.severity(Severity::Critical).note("ends every process"),
        "1" => draft.severity(Severity::Critical).note("ends the first process of the machine"),
        text if text.starts_with('%') => draft.note("a job of this shell"),
        _ => draft,
    }
}

/// `fuser`: which processes use a file or port, and with `-k` their end. Whoever is in a directory, or on a file system, are more than
/// this task.
pub(crate) fn fuser(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if !arguments.has(&["-k", "--kill"]) {
        return Exit::unknown();
    }
    let of_ports = arguments.values(&["-n", "--namespace"]).any(|space| space.as_exact() != Some("file"));
    let of_mount = arguments.has(&["-m", "-M", "-c", "--mount", "--ismountpoint"]);
    for target in &arguments.operands {
        let draft = Draft::new(EffectKind::ProcessKill, process(target));
        let is_port = of_ports
            || target.as_exact().is_some_and(|text| text.ends_with("/tcp") || text.ends_with("/udp"));
        let is_directory = !is_port
            && target.as_exact().is_some_and(|text| {
                machine.cwd().is_none_or(|cwd| matches!(machine.entry(&cwd.join(text)), Entry::Directory))
            });
        if !is_port && !of_mount && !is_directory {
            match users_of(machine, target) {
                ListedProcesses::Chosen(_) => {}
                list @ (ListedProcesses::All | ListedProcesses::Counted | ListedProcesses::Named(_)) => {
                    machine.add(listed_kill(&list).nature(Nature::Signal));
                    continue;
                }
            }
        }
        machine.add(if !is_port && (of_mount || is_directory) {
            draft.severity(Severity::High).note("ends every process that is in there, the client too")
        } else {
            draft
        });
    }
    Exit::unknown()
}

/// What is said of shells that end: this command runs in one, and so does the line by which a client asks the guard.
pub(super) const OF_SHELLS: &str =
    "shells of other programs may be among them, and the one by which the client asks the guard";

/// How grave it is to end the processes that a pattern fits, and why.
fn gravity(pattern: &str, by: Comparison) -> Option<(Severity, &'static str)> {
    if is_everything(pattern, by) {
        return Some((Severity::Critical, "matches every process"));
    }
    roles::gravity(pattern.trim_start_matches('^').trim_end_matches('$'))
        .or_else(|| is_shell_of_hook(pattern, by).then_some((Severity::High, OF_SHELLS)))
}

pub(super) fn pattern_kill(pattern: &str, by: Comparison) -> Draft {
    let draft = Draft::new(EffectKind::ProcessKill, Target::Process(pattern.to_owned()));
    match gravity(pattern, by) {
        Some((severity, note)) => draft.severity(severity).note(note),
        None => draft,
    }
}

/// The end of the processes of a list.
pub(crate) fn listed_kill(list: &ListedProcesses) -> Draft {
    let all = |note: &str| {
        Draft::new(EffectKind::ProcessKill, Target::Process("every process that is listed".to_owned()))
            .severity(Severity::High)
            .note(note)
    };
    match list {
        // The way in which the name was compared is not handed on with the list.
        ListedProcesses::Named(names) => {
            let ways = [Comparison::Names, Comparison::Lines];
            let by = ways.into_iter().find(|by| gravity(names, *by).is_some());
            pattern_kill(names, by.unwrap_or(Comparison::Names))
        }
        ListedProcesses::Chosen(what) => Draft::new(EffectKind::ProcessKill, Target::Process(what.clone())),
        ListedProcesses::All => all("which of all processes are ended is not known"),
        ListedProcesses::Counted => all(COUNTED),
    }
}

/// What is said of numbers that are gone through.
const COUNTED: &str = "goes through the numbers of all processes, the client and the guard are among them";
/// From how many numbers in a row on they count as gone through (ours).
const IN_A_ROW: usize = 16;

/// The number of the process or group that an effect ends; `None` for what stands for more: every process, the own group.
fn counted_number(effect: &Effect) -> Option<i64> {
    let number = (effect.kind == EffectKind::ProcessKill).then(|| effect.target.text()?.parse::<i64>().ok());
    number.flatten().filter(|number| !matches!(number, -1 | 0))
}

/// Puts one effect in the place of the ends of processes whose numbers follow each other: they were counted, not found.
pub(crate) fn merge_counted(effects: &mut Vec<Effect>) {
    let numbers: Vec<i64> = effects.iter().filter_map(counted_number).collect();
    let mut rows = numbers.windows(IN_A_ROW).filter(|row| {
        let mut steps = row.windows(2).map(|pair| pair.last()?.checked_sub(*pair.first()?));
        let first = steps.next().flatten().filter(|step| *step != 0);
        first.is_some() && steps.all(|step| step == first)
    });
    let Some(first) = rows.next() else { return };
    // The first process is named for itself, unless the count begins there.
    let is_counted_too = first.contains(&1) || rows.any(|row| row.contains(&1));
    let is_merged =
        |effect: &Effect| counted_number(effect).is_some_and(|number| number != 1 || is_counted_too);
    let merged = effects.iter().filter(|effect| counted_number(effect).is_some_and(|number| number != 1));
    let severity = merged.map(|effect| effect.severity).fold(Severity::High, Ord::max);
    let mut kept = false;
    effects.retain_mut(|effect| {
        if !is_merged(effect) {
            return true;
        }
        if kept {
            return false;
        }
        kept = true;
        effect.target = Target::Process("every process that is listed".to_owned());
        effect.severity = severity;
        COUNTED.clone_into(&mut effect.note);
        true
    });
}

/// How a program that ends processes by their names chooses among them.
struct Selection<'c> {
    by: Comparison,
    /// The users whose processes are meant.
    users: Option<&'c Value>,
    /// The processes whose children are meant.
    parents: Option<&'c Value>,
    /// Whether a terminal or session is named.
    of_terminal: bool,
    /// Whether what does not fit is meant.
    inverted: bool,
}

/// The options of `killall` that take a value (killall(1)).
const OPTIONS_OF_KILLALL: [&str; 10] =
    ["-u", "--user", "-y", "--younger-than", "-o", "--older-than", "-n", "--ns", "-Z", "--context"];

/// The options behind which a user is named.
const USERS: [&str; 5] = ["-u", "--user", "-U", "--uid", "--euid"];

impl<'c> Selection<'c> {
    fn of(call: &'c Call) -> Self {
        let is_killall = call.program.starts_with("killall");
        let given = |names: &[&str]| {
            call.words.iter().any(|word| word.as_exact().is_some_and(|text| names.contains(&text)))
        };
        // Letters may stand together: `-xf`.
        let letter = |letter: char| {
            call.words.iter().filter_map(Value::as_exact).any(|text| {
                text.strip_prefix('-').is_some_and(|letters| {
                    letters.contains(letter) && letters.chars().all(|c| c.is_ascii_lowercase())
                })
            })
        };
        let value = |names: &[&str]| {
            let at = call
                .words
                .iter()
                .position(|word| word.as_exact().is_some_and(|text| names.contains(&text)))?;
            call.words.get(at + 1)
        };
        let by = match call.program.as_str() {
            "pkill" if letter('f') || given(&["--full"]) => Comparison::Lines,
            "pkill" if letter('x') || given(&["--exact"]) => Comparison::WholeNames,
            "pkill" | "fkill" => Comparison::Names,
            "killall" if letter('r') || given(&["--regexp"]) => Comparison::Names,
            _ => Comparison::WholeNames,
        };
        Self {
            by,
            users: value(&USERS).or_else(|| given(&USERS).then_some(&Value::Unknown)),
            parents: if is_killall { None } else { value(&["-P", "--parent"]) },
            of_terminal: !is_killall && (given(&["-t", "--terminal", "-s", "--session"])),
            inverted: !is_killall && (letter('v') || given(&["--inverse"])),
        }
    }
}

/// `pkill`, `killall`: processes by name.
pub(crate) fn kill_by_name(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let values: &[&str] =
        if call.program.starts_with("killall") { &OPTIONS_OF_KILLALL } else { &OPTIONS_WITH_VALUES };
    // `-s` names a session there, and a signal elsewhere.
    let session = call.words.iter().position(|word| call.program == "pkill" && word.as_exact() == Some("-s"));
    let words: Vec<Value> = call
        .words
        .iter()
        .enumerate()
        .filter(|(place, _)| session.is_none_or(|session| *place != session && *place != session + 1))
        .map(|(_, word)| word.clone())
        .collect();
    let Some(signal) = signal(&words, values) else { return Exit::unknown() };
    if signal.harmless {
        return Exit::silent();
    }
    if let Some(file) = pid_file(call) {
        let outputs: Vec<Output> =
            file.as_exact().map(|path| Output::Local(path.to_owned())).into_iter().collect();
        machine.read(&file);
        machine.add(found_kill(&signal, &outputs).nature(Nature::Signal));
        return Exit::silent();
    }
    let selection = Selection::of(call);
    let grave = |target: Target, severity: Severity, note: &str| {
        Draft::new(EffectKind::ProcessKill, target).nature(Nature::Signal).severity(severity).note(note)
    };
    if selection.inverted {
        let all = Target::Process("every other process".to_owned());
        machine.add(grave(all, Severity::Critical, "ends every process that the pattern does not fit"));
        return Exit::silent();
    }
    if signal.targets.is_empty() || call.program == "slay" {
        let user = match call.program.as_str() {
            "slay" => signal.targets.first().copied().or(Some(&Value::Unknown)),
            _ => selection.users,
        };
        let draft = match (user, selection.parents.map(Value::as_exact)) {
            (Some(user), _) => {
                let target =
                    if user.as_exact().is_some() { Target::Process(user_of(user)) } else { Target::Unknown };
                grave(target, Severity::Critical, "ends every process of a user")
            }
            (None, Some(Some(PARENT))) => grave(
                Target::Process(PARENT.to_owned()),
                Severity::Critical,
                "ends all that the client has started",
            ),
            (None, Some(Some("1"))) => grave(
                Target::Process("services of the machine".to_owned()),
                Severity::High,
                "ends all that the first process has started",
            ),
            (None, _) if selection.of_terminal => grave(
                Target::Process("a terminal".to_owned()),
                Severity::High,
                "ends every process of a terminal or session",
            ),
            (None, _) if call.program == "killall5" => {
                grave(Target::Process("everything".to_owned()), Severity::Critical, "ends every process")
            }
            (None, _) => match chosen_otherwise(machine, call) {
                Some(list) => listed_kill(&list).nature(Nature::Signal),
                None => return Exit::silent(),
            },
        };
        machine.add(draft);
        return Exit::silent();
    }
    for target in signal.targets {
        let draft = match target.as_exact() {
            Some(pattern) => {
                // Services take some signals for an order.
                let ends = !signal.reloads
                    || crate::guard::is_held_up(pattern)
                    || is_everything(pattern, selection.by)
                    || is_shell_of_hook(pattern, selection.by);
                if !ends {
                    continue;
                }
                pattern_kill(pattern, selection.by)
            }
            None if signal.reloads => continue,
            None => Draft::new(EffectKind::ProcessKill, Target::Unknown),
        };
        machine.add(draft.nature(Nature::Signal));
    }
    Exit::silent()
}

/// The file that holds the numbers of the processes (`-F`, `--pidfile` of pkill(1)).
fn pid_file(call: &Call) -> Option<Value> {
    if call.program != "pkill" {
        return None;
    }
    let text_of = |word: &Value| word.as_exact().map(str::to_owned);
    call.words.iter().enumerate().find_map(|(place, word)| {
        let text = text_of(word)?;
        match text.strip_prefix("-F").or_else(|| text.strip_prefix("--pidfile=")) {
            Some("") => call.words.get(place + 1).cloned(),
            Some(file) => Some(Value::exact(file)),
            None if text == "--pidfile" => call.words.get(place + 1).cloned(),
            None => None,
        }
    })
}

/// Whose processes `pkill` chooses by nothing that is a name: by their age, their state, their group; `None` where it chooses none, or those
/// of a file or a group that is named.
fn chosen_otherwise(machine: &Machine<'_>, call: &Call) -> Option<ListedProcesses> {
    let letter = |word: &str, letters: &str| {
        word.strip_prefix('-').is_some_and(|rest| rest.len() == 1 && rest.contains(|c| letters.contains(c)))
    };
    let long = ["--newest", "--oldest", "--older", "--runstates", "--group", "--ns", "--cgroup", "--env"];
    let by_age = |word: &Value| {
        let start = word.known_start();
        letter(&start, "noOrGA") || long.iter().any(|option| start.starts_with(option))
    };
    let by_group = |word: &Value| matches!(word.as_exact(), Some("-g" | "--pgroup"));
    if call.program == "pkill" && call.words.iter().any(by_age) {
        return Some(ListedProcesses::All);
    }
    let group = call.words.iter().position(by_group).and_then(|at| call.words.get(at + 1))?;
    if group.as_exact() == Some(PARENT) {
        return Some(ListedProcesses::Chosen(PARENT.to_owned()));
    }
    if group.as_exact() == Some("0") {
        // That of `pkill` itself, in which whoever started this shell may be.
        return Some(ListedProcesses::All);
    }
    if group.as_exact().is_some() { None } else { listed_in(machine) }
}

fn process(value: &Value) -> Target {
    value.as_exact().map_or(Target::Unknown, |text| Target::Process(text.to_owned()))
}
