//! What a pipeline file would do, without doing it.

use std::collections::BTreeMap;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::{Context, check as check_action};
use checkrein_pipelines::{
    CommandLine, PipelineFile, PipelineInput, ReviewedThing, ReviewerTransport, StepAct, StepSpecification,
    TemplateValues,
};
use checkrein_policy::VerdictKind;
use checkrein_protocol::Action;

use super::super::{ExitStatus, OutputForm};
use super::{CURL, PipelineRequest, PipelineText};
use crate::api;
use crate::api::pipelines::{PipelinePlan, PlannedInput, PlannedStep};
use crate::terminal::{bold, counted, cut, plain, print, print_exact};

/// How much of a command or a prompt is shown, in letters (ours).
const SHOWN: usize = 120;

/// What a pipeline is given: what was said, else what its file says.
pub(super) fn given_inputs(
    pipeline: &PipelineFile,
    given: &[(String, String)],
) -> Result<BTreeMap<String, String>, CommandError> {
    let names: Vec<&str> = pipeline.inputs.iter().map(|input| input.name.as_str()).collect();
    if let Some((name, _)) = given.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        let there =
            if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        return Err(CommandError::user(format!("the pipeline has no input `{}`", plain(name)), there));
    }
    let mut all = BTreeMap::new();
    for input in &pipeline.inputs {
        let value = given.iter().rev().find(|(name, _)| *name == input.name).map(|(_, value)| value.clone());
        let value = value.or_else(|| input.default.clone()).ok_or_else(|| {
            let what = input.description.as_deref().unwrap_or("its file says nothing about it");
            CommandError::user(
                format!("the input `{}` is missing ({})", input.name, plain(what)),
                format!("give it: `--input {}=VALUE`", input.name),
            )
        })?;
        if !input.one_of.is_empty() && !input.one_of.contains(&value) {
            return Err(CommandError::user(
                format!("the input `{}` cannot be `{}`", input.name, plain(&value)),
                format!("it is one of {}", input.one_of.join(", ")),
            ));
        }
        all.insert(input.name.clone(), value);
    }
    Ok(all)
}

/// Shows what a run with these inputs would do, and refuses what that would refuse. Runs nothing.
pub fn dry_run(
    environment: &HostEnvironment,
    wanted: &PipelineRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    given_inputs(&wanted.text(environment)?.parse()?, &wanted.inputs)?;
    check(environment, wanted, output)
}

/// Shows what would run, step by step, and what would not let it. Runs nothing.
pub fn check(
    environment: &HostEnvironment,
    wanted: &PipelineRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let text = wanted.text(environment)?;
    let pipeline = text.parse()?;
    #[cfg(target_os = "linux")]
    super::begin::settings_hold(environment, &pipeline, &text)?;
    let plan = plan(environment, &text, &pipeline);
    let obstacles = plan.steps.iter().filter(|step| step.obstacle.is_some()).count();
    match output {
        OutputForm::Json => print_exact(&api::pretty(&plan)?),
        OutputForm::Text => {
            let mut lines = vec![format!(
                "{}  {}",
                bold(&plain(&plan.pipeline)),
                counted(plan.steps.len() as u64, "step")
            )];
            lines.extend(plan.inputs.iter().map(|input| {
                let words = input.description.as_deref().unwrap_or_default();
                let default = match &input.default {
                    Some(default) => format!(" [default: {}]", cut(&plain(default), SHOWN)),
                    None => " (must be given)".to_owned(),
                };
                format!("    input {}{default}  {}", bold(&plain(&input.name)), cut(&plain(words), SHOWN))
            }));
            for (number, step) in plan.steps.iter().enumerate() {
                lines.push(format!(
                    "{:>3} {}  {}: {}",
                    number + 1,
                    bold(&plain(&step.name)),
                    step.kind,
                    cut(&plain(&step.does), SHOWN)
                ));
                let mut more = |text: String| lines.push(format!("      {}", plain(&text)));
                if let Some(when) = &step.when {
                    more(format!("only when {when}"));
                }
                if let (Some(to), Some(most)) = (&step.back_to, step.at_most) {
                    more(format!("where it fails, back to {to}, at most {most} rounds"));
                }
                if let Some(obstacle) = &step.obstacle {
                    more(format!("would not run: {obstacle}"));
                }
            }
            print(&lines.join("\n"));
        }
    }
    Ok(if obstacles == 0 { ExitStatus::Done } else { ExitStatus::Blocked })
}

/// Shows which step waits for which.
pub fn graph(
    environment: &HostEnvironment,
    file: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let text = PipelineText::read(environment, file)?;
    let pipeline = text.parse()?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&plan(environment, &text, &pipeline))?),
        OutputForm::Text => print_exact(&mermaid(&pipeline)),
    }
    Ok(ExitStatus::Done)
}

/// The graph in the words of Mermaid, which renderers of Markdown draw.
fn mermaid(pipeline: &PipelineFile) -> String {
    let id = |place: usize| format!("s{}", place + 1);
    let mut lines = vec!["flowchart TD".to_owned()];
    for (place, step) in pipeline.steps.iter().enumerate() {
        lines.push(format!("    {}[\"{} ({})\"]", id(place), step.name, step.act.name()));
    }
    for (place, step) in pipeline.steps.iter().enumerate() {
        lines.extend(
            pipeline.order.needs(place).iter().map(|need| format!("    {} --> {}", id(*need), id(place))),
        );
        if let Some((to, _)) = step.sends_back.as_ref().and_then(|back| pipeline.step(&back.to)) {
            let most = step.sends_back.as_ref().map_or(0, |back| back.at_most);
            lines.push(format!("    {} -. \"fails, at most {most}\" .-> {}", id(place), id(to)));
        }
    }
    lines.join("\n")
}

fn plan(environment: &HostEnvironment, text: &PipelineText, pipeline: &PipelineFile) -> PipelinePlan {
    let name = |place: &usize| pipeline.steps.get(*place).map(|step| step.name.clone()).unwrap_or_default();
    let steps = pipeline.steps.iter().enumerate().map(|(place, step)| PlannedStep {
        name: step.name.clone(),
        kind: step.act.name().to_owned(),
        needs: pipeline.order.needs(place).iter().map(name).collect(),
        level: pipeline.order.level(place),
        when: step.when.as_ref().map(|when| when.text().to_owned()),
        back_to: step.sends_back.as_ref().map(|back| back.to.clone()),
        at_most: step.sends_back.as_ref().map(|back| back.at_most),
        does: does(step),
        obstacle: obstacle(environment, pipeline, step),
    });
    PipelinePlan {
        pipeline: pipeline.name.clone(),
        file: text.name.clone(),
        is_own: text.is_own,
        inputs: pipeline.inputs.iter().map(planned_input).collect(),
        steps: steps.collect(),
    }
}

fn planned_input(input: &PipelineInput) -> PlannedInput {
    PlannedInput {
        name: input.name.clone(),
        description: input.description.clone(),
        default: input.default.clone(),
        one_of: input.one_of.clone(),
    }
}

/// What a step does, in words.
fn does(step: &StepSpecification) -> String {
    let words = |words: &[checkrein_pipelines::TextTemplate]| {
        words.iter().map(|word| word.filled(&named(word))).collect::<Vec<_>>().join(" ")
    };
    match &step.act {
        StepAct::Command(command) => match &command.line {
            CommandLine::Shell(text) => text.trim().to_owned(),
            CommandLine::Words(all) => words(all),
        },
        StepAct::Gate(gate) => format!("{} {}", gate.gate.name(), words(&gate.options)).trim().to_owned(),
        StepAct::Agent(agent) => words(&agent.words),
        StepAct::Review(review) => {
            let of = match &review.of {
                ReviewedThing::Changes => "everything that changed",
                ReviewedThing::File(path) => path,
            };
            format!("{of}, by {}", review.by.join(", else "))
        }
        StepAct::Approve(approve) => approve.question.filled(&named(&approve.question)),
        StepAct::PullRequest(request) => {
            format!("asks you, then pushes the branch to `{}` and opens a pull request", request.remote)
        }
    }
}

/// Each place of a template, filled in with its own name.
fn named(template: &checkrein_pipelines::TextTemplate) -> TemplateValues {
    TemplateValues(template.places().map(|name| (name.to_owned(), format!("${{{name}}}"))).collect())
}

/// What would not let a step run, as far as that can be told now.
fn obstacle(
    environment: &HostEnvironment,
    pipeline: &PipelineFile,
    step: &StepSpecification,
) -> Option<String> {
    match &step.act {
        StepAct::Command(command) => match &command.line {
            CommandLine::Shell(text) => refused(environment, text),
            CommandLine::Words(words) => missing(environment, words.first()),
        },
        StepAct::Agent(agent) => missing(environment, agent.words.first()),
        StepAct::Review(review) => {
            let commands = review.by.iter().filter_map(|name| pipeline.reviewer(name));
            let mut absent: Vec<String> = commands
                .map(|reviewer| match &reviewer.transport {
                    ReviewerTransport::Command(words) => missing(environment, words.first()),
                    ReviewerTransport::Endpoint(_) => is_missing(environment, CURL),
                })
                .collect::<Option<_>>()?;
            absent.pop()
        }
        // Without a remote or a program for it, a patch takes its place.
        StepAct::Gate(_) | StepAct::Approve(_) | StepAct::PullRequest(_) => None,
    }
}

/// Why a command would be refused.
fn refused(environment: &HostEnvironment, text: &str) -> Option<String> {
    let context = Context::open(environment.clone(), &environment.cwd);
    let review = check_action(&context, &Action::command(text, environment.cwd.clone()), None);
    match review.verdict.kind {
        VerdictKind::Ok | VerdictKind::Nudge => None,
        VerdictKind::Escalate => {
            Some(format!("it waits for a yes of yours first: {}", review.reasoning.primary))
        }
        VerdictKind::Block | VerdictKind::Halt => {
            Some(format!("it is refused: {}", review.reasoning.primary))
        }
    }
}

/// That a program is not there; `None` where it is, and where its name is not known yet.
fn missing(
    environment: &HostEnvironment,
    program: Option<&checkrein_pipelines::TextTemplate>,
) -> Option<String> {
    let program =
        program.filter(|program| program.places().next().is_none())?.filled(&TemplateValues::default());
    is_missing(environment, &program)
}

pub(super) fn is_missing(environment: &HostEnvironment, program: &str) -> Option<String> {
    let is_there = if program.contains('/') {
        std::path::Path::new(environment.cwd.join(program).as_str()).is_file()
    } else {
        let path = environment.variables.get("PATH").cloned().unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    (!is_there).then(|| format!("`{program}` is not there"))
}
