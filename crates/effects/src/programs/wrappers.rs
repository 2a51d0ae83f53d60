//! Programs that run another program: with other rights, another environment, a limit, many times.
//!
//! | module | holds |
//! |---|---|
//! | `cages` | `bwrap`, `setpriv`, `proot`: other rights, another view of the files |
//! | `debuggers` | programs that look into others, and the orders that they are given |
//! | `environment` | `env`, `sudo`, `su`: another environment, another user |
//! | `many` | `xargs` |
//! | `parallel` | `parallel` |
//! | `settings` | the words in front of the command that a wrapper runs |
//! | `start_files` | what a shell runs before anything else |

mod cages;
mod debuggers;
mod environment;
mod many;
mod parallel;
mod settings;
mod start_files;

pub(crate) use cages::caged;
pub(crate) use debuggers::debugger;
pub(in crate::programs) use environment::kept;
pub(crate) use environment::{env, su, sudo};
pub(crate) use many::xargs;
pub(crate) use parallel::parallel;
use settings::is_plain_setting;

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::builtins::assignment;
use crate::interpreter::remote::RemoteContext;
use crate::interpreter::strings;
use crate::interpreter::{Call, Draft, Exit, Input, Machine, ShellProgram, ShellUser, Status, Value};

/// The words of a wrapper, taken apart: its own options, and what it runs.
struct Peeled {
    options: Vec<(String, Option<Value>)>,
    rest: Vec<Value>,
}

impl Peeled {
    /// Takes the options off the front. `short` are letters and `long` names of options that take a value.
    fn new(words: &[Value], short: &str, long: &[&str]) -> Self {
        let mut options = Vec::new();
        let mut place = 0;
        while let Some(text) = words.get(place).and_then(Value::as_exact) {
            if text == "--" {
                place += 1;
                break;
            }
            if let Some(name) = text.strip_prefix("--") {
                if let Some((name, value)) = name.split_once('=') {
                    options.push((format!("--{name}"), Some(Value::exact(value))));
                } else if long.contains(&name) {
                    place += 1;
                    options.push((text.to_owned(), words.get(place).cloned()));
                } else {
                    options.push((text.to_owned(), None));
                }
            } else if text.starts_with('-') && text.len() > 1 {
                for (index, letter) in text.char_indices().skip(1) {
                    if short.contains(letter) {
                        let attached = text
                            .get(index + letter.len_utf8()..)
                            .filter(|rest| !rest.is_empty())
                            .map(Value::exact);
                        let value = attached.or_else(|| {
                            place += 1;
                            words.get(place).cloned()
                        });
                        options.push((format!("-{letter}"), value));
                        break;
                    }
                    options.push((format!("-{letter}"), None));
                }
            } else {
                break;
            }
            place += 1;
        }
        Self { options, rest: words.get(place..).unwrap_or_default().to_vec() }
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    fn value(&self, names: &[&str]) -> Option<&Value> {
        self.options
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()))
            .and_then(|(_, value)| value.as_ref())
    }

    /// Whether it only asks the wrapper about itself.
    fn is_question(&self) -> bool {
        self.rest.is_empty() && self.has(&["--help", "--version", "-V"])
    }
}

/// Runs words with leading `NAME=value` set.
fn run_with_assignments(machine: &mut Machine<'_>, words: &[Value], input: Input) -> Exit {
    let mut rest = words;
    let mut assignments = Vec::new();
    while let Some((first, more)) = rest.split_first() {
        let Some(found) = assignment(first) else { break };
        assignments.push(found);
        rest = more;
    }
    // Words that nobody knows may be further assignments, of which the program stands behind.
    let unknown = rest.iter().take_while(|word| matches!(word, Value::Unknown)).count();
    let behind = rest.get(unknown..).filter(|behind| unknown > 0 && !behind.is_empty());
    let names: Vec<String> = assignments.iter().map(|(name, _)| name.clone()).collect();
    machine.with_variables(assignments, |machine| {
        machine.mark_telling_variables(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let Some(behind) = behind else { return machine.run_words(rest, input) };
        let run = |machine: &mut Machine<'_>| run_with_assignments(machine, behind, input.clone());
        match machine.with_settings_handed_over(run) {
            Ok(exit) => exit,
            Err(run) => {
                machine.possibly(run);
                machine.run_words(rest, input)
            }
        }
    })
}

/// Runs something with the rights of another user. A shell of `root` that is left open is more than the commands in it: what is typed
/// there passes no review.
fn as_user(machine: &mut Machine<'_>, user: &Value, run: impl FnOnce(&mut Machine<'_>) -> Exit) -> Exit {
    machine.effect(EffectKind::PrivilegeEscalation, user);
    let (exit, left_open) = machine.opens_shell(run);
    if left_open && user.as_exact() == Some("root") {
        machine.add(
            Draft::new(EffectKind::PrivilegeEscalation, Target::Service("a shell of root".to_owned()))
                .severity(Severity::High)
                .note("what is typed there passes no review"),
        );
    }
    exit
}

/// Runs what is behind the options, and behind `skip` operands more.
fn run_rest(machine: &mut Machine<'_>, call: &Call, short: &str, long: &[&str], skip: usize) -> Exit {
    let peeled = Peeled::new(&call.words, short, long);
    let rest = peeled.rest.get(skip..).unwrap_or_default();
    if rest.is_empty() {
        return Exit::unknown();
    }
    let exit = machine.run_words(rest, call.input.clone());
    let own = call.words.len().checked_sub(rest.len()).and_then(|end| call.words.get(..end));
    let is_plain = own.is_some_and(|own| own.iter().all(|word| is_plain_setting(word, short, long)));
    // What the wrapper itself refuses does not run at all.
    if is_plain { exit } else { Exit { status: Status::Open, ..exit } }
}

/// `nice`
pub(crate) fn nice(machine: &mut Machine<'_>, call: &Call) -> Exit {
    run_rest(machine, call, "n", &["adjustment"], 0)
}

/// `ionice`
pub(crate) fn ionice(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(&call.words, "cnpPu", &["class", "classdata", "pid", "pgid", "uid"]);
    if peeled.has(&["-p", "--pid", "-P", "--pgid", "-u", "--uid"]) || peeled.rest.is_empty() {
        if peeled.has(&["-c", "--class", "-n", "--classdata"]) {
            let of = |names: &[&str]| peeled.value(names).cloned().into_iter().collect::<Vec<_>>();
            let processes = [of(&["-p", "--pid", "-P", "--pgid"]), peeled.rest.clone()].concat();
            super::processes::throttle(machine, &processes, &of(&["-u", "--uid"]));
        }
        return Exit::unknown();
    }
    machine.run_words(&peeled.rest, call.input.clone())
}

/// `chrt`, `taskset`: a priority, or a mask of processors, stands before the command (`taskset 0x3 make`, `chrt -f 10 make`), and with `-p`
/// before the number of a process, which they only show where nothing stands before it.
pub(crate) fn scheduled(machine: &mut Machine<'_>, call: &Call) -> Exit {
    const PERIODS: &[&str] = &["sched-runtime", "sched-period", "sched-deadline"];
    let peeled = Peeled::new(&call.words, "TPD", PERIODS);
    if peeled.has(&["-p", "--pid"]) {
        if let [_, target] = peeled.rest.as_slice() {
            super::processes::throttle(machine, std::slice::from_ref(target), &[]);
        }
        return Exit::unknown();
    }
    let is_number = |word: &Value| {
        word.as_exact().is_none_or(|text| {
            let digits = text.trim_start_matches("0x");
            !digits.is_empty()
                && digits.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ',' | '-' | ':'))
                && text.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let behind = usize::from(peeled.rest.first().is_some_and(is_number));
    machine.run_words(peeled.rest.get(behind..).unwrap_or_default(), call.input.clone())
}

/// `nix develop`, `nix shell`: all that stands behind `-c` is a command.
pub(crate) fn nix_command(machine: &mut Machine<'_>, call: &Call) -> Exit {
    // Source: nix.dev, "Nix command: nix flake", types of references. `nixpkgs#jq` is an entry of the registry.
    const SCHEMES: &[&str] =
        &["github:", "gitlab:", "sourcehut:", "git+", "hg+", "tarball+", "http://", "https://"];
    let begins = |word: &Value| matches!(word.as_exact(), Some("-c" | "--command" | "--"));
    let described = call.words.iter().take_while(|word| !begins(word));
    let is_from_elsewhere = |word: &&Value| {
        SCHEMES.iter().any(|scheme| word.known_start().starts_with(scheme))
            && !word.known_start().starts_with("github:NixOS/")
    };
    if let Some(flake) = described.clone().find(is_from_elsewhere) {
        let target = Target::Service(flake.known_start());
        machine.add(
            Draft::new(EffectKind::PackageInstall, target)
                .severity(Severity::High)
                .note("runs a description from elsewhere that nobody has read"),
        );
    }
    let Some(place) = call.words.iter().position(begins) else { return Exit::unknown() };
    let (own, rest) = call.words.split_at(place);
    let run =
        |machine: &mut Machine<'_>| machine.run_words(rest.get(1..).unwrap_or_default(), call.input.clone());
    environment::with_options_of_nix(machine, own, run)
}

/// `nohup`
pub(crate) fn nohup(machine: &mut Machine<'_>, call: &Call) -> Exit {
    run_rest(machine, call, "", &[], 0)
}

/// `checkrein mcp`: what stands behind `--` runs; an address is asked with the headers that are given.
pub(crate) fn gateway(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let end = call.words.iter().position(|word| word.as_exact() == Some("--")).unwrap_or(call.words.len());
    let (given, rest) = call.words.split_at(end);
    let values = |option: &'static str| {
        given.iter().enumerate().filter_map(move |(place, word)| {
            match word.as_exact()?.strip_prefix(option)? {
                "" => given.get(place + 1).cloned(),
                attached => attached.strip_prefix('=').map(Value::exact),
            }
        })
    };
    if let Some(address) = values("--http").next() {
        let headers = values("--header").flat_map(|header| [Value::exact("--header"), header]);
        let words: Vec<Value> =
            [Value::exact("curl"), Value::exact("-sS")].into_iter().chain(headers).chain([address]).collect();
        machine.run_words(&words, Input::Text(Value::exact("")));
    }
    match rest {
        [_, command @ ..] if !command.is_empty() => machine.run_words(command, call.input.clone()),
        _ => Exit::unknown(),
    }
}

/// `checkrein exec`, `checkrein run` and `checkrein route`: what stands behind `--` runs. That it is confined makes nothing of it
/// unseen; but what cannot be seen through is kept within the bounds that are given, where this machine holds them.
pub(crate) fn confined(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some(end) = call.words.iter().position(|word| word.as_exact() == Some("--")) else {
        let goes_on = |word: &Value| word.as_exact().is_none_or(|text| text.starts_with("--resume"));
        if call.words.iter().any(goes_on) {
            machine.opaque("starts an agent again, as it was started before");
        }
        return Exit::unknown();
    };
    let (given, rest) = call.words.split_at(end);
    let rest = rest.get(1..).unwrap_or_default();
    // `route` writes down there what the run before came to.
    for (place, word) in given.iter().enumerate().filter_map(|(place, word)| Some((place, word.as_exact()?)))
    {
        if let Some(file) = word.strip_prefix("--remember=") {
            machine.write(&Value::exact(file));
        } else if word == "--remember"
            && let Some(file) = given.get(place + 1)
        {
            machine.write(file);
        }
    }
    // What a program is given in variables, it can print.
    let is_credential = |word: &str| word == "--credential" || word.starts_with("--credential=");
    if given.iter().filter_map(Value::as_exact).any(is_credential) {
        let target = Target::Service("checkrein".to_owned());
        machine.add(Draft::new(EffectKind::SecretRead, target).note("gives a credential to a program"));
    }
    if rest.is_empty() {
        return Exit::unknown();
    }
    let bounds = machine.bounds_of(call, given);
    let inner = match (&machine.call.bounds, bounds) {
        // Who is within bounds already does not get out of them.
        (Some(outer), _) => Some(outer.clone()),
        (None, bounds) => bounds,
    };
    let outer = std::mem::replace(&mut machine.call.bounds, inner);
    let before = machine.effect_count();
    let exit = machine.run_words(rest, call.input.clone());
    machine.call.bounds = outer;
    machine.note_opened(given, before);
    exit
}

/// `timeout`
pub(crate) fn timeout(machine: &mut Machine<'_>, call: &Call) -> Exit {
    machine.within_limit(|machine| run_rest(machine, call, "ks", &["kill-after", "signal"], 1))
}

/// `time` as a program
pub(crate) fn time(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(&call.words, "of", &["output", "format"]);
    if let Some(file) = peeled.value(&["-o", "--output"]) {
        machine.write(file);
    }
    if peeled.rest.is_empty() { Exit::unknown() } else { machine.run_words(&peeled.rest, call.input.clone()) }
}

/// `stdbuf`
pub(crate) fn stdbuf(machine: &mut Machine<'_>, call: &Call) -> Exit {
    run_rest(machine, call, "ioe", &["input", "output", "error"], 0)
}

/// `setsid`: the program outlives the shell.
pub(crate) fn setsid(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(&call.words, "", &[]);
    if peeled.rest.is_empty() {
        return Exit::unknown();
    }
    let name = peeled.rest.first().and_then(Value::as_exact).unwrap_or("a program").to_owned();
    machine.add(Draft::new(EffectKind::ProcessSpawn, Target::Process(name)).note("outlives the shell"));
    machine.run_words(&peeled.rest, call.input.clone())
}

/// `chroot`: what happens below the new root happens to files of this machine of which the names are not known.
pub(crate) fn chroot(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(&call.words, "", &["userspec", "groups"]);
    let Some((root, rest)) = peeled.rest.split_first() else { return Exit::unknown() };
    let name = root.as_exact().unwrap_or("another root").to_owned();
    machine.effect(EffectKind::PrivilegeEscalation, &Value::exact("root"));
    if rest.is_empty() {
        return machine.run_input(&call.input);
    }
    let place = RemoteContext::container(&name);
    machine.away_in(place, |machine| machine.run_words(rest, call.input.clone()))
}

/// `watch`: runs its words as one text of the shell, again and again.
pub(crate) fn watch(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(&call.words, "nsq", &["interval", "shotsdir", "equexit"]);
    if peeled.rest.is_empty() {
        return Exit::unknown();
    }
    if peeled.has(&["-x", "--exec"]) {
        return machine.run_words(&peeled.rest, call.input.clone());
    }
    machine.run_text(&strings::joined(&peeled.rest, " "), call.input.clone())
}

/// `busybox`, `toybox`
pub(crate) fn busybox(machine: &mut Machine<'_>, call: &Call) -> Exit {
    match call.words.first().and_then(Value::as_exact) {
        None | Some("--list" | "--help" | "--list-full") => Exit::unknown(),
        Some(_) => machine.run_words(&call.words, call.input.clone()),
    }
}

/// `flock`
pub(crate) fn flock(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(&call.words, "wE", &["timeout", "wait", "conflict-exit-code"]);
    let Some((file, rest)) = peeled.rest.split_first() else { return Exit::unknown() };
    let is_descriptor = file.as_exact().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()));
    if is_descriptor && rest.is_empty() {
        return Exit::unknown();
    }
    machine.touch(file);
    match rest {
        [] => Exit::unknown(),
        [option, text, ..] if matches!(option.as_exact(), Some("-c" | "--command")) => {
            machine.run_text(text, call.input.clone())
        }
        words => machine.run_words(words, call.input.clone()),
    }
}

/// Options of `strace` that take a value (strace(1) 6.1, ltrace(1) 0.7.3).
const STRACE: &[&str] = &[
    "abbrev",
    "align",
    "attach",
    "columns",
    "config",
    "const-print-style",
    "decode-fds",
    "detach-on",
    "env",
    "fault",
    "inject",
    "interruptible",
    "kvm",
    "library",
    "output",
    "quiet",
    "raw",
    "read",
    "signal",
    "status",
    "string-limit",
    "summary-columns",
    "summary-sort-by",
    "summary-syscall-overhead",
    "trace",
    "trace-path",
    "user",
    "verbose",
    "where",
    "write",
];

/// `strace`, `ltrace`
pub(crate) fn strace(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(&call.words, "aebIopsSuUEPXO", STRACE);
    if let Some(file) = peeled.value(&["-o", "--output"]) {
        machine.write(file);
    }
    if let Some(target) = peeled.value(&["-p", "--attach"]) {
        super::processes::attach(machine, target);
    }
    if peeled.rest.is_empty() {
        return Exit::unknown();
    }
    // strace(1): `-E VAR=VAL` sets a variable, `-E VAR` takes it away.
    let changes = peeled.options.iter().filter(|(name, _)| matches!(name.as_str(), "-E" | "--env"));
    let changes: Vec<Value> = changes.filter_map(|(_, value)| value.clone()).collect();
    environment::with_changes(machine, &changes, |machine| {
        machine.run_words(&peeled.rest, call.input.clone())
    })
}

/// `unbuffer`
pub(crate) fn unbuffer(machine: &mut Machine<'_>, call: &Call) -> Exit {
    run_rest(machine, call, "", &[], 0)
}

/// `script`: writes down what a command prints.
pub(crate) fn script(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let peeled = Peeled::new(
        &call.words,
        "cEIOBTm",
        &["command", "log-in", "log-out", "log-io", "log-timing", "output-limit"],
    );
    // Where logs are named, the one that has a name of its own is not written (script(1)).
    let names = ["-O", "--log-out", "-I", "--log-in", "-B", "--log-io", "-T", "--log-timing"];
    let logs: Vec<Value> = names.iter().filter_map(|name| peeled.value(&[name]).cloned()).collect();
    for log in &logs {
        machine.write(log);
    }
    if logs.is_empty() || !peeled.rest.is_empty() {
        machine.write(&peeled.rest.first().cloned().unwrap_or_else(|| Value::exact("typescript")));
    }
    match (peeled.value(&["-c", "--command"]), peeled.rest.get(1..)) {
        (Some(text), _) => machine.run_text(text, call.input.clone()),
        (None, Some(words)) if !words.is_empty() => machine.run_words(words, call.input.clone()),
        (None, _) => machine.run_input(&call.input),
    }
}

/// Text for zsh with the redirections of its own as bash writes them: `>!` and `>>!` write whatever the options say (zshmisc(1), "Redirection").
fn in_words_of_bash(program: &str, text: &Value) -> Value {
    match text {
        Value::Exact(text) if program == "zsh" && text.contains(['>']) => Value::Exact(
            text.replace("&>!", "&>").replace(">&!", "&>").replace(">>!", ">>").replace(">!", ">|"),
        ),
        other => other.clone(),
    }
}

/// `sh`, `bash`, `zsh` and their like
pub(crate) fn shell(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut command = false;
    let mut standard_input = false;
    let mut dry = false;
    let mut interactive = false;
    let mut login = false;
    let mut plain = false;
    let mut ends_early = false;
    let mut settings = String::new();
    let reader = ShellProgram::named(&call.program);
    let mut place = 0;
    while let Some(text) = call.words.get(place).and_then(Value::as_exact) {
        match text {
            "--" => {
                place += 1;
                break;
            }
            "--version" | "--help" => return Exit::unknown(),
            "--login" => login = true,
            "--noprofile" | "--norc" => plain = true,
            "--posix" => {
                plain = true;
                settings.push_str("set -o posix\n");
            }
            "--rcfile" | "--init-file" => {
                place += 1;
                if let Some(file) = call.words.get(place) {
                    machine.run_file(file, &[]);
                }
            }
            // zsh(1) 5.9: another shell in the place of zsh, and the names of options behind two dashes.
            "--emulate" => place += 1,
            _ if text.starts_with("--") => {
                if reader == ShellProgram::Zsh {
                    settings.extend(["setopt ", &text.replace('-', ""), "\n"]);
                }
            }
            _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                // `+c` runs its operand, too.
                command |= text.contains('c');
                standard_input |= text.starts_with('-') && text.contains('s');
                interactive |= text.starts_with('-') && text.contains('i');
                login |= text.starts_with('-') && text.contains('l');
                machine.flow.shows_commands |= text.starts_with('-') && text.contains(['x', 'v']);
                let on = text.starts_with('-');
                let sign = if on { "-" } else { "+" };
                // In zsh `-f` leaves start-up files out; what its letters mean in a text is told there.
                plain |= reader == ShellProgram::Zsh && on && text.contains('f');
                let letters = if reader == ShellProgram::Zsh { "aCFGT4" } else { "afhkmBCEHPT" };
                for letter in text.chars().filter(|letter| letters.contains(*letter)) {
                    settings.extend(["set ", sign, letter.encode_utf8(&mut [0; 4]), "\n"].iter().copied());
                }
                ends_early |= on && text.contains(['e', 'u']);
                if text.contains('n') {
                    dry = on;
                }
                for letter in text.chars().filter(|c| matches!(c, 'o' | 'O')) {
                    place += 1;
                    let option = call.words.get(place).and_then(Value::as_exact);
                    ends_early |= on && matches!(option, Some("errexit" | "nounset"));
                    if option == Some("noexec") {
                        dry = on;
                    }
                    settings.extend(option.and_then(|option| setting(letter, sign, option)));
                }
            }
            "-" => {}
            _ => break,
        }
        place += 1;
    }
    let rest = call.words.get(place..).unwrap_or_default();
    if call.program.ends_with("bash") && machine.shell.variables.contains_key("POSIXLY_CORRECT") {
        settings.insert_str(0, "set -o posix\n");
    }
    if !plain {
        let kind = start_files::Kind { is_login: login, is_interactive: interactive };
        start_files::run(machine, &call.program, kind);
        if login {
            start_files::run_at_end(machine, &call.program);
        }
    }
    if dry {
        if let (false, Some(file)) = (command, rest.first()) {
            machine.read(file);
        }
        return Exit::unknown();
    }
    let user = if interactive { ShellUser::Person } else { ShellUser::Nobody };
    machine.with_shells_for(user, |machine| {
        if command {
            let Some((text, arguments)) = rest.split_first() else { return Exit::failure() };
            let text = &in_words_of_bash(&call.program, text);
            let (name, arguments) = match arguments.split_first() {
                Some((name, arguments)) => (name.clone(), arguments),
                None => (Value::exact(call.program.as_str()), arguments),
            };
            if let Some(text) = text.as_exact().filter(|text| text.contains("BASH_EXECUTION_STRING")) {
                settings.extend(["BASH_EXECUTION_STRING=", &checkrein_shell::quoted(text), "\n"]);
            }
            let text = Value::exact(settings).followed_by(text);
            let exit = machine.run_text_with(reader, &text, &name, arguments, call.input.clone());
            // It may have ended at a failure on the way.
            return if ends_early && exit.status == Status::Success {
                Exit { status: Status::Open, ..exit }
            } else {
                exit
            };
        }
        match rest.split_first() {
            Some((file, arguments)) if !standard_input => match file.as_exact() {
                Some("/dev/stdin" | "-" | "/dev/fd/0" | "/proc/self/fd/0") => {
                    machine.run_input_with(reader, &call.input, file, arguments)
                }
                _ => machine.run_script(reader, file, arguments, call.input.clone()),
            },
            _ => {
                // A shell for a user whose answers go over the network: the user sits at the other end.
                if let (true, Some(host)) = (interactive, machine.outlet().map(str::to_owned)) {
                    machine.unread(format!("what the shell prints goes to {host}"));
                }
                // With `-s` the operands are what the text finds in `$1`, `$2` and so on.
                machine.run_input_with(reader, &call.input, &Value::exact(call.program.as_str()), rest)
            }
        }
    })
}

/// The command that switches an option of a shell as it was switched where the shell was started; `None` where that is followed elsewhere, or
/// changes nothing that is.
fn setting(letter: char, sign: &str, option: &str) -> Option<String> {
    if !option.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return None;
    }
    match (letter, option) {
        ('o', "errexit" | "nounset" | "noexec" | "xtrace" | "verbose") => None,
        ('o', option) => Some(format!("set {sign}o {option}\n")),
        (_, option) => Some(format!("shopt -{} {option}\n", if sign == "-" { 's' } else { 'u' })),
    }
}

/// `newgrp`: a shell in another group.
pub(crate) fn new_group(machine: &mut Machine<'_>, call: &Call) -> Exit {
    machine.run_input(&call.input)
}

/// `capsh`: behind its own options, words for a shell.
pub(crate) fn capabilities_shell(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let starts = |word: &Value| matches!(word.as_exact(), Some("--" | "==" | "-+" | "=+"));
    let Some(place) = call.words.iter().position(starts) else { return Exit::unknown() };
    let own = call.words.get(..place).unwrap_or_default();
    let shell = own.iter().filter_map(Value::as_exact).find_map(|text| text.strip_prefix("--shell="));
    let mut words = vec![Value::exact(shell.unwrap_or("/bin/bash"))];
    words.extend(call.words.get(place + 1..).unwrap_or_default().iter().cloned());
    machine.run_words(&words, call.input.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_off_the_front() {
        let words: Vec<Value> =
            ["-n", "5", "-u", "--x=1", "rm", "-rf"].iter().map(|text| Value::exact(*text)).collect();
        let peeled = Peeled::new(&words, "n", &[]);
        assert_eq!(peeled.rest, vec![Value::exact("rm"), Value::exact("-rf")]);
        assert_eq!(peeled.value(&["-n"]), Some(&Value::exact("5")));
        assert!(peeled.has(&["-u"]) && peeled.has(&["--x"]));
    }
}
