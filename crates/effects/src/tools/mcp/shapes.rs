//! What a field is for, by the words of its name together with the form of what stands in it.

use serde_json::Value as Json;

use super::names::words_of;
use crate::tools::call::{is_rooted, texts_within};

/// Words in the names of fields that hold where something is left (ours, after servers for downloads and browsers).
const LEFT: &[&str] = &[
    "output",
    "out",
    "outfile",
    "save",
    "saved",
    "dest",
    "destination",
    "dst",
    "download",
    "local",
    "store",
];
/// Words that say that such a field is about something else.
const MANNERS: &[&str] = &[
    "format", "type", "mode", "schema", "encoding", "language", "tokens", "limit", "style", "url", "uri",
    "link", "host", "selector",
];
/// Words in the names of fields that hold a path (ours, after servers for files, documents and code).
const PATHS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filepath",
    "pathname",
    "directory",
    "dir",
    "folder",
    "document",
    "doc",
];
/// Words that say that it is where something comes from, or goes: these are read by themselves.
const ENDS: &[&str] = &["source", "src", "from", "old", "original", "to", "target", "new"];
/// How long an ending of a file is at most (ours).
const ENDING: usize = 5;

fn has(words: &[String], table: &[&str]) -> bool {
    words.iter().any(|word| table.contains(&word.as_str()))
}

/// Whether a field says where something is left that a tool fetches.
pub(super) fn is_output(name: &str) -> bool {
    let words = words_of(name);
    (has(&words, LEFT) || words == ["filename"] || words == ["file", "name"]) && !has(&words, MANNERS)
}

/// Whether a text reads as a path rather than as a word: it has a folder or an ending.
pub(super) fn is_file(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let ends = name.rsplit_once('.').is_some_and(|(_, ending)| {
        !ending.is_empty()
            && ending.len() <= ENDING
            && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
    });
    (is_rooted(text) || text.contains('/') || ends)
        && !text.contains("://")
        && !text.contains(|letter: char| letter.is_control() || letter == ',' || letter == ';')
}

/// The folder of a path.
pub(super) fn folder_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

/// The texts that can be nothing but paths and stand in fields whose names say so in any spelling: `pathToFile`, `input-file`.
pub(super) fn path_texts(input: &Json) -> Vec<&str> {
    let is_path = |name: &str| {
        let words = words_of(name);
        has(&words, PATHS)
            && !has(&words, LEFT)
            && (!has(&words, ENDS) || words.starts_with(&["path".to_owned(), "to".to_owned()]))
    };
    texts_within(input, &is_path).into_iter().filter(|text| is_rooted(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_file, is_output, path_texts};
    use serde_json::json;

    #[test]
    fn fields_for_what_comes_out_are_told_by_their_words() {
        for name in
            ["save_to", "saveTo", "output", "output-file", "dest", "filename", "file_name", "downloadPath"]
        {
            assert!(is_output(name), "{name}");
        }
        for name in
            ["output_format", "file", "url", "download_url", "path", "name", "local_host", "outputSchema"]
        {
            assert!(!is_output(name), "{name}");
        }
        assert!(is_file("a.html") && is_file("~/.bashrc") && is_file("a/b"));
        assert!(!is_file("markdown") && !is_file("https://a.example/b.html") && !is_file("a, b"));
    }

    #[test]
    fn paths_are_told_in_any_spelling() {
        let input = json!({ "pathToFile": "/a", "input-file": "/b", "docPath": "c", "source_path": "/d", "title": "/e" });
        let mut found = path_texts(&input);
        found.sort_unstable();
        assert_eq!(found, ["/a", "/b"]);
    }
}
