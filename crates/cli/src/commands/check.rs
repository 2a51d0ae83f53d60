//! `checkrein check`: explains a verdict without running anything.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::sync::Mutex;

use checkrein_engine::batch::{batch_answer, syntax_error};
use checkrein_policy::Config;
use checkrein_protocol::{AbsolutePath, Action, BatchAnswer, BatchQuestion, SessionId, SyntaxErrorPlace};

use checkrein_review::{GovernanceAssessment, Review, ReviewCache, Size, TimeToLive, VerdictKind, sentence};
use serde_json::{Value as Json, json};

use super::halt::halt_of_all;
use super::show::ShowExtent;
use super::story::shortened;
use super::{ExitStatus, OutputForm, line};
use crate::api;
use crate::terminal::{bold, dim, log, plain, plain_name, print, print_exact, verdict_word, wrapped};
use checkrein_engine::check as check_action;
use checkrein_engine::config_files;
use checkrein_engine::context::Context;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::senders::{Keeping, SentAction, evaluate};

/// Where the action would run.
#[derive(Debug, Clone, Default)]
pub struct Where {
    /// The working directory; that of this process by default.
    pub cwd: Option<String>,
    /// The workspace; the repository around the working directory by default.
    pub root: Option<String>,
}

/// Explains the verdict on one shell command.
pub fn one(
    environment: HostEnvironment,
    place: &Where,
    command: &str,
    extent: ShowExtent,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let cwd = directory(&environment, place.cwd.as_deref())?;
    let context = context(environment, place, &cwd);
    let action = Action::command(command, cwd);
    let review = check_action(&context, &action, None);
    match output {
        OutputForm::Json => {
            print_exact(&api::named(
                api::CHECK,
                &batch_answer(json!("1"), &action, &review, context.policy_version(&action)),
            )?);
        }
        OutputForm::Text => {
            let workspace = context.workspace().as_str();
            let shown = |text: &str| shortened(context.environment(), Some(workspace), &plain(text));
            print(&wrapped(&explain(&action, &review, extent, &shown)));
            // Of the command itself that says nothing.
            if let Some(reason) = halt_of_all(&context.environment().state) {
                log(&format!(
                    "all sessions are halted ({}), so an agent would be refused; `checkrein resume --all` lets them continue",
                    plain(&reason)
                ));
            }
        }
    }
    Ok(exit_of(review.verdict.kind))
}

/// Answers JSON Lines of questions, one line each, in order. A line that cannot be read is answered with an error and a block.
pub fn batch(environment: HostEnvironment, place: &Where, source: &str) -> Result<ExitStatus, CommandError> {
    let input: Box<dyn BufRead> = match source {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(BufReader::new(
            File::open(path).map_err(|error| CommandError::file("read", path, &error))?,
        )),
    };
    let own = directory(&environment, place.cwd.as_deref())?;
    let first = context(environment, place, &own);
    let settings = &first.policy().config().step_reviewer.cache;
    let size = if settings.enabled { usize::try_from(settings.max_size).unwrap_or(usize::MAX) } else { 0 };
    let mut cache = ReviewCache::new(TimeToLive(settings.ttl_minutes.saturating_mul(60_000)), Size(size));
    let mut guards = vec![(own.clone(), first)];
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut exit = ExitStatus::Done;
    for (number, text) in input.split(b'\n').enumerate() {
        let text = text.map_err(|error| CommandError::file("read", source, &error))?;
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answered = match question(&text, number + 1) {
            Err(error) => {
                exit = ExitStatus::Failed;
                error.to_string()
            }
            Ok((id, question)) => {
                let cwd = question.cwd.as_deref().map_or_else(|| own.clone(), |text| own.join(text));
                let context = guard_for(&mut guards, place, &cwd);
                let action = action(question, cwd);
                let found = cache.found();
                let review = check_action(context, &action, Some(&mut cache));
                let policy = context.policy_version(&action);
                let answer = batch_answer(id, &action, &review, policy);
                line(&BatchAnswer { cached: cache.found() > found, ..answer })?
            }
        };
        if writeln!(output, "{answered}").is_err() {
            return Ok(ExitStatus::Done);
        }
    }
    drop(output.flush());
    Ok(exit)
}

/// A cache of the size and the time that are configured here.
pub fn cache(environment: &HostEnvironment) -> ReviewCache {
    let settings = config_files::load(environment, &environment.cwd)
        .map_or_else(|_| Config::default(), |loaded| loaded.config)
        .step_reviewer
        .cache;
    let size = if settings.enabled { usize::try_from(settings.max_size).unwrap_or(usize::MAX) } else { 0 };
    ReviewCache::new(TimeToLive(settings.ttl_minutes.saturating_mul(60_000)), Size(size))
}

/// Prints the answer to one question, as [`batch`] does. A cache that another question uses at the moment is done without.
pub fn answer(
    environment: &HostEnvironment,
    asked: &Json,
    cache: &Mutex<ReviewCache>,
) -> Result<ExitStatus, CommandError> {
    let text = line(asked)?;
    match question(text.as_bytes(), 1) {
        Err(error) => print_exact(&error.to_string()),
        Ok((id, asked)) => {
            let cwd = directory(environment, asked.cwd.as_deref())?;
            let place = Where { cwd: None, root: None };
            let context = context(environment.clone(), &place, &cwd);
            let action = action(asked, cwd);
            let mut cache = cache.try_lock().ok();
            let found = cache.as_ref().map_or(0, |cache| cache.found());
            let review = check_action(&context, &action, cache.as_deref_mut());
            let cached = cache.as_ref().map_or(0, |cache| cache.found()) > found;
            drop(cache);
            print_exact(&line(&BatchAnswer {
                cached,
                ..batch_answer(id, &action, &review, context.policy_version(&action))
            })?);
        }
    }
    Ok(ExitStatus::Done)
}

/// The same for a question of a sender of messages, which is put down as `keeping` says.
pub fn answer_sender(
    environment: &HostEnvironment,
    (sender, session): (&str, &SessionId),
    asked: &Json,
    keeping: Keeping,
    cache: &Mutex<ReviewCache>,
) -> Result<ExitStatus, CommandError> {
    let text = line(asked)?;
    match question(text.as_bytes(), 1) {
        Err(error) => print_exact(&error.to_string()),
        Ok((id, asked)) => {
            let cwd = directory(environment, asked.cwd.as_deref())?;
            let action = action(asked, cwd);
            let sent =
                SentAction { sender: sender.to_owned(), session: session.clone(), action: action.clone() };
            let mut cache = cache.try_lock().ok();
            let found = cache.as_ref().map_or(0, |cache| cache.found());
            let (review, policy) = evaluate(environment, &sent, keeping, cache.as_deref_mut())?;
            let cached = cache.as_ref().map_or(0, |cache| cache.found()) > found;
            drop(cache);
            print_exact(&line(&BatchAnswer { cached, ..batch_answer(id, &action, &review, policy) })?);
        }
    }
    Ok(ExitStatus::Done)
}

/// The guard of the workspace that holds `cwd`; workspaces are few, commands many.
fn guard_for<'a>(
    guards: &'a mut Vec<(AbsolutePath, Context)>,
    place: &Where,
    cwd: &AbsolutePath,
) -> &'a Context {
    let known = guards.iter().position(|(directory, _)| directory == cwd);
    let at = known.unwrap_or_else(|| {
        let environment = guards.first().map(|(_, context)| context.environment().clone());
        if let Some(environment) = environment {
            guards.push((cwd.clone(), context(environment, place, cwd)));
        }
        guards.len() - 1
    });
    &guards[at].1
}

fn question(text: &[u8], number: usize) -> Result<(Json, BatchQuestion), Json> {
    let refused = |id: Json, cause: String| json!({ "id": id, "error": format!("line {number}: {cause}"), "verdict": "block", "decision": "block" });
    let mut value: Json = serde_json::from_slice(text).map_err(|error| {
        refused(Json::Null, format!("column {}: {}", error.column(), without_place(&error)))
    })?;
    if let Some(fields) = value.as_object_mut() {
        fields.entry("id").or_insert_with(|| number.into());
    }
    let id = value.get("id").cloned().unwrap_or(Json::Null);
    let question: BatchQuestion =
        serde_json::from_value(value).map_err(|error| refused(id.clone(), error.to_string()))?;
    if question.command.is_none() && question.tool.is_none() {
        return Err(refused(id, "neither `command` nor `tool` is given".to_owned()));
    }
    Ok((id, question))
}

/// What the parser says without its own line and column: each line is a text of its own to it.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(cause, _)| cause.to_owned())
}

pub(super) fn action(question: BatchQuestion, cwd: AbsolutePath) -> Action {
    match (question.command, question.tool) {
        (Some(command), _) => Action::command(command, cwd),
        (None, tool) => {
            Action::tool_call(tool.unwrap_or_default(), question.input.unwrap_or(Json::Null), cwd)
        }
    }
}

/// The working directory that was given, or that of this process. What would happen in a directory that is not there is not known.
pub(super) fn directory(
    environment: &HostEnvironment,
    given: Option<&str>,
) -> Result<AbsolutePath, CommandError> {
    let Some(text) = given else { return Ok(environment.cwd.clone()) };
    let path = environment.cwd.join(text);
    match std::fs::metadata(path.as_str()) {
        Ok(facts) if facts.is_dir() => Ok(path),
        Ok(_) => Err(CommandError::user(
            format!("`{}` is not a directory", plain_name(path.as_str())),
            "give the working directory that the command would run in",
        )),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput
            ) =>
        {
            Err(CommandError::user(
                format!("cannot look into `{}`: {error}", plain_name(path.as_str())),
                "give the working directory that the command would run in",
            ))
        }
        Err(error) => Err(CommandError::file("look into", path, &error)),
    }
}

fn context(environment: HostEnvironment, place: &Where, cwd: &AbsolutePath) -> Context {
    match &place.root {
        Some(root) => {
            let root = environment.cwd.join(root);
            Context::in_workspace(environment, root)
        }
        None => Context::open(environment, cwd),
    }
}

fn exit_of(kind: VerdictKind) -> ExitStatus {
    match kind {
        VerdictKind::Ok | VerdictKind::Nudge => ExitStatus::Done,
        VerdictKind::Escalate => ExitStatus::Escalated,
        VerdictKind::Block | VerdictKind::Halt => ExitStatus::Blocked,
    }
}

/// Makes text from elsewhere fit to be shown, with the names of files as people read them.
type Shown<'a> = &'a dyn Fn(&str) -> String;

/// The explanation of a review, for people: in words, and on request the rules and the numbers that the words come from.
fn explain(action: &Action, review: &Review, extent: ShowExtent, shown: Shown<'_>) -> String {
    let mut lines = verdict_in_words(review, shown);
    if let Some(SyntaxErrorPlace { line, column }) = syntax_error(action) {
        lines.push(format!("No shell runs this: syntax error at line {line}, column {column}"));
    }
    lines.extend(effects_in_words(review, shown));
    if let Some(rewrite) = &review.rewrite {
        // A command stays as it would run.
        lines.push(titled("runs instead", &plain(&rewrite.command)));
        lines.push(format!("  {}", dim(&shown(&rewrite.note))));
    }
    lines.extend(review.alternatives.iter().map(|alternative| titled("instead", &shown(alternative))));
    lines.extend(review.side_effects.mitigations.iter().map(|one| titled("softened by", &shown(one))));
    match extent {
        ShowExtent::Verbose => lines.extend(numbers(review, shown)),
        ShowExtent::Story if review.rules.is_empty() => {}
        ShowExtent::Story => {
            // What stands at the head already, or beside it, is not said again.
            let is_said = |reason: &str| {
                let others =
                    review.reasoning.others.iter().filter(|_| review.verdict.kind == VerdictKind::Escalate);
                [&review.reasoning.primary].into_iter().chain(others).any(|said| said.contains(reason))
            };
            let unsaid = review.rules.iter().filter(|finding| !is_said(&finding.reason));
            lines.extend(unsaid.map(|finding| titled("also", &shown(&finding.reason))));
            let mut rules: Vec<&str> = review.rules.iter().map(|finding| finding.rule.as_str()).collect();
            rules.dedup();
            lines.push(dim(&format!("by {}; `--verbose` shows the numbers", rules.join(", "))));
        }
    }
    lines.join("\n")
}

fn titled(title: &str, text: &str) -> String {
    format!("{}  {text}", bold(title))
}

/// The verdict, why, and which part of the review is missing.
fn verdict_in_words(review: &Review, shown: Shown<'_>) -> Vec<String> {
    let kind = review.verdict.kind;
    let flagged = if review.verdict.flagged { ", flagged" } else { "" };
    let mut lines = vec![format!("{}{flagged}: {}", verdict_word(kind), ahead(review))];
    // The effects of what is fine stand below.
    if !review.reasoning.primary.is_empty() && kind != VerdictKind::Ok {
        lines.push(format!("  {}", shown(&review.reasoning.primary)));
    }
    if kind == VerdictKind::Escalate {
        lines.extend(review.reasoning.others.iter().map(|other| format!("  also: {}", shown(other))));
    }
    for failure in &review.failures {
        // What is said as the reason already is named, not said again.
        let is_said = review.reasoning.primary.contains(failure.as_str());
        let failure = failure.split([':', '\n']).next().filter(|_| is_said).unwrap_or(failure);
        lines.push(titled("not reviewed", &shown(failure)));
    }
    lines
}

/// What a verdict means for the call.
fn ahead(review: &Review) -> &'static str {
    match (review.verdict.kind, &review.rewrite) {
        (VerdictKind::Ok, _) => "the agent may run this",
        (VerdictKind::Nudge, Some(_)) => "a safer form would run instead",
        (VerdictKind::Nudge, None) => "this would run, with a hint to the agent",
        (VerdictKind::Escalate, _) => "you would be asked first",
        (VerdictKind::Block, _) => "this would not run",
        (VerdictKind::Halt, _) => "this would not run, and the session would be stopped",
    }
}

fn effects_in_words(review: &Review, shown: Shown<'_>) -> Vec<String> {
    let effects = &review.side_effects.effects;
    if effects.is_empty() {
        return vec![titled("effects", "none")];
    }
    let mut lines = vec![bold("effects")];
    for effect in effects.iter().take(20) {
        let certainty = match effect.certainty {
            checkrein_protocol::Certainty::Certain => "",
            checkrein_protocol::Certainty::Possible => "perhaps ",
        };
        let note =
            if effect.note.is_empty() { String::new() } else { dim(&format!("  {}", shown(&effect.note))) };
        lines.push(format!("  {certainty}{}{note}", shown(&sentence(effect))));
    }
    let more = effects.len().saturating_sub(20);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines
}

/// What the verdict was worked out from: scores from 0 to 1, and the rules.
fn numbers(review: &Review, shown: Shown<'_>) -> Vec<String> {
    let mut lines = vec![titled("decision", review.decision.name())];
    for finding in &review.rules {
        // A reason that stands at the head already is not said again.
        let reason = if review.reasoning.primary.contains(finding.reason.as_str()) {
            String::new()
        } else {
            format!(": {}", shown(&finding.reason))
        };
        lines.push(titled("rule", &format!("{} says {}{reason}", finding.rule, finding.decision.name())));
    }
    let factors: Vec<String> = review
        .risk
        .factors
        .iter()
        .map(|f| format!("{} {:+.2} ({})", f.name, f.amount, shown(&f.detail)))
        .collect();
    lines.push(format!(
        "{}  {} {}  {}",
        bold("risk"),
        review.risk.score,
        review.risk.level.name(),
        dim(&factors.join(", "))
    ));
    lines.push(format!(
        "{}  {} {}  {}",
        bold("rationality"),
        review.rationality.score,
        review.rationality.level.name(),
        dim(&components(review))
    ));
    lines.push(governance(review));
    let resources = review.side_effects.resources.in_words();
    if !resources.is_empty() {
        lines.push(titled("resources", &resources));
    }
    lines.push(titled("confidence", &review.confidence.to_string()));
    lines
}

fn governance(review: &Review) -> String {
    let GovernanceAssessment { ctq, tier, by_thresholds, trust, .. } = &review.governance;
    let context = ctq.context.map_or_else(String::new, |score| format!(", context {score}"));
    let parts = format!(
        "reasoning {}, grounding {}, rules {}, tool safety {}{context}",
        ctq.reasoning, ctq.grounding, ctq.ethical, ctq.tool_safety
    );
    let tier = tier.map_or_else(
        || "off".to_owned(),
        |tier| format!("tier {} says {}", tier.word(), by_thresholds.name()),
    );
    let debt = if trust.before > 0.0 {
        format!(", trust debt {:.1} ({})", trust.before, trust.posture.name())
    } else {
        String::new()
    };
    format!("{}  CTQ {}, {tier}{debt}  {}", bold("governance"), ctq.score, dim(&parts))
}

/// The parts that were measured; without a session, the goal and the steps before are not.
fn components(review: &Review) -> String {
    let rationality = &review.rationality;
    let parts = [
        ("goal alignment", rationality.goal_alignment),
        ("logical progression", rationality.logical_progression),
        ("efficiency", Some(rationality.efficiency)),
        ("completeness", Some(rationality.completeness)),
    ];
    let measured = parts.iter().filter_map(|(name, score)| Some(format!("{name} {}", (*score)?)));
    measured.collect::<Vec<_>>().join(", ")
}
