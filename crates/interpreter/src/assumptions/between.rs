//! What stands between a condition and the place where it is believed: it holds only across commands that are known to leave its variable alone.

use checkrein_shell::{
    Arithmetic, AssignedValue, Assignment, Block, Command, ConditionalExpression, Descriptor,
    ParameterExpansion, ParameterOperation, Part, Redirect, Simple, Word,
};

use super::super::machine::Machine;
use super::words::plain;

/// How deeply functions are looked into (ours): what lies deeper may change anything.
const CALLS: usize = 4;

/// Commands of shells that run a text or file in the same shell.
const EVALUATING: &[&str] = &["eval", "source", "."];

/// Commands of shells that set the variables that they are given, and those that they always set (bash(1), "SHELL BUILTIN COMMANDS";
/// zshbuiltins(1), zshmodules(1)).
const SETTING: &[(&str, &[&str])] = &[
    ("declare", &[]),
    ("export", &[]),
    ("float", &[]),
    ("getopts", &["OPTARG", "OPTIND"]),
    ("integer", &[]),
    ("let", &[]),
    ("local", &[]),
    ("mapfile", &["MAPFILE"]),
    ("read", &["REPLY"]),
    ("readarray", &["MAPFILE"]),
    ("readonly", &[]),
    ("sysread", &["REPLY"]),
    ("typeset", &[]),
    ("unset", &[]),
    ("vared", &[]),
    ("zparseopts", &[]),
    ("zstat", &[]),
];

/// The same of commands that do so with an option: `printf -v name`.
const SETTING_BY_OPTION: &[(&str, char)] =
    &[("print", 'v'), ("printf", 'v'), ("strftime", 's'), ("wait", 'p')];

/// Commands that change the directory, and with it these variables.
const GOING: &[&str] = &["cd", "chdir", "pushd", "popd"];
const OF_DIRECTORIES: &[&str] = &["PWD", "OLDPWD", "DIRSTACK"];

/// Commands that change the positional parameters.
const SHIFTING: &[&str] = &["set", "shift"];

/// Commands that run the command behind them in the same shell.
const PREFIXES: &[&str] = &["command", "builtin", "-", "noglob", "nocorrect", "exec"];

impl Machine<'_> {
    /// Whether one of these commands may give a variable another value.
    pub(in super::super) fn commands_may_change(&self, name: &str, commands: &[&Command]) -> bool {
        let between = Between { machine: self, name, calls: 0 };
        commands.iter().any(|command| between.is_in_command(command))
    }
}

/// The commands of blocks, one after the other.
pub(in super::super) fn commands_of<'c>(blocks: impl IntoIterator<Item = &'c Block>) -> Vec<&'c Command> {
    blocks.into_iter().flatten().map(|statement| &statement.command).collect()
}

/// A search for what may change one variable.
#[derive(Clone, Copy)]
struct Between<'m> {
    machine: &'m Machine<'m>,
    name: &'m str,
    /// How many functions lie around the commands that are looked at.
    calls: usize,
}

impl Between<'_> {
    fn is_name(&self, name: &str) -> bool {
        let shell = &self.machine.shell;
        name == self.name || shell.referred(name) == shell.referred(self.name)
    }

    fn is_in_block(&self, block: &Block) -> bool {
        block.iter().any(|statement| self.is_in_command(&statement.command))
    }

    fn is_in_command(&self, command: &Command) -> bool {
        match command {
            Command::Simple(simple) => self.is_in_simple(simple),
            Command::Pipeline(pipeline) => {
                pipeline.stages.iter().any(|stage| self.is_in_command(&stage.command))
            }
            Command::AndOr(list) => {
                self.is_in_command(&list.first) || list.rest.iter().any(|(_, next)| self.is_in_command(next))
            }
            // What a subshell does to variables ends with it, and a definition runs nothing.
            Command::Subshell(_) | Command::Function(_) => false,
            Command::Group(block) => self.is_in_block(block),
            Command::If(choice) => {
                let branch =
                    |(asked, body): &(Block, Block)| self.is_in_block(asked) || self.is_in_block(body);
                choice.branches.iter().any(branch)
                    || choice.otherwise.as_ref().is_some_and(|block| self.is_in_block(block))
            }
            Command::For(each) | Command::Select(each) => {
                self.is_name(&each.variable)
                    || self.name == "REPLY"
                    || each.words.iter().flatten().any(|word| self.is_in_word(word))
                    || self.is_in_block(&each.body)
            }
            Command::CStyleFor(counted) => {
                let mut parts = [&counted.start, &counted.condition, &counted.step].into_iter().flatten();
                parts.any(|part| self.is_in_arithmetic(part)) || self.is_in_block(&counted.body)
            }
            Command::While(repeated) => {
                self.is_in_block(&repeated.condition) || self.is_in_block(&repeated.body)
            }
            Command::Case(case) => {
                self.is_in_word(&case.subject)
                    || case.arms.iter().any(|arm| {
                        arm.patterns.iter().any(|word| self.is_in_word(word)) || self.is_in_block(&arm.body)
                    })
            }
            Command::Test(test) => self.is_in_condition(&test.condition),
            Command::Arithmetic(arithmetic) => self.is_in_arithmetic(arithmetic),
            Command::Coprocess(coprocess) => self.is_name(&coprocess.name),
            Command::Time(inner) => self.is_in_command(inner),
            Command::Redirected(redirected) => {
                self.is_in_redirects(&redirected.redirects) || self.is_in_command(&redirected.command)
            }
            Command::Opaque(_) => true,
        }
    }

    fn is_in_simple(&self, simple: &Simple) -> bool {
        simple.assignments.iter().chain(&simple.declared_arrays).any(|one| self.is_in_assignment(one))
            || simple.words.iter().any(|word| self.is_in_word(word))
            || self.is_in_redirects(&simple.redirects)
            || self.is_in_call(&simple.words)
    }

    fn is_in_assignment(&self, assignment: &Assignment) -> bool {
        self.is_name(&assignment.name)
            || assignment.index.as_ref().is_some_and(|word| self.is_in_word(word))
            || match &assignment.value {
                AssignedValue::Scalar(word) => self.is_in_word(word),
                AssignedValue::Array(elements) => elements.iter().any(|(index, word)| {
                    index.as_ref().is_some_and(|index| self.is_in_word(index)) || self.is_in_word(word)
                }),
            }
    }

    fn is_in_redirects(&self, redirects: &[Redirect]) -> bool {
        redirects.iter().any(|redirect| {
            let is_named = match &redirect.descriptor {
                Some(Descriptor::Variable(name)) => self.is_name(name),
                Some(Descriptor::Number(_)) | None => false,
            };
            is_named || self.is_in_word(redirect.operation.word())
        })
    }

    /// What the command behind the first word may do in the shell itself.
    fn is_in_call(&self, words: &[Word]) -> bool {
        let Some((program, arguments)) = words.split_first() else { return false };
        let Some(program) = plain(program) else { return true };
        let shell = &self.machine.shell;
        if shell.aliases.contains_key(program) {
            return true;
        }
        if let Some(body) = shell.functions.get(program) {
            return self.calls >= CALLS || Between { calls: self.calls + 1, ..*self }.is_in_command(body);
        }
        if EVALUATING.contains(&program) {
            return true;
        }
        if PREFIXES.contains(&program) {
            return self.is_in_call(arguments) || arguments.iter().any(|word| plain(word).is_none());
        }
        if GOING.contains(&program) {
            return OF_DIRECTORIES.contains(&self.name);
        }
        if SHIFTING.contains(&program) {
            return self.name.starts_with(|c: char| c.is_ascii_digit());
        }
        if let Some((_, letter)) = SETTING_BY_OPTION.iter().find(|(setting, _)| *setting == program) {
            return arguments.iter().any(|word| may_be_option(word, *letter))
                && arguments.iter().any(|word| self.may_be_named_by(word));
        }
        SETTING.iter().find(|(setting, _)| *setting == program).is_some_and(|(_, always)| {
            always.contains(&self.name) || arguments.iter().any(|word| self.may_be_named_by(word))
        })
    }

    /// Whether a word may name the variable, also joined to an option, to a command that sets what it is given.
    fn may_be_named_by(&self, word: &Word) -> bool {
        let mut text = String::new();
        for part in &word.parts {
            match part {
                Part::Literal(one) | Part::Quoted(one) => text.push_str(one),
                // A text in quotes behind a name is a value, as in `export name="$value"`.
                Part::DoubleQuoted(_)
                | Part::Parameter(_)
                | Part::CommandSubstitution(_)
                | Part::Arithmetic(_) => {
                    if !text.contains('=') {
                        return true;
                    }
                }
                Part::Bytes(_) | Part::ProcessSubstitution(..) | Part::Braces(_) => return true,
            }
        }
        let is_joined = text.starts_with('-') && text.ends_with(self.name);
        is_joined || names_in(&text).any(|name| self.is_name(name))
    }

    fn is_in_word(&self, word: &Word) -> bool {
        self.is_in_parts(&word.parts)
    }

    fn is_in_parts(&self, parts: &[Part]) -> bool {
        parts.iter().any(|part| match part {
            // What substitutions do to variables ends with their subshells.
            Part::Literal(_)
            | Part::Quoted(_)
            | Part::Bytes(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(..) => false,
            Part::DoubleQuoted(inner) => self.is_in_parts(inner),
            Part::Braces(braces) => self.is_in_parts(&braces.hidden),
            Part::Parameter(parameter) => self.is_in_parameter(parameter),
            Part::Arithmetic(arithmetic) => self.is_in_arithmetic(arithmetic),
        })
    }

    fn is_in_parameter(&self, parameter: &ParameterExpansion) -> bool {
        parameter.index.as_ref().is_some_and(|word| self.is_in_word(word))
            || match &parameter.operation {
                ParameterOperation::Plain
                | ParameterOperation::Length
                | ParameterOperation::NamesWithPrefix
                | ParameterOperation::Keys
                | ParameterOperation::Transform(_) => false,
                ParameterOperation::Assign { word, .. } => {
                    parameter.indirect || self.is_name(&parameter.name) || self.is_in_word(word)
                }
                ParameterOperation::Default { word, .. }
                | ParameterOperation::Error { word, .. }
                | ParameterOperation::Alternative { word, .. } => self.is_in_word(word),
                ParameterOperation::RemovePrefix { pattern, .. }
                | ParameterOperation::RemoveSuffix { pattern, .. }
                | ParameterOperation::Case { pattern, .. } => self.is_in_word(pattern),
                ParameterOperation::Replace { pattern, with, .. } => {
                    self.is_in_word(pattern) || self.is_in_word(with)
                }
                ParameterOperation::Substring { offset, length } => {
                    self.is_in_arithmetic(offset)
                        || length.as_ref().is_some_and(|length| self.is_in_arithmetic(length))
                }
                ParameterOperation::Other(_) => true,
            }
    }

    fn is_in_arithmetic(&self, arithmetic: &Arithmetic) -> bool {
        let text = &arithmetic.text;
        let assigns = text.contains('=') || text.contains("++") || text.contains("--");
        // The value of a variable in it may be an expression of its own.
        assigns && (text.contains(['$', '`']) || names_in(text).any(|name| self.is_name(name)))
    }

    fn is_in_condition(&self, condition: &ConditionalExpression) -> bool {
        match condition {
            ConditionalExpression::Word(word) | ConditionalExpression::Unary(_, word) => {
                self.is_in_word(word)
            }
            ConditionalExpression::Binary(left, operator, right) => {
                operator == "=~" && self.name == "BASH_REMATCH"
                    || self.is_in_word(left)
                    || self.is_in_word(right)
                    || is_of_numbers(operator) && (self.may_assign(left) || self.may_assign(right))
            }
            ConditionalExpression::Not(inner) => self.is_in_condition(inner),
            ConditionalExpression::And(left, right) | ConditionalExpression::Or(left, right) => {
                self.is_in_condition(left) || self.is_in_condition(right)
            }
        }
    }

    /// Whether a word that is evaluated as an expression may assign the variable.
    fn may_assign(&self, word: &Word) -> bool {
        plain(word).is_some_and(|text| {
            (text.contains('=') || text.contains("++") || text.contains("--"))
                && names_in(text).any(|name| self.is_name(name))
        })
    }
}

/// Whether a word may be this option, or hold it among others.
fn may_be_option(word: &Word, letter: char) -> bool {
    match word.parts.first() {
        Some(Part::Literal(text) | Part::Quoted(text)) => text.starts_with('-') && text.contains(letter),
        Some(Part::Parameter(_) | Part::CommandSubstitution(_)) => true,
        Some(
            Part::DoubleQuoted(_)
            | Part::Bytes(_)
            | Part::ProcessSubstitution(..)
            | Part::Arithmetic(_)
            | Part::Braces(_),
        )
        | None => false,
    }
}

fn is_of_numbers(operator: &str) -> bool {
    matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// The names of variables that may stand in a text.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|name| !name.is_empty())
}
