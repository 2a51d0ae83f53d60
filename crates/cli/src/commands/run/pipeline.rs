//! What the configuration and the file of a pipeline say about the step that a run was said to belong to.

use std::path::Path;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_policy::{Limit, LimitedSettings};
use checkrein_supervise::runs::{StepSettings, file};

/// What the file of a pipeline sets for a step. The runner of the pipeline wrote it where no agent can.
pub(super) fn settings(environment: &HostEnvironment, path: &Path) -> Result<StepSettings, CommandError> {
    let odd = || {
        CommandError::user(
            format!("`{}` holds no settings of a step", path.display()),
            "`checkrein pipeline run` gives it",
        )
    };
    let real =
        std::fs::canonicalize(path).map_err(|error| CommandError::file("find", path.display(), &error))?;
    let state = std::fs::canonicalize(environment.state_path.as_str()).map_err(|_| odd())?;
    if !real.starts_with(state) {
        return Err(odd());
    }
    let text = file::read(&real)?.ok_or_else(odd)?;
    serde_json::from_slice(&text).map_err(|_| odd())
}

/// What is wrong with the name of a pipeline or a step, in words with the names that are known; `None` when both are known. A pipeline that
/// others stand beside is mistyped, which is an error: the run would begin without its rules. Where none is configured, rules for it may
/// come later, and not every step of a pipeline needs rules of its own, so both are only said.
pub(super) fn unknown(
    pipeline: &str,
    step: Option<&str>,
    sections: &[LimitedSettings],
) -> Result<Option<String>, CommandError> {
    let pipelines = sections.iter().filter_map(|section| match &section.limit {
        Limit::Pipeline(name) => Some(name.as_str()),
        Limit::Step { .. } | Limit::Path(_) => None,
    });
    let steps = sections.iter().filter_map(|section| match &section.limit {
        Limit::Step { pipeline: of, step } if of == pipeline => Some(step.as_str()),
        Limit::Pipeline(_) | Limit::Step { .. } | Limit::Path(_) => None,
    });
    let (what, name, section, mut known): (_, _, _, Vec<&str>) = match step {
        Some(step) if pipelines.clone().any(|name| name == pipeline) => {
            ("step", step, format!("safety.pipelines.{pipeline}.steps"), steps.collect())
        }
        _ => ("pipeline", pipeline, "safety.pipelines".to_owned(), pipelines.collect()),
    };
    if known.contains(&name) {
        return Ok(None);
    }
    known.sort_unstable();
    known.dedup();
    let there = match known.as_slice() {
        [] => "there is none".to_owned(),
        known => format!("there are `{}`", known.join("`, `")),
    };
    if what == "pipeline" && !known.is_empty() {
        return Err(CommandError::user(format!("no {what} `{name}` in `{section}`"), there));
    }
    Ok(Some(format!("no {what} `{name}` in `{section}`, so nothing of it holds: {there}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_configuration_has_is_said_with_those_that_are_there() {
        let step = |pipeline: &str, step: &str| Limit::Step { pipeline: pipeline.into(), step: step.into() };
        let limits = [
            Limit::Pipeline("release".into()),
            step("release", "build"),
            Limit::Pipeline("ci".into()),
            step("ci", "lint"),
            Limit::Path("infra/**".into()),
        ];
        let sections = limits.map(|limit| LimitedSettings { limit, settings: Vec::new() });
        let refused = |pipeline: &str, step: Option<&str>| {
            let error = unknown(pipeline, step, &sections).unwrap_err();
            (error.message, error.hint.unwrap_or_default())
        };
        assert_eq!(unknown("release", None, &sections).unwrap(), None);
        assert_eq!(unknown("release", Some("build"), &sections).unwrap(), None);
        let said = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
        assert_eq!(
            refused("nosuch", Some("build")),
            said("no pipeline `nosuch` in `safety.pipelines`", "there are `ci`, `release`")
        );
        assert_eq!(
            unknown("release", Some("lint"), &sections).unwrap().unwrap(),
            "no step `lint` in `safety.pipelines.release.steps`, so nothing of it holds: there are `build`"
        );
        assert_eq!(
            unknown("infra/**", None, &[]).unwrap().unwrap(),
            "no pipeline `infra/**` in `safety.pipelines`, so nothing of it holds: there is none"
        );
    }
}
