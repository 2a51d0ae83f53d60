//! Programs that work on other machines and carry files to and from them.

use crate::effect::{Depth, EffectKind, Severity, SiteKind, Target};
use crate::interpreter::{AimedTarget, Call, Draft, Exit, Input, Machine, Output, Upload, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::downloads::come_into;
use super::files::{self, arrive_tree};
use super::network::sends_strange_secret;
use super::own_hosts;
use super::sites;

/// The greatest number of files of a tree that are named one by one (ours).
const NAMED: usize = 64;

/// `ssh-keygen`: a key and its public half beside it, a certificate beside a public key (ssh-keygen(1); tried with OpenSSH 9).
pub(crate) fn ssh_keygen(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let file = arguments.value(&["-f"]).cloned();
    if arguments.has(&["-D", "-w"]) {
        machine.opaque("loads a library that is named");
    }
    if arguments.has(&["-R"]) {
        let folder = machine.world().place().home.join(".ssh");
        for (name, note) in [
            ("known_hosts.old", "what was known stays there"),
            ("known_hosts", "a host is asked for its key again"),
        ] {
            let draft = Draft::new(EffectKind::FileCreate, Target::Path(folder.join(name)));
            machine.add(draft.severity(Severity::Low).note(note));
        }
    } else if arguments.has(&["-s"]) {
        for key in &arguments.operands {
            let bare = key.as_exact().map(|key| key.strip_suffix(".pub").unwrap_or(key).to_owned());
            machine.write(&bare.map_or(Value::Unknown, |bare| Value::Exact(format!("{bare}-cert.pub"))));
        }
    } else if arguments.has(&["-p"]) {
        file.iter().for_each(|file| machine.effect(EffectKind::FileModify, file));
    } else if !arguments.has(&["-y", "-l", "-F", "-L", "-H", "-B", "-e", "-Y"])
        && let Some(file) = file
    {
        machine.write(&file);
        machine.write(&file.followed_by(&Value::exact(".pub")));
    }
    Exit::unknown()
}

/// Interprets a call of ssh: what is done there is done to the machine that it names.
pub(crate) fn ssh(machine: &mut Machine<'_>, call: &Call) -> Exit {
    machine.apart(
        |machine| log_in(machine, call),
        |machine, before| {
            if let Some(host) = call.arguments.operands.first() {
                mark_host(machine, before, &host_of(host));
            }
        },
    )
}

/// Marks effects with the machine that a name means, by that name and by its own.
fn mark_host(machine: &mut Machine<'_>, before: usize, host: &Value) {
    let behind = sites::ssh_host(machine, host);
    for name in std::iter::once(host).chain(&behind) {
        let site = sites::of_value(SiteKind::Host, name);
        sites::add(machine, before, &site);
    }
}

/// Marks what is sent to a name with the machine that it means, where that is another one: the name itself is its target.
fn mark_behind(machine: &mut Machine<'_>, before: usize, host: &Value) {
    if let Some(behind) = sites::ssh_host(machine, &host_of(host)) {
        let site = sites::of_value(SiteKind::Host, &behind);
        sites::add(machine, before, &site);
    }
}

fn log_in(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-V", "-G", "-Q", "-O"]) {
        return Exit::unknown();
    }
    let is_usage = |name: &str| name.starts_with("--") || matches!(name, "-?" | "-h" | "-H");
    if arguments.options.iter().any(|(name, _)| is_usage(name)) {
        // It knows no such options: it says how it is called, and nothing else.
        return Exit::failure();
    }
    local_commands(machine, call);
    written_here(machine, call);
    let Some((host, behind)) = arguments.operands.split_first() else {
        return Exit::unknown();
    };
    let host = host_of(host);
    let (forwards, command) = behind_host(behind);
    if forwards || arguments.has(&["-R"]) {
        let target = host.as_exact().map_or(Target::Unknown, |text| Target::Host(text.to_owned()));
        machine.add(
            Draft::new(EffectKind::DataUpload, target)
                .reach(crate::effect::NetworkReach::External)
                .severity(Severity::High)
                .note("lets the other machine reach this one"),
        );
        return Exit::unknown();
    }
    note_secret_given(machine, call, &host);
    let place = host.as_exact().unwrap_or("another machine").to_owned();
    if sends(&call.input) && !command.is_empty() {
        machine.host(&host, Upload::Yes);
    } else {
        machine.host(&host, Upload::No);
    }
    if command.is_empty() {
        if let Input::Text(text) = &call.input {
            machine.elsewhere(&place, |machine| machine.run_text(text, Input::Inherited));
        } else if call.input != Input::Inherited {
            machine.elsewhere(&place, |machine| machine.run_text(&Value::Unknown, Input::Inherited));
        } else if !arguments.has(&["-N", "-W"]) && !is_account_of_a_forge(arguments.operand(0)) {
            machine.left_open("ssh");
        }
    } else {
        let text = joined(command);
        // `ssh host bash -s`: what comes in runs there.
        let there: Vec<Value> =
            text.as_exact().unwrap_or_default().split_whitespace().map(Value::exact).collect();
        let input = match &call.input {
            Input::Text(text) if super::place_of_reader(&there).is_some() => Input::Text(text.clone()),
            Input::Text(_)
            | Input::Inherited
            | Input::Network(_)
            | Input::Secret(_)
            | Input::Local(_)
            | Input::Unknown => Input::Inherited,
        };
        machine.elsewhere(&place, |machine| machine.run_text(&text, input));
    }
    Exit::with(from_host(&host))
}

/// Takes the options that stand between the host and the command, where ssh reads them too (ssh.c, `main`): whether one lets the other
/// machine reach this one, and the command.
fn behind_host(words: &[Value]) -> (bool, &[Value]) {
    /// Options with a value (ssh(1), 9.6).
    const VALUES: &str = "BbcDEeFIiJLlmOopPQRSWw";
    let mut forwards = false;
    let mut rest = words;
    while let Some((first, more)) = rest.split_first() {
        let Some(cluster) = first.as_exact().and_then(|text| text.strip_prefix('-')) else { break };
        if cluster.is_empty() {
            break;
        }
        rest = more;
        if cluster == "-" {
            break;
        }
        if let Some(at) = cluster.find(|letter| VALUES.contains(letter)) {
            forwards |= cluster.get(at..).is_some_and(|option| option.starts_with('R'));
            if at + 1 == cluster.len() {
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    (forwards, rest)
}

/// Adds the files that ssh writes on this machine: its log (`-E`), and the keys of hosts, where it is told to keep them elsewhere
/// (ssh(1), ssh_config(5)).
fn written_here(machine: &mut Machine<'_>, call: &Call) {
    let logs: Vec<Value> = call.arguments.values(&["-E"]).cloned().collect();
    for log in logs {
        machine.write(&log);
    }
    let settings: Vec<String> =
        call.arguments.values(&["-o"]).filter_map(Value::as_exact).map(str::to_owned).collect();
    for setting in settings {
        let mut words = setting.split(['=', ' ']).filter(|word| !word.is_empty());
        if !words.next().is_some_and(|key| key.eq_ignore_ascii_case("UserKnownHostsFile")) {
            continue;
        }
        for file in words.filter(|file| !matches!(*file, "none" | "/dev/null")) {
            let file = match file.strip_prefix("~/") {
                Some(rest) => machine.world().place().home.join(rest).to_string(),
                None => file.to_owned(),
            };
            machine.possibly(|machine| machine.write(&Value::exact(file)));
        }
    }
}

/// Adds that the other machine is given a secret that it does not belong to: in the words of the command, in what comes in, or as a
/// variable that goes along (`SendEnv`, `SetEnv`; ssh_config(5)).
fn note_secret_given(machine: &mut Machine<'_>, call: &Call, host: &Value) {
    let name = host.known_start();
    let sends = |machine: &mut Machine<'_>| sends_strange_secret(machine, host, name.clone());
    if sends(machine) {
        return;
    }
    let came = match &call.input {
        Input::Text(text) => machine.secret_held(text),
        Input::Secret(place) => Some(Output::Secret(place.clone())),
        Input::Inherited | Input::Network(_) | Input::Local(_) | Input::Unknown => None,
    };
    let mut all: Vec<Output> = came.into_iter().collect();
    for option in call.arguments.values(&["-o"]).filter_map(Value::as_exact).collect::<Vec<_>>() {
        let mut words = option.split(['=', ' ']).filter(|word| !word.is_empty());
        let is_variable = words
            .next()
            .is_some_and(|key| key.eq_ignore_ascii_case("SendEnv") || key.eq_ignore_ascii_case("SetEnv"));
        if is_variable {
            all.extend(words.filter_map(|name| machine.secret_variable(name)));
        }
    }
    for secret in all {
        if machine.with_words_from(&secret, sends) {
            return;
        }
    }
}

/// What comes from another machine over ssh, which proves who it is.
pub(super) fn from_host(host: &Value) -> Output {
    Output::Network(format!("ssh://{}", host.known_start()))
}

/// Whether a host is named with the account under which forges take git: it opens no shell, and says who asks.
fn is_account_of_a_forge(host: Option<&str>) -> bool {
    host.is_some_and(|host| host.starts_with("git@") || host.starts_with("ssh://git@"))
}

/// `vagrant ssh`: the text of `-c`, or the words behind `--`, run in a virtual machine. Source: `vagrant ssh --help`.
pub(crate) fn vagrant_ssh(machine: &mut Machine<'_>, call: &Call) -> Exit {
    const PLACE: &str = "a virtual machine";
    if let Some(text) = call.arguments.value(&["-c", "--command"]).cloned() {
        return machine.elsewhere(PLACE, |machine| machine.run_text(&text, call.input.clone()));
    }
    let words = super::cloud::behind(call, "--");
    if words.is_empty() {
        machine.left_open("vagrant ssh");
        return Exit::unknown();
    }
    machine.elsewhere(PLACE, |machine| machine.run_words(&words, call.input.clone()))
}

/// Interprets a call of scp.
pub(crate) fn scp(machine: &mut Machine<'_>, call: &Call) -> Exit {
    local_commands(machine, call);
    let recursive = if call.arguments.has(&["-r"]) { Depth::Recursive } else { Depth::Single };
    let Some((destination, sources)) = call.arguments.operands.split_last() else {
        return Exit::unknown();
    };
    if let Some((host, path)) = remote(destination) {
        let before = machine.effect_count();
        for source in sources {
            if let Some((from, _)) = remote(source) {
                machine.host(&from, Upload::No);
            } else {
                send(machine, source, recursive);
            }
        }
        machine.host(&host, Upload::Yes);
        own_hosts::mark_uploads(machine, call, before, &host, &path);
        mark_behind(machine, before, &host);
        return Exit::silent();
    }
    for source in sources {
        let (name, content) = if let Some((host, path)) = remote(source) {
            machine.host(&host, Upload::No);
            (path, from_host(&host))
        } else if recursive == Depth::Recursive {
            // Here it is `cp -r`.
            files::copy_tree(machine, source, destination);
            continue;
        } else {
            (source.clone(), machine.read(source))
        };
        receive(machine, destination, &name, recursive, &content);
    }
    Exit::silent()
}

/// Interprets a call of rsync.
pub(crate) fn rsync(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    for shell in arguments.values(&["-e", "--rsh"]).cloned().collect::<Vec<_>>() {
        machine.possibly(|machine| machine.run_text(&shell, Input::Inherited));
    }
    if arguments.has(&["-n", "--dry-run", "--list-only", "--version", "--help"])
        || arguments.operands.len() < 2
    {
        return Exit::unknown();
    }
    let Some((destination, sources)) = arguments.operands.split_last() else {
        return Exit::unknown();
    };
    let to = remote(destination);
    for source in sources {
        match (remote(source), &to) {
            (Some((host, _)), _) => machine.host(&host, Upload::No),
            (None, Some(_)) => send(machine, source, Depth::Recursive),
            (None, None) => {}
        }
    }
    let deletes =
        arguments.options.iter().any(|(option, _)| option.starts_with("--delete") || option == "--del");
    if let Some((host, path)) = to {
        let before = machine.effect_count();
        machine.host(&host, Upload::Yes);
        own_hosts::mark_uploads(machine, call, before, &host, &path);
        mark_behind(machine, before, &host);
        if deletes {
            let note = format!(
                "deletes what is not in the source from {}",
                path.as_exact().unwrap_or("the other side")
            );
            let target = host.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()));
            machine.add(Draft::new(EffectKind::InfrastructureChange, target).note(note));
        }
    } else {
        for linked in arguments.values(&["--link-dest"]).cloned().collect::<Vec<_>>() {
            // A relative one is meant from the destination (rsync(1)).
            let is_absolute = linked.as_exact().is_none_or(|text| text.starts_with('/'));
            let linked = if is_absolute {
                linked
            } else {
                destination.clone().followed_by(&Value::exact("/")).followed_by(&linked)
            };
            machine.second_name(&linked);
        }
        for source in sources {
            if let Some((host, _)) = remote(source) {
                mirror(machine, source, destination, deletes);
                let aims = machine.paths_through(destination);
                machine.remember_source(&aims, &from_host(&host));
            } else {
                machine.skim(source);
                mirror(machine, source, destination, deletes);
            }
        }
    }
    if arguments.has(&["--remove-source-files"]) {
        for source in sources.iter().filter(|source| remote(source).is_none()) {
            let aims = machine.paths(source);
            if remote(destination).is_none() {
                let to = machine.paths(destination);
                machine.remember_moved(&aims, &to);
            }
            for aim in aims {
                let draft = Draft::at(EffectKind::FileDelete, aim).recursive();
                machine.add(draft.nature(Nature::Moved).note("moved to the destination"));
            }
        }
    }
    Exit::silent()
}

/// Interprets `rclone copy`, `move`, `sync`.
pub(crate) fn rclone(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-n", "--dry-run", "-i", "--interactive"]) {
        return Exit::unknown();
    }
    let (Some(source), Some(destination)) = (arguments.operands.first(), arguments.operands.get(1)) else {
        return Exit::unknown();
    };
    let replaces = call.program.ends_with("sync");
    let moves = call.program.ends_with(" move") || call.program.ends_with(" moveto");
    if is_storage(destination) {
        if !is_storage(source) {
            send(machine, source, Depth::Recursive);
        }
        let target = destination.as_exact().map_or(Target::Unknown, |text| Target::Host(text.to_owned()));
        machine.add(Draft::new(EffectKind::DataUpload, target).reach(crate::effect::NetworkReach::External));
        if replaces {
            machine.possibly(|machine| machine.effect(EffectKind::DatastoreDestroy, destination));
        }
    } else {
        if is_storage(source) {
            machine.host(source, Upload::No);
        }
        let from = if is_storage(source) { None } else { machine.paths_through(source).into_iter().next() };
        let from = from.and_then(|aim| aim.target.path().cloned());
        for aim in machine.paths_through(destination) {
            match aim.target.path().cloned() {
                Some(path) if machine.entry(&path) == Entry::Directory => {
                    arrive_tree(machine, from.as_ref(), &path);
                }
                Some(_) | None => machine.add(Draft::at(EffectKind::FileCreate, aim.clone()).recursive()),
            }
            if replaces {
                machine.add(
                    Draft::at(EffectKind::FileDelete, aim)
                        .recursive()
                        .possible()
                        .note("what is not in the source goes"),
                );
            }
        }
    }
    if moves && !is_storage(source) {
        for aim in machine.paths(source) {
            let draft = Draft::at(EffectKind::FileDelete, aim).recursive();
            machine.add(draft.nature(Nature::Moved).note("moved to the destination"));
        }
    }
    Exit::silent()
}

/// Interprets `rclone delete`, `purge` and their kin, of storage elsewhere or of files here.
pub(crate) fn rclone_removal(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let Some(place) = arguments.operands.first() else { return Exit::unknown() };
    if arguments.has(&["-n", "--dry-run", "-i", "--interactive"]) {
        return Exit::unknown();
    }
    if place.as_exact().is_none() || is_storage(place) {
        machine.effect(EffectKind::DatastoreDestroy, place);
    } else if ["delete", "deletefile", "purge"].iter().any(|verb| call.program.ends_with(verb)) {
        machine.delete(place, Depth::Recursive);
    }
    Exit::silent()
}

/// Options of ssh and scp, and settings in a file that one of them names, that run commands here. Source: ssh_config(5).
pub(super) fn local_commands(machine: &mut Machine<'_>, call: &Call) {
    for setting in call.arguments.values(&["-o"]).cloned().collect::<Vec<_>>() {
        let start = setting.known_start();
        let (name, command) = start.split_once(['=', ' ']).unwrap_or((start.as_str(), ""));
        let text = if setting.as_exact().is_some() { Value::exact(command) } else { Value::Unknown };
        run_setting(machine, name, &text);
    }
    for file in call.arguments.values(&["-F"]).cloned().collect::<Vec<_>>() {
        settings_file(machine, &file);
    }
    if call.program != "ssh" {
        for program in call.arguments.values(&["-S"]).cloned().collect::<Vec<_>>() {
            machine.possibly(|machine| machine.run_words(&[program], Input::Inherited));
        }
    }
}

/// Runs what a file of settings makes ssh run here, whichever host it is for, and the files that it includes.
fn settings_file(machine: &mut Machine<'_>, file: &Value) {
    let mut files = vec![file.clone()];
    let mut looked = 0;
    while let Some(file) = files.pop() {
        if matches!(file.as_exact(), Some("none" | "/dev/null")) || machine.is_certainly_missing(&file) {
            continue;
        }
        looked += 1;
        let text = machine.read(&file).into_text();
        let Some(text) = text.as_exact().filter(|_| looked <= SETTINGS_FILES) else {
            machine.unread("the settings of `ssh` are not known, and some of them run commands");
            return;
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for (count, line) in lines.enumerate() {
            if count == SETTINGS {
                machine.unread("there are more settings of `ssh` than are looked at");
                return;
            }
            let Some((name, value)) = line.split_once(|c: char| c == '=' || c.is_whitespace()) else {
                continue;
            };
            let value = value.trim_start_matches(|c: char| c == '=' || c.is_whitespace());
            if name.eq_ignore_ascii_case("include") {
                files.extend(value.split_whitespace().map(|path| included(machine, path)));
            } else {
                run_setting(machine, name, &Value::exact(value));
            }
        }
    }
}

/// A file that settings of a user include: what is no absolute path lies in `~/.ssh` (ssh_config(5), "Include").
fn included(machine: &Machine<'_>, path: &str) -> Value {
    let home = &machine.world().place().home;
    let place = match path.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => home.join(".ssh").join(path),
    };
    // It may be a pattern.
    if path.contains(['*', '?', '[']) {
        Value::Glob(place.as_str().to_owned())
    } else {
        Value::exact(place.as_str())
    }
}

/// How many files of settings are read for one call (ours).
const SETTINGS_FILES: usize = 8;

/// How many settings of a file are looked at (ours).
const SETTINGS: usize = 1024;

/// Runs the value of a setting of ssh that is a command, and says of one that is a library that it is loaded.
fn run_setting(machine: &mut Machine<'_>, name: &str, value: &Value) {
    let command = match name.trim().to_ascii_lowercase().as_str() {
        "proxycommand" | "localcommand" | "knownhostscommand" => value.clone(),
        // `Match exec "command"`
        "match" => {
            let text = value.as_exact().unwrap_or_default();
            let Some(at) = text.to_ascii_lowercase().find("exec ") else { return };
            Value::exact(text.get(at + "exec ".len()..).unwrap_or_default().trim().trim_matches('"'))
        }
        "pkcs11provider" | "securitykeyprovider" => {
            if value.as_exact().is_none_or(|text| text.contains('/') && !text.starts_with("/usr/")) {
                machine.unread("a library that is named there is loaded");
            }
            return;
        }
        _ => return,
    };
    if command.as_exact() != Some("none") {
        machine.possibly(|machine| machine.run_text(&command, Input::Inherited));
    }
}

/// Reads what is sent: a file, or a directory with what is below it.
pub(super) fn send(machine: &mut Machine<'_>, source: &Value, depth: Depth) {
    if depth == Depth::Recursive && machine.is_directory(source) != Some(false) {
        for aim in machine.paths_through(source) {
            machine.add(Draft::at(EffectKind::FileRead, aim).recursive());
        }
    } else {
        machine.read(source);
    }
}

/// Makes a local tree like another.
fn mirror(machine: &mut Machine<'_>, source: &Value, destination: &Value, deletes: bool) {
    let contents_only =
        source.as_exact().is_some_and(|text| text.ends_with('/') || text == "." || text.ends_with("/."));
    let path_of = |machine: &Machine<'_>, value: &Value| {
        machine.paths(value).into_iter().next().and_then(|aim| aim.target.path().cloned())
    };
    let from = if remote(source).is_some() { None } else { path_of(machine, source) };
    let Some(base) = path_of(machine, destination) else {
        for aim in machine.paths(destination) {
            machine.add(Draft::at(EffectKind::FileModify, aim.clone()).recursive());
            if deletes {
                machine.add(
                    Draft::at(EffectKind::FileDelete, aim).recursive().note("what is not in the source goes"),
                );
            }
        }
        return;
    };
    let into = match (&from, contents_only) {
        (Some(from), false) => {
            let exists = machine.entry(&base) == Entry::Directory
                || destination.as_exact().is_some_and(|text| text.ends_with('/'));
            let is_directory = machine.entry(from) == Entry::Directory;
            match from.name() {
                Some(name) if exists || is_directory => base.join(name),
                _ => base.clone(),
            }
        }
        _ => base.clone(),
    };
    let listed = from.as_ref().and_then(|from| machine.walk(from, NAMED)).filter(|all| !all.is_empty());
    let existed = machine.entry(&into);
    match (&from, listed) {
        (Some(from), Some(entries)) if existed == Entry::Directory => {
            for (path, entry) in &entries {
                let Some(relative) = path.relative_to(from) else { continue };
                let place = Value::exact(into.join(relative).as_str());
                match entry {
                    Entry::Directory => machine.make_directory(&place),
                    _ => machine.write(&place),
                }
            }
            if deletes {
                delete_others(machine, from, &entries, &into);
            }
        }
        (from, listed) => {
            let is_file = from.as_ref().is_some_and(|from| matches!(machine.entry(from), Entry::File(_)));
            if is_file {
                machine.write(&Value::exact(into.as_str()));
                if let Some(from) = from {
                    machine.remember_copy(from, &into);
                }
                return;
            }
            if existed == Entry::Missing {
                machine.add(Draft::new(EffectKind::FileCreate, Target::Path(into.clone())).recursive());
                if let (Some(from), Some(_)) = (from, listed) {
                    machine.remember_copy(from, &into);
                } else {
                    machine.remember_doubt(&into);
                }
                return;
            }
            arrive_tree(machine, from.as_ref(), &into);
            if deletes {
                let draft = Draft::new(EffectKind::FileDelete, Target::Path(into)).recursive();
                machine.add(draft.note("what is not in the source goes"));
            }
        }
    }
}

/// Deletes what the source does not have.
fn delete_others(
    machine: &mut Machine<'_>,
    from: &AbsolutePath,
    entries: &[(AbsolutePath, Entry)],
    into: &AbsolutePath,
) {
    let kept: Vec<&str> = entries.iter().filter_map(|(path, _)| path.relative_to(from)).collect();
    let note = "is not in the source";
    let Some(present) = machine.walk(into, NAMED * 8) else {
        machine.add(Draft::new(EffectKind::FileDelete, Target::Path(into.clone())).recursive().note(note));
        return;
    };
    let mut gone: Vec<AbsolutePath> = Vec::new();
    for (path, entry) in present {
        let is_kept =
            path == *into || path.relative_to(into).is_some_and(|relative| kept.contains(&relative));
        if is_kept || gone.iter().any(|above| path.is_within(above)) {
            continue;
        }
        let depth = if entry == Entry::Directory { Depth::Recursive } else { Depth::Single };
        let aim = AimedTarget {
            target: Target::Path(path.clone()),
            certainty: crate::effect::Certainty::Certain,
            nature: Nature::NotInSource,
            note: note.to_owned(),
        };
        machine.delete_aim(aim, depth);
        gone.push(path);
    }
}

/// What makes a name a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// A file that arrives: into the directory, or under the name that is given.
pub(super) fn receive(
    machine: &mut Machine<'_>,
    destination: &Value,
    name: &Value,
    depth: Depth,
    content: &Output,
) {
    let base = name.as_exact().and_then(|text| text.trim_end_matches('/').rsplit('/').next());
    let is_directory = machine.is_directory(destination) == Some(true)
        || destination.as_exact().is_some_and(|text| text.ends_with('/'));
    let place = match (is_directory, base) {
        // What a pattern means elsewhere need not stand here.
        (true, Some(base)) if base.contains('{') || depth == Depth::Recursive && base.contains(PATTERN) => {
            come_into(machine, destination);
            return;
        }
        (true, Some(base)) if base.contains(PATTERN) => {
            destination.followed_by(&Value::exact("/")).followed_by(&Value::Glob(base.to_owned()))
        }
        (true, Some(base)) => destination.followed_by(&Value::exact(format!("/{base}"))),
        (true, None) => destination.followed_by(&Value::exact("/")).followed_by(&Value::Unknown),
        (false, _) => destination.clone(),
    };
    if depth == Depth::Single {
        machine.write_from(&place, content);
        return;
    }
    for aim in machine.paths_through(&place) {
        match aim.target.path().cloned() {
            Some(path) if machine.entry(&path) != Entry::Missing => arrive_tree(machine, None, &path),
            Some(_) | None => machine.add(Draft::at(EffectKind::FileCreate, aim).recursive()),
        }
    }
}

/// Words joined by blanks, as ssh hands them to the other shell.
fn joined(words: &[Value]) -> Value {
    let mut text = Value::exact("");
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text = text.followed_by(&Value::exact(" "));
        }
        text = text.followed_by(word);
    }
    text
}

/// Whether data is sent along with a command.
fn sends(input: &Input) -> bool {
    match input {
        Input::Inherited => false,
        Input::Text(text) => text.as_exact() != Some(""),
        Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => true,
    }
}

/// The host without a user.
pub(super) fn host_of(word: &Value) -> Value {
    match word.as_exact() {
        Some(text) => {
            let plain = text.strip_prefix("ssh://").unwrap_or(text);
            Value::exact(
                plain
                    .rsplit_once('@')
                    .map_or(plain, |(_, host)| host)
                    .split([':', '/'])
                    .next()
                    .unwrap_or(plain),
            )
        }
        None => Value::Unknown,
    }
}

/// The host and path of a word such as `user@host:path`; `None` for a local path.
fn remote(word: &Value) -> Option<(Value, Value)> {
    let start = word.known_start();
    if let Some(rest) = start.strip_prefix("rsync://").or_else(|| start.strip_prefix("scp://")) {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        return Some((host_of(&Value::exact(host)), Value::exact(path)));
    }
    let (host, path) = start.split_once(':')?;
    if host.contains('/') || host.is_empty() {
        return None;
    }
    let path =
        if word.as_exact().is_some() { Value::exact(path.trim_start_matches(':')) } else { Value::Unknown };
    Some((host_of(&Value::exact(host)), path))
}

/// Whether a word of rclone names a storage rather than a path.
fn is_storage(word: &Value) -> bool {
    let start = word.known_start();
    start.split_once(':').is_some_and(|(name, _)| !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_machines_are_told_from_paths() {
        assert_eq!(
            remote(&Value::exact("dev@web1:/srv")),
            Some((Value::exact("web1"), Value::exact("/srv")))
        );
        assert_eq!(remote(&Value::exact("./a:b")), None);
        assert_eq!(remote(&Value::exact("src/")), None);
        assert_eq!(host_of(&Value::exact("ssh://dev@h:22/x")), Value::exact("h"));
        assert_eq!(joined(&[Value::exact("rm"), Value::exact("-rf")]), Value::exact("rm -rf"));
    }
}
