//! A connection with its two directions.

use std::io::{BufReader, Read as Input, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::{fmt, io};

use checkrein_protocol::AbsolutePath;

use crate::desk::{Desk, Say, Shared};
use crate::lines::{self, LONGEST, Read};
use crate::reviewer::CallJudge;
use crate::state::ledger_name;

/// The four ends of a connection.
pub struct Ends {
    /// What the editor writes.
    pub from_editor: Box<dyn Input + Send>,
    /// What the editor reads.
    pub to_editor: Box<dyn Write + Send>,
    /// What the agent writes.
    pub from_agent: Box<dyn Input + Send>,
    /// What the agent reads. It is closed when the editor writes nothing any more.
    pub to_agent: Box<dyn Write + Send>,
}

impl fmt::Debug for Ends {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ends").finish_non_exhaustive()
    }
}

/// A connection between an editor and an agent, each call of which is judged.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    agent_ended: Arc<AtomicBool>,
    from_agent: JoinHandle<()>,
    to_editor: JoinHandle<()>,
}

impl Proxy {
    /// Begins to pass on what comes. Sessions of which no directory is told work in `cwd`. What does not belong into the conversation is
    /// given to `say`. Fails when the machine gives no thread.
    pub fn start(ends: Ends, judge: Arc<dyn CallJudge>, cwd: AbsolutePath, say: Say) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(judge, cwd, say));
        let agent_ended = Arc::new(AtomicBool::new(false));
        let named = |name: &str| thread::Builder::new().name(name.to_owned());

        let of_writer = Arc::clone(&shared);
        let to_editor = named("to editor").spawn(move || of_writer.to_editor.drain(ends.to_editor))?;
        let of_writer = Arc::clone(&shared);
        named("to agent").spawn(move || of_writer.to_agent.drain(ends.to_agent))?;

        let (of_reader, ended) = (Arc::clone(&shared), Arc::clone(&agent_ended));
        let from_agent = named("from agent").spawn(move || {
            let mut desk = Desk::new(&of_reader);
            read_all(ends.from_agent, &of_reader, |read| match read {
                Read::Line(line) => desk.line_of_agent(line),
                Read::TooLong(beginning) => desk.too_long_from_agent(&beginning),
                Read::End => {}
            });
            of_reader.to_editor.close();
            ended.store(true, Ordering::Release);
        })?;
        let of_reader = Arc::clone(&shared);
        named("from editor").spawn(move || {
            let mut desk = Desk::new(&of_reader);
            read_all(ends.from_editor, &of_reader, |read| match read {
                Read::Line(line) => desk.line_of_editor(line),
                Read::TooLong(beginning) => desk.too_long_from_editor(&beginning),
                Read::End => {}
            });
            of_reader.to_agent.close();
        })?;
        Ok(Self { shared, agent_ended, from_agent, to_editor })
    }

    /// Ends the turns of sessions that were halted meanwhile. To be called now and then.
    pub fn end_halted(&self) {
        let working = self.shared.state().working();
        for session in working {
            if let Some(reason) = self.shared.judge.halted(&ledger_name(&session)) {
                self.shared.cancel(&session, &reason);
            }
        }
    }

    /// Whether the editor was found to read nothing any more. One that only writes nothing any more may wait for the last words.
    pub fn editor_is_gone(&self) -> bool {
        self.shared.to_editor.is_broken()
    }

    /// Whether the agent writes nothing any more, and all of it has reached the editor.
    pub fn is_silent(&self) -> bool {
        self.agent_ended.load(Ordering::Acquire)
            && self.from_agent.is_finished()
            && self.to_editor.is_finished()
    }

    /// Ends all sessions in the records, and says how many lines could not be read.
    pub fn finish(&self) {
        Desk::new(&self.shared).end_sessions();
        let unreadable = self.shared.unreadable();
        if unreadable > 1 {
            self.shared.say(&format!("checkrein: {unreadable} lines were not JSON"));
        }
    }
}

/// Reads lines until nothing comes any more.
fn read_all(from: Box<dyn Input + Send>, shared: &Shared, mut take: impl FnMut(Read)) {
    let mut input = BufReader::with_capacity(64 * 1024, from);
    loop {
        match lines::next(&mut input, LONGEST) {
            Ok(Read::End) => return,
            Ok(read) => take(read),
            Err(error) => {
                shared.say(&format!("checkrein: the connection broke: {error}"));
                return;
            }
        }
    }
}
