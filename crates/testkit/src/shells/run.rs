//! Runs many programs with real shells, within limits.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::scene;

/// A real shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RealShell {
    /// GNU bash.
    Bash,
    /// dash, the `sh` of Debian.
    Dash,
    /// zsh.
    Zsh,
}

impl RealShell {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bash, Self::Dash, Self::Zsh];

    /// The name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Dash => "dash",
            Self::Zsh => "zsh",
        }
    }

    /// What starts it without the settings of anybody.
    fn start(self) -> &'static str {
        match self {
            // What is written with extended patterns is no mistake then.
            Self::Bash => "bash --norc --noprofile -O extglob",
            Self::Dash => "dash",
            Self::Zsh => "zsh -f",
        }
    }

    /// The shell of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shell| shell.name() == name)
    }

    /// Whether it can be started here.
    pub fn is_here(self) -> bool {
        let mut command = Command::new(self.name());
        command.args(["-c", ":"]).stdin(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// The command that has it run a text. What an agent sends is read as bash already.
    pub fn carrying(self, text: &str) -> String {
        match self {
            Self::Bash => text.to_owned(),
            Self::Dash | Self::Zsh => format!("{} -c {}", self.name(), quoted(text)),
        }
    }
}

/// A text in single quotes.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What a program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// Files that are new.
    pub made: BTreeSet<String>,
    /// Files of the scene that are gone.
    pub removed: BTreeSet<String>,
}

/// The user that the shells run as, where that can be chosen.
const USER: u32 = 61_312;

/// What bounds each shell: processes of the user, memory in KiB, seconds of processor time, size of files in blocks, no core files.
const LIMITS: &str = "ulimit -u 400; ulimit -v 600000; ulimit -t 2; ulimit -f 2000; ulimit -c 0";

/// The folder of a program among those of its batch.
pub fn place(batch: &Path, number: usize) -> PathBuf {
    batch.join(number.to_string())
}

/// A new folder for a batch of programs.
///
/// # Errors
/// When it cannot be made.
pub fn new_batch(folder: &Path) -> io::Result<PathBuf> {
    static BATCHES: AtomicU64 = AtomicU64::new(0);
    let batch = folder.join(format!("s{}", BATCHES.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir_all(&batch)?;
    for place in [folder, &batch] {
        fs::set_permissions(place, fs::Permissions::from_mode(0o755))?;
    }
    Ok(batch)
}

/// What each of the programs did, in the folders of a batch, which is gone afterwards; `None` for one that did not end in time.
///
/// # Errors
/// When a folder cannot be made or the shells cannot be started.
pub fn run(batch: &Path, programs: &[(RealShell, String)]) -> io::Result<Vec<Option<Reached>>> {
    let as_other = fs::metadata(batch)?.uid() == 0;
    // Each is started in a group of processes of its own, and what is left of the groups is ended when the batch is.
    let mut script = format!("{LIMITS}\nexec 8>\"$1\"/ends; groups=\n");
    for (number, (shell, text)) in programs.iter().enumerate() {
        let place = place(batch, number);
        let mut made: Vec<PathBuf> = scene::make(&place)?.iter().map(|name| place.join(name)).collect();
        made.push(place);
        if as_other {
            for path in made {
                chown(path, Some(USER), Some(USER))?;
            }
        }
        let _ = writeln!(
            script,
            "cd \"$1\"/{number} && HOME=$1/{number} timeout -k.2 1 {} -c {} </dev/null >/dev/null 8>&- &\ngroups=\"$groups $!\"; wait $!; echo {number} $? >&8",
            shell.start(),
            quoted(text)
        );
    }
    script
        .push_str("exec 2>/dev/null; echo; read -r go; for group in $groups; do kill -9 -- -$group; done\n");
    let path = batch.join("script");
    fs::write(&path, script)?;
    fs::write(batch.join("ends"), "")?;
    let mut driver = Command::new("bash");
    if as_other {
        chown(batch.join("ends"), Some(USER), Some(USER))?;
        driver.uid(USER).gid(USER);
    }
    let mut child = driver
        .args(["--norc", "--noprofile"])
        .arg(&path)
        .arg(batch)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(batch)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let ended = ended(child.stderr.take());
    if let Some(mut told) = child.stdout.take() {
        let _ = told.read(&mut [0]);
    }
    // What runs beside a shell may end after it: on a busy machine long after it. What is left after that is ended.
    let _ = ended.recv_timeout(Duration::from_secs(1));
    drop(child.stdin.take());
    child.wait()?;
    let ends = fs::read_to_string(batch.join("ends"))?;
    let mut reached = vec![None; programs.len()];
    for line in ends.lines() {
        let Some((number, status)) = line.split_once(' ') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        if let Some(one) = reached.get_mut(number)
            && !matches!(status, "124" | "137")
        {
            let (made, removed) = scene::changes(&place(batch, number));
            *one = Some(Reached { made, removed });
        }
    }
    // What still runs may be writing there: then it goes with the folder around it.
    let _ = fs::remove_dir_all(batch);
    Ok(reached)
}

/// Tells when every process that may write to a pipe has ended, or pointed it elsewhere.
fn ended(pipe: Option<ChildStderr>) -> Receiver<()> {
    let (tell, ended) = channel();
    std::thread::spawn(move || {
        if let Some(mut pipe) = pipe {
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        let _ = tell.send(());
    });
    ended
}
