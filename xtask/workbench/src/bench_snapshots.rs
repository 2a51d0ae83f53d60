//! `bench --snapshots`: what saving files costs, beside `git add -A` with an index of its own on the same tree in the same run.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Captured, Circumstances,
    Effort, Ignoring, Mounts, Snapshot, SnapshotReason, Store, Unchanged, WorkspaceCapture, capture,
};

use nix::sys::resource::{UsageWho, getrusage};

use xtask::Outcome;

/// How often what is short is measured; the median counts.
const ROUNDS: usize = 21;

/// Measures; `--files N` sets the size of the large tree (default 100,000), `--row N` the length of the long row.
pub(crate) fn bench(files: usize, row: usize) -> Outcome {
    let folder = tempfile::tempdir().map_err(text)?;
    targeted(folder.path())?;
    full(folder.path(), files)?;
    long_row(folder.path(), row)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A file of words that compress about as well as sources do.
fn words(seed: usize, bytes: usize) -> String {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut made = String::with_capacity(bytes + 16);
    while made.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        made.push_str(
            ["let ", "mut ", "value", " = ", "self.", "call(", ");\n", "    ", "if ", "else "]
                [(state >> 33) as usize % 10],
        );
        if state >> 60 == 0 {
            made.push_str(&state.to_string());
        }
    }
    made.truncate(bytes);
    made
}

fn tree(root: &Path, files: usize, bytes: usize) -> Outcome {
    for number in 0..files {
        let directory = root.join(format!("d{}/e{}", number / 1_000, number / 100));
        if number.is_multiple_of(100) {
            fs::create_dir_all(&directory).map_err(text)?;
        }
        fs::write(directory.join(format!("file{number}.rs")), words(number, bytes)).map_err(text)?;
    }
    Ok(())
}

fn describe(captured: Captured) -> Snapshot {
    let occasion = SnapshotReason::Request;
    captured.described(Circumstances { at: 0, occasion, reason: String::new(), place: None })
}

fn targeted(folder: &Path) -> Outcome {
    let root = folder.join("targeted");
    tree(&root, 100, 10_000)?;
    let store = Store::open(&folder.join("targeted-store"), &root);
    let wanted = [CaptureRequest { path: root.clone(), selection: CaptureSelection::Everything }];
    let (mut times, mut busy) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Other content each time, so that all of it has to be written.
        tree_again(&root, round)?;
        let (started, worked) = (Instant::now(), processor()?);
        let draft = store.begin(Effort::Quick).map_err(text)?;
        let CaptureOutcome::Whole(captured) =
            capture(&draft, &wanted, &CaptureOptions::whole()).map_err(text)?
        else {
            return Err("there are no bounds".to_owned());
        };
        draft.commit(&describe(captured)).map_err(text)?;
        times.push(started.elapsed());
        busy.push(processor()?.saturating_sub(worked));
    }
    println!(
        "\nsnapshot of 100 files, 1 MB, forced to the disk: {:.1} ms of processor time, {:.1} ms in all (median of {ROUNDS})",
        middle(&mut busy),
        middle(&mut times)
    );
    Ok(())
}

fn tree_again(root: &Path, round: usize) -> Outcome {
    for number in 0..100 {
        let path = root.join(format!("d0/e0/file{number}.rs"));
        fs::write(path, words(number + 1_000 * (round + 1), 10_000)).map_err(text)?;
    }
    Ok(())
}

/// What this process and those that it started have used of the processor so far.
fn processor() -> Result<Duration, String> {
    let used = |who| -> Result<Duration, String> {
        let usage = getrusage(who).map_err(text)?;
        let time = |value: nix::sys::time::TimeVal| {
            let seconds = u64::try_from(value.tv_sec()).unwrap_or(0);
            Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(value.tv_usec()).unwrap_or(0))
        };
        Ok(time(usage.user_time()) + time(usage.system_time()))
    };
    Ok(used(UsageWho::RUSAGE_SELF)? + used(UsageWho::RUSAGE_CHILDREN)?)
}

/// A time in all and on the processor, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Cost {
    wall: Duration,
    busy: Duration,
}

fn measured(work: impl FnOnce() -> Outcome) -> Result<Cost, String> {
    let (started, worked) = (Instant::now(), processor()?);
    work()?;
    Ok(Cost { wall: started.elapsed(), busy: processor()?.saturating_sub(worked) })
}

fn middle_cost(costs: &[Cost]) -> String {
    let mut walls: Vec<Duration> = costs.iter().map(|cost| cost.wall).collect();
    let mut busy: Vec<Duration> = costs.iter().map(|cost| cost.busy).collect();
    format!("{:>7.0} / {:>6.0}", middle(&mut walls), middle(&mut busy))
}

fn middle(times: &mut [Duration]) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1e3
}

fn full(folder: &Path, files: usize) -> Outcome {
    let root = folder.join("full");
    tree(&root, files, 700)?;
    let store = Store::open(&folder.join("full-store"), &root);
    let index = folder.join("shadow");
    git(&root, &index, &["init", "-q"])?;
    // Both find the names of the tree in memory.
    warm(&root)?;
    let first = (ours(&store, &root)?, theirs(&root, &index)?);
    let mut later: (Vec<Cost>, Vec<Cost>) = (Vec::new(), Vec::new());
    for round in 0..5 {
        for number in 0..10 {
            let number = (number * 7_919 + round) % files;
            let path = root.join(format!("d{}/e{}/file{number}.rs", number / 1_000, number / 100));
            fs::write(path, words(round * 31 + number, 700)).map_err(text)?;
        }
        // What changed this very moment is read again next time, to be sure.
        std::thread::sleep(Duration::from_millis(100));
        later.0.push(ours(&store, &root)?);
        later.1.push(theirs(&root, &index)?);
    }
    println!(
        "\n{:<44} {:>18} {:>18}\n{:<44} {:>18} {:>18}\n{:<44} {:>18} {:>18}",
        format!("snapshot of {files} files, ms in all / processor"),
        "checkrein",
        "git add -A",
        "first",
        middle_cost(&[first.0]),
        middle_cost(&[first.1]),
        "10 files changed, median of 5",
        middle_cost(&later.0),
        middle_cost(&later.1),
    );
    println!("on disk: {} KiB", store.bytes().map_err(text)? / 1024);
    Ok(())
}

fn warm(directory: &Path) -> Outcome {
    for entry in fs::read_dir(directory).map_err(text)? {
        let entry = entry.map_err(text)?;
        if entry.metadata().map_err(text)?.is_dir() {
            warm(&entry.path())?;
        } else {
            fs::read(entry.path()).map_err(text)?;
        }
    }
    Ok(())
}

fn ours(store: &Store, root: &Path) -> Result<Cost, String> {
    let root = root.to_str().and_then(AbsolutePath::new).ok_or("the tree has no plain name")?;
    let ignoring = Ignoring::of(&root, &AbsolutePath::root(), None);
    let manner = CaptureOptions {
        bounds: CaptureBounds::NONE,
        mounts: Mounts::Skip,
        ignoring: Some(&ignoring),
        threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        ..CaptureOptions::whole()
    };
    measured(|| match store.take_workspace(&[], &manner, Unchanged::Reuse, describe).map_err(text)? {
        WorkspaceCapture::Whole(_) | WorkspaceCapture::Same(_) => Ok(()),
        WorkspaceCapture::Over(_) => Err("there are no bounds".to_owned()),
    })
}

fn theirs(root: &Path, index: &Path) -> Result<Cost, String> {
    measured(|| {
        git(root, index, &["add", "-A"])?;
        git(root, index, &["write-tree"])
    })
}

fn git(root: &Path, index: &Path, arguments: &[&str]) -> Outcome {
    let output = Command::new("git")
        .args(arguments)
        .env("GIT_DIR", index)
        .env("GIT_WORK_TREE", root)
        .current_dir(root)
        .output()
        .map_err(text)?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn long_row(folder: &Path, count: usize) -> Outcome {
    let root = folder.join("row");
    tree(&root, 10_000, 700)?;
    let store = Store::open(&folder.join("row-store"), &root);
    ours(&store, &root)?;
    let begun = store.bytes().map_err(text)?;
    let mut written = 0;
    let started = Instant::now();
    for round in 0..count {
        let number = round * 7 % 10_000;
        let path: PathBuf = root.join(format!("d{}/e{}/file{number}.rs", number / 1_000, number / 100));
        let content = words(round + 77, 700);
        written += content.len() as u64;
        fs::write(path, content).map_err(text)?;
        ours(&store, &root)?;
    }
    let grown = store.bytes().map_err(text)?.saturating_sub(begun);
    println!(
        "\n{count} snapshots of 10,000 files, one changed before each: {:.1} ms each, the store grew by {} KiB for {} KiB of changes ({} KiB before)",
        started.elapsed().as_secs_f64() * 1e3 / count.max(1) as f64,
        grown / 1024,
        written / 1024,
        begun / 1024,
    );
    Ok(())
}
