//! What is not followed is looked over: every simple command of a text that is too deep or too much runs once, as a mere
//! possibility, with variables of which nothing is known. The way through the text is a list of what is left to look at, so that no
//! depth of nesting needs a deeper stack.

use checkrein_shell::{
    AssignedValue, Assignment, Block, Command, ConditionalExpression, ParameterExpansion, ParameterOperation,
    Part, Redirect, ShellStatement, Word,
};

use super::exit::{Exit, Status};
use super::machine::Machine;
use super::statements::Done;
use super::ways::Leaving;

/// The greatest number of steps that looking over may take, all in all (ours).
pub(super) const SCANNED: usize = 12_000;
/// The greatest number of texts that are looked over, all in all (ours).
pub(super) const TEXTS: usize = 64;

impl Machine<'_> {
    /// Looks over statements that are not followed. What they may do is possible, and what they may assign is not known.
    pub(super) fn scan(&mut self, block: &[ShellStatement]) -> Done {
        self.scan_all(block.iter().map(|statement| Piece::Command(&statement.command)).collect())
    }

    /// Looks over a command that is not followed.
    pub(super) fn scan_command(&mut self, command: &Command) -> Done {
        self.scan_all(vec![Piece::Command(command)])
    }

    fn scan_all(&mut self, pieces: Vec<Piece<'_>>) -> Done {
        self.either(
            Leaving::Unexpected,
            |machine| {
                machine.budget.scanning += 1;
                machine.position.unsure += 1;
                machine.look_over(pieces);
                // Functions that were called come one after the other, and not inside one another: there may be any number of them.
                while machine.budget.scanning == 1
                    && machine.budget.scanned <= SCANNED
                    && let Some(body) = machine.budget.waiting_functions.pop()
                {
                    machine.look_over(vec![Piece::Command(&body)]);
                }
                machine.position.unsure -= 1;
                machine.budget.scanning -= 1;
                Done::quiet()
            },
            |_| Done::quiet(),
        );
        Done::next(Exit { status: Status::Open, ..Exit::unknown() })
    }

    fn look_over(&mut self, mut left: Vec<Piece<'_>>) {
        left.reverse();
        while let Some(piece) = left.pop() {
            let before = left.len();
            match piece {
                Piece::Command(command) => self.look_over_command(command, &mut left),
                Piece::Word(word) => pieces_of_word(word, &mut left),
                Piece::Parts(parts) => pieces_of_parts(parts, &mut left),
                Piece::Condition(condition) => match condition {
                    ConditionalExpression::Word(word) | ConditionalExpression::Unary(_, word) => {
                        left.push(Piece::Word(word));
                    }
                    ConditionalExpression::Binary(one, _, other) => {
                        left.extend([Piece::Word(one), Piece::Word(other)]);
                    }
                    ConditionalExpression::Not(inner) => left.push(Piece::Condition(inner)),
                    ConditionalExpression::And(one, other) | ConditionalExpression::Or(one, other) => {
                        left.extend([Piece::Condition(one), Piece::Condition(other)]);
                    }
                },
            }
            if let Some(new) = left.get_mut(before..) {
                new.reverse();
            }
            if self.budget.scanned > SCANNED {
                return;
            }
        }
    }

    fn look_over_command<'t>(&mut self, command: &'t Command, left: &mut Vec<Piece<'t>>) {
        let block = |block: &'t Block, left: &mut Vec<Piece<'t>>| {
            left.extend(block.iter().map(|statement| Piece::Command(&statement.command)));
        };
        match command {
            Command::Simple(simple) => {
                simple.words.iter().for_each(|word| left.push(Piece::Word(word)));
                assigned(&simple.assignments, left);
                assigned(&simple.declared_arrays, left);
                redirected(&simple.redirects, left);
                self.budget.scanned += 1;
                self.run_simple(simple);
            }
            Command::Pipeline(pipeline) => {
                left.extend(pipeline.stages.iter().map(|stage| Piece::Command(&stage.command)));
            }
            Command::AndOr(list) => {
                left.push(Piece::Command(&list.first));
                left.extend(list.rest.iter().map(|(_, command)| Piece::Command(command)));
            }
            Command::Subshell(inner) | Command::Group(inner) => block(inner, left),
            Command::If(choice) => {
                for (condition, body) in &choice.branches {
                    block(condition, left);
                    block(body, left);
                }
                if let Some(otherwise) = &choice.otherwise {
                    block(otherwise, left);
                }
            }
            Command::For(each) | Command::Select(each) => {
                self.assign(&each.variable, super::value::Value::Unknown);
                if let Some(words) = &each.words {
                    left.extend(words.iter().map(Piece::Word));
                }
                block(&each.body, left);
            }
            Command::CStyleFor(counted) => {
                for arithmetic in [&counted.start, &counted.condition, &counted.step].into_iter().flatten() {
                    arithmetic.substitutions.iter().for_each(|inner| block(inner, left));
                }
                block(&counted.body, left);
            }
            Command::While(repeated) => {
                block(&repeated.condition, left);
                block(&repeated.body, left);
            }
            Command::Case(case) => {
                left.push(Piece::Word(&case.subject));
                case.arms.iter().for_each(|arm| block(&arm.body, left));
            }
            Command::Function(function) => left.push(Piece::Command(&function.body)),
            Command::Test(test) => left.push(Piece::Condition(&test.condition)),
            Command::Arithmetic(arithmetic) => {
                arithmetic.substitutions.iter().for_each(|inner| block(inner, left));
            }
            Command::Coprocess(coprocess) => left.push(Piece::Command(&coprocess.command)),
            Command::Time(inner) => left.push(Piece::Command(inner)),
            Command::Redirected(redirects) => {
                redirected(&redirects.redirects, left);
                left.push(Piece::Command(&redirects.command));
            }
            // Not by the way on which commands are counted: where the count is used up, that leads back here.
            Command::Opaque(_) => {
                self.run_form(command);
            }
        }
    }

    /// Looks over a text that the shell would run, when there are not too many of them.
    pub(super) fn scan_text(&mut self, text: &str) -> Done {
        self.budget.scanned_texts += 1;
        if self.budget.scanned_texts > TEXTS {
            self.unread("there is too much text of the shell to be followed");
            return Done::next(Exit::unknown());
        }
        let parsed = checkrein_shell::parse(text);
        self.scan(&parsed.script)
    }
}

/// Something to look at.
enum Piece<'t> {
    Command(&'t Command),
    Word(&'t Word),
    Parts(&'t [Part]),
    Condition(&'t ConditionalExpression),
}

fn assigned<'t>(assignments: &'t [Assignment], left: &mut Vec<Piece<'t>>) {
    for assignment in assignments {
        left.extend(assignment.index.iter().map(Piece::Word));
        match &assignment.value {
            AssignedValue::Scalar(word) => left.push(Piece::Word(word)),
            AssignedValue::Array(elements) => {
                for (index, word) in elements {
                    left.extend(index.iter().map(Piece::Word));
                    left.push(Piece::Word(word));
                }
            }
        }
    }
}

fn redirected<'t>(redirects: &'t [Redirect], left: &mut Vec<Piece<'t>>) {
    left.extend(redirects.iter().map(|redirect| Piece::Word(redirect.operation.word())));
}

fn pieces_of_word<'t>(word: &'t Word, left: &mut Vec<Piece<'t>>) {
    pieces_of_parts(&word.parts, left);
}

fn pieces_of_parts<'t>(parts: &'t [Part], left: &mut Vec<Piece<'t>>) {
    for part in parts {
        match part {
            Part::Literal(_) | Part::Quoted(_) | Part::Bytes(_) => {}
            Part::DoubleQuoted(inner) => left.push(Piece::Parts(inner)),
            Part::Braces(braces) => left.push(Piece::Parts(&braces.hidden)),
            Part::Parameter(parameter) => pieces_of_parameter(parameter, left),
            Part::CommandSubstitution(block) | Part::ProcessSubstitution(_, block) => {
                left.extend(block.iter().map(|statement| Piece::Command(&statement.command)));
            }
            Part::Arithmetic(arithmetic) => {
                for block in &arithmetic.substitutions {
                    left.extend(block.iter().map(|statement| Piece::Command(&statement.command)));
                }
            }
        }
    }
}

fn pieces_of_parameter<'t>(parameter: &'t ParameterExpansion, left: &mut Vec<Piece<'t>>) {
    left.extend(parameter.index.iter().map(Piece::Word));
    match &parameter.operation {
        ParameterOperation::Plain
        | ParameterOperation::Length
        | ParameterOperation::NamesWithPrefix
        | ParameterOperation::Keys
        | ParameterOperation::Transform(_) => {}
        ParameterOperation::Default { word, .. }
        | ParameterOperation::Assign { word, .. }
        | ParameterOperation::Error { word, .. }
        | ParameterOperation::Alternative { word, .. } => left.push(Piece::Word(word)),
        ParameterOperation::RemovePrefix { pattern, .. }
        | ParameterOperation::RemoveSuffix { pattern, .. }
        | ParameterOperation::Case { pattern, .. } => {
            left.push(Piece::Word(pattern));
        }
        ParameterOperation::Replace { pattern, with, .. } => {
            left.extend([Piece::Word(pattern), Piece::Word(with)]);
        }
        ParameterOperation::Substring { offset, length } => {
            for arithmetic in std::iter::once(offset).chain(length) {
                for block in &arithmetic.substitutions {
                    left.extend(block.iter().map(|statement| Piece::Command(&statement.command)));
                }
            }
        }
        ParameterOperation::Other(words) => left.extend(words.iter().map(Piece::Word)),
    }
}
