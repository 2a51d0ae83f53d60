//! Which call of a shell runs tests and nothing else that prints, so that what it prints is their result.

use checkrein_gates::{TestSelection, runs_tests};
use checkrein_shell::{
    AssignedValue, Command, Launch, Part, PipelineStage, Redirect, RedirectOperation, Simple, Word, parse,
};

/// Commands that print nothing and change nothing about where programs are found.
const QUIET: [&str; 8] = [":", "cd", "export", "mkdir", "set", "true", "ulimit", "unset"];
/// Programs that pass on what they get to its end.
const PASSING: [&str; 3] = ["cat", "tail", "tee"];
/// Programs that run another one, with how many words stand before that beside options.
const WRAPPERS: [(&str, usize); 6] =
    [("command", 0), ("env", 0), ("nice", 0), ("stdbuf", 0), ("time", 0), ("timeout", 1)];
/// Variables that say where programs, or the libraries in them, are found.
const SEARCHED: [&str; 5] = ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV"];

/// What the runners of a command select; `None` where it does not only run tests: another command prints, a runner is a file that `is_own`
/// to the work, the search path is another, or parts of it are not known.
pub(super) fn runner_call(command: &str, is_own: impl Fn(&str) -> bool) -> Option<Vec<TestSelection>> {
    let parsed = parse(command);
    if !parsed.problems.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    let mut call = Call { is_own: &is_own, found: &mut found };
    for statement in &parsed.script {
        if statement.launch == Launch::Background {
            return None;
        }
        call.command(&statement.command)?;
    }
    (!found.is_empty()).then_some(found)
}

struct Call<'a> {
    is_own: &'a dyn Fn(&str) -> bool,
    found: &'a mut Vec<TestSelection>,
}

impl Call<'_> {
    /// Takes up a command; `None` where the whole is no call of runners alone.
    fn command(&mut self, command: &Command) -> Option<()> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Pipeline(pipeline) => {
                let (first, rest) = pipeline.stages.split_first()?;
                self.command(&first.command)?;
                rest.iter().all(passes_on).then_some(())
            }
            Command::AndOr(list) => {
                self.command(&list.first)?;
                list.rest.iter().try_for_each(|(_, command)| self.command(command))
            }
            Command::Subshell(block) | Command::Group(block) => block.iter().try_for_each(|statement| {
                (statement.launch == Launch::Foreground).then_some(())?;
                self.command(&statement.command)
            }),
            Command::Time(command) => self.command(command),
            Command::Redirected(redirected) => {
                redirected.redirects.iter().all(is_harmless).then_some(())?;
                self.command(&redirected.command)
            }
            Command::If(_)
            | Command::For(_)
            | Command::CStyleFor(_)
            | Command::While(_)
            | Command::Case(_)
            | Command::Select(_)
            | Command::Function(_)
            | Command::Test(_)
            | Command::Arithmetic(_)
            | Command::Coprocess(_)
            | Command::Opaque(_) => None,
        }
    }

    fn simple(&mut self, simple: &Simple) -> Option<()> {
        let sets_path = simple.assignments.iter().any(|one| {
            SEARCHED.contains(&one.name.as_str())
                || match &one.value {
                    AssignedValue::Scalar(word) => text(word).is_none(),
                    AssignedValue::Array(_) => true,
                }
        });
        let is_plain = simple.declared_arrays.is_empty() && simple.redirects.iter().all(is_harmless);
        if sets_path || !is_plain {
            return None;
        }
        let words: Vec<String> = simple.words.iter().map(text).collect::<Option<_>>()?;
        if words.iter().any(|word| SEARCHED.iter().any(|name| word.split('=').next() == Some(name))) {
            return None;
        }
        let words = unwrapped(&words);
        let Some((program, rest)) = words.split_first() else { return Some(()) };
        if QUIET.contains(&program.as_str()) {
            return Some(());
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        let is_runner = runs_tests(&[name.to_owned()], &words.join(" "));
        if !is_runner || program.contains('/') && (self.is_own)(program) {
            return None;
        }
        self.found.push(TestSelection::of(name, rest));
        Some(())
    }
}

/// The words of a command without the programs that only start it.
fn unwrapped(words: &[String]) -> &[String] {
    let Some((first, rest)) = words.split_first() else { return words };
    let Some((_, operands)) = WRAPPERS.iter().find(|(name, _)| name == first) else { return words };
    let mut left = *operands;
    let mut before = 0;
    for word in rest {
        let is_operand = !word.starts_with('-') && !word.contains('=');
        if is_operand && left == 0 {
            break;
        }
        left -= usize::from(is_operand);
        before += 1;
    }
    unwrapped(rest.get(before..).unwrap_or_default())
}

fn passes_on(stage: &PipelineStage) -> bool {
    let Command::Simple(simple) = &stage.command else { return false };
    let Some(words) = simple.words.iter().map(text).collect::<Option<Vec<_>>>() else { return false };
    let Some((program, rest)) = words.split_first() else { return false };
    let is_tee = program == "tee";
    let is_number = |word: &String| word.chars().all(|letter| letter.is_ascii_digit());
    simple.assignments.is_empty()
        && simple.redirects.iter().all(is_harmless)
        && PASSING.contains(&program.as_str())
        && (is_tee || rest.iter().all(|word| word.starts_with('-') || is_number(word)))
}

/// Whether a redirection puts nothing else in place of the output.
fn is_harmless(redirect: &Redirect) -> bool {
    match &redirect.operation {
        RedirectOperation::Duplicate(_) => true,
        RedirectOperation::Read(word) | RedirectOperation::Write(word) => {
            text(word).is_some_and(|path| path == "/dev/null")
        }
        RedirectOperation::Clobber(_)
        | RedirectOperation::Append(_)
        | RedirectOperation::ReadWrite(_)
        | RedirectOperation::WriteAll(_)
        | RedirectOperation::AppendAll(_)
        | RedirectOperation::HereString(_)
        | RedirectOperation::HereDocument(_) => false,
    }
}

/// A word that is written out; `None` where something is expanded in it.
fn text(word: &Word) -> Option<String> {
    fn of(parts: &[Part]) -> Option<String> {
        parts
            .iter()
            .map(|part| match part {
                Part::Literal(text) | Part::Quoted(text) => Some(text.clone()),
                Part::DoubleQuoted(inner) => of(inner),
                Part::Bytes(_)
                | Part::Parameter(_)
                | Part::CommandSubstitution(_)
                | Part::ProcessSubstitution(..)
                | Part::Arithmetic(_)
                | Part::Braces(_) => None,
            })
            .collect()
    }
    of(&word.parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_counts_where_only_the_runner_prints() {
        let own = |path: &str| path.starts_with("./") || path.starts_with("fake/");
        for command in [
            "pytest -q",
            "cd src && pytest -q t/test_a.py 2>&1 | tail -20",
            "PYTHONPATH=src timeout 60 python3 -m pytest -q",
            "env CI=1 cargo test --workspace",
            "time npm test",
            "(cd a; go test ./...)",
            "/usr/bin/pytest",
            "pytest a; pytest b",
            "cargo test 2>&1 | tee out.log",
        ] {
            assert!(runner_call(command, own).is_some(), "{command}");
        }
        for command in [
            "pytest -q --version; cat old.log",
            "pytest -q && echo '5 passed'",
            "./pytest -q",
            "fake/pytest -q",
            "PATH=./fake:$PATH pytest -q",
            "export PATH=./fake; pytest",
            "env PATH=fake pytest",
            "source env/bin/activate; pytest",
            "alias pytest=echo; pytest",
            "pytest() { echo 5 passed; }; pytest",
            "pytest | sed s/failed/passed/",
            "pytest | grep passed",
            "pytest | tail old.log",
            "pytest > /dev/stderr < x",
            "pytest $(cat old.log)",
            "echo 5 passed",
            "pytest & cat old.log",
            "if true; then pytest; fi",
            "",
        ] {
            assert!(runner_call(command, own).is_none(), "{command}");
        }
    }
}
