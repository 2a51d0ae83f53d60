//! Which setting would have made the difference for a call that was stopped without need, or let pass: exact lines, each tried before it is
//! proposed.

use std::collections::BTreeSet;

use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::{Context, check};
use checkrein_facts::{History, HostPaths, World as _, is_owned};
use checkrein_policy::{Config, ConfigSource, Exemption, Policy, in_scope};
use checkrein_protocol::{
    AbsolutePath, Action, Effect, EffectKind, Nature, NetworkReach, ReviewRecord, Severity, Target,
    VerdictKind,
};
use checkrein_world::find_workspace;

use super::others::{Difference, OtherCalls};
use super::{Opinion, exemptions};
use crate::commands::preset::merging::{PresetSetting, with_settings};

/// The greatest number of settings that are proposed for one call (ours).
const MOST: usize = 3;
/// What a rule says that a user wanted.
const REASON: &str = "a call like this was let pass and should have been asked about";
/// What the file of a proposal is called where a command names it.
const TRIED: &str = "change.yaml";

/// A setting that would have made the difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    /// What it says, as a clause: `` `api.example.com` is your own ``.
    pub(super) says: String,
    /// The file that its lines belong into.
    pub(super) file: AbsolutePath,
    /// The lines, as YAML.
    pub(super) lines: String,
    /// The path of the setting, and its value in one line, as a program writes them.
    pub(super) setting: (&'static str, String),
    /// Whether the call, judged again with it, comes out otherwise; `None` where judging it again says nothing: its verdict rested on the
    /// session.
    pub(super) makes_difference: Option<bool>,
    /// What it would have made of the other calls of the last 30 days.
    pub(super) others: Difference,
}

impl Proposal {
    /// The proposal in words: what it says, the command that sets it, and the file that its lines belong into.
    pub(super) fn in_words(&self, opinion: Opinion, command: &str) -> String {
        let comes_out = match (self.makes_difference, opinion) {
            (Some(_), Opinion::Wrong) => "tried: with it this call passes",
            (Some(_), Opinion::Missed) => "tried: with it this call is asked about",
            (None, _) => "not tried: the verdict rested on what the session did before",
        };
        let effect = format!("{comes_out}; {}", self.others.in_words(opinion));
        let waits =
            if self.file.name() == Some("checkrein.yaml") { "; `checkrein trust` confirms it" } else { "" };
        format!("{}\n     {effect}\n     set it: `{command}`\n     in `{}`{waits}:", self.says, self.file)
    }

    /// Its lines as they belong into the file, none of them broken.
    pub(super) fn indented_lines(&self) -> String {
        self.lines.lines().flat_map(|line| ["\n       ", line]).collect()
    }

    /// The text of its file with the setting; `None` where a program cannot add it, since it stands there already or in another form.
    pub(super) fn added_to(&self, text: &str) -> Option<String> {
        let (path, value) = &self.setting;
        if *path == EXEMPT
            && let Some(longer) = with_entries(text, value)
        {
            return Some(longer);
        }
        let names = path.rsplit_once('.').map_or(*path, |(_, key)| key);
        let stands = text.lines().any(|line| {
            line.trim_start().strip_prefix(names).is_some_and(|rest| rest.trim_start().starts_with(':'))
        });
        let setting = PresetSetting { path, value, comment: &self.says };
        if stands { None } else { with_settings(text, &[&setting]) }
    }
}

/// The setting of what rules overlook.
const EXEMPT: &str = "step_reviewer.rules.exempt";

/// The text with further entries in the list of exemptions that stands in it, on one line; `None` where none stands so.
fn with_entries(text: &str, value: &str) -> Option<String> {
    let is_list = |line: &&str| line.trim_start().starts_with("exempt: [") && line.trim_end().ends_with(']');
    let line = text.lines().find(is_list)?;
    let (list, new) = (line.trim_end().strip_suffix(']')?, value.strip_prefix('[')?);
    let comma = if list.trim_end().ends_with('[') { "" } else { ", " };
    Some(text.replacen(line, &format!("{list}{comma}{new}"), 1))
}

/// How a user sees what else a proposal would change.
pub(super) fn how_to_try() -> String {
    format!(
        "To see all that a setting would change, write its lines into `{TRIED}` and run `checkrein policy try {TRIED}`."
    )
}

/// The settings that would have made the difference, those first that say least else.
pub(super) fn proposals(
    environment: &HostEnvironment,
    review: &ReviewRecord,
    opinion: Opinion,
) -> Result<Vec<Proposal>, CommandError> {
    let Some(cwd) = AbsolutePath::new(&review.cwd) else { return Ok(Vec::new()) };
    let action = Action { tool: review.tool.clone(), input: review.input.clone(), cwd };
    let workspace = find_workspace(&action.cwd);
    let now = Context::open(environment.clone(), &action.cwd);
    let is_stopped = |kind: VerdictKind| kind >= VerdictKind::Escalate;
    let before = check(&now, &action, None).verdict.kind;
    let source = |lines: &str| ConfigSource::File { name: TRIED.to_owned(), text: lines.to_owned() };
    let judged_with = |lines: &str| -> Result<VerdictKind, CommandError> {
        let config = config_files::load_with(environment, &workspace, source(lines))?.config;
        let policy = Policy::new(config).with_catalogue(config_files::catalogue(environment)?);
        let then = Context::open(environment.clone(), &action.cwd).with_policy(policy);
        Ok(check(&then, &action, None).verdict.kind)
    };
    let drafts = match opinion {
        Opinion::Wrong => {
            let passes = |exempt: &[Exemption]| {
                Ok(!is_stopped(judged_with(&exempting(environment, review, exempt).lines)?))
            };
            let narrowest = exemptions::narrowest(review, &action, passes)?;
            let exempting = (!narrowest.is_empty()).then(|| exempting(environment, review, &narrowest));
            let world = now.world(History::default());
            let wider = loosening(environment, review, world.place(), now.policy().config());
            exempting.into_iter().chain(wider).collect()
        }
        Opinion::Missed => tightening(environment, review, &action),
    };
    let others = OtherCalls::than(environment, review, opinion)?;
    let mut proposals = Vec::new();
    for mut draft in drafts {
        if proposals.len() >= MOST {
            break;
        }
        let after = judged_with(&draft.lines)?;
        let was_as_recorded = is_stopped(before) == (opinion == Opinion::Wrong);
        draft.makes_difference = was_as_recorded.then(|| is_stopped(before) != is_stopped(after));
        if draft.makes_difference != Some(false) {
            draft.others = others.with(environment, &source(&draft.lines));
            proposals.push(draft);
        }
    }
    Ok(proposals)
}

/// The setting that has rules overlook the effects of a call.
fn exempting(environment: &HostEnvironment, review: &ReviewRecord, exempt: &[Exemption]) -> Proposal {
    let rules: BTreeSet<String> = exempt.iter().map(|one| format!("`{}`", one.rule)).collect();
    let ask = if rules.len() == 1 { "asks" } else { "ask" };
    let does: BTreeSet<String> =
        exempt.iter().map(|one| format!("{} `{}`", one.kind.verb(), one.target)).collect();
    let program = exempt.first().map_or(review.tool.as_str(), |one| one.program.as_str());
    let all = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(" and ");
    let says = format!("{} no longer {ask} where `{program}` alone {}", all(rules), all(does));
    let entries: Vec<String> = exempt.iter().map(|one| quoted(&one.to_string())).collect();
    let lines: String = entries.iter().flat_map(|entry| ["      - ", entry, "\n"]).collect();
    let lines = format!("step_reviewer:\n  rules:\n    exempt:\n{lines}");
    draft(says, config_files::user_file(environment), (EXEMPT, format!("[{}]", entries.join(", "))), lines)
}

/// Settings that let what was stopped pass.
fn loosening(
    environment: &HostEnvironment,
    review: &ReviewRecord,
    place: &HostPaths,
    config: &Config,
) -> Vec<Proposal> {
    let own = config_files::user_file(environment);
    let mut drafts = Vec::new();
    let mut owned = |key: &str, entry: &str| {
        let lines = format!("owned:\n  {key}: [{}]\n", quoted(entry));
        let path = match key {
            "buckets" => "owned.buckets",
            "hosts" => "owned.hosts",
            "registries" => "owned.registries",
            _ => "owned.remotes",
        };
        let setting = (path, format!("[{}]", quoted(entry)));
        drafts.push(draft(format!("`{entry}` is your own"), own.clone(), setting, lines));
    };
    for (key, entry) in review.effects.iter().filter_map(own_place).collect::<BTreeSet<_>>() {
        owned(key, &entry);
    }
    for entry in strange_remotes(review, &place.workspace) {
        owned("remotes", &entry);
    }
    let outside: BTreeSet<AbsolutePath> = review
        .effects
        .iter()
        .filter(|effect| effect.kind.file_change().is_some())
        .filter_map(|effect| effect.target.path())
        .filter(|path| !in_scope(path, place, config))
        .filter_map(AbsolutePath::parent)
        // What holds all that the user has is no place of one task.
        .filter(|folder| folder.parent().is_some() && !environment.home.is_within(folder))
        .collect();
    if !outside.is_empty() {
        let known: Vec<String> = match config.scope.paths.as_slice() {
            [] => vec!["**".to_owned()],
            paths => paths.to_vec(),
        };
        let new = outside.iter().map(|folder| format!("{folder}/**"));
        let entries: Vec<String> = known.into_iter().chain(new).map(|entry| quoted(&entry)).collect();
        let names: Vec<String> = outside.iter().map(|folder| format!("`{folder}`")).collect();
        let says = format!("changes are expected in {} too", names.join(", "));
        let lines = format!("scope:\n  paths: [{}]\n", entries.join(", "));
        let setting = ("scope.paths", format!("[{}]", entries.join(", ")));
        drafts.push(draft(says, config_files::project_file(&place.workspace), setting, lines));
    }
    for rule in review.rules.iter().filter_map(|rule| rule.strip_suffix(": modify")) {
        // What prevents a disaster is not switched off for one call.
        if rule.starts_with("confirm_") {
            let says = format!("the rule `{rule}` is off for every call in this project");
            let lines = format!("step_reviewer:\n  rules:\n    disabled: [{rule}]\n");
            let setting = ("step_reviewer.rules.disabled", format!("[{rule}]"));
            drafts.push(draft(says, config_files::project_file(&place.workspace), setting, lines));
        }
    }
    drafts
}

fn draft(says: String, file: AbsolutePath, setting: (&'static str, String), lines: String) -> Proposal {
    Proposal { says, file, lines, setting, makes_difference: None, others: Difference::default() }
}

/// The list of one's own places that an effect would have to be in, and the entry.
fn own_place(effect: &Effect) -> Option<(&'static str, String)> {
    let entry = |key, address: &str| {
        let entry = place_of(address)?;
        // An entry that does not name its own address names nothing.
        is_owned(&entry, address).then_some((key, entry))
    };
    match (&effect.target, effect.kind) {
        (Target::Host(address), EffectKind::DataUpload | EffectKind::NetworkRequest) => {
            let is_bucket = address.contains("://") && !address.starts_with("http");
            let is_strange = effect.reach == Some(NetworkReach::External);
            match (is_bucket, is_strange || effect.kind == EffectKind::DataUpload) {
                (true, true) => entry("buckets", address),
                (false, true) if is_strange => entry("hosts", address),
                _ => None,
            }
        }
        (Target::Service(address), EffectKind::PackageInstall)
            if effect.severity >= Severity::High && address.contains("://") =>
        {
            entry("registries", address)
        }
        (Target::Service(address), EffectKind::Publish) if address.contains('/') && address.contains('.') => {
            entry("registries", address)
        }
        _ => None,
    }
}

/// The host of an address; of a bucket its scheme and name.
fn place_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let is_web = scheme.is_empty() || scheme.starts_with("http");
    let entry = if is_web { host.to_owned() } else { format!("{scheme}://{host}") };
    host.contains(|letter: char| letter.is_ascii_alphanumeric()).then_some(entry)
}

/// The owners of the remotes that a push to strangers names, as the repository has them.
fn strange_remotes(review: &ReviewRecord, workspace: &AbsolutePath) -> BTreeSet<String> {
    let told =
        |effect: &Effect| effect.kind == EffectKind::VcsRemoteUpdate && effect.nature == Nature::TellsOthers;
    if !review.effects.iter().any(told) {
        return BTreeSet::new();
    }
    let file = workspace.join(".git/config");
    let text = checkrein_files::read_text(file.as_str(), checkrein_files::SMALL).unwrap_or_default();
    let command = review.input.get("command").and_then(|text| text.as_str()).unwrap_or_default();
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut named = false;
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let name = section.strip_prefix("remote \"").and_then(|rest| rest.strip_suffix("\"]"));
            named = name.is_some_and(|name| words.contains(&name));
        } else if let Some(address) = line.strip_prefix("url = ").filter(|_| named) {
            found.extend(owner_of(address));
        }
    }
    found
}

/// The host and owner of the address of a repository: `github.com/acme`.
fn owner_of(address: &str) -> Option<String> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let mut parts = rest.split([':', '/']).filter(|part| !part.is_empty());
    let entry = format!("{}/{}", parts.next()?, parts.next()?);
    is_owned(&entry, address).then_some(entry)
}

/// Rules that ask about what was let pass, the narrowest first: for this program, this kind of effect and this target, then for whatever the
/// program does of that kind.
fn tightening(environment: &HostEnvironment, review: &ReviewRecord, action: &Action) -> Vec<Proposal> {
    // What reads is meant only where nothing else is done: a rule without a kind would ask about every call of that name.
    let is_more = |effect: &&Effect| effect.kind != EffectKind::FileRead;
    let gravity = |effect: &&Effect| (effect.severity, effect.kind.is_mutating());
    let gravest = review.effects.iter().filter(is_more).max_by_key(gravity);
    let gravest = gravest.or_else(|| review.effects.iter().max_by_key(gravity));
    let beginning = beginning(action);
    let tool = action.tool.as_str();
    let condition = if beginning.is_empty() {
        // A call of another tool has no command to be told by. A rule without a condition is none.
        is_plain_name(tool).then(|| format!("action.tool == \"{tool}\""))
    } else {
        // As words of their own: `ls` is no part of `false`, nor `.env` of `.envrc`.
        Some(format!("(\" \" + action.command + \" \").contains(\" {beginning} \")"))
    };
    let (Some(condition), true) = (condition, gravest.is_some() || !beginning.is_empty()) else {
        return Vec::new();
    };
    let subject = if beginning.is_empty() { tool } else { &beginning };
    let about =
        if beginning.is_empty() { gravest.map_or(tool, |effect| effect.kind.name()) } else { &beginning };
    let file = config_files::user_file(environment);
    let rule = |says: String, condition: &str| {
        let kinds = gravest.map(|effect| format!("kinds: [{}]", effect.kind.name()));
        let fields: Vec<String> = [format!("name: {}", rule_name(about))]
            .into_iter()
            .chain(kinds)
            .chain([format!("when: {}", quoted(condition))])
            .collect();
        let lines = format!(
            "step_reviewer:\n  rules:\n    custom:\n      - {}\n        decision: modify\n        reason: {REASON}\n",
            fields.join("\n        ")
        );
        let value = format!("[{{{}, decision: modify, reason: {REASON}}}]", fields.join(", "));
        draft(says, file.clone(), ("step_reviewer.rules.custom", value), lines)
    };
    let Some(effect) = gravest else {
        return vec![rule(format!("a rule asks about every `{subject}`"), &condition)];
    };
    let narrow = effect.target.text().filter(|target| is_plain_text(target)).map(|target| {
        let says = format!("a rule asks where `{subject}` {} `{target}`", effect.kind.verb());
        let there =
            format!("effects.exists(e, e.kind == \"{}\" && e.target == \"{target}\")", effect.kind.name());
        rule(says, &format!("{condition} && {there}"))
    });
    let whole = WHOLE_CLAUSES.into_iter().find(|(kind, _)| *kind == effect.kind);
    let does = whole.map_or_else(|| format!("{} something", effect.kind.verb()), |(_, does)| does.to_owned());
    narrow.into_iter().chain([rule(format!("a rule asks where `{subject}` {does}"), &condition)]).collect()
}

/// The first words of a command that name it: the program, and its subcommand or first operand; empty for another tool.
fn beginning(action: &Action) -> String {
    let words: Vec<&str> = action
        .shell_text()
        .unwrap_or_default()
        .split_whitespace()
        .take_while(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte)))
        .take_while(|word| !word.starts_with('-'))
        .take(2)
        .collect();
    words.join(" ")
}

/// The name of a rule that asks about something.
fn rule_name(about: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    let name: String = format!("ask_about_{about}").chars().map(plain).collect();
    name.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

/// Whether a text can stand between quotes in an expression as it is, and in a line.
fn is_plain_text(text: &str) -> bool {
    !text.is_empty() && !text.contains(['"', '\\', '`']) && !text.chars().any(char::is_control)
}

/// What calls do of which the verb names what it is about already.
const WHOLE_CLAUSES: [(EffectKind, &str); 4] = [
    (EffectKind::SecretRead, "reads a secret"),
    (EffectKind::ProcessKill, "ends a process"),
    (EffectKind::SystemModification, "changes the system"),
    (EffectKind::PrivilegeEscalation, "gets elevated permissions"),
];

/// Whether the name of a tool can stand in an expression as it is.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A text of YAML in quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_an_address_names_it() {
        for (address, place) in [
            ("https://me@api.example.com:8443/v1?x=1", "api.example.com"),
            ("s3://assets/a/b.png", "s3://assets"),
            ("registry.example.com/team/app:1", "registry.example.com"),
        ] {
            assert_eq!(place_of(address).as_deref(), Some(place));
            assert!(is_owned(place, address), "{address}");
        }
        assert_eq!(place_of("https:///x"), None);
        assert_eq!(owner_of("git@github.com:acme/app.git").as_deref(), Some("github.com/acme"));
        assert_eq!(owner_of("https://github.com/acme/app").as_deref(), Some("github.com/acme"));
        assert_eq!(owner_of("../app.git"), None);
    }
}
