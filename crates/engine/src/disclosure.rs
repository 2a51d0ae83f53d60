//! What a model reads of what a tool answered: secrets in it are masked, where the client lets a hook give something in its place.
//!
//! Masked is what gives itself away by its form, what the environment and the settings of the project hold, and what a list of settings
//! says that was read as a whole. What a user was asked about and let through they wanted to be read, so it stays.

use checkrein_facts::{FileText, places};
use checkrein_files::read;
use checkrein_ledger::mask::{
    MaskKey, SecretSetting, ShownText, mask_output, secret_settings, secret_variable,
};
use checkrein_protocol::{AbsolutePath, HookResponse, Outcome, ToolOutput};
use checkrein_world::changes::real_path;
use serde_json::Value as Json;

use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::kept_settings;
use crate::session_ledger;

/// The largest output that is looked through, in bytes (ours). Clients cut what they show to less.
const LARGEST: usize = 4 * 1024 * 1024;

/// The largest file of settings that is read, in bytes: as much as is read of any text.
const LARGEST_SETTINGS: u64 = FileText::LIMIT as u64;

/// The files of a project with settings of its own, of which the values are known for secrets wherever they are printed.
const SETTINGS: [&str; 2] = [".env", ".env.local"];

/// From how many bytes on a value of a project's settings is masked in any output (ours): shorter ones may be words.
const LONG: usize = 16;

/// What is shown in place of an output.
#[derive(Debug)]
pub(crate) struct Masked {
    /// The output with masks in it, in the form of the tool.
    output: Json,
    /// What was masked, one word for each mask.
    pub(crate) kinds: Vec<String>,
}

/// The output of a call with its secrets masked; `None` when there is nothing to mask, or when the model reads the output as it is.
pub(crate) fn masked(context: &Context, outcome: &Outcome) -> Option<Masked> {
    let answered = match context.tool_output() {
        ToolOutput::Masked => outcome.answered.clone(),
        ToolOutput::Replaced => Some(Json::from(outcome.output.as_str())),
        ToolOutput::Shown => return None,
    };
    let mut output = answered.filter(|_| !outcome.output.is_empty())?;
    if outcome.output.len() > LARGEST {
        context.environment().diagnostics.add(format!(
            "secrets in an output of {} bytes were not masked: more than {LARGEST} are not looked through",
            outcome.output.len()
        ));
        return None;
    }
    let read_list = read_as_list(outcome, &output);
    let shown = if read_list.is_some() { ShownText::List } else { ShownText::Anything };
    let settings = read_list.unwrap_or_else(|| known(context, &outcome.action.cwd));
    let key = match session_ledger::mask_key(context.environment(), context.policy().config()) {
        Ok(key) => key.for_reader(shown, settings),
        Err(error) => {
            context.environment().diagnostics.add(format!("secrets in an output were not masked: {error}"));
            return None;
        }
    };
    let kinds = mask_output(&mut output, &key);
    (!kinds.is_empty()).then_some(Masked { output, kinds })
}

/// Returns the key that masks what a model is going to read, for doors that hand it on themselves: what has the form of a secret, and what
/// the environment and the settings of the project at `cwd` hold. Fails where there is no key; then nothing must be handed on.
pub fn reader_key(environment: &HostEnvironment, cwd: &AbsolutePath) -> Result<MaskKey, CommandError> {
    let context = Context::open(environment.clone(), cwd);
    let key = session_ledger::mask_key(context.environment(), context.policy().config())?;
    Ok(key.for_reader(ShownText::Anything, known(&context, cwd)))
}

impl Masked {
    /// The answer that shows this, and says so besides what else is said.
    pub(crate) fn besides(self, answer: HookResponse) -> HookResponse {
        let Self { output, mut kinds } = self;
        let count = kinds.len();
        kinds.sort();
        kinds.dedup();
        let values = if count == 1 { "a value" } else { "values" };
        let text = format!(
            "checkrein masked {values} in this output ({}): a mask reads `[masked:KIND:FINGERPRINT]`, and equal values have equal \
             fingerprints. Programs that need a value read it from where it is; do not write masks into files, and ask the user for what \
             you need to know",
            kinds.join(", ")
        );
        HookResponse::Replaced { output, besides: Box::new(kept_settings::with(answer, Some(text))) }
    }
}

/// The secrets of a list of settings that a tool showed, by what it showed; `None` when it showed anything else. Who edits one is shown the
/// lines around the change.
fn read_as_list(outcome: &Outcome, output: &Json) -> Option<Vec<SecretSetting>> {
    let path = outcome.action.input.get("file_path").and_then(Json::as_str)?;
    let path = outcome.action.cwd.join(path);
    // A link shows what it leads to.
    let is_list = |path: &AbsolutePath| path.name().is_some_and(places::environment_file);
    if !is_list(&path) && !is_list(&real_path(&path)) {
        return None;
    }
    let mut shown = Vec::new();
    texts(output, &mut shown);
    Some(secret_settings(&shown.join("\n")))
}

/// All texts in an output.
fn texts<'json>(value: &'json Json, found: &mut Vec<&'json str>) {
    match value {
        Json::String(text) => found.push(text),
        Json::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Json::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The secrets that are known whatever is printed: those of the environment, and the values of the project's settings that are secret by
/// their names, the short ones behind these only. What merely looks like one in a list may be the name of a model or a bucket elsewhere.
fn known(context: &Context, cwd: &AbsolutePath) -> Vec<SecretSetting> {
    let environment = context.environment();
    let mut all: Vec<SecretSetting> =
        environment.variables.iter().filter_map(|(name, value)| secret_variable(name, value)).collect();
    let mut directories = vec![context.workspace(), cwd];
    directories.dedup();
    for path in directories.into_iter().flat_map(|directory| SETTINGS.map(|name| directory.join(name))) {
        let Ok(bytes) = read(path.as_str(), LARGEST_SETTINGS) else { continue };
        let named =
            secret_settings(&String::from_utf8_lossy(&bytes)).into_iter().filter(SecretSetting::is_named);
        let (long, short): (Vec<_>, Vec<_>) = named.partition(|setting| setting.length() >= LONG);
        all.extend(long);
        all.extend(short.into_iter().flat_map(SecretSetting::behind_its_name));
    }
    all
}
