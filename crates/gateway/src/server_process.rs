//! A server that is a process: its lines, and its end.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::error::CommandError;
use checkrein_sandbox::Signals;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::lines::{ReadLine, next_line};
use crate::relay::{LONGEST_LINE, Relay, Sent};
use crate::reviewer::Reviewer;

/// How long a server may go on after its client left, and after it was asked to end (ours; the protocol leaves it to the client).
const AFTER_CLOSE: Duration = Duration::from_secs(5);
const AFTER_SIGNAL: Duration = Duration::from_secs(2);

/// How long output of a process that has ended is waited for: something that it started may hold it open (ours).
const AFTER_END: Duration = Duration::from_millis(500);

/// How often is looked whether anything ended or asked for an end (ours).
const LOOK: Duration = Duration::from_millis(50);

/// The client's side of a connection.
pub struct ClientSide {
    /// What the client writes.
    pub input: Box<dyn Read + Send>,
    /// What it reads.
    pub output: Box<dyn Write + Send>,
    /// Where remarks for people go.
    pub remark: Arc<dyn Fn(&str) + Send + Sync>,
}

impl std::fmt::Debug for ClientSide {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ClientSide(..)")
    }
}

/// What ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// The client writes or reads no more.
    Client,
    /// The server writes no more.
    Server,
}

/// Both directions of a connection, shared by what reads them.
struct Ends<R> {
    relay: Relay<R>,
    to_client: Mutex<Box<dyn Write + Send>>,
    /// `None` once the client has left.
    to_server: Mutex<Option<ChildStdin>>,
    remark: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Starts a server and stands between it and a client until one of them ends; the exit status of the server. Nothing of the server is left
/// behind. Fails when it cannot be started.
pub fn serve_process<R: Reviewer + 'static>(
    command: &[OsString],
    relay: Relay<R>,
    client: ClientSide,
) -> Result<u8, CommandError> {
    let signals = Signals::remembered()?;
    let mut child = start(command)?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(CommandError::user(
            "the server has no standard input or output",
            "report this as a defect",
        ));
    };
    let ends = Arc::new(Ends {
        relay,
        to_client: Mutex::new(client.output),
        to_server: Mutex::new(Some(input)),
        remark: client.remark,
    });
    let (sender, receiver) = mpsc::channel();
    let (of_client, of_server) = (Arc::clone(&ends), Arc::clone(&ends));
    let (client_left, server_left) = (sender.clone(), sender);
    let read_client = move || {
        let mut input = BufReader::with_capacity(64 * 1024, client.input);
        of_client.read_client(&mut input, &client_left);
    };
    let read_server = move || {
        let mut output = BufReader::with_capacity(64 * 1024, output);
        of_server.read_server(&mut output, &server_left);
    };
    let started =
        thread::Builder::new().spawn(read_client).and_then(|_| thread::Builder::new().spawn(read_server));
    if let Err(error) = started {
        end(&mut child);
        return Err(error.into());
    }
    let status = wait(&mut child, &ends, &receiver, &signals);
    ends.relay.end();
    Ok(status)
}

fn start(command: &[OsString]) -> Result<Child, CommandError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(CommandError::user("no server is named", "`checkrein mcp -- SERVER ARGUMENTS`"));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    // A group of its own is ended as a whole, with what a starter such as `npx` started.
    command.process_group(0);
    #[cfg(target_os = "linux")]
    checkrein_sandbox::end_with_parent(&mut command);
    command.spawn().map_err(|error| {
        let mut failure = CommandError::file("start the MCP server", program.display(), &error);
        failure.hint.get_or_insert_with(|| "check that the program is installed and on PATH".to_owned());
        failure
    })
}

/// Waits until the server has ended, and ends it where that is due; its exit status.
fn wait<R>(child: &mut Child, ends: &Ends<R>, ended: &Receiver<Ended>, signals: &Signals) -> u8 {
    let mut deadline: Option<Instant> = None;
    let mut is_silent = false;
    loop {
        match ended.recv_timeout(LOOK) {
            Ok(Ended::Client) => {
                drop(ends.to_server.lock().unwrap_or_else(PoisonError::into_inner).take());
                deadline.get_or_insert_with(|| Instant::now() + AFTER_CLOSE);
            }
            Ok(Ended::Server) => {
                is_silent = true;
                deadline.get_or_insert_with(|| Instant::now() + AFTER_CLOSE);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                is_silent = true;
                thread::sleep(LOOK);
            }
        }
        if let Ok(Some(status)) = child.try_wait() {
            // What it wrote last is handed on.
            let last = Instant::now() + AFTER_END;
            while !is_silent && Instant::now() < last {
                is_silent = matches!(ended.recv_timeout(LOOK), Ok(Ended::Server));
            }
            end_group(child, Signal::KILL);
            return number(status);
        }
        if signals.asked().is_some() || deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return number(end(child));
        }
    }
}

/// Ends the server and what it started: asks first.
fn end(child: &mut Child) -> ExitStatus {
    end_group(child, Signal::TERM);
    let deadline = Instant::now() + AFTER_SIGNAL;
    while Instant::now() < deadline {
        if let Ok(Some(status)) = child.try_wait() {
            end_group(child, Signal::KILL);
            return status;
        }
        thread::sleep(Duration::from_millis(10));
    }
    end_group(child, Signal::KILL);
    child.wait().unwrap_or_default()
}

fn end_group(child: &Child, signal: Signal) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Nobody is left in it.
        let _ = kill_process_group(group, signal);
    }
}

/// The exit status as a shell has it.
fn number(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

impl<R: Reviewer> Ends<R> {
    fn read_client(&self, input: &mut BufReader<impl Read>, ended: &Sender<Ended>) {
        let mut line = Vec::new();
        loop {
            let sent = match next_line(input, LONGEST_LINE, &mut line) {
                Ok(ReadLine::Whole) => self.relay.from_client(&line),
                Ok(ReadLine::TooLong { head, tail, length }) => {
                    self.relay.too_long_from_client(&head, &tail, length)
                }
                Ok(ReadLine::End) | Err(_) => break,
            };
            if self.send(sent, has_line(input), ended).is_err() {
                break;
            }
        }
        // Nobody listens any more when the server has ended.
        let _ = ended.send(Ended::Client);
    }

    fn read_server(&self, output: &mut BufReader<impl Read>, ended: &Sender<Ended>) {
        let mut line = Vec::new();
        loop {
            let sent = match next_line(output, LONGEST_LINE, &mut line) {
                Ok(ReadLine::Whole) => self.relay.from_server(&line),
                Ok(ReadLine::TooLong { head, tail, length }) => {
                    self.relay.too_long_from_server(&head, &tail, length)
                }
                Ok(ReadLine::End) | Err(_) => break,
            };
            // The server writes to nobody then; it is read on, so that it can end by itself.
            drop(self.send(sent, has_line(output), ended));
        }
        let _ = ended.send(Ended::Server);
    }

    /// Sends what is to be sent. With `more` lines waiting it may stay in the buffer of the output until the last of them.
    fn send(&self, sent: Vec<Sent<'_>>, more: More, ended: &Sender<Ended>) -> io::Result<()> {
        for one in sent {
            match one {
                Sent::ToServer(line) => {
                    let mut server = self.to_server.lock().unwrap_or_else(PoisonError::into_inner);
                    // A server that reads no more ends, or has ended.
                    server.as_mut().map_or(Ok(()), |server| server.write_all(&line))?;
                }
                Sent::ToClient(line) => {
                    let mut client = self.to_client.lock().unwrap_or_else(PoisonError::into_inner);
                    let written = client.write_all(&line).and_then(|()| match more {
                        More::Waiting => Ok(()),
                        More::None => client.flush(),
                    });
                    if let Err(error) = written {
                        let _ = ended.send(Ended::Client);
                        return Err(error);
                    }
                }
                Sent::Remark(text) => (self.remark)(&text),
            }
        }
        if more == More::None {
            let mut client = self.to_client.lock().unwrap_or_else(PoisonError::into_inner);
            client.flush()?;
        }
        Ok(())
    }
}

/// Whether a further line was read already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    Waiting,
    None,
}

fn has_line(input: &BufReader<impl Read>) -> More {
    if input.buffer().contains(&b'\n') { More::Waiting } else { More::None }
}
