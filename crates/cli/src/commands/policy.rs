//! `checkrein policy`: what governance holds here, whether it is right, and what its examples show.

use checkrein_policy::{Blueprint, Config, ConfigSource, CustomRule, Layer, LayerKind, Trial, load, trials};
use checkrein_protocol::AbsolutePath;
use checkrein_world::find_workspace;
use serde_json::json;

use super::{ExitStatus, OutputForm};
use crate::api::installation::{PolicyAnswer, PolicyTrial, TripwireEntry};
use crate::api::{self, recorded};
use crate::terminal::{bold, cut, plain, print, print_exact, table, wrapped};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Shows tier, thresholds, trust, contract, tripwires and patterns that hold here.
pub fn show(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let config = config_files::load(environment, &find_workspace(&environment.cwd))?.config;
    let governance = &config.governance;
    let (tier, trust, contract) = (governance.tier, &governance.trust_debt, &governance.contract);
    let thresholds = governance.thresholds(tier);
    let wires = || governance.tripwires.iter().chain(&config.patterns.custom_patterns);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&PolicyAnswer {
            enabled: governance.enabled,
            tier: recorded(&tier),
            thresholds: json!({ "ok": thresholds.ok, "nudge": thresholds.nudge, "escalate": thresholds.escalate }),
            trust_debt: json!({
                "enabled": trust.enabled,
                "elevated_monitoring": trust.thresholds.elevated_monitoring,
                "restricted_mode": trust.thresholds.restricted_mode,
                "re_tiering_review": trust.thresholds.re_tiering_review,
            }),
            contract: json!({
                "risk_level": contract.risk_level, "fallback_on_timeout": contract.fallback_on_timeout,
            }),
            blueprints: governance.blueprints.clone(),
            tripwires: wires()
                .map(|wire| TripwireEntry {
                    name: wire.name.clone(),
                    decision: recorded(&wire.decision),
                    condition: wire.condition.clone(),
                    of: recorded(&wire.count.as_ref().map(|count| &count.of)),
                    reason: wire.reason.clone(),
                })
                .collect(),
        })?),
        OutputForm::Text => {
            let state = if governance.enabled { "" } else { ", switched off" };
            print(&format!(
                "{}  {}{state}: ok up to {}, nudge up to {}, escalate up to {}, block above",
                bold("tier"),
                tier.word(),
                thresholds.ok,
                thresholds.nudge,
                thresholds.escalate
            ));
            print(&wrapped(&format!(
                "{}  {}",
                bold("trust debt"),
                if trust.enabled {
                    format!(
                        "{} % less every {} h; elevated monitoring from {}, restricted mode from {}, the user asked from {}",
                        trust.decay.fraction * 100.0,
                        trust.decay.period_hours,
                        trust.thresholds.elevated_monitoring,
                        trust.thresholds.restricted_mode,
                        trust.thresholds.re_tiering_review
                    )
                } else {
                    "switched off".to_owned()
                }
            )));
            let fallback = contract.fallback_on_timeout.word();
            print(&format!(
                "{}  {}, {fallback} when a review takes too long",
                bold("contract"),
                contract.risk_level.word()
            ));
            governance
                .blueprints
                .iter()
                .for_each(|name| print(&format!("{}  {}", bold("blueprint"), plain(name))));
            let rows: Vec<Vec<String>> = wires()
                .map(|wire| {
                    let condition = match &wire.count {
                        Some(count) => format!("{}, counted: {}", wire.condition, count.of),
                        None => wire.condition.clone(),
                    };
                    let decision = wire.decision.name().to_owned();
                    vec![
                        wire.name.clone(),
                        decision,
                        cut(&plain(&condition), 70),
                        cut(&plain(&wire.reason), 50),
                    ]
                })
                .collect();
            if !rows.is_empty() {
                print(&table(&["tripwire or pattern", "decision", "condition", "why"], rows));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// Checks every file that takes part, every condition, example and fixture.
pub fn check(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    super::config::check(environment, output)
}

/// Plays the examples and fixtures of a file, or of everything that takes part here.
pub fn test(
    environment: &HostEnvironment,
    file: Option<&str>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut all: Vec<Trial> = Vec::new();
    for source in sources(environment, file)? {
        match &source.source {
            ConfigSource::Blueprint { name, text } => {
                let blueprint =
                    Blueprint::parse(name, text, source.kind).map_err(|e| config_files::invalid(&e))?;
                all.extend(blueprint.trials());
            }
            ConfigSource::File { .. } | ConfigSource::Rules { .. } => {
                let kind = LayerKind::User;
                let read = load(&[Layer { kind, source: source.source.clone() }], &[]);
                let config: Config = read.map_err(|errors| config_files::invalid(&errors))?.config;
                let rules: &[CustomRule] = &config.step_reviewer.rules.custom;
                all.extend(trials(rules, &config.governance.tripwires, &config.patterns.custom_patterns));
            }
            ConfigSource::Variables(_) | ConfigSource::Flags(_) => {}
        }
    }
    let failed = all.iter().filter(|trial| !trial.passed()).count();
    match output {
        OutputForm::Json => {
            for trial in &all {
                print_exact(&api::line(&PolicyTrial {
                    of: recorded(&trial.of),
                    example: recorded(&trial.example),
                    expected: recorded(&trial.expected),
                    found: recorded(&trial.found),
                    passed: trial.passed(),
                })?);
            }
        }
        OutputForm::Text if all.is_empty() => print("there is no example to play"),
        OutputForm::Text => {
            let rows = all.iter().map(|trial| {
                let result = if trial.passed() { "passed" } else { "FAILED" };
                vec![
                    result.to_owned(),
                    trial.of.clone(),
                    cut(&plain(&trial.example), 60),
                    trial.expected.clone(),
                    plain(&trial.found),
                ]
            });
            print(&table(&["", "of", "example", "expected", "found"], rows.collect()));
            print(&format!("{} played, {failed} failed", all.len()));
        }
    }
    Ok(if failed == 0 { ExitStatus::Done } else { ExitStatus::Failed })
}

/// What to play.
fn sources(environment: &HostEnvironment, file: Option<&str>) -> Result<Vec<Layer>, CommandError> {
    let Some(file) = file else {
        return config_files::layers(environment, &find_workspace(&environment.cwd));
    };
    let path: AbsolutePath = environment.cwd.join(file);
    let text = checkrein_files::read_text(path.as_str(), checkrein_files::SMALL)
        .map_err(|error| CommandError::file("read", &path, &error))?;
    if text.contains("acgp.blueprint") {
        let folder = path.parent().unwrap_or_else(AbsolutePath::root);
        let files =
            config_files::blueprint_files(path.name().unwrap_or_default(), &folder, file, LayerKind::User)?;
        return Ok(files.into_iter().map(|source| Layer { kind: LayerKind::User, source }).collect());
    }
    Ok(vec![Layer { kind: LayerKind::User, source: ConfigSource::File { name: file.to_owned(), text } }])
}
