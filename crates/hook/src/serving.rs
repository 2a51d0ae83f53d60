//! A process that stays and answers hooks: the same work in the same order as a hook does it, with the program in memory already.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::beside::SharedProcesses;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::resident::{self, ResidentKey, Speaker};
use checkrein_engine::{Engine, ParsedConfigurations};
use checkrein_protocol::AbsolutePath;

use crate::conversation::{Answer, Conversation, NONCE, Request};
use crate::edge::{STACK, is_too_long};
use crate::resident::fresh;

/// How many calls are answered at the same time (ours); who comes then waits for a moment, and decides by itself.
const AT_ONCE: usize = 8;

/// How long a hook may take to ask, once it is connected (ours).
const REQUEST_DEADLINE: Duration = Duration::from_secs(2);

/// How long a hook may take to hear its answer (ours).
const ANSWER_DEADLINE: Duration = Duration::from_secs(1);

/// How long is waited after a connection that could not be taken, so that a lack of descriptors does not keep a processor busy (ours).
const PAUSE: Duration = Duration::from_millis(50);

/// The name of the hook, beside the program that stays.
const HOOK: &str = "checkrein-hook";

/// A process that answers hooks, as long as it is kept.
#[derive(Debug)]
pub struct ResidentEngine {
    socket: PathBuf,
    /// Who holds it is the one that listens.
    _lock: File,
}

impl Drop for ResidentEngine {
    fn drop(&mut self) {
        // What stays refuses connections, which costs a hook as little as its absence.
        drop(fs::remove_file(&self.socket));
    }
}

impl ResidentEngine {
    /// Begins to answer the hooks that stand beside this program.
    ///
    /// # Errors
    ///
    /// Another process answers already, or the socket cannot be made.
    pub fn begin(environment: &HostEnvironment) -> io::Result<Self> {
        let folder = resident::folder(environment);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        let lock = checkrein_lock(&folder.join("lock"))?;
        let key = ResidentKey::made(environment)?;
        let program = environment
            .program
            .clone()
            .ok_or_else(|| io::Error::new(ErrorKind::NotFound, "this program is not known"))?;
        let hook = program.with_file_name(HOOK);
        let socket = resident::socket(environment);
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = Arc::new(UnixListener::bind(&socket)?);
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
        let desk = Arc::new(Desk {
            key,
            hook,
            program,
            own: environment.clone(),
            started: SharedProcesses::default(),
            parsed: Arc::default(),
        });
        for _ in 0..AT_ONCE {
            let (listener, desk) = (Arc::clone(&listener), Arc::clone(&desk));
            thread::Builder::new().stack_size(STACK).spawn(move || {
                loop {
                    match listener.accept() {
                        // What a call breaks is that call: its hook decides by itself.
                        Ok((stream, _)) => {
                            drop(panic::catch_unwind(AssertUnwindSafe(|| desk.answer(stream))));
                        }
                        Err(_) => thread::sleep(PAUSE),
                    }
                }
            })?;
        }
        Ok(Self { socket, _lock: lock })
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

/// A file that one process at a time holds.
fn checkrein_lock(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true);
    let file = checkrein_files::open_own(&mut options, path)?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(io::Error::new(ErrorKind::AddrInUse, "another process answers hooks already"))
        }
        Err(error) => Err(error.into()),
    }
}

/// What a connection is answered with.
#[derive(Debug)]
struct Desk {
    key: ResidentKey,
    hook: PathBuf,
    program: PathBuf,
    own: HostEnvironment,
    started: SharedProcesses,
    parsed: Arc<ParsedConfigurations>,
}

impl Desk {
    /// Hears one question and answers it. Whatever is not as it should be ends the connection.
    fn answer(&self, stream: UnixStream) -> Option<()> {
        let mut conversation = Conversation::of(stream);
        conversation.give(REQUEST_DEADLINE);
        let own = fresh().ok()?;
        // Said at once: the hook tells by it that somebody is there.
        conversation.say_exactly(&own).ok()?;
        // Nobody else keeps this thread waiting for a question.
        let process = conversation.process().filter(|_| conversation.is_with_own_user())?;
        // `checkrein hook` does what the small program does.
        let asking = [&self.hook, &self.program]
            .into_iter()
            .find(|program| resident::runs(process, program).is_ok())?;
        let heard = conversation.hear().ok()?;
        let started = Instant::now();
        let (theirs, rest) = heard.split_at_checked(NONCE)?;
        let (code, asked) = rest.split_at_checked(32)?;
        if !self.key.is_code(Speaker::Hook, &[&own, theirs, asked], code) {
            return None;
        }
        let answer = self
            .judged(&Request::read(asked)?, (process, asking.as_path()), started)
            .unwrap_or(Answer::NotTaken);
        let answer = answer.written();
        let code = self.key.code(Speaker::Engine, &[&own, theirs, asked, &answer]);
        conversation.give(ANSWER_DEADLINE);
        conversation.say(&[&code, &answer]).ok()
    }

    /// What the hook would answer; `None` where it has to do that itself.
    fn judged(&self, request: &Request, (process, asking): (i32, &Path), started: Instant) -> Option<Answer> {
        let client = checkrein_clients::named(&request.client)?;
        let event = (client.decode)(&request.payload).ok()?;
        if is_too_long(&event) {
            return None;
        }
        let cwd = AbsolutePath::new(&request.directory)?;
        let event = checkrein_clients::adapter(event.client).workspace.placed(event, &cwd);
        let environment = HostEnvironment::of(Arc::new(request.variables.clone()), cwd).ok()?;
        let means_the_same = environment.home == self.own.home
            && environment.state_path == self.own.state_path
            && environment.configuration == self.own.configuration;
        if !means_the_same {
            return None;
        }
        let environment =
            environment.asked_by(process, asking.to_owned(), &self.started).keeping(Arc::clone(&self.parsed));
        let response = Engine::new(environment).answer_for_hook(&event, started)?;
        // Some clients call the hooks of another one, with payloads of their own.
        let client = checkrein_clients::adapter(event.client);
        let output = (client.encode)(&event, &response.answer, response.for_user.as_deref());
        let remarks = response.diagnostics.iter().map(ToString::to_string).collect();
        Some(Answer::Given { output, remarks })
    }
}
