//! What a program of `awk` does besides printing: files, commands, and their names as far as they are put together of what is known.
//!
//! Every branch is gone. A variable that is set in a branch or a loop is afterwards what either way made of it.

mod calls;

use std::collections::{HashMap, HashSet};

use crate::interpreter::Value;

use super::texts::{formatted, mapped, put_together};
use super::tokens::{Token, tokens};
use super::tree::{Expression, Function, LineSource, Program, Redirection, Statement, read};

/// The greatest number of steps in one program, and of acts that are told apart (ours).
const STEPS: usize = 20_000;
const ACTS: usize = 256;
/// How deep functions are followed inside each other, and how often one of them with what it is given (ours).
const CALLS: usize = 16;
const TIMES: usize = 8;
/// How often a loop is gone through, when what it sets goes on changing (ours).
const TURNS: usize = 8;
/// The greatest number of lines for each of which the rules are followed (ours).
const LINES: usize = 256;

/// What a program does besides printing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Read(Value),
    Write(Value),
    /// Runs a command, with what is printed into it.
    Run(Value, Option<Value>),
    /// Calls a function whose name is not known, or loads a library.
    RunUnknown,
    /// There is more than is followed.
    Unread,
}

/// What a program is given.
pub(super) struct Circumstances<'a> {
    /// Variables that are set before it begins.
    pub(super) assigned: &'a [(String, Value)],
    /// The words behind the program: `ARGV`.
    pub(super) operands: &'a [Value],
    /// The text that it runs over, as far as it is known.
    pub(super) lines: Value,
    pub(super) environment: &'a dyn Fn(&str) -> Option<Value>,
}

/// What a program does.
pub(super) struct Deeds {
    pub(super) acts: Vec<Act>,
    /// Files that are part of it.
    pub(super) included: Vec<String>,
}

/// Follows a program.
pub(super) fn follow(text: &str, circumstances: &Circumstances<'_>) -> Deeds {
    let tokens = tokens(text);
    let program = read(&tokens);
    let mut follower = Follower {
        circumstances,
        functions: &program.functions,
        set: set_somewhere(&tokens, &program),
        variables: HashMap::new(),
        arrays: HashMap::new(),
        line: Value::Unknown,
        acts: Vec::new(),
        fed: Vec::new(),
        returned: None,
        doubt: 0,
        calls: Vec::new(),
        steps: 0,
    };
    for (name, value) in [("FS", " "), ("OFS", " "), ("ORS", "\n"), ("RS", "\n"), ("SUBSEP", "\u{1c}")] {
        follower.variables.insert(name.to_owned(), Value::exact(value));
    }
    for (name, value) in circumstances.assigned {
        follower.variables.insert(name.clone(), value.clone());
    }
    follower.follow(&program);
    let mut acts = follower.acts;
    acts.extend(follower.fed.into_iter().map(|(command, input)| Act::Run(command, Some(input))));
    if program.loads {
        acts.push(Act::RunUnknown);
    }
    acts.retain(|act| match act {
        Act::Read(Value::Exact(file)) => file != "-" && file != "/dev/stdin",
        Act::Write(Value::Exact(file)) => {
            !matches!(file.as_str(), "/dev/stderr" | "/dev/stdout" | "-")
                && file != "/dev/fd/1"
                && file != "/dev/fd/2"
        }
        Act::Read(_) | Act::Write(_) | Act::Run(_, _) | Act::RunUnknown | Act::Unread => true,
    });
    Deeds { acts, included: program.included }
}

/// The names that something may give a value: what has none is empty.
fn set_somewhere(tokens: &[Token], program: &Program) -> HashSet<String> {
    let mut names: HashSet<String> =
        program.functions.iter().flat_map(|function| function.parameters.iter().cloned()).collect();
    for pair in tokens.windows(2) {
        match pair {
            [Token::Word(name), Token::Sign(sign)]
                if sign.ends_with('=') && !matches!(*sign, "==" | "!=" | "<=" | ">=")
                    || matches!(*sign, "++" | "--") =>
            {
                names.insert(name.clone());
            }
            [Token::Sign("++" | "--" | "("), Token::Word(name)] => {
                names.insert(name.clone());
            }
            [Token::Word(word), Token::Word(name)] if word == "getline" => {
                names.insert(name.clone());
            }
            _ => {}
        }
    }
    let special = [
        "NR",
        "NF",
        "FNR",
        "FILENAME",
        "RSTART",
        "RLENGTH",
        "RT",
        "ERRNO",
        "PROCINFO",
        "SYMTAB",
        "FUNCTAB",
        "ARGC",
        "ARGIND",
        "length",
        "CONVFMT",
        "OFMT",
        "FPAT",
        "FIELDWIDTHS",
        "TEXTDOMAIN",
        "LINT",
        "BINMODE",
        "IGNORECASE",
    ];
    names.extend(special.iter().map(|name| (*name).to_owned()));
    names
}

struct Follower<'a> {
    circumstances: &'a Circumstances<'a>,
    functions: &'a [Function],
    set: HashSet<String>,
    variables: HashMap<String, Value>,
    arrays: HashMap<String, Vec<(Option<String>, Value)>>,
    /// The present line.
    line: Value,
    acts: Vec<Act>,
    /// What was printed into commands.
    fed: Vec<(Value, Value)>,
    returned: Option<Value>,
    /// How many branches and loops are around the present point.
    doubt: usize,
    /// The functions around the present point, with what they are given.
    calls: Vec<(String, Vec<Value>)>,
    steps: usize,
}

impl Follower<'_> {
    fn follow(&mut self, program: &Program) {
        self.statements(&program.start);
        let known: Option<Vec<String>> = self
            .circumstances
            .lines
            .as_exact()
            .map(|text| text.lines().map(str::to_owned).collect())
            .filter(|lines: &Vec<String>| lines.len() <= LINES);
        let lines = known.unwrap_or_default();
        let is_known = !lines.is_empty();
        for line in lines {
            self.set_line(Value::Exact(line));
            self.statements(&program.rules);
        }
        if is_known && self.steps < STEPS {
            return;
        }
        if is_known {
            // Many lines by a long program: whatever they are.
            self.steps = 0;
        }
        for _ in 0..2 {
            self.set_line(Value::Unknown);
            self.doubt += 1;
            self.statements(&program.rules);
            self.doubt -= 1;
        }
        if self.steps >= STEPS {
            self.act(Act::Unread);
        }
    }

    fn act(&mut self, act: Act) {
        if self.acts.contains(&act) {
            return;
        }
        let is_full = self.acts.len() >= ACTS;
        if !is_full {
            self.acts.push(act);
        } else if self.acts.last() != Some(&Act::Unread) {
            self.acts.push(Act::Unread);
        }
    }

    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_add(1);
        self.steps < STEPS
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if !self.step() {
            return;
        }
        match statement {
            Statement::Expression(expression) => {
                self.value(expression);
            }
            Statement::Print { format, values, to } => self.print(*format, values, to.as_ref()),
            Statement::Block(statements) => self.statements(statements),
            Statement::Branch(tests, ways) => {
                for test in tests {
                    self.value(test);
                }
                self.doubt += usize::from(!tests.is_empty());
                self.statements(ways);
                self.doubt -= usize::from(!tests.is_empty());
            }
            Statement::Loop(parts, body) => self.turns(parts, body),
            Statement::Each(name, array, body) => {
                let keys = self.keys(array);
                self.doubt += 1;
                self.set_variable(name, keys);
                self.statement(body);
                self.statement(body);
                self.doubt -= 1;
            }
            Statement::Return(value) => {
                let value = value.as_ref().map_or(Value::exact(""), |value| self.value(value));
                self.returned = Some(match self.returned.take() {
                    Some(known) => known.join(&value),
                    None => value,
                });
            }
        }
    }

    /// A loop: what one turn sets is there in the next.
    fn turns(&mut self, parts: &[Expression], body: &Statement) {
        let mut before = (HashMap::new(), HashMap::new());
        for turn in 0..TURNS {
            before = (self.variables.clone(), self.arrays.clone());
            for part in parts {
                self.doubt += usize::from(turn > 0);
                self.value(part);
                self.doubt -= usize::from(turn > 0);
            }
            self.doubt += 1;
            self.statement(body);
            self.doubt -= 1;
            if turn > 0 && before.0 == self.variables && before.1 == self.arrays {
                return;
            }
        }
        // What still changes goes on changing.
        for (name, value) in &mut self.variables {
            if before.0.get(name) != Some(value) {
                *value = Value::Unknown;
            }
        }
        for (name, entries) in &mut self.arrays {
            if before.1.get(name) != Some(entries) {
                entries.iter_mut().for_each(|(_, value)| *value = Value::Unknown);
            }
        }
    }

    fn print(&mut self, format: bool, values: &[Expression], to: Option<&Redirection>) {
        let values: Vec<Value> = values.iter().map(|value| self.value(value)).collect();
        match to {
            None => {}
            Some(Redirection::File(file)) => {
                let file = self.value(file);
                self.act(Act::Write(file));
            }
            Some(Redirection::Command(command)) => {
                let command = self.value(command);
                let text = if format { formatted(&values) } else { self.printed(&values) };
                let is_full = self.fed.len() >= ACTS;
                match self.fed.iter_mut().find(|(known, _)| *known == command) {
                    Some((_, fed)) => *fed = put_together(fed, &text),
                    None if is_full => self.act(Act::Unread),
                    None => self.fed.push((command, text)),
                }
            }
        }
    }

    fn printed(&self, values: &[Value]) -> Value {
        let special = |name: &str| self.variables.get(name).cloned().unwrap_or(Value::Unknown);
        let mut whole = values.first().cloned().unwrap_or_else(|| self.line.clone());
        for value in values.iter().skip(1) {
            whole = put_together(&put_together(&whole, &special("OFS")), value);
        }
        put_together(&whole, &special("ORS"))
    }

    fn keys(&self, array: &str) -> Value {
        let entries = self.arrays.get(array).map(Vec::as_slice).unwrap_or_default();
        let keys: Option<Vec<String>> = entries.iter().map(|(key, _)| key.clone()).collect();
        match keys {
            Some(keys) if !keys.is_empty() && keys.len() <= Value::CHOICES => Value::one_of(keys),
            Some(_) | None => Value::Unknown,
        }
    }

    fn set_variable(&mut self, name: &str, value: Value) {
        let value = match self.variables.get(name) {
            Some(known) if self.doubt > 0 => known.join(&value),
            Some(_) | None => value,
        };
        self.variables.insert(name.to_owned(), value);
    }

    fn set_item(&mut self, array: &str, key: Option<String>, value: Value) {
        if array == "ARGV" && key.as_deref() != Some("0") {
            self.act(Act::Read(value.clone()));
        }
        let entries = self.arrays.entry(array.to_owned()).or_default();
        let is_full = entries.len() >= ACTS;
        match entries.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = if self.doubt > 0 { known.join(&value) } else { value },
            // Any of them may be it.
            None if is_full => entries.iter_mut().for_each(|(_, known)| *known = Value::Unknown),
            None => entries.push((key, value)),
        }
    }

    /// Takes another line. What was put into fields of the one before is gone.
    fn set_line(&mut self, line: Value) {
        let fields: Vec<(String, Value)> =
            self.variables.extract_if(|name, _| name.starts_with('$')).collect();
        let before = std::mem::replace(&mut self.line, line);
        if self.doubt > 0 {
            for (name, value) in fields {
                let value = value.join(&self.field(name.strip_prefix('$'), false));
                self.variables.insert(name, value);
            }
            self.line = before.join(&self.line);
        }
    }

    /// Puts a value into a field, which makes another line.
    fn set_field(&mut self, number: &str, value: Value) {
        let value = if self.doubt > 0 { self.field(Some(number), false).join(&value) } else { value };
        self.line = Value::Unknown;
        self.variables.insert(format!("${number}"), value);
    }

    fn assign(&mut self, target: &Expression, value: Value) {
        match target {
            Expression::Name(name) => self.set_variable(name, value),
            Expression::Item(array, subscripts) => {
                let key = self.subscript(subscripts);
                self.set_item(array, key, value);
            }
            Expression::Field(which) => match self.value(which).as_exact() {
                Some("0") => self.set_line(value),
                Some(number) => self.set_field(number, value),
                None => self.set_line(Value::Unknown),
            },
            Expression::Text(_)
            | Expression::Pattern(_)
            | Expression::Call(_, _)
            | Expression::CallNamed(_, _)
            | Expression::Assign(_, _, _)
            | Expression::Concat(_)
            | Expression::Choice(_)
            | Expression::ReadLine(_, _)
            | Expression::Figure(_) => {}
        }
    }

    fn subscript(&mut self, subscripts: &[Expression]) -> Option<String> {
        let parts: Option<Vec<String>> =
            subscripts.iter().map(|part| self.value(part).as_exact().map(str::to_owned)).collect();
        parts.map(|parts| parts.join("\u{1c}"))
    }

    fn value(&mut self, expression: &Expression) -> Value {
        if !self.step() {
            return Value::Unknown;
        }
        match expression {
            Expression::Text(text) => Value::exact(text.as_str()),
            Expression::Pattern(_) => Value::Unknown,
            Expression::Name(name) => self.variable(name),
            Expression::Field(which) => {
                let is_last = **which == Expression::Name("NF".to_owned());
                let number = if is_last { None } else { self.value(which).as_exact().map(str::to_owned) };
                self.field(number.as_deref(), is_last)
            }
            Expression::Item(array, subscripts) => {
                let key = self.subscript(subscripts);
                self.item(array, key.as_deref())
            }
            Expression::Call(name, arguments) => self.call(name, arguments),
            Expression::CallNamed(name, arguments) => {
                let Some(names) = self.variable(name).alternatives().map(<[String]>::to_vec) else {
                    self.act(Act::RunUnknown);
                    return Value::Unknown;
                };
                let values: Vec<Value> = names.iter().map(|name| self.call(name, arguments)).collect();
                values.into_iter().reduce(|whole, value| whole.join(&value)).unwrap_or(Value::Unknown)
            }
            Expression::Assign(target, sign, value) => {
                let value = self.value(value);
                let value = if *sign == "=" { value } else { Value::Unknown };
                self.assign(target, value.clone());
                value
            }
            Expression::Concat(parts) => {
                let mut whole = Value::exact("");
                for part in parts {
                    let part = self.value(part);
                    whole = put_together(&whole, &part);
                }
                whole
            }
            Expression::Choice(parts) => {
                let [test, then, otherwise] = parts.as_ref();
                self.value(test);
                self.doubt += 1;
                let (then, otherwise) = (self.value(then), self.value(otherwise));
                self.doubt -= 1;
                then.join(&otherwise)
            }
            Expression::ReadLine(into, source) => self.read_line(into.as_deref(), source),
            Expression::Figure(parts) => {
                for part in parts {
                    self.value(part);
                }
                Value::Unknown
            }
        }
    }

    fn read_line(&mut self, into: Option<&Expression>, source: &LineSource) -> Value {
        match source {
            LineSource::Input => {}
            LineSource::File(file) => {
                // Where parentheses are missing, one `awk` takes the first word for the name and another all of them.
                if let Expression::Concat(parts) = file.as_ref()
                    && let Some(Expression::Text(name)) = parts.first()
                {
                    self.act(Act::Read(Value::exact(name.as_str())));
                }
                let file = self.value(file);
                self.act(Act::Read(file));
            }
            LineSource::Command(command) => {
                let command = self.value(command);
                self.act(Act::Run(command, None));
            }
        }
        match into {
            Some(target) => self.assign(target, Value::Unknown),
            None => self.set_line(Value::Unknown),
        }
        Value::Unknown
    }

    fn variable(&self, name: &str) -> Value {
        match self.variables.get(name) {
            Some(value) => value.clone(),
            None if name == "FILENAME" => {
                let files: Option<Vec<String>> = self
                    .circumstances
                    .operands
                    .iter()
                    .map(|file| file.as_exact().map(str::to_owned))
                    .collect();
                files.filter(|files| files.len() <= Value::CHOICES).map_or(Value::Unknown, Value::one_of)
            }
            None if self.set.contains(name) => Value::Unknown,
            None => Value::exact(""),
        }
    }

    fn field(&self, number: Option<&str>, is_last: bool) -> Value {
        if let Some(value) = number.and_then(|number| self.variables.get(&format!("${number}"))) {
            return value.clone();
        }
        if number == Some("0") {
            return self.line.clone();
        }
        let separator = match self.variables.get("FS").and_then(Value::as_exact) {
            Some("\\t") => "\t",
            Some(one) if one.chars().count() == 1 => one,
            Some(_) | None => return Value::Unknown,
        };
        let number = number.and_then(|number| number.parse::<usize>().ok());
        if number.is_none() && !is_last {
            return Value::Unknown;
        }
        mapped(&self.line, |line| {
            let parts: Vec<&str> = match separator {
                " " => line.split_whitespace().collect(),
                one => line.split(one).collect(),
            };
            let part = match number {
                Some(number) => number.checked_sub(1).and_then(|at| parts.get(at)),
                None => parts.last(),
            };
            part.copied().unwrap_or_default().to_owned()
        })
    }

    fn item(&mut self, array: &str, key: Option<&str>) -> Value {
        if let Some(entries) = self.arrays.get(array) {
            let is_there = key.is_some() && entries.iter().any(|(known, _)| known.as_deref() == key);
            // What was put in under a name that is not known may be it, too.
            return entries
                .iter()
                .filter(|(known, _)| !is_there || known.is_none() || known.as_deref() == key)
                .map(|(_, value)| value.clone())
                .reduce(|whole, value| whole.join(&value))
                .unwrap_or(Value::Unknown);
        }
        match (array, key) {
            ("ENVIRON", Some(name)) => (self.circumstances.environment)(name).unwrap_or(Value::Unknown),
            ("ARGV", Some(number)) => {
                let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                at.and_then(|at| self.circumstances.operands.get(at)).cloned().unwrap_or(Value::Unknown)
            }
            _ => Value::Unknown,
        }
    }
}
