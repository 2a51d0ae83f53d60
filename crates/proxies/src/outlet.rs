//! What leaves on one side, in order.
//!
//! What is passed on waits while much of it is not taken yet, so that a side that does not read holds up who writes to it and memory stays
//! bounded. What we write ourselves never waits: whoever waited with it could hold up the other direction for ever.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// So many bytes are kept before who passes on has to wait (ours).
const KEPT: usize = 1024 * 1024;

/// The way to one side.
#[derive(Debug, Default)]
pub(crate) struct Outlet {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    is_closed: bool,
    is_broken: bool,
}

impl Outlet {
    /// Passes a line on behind all others, when there is room. What nobody takes any more is dropped.
    pub(crate) fn pass(&self, line: Vec<u8>) {
        let mut queue = self.lock();
        while queue.bytes > KEPT && !queue.is_broken {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        self.add(queue, line);
    }

    /// Puts a line of ours behind all others, at once.
    pub(crate) fn write(&self, line: Vec<u8>) {
        self.add(self.lock(), line);
    }

    /// Nothing comes any more.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Whether the other side takes nothing any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.lock().is_broken
    }

    /// Writes what comes until the way is closed or broken.
    pub(crate) fn drain(&self, output: impl Write) {
        let mut output = BufWriter::with_capacity(64 * 1024, output);
        loop {
            let mut queue = self.lock();
            while queue.lines.is_empty() && !queue.is_closed {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let lines = std::mem::take(&mut queue.lines);
            drop(queue);
            if lines.is_empty() {
                return;
            }
            for line in lines {
                let written = write_all(&mut output, &line);
                let mut queue = self.lock();
                queue.bytes = queue.bytes.saturating_sub(line.len());
                queue.is_broken |= written.is_err();
                self.changed.notify_all();
                if queue.is_broken {
                    queue.lines.clear();
                    return;
                }
            }
            if output.flush().is_err() {
                self.lock().is_broken = true;
                self.changed.notify_all();
                return;
            }
        }
    }

    fn add(&self, mut queue: MutexGuard<'_, Queue>, line: Vec<u8>) {
        if !queue.is_broken && !queue.is_closed {
            queue.bytes += line.len();
            queue.lines.push_back(line);
            drop(queue);
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_all(output: &mut impl Write, line: &[u8]) -> io::Result<()> {
    // The buffer does not copy what is longer than itself.
    output.write_all(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn who_passes_on_waits_for_room_and_who_writes_does_not() {
        let outlet = Arc::new(Outlet::default());
        outlet.pass(vec![b'a'; KEPT + 1]);
        outlet.write(b"ours\n".to_vec());
        let passing = {
            let outlet = Arc::clone(&outlet);
            thread::spawn(move || outlet.pass(b"behind\n".to_vec()))
        };
        thread::sleep(Duration::from_millis(50));
        assert!(!passing.is_finished());
        let mut written = Vec::new();
        thread::scope(|scope| {
            scope.spawn(|| outlet.drain(&mut written));
            passing.join().unwrap();
            outlet.close();
        });
        assert!(written.ends_with(b"aours\nbehind\n") && written.len() == KEPT + 1 + 5 + 7);
    }

    #[test]
    fn a_side_that_is_gone_holds_nobody_up() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let outlet = Outlet::default();
        outlet.pass(vec![b'a'; 2 * KEPT]);
        outlet.drain(Gone);
        assert!(outlet.is_broken());
        outlet.pass(b"more\n".to_vec());
    }
}
