//! curl, wget and httpie.

use crate::effect::{Certainty, EffectKind, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value, secrets};

use crate::programs::downloads::{come_into, here};

use super::interception::{Sender, intercepting_receiver};
use super::{Sent, configured, note_deletion, note_secret_sent, request, told_to_run};

/// The files that a format for `--write-out` names: `%output{x}`, and `%output{>>x}` to add to one (curl 8.3).
fn outputs_of_format(format: &Value) -> Vec<Value> {
    let Some(text) = format.as_exact() else { return Vec::new() };
    text.split("%output{")
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| Value::exact(name.trim_start_matches(">>")))
        .collect()
}

/// Interprets a call of curl.
pub(crate) fn curl(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-V", "--version", "-h", "--help", "-M", "--manual"]) {
        return Exit::unknown();
    }
    let configured = configured::of_curl(machine, call);
    if configured.unknown {
        machine.opaque("what its configuration file asks for is not known");
        let urls =
            if arguments.operands.is_empty() { vec![Value::Unknown] } else { arguments.operands.clone() };
        machine.possibly(|machine| urls.iter().for_each(|url| request(machine, url, Sent::Data)));
    }
    if !configured.words.is_empty() {
        let mut words = vec![Value::exact("-q")];
        words.extend(configured::with_words(call, &["-K", "--config", "-q", "--disable"], configured.words));
        return machine.call_program(&call.program, &call.written, &words);
    }
    // A file with the form of what it tells is printed; one with cookies or a mark of a version is sent.
    for file in arguments.values(&["-w", "--write-out"]).filter_map(file_behind_at).collect::<Vec<_>>() {
        machine.read(&file);
    }
    let sent = curl_sends(machine, call);
    if arguments.value(&["--unix-socket"]).is_some_and(|value| value.known_end().ends_with("docker.sock"))
        && sent != Sent::Nothing
    {
        let engine = Target::Service("container engine".to_owned());
        machine.add(
            crate::interpreter::Draft::new(EffectKind::PrivilegeEscalation, engine)
                .severity(crate::effect::Severity::High)
                .note("gives orders to the container engine, which commands this machine"),
        );
        return Exit::unknown();
    }
    for output in arguments
        .values(&[
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--trace",
            "--trace-ascii",
            "--stderr",
            "--libcurl",
            "--etag-save",
            "--hsts",
            "--alt-svc",
            "--ssl-sessions",
        ])
        .cloned()
        .collect::<Vec<_>>()
    {
        if output.as_exact() != Some("-") {
            machine.write(&output);
        }
    }
    for format in arguments.values(&["-w", "--write-out"]).cloned().collect::<Vec<_>>() {
        for output in outputs_of_format(&format) {
            machine.write(&output);
        }
    }
    let question = asked_with(call);
    let urls: Vec<Value> = arguments
        .values(&["--url", "--expand-url"])
        .chain(&arguments.operands)
        .map(|url| question.as_ref().map_or_else(|| url.clone(), |question| url.followed_by(question)))
        .collect();
    if urls.is_empty() {
        if sent == Sent::Data {
            // A word that vanished may have been the URL, or the file before it.
            machine.possibly(|machine| request(machine, &Value::Unknown, sent));
        }
        return Exit::unknown();
    }
    let mut came = Output::Nothing;
    let method = match arguments.value(&["-X", "--request"]).and_then(Value::as_exact) {
        Some(method) => Some(method.to_ascii_uppercase()),
        None => (sent != Sent::Nothing).then(|| "POST".to_owned()),
    };
    let bodies = bodies(machine, call);
    for url in &urls {
        if sent == Sent::Data {
            note_secret_sent(machine, &call.input, url);
        }
        came = came.followed_by(fetch(machine, url, sent));
        if let Some(receiver) = intercepting_receiver(machine, Sender::Curl, arguments, url) {
            fetch(machine, &receiver, sent);
        }
        note_deletion(machine, url, method.as_deref());
        told_to_run::follow(machine, url, &bodies);
    }
    let outputs: Vec<Value> = arguments.values(&["-o", "--output"]).cloned().collect();
    let directory = arguments.value(&["--output-dir"]).cloned();
    let mut prints = outputs.is_empty();
    for output in outputs {
        if output.as_exact() == Some("-") {
            prints = true;
        } else if is_numbered(&output) {
            come_into(machine, &directory_of_name(&within(directory.as_ref(), &output)));
        } else {
            save(machine, &within(directory.as_ref(), &output), &came);
        }
    }
    if arguments.has(&["-O", "--remote-name", "--remote-name-all"]) {
        prints = false;
        let place = || directory.clone().unwrap_or_else(here);
        // The server says the name, or one address means many (curl(1), `-J` and "GLOBBING").
        if arguments.has(&["-J", "--remote-header-name"]) {
            come_into(machine, &place());
        }
        for url in &urls {
            let name = remote_name(url, None);
            // Whatever the address is, the name has no directory in it.
            if url.as_exact().is_none() {
                come_into(machine, &place());
                continue;
            }
            if name.as_ref().is_some_and(|name| name.contains(['{', '[']))
                && !arguments.has(&["-g", "--globoff"])
            {
                come_into(machine, &place());
                continue;
            }
            save(machine, &within(directory.as_ref(), &name.map_or(Value::Unknown, Value::exact)), &came);
        }
    }
    if prints && !arguments.has(&["-I", "--head"]) { Exit::with(came) } else { Exit::unknown() }
}

/// Whether a name stands for many: `#1` is what the first pattern of the address means (curl(1), `-o`).
fn is_numbered(name: &Value) -> bool {
    let text = name.known_start();
    text.split('#').skip(1).any(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// The directory that a name lies in.
fn directory_of_name(name: &Value) -> Value {
    match name.known_start().rsplit_once('/') {
        Some((directory, _)) if !directory.contains('#') && !directory.is_empty() => Value::exact(directory),
        Some(_) | None => here(),
    }
}

/// Writes what came to a file; when nothing comes over the network, nothing is written.
fn save(machine: &mut Machine<'_>, file: &Value, came: &Output) {
    let before = machine.effect_count();
    machine.write_from(file, came);
    if matches!(came, Output::Network(_)) {
        // That something new comes is only so when the request is answered; what is there is meant to be overwritten.
        machine.amend(before, |effect| {
            if effect.kind != EffectKind::FileModify {
                effect.certainty = Certainty::Possible;
            }
        });
    }
}

/// Interprets a call of wget.
pub(crate) fn wget(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["-V", "--version", "-h", "--help"]) {
        return Exit::unknown();
    }
    if let Some(program) = arguments.value(&["--use-askpass"]).cloned() {
        machine.run_words(&[program], Input::Inherited);
    }
    let configured = configured::of_wget(machine, call);
    if configured.unknown {
        machine.opaque("what its configuration file asks for is not known");
        let urls =
            if arguments.operands.is_empty() { vec![Value::Unknown] } else { arguments.operands.clone() };
        machine.possibly(|machine| urls.iter().for_each(|url| request(machine, url, Sent::Data)));
    }
    let orders = arguments.values(&["-e", "--execute"]).filter_map(Value::as_exact);
    let mut given: Vec<Value> = orders.filter_map(configured::order_of_wget).collect();
    given.extend(configured.words);
    if !given.is_empty() {
        // Those that are no options stay orders.
        let orders = arguments.values(&["-e", "--execute"]).filter_map(Value::as_exact);
        let others = orders.filter(|order| configured::order_of_wget(order).is_none());
        given.extend(others.map(|order| Value::Exact(format!("--execute={order}"))));
        let words = configured::with_words(call, &["--config", "-e", "--execute"], given);
        let without = vec![("WGETRC".to_owned(), Value::exact(""))];
        return machine
            .with_variables(without, |machine| machine.call_program(&call.program, &call.written, &words));
    }
    if arguments.values(&["-e", "--execute"]).any(|value| {
        value.as_exact().is_none_or(|text| {
            !matches!(
                text.split('=').next().map(str::trim),
                Some(
                    "robots"
                        | "timeout"
                        | "tries"
                        | "use_proxy"
                        | "http_proxy"
                        | "https_proxy"
                        | "check_certificate"
                )
            )
        })
    }) {
        machine.opaque("carries out an order of its configuration language");
    }
    let mut sent = Sent::Nothing;
    for file in arguments.values(&["--post-file", "--body-file"]).cloned().collect::<Vec<_>>() {
        machine.read(&file);
        sent = Sent::Data;
    }
    for text in arguments.values(&["--post-data", "--body-data"]) {
        sent = sent.max(if text.as_exact().is_some() { Sent::Literal } else { Sent::Data });
    }
    if arguments.value(&["--method"]).is_some_and(|method| !is_asking(method)) {
        sent = sent.max(Sent::Literal);
    }
    for log in arguments
        .values(&["-o", "--output-file", "-a", "--append-output", "--save-cookies", "--hsts-file"])
        .cloned()
        .collect::<Vec<_>>()
    {
        machine.write(&log);
    }
    if let Some(list) = arguments.value(&["-i", "--input-file"]).cloned() {
        machine.read(&list);
        request(machine, &Value::Unknown, sent);
    }
    let mut came = Output::Nothing;
    let method = match arguments.value(&["--method"]).and_then(Value::as_exact) {
        Some(method) => Some(method.to_ascii_uppercase()),
        None => (sent != Sent::Nothing).then(|| "POST".to_owned()),
    };
    let mut bodies: Vec<Value> = arguments.values(&["--post-data", "--body-data"]).cloned().collect();
    for file in arguments.values(&["--post-file", "--body-file"]) {
        let path = machine.one_path_through(file);
        bodies.push(path.map_or(Value::Unknown, |path| machine.announced_text(&path)));
    }
    for url in &arguments.operands {
        came = came.followed_by(fetch(machine, url, sent));
        if let Some(receiver) = intercepting_receiver(machine, Sender::Wget, arguments, url) {
            fetch(machine, &receiver, sent);
        }
        note_deletion(machine, url, method.as_deref());
        told_to_run::follow(machine, url, &bodies);
    }
    let reads_list = arguments.value(&["-i", "--input-file"]).is_some();
    if arguments.has(&["--spider"]) || arguments.operands.is_empty() && !reads_list {
        return Exit::unknown();
    }
    if let Some(output) = arguments.value(&["-O", "--output-document"]).cloned() {
        if output.as_exact() == Some("-") {
            return Exit::with(came);
        }
        machine.write_from(&output, &came);
        return Exit::silent();
    }
    let directory = arguments.value(&["-P", "--directory-prefix"]).cloned();
    if let Some(directory) = &directory {
        machine.if_it_succeeds(|machine| machine.make_directory(directory));
    }
    if arguments.has(&["-r", "--recursive", "-m", "--mirror", "-p", "--page-requisites"]) {
        let flat = ["-nH", "-nd", "--no-host-directories", "--no-directories"];
        if call.words.iter().any(|word| word.as_exact().is_some_and(|word| flat.contains(&word))) {
            let place = directory.unwrap_or_else(|| Value::exact("."));
            if !crate::programs::containers::write_over_tree(machine, &place) {
                machine.effect(crate::effect::EffectKind::FileCreate, &place);
            }
            return Exit::silent();
        }
        for url in &arguments.operands {
            let host = url.as_exact().map(super::known_hosts::host_of).map_or(Value::Unknown, Value::exact);
            for aim in machine.paths(&within(directory.as_ref(), &host)) {
                machine.add(
                    crate::interpreter::Draft::at(crate::effect::EffectKind::FileCreate, aim).recursive(),
                );
            }
        }
        return Exit::silent();
    }
    // The addresses stand in a file, or the server says the name (wget(1)).
    if reads_list || arguments.has(&["--content-disposition", "--trust-server-names"]) {
        come_into(machine, &directory.clone().unwrap_or_else(here));
    }
    let makes_directories = arguments.has(&["-x", "--force-directories", "--protocol-directories"]);
    for url in &arguments.operands {
        let Some(text) = url.as_exact() else {
            come_into(machine, &directory.clone().unwrap_or_else(here));
            continue;
        };
        let name = if makes_directories {
            Value::exact(name_with_directories(call, text))
        } else {
            remote_name(url, Some("index.html")).map_or(Value::Unknown, Value::exact)
        };
        save(machine, &within(directory.as_ref(), &name), &came);
    }
    Exit::silent()
}

/// The name that wget gives a file when it makes directories: protocol and host as far as they are asked for, and the path without so many
/// of its first directories (wget(1), "Directory Options").
fn name_with_directories(call: &Call, url: &str) -> String {
    let arguments = &call.arguments;
    let (protocol, rest) = url.split_once("://").unwrap_or(("http", url));
    let rest = rest.split('#').next().unwrap_or(rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let has_no_host =
        call.words.iter().any(|word| matches!(word.as_exact(), Some("-nH" | "--no-host-directories")));
    let cut = arguments.value(&["--cut-dirs"]).and_then(Value::as_exact);
    let cut: usize = cut.and_then(|cut| cut.parse().ok()).unwrap_or(0);
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let mut parts = Vec::new();
    if arguments.has(&["--protocol-directories"]) {
        parts.push(protocol);
    }
    if !has_no_host {
        parts.push(host);
    }
    parts.extend(directories.split('/').filter(|part| !part.is_empty()).skip(cut));
    parts.push(if file.is_empty() { "index.html" } else { file });
    parts.join("/")
}

/// Interprets a call of httpie or xh.
pub(crate) fn httpie(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut operands = arguments.operands.iter().peekable();
    let mut sent = Sent::Nothing;
    let mut said = None;
    if let Some(method) = operands
        .peek()
        .and_then(|word| word.as_exact())
        .filter(|text| text.len() > 2 && text.chars().all(|c| c.is_ascii_uppercase()))
    {
        if !matches!(method, "GET" | "HEAD" | "OPTIONS") {
            sent = Sent::Literal;
        }
        said = Some(method.to_owned());
        operands.next();
    }
    let Some(url) = operands.next() else {
        return Exit::unknown();
    };
    for item in operands {
        let Some(text) = item.as_exact() else {
            sent = Sent::Data;
            continue;
        };
        let file = text
            .split_once(":=@")
            .or_else(|| text.split_once("=@"))
            .or_else(|| text.split_once('@').filter(|(name, _)| !name.contains(['=', ':'])));
        if let Some((_, path)) = file {
            machine.read(&Value::exact(path));
            sent = Sent::Data;
        } else if text.contains('=') && !text.contains("==") {
            sent = sent.max(Sent::Literal);
        }
    }
    if call.input != Input::Inherited && call.input != Input::Text(Value::exact("")) {
        sent = Sent::Data;
    }
    let url = match url.as_exact() {
        Some(text) if text.starts_with(":/") => {
            Value::exact(format!("http://localhost{}", text.trim_start_matches(':')))
        }
        Some(text) if text.starts_with(':') => Value::exact(format!("http://localhost{text}")),
        Some(text) if !text.contains("://") => {
            Value::exact(format!("{}://{text}", if call.program.contains('s') { "https" } else { "http" }))
        }
        Some(_) | None => url.clone(),
    };
    request(machine, &url, sent);
    if let Some(receiver) = intercepting_receiver(machine, Sender::Httpie, arguments, &url) {
        request(machine, &receiver, sent);
    }
    let fields = arguments.operands.iter().filter_map(Value::as_exact);
    let mut bodies = Vec::from_iter(told_to_run::object(fields));
    if let Input::Text(text) = &call.input {
        bodies.push(text.clone());
    }
    bodies.extend(arguments.value(&["--raw"]).cloned());
    told_to_run::follow(machine, &url, &bodies);
    let method = said.or_else(|| (sent != Sent::Nothing).then(|| "POST".to_owned()));
    note_deletion(machine, &url, method.as_deref());
    let came = Output::Network(url.known_start());
    match arguments.value(&["-o", "--output"]).cloned() {
        Some(output) => {
            machine.write_from(&output, &came);
            Exit::silent()
        }
        // The server says the name, or the address; httpie does not overwrite what is there, and xh does (`xh --help`).
        None if arguments.has(&["-d", "--download"]) => {
            come_into(machine, &here());
            Exit::silent()
        }
        None => Exit::with(came),
    }
}

/// Asks for a URL; answers what comes back.
fn fetch(machine: &mut Machine<'_>, url: &Value, sent: Sent) -> Output {
    if let Some(path) = url.as_exact().and_then(local_path) {
        return machine.read(&Value::exact(path));
    }
    request(machine, url, sent);
    Output::Network(url.as_exact().map_or_else(|| url.known_start(), str::to_owned))
}

/// The path that a URL of a file names: `file:///x`, `file://localhost/x`, `FILE:/x`.
fn local_path(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let path = ["localhost", "127.0.0.1"].iter().find_map(|host| path.strip_prefix(host)).unwrap_or(path);
    path.starts_with('/').then_some(path)
}

/// The file that a value names behind `@`.
fn file_behind_at(value: &Value) -> Option<Value> {
    match value.as_exact()?.strip_prefix('@')? {
        "-" => None,
        path => Some(Value::exact(path)),
    }
}

/// A variable for `--expand-...`: `name=text`, `name@file`, `%NAME` and `%NAME=text` of the environment (curl(1), `--variable`).
fn variable(machine: &mut Machine<'_>, value: &Value, call: &Call) -> Sent {
    let Some(text) = value.as_exact() else { return literal(value) };
    if let Some(imported) = text.strip_prefix('%') {
        let name = imported.split(['=', '@']).next().unwrap_or(imported);
        return match machine.secret_variable(name) {
            Some(secret) => {
                machine.hand_over(secret);
                Sent::Literal
            }
            None => Sent::Nothing,
        };
    }
    match text.find(['=', '@']) {
        Some(at) if text.get(at..).is_some_and(|rest| rest.starts_with('@')) => {
            file(machine, &Value::exact(text.get(at + 1..).unwrap_or_default()), call)
        }
        Some(_) | None => Sent::Nothing,
    }
}

/// What a call of curl sends; the files that it sends are read.
fn curl_sends(machine: &mut Machine<'_>, call: &Call) -> Sent {
    let arguments = &call.arguments;
    let mut sent = Sent::Nothing;
    for (option, value) in &arguments.options {
        let Some(value) = value else { continue };
        let name =
            option.strip_prefix("--expand-").map_or_else(|| option.clone(), |rest| format!("--{rest}"));
        let found = match name.as_str() {
            "-d" | "--data" | "--data-ascii" | "--data-binary" | "--json" => at_file(machine, value, call),
            "--data-raw" | "--form-string" => literal(value),
            "--variable" => variable(machine, value, call),
            // Without `=` it is the file with the cookies.
            "-b" | "--cookie" => match value.as_exact() {
                Some("" | "-") | None => Sent::Nothing,
                Some(text) if text.contains('=') => Sent::Nothing,
                Some(_) => {
                    machine.read(value);
                    Sent::Nothing
                }
            },
            "--etag-compare" => {
                machine.read(value);
                Sent::Nothing
            }
            "--data-urlencode" | "--url-query" => {
                match value.as_exact().and_then(|text| text.split_once('@')) {
                    Some((name, path)) if !name.contains('=') => file(machine, &Value::exact(path), call),
                    _ => literal(value),
                }
            }
            "-F" | "--form" => form(machine, value, call),
            "-T" | "--upload-file" => file(machine, value, call),
            "-H" | "--header" | "--proxy-header" => {
                match value.as_exact().and_then(|text| text.strip_prefix('@')) {
                    Some(path) => file(machine, &Value::exact(path), call),
                    None => Sent::Nothing,
                }
            }
            "-X" | "--request" => {
                if is_asking(value) {
                    Sent::Nothing
                } else {
                    Sent::Literal
                }
            }
            "-Q" | "--quote" => Sent::Literal,
            _ => Sent::Nothing,
        };
        sent = sent.max(found);
    }
    if arguments.has(&["-G", "--get"]) && sent == Sent::Literal { Sent::Nothing } else { sent }
}

/// The bodies that a call of curl sends, as far as they are known: each text, that of each file, and the fields of a form together.
fn bodies(machine: &Machine<'_>, call: &Call) -> Vec<Value> {
    let arguments = &call.arguments;
    let mut all: Vec<Value> = Vec::new();
    for value in arguments.values(DATA).chain(arguments.values(&["--json"])) {
        all.push(match value.as_exact().and_then(|text| text.strip_prefix('@')) {
            Some("-" | ".") => match &call.input {
                Input::Text(text) => text.clone(),
                Input::Inherited
                | Input::Network(_)
                | Input::Secret(_)
                | Input::Local(_)
                | Input::Unknown => Value::Unknown,
            },
            Some(file) => {
                let path = machine.one_path_through(&Value::exact(file));
                path.map_or(Value::Unknown, |path| machine.announced_text(&path))
            }
            None => value.clone(),
        });
    }
    let fields = arguments.values(&["-F", "--form", "--form-string"]).chain(arguments.values(DATA));
    all.extend(told_to_run::object(fields.filter_map(Value::as_exact).flat_map(|text| text.split('&'))));
    all
}

/// Behind which the words of a request stand.
const DATA: &[&str] = &["-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode"];

/// What `-G` and `--url-query` put behind the address, where it is known.
fn asked_with(call: &Call) -> Option<Value> {
    let arguments = &call.arguments;
    let mut parts: Vec<&str> = arguments.values(&["--url-query"]).filter_map(Value::as_exact).collect();
    if arguments.has(&["-G", "--get"]) {
        parts.extend(arguments.values(DATA).filter_map(Value::as_exact));
    }
    parts.retain(|part| !part.starts_with('@') && !part.is_empty());
    (!parts.is_empty()).then(|| Value::exact(format!("?{}", parts.join("&"))))
}

/// Whether a method only asks.
fn is_asking(method: &Value) -> bool {
    method.as_exact().is_some_and(|text| {
        matches!(text.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS" | "PROPFIND" | "TRACE")
    })
}

fn literal(value: &Value) -> Sent {
    if value.as_exact().is_some() || value.known_start().starts_with('{') {
        Sent::Literal
    } else {
        Sent::Data
    }
}

/// Text, or a file behind `@`.
fn at_file(machine: &mut Machine<'_>, value: &Value, call: &Call) -> Sent {
    let start = value.known_start();
    let Some(rest) = start.strip_prefix('@') else {
        return literal(value);
    };
    let path = match value {
        Value::Exact(_) => Value::exact(rest),
        Value::Between { suffix, .. } => Value::Between { prefix: rest.to_owned(), suffix: suffix.clone() },
        Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => Value::Unknown,
    };
    file(machine, &path, call)
}

fn file(machine: &mut Machine<'_>, path: &Value, call: &Call) -> Sent {
    if !matches!(path.as_exact(), Some("-" | ".")) {
        machine.read(path);
        // A file that is only named by a variable for secrets.
        let named_by = machine.substituted().iter().rev().find_map(secrets::variable_of).map(str::to_owned);
        if let (true, Some(name)) = (path.as_exact().is_none_or(str::is_empty), named_by) {
            let draft = Draft::new(EffectKind::SecretRead, Target::Service(format!("${name}"))).possible();
            machine.add(draft.note("a file of secrets, by the name of the variable"));
        }
        return Sent::Data;
    }
    match &call.input {
        Input::Text(text) if is_of_person(machine, text) => Sent::Data,
        Input::Text(text) => literal(text),
        Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
            Sent::Data
        }
    }
}

/// Whether a text that comes in stands in a file of the person that was read before: neither of the workspace nor of a program.
fn is_of_person(machine: &Machine<'_>, text: &Value) -> bool {
    let Some(text) = text.as_exact().map(str::trim).filter(|text| !text.is_empty()) else { return false };
    let place = machine.world().place();
    machine.effects_since(0).filter(|effect| effect.kind == EffectKind::FileRead).any(|effect| {
        let path = effect.target.path().filter(|path| {
            let below_home = path.relative_to(&place.home);
            below_home.is_some_and(|rest| !rest.starts_with('.')) && !path.is_within(&place.workspace)
        });
        path.is_some_and(|path| machine.text(path).as_exact().is_some_and(|whole| whole.contains(text)))
    })
}

/// A part of a form: `name=text`, `name=@file,file;type=x`, `name=<file`.
fn form(machine: &mut Machine<'_>, value: &Value, call: &Call) -> Sent {
    let Some(text) = value.as_exact() else {
        return if value.known_start().contains("=@") { Sent::Data } else { literal(value) };
    };
    let Some((_, content)) = text.split_once('=') else {
        return Sent::Literal;
    };
    let Some(files) = content.strip_prefix(['@', '<']) else {
        return Sent::Literal;
    };
    let paths = files.split(';').next().unwrap_or(files).split(',');
    paths.fold(Sent::Data, |sent, path| sent.max(file(machine, &Value::exact(path.trim_matches('"')), call)))
}

/// The name under which a URL is kept; `None` when not known.
pub(in crate::programs) fn remote_name(url: &Value, otherwise: Option<&str>) -> Option<String> {
    let text = url.as_exact()?;
    let plain = text.split('#').next().unwrap_or(text);
    let path = plain.split_once("://").map_or(plain, |(_, rest)| rest);
    let name = match path.split_once('/') {
        Some((_, inner)) if otherwise.is_some() => inner.rsplit('/').next().unwrap_or_default(),
        Some((_, inner)) => {
            inner.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default()
        }
        None => "",
    };
    if name.is_empty() { otherwise.map(str::to_owned) } else { Some(name.to_owned()) }
}

/// A name in a directory that may be given.
fn within(directory: Option<&Value>, name: &Value) -> Value {
    match directory {
        Some(directory) => directory.followed_by(&Value::exact("/")).followed_by(name),
        None => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_are_named_after_their_url() {
        let name = |url: &str, otherwise| remote_name(&Value::exact(url), otherwise);
        assert_eq!(name("https://h/a/b.tgz?x=/y", None).as_deref(), Some("b.tgz"));
        assert_eq!(name("https://h", Some("index.html")).as_deref(), Some("index.html"));
        assert_eq!(name("https://h/a/", None), None);
        assert!(
            is_asking(&Value::exact("get"))
                && !is_asking(&Value::exact("DELETE"))
                && !is_asking(&Value::Unknown)
        );
    }
}
