//! Agents that do not want to be supervised: each of them lives for half a minute unless it is ended, and then leaves a word.
//!
//! No harness: what supervises splits itself in two, which is for a process with one thread. The same program plays all parts: the test, the
//! two who supervise (`supervise`), and the agent (`agent`). A word on the command line runs only those whose names hold it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unsafe_code,
    reason = "a test that cannot go on should panic, and one without a harness says itself how it went"
)]

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use checkrein_clients::Prices;
use checkrein_sandbox::{Bytes, Hold, Signals};
use checkrein_supervise::{
    Agent, Interaction, SupervisorExit, SupervisorSide, Switches, TerminalOutput, stand_above, supervise,
};
use checkrein_testkit::not_run;

/// What an agent does, and the status that its run ends with.
const UNRULY: [(&str, u8); 11] = [
    ("first_thread_ends", 124),
    ("daemon_first_thread_ends", 124),
    ("memory_behind_first_thread", 118),
    ("hops", 124),
    ("hops_between_sessions", 124),
    ("hops_in_a_crowd", 124),
    ("starts_more_and_more", 114),
    ("stops_inner", 124),
    ("stops_outer", 124),
    ("stops_both", 124),
    ("traces", 124),
];

/// How long an agent lives that nobody ends, and how long it may at most in this test.
const LIFE: Duration = Duration::from_secs(30);
const TIME: Duration = Duration::from_millis(500);

/// How many processes one may have that starts more and more, and how many it would start.
const TASKS: u32 = 200;
const MANY: u32 = 2_000;

/// How many chains leave the machine to others, and how many leave little of it to anybody. Those live shorter.
const FEW: usize = 4;
const CROWD: usize = 60;
const LIFE_IN_A_CROWD: Duration = Duration::from_secs(12);

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["supervise", name, hold] => over(name, hold),
        ["agent", name] => agent(name),
        words => test(words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default()),
    }
}

fn test(wanted: &str) -> ExitCode {
    let mut failures = 0;
    for hold in ["processes", "namespace"] {
        for (name, status) in UNRULY.iter().filter(|(name, _)| name.contains(wanted)) {
            let folder = tempfile::tempdir().unwrap();
            let place = fs::canonicalize(folder.path()).unwrap();
            let output = Command::new(env::current_exe().unwrap())
                .args(["supervise", name, hold])
                .current_dir(&place)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if text.contains("no namespace") {
                not_run(&format!("{name}: {text}"));
                continue;
            }
            let lived = place.join("lived").exists();
            let rest = processes_in(&place);
            let began = place.join("began").exists();
            // Nobody can keep a privileged user from tracing; it is seen, and ends the run in one of several ways.
            let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
            let is_expected = match output.status.code() {
                Some(124 | 125 | 137) if *name == "traces" && is_root => true,
                code => code == Some((*status).into()),
            };
            if is_expected && began && !lived && rest.is_empty() {
                println!("{name} ({hold}) is ended: {}", text.trim());
            } else {
                failures += 1;
                let words = String::from_utf8_lossy(&output.stderr);
                println!(
                    "{name} ({hold}): {}, began: {began}, lived: {lived}, left: {rest:?}\n{text}{words}",
                    output.status
                );
                for process in rest {
                    drop(Command::new("kill").args(["-9", &process]).status());
                }
            }
        }
    }
    ExitCode::from(u8::from(failures > 0))
}

/// The processes that work in a folder.
fn processes_in(place: &Path) -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let is_there =
        |entry: &fs::DirEntry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == place);
    all.filter(is_there).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The two who supervise.
fn over(name: &str, hold: &str) -> ExitCode {
    let namespaces = [Hold::Namespace, Hold::UserNamespace];
    let hold = match hold {
        "namespace" => namespaces.into_iter().find(|way| way.probe().is_ok()),
        _ => Some(Hold::Processes),
    };
    let Some(hold) = hold else {
        println!("no namespace can be made here");
        return ExitCode::SUCCESS;
    };
    let above = match stand_above(&Signals::remembered().unwrap()).unwrap() {
        SupervisorSide::Inner(above) => above,
        SupervisorSide::Outer(SupervisorExit::Ended(status)) => return ExitCode::from(status),
        SupervisorSide::Outer(SupervisorExit::Killed(ended)) => {
            println!("killed: {ended:?}");
            return ExitCode::from(137);
        }
    };
    let memory = (name == "memory_behind_first_thread").then_some(Bytes::of_megabytes(100));
    let tasks = (name == "starts_more_and_more").then_some(TASKS);
    let agent = Agent {
        program: env::current_exe().unwrap().into(),
        arguments: vec!["agent".into(), name.into()],
        directory: env::current_dir().unwrap(),
        variables: Vec::new(),
        environment: None,
        switches: Switches {
            time: Some(if memory.is_some() || tasks.is_some() { LIFE } else { TIME }),
            memory,
            tasks,
            ..Switches::default()
        },
        prices: Prices::default(),
        model: None,
        interaction: Interaction::Pipes,
        terminal_output: TerminalOutput::Stream,
        hold,
    };
    let signals = Signals::remembered().unwrap();
    let outcome = match supervise(&agent, &above, &signals, None, |_, _| (), |_| None, |_| ()) {
        Ok(outcome) => outcome,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(125);
        }
    };
    println!("{:?}, {:?}, ended: {}, left: {}", outcome.stop, outcome.stopping, outcome.ended, outcome.left);
    ExitCode::from(outcome.stop.as_ref().map_or(outcome.status, checkrein_supervise::Stop::status))
}

/// Lives, and says at its end that it did.
fn live() {
    sleep(LIFE);
    fs::write("lived", "").unwrap();
}

fn agent(name: &str) -> ExitCode {
    fs::write("began", "").unwrap();
    match name {
        "first_thread_ends" => first_thread_ends(0),
        "memory_behind_first_thread" => first_thread_ends(300 << 20),
        "daemon_first_thread_ends" => {
            if fork() == 0 {
                ignore_signals();
                // SAFETY: a call without arguments.
                unsafe { libc::setsid() };
                first_thread_ends(0);
            }
        }
        "hops" => hop(FEW, LIFE, || ()),
        "hops_between_sessions" => hop(FEW, LIFE, || {
            // SAFETY: as above.
            unsafe { libc::setsid() };
        }),
        "hops_in_a_crowd" => hop(CROWD, LIFE_IN_A_CROWD, || ()),
        "starts_more_and_more" => {
            for _ in 0..MANY {
                match fork() {
                    0 => {
                        ignore_signals();
                        sleep(LIFE);
                        return ExitCode::SUCCESS;
                    }
                    1.. => {}
                    _ => sleep(Duration::from_millis(1)),
                }
            }
        }
        "stops_inner" => stop(&[std::os::unix::process::parent_id()]),
        "stops_outer" => stop(&above(std::os::unix::process::parent_id())),
        "stops_both" => {
            let inner = std::os::unix::process::parent_id();
            stop(&[above(inner), vec![inner]].concat());
        }
        "traces" => {
            let inner = std::os::unix::process::parent_id();
            // SAFETY: numbers only; this is a test that the call is refused.
            unsafe { libc::ptrace(libc::PTRACE_SEIZE, inner, 0, 0) };
            // SAFETY: as above.
            unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, inner, 0, 0) };
        }
        unknown => panic!("no agent is called {unknown}"),
    }
    live();
    ExitCode::SUCCESS
}

/// The process above another one, if that is known.
fn above(process: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let above =
        text.lines().find_map(|line| line.strip_prefix("PPid:")).and_then(|text| text.trim().parse().ok());
    above.into_iter().filter(|above| *above > 1).collect()
}

fn stop(processes: &[u32]) {
    for process in processes {
        // SAFETY: numbers only; in a namespace nobody has them, or the first process, which cannot be stopped from inside.
        unsafe { libc::kill(process.cast_signed(), libc::SIGSTOP) };
    }
}

fn fork() -> libc::c_int {
    // SAFETY: this process has one thread.
    unsafe { libc::fork() }
}

fn ignore_signals() {
    for signal in 1..32 {
        // SAFETY: sets how signals are answered in this process.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

fn first_thread_ends(memory: usize) {
    spawn(move || {
        let held = vec![1_u8; memory];
        live();
        drop(held);
    });
    sleep(Duration::from_millis(20));
    // SAFETY: ends this thread without anything of the library being run; what it holds is not used by the other one.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
}

/// Chains of processes that live for a moment: each of them starts the next one and ends.
fn hop(chains: usize, life: Duration, at_each: fn()) {
    for _ in 0..chains {
        if fork() == 0 {
            ignore_signals();
            // SAFETY: a call without arguments.
            unsafe { libc::setsid() };
            let started = Instant::now();
            loop {
                at_each();
                match fork() {
                    0 if started.elapsed() > life => {
                        drop(fs::write("lived", ""));
                        // SAFETY: ends this process at once.
                        unsafe { libc::_exit(0) };
                    }
                    0 => {}
                    // SAFETY: as above.
                    1.. => unsafe { libc::_exit(0) },
                    _ => sleep(Duration::from_millis(1)),
                }
            }
        }
    }
}
