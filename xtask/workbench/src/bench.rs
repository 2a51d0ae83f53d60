//! `bench`: the promises of SPECIFICATION.md, measured in one run.
//!
//! Figures are ratios to an empty program built and started the same way, so that they mean the same on every machine.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use checkrein_facts::{HostPaths, RecordedWorld, VersionState};
use checkrein_ledger::{Durability, StateDirectory};
use checkrein_policy::Policy;
use checkrein_protocol::{
    AbsolutePath, Action, ActionId, Decision, Enforcement, RecordBody, ReviewRecord, RiskLevel, RiskRecord,
    SessionId, Timestamp, VerdictKind,
};
use checkrein_session::SessionLedger;

use checkrein_review::review;
use serde_json::json;

use crate::measure::{Candidate, compare, peak_memory};
use xtask::{Outcome, build};

use crate::bench_snapshots;

/// Measures; `--snapshots` only what saving files costs (`--files N`, `--row N`); `--records N` sets the length of the long history (default 1,000,000), `--rounds N` the runs of each process.
pub(crate) fn bench(arguments: &[String]) -> Outcome {
    let number = |name: &str, default: usize| {
        let given = arguments.iter().position(|text| text == name).and_then(|at| arguments.get(at + 1));
        given.map_or(Ok(default), |text| text.parse().map_err(|_| format!("`{text}` is not a number")))
    };
    let (records, rounds) = (number("--records", 1_000_000)?, number("--rounds", 201)?);
    if arguments.iter().any(|text| text == "--snapshots") {
        return bench_snapshots::bench(number("--files", 100_000)?, number("--row", 1_000)?);
    }
    let programs = build::release()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let project = folder.path().join("project");
    fs::create_dir_all(project.join("src")).map_err(|error| error.to_string())?;
    run_quietly(Command::new("git").args(["init", "-q"]).current_dir(&project))?;

    match &programs.target {
        Some(target) => println!("hook: static, {target}, {} KiB", size(&programs.hook)),
        None => println!("hook: built for the host, {} KiB", size(&programs.hook)),
    }
    let payload = |session: &str, command: &str| {
        json!({
            "session_id": session, "transcript_path": "", "cwd": project, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "call",
        })
        .to_string()
        .into_bytes()
    };
    let state = folder.path().join("state");
    let home = StateDirectory::new(&state);
    fill(&home, "short", 10)?;
    let started = Instant::now();
    fill(&home, "long", records)?;
    println!("history of {records} records written in {:.1} s", started.elapsed().as_secs_f64());

    let environment = [
        ("HOME", folder.path().display().to_string()),
        ("CHECKREIN_HOME", state.display().to_string()),
        ("PATH", "/usr/bin:/bin".to_owned()),
    ];
    let ordinary = "cargo test --workspace 2>&1 | tail -n 40";
    let inputs =
        [payload("short", ordinary), payload("long", ordinary), payload("short", "rm -rf src ~/.ssh")];
    let hook = |name, input| Candidate {
        name,
        program: &programs.hook,
        arguments: &["claude"],
        input,
        environment: &environment,
    };
    let candidates = [
        Candidate {
            name: "empty program",
            program: &programs.empty,
            arguments: &[],
            input: b"",
            environment: &environment,
        },
        hook("hook, 10 recorded actions", &inputs[0]),
        hook("hook, long history", &inputs[1]),
        hook("hook, a block (durable)", &inputs[2]),
    ];
    let costs = compare(&candidates, rounds)?;
    println!(
        "\n{:<28} {:>12} {:>8} {:>12} {:>8}",
        "whole process, median", "processor", "ratio", "wall", "ratio"
    );
    let base = costs.first().copied().unwrap_or_default();
    for (candidate, cost) in candidates.iter().zip(&costs) {
        println!(
            "{:<28} {:>9.0} µs {:>8.2} {:>9.0} µs {:>8.2}",
            candidate.name,
            cost.processor.as_secs_f64() * 1e6,
            cost.processor.as_secs_f64() / base.processor.as_secs_f64(),
            cost.wall.as_secs_f64() * 1e6,
            cost.wall.as_secs_f64() / base.wall.as_secs_f64(),
        );
    }
    let peaks: Result<Vec<u64>, String> = (0..20).map(|_| peak_memory(&candidates[1])).collect();
    println!(
        "\npeak memory of the hook: {} KiB (greatest seen in 20 runs)",
        peaks?.into_iter().max().unwrap_or(0)
    );

    warm();
    batch(&programs.full, &project, &environment)
}

/// A history of reviews as an agent at work leaves it.
fn fill(home: &StateDirectory, session: &str, count: usize) -> Outcome {
    let ledger = SessionLedger::open(home, &SessionId(session.to_owned()));
    let mut written = 0;
    while written < count {
        let some = (count - written).min(10_000);
        let bodies = (written..written + some).map(record).collect();
        ledger
            .append_all(Timestamp(1_700_000_000_000 + written as u64), bodies, Durability::Plain)
            .map_err(|error| error.to_string())?;
        written += some;
    }
    Ok(())
}

fn record(number: usize) -> RecordBody {
    RecordBody::Review(Box::new(ReviewRecord {
        action_id: ActionId(format!("call-{number}")),
        tool: checkrein_protocol::ToolName("Bash".to_owned()),
        input: json!({ "command": format!("cargo test --test case_{number}") }),
        cwd: "/home/dev/project".to_owned(),
        actor: None,
        verdict: VerdictKind::Ok,
        decision: Decision::Allow,
        flagged: false,
        risk: RiskRecord { score: 0.1, level: RiskLevel::Low, factors: vec![] },
        rationality: None,
        intent: None,
        confidence: None,
        scope: None,
        policy: None,
        resources: None,
        further_reasons: Vec::new(),
        mitigations: Vec::new(),
        effects: vec![],
        further_file_operations: 0,
        former_texts: Vec::new(),
        secret_marks: Vec::new(),
        flow_marks: Vec::new(),
        terminal_uses: Vec::new(),
        flow: None,
        foreseen: Vec::new(),
        rules: vec![],
        reason: String::new(),
        alternatives: vec![],
        rewrite: None,
        answered: None,
        snapshot: None,
        governance: None,
        beginning: None,
        digest: None,
        code: None,
        unliftable: Vec::new(),
        change: None,
        not_saved: Vec::new(),
        problems: vec![],
        programs: vec!["cargo".to_owned()],
        kind: (number % 700) as u64,
        exact: number as u64,
        substance: number as u64,
        without_options: 0,
        elapsed_us: 50,
        mode: Enforcement::Enforce,
    }))
}

/// One review in a warm process, without the disk.
fn warm() {
    let root = AbsolutePath::root();
    let workspace = root.join("home/dev/project");
    let place = HostPaths {
        home: root.join("home/dev"),
        user: Some("dev".to_owned()),
        workspace: workspace.clone(),
        temporary: vec![root.join("tmp")],
        guarded: vec![],
        expected: vec![],
    };
    let world = RecordedWorld::complete(place).with_repository(&workspace).with_file(
        &workspace.join("src/main.rs"),
        "fn main() {}\n",
        VersionState::TrackedClean,
    );
    let policy = Policy::default();
    println!("\n{:<52} {:>10}", "one review, warm, median of 2,000", "");
    for command in [
        "ls -la",
        "cargo test --workspace 2>&1 | tail -n 40",
        "git add -A && git commit -m \"fix: don't rm -rf /\"",
        "for f in src/*.rs; do sed -i 's/a/b/' \"$f\"; done",
        "rm -rf build && mkdir -p build && cp src/main.rs build/",
    ] {
        let action = Action::command(command, workspace.clone());
        let mut times: Vec<_> = (0..2_000)
            .map(|_| {
                let started = Instant::now();
                std::hint::black_box(review(std::hint::black_box(&action), &world, &policy));
                started.elapsed()
            })
            .collect();
        times.sort();
        println!("{command:<52} {:>7.1} µs", times[times.len() / 2].as_secs_f64() * 1e6);
    }
}

/// Throughput of `check --batch`.
fn batch(program: &Path, project: &Path, environment: &[(&str, String)]) -> Outcome {
    const COUNT: usize = 10_000;
    let mut text = String::new();
    for number in 0..COUNT {
        text.push_str(&json!({ "id": number, "command": format!("mkdir -p out/{number} && echo {number} > out/{number}/log && ls out") }).to_string());
        text.push('\n');
    }
    let file = project.join("questions.jsonl");
    fs::write(&file, text).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let mut command = Command::new(program);
    command.args(["check", "--batch"]).arg(&file).current_dir(project).env_clear();
    command.envs(environment.iter().map(|(name, value)| (name, value))).stdout(Stdio::null());
    xtask::run(&mut command)?;
    let seconds = started.elapsed().as_secs_f64();
    println!("\ncheck --batch: {COUNT} commands in {seconds:.2} s, {:.0} a second", COUNT as f64 / seconds);
    Ok(())
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |facts| facts.len() / 1024)
}

fn run_quietly(command: &mut Command) -> Outcome {
    xtask::run(command.stdout(Stdio::null()).stderr(Stdio::null()))
}
