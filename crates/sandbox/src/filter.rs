//! The system calls that are refused or asked about, as a program for the kernel.
//!
//! A program of seccomp sees the number and the arguments of a call, not the memory they point to. So calls are told apart here as far as
//! numbers go, and where more must be known the kernel asks (`mediation`). Written here and not with a crate, since none knows how to ask.

use rustix::io::Errno;

use crate::kernel::Kernel;
use crate::scope::{Network, ReadScope, Scope};

mod calls;
mod requests;

use calls::{
    ABSENT, ATTRIBUTES, FORBIDDEN, NAMING, ONE_PROCESS, SHARED, SIGNAL_OWNERS, SIGNALLING, STEERING,
};
pub(crate) use calls::{
    FCHMODAT2, Steered, changes_attributes, is_forbidden, is_shared, is_signalling, steered,
};

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It fails with this error.
    Fails(i32),
    /// We are asked; where the kernel cannot ask it goes on, since something else holds or the gap is said.
    Asked,
    /// We are asked; where the kernel cannot ask it fails with this error.
    AskedOr(i32),
}

/// When it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// One of these bits is set in this argument.
    AnyBit(u8, u32),
    /// This argument, a pointer, is not null.
    Given(u8),
    /// This argument is one of these.
    OneOf(u8, &'static [u32]),
    /// These bits of this argument are exactly so.
    Bits(u8, u32, u32),
    /// A socket of a kind that is not let through.
    Socket(Sockets),
    /// A new process or thread; new namespaces fail in any case.
    Fork,
}

/// Which sockets are let through besides local ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sockets {
    Local,
    LocalAndTcp,
}

type Rule = (libc::c_long, When, Fate);

const WRITING: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND).unsigned_abs();
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP)
    .unsigned_abs();
/// Has others wait who want to open the file for writing.
const LEASE: &[u32] = &[1024];

/// A caller that is killed while it waits for us is let go; one that gets another signal is not, so that no call comes twice.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

/// A program for the kernel.
pub(crate) struct Filter {
    instructions: Vec<libc::sock_filter>,
    asks: bool,
}

impl Filter {
    /// The program that holds a scope on a kernel.
    pub(crate) fn of(scope: &Scope, kernel: &Kernel) -> Self {
        let mut program = Program { instructions: Vec::new(), asks: kernel.asks };
        program.head();
        let mut rules = rules(scope, kernel);
        // Rules about the same call keep their order.
        rules.sort_by_key(|(call, ..)| *call);
        program.search(&rules);
        Self { instructions: program.instructions, asks: kernel.asks }
    }

    /// A program that asks about nothing, and can be put in only where nobody is asked yet.
    pub(crate) fn asking_nothing() -> Self {
        let mut program = Program { instructions: Vec::new(), asks: true };
        program.give(libc::SECCOMP_RET_ALLOW);
        Self { instructions: program.instructions, asks: true }
    }

    /// Puts the calling thread and all that it starts under the program. Where the kernel asks, the returned descriptor is where. Does
    /// system calls only.
    #[expect(unsafe_code, reason = "no safe crate installs a filter with a listener")]
    pub(crate) fn install(&mut self) -> Result<Option<i32>, Errno> {
        let len = u16::try_from(self.instructions.len()).map_err(|_| Errno::TOOBIG)?;
        let program = libc::sock_fprog { len, filter: self.instructions.as_mut_ptr() };
        let listen = if self.asks { libc::SECCOMP_FILTER_FLAG_NEW_LISTENER } else { 0 };
        let patient = if self.asks { WAIT_KILLABLE } else { 0 };
        let mut error = Errno::INVAL;
        for flags in [listen | patient, listen] {
            // SAFETY: `program` and the instructions that it points to live until the call returns; the kernel copies them.
            let result = unsafe {
                libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
            };
            if result >= 0 {
                return Ok(i32::try_from(result).ok().filter(|_| self.asks));
            }
            error = Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(error);
            // Another scope is around this one already; without patience it is as well.
            if error == Errno::BUSY {
                break;
            }
        }
        Err(error)
    }
}

fn rules(scope: &Scope, kernel: &Kernel) -> Vec<Rule> {
    let always =
        |calls: &[libc::c_long], fate| calls.iter().map(move |call| (*call, When::Always, fate)).collect();
    let mut rules: Vec<Rule> = Vec::new();
    if kernel.leaves_truncation() {
        // Opened for reading and cut short all the same, which Landlock takes for reading then. Flags in memory cannot be seen here.
        let cut = (libc::O_ACCMODE | libc::O_TRUNC).unsigned_abs();
        let flags = libc::O_TRUNC.unsigned_abs();
        rules.push((libc::SYS_openat2, When::Always, Fate::Fails(libc::ENOSYS)));
        rules.push((libc::SYS_openat, When::Bits(2, cut, flags), Fate::Fails(libc::EACCES)));
        #[cfg(target_arch = "x86_64")]
        rules.push((libc::SYS_open, When::Bits(1, cut, flags), Fate::Fails(libc::EACCES)));
    }
    if kernel.leaves_signals() {
        rules.extend::<Vec<Rule>>(always(SIGNALLING, Fate::Asked));
        let (by_fcntl, by_ioctl) = SIGNAL_OWNERS;
        rules.push((libc::SYS_fcntl, When::OneOf(1, by_fcntl), Fate::Fails(libc::EPERM)));
        rules.push((libc::SYS_ioctl, When::OneOf(1, by_ioctl), Fate::Fails(libc::EPERM)));
    }
    // Asked about where Landlock judges too, so that a refusal can be said.
    rules.push((libc::SYS_kill, When::Always, Fate::Asked));
    for (call, place) in STEERING {
        let kind = ONE_PROCESS.iter().find(|(known, _)| known == call);
        // Of whom there are several kinds all are asked about: which one it is stands in another argument.
        let when = if kind.is_some() { When::Always } else { When::Given(*place) };
        rules.push((*call, when, Fate::AskedOr(libc::EPERM)));
    }
    rules.extend::<Vec<Rule>>(always(FORBIDDEN, Fate::AskedOr(libc::EPERM)));
    rules.extend::<Vec<Rule>>(always(ABSENT, Fate::Fails(libc::ENOSYS)));
    rules.extend::<Vec<Rule>>(always(ATTRIBUTES, Fate::Asked));
    rules.extend::<Vec<Rule>>(always(NAMING, Fate::Asked));
    let opening =
        |argument| if scope.read == ReadScope::All { When::AnyBit(argument, WRITING) } else { When::Always };
    rules.push((libc::SYS_openat, opening(2), Fate::Asked));
    rules.push((libc::SYS_unshare, When::AnyBit(0, NAMESPACES), Fate::AskedOr(libc::EPERM)));
    rules.push((libc::SYS_ioctl, When::OneOf(1, requests::REFUSED), Fate::Fails(libc::EPERM)));
    if kernel.landlock > 0 {
        rules.push((libc::SYS_ioctl, When::OneOf(1, requests::LOWER_SIDE), Fate::Asked));
    }
    rules.push((libc::SYS_fcntl, When::OneOf(1, LEASE), Fate::Fails(libc::EPERM)));
    rules.push((libc::SYS_flock, When::Always, Fate::Asked));
    rules.extend::<Vec<Rule>>(always(SHARED, Fate::Asked));
    rules.push((libc::SYS_clone, When::Fork, Fate::Asked));
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        (libc::SYS_open, opening(1), Fate::Asked),
        (libc::SYS_fork, When::Always, Fate::Asked),
        (libc::SYS_vfork, When::Always, Fate::Asked),
    ]);
    let sockets = match scope.network {
        Network::Open => return rules,
        Network::Nothing => Sockets::Local,
        Network::Loopback | Network::LoopbackAnd(_) | Network::Only(_) => Sockets::LocalAndTcp,
    };
    // Data that goes with the beginning of a connection would begin one without `connect`.
    let fast = (libc::MSG_FASTOPEN).unsigned_abs();
    let connecting = if sockets == Sockets::Local { Fate::AskedOr(libc::EACCES) } else { Fate::Asked };
    rules.extend([
        (libc::SYS_socket, When::Socket(sockets), Fate::AskedOr(libc::EACCES)),
        // Either end of a pair for datagrams could send one to any other address.
        (libc::SYS_socketpair, When::Socket(Sockets::Local), Fate::AskedOr(libc::EACCES)),
        (libc::SYS_connect, When::Always, connecting),
        (libc::SYS_bind, When::Always, Fate::Asked),
        (libc::SYS_listen, When::Always, Fate::Asked),
        (libc::SYS_sendto, When::Given(4), Fate::Fails(libc::EACCES)),
        (libc::SYS_sendmsg, When::AnyBit(2, fast), Fate::Fails(libc::EACCES)),
        (libc::SYS_sendmmsg, When::AnyBit(3, fast), Fate::Fails(libc::EACCES)),
    ]);
    rules
}

/// Whether the kernel filters calls at all.
pub(crate) fn is_offered() -> bool {
    is_available(libc::SECCOMP_RET_ERRNO)
}

/// Whether it can ask us, and whether we can take sockets over to answer.
pub(crate) fn can_ask() -> bool {
    is_available(libc::SECCOMP_RET_USER_NOTIF)
}

#[expect(unsafe_code, reason = "no safe crate asks what seccomp can do")]
fn is_available(action: u32) -> bool {
    // SAFETY: the call reads the number that it is given and changes nothing.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0_usize, &raw const action)
    };
    result == 0
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the system calls of this architecture are not known here yet");

/// Calls of the x32 form carry this bit.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

struct Program {
    instructions: Vec<libc::sock_filter>,
    asks: bool,
}

/// So many rules are looked at one after the other.
const FEW: usize = 4;

/// Where the fields of `struct seccomp_data` begin.
const NUMBER: u32 = 0;
const ARCHITECTURE_FIELD: u32 = 4;
fn low(argument: u8) -> u32 {
    16 + 8 * u32::from(argument)
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const SKIP: u32 = libc::BPF_JMP | libc::BPF_JA;
const AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;

impl Program {
    fn push(&mut self, code: u32, jt: u8, jf: u8, k: u32) {
        let code = u16::try_from(code).unwrap_or(u16::MAX);
        self.instructions.push(libc::sock_filter { code, jt, jf, k });
    }

    fn load(&mut self, field: u32) {
        self.push(LOAD, 0, 0, field);
    }

    fn give(&mut self, action: u32) {
        self.push(libc::BPF_RET | libc::BPF_K, 0, 0, action);
    }

    /// Only calls of this architecture in its one form go on.
    fn head(&mut self) {
        self.load(ARCHITECTURE_FIELD);
        self.push(EQUAL, 1, 0, ARCHITECTURE);
        self.give(libc::SECCOMP_RET_KILL_PROCESS);
        self.load(NUMBER);
        #[cfg(target_arch = "x86_64")]
        {
            self.push(AT_LEAST, 0, 1, X32);
            self.give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
        }
    }

    fn action(&self, fate: Fate) -> u32 {
        let fails = |error: i32| libc::SECCOMP_RET_ERRNO | error.unsigned_abs();
        match fate {
            Fate::Asked | Fate::AskedOr(_) if self.asks => libc::SECCOMP_RET_USER_NOTIF,
            Fate::Asked => libc::SECCOMP_RET_ALLOW,
            Fate::Fails(error) | Fate::AskedOr(error) => fails(error),
        }
    }

    /// Halves the rules until few are left: the kernel runs the program for every call there is when it is installed, and for many later.
    fn search(&mut self, rules: &[Rule]) {
        let middle = rules.get(rules.len() / 2).map_or(0, |(call, ..)| *call);
        let (below, above) = rules.split_at(rules.partition_point(|(call, ..)| *call < middle));
        if rules.len() <= FEW || below.is_empty() {
            rules.iter().for_each(|rule| self.rule(*rule));
            return self.give(libc::SECCOMP_RET_ALLOW);
        }
        let mut first = Self { instructions: Vec::new(), asks: self.asks };
        first.search(below);
        let length = u32::try_from(first.instructions.len()).unwrap_or(u32::MAX);
        self.push(AT_LEAST, 0, 1, u32::try_from(middle).unwrap_or(u32::MAX));
        self.push(SKIP, 0, 0, length);
        self.instructions.extend(first.instructions);
        self.search(above);
    }

    /// `if number == call { body }`. A body ends with an answer, or goes on to the next rule with the number of the call.
    fn rule(&mut self, (call, when, fate): Rule) {
        let number = u32::try_from(call).unwrap_or(u32::MAX);
        let mut body = Self { instructions: Vec::new(), asks: self.asks };
        body.body(when, body.action(fate));
        let length = u8::try_from(body.instructions.len()).unwrap_or(u8::MAX);
        self.push(EQUAL, 0, length, number);
        self.instructions.extend(body.instructions);
    }

    fn body(&mut self, when: When, action: u32) {
        const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
        match when {
            When::Always => self.give(action),
            When::AnyBit(argument, bits) => {
                self.load(low(argument));
                self.push(ANY_BIT, 0, 1, bits);
                self.give(action);
                self.give(ALLOW);
            }
            When::Given(argument) => {
                self.load(low(argument));
                self.push(EQUAL, 1, 0, 0);
                self.give(action);
                self.load(low(argument) + 4);
                self.push(EQUAL, 1, 0, 0);
                self.give(action);
                self.load(NUMBER);
            }
            When::OneOf(argument, values) => {
                self.load(low(argument));
                for value in values {
                    self.push(EQUAL, 0, 1, *value);
                    self.give(action);
                }
                self.load(NUMBER);
            }
            When::Bits(argument, mask, bits) => {
                self.load(low(argument));
                self.push(AND, 0, 0, mask);
                self.push(EQUAL, 0, 1, bits);
                self.give(action);
                self.load(NUMBER);
            }
            When::Fork => {
                self.load(low(0));
                self.push(ANY_BIT, 0, 1, NAMESPACES);
                self.give(libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
                self.give(action);
            }
            When::Socket(sockets) => self.socket(sockets, action),
        }
    }

    /// Local sockets that are connected before they speak, and TCP where it is let through; neither raw nor any other kind.
    fn socket(&mut self, sockets: Sockets, action: u32) {
        const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
        let is_stream = |program: &mut Self| {
            program.load(low(1));
            program.push(AND, 0, 0, 0xf);
        };
        self.load(low(0));
        self.push(EQUAL, 0, 6, libc::AF_UNIX.unsigned_abs());
        is_stream(self);
        self.push(EQUAL, 1, 0, libc::SOCK_STREAM.unsigned_abs());
        self.push(EQUAL, 0, 1, libc::SOCK_SEQPACKET.unsigned_abs());
        self.give(ALLOW);
        self.give(action);
        if sockets == Sockets::LocalAndTcp {
            self.push(EQUAL, 2, 0, libc::AF_INET.unsigned_abs());
            self.push(EQUAL, 1, 0, libc::AF_INET6.unsigned_abs());
            self.give(action);
            is_stream(self);
            self.push(EQUAL, 1, 0, libc::SOCK_STREAM.unsigned_abs());
            self.give(action);
            self.load(low(2));
            self.push(EQUAL, 2, 0, 0);
            self.push(EQUAL, 1, 0, libc::IPPROTO_TCP.unsigned_abs());
            self.give(action);
            self.give(ALLOW);
        } else {
            self.give(action);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{OwnView, Surroundings};

    /// What the program says to a call, by running it as the kernel would.
    fn judge(scope: &Scope, asks: bool, call: libc::c_long, arguments: [u64; 6]) -> u32 {
        run(&Filter::of(scope, &kernel(7, asks)), call, arguments)
    }

    fn kernel(landlock: u32, asks: bool) -> Kernel {
        Kernel { landlock, view: OwnView::Unneeded, filters: true, asks, surroundings: Surroundings::Free }
    }

    fn run(filter: &Filter, call: libc::c_long, arguments: [u64; 6]) -> u32 {
        let number = u32::try_from(call).unwrap();
        let field = |offset: u32| match offset {
            0 => number,
            4 => ARCHITECTURE,
            _ => {
                let word = arguments[((offset - 16) / 8) as usize];
                (if offset.is_multiple_of(8) { word } else { word >> 32 } & 0xffff_ffff) as u32
            }
        };
        let (mut place, mut register) = (0, 0);
        loop {
            let step = filter.instructions[place];
            place += 1;
            let jump = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            match u32::from(step.code) {
                LOAD => register = field(step.k),
                AND => register &= step.k,
                EQUAL => place += jump(register == step.k),
                ANY_BIT => place += jump(register & step.k != 0),
                AT_LEAST => place += jump(register >= step.k),
                SKIP => place += step.k as usize,
                _ => return step.k,
            }
        }
    }

    const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
    const GO: u32 = libc::SECCOMP_RET_ALLOW;
    fn error(number: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | number.unsigned_abs()
    }
    fn within(network: Network) -> Scope {
        Scope { network, ..Scope::default() }
    }

    #[test]
    fn ordinary_calls_go_on_unasked() {
        for call in [libc::SYS_read, libc::SYS_write, libc::SYS_mmap, libc::SYS_execve, libc::SYS_exit_group]
        {
            assert_eq!(judge(&Scope::default(), true, call, [0; 6]), GO, "{call}");
        }
    }

    #[test]
    fn opening_for_reading_is_asked_about_only_where_reading_is_limited() {
        let flags = |flags: i32| [0, 0, u64::from(flags.unsigned_abs()), 0, 0, 0];
        let only = Scope { read: ReadScope::Only(vec![]), ..Scope::default() };
        assert_eq!(judge(&Scope::default(), true, libc::SYS_openat, flags(libc::O_RDONLY)), GO);
        assert_eq!(judge(&only, true, libc::SYS_openat, flags(libc::O_RDONLY)), ASK);
        assert_eq!(judge(&Scope::default(), true, libc::SYS_openat, flags(libc::O_WRONLY)), ASK);
    }

    #[test]
    fn sockets_are_told_apart_by_family_kind_and_protocol() {
        let socket = |family: i32, kind: i32, protocol: u64| {
            [u64::from(family.unsigned_abs()), u64::from(kind.unsigned_abs()), protocol, 0, 0, 0]
        };
        let ask = |network: Network, arguments| judge(&within(network), true, libc::SYS_socket, arguments);
        let tcp = socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        assert_eq!(ask(Network::Nothing, tcp), ASK);
        assert_eq!(ask(Network::Loopback, tcp), GO);
        assert_eq!(ask(Network::Loopback, socket(libc::AF_INET6, libc::SOCK_STREAM, 6)), GO);
        assert_eq!(ask(Network::Loopback, socket(libc::AF_INET, libc::SOCK_STREAM, 262)), ASK, "multipath");
        assert_eq!(ask(Network::Loopback, socket(libc::AF_INET, libc::SOCK_DGRAM, 0)), ASK);
        assert_eq!(ask(Network::Loopback, socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)), ASK);
        assert_eq!(ask(Network::Nothing, socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)), GO);
        assert_eq!(ask(Network::Nothing, socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0)), ASK);
        assert_eq!(ask(Network::Open, socket(libc::AF_INET, libc::SOCK_DGRAM, 0)), GO);
        let pair = |network: Network, kind| {
            judge(&within(network), true, libc::SYS_socketpair, socket(libc::AF_UNIX, kind, 0))
        };
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC] {
            assert_eq!([pair(Network::Loopback, kind), pair(Network::Open, kind)], [ASK, GO], "{kind}");
        }
        for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK] {
            assert_eq!(pair(Network::Nothing, kind), GO, "{kind}");
        }
    }

    #[test]
    fn what_changes_a_file_system_through_a_descriptor_for_reading_is_refused() {
        let request = |number: u64| judge(&Scope::default(), true, libc::SYS_ioctl, [3, number, 0, 0, 0, 0]);
        for number in requests::REFUSED {
            assert_eq!(request((*number).into()), error(libc::EPERM), "{number:#x}");
            // The kernel looks at the lower half only.
            assert_eq!(request(u64::from(*number) | 1 << 32), error(libc::EPERM), "{number:#x}");
        }
        // FICLONE, FICLONERANGE, FIDEDUPERANGE, FS_IOC_GETFLAGS, FS_IOC_GETVERSION, FIEMAP, FIONREAD, TCGETS, TIOCGWINSZ.
        for number in [
            0x4004_9409,
            0x4020_940d,
            0xc018_9436,
            0x8008_6601,
            0x8008_7601,
            0xc020_660b,
            0x541b,
            0x5401,
            0x5413,
        ] {
            assert_eq!(request(number), GO, "{number:#x}");
        }
        let mut sorted = requests::REFUSED.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), requests::REFUSED.len());
    }

    #[test]
    fn processes_and_threads_are_counted_and_namespaces_refused() {
        let clone = |flags: i32| {
            judge(&Scope::default(), true, libc::SYS_clone, [u64::from(flags.unsigned_abs()), 0, 0, 0, 0, 0])
        };
        assert_eq!([clone(libc::CLONE_THREAD | libc::CLONE_VM), clone(libc::SIGCHLD)], [ASK; 2]);
        assert_eq!(clone(libc::CLONE_NEWUSER | libc::SIGCHLD), error(libc::EPERM));
        assert_eq!(judge(&Scope::default(), true, libc::SYS_clone3, [0; 6]), error(libc::ENOSYS));
    }

    #[test]
    fn where_the_kernel_cannot_ask_what_must_not_be_fails() {
        assert_eq!(judge(&Scope::default(), false, libc::SYS_ptrace, [0; 6]), error(libc::EPERM));
        assert_eq!(judge(&Scope::default(), false, libc::SYS_connect, [0; 6]), error(libc::EACCES));
        assert_eq!(judge(&Scope::default(), false, libc::SYS_clone, [0; 6]), GO);
    }

    #[test]
    fn an_address_beside_the_data_of_a_socket_is_refused() {
        let to = |address: u64| judge(&Scope::default(), true, libc::SYS_sendto, [3, 1, 1, 0, address, 16]);
        assert_eq!(to(0), GO);
        assert_eq!([to(0x7ffe_0000_0000), to(0x10)], [error(libc::EACCES); 2]);
    }

    #[test]
    fn what_an_older_landlock_does_not_judge_is_asked_about() {
        let judge = |landlock: u32, call: libc::c_long, arguments: [u64; 6]| {
            run(&Filter::of(&Scope::default(), &kernel(landlock, true)), call, arguments)
        };
        let kill = [1, u64::from(libc::SIGTERM.unsigned_abs()), 0, 0, 0, 0];
        assert_eq!([judge(5, libc::SYS_tgkill, kill), judge(6, libc::SYS_tgkill, kill)], [ASK, GO]);
        let owner = [3, 8, 1, 0, 0, 0];
        assert_eq!(judge(5, libc::SYS_fcntl, owner), error(libc::EPERM));
        assert_eq!(judge(6, libc::SYS_fcntl, owner), GO);
        let cut = |flags: i32| [0, 0, u64::from(flags.unsigned_abs()), 0, 0, 0];
        let (reading, writing) = (libc::O_RDONLY | libc::O_TRUNC, libc::O_WRONLY | libc::O_TRUNC);
        assert_eq!(judge(2, libc::SYS_openat, cut(reading)), error(libc::EACCES));
        assert_eq!(
            [judge(2, libc::SYS_openat, cut(writing)), judge(3, libc::SYS_openat, cut(reading))],
            [ASK; 2]
        );
        assert_eq!(judge(2, libc::SYS_openat, cut(0)), GO);
        // One rule after the other about the same call.
        for request in [0x5412, 0x8901] {
            assert_eq!(judge(5, libc::SYS_ioctl, [0, request, 0, 0, 0, 0]), error(libc::EPERM));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_of_another_form_of_this_architecture_do_not_slip_through() {
        let call = libc::SYS_ptrace | i64::from(X32);
        assert_eq!(judge(&Scope::default(), true, call, [0; 6]), error(libc::ENOSYS));
    }
}
