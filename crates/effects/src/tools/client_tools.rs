//! The tools that clients bring along, by name.
//!
//! Names are compared without case, `_` and `-`: `read_file`, `ReadFile` and `readFile` are one.

use serde_json::Value as Json;

use crate::action::Action;
use crate::effect::{Depth, EffectKind, NetworkReach, Severity, Stake, Target};
use crate::interpreter::Last;
use checkrein_facts::{leads_guard, places};
use checkrein_protocol::{folded, is_same_name};
use checkrein_shell::quoted;

use crate::nature::Nature;
use crate::world::Entry;

use super::addresses;
use super::call::{PATH_KEYS, ToolCall, text_of, texts_within, values_of};
use super::patch::{self, PatchStep};
use super::runners;
use super::searches::{Chosen, GLOBS, below, choices, globs};

/// What a tool does, in as few kinds as there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Native {
    Read,
    List,
    Search,
    Write,
    Editor,
    Delete,
    Move,
    Copy,
    MakeDirectory,
    Patch,
    Fetch,
    SearchWeb,
    Delegate,
    Settings,
    Resource,
    Quiet,
}

/// Adds the effects of a tool that is known by name; `false` when it is not.
pub(crate) fn native(call: &mut ToolCall<'_>) -> bool {
    let Some(native) = known(call.tool(), is_setting(call.action())) else { return false };
    match native {
        Native::Quiet => {}
        Native::Settings => change_setting(call),
        Native::Read => each_path(call, |call, text| {
            call.read(text);
            read_chosen(call, text);
        }),
        Native::List => {
            for text in searched(call) {
                let path = call.path(text, Last::Follow);
                call.add(EffectKind::FileRead, Target::Path(path));
            }
            for folder in led_to(call, &["pattern", "glob_pattern", "patterns", "query"]) {
                let path = call.path(&folder, Last::Follow);
                call.add(EffectKind::FileRead, Target::Path(path));
            }
        }
        Native::Search => search(call),
        Native::Write => each_path(call, ToolCall::write),
        Native::Editor => match call.text(&["command"]) {
            Some("view") => each_path(call, ToolCall::read),
            Some(_) | None => each_path(call, ToolCall::write),
        },
        Native::Delete => each_path(call, |call, path| {
            let recursive = call.tool().to_ascii_lowercase().contains("dir");
            call.delete(path, if recursive { Depth::Recursive } else { Depth::Single });
        }),
        Native::Move => between_ends(call, "what it moves is not known", ToolCall::relocate),
        Native::Copy => between_ends(call, "what it copies is not known", |call, from, to| {
            call.read(from);
            call.write(to);
        }),
        Native::Resource => {
            for address in call.texts(&["uri", "uris", "url"]) {
                // A server that hands out files names them so.
                if addresses::file_path(address).is_some() {
                    call.read(address);
                } else {
                    call.read_credential(address);
                }
            }
        }
        Native::MakeDirectory => each_path(call, |call, text| {
            let path = call.path(text, Last::Follow);
            call.add(EffectKind::FileCreate, Target::Path(path));
        }),
        Native::Patch => apply_patch(call),
        Native::Fetch => fetch(call),
        Native::SearchWeb => {
            let carries = call.text(&["query", "q", "search_term"]).is_some_and(holds_encoded);
            if call.holds_secret() {
                call.add_as(EffectKind::DataUpload, Target::Unknown, |effect| {
                    effect.reach = Some(NetworkReach::External);
                    effect.severity = Severity::High;
                    effect.note = "the words hold a secret".into();
                });
            }
            call.add_as(EffectKind::NetworkRequest, Target::Unknown, |effect| {
                effect.reach = Some(NetworkReach::Known);
                if carries {
                    effect.nature = Nature::TellsOthers;
                    effect.note = "the words hold encoded text".into();
                }
            });
        }
        Native::Delegate => {
            let who = call.text(&["subagent_type", "agent", "agent_type", "name"]).unwrap_or("agent");
            call.add_as(EffectKind::ProcessSpawn, Target::Process(who.to_owned()), |effect| {
                effect.note = "its own actions are reviewed one by one".into();
            });
        }
    }
    true
}

/// The texts of a shell tool that passes them in another form: a list of words, `script`, another name.
pub(crate) fn shell_texts(action: &Action) -> Vec<String> {
    match folded(action.tool.as_str()).as_str() {
        "bash" | "shell" | "runshellcommand" | "execcommand" | "localshell" | "shellcommand" | "execute"
        | "executecommand" | "runcommand" | "runterminalcmd" | "runinterminal" | "terminal" | "monitor"
        | "runcommands" => {}
        "useaws" => return runners::aws(&action.input).into_iter().collect(),
        _ => return Vec::new(),
    }
    let input = &action.input;
    let alone = values_of(input, &["command", "cmd", "script", "command_line"]).into_iter();
    let lists = values_of(input, &["commands"]).into_iter().filter_map(runners::each);
    alone.filter_map(command_text).chain(lists).collect()
}

/// Shell text from a text, or from the words of an argument list.
pub(crate) fn command_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Array(items) => {
            let words: Vec<&str> = items.iter().map(Json::as_str).collect::<Option<_>>()?;
            match words.as_slice() {
                [] => None,
                [shell, flags, text, ..]
                    if is_shell(shell) && flags.starts_with('-') && flags.ends_with('c') =>
                {
                    Some((*text).to_owned())
                }
                all => Some(all.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
            }
        }
        Json::Object(_) => ["command", "cmd"].iter().find_map(|key| value.get(key)).and_then(command_text),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash" | "ksh"))
}

fn known(name: &str, is_setting: bool) -> Option<Native> {
    Some(match folded(name).as_str() {
        "read" | "readfile" | "readfiles" | "readmanyfiles" | "view" | "viewfile" | "notebookread"
        | "viewimage" | "openfile" | "readtextfile" | "readmediafile" | "readmultiplefiles" => Native::Read,
        "ls"
        | "list"
        | "listdirectory"
        | "listdir"
        | "listfiles"
        | "glob"
        | "filesearch"
        | "findfiles"
        | "directorytree"
        | "getfileinfo"
        | "listdirectorywithsizes" => Native::List,
        "grep" | "rg" | "grepsearch" | "searchfilecontent" | "searchfiles" | "codebasesearch"
        | "searchdirectory" => Native::Search,
        "write" | "writefile" | "create" | "createfile" | "writetofile" | "savefile" | "newfile" | "edit"
        | "multiedit" | "replace" | "editfile" | "strreplace" | "searchreplace" | "notebookedit"
        | "insert" | "smartedit" | "replaceinfile" | "editnotebook" | "insertedit" | "appendfile"
        | "appendtofile" => Native::Write,
        "strreplaceeditor" | "strreplacebasededittool" | "editor" | "texteditor" => Native::Editor,
        "delete" | "deletefile" | "removefile" | "deletedirectory" | "removedirectory" | "deletefiles" => {
            Native::Delete
        }
        "movefile" | "renamefile" | "movedirectory" | "renamedirectory" | "smartrelocate" => Native::Move,
        "copyfile" | "copydirectory" => Native::Copy,
        "createdirectory" | "makedirectory" | "mkdir" => Native::MakeDirectory,
        "applypatch" | "patch" => Native::Patch,
        "webfetch" | "fetch" | "fetchurl" | "readurl" | "readurlcontent" => Native::Fetch,
        "websearch" | "googlewebsearch" | "searchweb" => Native::SearchWeb,
        "task" | "agent" | "spawnagent" | "invokeagent" | "usesubagent" | "delegate" | "delegatetask" => {
            Native::Delegate
        }
        "config" if is_setting => Native::Settings,
        "readmcpresource" | "accessmcpresource" => Native::Resource,
        "todowrite"
        | "todoread"
        | "writetodos"
        | "updatetodo"
        | "taskcreate"
        | "taskupdate"
        | "tasklist"
        | "taskget"
        | "taskoutput"
        | "taskstop"
        | "killshell"
        | "jsreplreset"
        | "killbash"
        | "bashoutput"
        | "agentoutput"
        | "exitplanmode"
        | "enterplanmode"
        | "updateplan"
        | "askuserquestion"
        | "askuser"
        | "skill"
        | "slashcommand"
        | "activateskill"
        | "toolsearch"
        | "listmcpresources"
        | "listmcpresourcetemplates"
        | "structuredoutput"
        | "updatetopic"
        | "completetask"
        | "wait"
        | "waitagent"
        | "multiagentv1waitagent"
        | "closeagent"
        | "sendmessage"
        | "pushnotification"
        | "schedulewakeup"
        | "lsp"
        | "think"
        | "finish"
        | "attemptcompletion"
        | "complete"
        | "say"
        | "message"
        | "usermessage"
        | "reportintent"
        | "requestuserinput" => Native::Quiet,
        _ => return None,
    })
}

/// Whether a tool of a client searches in files.
pub(super) fn is_search(action: &Action) -> bool {
    known(action.tool.as_str(), is_setting(action)) == Some(Native::Search)
}

/// Whether a call has the form of the tool by which Claude Code changes its own settings.
fn is_setting(action: &Action) -> bool {
    action.input.get("setting").is_some_and(Json::is_string)
}

/// A setting of the client that decides whether hooks are called, and where they find the guard, is the guard's; without a value it is
/// only looked at.
fn change_setting(call: &mut ToolCall<'_>) {
    let name = call.text(&["setting"]).unwrap_or_default().to_owned();
    let first = name.split('.').next().unwrap_or_default();
    let leads = name.split('.').any(leads_guard);
    let is_of_hooks = matches!(folded(first).as_str(), "disableallhooks" | "hooks" | "allowmanagedhooksonly");
    if call.action().input.get("value").is_none_or(Json::is_null) {
        return;
    }
    let target = call.path("~/.claude/settings.json", Last::Follow);
    if is_of_hooks || leads {
        call.add_as(EffectKind::GuardTampering, Target::Path(target), |effect| {
            effect.stake = Stake::Critical;
            effect.severity = Severity::Critical;
            effect.reversible = false;
            effect.note = format!("changes `{name}`, by which the client calls the hooks");
        });
    } else {
        call.opaque("changes a setting of the client");
    }
}

/// What lies between each pair of ends that a call names.
fn between_ends<'a>(
    call: &mut ToolCall<'a>,
    unknown: &str,
    mut work: impl FnMut(&mut ToolCall<'a>, &'a str, &'a str),
) {
    let mut ends = call.ends();
    if ends.is_empty() {
        // Under whatever names they stand, the first is what goes, and the last where it goes.
        let rooted = call.rooted_texts();
        match (rooted.first(), rooted.last()) {
            (Some(from), Some(to)) if rooted.len() > 1 => ends.push((from, to)),
            _ => call.opaque(unknown),
        }
    }
    for (from, to) in ends {
        work(call, from, to);
    }
}

/// The paths under the names, also without the blanks around them: some clients take these off.
fn paths_of<'a>(call: &ToolCall<'a>, names: &[&[&str]]) -> Vec<&'a str> {
    let mut paths: Vec<&str> = names.iter().flat_map(|names| call.texts(names)).collect();
    let trimmed: Vec<&str> = paths.iter().map(|path| path.trim()).filter(|path| !path.is_empty()).collect();
    for path in trimmed {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn each_path<'a>(call: &mut ToolCall<'a>, mut work: impl FnMut(&mut ToolCall<'a>, &'a str)) {
    let mut paths = paths_of(call, READ);
    // Several edits may name a file each.
    for path in
        texts_within(&call.action().input, &|name| PATH_KEYS.iter().any(|key| is_same_name(key, name)))
    {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        paths = call.rooted_texts();
    }
    if paths.is_empty() {
        call.opaque("which file it means is not known");
    }
    for path in paths {
        work(call, path);
    }
}

/// Reads what a pattern of names chooses that may hold secrets, as a search does.
fn read_chosen(call: &mut ToolCall<'_>, pattern: &str) {
    let Some(name) = pattern.rsplit('/').next().filter(|_| pattern.contains('*')) else { return };
    let place = call.path(".", Last::Follow);
    if name.starts_with('.') || places::credential(&place.join(name), call.home()).is_some() {
        call.add(EffectKind::FileRead, Target::Glob(format!("{place}/{name}")));
    }
    if takes_ignored(&call.action().input) && name == "*" {
        call.add(EffectKind::FileRead, Target::Glob(format!("{place}/.env")));
    }
}

/// Whether a call says that what git ignores is taken as well.
pub(super) fn takes_ignored(input: &Json) -> bool {
    let holders = [Some(input), input.get("file_filtering_options")];
    let says_no = |holder: &Json| {
        ["respect_git_ignore", "respectGitIgnore"]
            .iter()
            .any(|field| holder.get(field).and_then(Json::as_bool) == Some(false))
    };
    holders.into_iter().flatten().any(says_no)
}

/// The patterns of names by which a tool that reads files whole chooses them (`read_many_files`); none of any other tool.
pub(super) fn read_patterns<'a>(call: &ToolCall<'a>) -> Vec<&'a str> {
    if known(call.tool(), is_setting(call.action())) != Some(Native::Read) {
        return Vec::new();
    }
    let is_pattern = |text: &&str| {
        text.contains(['*', '?', '[', '{']) && call.entry(&call.path(text, Last::Follow)) == Entry::Missing
    };
    paths_of(call, READ).into_iter().filter(is_pattern).collect()
}

/// The fields that name what is read.
const READ: &[&[&str]] = &[PATH_KEYS, &["paths", "files", "file_paths", "include"]];

/// The keys of the guard in its folder of records.
const KEYS_OF_THE_GUARD: [&str; 4] =
    ["mask.key", "server/links.key", "server/tls.key", "server/checkrein.token"];

/// Further fields that name what is searched: `target_directories` of Cursor, `SearchPath` and `SearchDirectory` of Windsurf, `dir` of Cline and Kiro
/// (their documentation).
const SEARCHED: &[&str] =
    &["target_directories", "target_directory", "search_path", "search_directory", "directories", "dir"];

/// The places that are listed or searched: where the session is, when none is named.
pub(super) fn searched<'a>(call: &ToolCall<'a>) -> Vec<&'a str> {
    let mut places = paths_of(call, &[PATH_KEYS, &["paths"], SEARCHED]);
    if places.is_empty() {
        places.push(".");
    }
    places
}

/// A search reads what it searches: one file, or what a name pattern picks. The rest of a tree is not named, so it is one
/// read of the directory.
fn search(call: &mut ToolCall<'_>) {
    for text in searched(call) {
        search_at(call, text);
    }
    for folder in led_to(call, GLOBS) {
        call.search_credentials(&folder);
        let path = call.path(&folder, Last::Follow);
        call.add_as(EffectKind::FileRead, Target::Path(path), |effect| effect.depth = Depth::Recursive);
    }
}

/// The places that patterns in these fields lead to, beside those that are searched.
fn led_to(call: &ToolCall<'_>, fields: &[&str]) -> Vec<String> {
    let places = searched(call);
    let chosen = call.texts(fields).into_iter().flat_map(globs).flat_map(choices);
    let folders = chosen.filter_map(|chosen| match chosen {
        Chosen::Elsewhere(folder, _) => Some(folder),
        Chosen::Within(_) => None,
    });
    folders
        .flat_map(|folder| places.iter().map(move |place| below(place, &folder)).collect::<Vec<_>>())
        .collect()
}

fn search_at(call: &mut ToolCall<'_>, text: &str) {
    let path = call.path(text, Last::Follow);
    let home = call.home();
    // A pattern chooses by the last part of a path, at any depth.
    let patterns: Vec<Chosen> = call.texts(GLOBS).into_iter().flat_map(globs).flat_map(choices).collect();
    let names = patterns.iter().filter_map(|chosen| match chosen {
        Chosen::Within(pattern) => pattern.rsplit('/').next(),
        Chosen::Elsewhere(..) => None,
    });
    let telling: Vec<&str> = names
        .filter(|name| name.starts_with('.') || places::credential(&path.join(name), home).is_some())
        .collect();
    for pattern in telling {
        call.add(EffectKind::FileRead, Target::Glob(format!("{path}/{pattern}")));
    }
    // The folder that the guard keeps its records in is no folder of secrets, but holds keys.
    for below in KEYS_OF_THE_GUARD {
        for key in [path.join(below), path.join("checkrein").join(below)] {
            let is_there = matches!(call.entry(&key), Entry::File(_));
            if is_there && places::credential(&key, home).is_some() {
                call.add(EffectKind::FileRead, Target::Path(key));
            }
        }
    }
    call.search_credentials(text);
    call.add_as(EffectKind::FileRead, Target::Path(path), |effect| effect.depth = Depth::Recursive);
}

fn apply_patch(call: &mut ToolCall<'_>) {
    let keys = ["command", "input", "patch", "patchText", "patch_text", "diff"];
    let input = &call.action().input;
    let given = keys.iter().filter_map(|key| input.get(key)).chain(input.is_string().then_some(input));
    let texts = given.flat_map(|value| match value {
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        other => Vec::from_iter(other.as_str()),
    });
    let steps: Vec<PatchStep> = texts.filter_map(patch::parse).flatten().collect();
    if steps.is_empty() {
        // Some clients call their plain edit tool `patch`.
        if text_of(input, PATH_KEYS).is_some() {
            each_path(call, ToolCall::write);
        } else {
            call.opaque("the patch is not understood");
        }
        return;
    }
    for step in &steps {
        take(call, step);
    }
}

/// Does what one step of a patch says.
pub(super) fn take(call: &mut ToolCall<'_>, step: &PatchStep) {
    match step {
        PatchStep::Add(path) | PatchStep::Update(path) => call.write(path),
        PatchStep::Move(from, to) => call.relocate(from, to),
        PatchStep::Delete(path) => call.delete(path, Depth::Single),
    }
}

/// From how many letters on a word of a question can carry data (ours): hashes and names are shorter or without capital letters.
const ENCODED: usize = 72;

/// Whether a question holds text that is no word and no hash: data that was encoded.
fn holds_encoded(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        word.len() >= ENCODED
            && word.chars().all(|sign| sign.is_ascii_alphanumeric() || "+/=-_".contains(sign))
            && word.contains(|sign: char| sign.is_ascii_uppercase())
            && word.contains(|sign: char| sign.is_ascii_lowercase())
            && word.matches('/').count() * 12 < word.len()
    })
}

/// A word in parts at its square brackets, but for those around the number of a host.
fn without_brackets(word: &str) -> Vec<&str> {
    if word.contains("://[") { vec![word.trim_start_matches('[')] } else { word.split(['[', ']']).collect() }
}

/// Whether a word of a text is an address, whatever the case of its scheme.
fn is_address(word: &str) -> bool {
    let Some((scheme, rest)) = word.split_once(':') else { return false };
    let is = |name: &str| scheme.eq_ignore_ascii_case(name);
    is("file") || (is("http") || is("https")) && !rest.trim_start_matches(['/', '\\']).is_empty()
}

/// The address is an argument, or stands in the text of the request.
fn fetch(call: &mut ToolCall<'_>) {
    let mut addresses = call.texts(&["url", "urls", "uri", "address"]);
    if addresses.is_empty() {
        let prompt = call.text(&["prompt", "query", "instruction"]).unwrap_or_default();
        addresses = prompt
            .split(|character: char| character.is_whitespace() || "\"'<>(){},`".contains(character))
            .flat_map(without_brackets)
            .filter(|word| is_address(word))
            .collect();
    }
    if addresses.is_empty() {
        call.add_as(EffectKind::NetworkRequest, Target::Unknown, |effect| {
            effect.reach = Some(NetworkReach::External);
        });
    }
    for address in addresses {
        call.fetch(address);
    }
}
