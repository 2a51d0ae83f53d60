//! Compound commands and functions.

use shuck_ast::{
    ArithmeticCommand, ArithmeticForCommand, CaseCommand, CaseTerminator, CompoundCommand, FunctionDef,
    IfCommand, WordPart,
};

use super::{Lowering, Place, brackets};
use crate::tree::{
    Arithmetic, Arm, ArmEnd, CStyleFor, Case, Command, Coprocess, For, Function, If, Part, ProblemKind,
    Simple, Test, While, Word,
};

impl Lowering<'_, '_> {
    pub(super) fn compound(&mut self, compound: &CompoundCommand) -> Command {
        match compound {
            CompoundCommand::If(command) => self.if_command(command),
            CompoundCommand::For(command) => {
                let variable = command.targets.first().map_or_else(String::new, |target| {
                    target
                        .name
                        .as_ref()
                        .map_or_else(|| self.slice(target.span).to_owned(), ToString::to_string)
                });
                let each = For {
                    variable,
                    words: command.words.as_ref().map(|words| self.words(words)),
                    body: self.block(&command.body),
                };
                // What was shown as `for` is `select` without `in`.
                let is_selection = self.slice(command.span).starts_with("select");
                if is_selection { Command::Select(each) } else { Command::For(each) }
            }
            CompoundCommand::Select(command) => Command::Select(For {
                variable: command.variable.to_string(),
                words: Some(self.words(&command.words)),
                body: self.block(&command.body),
            }),
            CompoundCommand::ArithmeticFor(command) => self.c_style_for(command),
            CompoundCommand::While(command) => Command::While(While {
                condition: self.block(&command.condition),
                until: false,
                body: self.block(&command.body),
            }),
            CompoundCommand::Until(command) => Command::While(While {
                condition: self.block(&command.condition),
                until: true,
                body: self.block(&command.body),
            }),
            CompoundCommand::Case(command) => self.case_command(command),
            CompoundCommand::Subshell(body) => Command::Subshell(self.block(body)),
            CompoundCommand::BraceGroup(body) => Command::Group(self.block(body)),
            CompoundCommand::Arithmetic(command) => self.arithmetic_command(command),
            CompoundCommand::Conditional(command) => {
                Command::Test(Test { condition: self.condition(&command.expression) })
            }
            CompoundCommand::Time(command) => {
                let timed = command
                    .command
                    .as_ref()
                    .map_or_else(|| Command::Simple(Simple::default()), |stmt| self.command(stmt));
                Command::Time(Box::new(without_end_of_options(timed)))
            }
            CompoundCommand::Coproc(command) => Command::Coprocess(Coprocess {
                name: if command.name_span.is_some() {
                    command.name.to_string()
                } else {
                    "COPROC".to_owned()
                },
                command: Box::new(self.command(&command.body)),
            }),
            // Of zsh. How often a body is repeated makes no difference to what it does.
            CompoundCommand::Repeat(command) => Command::For(For {
                variable: "REPLY".to_owned(),
                words: Some(self.words(std::slice::from_ref(&command.count))),
                body: self.block(&command.body),
            }),
            CompoundCommand::Foreach(command) => Command::For(For {
                variable: command.variable.to_string(),
                words: Some(self.words(&command.words)),
                body: self.block(&command.body),
            }),
            CompoundCommand::Always(command) => {
                let mut body = self.block(&command.body);
                body.extend(self.block(&command.always_body));
                Command::Group(body)
            }
        }
    }

    /// `((...))`. The parser takes `((rm a); (ls))` for arithmetic too, but those are subshells.
    fn arithmetic_command(&mut self, command: &ArithmeticCommand) -> Command {
        let start = command.left_paren_span.start.offset();
        let end = command.span.end.offset().min(self.text.len());
        let inner_close = brackets::closing_parenthesis(self.text, start + 1, self.text.len());
        let Some(inner_close) = inner_close else {
            // The parser does not mind a `${` that stays open, and takes what follows into the expression.
            self.reading.refused.get_or_insert((ProblemKind::Syntax, "an arithmetic command is not closed"));
            return Command::Arithmetic(Arithmetic::default());
        };
        let closed_together = self.text.as_bytes().get(inner_close + 1) == Some(&b')');
        if closed_together {
            return Command::Arithmetic(
                command.expr_span.map_or_else(Arithmetic::default, |span| self.arithmetic_at(span)),
            );
        }
        // The parser's end may be one too far; where it is further, there are more commands in between.
        let end = match brackets::closing_parenthesis(self.text, start, self.text.len()) {
            Some(close) if close + 2 >= end => close + 1,
            Some(_) | None => end,
        };
        // A blank between the two brackets says what is meant.
        let written = self.text.get(start + 1..end).unwrap_or_default();
        let place = Place::Fixed(self.place.span(start, end));
        let mut block = self.reread(&format!("( {written}"), place);
        match (block.pop(), block.is_empty()) {
            (Some(only), true) => only.command,
            (last, _) => {
                block.extend(last);
                Command::Group(block)
            }
        }
    }

    pub(super) fn function(&mut self, function: &FunctionDef) -> Command {
        let name = function
            .header
            .entries
            .first()
            .map_or_else(String::new, |entry| self.slice(entry.word.span).trim().to_owned());
        Command::Function(Function { name, body: Box::new(self.command(&function.body)) })
    }

    fn if_command(&mut self, command: &IfCommand) -> Command {
        let mut branches = vec![(self.block(&command.condition), self.block(&command.then_branch))];
        for (condition, body) in &command.elif_branches {
            branches.push((self.block(condition), self.block(body)));
        }
        Command::If(If { branches, otherwise: command.else_branch.as_ref().map(|body| self.block(body)) })
    }

    fn c_style_for(&mut self, command: &ArithmeticForCommand) -> Command {
        Command::CStyleFor(CStyleFor {
            start: command.init_span.map(|span| self.arithmetic_at(span)),
            condition: command.condition_span.map(|span| self.arithmetic_at(span)),
            step: command.step_span.map(|span| self.arithmetic_at(span)),
            body: self.block(&command.body),
        })
    }

    fn case_command(&mut self, command: &CaseCommand) -> Command {
        let subject = self.word(&command.word);
        let arms = command
            .cases
            .iter()
            .map(|item| Arm {
                patterns: item.patterns.iter().map(|pattern| self.word_at(pattern.span, None)).collect(),
                body: self.block(&item.body),
                end: match item.terminator {
                    CaseTerminator::Break => ArmEnd::Break,
                    CaseTerminator::FallThrough => ArmEnd::FallThrough,
                    CaseTerminator::Continue | CaseTerminator::ContinueMatching => ArmEnd::TryNext,
                },
            })
            .collect();
        Command::Case(Case { subject, arms })
    }

    fn words(&mut self, words: &[shuck_ast::Word]) -> Vec<Word> {
        let mut out = Vec::with_capacity(words.len());
        for word in words {
            self.words_into(word, &mut out);
        }
        out
    }

    /// A word that has no place in the text: made up by the parser (`1` of `&>>`), or cooked beyond recognition.
    pub(super) fn word_without_place(&self, word: &shuck_ast::Word) -> Word {
        let mut text = String::new();
        for part in &word.parts {
            match &part.kind {
                WordPart::Literal(literal) => text.push_str(literal.as_str(self.text, part.span)),
                WordPart::SingleQuoted { value, .. } => text.push_str(value.slice(self.text)),
                _ => {}
            }
        }
        Word {
            parts: if text.is_empty() { Vec::new() } else { vec![Part::Literal(text)] },
            span: self.span(word.span),
        }
    }
}

/// `time -- command`
fn without_end_of_options(command: Command) -> Command {
    match command {
        Command::Simple(mut simple)
            if simple.assignments.is_empty()
                && simple.words.first().is_some_and(
                    |word| matches!(word.parts.as_slice(), [Part::Literal(text)] if text == "--"),
                ) =>
        {
            simple.words.remove(0);
            Command::Simple(simple)
        }
        command => command,
    }
}
