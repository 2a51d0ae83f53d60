//! Every way out of a scope that we know, tried by a real process, on what this kernel offers and on what is left without parts of it.
//!
//! No harness: a view of the file system of our own is for a process with one thread. The same program plays all parts: the test itself,
//! the supervisor of one attempt (`confine`), the attempt inside the scope (`attempt`), and a process outside that must not be harmed
//! (`victim`). A word on the command line runs only the attempts whose names hold it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unsafe_code,
    unreachable_pub,
    reason = "a test that cannot go on should panic, and one without a harness says itself how it went"
)]

mod attempts;
#[allow(dead_code, reason = "what is only for the page")]
mod table;
mod usable;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use checkrein_sandbox::{
    Bytes, Endpoint, ExitCause, Kernel, Network, OwnView, ResourceLimits, SandboxedCommand, Scope, Signals,
    run_confined,
};
use checkrein_testkit::not_run;
use table::{ESCAPES, Escape};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["victim"] => victim(),
        ["confine", means, name] => confine(Means::of_name(means), name),
        ["attempt", name] => attempt(name),
        words => test(words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default()),
    }
}

/// What holds the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    /// All that this kernel has.
    Landlock,
    /// An older Landlock, as of 2022.
    OlderLandlock,
    /// No Landlock, but a view of the file system of our own.
    View,
}

impl Means {
    fn name(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::OlderLandlock => "older landlock",
            Self::View => "own view",
        }
    }

    fn of_name(name: &str) -> Self {
        [Self::Landlock, Self::OlderLandlock, Self::View]
            .into_iter()
            .find(|means| means.name() == name)
            .unwrap()
    }

    /// The kernel as it would be; `None` where this one cannot play it.
    fn kernel(self) -> Option<Kernel> {
        let kernel = Kernel::probe();
        match self {
            Self::Landlock => (kernel.landlock > 0).then_some(kernel),
            Self::OlderLandlock => (kernel.landlock > 2).then_some(Kernel { landlock: 2, ..kernel }),
            Self::View => {
                let makes =
                    Command::new("unshare").args(["-Ur", "-m", "true"]).stderr(Stdio::null()).status();
                let makes = kernel.view == OwnView::Offered || makes.is_ok_and(|status| status.success());
                makes.then_some(Kernel { landlock: 0, view: OwnView::Offered, ..kernel })
            }
        }
    }
}

/// What an attempt is aimed at.
pub(crate) struct Surroundings {
    /// The folder that may be changed.
    project: PathBuf,
    /// The folder that may not.
    outside: PathBuf,
    /// A process that must go on, and where a word of its memory is.
    victim: i32,
    address: usize,
    /// Ports of servers that were not named.
    tcp: u16,
    tcp_six: u16,
    udp: u16,
    /// The name of an abstract socket.
    name: String,
    /// A descriptor of a file outside, open for writing.
    inherited: i32,
    user: u32,
    /// A terminal of the user, and a file in `/dev/shm`.
    terminal: PathBuf,
    shared_file: String,
    /// Memory and a queue of System V that others made.
    shared: (i32, i32),
}

impl Surroundings {
    fn read() -> Self {
        let text = |name: &str| env::var(format!("ESCAPE_{name}")).unwrap();
        let number = |name: &str| text(name).parse::<i64>().unwrap();
        Self {
            project: text("PROJECT").into(),
            outside: text("OUTSIDE").into(),
            victim: number("VICTIM").try_into().unwrap(),
            address: number("ADDRESS").try_into().unwrap(),
            tcp: number("TCP").try_into().unwrap(),
            tcp_six: number("TCP_SIX").try_into().unwrap(),
            udp: number("UDP").try_into().unwrap(),
            name: text("NAME"),
            terminal: text("TERMINAL").into(),
            shared_file: text("SHARED_FILE"),
            inherited: number("INHERITED").try_into().unwrap(),
            user: number("USER").try_into().unwrap(),
            shared: (number("MEMORY").try_into().unwrap(), number("QUEUE").try_into().unwrap()),
        }
    }

    fn as_variables(&self) -> Vec<(String, OsString)> {
        let pair = |name: &str, value: &dyn ToString| (format!("ESCAPE_{name}"), value.to_string().into());
        vec![
            ("ESCAPE_PROJECT".to_owned(), self.project.clone().into()),
            ("ESCAPE_OUTSIDE".to_owned(), self.outside.clone().into()),
            pair("VICTIM", &self.victim),
            pair("ADDRESS", &self.address),
            pair("TCP", &self.tcp),
            pair("TCP_SIX", &self.tcp_six),
            pair("UDP", &self.udp),
            pair("NAME", &self.name),
            ("ESCAPE_TERMINAL".to_owned(), self.terminal.clone().into()),
            pair("SHARED_FILE", &self.shared_file),
            pair("INHERITED", &self.inherited),
            pair("USER", &self.user),
            pair("MEMORY", &self.shared.0),
            pair("QUEUE", &self.shared.1),
        ]
    }
}

/// Waits until nobody is there any more.
fn victim() -> ExitCode {
    static WORD: u64 = 7;
    println!("{}", (&raw const WORD).addr());
    drop(std::io::stdin().read_to_end(&mut Vec::new()));
    ExitCode::SUCCESS
}

/// The attempt: 0 when something went through, 1 when nothing did.
fn attempt(name: &str) -> ExitCode {
    if usable::USABLE.iter().any(|(usable, _)| *usable == name) {
        let done = usable::perform(name, &Surroundings::read().name);
        println!("  done: {done:?}");
        return ExitCode::from(if done.is_ok() { 0 } else { 2 });
    }
    let through = attempts::perform(name, &Surroundings::read());
    println!("  went through: {through:?}");
    ExitCode::from(u8::from(through.is_empty()))
}

/// Memory that a bomb may use, files that are written, and processes that a bomb may start.
const MEMORY: Bytes = Bytes(200 << 20);
const FILE: Bytes = Bytes(2 << 20);
const PROCESSES: u32 = 20;

/// Runs one attempt inside a scope, and tells how it ended.
fn confine(means: Means, name: &str) -> ExitCode {
    let escape = ESCAPES.iter().find(|escape| escape.name == name);
    let around = Surroundings::read();
    let network = match escape.map_or(table::Network::Nobody, |escape| escape.network) {
        table::Network::Nobody => Network::Nothing,
        // A port on which nobody listens.
        table::Network::Machine => Network::Loopback,
        table::Network::Another => Network::Only(vec![Endpoint { host: "127.0.0.1".to_owned(), port: 1 }]),
    };
    let bombs = ["memory_bomb", "large_file", "memory_held"];
    let is = |bomb: usize| bombs[bomb] == name;
    let multiplies = ["fork_bomb", "threads", "remains"].contains(&name);
    let limits = ResourceLimits {
        memory: (is(0) || is(2)).then_some(MEMORY),
        file: is(1).then_some(FILE),
        processes: if multiplies { PROCESSES } else { ResourceLimits::default().processes },
        time: Some(if name == "first_thread" { Duration::from_millis(300) } else { Duration::from_mins(1) }),
        ..ResourceLimits::default()
    };
    let command = SandboxedCommand {
        program: env::current_exe().unwrap().into(),
        arguments: vec!["attempt".into(), name.into()],
        environment: env::vars_os().collect(),
        scope: Scope { write: vec![around.project], network, limits, ..Scope::default() },
        kernel: means.kernel().unwrap(),
    };
    let outcome = run_confined(command, &Signals::remembered().unwrap()).unwrap();
    println!("  ended: {:?}, left behind: {}", outcome.ending, outcome.left_behind);
    for refusal in outcome.refusals.0 {
        println!("  said: {refusal}");
    }
    if escape.is_none() {
        return ExitCode::from(u8::from(outcome.ending != ExitCause::Exited(0)));
    }
    let is_in_time = name == "first_thread" && matches!(outcome.ending, ExitCause::Time(_));
    if matches!(outcome.ending, ExitCause::Exited(1) | ExitCause::Memory(_)) || is_in_time {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How many there were: the next one is made while the last one is still there.
static WORLDS: AtomicUsize = AtomicUsize::new(0);

/// What is outside of the scope, and must be as it was.
struct World {
    folder: tempfile::TempDir,
    victim: Child,
    tcp: TcpListener,
    tcp_six: Option<TcpListener>,
    udp: UdpSocket,
    local: UnixListener,
    named: UnixListener,
    datagrams: UnixDatagram,
    around: Surroundings,
    file: File,
    /// The upper side of a terminal, and how it works.
    terminal: File,
    settings: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let place = fs::canonicalize(folder.path()).unwrap();
        let (project, outside) = (place.join("project"), place.join("outside"));
        fs::create_dir(&project).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "precious\n").unwrap();
        let mut victim = Command::new(env::current_exe().unwrap());
        let mut victim = victim
            .arg("victim")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .current_dir(&place)
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(victim.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let tcp_six = TcpListener::bind(("::1", 0)).ok();
        let udp = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let name = format!("checkrein-escapes-{}-{number}", std::process::id());
        let named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let local = UnixListener::bind(outside.join("socket")).unwrap();
        let datagrams = UnixDatagram::bind(outside.join("datagrams")).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        named.set_nonblocking(true).unwrap();
        local.set_nonblocking(true).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let file = File::options().append(true).open(outside.join("file")).unwrap();
        let (terminal, path) = usable::make().unwrap();
        rustix::io::ioctl_fionbio(&terminal, true).unwrap();
        fs::write(Path::new("/dev/shm").join(&name), "theirs").unwrap();
        let around = Surroundings {
            user: fs::metadata(&outside).unwrap().uid(),
            victim: victim.id().try_into().unwrap(),
            address: address.trim().parse().unwrap(),
            tcp: port(&tcp),
            tcp_six: tcp_six.as_ref().map_or(1, port),
            udp: udp.local_addr().unwrap().port(),
            // SAFETY: makes a number for the same file, without the mark that it is closed at the start of a program.
            inherited: unsafe { libc::dup(file.as_raw_fd()) },
            // SAFETY: numbers only; taken away when the world is dropped.
            shared: unsafe {
                (libc::shmget(libc::IPC_PRIVATE, 4096, 0o600), libc::msgget(libc::IPC_PRIVATE, 0o600))
            },
            terminal: path,
            shared_file: name.clone(),
            name,
            project,
            outside,
        };
        if let Some(listener) = &tcp_six {
            listener.set_nonblocking(true).unwrap();
        }
        let settings = settings(&terminal);
        Self { folder, victim, tcp, tcp_six, udp, local, named, datagrams, around, file, terminal, settings }
    }

    /// Everything about the files outside that can be told without changing it; also when something about them was last changed.
    fn picture(&self) -> Vec<String> {
        let mut picture = Vec::new();
        let mut folders = vec![self.around.outside.clone()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            for path in entries.chain([folder.clone()]) {
                let facts = fs::symlink_metadata(&path).unwrap();
                let content = if facts.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                picture.push(format!(
                    "{} {:o} {}:{} {} names, {} bytes {content:?}, changed {}.{} {}.{}",
                    path.display(),
                    facts.mode(),
                    facts.uid(),
                    facts.gid(),
                    facts.nlink(),
                    facts.size(),
                    facts.mtime(),
                    facts.mtime_nsec(),
                    facts.ctime(),
                    facts.ctime_nsec(),
                ));
                if facts.is_dir() && path != folder {
                    folders.push(path);
                }
            }
        }
        picture.sort();
        picture
    }

    /// What happened outside that must not.
    fn harm(&mut self, before: &[String]) -> Vec<String> {
        let mut harm = Vec::new();
        let now = self.picture();
        harm.extend(now.iter().filter(|line| !before.contains(line)).map(|line| format!("changed: {line}")));
        if now.len() < before.len() {
            harm.push("something is gone".to_owned());
        }
        if self.victim.try_wait().unwrap().is_some() {
            harm.push("the process outside ended".to_owned());
        }
        let mut byte = [0];
        if self.tcp.accept().is_ok() || self.tcp_six.as_ref().is_some_and(|server| server.accept().is_ok()) {
            harm.push("a TCP server was reached".to_owned());
        }
        if self.udp.recv(&mut byte).is_ok() || self.datagrams.recv(&mut byte).is_ok() {
            harm.push("a datagram arrived".to_owned());
        }
        if self.terminal.read(&mut byte).is_ok() || settings(&self.terminal) != self.settings {
            harm.push("another terminal was written to or changed".to_owned());
        }
        let in_memory = fs::read(Path::new("/dev/shm").join(&self.around.shared_file));
        if in_memory.is_ok_and(|text| text != b"theirs") {
            harm.push("a file of others in memory was changed".to_owned());
        }
        let left = fs::read_dir("/dev/shm").unwrap().map(|entry| entry.unwrap().file_name());
        let is_left = |name: &OsString| {
            name.to_str()
                .is_some_and(|name| name.contains(&self.around.name) && name != self.around.shared_file)
        };
        harm.extend(left.filter(is_left).map(|name| format!("left in memory: {}", name.display())));
        if self.local.accept().is_ok() || self.named.accept().is_ok() {
            harm.push("a local server was reached".to_owned());
        }
        harm
    }

    fn run(&self, means: Means, escape: &Escape) -> Output {
        fs::remove_dir_all(&self.around.project).unwrap();
        fs::create_dir(&self.around.project).unwrap();
        self.command().args(["confine", means.name(), escape.name]).output().unwrap()
    }

    /// Has something done that must be possible, by a command that has a terminal as its input.
    fn use_it(&self, means: Means, name: &str) -> Output {
        let (_upper, path) = usable::make().unwrap();
        let terminal =
            File::options().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path).unwrap();
        self.command().args(["confine", means.name(), name]).stdin(terminal).output().unwrap()
    }

    /// This program in the project, in another part.
    fn command(&self) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.envs(self.around.as_variables()).current_dir(&self.around.project).stdin(Stdio::null());
        command
    }
}

/// How a terminal works, as text.
fn settings(terminal: &File) -> String {
    format!("{:?}", rustix::termios::tcgetattr(terminal).unwrap())
}

impl Drop for World {
    fn drop(&mut self) {
        drop(fs::remove_file(Path::new("/dev/shm").join(&self.around.shared_file)));
        drop(self.victim.kill());
        drop(self.victim.wait());
        let (memory, queue) = self.around.shared;
        // SAFETY: numbers only, and no structure is asked for.
        unsafe {
            libc::shmctl(memory, libc::IPC_RMID, std::ptr::null_mut());
            libc::msgctl(queue, libc::IPC_RMID, std::ptr::null_mut());
        }
        let _ = (&self.file, &self.folder);
    }
}

/// What an attempt that is not only refused must look like.
fn is_as_expected(escape: &Escape, text: &str, project: &Path) -> bool {
    match escape.name {
        "fork_bomb" | "remains" => text.contains("20 processes are there"),
        "threads" => text.contains("320 threads are there"),
        "first_thread" => !project.join("lived").exists() && text.contains("left behind: 0"),
        "memory_bomb" | "memory_held" => text.contains("ended: Memory"),
        "large_file" => text.contains("File too large"),
        "daemon" => {
            let pid = fs::read_to_string(project.join("pid")).unwrap();
            // That it was there and is gone is what counts; nothing of it had to get out.
            text.contains("left behind: 1") && !Path::new("/proc").join(pid).exists()
        }
        _ => true,
    }
}

/// What also happens without a scope is tried without one too, where it does no harm to the machine: an attempt that cannot work proves
/// nothing.
const HARMLESS: [&str; 36] = [
    "shared_memory",
    "other_terminal",
    "write",
    "write_above",
    "write_link",
    "write_descriptor",
    "write_root",
    "write_parent",
    "write_openat2",
    "hard_link",
    "rename_out",
    "rename_in",
    "exchange",
    "remove",
    "make",
    "truncate",
    "open_truncate",
    "inherited",
    "mode",
    "mode_descriptor",
    "times",
    "kill",
    "tcp",
    "fast_open",
    "listen",
    "no_tcp",
    "local",
    "abstract",
    "local_datagram",
    "datagram_pair",
    "shared",
    "lock",
    "listen_everywhere",
    "threads",
    "remains",
    "queues",
];

fn test(wanted: &str) -> ExitCode {
    let mut failures = 0;
    for name in HARMLESS.iter().filter(|name| name.contains(wanted)) {
        let world = World::new();
        let free = world.command().args(["attempt", name]).output().unwrap();
        if free.status.code() != Some(0) {
            failures += 1;
            println!("{name} does not even work without a scope: {}", String::from_utf8_lossy(&free.stdout));
        }
    }
    for means in [Means::Landlock, Means::OlderLandlock, Means::View] {
        if means.kernel().is_none() {
            not_run(&format!("escapes with {}", means.name()));
            continue;
        }
        let mut world = World::new();
        let mut held = 0;
        for escape in ESCAPES.iter().filter(|escape| escape.name.contains(wanted)) {
            let before = world.picture();
            let output = world.run(means, escape);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let harm = world.harm(&before);
            let expected = is_as_expected(escape, &text, &world.around.project);
            if output.status.success() && harm.is_empty() && expected {
                held += 1;
                if env::args().any(|word| word == "--nocapture") {
                    println!("{}: {} held\n{text}", means.name(), escape.name);
                }
            } else {
                failures += 1;
                println!("{}: {} ({}) is not held: {harm:?}", means.name(), escape.name, escape.attempt);
                println!("{text}{}", String::from_utf8_lossy(&output.stderr));
                world = World::new();
            }
        }
        for (name, in_view) in usable::USABLE.iter().filter(|(name, _)| name.contains(wanted)) {
            if means == Means::View && !in_view {
                continue;
            }
            let output = world.use_it(means, name);
            let harm = world.harm(&world.picture());
            if !output.status.success() || !harm.is_empty() {
                failures += 1;
                println!("{}: {name} is not possible, or does harm: {harm:?}", means.name());
                println!(
                    "{}{}",
                    String::from_utf8_lossy(&output.stdout),
                    String::from_utf8_lossy(&output.stderr)
                );
            }
        }
        println!("{}: {held} ways out are held", means.name());
    }
    ExitCode::from(u8::from(failures > 0))
}
