//! Statements, lists, pipelines and simple commands.

use shuck_ast::{
    AssignmentValue, BinaryOp, BuiltinCommand, Command as Syntax, DeclClause, DeclOperand, SimpleCommand,
    Stmt, StmtSeq, StmtTerminator, WordPart,
};

use super::words::marks_of;
use super::{Lowering, detached, opaque};
use crate::tree::{
    AndOr, Assignment, Block, Carries, Command, Connective, Descriptor, Function, Launch, Part, Pipeline,
    PipelineStage, ProblemKind, Redirect, Redirected, ShellStatement, Simple, Word,
};

/// The name of a function that has none.
const ANONYMOUS: &str = "(anon)";

impl Lowering<'_, '_> {
    pub(super) fn block(&mut self, sequence: &StmtSeq) -> Block {
        let mut block = Block::new();
        for stmt in &sequence.stmts {
            let mut statement = self.statement(stmt);
            if self.goes_on(stmt)
                && let Some(mut before) = block.pop()
            {
                let redirects = detached::take(&mut statement.command);
                match redirects {
                    Some(redirects) => {
                        detached::give(&mut before.command, redirects, statement.command);
                        statement = ShellStatement { command: before.command, ..statement };
                    }
                    None => block.push(before),
                }
            }
            block.push(statement);
        }
        block
    }

    /// Whether nothing that ends a statement stands in front of this one: the parser takes `3<<<word` behind a compound command for one of
    /// its own.
    fn goes_on(&self, stmt: &Stmt) -> bool {
        let before = self.text.get(..stmt.span.start.offset()).unwrap_or_default();
        !before.trim_end_matches([' ', '\t']).ends_with(['\n', ';', '&', '|', '('])
    }

    fn statement(&mut self, stmt: &Stmt) -> ShellStatement {
        ShellStatement {
            command: self.command(stmt),
            launch: match stmt.terminator {
                Some(StmtTerminator::Background(_)) => Launch::Background,
                Some(StmtTerminator::Semicolon) | None => Launch::Foreground,
            },
            span: self.span(stmt.span),
        }
    }

    pub(super) fn command(&mut self, stmt: &Stmt) -> Command {
        self.deeper(|lowering| {
            let command = lowering.plain_command(stmt);
            if stmt.negated { negate(command) } else { command }
        })
        .unwrap_or_else(|| opaque(self.slice(stmt.span), ProblemKind::TooDeep))
    }

    fn plain_command(&mut self, stmt: &Stmt) -> Command {
        match &stmt.command {
            Syntax::Simple(simple) => self.simple(stmt, simple),
            Syntax::Builtin(builtin) => self.builtin(stmt, builtin),
            Syntax::Decl(clause) => self.declaration(stmt, clause),
            Syntax::Binary(binary) => {
                let command = match binary.op {
                    BinaryOp::And | BinaryOp::Or => self.and_or(stmt),
                    BinaryOp::Pipe | BinaryOp::PipeAll => self.pipeline(stmt),
                };
                self.with_redirects(command, stmt)
            }
            Syntax::Compound(compound) => {
                let command = self.compound(compound);
                self.with_redirects(command, stmt)
            }
            Syntax::Function(function) => {
                let command = self.function(function);
                self.with_redirects(command, stmt)
            }
            Syntax::AnonymousFunction(function) => {
                // Of zsh: a function that is called where it stands.
                let span = self.span(function.span);
                let statement = |command| ShellStatement { command, launch: Launch::Foreground, span };
                let name = Word { parts: vec![Part::Literal(ANONYMOUS.to_owned())], span };
                let mut words = vec![name];
                for word in &function.args {
                    self.words_into(word, &mut words);
                }
                let body = Box::new(self.command(&function.body));
                let function = Function { name: ANONYMOUS.to_owned(), body };
                let call = Simple { words, span, ..Simple::default() };
                Command::Group(vec![statement(Command::Function(function)), statement(Command::Simple(call))])
            }
        }
    }

    fn with_redirects(&mut self, command: Command, stmt: &Stmt) -> Command {
        let redirects = self.redirects(&stmt.redirects);
        if redirects.is_empty() {
            command
        } else {
            Command::Redirected(Redirected { command: Box::new(command), redirects })
        }
    }

    /// `a && b || c`. The parser nests it to the left, up to a thousand links: walked, not recursed.
    fn and_or(&mut self, outer: &Stmt) -> Command {
        let mut links = Vec::new();
        let mut at = outer;
        while let Syntax::Binary(binary) = &at.command
            && matches!(binary.op, BinaryOp::And | BinaryOp::Or)
            && (std::ptr::eq(at, outer) || is_bare(at))
        {
            let connective = match binary.op {
                BinaryOp::Or => Connective::Or,
                BinaryOp::And | BinaryOp::Pipe | BinaryOp::PipeAll => Connective::And,
            };
            links.push((connective, &*binary.right));
            at = &binary.left;
        }
        let first = Box::new(self.command(at));
        let rest =
            links.into_iter().rev().map(|(connective, stmt)| (connective, self.command(stmt))).collect();
        Command::AndOr(AndOr { first, rest })
    }

    fn pipeline(&mut self, outer: &Stmt) -> Command {
        let mut links = Vec::new();
        let mut at = outer;
        while let Syntax::Binary(binary) = &at.command
            && matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll)
            && (std::ptr::eq(at, outer) || is_bare(at))
        {
            let carries = match binary.op {
                BinaryOp::PipeAll => Carries::OutputAndErrors,
                BinaryOp::Pipe | BinaryOp::And | BinaryOp::Or => Carries::Output,
            };
            links.push((carries, &*binary.right));
            at = &binary.left;
        }
        links.reverse();
        let mut stages = Vec::with_capacity(links.len() + 1);
        let mut command = self.command(at);
        for (carries, stmt) in links {
            stages.push(PipelineStage { command, carries });
            command = self.command(stmt);
        }
        stages.push(PipelineStage { command, carries: Carries::Output });
        Command::Pipeline(Pipeline { stages, negated: false })
    }

    fn simple(&mut self, stmt: &Stmt, simple: &SimpleCommand) -> Command {
        let assignments = self.assignments(&simple.assignments);
        let mut words = Vec::with_capacity(simple.args.len() + 1);
        if !is_absent(&simple.name) {
            self.words_into(&simple.name, &mut words);
        }
        for argument in &simple.args {
            self.words_into(argument, &mut words);
        }
        self.finish_simple(stmt, assignments, words, Vec::new())
    }

    fn builtin(&mut self, stmt: &Stmt, builtin: &BuiltinCommand) -> Command {
        let (name, first, rest, assignments) = match builtin {
            BuiltinCommand::Break(it) => ("break", &it.depth, &it.extra_args, &it.assignments),
            BuiltinCommand::Continue(it) => ("continue", &it.depth, &it.extra_args, &it.assignments),
            BuiltinCommand::Return(it) => ("return", &it.code, &it.extra_args, &it.assignments),
            BuiltinCommand::Exit(it) => ("exit", &it.code, &it.extra_args, &it.assignments),
        };
        let assignments = self.assignments(assignments);
        let mut words = vec![literal_word(name, self.span(stmt.span))];
        for word in first.iter().chain(rest) {
            self.words_into(word, &mut words);
        }
        self.finish_simple(stmt, assignments, words, Vec::new())
    }

    /// `export A=1`, `declare -a x=(1 2)`: scalars stay words, arrays stand beside them.
    fn declaration(&mut self, stmt: &Stmt, clause: &DeclClause) -> Command {
        let assignments = self.assignments(&clause.assignments);
        let mut words = vec![literal_word(clause.variant.as_str(), self.span(clause.variant_span))];
        let mut arrays = Vec::new();
        for operand in &clause.operands {
            match operand {
                DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                    self.words_into(word, &mut words);
                }
                DeclOperand::Name(reference) => words.push(self.word_at(reference.span, None)),
                DeclOperand::Assignment(assignment) => {
                    if matches!(assignment.value, AssignmentValue::Compound(_)) {
                        words.push(literal_word(
                            assignment.target.name.as_str(),
                            self.span(assignment.target.name_span),
                        ));
                        arrays.push(self.assignment(assignment));
                    } else {
                        words.push(self.scalar_operand(assignment));
                    }
                }
            }
        }
        self.finish_simple(stmt, assignments, words, arrays)
    }

    /// `A=$(id)` as one word.
    fn scalar_operand(&mut self, assignment: &shuck_ast::Assignment) -> Word {
        self.refuse_broken_array(assignment);
        let marks = match &assignment.value {
            AssignmentValue::Scalar(value) => marks_of(&value.parts),
            AssignmentValue::Compound(_) => Vec::new(),
        };
        self.word_at(assignment.span, Some(&marks))
    }

    fn finish_simple(
        &mut self,
        stmt: &Stmt,
        assignments: Vec<Assignment>,
        mut words: Vec<Word>,
        declared_arrays: Vec<Assignment>,
    ) -> Command {
        let mut redirects: Vec<Redirect> = Vec::new();
        for source in &stmt.redirects {
            let Some(mut redirect) = self.redirect(source) else { continue };
            if redirect.descriptor.is_none() {
                redirect.descriptor = number_in_front(self.span(source.span).start, &mut words);
            }
            redirects.push(redirect);
        }
        let simple = Simple { assignments, words, redirects, declared_arrays, span: self.span(stmt.span) };
        self.without_bang(simple)
    }

    /// `a | ! b`: the parser takes the second `!` for a program.
    fn without_bang(&mut self, mut simple: Simple) -> Command {
        let is_bang = simple.assignments.is_empty()
            && simple
                .words
                .first()
                .is_some_and(|word| matches!(word.parts.as_slice(), [Part::Literal(text)] if text == "!"));
        if !is_bang {
            return Command::Simple(simple);
        }
        let bang = simple.words.remove(0);
        let (Some(first), Some(last)) = (simple.words.first(), simple.words.last()) else {
            return negate(Command::Simple(simple));
        };
        let (start, end) = (first.span.start, last.span.end);
        let base = self.place.span(0, 0).start;
        let own_text = match self.place {
            super::Place::Offset(_) => self.text.get(start.saturating_sub(base)..end.saturating_sub(base)),
            super::Place::Fixed(_) => None,
        };
        // What follows may be any command (`! time { ...`): parsed again when its text is at hand.
        let mut block = own_text.map_or_else(Vec::new, |text| self.reread(text, super::Place::Offset(start)));
        match (block.pop(), block.is_empty(), simple.redirects.is_empty()) {
            (Some(statement), true, true) => negate(statement.command),
            (Some(statement), true, false) => negate(match statement.command {
                Command::Simple(mut inner) => {
                    inner.redirects.append(&mut simple.redirects);
                    Command::Simple(inner)
                }
                command => Command::Redirected(Redirected {
                    command: Box::new(command),
                    redirects: simple.redirects,
                }),
            }),
            (_, _, _) => {
                simple.span.start = bang.span.start;
                negate(Command::Simple(simple))
            }
        }
    }
}

/// Whether a link of a chain carries nothing of its own and may be flattened.
/// `5<<<word`: the parser takes the number for a word of the command. It stands right in front of the operator.
fn number_in_front(operator: usize, words: &mut Vec<Word>) -> Option<Descriptor> {
    let is_number = |word: &Word| {
        word.span.end == operator
            && matches!(word.parts.as_slice(), [Part::Literal(text)]
                if text.bytes().all(|byte| byte.is_ascii_digit())
                    && text.len() == word.span.end.saturating_sub(word.span.start))
    };
    let place = words.iter().position(is_number)?;
    let number = match words.get(place)?.parts.as_slice() {
        [Part::Literal(text)] => text.parse().ok()?,
        _ => return None,
    };
    words.remove(place);
    Some(Descriptor::Number(number))
}

fn is_bare(stmt: &Stmt) -> bool {
    !stmt.negated && stmt.redirects.is_empty()
}

/// The parser marks "no program word" by an empty word without a place.
fn is_absent(word: &shuck_ast::Word) -> bool {
    word.span.start.offset() == word.span.end.offset()
        && word.parts.iter().all(|part| matches!(&part.kind, WordPart::Literal(text) if text.is_empty()))
}

fn negate(command: Command) -> Command {
    match command {
        Command::Pipeline(mut pipeline) => {
            pipeline.negated = !pipeline.negated;
            Command::Pipeline(pipeline)
        }
        command => Command::Pipeline(Pipeline {
            stages: vec![PipelineStage { command, carries: Carries::Output }],
            negated: true,
        }),
    }
}

fn literal_word(text: &str, span: crate::tree::Span) -> Word {
    Word {
        parts: vec![Part::Literal(text.to_owned())],
        span: crate::tree::Span {
            start: span.start,
            end: (span.start + text.len()).min(span.end.max(span.start)),
        },
    }
}
