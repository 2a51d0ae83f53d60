//! How a run goes, for a user who waits.

use std::env;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use checkrein_supervise::{Interaction, ProgressReport};

use super::super::OutputForm;
use super::report::answers;
use crate::terminal::{hide_passing, show_passing};

/// How often a user is told how it goes.
const TELLING: Duration = Duration::from_secs(1);

/// Tells a user how it goes, on one line that is written over.
pub(super) struct ProgressLine {
    tells: bool,
    last: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new(interaction: Interaction, output: OutputForm) -> Self {
        let alone = interaction == Interaction::Pipes && output == OutputForm::Text;
        Self { tells: alone && io::stderr().is_terminal() && env::var_os("TERM").is_some(), last: None }
    }

    pub(super) fn tell(&mut self, moment: &ProgressReport) {
        if !self.tells || self.last.is_some_and(|time| time.elapsed() < TELLING) {
            return;
        }
        self.last = Some(Instant::now());
        show_passing(&summary(moment));
    }

    pub(super) fn finish(&self) {
        if self.last.is_some() {
            hide_passing();
        }
    }
}

fn summary(moment: &ProgressReport) -> String {
    let progress = &moment.progress;
    let about = if progress.estimated.is_some() { "about " } else { "" };
    let cost = format!("{about}{:.2} dollars", progress.dollars());
    let usage = moment.usage.map(|usage| format!(" · {} processes, {}", usage.processes, usage.bytes()));
    let spent = if progress.tells_no_tokens && progress.untold().is_some() {
        "tokens and cost unknown".to_owned()
    } else {
        format!("{} tokens · {cost}", progress.tokens.counted())
    };
    format!(
        "{} s · {} · {spent}{}",
        moment.running.as_secs(),
        answers(progress.iterations),
        usage.unwrap_or_default()
    )
}
