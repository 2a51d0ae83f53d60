//! Runs many uses in name spaces of their own, within limits.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::geteuid;

use super::fixture::UsePlace;
use crate::shells::run::quoted;

/// The user that the uses run as.
pub const USER: u32 = 61_312;

/// Where programs are looked for.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// What bounds each use: processes of the user, memory in KiB, seconds of processor time, size of files in blocks, no core files.
const LIMITS: &str = "ulimit -u 300; ulimit -v 8000000; ulimit -t 3; ulimit -f 20000; ulimit -c 0";

/// Makes everything read-only but the folder of the batch, and gives up all rights.
const ENTER: &str = "mount --make-rprivate / && mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro / || exit 90
for place in /tmp /run /dev/shm; do mount -t tmpfs -o mode=1777,size=64m none $place || exit 91; done
mount -t tmpfs -o mode=700,size=1m none /sys || exit 92
exec setpriv --reuid $2 --regid $2 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all bash --norc --noprofile \"$1/uses\" \"$1\"";

/// What strace is asked for.
const TRACED: &str =
    "-f -y -qq --seccomp-bpf -e signal=none -e trace=execve,execveat,open,openat,openat2,connect";

/// Whether uses are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    /// By strace.
    Strace,
    /// Not at all: strace is not here.
    None,
}

impl Tracing {
    /// What this machine has.
    pub fn here() -> Self {
        if has("strace") { Self::Strace } else { Self::None }
    }
}

/// Why uses cannot run on this machine; `None` when they can.
pub fn lacking() -> Option<String> {
    if !geteuid().is_root() {
        return Some("name spaces and another user need root".to_owned());
    }
    if let Some(program) =
        ["bash", "unshare", "setpriv", "mount", "timeout", "env"].iter().find(|program| !has(program))
    {
        return Some(format!("`{program}` is not installed"));
    }
    let folder = match tempfile::tempdir_in("/var/tmp") {
        Ok(folder) => folder,
        Err(error) => return Some(format!("no folder can be made: {error}")),
    };
    let entered = fs::write(folder.path().join("uses"), "exit 0\n").and_then(|()| {
        let mut command = entering(folder.path());
        command.status()
    });
    match entered {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("the name spaces cannot be made: {status}")),
        Err(error) => Some(format!("the name spaces cannot be made: {error}")),
    }
}

/// Whether a program is installed.
pub fn has(program: &str) -> bool {
    PATH.split(':').any(|folder| Path::new(folder).join(program).is_file())
}

/// Runs a text at each of the places in a batch; the exit status of each, or `None` for one that did not end in time.
///
/// # Errors
/// When they cannot be started.
pub fn run(batch: &Path, uses: &[(&UsePlace, &str)], tracing: Tracing) -> io::Result<Vec<Option<i32>>> {
    let mut script = format!("{LIMITS}\nexec 8>\"$1\"/ends/list\n");
    for (number, (place, text)) in uses.iter().enumerate() {
        let folder = quoted(&place.folder.to_string_lossy());
        let trace = match tracing {
            Tracing::Strace => format!("strace {TRACED} -o {folder}/trace "),
            Tracing::None => String::new(),
        };
        let _ = writeln!(
            script,
            "cd {} && env -i {} timeout -k.2 3 {trace}bash --norc --noprofile -c {} </dev/null >{folder}/out 2>&1 8>&-; echo {number} $? >&8",
            quoted(place.project.as_str()),
            environment(place).map(|(name, value)| format!("{name}={}", quoted(&value))).join(" "),
            quoted(text)
        );
    }
    fs::write(batch.join("uses"), script)?;
    let ends = batch.join("ends");
    fs::create_dir_all(&ends)?;
    std::os::unix::fs::chown(&ends, Some(USER), Some(USER))?;
    let status = entering(batch).status()?;
    let list = fs::read_to_string(ends.join("list"))
        .map_err(|error| io::Error::other(format!("no use ran ({status}): {error}")))?;
    let mut statuses = vec![None; uses.len()];
    for line in list.lines() {
        let Some((number, status)) = line.split_once(' ') else { continue };
        let (Ok(number), Ok(status)) = (number.parse::<usize>(), status.parse::<i32>()) else { continue };
        if let Some(one) = statuses.get_mut(number)
            && !matches!(status, 124 | 137)
        {
            *one = Some(status);
        }
    }
    Ok(statuses)
}

/// The variables that a use has.
pub fn environment(place: &UsePlace) -> [(&'static str, String); 6] {
    [
        ("HOME", place.home.as_str().to_owned()),
        ("USER", "dev".to_owned()),
        ("PATH", PATH.to_owned()),
        ("TMPDIR", place.temporary().display().to_string()),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("TERM", "dumb".to_owned()),
    ]
}

/// The command that enters the name spaces and runs what stands in the batch. All that is left in them ends with it.
fn entering(batch: &Path) -> Command {
    let mut command = Command::new("setsid");
    command
        .args(["--wait", "unshare", "--mount", "--net", "--pid", "--ipc", "--uts", "--fork"])
        .args(["--kill-child", "--mount-proc", "bash", "--norc", "--noprofile", "-c", ENTER, "bash"])
        .arg(batch)
        .arg(USER.to_string())
        .env_clear()
        .env("PATH", PATH)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
