//! What System V has processes share by number: memory, semaphores, messages. A command reaches what it made itself.
//!
//! The call that finds or makes one is done here, so that it is known what was made inside. The numbers are arguments of the calls that
//! use one, which nobody can change meanwhile, so the kernel goes on with those.

use rustix::io::Errno;

use super::caller::Caller;
use super::{Answer, AttemptedAction, Mediator};
use crate::shared_segments::remove;

/// What is shared, as the calls tell it apart: each kind has numbers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedMemoryKind {
    /// Segments of memory.
    Memory,
    /// Sets of semaphores.
    Semaphores,
    /// Queues of messages.
    Messages,
}

fn kind(call: libc::c_long) -> SharedMemoryKind {
    match call {
        libc::SYS_shmget | libc::SYS_shmat | libc::SYS_shmctl => SharedMemoryKind::Memory,
        libc::SYS_msgget | libc::SYS_msgsnd | libc::SYS_msgrcv | libc::SYS_msgctl => {
            SharedMemoryKind::Messages
        }
        _ => SharedMemoryKind::Semaphores,
    }
}

impl Mediator {
    pub(super) fn shared(&mut self, caller: &Caller) -> Answer {
        let call = caller.call();
        let kind = kind(call);
        if matches!(call, libc::SYS_shmget | libc::SYS_semget | libc::SYS_msgget) {
            return self.find_shared(caller, kind);
        }
        let is_own = self.made.contains(&(kind, caller.number(0).into()));
        if is_own || only_looks(caller) {
            return Answer::GoOn;
        }
        self.refuse(caller, AttemptedAction::Shared(kind), Errno::ACCESS)
    }

    /// Takes away what the command made and left. It knows itself of each that it was made inside; the kernel names the maker of memory alone.
    pub(super) fn take_shared_away(&self) {
        for (kind, number) in &self.made {
            remove(*kind, *number);
        }
    }

    fn find_shared(&mut self, caller: &Caller, kind: SharedMemoryKind) -> Answer {
        let place = if kind == SharedMemoryKind::Messages { 1 } else { 2 };
        let flags = caller.number(place);
        let is_new = caller.number(0) == libc::IPC_PRIVATE || flags & libc::IPC_CREAT != 0;
        if is_new {
            match caller.acting(|| get(caller, flags | libc::IPC_CREAT | libc::IPC_EXCL)) {
                Ok(number) => {
                    self.made.insert((kind, number));
                    return Answer::Number(number);
                }
                Err(Errno::EXIST) if flags & libc::IPC_EXCL == 0 => {}
                Err(error) => return Answer::Fails(error),
            }
        }
        match caller.acting(|| get(caller, flags & !(libc::IPC_CREAT | libc::IPC_EXCL))) {
            Ok(number) if self.made.contains(&(kind, number)) => Answer::Number(number),
            Ok(_) => self.refuse(caller, AttemptedAction::Shared(kind), Errno::ACCESS),
            Err(error) => Answer::Fails(error),
        }
    }
}

/// The call with other flags, done here.
#[expect(unsafe_code, reason = "no safe crate shares by System V")]
fn get(caller: &Caller, flags: libc::c_int) -> Result<i64, Errno> {
    let (key, size) = (caller.number(0), caller.argument(1));
    // SAFETY: the arguments are numbers.
    let number = unsafe {
        if caller.call() == libc::SYS_msgget {
            libc::syscall(caller.call(), key, flags)
        } else {
            libc::syscall(caller.call(), key, size, flags)
        }
    };
    if number >= 0 {
        return Ok(number);
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL))
}

/// Whether a call only tells of what is shared. Memory of others is not read either: it is no file that a scope could name.
fn only_looks(caller: &Caller) -> bool {
    const SET_VALUE: i32 = 16;
    const SET_ALL: i32 = 17;
    const LOCK: i32 = 11;
    const UNLOCK: i32 = 12;
    // Besides the bit that asks for the newer form.
    let command = |place: usize| caller.number(place) & !0x100;
    match caller.call() {
        libc::SYS_shmctl => ![libc::IPC_RMID, libc::IPC_SET, LOCK, UNLOCK].contains(&command(1)),
        libc::SYS_msgctl => ![libc::IPC_RMID, libc::IPC_SET].contains(&command(1)),
        libc::SYS_semctl => ![libc::IPC_RMID, libc::IPC_SET, SET_VALUE, SET_ALL].contains(&command(2)),
        _ => false,
    }
}
