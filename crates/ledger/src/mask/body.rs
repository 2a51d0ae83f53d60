//! The bodies of records: every text in them is masked and kept to a bounded length.

use checkrein_protocol::{
    AbsolutePath, Effect, OutcomeRecord, RecordBody, ReviewRecord, Target, VerificationRecord,
};

use serde_json::Value as Json;

use super::{MaskKey, mask_json, mask_text};

/// The greatest length of a text in a record, in bytes (ours).
const TEXT: usize = 64 * 1024;

/// The greatest length of an error or a reason, in bytes (ours).
const MESSAGE: usize = 4 * 1024;

/// Masks a body in place; what is longer than a record may hold is cut, and says so.
pub fn mask_body(body: &mut RecordBody, key: &MaskKey) {
    let text = |text: &mut String| clean(text, TEXT, key);
    let message = |text: &mut String| clean(text, MESSAGE, key);
    match body {
        RecordBody::SessionStarted { session: _, client, cwd, workspace, source, beginning: _, debt: _ } => {
            [client, cwd, workspace, source].into_iter().for_each(message);
        }
        RecordBody::Prompt { text: prompt } => text(prompt),
        RecordBody::Review(review) => mask_review(review, key),
        RecordBody::Outcome(outcome) => mask_outcome(outcome, key),
        RecordBody::Told { action_id: _, text } => message(text),
        RecordBody::Event { name, fields } => {
            message(name);
            clean_json(fields, key);
        }
        RecordBody::Halted { scope: _, reason, by } => [reason, by].into_iter().for_each(message),
        RecordBody::ReviewClosed { ticket: _, note, by } => [note, by].into_iter().for_each(message),
        RecordBody::Resumed { scope: _, by } => message(by),
        RecordBody::ConfigChanged { file, decision } => [file, decision].into_iter().for_each(message),
        RecordBody::Failure { stage, kind, detail, verdict: _ } => {
            [stage, kind, detail].into_iter().for_each(message);
        }
        RecordBody::Retention { removed: _, stores: _, reason } | RecordBody::Repaired { reason, .. } => {
            message(reason);
        }
        RecordBody::Issue(issue) => [&mut issue.summary, &mut issue.advice].into_iter().for_each(message),
        RecordBody::Intervention(made) => [&mut made.reason, &mut made.text].into_iter().for_each(message),
        RecordBody::Rollback(rollback) => {
            message(&mut rollback.text);
            rollback.named.iter_mut().chain(&mut rollback.left).for_each(message);
        }
        RecordBody::Marked { note, .. } => message(note),
        RecordBody::Unanswered(unanswered) => {
            [&mut unanswered.call, &mut unanswered.reason].into_iter().for_each(message);
        }
        RecordBody::Unreviewed(unreviewed) => {
            [&mut unreviewed.call, &mut unreviewed.reason].into_iter().for_each(message);
        }
        RecordBody::Usage(usage) => usage.models.iter_mut().for_each(|one| message(&mut one.model)),
        RecordBody::Anchor { .. }
        | RecordBody::IssueEnded { .. }
        | RecordBody::Message { .. }
        | RecordBody::Condensed
        | RecordBody::Unknown => {}
    }
}

fn mask_review(review: &mut ReviewRecord, key: &MaskKey) {
    let hosts: Vec<String> = review.effects.iter().flat_map(machines).collect();
    let sparing;
    let key = if hosts.is_empty() {
        key
    } else {
        sparing = key.sparing(hosts.into_iter());
        &sparing
    };
    let message = |text: &mut String| clean(text, MESSAGE, key);
    // Every field is named: a new one with words in it must be masked too.
    let ReviewRecord {
        input,
        tool,
        cwd,
        actor,
        risk,
        further_reasons,
        mitigations,
        effects,
        flow_marks,
        foreseen,
        terminal_uses,
        rules,
        reason,
        alternatives,
        rewrite,
        answered,
        snapshot,
        not_saved,
        problems,
        programs,
        governance,
        code,
        // Where secrets lie and what was overwritten is compared with later calls; the rest holds no words of a call.
        secret_marks: _,
        former_texts: _,
        action_id: _,
        verdict: _,
        decision: _,
        flagged: _,
        rationality: _,
        intent: _,
        confidence: _,
        scope: _,
        policy: _,
        resources: _,
        further_file_operations: _,
        flow: _,
        kind: _,
        exact: _,
        substance: _,
        without_options: _,
        elapsed_us: _,
        mode: _,
        beginning: _,
        digest: _,
        unliftable: _,
        change: _,
    } = review;
    clean_json(input, key);
    if let Some(rewrite) = rewrite {
        clean_json(rewrite, key);
    }
    [cwd, reason, &mut tool.0].into_iter().for_each(message);
    [actor, answered].into_iter().flatten().for_each(message);
    let lists = [further_reasons, mitigations, rules, alternatives, problems, programs, &mut risk.factors];
    lists.into_iter().flatten().for_each(message);
    governance.iter_mut().for_each(|governance| governance.fired.iter_mut().for_each(message));
    snapshot.iter_mut().for_each(|snapshot| snapshot.not_saved.iter_mut().for_each(message));
    for unsaved in not_saved {
        message(&mut unsaved.what);
        unsaved.places.iter_mut().for_each(message);
    }
    flow_marks.iter_mut().for_each(|mark| message(&mut mark.source));
    foreseen.iter_mut().for_each(|issue| message(&mut issue.summary));
    terminal_uses.iter_mut().for_each(|used| message(&mut used.text));
    effects.iter_mut().for_each(|effect| mask_effect(effect, key));
    code.iter_mut().flatten().for_each(|code| mask_path(&mut code.path, key));
}

/// The machine that an effect talks to, by its name or by its address. What stands behind the last colon may be a port or a part of it.
fn machines(effect: &Effect) -> Vec<String> {
    let Target::Host(host) = &effect.target else { return Vec::new() };
    let host = host.split_once("://").map_or(host.as_str(), |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.split(']').next());
    let by_port = || host.rsplit_once(':').map_or(host, |(before, _)| before);
    let candidates = [bracketed.unwrap_or(host), by_port()];
    let is_name = |text: &str| {
        text.contains('.') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    };
    let found =
        candidates.into_iter().filter(|text| is_name(text) || text.parse::<std::net::IpAddr>().is_ok());
    found.map(str::to_owned).collect()
}

fn mask_path(path: &mut AbsolutePath, key: &MaskKey) {
    if let std::borrow::Cow::Owned(masked) = mask_text(path.as_str(), key) {
        *path = AbsolutePath::root().join(&masked);
    }
}

fn mask_effect(effect: &mut Effect, key: &MaskKey) {
    clean(&mut effect.cause, MESSAGE, key);
    clean(&mut effect.note, MESSAGE, key);
    match &mut effect.target {
        Target::Path(path) => mask_path(path, key),
        Target::Glob(text)
        | Target::Host(text)
        | Target::Process(text)
        | Target::Service(text)
        | Target::Reference(text) => clean(text, MESSAGE, key),
        Target::Unknown => {}
    }
}

fn mask_outcome(outcome: &mut OutcomeRecord, key: &MaskKey) {
    clean(&mut outcome.tool.0, MESSAGE, key);
    if let Some(error) = &mut outcome.error {
        clean_error(error, key);
    }
    if let Some(planted) = &mut outcome.planted {
        clean(planted, MESSAGE, key);
    }
    if let Some(verification) = &mut outcome.verification {
        mask_verification(verification, key);
    }
}

fn mask_verification(verification: &mut VerificationRecord, key: &MaskKey) {
    let message = |text: &mut String| clean(text, MESSAGE, key);
    for texts in [
        &mut verification.gaps,
        &mut verification.left_out,
        &mut verification.other_causes,
        &mut verification.programs,
    ] {
        texts.iter_mut().for_each(message);
    }
    message(&mut verification.call);
    for surprise in &mut verification.surprises {
        [&mut surprise.path, &mut surprise.predicted].into_iter().for_each(message);
    }
}

/// Masks an error and keeps both of its ends: what a program says first, and what it says last, where many name the error.
fn clean_error(error: &mut String, key: &MaskKey) {
    if error.len() <= MESSAGE || error.len() > TEXT {
        return clean(error, MESSAGE, key);
    }
    // Before anything is cut: of a secret that goes over several lines the second half alone would not be known.
    let masked = mask_text(error, key).into_owned();
    *error = both_ends(masked, MESSAGE);
}

/// The first and the last lines of a text, of about `most` bytes together.
fn both_ends(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let half = most / 2;
    let end = (0..=half).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let start = (text.len() - half..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (first, last) = (text.get(..end).unwrap_or_default(), text.get(start..).unwrap_or_default());
    let first = first.rfind(char::is_whitespace).and_then(|end| first.get(..end)).unwrap_or(first);
    let last = last.find(char::is_whitespace).and_then(|at| last.get(at..)).unwrap_or(last).trim_start();
    format!("{first}\n[cut: {} bytes]\n{last}", text.len() - first.len() - last.len())
}

/// Cuts a text to `most` bytes and masks it.
fn clean(text: &mut String, most: usize, key: &MaskKey) {
    let note = cut(text, most);
    if let std::borrow::Cow::Owned(masked) = mask_text(text, key) {
        *text = masked;
    }
    if let Some(note) = note {
        text.push_str(&note);
    }
}

fn clean_json(value: &mut Json, key: &MaskKey) {
    cut_json(value);
    mask_json(value, key);
}

fn cut_json(value: &mut Json) {
    match value {
        Json::String(text) => {
            if let Some(note) = cut(text, TEXT) {
                text.push_str(&note);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(cut_json),
        Json::Object(fields) => fields.values_mut().for_each(cut_json),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Cuts a text to `most` bytes, if possible between words so that no secret is cut in two, and says what was left out.
fn cut(text: &mut String, most: usize) -> Option<String> {
    const REACH: usize = 1024;
    if text.len() <= most {
        return None;
    }
    let hard = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let soft =
        text.get(..hard).and_then(|kept| kept.rfind(char::is_whitespace)).filter(|end| hard - end <= REACH);
    let end = soft.unwrap_or(hard);
    let note = format!(" [cut: {} more bytes]", text.len() - end);
    text.truncate(end);
    Some(note)
}
