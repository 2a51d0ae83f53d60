//! Running a command of a change within a time, with the end of what it prints.

use std::io::{self, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::change_records::STEP_OUTPUT;
use checkrein_protocol::AbsolutePath;
use rustix::process::{Pid, Signal, kill_process_group};

/// How often the process is looked at.
const BEAT: Duration = Duration::from_millis(10);
/// How long what is printed is waited for once the process has ended (ours).
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ran {
    /// Whether it succeeded.
    pub(super) succeeded: bool,
    /// How, behind the name of the command.
    pub(super) ended: String,
    /// The end of what it printed on either stream.
    pub(super) output: String,
}

/// Runs a command by the shell of the system, in a directory, for at most this time. What it started ends with it.
pub(super) fn run(command: &str, directory: &AbsolutePath, time: Duration) -> Ran {
    match attempt(command, directory, time) {
        Ok(ran) => ran,
        Err(error) => {
            Ran { succeeded: false, ended: format!("did not start: {error}"), output: String::new() }
        }
    }
}

fn attempt(command: &str, directory: &AbsolutePath, time: Duration) -> io::Result<Ran> {
    let (mut reader, writer) = io::pipe()?;
    let mut child = Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .current_dir(directory.as_str())
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    let (sender, printed) = mpsc::channel();
    thread::spawn(move || {
        let mut tail: Vec<u8> = Vec::new();
        let mut piece = [0_u8; 4096];
        while let Ok(read) = reader.read(&mut piece) {
            if read == 0 {
                break;
            }
            tail.extend_from_slice(piece.get(..read).unwrap_or_default());
            let beyond = tail.len().saturating_sub(STEP_OUTPUT);
            tail.drain(..beyond);
        }
        // Nobody may listen any more.
        drop(sender.send(tail));
    });
    let status = wait(&mut child, time)?;
    let output = printed.recv_timeout(LAST_WORDS).unwrap_or_default();
    let output = String::from_utf8_lossy(&output).into_owned();
    Ok(match status {
        Some(status) => Ran { succeeded: status.success(), ended: in_words(status), output },
        None => Ran { succeeded: false, ended: format!("was ended after {} s", time.as_secs()), output },
    })
}

/// The status of a process; `None` where its time was over, and it was ended.
fn wait(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + time;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() >= deadline {
            break None;
        }
        thread::sleep(BEAT);
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Whatever is left of it; mostly nothing is.
        let _ = kill_process_group(group, Signal::KILL);
    }
    if status.is_none() {
        child.wait()?;
    }
    Ok(status)
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "succeeded".to_owned(),
        (Some(code), _) => format!("failed with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "failed".to_owned(),
    }
}

/// A word as a shell reads it back.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(command: &str) -> Ran {
        run(command, &AbsolutePath::root(), Duration::from_millis(500))
    }

    #[test]
    fn a_command_is_told_by_its_status_and_its_last_words() {
        let fine = ran("echo good; echo also >&2");
        assert!(fine.succeeded && fine.output == "good\nalso\n", "{fine:?}");
        let bad = ran("echo no; exit 3");
        assert_eq!((bad.succeeded, bad.ended.as_str()), (false, "failed with status 3"));
        let long = ran("head -c 100000 /dev/zero | tr '\\0' x; echo end");
        assert!(long.output.len() <= STEP_OUTPUT && long.output.ends_with("end\n"));
    }

    #[test]
    fn what_takes_too_long_fails_with_all_that_it_started() {
        let begun = Instant::now();
        let late = ran("sleep 30 & sleep 30");
        assert!(!late.succeeded && late.ended.starts_with("was ended"), "{late:?}");
        let left = ran("sleep 30 & echo done");
        assert!(left.succeeded && left.output == "done\n", "{left:?}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn words_come_back_as_they_were() {
        for words in [vec!["echo", "a b"], vec!["it's", "", "$x"], vec!["a;b", "c\nd"]] {
            let text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            let back = ran(&format!("printf '%s|' {}", text.join(" ")));
            assert_eq!(back.output, words.join("|") + "|");
        }
    }
}
