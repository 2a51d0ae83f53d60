//! Texts that a command gives to the stages of a pipeline, where what the next one reads of them is not worked out:
//! `echo TEXT | uuencode - | uudecode -o - | psql`, `stat --printf TEXT . | psql`.
//!
//! What reads such an input may read any of these texts. A text that was decoded on the way is another one, which nobody has read.

use crate::filters;
use crate::{Call, Input, Machine, Output, Value};

/// Texts on their way through a pipeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HandedTexts {
    /// Those out of which the input of the present command was made.
    given: Made,
    /// Those out of which the last call made what it wrote.
    written: Made,
}

/// Of what a text that is not known was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Made {
    texts: Vec<String>,
    decoded: Decoded,
}

/// Whether a known text was decoded by a program whose answer is not worked out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Decoded {
    #[default]
    No,
    Yes,
}

/// How many texts are kept, and how long they may be, in bytes (ours).
const TEXTS: usize = 8;
const LENGTH: usize = 16 * 1024;

/// Programs that print words which they are given, whatever else they are for.
const PRINTING: &[&str] = &[
    "perl", "ruby", "node", "python", "python3", "php", "lua", "awk", "gawk", "mawk", "nawk", "jq", "yq",
    "stat", "find", "git", "sqlite3", "shuf", "yes", "date", "column", "expr", "figlet", "printf", "echo",
    "m4", "dc", "bc", "busybox",
];

impl HandedTexts {
    /// What the next stage of a pipeline is given.
    pub(crate) fn for_next_stage(&mut self) {
        self.given = std::mem::take(&mut self.written);
    }

    /// Forgets what the last call wrote.
    pub(crate) fn begin_stage(&mut self) {
        self.written = Made::default();
    }
}

impl Machine<'_> {
    /// Keeps of which known texts a call made an output that is not known.
    pub(crate) fn note_handed_texts(&mut self, call: &Call, output: &Output) {
        let is_known = match output {
            Output::Text(value) => value.alternatives().is_some(),
            Output::Nothing | Output::Network(_) | Output::Secret(_) | Output::Local(_) => true,
            Output::Setup(_) | Output::Unknown => false,
        };
        if is_known {
            self.position.handed.written = Made::default();
            return;
        }
        let mut made = match &call.input {
            Input::Text(value) => {
                let texts = value.alternatives().unwrap_or_default().to_vec();
                let is_decoded = !texts.is_empty() && filters::undoes(call);
                Made { texts, decoded: if is_decoded { Decoded::Yes } else { Decoded::No } }
            }
            Input::Unknown => {
                let mut made = self.position.handed.given.clone();
                if !made.texts.is_empty() && filters::undoes(call) {
                    made.decoded = Decoded::Yes;
                }
                made
            }
            Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) => Made::default(),
        };
        if PRINTING.contains(&call.program.as_str()) {
            let words = call.words.iter().filter_map(Value::as_exact);
            // A text of a language stands in quotes, that of an option behind its sign.
            let parts = words.flat_map(|word| {
                let behind =
                    word.starts_with('-').then(|| word.split_once('=')).flatten().map(|(_, text)| text);
                let quoted = word.split(['\'', '"']).skip(1).step_by(2);
                std::iter::once(word).chain(behind).chain(quoted)
            });
            made.texts.extend(parts.filter(|text| text.contains(' ')).map(str::to_owned));
        }
        made.texts.retain(|text| text.len() <= LENGTH);
        made.texts.truncate(TEXTS);
        self.position.handed.written = made;
    }

    /// The known texts out of which the input of a call was made that is not known itself.
    pub fn handed_texts(&self, call: &Call) -> Vec<Value> {
        match call.input {
            Input::Unknown => self.position.handed.given.texts.iter().map(Value::exact).collect(),
            Input::Inherited | Input::Text(_) | Input::Network(_) | Input::Secret(_) | Input::Local(_) => {
                Vec::new()
            }
        }
    }

    /// Whether the input of a call is a text of this command that was decoded, and that nobody has read.
    pub fn is_handed_undone(&self, call: &Call) -> bool {
        match &call.input {
            Input::Unknown => self.position.handed.given.decoded == Decoded::Yes,
            Input::Local(place) => self.is_undone_file(place),
            Input::Inherited | Input::Text(_) | Input::Network(_) | Input::Secret(_) => false,
        }
    }

    fn is_undone_file(&self, place: &str) -> bool {
        crate::path::AbsolutePath::new(place).is_some_and(|path| self.source(&path) == Some(Output::Unknown))
    }
}
