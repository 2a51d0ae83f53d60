//! A pipeline file as a whole.

use checkrein_policy::yaml::{self, NodeValue, YamlEntry, YamlNode};
use checkrein_policy::{
    ConfigErrorKind, ConfigErrors, ConfigSource, Fault, Layer, LayerKind, Position, load,
};

use super::fields::{bad, find, is_name, known, number, templates, text, texts, unfit, word};
use super::{PipelineFile, PipelineInput, SafetyText, WorkPlace, steps};
use crate::endpoint::{EndpointForm, EndpointTrust, ModelEndpoint};
use crate::order::StepOrder;
use crate::reviewer::{AskedModel, ModelFamily, ModelRank, ModelReviewer, ReviewerTransport};
use crate::template::TextTemplate;

/// The keys of a file.
const KEYS: [&str; 8] =
    ["name", "description", "inputs", "worktree", "parallel", "safety", "reviewers", "steps"];
/// How many steps run at one time where nobody says, and at most (ours).
const PARALLEL: (u32, u32) = (2, 16);
/// The most steps of a pipeline (ours).
const STEPS: usize = 200;

impl PipelineFile {
    /// Reads a file. `layer` says whose it is: what it sets for its agents is checked as settings of that layer.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each with its place.
    pub fn parse(file: &str, text: &str, layer: LayerKind) -> Result<Self, ConfigErrors> {
        let mut faults = Vec::new();
        let read = yaml::parse(text).map_err(|fault| vec![fault]).and_then(|node| {
            let pipeline = pipeline(&node, text, trust(layer), &mut faults);
            match pipeline {
                Some(pipeline) if faults.is_empty() => Ok(pipeline),
                _ => Err(std::mem::take(&mut faults)),
            }
        });
        let pipeline = match read {
            Ok(pipeline) => pipeline,
            Err(mut faults) => {
                faults.sort_by_key(|fault| (fault.at.line, fault.at.column));
                let errors = faults.into_iter().map(|fault| fault.located(layer, file, text));
                return Err(ConfigErrors { errors: errors.collect() });
            }
        };
        let mut errors = Vec::new();
        let of_steps = pipeline.steps.iter().filter_map(|step| step.safety.as_ref());
        for safety in pipeline.safety.iter().chain(of_steps) {
            let source = ConfigSource::File { name: file.to_owned(), text: safety.0.clone() };
            if let Err(found) = load(&[Layer { kind: layer, source }], &[]) {
                errors.extend(found.errors);
            }
        }
        if errors.is_empty() { Ok(pipeline) } else { Err(ConfigErrors { errors }) }
    }
}

/// Only a file of the user's own is read as what stands on a command line.
fn trust(layer: LayerKind) -> EndpointTrust {
    if layer == LayerKind::Flags { EndpointTrust::Own } else { EndpointTrust::Foreign }
}

fn pipeline(
    node: &YamlNode,
    text_of_file: &str,
    trust: EndpointTrust,
    faults: &mut Vec<Fault>,
) -> Option<PipelineFile> {
    let entries = known(node, "the file", &KEYS, faults);
    for (key, expected) in [("name", "a name"), ("steps", "a list of steps")] {
        if find(entries, key).is_none() {
            faults.push(Fault::new(
                Position::START,
                ConfigErrorKind::Missing { what: "pipeline", key, expected },
            ));
        }
    }
    let name = name_of(entries, faults);
    let inputs = find(entries, "inputs").map(|entry| inputs(entry, faults)).unwrap_or_default();
    let reviewers =
        find(entries, "reviewers").map(|entry| reviewers(entry, trust, faults)).unwrap_or_default();
    let places = [("task", WorkPlace::OwnWorktree), ("none", WorkPlace::WorkTree)];
    let place = word(entries, "worktree", &places, faults).unwrap_or(WorkPlace::OwnWorktree);
    let parallel = number(entries, "parallel", (1, PARALLEL.1), faults).unwrap_or(PARALLEL.0);
    let safety = safety(entries, text_of_file, faults);
    let list = find(entries, "steps")?;
    let NodeValue::List(items) = &list.value.value else {
        faults.push(bad("steps", &list.value, "a list of steps"));
        return None;
    };
    if items.is_empty() || items.len() > STEPS {
        faults.push(bad("steps", &list.value, &format!("1 to {STEPS} steps")));
    }
    let mut pipeline = PipelineFile {
        name: name?,
        description: text(entries, "description", faults),
        inputs,
        place,
        parallel: usize::try_from(parallel).unwrap_or(1),
        safety,
        reviewers,
        steps: Vec::new(),
        order: StepOrder::default(),
    };
    steps::read(items, (text_of_file, trust), &mut pipeline, faults);
    Some(pipeline)
}

fn name_of(entries: &[YamlEntry], faults: &mut Vec<Fault>) -> Option<String> {
    let entry = find(entries, "name")?;
    let name = entry.value.scalar().filter(|name| is_name(name)).map(str::to_owned);
    if name.is_none() {
        faults.push(bad("name", &entry.value, "a name of letters, digits, `-` and `_`, at most 40"));
    }
    name
}

fn inputs(entry: &YamlEntry, faults: &mut Vec<Fault>) -> Vec<PipelineInput> {
    let NodeValue::Map(inputs) = &entry.value.value else {
        faults.push(bad("inputs", &entry.value, "a map of inputs by name"));
        return Vec::new();
    };
    let mut read = Vec::new();
    for input in inputs {
        if !is_name(&input.key) || input.key.contains('-') {
            let message = format!("`{}` is not a name for an input: use letters, digits and `_`", input.key);
            faults.push(Fault::new(input.at, ConfigErrorKind::Unfit { message }));
            continue;
        }
        let (mut description, mut default, mut one_of) = (None, None, Vec::new());
        if !input.value.is_null() {
            let fields = known(&input.value, &input.key, &["description", "default", "one_of"], faults);
            description = text(fields, "description", faults);
            default = find(fields, "default").and_then(|entry| match entry.value.scalar() {
                Some(text) => Some(text.to_owned()),
                // Nothing after the key is the empty text.
                None if entry.value.is_null() => Some(String::new()),
                None => {
                    faults.push(bad("default", &entry.value, "a text"));
                    None
                }
            });
            one_of = texts(fields, "one_of", faults);
            if let Some(word) = default.as_ref().filter(|word| !one_of.is_empty() && !one_of.contains(*word))
            {
                faults.push(unfit(&input.value, format!("the default `{word}` is not one of its words")));
            }
        }
        read.push(PipelineInput { name: input.key.clone(), description, default, one_of });
    }
    read
}

/// A reviewer is asked in one way.
fn transport(
    command: Option<Vec<TextTemplate>>,
    endpoint: Option<ModelEndpoint>,
) -> Option<ReviewerTransport> {
    match (command, endpoint) {
        (Some(command), None) => Some(ReviewerTransport::Command(command)),
        (None, Some(endpoint)) => Some(ReviewerTransport::Endpoint(endpoint)),
        (None, None) | (Some(_), Some(_)) => None,
    }
}

fn endpoint(
    entry: &YamlEntry,
    fields: &[YamlEntry],
    trust: EndpointTrust,
    faults: &mut Vec<Fault>,
) -> Option<ModelEndpoint> {
    let url = text(fields, "endpoint", faults)?;
    let form = word(fields, "form", &EndpointForm::WORDS, faults);
    let credentials = texts(fields, "credential", faults);
    match ModelEndpoint::read(&url, form, credentials, trust) {
        Ok(endpoint) => Some(endpoint),
        Err(message) => {
            faults.push(unfit(&entry.value, message));
            None
        }
    }
}

fn reviewers(entry: &YamlEntry, trust: EndpointTrust, faults: &mut Vec<Fault>) -> Vec<ModelReviewer> {
    let NodeValue::Map(all) = &entry.value.value else {
        faults.push(bad("reviewers", &entry.value, "a map of reviewers by name"));
        return Vec::new();
    };
    let mut read = Vec::new();
    for one in all {
        let keys = ["command", "endpoint", "form", "credential", "model", "family", "rank"];
        let fields = known(&one.value, &one.key, &keys, faults);
        let command = find(fields, "command").map(|entry| templates(entry, faults));
        if command.iter().flatten().any(|word| word.places().any(|place| place != "model")) {
            faults.push(unfit(&one.value, "only `${model}` is filled into the command of a reviewer"));
        }
        let endpoint = find(fields, "endpoint").and_then(|entry| endpoint(entry, fields, trust, faults));
        let model = text(fields, "model", faults);
        let (Some(transport), Some(model)) = (transport(command, endpoint), model) else {
            let needs =
                format!("the reviewer `{}` needs `model`, and either `command` or `endpoint`", one.key);
            faults.push(unfit(&one.value, needs));
            continue;
        };
        let families = ModelFamily::ALL.map(|family| (family.name(), family));
        let ranks = ModelRank::GIVEN.map(|rank| (rank.name(), rank));
        let family = word(fields, "family", &families, faults);
        let rank = word(fields, "rank", &ranks, faults);
        match AskedModel::read(&model, family, rank) {
            Ok(model) => read.push(ModelReviewer { name: one.key.clone(), transport, model }),
            Err(message) => {
                let at = find(fields, "model").map_or(one.at, |entry| entry.value.at);
                faults.push(Fault::new(at, ConfigErrorKind::Unfit { message }));
            }
        }
    }
    read
}

/// The settings below `safety`, in a text in which they stand where they stand in the file.
pub(super) fn safety(entries: &[YamlEntry], file: &str, faults: &mut Vec<Fault>) -> Option<SafetyText> {
    let entry = find(entries, "safety")?;
    let first = match &entry.value.value {
        NodeValue::Map(settings) => settings.first().map(|setting| setting.at),
        NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::List(_) => None,
    };
    let Some(first) = first.filter(|first| first.line > entry.at.line) else {
        faults.push(bad("safety", &entry.value, "settings, each on a line of its own"));
        return None;
    };
    let indentation = first.column.saturating_sub(1);
    let mut text = "\n".repeat(first.line.saturating_sub(1));
    for line in file.lines().skip(first.line.saturating_sub(1)) {
        let own = line.chars().take_while(|letter| *letter == ' ').count();
        let is_empty = line.trim().is_empty() || line.trim_start().starts_with('#');
        if !is_empty && own < indentation {
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    Some(SafetyText(text))
}
