//! What holds of variables on the way that a condition opens.
//!
//! `[ -n "$directory" ] && rm -rf "./$directory"`: whatever may be known of the variable before, behind `&&` it is not empty. Where only one of
//! two ways is left, as behind `[ -n "$directory" ] || exit 1`, the same holds for all that follows.
//!
//! What is learned only takes away what cannot be: a text that another condition or an assignment gave stays. It is learned again wherever two
//! ways join, so it holds only where nothing behind the condition may have changed the variable ([`between`]).

mod between;
mod words;

use checkrein_shell::{Block, Command, ConditionalExpression, Connective, Word};

use super::machine::Machine;
use super::shell::{Treatment, Variable, VariableContent};
use super::value::Value;
pub(super) use between::commands_of;
pub(super) use words::is_written_empty;
use words::{Tested, length_of, pattern_says, plain, tested, written, written_text};

/// Something that is so of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Assumption {
    name: String,
    says: Says,
}

/// What is so of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Says {
    /// It holds something.
    Something,
    /// It holds nothing.
    Nothing,
    /// It holds this.
    Exactly(String),
    /// It holds anything but this.
    Other(String),
    /// It begins with this, which is not empty.
    Begins(String),
}

/// Whether a condition was met on a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Met,
    NotMet,
}

impl Answer {
    pub(super) fn turned(self) -> Self {
        match self {
            Self::Met => Self::NotMet,
            Self::NotMet => Self::Met,
        }
    }
}

impl Machine<'_> {
    /// Goes on with what is known of variables where a command answered so.
    pub(super) fn assume(&mut self, command: &Command, answer: Answer) {
        if !self.is_believed() {
            return;
        }
        for assumption in self.said_by(command, answer) {
            self.learn(assumption);
        }
    }

    /// The same of several commands of a list, one behind the other.
    pub(super) fn assume_all(&mut self, answered: &[(&Command, Answer)]) {
        for (place, (command, answer)) in answered.iter().enumerate() {
            let behind = answered.get(place + 1..).unwrap_or_default();
            let behind: Vec<&Command> = behind.iter().map(|(command, _)| *command).collect();
            self.assume_behind(command, *answer, &behind);
        }
    }

    /// The same of a condition of a branch or a loop, where these commands ran since.
    pub(super) fn assume_condition(&mut self, block: &Block, answer: Answer, behind: &[&Command]) {
        if let Some(last) = block.last() {
            self.assume_behind(&last.command, answer, behind);
        }
    }

    fn assume_behind(&mut self, command: &Command, answer: Answer, behind: &[&Command]) {
        if !self.is_believed() {
            return;
        }
        for assumption in self.said_by(command, answer) {
            if !self.commands_may_change(&assumption.name, behind) {
                self.learn(assumption);
            }
        }
    }

    /// Whether the commands of conditions are what they are known for.
    fn is_believed(&self) -> bool {
        // Where one of these is something of the command's own, it may answer anything.
        let is_own =
            |name: &str| self.shell.functions.contains_key(name) || self.shell.aliases.contains_key(name);
        self.budget.scanning == 0 && self.position.unsure == 0 && !is_own("test") && !is_own("[")
    }

    /// Goes on with what is known of a variable that `case` compared with the patterns of one of its arms.
    ///
    /// These commands ran since.
    pub(super) fn assume_fits(
        &mut self,
        subject: &Word,
        patterns: &[Word],
        answer: Answer,
        behind: &[&Command],
    ) {
        let Some(tested) = tested(subject).filter(Tested::is_bare) else { return };
        let is_nothing = |says: &Says| *says == Says::Exactly(String::new());
        let says = match (patterns, answer) {
            ([only], Answer::Met) => pattern_says(only),
            // Of several patterns it is not known which one fits.
            (several, Answer::Met) => several
                .iter()
                .all(|pattern| pattern_says(pattern).is_some_and(|says| !is_nothing(&says)))
                .then_some(Says::Something),
            (several, Answer::NotMet) => {
                let mut said = several.iter().filter_map(written);
                let first = said.next();
                if first.iter().any(is_nothing) || said.any(|says| is_nothing(&says)) {
                    Some(Says::Something)
                } else {
                    first.map(not)
                }
            }
        };
        if let Some(says) = says.filter(|says| tested.is_plain || *says == Says::Something)
            && !self.commands_may_change(&tested.name, behind)
        {
            self.learn(tested.says(says));
        }
    }

    /// Goes on with a variable that holds something, as `${name:?}` asks for.
    pub(super) fn assume_something(&mut self, name: &str) {
        self.learn(Assumption { name: name.to_owned(), says: Says::Something });
    }

    /// What a command says of variables that answered so.
    fn said_by(&self, command: &Command, answer: Answer) -> Vec<Assumption> {
        match command {
            Command::Simple(simple) if simple.assignments.is_empty() => {
                let [program, words @ ..] = simple.words.as_slice() else { return Vec::new() };
                match (plain(program), words) {
                    (Some("["), [words @ .., end]) if plain(end) == Some("]") => {
                        self.still_said(command, said_by_words(words, answer))
                    }
                    (Some("test"), words) => self.still_said(command, said_by_words(words, answer)),
                    _ => Vec::new(),
                }
            }
            Command::Test(test) => self.still_said(command, said_by_condition(&test.condition, answer)),
            Command::Pipeline(pipeline) => match pipeline.stages.as_slice() {
                [only] => {
                    self.said_by(&only.command, if pipeline.negated { answer.turned() } else { answer })
                }
                _ => Vec::new(),
            },
            Command::AndOr(list) => {
                // All of `a && b` is met where it is met, all of `a || b` is not where it is not.
                let (joins, each) = match answer {
                    Answer::Met => (Connective::And, Answer::Met),
                    Answer::NotMet => (Connective::Or, Answer::NotMet),
                };
                if list.rest.iter().any(|(connective, _)| *connective != joins) {
                    return Vec::new();
                }
                let commands: Vec<&Command> = std::iter::once(&*list.first)
                    .chain(list.rest.iter().map(|(_, command)| command))
                    .collect();
                let mut said = Vec::new();
                for (place, command) in commands.iter().enumerate() {
                    let behind = commands.get(place + 1..).unwrap_or_default();
                    said.extend(
                        self.said_by(command, each)
                            .into_iter()
                            .filter(|assumption| !self.commands_may_change(&assumption.name, behind)),
                    );
                }
                said
            }
            Command::Group(block) => {
                block.last().map(|last| self.said_by(&last.command, answer)).unwrap_or_default()
            }
            Command::Simple(_)
            | Command::Subshell(_)
            | Command::If(_)
            | Command::For(_)
            | Command::CStyleFor(_)
            | Command::While(_)
            | Command::Case(_)
            | Command::Select(_)
            | Command::Function(_)
            | Command::Arithmetic(_)
            | Command::Coprocess(_)
            | Command::Time(_)
            | Command::Redirected(_)
            | Command::Opaque(_) => Vec::new(),
        }
    }

    /// What is left of what a condition says, as its own words may change a variable: `[ -n "$name" -a "$((name = 0))" ]`.
    fn still_said(&self, command: &Command, said: Vec<Assumption>) -> Vec<Assumption> {
        said.into_iter()
            .filter(|assumption| !self.commands_may_change(&assumption.name, &[command]))
            .collect()
    }

    fn learn(&mut self, assumption: Assumption) {
        let Assumption { name, says } = assumption;
        if let Some(place) = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) {
            if let Some(value) = self.shell.positional.as_mut().and_then(|values| values.get_mut(place))
                && let Some(narrowed) = narrowed(value, &says)
            {
                *value = narrowed;
            }
            return;
        }
        let name = self.shell.referred(&name).to_owned();
        let narrowed = match self.shell.variables.get(&name).map(|variable| &variable.content) {
            // Nothing is made up for what the command itself says.
            Some(VariableContent::Scalar(Value::Exact(_))) => None,
            Some(VariableContent::Scalar(value)) => narrowed(value, &says),
            Some(VariableContent::Unset) if !self.is_presumed(&name) => None,
            Some(VariableContent::Unset) => narrowed(&Value::Unknown, &says),
            Some(VariableContent::List(_) | VariableContent::Map(_) | VariableContent::Unknown) => return,
            // What the hook does not see, the shell may have all the same.
            None => match self.environment(&name) {
                Some(value) if !self.is_perhaps_in_shell(&name) => narrowed(&value, &says),
                Some(_) | None if says == Says::Nothing => None,
                Some(_) | None => narrowed(&Value::Unknown, &says),
            },
        };
        let is_set = matches!(says, Says::Something | Says::Exactly(_) | Says::Begins(_));
        if is_set {
            self.shell.perhaps_unset.remove(&name);
        }
        let Some(value) = narrowed else { return };
        if is_set {
            self.shell.presumed.remove(&name);
        }
        if let Some(variable) = self.shell.variables.get_mut(&name) {
            variable.content = VariableContent::Scalar(value);
        } else {
            let variable = Variable {
                content: VariableContent::Scalar(value),
                // The shell can only have it from its environment.
                exported: true,
                readonly: false,
                origin: None,
                treatment: Treatment::None,
            };
            self.shell.variables.insert(name, variable);
        }
    }
}

/// What is left of a value where this is said of it; `None` where that says nothing new, or cannot be.
fn narrowed(value: &Value, says: &Says) -> Option<Value> {
    let fits = |text: &str| match says {
        Says::Something => !text.is_empty(),
        Says::Nothing => text.is_empty(),
        Says::Exactly(only) => text == only,
        Says::Other(other) => text != other,
        Says::Begins(start) => text.starts_with(start.as_str()),
    };
    let unknown = || match says {
        Says::Something => Some(Value::something()),
        Says::Nothing => Some(Value::exact("")),
        Says::Exactly(only) => Some(Value::exact(only.as_str())),
        Says::Begins(start) => Some(Value::Between { prefix: start.clone(), suffix: String::new() }),
        Says::Other(_) => None,
    };
    match value {
        // Empty now, and something else where this way is taken.
        Value::Exact(text) if text.is_empty() && !fits("") => unknown(),
        Value::Exact(_) | Value::Glob(_) => None,
        Value::AnyOf(texts) => {
            let left: Vec<String> = texts.iter().filter(|text| fits(text)).cloned().collect();
            (left.len() < texts.len() && !left.is_empty()).then(|| Value::one_of(left))
        }
        Value::Unknown => unknown(),
        Value::Between { prefix, suffix } => match says {
            Says::Exactly(only) if only.starts_with(prefix.as_str()) && only.ends_with(suffix.as_str()) => {
                Some(Value::exact(only.as_str()))
            }
            Says::Begins(start) if start.starts_with(prefix.as_str()) => {
                Some(Value::Between { prefix: start.clone(), suffix: suffix.clone() })
            }
            Says::Something | Says::Nothing | Says::Exactly(_) | Says::Other(_) | Says::Begins(_) => None,
        },
    }
}

fn not(says: Says) -> Says {
    match says {
        Says::Something | Says::Begins(_) => Says::Nothing,
        Says::Nothing => Says::Something,
        Says::Exactly(text) if text.is_empty() => Says::Something,
        Says::Exactly(text) => Says::Other(text),
        Says::Other(text) => Says::Exactly(text),
    }
}

/// The words of `test`.
fn said_by_words(words: &[Word], answer: Answer) -> Vec<Assumption> {
    match words {
        [not, rest @ ..] if plain(not) == Some("!") && !rest.is_empty() => {
            said_by_words(rest, answer.turned())
        }
        [word] => said_by_word(word, answer),
        [operator, word] => {
            plain(operator).map(|operator| said_by_unary(operator, word, answer)).unwrap_or_default()
        }
        [left, operator, right] => {
            plain(operator).map(|operator| said_by_binary(left, operator, right, answer)).unwrap_or_default()
        }
        words => {
            // `a -a b`; what holds `-o` says nothing of either.
            let is_or = words.iter().any(|word| plain(word) == Some("-o"));
            let place = words.iter().position(|word| plain(word) == Some("-a"));
            match place.filter(|_| answer == Answer::Met && !is_or) {
                Some(place) => {
                    let (left, right) = words.split_at(place);
                    let right = right.get(1..).unwrap_or_default();
                    let mut said = said_by_words(left, answer);
                    said.extend(said_by_words(right, answer));
                    said
                }
                None => Vec::new(),
            }
        }
    }
}

fn said_by_condition(condition: &ConditionalExpression, answer: Answer) -> Vec<Assumption> {
    let both = |left, right| {
        let mut said = said_by_condition(left, answer);
        said.extend(said_by_condition(right, answer));
        said
    };
    match (condition, answer) {
        (ConditionalExpression::Word(word), _) => said_by_word(word, answer),
        (ConditionalExpression::Unary(operator, word), _) => said_by_unary(operator, word, answer),
        (ConditionalExpression::Binary(left, operator, right), _) => match operator.as_str() {
            "=" | "==" | "!=" => said_by_pattern(left, operator, right, answer),
            _ => said_by_binary(left, operator, right, answer),
        },
        (ConditionalExpression::Not(inner), _) => said_by_condition(inner, answer.turned()),
        (ConditionalExpression::And(left, right), Answer::Met)
        | (ConditionalExpression::Or(left, right), Answer::NotMet) => both(left, right),
        (ConditionalExpression::And(..), Answer::NotMet) | (ConditionalExpression::Or(..), Answer::Met) => {
            Vec::new()
        }
    }
}

fn said_by_word(word: &Word, answer: Answer) -> Vec<Assumption> {
    let Some(tested) = tested(word) else { return Vec::new() };
    match answer {
        Answer::Met if tested.is_bare() => vec![tested.says(Says::Something)],
        // Empty it is only where the whole word is the variable.
        Answer::NotMet if tested.is_bare() && tested.is_plain => vec![tested.says(Says::Nothing)],
        Answer::Met | Answer::NotMet => Vec::new(),
    }
}

/// Operators that are met by nothing that has an empty name (POSIX, `test`; bash(1), "CONDITIONAL EXPRESSIONS").
const OF_FILES: &[&str] = &[
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-N", "-O", "-G", "-p", "-r", "-S", "-s",
    "-u", "-w", "-x",
];

fn said_by_unary(operator: &str, word: &Word, answer: Answer) -> Vec<Assumption> {
    match (operator, answer) {
        ("-n", _) => said_by_word(word, answer),
        ("-z", _) => said_by_word(word, answer.turned()),
        (operator, Answer::Met) if OF_FILES.contains(&operator) => said_by_word(word, Answer::Met),
        (_, Answer::Met | Answer::NotMet) => Vec::new(),
    }
}

fn said_by_binary(left: &Word, operator: &str, right: &Word, answer: Answer) -> Vec<Assumption> {
    match operator {
        "=" | "==" | "!=" => {
            let answer = if operator == "!=" { answer.turned() } else { answer };
            let of = |word: &Word, text: &Word| {
                let tested = tested(word).filter(|tested| tested.is_plain)?;
                let text = written_text(text)?;
                let middle = text.strip_prefix(tested.prefix.as_str())?;
                let middle = middle.strip_suffix(tested.suffix.as_str())?;
                let says = Says::Exactly(middle.to_owned());
                Some(tested.says(if answer == Answer::Met { says } else { not(says) }))
            };
            of(left, right).or_else(|| of(right, left)).into_iter().collect()
        }
        // `[ ${#name} -gt 0 ]`
        "-gt" | "-ne" | "-ge" if answer == Answer::Met => {
            let least = if operator == "-ge" { "1" } else { "0" };
            let is_least = written_text(right).as_deref() == Some(least);
            length_of(left)
                .filter(|_| is_least)
                .map(|name| Assumption { name, says: Says::Something })
                .into_iter()
                .collect()
        }
        "-eq" if answer == Answer::NotMet && written_text(right).as_deref() == Some("0") => {
            length_of(left).map(|name| Assumption { name, says: Says::Something }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// `[[ word == pattern ]]`
fn said_by_pattern(left: &Word, operator: &str, right: &Word, answer: Answer) -> Vec<Assumption> {
    let answer = if operator == "!=" { answer.turned() } else { answer };
    if let Some(says) = written(right) {
        let tested = tested(left).filter(|tested| tested.is_bare() && tested.is_plain);
        let says = if answer == Answer::Met { says } else { not(says) };
        return tested.map(|tested| tested.says(says)).into_iter().collect();
    }
    let tested = tested(left).filter(Tested::is_bare);
    match (tested, pattern_says(right), answer) {
        (Some(tested), Some(says), Answer::Met) => vec![tested.says(says)],
        (_, _, Answer::Met | Answer::NotMet) => Vec::new(),
    }
}
