//! A process that stays and answers hooks: who it must be, and what it takes over.
//!
//! Anything that runs as the user can listen on a socket, so a socket proves nothing. A hook takes an answer only from the program that stands
//! beside it, in the same view of the system, watched by no debugger and with nobody else's code in it, and only with a code over question and
//! answer that takes the key of the seals. Who has that key outside of any sandbox could seal an allowance as well, so the answer of a resident
//! process is worth no more than what the hook believes anyway, and no less. Where anything of this is missing the hook decides by itself.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_clients::ClientAdapter;
use checkrein_policy::{ApprovalWait, Profile};
use checkrein_protocol::{AbsolutePath, HookEventKind, SessionId};
use checkrein_world::changes::real_path;
use checkrein_world::find_workspace;
use sha2::{Digest as _, Sha256};

use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::places::{self, Ground};
use crate::processes;
use crate::seal;

/// The folder of the socket, in the state directory.
const FOLDER: &str = "engine";

/// The longest table of a process that is read, in bytes (ours).
const LONGEST: u64 = 64 * 1024;

/// What two processes must share to see the same files and the same processes.
const VIEWS: [&str; 3] = ["mnt", "pid", "user"];

/// The folder of the socket: of the user alone, and out of the agent's reach like all of the state directory.
pub fn folder(environment: &HostEnvironment) -> PathBuf {
    environment.state.root().join(FOLDER)
}

/// Where a resident process listens.
pub fn socket(environment: &HostEnvironment) -> PathBuf {
    folder(environment).join("socket")
}

/// Who says something on the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The hook.
    Hook,
    /// The process that stays.
    Engine,
}

impl Speaker {
    fn word(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Engine => "engine",
        }
    }
}

/// What both sides prove themselves with: the key of the seals.
#[derive(Clone)]
pub struct ResidentKey(String);

impl std::fmt::Debug for ResidentKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ResidentKey")
    }
}

impl ResidentKey {
    /// The key of this state directory; `None` where there is none.
    pub fn of(environment: &HostEnvironment) -> Option<Self> {
        seal::key(environment).map(Self)
    }

    /// The same, made where there is none.
    ///
    /// # Errors
    ///
    /// It cannot be made or read.
    pub fn made(environment: &HostEnvironment) -> io::Result<Self> {
        seal::made_key(environment).map(Self)
    }

    /// The code of what a side says, over all parts in order.
    pub fn code(&self, speaker: Speaker, parts: &[&[u8]]) -> [u8; 32] {
        let mut text = b"checkrein-resident-1\0".to_vec();
        text.extend_from_slice(speaker.word().as_bytes());
        for part in parts {
            // With their lengths: no byte can move from one part to another.
            text.extend_from_slice(&(part.len() as u64).to_le_bytes());
            text.extend_from_slice(part);
        }
        seal::authentication(self.0.as_bytes(), &text)
    }

    /// Whether a code is that of these parts.
    pub fn is_code(&self, speaker: Speaker, parts: &[&[u8]], code: &[u8]) -> bool {
        // Digests of what is compared differ in places that tell nothing about it.
        Sha256::digest(self.code(speaker, parts)) == Sha256::digest(code)
    }
}

/// Why a process is not the one that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stranger {
    /// It runs another file, or nothing is told of it.
    Program,
    /// It sees other files or other processes.
    View,
    /// A debugger holds it.
    Traced,
    /// It runs code of others.
    ForeignCode,
}

/// Whether a process runs this very file, and sees the system as this process does.
///
/// # Errors
///
/// What speaks against it.
pub fn runs(process: i32, program: &Path) -> Result<(), Stranger> {
    let of = |path: PathBuf| fs::metadata(path).ok().map(|facts| (facts.dev(), facts.ino()));
    let running = of(format!("/proc/{process}/exe").into());
    if running.is_none() || running != of(program.to_owned()) {
        return Err(Stranger::Program);
    }
    let view = |process: &str, name: &str| fs::read_link(format!("/proc/{process}/ns/{name}")).ok();
    let number = process.to_string();
    let sees_the_same = VIEWS.iter().all(|name| {
        let theirs = view(&number, name);
        theirs.is_some() && theirs == view("self", name)
    });
    let root = of(format!("/proc/{process}/root").into());
    if !sees_the_same || root.is_none() || root != of("/".into()) {
        return Err(Stranger::View);
    }
    Ok(())
}

/// The same, and nobody has a hand in it.
///
/// # Errors
///
/// What speaks against it.
pub fn is_untouched(process: i32, program: &Path) -> Result<(), Stranger> {
    runs(process, program)?;
    let status = checkrein_files::read_text(format!("/proc/{process}/status"), LONGEST).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    if tracer.map(str::trim) != Some("0") {
        return Err(Stranger::Traced);
    }
    match processes::foreign_code(process) {
        Some(_) => Err(Stranger::ForeignCode),
        None => Ok(()),
    }
}

/// Whether nothing that a project or a client could set moved home, configuration or state away from where they are: then the hook and a
/// process that stays mean the same places.
pub fn is_in_its_places(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    cwd: &AbsolutePath,
    session: &SessionId,
) -> bool {
    let environment = environment.for_a_call(client.client);
    let workspace = find_workspace(&real_path(cwd));
    let settled = places::settle(environment, &workspace, Some(session));
    settled.ground == Ground::Found && settled.complaints.is_empty()
}

/// Whether a process that stays answers at such a moment: before and after a call. What happens once in a session, or takes its time, stays
/// with the hook.
pub(crate) fn takes(moment: &HookEventKind) -> bool {
    match moment {
        HookEventKind::BeforeAction { .. } | HookEventKind::AfterAction(_) => true,
        HookEventKind::PermissionAsked { .. }
        | HookEventKind::Prompt { .. }
        | HookEventKind::BatchDone
        | HookEventKind::SessionStarted { .. }
        | HookEventKind::SubagentStarted
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::TurnEnding { .. }
        | HookEventKind::SubagentEnding { .. }
        | HookEventKind::SessionEnded
        | HookEventKind::Other { .. } => false,
    }
}

/// Whether everything that such a call needs is the same from outside the hook: nothing failed, no question waits for an answer from
/// elsewhere, which the process of the hook proves by a lock, no memory of the client is measured, and no run above watches the hook.
pub(crate) fn stands_in(context: &Context) -> bool {
    let config = context.policy().config();
    let waits = match config.profile {
        Profile::Interactive => config.approvals.wait < ApprovalWait::Unattended,
        Profile::Unattended | Profile::Strict => config.approvals.wait < ApprovalWait::Never,
    };
    config.engine.resident
        && !waits
        && context.failures().is_empty()
        && context.environment().run_limits.is_none()
        && config.memory_limit_mb().is_none_or(|limit| limit == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_for_one_speaker_and_these_parts() {
        let key = ResidentKey("0".repeat(64));
        let code = key.code(Speaker::Engine, &[b"ab", b"c"]);
        assert!(key.is_code(Speaker::Engine, &[b"ab", b"c"], &code));
        assert!(!key.is_code(Speaker::Engine, &[b"a", b"bc"], &code), "no byte moves");
        assert!(!key.is_code(Speaker::Hook, &[b"ab", b"c"], &code), "an answer is no question");
        assert!(!key.is_code(Speaker::Engine, &[b"ab", b"d"], &code));
        assert!(!ResidentKey("1".repeat(64)).is_code(Speaker::Engine, &[b"ab", b"c"], &code));
    }

    #[test]
    fn a_process_is_told_by_its_file_and_by_who_has_a_hand_in_it() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(is_untouched(processes::own(), &own), Ok(()));
        assert_eq!(runs(processes::own(), Path::new("/bin/sh")), Err(Stranger::Program));
        assert_eq!(runs(i32::MAX, &own), Err(Stranger::Program), "there is no such process");
    }
}
