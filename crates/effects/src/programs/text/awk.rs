//! `awk`: output redirections, pipes and `system` in the program text.

use crate::interpreter::{Call, Exit, Input, Machine, Value};

use super::{edit_in_place, one_path};

/// `awk`, `gawk`, `mawk`, `nawk`
pub(crate) fn awk(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut programs: Vec<Value> = arguments.values(&["-e", "--source"]).cloned().collect();
    for file in arguments.values(&["-f", "--file", "-E", "--exec"]) {
        let is_input = matches!(file.as_exact(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
        programs.push(match &call.input {
            Input::Text(text) if is_input => text.clone(),
            Input::Network(url) if is_input => {
                machine.runs_from_network(&url.clone());
                Value::exact("")
            }
            Input::Secret(_) | Input::Local(_) | Input::Unknown if is_input => Value::Unknown,
            _ => {
                machine.read(file);
                one_path(machine, file).map_or(Value::Unknown, |path| machine.text(&path))
            }
        });
    }
    let mut files: &[Value] = &arguments.operands;
    if programs.is_empty() {
        let Some((program, rest)) = files.split_first() else { return Exit::unknown() };
        programs.push(program.clone());
        files = rest;
    }
    let files: Vec<Value> = files.iter().filter(|file| !is_assignment(file)).cloned().collect();
    let assigned: Vec<(String, Value)> = arguments
        .values(&["-v", "--assign"])
        .filter_map(|word| {
            let (name, _) =
                word.known_start().split_once('=').map(|(name, rest)| (name.to_owned(), rest.to_owned()))?;
            let value = crate::programs::files::after(word, &format!("{name}="))?;
            Some((name, value))
        })
        .collect();
    let lines = match (&call.input, files.is_empty()) {
        (Input::Text(text), true) => text.clone(),
        _ => Value::Unknown,
    };
    for program in &programs {
        if let Some(text) = program.as_exact() {
            let environment = |name: &str| machine.variable(name)?.as_exact().map(str::to_owned);
            for act in acts(text, &assigned, &environment) {
                carry_out(machine, act, &lines);
            }
            continue;
        }
        // A program with a hole in it, mostly a number or a word: what is known of it decides.
        let known = format!("{} {}", program.known_start(), program.known_end());
        if known.contains("system") || known.trim().is_empty() {
            machine.opaque(format!("the program of `{}` is not known", call.program));
        }
    }
    let in_place = arguments.values(&["-i", "--include"]).any(|value| value.as_exact() == Some("inplace"));
    if in_place {
        edit_in_place(machine, &files, None);
        return Exit::silent();
    }
    for file in &files {
        machine.read(file);
    }
    Exit::unknown()
}

fn is_assignment(word: &Value) -> bool {
    word.known_start().split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn carry_out(machine: &mut Machine<'_>, act: Act, lines: &Value) {
    match act {
        Act::Read(file) => {
            if file != Value::Unknown {
                machine.read(&file);
            }
        }
        Act::Write(target) => match target {
            Value::Unknown => machine.possibly(|machine| machine.write(&Value::Unknown)),
            known => machine.write(&known),
        },
        Act::Run(Value::Exact(command)) => {
            machine.run_text(&Value::Exact(command), Input::Unknown);
        }
        // Each line is a command.
        Act::RunLine if lines.as_exact().is_some() => {
            machine.possibly(|machine| machine.run_text(lines, Input::Unknown));
        }
        Act::Run(_) | Act::RunLine => machine.opaque("`awk` runs commands that it makes of its input"),
    }
}

/// What a program does besides printing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Act {
    Read(Value),
    Write(Value),
    Run(Value),
    /// Runs each line that comes in.
    RunLine,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
    /// `>>`
    Append,
    /// An end of statement.
    End,
}

/// How many tokens behind `ARGV` the sign of an assignment may stand (ours): `ARGV[ARGC++] = `.
const SUBSCRIPT: usize = 7;

/// The tokens with variables of the environment as the texts that they hold.
fn with_environment(tokens: &[Token], environment: &dyn Fn(&str) -> Option<String>) -> Vec<Token> {
    let mut known = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some((first, behind)) = rest.split_first() {
        if let [Token::Word(word), Token::Mark('['), Token::Text(name), Token::Mark(']'), after @ ..] = rest
            && word == "ENVIRON"
            && let Some(text) = environment(name)
        {
            known.push(Token::Text(text));
            rest = after;
            continue;
        }
        known.push(first.clone());
        rest = behind;
    }
    known
}

fn acts(
    program: &str,
    assigned: &[(String, Value)],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Vec<Act> {
    let tokens = with_environment(&tokens(program), environment);
    let mut found = Vec::new();
    let mut printing = false;
    let mut depth = 0_usize;
    let mut print_depth = 0_usize;
    let mut getting = false;
    for (place, token) in tokens.iter().enumerate() {
        let behind = tokens.get(place + 1..).unwrap_or_default();
        match token {
            Token::Word(word) if word == "print" || word == "printf" => {
                printing = true;
                print_depth = depth;
            }
            Token::Word(word) if word == "system" && behind.first() == Some(&Token::Mark('(')) => {
                found.push(run_of(behind.get(1..).unwrap_or_default(), true, &tokens, assigned));
            }
            Token::Word(word) if word == "getline" => getting = true,
            // `getline < file`, `(getline line < file)`: what is behind is a file up to the end of the expression.
            Token::Mark('<') if std::mem::take(&mut getting) => {
                let target = match behind {
                    [Token::Text(text), ..] => Value::exact(text.clone()),
                    [Token::Word(name), ..] => value_of_variable(&tokens, name, assigned),
                    _ => Value::Unknown,
                };
                found.push(Act::Read(target));
            }
            // Which files it reads stands in a list that it may change.
            Token::Word(word) if word == "ARGV" => {
                let is_set = |token: &Token| matches!(token, Token::Mark('='));
                let value = behind.iter().take(SUBSCRIPT).position(is_set);
                if let Some(Token::Text(text)) = value.and_then(|at| behind.get(at + 1)) {
                    found.push(Act::Read(Value::exact(text.clone())));
                }
            }
            Token::Mark('(' | '[') => depth += 1,
            Token::Mark(')' | ']') => depth = depth.saturating_sub(1),
            Token::Mark('>') | Token::Append if printing && depth == print_depth => {
                let target = match (value_of(behind, false), behind) {
                    (Value::Unknown, [Token::Word(name), ..]) => value_of_variable(&tokens, name, assigned),
                    (known, _) => known,
                };
                found.push(Act::Write(target));
            }
            Token::Mark('|') => {
                let reads = matches!(behind.first(), Some(Token::Word(word)) if word == "getline");
                if reads {
                    let before = place.checked_sub(1).and_then(|before| tokens.get(before));
                    let command = match before {
                        Some(Token::Text(text)) => Value::exact(text.clone()),
                        Some(Token::Word(name)) => value_of_variable(&tokens, name, assigned),
                        _ => Value::Unknown,
                    };
                    found.push(Act::Run(command));
                } else if printing && depth == print_depth {
                    found.push(run_of(behind, false, &tokens, assigned));
                }
            }
            Token::End | Token::Mark('{' | '}') => {
                printing = false;
                getting = false;
                depth = 0;
            }
            Token::Word(_) | Token::Text(_) | Token::Mark(_) | Token::Append => {}
        }
    }
    found.retain(|act| !matches!(act, Act::Read(Value::Exact(file)) if file == "-" || file == "/dev/stdin"));
    found.retain(|act| {
        !matches!(act, Act::Write(Value::Exact(file)) if file == "/dev/stderr" || file == "/dev/stdout" || file == "-")
    });
    found
}

/// What runs where these tokens are a command.
fn run_of(behind: &[Token], in_parentheses: bool, tokens: &[Token], assigned: &[(String, Value)]) -> Act {
    match (value_of(behind, in_parentheses), behind) {
        (
            Value::Unknown,
            [Token::Word(name), Token::Mark(')' | '}') | Token::End, ..] | [Token::Word(name)],
        ) => {
            if name == "$0" {
                return Act::RunLine;
            }
            Act::Run(value_of_variable(tokens, name, assigned))
        }
        (known, _) => Act::Run(known),
    }
}

/// What a variable of the program holds: given with `-v`, else the last thing that is assigned to it.
fn value_of_variable(tokens: &[Token], name: &str, assigned: &[(String, Value)]) -> Value {
    let given = assigned.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let place = tokens
        .windows(2)
        .rposition(|pair| matches!(pair, [Token::Word(word), Token::Mark('=')] if word == name));
    match (place, given) {
        (None, given) => given.unwrap_or(Value::Unknown),
        (Some(place), given) => {
            let value = value_of(tokens.get(place + 2..).unwrap_or_default(), false);
            given.map_or(value.clone(), |given| given.join(&value))
        }
    }
}

/// The text of an expression up to its end: exact for one string, known ends for strings with something else.
fn value_of(tokens: &[Token], in_parentheses: bool) -> Value {
    let mut depth = 0_usize;
    let mut value: Option<Value> = None;
    for token in tokens {
        let part = match token {
            Token::End | Token::Mark('}' | '{' | '|') => break,
            Token::Mark(')') if depth == 0 && in_parentheses => break,
            Token::Mark('(') => {
                depth += 1;
                continue;
            }
            Token::Mark(')') => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Token::Text(text) => Value::exact(text.clone()),
            Token::Word(_) | Token::Mark(_) | Token::Append => Value::Unknown,
        };
        value = Some(match value {
            Some(so_far) => so_far.followed_by(&part),
            None => part,
        });
    }
    value.unwrap_or(Value::Unknown)
}

fn tokens(program: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = program.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | ';' => tokens.push(Token::End),
            c if c.is_whitespace() => {}
            '\\' if rest.peek() == Some(&'\n') => {
                rest.next();
            }
            '#' => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '"' => {
                let mut text = String::new();
                while let Some(c) = rest.next() {
                    match c {
                        '"' => break,
                        '\\' => match rest.next() {
                            Some('n') => text.push('\n'),
                            Some('t') => text.push('\t'),
                            Some(other) => text.push(other),
                            None => {}
                        },
                        c => text.push(c),
                    }
                }
                tokens.push(Token::Text(text));
            }
            '/' if begins_pattern(tokens.last()) => {
                let mut in_class = false;
                while let Some(c) = rest.next() {
                    match c {
                        '\\' => {
                            rest.next();
                        }
                        '[' => in_class = true,
                        ']' => in_class = false,
                        '/' if !in_class => break,
                        _ => {}
                    }
                }
                tokens.push(Token::Word("/".to_owned()));
            }
            '>' if rest.peek() == Some(&'>') => {
                rest.next();
                tokens.push(Token::Append);
            }
            // Comparisons and `||` are no redirections, and `==` assigns nothing.
            '=' if rest.peek() == Some(&'=') => {
                rest.next();
                tokens.push(Token::Mark('~'));
            }
            '>' if rest.peek() == Some(&'=') => {
                rest.next();
                tokens.push(Token::Mark('='));
            }
            '|' if rest.peek() == Some(&'|') => {
                rest.next();
                tokens.push(Token::Mark('&'));
            }
            '|' if rest.peek() == Some(&'&') => {
                rest.next();
                tokens.push(Token::Mark('|'));
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' || c == '.' => {
                let mut word = String::from(c);
                while let Some(next) =
                    rest.peek().copied().filter(|c| c.is_alphanumeric() || *c == '_' || *c == '.')
                {
                    word.push(next);
                    rest.next();
                }
                tokens.push(Token::Word(word));
            }
            c => tokens.push(Token::Mark(c)),
        }
    }
    tokens
}

/// Whether a slash here begins a regular expression, as opposed to dividing.
fn begins_pattern(before: Option<&Token>) -> bool {
    match before {
        None | Some(Token::End | Token::Append) => true,
        Some(Token::Mark(c)) => *c != ')' && *c != ']',
        Some(Token::Word(word)) => word == "return" || word == "print" || word == "in",
        Some(Token::Text(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(program: &str) -> Vec<Act> {
        acts(program, &[], &|_| None)
    }

    fn write(text: &str) -> Act {
        Act::Write(Value::exact(text))
    }

    fn run(text: &str) -> Act {
        Act::Run(Value::exact(text))
    }

    #[test]
    fn programs_are_searched_for_acts() {
        assert_eq!(found("{ print $1 }"), []);
        assert_eq!(found("$3 > 100 { print $1, ($2 > 5) }"), []);
        assert_eq!(found("{ print $1 > \"out.txt\" }"), [write("out.txt")]);
        assert_eq!(found("{ print >> \"a\"; print \"x > y\" }"), [write("a")]);
        assert_eq!(found("BEGIN { system(\"rm -rf x\") }"), [run("rm -rf x")]);
        assert_eq!(found("{ print | \"sort -u\" }"), [run("sort -u")]);
        assert_eq!(found("BEGIN { \"date\" | getline d; print d }"), [run("date")]);
        assert_eq!(found("/a|b>c/ { print }"), []);
        assert_eq!(found("{ print $2 > $1 }"), [Act::Write(Value::Unknown)]);
        assert_eq!(
            found("{ system(\"rm \" $1) }"),
            [Act::Run(Value::Between { prefix: "rm ".to_owned(), suffix: String::new() })]
        );
        assert_eq!(found("{ print > \"/dev/stderr\" }"), []);
        assert_eq!(found("a || b { print }"), []);
        let read = |text: &str| Act::Read(Value::exact(text));
        assert_eq!(found("BEGIN { while ((getline l < \"x\") > 0) print l }"), [read("x")]);
        assert_eq!(found("BEGIN { f = \"x\"; getline < f; print }"), [read("x")]);
        assert_eq!(found("BEGIN { ARGV[ARGC++] = \"x\" } 1"), [read("x")]);
        assert_eq!(found("BEGIN { if (ARGV[1] == \"x\") n = 1 } $1 < 3 { getline; print }"), []);
        let between = Value::Between { prefix: "day_".to_owned(), suffix: ".txt".to_owned() };
        assert_eq!(found("{ f = \"day_\" NR \".txt\"; print > f; close(f) }"), [Act::Write(between)]);
        assert_eq!(
            acts("{ print > out }", &[("out".to_owned(), Value::exact("x"))], &|_| None),
            [write("x")]
        );
    }
}
