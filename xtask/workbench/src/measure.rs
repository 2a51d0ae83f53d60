//! Measuring whole processes: wall time and processor time of each run, from spawn to exit.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// One way of starting a process.
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) input: &'a [u8],
    pub(crate) environment: &'a [(&'a str, String)],
}

/// What the runs of a candidate cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Median processor time, user and system.
    pub(crate) processor: Duration,
    /// Median time from spawn to exit.
    pub(crate) wall: Duration,
}

/// Runs the candidates in turn, A B C A B C, so that a machine that changes its speed treats them alike.
pub(crate) fn compare(candidates: &[Candidate<'_>], rounds: usize) -> Result<Vec<Cost>, String> {
    let mut samples: Vec<Vec<(Duration, Duration)>> = vec![Vec::with_capacity(rounds); candidates.len()];
    for round in 0..rounds + 3 {
        for (candidate, samples) in candidates.iter().zip(&mut samples) {
            let sample = once(candidate)?;
            // The first rounds fill the caches of the machine.
            if round >= 3 {
                samples.push(sample);
            }
        }
    }
    Ok(samples
        .into_iter()
        .map(|samples| {
            let median = |pick: fn(&(Duration, Duration)) -> Duration| {
                let mut values: Vec<Duration> = samples.iter().map(pick).collect();
                values.sort();
                values.get(values.len() / 2).copied().unwrap_or_default()
            };
            Cost { processor: median(|sample| sample.0), wall: median(|sample| sample.1) }
        })
        .collect())
}

fn once(candidate: &Candidate<'_>) -> Result<(Duration, Duration), String> {
    let before = children_time()?;
    let started = Instant::now();
    let mut child = Command::new(candidate.program)
        .args(candidate.arguments)
        .env_clear()
        .envs(candidate.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", candidate.program.display()))?;
    if let Some(mut pipe) = child.stdin.take() {
        // An empty program does not read.
        drop(pipe.write_all(candidate.input));
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let wall = started.elapsed();
    if !status.success() {
        return Err(format!("{} ended with {status}", candidate.name));
    }
    Ok((children_time()?.saturating_sub(before), wall))
}

fn children_time() -> Result<Duration, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let micros = |time: nix::sys::time::TimeVal| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec()).unwrap_or(0)
    };
    Ok(Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time())))
}

/// The peak memory of one run in KiB, as the kernel counted it for the process itself.
pub(crate) fn peak_memory(candidate: &Candidate<'_>) -> Result<u64, String> {
    let mut child = Command::new(candidate.program)
        .args(candidate.arguments)
        .env_clear()
        .envs(candidate.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", candidate.program.display()))?;
    let mut pipe = child.stdin.take().ok_or("no pipe to the process")?;
    // An object without its end: the process has started and waits for more. What it answers then is not of interest, its peak is
    // read when it has given its answer and before it is waited for.
    pipe.write_all(candidate.input).map_err(|error| error.to_string())?;
    let mut answer = String::new();
    let mut output = child.stdout.take().ok_or("no pipe from the process")?;
    let mut peak = 0;
    let status = format!("/proc/{}/status", child.id());
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        match std::fs::read_to_string(&status) {
            Ok(text) => match text.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
                Some(line) => {
                    peak = peak.max(line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0));
                }
                // A process that ended keeps its name but has no memory any more.
                None => break,
            },
            Err(_) => break,
        }
    }
    drop(pipe);
    drop(std::io::Read::read_to_string(&mut output, &mut answer));
    child.wait().map_err(|error| error.to_string())?;
    Ok(peak)
}
