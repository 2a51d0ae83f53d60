//! Branches: `&&` and `||`, `if`, `case`.

use std::cell::Cell;

use checkrein_shell::{AndOr, Arm, ArmEnd, Case, Command, Connective, If};

use super::assumptions::{Answer, commands_of, is_written_empty};
use super::exit::{Exit, Output, Status};
use super::guarded::stands_for_process;
use super::machine::{Absence, Machine};
use super::pattern::{Letters, Pattern, depends_on_language};
use super::statements::{Done, Flow};
use super::value::Value;
use super::ways::{Fallen, Leaving, told_beside};

impl Machine<'_> {
    pub(super) fn run_and_or(&mut self, list: &AndOr) -> Done {
        let rest = list.rest.len();
        self.position.conditions += usize::from(rest > 0);
        let mut done = self.run_command(&list.first);
        self.position.conditions -= usize::from(rest > 0);
        // The states in which a command in front of `&&` failed although it was expected to do its work.
        let mut fallen: Vec<Fallen> = Vec::new();
        for (index, (connective, command)) in list.rest.iter().enumerate() {
            if done.flow != Flow::Next {
                break;
            }
            self.remember_status(done.status);
            if *connective == Connective::Or {
                if !fallen.is_empty() {
                    // Which of the commands failed is not known, so neither is how far the shell went.
                    self.perhaps_go_back();
                }
                self.join_fallen(&mut fallen);
            }
            let ends = index + 1 == rest;
            let mut before = std::mem::replace(&mut done.output, Output::Nothing);
            let answered = answered(list, index);
            let has_left = Cell::new(false);
            let run = |machine: &mut Self| {
                machine.assume_all(&answered);
                machine.position.conditions += usize::from(!ends);
                let done = machine.run_command(command);
                machine.position.conditions -= usize::from(!ends);
                has_left.set(done.flow != Flow::Next);
                done
            };
            let absent = self.absent.take();
            let came_from = self.came_from.take();
            done = match (connective, done.status) {
                (Connective::And, Status::Failure) | (Connective::Or, Status::Success) => {
                    if let Some(absence) = absent {
                        let told = self.suppose(absence.clone(), run);
                        before = told_beside(told, before);
                        // What follows in the list rests on it too.
                        self.absent = Some(absence);
                    }
                    done
                }
                (Connective::And, Status::Success) | (Connective::Or, Status::Failure) => {
                    let done = self.presumed(absent.clone(), run, |_| Done::quiet());
                    self.absent = self.absent.take().or(absent);
                    done
                }
                (Connective::And, Status::Unknown) => {
                    let otherwise = Fallen::of(self).back_in(came_from);
                    let mut done = run(self);
                    if done.flow == Flow::Next {
                        fallen.push(otherwise);
                        done.status = Status::Unknown.and_then(done.status);
                        done
                    } else {
                        // The way that leaves is as likely as the other.
                        let gone = done.flow;
                        let (shell, tree) = otherwise.put_back(self);
                        self.leave(gone, shell, tree, Leaving::Doubts);
                        Done { flow: Flow::Next, status: Status::Open, output: done.output }
                    }
                }
                (Connective::And, Status::Open) => {
                    self.either(Leaving::Doubts, run, |_| Done::next(Exit::failure()))
                }
                (Connective::Or, Status::Unknown) => {
                    let run = |machine: &mut Self| {
                        machine.go_back(came_from);
                        run(machine)
                    };
                    self.either(Leaving::Unexpected, run, |_| Done::next(Exit::silent()))
                }
                (Connective::Or, Status::Open) => self.either(Leaving::Doubts, run, |_| Done::quiet()),
            };
            if let (true, Flow::Next, [(condition, answer)]) =
                (has_left.get(), done.flow, answered.as_slice())
            {
                // On the way that goes on it was the other way round.
                self.assume(condition, answer.turned());
            }
            done.output = before.followed_by(std::mem::replace(&mut done.output, Output::Nothing));
        }
        if done.flow == Flow::Next {
            self.join_fallen(&mut fallen);
        } else if let Some(Fallen { .. }) = fallen.first() {
            // Where an earlier command of the list failed, nothing has left.
            let gone = done.flow;
            let mut fallen = fallen.into_iter();
            if let Some(first) = fallen.next() {
                let (shell, tree) = first.put_back(self);
                self.leave(gone, shell, tree, Leaving::Doubts);
            }
            self.join_fallen(&mut fallen.collect());
            done = Done { flow: Flow::Next, status: Status::Open, output: done.output };
        }
        done
    }

    pub(super) fn run_if(&mut self, choice: &If, index: usize) -> Done {
        let Some((condition, body)) = choice.branches.get(index) else {
            return choice.otherwise.as_ref().map_or_else(Done::quiet, |block| self.run_block(block));
        };
        let asked = self.run_condition(condition);
        if asked.flow != Flow::Next {
            return asked;
        }
        let absent = self.absent.take();
        let came_from = self.came_from.take();
        let (met_left, not_met_left) = (Cell::new(false), Cell::new(false));
        let met = |machine: &mut Self| {
            machine.assume_condition(condition, Answer::Met, &[]);
            let done = machine.run_block(body);
            met_left.set(done.flow != Flow::Next);
            done
        };
        let not_met = |machine: &mut Self| {
            machine.assume_condition(condition, Answer::NotMet, &[]);
            let done = machine.run_if(choice, index + 1);
            not_met_left.set(done.flow != Flow::Next);
            done
        };
        let mut done = match asked.status {
            Status::Success => {
                self.came_from = came_from;
                self.presumed(absent, met, not_met)
            }
            Status::Failure => {
                self.came_from = came_from;
                self.presumed(absent, not_met, met)
            }
            Status::Unknown | Status::Open => self.either(Leaving::Doubts, met, |machine| {
                machine.go_back(came_from);
                not_met(machine)
            }),
        };
        if done.flow == Flow::Next {
            let others = choice.branches.get(index + 1..).unwrap_or_default();
            let others = others.iter().flat_map(|(asked, body)| [asked, body]).chain(&choice.otherwise);
            match (met_left.get(), not_met_left.get()) {
                (true, false) => self.assume_condition(condition, Answer::NotMet, &commands_of(others)),
                (false, true) => self.assume_condition(condition, Answer::Met, &commands_of([body])),
                (true, true) | (false, false) => {}
            }
        }
        done.output = asked.output.followed_by(done.output);
        done
    }

    /// Runs a `case` with what its subject is, or may be.
    pub(super) fn run_case_of(&mut self, case: &Case) -> Done {
        let before = self.unseen;
        let subject = self.expand_text(&case.subject);
        // What the variable holds there is not known.
        let absence = (self.unseen > before).then_some(Absence::Variable);
        if std::mem::replace(&mut self.call.failed, false) {
            if let Some(absence) = absence {
                self.suppose(absence, |machine| machine.run_case(case, 0, &Value::Unknown));
            }
            self.call.failed = true;
            return Done::next(Exit::failure());
        }
        let has_left = Cell::new(false);
        let done = self.presumed(
            absence,
            |machine| {
                let done = machine.run_case(case, 0, &subject);
                has_left.set(done.flow != Flow::Next);
                done
            },
            |machine| machine.run_case(case, 0, &Value::Unknown),
        );
        if has_left.get() && done.flow == Flow::Next {
            // The subject as it is known now would have left, so it is something else here.
            let fits = |arm: &&Arm| {
                arm.patterns.iter().any(|pattern| {
                    let text = subject.as_exact().filter(|text| text.is_empty());
                    text.is_some() && is_written_empty(pattern)
                })
            };
            if let Some(arm) = case.arms.iter().find(fits) {
                let bodies = case.arms.iter().map(|arm| &arm.body);
                self.assume_fits(&case.subject, &arm.patterns, Answer::NotMet, &commands_of(bodies));
            }
        }
        done
    }

    fn run_case(&mut self, case: &Case, index: usize, subject: &Value) -> Done {
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
            None => {
                let has_left = Cell::new(false);
                let done = self.either(
                    Leaving::Doubts,
                    |machine| {
                        machine.assume_fits(&case.subject, &arm.patterns, Answer::Met, &[]);
                        let done = machine.run_arm(case, index, arm, subject);
                        has_left.set(done.flow != Flow::Next);
                        done
                    },
                    |machine| {
                        machine.assume_fits(&case.subject, &arm.patterns, Answer::NotMet, &[]);
                        machine.run_case(case, index + 1, subject)
                    },
                );
                if has_left.get() && done.flow == Flow::Next {
                    let others = case.arms.get(index + 1..).unwrap_or_default();
                    let bodies = others.iter().map(|arm| &arm.body);
                    self.assume_fits(&case.subject, &arm.patterns, Answer::NotMet, &commands_of(bodies));
                }
                done
            }
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

/// The commands of a list on whose answers it rests that the one behind this connective runs, as far as that is certain.
fn answered(list: &AndOr, index: usize) -> Vec<(&Command, Answer)> {
    let command = |place: usize| match place.checked_sub(1) {
        None => Some(&*list.first),
        Some(place) => list.rest.get(place).map(|(_, command)| command),
    };
    let connective = |place: usize| list.rest.get(place).map(|(connective, _)| *connective);
    match connective(index) {
        Some(Connective::And) => {
            let joined = (0..=index).rev().take_while(|place| connective(*place) == Some(Connective::And));
            // Of `a || b && c` it is not known whether `b` ran.
            let from = joined.last().unwrap_or(index);
            let is_sure = |place: usize| place > from || from == 0;
            (from..=index)
                .filter(|place| is_sure(*place))
                .filter_map(|place| Some((command(place)?, Answer::Met)))
                .collect()
        }
        Some(Connective::Or) if index == 0 || connective(index - 1) == Some(Connective::Or) => {
            command(index).map(|command| (command, Answer::NotMet)).into_iter().collect()
        }
        Some(Connective::Or) | None => Vec::new(),
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
