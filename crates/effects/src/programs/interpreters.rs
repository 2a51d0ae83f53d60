//! Interpreters of other languages: code given as a word, a script, a module, or on the standard input.
//!
//! | module | holds |
//! |---|---|
//! | `python` | Python and the modules that `-m` runs |
//! | `debugged` | the orders of a debugger |
//! | `magic` | what Perl does beside running its program |
//! | `preloads` | code that an option has run before the script, and what a directory as script means |

mod debugged;
mod magic;
mod preloads;
mod python;

use crate::effect::{EffectKind, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};

pub(crate) use python::python;

use super::text::{Content, edit_in_place, keeps_names, leaves_names, with_edited_texts};
use crate::interpreter::filters::{Editor, edit_takes_values_away};

/// `perl`
pub(crate) fn perl(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let exit = one_liner(machine, call, &["-e", "-E"], PERL_WORDS);
    magic::open_operands(machine, call);
    exit
}

/// `ruby`
pub(crate) fn ruby(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let loads_un = call.arguments.values(&["-r"]).any(|name| matches!(name.as_exact(), Some("un" | "un.rb")));
    if let (true, Some(Value::Exact(code))) = (loads_un, call.arguments.value(&["-e"])) {
        let name = code.trim().trim_end_matches(';').trim();
        // A server of files that comes along with Ruby: `ruby -run -e httpd DIRECTORY`.
        if name == "httpd" {
            let directory = call.arguments.operands.first().cloned().unwrap_or_else(|| Value::exact("."));
            super::network::serving::hand_out(machine, &directory);
            return Exit::unknown();
        }
        // Commands of files, with the options of the programs of these names (un.rb of Ruby 3.3).
        if ["cp", "ln", "mv", "rm", "mkdir", "rmdir", "install", "chmod", "touch"].contains(&name) {
            let mut words = vec![Value::exact(name)];
            words.extend(call.arguments.operands.iter().cloned());
            return machine.run_words(&words, call.input.clone());
        }
        if name == "wait_writable" {
            return Exit::unknown();
        }
    }
    one_liner(machine, call, &["-e"], RUBY_WORDS)
}

/// Words with which Perl code reaches beyond its text: the keywords of Perl 5.36 (`keywords.h`) without those that work on values, on
/// standard streams, on control flow and on lists of users and hosts alone, then the names of modules that reach further.
const PERL_WORDS: &[&str] = &[
    "accept",
    "bind",
    "chdir",
    "chmod",
    "chown",
    "chroot",
    "closedir",
    "connect",
    "dbmclose",
    "dbmopen",
    "do",
    "dump",
    "eval",
    "evalbytes",
    "exec",
    "fcntl",
    "flock",
    "fork",
    "getppid",
    "glob",
    "ioctl",
    "kill",
    "link",
    "listen",
    "mkdir",
    "msgctl",
    "msgget",
    "msgrcv",
    "msgsnd",
    "open",
    "opendir",
    "pipe",
    "qx",
    "readdir",
    "readlink",
    "readpipe",
    "recv",
    "rename",
    "require",
    "rewinddir",
    "rmdir",
    "seekdir",
    "semctl",
    "semget",
    "semop",
    "send",
    "setpgrp",
    "setpriority",
    "shmctl",
    "shmget",
    "shmread",
    "shmwrite",
    "shutdown",
    "socket",
    "socketpair",
    "symlink",
    "syscall",
    "sysopen",
    "system",
    "syswrite",
    "telldir",
    "truncate",
    "umask",
    "unlink",
    "use",
    "utime",
    "File",
    "IO",
    "IPC",
    "Capture",
    "rmtree",
    "remove_tree",
    "ee",
    "ENV",
    "POSIX",
    "Socket",
    "Net",
    "LWP",
    "HTTP",
];

/// Words with which Ruby code reaches beyond its text.
const RUBY_WORDS: &[&str] = &[
    "system",
    "exec",
    "spawn",
    "fork",
    "File",
    "IO",
    "FileUtils",
    "Dir",
    "open",
    "require",
    "require_relative",
    "load",
    "eval",
    "instance_eval",
    "Process",
    "Kernel",
    "Net",
    "URI",
    "Socket",
    "TCPSocket",
    "send",
    "public_send",
    "Open3",
    "Tempfile",
    "Pathname",
    "popen",
    "ObjectSpace",
    "at_exit",
    "trap",
    "syscall",
    "Gem",
    "ENV",
];

/// Scripts in a project that are tools with commands of their own.
const TOOLS: &[&str] = &[
    "manage.py",
    "artisan",
    "rails",
    "rake",
    "wp",
    "drush",
    "magento",
    "symfony",
    "craft",
    "yii",
    "occ",
    "console",
    "typo3",
    "typo3cms",
    "flow",
    "spark",
    "moosh",
    "ace",
    "doctrine",
];

fn one_liner(machine: &mut Machine<'_>, call: &Call, code_options: &[&str], words: &[&str]) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-c", "-v", "-V", "--version", "-h", "--help"]) && !arguments.has(&["-i"]) {
        if call.program.starts_with("perl") {
            magic::compile_only(machine, call, code_options);
        }
        return Exit::unknown();
    }
    let codes: Vec<Value> = arguments.values(code_options).cloned().collect();
    if codes.is_empty() {
        preloads::run(machine, call);
        return script_or_input(machine, call);
    }
    // Several are lines of one program (perlrun, "-e"; ruby(1), "-e").
    let codes = if codes.len() > 1 && codes.iter().all(|code| code.as_exact().is_some()) {
        vec![crate::interpreter::strings::joined(&codes, "\n")]
    } else {
        codes
    };
    preloads::run(machine, call);
    let mut exit = Exit::unknown();
    // What stands behind `-M` is text of the program: `use TEXT;` (perlrun, "-M").
    for module in arguments.values(&["-M", "-m"]).cloned().collect::<Vec<_>>() {
        let is_code = |text: &str| text.contains([';', '(', '{', '\n', '`']);
        if call.program.starts_with("perl") && module.as_exact().is_some_and(is_code) {
            let text = Value::exact("use ").followed_by(&module);
            drop(super::code(machine, call, &text));
        }
    }
    let modules = arguments.values(&["-M", "-m", "-r"]).any(|module| !is_harmless_module(module));
    let mut content = Content::Kept;
    let scripts: Option<Vec<&str>> = codes.iter().map(Value::as_exact).collect();
    let takes_values_away = call.program.starts_with("perl")
        && arguments.has(&["-p"])
        && scripts.is_some_and(|scripts| {
            edit_takes_values_away(Editor::Perl, &scripts)
                || arguments.has(&["-i"])
                    && !arguments.has(&["-0", "-n", "-a", "-l"])
                    && leaves_names(machine, &arguments.operands, Editor::Perl, &scripts)
        });
    for code in &codes {
        let plain = !modules && code.as_exact().is_some_and(|text| stays_in_text(text, words));
        if !takes_values_away && !code.as_exact().is_some_and(keeps_names) {
            content = Content::MayGo;
        }
        if !plain {
            content = Content::MayGo;
            let ended = super::code(machine, call, code);
            if matches!(ended.output, Output::Secret(_)) {
                exit = ended;
            }
        }
    }
    if arguments.has(&["-i"]) {
        let suffix = arguments.value(&["-i"]).cloned();
        let known: Vec<&str> = codes.iter().filter_map(Value::as_exact).collect();
        let edits = call.program.starts_with("perl")
            && arguments.has(&["-p"])
            && !arguments.has(&["-0", "-n", "-a", "-l"])
            && !known.is_empty()
            && known.len() == codes.len();
        let edited: &[Value] = if edits { &arguments.operands } else { &[] };
        with_edited_texts(machine, edited, Editor::Perl, &known, |machine| {
            edit_in_place(machine, &arguments.operands, suffix.as_ref(), content);
        });
        return Exit::silent();
    }
    if arguments.has(&["-n", "-p"]) || codes.iter().any(|code| reads_operands(code, &call.program)) {
        for operand in &arguments.operands {
            machine.read(operand);
        }
    }
    exit
}

/// Whether code reads the files that stand behind it, by none of their names (perlop, "I/O Operators"; Ruby, `ARGF` and `Kernel#gets`).
fn reads_operands(code: &Value, program: &str) -> bool {
    const OF_PERL: &[&str] = &["<>", "<<>>", "<ARGV>"];
    const OF_RUBY: &[&str] = &["ARGF", "$<", "gets", "readlines"];
    let forms = if program.starts_with("perl") { OF_PERL } else { OF_RUBY };
    code.as_exact().is_some_and(|text| forms.iter().any(|form| text.contains(form)))
}

fn is_harmless_module(module: &Value) -> bool {
    module.as_exact().is_some_and(|text| {
        let name = text.trim_start_matches('-').split('=').next().unwrap_or_default();
        matches!(
            name,
            "strict"
                | "warnings"
                | "utf8"
                | "json"
                | "JSON"
                | "JSON::PP"
                | "List::Util"
                | "POSIX"
                | "Data::Dumper"
                | "Time::HiRes"
                | "MIME::Base64"
                | "yaml"
                | "set"
                | "date"
                | "time"
                | "csv"
                | "digest"
                | "base64"
                | "bigint"
                | "feature"
                | "open"
        )
    })
}

/// Whether code names nothing with which it could reach beyond the text that it works on. Looks at every word, also
/// inside strings and patterns, so it errs towards no.
fn stays_in_text(code: &str, reaching: &[&str]) -> bool {
    // A function that is called by a name in a variable.
    if code.contains("&$") || code.contains("&{") {
        return false;
    }
    if code.contains('`') || code.contains("%x") || code.contains("<$") || code.contains("->") {
        return false;
    }
    // `|` and `>` inside quotes of a two-word `open` are covered by the word itself.
    !code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| reaching.contains(&word))
}

/// `node`, `php`, `lua`, `Rscript`, ...: code by an option, else a script, else the standard input.
pub(crate) fn interpreter(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let code_options: &[&str] = match call.program.as_str() {
        "node" | "nodejs" => &["-e", "--eval", "-p", "--print", "-pe"],
        "php" => &["-r", "-B", "-R", "-E"],
        "guile" | "expect" | "wish" => &["-c"],
        "octave" | "deno" => &["--eval", "--eval-file"],
        "julia" => &["-e", "--eval", "-E", "--print"],
        _ => &["-e", "--eval", "-x", "--execute"],
    };
    let checks: &[&str] = match call.program.as_str() {
        "node" | "nodejs" => &["-c", "--check", "-v", "--v8-options"],
        "php" => &["-l", "-v", "-i", "-m", "-a", "--ini", "--ri", "--re", "--rf"],
        _ => &["-v", "-V"],
    };
    if !arguments.has(&["-v", "-V"]) {
        preloads::run(machine, call);
    }
    if arguments.has(checks) {
        return Exit::unknown();
    }
    if arguments.has(&["--test"]) {
        for file in arguments.operands.clone() {
            machine.possibly(|machine| script(machine, call, &file));
        }
        return Exit::unknown();
    }
    if let Some(name) = arguments.value(&["--run"]).cloned() {
        let mut words = vec![Value::exact("npm"), Value::exact("run"), name];
        words.extend(arguments.operands.iter().cloned());
        return machine.run_words(&words, call.input.clone());
    }
    if call.program == "php" && arguments.has(&["-S"]) {
        machine.add(Draft::new(EffectKind::ProcessSpawn, Target::Process("php -S".to_owned())));
        let address: Vec<Value> = arguments.values(&["-S"]).cloned().collect();
        if !crate::programs::network::serving::is_local(&address) {
            let directory = arguments.value(&["-t"]).cloned().unwrap_or_else(|| Value::exact("."));
            crate::programs::network::serving::hand_out(machine, &directory);
        }
        return Exit::unknown();
    }
    // Words of their own: `erl -eval CODE`, `crystal eval CODE`.
    let own = match call.program.as_str() {
        "erl" => Some("-eval"),
        "crystal" => Some("eval"),
        _ => None,
    };
    let mut behind = call.words.iter().skip_while(|word| own.is_none() || word.as_exact() != own).skip(1);
    if let Some(code) = behind.next() {
        return super::code(machine, call, code);
    }
    if let Some(code) = arguments.value(code_options) {
        return super::code(machine, call, code);
    }
    if let Some(file) = arguments.value(&["-f", "--file"]).filter(|_| call.program == "php") {
        return script(machine, call, file);
    }
    script_or_input(machine, call)
}

/// `fish`, `csh`, `nu`, ...: commands by an option, else a script, else the standard input.
pub(crate) fn other_shell(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-n", "--no-execute", "--version"]) {
        return Exit::unknown();
    }
    // What runs before anything else: `fish -C`, `fish --init-command`.
    for first in arguments.values(&["-C", "--init-command"]).cloned().collect::<Vec<_>>() {
        drop(super::code(machine, call, &first));
    }
    let commands: Vec<Value> = arguments.values(&["-c", "--command", "--commands"]).cloned().collect();
    if commands.is_empty() {
        return script_or_input(machine, call);
    }
    commands.iter().fold(Exit::unknown(), |_, text| super::code(machine, call, text))
}

/// The interpreters of files of code that are run by something else than their own name, by the ending (the manuals of each).
const LANGUAGES: &[(&str, &str)] = &[
    ("java", "java"),
    ("kts", "kotlin"),
    ("kt", "kotlin"),
    ("scala", "scala"),
    ("sc", "scala"),
    ("groovy", "groovy"),
    ("dart", "dart"),
    ("exs", "elixir"),
    ("ex", "elixir"),
    ("nim", "nim"),
    ("nims", "nim"),
    ("cr", "crystal"),
    ("zig", "zig"),
    ("v", "v"),
    ("rs", "rust-script"),
    ("go", "go"),
    ("swift", "swift"),
    ("cs", "cs"),
    ("csx", "csx"),
    ("fsx", "fsx"),
    ("el", "emacs"),
    ("jl", "julia"),
    ("ts", "node"),
    ("js", "node"),
    ("py", "python3"),
    ("rb", "ruby"),
    ("lua", "lua"),
];

/// Words behind which a file of code stands: `nim r x.nim`, `crystal run x.cr`, `dart run x.dart`.
const RUNNING: &[(&str, &[&str])] = &[
    ("nim", &["r", "c", "cpp", "js", "e", "compile", "run"]),
    ("crystal", &["run", "build"]),
    ("scala", &["run"]),
    ("dart", &["run"]),
];

/// Runs a file of code in the language that its ending tells. What is none is a program of the project.
pub(crate) fn source_file(machine: &mut Machine<'_>, call: &Call, file: &Value) -> Exit {
    let ending =
        file.as_exact().and_then(|name| name.rsplit('/').next()?.rsplit_once('.')).map(|(_, end)| end);
    let language = LANGUAGES.iter().find(|(known, _)| Some(*known) == ending);
    let Some((_, program)) = language else {
        machine.opaque(format!("what `{}` runs is not followed", call.program));
        return Exit::unknown();
    };
    script(machine, &Call { program: (*program).to_owned(), ..call.clone() }, file)
}

fn script_or_input(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let running = RUNNING.iter().find(|(program, _)| *program == call.program).map(|(_, words)| *words);
    let first = call.arguments.operands.first().and_then(Value::as_exact).unwrap_or_default();
    if running.is_some_and(|words| words.contains(&first)) {
        let file = call.arguments.operands.get(1).cloned().unwrap_or_else(|| Value::exact(""));
        return source_file(machine, call, &file);
    }
    match call.arguments.operands.first() {
        Some(file) if file.as_exact() != Some("-") => {
            let file = preloads::entry_file(machine, call, file);
            script(machine, call, &file)
        }
        Some(_) | None => super::shells::code_input(machine, call),
    }
}

/// The effects of a script that is known by its name: `python manage.py flush`, `php artisan migrate`.
fn tool(machine: &mut Machine<'_>, call: &Call, file: &Value) {
    let base = file.as_exact().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
    if let Some(base) = base.filter(|base| TOOLS.contains(&base.as_str())) {
        let rest = call.arguments.operands.get(1..).unwrap_or_default().to_vec();
        machine.call_program(&base, &base, &rest);
    }
}

fn script(machine: &mut Machine<'_>, call: &Call, file: &Value) -> Exit {
    if let Some(exit) = agent_in(machine, call, super::agents::of_file(file)) {
        return exit;
    }
    tool(machine, call, file);
    if let Some(name) = file.as_exact() {
        machine.note_attack_tool(name);
    }
    // Some fetch what they are given an address of. Deno lets that do nothing to the machine unless it is told to.
    let address = file.known_start();
    if address.starts_with("https://") || address.starts_with("http://") {
        let may = |word: &Value| ["-A", "--allow"].iter().any(|flag| word.known_start().starts_with(flag));
        let is_bounded = call.program.starts_with("deno") && !call.words.iter().any(may);
        if !is_bounded
            && crate::interpreter::known_hosts::reach(&address) == crate::effect::NetworkReach::External
        {
            machine.runs_from_network(&address);
            return Exit::unknown();
        }
    }
    let text = match machine.read_code(file) {
        Output::Network(url) => {
            machine.runs_from_network(&url);
            return Exit::unknown();
        }
        Output::Text(text) => text,
        Output::Unknown if machine.is_veiled(file) => {
            machine.unread("runs what was decoded by the same command");
            return Exit::unknown();
        }
        Output::Unknown if machine.is_committed(file) => {
            machine.unread("the code that a commit holds is not known");
            return Exit::unknown();
        }
        Output::Nothing | Output::Secret(_) | Output::Local(_) | Output::Setup(_) | Output::Unknown => {
            let path = machine.one_path_through(file);
            if let Some(path) = path.as_ref().filter(|path| machine.nothing_is_at(path)) {
                machine.script_not_there(file.as_exact().unwrap_or(path.as_str()), path);
                return Exit::unknown();
            }
            if path.as_ref().is_some_and(|path| machine.is_written_unread(path)) {
                machine.unread("runs what this command wrote, and what that holds is not known");
                return Exit::unknown();
            }
            path.map_or(Value::Unknown, |path| machine.text(&path))
        }
    };
    super::code(machine, call, &text)
}

/// `deno run`, `tsx`, `ts-node`, `bun run`: a script, or code by an option.
pub(crate) fn run_script(machine: &mut Machine<'_>, call: &Call) -> Exit {
    match call.arguments.value(&["-e", "--eval", "-p", "--print"]) {
        Some(code) => super::code(machine, call, code),
        None => match call.arguments.operands.first() {
            Some(file) => match file.as_exact() {
                Some("-") => super::shells::code_input(machine, call),
                // Packages of the registries of npm and JSR, as `npx` runs them.
                Some(package) if package.starts_with("npm:") || package.starts_with("jsr:") => {
                    // `deno run jsr:@std/http/file-server DIRECTORY` (JSR, @std/http).
                    if package.contains("@std/http") && package.contains("file-server")
                        || package.starts_with("npm:http-server")
                        || package.starts_with("npm:serve")
                    {
                        let directory =
                            call.arguments.operands.get(1).cloned().unwrap_or_else(|| Value::exact("."));
                        super::network::serving::hand_out(machine, &directory);
                    }
                    machine.add(
                        Draft::new(EffectKind::PackageInstall, Target::Service(package.to_owned()))
                            .note("downloads a package and runs its code"),
                    );
                    let agent = package.strip_prefix("npm:").and_then(super::agents::of_package);
                    agent_in(machine, call, agent).unwrap_or_else(Exit::unknown)
                }
                Some(_) | None => script(machine, call, file),
            },
            None => super::shells::code_input(machine, call),
        },
    }
}

/// Starts the agent whose code is run, with the words behind its file.
fn agent_in(machine: &mut Machine<'_>, call: &Call, agent: Option<&str>) -> Option<Exit> {
    let mut words = vec![Value::exact(agent?)];
    words.extend(call.arguments.operands.iter().skip(1).cloned());
    Some(machine.run_words(&words, call.input.clone()))
}

/// `screen`, `tmux`, `at`, `batch`: a command that runs by itself, now or later.
pub(crate) fn detached(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    match call.program.as_str() {
        "at" | "batch" => {
            if arguments.has(&["-l", "-c", "-V", "-q"]) && call.input == Input::Inherited {
                return Exit::unknown();
            }
            if arguments.has(&["-d", "-r"]) {
                machine.effect(EffectKind::SystemModification, &Value::exact("at"));
                return Exit::unknown();
            }
            machine.add(
                Draft::new(EffectKind::Persistence, Target::Service("at".to_owned()))
                    .note("runs commands later"),
            );
            if let Some(file) = arguments.value(&["-f"]).cloned() {
                machine.possibly(|machine| machine.run_file(&file, &[]));
            } else if let Input::Text(text) = call.input.clone() {
                machine.possibly(|machine| machine.run_text(&text, Input::Inherited));
            }
        }
        _ => {
            machine.add(Draft::new(EffectKind::ProcessSpawn, Target::Process(call.program.clone())));
            match arguments.operands.as_slice() {
                [] => {}
                [only] => {
                    machine.run_text(only, Input::Inherited);
                }
                words => {
                    machine.run_words(words, Input::Inherited);
                }
            }
        }
    }
    Exit::unknown()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_one_liners_are_told_from_others() {
        for plain in ["s/foo/bar/g", "print if /x/", "$_ = uc; print", "tr/a-z/A-Z/"] {
            assert!(stays_in_text(plain, PERL_WORDS), "{plain}");
        }
        for reaching in [
            "system('rm')",
            "unlink glob '*'",
            "s/x/`id`/e",
            "open F, '>x'",
            "s/(.*)/$1/ee",
            "use File::Path",
        ] {
            assert!(!stays_in_text(reaching, PERL_WORDS), "{reaching}");
        }
        assert!(stays_in_text("puts $_.upcase", RUBY_WORDS));
        assert!(!stays_in_text("File.delete('x')", RUBY_WORDS));
    }
}
