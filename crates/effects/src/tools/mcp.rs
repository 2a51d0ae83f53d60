//! Tools of servers that a user has connected (MCP), and any other tool: understood by the words of their names (`names`).
//!
//! The input is written by the agent, so hints in it may only make a call look graver, never milder.

mod beside;
mod names;
mod questions;
mod shapes;
mod unfolded;

use checkrein_protocol::{folded, is_same_name};
use serde_json::Value as Json;

use crate::action::Action;
use crate::effect::{Certainty, Depth, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::Last;
use crate::nature::Nature;

use super::call::{DEPTH, PATH_KEYS, SOURCE_KEYS, ToolCall, is_rooted, texts_of, texts_within};
use crate::path::AbsolutePath;
use crate::places;

use super::addresses;
use super::client_tools::take;
use super::free_form;
use super::handed;
use super::runners::{self, Called};
use super::typed;
use super::variables::with_variables;
use names::{Deed, Name, deed_of, split};
use questions::is_sql;
pub(crate) use questions::{further_sql_texts, sql_texts};
use shapes::{is_output, path_texts};
pub(crate) use unfolded::{UnfoldedCall, unfolded};

/// Whether a text among the arguments of a tool says what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Explained {
    /// Only its name and the other arguments do.
    No,
    /// A command, code or SQL does. The other arguments count all the same: which of them the tool reads is not known.
    ByText,
}

/// Adds the effects of a tool that is known only by its name and its arguments.
pub(crate) fn foreign(call: &mut ToolCall<'_>, explained: Explained) {
    let name = split(call.tool());
    let mut deed = deed_of(&name.words);
    let input = &call.action().input;
    if hints_destruction(input) && deed.is_none_or(|deed| deed > Deed::Look) {
        deed = Some(Deed::Destroy);
    } else if names_typing(&name)
        && call.rooted_texts().is_empty()
        && typed::typing(call.action()).is_some_and(|typing| typing.is_signal())
    {
        // A key that ends or stops what runs there.
        deed = Some(Deed::Quiet);
    } else if explained == Explained::ByText && names_typing(&name) {
        deed = Some(Deed::Run);
    }
    let paths = file_paths(call, deed, &name);
    if deed.is_none_or(|deed| deed > Deed::Look) {
        call.reach_guard();
    }
    if explained == Explained::No && may_write(deed, &name) {
        call.reach_persistence(&further_outputs(call));
    }
    let sets_up =
        deed == Some(Deed::Change) && name.has(STARTED_LATER) && runners::holds_command(&call.action().input);
    if sets_up {
        let tool = call.tool().to_owned();
        call.add_as(EffectKind::Persistence, Target::Service(tool), |effect| {
            effect.note = "sets up a command that runs later by itself".into();
        });
    }
    reach_beside(call, deed);
    reach_addresses(call, deed, &name);
    let says_destruction = beside::says_destruction(input)
        || makes_requests(deed, &name) && beside::asks_deletion(input)
        || !name.begins_with(TALKING) && beside::deletes_by_mutation(input);
    if deed != Some(Deed::Destroy) && !is_about_files(&name) && says_destruction {
        destroy_elsewhere(call);
    }
    let (paths, kept) = told_apart(call, deed, &name, paths);
    on_files(call, deed, &name, &paths, explained);
    for goal in &kept {
        keep(call, goal);
    }
    let is_grave = deed.is_some_and(|deed| deed >= Deed::Publish);
    // A grave deed may be on what else it names, unless its name says that it is about files.
    let is_of_files = is_about_files(&name) || paths.iter().any(|path| is_rooted(path)) && !names_more(call);
    // What a tool for files writes stays here.
    let stays = (is_of_files || !paths.is_empty() && deed != Some(Deed::Look) && !is_grave)
        && !beside::names_place_elsewhere(&call.action().input);
    if deed != Some(Deed::Quiet) && !stays {
        hand_over(call, &name, explained);
    }
    if !paths.is_empty() && (is_of_files || !is_grave) {
        return;
    }
    if explained == Explained::ByText && !is_grave {
        return;
    }
    let tool = call.tool().to_owned();
    match deed {
        None | Some(Deed::Change | Deed::Run) if moves_money(&name) => {
            call.add_as(EffectKind::InfrastructureChange, Target::Service(tool), |effect| {
                effect.severity = Severity::High;
                effect.note = "moves money".into();
            });
        }
        Some(Deed::Quiet) => {}
        // What it changes is what runs later.
        Some(Deed::Change) if sets_up => {}
        Some(Deed::Look) => look(call, &name),
        Some(Deed::Change) if name.words.iter().any(|word| word == "push" || word == "merge") => {
            let reference = call.text(&["branch", "ref", "head", "base"]).unwrap_or(&tool).to_owned();
            let is_forced = is_forced(&call.action().input, DEPTH);
            let kind = if is_forced { EffectKind::VcsHistoryRewrite } else { EffectKind::VcsRemoteUpdate };
            call.add_as(kind, Target::Reference(reference), |effect| {
                effect.certainty = Certainty::Possible;
                if is_forced {
                    effect.note = "replaces what the branch holds there".into();
                }
            });
        }
        Some(Deed::Change) => call.add_as(EffectKind::DatastoreChange, Target::Service(tool), |effect| {
            effect.certainty = Certainty::Possible;
            if name.words.iter().any(|word| SAID_TO_OTHERS.contains(&word.as_str())) {
                effect.nature = Nature::TellsOthers;
            }
            effect.note = "changes data of a connected service".into();
        }),
        Some(Deed::Publish) => call.add_as(EffectKind::Publish, Target::Service(tool), |effect| {
            effect.certainty = Certainty::Possible;
        }),
        Some(Deed::Destroy) => destroy_elsewhere(call),
        Some(Deed::Run) => call.opaque("what it runs is not understood"),
        None => call.opaque("what the tool does is not known"),
    }
}

/// Words of the names of tools that move money (ours; the references of Stripe, PayPal, Square, Plaid, Adyen, Alpaca).
const MONEY: &[&str] = &[
    "pay",
    "payout",
    "payouts",
    "refund",
    "refunds",
    "charge",
    "charges",
    "withdraw",
    "withdrawal",
    "purchase",
    "buy",
    "sell",
    "trade",
];

/// Whether a tool moves money, by the words of its name.
fn moves_money(name: &Name) -> bool {
    name.has(MONEY) || name.begins_with(&["place", "submit"]) && name.has(&["order", "bid"])
}

/// Words of the names of tools that send a request which they are given (ours).
const REQUESTING: &[&str] = &["request", "requests", "api", "http", "https", "rest", "fetch", "call", "curl"];

/// Whether a tool may send a request that its fields spell out: of one that looks or keeps something they are what it is about.
fn makes_requests(deed: Option<Deed>, name: &Name) -> bool {
    match deed {
        None | Some(Deed::Run | Deed::Publish) => true,
        Some(Deed::Look | Deed::Change) => name.has(REQUESTING),
        Some(Deed::Quiet | Deed::Destroy) => false,
    }
}

/// Words of tools that do something with a file which they are told, and do not write it (ours).
const KEEPING: &[&str] = &["upload", "import", "click", "type", "fill", "press", "drag", "stage", "commit"];

/// Whether a tool may write what it is told under a name that says nothing of it.
fn may_write(deed: Option<Deed>, name: &Name) -> bool {
    match deed {
        None | Some(Deed::Change | Deed::Run) => !name.has(KEEPING),
        Some(Deed::Quiet | Deed::Look | Deed::Publish | Deed::Destroy) => false,
    }
}

/// The texts in fields for what comes out, where they are about files of this machine.
fn further_outputs<'a>(call: &ToolCall<'a>) -> Vec<&'a str> {
    let input = &call.action().input;
    if beside::names_place_elsewhere(input) {
        return Vec::new();
    }
    let mut all = nested(input, OUTPUTS);
    all.extend(call.goals());
    all
}

fn destroy_elsewhere(call: &mut ToolCall<'_>) {
    let tool = call.tool().to_owned();
    call.add_as(EffectKind::DatastoreDestroy, Target::Service(tool), |effect| {
        effect.severity = Severity::High;
        effect.note = "destroys data of a connected service".into();
    });
}

/// Does what fields of any name say of files: patches are applied, addresses of files are read, and what a folder and a name come to is what
/// the tool works on.
fn reach_beside(call: &mut ToolCall<'_>, deed: Option<Deed>) {
    let input = &call.action().input;
    if deed == Some(Deed::Quiet) {
        return;
    }
    for address in beside::file_addresses(input) {
        call.read(address);
        if let Some(path) = addresses::whole_file_path(address) {
            call.read(&path);
        }
    }
    for address in texts_within(input, &|_| true).into_iter().filter(|text| text.contains("://")) {
        call.read_credential(address);
    }
    let only_looks = deed.is_some_and(|deed| deed <= Deed::Look);
    if !only_looks {
        for step in beside::patch_steps(input) {
            take(call, &step);
        }
    }
    for path in beside::paths_in_folders(input) {
        match deed {
            Some(Deed::Quiet | Deed::Look) => call.read(&path),
            Some(Deed::Destroy) if call.stands(&path) => call.delete(&path, Depth::Single),
            Some(Deed::Change) => call.write(&path),
            Some(Deed::Destroy | Deed::Publish | Deed::Run) | None => {}
        }
    }
    // What lies among credentials may be sent, whatever the field is called.
    let shown: Vec<&str> = call.rooted_texts().into_iter().filter(|text| call.is_credential(text)).collect();
    let name = split(call.tool());
    let looks_for = deed.is_none_or(|deed| deed == Deed::Look) && beside::looks_for_text(input)
        || name.has(&["knowledge", "index", "ingest", "embed"]);
    for place in call.rooted_texts().into_iter().filter(|_| looks_for) {
        call.search_credentials(place);
    }
    if deed.is_none_or(|deed| deed != Deed::Destroy) {
        for path in shown {
            call.read(path);
        }
    }
}

/// Hands a secret over that stands in the input, to whoever serves the tool. A command or SQL is followed by itself.
fn hand_over(call: &mut ToolCall<'_>, name: &Name, explained: Explained) {
    let is_followed = |value: &Json| {
        let text = value.as_str().unwrap_or_default();
        explained == Explained::ByText && (is_sql(text) || runners::begins_with_program(text))
    };
    let input = &call.action().input;
    let found = match input.as_object() {
        Some(fields) => {
            fields.values().filter(|value| !is_followed(value)).find_map(|value| handed::secret(value))
        }
        None => handed::secret(input),
    };
    let known =
        || handed::known(input, &call.secret_settings()).then_some("a secret of the project's settings");
    let Some(what) = found.or_else(|| handed::cut(input)).or_else(known) else { return };
    let host = if name.server.is_empty() { call.tool().to_owned() } else { name.server.clone() };
    call.add_as(EffectKind::DataUpload, Target::Host(host), |effect| {
        effect.reach = Some(NetworkReach::External);
        effect.severity = Severity::High;
        effect.note = format!("hands {what} to a connected service");
    });
}

/// Whether an input says that something is done by force, in itself or in one of the objects in it.
fn is_forced(input: &Json, depth: usize) -> bool {
    let Some(fields) = input.as_object() else { return false };
    fields.iter().any(|(name, value)| match value {
        Json::Bool(true) => {
            matches!(folded(name).as_str(), "force" | "forcepush" | "forced" | "f")
        }
        Json::Object(_) => depth > 1 && is_forced(value, depth - 1),
        Json::Array(items) => items.iter().any(|item| matches!(item.as_str(), Some("--force" | "-f"))),
        Json::Null | Json::Bool(false) | Json::Number(_) | Json::String(_) => false,
    })
}

/// The paths that folders and names come to which stand beside each other.
pub(super) fn paths_in_folders(input: &Json) -> Vec<String> {
    beside::paths_in_folders(input)
}

/// Whether a tool types into what runs: it sends nothing to anybody.
pub(crate) fn types_into_programs(action: &Action) -> bool {
    names_typing(&split(action.tool.as_str()))
}

fn names_typing(name: &Name) -> bool {
    let has = |table: &[&str]| name.words.iter().any(|word| table.contains(&word.as_str()));
    has(SPEAKING) && (has(SPOKEN_TO) || name.server.split(['-', '_']).any(|part| SPOKEN_TO.contains(&part)))
}

/// The shell texts of a tool that runs commands, by every field that may be the one that it reads.
pub(crate) fn shell_texts(action: &Action) -> Vec<String> {
    let name = split(action.tool.as_str());
    let called = Called { server: &name.server, words: &name.words };
    let deed = deed_of(&name.words);
    let has = |table: &[&str]| name.words.iter().any(|word| table.contains(&word.as_str()));
    let runs = deed == Some(Deed::Run)
        || SHELLS.contains(&name.server.as_str())
        || has(&["repl", "execute", "executor", "kubectl", "batch", "applescript"]);
    let input = &action.input;
    let read = |input: &Json| {
        let mut own = runners::programs(input);
        own.extend(runners::commands(input, called));
        own.extend(runners::codes(input, called));
        own
    };
    let mut all = Vec::new();
    // A line of a multiplexer (`interactive_bash` of oh-my-opencode).
    all.extend(texts_of(input, &["tmux_command"]).map(|text| format!("tmux {text}")));
    if deed.is_none_or(|deed| deed >= Deed::Run) {
        all.extend(runners::lines(input));
    }
    all.extend(runners::of_program_by_name(called, input));
    all.extend(runners::setting_of_git(called, input));
    all.extend(runners::servers(input));
    all.extend(runners::unasked_agent(input).map(str::to_owned));
    if runs {
        all.extend(read(input));
        all.extend(runners::wrapped(input, read));
        let further = runners::further_lines(input, &all);
        all.extend(further);
    } else if has(STARTING) {
        all.extend(runners::programs(input));
    } else if deed.is_none() && runners::names_language(called) {
        all.extend(runners::codes(input, called));
    }
    with_variables(input, all)
}

/// Words with which the names of tools begin that only speak of a command that they are given (ours).
const TALKING: &[&str] = &[
    "think",
    "thinking",
    "sequentialthinking",
    "reflect",
    "plan",
    "explain",
    "describe",
    "help",
    "search",
    "find",
    "lookup",
    "history",
    "summarize",
    "parse",
    "lint",
    "translate",
    "analyze",
    "analyse",
    "validate",
    "echo",
];

/// The shell texts that a tool is given whose name says nothing of a shell: a `command` that begins with a program is one, unless the
/// tool only speaks of it.
pub(crate) fn further_shell_texts(action: &Action) -> Vec<String> {
    let name = split(action.tool.as_str());
    if name.begins_with(TALKING) {
        return Vec::new();
    }
    let read = |input: &Json| {
        let mut all = runners::commands_alone(input);
        all.extend(runners::lines(input));
        all.extend(runners::programs(input));
        all.retain(|text| runners::begins_with_program(text));
        all
    };
    let mut all = read(&action.input);
    all.extend(runners::wrapped(&action.input, read));
    if deed_of(&name.words).is_none_or(|deed| deed == Deed::Run) {
        let alone = free_form::only_text(&action.input).filter(|text| runners::is_command(text));
        all.extend(alone.map(str::to_owned));
    }
    with_variables(&action.input, all)
}

/// Whether a tool of a server searches in files, by its name and that of its server.
pub(super) fn is_search(action: &Action) -> bool {
    let name = split(action.tool.as_str());
    let has = |table: &[&str]| name.words.iter().any(|word| table.contains(&word.as_str()));
    let is_called_so = |part: &str| matches!(part, "grep" | "rg" | "ripgrep");
    name.words.iter().any(|word| is_called_so(word))
        || name.server.split(['-', '_']).any(is_called_so)
        || has(&["search"]) && has(&["content", "contents", "text", "code", "within"])
}

/// What tools are called that start a program.
const STARTING: &[&str] = &["process", "launch", "start", "exec", "spawn"];

/// What tools are called that type something into what runs, and what that is (ours; Desktop Commander's `interact_with_process`, iTerm's
/// `write_to_terminal`).
const SPEAKING: &[&str] = &["interact", "send", "write", "input", "type", "press"];
const SPOKEN_TO: &[&str] = &[
    "process",
    "terminal",
    "shell",
    "session",
    "stdin",
    "repl",
    "console",
    "keys",
    "tmux",
    "pane",
    "pty",
    "bash",
    "powershell",
    "control",
];

/// Words of tools that set something up which runs at another time (ours; `createHook` of Kiro).
const STARTED_LATER: &[&str] = &["hook", "hooks", "trigger", "cron", "automation", "autostart", "startup"];

/// Servers whose business is running commands.
const SHELLS: &[&str] =
    &["shell", "terminal", "bash", "commander", "desktop-commander", "iterm", "ssh", "exec"];

/// Words of tools that put what they are given before other people (ours, after the servers of GitHub, GitLab, Slack, Jira, Notion and mail).
const SAID_TO_OTHERS: &[&str] = &[
    "comment", "email", "gist", "invite", "issue", "mail", "message", "post", "pull", "reply", "review",
    "submit", "ticket", "upload",
];
/// `destructiveHint` of the protocol. `readOnlyHint` is not believed: see the head of this module.
fn hints_destruction(input: &Json) -> bool {
    let holders =
        [Some(input), input.get("annotations"), input.get("_meta"), input.pointer("/_meta/annotations")];
    holders
        .into_iter()
        .flatten()
        .any(|holder| holder.get("destructiveHint").and_then(Json::as_bool) == Some(true))
}

/// Whether the name of a tool, or of its server, says that it is about files.
fn is_about_files(name: &Name) -> bool {
    let words = ["fs", "file", "files", "filesystem", "directory", "folder", "dir"];
    let is_one = |part: &str| words.contains(&part);
    name.words.iter().any(|word| is_one(word)) || name.server.split(['-', '_']).any(is_one)
}

/// Whether a call names something beside its paths.
fn names_more(call: &ToolCall<'_>) -> bool {
    let fields = call.action().input.as_object();
    fields.into_iter().flatten().any(|(name, value)| {
        !PATH_KEYS.iter().any(|key| is_same_name(key, name))
            && value.as_str().is_some_and(|text| !text.is_empty())
    })
}

/// The texts that stand under one of the names anywhere in an input.
fn nested<'a>(input: &'a Json, names: &[&str]) -> Vec<&'a str> {
    texts_within(input, &|name| names.iter().any(|wanted| is_same_name(wanted, name)))
}

/// Whether a path within an object is one of this machine, and not of a service: those of servers of the web begin with `/` as well.
fn is_of_user(call: &ToolCall<'_>, path: &str) -> bool {
    let is_here =
        |path: &AbsolutePath| path.is_within(call.home()) || places::machine_credential(path).is_some();
    is_rooted(path) && (!path.starts_with('/') || is_here(&call.path(path, Last::Keep)))
}

/// The files that a call names: paths under the usual names, when they are absolute or the tool is about files.
fn file_paths<'a>(call: &ToolCall<'a>, deed: Option<Deed>, name: &Name) -> Vec<&'a str> {
    let about_files = is_about_files(name);
    let mut paths = call.texts(PATH_KEYS);
    if name.has(MOVING) || name.has(COPYING) {
        paths.extend(call.texts(SOURCE_KEYS));
    }
    paths.extend(call.texts(&["paths", "files", "file_paths"]));
    // Servers take their arguments within objects, too, some of which are named by themselves alone, and some by their keys.
    let mut told = nested(&call.action().input, PATH_KEYS);
    told.extend(path_texts(&call.action().input));
    told.extend(keys_that_are_paths(&call.action().input));
    let is_meant = |path: &&str| about_files || is_of_user(call, path);
    for path in told.into_iter().filter(is_meant) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if about_files && paths.is_empty() {
        paths.extend(call.texts(&["uri", "uris", "target"]));
        paths.extend(call.goal().filter(|_| call.text(SOURCE_KEYS).is_none()));
    }
    paths.retain(|path| {
        let is_address = path.contains("://") && addresses::file_path(path).is_none();
        !is_address && !path.contains('\n') && (is_rooted(path) || about_files)
    });
    if call.text(&["file_path"]).is_some() && paths.is_empty() {
        paths = call.texts(&["file_path"]);
    }
    // What takes something away, or to another place, may be told of it under any name.
    let takes_away = deed == Some(Deed::Destroy) || name.has(MOVING);
    if takes_away && paths.is_empty() && call.ends().is_empty() {
        paths = call.rooted_texts();
        paths.retain(|path| about_files || is_of_user(call, path));
    }
    paths
}

/// The keys of objects in an input that are paths: `{"edits": {"/home/dev/a": ...}}`.
fn keys_that_are_paths(input: &Json) -> Vec<&str> {
    match input {
        Json::Object(fields) => {
            let own = fields.keys().map(String::as_str).filter(|key| is_rooted(key));
            own.chain(fields.values().flat_map(keys_that_are_paths)).collect()
        }
        Json::Array(items) => items.iter().flat_map(keys_that_are_paths).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}

/// Words of tools that take a file to another place, and of those that make a second one of it (ours).
const MOVING: &[&str] = &["move", "rename", "relocate", "mv"];
const COPYING: &[&str] = &["copy", "cp", "duplicate", "clone"];

fn on_files(call: &mut ToolCall<'_>, deed: Option<Deed>, name: &Name, paths: &[&str], explained: Explained) {
    let has = |words: &[&str]| name.has(words);
    let goal = call.goal();
    for path in paths {
        match (deed, goal) {
            (Some(Deed::Quiet | Deed::Look), _) => call.read(path),
            (Some(Deed::Change), Some(goal)) if has(MOVING) => call.relocate(path, goal),
            (Some(Deed::Change), Some(goal)) if has(COPYING) => {
                call.read(path);
                call.write(goal);
            }
            (Some(Deed::Change), _) if has(&["upload", "import"]) => {
                call.read(path);
                let server =
                    if name.server.is_empty() { call.tool().to_owned() } else { name.server.clone() };
                call.add_as(EffectKind::DataUpload, Target::Host(server), |effect| {
                    effect.reach = Some(NetworkReach::External);
                });
            }
            (Some(Deed::Change), _) if has(&["mkdir", "directory", "folder"]) => {
                let made = call.path(path, Last::Follow);
                call.add(EffectKind::FileCreate, Target::Path(made));
            }
            (Some(Deed::Change), _) => call.write(path),
            (Some(Deed::Publish), _) => {
                call.read(path);
                let server =
                    if name.server.is_empty() { call.tool().to_owned() } else { name.server.clone() };
                call.add_as(EffectKind::DataUpload, Target::Host(server), |effect| {
                    effect.reach = Some(NetworkReach::External);
                });
            }
            (Some(Deed::Destroy), _) => {
                let recursive = has(&["directory", "folder", "dir", "tree", "rm"]);
                call.delete(path, if recursive { Depth::Recursive } else { Depth::Single });
            }
            // Of a tool that says nothing a change must be expected: the file may be what it works on.
            (Some(Deed::Run) | None, _) => match explained {
                Explained::No => {
                    call.write(path);
                    call.opaque("what the tool does with the file is not known");
                }
                // A directory is where it runs.
                Explained::ByText if call.is_directory(path) => {}
                Explained::ByText => call.write(path),
            },
        }
    }
}

/// Words of tools that look at something elsewhere and leave what they saw in a file that they are told.
const LEAVING: &[&str] =
    &["download", "screenshot", "snapshot", "pdf", "capture", "record", "extract", "export", "save", "trace"];
/// Those of them that leave it under the path that they are told, since what they look at has none.
const LEAVING_ALONE: &[&str] = &["screenshot", "snapshot", "pdf", "capture", "record", "trace"];
/// Fields that say where a tool leaves what it saw (ours, after servers for browsers, downloads, archives and files of other machines).
const OUTPUTS: &[&str] = &[
    "destination",
    "destination_path",
    "destinationPath",
    "dest",
    "dst",
    "output",
    "output_path",
    "outputPath",
    "output_file",
    "outputFile",
    "output_dir",
    "outputDir",
    "out",
    "save_path",
    "savePath",
    "save_to",
    "saveTo",
    "save_as",
    "saveAs",
    "save_dir",
    "saveDir",
    "download_path",
    "downloadPath",
    "download_dir",
    "downloadDir",
    "local_path",
    "localPath",
    "local_file",
    "localFile",
    "target_path",
    "targetPath",
    "extract_to",
    "extractTo",
];

/// The files that a tool reads, and those in which it leaves what it saw. Only a tool that looks has the latter: those of other deeds are in
/// what they change.
fn told_apart<'a>(
    call: &ToolCall<'a>,
    deed: Option<Deed>,
    name: &Name,
    paths: Vec<&'a str>,
) -> (Vec<&'a str>, Vec<&'a str>) {
    if deed.is_none_or(|deed| deed > Deed::Look) {
        return (paths, Vec::new());
    }
    let has = |table: &[&str]| name.words.iter().any(|word| table.contains(&word.as_str()));
    let is_local = is_about_files(name) || has(LEAVING);
    let mut kept: Vec<&str> =
        call.goals().into_iter().filter(|goal| is_rooted(goal) && !goal.contains('\n')).collect();
    let input = &call.action().input;
    let is_fetched = addresses::names_address(input);
    for output in nested(input, OUTPUTS).into_iter().filter(|_| is_local) {
        if !output.contains("://") && !output.contains('\n') && !kept.contains(&output) {
            kept.push(output);
        }
    }
    if is_fetched && !beside::names_place_elsewhere(input) {
        // What it fetches comes to the place that it is told.
        let told = texts_within(input, &is_output).into_iter().filter(|text| shapes::is_file(text));
        let stands_in_folder = |path: &&str| {
            is_rooted(path) && shapes::folder_of(path) != "/" && call.is_directory(shapes::folder_of(path))
        };
        for path in told.chain(paths.iter().copied().filter(stands_in_folder)) {
            if !kept.contains(&path) {
                kept.push(path);
            }
        }
    }
    // What is found by an address or a number lies elsewhere: the path is where it comes to.
    let lies_elsewhere = has(LEAVING_ALONE) || has(LEAVING) && kept.is_empty() && names_more(call);
    if !lies_elsewhere {
        return (paths.into_iter().filter(|path| !kept.contains(path)).collect(), kept);
    }
    let told = if paths.is_empty() { nested(&call.action().input, PATH_KEYS) } else { paths };
    kept.extend(told.into_iter().filter(|path| !path.contains("://") && !path.contains('\n')));
    (Vec::new(), kept)
}

/// Leaves something in a file, or under a name that is not known in a directory.
fn keep(call: &mut ToolCall<'_>, goal: &str) {
    if call.is_directory(goal) {
        let path = call.path(goal, Last::Follow);
        call.add_as(EffectKind::FileModify, Target::Path(path), |effect| {
            effect.depth = Depth::Recursive;
            effect.note = "what it leaves there is not known".into();
        });
    } else {
        call.write(goal);
    }
}

/// Talks to the hosts of the addresses that a call names, under whatever names: whoever looks asks them all, others those of which more comes.
fn reach_addresses(call: &mut ToolCall<'_>, deed: Option<Deed>, name: &Name) {
    let input = &call.action().input;
    let only_looks = deed == Some(Deed::Look);
    if only_looks {
        for address in call.texts(&["url", "urls", "uri"]) {
            if addresses::web_address(address).is_none() {
                call.fetch(address);
            }
        }
    } else if deed == Some(Deed::Publish) || !makes_requests(deed, name) {
        return;
    }
    let told = call.texts(&["url", "urls", "uri"]);
    for address in addresses::web_addresses(input) {
        // A server is asked about its own pages by their addresses.
        let is_own = || !told.contains(&address.as_str()) && addresses::is_host_of(&address, &name.server);
        if only_looks && !is_own() || call.is_grave_address(&address) {
            call.fetch(&address);
        }
    }
}

fn look(call: &mut ToolCall<'_>, name: &Name) {
    if call.texts(&["url", "urls", "uri"]).is_empty()
        && addresses::web_addresses(&call.action().input).is_empty()
    {
        let server = if name.server.is_empty() { call.tool().to_owned() } else { name.server.clone() };
        call.ask_service(&server);
    }
}
