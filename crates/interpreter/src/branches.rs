//! Branches: `if`, `case`.

use checkrein_shell::{Arm, ArmEnd, Case, If};

use super::exit::Status;
use super::guarded::stands_for_process;
use super::machine::Machine;
use super::pattern::{Letters, Pattern, depends_on_language};
use super::statements::{Done, Flow};
use super::value::Value;
use super::ways::Leaving;

impl Machine<'_> {
    pub(super) fn run_if(&mut self, choice: &If, index: usize) -> Done {
        let Some((condition, body)) = choice.branches.get(index) else {
            return choice.otherwise.as_ref().map_or_else(Done::quiet, |block| self.run_block(block));
        };
        let asked = self.run_condition(condition);
        if asked.flow != Flow::Next {
            return asked;
        }
        let absent = self.absent.take();
        let mut done = match asked.status {
            Status::Success => self.presumed(
                absent,
                |machine| machine.run_block(body),
                |machine| machine.run_if(choice, index + 1),
            ),
            Status::Failure => self.presumed(
                absent,
                |machine| machine.run_if(choice, index + 1),
                |machine| machine.run_block(body),
            ),
            Status::Unknown | Status::Open => {
                let came_from = self.came_from.take();
                self.either(
                    Leaving::Doubts,
                    |machine| machine.run_block(body),
                    |machine| {
                        machine.go_back(came_from);
                        machine.run_if(choice, index + 1)
                    },
                )
            }
        };
        done.output = asked.output.followed_by(done.output);
        done
    }

    pub(super) fn run_case(&mut self, case: &Case, index: usize, subject: &Value) -> Done {
        let Some(arm) = case.arms.get(index) else { return Done::quiet() };
        let mut fits = Some(false);
        for pattern in &arm.patterns {
            let unseen = self.unseen;
            let text = self.expand_pattern(pattern);
            if std::mem::replace(&mut self.call.failed, false) {
                // An error in a pattern ends all of the command, unless it rests on what is not seen.
                let left = self.failed_expansion(self.unseen > unseen);
                if left.flow != Flow::Next {
                    return left;
                }
            }
            let answer = match text {
                Some(_) if self.shell.options.perhaps_nocasematch => None,
                Some(text) => matches_value(&text, subject, self.letters()),
                None => None,
            };
            match answer {
                Some(true) => {
                    fits = Some(true);
                    break;
                }
                Some(false) => {}
                None => fits = None,
            }
        }
        match fits {
            Some(true) => self.run_arm(case, index, arm, subject),
            Some(false) => self.run_case(case, index + 1, subject),
            None => self.either(
                Leaving::Doubts,
                |machine| machine.run_arm(case, index, arm, subject),
                |machine| machine.run_case(case, index + 1, subject),
            ),
        }
    }

    fn run_arm(&mut self, case: &Case, index: usize, arm: &Arm, subject: &Value) -> Done {
        let done = self.run_block(&arm.body);
        if done.flow != Flow::Next {
            return done;
        }
        let more = match arm.end {
            ArmEnd::Break => return done,
            ArmEnd::FallThrough => match case.arms.get(index + 1) {
                Some(next) => self.run_arm(case, index + 1, next, subject),
                None => return done,
            },
            ArmEnd::TryNext => self.run_case(case, index + 1, subject),
        };
        Done { output: done.output.followed_by(more.output), ..more }
    }
}

/// Whether a value matches a pattern; `None` when that is not known.
pub(super) fn matches_value(pattern: &str, value: &Value, letters: Letters) -> Option<bool> {
    if pattern == "*" {
        return Some(true);
    }
    let texts = value.alternatives()?;
    if texts.iter().any(|text| depends_on_language(pattern, text) || stands_for_process(text)) {
        return None;
    }
    let compiled = Pattern::new(pattern);
    let mut answers = texts.iter().map(|text| compiled.matches(text, letters));
    let first = answers.next()??;
    answers.all(|answer| answer == Some(first)).then_some(first)
}
