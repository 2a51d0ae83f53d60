//! Tools of clients other than the shell.
//!
//! | module | holds |
//! |---|---|
//! | `addresses` | texts that are addresses, under whatever name |
//! | `call` | the input of a tool call, and effects in the making |
//! | `client_tools` | the tools that clients bring along, by name |
//! | `edits` | the texts that edits and writes leave, in any spelling |
//! | `free_form` | tools that are given a text and no fields |
//! | `inner` | calls that are made within another one |
//! | `handed` | secrets that stand in what a tool is given |
//! | `patch` | the patch text of `apply_patch` |
//! | `mcp` | all other tools, those of MCP servers among them, by the words of their names |
//! | `searches` | searches, as the command line that they are |
//! | `typed` | those that type into what runs |
//! | `variables` | variables that stand beside a command |
//! | `runners` | those of them that run a program with its arguments, or code |
//!
//! What comes out is not weighed yet: stakes and the guard come after, as for shell commands.

mod addresses;
mod call;
mod client_tools;
mod edits;
mod free_form;
mod handed;
pub(crate) use handed::token_in;
mod inner;
mod mcp;
mod patch;
mod runners;
mod searches;
mod typed;
mod variables;

use checkrein_protocol::{SecretMark, ToolOutput, folded, is_working_directory};
use serde_json::Value as Json;

use crate::action::Action;
use crate::effect::{Certainty, Effect, EffectKind, Severity, Target};
use crate::interpreter::default_settings::unusual_setting;
use crate::interpreter::steered_agents::{is_loaded, steering_note, steering_variable};
use crate::interpreter::unchecked_files::switched_off_in;
use crate::interpreter::{AnnouncedContent, Last, resolve};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places;
use crate::world::{FileText, World};

use call::ToolCall;
pub(crate) use edits::announced;
pub(crate) use inner::inner_calls;
pub(crate) use mcp::{Explained, UnfoldedCall};
pub(crate) use patch::{PatchStep, parse as patch_steps};
pub(crate) use runners::{Recipient, begins_with_program};
pub(crate) use typed::{Heard, Listener, heard, terminal, typing};

/// The code that a tool puts into a cell of a notebook; `None` for prose and for other tools. Source: Claude Code ("`NotebookEdit`").
pub(crate) fn cell(action: &Action) -> Option<&str> {
    let is_notebook = matches!(folded(action.tool.as_str()).as_str(), "notebookedit" | "editnotebook");
    let text = |key: &str| action.input.get(key).and_then(Json::as_str);
    if !is_notebook || text("cell_type") == Some("markdown") {
        return None;
    }
    text("new_source").or_else(|| text("new_string"))
}

/// Adds that what a tool writes into settings of this home names what programs run from now on.
fn note_default_settings(action: &Action, world: &dyn World, effects: &mut Vec<Effect>) {
    let home = &world.place().home;
    let is_write = |effect: &&Effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    let named = |path: &AbsolutePath| {
        let texts = texts_in(&action.input);
        texts.into_iter().find_map(|text| unusual_setting(path, home, text))
    };
    let paths = effects.iter().filter(is_write).filter_map(|effect| effect.target.path());
    let found: Vec<Effect> = paths
        .filter_map(|path| {
            // It may have stood there before.
            let stood = |value: &String| {
                matches!(world.text(path), FileText::Whole(before) if before.contains(value.as_str()))
            };
            let value = named(path).filter(|value| !stood(value))?;
            let mut effect = Effect::new(EffectKind::Persistence, Target::Path(path.clone()));
            effect.note = format!("names `{value}`, which programs run or take packages from, from now on");
            Some(effect)
        })
        .collect();
    effects.extend(found);
}

/// Adds that what a tool writes into a file which agents load steers them.
fn note_steering_variables(action: &Action, world: &dyn World, effects: &mut Vec<Effect>) {
    let is_write = |effect: &&Effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    let paths = effects.iter().filter(is_write).filter_map(|effect| effect.target.path());
    let mut paths = paths.filter(|path| is_loaded(path)).peekable();
    let announced = if paths.peek().is_some() { announced(action, world) } else { Vec::new() };
    let found = paths.filter_map(|path| {
        let before = world.text(path);
        let left = announced.iter().find_map(|(place, content)| match content {
            AnnouncedContent::Text(text) if place == path => Some(text.as_str()),
            AnnouncedContent::Text(_)
            | AnnouncedContent::Link(_)
            | AnnouncedContent::Mode(_)
            | AnnouncedContent::Commit { .. } => None,
        });
        let steering = match left {
            Some(text) => steering_variable(path, text, &before),
            // What is left is not known: each text that is written may be a part of it.
            None => texts_in(&action.input).into_iter().find_map(|text| {
                let text = text.split('\n').map(without_sign).collect::<Vec<_>>().join("\n");
                steering_variable(path, &text, &before)
            }),
        };
        let (name, what) = steering?;
        let mut effect = Effect::new(EffectKind::SystemModification, Target::Path(path.clone()));
        effect.severity = Severity::High;
        effect.note = steering_note(&name, path, what);
        Some(effect)
    });
    let found: Vec<Effect> = found.collect();
    effects.extend(found);
}

/// A line of a patch without the sign that it begins with.
fn without_sign(line: &str) -> &str {
    line.trim_start().trim_start_matches('+')
}

/// Adds that what a tool writes into a file of settings switches off the check of whom a program talks to.
fn note_unchecked_files(action: &Action, effects: &mut Vec<Effect>) {
    let is_write = |effect: &&Effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    let line = |path: &AbsolutePath| {
        texts_in(&action.input)
            .into_iter()
            .find_map(|text| Some((switched_off_in(path, text)?, path.clone())))
    };
    let found = effects.iter().filter(is_write).find_map(|effect| line(effect.target.path()?));
    if let Some((line, path)) = found {
        let target = Target::Service("checks of certificates".to_owned());
        let mut effect = Effect::new(EffectKind::SystemModification, target);
        effect.severity = Severity::High;
        effect.note = format!("`{line}` in `{path}` has programs check no more whom they talk to");
        effects.push(effect);
    }
}

/// All texts of an input that may be written.
fn texts_in(input: &serde_json::Value) -> Vec<&str> {
    match input {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Array(items) => items.iter().flat_map(texts_in).collect(),
        // What an edit takes out is written no more.
        serde_json::Value::Object(fields) => {
            let written = fields.iter().filter(|(name, _)| !edits::is_taken_out(name));
            written.flat_map(|(_, value)| texts_in(value)).collect()
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => Vec::new(),
    }
}

/// The effects of a tool call that is not a shell command. A call whose shape is not understood is opaque.
pub(crate) fn tool_effects(action: &Action, world: &dyn World, explained: Explained) -> Vec<Effect> {
    let mut call = ToolCall::new(action, world);
    if !client_tools::native(&mut call) {
        mcp::foreign(&mut call, explained);
    }
    let mut effects = call.into_effects();
    note_default_settings(action, world, &mut effects);
    note_unchecked_files(action, &mut effects);
    note_steering_variables(action, world, &mut effects);
    if world.tool_output() == ToolOutput::Masked && shows_text(action) {
        for effect in &mut effects {
            if effect.kind == EffectKind::FileRead
                && effect.target.path().is_some_and(|path| is_masked(path, world))
            {
                effect.nature = Nature::Masked;
                "the secrets in it are masked".clone_into(&mut effect.note);
            }
        }
    }
    // A tool shows what it reads.
    let marks = &world.history().secret_marks;
    if !marks.is_empty() {
        let is_held = |path: &AbsolutePath| {
            let place =
                resolve(&|path| world.entry(path), &AbsolutePath::root(), path.as_str(), Last::Follow);
            marks.iter().any(|mark| mark.secret.is_some() && mark.place == place)
        };
        for effect in &mut effects {
            if effect.kind == EffectKind::FileRead && effect.target.path().is_some_and(is_held) {
                effect.kind = EffectKind::SecretRead;
                "an earlier call put a secret there".clone_into(&mut effect.note);
            }
        }
    }
    effects
}

/// Whether a tool does nothing but show the text of one file.
fn shows_text(action: &Action) -> bool {
    action.tool.as_str() == "Read"
}

/// Whether the secrets in a file are masked when a tool shows it: each stands in a line of its own behind its name.
fn is_masked(path: &AbsolutePath, world: &dyn World) -> bool {
    // No other file is opened for it.
    path.name().is_some_and(places::environment_file)
        && matches!(world.text(path), FileText::Whole(text) if places::is_list_of_settings(path, &text))
}

/// The places that held secrets and into which a tool writes something else as a whole.
pub(crate) fn secret_marks(action: &Action, world: &dyn World) -> Vec<SecretMark> {
    let marks = &world.history().secret_marks;
    if marks.is_empty() || action.input.get("content").is_none() {
        return Vec::new();
    }
    let effects = tool_effects(action, world, Explained::No);
    let is_written = |place: &AbsolutePath| {
        effects.iter().any(|effect| {
            effect.kind == EffectKind::FileModify
                && effect.certainty == Certainty::Certain
                && effect.target.path() == Some(place)
        })
    };
    let written = marks.iter().filter(|mark| is_written(&mark.place));
    written.map(|mark| SecretMark { secret: None, ..mark.clone() }).collect()
}

/// Whether a tool is one that a client brings along, and its own fields say all that it does: what a model puts beside them is read by nobody.
pub(crate) fn is_settled(action: &Action, world: &dyn World) -> bool {
    let mut call = ToolCall::new(action, world);
    client_tools::native(&mut call) && !call.is_opaque()
}

/// The shell texts that a tool other than the shell would run (`mcp__terminal__run` with `command`): all that stand where it may read one.
pub(crate) fn shell_texts(action: &Action) -> Vec<String> {
    let mut all = client_tools::shell_texts(action);
    let code = free_form::shell_texts(action);
    // What is code is no command.
    if code.is_empty() {
        all.extend(mcp::shell_texts(action));
    }
    all.extend(code);
    distinct(all)
}

/// Further fields that may say where a tool works, and say other things elsewhere, folded (ours).
const PLACES: &[&str] = &[
    "path",
    "folder",
    "folderpath",
    "root",
    "rootdir",
    "rootpath",
    "basedir",
    "basepath",
    "projectdir",
    "projectpath",
    "projectroot",
    "repopath",
    "workspace",
    "workspacefolder",
    "workspacepath",
    "location",
];

/// Whether a field may say where a tool works.
pub(crate) fn is_place(name: &str) -> bool {
    PLACES.contains(&folded(name).as_str())
}

/// The directories in which a tool may run what it is given, beside that of the session.
pub(crate) fn directories(action: &Action, world: &dyn World) -> Vec<AbsolutePath> {
    let call = ToolCall::new(action, world);
    let is_meant = |name: &str| is_working_directory(name) || is_place(name);
    let named = action.input.as_object().into_iter().flatten().filter(|(name, _)| is_meant(name));
    let named = named.filter_map(|(_, value)| value.as_str());
    // How a command is run may stand in an object of its own: `{"command": ..., "options": {"cwd": ...}}`.
    let texts = named.chain(call::texts_within(&action.input, &is_working_directory));
    let texts = texts.filter(|text| !text.is_empty());
    let mut all: Vec<AbsolutePath> = Vec::new();
    for place in texts.map(|text| call.path(text, Last::Follow)) {
        if place != action.cwd && !all.contains(&place) {
            all.push(place);
        }
    }
    all
}

/// The effect of a call of which a part is not known.
pub(crate) fn not_known(action: &Action, world: &dyn World, note: &str) -> Vec<Effect> {
    let mut call = ToolCall::new(action, world);
    call.opaque(note);
    call.into_effects()
}

/// The commands in the body of a request to a program: those that begin with a program, and each where it is known to run what it is told.
pub(crate) fn commands_in_request(body: &Json, recipient: Recipient) -> Vec<String> {
    distinct(runners::commands_in_request(body, recipient))
}

/// The shell texts that a tool may run whose name says nothing of a shell. They say not all that it does.
pub(crate) fn further_shell_texts(action: &Action) -> Vec<String> {
    distinct(mcp::further_shell_texts(action))
}

/// The command line of a search by a tool that shows lines (`Grep`), or reads what a pattern chooses (`read_many_files`), from which follows what secrets it comes by.
pub(crate) fn search_line(action: &Action, world: &dyn World) -> Option<String> {
    searches::line(action, world).or_else(|| searches::reading_line(action, world))
}

/// The texts of a tool that runs PowerShell, as clients have one on other systems (`PowerShell`, `mcp__windows__powershell_run`).
pub(crate) fn powershell_texts(action: &Action) -> Vec<String> {
    let name = action.tool.as_str().to_ascii_lowercase();
    if !name.contains("powershell") && !name.split(['_', '-', '.']).any(|word| word == "pwsh") {
        return Vec::new();
    }
    let texts = call::texts_of(&action.input, &["command", "script", "code", "cmd"]);
    distinct(texts.map(str::to_owned).collect())
}

/// The SQL texts that a tool would run (`mcp__postgres__query` with `sql`): all that stand where it may read one.
pub(crate) fn sql_texts(action: &Action) -> Vec<String> {
    distinct(mcp::sql_texts(action))
}

/// The SQL texts that a tool is given whose name says nothing of a database. They say not all that it does.
pub(crate) fn further_sql_texts(action: &Action) -> Vec<String> {
    distinct(mcp::further_sql_texts(action))
}

/// A call with the objects that stand as texts among its arguments; `None` where none does.
pub(crate) fn unfolded(action: &Action) -> Option<UnfoldedCall> {
    mcp::unfolded(action)
}

fn distinct(texts: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

#[cfg(test)]
mod tests;
