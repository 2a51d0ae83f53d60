//! The report on a halt of a user, which who asked for it writes; a halt by a plain file has none.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::incident::folder;
use checkrein_engine::text::time;
use checkrein_ledger::FolderName;
use checkrein_protocol::SessionId;

/// How long the report of who halted is waited for: the halt stands before it is written (ours).
const PATIENCE: Duration = Duration::from_secs(1);

/// The name of a report on this session that was written since a time, in milliseconds; `None` when none comes.
pub(super) fn report(environment: &HostEnvironment, session: &str, since: u64) -> Option<String> {
    let digits: String = time(since).chars().filter(char::is_ascii_digit).collect();
    let begins: String = FolderName::of(&SessionId(session.to_owned())).as_str().chars().take(8).collect();
    let is_of_it = |name: &String| {
        name.split_once('-')
            .is_some_and(|(moment, rest)| moment >= digits.as_str() && rest.starts_with(&begins))
    };
    let started = Instant::now();
    loop {
        let entries = fs::read_dir(folder(environment)).into_iter().flatten().flatten();
        let names = entries.filter(|entry| entry.path().join("report.md").exists());
        let found =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(is_of_it).max();
        if found.is_some() || started.elapsed() >= PATIENCE {
            return found;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
