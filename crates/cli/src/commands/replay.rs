//! `checkrein replay FILE`: what would have been said to a recorded session, step by step; or where two policies say different things.
//!
//! Reads a transcript of Claude Code, Codex or Gemini CLI, or JSON Lines `{"id", "steps": [{"tool", "input", "output", "is_error", "text"?}]}`. Steps whose tool is
//! one of these are no calls: `user_message` (the user spoke), `say`, `message`, `think`, `thought` (the agent did), `condensation` (the client
//! shortened the conversation), `observation` (something happened that nobody did).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::BufReader;

use checkrein_patterns::Issue;
use checkrein_policy::{Config, ConfigSource, Layer, LayerKind, Policy};
use checkrein_protocol::{AbsolutePath, Action, ActionId, Timestamp};

use checkrein_review::VerdictKind;
use serde_json::{Value as Json, json};

use super::session_file::{Listener, Opening, Step, read};
use super::{ExitStatus, OutputForm, line};
use crate::phrases;
use crate::render::severity_name;
use crate::terminal::{bold, counted, cut, dim, plain, print, print_exact, table, verdict_word};
use checkrein_engine::config_files;
use checkrein_engine::context::Context;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::monitor::{Noticed, stops};
use checkrein_engine::replay::{RecordedOutcome, ReplaySession};

/// What kind of step it is.
enum Event<'a> {
    Call(&'a str),
    Person,
    Agent,
    Condensed,
    Outside,
    Nothing,
}

/// Plays every session of a file, or of standard input when it is `-`. With a configuration file `against`, what that file would say is
/// compared instead.
pub fn replay(
    environment: &HostEnvironment,
    file: &str,
    against: Option<&str>,
    goals: &[String],
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let stage = Stage { environment, goals, output };
    match against.map(other_configuration).transpose()? {
        None => play_all(file, &mut Player { stage, playing: None }),
        Some(config) => {
            let policy =
                || Ok(Policy::new(config.clone()).with_catalogue(config_files::catalogue(environment)?));
            play_all(file, &mut Comparison { stage, policy, comparing: None })
        }
    }
}

fn play_all(file: &str, listener: &mut impl Listener) -> Result<ExitStatus, CommandError> {
    if file == "-" {
        read(std::io::stdin().lock(), file, listener)?;
    } else {
        let opened = fs::File::open(file).map_err(|error| CommandError::file("read", file, &error))?;
        read(BufReader::new(opened), file, listener)?;
    }
    Ok(ExitStatus::Done)
}

/// Where sessions are played.
#[derive(Clone, Copy)]
struct Stage<'a> {
    environment: &'a HostEnvironment,
    /// What every session was for, beside what it says itself.
    goals: &'a [String],
    output: OutputForm,
}

impl Stage<'_> {
    /// Where a session worked, as far as it says so, and who judges there.
    fn set(&self, opening: &Opening) -> (AbsolutePath, Context) {
        let named = opening.cwd.as_deref().and_then(AbsolutePath::new);
        let cwd = named.unwrap_or_else(|| self.environment.cwd.clone());
        let context = Context::open(self.environment.clone(), &cwd);
        (cwd, context)
    }

    /// What a session was for.
    fn goals(&self, opening: &Opening) -> Vec<String> {
        self.goals.iter().chain(&opening.goals).cloned().collect()
    }
}

/// What one file says by itself, over the defaults.
fn other_configuration(file: &str) -> Result<Config, CommandError> {
    let text = checkrein_files::read_text(file, checkrein_files::SMALL)
        .map_err(|error| CommandError::file("read", file, &error))?;
    let source = ConfigSource::File { name: file.to_owned(), text };
    let loaded = checkrein_policy::load(&[Layer { kind: LayerKind::User, source }], &[])
        .map_err(|errors| config_files::invalid(&errors))?;
    Ok(loaded.config)
}

/// Shows where two policies differ.
struct Comparison<'a, P> {
    stage: Stage<'a>,
    /// Makes the other policy.
    policy: P,
    comparing: Option<Comparing>,
}

/// A session that two policies see.
struct Comparing {
    id: Json,
    cwd: AbsolutePath,
    ours: ReplaySession,
    theirs: ReplaySession,
    steps: usize,
    calls: usize,
    differing: Vec<(Said, Said)>,
}

/// What a policy says to one call.
struct Said {
    step: usize,
    call: String,
    verdict: VerdictKind,
    reason: String,
}

impl<P: Fn() -> Result<Policy, CommandError>> Listener for Comparison<'_, P> {
    fn opened(&mut self, opening: Opening) -> Result<(), CommandError> {
        let (cwd, context) = self.stage.set(&opening);
        let (_, other) = self.stage.set(&opening);
        let other = other.with_policy((self.policy)()?);
        let goals = self.stage.goals(&opening);
        self.comparing = Some(Comparing {
            id: opening.id,
            cwd,
            ours: ReplaySession::new(context, &goals),
            theirs: ReplaySession::new(other, &goals),
            steps: 0,
            calls: 0,
            differing: Vec::new(),
        });
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), CommandError> {
        if let Some(comparing) = &mut self.comparing {
            comparing.steps += 1;
            let (number, cwd) = (comparing.steps, &comparing.cwd);
            let ours = said(&mut comparing.ours, step, number, cwd);
            let theirs = said(&mut comparing.theirs, step, number, cwd);
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                comparing.calls += 1;
                if ours.verdict != theirs.verdict {
                    comparing.differing.push((ours, theirs));
                }
            }
        }
        Ok(())
    }

    fn closed(&mut self) -> Result<(), CommandError> {
        self.comparing.take().map_or(Ok(()), |comparing| comparing.tell(self.stage.output))
    }
}

/// What a policy says to a step, when it is a call; both policies see the same course of things, or every later step would differ.
fn said(rehearsal: &mut ReplaySession, step: &Step, number: usize, cwd: &AbsolutePath) -> Option<Said> {
    rehearsal.wait_until(step.at.map(Timestamp));
    if let Some(text) = &step.text {
        rehearsal.heard(text);
    }
    match event(step) {
        Event::Call(tool) => {
            let id = ActionId(format!("step-{number}"));
            let action = Action::tool_call(tool, input(tool, &step.input), cwd.clone());
            let review = rehearsal.before(&action, id.clone());
            let text = step.output.as_str().map_or_else(|| json_text(&step.output), str::to_owned);
            rehearsal.after(id, &action, RecordedOutcome { output: &text, failed: step.is_error });
            return Some(Said {
                step: number,
                call: format!("{tool} {}", shown(&action, step)),
                verdict: review.verdict.kind,
                reason: review.reasoning.primary.clone(),
            });
        }
        Event::Person => rehearsal.heard(&spoken(step)),
        Event::Agent => drop(rehearsal.said(&spoken(step))),
        Event::Condensed => drop(rehearsal.condensed()),
        Event::Outside => rehearsal.happened(),
        Event::Nothing => {}
    }
    None
}

impl Comparing {
    fn tell(&self, output: OutputForm) -> Result<(), CommandError> {
        match output {
            OutputForm::Json => {
                let difference = |(one, other): &(Said, Said)| {
                    json!({
                        "step": one.step,
                        "call": one.call,
                        "verdict": one.verdict.name(),
                        "against": other.verdict.name(),
                        "reason": one.reason,
                        "against_reason": other.reason,
                    })
                };
                print_exact(&line(&json!({
                    "id": self.id,
                    "steps": self.steps,
                    "calls": self.calls,
                    "differences": self.differing.iter().map(difference).collect::<Vec<_>>(),
                }))?);
            }
            OutputForm::Text => {
                print(&bold(&format!("session {}", plain(&self.id.to_string()))));
                let row = |(one, other): &(Said, Said)| {
                    let stricter = if other.verdict > one.verdict { &other.reason } else { &one.reason };
                    vec![
                        one.step.to_string(),
                        cut(&plain(&one.call), 60),
                        verdict_word(one.verdict),
                        verdict_word(other.verdict),
                        cut(&plain(stricter), 70),
                    ]
                };
                if !self.differing.is_empty() {
                    let rows = self.differing.iter().map(row).collect();
                    print(&table(&["step", "call", "now", "against", "the stricter one says"], rows));
                }
                print(&format!("{} of {} calls differ", self.differing.len(), self.calls));
            }
        }
        Ok(())
    }
}

/// What was found while a session was played.
#[derive(Debug, Default)]
struct Findings {
    verdicts: BTreeMap<&'static str, u64>,
    detections: Vec<Json>,
    /// Detections that the user settled: they spoke before the agent did anything more.
    settled: Vec<Json>,
    /// How many of the detections came after the last thing that the agent did.
    newest: usize,
    interventions: Vec<Json>,
    /// The step after which the session would have been stopped.
    stopped_at: Option<usize>,
}

impl Findings {
    fn noticed(&mut self, step: usize, noticed: &Noticed) {
        if let Some(made) = &noticed.intervention {
            let kind = made.kind.name();
            self.interventions.push(json!({ "step": step, "kind": kind, "about": made.pattern.name() }));
            if stops(made) {
                self.stopped_at = self.stopped_at.or(Some(step));
            }
        }
        self.detected(step, &noticed.issues);
    }

    fn detected(&mut self, step: usize, issues: &[Issue]) {
        self.newest = issues.len();
        self.detections.extend(issues.iter().map(|issue| {
            json!({
                "step": step,
                "type": issue.kind.name(),
                "severity": severity_name(issue.severity),
                "confidence": rounded(issue.confidence.value()),
            })
        }));
    }

    /// How often what was said, and what was noticed.
    fn in_one_line(&self) -> String {
        const KINDS: [VerdictKind; 5] = [
            VerdictKind::Ok,
            VerdictKind::Nudge,
            VerdictKind::Escalate,
            VerdictKind::Block,
            VerdictKind::Halt,
        ];
        let count = |kind: &VerdictKind| {
            self.verdicts.get(kind.name()).map(|many| (*many, phrases::verdict_word(*kind)))
        };
        // The others say what became of the calls, and have no number.
        let in_words = |(many, name): (u64, &str)| match name {
            "hint" => counted(many, name),
            name => format!("{many} {name}"),
        };
        let each: Vec<String> = KINDS.iter().filter_map(count).map(in_words).collect();
        let mut line = counted(self.verdicts.values().sum(), "call");
        if !each.is_empty() {
            let _ = write!(line, ": {}", each.join(", "));
        }
        let issues = self.detections.len() as u64 + self.settled.len() as u64;
        if issues > 0 {
            let _ = write!(line, "; {}", counted(issues, "issue"));
        }
        if let Some(step) = self.stopped_at {
            let _ = write!(line, "; stopped after step {step}");
        }
        line
    }

    fn person_spoke(&mut self) {
        let first = self.detections.len() - self.newest;
        self.settled.extend(self.detections.drain(first..));
        self.newest = 0;
    }
}

/// Shows what would have been said.
struct Player<'a> {
    stage: Stage<'a>,
    playing: Option<Playing>,
}

/// A session that is being played.
struct Playing {
    id: Json,
    cwd: AbsolutePath,
    rehearsal: ReplaySession,
    findings: Findings,
    steps: usize,
}

impl Listener for Player<'_> {
    fn opened(&mut self, opening: Opening) -> Result<(), CommandError> {
        let (cwd, context) = self.stage.set(&opening);
        if self.stage.output == OutputForm::Text {
            print(&bold(&format!("session {}", plain(&opening.id.to_string()))));
        }
        let rehearsal = ReplaySession::new(context, &self.stage.goals(&opening));
        self.playing =
            Some(Playing { id: opening.id, cwd, rehearsal, findings: Findings::default(), steps: 0 });
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), CommandError> {
        if let Some(playing) = &mut self.playing {
            playing.steps += 1;
            // Nothing after a stop would have happened.
            if playing.findings.stopped_at.is_none() {
                playing.play(step, self.stage.output);
            }
        }
        Ok(())
    }

    fn closed(&mut self) -> Result<(), CommandError> {
        match (self.playing.take(), self.stage.output) {
            (Some(Playing { id, findings, steps, .. }), OutputForm::Json) => {
                print_exact(&line(&json!({
                    "id": id,
                    "steps": steps,
                    "detections": findings.detections,
                    "settled": findings.settled,
                    "interventions": findings.interventions,
                    "verdicts": findings.verdicts,
                    "stopped_at": findings.stopped_at,
                }))?);
                Ok(())
            }
            (Some(Playing { findings, .. }), OutputForm::Text) => {
                print(&findings.in_one_line());
                Ok(())
            }
            (None, OutputForm::Json | OutputForm::Text) => Ok(()),
        }
    }
}

impl Playing {
    fn play(&mut self, step: &Step, output: OutputForm) {
        let Self { rehearsal, findings, cwd, steps: number, .. } = self;
        rehearsal.wait_until(step.at.map(Timestamp));
        if let Some(text) = &step.text {
            findings.person_spoke();
            rehearsal.heard(text);
        }
        let noticed = match event(step) {
            Event::Call(tool) => {
                let action = Action::tool_call(tool, input(tool, &step.input), cwd.clone());
                let review = rehearsal.before(&action, ActionId(format!("step-{number}")));
                let kind = review.verdict.kind;
                *findings.verdicts.entry(kind.name()).or_default() += 1;
                if output == OutputForm::Text {
                    print(&format!(
                        "{number:>4}  {:<9} {} {}",
                        verdict_word(kind),
                        tool,
                        cut(&plain(&shown(&action, step)), 90)
                    ));
                    for text in review.message().lines() {
                        print(&format!("      {}", dim(&plain(text))));
                    }
                }
                // What was refused did not run, so its outcome says nothing; what was asked about ran, as the recording shows.
                if kind <= VerdictKind::Escalate {
                    let text = step.output.as_str().map_or_else(|| json_text(&step.output), str::to_owned);
                    let outcome = RecordedOutcome { output: &text, failed: step.is_error };
                    rehearsal.after(ActionId(format!("step-{number}")), &action, outcome)
                } else {
                    rehearsal.refused()
                }
            }
            Event::Person => {
                findings.person_spoke();
                rehearsal.heard(&spoken(step));
                return;
            }
            Event::Agent => rehearsal.said(&spoken(step)),
            Event::Condensed => rehearsal.condensed(),
            Event::Outside => {
                rehearsal.happened();
                return;
            }
            Event::Nothing => return,
        };
        if output == OutputForm::Text {
            show(&noticed);
        }
        findings.noticed(*number, &noticed);
    }
}

/// What was noticed after a step, below it.
fn show(noticed: &Noticed) {
    for issue in &noticed.issues {
        let (name, severity) = (issue.kind.name(), severity_name(issue.severity));
        print(&format!("      {} {severity}: {}", bold(name), plain(&issue.summary)));
    }
    if let Some(made) = &noticed.intervention {
        print(&format!("      {} ({})", bold(made.kind.name()), plain(&made.reason)));
        for text in made.text.lines() {
            print(&format!("        {}", dim(&plain(text))));
        }
    }
}

/// What a call is given, in one text.
fn shown(action: &Action, step: &Step) -> String {
    action.shell_text().map_or_else(|| step.input.to_string(), str::to_owned)
}

/// What is said in a step.
fn spoken(step: &Step) -> String {
    step.input.as_str().map_or_else(|| step.input.to_string(), str::to_owned)
}

fn event(step: &Step) -> Event<'_> {
    match step.tool.as_deref() {
        None => Event::Nothing,
        Some("observation") => Event::Outside,
        Some("user_message") => Event::Person,
        // A thought that was not written down is nothing.
        Some("say" | "message" | "think" | "thought") => {
            if step.input.as_str() == Some("") {
                Event::Nothing
            } else {
                Event::Agent
            }
        }
        Some("condensation") => Event::Condensed,
        Some(tool) => Event::Call(tool),
    }
}

/// The input of a call; recordings give that of a shell as its text alone.
fn input(tool: &str, input: &Json) -> Json {
    let named = Action::tool_call(tool, json!({ "command": input }), AbsolutePath::root());
    if named.shell_text().is_some() { named.input } else { input.clone() }
}

fn json_text(value: &Json) -> String {
    if value.is_null() { String::new() } else { value.to_string() }
}

/// Two decimals: a confidence is no more exact than that.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
