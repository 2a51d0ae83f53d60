//! Locks of whole files (`flock`): others wait for them, so what lies outside can be locked together with others, not alone, and what
//! is ours not at all.

use std::os::fd::AsFd as _;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::caller::Caller;
use super::{Answer, AttemptedAction, Mediator, path_of};

impl Mediator {
    /// Locks here, with the open file that the caller's descriptor meant when it was judged.
    pub(super) fn lock(&self, caller: &Caller) -> Answer {
        let file = match caller.descriptor(caller.number(0)) {
            Ok(file) => file,
            Err(error) => return Answer::Fails(error),
        };
        let operation = caller.number(1);
        let waits = operation & libc::LOCK_NB == 0;
        let wanted = match operation & !libc::LOCK_NB {
            libc::LOCK_SH => FlockOperation::NonBlockingLockShared,
            libc::LOCK_EX => FlockOperation::NonBlockingLockExclusive,
            libc::LOCK_UN => FlockOperation::NonBlockingUnlock,
            _ => return Answer::Fails(Errno::INVAL),
        };
        if wanted != FlockOperation::NonBlockingUnlock
            && let Some(path) = path_of(file.as_fd())
            && !self.may_write(&path)
            && (wanted == FlockOperation::NonBlockingLockExclusive
                || self.scope.kept.iter().any(|kept| path.starts_with(kept)))
        {
            return self.refuse(caller, AttemptedAction::Lock(path), Errno::ACCESS);
        }
        match rustix::fs::flock(&file, wanted) {
            Err(Errno::AGAIN) if waits => {}
            result => return result.into(),
        }
        // One that waits is waited for in a thread of its own, so that others are answered meanwhile. It is asked for again and again, so
        // that the thread ends with the caller.
        let later = caller.again();
        let started = std::thread::Builder::new().name("lock".to_owned()).spawn(move || {
            while later.is_waiting() {
                match rustix::fs::flock(&file, wanted) {
                    Err(Errno::AGAIN) => std::thread::sleep(PAUSE),
                    result => return later.answer(result.into()),
                }
            }
        });
        if started.is_ok() { Answer::Later } else { Answer::Fails(Errno::AGAIN) }
    }
}

const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);
