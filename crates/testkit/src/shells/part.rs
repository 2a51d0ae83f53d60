//! A program as a tree, of which parts can be left out.

/// How the texts and the parts of a part stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The texts with the parts between them.
    Plain,
    /// As that, each part in single quotes.
    Quoted,
    /// As that, each part as it is written between backticks.
    Backticks,
    /// Parts that can be left out one by one, with this between them.
    List(&'static str),
}

/// What a part is, which says what may stand in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A command.
    Command,
    /// A word, or a piece of one.
    Word,
    /// A part of an expression or of a pattern, which is no word.
    Fragment,
}

/// A part of a program: texts with further parts between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPart {
    texts: Vec<String>,
    pub(crate) parts: Vec<ProgramPart>,
    form: Form,
    sort: Sort,
}

impl ProgramPart {
    /// A command without parts.
    pub fn leaf(text: impl Into<String>) -> Self {
        Self { texts: vec![text.into()], parts: Vec::new(), form: Form::Plain, sort: Sort::Command }
    }

    /// A word without parts.
    pub fn word(text: impl Into<String>) -> Self {
        Self { sort: Sort::Word, ..Self::leaf(text) }
    }

    /// A command with parts between its texts.
    pub fn around(texts: &[&str], parts: Vec<ProgramPart>) -> Self {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        Self { texts, parts, form: Form::Plain, sort: Sort::Command }
    }

    /// A word with parts between its texts.
    pub fn word_around(texts: &[&str], parts: Vec<ProgramPart>) -> Self {
        Self { sort: Sort::Word, ..Self::around(texts, parts) }
    }

    /// The same as a part of an expression or of a pattern.
    #[must_use]
    pub fn as_fragment(self) -> Self {
        Self { sort: Sort::Fragment, ..self }
    }

    /// The same with its parts in this form.
    #[must_use]
    pub fn with(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// Commands one after the other.
    pub fn list(parts: Vec<ProgramPart>) -> Self {
        Self::around(&[""], parts).with(Form::List("\n"))
    }

    /// Pieces of one word (with nothing between them), or words.
    pub fn words(parts: Vec<ProgramPart>, between: &'static str) -> Self {
        Self::word_around(&[""], parts).with(Form::List(between))
    }

    /// The text of the part.
    pub fn text(&self) -> String {
        let mut out = self.texts.first().cloned().unwrap_or_default();
        for (index, part) in self.parts.iter().enumerate() {
            let inner = part.text();
            match self.form {
                Form::Quoted => {
                    out.push('\'');
                    out.push_str(&inner.replace('\'', "'\\''"));
                    out.push('\'');
                }
                Form::Backticks => {
                    out.push('`');
                    out.push_str(&inner.replace('\\', "\\\\").replace('`', "\\`"));
                    out.push('`');
                }
                Form::Plain | Form::List(_) => out.push_str(&inner),
            }
            match (self.texts.get(index + 1), self.form) {
                (Some(text), _) => out.push_str(text),
                (None, Form::List(between)) if index + 1 < self.parts.len() => out.push_str(between),
                (None, _) => {}
            }
        }
        out
    }

    /// Smaller programs, one step away, the smallest first.
    pub fn smaller(&self) -> Vec<ProgramPart> {
        let mut found = Vec::new();
        let least = match self.sort {
            Sort::Command => Self::leaf(":"),
            Sort::Word => Self::word("1"),
            Sort::Fragment => Self::word("1").as_fragment(),
        };
        let is_bare =
            self.parts.is_empty() && matches!(self.texts.first().map(String::as_str), Some(":" | "1" | ""));
        if !is_bare {
            found.push(least);
        }
        found.extend(self.parts.iter().filter(|part| part.sort == self.sort).cloned());
        if let Form::List(_) = self.form {
            for index in 0..self.parts.len() {
                let mut less = self.clone();
                less.parts.remove(index);
                if !less.parts.is_empty() {
                    found.push(less);
                }
            }
        }
        for (index, part) in self.parts.iter().enumerate() {
            for smaller in part.smaller() {
                let mut changed = self.clone();
                if let Some(place) = changed.parts.get_mut(index) {
                    *place = smaller;
                }
                found.push(changed);
            }
        }
        found
    }
}
