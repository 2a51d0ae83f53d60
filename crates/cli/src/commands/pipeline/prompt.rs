//! What an agent of a step is told, and which files it may change.

use std::fmt::Write as _;

use checkrein_gates::Design;
use checkrein_pipelines::{AgentScope, AgentStep};
use checkrein_supervise::runs::StepSettings;

use super::act::StepWork;
use super::changes::changed_names;
use super::own_file;

/// How many changed files an agent is told of, at most (ours).
const NAMED: usize = 60;

impl StepWork {
    /// What an agent is told: its prompt, the files that it is shown, what was wrong last time, and what has changed by then.
    pub(super) fn prompt(&self, step: &AgentStep) -> Result<String, String> {
        let mut prompt = step.prompt.filled(&self.values);
        for path in &step.context {
            let text = own_file(&self.directory, path)
                .map_err(|why| format!("`{path}`, which the agent is to be shown, {why}"))?;
            // Writing to a text cannot fail.
            let _ = write!(prompt, "\n\n`{path}`:\n\n{}\n", String::from_utf8_lossy(&text));
        }
        let feedback = self.values.0.get("feedback").map_or("", String::as_str);
        if feedback.is_empty() {
            return Ok(prompt);
        }
        if !step.prompt.places().any(|place| place == "feedback") {
            let _ = write!(prompt, "\n\nWhat was wrong with the last attempt:\n\n{feedback}\n");
        }
        // Who begins anew does not know what the last attempt left. Where that cannot be told, the work tree tells it.
        let changed = changed_names(self).unwrap_or_default();
        if !changed.is_empty() {
            let more = changed.len().saturating_sub(NAMED);
            let named =
                changed.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let _ = write!(prompt, "\n\nFiles that this task has changed so far: {named}{more}.\n");
        }
        Ok(prompt)
    }

    /// The settings of the step, with the files that its agent may change: its hook refuses others.
    pub(super) fn settings_of(&self, step: &AgentStep) -> Result<StepSettings, String> {
        let mut settings = self.settings.clone();
        if let Some(scope) = &step.scope {
            let only = self.files_of(scope)?;
            let only = serde_json::to_string(&only).map_err(|error| error.to_string())?;
            settings.texts.push(format!("scope:\n  only: {only}\n"));
        }
        Ok(settings)
    }

    /// The patterns of the files that an agent may change.
    fn files_of(&self, scope: &AgentScope) -> Result<Vec<String>, String> {
        let mut only = scope.allow.clone();
        if let Some(design) = &scope.design {
            let text = own_file(&self.directory, design)
                .map_err(|why| format!("`{design}`, whose files the agent may change, {why}"))?;
            let files = Design::read(&String::from_utf8_lossy(&text)).files;
            let is_inside =
                |path: &str| !path.starts_with(['/', '~', '$']) && !path.split('/').any(|part| part == "..");
            let before = only.len();
            only.extend(files.into_iter().map(|file| file.path).filter(|path| is_inside(path)));
            if only.len() == before {
                return Err(format!("`{design}` lists no files, so nobody knows which the agent may change"));
            }
        }
        Ok(only)
    }
}
