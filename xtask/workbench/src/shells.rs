//! Holds what is read of programs of the shell against what the real shells do with them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use checkrein_effects::predict;
use checkrein_facts::RecordedWorld;
use checkrein_protocol::Action;
use checkrein_testkit::shells::{Doubt, Judge, RealShell, ShellFault, ShellTrial, kept};
use xtask::Outcome;

/// `cargo xtask shells [--programs N | --minutes N] [--seed S] [--from N] [--shell bash|dash|zsh] [--faults N] [--untrue N] [--keep FOLDER]`: makes programs by
/// chance, lets the shells that are here run them in a scratch folder, and fails when one does what was not foreseen, or does not do
/// what was called certain. The smallest program of each fault is shown (`--faults` says how many at most, `--untrue` how many of those that were called certain), and written into the folder as a page of cases.
/// `--text PROGRAM` judges one program.
pub(crate) fn shells(arguments: &[String]) -> Outcome {
    let value = |name: &str| -> Result<Option<&str>, String> {
        let Some(place) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
        let text = arguments.get(place + 1).ok_or_else(|| format!("`{name}` needs a value"))?;
        Ok(Some(text))
    };
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(text) = value(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("`{text}` is not a number"))
    };
    let (programs, minutes) = (number("--programs")?, number("--minutes")?);
    let seed = number("--seed")?.unwrap_or(1);
    let first = number("--from")?.unwrap_or(0);
    let faults = usize::try_from(number("--faults")?.unwrap_or(10)).unwrap_or(usize::MAX);
    let untrue = number("--untrue")?.map_or(faults, |untrue| usize::try_from(untrue).unwrap_or(usize::MAX));
    let wanted = match value("--shell")? {
        Some(name) => {
            vec![RealShell::of(name).ok_or_else(|| format!("`{name}` is not a shell: bash, dash, zsh"))?]
        }
        None => RealShell::ALL.to_vec(),
    };
    let (here, missing): (Vec<RealShell>, Vec<RealShell>) =
        wanted.into_iter().partition(|shell| shell.is_here());
    for shell in &missing {
        println!("{} is not here: none of its programs run", shell.name());
    }
    if here.is_empty() || !RealShell::Bash.is_here() {
        return Err("bash is needed, and a shell to run the programs".to_owned());
    }
    let reader = |action: &Action, world: &RecordedWorld| predict(action, world).effects;
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
    let judge = Judge::new(folder.path(), &reader);
    if let Some(text) = value("--text")? {
        return one(&judge, text, &here);
    }
    let programs = programs.or(if minutes.is_none() { Some(5000) } else { None });
    let begun = Instant::now();
    let end = minutes.map(|minutes| begun + Duration::from_secs(minutes * 60));
    let more = |number: u64| {
        programs.is_none_or(|programs| number - first < programs)
            && end.is_none_or(|end| Instant::now() < end)
    };
    let (counts, reports) = judge
        .row(seed, first, &here, (faults, untrue), more)
        .map_err(|error| format!("cannot run the shells: {error}"))?;
    for (shell, count) in &counts {
        println!(
            "{} ({}): {} programs, {} with something missed, {} with something untrue called certain, {} not read to the end, {} without an end in time, {} not the same twice",
            shell.name(),
            version(*shell),
            count.programs,
            count.missed,
            count.invented,
            count.unread,
            count.endless,
            count.unsteady,
        );
    }
    let all: usize = counts.iter().map(|(_, count)| count.programs).sum();
    println!("{all} programs of seed {seed} in {} s", begun.elapsed().as_secs());
    let keep = value("--keep")?.map(Path::new);
    for report in &reports {
        let (word, names) = match &report.fault {
            ShellFault::Missed(names) => ("missed", names),
            ShellFault::Invented(names) => ("untrue", names),
        };
        println!(
            "\n--- {} program {}: {word}: {}\n{}\nforeseen: {}",
            report.shell.name(),
            report.number,
            names.join(", "),
            report.text,
            report.foreseen.join("; ")
        );
        if let Some(keep) = keep {
            let path = keep.join(format!("{}-{seed}-{}.md", report.shell.name(), report.number));
            fs::create_dir_all(keep)
                .and_then(|()| fs::write(&path, kept::page(report)))
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
    }
    let wrong: usize = counts.iter().map(|(_, count)| count.missed + count.invented).sum();
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} programs are read wrongly")) }
}

/// Judges one program.
fn one(judge: &Judge<'_>, text: &str, shells: &[RealShell]) -> Outcome {
    for shell in shells {
        let trial = ShellTrial::new(*shell, text, Doubt::None);
        let findings = judge
            .findings(std::slice::from_ref(&trial))
            .map_err(|error| format!("cannot run the shells: {error}"))?;
        println!("{}: {findings:?}; foreseen: {}", shell.name(), judge.told(&trial).join("; "));
    }
    Ok(())
}

/// What a shell says of its version.
fn version(shell: RealShell) -> String {
    let (program, arguments): (&str, &[&str]) = match shell {
        RealShell::Bash => ("bash", &["-c", "echo $BASH_VERSION"]),
        // It does not say it.
        RealShell::Dash => ("dpkg-query", &["-W", "-f", "${Version}", "dash"]),
        RealShell::Zsh => ("zsh", &["-fc", "echo $ZSH_VERSION"]),
    };
    let output = Command::new(program).args(arguments).output();
    let text =
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { "version not known".to_owned() } else { text }
}
