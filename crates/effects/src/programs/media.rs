//! Programs that convert sound, films and pictures, and AppleScript.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Upload, Value};

/// `ffmpeg`: the word behind no option is an output; `-i` names inputs.
pub(crate) fn ffmpeg(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut words = call.words.iter().peekable();
    let mut format = String::new();
    while let Some(word) = words.next() {
        match word.as_exact() {
            Some("-i") => {
                if let Some(input) = words.next() {
                    if input.known_start().contains("://") {
                        machine.host(input, Upload::No);
                    } else if input.as_exact() != Some("-")
                        && !matches!(
                            format.as_str(),
                            "lavfi" | "x11grab" | "avfoundation" | "alsa" | "pulse" | "v4l2"
                        )
                    {
                        machine.read(input);
                    }
                }
                format.clear();
            }
            Some(
                "-version" | "-help" | "-h" | "-formats" | "-codecs" | "-encoders" | "-decoders" | "-filters"
                | "-protocols" | "-devices" | "-pix_fmts" | "-layouts" | "-bsfs" | "-hwaccels" | "-L"
                | "-buildconf" | "-colors" | "-muxers" | "-demuxers" | "-sources" | "-sinks",
            ) => {
                return Exit::unknown();
            }
            Some(
                "-y" | "-n" | "-hide_banner" | "-nostdin" | "-stats" | "-nostats" | "-vn" | "-an" | "-sn"
                | "-dn" | "-shortest" | "-re" | "-ignore_unknown" | "-copyts" | "-start_at_zero" | "-report"
                | "-benchmark" | "-xerror" | "-dump" | "-accurate_seek" | "-noaccurate_seek" | "-autorotate"
                | "-noautorotate",
            ) => {}
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                let value = words.next().and_then(Value::as_exact).unwrap_or_default();
                if text == "-f" {
                    value.clone_into(&mut format);
                }
            }
            Some("-" | "pipe:" | "pipe:1" | "/dev/null") => format.clear(),
            Some(_) | None => {
                if format == "null" {
                    format.clear();
                    continue;
                }
                if word.known_start().contains("://") && !word.known_start().starts_with("file:") {
                    machine.host(word, Upload::Yes);
                } else {
                    machine.write(word);
                }
                format.clear();
            }
        }
    }
    Exit::unknown()
}

/// ImageMagick and its kin: the last word is what is written.
pub(crate) fn last_is_output(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let verb = call.words.first().and_then(Value::as_exact).unwrap_or_default();
    let only_looks = matches!(call.program.as_str(), "display" | "animate")
        || matches!(verb, "identify" | "-version" | "-list" | "version" | "-help" | "compare" | "display");
    if only_looks {
        return Exit::unknown();
    }
    if verb == "mogrify" {
        for word in
            call.words.iter().skip(1).filter(|word| {
                word.as_exact().is_some_and(|text| !text.starts_with('-') && text.contains('.'))
            })
        {
            machine.effect(EffectKind::FileModify, word);
        }
        return Exit::unknown();
    }
    let Some((last, before)) = call.words.split_last() else { return Exit::unknown() };
    if before.is_empty() && call.program != "import" {
        return Exit::unknown();
    }
    let text = last.as_exact().unwrap_or("x");
    // `png:-`, `info:`, `null:` are no files; `png:name` is.
    let (scheme, name) = text.split_once(':').unwrap_or(("", text));
    if text.starts_with('-')
        || name == "-"
        || name.is_empty()
        || matches!(scheme, "info" | "null" | "txt") && name.is_empty()
    {
        return Exit::unknown();
    }
    let known_scheme = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric());
    machine.write(&if known_scheme { Value::exact(name) } else { last.clone() });
    Exit::unknown()
}

/// `exiftool`: `-TAG=VALUE` writes into the files.
pub(crate) fn exiftool(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let writes = call.words.iter().any(|word| {
        let start = word.known_start();
        start.starts_with('-')
            && start.contains('=')
            && !start.starts_with("-api")
            && !start.starts_with("-csv")
            || matches!(word.as_exact(), Some("-tagsFromFile" | "-TagsFromFile" | "-geotag"))
    });
    let taken_in = taken_into_tags(machine, call);
    if let Some(file) = call.arguments.value(&["-o"]) {
        machine.write_from(file, &taken_in);
        return Exit::unknown();
    }
    if writes && matches!(taken_in, Output::Secret(_)) {
        for word in &call.words {
            if word.as_exact().is_none_or(|text| !text.starts_with('-')) {
                machine.write_from(word, &taken_in);
            }
        }
        return Exit::unknown();
    }
    if writes {
        for word in &call.words {
            if word.as_exact().is_none_or(|text| !text.starts_with('-')) {
                machine.effect(EffectKind::FileModify, word);
            }
        }
    }
    Exit::unknown()
}

/// What comes out of the files that `-TAG<=FILE` puts into tags (exiftool(1), "-TAG<=DATFILE").
fn taken_into_tags(machine: &mut Machine<'_>, call: &Call) -> Output {
    let file = |word: &Value| {
        let text = word.as_exact()?;
        let (tag, file) = text.split_once("<=")?;
        (tag.starts_with('-') && !file.is_empty()).then(|| Value::exact(file))
    };
    let files: Vec<Value> = call.words.iter().filter_map(file).collect();
    files.iter().fold(Output::Nothing, |all, file| {
        let read = machine.read(file);
        all.followed_by(read)
    })
}

/// What a script says that changes nothing: notices, dialogs, volume, asking for names and places.
const QUIET_PHRASES: &[&str] = &[
    "display notification",
    "display dialog",
    "display alert",
    "beep",
    "say ",
    "set volume",
    "return ",
    "get ",
    "path to",
    "name of",
    "choose ",
];

/// `osascript`: `do shell script` is followed, all else that does something is not understood.
pub(crate) fn osascript(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut lines: Vec<&Value> = arguments.values(&["-e"]).collect();
    if lines.is_empty() {
        match (arguments.operands.first(), &call.input) {
            (Some(file), _) => {
                machine.read(file);
                machine.unread("the script is not followed");
                return Exit::unknown();
            }
            (None, Input::Text(text)) => lines.push(text),
            (None, Input::Network(url)) => {
                let url = url.clone();
                machine.runs_from_network(&url);
                return Exit::unknown();
            }
            (None, Input::Inherited) => return Exit::unknown(),
            (None, Input::Secret(_) | Input::Local(_) | Input::Unknown) => {
                machine.opaque("the script is not known");
                return Exit::unknown();
            }
        }
    }
    let mut answer = Output::Unknown;
    let mut unclear = false;
    for line in lines {
        let Some(text) = line.as_exact() else {
            unclear = true;
            continue;
        };
        for statement in
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"))
        {
            let elevated = statement.contains("administrator privileges");
            if let Some(script) = shell_script(statement) {
                if elevated {
                    let target = Target::Service("osascript".to_owned());
                    machine.add(
                        Draft::new(EffectKind::PrivilegeEscalation, target)
                            .note("asks for the rights of the administrator"),
                    );
                }
                machine.run_text(&Value::Exact(script), Input::Inherited);
            } else if statement.contains("hidden answer") {
                let name = "osascript dialog".to_owned();
                machine.add(
                    Draft::new(EffectKind::SecretRead, Target::Service(name.clone()))
                        .severity(Severity::High)
                        .note("asks the user for a password"),
                );
                answer = Output::Secret(name);
            } else if !QUIET_PHRASES.iter().any(|phrase| statement.starts_with(phrase))
                && !is_plain_request(statement)
            {
                unclear = true;
            }
        }
    }
    if unclear {
        machine.unread("the script is not followed");
    }
    Exit::with(answer)
}

/// Applications whose content is the user's own.
const PERSONAL: &[&str] =
    &["Mail", "Messages", "Notes", "Contacts", "Calendar", "Reminders", "Photos", "Keychain Access"];

/// Whether a statement asks an application for no more than to start, end, show or load something (AppleScript Language Guide, "Standard
/// Suite"; the dictionaries of Safari and Chrome): `tell application "Safari" to activate`, `quit app "Simulator"`.
fn is_plain_request(statement: &str) -> bool {
    let named = |text: &str| -> Option<(String, String)> {
        let text = text.strip_prefix("application ").or_else(|| text.strip_prefix("app "))?;
        let (name, rest) = text.strip_prefix('"')?.split_once('"')?;
        Some((name.to_owned(), rest.trim().to_owned()))
    };
    if let Some((name, rest)) = statement.strip_prefix("tell ").and_then(named) {
        let Some(request) = rest.strip_prefix("to ") else { return false };
        let is_verb = ["activate", "quit", "launch", "reopen"].contains(&request);
        let is_page = request
            .strip_prefix("open location \"http")
            .is_some_and(|page| page.strip_suffix('"').is_some_and(|page| !page.contains(['"', '&'])));
        let looks = ["reload ", "get ", "count "].iter().any(|verb| request.starts_with(verb))
            && !PERSONAL.contains(&name.as_str())
            && !request.contains(['"', '&']);
        return is_verb || is_page || looks;
    }
    ["quit ", "activate ", "launch ", "id of ", "version of "]
        .iter()
        .find_map(|verb| named(statement.strip_prefix(verb)?))
        .is_some_and(|(_, rest)| rest.is_empty())
}

/// The text behind `do shell script`, when it is one string.
fn shell_script(statement: &str) -> Option<String> {
    let rest = statement.split_once("do shell script")?.1.trim_start();
    let mut letters = rest.strip_prefix('"')?.chars();
    let mut script = String::new();
    loop {
        match letters.next()? {
            '"' => break,
            '\\' => script.push(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            letter => script.push(letter),
        }
    }
    // A string that is put together (`"rm " & name`) is not known.
    let behind: String = letters.collect();
    (!behind.trim_start().starts_with('&')).then_some(script)
}
