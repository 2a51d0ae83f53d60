//! Credentials of the user: in the keyring of the system where there is one, else in a file that only they can read.
//!
//! The keyring is reached through `secret-tool` (libsecret), as mail is through `curl`: so no bus is part of either program. A credential in
//! the keyring leaves an empty mark beside the files, so that listing needs no look into the keyring.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::secure_deletion;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// The name of a credential: letters, digits, `-`, `_` and `.`, at most 64.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CredentialName(String);

impl FromStr for CredentialName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_name = begins && text.len() <= 64 && text.chars().all(is_plain) && !text.ends_with(MARK);
        if is_name {
            return Ok(Self(text.to_owned()));
        }
        Err("a name has letters, digits, `-`, `_` and `.`, at most 64, and begins with one of the first two"
            .to_owned())
    }
}

impl fmt::Display for CredentialName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A credential of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCredential {
    /// The names of its values, of which the next is taken when the provider refuses; at least one.
    pub names: Vec<CredentialName>,
    /// The variable that the agent finds it in.
    pub variable: OsString,
}

impl RunCredential {
    /// The names in a list with commas.
    ///
    /// # Errors
    ///
    /// One is no name of a credential, or stands there twice.
    pub fn names(text: &str) -> Result<Vec<CredentialName>, String> {
        let names = text.split(',').map(str::parse).collect::<Result<Vec<CredentialName>, String>>()?;
        let is_twice = |(place, name): (usize, &CredentialName)| {
            names.iter().take(place).any(|before| before == name).then(|| name.clone())
        };
        match names.iter().enumerate().find_map(is_twice) {
            Some(name) => {
                Err(format!("`{name}` stands there twice, and a value that was refused is no other one"))
            }
            None => Ok(names),
        }
    }

    /// The names in the form that is written down.
    pub fn listed(&self) -> String {
        self.names.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }
}

/// What must not be shown.
pub struct Secret(String);

impl Secret {
    /// From text; a line feed at its end is none of it. Fails when nothing is left, and for what no variable can hold.
    pub fn new(text: &str) -> Result<Self, CommandError> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let refused = |why: &str, hint: &str| Err(CommandError::user(why, hint));
        if text.is_empty() {
            return refused("the credential is empty", "type it, or `checkrein credential set NAME < FILE`");
        }
        if text.contains('\0') {
            return refused("the credential holds a zero byte, which no variable can", "give it as text");
        }
        if text.len() as u64 > LONGEST {
            return refused(
                "the credential is longer than 64 KB",
                "keep large files elsewhere, and give the agent their path",
            );
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// Where a credential is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialStore {
    /// In the keyring of the system.
    Keyring,
    /// In a file with mode 600.
    File,
}

impl CredentialStore {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Keyring => "keyring",
            Self::File => "file",
        }
    }

    /// Where it is kept, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Keyring => "the keyring of the system",
            Self::File => "a file that only you can read",
        }
    }
}

/// The end of the name of a mark.
const MARK: &str = ".keyring";

/// How long the keyring may take: it may have to ask the user to open it.
const PATIENCE: Duration = Duration::from_mins(1);

/// The longest credential, in bytes (ours).
pub const LONGEST: u64 = 64 << 10;

/// The credentials of a user.
#[derive(Debug)]
pub struct Credentials {
    folder: PathBuf,
    keyring: Option<PathBuf>,
}

impl Credentials {
    /// Those of the user whose process this is.
    pub fn of(environment: &HostEnvironment) -> Self {
        let folder = PathBuf::from(environment.configuration.join("credentials").as_str());
        // Without a bus there is nobody to ask, and `secret-tool` would start one.
        let has_bus =
            environment.variables.get("DBUS_SESSION_BUS_ADDRESS").is_some_and(|value| !value.is_empty());
        let path = environment.variables.get("PATH").filter(|_| has_bus);
        let keyring = path.and_then(|path| {
            std::env::split_paths(path).map(|folder| folder.join("secret-tool")).find(|tool| tool.is_file())
        });
        Self { folder, keyring }
    }

    /// Keeps a credential; where.
    pub fn set(&self, name: &CredentialName, secret: &Secret) -> Result<CredentialStore, CommandError> {
        let fail = |error: io::Error| CommandError::file("write", self.folder.display(), &error);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(fail)?;
        self.folder_is_own()?;
        let (file, mark) = (self.file(name), self.mark(name));
        let label = format!("--label=checkrein: {name}");
        if self.ask_keyring(&["store", &label], name, secret.reveal()).is_some() {
            write_new(&mark, b"").map_err(fail)?;
            remove(&file).map_err(fail)?;
            return Ok(CredentialStore::Keyring);
        }
        write_new(&file, secret.reveal().as_bytes()).map_err(fail)?;
        remove(&mark).map_err(fail)?;
        Ok(CredentialStore::File)
    }

    /// Fails when others could put a credential of theirs in the place of one, or see which there are.
    fn folder_is_own(&self) -> Result<(), CommandError> {
        let facts = match fs::symlink_metadata(&self.folder) {
            Ok(facts) => facts,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(CommandError::file("read", self.folder.display(), &error)),
        };
        let folder = self.folder.display();
        if !facts.is_dir() || facts.uid() != rustix::process::geteuid().as_raw() {
            return Err(CommandError::user(
                format!("`{folder}` is not a folder of yours, so nothing in it is used"),
                "move it away; the next `checkrein credential set` makes a new one",
            ));
        }
        if facts.permissions().mode() & 0o077 != 0 {
            return Err(CommandError::user(
                format!("others have access to `{folder}`, so nothing in it is used"),
                "`chmod 700` it; should somebody have been there, replace the credentials themselves",
            ));
        }
        Ok(())
    }

    /// A credential. Fails when there is none, or when others can read it.
    pub fn get(&self, name: &CredentialName) -> Result<Secret, CommandError> {
        self.folder_is_own()?;
        if self.mark(name).exists() {
            let found = self.ask_keyring(&["lookup"], name, "");
            return found.as_deref().and_then(|found| Secret::new(found).ok()).ok_or_else(|| {
                CommandError::user(
                    format!("the keyring does not give the credential `{name}`"),
                    "open the keyring, or set it anew with `checkrein credential set`",
                )
            });
        }
        let path = self.file(name);
        let file = match OpenOptions::new()
            .read(true)
            // What is no file must not keep anybody waiting.
            .custom_flags(i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default())
            .open(&path)
        {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(CommandError::user(
                    format!("there is no credential `{name}`"),
                    "`checkrein credential set NAME` keeps one, `checkrein credential list` names them",
                ));
            }
            Err(error) => return Err(CommandError::file("read", path.display(), &error)),
        };
        let facts = file.metadata().map_err(|error| CommandError::file("read", path.display(), &error))?;
        if !facts.is_file() {
            return Err(CommandError::user(
                format!("`{}` is not a file", path.display()),
                "remove it, and set the credential anew",
            ));
        }
        if facts.permissions().mode() & 0o077 != 0 {
            return Err(CommandError::user(
                format!("others can read `{}`, so it is not used", path.display()),
                "`chmod 600` it; should somebody have read it, replace the credential itself",
            ));
        }
        let mut text = String::new();
        file.take(LONGEST + 3)
            .read_to_string(&mut text)
            .map_err(|error| CommandError::file("read", path.display(), &error))?;
        Secret::new(&text)
    }

    /// Takes a credential away; whether there was one.
    pub fn delete(&self, name: &CredentialName) -> Result<Deleted, CommandError> {
        let (file, mark) = (self.file(name), self.mark(name));
        let was_there = file.exists() || mark.exists();
        if mark.exists() && self.ask_keyring(&["clear"], name, "").is_none() {
            return Err(CommandError::user(
                format!("the keyring does not let go of `{name}`"),
                "open the keyring and try again",
            ));
        }
        for path in [&file, &mark] {
            remove(path).map_err(|error| CommandError::file("remove", path.display(), &error))?;
        }
        Ok(if was_there { Deleted::Deleted } else { Deleted::WasNotThere })
    }

    /// The names of all credentials, with where they are kept.
    pub fn list(&self) -> Vec<(CredentialName, CredentialStore)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let read = |name: String| match name.strip_suffix(MARK) {
            Some(name) => Some((name.parse().ok()?, CredentialStore::Keyring)),
            None => Some((name.parse().ok()?, CredentialStore::File)),
        };
        let mut all: Vec<(CredentialName, CredentialStore)> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).filter_map(read).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    fn file(&self, name: &CredentialName) -> PathBuf {
        self.folder.join(&name.0)
    }

    fn mark(&self, name: &CredentialName) -> PathBuf {
        self.folder.join(format!("{name}{MARK}"))
    }

    /// What the keyring answers; `None` when there is none or it refuses.
    fn ask_keyring(&self, words: &[&str], name: &CredentialName, input: &str) -> Option<String> {
        let mut child = Command::new(self.keyring.as_ref()?)
            .args(words)
            .args(["service", "checkrein", "credential", &name.0])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        drop(child.stdin.take()?.write_all(input.as_bytes()));
        let deadline = Instant::now() + PATIENCE;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => break,
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                Ok(Some(_)) => return None,
                Ok(None) | Err(_) => {
                    drop(child.kill().and_then(|()| child.wait()));
                    return None;
                }
            }
        }
        let mut text = String::new();
        child.stdout.take()?.take(LONGEST).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

/// Whether there was something to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone now.
    Deleted,
    /// There was nothing.
    WasNotThere,
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    remove(path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn remove(path: &Path) -> io::Result<()> {
    match secure_deletion::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
