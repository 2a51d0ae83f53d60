//! The lines of Codex (`exec --json`). It tells its tokens at the end of a turn only, and a run is one turn: until then they are at least what
//! its steps hold. It does not tell its answers apart either, so they are counted by their steps.

use checkrein_protocol::TokenCounts;
use serde_json::{Value as Json, json};

use super::count::{self, Uncounted};
use super::{BYTES_OF_A_TOKEN, CODEX, StreamParser};
use crate::event_queue::StreamEvent;

/// A turn that began and did not tell its tokens yet.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// What was counted of it.
    counted: TokenCounts,
    /// Words and thoughts since the last step.
    words: u64,
}

/// So many words and thoughts in a row belong to one answer at most (ours): there are some of them in one answer, and a few answers hold no
/// step at all.
const WORDS_OF_AN_ANSWER: u64 = 10;

/// How many bytes of what a command writes are at least one token (ours): rulers and blanks are less than words.
const BYTES_READ_OF_A_TOKEN: u64 = 8;

/// So many bytes of what a command writes are shown to the model in any case (ours); more of it is cut.
const SHOWN: u64 = 8 << 10;

/// How many calls are remembered until they end (ours).
const BEGUN: usize = 256;

/// What an item of Codex is for who counts answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    /// The model wanted something done: that is an answer of its own.
    Step,
    /// Something that the model wrote on its way to a step or to the end.
    Words,
    /// The list of what is to be done, which ends with the turn; each change of it is a step.
    List,
    /// Something that went wrong.
    Error,
}

impl ItemKind {
    /// What is not known is a step: so it is counted.
    fn of(item: &Json) -> Self {
        match item["type"].as_str() {
            Some("agent_message" | "reasoning" | "plan" | "user_message") => Self::Words,
            Some("todo_list") => Self::List,
            Some("error") => Self::Error,
            _ => Self::Step,
        }
    }
}

impl StreamParser {
    /// A turn begins. The one before must have told what it used.
    pub(super) fn turn_begins(&mut self) {
        if self.progress.untold_turn {
            self.progress.doubt(Uncounted("a turn ended and did not tell its tokens".to_owned()));
        }
        self.progress.goes_on = true;
        self.turn = Turn::default();
    }

    /// A turn ends and tells what it used.
    pub(super) fn turn(&mut self, usage: &Json) {
        let is_any = std::mem::take(&mut self.progress.untold_turn);
        let counted = std::mem::take(&mut self.turn.counted);
        let told = count::of_codex(usage).unwrap_or_else(|why| {
            self.progress.doubt(why);
            TokenCounts::default()
        });
        // What it said last, with no step behind it, was an answer of its own.
        if self.turn.words > 0 {
            self.count_step();
        }
        if is_any && told == TokenCounts::default() {
            self.progress.doubt(Uncounted("a turn with steps told that it used no tokens".to_owned()));
        }
        self.progress.goes_on = false;
        self.use_more(told.beyond(&counted));
        self.progress.last_sent = told.sent();
    }

    /// A turn ends and tells nothing but what went wrong.
    pub(super) fn turn_fails(&mut self) {
        self.progress.untold_turn = false;
        self.turn = Turn::default();
    }

    fn use_more(&mut self, tokens: TokenCounts) {
        let model = self.progress.model.is_none().then_some(CODEX);
        self.progress.used(model, tokens, &self.prices);
    }

    /// An item that begins: the moment to look at what it would do.
    pub(super) fn item_begins(&mut self, item: &Json, length: usize) {
        if let (Some(id), Some((tool, input))) = (item["id"].as_str(), call(item)) {
            if self.begun.len() >= BEGUN {
                self.begun.pop_front();
            }
            self.begun.push_back(id.to_owned());
            self.say(StreamEvent::Call { id: id.to_owned(), tool, input }, length);
        }
    }

    /// An item that changed while it lasts.
    pub(super) fn item_changes(&mut self, item: &Json) {
        match ItemKind::of(item) {
            ItemKind::List => self.count_step(),
            ItemKind::Step | ItemKind::Words | ItemKind::Error => {}
        }
    }

    /// An item that is over.
    pub(super) fn item(&mut self, item: &Json, length: usize) {
        match ItemKind::of(item) {
            ItemKind::Step => {
                self.count_step();
                self.progress.goes_on = true;
                self.tell_item(item, length);
            }
            ItemKind::List => self.count_step(),
            ItemKind::Words => {
                self.turn.words += 1;
                if self.turn.words > WORDS_OF_AN_ANSWER {
                    self.count_step();
                }
                if item["type"] == "agent_message" {
                    let text = item["text"].as_str().unwrap_or_default();
                    text.clone_into(&mut self.progress.said);
                    self.say(StreamEvent::Said(text.to_owned()), length);
                }
                self.progress.error = None;
            }
            ItemKind::Error => return self.failed(&item["message"]),
        }
        self.progress.untold_turn = true;
        let least = least(item);
        self.turn.counted = self.turn.counted.plus(&least);
        let sent = self.progress.last_sent;
        self.use_more(least);
        // What is sent with a call is not known before the end.
        self.progress.last_sent = sent;
    }

    fn count_step(&mut self) {
        self.progress.iterations += 1;
        self.progress.error = None;
        self.turn.words = 0;
    }

    fn tell_item(&mut self, item: &Json, length: usize) {
        let Some(id) = item["id"].as_str().filter(|_| self.speaker.is_some()).map(str::to_owned) else {
            return;
        };
        let begun = self.begun.iter().position(|begun| *begun == id);
        if let Some(place) = begun {
            self.begun.remove(place);
        } else if let Some((tool, input)) = call(item) {
            self.say(StreamEvent::Call { id: id.clone(), tool, input }, length);
        } else {
            return;
        }
        if item["status"] == "declined" {
            return self.say(StreamEvent::Refused { id }, length);
        }
        let output = item["aggregated_output"].as_str().map_or_else(
            || item.get("result").or_else(|| item.get("error")).map_or_else(String::new, Json::to_string),
            str::to_owned,
        );
        let failed = item["status"] == "failed" || item["exit_code"].as_i64().is_some_and(|code| code != 0);
        self.say(StreamEvent::Answer { id, output, failed }, length);
    }
}

/// The tokens that an item costs at least: what the model wrote of it, and what it is shown of a command.
fn least(item: &Json) -> TokenCounts {
    let text = |value: &Json| value.as_str().map_or(0, str::len);
    let written = match item["type"].as_str() {
        Some("agent_message" | "reasoning" | "plan") => text(&item["text"]),
        Some("command_execution") => text(&item["command"]),
        // What stood in a file that is changed or deleted was not written by the model.
        Some("file_change") => {
            let added = item["changes"].as_array().into_iter().flatten();
            added.filter(|change| change["kind"] == "add").map(|change| text(&change["diff"])).sum()
        }
        Some("mcp_tool_call") => {
            item["arguments"].as_object().map_or(0, |_| item["arguments"].to_string().len())
        }
        Some("collab_tool_call") => text(&item["prompt"]),
        Some("web_search") => text(&item["query"]),
        _ => 0,
    };
    let shown = (text(&item["aggregated_output"]) as u64).min(SHOWN);
    TokenCounts {
        input: shown / BYTES_READ_OF_A_TOKEN,
        output: written as u64 / BYTES_OF_A_TOKEN,
        ..TokenCounts::default()
    }
}

/// A step of Codex as a call of a tool.
fn call(item: &Json) -> Option<(String, Json)> {
    match item["type"].as_str()? {
        "command_execution" => {
            let whole = item["command"].as_str()?;
            let command = inner_command(whole).unwrap_or_else(|| whole.to_owned());
            Some(("Bash".to_owned(), json!({ "command": command })))
        }
        "file_change" => {
            // Only which files, not what in them: the same form as its tool, without contents.
            let line = |change: &Json| {
                let path = change["path"].as_str()?.replace(['\n', '\r'], " ");
                let word = match change["kind"].as_str()? {
                    "add" => "Add",
                    "delete" => "Delete",
                    _ => "Update",
                };
                Some(format!("*** {word} File: {path}\n"))
            };
            let lines: String = item["changes"].as_array()?.iter().filter_map(line).collect();
            let patch = format!("*** Begin Patch\n{lines}*** End Patch\n");
            Some(("apply_patch".to_owned(), json!({ "command": patch })))
        }
        "mcp_tool_call" => {
            let name = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            Some((format!("mcp__{}__{}", name("server"), name("tool")), item["arguments"].clone()))
        }
        "web_search" => Some(("WebSearch".to_owned(), json!({ "query": item["query"] }))),
        _ => None,
    }
}

/// The command that a shell is started for: it tells `/bin/bash -lc 'ls -la'`, where its hooks are told `ls -la`. `None` for another form.
fn inner_command(command: &str) -> Option<String> {
    let mut words = shell_words(command)?.into_iter();
    let (shell, option, text) = (words.next()?, words.next()?, words.next()?);
    let name = shell.rsplit('/').next().unwrap_or_default();
    let is_shell = ["bash", "sh", "zsh", "dash"].contains(&name) && ["-lc", "-c"].contains(&option.as_str());
    (is_shell && words.next().is_none()).then_some(text)
}

/// The words of a command line that was put together by quoting; `None` where a quote does not end.
fn shell_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        letter => word.push(letter),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => match letters.next()? {
                            letter @ ('"' | '\\' | '$' | '`') => word.push(letter),
                            '\n' => {}
                            letter => word.extend(['\\', letter]),
                        },
                        letter => word.push(letter),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::inner_command;

    #[test]
    fn a_command_is_told_without_the_shell_that_is_started_for_it() {
        for (told, command) in [
            ("/bin/bash -lc 'ls -la'", Some("ls -la")),
            ("/bin/sh -lc \"echo \\\"it's\\\" > hi.txt\"", Some("echo \"it's\" > hi.txt")),
            ("bash -lc ls", Some("ls")),
            ("zsh -c 'a'\\''b'", Some("a'b")),
            ("bash -lc \"a\\n\\$b\"", Some("a\\n$b")),
            ("bash -lc 'ls' more", None),
            ("python -c 'x'", None),
            ("bash -lc 'open", None),
        ] {
            assert_eq!(inner_command(told).as_deref(), command, "{told}");
        }
    }
}
