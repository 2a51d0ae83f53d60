//! Words to values: tilde, parameters, substitutions, splitting, patterns of paths.

mod fields;
mod substitution;

use checkrein_shell::{Braces, Offered, ParameterExpansion, Part, Word};

use self::fields::{Field, Fields, Mode, Piece, joined, pattern_of};
pub(super) use self::substitution::without_newlines;
use super::glob::{Matches, without_groups};
use super::machine::Machine;
use super::parameter::{Expanded, all_of, is_joined};
use super::pattern::{is_pattern, pattern_of_bytes, unescape};
use super::shell::Speech;
use super::value::Value;
use super::ways::Leaving;

/// The longest text that is kept exactly, in bytes (ours).
pub(super) const TEXT: usize = 256 * 1024;

impl Machine<'_> {
    /// The words that a list of words becomes.
    pub(super) fn expand_words(&mut self, words: &[Word]) -> Vec<Value> {
        let mut values = Vec::new();
        for word in words {
            values.extend(self.expand_word(word));
            if values.len() > 4096 {
                // What else there is can be anything.
                values.push(Value::Unknown);
                break;
            }
        }
        values
    }

    /// The words that one word becomes, patterns of paths carried out.
    pub(super) fn expand_word(&mut self, word: &Word) -> Vec<Value> {
        let mut fields = Fields::default();
        self.expand_parts(&word.parts, Mode::Words, true, &mut fields);
        fields.end_field();
        self.loose |= fields.loose;
        let mut values = Vec::new();
        for field in fields.done {
            self.finish(&field, &mut values);
        }
        values
    }

    /// The one text that a word becomes where nothing is split.
    pub(super) fn expand_text(&mut self, word: &Word) -> Value {
        self.expand_as(word, Mode::Text)
    }

    /// The text of a word that is the value of a variable.
    pub(super) fn expand_assigned(&mut self, word: &Word) -> Value {
        self.expand_as(word, Mode::Value)
    }

    /// The text of a word that declares a variable: `NAME=VALUE`.
    pub(super) fn expand_declaration(&mut self, word: &Word) -> Value {
        self.expand_as(word, Mode::Declaration)
    }

    fn expand_as(&mut self, word: &Word, mode: Mode) -> Value {
        let mut fields = Fields::default();
        self.expand_parts(&word.parts, mode, true, &mut fields);
        fields.end_field();
        let Some(field) = fields.done.into_iter().next() else { return Value::exact("") };
        let hollow = field.hollow.clone();
        let value = joined(&field.pieces);
        if let Some(name) = hollow {
            self.mark_hollow(&value, &name);
        }
        value
    }

    /// The pattern that a word becomes; `None` when it is not known.
    pub(super) fn expand_pattern(&mut self, word: &Word) -> Option<String> {
        let mut fields = Fields::default();
        self.expand_parts(&word.parts, Mode::Text, true, &mut fields);
        fields.end_field();
        let Some(field) = fields.done.into_iter().next() else { return Some(String::new()) };
        pattern_of(&field.pieces)
    }

    /// Remembers that a word stands on a variable that is not set.
    fn mark_hollow(&mut self, value: &Value, name: &str) {
        if self.call.hollow.len() < 256 {
            self.call.hollow.push((value.clone(), format!("the variable `{name}` may be empty")));
        }
    }

    fn finish(&mut self, field: &Field, values: &mut Vec<Value>) {
        let is_empty = field.pieces.iter().all(|piece| piece.value.as_exact() == Some(""));
        if is_empty && !field.quoted {
            return;
        }
        let is_active = field.pieces.iter().any(|piece| {
            piece.active
                && piece
                    .value
                    .alternatives()
                    .is_some_and(|texts| texts.iter().any(|text| text.contains(['*', '?', '[', '(', '^'])))
        });
        if !is_active || self.shell.options.noglob {
            let value = joined(&field.pieces);
            if let Some(name) = &field.hollow {
                self.mark_hollow(&value, name);
            }
            values.push(value);
            return;
        }
        if let Some(mut pattern) = pattern_of(&field.pieces) {
            let mut plain = joined(&field.pieces);
            if let Some(bare) = self.as_zsh_reads(&pattern) {
                plain = Value::Exact(unescape(&bare));
                pattern = bare;
            }
            if !is_pattern(&pattern) {
                if let Some(name) = &field.hollow {
                    self.mark_hollow(&plain, name);
                }
                values.push(plain);
            } else if let Some(name) = &field.hollow {
                let value = Value::Glob(unescape(&pattern));
                self.mark_hollow(&value, name);
                values.push(value);
            } else {
                let before = values.len();
                self.finish_glob(&pattern, values);
                let literal = unescape(&pattern);
                // Where nothing has such a name yet, something may be about to get it.
                if field.has_bytes && values.get(before).and_then(Value::as_exact) == Some(&literal) {
                    values.truncate(before);
                    values.push(Value::Glob(literal));
                }
            }
            return;
        }
        let several = field.pieces.iter().find_map(|piece| match &piece.value {
            Value::AnyOf(texts) => Some(texts.clone()),
            _ => None,
        });
        let others_exact = field.pieces.iter().filter(|piece| piece.value.as_exact().is_none()).count() == 1;
        match several {
            Some(texts) if others_exact => {
                for text in texts {
                    let pieces: Vec<Piece> = field
                        .pieces
                        .iter()
                        .map(|piece| match &piece.value {
                            Value::Exact(_) => Piece { value: piece.value.clone(), active: piece.active },
                            _ => Piece { value: Value::Exact(text.clone()), active: piece.active },
                        })
                        .collect();
                    let Some(pattern) = pattern_of(&pieces) else { continue };
                    let before = values.len();
                    self.finish_glob(&pattern, values);
                    for value in values.iter().skip(before) {
                        self.call.hollow.push((value.clone(), String::new()));
                    }
                }
            }
            _ => values.push(joined(&field.pieces)),
        }
    }

    /// The pattern as only zsh reads it: without qualifiers (`*.log(N)`, `*(.om[1,3])`), and with everything for what is left out
    /// (`^keep`). bash refuses such a word, or reads a group at its end as a pattern with `extglob`.
    fn as_zsh_reads(&self, pattern: &str) -> Option<String> {
        let options = &self.shell.options;
        let bare = if options.extglob { None } else { without_qualifiers(pattern) };
        if !options.extendedglob {
            return bare.map(str::to_owned);
        }
        let pattern = bare.unwrap_or(pattern);
        let widened: Vec<&str> = pattern
            .split('/')
            .map(|part| {
                if part.starts_with('^') || part.contains('~') && !part.starts_with('~') { "*" } else { part }
            })
            .collect();
        Some(widened.join("/"))
    }

    fn finish_glob(&mut self, pattern: &str, values: &mut Vec<Value>) {
        // What it leaves out of what is found is not followed.
        let leaves_out = self.shell.variables.contains_key("GLOBIGNORE");
        self.rest_on_pattern(pattern);
        match self.glob(pattern) {
            Matches::These(_) if leaves_out => values.push(Value::Glob(unescape(pattern))),
            Matches::These(texts) if texts.is_empty() => {
                if self.shell.options.failglob {
                    // An error, which ends what is read with it.
                    self.perhaps_gives_up_line(Leaving::Doubts);
                }
                self.unseen += 1;
                if self.shell.options.nullglob {
                    self.call.unmatched.push(Value::Glob(unescape(pattern)));
                    return;
                }
                let literal = unescape(pattern);
                if self.tree.is_disturbed() {
                    let value = Value::Glob(literal);
                    self.call.hollow.push((value.clone(), "nothing matches now".to_owned()));
                    values.push(value);
                } else {
                    values.push(Value::Exact(literal));
                }
            }
            Matches::These(texts) => values.extend(texts.into_iter().map(Value::Exact)),
            Matches::Unknown => {
                values.push(Value::Glob(unescape(&without_groups(pattern))));
                self.add_led_out(pattern, values);
            }
        }
    }

    /// What a pattern that is not carried out reaches through links below it, each by itself.
    fn add_led_out(&self, pattern: &str, values: &mut Vec<Value>) {
        let led = self.led_out(pattern);
        for pattern in &led.patterns {
            match self.glob(pattern) {
                Matches::These(texts) => values.extend(texts.into_iter().map(Value::Exact)),
                Matches::Unknown => values.push(Value::Glob(unescape(&without_groups(pattern)))),
            }
        }
        if led.more {
            values.push(Value::Unknown);
        }
    }

    fn expand_parts(&mut self, parts: &[Part], mode: Mode, at_start: bool, fields: &mut Fields) {
        let assigns = at_start
            && mode == Mode::Words
            && matches!(parts.first(), Some(Part::Literal(text)) if assignment_in(text).is_some());
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(text) if assigns && index > 0 => self.push_later_pieces(text, fields),
                Part::Literal(text) => {
                    let first = index == 0 && at_start;
                    let closed = parts.len() == 1 || text.contains('/');
                    self.push_literal(text, first, closed, mode, fields);
                }
                Part::Quoted(text) => fields.push_quoted(Value::exact(text.as_str())),
                Part::Bytes(count) => self.push_bytes(*count, mode, fields),
                Part::DoubleQuoted(inner) => self.expand_quoted(inner, mode, fields),
                Part::Parameter(parameter) => {
                    if let Some(word) = self.stand_in(parameter).filter(|_| mode == Mode::Words) {
                        self.expand_stand_in(word, fields);
                    } else {
                        let expanded = self.expand_parameter(parameter, false);
                        let expanded = self.as_one_text(parameter, expanded, mode);
                        self.push_expanded(expanded, mode, fields);
                    }
                }
                Part::CommandSubstitution(block) => {
                    let value = self.substitute(block);
                    self.push_value(value, mode, fields);
                }
                Part::ProcessSubstitution(direction, block) => {
                    let value = self.process_substitution(*direction, block);
                    fields.push_quoted(value);
                }
                Part::Arithmetic(arithmetic) => {
                    let value = self.arithmetic_value(arithmetic);
                    self.push_value(value, mode, fields);
                }
                Part::Braces(braces) => {
                    let value = self.expand_braces(braces);
                    fields.loose = true;
                    fields.push_quoted(value);
                }
            }
        }
    }

    /// Names of any bytes have no text here; a pattern that means them, and perhaps others, is the nearest to it. Beside patterns of the
    /// word itself it is one with them; a variable keeps it as a pattern, which its own text would not be.
    fn push_bytes(&mut self, count: usize, mode: Mode, fields: &mut Fields) {
        let pattern = pattern_of_bytes(count);
        if mode == Mode::Words && !self.shell.options.noglob {
            fields.push(Value::Exact(pattern), true);
            fields.current().has_bytes = true;
        } else {
            fields.push_quoted(Value::Glob(pattern));
        }
    }

    /// What covers each of the words that braces would make.
    fn expand_braces(&mut self, braces: &Braces) -> Value {
        self.expand_parts(&braces.hidden, Mode::Text, false, &mut Fields::default());
        match braces.offered {
            Offered::Names => Value::Glob("*".to_owned()),
            Offered::Anything => Value::Unknown,
        }
    }

    /// What is quoted in a word that stands in for a parameter stays together; the rest is split like any expansion.
    fn expand_stand_in(&mut self, word: &Word, fields: &mut Fields) {
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                Part::Literal(text) if index == 0 && text.starts_with('~') => {
                    let closed = word.parts.len() == 1 || text.contains('/');
                    self.push_literal(text, true, closed, Mode::Words, fields);
                }
                Part::Literal(text) => self.push_value(Value::exact(text.as_str()), Mode::Words, fields),
                Part::Quoted(_)
                | Part::Bytes(_)
                | Part::DoubleQuoted(_)
                | Part::Parameter(_)
                | Part::CommandSubstitution(_)
                | Part::ProcessSubstitution(..)
                | Part::Arithmetic(_)
                | Part::Braces(_) => {
                    self.expand_parts(std::slice::from_ref(part), Mode::Words, false, fields);
                }
            }
        }
    }

    fn push_literal(&mut self, text: &str, first: bool, closed: bool, mode: Mode, fields: &mut Fields) {
        // What has the form of an assignment is read like one, also as an operand of any command: `dd of=~/x`. So bash does it; other shells
        // leave the sign, and then it names a file that hardly exists.
        let names = matches!(mode, Mode::Words | Mode::Declaration) && first;
        if names && let Some((name, value)) = assignment_in(text) {
            fields.push(Value::Exact(format!("{name}=")), true);
            self.push_pieces(value, closed, fields);
            return;
        }
        if mode == Mode::Value && first {
            self.push_pieces(text, closed, fields);
            return;
        }
        if matches!(mode, Mode::Value | Mode::Declaration) {
            self.push_later_pieces(text, fields);
            return;
        }
        if first && closed && text.starts_with('~') {
            self.push_from_home(text, fields);
            return;
        }
        // zsh puts the path of a program in the place of `=name` (zshexpn(1), "EQUALS EXPANSION"); other shells leave it, and then it names a
        // file that hardly exists.
        if first
            && closed
            && let Some(program) = text.strip_prefix('=').and_then(|name| self.guard_at(name))
        {
            fields.push(program, true);
            return;
        }
        fields.push(Value::exact(text), true);
    }

    /// The value of an assignment: a home directory may stand at its beginning and behind every colon.
    fn push_pieces(&mut self, text: &str, closed: bool, fields: &mut Fields) {
        let (head, later) = text.split_at(text.find(':').unwrap_or(text.len()));
        if head.starts_with('~') && (closed || !later.is_empty() || head.contains('/')) {
            self.push_from_home(head, fields);
        } else {
            fields.push(Value::exact(head), true);
        }
        self.push_later_pieces(later, fields);
    }

    /// What stands behind the first piece: only behind a colon a home directory may begin.
    fn push_later_pieces(&mut self, text: &str, fields: &mut Fields) {
        for (index, piece) in text.split(':').enumerate() {
            if index > 0 {
                fields.push(Value::exact(":"), true);
            }
            if index > 0 && piece.starts_with('~') {
                self.push_from_home(piece, fields);
            } else if !piece.is_empty() {
                fields.push(Value::exact(piece), true);
            }
        }
    }

    /// A text that begins with `~`: with the home directory in its place, or as written.
    fn push_from_home(&mut self, text: &str, fields: &mut Fields) {
        let (head, rest) = text.split_at(text.find(['/', ':']).unwrap_or(text.len()));
        match self.tilde(head) {
            Some(home) => {
                fields.push_quoted(home);
                if !rest.is_empty() {
                    fields.push(Value::exact(rest), true);
                }
            }
            None => fields.push(Value::exact(text), true),
        }
    }

    /// What `~`, `~name`, `~+` and `~-` stand for; `None` when they stay as written.
    fn tilde(&self, head: &str) -> Option<Value> {
        let place = self.world.place();
        match head {
            "~" => Some(self.variable("HOME").unwrap_or_else(|| Value::exact(place.home.as_str()))),
            "~+" => Some(self.cwd_value()),
            "~-" => Some(self.variable("OLDPWD").unwrap_or(Value::Unknown)),
            "~root" => Some(Value::exact("/root")),
            _ => {
                let name = head.strip_prefix('~')?;
                let digits = name.strip_prefix(['+', '-']).unwrap_or(name);
                if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return crate::builtins::on_stack(self, name);
                }
                // A name that was given to a directory, and a variable that holds one (zshexpn(1), "Static named directories").
                if let Some(directory) = self.shell.named_directories.get(name) {
                    return Some(directory.clone());
                }
                if self.shell.options.is_zsh
                    && let Some(directory) = self.variable(name)
                    && directory.known_start().starts_with('/')
                {
                    return Some(directory);
                }
                if place.user.as_deref() == Some(name) || place.home.name() == Some(name) {
                    return Some(Value::exact(place.home.as_str()));
                }
                let is_name = !name.is_empty()
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
                let beside = place.home.parent()?.join(name);
                if !is_name {
                    return None;
                }
                if self.entry(&beside) == crate::world::Entry::Directory {
                    return Some(Value::exact(beside.as_str()));
                }
                // Accounts may be known to a directory service only, and their homes be mounted when they are entered.
                name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    .then(|| Value::one_of(vec![head.to_owned(), beside.as_str().to_owned()]))
            }
        }
    }

    fn expand_quoted(&mut self, parts: &[Part], mode: Mode, fields: &mut Fields) {
        if parts.is_empty() {
            fields.push_quoted(Value::exact(""));
            return;
        }
        for part in parts {
            // `"${a[@]+"${a[@]}"}"`: each element is a word.
            if let Part::Parameter(parameter) = part
                && mode == Mode::Words
                && let Some(word) = self.stand_in(parameter).filter(|word| holds_several(&word.parts))
            {
                self.expand_quoted(&word.parts, mode, fields);
                continue;
            }
            match part {
                Part::Literal(text) | Part::Quoted(text) => fields.push_quoted(Value::exact(text.as_str())),
                Part::Bytes(count) => fields.push_quoted(Value::Glob(pattern_of_bytes(*count))),
                Part::DoubleQuoted(inner) => self.expand_quoted(inner, mode, fields),
                Part::Parameter(parameter) => {
                    let expanded = self.expand_parameter(parameter, true);
                    match self.as_one_text(parameter, expanded, mode) {
                        Expanded::One(value, hollow) => {
                            fields.push_quoted(value);
                            if hollow.is_some() {
                                fields.current().hollow = hollow;
                            }
                        }
                        Expanded::Many(values) => {
                            for (index, value) in values.into_iter().enumerate() {
                                if index > 0 {
                                    fields.end_field();
                                }
                                fields.push_quoted(value);
                            }
                        }
                    }
                }
                Part::CommandSubstitution(block) => {
                    let value = self.substitute(block);
                    fields.push_quoted(value);
                }
                Part::ProcessSubstitution(direction, block) => {
                    let value = self.process_substitution(*direction, block);
                    fields.push_quoted(value);
                }
                Part::Arithmetic(arithmetic) => {
                    let value = self.arithmetic_value(arithmetic);
                    fields.push_quoted(value);
                }
                Part::Braces(braces) => {
                    let value = self.expand_braces(braces);
                    fields.push_quoted(value);
                }
            }
        }
    }

    /// Several values as the one text that they become where words are not taken apart: the value of an assignment, the subject of `case`.
    fn as_one_text(&self, parameter: &ParameterExpansion, expanded: Expanded, mode: Mode) -> Expanded {
        match (expanded, mode) {
            (Expanded::Many(values), Mode::Text | Mode::Value | Mode::Declaration) => {
                let value = if is_joined(parameter) {
                    self.joined_by_separator(&values)
                } else if self.shell.speech == Speech::Posix {
                    // dash joins `$@` as it does `$*`, bash puts spaces between (tried with dash 0.5 and bash 5.2).
                    self.joined_by_separator(&values).join(&joined_values(&values, " "))
                } else {
                    joined_values(&values, " ")
                };
                Expanded::One(value, None)
            }
            (other, _) => other,
        }
    }

    fn push_expanded(&mut self, expanded: Expanded, mode: Mode, fields: &mut Fields) {
        match expanded {
            Expanded::One(value, hollow) => {
                self.push_value(value, mode, fields);
                if hollow.is_some() {
                    fields.current().hollow = hollow;
                }
            }
            Expanded::Many(values) => {
                for (index, value) in values.into_iter().enumerate() {
                    if index > 0 {
                        fields.end_field();
                    }
                    self.push_value(value, mode, fields);
                }
            }
        }
    }

    fn push_value(&mut self, value: Value, mode: Mode, fields: &mut Fields) {
        match mode {
            Mode::Text | Mode::Value | Mode::Declaration => fields.push(value, true),
            Mode::Words => {
                let separators = self.variable("IFS").and_then(|value| value.as_exact().map(str::to_owned));
                fields.push_split(value, separators.as_deref().unwrap_or(" \t\n"));
            }
        }
    }
}

/// Whether each of several values may stand in these parts.
fn holds_several(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::DoubleQuoted(inner) => holds_several(inner),
        Part::Parameter(parameter) => all_of(parameter),
        Part::Literal(_)
        | Part::Quoted(_)
        | Part::Bytes(_)
        | Part::CommandSubstitution(_)
        | Part::ProcessSubstitution(..)
        | Part::Arithmetic(_)
        | Part::Braces(_) => false,
    })
}

/// A pattern without the qualifiers of zsh at its end; `None` when there are none.
fn without_qualifiers(pattern: &str) -> Option<&str> {
    let (bare, group) = pattern.strip_suffix(')')?.rsplit_once('(')?;
    let is_qualifier =
        |c: char| c.is_ascii_digit() || "NDFLGnoO./@=p*%rwxAIERWXsStfdemuUaMck^-+,[]\\".contains(c);
    // `!(a)`, `@(a)`, `?(a)`, `+(a)` are groups of bash.
    let stands_alone = !bare.is_empty() && !bare.ends_with(['\\', '!', '@', '?', '+']);
    (stands_alone && !group.is_empty() && group.chars().all(is_qualifier)).then_some(bare)
}

/// Values with a text between them.
pub(super) fn joined_values(values: &[Value], between: &str) -> Value {
    let mut all = Value::exact("");
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            all = all.followed_by(&Value::exact(between));
        }
        all = bounded(all.followed_by(value));
    }
    all
}

/// The value, or nothing known when it is too long to be kept.
pub(super) fn bounded(value: Value) -> Value {
    match &value {
        Value::Exact(text) if text.len() > TEXT => Value::Unknown,
        Value::AnyOf(texts) if texts.iter().map(String::len).sum::<usize>() > TEXT => Value::Unknown,
        Value::Between { prefix, suffix } if prefix.len() + suffix.len() > TEXT => Value::Unknown,
        Value::Exact(_) | Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => value,
    }
}

/// The name and the value of a text that has the form of an assignment.
fn assignment_in(text: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    text.split_once('=').filter(|(name, _)| is_name(name))
}
