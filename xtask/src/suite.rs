//! Runs all tests, several programs at a time. Most tests wait for processes that they started; one program after another, as `cargo test` runs
//! them, leaves half of a machine idle, and the whole takes half an hour.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use crate::{Outcome, cargo};

/// Programs that compare times within one run, so that company would show in what they compare.
const ALONE: &[&str] = &["growth", "growing_commands"];

/// Builds every test and runs all of them, each with `environment`. The output of a program is printed whole when it has ended.
///
/// # Errors
///
/// When something does not compile, and after all have run, with the names of those that failed.
pub(crate) fn suite(environment: &[(&str, &str)]) -> Outcome {
    let built = build()?;
    let (alone, together): (Vec<_>, Vec<_>) =
        built.into_iter().partition(|program| ALONE.contains(&program.name.as_str()));
    let failed = Mutex::new(Vec::new());
    let side_by_side = std::thread::available_parallelism().map_or(1, usize::from);
    for (programs, side_by_side) in [(together, side_by_side), (alone, 1)] {
        let waiting = Mutex::new(VecDeque::from(programs));
        std::thread::scope(|scope| {
            for _ in 0..side_by_side {
                scope.spawn(|| {
                    while let Some(program) = next(&waiting) {
                        if let Err(cause) = program.run(environment) {
                            held(&failed).push(cause);
                        }
                    }
                });
            }
        });
    }
    let failed = std::mem::take(&mut *held(&failed));
    if failed.is_empty() { Ok(()) } else { Err(format!("{} failed:\n{}", failed.len(), failed.join("\n"))) }
}

/// A program of tests.
struct Program {
    name: String,
    file: PathBuf,
    /// The folder of its package, in which cargo runs it.
    folder: PathBuf,
}

impl Program {
    fn run(&self, environment: &[(&str, &str)]) -> Outcome {
        let began = Instant::now();
        println!("    Starting {}", self.name);
        let ended = Command::new(&self.file)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.file.display()))?;
        // In one piece, so that the lines of two programs do not mix.
        println!(
            "     Running {} ({}), {:.1} s\n{}{}",
            self.name,
            self.folder.file_name().unwrap_or_default().display(),
            began.elapsed().as_secs_f64(),
            String::from_utf8_lossy(&ended.stdout),
            String::from_utf8_lossy(&ended.stderr)
        );
        if ended.status.success() {
            Ok(())
        } else {
            Err(format!("{} ({}) ended with {}", self.name, self.file.display(), ended.status))
        }
    }
}

/// Everything that `cargo test --all-targets` would run, the programs' own package first: its tests take the longest.
fn build() -> Result<Vec<Program>, String> {
    let built = cargo(&[
        "test",
        "--workspace",
        "--all-targets",
        "--no-run",
        "--quiet",
        "--message-format",
        "json-render-diagnostics",
    ])
    .stderr(Stdio::inherit())
    .output()
    .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !built.status.success() {
        return Err(format!("the tests do not build: {}", built.status));
    }
    let mut programs: Vec<Program> =
        String::from_utf8_lossy(&built.stdout).lines().filter_map(program).collect();
    programs.sort_by_key(|program| !program.folder.ends_with("crates/checkrein"));
    if programs.is_empty() {
        return Err("cargo named no program of tests".to_owned());
    }
    Ok(programs)
}

/// What a line of cargo names, where it is a program of tests.
fn program(line: &str) -> Option<Program> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    is_test.then_some(())?;
    Some(Program {
        name: message["target"]["name"].as_str()?.to_owned(),
        file: message["executable"].as_str()?.into(),
        folder: manifest.parent()?.to_owned(),
    })
}

fn next(waiting: &Mutex<VecDeque<Program>>) -> Option<Program> {
    held(waiting).pop_front()
}

/// What a lock holds; another thread that panicked while it held it changes nothing about a list.
fn held<Value>(lock: &Mutex<Value>) -> std::sync::MutexGuard<'_, Value> {
    lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn only_programs_of_tests_are_run() {
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/here/crates/one/Cargo.toml","target":{{"name":"reading"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = program(&line(true, r#""/here/target/debug/deps/reading-1""#)).unwrap();
        assert_eq!(found.name, "reading");
        assert_eq!(found.folder, std::path::Path::new("/here/crates/one"));
        assert!(program(&line(false, r#""/here/target/debug/one""#)).is_none());
        assert!(program(&line(true, "null")).is_none());
        assert!(program("warning: something else").is_none());
    }
}
