//! What cannot be understood, within bounds that the kernel enforces (design 10).
//!
//! The command stays as it is and runs under `checkrein exec`, which lets it write where the task is and where its predicted effects
//! are, and talk to whom it names. Only where that would take something from it that it was going to do with our leave, it is left
//! alone.

use std::collections::BTreeSet;

use checkrein_facts::{Entry, HostPaths, World};
use checkrein_policy::{Config, ContainedCommands, ContainedNetwork, Decision, in_scope, location};
use checkrein_protocol::{AbsolutePath, Action, Effect, EffectKind, Nature, NetworkReach, Target};
use checkrein_shell::{Command, Connective, Part, Simple, parse, quoted};

use crate::rewrite::{literal, simple_commands};
use crate::verdict::{Review, Rewrite, RewriteConsent, Safety};

/// The rule whose question containment answers.
const ASKS_ABOUT_OPAQUE: &str = "confirm_opaque";

/// The longest command that is given as advice, in bytes (ours).
const READABLE: usize = 400;

/// Proposes the same command within bounds, when that is wanted and this machine holds them.
pub(crate) fn propose(
    action: &Action,
    review: &Review,
    world: &dyn World,
    config: &Config,
) -> Option<Rewrite> {
    let is_wanted = match config.contained_commands() {
        ContainedCommands::Off => false,
        ContainedCommands::Questionable => review.decision == Decision::Modify,
        ContainedCommands::Opaque => review.decision <= Decision::Modify,
    };
    is_wanted.then(|| within_bounds(action, review, world, config)).flatten()
}

/// The same as advice, where a user is asked: shell text of one line, short enough to be read.
pub(crate) fn advise(
    action: &Action,
    review: &Review,
    world: &dyn World,
    config: &Config,
) -> Option<Rewrite> {
    let is_asked = review.decision == Decision::Modify && review.rewrite.is_none();
    let helps = is_asked && !runs_only_what_is_missing(review);
    let rewrite = helps.then(|| within_bounds(action, review, world, config)).flatten()?;
    (rewrite.command.len() <= READABLE && !rewrite.command.contains('\n')).then_some(rewrite)
}

/// Whether all that is not understood is a script that is not there: bounds do not make it run.
pub(crate) fn runs_only_what_is_missing(review: &Review) -> bool {
    let mut opaque =
        review.side_effects.effects.iter().filter(|effect| effect.kind == EffectKind::Opaque).peekable();
    opaque.peek().is_some() && opaque.all(|effect| effect.nature == Nature::NotThere)
}

fn within_bounds(action: &Action, review: &Review, world: &dyn World, config: &Config) -> Option<Rewrite> {
    let effects = &review.side_effects.effects;
    let is_opaque = effects.iter().any(|effect| effect.kind == EffectKind::Opaque);
    if !is_opaque || !review.asks_only_by(ASKS_ABOUT_OPAQUE) {
        return None;
    }
    let text = action.shell_text()?;
    let place = world.place();
    let write = writable(effects, world, config)?;
    if !in_scope(&action.cwd, place, config) {
        return None;
    }
    let network = network(effects, config)?;
    let confiner = world.confiner()?;
    let (before, inner) = behind_the_directory(text);
    let mut words = vec![quoted(confiner.as_str()), "exec".to_owned(), "--require".to_owned()];
    for path in &write {
        words.extend(["--write".to_owned(), quoted(path.as_str())]);
    }
    for end in &network {
        words.extend(["--net".to_owned(), quoted(end)]);
    }
    words.extend(["--".to_owned(), "bash".to_owned(), "-c".to_owned(), quoted(inner)]);
    Some(Rewrite {
        command: format!("{before}{}", words.join(" ")),
        note: note(place, &network, inner),
        consent: RewriteConsent::NotNeeded,
        safety: Safety::Contained,
    })
}

/// What the agent is told: what is different now, and how it gets more.
fn note(place: &HostPaths, network: &BTreeSet<String>, inner: &str) -> String {
    let ends: Vec<&str> = network.iter().map(String::as_str).collect();
    let talks = match ends.as_slice() {
        ["none"] => "has no network".to_owned(),
        ["loopback"] => "can reach this machine only".to_owned(),
        ["open"] => "can use the network".to_owned(),
        hosts => format!("can reach {} only", hosts.join(", ")),
    };
    let stays = if changes_directory(inner) { "; a change of the directory does not last" } else { "" };
    format!(
        "what it does cannot be determined before it runs, so it runs in a sandbox: it can write below {} and in temporary directories, and {talks}{stays}. \
         Its output says what was refused. If it needs more, give `checkrein exec` another `--write PATH` or `--net HOST:PORT`",
        place.workspace
    )
}

/// Where the command may write: where changes are expected, and where its own predicted changes are. `None` when that is no bound, or
/// when it is going to change something that no directory holds.
fn writable(effects: &[Effect], world: &dyn World, config: &Config) -> Option<BTreeSet<AbsolutePath>> {
    let place = world.place();
    if place.home.is_within(&place.workspace) || !effects.iter().all(|effect| effect.kind.can_be_contained())
    {
        return None;
    }
    let exists =
        |path: &AbsolutePath| matches!(world.entry(path), Entry::Directory | Entry::File(_) | Entry::Special);
    let named: Vec<AbsolutePath> = match config.scope.paths.as_slice() {
        [] => vec![place.workspace.clone()],
        // What a pattern may mean besides what is there now has no directory that could be let free.
        patterns if patterns.iter().any(|pattern| pattern.contains(['*', '?', '['])) => return None,
        patterns => patterns.iter().map(|pattern| place.workspace.join(pattern)).collect(),
    };
    let is_bound = |path: &&AbsolutePath| exists(path) && !place.home.is_within(path);
    let mut all: BTreeSet<AbsolutePath> =
        named.iter().chain(&place.temporary).chain(&place.expected).filter(is_bound).cloned().collect();
    for effect in effects.iter().filter(|effect| effect.kind.file_change().is_some()) {
        let changed = location(&effect.target)?;
        if all.iter().any(|root| changed.is_within(root)) {
            continue;
        }
        // What is not there yet is made in a directory that is.
        let mut root = Some(changed);
        while let Some(path) = root.take_if(|path| !exists(path)) {
            root = path.parent();
        }
        let root = root?;
        if place.home.is_within(&root) {
            return None;
        }
        all.insert(root);
    }
    Some(all)
}

/// Whom the command may talk to, in the words of `checkrein exec --net`. `None` when it is going to talk to somebody who is not known.
fn network(effects: &[Effect], config: &Config) -> Option<BTreeSet<String>> {
    let mut ends = BTreeSet::new();
    let (mut talks_to_anybody, mut leaves_the_machine) = (false, false);
    for effect in effects {
        match (effect.kind, &effect.target) {
            // What nobody understands is not let talk to a host that nobody knows.
            (EffectKind::NetworkRequest | EffectKind::DataUpload, Target::Host(address))
                if matches!(effect.reach, Some(NetworkReach::Local | NetworkReach::Known)) =>
            {
                leaves_the_machine |= effect.reach == Some(NetworkReach::Known);
                ends.extend(endpoints(address));
            }
            (
                EffectKind::NetworkRequest
                | EffectKind::DataUpload
                | EffectKind::VcsRemoteUpdate
                | EffectKind::InfrastructureChange
                | EffectKind::InfrastructureDestroy
                | EffectKind::DatastoreChange
                | EffectKind::DatastoreDestroy
                | EffectKind::Publish,
                _,
            ) => talks_to_anybody = true,
            (_, _) => {}
        }
    }
    let allowed = config.contained_network();
    if talks_to_anybody && allowed != ContainedNetwork::Open {
        return None;
    }
    let is_enough = match allowed {
        ContainedNetwork::Open => true,
        // Who only talks to this machine may listen here too.
        ContainedNetwork::Loopback => !leaves_the_machine,
        ContainedNetwork::None => ends.is_empty(),
    };
    if is_enough {
        return Some(BTreeSet::from([allowed.word().to_owned()]));
    }
    Some(ends)
}

/// A host with the ports that it is talked to at: the one that is written, else those of the web.
fn endpoints(address: &str) -> Vec<String> {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
        (!host.contains(':') || host.ends_with(']')) && port.parse::<u16>().is_ok()
    });
    match scheme {
        _ if has_port => vec![authority.to_owned()],
        "http" => vec![format!("{authority}:80")],
        "https" | "wss" => vec![format!("{authority}:443")],
        _ => vec![format!("{authority}:80"), format!("{authority}:443")],
    }
}

/// `cd DIRECTORY && ` in front stays in front, since the client follows its shell from directory to directory; the rest is contained.
fn behind_the_directory(text: &str) -> (&str, &str) {
    let whole = ("", text);
    let parsed = parse(text);
    let [statement] = parsed.script.as_slice() else { return whole };
    let Command::AndOr(list) = &statement.command else { return whole };
    let Command::Simple(first) = &*list.first else { return whole };
    let is_change = matches!(first.words.as_slice(), [name, place]
        if literal(name).as_deref() == Some("cd") && place.parts.iter().all(is_only_text));
    let goes_on = list.rest.iter().all(|(connective, _)| *connective == Connective::And);
    let end = first.words.last().map_or(0, |word| word.span.end);
    let behind = text
        .get(end..)
        .map(|rest| rest.len() - rest.trim_start().trim_start_matches("&&").trim_start().len());
    match behind.and_then(|length| text.split_at_checked(end + length)) {
        Some(parts) if is_change && goes_on && first.redirects.is_empty() => parts,
        _ => whole,
    }
}

/// Whether nothing runs in a part of a word, and nothing is looked up.
fn is_only_text(part: &Part) -> bool {
    match part {
        Part::Literal(_) | Part::Quoted(_) | Part::Bytes(_) => true,
        Part::DoubleQuoted(parts) => parts.iter().all(is_only_text),
        Part::Parameter(_)
        | Part::CommandSubstitution(_)
        | Part::ProcessSubstitution(..)
        | Part::Arithmetic(_)
        | Part::Braces(_) => false,
    }
}

/// Whether a text changes the directory of the shell that runs it.
fn changes_directory(text: &str) -> bool {
    let is_change = |simple: &&Simple| {
        let name = simple.words.first().and_then(literal);
        matches!(name.as_deref(), Some("cd" | "pushd" | "popd"))
    };
    simple_commands(&parse(text).script).iter().any(is_change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_directory_stays_in_front() {
        assert_eq!(behind_the_directory("cd sub && ./x && ./y"), ("cd sub && ", "./x && ./y"));
        assert_eq!(behind_the_directory("cd \"a b\"&& ./x"), ("cd \"a b\"&& ", "./x"));
        for whole in [
            "./x",
            "cd \"$(./x)\" && ./y",
            "cd sub && ./x || ./y",
            "cd sub; ./x",
            "cd \"$there\" && ./x",
            "cd a && ./x; ./y",
        ] {
            assert_eq!(behind_the_directory(whole), ("", whole));
        }
    }

    #[test]
    fn a_host_is_talked_to_at_its_port() {
        assert_eq!(endpoints("https://user@example.com/a:1"), ["example.com:443"]);
        assert_eq!(endpoints("http://localhost:3000/x"), ["localhost:3000"]);
        assert_eq!(endpoints("[::1]:8080"), ["[::1]:8080"]);
        assert_eq!(endpoints("example.com"), ["example.com:80", "example.com:443"]);
    }
}
