//! Files of options for curl and wget: their lines, as words of the command line.

use crate::interpreter::{Call, Input, Machine, Value};

/// The greatest depth of files of options that name others (ours).
const DEPTH: usize = 8;

/// What the files of options of a call come to.
pub(super) struct Configured {
    /// Words for the command line.
    pub(super) words: Vec<Value>,
    /// Whether a file is there of which the text is not known.
    pub(super) unknown: bool,
}

/// The options that a call of curl takes from files: those that it names, and the one of a directory that the command itself gives in the
/// environment (curl(1), `--config`).
pub(super) fn of_curl(machine: &mut Machine<'_>, call: &Call) -> Configured {
    let mut all = Configured { words: Vec::new(), unknown: false };
    if !matches!(call.words.first().and_then(Value::as_exact), Some("-q" | "--disable")) {
        let directories = [("CURL_HOME", ".curlrc"), ("XDG_CONFIG_HOME", "curlrc"), ("HOME", ".curlrc")];
        for (name, file) in directories {
            if let Some(directory) = given(machine, name) {
                let file = directory.followed_by(&Value::exact(format!("/{file}")));
                take_curl(machine, call, &file, 0, &mut all);
                break;
            }
        }
    }
    for file in call.arguments.values(&["-K", "--config"]).cloned().collect::<Vec<_>>() {
        take_curl(machine, call, &file, 0, &mut all);
    }
    all
}

/// A variable of the environment that the command sets for itself.
fn given(machine: &Machine<'_>, name: &str) -> Option<Value> {
    let before = match name {
        "HOME" => Some(machine.world().place().home.as_str().to_owned()),
        _ => machine.world().variable(name),
    };
    machine.variable(name).filter(|value| value.as_exact() != before.as_deref())
}

/// The text of a file of options; `None` where it is not known, and nothing where it is not there.
fn text_of(machine: &mut Machine<'_>, call: &Call, file: &Value) -> Option<String> {
    if matches!(file.as_exact(), Some("-" | "/dev/stdin")) {
        return match &call.input {
            Input::Text(text) => text.as_exact().map(str::to_owned),
            Input::Inherited => Some(String::new()),
            Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => None,
        };
    }
    let path = machine.one_path_through(file)?;
    if machine.nothing_is_at(&path) {
        return Some(String::new());
    }
    machine.read(file);
    machine.text(&path).as_exact().map(str::to_owned)
}

fn take_curl(machine: &mut Machine<'_>, call: &Call, file: &Value, depth: usize, all: &mut Configured) {
    let Some(text) = text_of(machine, call, file).filter(|_| depth < DEPTH) else {
        all.unknown = true;
        return;
    };
    for line in text.lines() {
        let Some((name, value)) = curl_line(line) else { continue };
        match (name.as_str(), value) {
            ("--config" | "-K", Some(value)) => {
                take_curl(machine, call, &Value::Exact(value), depth + 1, all);
            }
            (_, value) => {
                all.words.push(Value::Exact(name));
                all.words.extend(value.map(Value::Exact));
            }
        }
    }
}

/// The option of a line and its value: `name value`, `name = value`, `name: "value"`, with or without the dashes.
fn curl_line(line: &str) -> Option<(String, Option<String>)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let end = line.find(|letter: char| letter.is_whitespace() || matches!(letter, '=' | ':'));
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let name = if name.starts_with('-') { name.to_owned() } else { format!("--{name}") };
    let rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || matches!(letter, '=' | ':'));
    let value = match rest.strip_prefix('"') {
        Some(quoted) => Some(unquoted(quoted)),
        None => rest.split_whitespace().next().map(str::to_owned),
    };
    Some((name, value))
}

/// The text up to the closing quote, with its escapes.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('t') => plain.push('\t'),
                Some('n') => plain.push('\n'),
                Some('r') => plain.push('\r'),
                Some('v') => plain.push('\u{b}'),
                Some(other) => plain.push(other),
                None => {}
            },
            other => plain.push(other),
        }
    }
    plain
}

/// Orders of wget that matter here, without their lines and case, and the options that they are (wget manual, "Wgetrc Commands").
const ORDERS: &[(&str, &str)] = &[
    ("postfile", "--post-file"),
    ("postdata", "--post-data"),
    ("bodyfile", "--body-file"),
    ("bodydata", "--body-data"),
    ("method", "--method"),
    ("input", "--input-file"),
    ("outputdocument", "--output-document"),
    ("logfile", "--output-file"),
    ("dirprefix", "--directory-prefix"),
    ("header", "--header"),
    ("useaskpass", "--use-askpass"),
    ("savecookies", "--save-cookies"),
    ("loadcookies", "--load-cookies"),
    ("hstsfile", "--hsts-file"),
];

/// The options that a call of wget takes from files: the one that it names, or the one of a variable that the command itself sets.
pub(super) fn of_wget(machine: &mut Machine<'_>, call: &Call) -> Configured {
    let mut all = Configured { words: Vec::new(), unknown: false };
    let named = call.arguments.value(&["--config"]).cloned();
    let file = named
        .or_else(|| given(machine, "WGETRC"))
        .or_else(|| given(machine, "HOME").map(|home| home.followed_by(&Value::exact("/.wgetrc"))));
    let Some(file) = file.filter(|file| file.as_exact() != Some("")) else { return all };
    let Some(text) = text_of(machine, call, &file) else {
        all.unknown = true;
        return all;
    };
    all.words = text.lines().filter_map(order_of_wget).collect();
    all
}

/// The option that an order of wget is: `post_file = x`; `None` for one that sends and writes nothing.
pub(super) fn order_of_wget(line: &str) -> Option<Value> {
    let (name, value) = line.trim().split_once('=').filter(|_| !line.trim_start().starts_with('#'))?;
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let (_, option) = ORDERS.iter().find(|(order, _)| *order == plain)?;
    Some(Value::Exact(format!("{option}={}", value.trim())))
}

/// A call's words without those options that name files of options, with what stands in them behind.
pub(super) fn with_words(call: &Call, without: &[&str], words: Vec<Value>) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, value) in &call.arguments.options {
        if without.contains(&name.as_str()) {
            continue;
        }
        match value {
            Some(value) if name.starts_with("--") && call.program.starts_with("wget") => {
                all.push(Value::exact(format!("{name}=")).followed_by(value));
            }
            Some(value) => all.extend([Value::exact(name.as_str()), value.clone()]),
            None => all.push(Value::exact(name.as_str())),
        }
    }
    all.extend(words);
    all.extend(call.arguments.operands.iter().cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_options() {
        let option = |line: &str| curl_line(line);
        assert_eq!(
            option("url = \"http://x/\\\"y\""),
            Some(("--url".to_owned(), Some("http://x/\"y".to_owned())))
        );
        assert_eq!(option("-T file"), Some(("-T".to_owned(), Some("file".to_owned()))));
        assert_eq!(option("upload-file: /a # b"), Some(("--upload-file".to_owned(), Some("/a".to_owned()))));
        assert_eq!(option("silent"), Some(("--silent".to_owned(), None)));
        assert_eq!(option("# url"), None);
        assert_eq!(
            order_of_wget("post_file = /a").and_then(|word| word.as_exact().map(str::to_owned)).as_deref(),
            Some("--post-file=/a")
        );
        assert_eq!(order_of_wget("robots = off"), None);
    }
}
