//! What an action lets the agent read that others may have written, what it lets it read that is private, and what an action sends to
//! others. Each alone is ordinary work. An agent that read orders of a stranger and the secrets of its user, and then sends something, is
//! how data are stolen through agents (Willison, "The lethal trifecta"), so all three together are asked about.

mod orders;

use checkrein_facts::HostPaths;
use checkrein_facts::places::is_personal_folder;
use checkrein_protocol::{
    AbsolutePath, Action, Effect, EffectKind, FlowMark, FlowOrigin, Nature, NetworkReach, Severity, Target,
};

use crate::verdict::Review;

pub use orders::planted_orders;

/// How many marks of each side one action leaves (ours).
const MARKS: usize = 4;

/// The longest name of a source, in characters (ours).
const SOURCE: usize = 200;

/// From how many bytes on the question behind the `?` of a URL can carry data (ours): shorter ones ask for a page.
const QUESTION: usize = 24;

/// The longest part of the name of a host that is no data (ours; a part has at most 63 bytes, RFC 1035).
const LABEL: usize = 32;

/// From how many bytes on a part of a path without words can carry data (ours): names of files and ids are shorter.
const PART: usize = 72;

/// Programs that show what other machines hold, those that run code among them (ours).
const SHOWS_PAGES: [&str; 13] = [
    "aria2c", "curl", "elinks", "http", "https", "links", "lynx", "node", "python", "python3", "w3m", "wget",
    "xh",
];

/// Programs that show what people wrote in a tracker (ours).
const SHOWS_TRACKERS: [&str; 6] = ["gh", "glab", "hub", "jira", "linear", "tea"];

/// Directories of a project that hold what others wrote.
const OF_OTHERS: [&str; 10] = [
    ".venv",
    "Pods",
    "__pypackages__",
    "bower_components",
    "deps",
    "node_modules",
    "site-packages",
    "third_party",
    "vendor",
    "vendored",
];

/// Where packages lie in a home directory.
const PACKAGES: [&str; 3] = [".cargo/registry", ".cargo/git", "go/pkg"];

/// What an action lets the agent read that came from outside or is private, the first few of each side.
pub(crate) fn marks(
    action: &Action,
    effects: &[Effect],
    programs: &[String],
    place: &HostPaths,
) -> Vec<FlowMark> {
    let mut marks: Vec<FlowMark> = Vec::new();
    let is_shell = action.shell_text().is_some();
    let runs = |names: &[&str]| programs.iter().any(|program| names.contains(&program.as_str()));
    let mut take = |mark: FlowMark| {
        let side = mark.origin.side();
        let known = marks.iter().filter(|other| other.origin.side() == side).count();
        if known < MARKS && !marks.contains(&mark) {
            marks.push(mark);
        }
    };
    for effect in effects {
        let of_host = if is_shell {
            runs(&SHOWS_PAGES).then_some(FlowOrigin::Page)
        } else {
            Some(outside_of_tool(action))
        };
        let is_elsewhere = effect.reach != Some(NetworkReach::Local);
        let origin = if effect.kind == EffectKind::NetworkRequest && is_elsewhere {
            of_host
        } else if effect.kind == EffectKind::SecretRead && !effect.is_read_unseen() {
            Some(FlowOrigin::Secret)
        } else if effect.kind == EffectKind::FileRead && effect.nature != Nature::Masked {
            path_read(&effect.target).and_then(|path| of_file(&path, place))
        } else {
            None
        };
        if let Some(origin) = origin {
            take(FlowMark { origin, source: name_of(effect, action) });
        }
    }
    if is_shell && runs(&SHOWS_TRACKERS) && !effects.iter().any(|effect| effect.kind.is_mutating()) {
        let program = programs.iter().find(|program| SHOWS_TRACKERS.contains(&program.as_str()));
        take(FlowMark { origin: FlowOrigin::Service, source: program.cloned().unwrap_or_default() });
    }
    marks
}

/// What a review sends to others, in a few words; `None` where it sends nothing, or only to where the project itself belongs.
pub fn sends_out(review: &Review) -> Option<String> {
    let effect = review.side_effects.effects.iter().find(|effect| is_sent(effect))?;
    let target = effect.target.text().unwrap_or("a host that is not known");
    Some(format!("{} `{}`", effect.kind.verb(), cut(target)))
}

fn is_sent(effect: &Effect) -> bool {
    if effect.reach == Some(NetworkReach::Local) || effect.nature == Nature::ToOwnPlace {
        return false;
    }
    // A known host is known for reading, and what is written there in words of the agent is marked as a request to a strange one.
    let carries = effect.kind == EffectKind::NetworkRequest
        && effect.reach == Some(NetworkReach::External)
        && carries_data(&effect.target);
    let uploads = effect.kind == EffectKind::DataUpload && effect.severity >= Severity::Medium;
    let publishes = effect.kind == EffectKind::Publish && effect.severity >= Severity::High;
    effect.nature == Nature::TellsOthers || carries || uploads || publishes
}

/// Whether data can stand in an address itself.
fn carries_data(target: &Target) -> bool {
    let Target::Host(address) = target else { return false };
    let (before, question) = address.split_once(['?', '#']).unwrap_or((address, ""));
    let host =
        before.split_once("://").map_or(before, |(_, rest)| rest).split('/').next().unwrap_or_default();
    let path = before.split_once("://").map_or(before, |(_, rest)| rest).split('/').skip(1);
    question.len() >= QUESTION
        || host.split('.').any(|label| label.len() > LABEL)
        || path.into_iter().any(is_encoded)
}

/// Whether a part of a path is data in base64 or the like: long, and no words or hash of something.
fn is_encoded(part: &str) -> bool {
    let has = |wanted: fn(char) -> bool| part.contains(wanted);
    part.len() >= PART
        && part.chars().all(|sign| sign.is_ascii_alphanumeric() || "+=-_%".contains(sign))
        && has(|sign| sign.is_ascii_uppercase())
        && has(|sign| sign.is_ascii_lowercase())
        && part.matches(['-', '_']).count() * 12 < part.len()
}

/// Where what a tool other than the shell shows comes from.
fn outside_of_tool(action: &Action) -> FlowOrigin {
    let of_web = ["Web", "web_", "google_web_"];
    let is_of_web = of_web.iter().any(|start| action.tool.as_str().starts_with(start));
    if is_of_web || action.input.get("url").is_some() { FlowOrigin::Page } else { FlowOrigin::Service }
}

/// The path that is read; of a pattern what stands before its first wildcard.
fn path_read(target: &Target) -> Option<AbsolutePath> {
    match target {
        Target::Path(path) => Some(path.clone()),
        Target::Glob(pattern) => {
            let known = pattern.split(['*', '?', '[']).next().unwrap_or_default();
            AbsolutePath::new(known.rsplit_once('/').map_or("", |(directory, _)| directory))
        }
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    }
}

/// Whose a file is that is read; `None` for those of the project and of the machine.
fn of_file(path: &AbsolutePath, place: &HostPaths) -> Option<FlowOrigin> {
    if place.is_temporary(path) {
        return None;
    }
    if let Some(relative) = path.relative_to(&place.workspace) {
        let is_of_others = relative.split('/').any(|part| OF_OTHERS.contains(&part));
        return is_of_others.then_some(FlowOrigin::Dependency);
    }
    let relative = path.relative_to(&place.home)?;
    if PACKAGES.iter().any(|packages| relative.starts_with(packages)) {
        return Some(FlowOrigin::Dependency);
    }
    let first = relative.split('/').next().unwrap_or_default();
    // What is hidden at home belongs to programs, and is a secret where it is one.
    if first.is_empty()
        || first.starts_with('.')
        || place.expected.iter().any(|expected| path.is_within(expected))
    {
        return None;
    }
    if is_personal_folder(first) { Some(FlowOrigin::PersonalFolder) } else { Some(FlowOrigin::OtherProject) }
}

/// The name of what is read.
fn name_of(effect: &Effect, action: &Action) -> String {
    match &effect.target {
        // The question may hold what must not be repeated.
        Target::Host(address) => cut(address.split(['?', '#']).next().unwrap_or_default()),
        Target::Unknown => cut(action.tool.as_str()),
        Target::Path(_)
        | Target::Glob(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_) => cut(effect.target.text().unwrap_or_default()),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(SOURCE).collect()
}

#[cfg(test)]
mod tests;
