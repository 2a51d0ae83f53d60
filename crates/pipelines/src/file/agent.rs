//! Agents of a file.

use checkrein_policy::Fault;
use checkrein_policy::yaml::YamlEntry;

use super::fields::{find, is_inside, template, templates, text, texts, unfit, word};
use super::{AgentScope, AgentStep, PipelineFile, StepAct};
use crate::reviewer::ModelFamily;

/// The keys of an agent besides those that every step has.
pub(super) const KEYS: &[&str] = &[
    "prompt",
    "context",
    "family",
    "unlike",
    "design",
    "allow",
    "profile",
    "budget",
    "tokens",
    "price",
    "idle_time",
];

pub(super) fn read(entry: &YamlEntry, entries: &[YamlEntry], faults: &mut Vec<Fault>) -> Option<AgentStep> {
    let words = templates(entry, faults);
    let prompt = find(entries, "prompt").and_then(|prompt| template(prompt, faults));
    if find(entries, "prompt").is_none() {
        faults.push(unfit(&entry.value, "an agent needs a `prompt`"));
    }
    let families = ModelFamily::ALL.map(|family| (family.name(), family));
    let program = words.first().map(|word| word.filled(&crate::TemplateValues::default()));
    let known = program.as_deref().and_then(ModelFamily::of_program);
    let given = word(entries, "family", &families, faults);
    if let (Some(known), Some(given), Some(field)) = (known, given, find(entries, "family"))
        && known != given
    {
        let program = program.as_deref().unwrap_or_default();
        let message = format!("`{program}` works with models of {}, not of {}", known.name(), given.name());
        faults.push(unfit(&field.value, message));
    }
    let family = known.or(given);
    let context = texts(entries, "context", faults);
    if let (Some(node), Some(path)) = (find(entries, "context"), context.iter().find(|path| !is_inside(path)))
    {
        faults.push(unfit(&node.value, format!("`{path}` is not a path below the worktree")));
    }
    let unlike = text(entries, "unlike", faults);
    let scope = scope(entries, faults);
    let profiles = [("interactive", "interactive"), ("unattended", "unattended"), ("strict", "strict")];
    let profile = word(entries, "profile", &profiles, faults).unwrap_or("unattended");
    let mut options = vec![format!("--profile={profile}")];
    for (key, option) in
        [("budget", "--budget"), ("tokens", "--tokens"), ("price", "--price"), ("idle_time", "--idle-time")]
    {
        options.extend(text(entries, key, faults).map(|value| format!("{option}={value}")));
    }
    Some(AgentStep { words, prompt: prompt?, context, family, unlike, scope, options })
}

/// Which files an agent may change; nothing where its step says nothing.
fn scope(entries: &[YamlEntry], faults: &mut Vec<Fault>) -> Option<AgentScope> {
    let design = text(entries, "design", faults);
    let allow = texts(entries, "allow", faults);
    for key in ["design", "allow"] {
        let Some(entry) = find(entries, key) else { continue };
        let outside = design.iter().chain(&allow).find(|path| !is_inside(path));
        if let Some(path) = outside {
            faults.push(unfit(&entry.value, format!("`{path}` is not a path below the worktree")));
            return None;
        }
    }
    (design.is_some() || !allow.is_empty()).then_some(AgentScope { design, allow })
}

/// Whether an agent that is to be unlike another one works with a model of another family.
///
/// # Errors
///
/// It does not, or nobody knows; in words.
pub(super) fn is_unlike(pipeline: &PipelineFile, place: usize) -> Result<(), String> {
    let Some(step) = pipeline.steps.get(place) else { return Ok(()) };
    let StepAct::Agent(agent) = &step.act else { return Ok(()) };
    let Some(name) = &agent.unlike else { return Ok(()) };
    let other = match pipeline.step(name).map(|(_, other)| &other.act) {
        Some(StepAct::Agent(other)) => other,
        Some(
            StepAct::Command(_)
            | StepAct::Gate(_)
            | StepAct::Review(_)
            | StepAct::Approve(_)
            | StepAct::PullRequest(_),
        ) => return Err(format!("`unlike` names `{name}`, in which no agent works")),
        None => return Err(format!("`unlike` names `{name}`, and there is no such step")),
    };
    match (agent.family, other.family) {
        (Some(own), Some(of_other)) if own == of_other => Err(format!(
            "`{}` is to be unlike `{name}`, and models of {} work in both",
            step.name,
            own.name()
        )),
        (Some(_), Some(_)) => Ok(()),
        (None, _) | (_, None) => {
            Err(format!("whose models work in `{}` and `{name}` is not known: write `family`", step.name))
        }
    }
}
