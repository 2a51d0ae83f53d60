//! What shell tools are given: one command, or several that each run in a shell of their own.

use checkrein_protocol::{Action, ToolName};
use serde_json::{Map, Value as Json};

use super::{Folders, places};
use crate::command::quoted;

/// The call of a shell tool, in every way in which its input can be read.
pub(super) fn in_every_way(action: &Action, fields: &Map<String, Json>, folders: Folders) -> Vec<Action> {
    let texts = texts(action.tool.as_str(), fields);
    let mut all = Vec::new();
    for place in places(action, fields, folders) {
        let base = Action {
            tool: ToolName(ToolName::SHELL.to_owned()),
            input: Json::Object(fields.clone()),
            cwd: place,
        };
        if texts.is_empty() {
            all.push(base);
            continue;
        }
        for text in &texts {
            let mut one = base.clone();
            one.input["command"] = Json::from(text.as_str());
            all.push(one);
        }
    }
    all
}

/// The texts for the shell in an input, each in the words of one of its fields. What is typed into an open shell is a text for it.
fn texts(tool: &str, fields: &Map<String, Json>) -> Vec<String> {
    let typed = ["input", "cmd"].into_iter().filter_map(|name| fields.get(name)?.as_str().map(str::to_owned));
    let one = fields.get("command").and_then(|command| match (tool, command.as_str()) {
        // The tool for several commands takes one alone as well, with its arguments.
        ("run_commands", Some(_)) => command_of(&Json::Object(fields.clone())),
        (_, text) => text.map(str::to_owned),
    });
    let several = fields.get("commands").and_then(|commands| {
        let mut list = Some(commands.clone());
        // A list may be written as a text, and that as one again.
        while let Some(Json::String(text)) = &list {
            list = serde_json::from_str(text).ok();
        }
        match list.as_ref().unwrap_or(commands) {
            Json::Array(items) => items.iter().map(command_of).collect(),
            alone => command_of(alone).map(|alone| vec![alone]),
        }
    });
    let several = several.map(|all: Vec<String>| with_documents(&all)).and_then(|all| match all.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        // Each in quotes: what one of them leaves open must not hide the next.
        all => Some(all.iter().map(|one| format!("bash -c {}", literal(one))).collect::<Vec<_>>().join("\n")),
    });
    let mut found: Vec<String> = Vec::new();
    for text in one.into_iter().chain(typed).chain(several) {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// A text as one word of a shell, also an empty one.
fn literal(text: &str) -> String {
    if text.is_empty() { "''".to_owned() } else { quoted(text) }
}

/// One command: a text for a shell, or a program with its arguments.
fn command_of(given: &Json) -> Option<String> {
    if let Some(text) = given.as_str() {
        return Some(text.to_owned());
    }
    let program = given.get("command")?.as_str()?;
    match given.get("args") {
        None | Some(Json::Null) => Some(program.to_owned()),
        Some(args) => {
            let args = args.as_array()?.iter().map(Json::as_str).collect::<Option<Vec<_>>>()?;
            Some(std::iter::once(program).chain(args).map(literal).collect::<Vec<_>>().join(" "))
        }
    }
}

/// The commands, where one that begins a here-document and those up to its end are one: the client puts them together again.
fn with_documents(all: &[String]) -> Vec<String> {
    let mut whole = Vec::new();
    let mut rest = all;
    while let [first, others @ ..] = rest {
        let end = document(first).and_then(|word| others.iter().position(|one| trimmed(one) == word));
        let taken = end.map_or(1, |end| end + 2);
        whole.push(rest.get(..taken).unwrap_or(rest).join("\n"));
        rest = rest.get(taken..).unwrap_or_default();
    }
    whole
}

/// A text without the blanks around it, as `String.prototype.trim` leaves it.
fn trimmed(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Whether JavaScript takes a sign for white space or the end of a line (ECMA-262, "White Space" and "Line Terminators"): not U+0085, which
/// is one for Unicode, and U+FEFF, which is none there.
fn is_blank(sign: char) -> bool {
    sign == '\u{feff}' || sign != '\u{85}' && sign.is_whitespace()
}

/// The word at which the first here-document of a text ends, as the client finds it: in quotes too.
fn document(text: &str) -> Option<&str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./-".contains(letter);
    text.match_indices("<<").find_map(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let rest = rest.strip_prefix("<<").filter(|_| !before.ends_with('<'))?;
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(is_blank);
        let inside = |quote: char| rest.strip_prefix(quote)?.split_once(quote).map(|(word, _)| word);
        let bare = || rest.split(|letter| !plain(letter)).next();
        inside('"').or_else(|| inside('\'')).or_else(bare).filter(|word| !word.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(input: &Json) -> Vec<String> {
        texts("run_commands", input.as_object().unwrap())
    }

    #[test]
    fn each_of_several_commands_has_a_shell_of_its_own() {
        assert_eq!(told(&json!({"commands": ["ls"]})), ["ls"]);
        let two = told(&json!({"commands": "[\"cd /tmp # there\", \"touch x\"]"}));
        assert_eq!(two, ["bash -c 'cd /tmp # there'\nbash -c 'touch x'"]);
        // What one leaves open is closed by no other.
        let open = told(&json!({"commands": ["echo 'a", "touch x", "echo 'b"]}));
        assert_eq!(
            open,
            [r"bash -c 'echo '\''a'".to_owned() + "\nbash -c 'touch x'\n" + r"bash -c 'echo '\''b'"]
        );
        assert!(told(&json!({"commands": [1]})).is_empty());
    }

    #[test]
    fn a_program_has_its_arguments() {
        let args = json!({"command": "touch", "args": ["a b", "c"]});
        for input in [args.clone(), json!({"commands": [args.clone()]}), json!({"commands": args})] {
            assert_eq!(told(&input), ["touch 'a b' c"], "{input}");
        }
        assert!(told(&json!({"command": "touch", "args": [1]})).is_empty());
        // Another client's tool takes no arguments beside the command.
        let other = json!({"command": "touch x", "args": ["y"]});
        assert_eq!(texts("bash", other.as_object().unwrap()), ["touch x"]);
    }

    #[test]
    fn a_document_ends_at_the_line_at_which_it_ends_for_the_client() {
        for (end, is_end) in
            [("X", true), (" X\t", true), ("X\u{feff}", true), ("X\u{85}", false), ("X\u{200b}", false)]
        {
            let found = told(&json!({ "commands": ["cat <<X", "touch y", end] }));
            assert_eq!(!found[0].contains("\nbash -c 'touch y'"), is_end, "{end:?}: {found:?}");
        }
        let begun = told(&json!({ "commands": ["cat <<\u{85}X", "touch y", "X"] }));
        assert!(begun[0].contains("bash -c 'touch y'"), "{begun:?}");
    }

    #[test]
    fn a_document_that_is_given_in_pieces_is_one() {
        let pieces = told(&json!({"commands": ["cat > x <<'END'", "one", "END", "ls"]}));
        assert_eq!(pieces, [r"bash -c 'cat > x <<'\''END'\''".to_owned() + "\none\nEND'\nbash -c ls"]);
        for (text, word) in [
            ("cat <<- END", Some("END")),
            ("echo '<<X'; cd /tmp", Some("X")),
            ("cat <<<word", None),
            ("a << \"x y\"", Some("x y")),
            ("echo 1", None),
            ("cat <<\u{a0}X", Some("X")),
            ("cat <<\u{85}X", None),
        ] {
            assert_eq!(document(text), word, "{text}");
        }
    }
}
