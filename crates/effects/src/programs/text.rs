//! Programs that work on text and may write more than their output: `sed`, `awk`, `sort`, editors.

pub(crate) mod awk;
pub(crate) mod patches;
pub(crate) mod sed;
mod vim;

use super::emptied::remove_emptied;
use crate::effect::{EffectKind, Target};
use crate::guard::{OF_PATCH, UNBOUND};
use crate::interpreter::filters::{Editor, edit_takes_values_away, edited_in_place};
use crate::interpreter::{AimedTarget, Arguments, Call, Draft, Exit, Input, Machine, Output, Status, Value};
use crate::nature::Nature;
use crate::world::Entry;
use patches::{FilePatch, Fit};

/// `sort`
pub(crate) fn sort(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    for operand in &arguments.operands {
        machine.read(operand);
    }
    if let Some(list) = arguments.value(&["--files0-from"]) {
        let names = match list.as_exact() {
            Some("-") => Output::from_input(&call.input),
            Some(_) | None => machine.read(list),
        };
        // Each name ends with a byte of zero.
        if let Output::Text(Value::Exact(names)) = names {
            for name in names.split('\0').filter(|name| !name.is_empty()) {
                machine.read(&Value::exact(name));
            }
        }
    }
    if let Some(program) = arguments.value(&["--compress-program"]) {
        let words = [program.clone(), Value::exact("-d")];
        machine.possibly(|machine| machine.run_words(&words, Input::Unknown));
    }
    if let Some(file) = arguments.value(&["-o", "--output"]) {
        machine.write(file);
        return Exit::silent();
    }
    Exit::unknown()
}

/// `vim`, `vi`, `nvim`, `ex`, `emacs`, `nano`, ... when no one types: commands given as words.
pub(crate) fn editor(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut commands: Vec<Value> = arguments.values(&["-c", "--cmd", "+"]).cloned().collect();
    let mut files: Vec<Value> = Vec::new();
    for operand in &arguments.operands {
        match super::files::after(operand, "+") {
            Some(command) => commands.push(command),
            None => files.push(operand.clone()),
        }
    }
    let mut opened: Vec<Value> = Vec::new();
    let mut writes = call.input != Input::Inherited;
    // Files of commands that run first; some names stand for none.
    for file in arguments.values(&["-S", "-u", "-U"]) {
        if !matches!(file.as_exact(), Some("NONE" | "NORC" | "DEFAULTS")) {
            vim::source(machine, &call.program, file);
        }
    }
    // What is typed, and how long the start takes, is kept.
    for file in arguments.values(&["-W"]) {
        machine.write(file);
    }
    for file in arguments.values(&["-w", "--startuptime"]) {
        machine.possibly(|machine| machine.write(file));
    }
    commands.extend(vim::typed(machine, call));
    vim::sent(machine, call);
    let mut buffer = match files.first() {
        Some(file) if !commands.is_empty() => machine.read(file).into_input(),
        Some(_) | None => Input::Inherited,
    };
    for command in &commands {
        let text = command.known_start();
        let text = text.trim_start_matches([':', '%', ' ']);
        if let Some(file) = vim::brought(text) {
            buffer = machine.read(&at_home(machine, file)).into_input();
        }
        let parts = text.split(['|', '\n']);
        opened.extend(parts.filter_map(vim::opened).map(|file| at_home(machine, file)));
        vim::run(machine, text, &buffer);
        if let Some(shell) = text.strip_prefix('!') {
            machine.run_text(&Value::exact(shell), Input::Inherited);
        } else if let Some(shell) = text.strip_prefix("silent !").or_else(|| text.strip_prefix("silent! !")) {
            machine.run_text(&Value::exact(shell), Input::Inherited);
        } else if let Some(file) = ["source! ", "source ", "so! ", "so ", "runtime "]
            .iter()
            .find_map(|order| text.strip_prefix(order))
        {
            let file = file.split(['|', '\n']).next().unwrap_or_default().trim();
            vim::source(machine, &call.program, &Value::exact(file));
        } else if ["luafile ", "pyfile ", "py3file ", "pyxfile ", "rubyfile "]
            .iter()
            .any(|order| text.starts_with(order))
        {
            machine.opaque(format!("`{}` runs code of its own", call.program));
        }
        for file in written_by(text) {
            machine.write(&at_home(machine, file));
        }
        let unnamed = text.split(['|', '\n']).filter(|part| written_by(part).next().is_none());
        let saves = unnamed.flat_map(|part| part.split(' ')).any(|part| {
            matches!(
                part.trim_start_matches([':', '%']),
                "w" | "wq"
                    | "x"
                    | "wa"
                    | "wqa"
                    | "xa"
                    | "w!"
                    | "wq!"
                    | "x!"
                    | "up"
                    | "update"
                    | "wall"
                    | "ZZ"
            )
        });
        writes |= saves;
    }
    for file in &files {
        machine.read(file);
        if writes {
            machine.write(file);
        } else {
            machine.possibly(|machine| machine.effect(EffectKind::FileModify, file));
        }
    }
    for file in opened.iter().filter(|_| writes) {
        machine.write(file);
    }
    Exit::unknown()
}

/// A file as the editor names it: `~` is the home directory.
fn at_home(machine: &Machine<'_>, file: &str) -> Value {
    match file.strip_prefix("~/") {
        Some(rest) => Value::Exact(format!("{}/{rest}", machine.world().place().home)),
        None => Value::exact(file),
    }
}

/// The files that a command of the editor names to write to: `w! x`, `saveas x`, `%w >> x`.
fn written_by(text: &str) -> impl Iterator<Item = &str> {
    text.split(['|', '\n']).filter_map(|part| {
        let part = part.trim_start_matches(|c: char| c.is_ascii_digit() || " :%,$.'<>".contains(c));
        let (verb, file) = part.split_once(' ')?;
        let verbs = [
            "w",
            "write",
            "wq",
            "x",
            "xit",
            "sav",
            "saveas",
            "up",
            "update",
            "redir",
            "mks",
            "mksession",
            "mkv",
            "mkvimrc",
            "mkexrc",
        ];
        let file = file.trim().trim_start_matches('>').trim();
        let is_file =
            verbs.contains(&verb.trim_end_matches('!')) && !file.is_empty() && !file.starts_with(['!', '+']);
        is_file.then_some(file)
    })
}

/// `ed`: a line editor that does what its input says.
pub(crate) fn ed(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let script = call.input.as_exact().map(str::to_owned);
    for file in &call.arguments.operands {
        machine.read(file);
    }
    let Some(script) = script else {
        for file in &call.arguments.operands {
            machine.possibly(|machine| machine.effect(EffectKind::FileModify, file));
        }
        return Exit::unknown();
    };
    for line in script.lines() {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || ",$%.".contains(c));
        if let Some(command) = line.strip_prefix('!') {
            machine.run_text(&Value::exact(command), Input::Inherited);
        } else if let Some(file) = ["r ", "e ", "E "].iter().find_map(|verb| line.strip_prefix(verb)) {
            match file.trim_start().strip_prefix('!') {
                Some(command) => {
                    machine.run_text(&Value::exact(command), Input::Inherited);
                }
                None => {
                    machine.read(&Value::exact(file.trim()));
                }
            }
        } else if line == "w" || line == "wq" || line == "W" {
            for file in &call.arguments.operands {
                machine.write(file);
            }
        } else if let Some(file) = ["w ", "W ", "wq "].iter().find_map(|verb| line.strip_prefix(verb)) {
            match file.trim_start().strip_prefix('!') {
                Some(command) => {
                    machine.run_text(&Value::exact(command), Input::Unknown);
                }
                None => machine.write(&Value::exact(file.trim())),
            }
        }
    }
    Exit::unknown()
}

/// `patch`: the files are named in the patch.
pub(crate) fn patch(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["--dry-run", "-C", "--check"]) {
        return Exit::unknown();
    }
    if let Some(directory) = arguments.value(&["-d", "--directory"]).cloned() {
        return machine.inside(&directory, |machine| apply_patch(machine, call));
    }
    apply_patch(machine, call)
}

fn apply_patch(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if let Some(output) = arguments.value(&["-o", "--output"]) {
        machine.write(output);
        return Exit::unknown();
    }
    let file = arguments.value(&["-i", "--input"]).or_else(|| arguments.operands.get(1)).cloned();
    let text = match (&file, &call.input) {
        (Some(file), _) => {
            machine.read(file);
            machine.one_path_through(file).map_or(Value::Unknown, |path| machine.text(&path))
        }
        (None, Input::Text(value)) => value.clone(),
        (
            None,
            Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown,
        ) => Value::Unknown,
    };
    if let (Some(target), Some(text)) =
        (arguments.operands.first().and_then(Value::as_exact), text.as_exact())
    {
        // Given by its name, a file is patched whatever the patch calls it.
        let mut all_fit = true;
        for change in patches::read(text).into_iter().take(1) {
            let change = if arguments.has(&["-R", "--reverse"]) { change.reversed() } else { change };
            let change = change.renamed(target);
            all_fit &= patch_file(machine, arguments, &change, Some(0));
        }
        return Exit { status: if all_fit { Status::Unknown } else { Status::Open }, ..Exit::unknown() };
    }
    if let Some(target) = arguments.operands.first() {
        // Without a patch on the standard input nothing is changed.
        if file.is_none() && matches!(call.input, Input::Inherited) {
            machine.possibly(|machine| machine.effect(EffectKind::FileModify, target));
        } else {
            machine.effect(EffectKind::FileModify, target);
        }
        return Exit::unknown();
    }
    let strip =
        arguments.value(&["-p", "--strip"]).and_then(Value::as_exact).and_then(|text| text.parse().ok());
    let Some(text) = text.as_exact() else {
        if file.as_ref().is_some_and(|file| machine.is_certainly_missing(file)) {
            return Exit::failure();
        }
        of_unseen_patch(machine, &call.input);
        return Exit::unknown();
    };
    let reversed = arguments.has(&["-R", "--reverse"]);
    let mut all_fit = true;
    for change in patches::read(text) {
        let change = if reversed { change.reversed() } else { change };
        all_fit &= patch_file(machine, arguments, &change, strip);
    }
    Exit { status: if all_fit { Status::Unknown } else { Status::Open }, ..Exit::unknown() }
}

/// What a patch that nobody has seen may change: it is made to change what is there.
pub(super) fn of_unseen_patch(machine: &mut Machine<'_>, input: &Input) {
    let here = machine
        .cwd()
        .map_or(Value::Unknown, |cwd| Value::Glob(format!("{}/**", cwd.as_str().trim_end_matches('/'))));
    for aim in machine.paths_through(&here) {
        let draft = Draft::at(EffectKind::FileModify, aim).possible().note(OF_PATCH);
        machine.add(if matches!(input, Input::Network(_)) {
            draft.note(UNBOUND)
        } else {
            draft.nature(Nature::PatchUnread)
        });
    }
}

/// Patches one file; answers whether all of it is known to fit.
fn patch_file(
    machine: &mut Machine<'_>,
    arguments: &Arguments,
    change: &FilePatch,
    strip: Option<usize>,
) -> bool {
    let stripped = |name: &Option<String>| name.as_deref().map(|name| patches::stripped(name, strip));
    let (old, new) = (stripped(&change.old), stripped(&change.new));
    let stands = |machine: &Machine<'_>, name: &String| !machine.is_certainly_missing(&Value::exact(name));
    // What is changed is the file under whichever of the two names is there.
    let found = [&old, &new].into_iter().flatten().find(|name| stands(machine, name)).cloned();
    let Some(file) = found.or_else(|| new.clone().filter(|_| old.is_none())) else {
        // There is nothing to patch, unless it comes to be by then.
        if let Some(name) = new.as_ref().or(old.as_ref()) {
            machine.possibly(|machine| machine.write(&Value::exact(name)));
        }
        return false;
    };
    let word = Value::exact(&file);
    let path = machine.one_path_through(&word);
    let is_link = machine
        .paths(&word)
        .iter()
        .any(|aim| aim.target.path().is_some_and(|path| matches!(machine.entry(path), Entry::Symlink(_))));
    let text = path.map(|path| match machine.entry(&path) {
        Entry::Missing => Value::exact(""),
        Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
            machine.text(&path)
        }
    });
    let fit = match text.as_ref().and_then(Value::as_exact) {
        _ if is_link => Some(Fit::Fails),
        Some(text) => Some(change.fit(text)),
        None => None,
    };
    // A file that the patch makes and that is there already is left alone, unless somebody says otherwise (patch(1); tried with 2.7.6).
    let is_there = text.as_ref().and_then(Value::as_exact).is_none_or(|text| !text.is_empty());
    if change.old.is_none() && is_there && !arguments.has(&["-f", "--force", "-t", "--batch"]) {
        machine.possibly(|machine| machine.write(&word));
        return false;
    }
    let backup = arguments.has(&["-b", "--backup"]);
    match &fit {
        Some(Fit::Exact(_)) if !backup => {}
        Some(Fit::Exact(_) | Fit::Shifted(_) | Fit::Loose) => back_up(machine, arguments, &file),
        // Of what was applied before, and of a link, it keeps nothing.
        Some(Fit::Fails) | None => machine.possibly(|machine| back_up(machine, arguments, &file)),
    }
    match fit {
        Some(Fit::Fails) => {
            reject(machine, arguments, &file);
            if !is_link {
                machine.possibly(|machine| machine.write(&word));
            }
            return false;
        }
        Some(Fit::Exact(after) | Fit::Shifted(after)) => match (&new, change.is_renamed) {
            (None, _) if after.is_empty() => take_away(machine, &word),
            (Some(_), false) if after.is_empty() && arguments.has(&["-E", "--remove-empty-files"]) => {
                take_away(machine, &word);
            }
            (Some(name), true) if *name != file => {
                machine.write_text(&Value::exact(name), &Value::exact(after));
                take_away(machine, &word);
            }
            (_, _) => machine.write_text(&word, &Value::exact(after)),
        },
        Some(Fit::Loose) => machine.write(&word),
        None => {
            match &new {
                Some(name) => machine.write(&Value::exact(name)),
                None => machine.delete(&word, crate::effect::Depth::Single),
            }
            machine.possibly(|machine| reject(machine, arguments, &file));
            return false;
        }
    }
    true
}

/// Removes a file, and the directories of its name in which nothing is left.
fn take_away(machine: &mut Machine<'_>, word: &Value) {
    let path = machine.one_path_through(word);
    machine.delete(word, crate::effect::Depth::Single);
    if let (Some(path), Some(cwd)) = (path, machine.cwd().cloned()) {
        remove_emptied(machine, &path, &cwd);
    }
}

/// Keeps a file under another name before it is patched.
fn back_up(machine: &mut Machine<'_>, arguments: &Arguments, file: &str) {
    let prefix = arguments.value(&["-B", "--prefix"]).map(Value::as_exact);
    let suffix = arguments.value(&["-z", "--suffix"]).map(Value::as_exact);
    let is_numbered = arguments.value(&["-V", "--version-control"]).is_some();
    let name = match (prefix, suffix) {
        (Some(None), _) | (_, Some(None)) => return,
        (Some(Some(prefix)), suffix) => format!("{prefix}{file}{}", suffix.flatten().unwrap_or_default()),
        (None, Some(Some(suffix))) => format!("{file}{suffix}"),
        (None, None) if is_numbered => format!("{file}.~1~"),
        (None, None) => format!("{file}.orig"),
    };
    machine.write(&Value::exact(name));
}

/// Writes what of a patch does not fit.
fn reject(machine: &mut Machine<'_>, arguments: &Arguments, file: &str) {
    match arguments.value(&["-r", "--reject-file"]).cloned() {
        Some(given) if given.as_exact() == Some("-") => {}
        Some(given) => machine.write(&given),
        None => machine.write(&Value::exact(format!("{file}.rej"))),
    }
}

fn aim_value(aim: &AimedTarget) -> Option<Value> {
    aim.target.path().map(|path| Value::exact(path.as_str()))
}

/// Where the content of a file goes that is edited in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Into the file alone.
    Kept,
    /// Perhaps to somewhere else, too.
    MayGo,
}

/// Whether an edit leaves the name of each setting with its value, so that who reads the file afterwards still sees which are secret: lines
/// are deleted or added, the value behind a name is another one, or what is replaced cannot be a part of a name.
pub(super) fn keeps_names(script: &str) -> bool {
    script.split([';', '\n']).map(str::trim).filter(|order| !order.is_empty()).all(order_keeps_names)
}

fn order_keeps_names(order: &str) -> bool {
    let order = behind_address(order);
    let mut letters = order.chars();
    match letters.next() {
        Some('d') => order.len() == 1,
        Some('a' | 'i') => true,
        Some('s') => {
            let Some(limit) = letters.next() else { return false };
            let parts: Vec<&str> = letters.as_str().split(limit).collect();
            let [pattern, replacement, _] = parts.as_slice() else { return false };
            let bare = pattern.trim_start_matches(['^', '#', ' ', '*', '?']);
            let is_no_name = |c: char| c.is_ascii_digit() || matches!(c, ':' | '/');
            match bare.split_once('=') {
                Some((name, _)) => {
                    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                    let kept = replacement.trim_start_matches(['#', ' ']).split_once('=');
                    is_name && !name.is_empty() && kept.is_some_and(|(kept, _)| kept == name)
                }
                None => !bare.is_empty() && bare.chars().all(is_no_name),
            }
        }
        Some(_) | None => false,
    }
}

/// Whether an edit of files that are known leaves each setting its name, and changes nothing that is a secret by its form: who reads the file
/// afterwards sees of each line what could be seen before.
pub(super) fn leaves_names(machine: &Machine<'_>, files: &[Value], editor: Editor, scripts: &[&str]) -> bool {
    !files.is_empty()
        && !scripts.is_empty()
        && files.iter().all(|file| {
            let Some(path) = machine.one_path_through(file) else { return false };
            if crate::places::credential(&path, &machine.world().place().home).is_none() {
                return false;
            }
            let text = machine.text(&path);
            let Some(before) = text.as_exact() else { return false };
            let Some(after) = edited_in_place(editor, scripts, before) else { return false };
            before.lines().count() == after.lines().count()
                && before
                    .lines()
                    .zip(after.lines())
                    .all(|(before, after)| before == after || is_same_setting(before, after))
        })
}

/// Whether two lines say something of one setting, and neither value is long enough for a key.
fn is_same_setting(before: &str, after: &str) -> bool {
    /// Shorter runs of letters are no keys (ours).
    const KEY: usize = 16;
    let is_key = |text: &str| {
        text.split(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_'))
            .any(|run| run.len() >= KEY)
    };
    let split = |line: &str| {
        let (name, value) = line.split_at(line.find(['=', ':'])?);
        Some((name.trim_start_matches(['#', ' ']).trim_end().to_owned(), value.to_owned()))
    };
    match (split(before), split(after)) {
        (Some((name, old)), Some((other, new))) => name == other && !is_key(&old) && !is_key(&new),
        (None, None) => !is_key(before) && !is_key(after),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// What stands behind the lines that an order of `sed` is for: `/^DEBUG/d`, `3d`, `$a X=1`.
fn behind_address(order: &str) -> &str {
    if let Some(rest) = order.strip_prefix('/') {
        return rest.split_once('/').map_or("", |(_, rest)| rest.trim_start());
    }
    order.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | ' '))
}

/// Does something that edits files in place, and remembers what they hold afterwards where that can be worked out.
pub(super) fn with_edited_texts(
    machine: &mut Machine<'_>,
    files: &[Value],
    editor: Editor,
    scripts: &[&str],
    work: impl FnOnce(&mut Machine<'_>),
) {
    let takes_values_away = edit_takes_values_away(editor, scripts);
    let (mut emptied, mut held) = (Vec::new(), Vec::new());
    let mut edited = Vec::new();
    let mut in_place_of_links = Vec::new();
    // The new file takes the place of a symbolic link, and what it leads to stays as it was.
    let plain = |file: &Value| match machine.paths(file).as_slice() {
        [aim] => aim.target.path().filter(|path| matches!(machine.entry(path), Entry::File(_))).cloned(),
        _ => None,
    };
    for path in files.iter().filter_map(plain) {
        let text = machine.text(&path);
        let Some(before) = text.as_exact() else { continue };
        if takes_values_away && let Some(list) = machine.copied_list(&path, before) {
            emptied.push((path.clone(), list));
        } else if let Some(secret) = machine.secret_put_into(&path) {
            held.push((path.clone(), secret));
        }
        if let Some(text) = edited_in_place(editor, scripts, before) {
            edited.push((path, text));
        }
    }
    for file in files {
        let own = machine.paths(file);
        let ([aim], Some(led_to)) = (own.as_slice(), machine.one_path_through(file)) else { continue };
        let link = aim.target.path().filter(|path| matches!(machine.entry(path), Entry::Symlink(_)));
        let text = machine.text(&led_to);
        if let Some(link) = link
            && let Some(text) = text.as_exact().and_then(|text| edited_in_place(editor, scripts, text))
        {
            in_place_of_links.push((link.clone(), text));
        }
    }
    work(machine);
    for (path, text) in in_place_of_links {
        machine.overlay().announce(&path, text);
    }
    for (path, text) in edited {
        machine.remember_written(&Target::Path(path), Value::Exact(text));
    }
    // Other edits leave what stands in the other lines.
    for (path, secret) in held {
        machine.still_holds(&path, secret);
    }
    for (path, list) in emptied {
        machine.take_values_away(&path, list);
    }
}

/// Edits files in place, keeping a backup under a suffix.
pub(super) fn edit_in_place(
    machine: &mut Machine<'_>,
    files: &[Value],
    suffix: Option<&Value>,
    content: Content,
) {
    for file in files {
        match content {
            Content::Kept => {}
            Content::MayGo => {
                machine.read(file);
            }
        }
        let suffix = suffix.and_then(Value::as_exact).filter(|text| !text.is_empty());
        if let (Some(suffix), Some(name)) = (suffix, file.as_exact()) {
            let backup = match (suffix.contains('*'), name.rsplit_once('/')) {
                (false, _) => format!("{name}{suffix}"),
                (true, None) => suffix.replace('*', name),
                (true, Some((directory, base))) if !suffix.contains('/') => {
                    format!("{directory}/{}", suffix.replace('*', base))
                }
                (true, Some((_, base))) => suffix.replace('*', base),
            };
            machine.write(&Value::exact(backup));
        }
        if machine.is_directory(file) == Some(true) {
            continue;
        }
        // The new file takes the place of a symbolic link, which is not followed.
        for aim in machine.paths(file) {
            match aim.target.path().map(|path| machine.entry(path)) {
                Some(Entry::Symlink(_)) => {
                    machine.add(Draft::at(EffectKind::FileModify, aim).note("replaces the symbolic link"));
                }
                Some(
                    Entry::Missing | Entry::File(_) | Entry::Directory | Entry::Special | Entry::Unknown,
                )
                | None => {
                    machine.effect(EffectKind::FileModify, &aim_value(&aim).unwrap_or_else(|| file.clone()));
                }
            }
        }
    }
}
