//! Risk: clamp(base + modifiers, 0, 1) (seed 002, design 5).

use std::collections::BTreeSet;

use checkrein_facts::{HostPaths, PastAction, PastDeed, World};
use checkrein_policy::{Config, in_scope, location};
use checkrein_protocol::{AbsolutePath, Effect, EffectKind, Nature, NetworkReach, Severity, Stake};

use crate::fingerprint::ActionFingerprint;
use crate::saving::is_data_in_a_file;
use crate::surprise::MOST_DOUBT;
use crate::verdict::{Factor, Risk, RiskLevel, ScopeReach, Score};

/// Computes the risk of the effects of one action.
pub(crate) fn assess(
    effects: &[Effect],
    fingerprint: ActionFingerprint,
    world: &dyn World,
    config: &Config,
) -> Risk {
    let mut factors = worst_effect(effects, world.place(), config);
    factors.extend(doubt_factor(effects, &factors, world));
    factors.extend(privilege_factor(effects));
    factors.extend(pattern_factor(world));
    let repetition = repetition_factor(effects, fingerprint, world);
    factors.extend(repetition.and_then(|factor| below_critical(factor, &factors, config)));
    let score = Score::new(factors.iter().map(|factor| factor.amount).sum());
    Risk {
        score,
        level: level(score, config),
        reach: reach(effects, &factors, world.place(), config),
        factors,
    }
}

/// The band of a score.
pub(crate) fn level(score: Score, config: &Config) -> RiskLevel {
    let thresholds = &config.step_reviewer.risk;
    if score.value() >= thresholds.critical_threshold {
        RiskLevel::Critical
    } else if score.value() >= thresholds.high_threshold {
        RiskLevel::High
    } else if score.value() >= thresholds.medium_threshold {
        RiskLevel::Medium
    } else {
        RiskLevel::Low
    }
}

/// The base of the effect that weighs most, and +.3 when that effect lies outside the expected scope (seed 002). The modifier goes with
/// its own effect: a note written outside does not make a program that is merely unknown a disaster.
fn worst_effect(effects: &[Effect], place: &HostPaths, config: &Config) -> Vec<Factor> {
    let secret_read = effects.iter().any(|effect| effect.kind == EffectKind::SecretRead);
    let weigh = |effect: &Effect| {
        if is_outside(effect, place, config) {
            (weight_outside(effect, secret_read), OUT_OF_SCOPE)
        } else {
            (weight(effect, secret_read), 0.0)
        }
    };
    let worst = effects.iter().max_by(|left, right| {
        let sum = |effect| {
            let (base, outside) = weigh(effect);
            base + outside
        };
        sum(left).total_cmp(&sum(right))
    });
    let Some(effect) = worst else { return Vec::new() };
    let (base, outside) = weigh(effect);
    let mut factors =
        vec![Factor { name: effect.kind.name().to_owned(), amount: base, detail: describe(effect) }];
    if outside > 0.0 {
        factors.push(Factor { name: "out_of_scope".to_owned(), amount: outside, detail: describe(effect) });
    }
    factors
}

/// What a mutating effect or a secret read outside the expected scope adds (seed 002).
const OUT_OF_SCOPE: f64 = 0.3;

/// Whether any effect lies outside; the factors tell already when the weightiest one does, or there is no other.
fn reach(effects: &[Effect], factors: &[Factor], place: &HostPaths, config: &Config) -> ScopeReach {
    let weightiest = factors.iter().any(|factor| factor.name == "out_of_scope");
    let outside = |effect| is_outside(effect, place, config);
    if weightiest || (effects.len() > 1 && effects.iter().any(outside)) {
        ScopeReach::Outside
    } else {
        ScopeReach::Inside
    }
}

/// Only what is about files can lie outside: changes of the machine, of remotes and of data have that in their base.
fn is_outside(effect: &Effect, place: &HostPaths, config: &Config) -> bool {
    let concerns_files = matches!(
        effect.kind,
        EffectKind::FileCreate
            | EffectKind::FileModify
            | EffectKind::FileDelete
            | EffectKind::PermissionChange
            | EffectKind::SecretRead
            | EffectKind::VcsLocalLoss
    );
    // A remote on this disk is no more outside than one on a server: what is pushed there is weighed as a push.
    concerns_files
        && !effect.nature.is_of_remote()
        && effect.stake != Stake::Regenerable
        && location(&effect.target).is_some_and(|path| !in_scope(&path, place, config))
}

/// The base of an effect outside the expected scope. What is written there is not made cheaper by there being nothing to lose: nobody
/// looks for it in that place, so that it is above .5 (seed 002).
fn weight_outside(effect: &Effect, secret_read: bool) -> f64 {
    let weighted = weight(effect, secret_read);
    if matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify) {
        weighted.max(base_of(effect, secret_read))
    } else {
        weighted
    }
}

/// The base of one effect's kind, weighted by what is at stake.
fn weight(effect: &Effect, secret_read: bool) -> f64 {
    let base = base_of(effect, secret_read);
    let by_stake = || match effect.stake {
        Stake::Nothing | Stake::Regenerable => base * 0.4,
        Stake::Recoverable => base * 0.7,
        Stake::Unsaved => base,
        Stake::Critical if effect.kind == EffectKind::FileRead => base,
        Stake::Critical => f64::max(base, 0.95),
    };
    let is_weighed_by_stake = effect.kind.file_change().is_some()
        || matches!(effect.kind, EffectKind::FileRead | EffectKind::VcsLocalLoss)
        || effect.kind == EffectKind::DatastoreDestroy && is_data_in_a_file(effect);
    if is_weighed_by_stake { by_stake() } else { base }
}

/// The base of one effect's kind (design 5).
fn base_of(effect: &Effect, secret_read: bool) -> f64 {
    match effect.kind {
        EffectKind::FileRead | EffectKind::ProcessSpawn => 0.1,
        EffectKind::FileCreate => 0.3,
        // As deleting it: any file may be named, and none of them can be saved (ours).
        EffectKind::FileModify | EffectKind::PermissionChange if effect.nature == Nature::NamedByOutput => {
            0.8
        }
        EffectKind::FileModify => 0.4,
        EffectKind::NetworkRequest => match effect.reach {
            Some(NetworkReach::Local | NetworkReach::Known) => 0.2,
            Some(NetworkReach::External) | None => 0.6,
        },
        // What proves who somebody is, and what is only private (ours).
        EffectKind::SecretRead if effect.severity >= Severity::High => 0.7,
        EffectKind::PermissionChange
        | EffectKind::ProcessKill
        | EffectKind::PackageInstall
        | EffectKind::SecretRead
        | EffectKind::VcsRemoteUpdate => 0.5,
        EffectKind::InfrastructureChange | EffectKind::DatastoreChange => 0.6,
        EffectKind::Opaque | EffectKind::PrivilegeEscalation => 0.7,
        EffectKind::DataUpload if secret_read => 0.97,
        EffectKind::DataUpload => match effect.reach {
            Some(NetworkReach::Local) => 0.2,
            Some(NetworkReach::Known | NetworkReach::External) | None => 0.7,
        },
        // As any other file that may be replaced (ours).
        EffectKind::Persistence if effect.is_by_chance() => 0.4,
        EffectKind::FileDelete | EffectKind::Persistence | EffectKind::VcsLocalLoss | EffectKind::Publish => {
            0.8
        }
        EffectKind::VcsHistoryRewrite => 0.85,
        // With more rights (+.2) a change that one can put right is asked about, not refused (ours).
        EffectKind::SystemModification => match effect.severity {
            Severity::Low => 0.4,
            Severity::Medium => 0.65,
            Severity::High | Severity::Critical => 0.85,
        },
        // As deleting the file (ours).
        EffectKind::DatastoreDestroy if is_data_in_a_file(effect) => 0.8,
        // A store of this machine, or one made for trying things: the user knows whether it is needed, so that they are asked (ours).
        EffectKind::DatastoreDestroy
            if effect.reach == Some(NetworkReach::Local) && effect.severity < Severity::Critical =>
        {
            match effect.severity {
                Severity::Low => 0.4,
                Severity::Medium => 0.6,
                Severity::High | Severity::Critical => 0.8,
            }
        }
        EffectKind::InfrastructureDestroy | EffectKind::DatastoreDestroy => match effect.severity {
            // A machine of one's own for trying things, a single object, an image that is built again (ours).
            Severity::Low => 0.4,
            Severity::Medium => 0.6,
            Severity::High | Severity::Critical => 0.95,
        },
        EffectKind::RemoteCodeExecution => 0.95,
        // What only may reach it is asked about (ours).
        EffectKind::GuardTampering if effect.severity == Severity::High => 0.85,
        EffectKind::GuardTampering => 1.0,
    }
}

fn describe(effect: &Effect) -> String {
    let target = effect.target.text().unwrap_or("an unknown target");
    if effect.note.is_empty() { target.to_owned() } else { format!("{target}: {}", effect.note) }
}

/// The name of the factor that the surprises of the session are.
pub const DOUBT: &str = "surprises";

/// What the surprises of the session add to an opaque effect, at most .2 (ours). Like the scope it goes with its own effect: where
/// something else weighs more already, only what is above that counts.
fn doubt_factor(effects: &[Effect], others: &[Factor], world: &dyn World) -> Option<Factor> {
    let doubt = f64::from(world.history().opaque_doubt.min(MOST_DOUBT)) / 100.0;
    let opaque = effects.iter().find(|effect| effect.kind == EffectKind::Opaque)?;
    let known: f64 = others.iter().map(|factor| factor.amount).sum();
    let amount = (weight(opaque, false) + doubt - known).min(doubt);
    (amount > 0.0).then(|| Factor {
        name: DOUBT.to_owned(),
        amount,
        detail: "calls of this session changed what was not predicted".to_owned(),
    })
}

/// +.1, +.2, +.4 for one, two, three and more similar actions that failed (seed 002). Similar is the same action, and one of the same kind
/// (tool, programs, what they do) on the same places. Only those count that failed since the work was changed last: to change something and
/// to try again is how work gets on (ours). What asks how something stands, after a pause, waits for it and did not fail (ours).
fn repetition_factor(
    effects: &[Effect],
    fingerprint: ActionFingerprint,
    world: &dyn World,
) -> Option<Factor> {
    let recent = &world.history().recent;
    let since = changed_at(recent, fingerprint, world.place());
    let places = |paths: &mut dyn Iterator<Item = &AbsolutePath>| {
        paths.map(AbsolutePath::as_str).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let own = places(&mut effects.iter().filter_map(|effect| effect.target.path()));
    let is_similar = |past: &PastAction| {
        past.kind == fingerprint.kind && !own.is_empty() && places(&mut past.paths.iter()) == own
    };
    let counts = |past: &&PastAction| !past.waited && (past.exact == fingerprint.exact || is_similar(past));
    let similar = || recent.iter().skip(since.unwrap_or_default()).rev().filter(counts);
    let seen = similar().filter(|past| past.failed == Some(true)).count();
    let amount = match seen {
        0 => return None,
        1 => 0.1,
        2 => 0.2,
        _ => 0.4,
    };
    // Of each action the newest run knows how often it failed in all, also where older ones are remembered no more.
    let mut counted = BTreeSet::new();
    let newest: Vec<&PastAction> = similar().filter(|past| counted.insert(past.exact)).collect();
    let in_all = |of: fn(&PastAction) -> u32| newest.iter().map(|past| of(past)).sum();
    // What was refused did not run, so that it did not fail.
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let (failed, refused): (u32, u32) = if since.is_none() {
        (in_all(PastAction::failures_with_it), in_all(PastAction::refusals_with_it))
    } else {
        (count(seen), count(similar().filter(|past| past.refused).count()))
    };
    let detail = match refused {
        0 => format!("failed {} before", times(failed)),
        refused => format!("failed {} before, and was refused {}", times(failed), times(refused)),
    };
    Some(Factor { name: "repetition".to_owned(), amount, detail })
}

/// The factor as far as it leaves the risk below critical: that a call failed before is a reason to ask about it, and none to refuse what
/// would be asked about otherwise (ours). `None` where nothing is left of it.
fn below_critical(factor: Factor, others: &[Factor], config: &Config) -> Option<Factor> {
    const BELOW: f64 = 0.01;
    let known: f64 = others.iter().map(|other| other.amount).sum();
    let critical = config.step_reviewer.risk.critical_threshold;
    let most = if known < critical { (critical - BELOW - known).max(0.0) } else { factor.amount };
    let amount = factor.amount.min(most);
    (amount > 0.0).then_some(Factor { amount, ..factor })
}

/// Where among these actions the work was changed last, so that what runs afterwards may come out otherwise: something was written in the
/// workspace that was not written in the same way before. Who builds the same once more, or takes turns between two texts, changed nothing.
fn changed_at(recent: &[PastAction], own: ActionFingerprint, place: &HostPaths) -> Option<usize> {
    let writes = |deed: &PastDeed| match deed {
        PastDeed::Wrote(path) => path.is_within(&place.workspace),
        PastDeed::Replaced(former) => former.path.is_within(&place.workspace),
        PastDeed::Installed(_) => true,
        PastDeed::Pushed => false,
    };
    recent
        .iter()
        .enumerate()
        .rev()
        .find(|(index, past)| {
            past.failed == Some(false)
                && !past.only_looked
                && past.exact != own.exact
                && past.deeds.iter().any(writes)
                && !recent.iter().take(*index).any(|before| before.exact == past.exact)
        })
        .map(|(index, _)| index)
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// +.2 when something that changes runs with more rights (seed 002 names the modifier, the number is ours).
fn privilege_factor(effects: &[Effect]) -> Option<Factor> {
    let elevated = effects.iter().find(|effect| effect.kind == EffectKind::PrivilegeEscalation)?;
    let changes = effects
        .iter()
        .any(|effect| effect.kind.is_mutating() && effect.kind != EffectKind::PrivilegeEscalation);
    changes.then(|| Factor { name: "privilege".to_owned(), amount: 0.2, detail: elevated.cause.clone() })
}

/// +.1 per active issue of the session (design 5).
fn pattern_factor(world: &dyn World) -> Option<Factor> {
    let active = world.history().active_issues;
    (active > 0).then(|| Factor {
        name: "pattern".to_owned(),
        amount: 0.1 * f64::from(active),
        detail: match active {
            1 => "1 active issue in this session".to_owned(),
            more => format!("{more} active issues in this session"),
        },
    })
}

#[cfg(test)]
mod tests {
    use checkrein_facts::RecordedWorld;
    use checkrein_protocol::{AbsolutePath, Target};

    use super::*;
    use checkrein_testkit::world::bare;

    fn effect(kind: EffectKind, path: &str, stake: Stake) -> Effect {
        Effect {
            stake,
            reversible: false,
            cause: "test".to_owned(),
            ..Effect::new(kind, Target::Path(AbsolutePath::new(path).unwrap()))
        }
    }

    fn risk(effects: &[Effect]) -> Risk {
        assess(effects, ActionFingerprint::default(), &bare(), &Config::default())
    }

    const STAKES: [Stake; 5] =
        [Stake::Nothing, Stake::Regenerable, Stake::Recoverable, Stake::Unsaved, Stake::Critical];

    #[test]
    fn adding_an_effect_never_lowers_risk() {
        for first in EffectKind::ALL {
            for second in EffectKind::ALL {
                for (stake, path) in STAKES.into_iter().zip([
                    "/home/dev/proj/a",
                    "/tmp/a",
                    "/home/dev/a",
                    "/etc/a",
                    "/home/dev/proj/b",
                ]) {
                    let one = effect(first, "/home/dev/proj/x", stake);
                    let both = [one.clone(), effect(second, path, stake)];
                    assert!(risk(&both).score >= risk(&[one]).score, "{first:?} then {second:?} at {path}");
                }
            }
        }
    }

    // Source: seed 002-83
    #[test]
    fn deleting_an_important_file_is_high_risk() {
        let risk =
            risk(&[effect(EffectKind::FileDelete, "/home/dev/proj/important/file.txt", Stake::Unsaved)]);
        assert!(risk.score.value() > 0.7);
        assert_eq!(risk.level, RiskLevel::High);
    }

    // Source: seed 002-19, 002-84, 002-16
    #[test]
    fn a_write_outside_the_scope_says_so() {
        let risk = risk(&[effect(EffectKind::FileCreate, "/outside/scope/file.txt", Stake::Nothing)]);
        let outside: Vec<_> = risk.factors.iter().filter(|factor| factor.name == "out_of_scope").collect();
        assert_eq!(outside.len(), 1);
        assert!(risk.score.value() > 0.5);
        let modify =
            super::tests::risk(&[effect(EffectKind::FileModify, "/outside/scope/file.txt", Stake::Unsaved)]);
        assert!(modify.score.value() > 0.5);
    }

    // Source: seed 002-17
    #[test]
    fn stakes_scale_file_effects() {
        let score = |stake| risk(&[effect(EffectKind::FileDelete, "/home/dev/proj/a", stake)]).score.value();
        let near = |left: f64, right: f64| (left - right).abs() < 1e-9;
        assert!(near(score(Stake::Regenerable), 0.32));
        assert!(near(score(Stake::Recoverable), 0.56));
        assert!(near(score(Stake::Unsaved), 0.8));
        assert!(score(Stake::Critical) >= 0.95);
    }

    #[test]
    fn surprises_raise_what_is_opaque_and_nothing_else() {
        let mut doubted = bare();
        doubted.history.opaque_doubt = 12;
        let score = |kinds: &[EffectKind], world: &RecordedWorld| {
            let effects: Vec<Effect> =
                kinds.iter().map(|kind| effect(*kind, "/home/dev/proj/tool", Stake::Unsaved)).collect();
            assess(&effects, ActionFingerprint::default(), world, &Config::default()).score.value()
        };
        let near = |left: f64, right: f64| (left - right).abs() < 1e-9;
        assert!(near(score(&[EffectKind::Opaque], &doubted), 0.82));
        assert!(near(score(&[EffectKind::Opaque, EffectKind::FileDelete], &doubted), 0.82));
        assert!(near(score(&[EffectKind::Opaque, EffectKind::GuardTampering], &doubted), 1.0));
        for kind in EffectKind::ALL.into_iter().filter(|kind| *kind != EffectKind::Opaque) {
            assert!(near(score(&[kind], &doubted), score(&[kind], &bare())), "{kind:?}");
        }
        doubted.history.opaque_doubt = u32::MAX;
        assert!(near(score(&[EffectKind::Opaque], &doubted), 0.9), "doubt has an end");
    }

    #[test]
    fn a_note_outside_does_not_make_an_unknown_program_a_disaster() {
        let both = [
            effect(EffectKind::Opaque, "/home/dev/proj/tool", Stake::Nothing),
            effect(EffectKind::FileCreate, "/home/dev/note.txt", Stake::Nothing),
        ];
        assert!(risk(&both).level < RiskLevel::Critical);
    }

    #[test]
    fn what_is_destroyed_weighs_by_its_severity() {
        let score = |severity| {
            let mut lost = effect(EffectKind::InfrastructureDestroy, "/home/dev/proj/x", Stake::Unsaved);
            lost.severity = severity;
            risk(&[lost]).level
        };
        assert_eq!(score(Severity::Low), RiskLevel::Low);
        assert_eq!(score(Severity::Medium), RiskLevel::Medium);
        assert_eq!(score(Severity::High), RiskLevel::Critical);
    }

    #[test]
    fn a_private_setting_weighs_less_than_a_key() {
        let score = |severity| {
            let mut read = effect(EffectKind::SecretRead, "/home/dev/.aws/config", Stake::Nothing);
            read.severity = severity;
            risk(&[read]).level
        };
        assert_eq!(score(Severity::Medium), RiskLevel::High);
        assert_eq!(score(Severity::High), RiskLevel::Critical);
    }

    #[test]
    fn a_secret_that_is_sent_is_critical() {
        let both = [
            effect(EffectKind::SecretRead, "/home/dev/.ssh/id_ed25519", Stake::Nothing),
            effect(EffectKind::DataUpload, "/home/dev/proj/x", Stake::Nothing),
        ];
        assert_eq!(risk(&both).level, RiskLevel::Critical);
    }
}
