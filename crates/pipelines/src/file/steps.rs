//! The steps of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use checkrein_gates::Gate;
use checkrein_policy::yaml::{NodeValue, YamlEntry, YamlNode};
use checkrein_policy::{ConfigErrorKind, Fault};
use checkrein_supervise::{Phase, TestRunner};

use super::fields::{
    bad, find, is_inside, is_name, known, number, read_template, template, templates, text, texts, time,
    unfit, word, yes,
};
use super::read::safety;
use super::{
    ApprovalStep, CommandBounds, CommandLine, CommandStep, DesignReview, GateStep, PipelineFile, ReviewStep,
    ReviewedThing, SendBack, StepAct, StepSpecification, StepTime, WorkPlace, agent, pull_request,
};
use crate::condition::StepCondition;
use crate::endpoint::EndpointTrust;
use crate::order::StepOrder;
use crate::reviewer::{ModelReviewer, eligible_reviewers};
use crate::state::StepOutcome;
use crate::strikes::LoopKind;
use crate::template::TextTemplate;

/// What every step may have.
const COMMON: [&str; 8] = ["name", "needs", "when", "time", "retries", "on_failure", "outputs", "safety"];
/// The kinds of steps, each with its own keys.
const KINDS: [(&str, &[&str]); 6] = [
    ("command", &["runner", "phase", "write", "net"]),
    (
        "gate",
        &[
            "paths",
            "allow",
            "design",
            "sections",
            "since",
            "strict",
            "by",
            "coverage",
            "coverage_base",
            "coverage_tolerance",
        ],
    ),
    ("agent", agent::KEYS),
    ("review", &["question", "by"]),
    ("approve", &[]),
    ("pull_request", pull_request::KEYS),
];
/// What a reviewer is asked where nobody says.
const USUAL_QUESTION: &str = "Is this correct, complete and fit to be merged?";
/// How often a step is tried again by itself, at most (ours).
const RETRIES: u32 = 5;

pub(super) fn read(
    items: &[YamlNode],
    file: (&str, EndpointTrust),
    pipeline: &mut PipelineFile,
    faults: &mut Vec<Fault>,
) {
    let mut needs = Vec::new();
    for item in items {
        let entries = entries_of(item, faults);
        let Some(step) = step(item, entries, file, faults) else { continue };
        if pipeline.step(&step.name).is_some() {
            faults.push(unfit(item, format!("there is a step `{}` already", step.name)));
        }
        needs.push((item, find(entries, "needs").map(|_| texts(entries, "needs", faults))));
        pipeline.steps.push(step);
    }
    if !faults.is_empty() {
        return;
    }
    order(&needs, pipeline, faults);
    if faults.is_empty() {
        for (place, (item, _)) in needs.iter().enumerate() {
            references(pipeline, place, item, faults);
        }
        reviews(pipeline, &needs, faults);
        for (place, (item, _)) in needs.iter().enumerate() {
            if let Err(message) = agent::is_unlike(pipeline, place) {
                faults.push(unfit(item, message));
            }
        }
    }
}

/// The entries of a step, with a fault for each key that no step of its kind has.
fn entries_of<'a>(item: &'a YamlNode, faults: &mut Vec<Fault>) -> &'a [YamlEntry] {
    let NodeValue::Map(entries) = &item.value else {
        faults.push(bad("steps", item, "a step: a map"));
        return &[];
    };
    let kinds: Vec<_> = KINDS.iter().filter(|(kind, _)| find(entries, kind).is_some()).collect();
    let names = KINDS.map(|(kind, _)| format!("`{kind}`")).join(", ");
    match kinds.as_slice() {
        [(kind, own)] => {
            let keys: Vec<&str> = COMMON.iter().chain([kind]).chain(own.iter()).copied().collect();
            known(item, "steps", &keys, faults)
        }
        [] => {
            let all: Vec<&str> =
                KINDS.iter().flat_map(|(kind, own)| own.iter().chain([kind])).copied().collect();
            let keys: Vec<&str> = COMMON.iter().copied().chain(all).collect();
            known(item, "steps", &keys, faults);
            faults.push(unfit(item, format!("this step does nothing: it has none of {names}")));
            &[]
        }
        _ => {
            faults.push(unfit(item, format!("a step does one thing: only one of {names}")));
            &[]
        }
    }
}

fn step(
    item: &YamlNode,
    entries: &[YamlEntry],
    (file, trust): (&str, EndpointTrust),
    faults: &mut Vec<Fault>,
) -> Option<StepSpecification> {
    if entries.is_empty() {
        return None;
    }
    let name = text(entries, "name", faults).filter(|name| is_name(name));
    if name.is_none() {
        faults.push(unfit(item, "a step needs a `name` of letters, digits, `-` and `_`, at most 40"));
    }
    let act = act(entries, trust, faults)?;
    let when = find(entries, "when").and_then(|entry| {
        let text = entry.value.scalar().unwrap_or_default();
        let message = |message| Fault::new(entry.value.at, ConfigErrorKind::BadCondition { message });
        StepCondition::read(text).map_err(|wrong| faults.push(message(wrong))).ok()
    });
    let usual = match &act {
        StepAct::Command(_) => 30 * 60,
        StepAct::Gate(step) if step.gate != Gate::Lld => 5 * 60,
        StepAct::Agent(_) => 60 * 60,
        StepAct::Review(_) | StepAct::Gate(_) => 10 * 60,
        StepAct::Approve(_) | StepAct::PullRequest(_) => 24 * 60 * 60,
    };
    let time = time(entries, "time", faults).unwrap_or(Duration::from_secs(usual));
    let retries = number(entries, "retries", (0, RETRIES), faults).unwrap_or(0);
    if retries > 0 && matches!(act, StepAct::Gate(_) | StepAct::Approve(_) | StepAct::PullRequest(_)) {
        faults.push(unfit(
            item,
            "a gate and a user answer the same again: `retries` is for commands, agents and reviews",
        ));
    }
    let sends_back = find(entries, "on_failure").and_then(|entry| send_back(entry, &act, faults));
    Some(StepSpecification {
        name: name?,
        when,
        time: StepTime(time),
        retries,
        sends_back,
        outputs: outputs(entries, faults),
        safety: safety(entries, file, faults),
        line: item.at.line,
        act,
    })
}

fn act(entries: &[YamlEntry], trust: EndpointTrust, faults: &mut Vec<Fault>) -> Option<StepAct> {
    if let Some(entry) = find(entries, "command") {
        return Some(StepAct::Command(command(entry, entries, faults)));
    }
    if find(entries, "gate").is_some() {
        return gate(entries, faults).map(StepAct::Gate);
    }
    if let Some(entry) = find(entries, "agent") {
        return agent::read(entry, entries, faults).map(StepAct::Agent);
    }
    if let Some(entry) = find(entries, "review") {
        return review(entry, entries, faults).map(StepAct::Review);
    }
    if let Some(entry) = find(entries, "pull_request") {
        return pull_request::read(entry, entries, trust, faults).map(StepAct::PullRequest);
    }
    let question = template(find(entries, "approve")?, faults)?;
    Some(StepAct::Approve(ApprovalStep { question }))
}

fn command(entry: &YamlEntry, entries: &[YamlEntry], faults: &mut Vec<Fault>) -> CommandStep {
    let line = match entry.value.scalar() {
        Some(text) => CommandLine::Shell(text.to_owned()),
        None => CommandLine::Words(templates(entry, faults)),
    };
    let runners = [
        ("pytest", TestRunner::Pytest),
        ("cargo", TestRunner::Cargo),
        ("go", TestRunner::Go),
        ("jest", TestRunner::Jest),
        ("unittest", TestRunner::Unittest),
        ("any", TestRunner::Any),
    ];
    let runners = runners.map(|(word, runner)| (word, Some(runner)));
    let runners: Vec<_> = runners.into_iter().chain([("auto", None)]).collect();
    let phases = [("red", Phase::Red), ("green", Phase::Green)];
    let runner = word(entries, "runner", &runners, faults).unwrap_or(Some(TestRunner::Any));
    let phase = word(entries, "phase", &phases, faults).unwrap_or_default();
    if phase == Phase::Red && runner == Some(TestRunner::Any) {
        faults.push(unfit(
            &entry.value,
            "which failure is a failed test only a known `runner` tells: pytest, unittest, cargo, go, jest, or auto",
        ));
    }
    let net = text(entries, "net", faults);
    let bounds = (find(entries, "write").is_some() || net.is_some()).then(|| CommandBounds {
        write: texts(entries, "write", faults),
        net: net.unwrap_or_else(|| "none".to_owned()),
    });
    CommandStep { line, runner, phase, bounds }
}

fn gate(entries: &[YamlEntry], faults: &mut Vec<Fault>) -> Option<GateStep> {
    let gates = Gate::ALL.map(|gate| (gate.name(), gate));
    let gate = word(entries, "gate", &gates, faults)?;
    let mut options = Vec::new();
    let mut add = |option: &str, values: Vec<(String, YamlNode)>, faults: &mut Vec<Fault>| {
        for (value, node) in values {
            // One word, so that no value is read as another option.
            let text = if option.is_empty() { value } else { format!("{option}={value}") };
            options.extend(read_template(&node, &text, faults));
        }
    };
    for (key, option) in [
        ("allow", "--allow"),
        ("design", "--design"),
        ("sections", "--section"),
        ("since", "--since"),
        ("coverage", "--coverage"),
        ("coverage_base", "--coverage-base"),
        ("coverage_tolerance", "--coverage-tolerance"),
    ] {
        let Some(entry) = find(entries, key) else { continue };
        let values = texts(entries, key, faults);
        add(option, values.into_iter().map(|value| (value, entry.value.clone())).collect(), faults);
    }
    if yes(entries, "strict", faults) {
        options.extend(TextTemplate::read("--strict"));
    }
    if let Some(entry) = find(entries, "paths") {
        options.extend(TextTemplate::read("--"));
        for path in texts(entries, "paths", faults) {
            options.extend(read_template(&entry.value, &path, faults));
        }
    }
    let review = if gate == Gate::Lld { Some(design_review(entries, faults)?) } else { None };
    if let Some(entry) = find(entries, "by").filter(|_| review.is_none()) {
        faults.push(unfit(&entry.value, format!("the gate {} asks no reviewer", gate.name())));
    }
    Some(GateStep { gate, options, review })
}

/// Who reviews which design.
fn design_review(entries: &[YamlEntry], faults: &mut Vec<Fault>) -> Option<DesignReview> {
    let entry = find(entries, "design");
    if let Some(path) = entry.and_then(|entry| entry.value.scalar()).filter(|path| is_inside(path)) {
        return Some(DesignReview { design: path.to_owned(), by: texts(entries, "by", faults) });
    }
    let at = entry.or_else(|| find(entries, "gate"))?;
    faults.push(bad("design", &at.value, "the path of a document below the worktree"));
    None
}

fn review(entry: &YamlEntry, entries: &[YamlEntry], faults: &mut Vec<Fault>) -> Option<ReviewStep> {
    let of = match entry.value.scalar() {
        Some("changes") => ReviewedThing::Changes,
        Some(path) if is_inside(path) => ReviewedThing::File(path.to_owned()),
        _ => {
            faults.push(bad("review", &entry.value, "`changes`, or the path of a file below the worktree"));
            return None;
        }
    };
    let question = match find(entries, "question") {
        Some(question) => template(question, faults)?,
        None => read_template(&entry.value, USUAL_QUESTION, faults)?,
    };
    Some(ReviewStep { of, question, by: texts(entries, "by", faults) })
}

fn outputs(entries: &[YamlEntry], faults: &mut Vec<Fault>) -> BTreeMap<String, String> {
    let Some(entry) = find(entries, "outputs") else { return BTreeMap::new() };
    let NodeValue::Map(all) = &entry.value.value else {
        faults.push(bad("outputs", &entry.value, "a map of paths by name"));
        return BTreeMap::new();
    };
    let mut read = BTreeMap::new();
    for one in all {
        match one.value.scalar() {
            Some(path) if is_inside(path) && is_name(&one.key) => {
                read.insert(one.key.clone(), path.to_owned());
            }
            _ => faults.push(bad(&one.key, &one.value, "the path of a file below the worktree")),
        }
    }
    read
}

fn send_back(entry: &YamlEntry, act: &StepAct, faults: &mut Vec<Fault>) -> Option<SendBack> {
    let fields = known(&entry.value, "on_failure", &["back_to", "at_most", "loop"], faults);
    let Some(to) = text(fields, "back_to", faults) else {
        faults.push(bad("on_failure", &entry.value, "`back_to: STEP`"));
        return None;
    };
    let usual = match act {
        StepAct::Command(_) | StepAct::Agent(_) => LoopKind::Testing,
        StepAct::Gate(gate) => match gate.gate {
            Gate::Mechanical | Gate::TestPlan | Gate::Lld => LoopKind::Requirements,
            Gate::Completeness
            | Gate::Secrets
            | Gate::Scope
            | Gate::Phantoms
            | Gate::Licences
            | Gate::Implementation => LoopKind::Completeness,
        },
        StepAct::Review(_) => LoopKind::Requirements,
        StepAct::Approve(_) | StepAct::PullRequest(_) => {
            faults.push(unfit(
                &entry.value,
                "a no of a user ends the pipeline: `on_failure` is for the others",
            ));
            return None;
        }
    };
    let kinds =
        [LoopKind::Testing, LoopKind::Requirements, LoopKind::Completeness].map(|kind| (kind.name(), kind));
    let kind = word(fields, "loop", &kinds, faults).unwrap_or(usual);
    let at_most = number(fields, "at_most", (1, kind.cap()), faults).unwrap_or(kind.cap());
    Some(SendBack { to, kind, at_most })
}

/// What each step waits for: what it says, else the step before it.
fn order(needs: &[(&YamlNode, Option<Vec<String>>)], pipeline: &mut PipelineFile, faults: &mut Vec<Fault>) {
    let mut direct = Vec::new();
    for (place, (item, named)) in needs.iter().enumerate() {
        let Some(named) = named else {
            direct.push(place.checked_sub(1).into_iter().collect());
            continue;
        };
        let mut own = Vec::new();
        for name in named {
            match pipeline.step(name) {
                Some((other, _)) => own.push(other),
                None => {
                    faults.push(unfit(item, format!("`needs` names `{name}`, and there is no such step")));
                }
            }
        }
        direct.push(own);
    }
    match StepOrder::of(direct) {
        Ok(order) => pipeline.order = order,
        Err(circle) => {
            let names: Vec<&str> = circle
                .iter()
                .filter_map(|place| pipeline.steps.get(*place))
                .map(|step| step.name.as_str())
                .collect();
            if let Some((item, _)) = circle.first().and_then(|place| needs.get(*place)) {
                faults.push(unfit(item, format!("these steps wait for each other: {}", names.join(", "))));
            }
        }
    }
}

/// Everything that a step names must be there, and before it.
fn references(pipeline: &PipelineFile, place: usize, item: &YamlNode, faults: &mut Vec<Fault>) {
    let Some(step) = pipeline.steps.get(place) else { return };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut of_agent: BTreeSet<&str> = BTreeSet::new();
    match &step.act {
        StepAct::Command(CommandStep { line: CommandLine::Words(words), .. }) => {
            names.extend(words.iter().flat_map(TextTemplate::places));
        }
        StepAct::Command(CommandStep { line: CommandLine::Shell(_), .. }) => {}
        StepAct::Gate(gate) => names.extend(gate.options.iter().flat_map(TextTemplate::places)),
        StepAct::Agent(agent) => {
            names.extend(agent.prompt.places());
            of_agent.extend(agent.words.iter().flat_map(TextTemplate::places));
        }
        StepAct::Review(review) => names.extend(review.question.places()),
        StepAct::Approve(approve) => names.extend(approve.question.places()),
        StepAct::PullRequest(request) => {
            names.extend(request.question.iter().flat_map(TextTemplate::places));
            if pipeline.place == WorkPlace::WorkTree {
                let message =
                    "what is published is the branch of a worktree: `pull_request` needs `worktree: task`";
                faults.push(unfit(item, message));
            }
        }
    }
    names.extend(step.when.iter().flat_map(StepCondition::names));
    let lets_on = [StepOutcome::Passed, StepOutcome::LeftOut].map(StepOutcome::name);
    if let Some((other, word)) = step.when.as_ref().and_then(|when| when.never_holds(&lets_on)) {
        let message = format!(
            "`when` never holds: this step waits for `{other}`, and runs only where that is `passed` or `left_out`, never where it is `{word}`"
        );
        faults.push(unfit(item, message));
    }
    names.extend(of_agent.into_iter().filter(|name| *name != "prompt"));
    for name in names {
        if let Err(message) = reference(pipeline, place, name) {
            faults.push(unfit(item, message));
        }
    }
    if let Some(back) = &step.sends_back {
        match pipeline.step(&back.to) {
            None => {
                faults.push(unfit(item, format!("`back_to` names `{}`, and there is no such step", back.to)));
            }
            Some((to, _)) if to != place && !pipeline.order.waits_for(place, to) => {
                faults.push(unfit(
                    item,
                    format!("`{}` does not wait for `{}`, so it cannot go back to it", step.name, back.to),
                ));
            }
            Some(_) => {}
        }
    }
}

fn reference(pipeline: &PipelineFile, place: usize, name: &str) -> Result<(), String> {
    let unknown = || {
        format!(
            "`{name}` is not known here: there are `inputs.NAME`, `steps.NAME.text`, `steps.NAME.outcome`, `steps.NAME.outputs.NAME`, `feedback`, `task`, `run`"
        )
    };
    let mut parts = name.split('.');
    match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("feedback" | "task" | "run"), None, None, None, None) => Ok(()),
        (Some("inputs"), Some(input), None, None, None) => {
            let is_there = pipeline.inputs.iter().any(|one| one.name == input);
            if is_there { Ok(()) } else { Err(format!("`{name}`: there is no input `{input}`")) }
        }
        (Some("steps"), Some(other), Some(what), output, None) => {
            let Some((before, step)) = pipeline.step(other) else {
                return Err(format!("`{name}`: there is no step `{other}`"));
            };
            if !pipeline.order.waits_for(place, before) {
                return Err(format!("`{name}`: this step does not wait for `{other}`"));
            }
            match (what, output) {
                ("text" | "outcome", None) => Ok(()),
                ("outputs", Some(output)) if step.outputs.contains_key(output) => Ok(()),
                ("outputs", Some(output)) => Err(format!("`{name}`: `{other}` has no output `{output}`")),
                _ => Err(unknown()),
            }
        }
        _ => Err(unknown()),
    }
}

/// Whether each review has somebody who may do it.
fn reviews(pipeline: &mut PipelineFile, needs: &[(&YamlNode, Option<Vec<String>>)], faults: &mut Vec<Fault>) {
    let has_reviews = pipeline.steps.iter().any(|step| step.act.asks_reviewers());
    let authors = pipeline.authors();
    let all: Vec<String> = pipeline.reviewers.iter().map(|reviewer| reviewer.name.clone()).collect();
    let reviewers = pipeline.reviewers.clone();
    for (step, (item, _)) in pipeline.steps.iter_mut().zip(needs) {
        let by = match &mut step.act {
            StepAct::Agent(agent) if has_reviews && agent.family.is_none() => {
                faults.push(unfit(item, format!(
                    "whose model works in `{}` is not known, so nobody knows who may review it: write `family`",
                    step.name
                )));
                continue;
            }
            StepAct::Review(review) => &mut review.by,
            StepAct::Gate(GateStep { review: Some(review), .. }) => &mut review.by,
            StepAct::Agent(_)
            | StepAct::Command(_)
            | StepAct::Gate(_)
            | StepAct::Approve(_)
            | StepAct::PullRequest(_) => continue,
        };
        if by.is_empty() {
            by.clone_from(&all);
        }
        if let Some(name) = by.iter().find(|name| !all.contains(name)) {
            faults.push(unfit(item, format!("there is no reviewer `{name}`")));
            continue;
        }
        let named: Vec<&ModelReviewer> =
            by.iter().filter_map(|name| reviewers.iter().find(|reviewer| reviewer.name == *name)).collect();
        if eligible_reviewers(&named, &authors).is_empty() {
            let families: Vec<&str> = authors.iter().map(|family| family.name()).collect();
            let message = if named.is_empty() {
                format!("`{}` has nobody who reviews: add `reviewers`", step.name)
            } else {
                format!(
                    "nobody may review in `{}`: all reviewers are of a family that wrote ({})",
                    step.name,
                    families.join(", ")
                )
            };
            faults.push(unfit(item, message));
        }
    }
}
