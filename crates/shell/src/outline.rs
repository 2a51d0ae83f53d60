//! A tree as one compact line: for tests and for people.
//!
//! | construct | outline |
//! |---|---|
//! | `A=1 rm -rf 'a b' "$x" >f` | `(A=1 rm -rf 'a b' "$x" >f)` |
//! | `a; b &` | `(a) (b)&` |
//! | `a \| b \|& c` | `(\| (a) (b)& (c))` |
//! | `a && b \|\| c` | `[(a) && (b) \|\| (c)]` |
//! | `echo $(id) <(ls)` | `(echo $[(id)] <[(ls)])` |
//! | `$((x + $(id)))` | `$((x + $(id)))[(id)]` |
//! | `{ a; } 2>f` | `(redirected (group (a)) 2>f)` |
//! | anything unread | ``(opaque syntax `text`)`` |
//!
//! Text that is quoted stands in single quotes, also when it was escaped or decoded; text inside double quotes
//! stands bare between them.

use std::fmt::Write;

use crate::tree::{
    AndOr, Arithmetic, ArmEnd, AssignedValue, Assignment, Block, Carries, Case, Command,
    ConditionalExpression, Connective, Descriptor, Direction, For, If, Launch, ParameterExpansion,
    ParameterOperation, Part, Pipeline, ProblemKind, Redirect, RedirectOperation, ReplaceScope, Simple, Word,
};

/// The statements of a block as one line.
pub fn outline(block: &Block) -> String {
    joined(block.iter().map(|statement| {
        let launch = match statement.launch {
            Launch::Foreground => "",
            Launch::Background => "&",
        };
        format!("{}{launch}", command(&statement.command))
    }))
}

/// One word as it stands in an outline.
pub fn word(word: &Word) -> String {
    if word.parts.is_empty() {
        return "<empty>".to_owned();
    }
    word.parts.iter().map(part).collect()
}

fn command(it: &Command) -> String {
    match it {
        Command::Simple(simple) => simple_command(simple),
        Command::Pipeline(pipeline) => pipeline_command(pipeline),
        Command::AndOr(and_or) => and_or_command(and_or),
        Command::Subshell(block) => tagged("subshell", [outline(block)]),
        Command::Group(block) => tagged("group", [outline(block)]),
        Command::If(it) => if_command(it),
        Command::For(it) => for_command("for", it),
        Command::Select(it) => for_command("select", it),
        Command::CStyleFor(it) => {
            let clause = |it: &Option<Arithmetic>| it.as_ref().map_or_else(String::new, arithmetic);
            let head = format!("(({};{};{}))", clause(&it.start), clause(&it.condition), clause(&it.step));
            tagged("for", [head, bracketed(&it.body)])
        }
        Command::While(it) => {
            tagged(if it.until { "until" } else { "while" }, [bracketed(&it.condition), bracketed(&it.body)])
        }
        Command::Case(it) => case_command(it),
        Command::Function(it) => tagged("function", [it.name.clone(), command(&it.body)]),
        Command::Test(it) => tagged("test", [condition(&it.condition)]),
        Command::Arithmetic(it) => tagged("arithmetic", [arithmetic(it)]),
        Command::Coprocess(it) => tagged("coproc", [it.name.clone(), command(&it.command)]),
        Command::Time(it) => tagged("time", [command(it)]),
        Command::Redirected(it) => {
            tagged("redirected", [command(&it.command), joined(it.redirects.iter().map(redirect))])
        }
        Command::Opaque(it) => {
            tagged("opaque", [problem_kind(it.reason).to_owned(), format!("`{}`", it.text)])
        }
    }
}

fn simple_command(it: &Simple) -> String {
    let assignments = it.assignments.iter().map(assignment);
    let words = it.words.iter().map(word);
    let arrays = it.declared_arrays.iter().map(|array| format!("declares:{}", assignment(array)));
    let redirects = it.redirects.iter().map(redirect);
    format!("({})", joined(assignments.chain(words).chain(arrays).chain(redirects)))
}

fn pipeline_command(it: &Pipeline) -> String {
    let stages: Vec<_> = it
        .stages
        .iter()
        .map(|stage| {
            let carries = match stage.carries {
                Carries::Output => "",
                Carries::OutputAndErrors => "&",
            };
            format!("{}{carries}", command(&stage.command))
        })
        .collect();
    let plain = match stages.as_slice() {
        [only] => only.clone(),
        _ => tagged("|", stages),
    };
    if it.negated { tagged("!", [plain]) } else { plain }
}

fn and_or_command(it: &AndOr) -> String {
    let mut out = format!("[{}", command(&it.first));
    for (connective, next) in &it.rest {
        out.push_str(match connective {
            Connective::And => " && ",
            Connective::Or => " || ",
        });
        out.push_str(&command(next));
    }
    out.push(']');
    out
}

fn if_command(it: &If) -> String {
    let mut pieces = Vec::new();
    for (condition, body) in &it.branches {
        pieces.push(bracketed(condition));
        pieces.push(bracketed(body));
    }
    if let Some(otherwise) = &it.otherwise {
        pieces.push("else".to_owned());
        pieces.push(bracketed(otherwise));
    }
    tagged("if", pieces)
}

fn for_command(tag: &str, it: &For) -> String {
    let words = match &it.words {
        Some(words) => format!("in [{}]", joined(words.iter().map(word))),
        None => "in arguments".to_owned(),
    };
    tagged(tag, [it.variable.clone(), words, bracketed(&it.body)])
}

fn case_command(it: &Case) -> String {
    let arms = it.arms.iter().map(|arm| {
        let patterns: Vec<_> = arm.patterns.iter().map(word).collect();
        let end = match arm.end {
            ArmEnd::Break => ";;",
            ArmEnd::FallThrough => ";&",
            ArmEnd::TryNext => ";;&",
        };
        format!("({} {} {end})", patterns.join("|"), bracketed(&arm.body))
    });
    tagged("case", std::iter::once(word(&it.subject)).chain(arms))
}

fn condition(it: &ConditionalExpression) -> String {
    match it {
        ConditionalExpression::Word(operand) => word(operand),
        ConditionalExpression::Unary(operator, operand) => tagged(operator, [word(operand)]),
        ConditionalExpression::Binary(left, operator, right) => tagged(operator, [word(left), word(right)]),
        ConditionalExpression::Not(inner) => tagged("not", [condition(inner)]),
        ConditionalExpression::And(left, right) => tagged("and", [condition(left), condition(right)]),
        ConditionalExpression::Or(left, right) => tagged("or", [condition(left), condition(right)]),
    }
}

fn assignment(it: &Assignment) -> String {
    let index = it.index.as_ref().map_or_else(String::new, |index| format!("[{}]", word(index)));
    let operator = if it.append { "+=" } else { "=" };
    let value = match &it.value {
        AssignedValue::Scalar(value) if value.parts.is_empty() => String::new(),
        AssignedValue::Scalar(value) => word(value),
        AssignedValue::Array(elements) => {
            let elements = elements.iter().map(|(key, value)| match key {
                Some(key) => format!("[{}]={}", word(key), word(value)),
                None => word(value),
            });
            format!("({})", joined(elements))
        }
    };
    format!("{}{index}{operator}{value}", it.name)
}

fn redirect(it: &Redirect) -> String {
    let descriptor = match &it.descriptor {
        None => String::new(),
        Some(Descriptor::Number(number)) => number.to_string(),
        Some(Descriptor::Variable(name)) => format!("{{{name}}}"),
    };
    let (operator, target) = match &it.operation {
        RedirectOperation::Read(target) => ("<", target),
        RedirectOperation::Write(target) => (">", target),
        RedirectOperation::Clobber(target) => (">|", target),
        RedirectOperation::Append(target) => (">>", target),
        RedirectOperation::ReadWrite(target) => ("<>", target),
        RedirectOperation::WriteAll(target) => ("&>", target),
        RedirectOperation::AppendAll(target) => ("&>>", target),
        RedirectOperation::Duplicate(target) => (">&", target),
        RedirectOperation::HereString(target) => ("<<<", target),
        RedirectOperation::HereDocument(target) => ("<<", target),
    };
    format!("{descriptor}{operator}{}", word(target))
}

fn part(it: &Part) -> String {
    match it {
        Part::Literal(text) => text.clone(),
        Part::Quoted(text) => format!("'{text}'"),
        Part::Bytes(count) => "?".repeat(*count),
        Part::DoubleQuoted(inner) => {
            let inner: String = inner
                .iter()
                .map(|it| match it {
                    Part::Quoted(text) => text.clone(),
                    it => part(it),
                })
                .collect();
            format!("\"{inner}\"")
        }
        Part::Parameter(it) => parameter(it),
        Part::CommandSubstitution(block) => format!("${}", bracketed(block)),
        Part::ProcessSubstitution(Direction::Read, block) => format!("<{}", bracketed(block)),
        Part::ProcessSubstitution(Direction::Write, block) => format!(">{}", bracketed(block)),
        Part::Arithmetic(it) => {
            let blocks: String = it.substitutions.iter().map(bracketed).collect();
            format!("$(({})){blocks}", it.text)
        }
        Part::Braces(it) => {
            let hidden: String = it.hidden.iter().map(part).collect();
            format!("{{..{hidden}}}")
        }
    }
}

fn parameter(it: &ParameterExpansion) -> String {
    let index = it.index.as_ref().map_or_else(String::new, |index| format!("[{}]", word(index)));
    let indirect = if it.indirect { "!" } else { "" };
    let reference = format!("{indirect}{}{index}", it.name);
    let with_colon = |colon: bool| if colon { ":" } else { "" };
    let doubled = |sign: char, twice: bool| sign.to_string().repeat(1 + usize::from(twice));
    let inside = match &it.operation {
        ParameterOperation::Plain if reference.len() == 1 || !starts_with_digit(&reference) => {
            return if it.index.is_none() && !it.indirect {
                format!("${reference}")
            } else {
                format!("${{{reference}}}")
            };
        }
        ParameterOperation::Plain => reference,
        ParameterOperation::Length => format!("#{reference}"),
        ParameterOperation::Default { word: it, colon } => {
            format!("{reference}{}-{}", with_colon(*colon), word(it))
        }
        ParameterOperation::Assign { word: it, colon } => {
            format!("{reference}{}={}", with_colon(*colon), word(it))
        }
        ParameterOperation::Error { word: it, colon } => {
            format!("{reference}{}?{}", with_colon(*colon), word(it))
        }
        ParameterOperation::Alternative { word: it, colon } => {
            format!("{reference}{}+{}", with_colon(*colon), word(it))
        }
        ParameterOperation::RemovePrefix { pattern, longest } => {
            format!("{reference}{}{}", doubled('#', *longest), word(pattern))
        }
        ParameterOperation::RemoveSuffix { pattern, longest } => {
            format!("{reference}{}{}", doubled('%', *longest), word(pattern))
        }
        ParameterOperation::Replace { pattern, with, scope } => {
            let scope = match scope {
                ReplaceScope::First => "/",
                ReplaceScope::All => "//",
                ReplaceScope::Prefix => "/#",
                ReplaceScope::Suffix => "/%",
            };
            format!("{reference}{scope}{}/{}", word(pattern), word(with))
        }
        ParameterOperation::Substring { offset, length } => {
            let mut out = format!("{reference}:{}", arithmetic(offset));
            if let Some(length) = length {
                // Writing into a string cannot fail.
                let _ = write!(out, ":{}", arithmetic(length));
            }
            out
        }
        ParameterOperation::Case { upper, all, pattern } => {
            let pattern = if pattern.parts.is_empty() { String::new() } else { word(pattern) };
            format!("{reference}{}{pattern}", doubled(if *upper { '^' } else { ',' }, *all))
        }
        ParameterOperation::NamesWithPrefix => format!("!{reference}*"),
        ParameterOperation::Keys => format!("!{reference}"),
        ParameterOperation::Transform(letter) => format!("{reference}@{letter}"),
        ParameterOperation::Other(words) => {
            format!("{reference} other {}", joined(words.iter().map(word)))
        }
    };
    format!("${{{inside}}}")
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

fn arithmetic(it: &Arithmetic) -> String {
    let blocks: String = it.substitutions.iter().map(bracketed).collect();
    format!("{}{blocks}", it.text)
}

fn problem_kind(it: ProblemKind) -> &'static str {
    match it {
        ProblemKind::TooLong => "too-long",
        ProblemKind::TooDeep => "too-deep",
        ProblemKind::Deadline => "deadline",
        ProblemKind::Syntax => "syntax",
        ProblemKind::ParserFailed => "parser-failed",
        ProblemKind::Unsupported => "unsupported",
    }
}

fn bracketed(block: &Block) -> String {
    format!("[{}]", outline(block))
}

fn tagged(tag: &str, pieces: impl IntoIterator<Item = String>) -> String {
    format!("({})", joined(std::iter::once(tag.to_owned()).chain(pieces)))
}

fn joined(pieces: impl IntoIterator<Item = String>) -> String {
    pieces.into_iter().filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ")
}
