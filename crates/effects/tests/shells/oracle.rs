//! The real shell as the judge of the reading: what it reached must have been foreseen, and what was called certain must have been
//! reached.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use checkrein_effects::predict;
use checkrein_facts::{HostPaths, RecordedWorld};
use checkrein_protocol::{AbsolutePath, Action, Certainty, EffectKind, Severity, Target};

use super::programs::{Chance, Doubt, Language, Part, prelude, program};

/// How a reading failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The shell reached these marks, and nothing was foreseen of it.
    Missed(Vec<String>),
    /// These marks were called certain, and the shell did not reach them.
    Invented(Vec<String>),
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The reading holds.
    Holds,
    /// The reading says that it did not see all of it.
    Unread,
    /// The shell did not end in time.
    Endless,
    /// The reading is wrong.
    Wrong(Fault),
}

/// A fault with the smallest program that shows it.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    /// The number of the program.
    pub(crate) number: u64,
    /// The language.
    pub(crate) language: Language,
    /// The smallest program found that shows the fault.
    pub(crate) text: String,
    /// The fault.
    pub(crate) fault: Fault,
}

/// What came of many programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Count {
    /// Programs that were run.
    pub(crate) programs: u64,
    /// Programs of which the reading says that it did not see all.
    pub(crate) unread: u64,
    /// Programs that did not end in time.
    pub(crate) endless: u64,
    /// Faults, each with its smallest program.
    pub(crate) reports: Vec<Report>,
}

/// Runs the programs of the numbers from `first` on, until `more` answers no; ends early with ten faults.
///
/// # Errors
///
/// When a shell cannot be started or the folder cannot be used.
pub(crate) fn run(
    folder: &Path,
    seed: u64,
    first: u64,
    mut more: impl FnMut(u64) -> bool,
) -> io::Result<Count> {
    let mut count = Count::default();
    let mut number = first;
    while more(number) && count.reports.len() < 10 {
        let (language, doubt, part) = made(seed, number);
        count.programs += 1;
        match judge(folder, &part.text(), language, doubt)? {
            Finding::Holds => {}
            Finding::Unread => count.unread += 1,
            Finding::Endless => count.endless += 1,
            Finding::Wrong(fault) => {
                let (part, fault) = shrunk(folder, part, fault, language, doubt)?;
                count.reports.push(Report { number, language, text: part.text(), fault });
            }
        }
        number += 1;
    }
    Ok(count)
}

fn made(seed: u64, number: u64) -> (Language, Doubt, Part) {
    let mut chance = Chance::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
    let language = if number % 4 == 3 { Language::Posix } else { Language::Bash };
    let doubt = if number.is_multiple_of(2) { Doubt::None } else { Doubt::Some };
    let size = 4 + chance.below(24);
    let part = program(&mut chance, language, doubt, size);
    (language, doubt, part)
}

fn shrunk(
    folder: &Path,
    part: Part,
    fault: Fault,
    language: Language,
    doubt: Doubt,
) -> io::Result<(Part, Fault)> {
    let (mut part, mut fault) = (part, fault);
    let mut tries = 0;
    'smaller: loop {
        for smaller in part.smaller() {
            tries += 1;
            if tries > 3000 {
                break 'smaller;
            }
            if let Finding::Wrong(found) = judge(folder, &smaller.text(), language, doubt)?
                && std::mem::discriminant(&found) == std::mem::discriminant(&fault)
            {
                part = smaller;
                fault = found;
                continue 'smaller;
            }
        }
        break;
    }
    Ok((part, fault))
}

/// Compares what the real shell reaches with what is foreseen.
///
/// # Errors
///
/// When a shell cannot be started or the folder cannot be used.
pub(crate) fn judge(folder: &Path, text: &str, language: Language, doubt: Doubt) -> io::Result<Finding> {
    compared(folder, text, text, language, doubt)
}

/// Compares what the real shell reaches with one program with what is foreseen of another.
///
/// # Errors
///
/// When a shell cannot be started or the folder cannot be used.
pub(crate) fn compared(
    folder: &Path,
    text: &str,
    read: &str,
    language: Language,
    doubt: Doubt,
) -> io::Result<Finding> {
    let (text, read) = (format!("{}{text}", prelude(doubt)), format!("{}{read}", prelude(doubt)));
    let foreseen = Foreseen::of(&read);
    let shells: &[&str] = match language {
        Language::Bash => &["bash"],
        Language::Posix => &["bash", "dash"],
    };
    let mut unread = false;
    for (index, shell) in shells.iter().enumerate() {
        let Some(reached) = reached(folder, shell, &text)? else { return Ok(Finding::Endless) };
        let missed: Vec<String> =
            reached.iter().filter(|mark| !foreseen.possible.contains(*mark)).cloned().collect();
        if !missed.is_empty() {
            if foreseen.unread {
                unread = true;
            } else {
                return Ok(Finding::Wrong(Fault::Missed(missed)));
            }
        }
        // What is certain is so in bash; others end for more reasons.
        if index == 0 && doubt == Doubt::None {
            let invented: Vec<String> = foreseen.certain.difference(&reached).cloned().collect();
            if !invented.is_empty() {
                return Ok(Finding::Wrong(Fault::Invented(invented)));
            }
        }
    }
    Ok(if unread { Finding::Unread } else { Finding::Holds })
}

/// What is foreseen of a program.
struct Foreseen {
    possible: BTreeSet<String>,
    certain: BTreeSet<String>,
    /// Whether something of high severity could not be read, or what is written is not known by name.
    unread: bool,
}

impl Foreseen {
    fn of(text: &str) -> Self {
        let root = AbsolutePath::root().join("/scratch");
        let place = HostPaths::new(root.clone(), root.clone());
        let world = RecordedWorld::complete(place).with_directory(&root.join("d"));
        let prediction = predict(&Action::command(text, root), &world);
        let mut foreseen = Self { possible: BTreeSet::new(), certain: BTreeSet::new(), unread: false };
        for effect in prediction.effects {
            match (effect.kind, &effect.target) {
                (EffectKind::FileCreate | EffectKind::FileModify, Target::Path(path)) => {
                    let Some(mark) = path.as_str().strip_prefix("/scratch/") else { continue };
                    foreseen.possible.insert(mark.to_owned());
                    if effect.certainty == Certainty::Certain && mark.contains('M') {
                        foreseen.certain.insert(mark.to_owned());
                    }
                }
                (EffectKind::FileCreate | EffectKind::FileModify, _) => foreseen.unread = true,
                (EffectKind::Opaque, _) if effect.severity >= Severity::High => foreseen.unread = true,
                _ => {}
            }
        }
        foreseen
    }
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

/// The marks that a shell reaches; `None` when it does not end in time.
fn reached(folder: &Path, shell: &str, text: &str) -> io::Result<Option<BTreeSet<String>>> {
    // A folder of its own for each, since what an earlier one left running must not write into it.
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let scratch = folder.join(format!("scratch{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir_all(scratch.join("d"))?;
    let mut child = Command::new(shell)
        .args(["-c", text])
        .current_dir(&scratch)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", &scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let ended = ended(child.stderr.take());
    let begun = Instant::now();
    let mut pause = Duration::from_micros(300);
    while child.try_wait()?.is_none() {
        if begun.elapsed() > Duration::from_secs(5) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
    let mut marks = BTreeSet::new();
    // What runs beside the shell may end after it: on a busy machine long after it.
    let _ = ended.recv_timeout(Duration::from_secs(2));
    for round in 0..2 {
        for (below, prefix) in [(scratch.clone(), ""), (scratch.join("d"), "d/")] {
            for entry in fs::read_dir(below)?.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with('M') {
                    marks.insert(format!("{prefix}{name}"));
                }
            }
        }
        if round == 0 && text.contains(['&', '|', '<']) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    // What still runs may be writing there: then it goes with the folder around it.
    let _ = fs::remove_dir_all(&scratch);
    Ok(Some(marks))
}
