//! Sources that a compiler is given, and code in languages that nothing here follows, as far as they name the end of processes that are not
//! their own: what comes out of a compiler is not read, and what was written into the source can be.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Entry, VersionState};
use checkrein_facts::hook_line::HOOK_PROGRAM;

/// Compilers whose operands are sources, and what runs a source as if it were a script (ours, after the manuals of each).
const COMPILERS: &[&str] = &[
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "tcc",
    "icc",
    "icx",
    "musl-gcc",
    "zig-cc",
    "gdc",
    "ldc2",
    "dmd",
    "go run",
    "go build",
    "go install",
    "rustc",
    "zig run",
    "zig build-exe",
    "nim c",
    "nim r",
    "crystal run",
    "crystal build",
    "swiftc",
    "swift",
    "v run",
    "odin run",
    "kotlinc",
    "javac",
];

/// Builders of a project, and where its program begins (`cargo help build`, `go help packages`).
const PROJECTS: &[(&[&str], &[&str])] = &[
    (
        &["cargo run", "cargo r", "cargo build", "cargo b", "cargo test", "cargo t"],
        &["src/main.rs", "src/lib.rs", "build.rs"],
    ),
    (&["go run", "go build", "go install"], &["main.go"]),
];

/// The greatest number of sources of one call that are read (ours).
const SOURCES: usize = 8;

/// Calls that send a signal, by what stands before their brackets: kill(2), killpg(3), tgkill(2), `pidfd_send_signal`(2), ptrace(2); Go's
/// `syscall` and `os`; Rust's `libc` and `nix`; Emacs' `signal-process`; Windows' `TerminateProcess`; SBCL's `sb-posix`; setpriority(2), prlimit(2), which
/// slow down or limit.
const CALLS: &[&str] = &[
    "(kill ",
    ":kill ",
    "kill(",
    "Unix.kill ",
    "killpg(",
    "tgkill(",
    "Kill(",
    "sigqueue(",
    "pidfd_send_signal(",
    "PTRACE_ATTACH",
    "PTRACE_SEIZE",
    "SYS_kill",
    "TerminateProcess(",
    "signal-process",
    "FindProcess(",
    "setpriority(",
    "prlimit(",
];

/// Compilers with the options of `gcc`.
const C_COMPILERS: &[&str] = &["gcc", "g++", "cc", "c++", "clang", "clang++", "musl-gcc"];

/// Adds what a compiler of C writes that no option names: objects (`-c`), assembly (`-S`), lists of what a source includes (`-MD`, `-MMD`),
/// what lies between (`-save-temps`) and notes for coverage (gcc(1), "Overall Options", "Preprocessor Options").
fn beside_the_output(machine: &mut Machine<'_>, call: &Call) {
    let arguments = &call.arguments;
    if arguments.has(&["-E", "-fsyntax-only", "-M", "-MM"]) {
        return;
    }
    let output = arguments.value(&["-o"]).map(|value| value.as_exact().map(str::to_owned));
    let Some(output) = output.map_or(Some(None), |output| output.map(Some)) else { return };
    let is_source = |name: &&str| {
        name.rsplit_once('.')
            .is_some_and(|(_, ending)| matches!(ending, "c" | "cc" | "cpp" | "cxx" | "m" | "S"))
    };
    let names: Vec<String> =
        arguments.operands.iter().filter_map(Value::as_exact).filter(is_source).map(str::to_owned).collect();
    let (objects, assembly) = (arguments.has(&["-c"]), arguments.has(&["-S"]));
    let lists = arguments.has(&["-MD", "-MMD"]) && arguments.value(&["-MF"]).is_none();
    let stays = arguments.has(&["-save-temps", "--save-temps", "-save-temps=cwd"]);
    let covered = arguments.has(&["--coverage", "-ftest-coverage", "-coverage"]);
    for name in names {
        let file = name.rsplit('/').next().unwrap_or(&name);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
        if (objects || assembly) && output.is_none() {
            machine.write(&Value::exact(format!("{stem}.{}", if assembly { "s" } else { "o" })));
        }
        // What lies beside an output is named after it, and after the source where the output is a program.
        let beside = match &output {
            Some(output) if objects || assembly => {
                output.rsplit_once('.').map_or(output.clone(), |(stem, _)| stem.to_owned())
            }
            Some(output) => format!("{output}-{stem}"),
            None if objects || assembly => stem.clone(),
            None => format!("a-{stem}"),
        };
        let endings: Vec<&str> = [(lists, "d"), (stays, "i"), (stays, "s"), (stays, "o"), (covered, "gcno")]
            .into_iter()
            .filter_map(|(is_written, ending)| is_written.then_some(ending))
            .collect();
        for ending in endings {
            machine.possibly(|machine| machine.write(&Value::exact(format!("{beside}.{ending}"))));
        }
    }
}

/// Adds that a source which the session may have written ends processes, when it is given to a compiler.
pub(crate) fn sources(machine: &mut Machine<'_>, call: &Call) {
    let project = PROJECTS.iter().find(|(programs, _)| programs.contains(&call.program.as_str()));
    if project.is_none() && !COMPILERS.contains(&call.program.as_str()) {
        return;
    }
    if C_COMPILERS.contains(&call.program.as_str()) {
        beside_the_output(machine, call);
    }
    // Another package than that of the directory lies elsewhere.
    let is_elsewhere = call.arguments.has(&["--manifest-path", "-C", "-p", "--package"]);
    let beginnings = project.filter(|_| !is_elsewhere).map(|(_, files)| *files).unwrap_or_default();
    let named = call.arguments.operands.iter().cloned();
    let all: Vec<Value> = named.chain(beginnings.iter().map(|file| Value::exact(*file))).collect();
    // A package is named by its directory (`go help packages`): its files are the program.
    let all: Vec<Value> = all
        .into_iter()
        .flat_map(|source| {
            let name = source
                .as_exact()
                .filter(|name| call.program.starts_with("go ") && is_directory(machine, name));
            let pattern = name.map(|name| format!("{}/*.go", name.trim_end_matches('/')));
            match pattern.and_then(|pattern| machine.paths_of(&pattern)) {
                Some(files) => files.into_iter().map(Value::Exact).collect(),
                None => vec![source],
            }
        })
        .collect();
    let mut read = 0;
    for source in all {
        let Some(path) = machine.one_path_through(&source) else { continue };
        if read >= SOURCES || !is_source(&path) || !may_be_of_session(machine, &path) {
            continue;
        }
        read += 1;
        let text = machine.text(&path);
        let Some(text) = text.as_exact() else { continue };
        let language = path.name().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending);
        look_over_what_reaches_out(machine, language, text);
    }
    // `gcc -x c -`
    if let (crate::interpreter::Input::Text(text), true) = (&call.input, reads_input(call))
        && let Some(text) = text.as_exact()
    {
        look_over_what_reaches_out(machine, "c", text);
    }
}

fn is_directory(machine: &Machine<'_>, name: &str) -> bool {
    let path = machine.one_path_through(&Value::exact(name));
    path.is_some_and(|path| machine.entry(&path) == Entry::Directory)
}

/// Adds what a source in a language does to files and processes, as possible.
pub(super) fn look_over_source(machine: &mut Machine<'_>, language: &str, text: &str) {
    super::code::source(machine, language, text);
    look_over(machine, text);
}

fn look_over_what_reaches_out(machine: &mut Machine<'_>, language: &str, text: &str) {
    let before = machine.effect_count();
    super::code::source(machine, language, text);
    let fetched: Vec<String> = machine
        .effects_since(before)
        .filter(|effect| effect.kind == EffectKind::RemoteCodeExecution)
        .filter_map(|effect| match &effect.target {
            Target::Host(address) => Some(address.clone()),
            Target::Path(_)
            | Target::Glob(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => None,
        })
        .collect();
    super::packages::keep_what_reaches_out(machine, before);
    shows_what_it_includes(machine, text);
    for address in fetched {
        machine.possibly(|machine| machine.runs_from_network(&address));
    }
    super::disclosing_code::look_over(machine, text, None, before);
    super::disclosing_code::look_over_readers(machine, text);
    look_over(machine, text);
}

/// Adds the credentials that a source takes in: whoever compiles it is shown them, in the output or in a complaint (ISO C23, 6.10.3).
fn shows_what_it_includes(machine: &mut Machine<'_>, text: &str) {
    let included = text.lines().filter_map(|line| line.trim_start().strip_prefix("#include"));
    let names = included.map(|rest| rest.trim().trim_matches(|c| matches!(c, '"' | '<' | '>')));
    for file in names.filter(|name| name.starts_with('/')).map(Value::exact).collect::<Vec<_>>() {
        if machine.names_secret(&file) {
            let target = Target::Path(machine.one_path_through(&file).unwrap_or_else(AbsolutePath::root));
            machine
                .add(Draft::new(EffectKind::SecretRead, target).note("a source that takes it in shows it"));
        }
    }
}

/// Adds that code ends processes that are not its own, where its language is followed by nothing else.
pub(crate) fn look_over(machine: &mut Machine<'_>, text: &str) {
    if let Some(what) = ends_others(text) {
        end(machine, what);
    }
}

fn end(machine: &mut Machine<'_>, what: &str) {
    let target = Target::Process("processes that the code picks".to_owned());
    let draft = Draft::new(EffectKind::ProcessKill, target).nature(Nature::Signal);
    machine
        .add(draft.severity(Severity::High).possible().note(format!("{what}, the guard may be among them")));
}

fn reads_input(call: &Call) -> bool {
    call.words.iter().any(|word| matches!(word.as_exact(), Some("-" | "/dev/stdin")))
}

fn is_source(path: &AbsolutePath) -> bool {
    let ends = [
        ".c", ".cc", ".cpp", ".cxx", ".go", ".rs", ".zig", ".nim", ".cr", ".swift", ".v", ".odin", ".d",
        ".m", ".java", ".kt", ".kts", ".h", ".scala", ".cs",
    ];
    path.name().is_some_and(|name| ends.iter().any(|end| name.ends_with(end)))
}

/// Whether the session may have written a source: it did, or version control does not hold it as it is.
pub(super) fn may_be_of_session(machine: &Machine<'_>, path: &AbsolutePath) -> bool {
    machine.is_of_session(path) || machine.world().version(path) != VersionState::TrackedClean
}

/// What a text ends besides what it started itself, as a clause; `None` when it ends nothing, or its own children alone.
fn ends_others(text: &str) -> Option<&'static str> {
    let calls = CALLS.iter().flat_map(|call| text.match_indices(call).map(move |(at, _)| (at, *call)));
    let mut any = false;
    for (at, call) in calls {
        // A longer name that ends so is another function, and a declaration is no call.
        let before = text.get(..at).unwrap_or_default();
        let is_part = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if is_part && call != "SYS_kill" && !call.starts_with([':', '(']) {
            continue;
        }
        let behind = text.get(at + call.len()..).unwrap_or_default();
        let argument = argument(behind);
        // `0` as a signal asks only whether the process is there.
        if argument.len() < behind.len() && behind.get(argument.len()..).is_some_and(asks_only) {
            continue;
        }
        any = true;
        if names_others(argument) {
            return Some("ends processes above this one, or all of them");
        }
        if is_counted(before, argument) {
            return Some("goes through the numbers of processes");
        }
    }
    let looks = [
        "\"/proc",
        "'/proc",
        "pgrep",
        "pidof",
        HOOK_PROGRAM,
        "list-system-processes",
        "EnumProcesses",
        "CreateToolhelp32Snapshot",
        "kern.proc",
    ];
    (any && looks.iter().any(|look| text.contains(look)))
        .then_some("looks for processes and ends some of them")
}

/// The first argument of a call, behind its bracket.
fn argument(behind: &str) -> &str {
    let mut depth = 0_usize;
    let end = behind.char_indices().take(400).find(|(_, c)| match c {
        '(' | '[' => {
            depth += 1;
            false
        }
        ')' | ']' if depth == 0 => true,
        ')' | ']' => {
            depth -= 1;
            false
        }
        ',' | ';' => depth == 0,
        _ => false,
    });
    end.map_or(Some(behind), |(at, _)| behind.get(..at)).unwrap_or_default()
}

/// Whether what stands behind the first argument sends nothing: `, 0)`.
fn asks_only(rest: &str) -> bool {
    let rest: String = rest.chars().take(12).filter(|c| !c.is_whitespace()).collect();
    rest.starts_with(",0)")
}

/// Whether an argument is a number that stands for more than a process of one's own: `-1`, `getppid()`, the number of the own one with
/// something added.
fn names_others(argument: &str) -> bool {
    let plain: String = argument.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
    let above = ["getppid", "parent_id", "getpgid(getppid", "process-id(parent"];
    let own = ["getpid()", "process::id()"];
    plain.trim_start_matches('(').starts_with("-1")
        || plain.contains("pid_t)-1")
        || plain == "1"
        || above.iter().any(|name| plain.contains(name))
        || own.iter().any(|name| plain.contains(&format!("{name}+")) || plain.contains(&format!("{name}-")))
}

/// Whether an argument is a name that a loop around the call counts with.
fn is_counted(before: &str, argument: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let names: Vec<&str> = argument.split(|c: char| !is_name(c)).filter(|name| !name.is_empty()).collect();
    let Some((at, _)) = before.rmatch_indices("for").next() else { return false };
    let header: String = before.get(at..).unwrap_or_default().chars().take(160).collect();
    let counts = ["++", "+=", "--", "..", ":="].iter().any(|sign| header.contains(sign));
    let has = |name: &&&str| {
        header.split(|c: char| !is_name(c)).any(|word| word == **name)
            && name.chars().next().is_some_and(char::is_alphabetic)
    };
    let is_cast =
        |name: &&&str| !matches!(**name, "pid_t" | "int" | "i32" | "as" | "u32" | "Pid" | "from_raw");
    // What goes through a list of one's own children is no count: `for (i = 0; i < n; i++) kill(children[i], SIGTERM)`.
    counts && !argument.contains('[') && names.iter().filter(is_cast).any(|name| has(&name))
}

#[cfg(test)]
mod tests {
    use super::ends_others;

    #[test]
    fn the_end_of_others_is_told_from_that_of_children() {
        for text in [
            "int main(void) { kill(-1, 9); }",
            "int main(void) { kill(getppid(), SIGKILL); }",
            "for (int i = 2; i < 40000; i++) kill(i, 9);",
            "for (pid_t p = 2; p < 99999; ++p) { if (p != getpid()) kill(p, SIGKILL); }",
            "DIR *d = opendir(\"/proc\"); while ((e = readdir(d))) { int p = atoi(e->d_name); kill(p, 9); }",
            "func main() { syscall.Kill(os.Getppid(), syscall.SIGKILL) }",
            "for i := 2; i < 40000; i++ { syscall.Kill(i, 9) }",
            "fn main() { for p in 2..40000 { unsafe { libc::kill(p, 9); } } }",
            "unsafe { libc::kill(std::os::unix::process::parent_id() as i32, 9) }",
            "kill(getpid() + 1, 9);",
            "FILE *f = popen(\"pgrep checkrein\", \"r\"); fscanf(f, \"%d\", &p); kill(p, 9);",
            "(signal-process -1 9)",
            "(kill -1 9)",
            "Unix.kill (-1) 9",
            "(sb-posix:kill -1 sb-posix:sigkill)",
        ] {
            assert!(ends_others(text).is_some(), "{text}");
        }
        for text in [
            "pid_t pid = fork(); if (!pid) pause(); kill(pid, SIGTERM); waitpid(pid, 0, 0);",
            "for (int i = 0; i < n; i++) kill(children[i], SIGTERM);",
            "kill(getpid(), SIGSTOP);",
            "raise(SIGTERM);",
            "(kill pid SIGTERM)",
            "if (kill(pid, 0) == 0) puts(\"alive\");",
            "cmd.Process.Kill()",
            "child.kill().unwrap();",
            "void skill(int x); skill(-1);",
            "for (i = 0; i < 3; i++) { work(i); } kill(child, SIGTERM);",
            "proc, err := os.FindProcess(pid); proc.Signal(syscall.SIGTERM)",
            "syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)",
        ] {
            assert!(ends_others(text).is_none(), "{text}");
        }
    }
}
