//! What the words for people in a request say that is asked for: titles, texts that are shown, addresses.
//!
//! An editor shows nothing else to the user where an agent tells no input, and an agent that means it does just that. They never make a call
//! milder; what they name beside it is reviewed as well.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as Json};

/// How many paths and addresses are taken from words at most (ours).
const MOST: usize = 32;
/// The signs that stand around a path or an address in a sentence.
const AROUND: &[char] = &['`', '\'', '"', '(', ')', '[', ']', '<', '>', ',', ';', '*'];

/// The paths in a sentence that can be nothing else.
pub(crate) fn paths(words: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (place, word) in parts(words) {
        if !is_rooted(word) {
            continue;
        }
        // One with blanks in it goes on to the end, or to where its quotes end.
        let rest = words.get(place..).unwrap_or_default().lines().next().unwrap_or_default();
        let quote = words.get(..place).and_then(|before| before.chars().next_back());
        let rest = quote
            .filter(|quote| ['`', '\'', '"'].contains(quote))
            .and_then(|quote| rest.split(quote).next())
            .unwrap_or(word);
        for path in [word, rest] {
            if !all.iter().any(|known| known == path) && all.len() < MOST {
                all.push(path.to_owned());
            }
        }
    }
    all
}

/// The addresses in a text.
pub(crate) fn addresses(words: &str) -> Vec<&str> {
    let all =
        parts(words).map(|(_, word)| word.trim_end_matches(['.', ':', '!', '?']).trim_end_matches(AROUND));
    let begins = |word: &str, start: &str| {
        word.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
    };
    all.filter(|word| ["http://", "https://", "file:"].iter().any(|start| begins(word, start)))
        .take(MOST)
        .collect()
}

/// The words of a text without what stands around them, each with where it begins.
fn parts(words: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    words.split_inclusive(char::is_whitespace).filter_map(move |piece| {
        let start = end;
        end += piece.len();
        let behind = piece.trim_start_matches(AROUND);
        let word = behind.trim_end().trim_end_matches(AROUND);
        (!word.is_empty()).then_some((start + piece.len() - behind.len(), word))
    })
}

fn is_rooted(word: &str) -> bool {
    word == "~"
        || ["/", "~/", "file://", "$HOME/", "${HOME}/"]
            .iter()
            .any(|start| word.starts_with(start) && word.len() > start.len())
}

/// A command as it is shown: without the sign of a prompt, or the fence or quotes around it.
pub(crate) fn shown_command(text: &str) -> &str {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let text = fenced.map_or(text, |inner| match inner.split_once('\n') {
        // The name of a language behind the fence.
        Some((first, rest)) if !first.contains(char::is_whitespace) => rest,
        Some(_) | None => inner,
    });
    let text = text.trim();
    let quoted =
        text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).filter(|inner| !inner.contains('`'));
    let text = quoted.unwrap_or(text);
    text.strip_prefix("$ ").or_else(|| text.strip_prefix("> ")).unwrap_or(text).trim()
}

/// Words that stand in sentences and in no command (ours): articles, prepositions, pronouns.
const OF_SENTENCES: &[&str] = &[
    "a", "an", "the", "this", "that", "these", "of", "to", "for", "with", "and", "or", "from", "into",
    "your", "my", "its", "it", "is", "are", "in", "on", "by",
];
/// Words behind which a command is shown in a title (ours).
const RUNNING_WORDS: &[&str] =
    &["run", "running", "execute", "executing", "bash", "shell", "terminal", "command", "cmd"];

/// The commands in a title: the whole of it where it reads as one, what stands in back-ticks, and what stands behind a word that says that it
/// runs. One word alone is a name.
pub(crate) fn commands(title: &str) -> Vec<&str> {
    let title = title.trim();
    let shown = shown_command(title);
    let mut all: Vec<&str> = Vec::new();
    let is_more = |text: &&str| text.split_whitespace().nth(1).is_some();
    if shown != title && is_more(&shown) || reads_as_command(title) {
        all.push(shown);
    }
    all.extend(title.split('`').skip(1).step_by(2).map(str::trim).filter(is_more));
    let (first, rest) = title.split_once(char::is_whitespace).unwrap_or((title, ""));
    let first = first.trim_end_matches(':').to_ascii_lowercase();
    let rest = shown_command(rest);
    if RUNNING_WORDS.contains(&first.as_str()) && reads_as_command(rest) {
        all.push(rest);
    }
    all.sort_unstable();
    all.dedup();
    all.truncate(MOST);
    all
}

/// Whether a text can be a command rather than a sentence: it begins like a program, and a word behind that is an option, a path, or has signs
/// of a shell; or no word is one of a sentence.
fn reads_as_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_program = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase() || "./~$\\".contains(c))
            && word.chars().all(|c| c.is_ascii_graphic() && !",!?".contains(c))
    };
    if !words.next().is_some_and(|word| is_program(word) && !OF_SENTENCES.contains(&word)) {
        return false;
    }
    let words: Vec<&str> = words.collect();
    let is_sign = |word: &&str| {
        word.starts_with('-') && word.len() > 1
            || word.contains(['/', '~', '$', '*', '=', '|', ';', '&', '<', '>'])
    };
    let is_sentence = |word: &&str| OF_SENTENCES.contains(&word.to_ascii_lowercase().as_str());
    !words.is_empty() && (words.iter().any(is_sign) || !words.iter().any(is_sentence))
}

/// A title of Gemini CLI apart: the command, and the directory that stands behind it, `ls [in sub] (why)`. What has this form is no command
/// of a shell.
pub(crate) fn command_and_folder(title: &str) -> Option<(&str, &str)> {
    let of = |beginning: &str| {
        let (command, rest) = title.rsplit_once(beginning)?;
        let (folder, behind) = rest.split_once(']')?;
        let behind = behind.trim();
        (behind.starts_with('(') && behind.ends_with(')')).then_some((command.trim_end(), folder.trim()))
    };
    of(" [in ").or_else(|| of(" [current working directory "))
}

/// The files that a map of changes names, with whether each goes: codex-acp keys them by their paths.
pub(crate) fn changes(input: &Map<String, Json>) -> Vec<(&str, FileFate)> {
    let maps = ["changes", "fileChanges", "file_changes", "edits", "files"]
        .iter()
        .filter_map(|name| input.get(*name)?.as_object());
    let fate = |change: &Json| {
        let is_deletion = |word: &str| ["delete", "remove", "deleted"].contains(&word);
        let kind = change
            .get("type")
            .or_else(|| change.get("kind"))
            .and_then(Json::as_str)
            .or_else(|| change.as_str());
        let is_gone = kind.is_some_and(is_deletion)
            || change.as_object().is_some_and(|change| change.keys().any(|name| is_deletion(name)));
        if is_gone { FileFate::Gone } else { FileFate::Written }
    };
    maps.flatten().map(|(path, change)| (path.as_str(), fate(change))).collect()
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFate {
    /// It is made or changed.
    Written,
    /// It is removed.
    Gone,
}

/// A path without the escapes of an address; `None` where it has none.
pub(crate) fn unescaped(path: &str) -> Option<String> {
    let plain = percent_decode_str(path).decode_utf8_lossy();
    (plain != path).then(|| plain.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_and_addresses_stand_in_sentences() {
        assert_eq!(paths("Writing to ~/.codex/hooks.json"), ["~/.codex/hooks.json"]);
        assert_eq!(paths("Delete `~/My Files/a`, please"), ["~/My", "~/My Files/a"]);
        assert_eq!(paths("Read (/etc/passwd) and/or nothing"), ["/etc/passwd"]);
        assert!(paths("Remove the build folder / and so on").is_empty());
        assert_eq!(addresses("see <https://a.b/c?d=e>."), ["https://a.b/c?d=e"]);
    }

    #[test]
    fn commands_are_shown_in_many_ways() {
        for shown in ["rm -rf x", "$ rm -rf x", "`rm -rf x`", "```sh\nrm -rf x\n```", " > rm -rf x "] {
            assert_eq!(shown_command(shown), "rm -rf x", "{shown}");
        }
        assert_eq!(command_and_folder("rm -rf * [in /h] (delete all)"), Some(("rm -rf *", "/h")));
        assert_eq!(command_and_folder("rm -rf * [in /h]"), None);
        assert_eq!(command_and_folder("ls; rm -rf ~ [in x] (a); ls"), None);
    }

    #[test]
    fn a_title_reads_as_a_command_or_as_words() {
        for (title, found) in [
            ("rm -rf x", &["rm -rf x"][..]),
            ("$ rm -rf x", &["rm -rf x"]),
            ("git push origin main", &["git push origin main"]),
            ("rm -rf ./to/the/end", &["rm -rf ./to/the/end"]),
            ("Run `rm -rf x`", &["rm -rf x"]),
            ("Run rm -rf x", &["rm -rf x"]),
            ("Execute: rm -rf x", &["rm -rf x"]),
            ("Clean up with `rm -rf x` and `rm -rf y`", &["rm -rf x", "rm -rf y"]),
            ("./deploy.sh --now", &["./deploy.sh --now"]),
            ("cd x; rm y", &["cd x; rm y"]),
        ] {
            assert_eq!(commands(title), found, "{title}");
        }
        for title in [
            "",
            "delete_repo",
            "Delete the build folder",
            "Edit `src/main.rs`",
            "kill the server",
            "Run the tests",
            "Writing to a.txt",
            "Run tests",
            "shut down the server",
            "Drop the table!",
            "Read src/main.rs",
        ] {
            assert_eq!(commands(title), [""; 0], "{title}");
        }
    }

    #[test]
    fn maps_of_changes_name_files_by_their_keys() {
        let input = json!({ "changes": { "/a": { "type": "delete" }, "/b": { "update": { "unified_diff": "" } }, "/c": { "delete": {} } } });
        let found = changes(input.as_object().unwrap());
        assert_eq!(found, [("/a", FileFate::Gone), ("/b", FileFate::Written), ("/c", FileFate::Gone)]);
        let many: Map<String, Json> = (0..100).map(|number| (format!("/{number}"), json!({}))).collect();
        let input = json!({ "changes": many });
        assert_eq!(changes(input.as_object().unwrap()).len(), 100, "none is left out");
        assert_eq!(unescaped("/a/hooks%2Ejson").as_deref(), Some("/a/hooks.json"));
        assert_eq!(unescaped("/a/100%"), None);
    }
}
