//! What becomes of the lines of the server.

use std::borrow::Cow;

use checkrein_clients::says_twice;
use serde_json::{Value as Json, json};

use super::{MOST_VALUES, OpenCall, Pending, Relay, Sent, as_line, to_client};
use crate::definition::{INSTRUCTIONS, ToolDefinition};
use crate::message::{
    Answered, Envelope, Line, count_values, id_of_parts, is_same, mentions, names_twice, tree,
};
use crate::result;
use crate::reviewer::{CallEnding, Reviewer};
use crate::texts;

/// The longest output that is handed to the review of outcomes, in bytes (ours): what is behind it is masked and marked all the same.
const LONGEST_OUTPUT: usize = 1024 * 1024;

/// What a message of the server answers.
enum Reply {
    /// A request; its answer is looked through.
    To(Pending),
    /// None: it is no answer.
    Nothing,
    /// It is not handed on, for this reason.
    Held(String),
}

/// What becomes of something that a server says by itself.
enum Said {
    /// It passes as it came.
    Harmless,
    /// This passes in its place.
    Changed(Json),
    /// Nobody could look through it.
    Unreadable,
}

/// Whether nothing stands in a part of an answer.
fn is_empty(part: Option<&Json>) -> bool {
    match part {
        None | Some(Json::Null | Json::Bool(_) | Json::Number(_)) => true,
        Some(Json::String(text)) => text.is_empty(),
        Some(Json::Array(items)) => items.is_empty(),
        Some(Json::Object(fields)) => fields.is_empty(),
    }
}

impl<R: Reviewer> Relay<R> {
    /// Returns what becomes of a line of the server.
    pub fn from_server<'a>(&self, line: &'a [u8]) -> Vec<Sent<'a>> {
        match Line::of(line) {
            Line::Empty => vec![Sent::ToClient(Cow::Borrowed(line))],
            // Some readers would take it for an answer, and none could be looked through.
            Line::Malformed if mentions(line, "\"result\"") || mentions(line, "\"error\"") => {
                vec![Sent::Remark(texts::held_malformed("server"))]
            }
            Line::Malformed => self.pass_malformed("server", Sent::ToClient(Cow::Borrowed(line))),
            // What a server says by itself reaches models and logs as well: sampling, messages, progress, what it asks the user.
            Line::Message(envelope) if envelope.method.is_some() => match self.said_by_itself(line) {
                Said::Harmless => vec![Sent::ToClient(Cow::Borrowed(line))],
                Said::Changed(message) => vec![Sent::ToClient(Cow::Owned(as_line(&message)))],
                // A request would wait for ever.
                Said::Unreadable if envelope.id.is_some() => vec![Sent::ToClient(Cow::Borrowed(line))],
                Said::Unreadable => {
                    vec![Sent::Remark(texts::withheld(&self.server, "it cannot be looked through"))]
                }
            },
            Line::Message(envelope) => {
                let pending = match self.pending(&envelope) {
                    Reply::To(pending) => pending,
                    Reply::Nothing => return vec![Sent::ToClient(Cow::Borrowed(line))],
                    Reply::Held(why) => return vec![Sent::Remark(why)],
                };
                let (changed, remarks) = self.answer(&envelope, line, &pending);
                let line = changed.map_or(Cow::Borrowed(line), |message| Cow::Owned(as_line(&message)));
                remarks.into_iter().map(Sent::Remark).chain([Sent::ToClient(line)]).collect()
            }
            Line::Batch(all) => self.batch_from_server(line, &all),
        }
    }

    /// What becomes of a request or a notification of the server.
    fn said_by_itself(&self, line: &[u8]) -> Said {
        let Ok(key) = self.reviewer.key() else { return Said::Harmless };
        let Some(mut message) = tree(line).filter(|_| count_values(line) <= MOST_VALUES) else {
            return Said::Unreadable;
        };
        let Some(params) = message.get_mut("params") else { return Said::Harmless };
        let found = result::of_other(params, &key, &self.server);
        // Of two values under one name the tree has the last: what the other one holds is looked for in the line, and hidden by nothing but
        // escapes.
        let hides = || {
            let mut whole = Json::from(String::from_utf8_lossy(line));
            line.contains(&b'\\') || result::of_other(&mut whole, &key, &self.server).is_something()
        };
        if found.is_something() || names_twice(line) && hides() {
            Said::Changed(message)
        } else {
            Said::Harmless
        }
    }

    /// What a message answers.
    fn pending(&self, envelope: &Envelope) -> Reply {
        let Some(id) = envelope.id.as_ref().filter(|_| envelope.is_answer()) else { return Reply::Nothing };
        let mut state = self.state();
        if state.waiting.values().any(|waiting| is_same(&waiting.id, id)) {
            return Reply::Held(texts::never_asked());
        }
        match state.pending.take(id) {
            Answered::Request(pending) => Reply::To(pending),
            // Ids are easily guessed: an answer that comes before its request would be one that nobody looked through.
            Answered::Nothing => Reply::To(Pending::Text),
            Answered::Misspelled => Reply::Held(texts::misspelled()),
        }
    }

    fn batch_from_server<'a>(&self, line: &'a [u8], all: &[Envelope]) -> Vec<Sent<'a>> {
        let pending: Vec<Reply> = all.iter().map(|envelope| self.pending(envelope)).collect();
        if pending.iter().all(|pending| matches!(pending, Reply::Nothing))
            && all.iter().all(|envelope| envelope.method.is_none())
        {
            return vec![Sent::ToClient(Cow::Borrowed(line))];
        }
        let Some(Json::Array(elements)) = tree(line) else {
            return vec![Sent::Remark(texts::held_malformed("server"))];
        };
        let (mut sent, mut answers, mut is_changed) = (Vec::new(), Vec::new(), says_twice(line));
        for ((element, envelope), pending) in elements.into_iter().zip(all).zip(pending) {
            let pending = match pending {
                Reply::To(pending) => pending,
                Reply::Nothing => {
                    match self.said_by_itself(&as_line(&element)) {
                        Said::Harmless => answers.push(element),
                        Said::Changed(message) => {
                            is_changed = true;
                            answers.push(message);
                        }
                        Said::Unreadable => {
                            is_changed = true;
                            let why = texts::withheld(&self.server, "it cannot be looked through");
                            sent.push(Sent::Remark(why));
                        }
                    }
                    continue;
                }
                Reply::Held(why) => {
                    is_changed = true;
                    sent.push(Sent::Remark(why));
                    continue;
                }
            };
            let (changed, remarks) = self.answer(envelope, &as_line(&element), &pending);
            is_changed |= changed.is_some();
            answers.push(changed.unwrap_or(element));
            sent.extend(remarks.into_iter().map(Sent::Remark));
        }
        let line = if is_changed { Cow::Owned(as_line(&Json::Array(answers))) } else { Cow::Borrowed(line) };
        sent.push(Sent::ToClient(line));
        sent
    }

    /// The answer to a request as the client gets it, where it is another one; and what is said about it.
    fn answer(&self, envelope: &Envelope, line: &[u8], pending: &Pending) -> (Option<Json>, Vec<String>) {
        let (changed, remarks) = self.looked_through(envelope, line, pending);
        // Of two values under one name only the one that was looked through goes on.
        (changed.or_else(|| tree(line).filter(|_| says_twice(line))), remarks)
    }

    fn looked_through(
        &self,
        envelope: &Envelope,
        line: &[u8],
        pending: &Pending,
    ) -> (Option<Json>, Vec<String>) {
        let id = envelope.id.clone().unwrap_or_default();
        let withheld = |why: String| {
            let message = match pending {
                Pending::Call(_) => texts::refusal(&id, &texts::withheld(&self.server, &why)),
                Pending::Initialize | Pending::Tools | Pending::Text => {
                    texts::failure(&id, &texts::withheld(&self.server, &why))
                }
            };
            (Some(message), vec![texts::withheld(&self.server, &why)])
        };
        if count_values(line) > MOST_VALUES {
            return withheld(format!("it holds more than {MOST_VALUES} values"));
        }
        let Some(mut message) = tree(line) else {
            return withheld("it is nested too deeply, or no text that can be read".to_owned());
        };
        match pending {
            Pending::Tools if message.get("error").is_none() => self.listed(message),
            Pending::Initialize if message.get("error").is_none() => self.initialized(message),
            // Nothing stands in it that could be read.
            Pending::Text if ["error", "result"].iter().all(|part| is_empty(message.get(part))) => {
                (None, Vec::new())
            }
            Pending::Text | Pending::Call(_) | Pending::Initialize | Pending::Tools => {
                let key = match self.reviewer.key() {
                    Ok(key) => key,
                    Err(error) => return withheld(format!("secrets in it cannot be masked: {error}")),
                };
                let mut is_changed = false;
                for part in ["error", "result"] {
                    let Some(value) = message.get_mut(part) else { continue };
                    let found = match pending {
                        Pending::Call(call) if part == "result" => {
                            let told = self.outcome(value, call, &key);
                            let notes: Vec<String> =
                                call.passage.note.clone().into_iter().chain(told).collect();
                            is_changed |= !notes.is_empty();
                            result::of_call(value, &key, &self.server, &notes)
                        }
                        Pending::Call(call) => {
                            self.outcome(value, call, &key);
                            result::of_other(value, &key, &self.server)
                        }
                        Pending::Text | Pending::Initialize | Pending::Tools => {
                            result::of_other(value, &key, &self.server)
                        }
                    };
                    is_changed |= found.is_something();
                }
                (is_changed.then_some(message), Vec::new())
            }
        }
    }

    /// Tells how a call went; what the model is told about it.
    fn outcome(
        &self,
        value: &Json,
        call: &OpenCall,
        key: &checkrein_ledger::mask::MaskKey,
    ) -> Option<String> {
        let action = call.passage.action.as_ref()?;
        let is_failure =
            value.get("isError").and_then(Json::as_bool).unwrap_or(value.get("content").is_none());
        let ending = if is_failure { CallEnding::Failed } else { CallEnding::Succeeded };
        let mut output = String::new();
        collect(value, &mut output);
        let masked = checkrein_ledger::mask::mask_text(&output, key).into_owned();
        self.reviewer.after(action, ending, masked, call.started.elapsed())
    }

    /// A list of tools, without those that wait for a user.
    fn listed(&self, mut message: Json) -> (Option<Json>, Vec<String>) {
        let Some(tools) = message.pointer_mut("/result/tools").and_then(Json::as_array_mut) else {
            return (None, Vec::new());
        };
        let (mut entries, mut definitions, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        let count = tools.len();
        for entry in std::mem::take(tools) {
            match ToolDefinition::of(&entry) {
                Some(definition) => {
                    definitions.push(definition);
                    entries.push(entry);
                }
                None => remarks.push(texts::nameless_tool(&self.server)),
            }
        }
        let held = self.take_up(&definitions);
        for ((entry, definition), held) in entries.into_iter().zip(&definitions).zip(&held) {
            match held {
                None => tools.push(entry),
                Some(why) => remarks.push(texts::left_out(&self.server, &definition.name, why)),
            }
        }
        let is_changed = tools.len() != count;
        (is_changed.then_some(message), remarks)
    }

    /// What a server says of itself, without instructions that wait for a user.
    fn initialized(&self, mut message: Json) -> (Option<Json>, Vec<String>) {
        let text = message.pointer("/result/instructions").and_then(Json::as_str).map(str::to_owned);
        let Some(text) = text.filter(|text| !text.is_empty()) else { return (None, Vec::new()) };
        let held = self.take_up(&[ToolDefinition::of_instructions(&text)]).pop().flatten();
        let Some(why) = held else { return (None, Vec::new()) };
        if let Some(result) = message.get_mut("result").and_then(Json::as_object_mut) {
            result.remove("instructions");
        }
        (Some(message), vec![texts::left_out(&self.server, INSTRUCTIONS, &why)])
    }

    /// Returns what becomes of a line of the server that is longer than [`super::LONGEST_LINE`], by its beginning and its end.
    pub fn too_long_from_server(&self, head: &[u8], tail: &[u8], length: u64) -> Vec<Sent<'static>> {
        let text = texts::withheld(&self.server, &texts::too_long(length, super::LONGEST_LINE));
        let id = id_of_parts(head, tail);
        let pending = id.as_ref().map_or(Answered::Nothing, |id| self.state().pending.take(id));
        let answer = match (&id, pending) {
            (Some(id), Answered::Request(Pending::Call(call))) => {
                let failed = json!({ "isError": true, "content": [{ "type": "text", "text": text }] });
                if let Some(action) = &call.passage.action {
                    self.reviewer.after(action, CallEnding::Failed, text.clone(), call.started.elapsed());
                }
                Some(to_client(&json!({ "jsonrpc": "2.0", "id": id, "result": failed })))
            }
            (
                Some(id),
                Answered::Request(Pending::Initialize | Pending::Tools | Pending::Text) | Answered::Nothing,
            ) => Some(to_client(&texts::failure(id, &text))),
            (Some(_), Answered::Misspelled) | (None, _) => None,
        };
        answer.into_iter().chain([Sent::Remark(text)]).collect()
    }
}

/// The texts in a value, one after the other, as far as they are handed on.
fn collect(value: &Json, output: &mut String) {
    if output.len() >= LONGEST_OUTPUT {
        return;
    }
    match value {
        Json::String(text) => {
            let left = LONGEST_OUTPUT - output.len();
            output.push_str(text.get(..text.floor_char_boundary(left.min(text.len()))).unwrap_or_default());
            output.push('\n');
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, output)),
        Json::Object(fields) => {
            let shown = fields.iter().filter(|(name, _)| !matches!(name.as_str(), "data" | "blob" | "type"));
            shown.for_each(|(_, field)| collect(field, output));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
