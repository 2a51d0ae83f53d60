//! What `doctor` has to say about plugins, and about the exporters of the configuration.

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::plugins;
use checkrein_policy::Config;

use super::{Finding, finding};
use crate::terminal::{Health, counted, plain};

/// The findings about plugins that are enabled; none where none is.
pub(super) fn findings(environment: &HostEnvironment, config: &Config) -> Vec<Finding> {
    let names = plugins::all_enabled(environment);
    let mut findings: Vec<Finding> = names
        .iter()
        .filter_map(|name| {
            let trouble = plugins::trouble(environment, name)?;
            let hint = "`checkrein plugin test NAME` tries it, `checkrein plugin enable NAME` accepts its files as they are";
            Some(finding("plugins", Health::Doubtful, plain(&format!("`{name}`: {trouble}")), Some(hint)))
        })
        .collect();
    if findings.is_empty() && !names.is_empty() {
        let detail = format!("{} enabled: {}", counted(names.len() as u64, "plugin"), names.join(", "));
        findings.push(finding("plugins", Health::Well, detail, None));
    }
    let export = &config.audit.export;
    for (key, is_wanted) in [("syslog", export.syslog.is_some()), ("webhook", export.webhook.is_some())] {
        let status = plugins::status(environment, &format!("checkrein.{key}"));
        if let Some(fault) = status.fault.filter(|_| is_wanted) {
            let detail = plain(&format!("`audit.export.{key}` took nothing the last time: {fault}"));
            let hint = "`checkrein plugin run` tries again what waits";
            findings.push(finding("plugins", Health::Doubtful, detail, Some(hint)));
        }
    }
    findings
}
