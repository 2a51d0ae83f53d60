//! What of a command text makes it the command that it is: the same whatever is written around it.
//!
//! It leaves out whatever changes neither what runs nor what that finds out. In the text these are comments, quotes that are not needed,
//! assignments that the text does not read, and constant text that is printed. Around a command these are viewers at the end of a pipe,
//! copies of descriptors, output to `/dev/null`, a status that is thrown away (`|| true`), brackets around one command, wrappers that
//! only start another, and the number by which a run of tests shuffles them. Two texts of one substance are two runs of one thing, as long as what they answer is the same too; nothing about
//! safety may rest on it.

use crate::guard::parse;
use crate::outline::outline;
use crate::tree::{
    AndOr, AssignedValue, Assignment, Block, Command, Connective, Launch, Part, Pipeline, Redirect,
    RedirectOperation, ShellStatement, Simple, Word,
};

/// The longest text that is looked at, in bytes; a longer one is its own substance.
const LONGEST: usize = 16 * 1024;

/// How deep texts inside texts are looked at: `sh -c '...'`.
const DEEPEST: usize = 4;

/// The substance of a shell text as one line: an outline of what is left. A text that cannot be read, is longer than 16 KiB, or has no
/// substance at all is its own.
///
/// ```
/// use checkrein_shell::substance;
/// assert_eq!(substance("echo 7; N=7 npm test 2>&1 | tail -n 7 # again"), substance("npm 'test'"));
/// assert_ne!(substance("npm test -- a"), substance("npm test -- b"));
/// ```
pub fn substance(text: &str) -> String {
    read(text, 0).map_or_else(|| text.to_owned(), |block| outline(&block))
}

/// A substance without options, so that two runs of one program with the same operands are one: how it is asked for the same thing.
///
/// ```
/// use checkrein_shell::{substance, without_options};
/// assert_eq!(without_options(&substance("npm test -- --a")), without_options(&substance("npm test -- --b=1")));
/// assert_ne!(without_options(&substance("npm test a")), without_options(&substance("npm test b")));
/// ```
pub fn without_options(substance: &str) -> String {
    let is_option = |word: &&str| word.trim_start_matches('\'').starts_with('-');
    // Brackets that an option closes stay.
    let kept = |word: &str| word.chars().rev().take_while(|letter| *letter == ')').collect::<String>();
    let mut left = String::with_capacity(substance.len());
    for word in substance.split_whitespace() {
        let is_option = is_option(&word);
        let brackets = if is_option { kept(word) } else { String::new() };
        if !is_option && !left.is_empty() {
            left.push(' ');
        }
        left.push_str(if is_option { &brackets } else { word });
    }
    left
}

/// What is left of a text; `None` when it cannot be read or nothing is.
fn read(text: &str, depth: usize) -> Option<Block> {
    if text.len() > LONGEST || depth > DEEPEST {
        return None;
    }
    let parsed = parse(text);
    if !parsed.problems.is_empty() {
        return None;
    }
    // Where a name stands in what was read, other than before its own assignments, something reads it. Comments are gone from it.
    let written = outline(&parsed.script);
    let left = Reading { written: &written, depth }.block(parsed.script);
    (!left.is_empty()).then_some(left)
}

struct Reading<'a> {
    written: &'a str,
    depth: usize,
}

impl Reading<'_> {
    fn block(&self, block: Block) -> Block {
        let mut left = Block::new();
        for statement in block {
            let ShellStatement { command, launch, span } = statement;
            match self.command(command) {
                // What stands in brackets of its own is run all the same.
                Some(Command::Group(inner)) if launch == Launch::Foreground => left.extend(inner),
                Some(command) => left.push(ShellStatement { command, launch, span }),
                None => {}
            }
        }
        left
    }

    /// What is left of a command; `None` when nothing is.
    fn command(&self, command: Command) -> Option<Command> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Pipeline(pipeline) => self.pipeline(pipeline),
            Command::AndOr(and_or) => self.and_or(and_or),
            Command::Subshell(block) => bracketed(self.block(block), Command::Subshell),
            Command::Group(block) => bracketed(self.block(block), Command::Group),
            Command::Time(inner) => self.command(*inner),
            Command::If(mut it) => {
                for (condition, body) in &mut it.branches {
                    *body = self.block(std::mem::take(body));
                    condition.iter_mut().for_each(|statement| self.within(&mut statement.command));
                }
                it.otherwise = it.otherwise.map(|body| self.block(body));
                Some(Command::If(it))
            }
            Command::For(mut it) => {
                it.body = self.block(it.body);
                Some(Command::For(it))
            }
            Command::CStyleFor(mut it) => {
                it.body = self.block(it.body);
                Some(Command::CStyleFor(it))
            }
            Command::While(mut it) => {
                it.body = self.block(it.body);
                Some(Command::While(it))
            }
            Command::Redirected(mut it) => {
                it.redirects.retain(matters);
                let inner = self.command(*it.command)?;
                if it.redirects.is_empty() {
                    return Some(inner);
                }
                it.command = Box::new(inner);
                Some(Command::Redirected(it))
            }
            other @ (Command::Case(_)
            | Command::Select(_)
            | Command::Function(_)
            | Command::Test(_)
            | Command::Arithmetic(_)
            | Command::Coprocess(_)
            | Command::Opaque(_)) => Some(other),
        }
    }

    /// A command whose status or output something else rests on: it stays, without what stands around it.
    fn within(&self, command: &mut Command) {
        if let Some(left) = self.command(command.clone()) {
            *command = left;
        }
    }

    fn simple(&self, mut simple: Simple) -> Option<Command> {
        simple.redirects.retain(matters);
        simple.words.iter_mut().for_each(plain);
        simple.assignments.retain(|assignment| self.is_read(assignment));
        if simple.words.is_empty() {
            let is_empty = simple.assignments.is_empty() && simple.redirects.is_empty();
            return (!is_empty).then_some(Command::Simple(simple));
        }
        if simple.redirects.is_empty() && simple.assignments.is_empty() && self.says_nothing(&simple) {
            return None;
        }
        self.unwrapped(simple)
    }

    /// Whether all that a call does is print what stands in it, or assign what nothing reads.
    fn says_nothing(&self, simple: &Simple) -> bool {
        let Some(name) = simple.written_name() else { return false };
        let operands = simple.words.get(1..).unwrap_or_default();
        match name {
            "echo" | ":" | "true" | "date" | "clear" => operands.iter().all(runs_nothing),
            "printf" => operands.iter().all(|word| runs_nothing(word) && text(word) != Some("-v")),
            "export" | "declare" | "typeset" => {
                let assigned = |word: &Word| match word.parts.first() {
                    Some(Part::Literal(text) | Part::Quoted(text)) => {
                        text.split_once('=').is_some_and(|(name, _)| !self.reads(name)) && runs_nothing(word)
                    }
                    _ => false,
                };
                !operands.is_empty() && simple.declared_arrays.is_empty() && operands.iter().all(assigned)
            }
            _ => false,
        }
    }

    /// A call without the wrappers around it.
    fn unwrapped(&self, mut simple: Simple) -> Option<Command> {
        while let Some(count) = wrapping(&simple.words) {
            simple.words.drain(..count);
        }
        if let [program, option, script] = simple.words.as_slice()
            && simple.redirects.is_empty()
            && matches!(text(program), Some("bash" | "sh" | "dash" | "zsh"))
            && matches!(text(option), Some("-c" | "-lc" | "-ec" | "-ic"))
            && let Some(script) = text(script)
            && let Some(block) = read(script, self.depth + 1)
        {
            return bracketed(block, Command::Group);
        }
        without_order(&mut simple.words);
        if let [program, _] = simple.words.as_mut_slice()
            && text(program) == Some("sleep")
        {
            // How long one waits makes it nothing else.
            simple.words.truncate(1);
        }
        Some(Command::Simple(simple))
    }

    fn pipeline(&self, mut pipeline: Pipeline) -> Option<Command> {
        let mut last = pipeline.stages.len();
        while last > 1 && pipeline.stages.get(last - 1).is_some_and(|stage| views(&stage.command)) {
            last -= 1;
        }
        pipeline.stages.truncate(last);
        if let (1, false) = (last, pipeline.negated) {
            return self.command(pipeline.stages.pop()?.command);
        }
        // What is printed into a pipe is read by the next one.
        pipeline.stages.iter_mut().for_each(|stage| self.within(&mut stage.command));
        Some(Command::Pipeline(pipeline))
    }

    fn and_or(&self, and_or: AndOr) -> Option<Command> {
        let mut parts = Vec::new();
        let first = std::iter::once((Connective::And, *and_or.first));
        for (connective, command) in first.chain(and_or.rest) {
            if let Some(command) = self.command(command) {
                parts.push((connective, command));
            }
        }
        let mut parts = parts.into_iter();
        let (_, first) = parts.next()?;
        let rest: Vec<(Connective, Command)> = parts.collect();
        Some(if rest.is_empty() { first } else { Command::AndOr(AndOr { first: Box::new(first), rest }) })
    }

    /// Whether something reads what is assigned, or assigning it runs something.
    fn is_read(&self, assignment: &Assignment) -> bool {
        let is_constant = match &assignment.value {
            AssignedValue::Scalar(word) => runs_nothing(word),
            AssignedValue::Array(elements) => elements.iter().all(|(_, word)| runs_nothing(word)),
        };
        !is_constant || assignment.index.is_some() || self.reads(&assignment.name)
    }

    /// Whether a name stands in the text other than before an assignment.
    fn reads(&self, name: &str) -> bool {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        !name.is_empty()
            && self.written.match_indices(name).any(|(at, _)| {
                let before = self.written.get(..at).and_then(|text| text.chars().next_back());
                let behind = self.written.get(at + name.len()..).unwrap_or_default();
                !(before.is_some_and(is_part)
                    || behind.starts_with(is_part)
                    || behind.starts_with('=')
                    || behind.starts_with("+="))
            })
    }
}

/// Brackets around what is left: none around one command, nothing where nothing is.
fn bracketed(mut block: Block, brackets: fn(Block) -> Command) -> Option<Command> {
    match block.as_slice() {
        [] => None,
        [ShellStatement { launch: Launch::Foreground, .. }] => block.pop().map(|statement| statement.command),
        _ => Some(brackets(block)),
    }
}

/// Options that say by which number a run of tests shuffles them: pytest-randomly, pytest-random-order, Jest, Vitest, RSpec, PHPUnit, Go,
/// Cargo, Minitest.
const ORDER: &[&str] = &[
    "--seed",
    "--random-seed",
    "--random-order-seed",
    "--randomly-seed",
    "--sequence.seed",
    "--shuffle-seed",
    "--test-seed",
    "-shuffle",
];

/// Takes the number away by which a run of tests shuffles them: which of them are run is the same.
fn without_order(words: &mut Vec<Word>) {
    const TESTING: &[&str] = &[
        "pytest", "py.test", "jest", "vitest", "mocha", "rspec", "phpunit", "minitest", "ctest", "nox", "tox",
    ];
    let is_testing = |word: &Word| {
        text(word).is_some_and(|text| {
            let name = text.rsplit('/').next().unwrap_or_default();
            TESTING.contains(&name)
                || name.split([':', '-', '_', '.']).any(|part| matches!(part, "test" | "tests"))
        })
    };
    // Only what runs is looked at: `./simulate --seed 3` asks for something else with each number.
    if !words.iter().take_while(|word| text(word) != Some("--")).any(is_testing) {
        return;
    }
    let mut is_number = false;
    words.retain(|word| {
        let Some(text) = text(word) else {
            is_number = false;
            return true;
        };
        let was_option = std::mem::take(&mut is_number);
        match text.split_once('=') {
            Some((name, _)) => !ORDER.contains(&name),
            None if ORDER.contains(&text) => {
                is_number = true;
                false
            }
            None => !(was_option && text.bytes().all(|byte| byte.is_ascii_digit())),
        }
    });
}

/// How many words at the beginning only start what follows them.
fn wrapping(words: &[Word]) -> Option<usize> {
    let at = |index: usize| words.get(index).and_then(text);
    let count = match at(0)? {
        "command" | "nohup" | "exec" | "builtin" if !at(1)?.starts_with('-') => 1,
        "env" => 1 + words.iter().skip(1).take_while(|word| text(word).is_some_and(is_assignment)).count(),
        "nice" if at(1) == Some("-n") => 3,
        "timeout" | "gtimeout" => {
            let options = words.iter().skip(1).take_while(|word| {
                text(word).is_some_and(|text| text.starts_with('-') && text != "-k" && text != "-s")
            });
            2 + options.count()
        }
        _ => return None,
    };
    // Behind it stands a program, not an option of the wrapper.
    at(count).filter(|text| !text.starts_with('-')).map(|_| count)
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// Whether a stage at the end of a pipe only shows, all of it or a part, what comes to it.
fn views(command: &Command) -> bool {
    let Command::Simple(simple) = command else { return false };
    if !simple.assignments.is_empty() || simple.redirects.iter().any(matters) {
        return false;
    }
    let shows = matches!(simple.written_name(), Some("head" | "tail" | "cat" | "less" | "more" | "nl"));
    let option = |word: &Word| {
        text(word).is_some_and(|text| {
            text.starts_with(['-', '+']) || text.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    shows && simple.words.iter().skip(1).all(option)
}

/// Whether a redirection reaches a file or brings in text.
fn matters(redirect: &Redirect) -> bool {
    match &redirect.operation {
        RedirectOperation::Duplicate(_) => false,
        RedirectOperation::Write(word)
        | RedirectOperation::Clobber(word)
        | RedirectOperation::Append(word)
        | RedirectOperation::WriteAll(word)
        | RedirectOperation::AppendAll(word)
        | RedirectOperation::Read(word)
        | RedirectOperation::ReadWrite(word) => text(word) != Some("/dev/null"),
        RedirectOperation::HereString(_) | RedirectOperation::HereDocument(_) => true,
    }
}

/// The text of a word that is written out in one piece.
fn text(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Literal(text) | Part::Quoted(text)] => Some(text),
        _ => None,
    }
}

/// Whether expanding a word runs no command.
fn runs_nothing(word: &Word) -> bool {
    fn quiet(part: &Part) -> bool {
        match part {
            Part::Literal(_) | Part::Quoted(_) | Part::Bytes(_) => true,
            Part::DoubleQuoted(parts) => parts.iter().all(quiet),
            // `${x:=...}` and words of further substitutions are rare, and left as they are.
            Part::Parameter(parameter) => {
                matches!(parameter.operation, crate::tree::ParameterOperation::Plain)
                    && parameter.index.is_none()
            }
            Part::Arithmetic(expression) => expression.substitutions.is_empty(),
            Part::Braces(braces) => braces.hidden.iter().all(quiet),
            Part::CommandSubstitution(_) | Part::ProcessSubstitution(..) => false,
        }
    }
    word.parts.iter().all(quiet)
}

/// Makes one piece of a word whose quotes change nothing.
fn plain(word: &mut Word) {
    fn collected(parts: &[Part], text: &mut String) -> bool {
        parts.iter().all(|part| match part {
            Part::Literal(piece) if piece.contains(['*', '?', '[', '~', '(']) => false,
            Part::Literal(piece) | Part::Quoted(piece) => {
                text.push_str(piece);
                true
            }
            Part::DoubleQuoted(inner) => collected(inner, text),
            Part::Bytes(_)
            | Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(..)
            | Part::Arithmetic(_)
            | Part::Braces(_) => false,
        })
    }
    let mut text = String::new();
    if collected(&word.parts, &mut text) {
        word.parts = vec![Part::Quoted(text)];
    }
}

#[cfg(test)]
mod tests {
    use super::substance;

    #[test]
    fn what_is_written_around_a_command_makes_it_no_other() {
        for text in [
            "npm test # 7",
            "# once more\nnpm test",
            "echo 7; npm test",
            "echo \"run $N\" && npm test; echo \"status $?\"",
            "printf '%s\\n' 7; npm test",
            "N=7 npm test",
            "N=7; npm test",
            "export N=7; npm test",
            "env N=7 npm test",
            "npm test | tail -n 7",
            "npm test 2>&1 | tail -7 | cat",
            "npm test 2>/dev/null",
            "npm test || true",
            "true && npm test",
            "(npm test)",
            "{ npm test; echo 7; }",
            "time npm test",
            "timeout 7 npm test",
            "timeout --foreground 70 npm test",
            "nohup npm test",
            "nice -n 7 npm test",
            "bash -c 'npm test # 7'",
            "sh -c \"N=7 npm test\" 2>&1",
            "npm  'test'",
            "n\\pm te\"st\"",
            ": $((7 + 1)); date; npm test",
        ] {
            assert_eq!(substance(text), substance("npm test"), "{text}");
        }
        for (one, other) in [
            ("npm test -- --seed=1", "npm test -- --seed 2"),
            ("python3 -m pytest -x --randomly-seed=1", "python3 -m pytest -x --randomly-seed=2"),
            ("go test ./... -shuffle=1", "go test ./... -shuffle=2"),
            ("npx jest --seed 1 a", "npx jest --seed 2 a"),
            ("npm run test:unit -- --random-order-seed=1", "npm run test:unit -- --random-order-seed=2"),
        ] {
            assert_eq!(substance(one), substance(other), "{one} / {other}");
        }
        assert_eq!(substance("sleep 6; cargo test"), substance("sleep 9; cargo test"));
    }

    #[test]
    fn what_a_command_does_makes_it_another() {
        for (one, other) in [
            ("npm test", "npm test -- a"),
            ("npm test", "npm run test"),
            ("./simulate --seed=1", "./simulate --seed=2"),
            ("npm test -- --seed 1 a", "npm test -- --seed 1 b"),
            ("npm test -- --shard=1", "npm test -- --shard=2"),
            ("cd a; npm test", "cd b; npm test"),
            ("N=1; npm test $N", "N=2; npm test $N"),
            ("N=1; sh -c \"echo $N > f\"", "N=2; sh -c \"echo $N > f\""),
            ("N=1; ((N > 1)) && ./run", "N=2; ((N > 1)) && ./run"),
            ("echo a > f", "echo b > f"),
            ("echo a | python3", "echo b | python3"),
            ("python3 <<< 1", "python3 <<< 2"),
            ("python3 <<E\n1\nE", "python3 <<E\n2\nE"),
            ("head -n 5 log", "head -n 9 log"),
            ("cat log | grep a", "cat log | grep b"),
            ("echo $(./a)", "echo $(./b)"),
            ("A=$(./a) ./run", "A=$(./b) ./run"),
            ("./a > out1", "./a > out2"),
            ("! ./a", "./a"),
            ("rm *", "rm '*'"),
            ("./a && ./b", "./a || ./b"),
            ("./a &", "./a"),
            ("bash -c ./a", "bash -c ./b"),
            ("echo a", "echo b"),
            ("N=1", "N=2"),
            ("timeout 5 ./a", "timeout 5 ./b"),
            ("npm test | tail -n 5 other", "npm test"),
        ] {
            assert_ne!(substance(one), substance(other), "{one} / {other}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_its_own() {
        assert_eq!(substance("if then ("), "if then (");
        let long = "a ".repeat(10_000);
        assert_eq!(substance(&long), long);
    }
}
