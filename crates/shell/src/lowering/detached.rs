//! Redirections with a number that stand behind a compound command (`{ ...; } 3<<<word`), which the parser takes for a command of their own.

use crate::tree::{AndOr, Command, Pipeline, PipelineStage, Redirect, Redirected};

/// The redirections at the beginning of a command, when it begins with nothing else; an empty command stays in their place.
pub(super) fn take(command: &mut Command) -> Option<Vec<Redirect>> {
    match command {
        Command::Simple(simple) => {
            let is_detached =
                simple.words.is_empty() && simple.assignments.is_empty() && simple.declared_arrays.is_empty();
            (is_detached && !simple.redirects.is_empty()).then(|| std::mem::take(&mut simple.redirects))
        }
        Command::Pipeline(pipeline) => take(&mut pipeline.stages.first_mut()?.command),
        Command::AndOr(list) => take(&mut list.first),
        _ => None,
    }
}

/// Puts redirections behind the last part of a command, and behind that what follows the empty command at the beginning of `rest`.
pub(super) fn give(command: &mut Command, redirects: Vec<Redirect>, rest: Command) {
    let (head, links) = match rest {
        Command::AndOr(list) => (*list.first, list.rest),
        other => (other, Vec::new()),
    };
    match command {
        Command::AndOr(list) => {
            let end = list.rest.last_mut().map_or(&mut *list.first, |(_, command)| command);
            finish(end, redirects, head);
        }
        _ => finish(command, redirects, head),
    }
    if let Command::AndOr(list) = command {
        list.rest.extend(links);
    } else if !links.is_empty() {
        let first = Box::new(std::mem::replace(command, Command::Group(Vec::new())));
        *command = Command::AndOr(AndOr { first, rest: links });
    }
}

/// Puts redirections behind the end of a pipeline, and behind that the stages that follow the empty command of `head`.
fn finish(command: &mut Command, redirects: Vec<Redirect>, head: Command) {
    redirect_end(command, redirects);
    if let Command::Pipeline(pipeline) = head {
        pipe_into(command, pipeline.stages);
    }
}

/// Lets a command take the place of the first of the stages.
fn pipe_into(command: &mut Command, stages: Vec<PipelineStage>) {
    let mut stages = stages.into_iter();
    let Some(PipelineStage { carries, .. }) = stages.next() else { return };
    if let Command::Pipeline(pipeline) = command {
        if let Some(last) = pipeline.stages.last_mut() {
            last.carries = carries;
        }
        pipeline.stages.extend(stages);
    } else {
        let first = std::mem::replace(command, Command::Group(Vec::new()));
        let all = std::iter::once(PipelineStage { command: first, carries }).chain(stages).collect();
        *command = Command::Pipeline(Pipeline { stages: all, negated: false });
    }
}

/// Puts redirections behind the command with which a command ends; of a definition that is its body, for which they are.
fn redirect_end(command: &mut Command, mut redirects: Vec<Redirect>) {
    match command {
        Command::Pipeline(pipeline) => {
            if let Some(last) = pipeline.stages.last_mut() {
                redirect_end(&mut last.command, redirects);
            }
        }
        Command::Time(inner) => redirect_end(inner, redirects),
        Command::Function(function) => redirect_end(&mut function.body, redirects),
        Command::Redirected(inner) => inner.redirects.append(&mut redirects),
        other => {
            let command = Box::new(std::mem::replace(other, Command::Group(Vec::new())));
            *other = Command::Redirected(Redirected { command, redirects });
        }
    }
}
