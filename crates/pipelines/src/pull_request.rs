//! The text of a pull request, and where its branch may go.

use std::fmt::Write as _;

use crate::file::{PipelineFile, StepAct, StepSpecification};
use crate::state::{PipelineState, StepState};

/// The longest title, in letters (ours): forges cut longer ones.
const TITLE: usize = 120;

/// A pull request, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestText {
    /// Its title.
    pub title: String,
    /// What stands below it, with how it was made.
    pub body: String,
}

/// Where an address of a remote leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemotePlace {
    /// To a repository on this machine.
    Directory,
    /// To a server.
    Server,
    /// Somewhere that is not followed: a helper of git that would run a program, or no address.
    Unknown,
}

impl RemotePlace {
    /// By an address, as git takes it ("GIT URLS" of `git push`).
    pub fn of(address: &str) -> Self {
        let schemes = ["https://", "http://", "ssh://", "git+ssh://"];
        let begins = |words: &[&str]| words.iter().any(|word| address.starts_with(word));
        if address.is_empty() || address.contains("::") || address.starts_with('-') {
            Self::Unknown
        } else if begins(&["/", "./", "../", "file://"]) {
            Self::Directory
        } else if begins(&schemes) {
            Self::Server
        } else if address.contains("://") {
            Self::Unknown
        } else {
            // `host:path`, with no slash before the colon; anything else is a path.
            match address.split_once(':') {
                Some((host, path)) if !host.contains('/') && !host.is_empty() && !path.is_empty() => {
                    Self::Server
                }
                Some(_) => Self::Unknown,
                None => Self::Directory,
            }
        }
    }
}

/// What is written of a pull request: the title and the text that an agent wrote, and what the run knows of how it was made. The words of
/// reviewers and tools stay behind: they were not written for those who read it.
///
/// # Errors
///
/// There is no title; in words.
pub fn pull_request_text(
    written: &str,
    pipeline: &PipelineFile,
    state: &PipelineState,
) -> Result<PullRequestText, String> {
    let mut lines = written.lines().skip_while(|line| line.trim().is_empty());
    let title = lines.next().unwrap_or_default().trim_start_matches('#').trim();
    if title.is_empty() {
        return Err("it has no title on its first line".to_owned());
    }
    let rest = lines.collect::<Vec<_>>().join("\n");
    let mut body = rest.trim().to_owned();
    let _ = write!(
        body,
        "\n\n## How this was made\n\nBy the pipeline `{}`, run `{}`. Each step with its outcome, how often it ran, and who reviewed:\n\n\
         | step | is | outcome | ran | verdicts |\n|---|---|---|---|---|\n",
        state.pipeline, state.id
    );
    for (step, known) in pipeline.steps.iter().zip(&state.steps) {
        if matches!(step.act, StepAct::PullRequest(_)) {
            continue;
        }
        // Writing to a text cannot fail.
        let _ = writeln!(
            body,
            "| {} | {} | {} | {} | {} |",
            step.name,
            kind(step),
            known.outcome.name().replace('_', " "),
            known.attempts.len(),
            verdicts(known)
        );
    }
    Ok(PullRequestText { title: title.chars().take(TITLE).collect(), body: body.trim_start().to_owned() })
}

fn kind(step: &StepSpecification) -> String {
    match &step.act {
        StepAct::Gate(gate) => format!("gate {}", gate.gate.name()),
        StepAct::Command(_)
        | StepAct::Agent(_)
        | StepAct::Review(_)
        | StepAct::Approve(_)
        | StepAct::PullRequest(_) => step.act.name().to_owned(),
    }
}

/// The verdicts on a step, with the models that gave them. A name of a model comes from outside, so that it is held to letters of names.
fn verdicts(step: &StepState) -> String {
    let given = step.reviews.iter().filter_map(|review| {
        let model: String =
            review.answered.as_deref()?.chars().filter(|letter| is_of_name(*letter)).collect();
        Some(format!("{} by {model}", review.verdict.as_deref()?))
    });
    given.collect::<Vec<_>>().join(", ")
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_.:/".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_a_directory_a_server_or_nowhere() {
        for (address, place) in [
            ("/srv/git/a.git", RemotePlace::Directory),
            ("../a.git", RemotePlace::Directory),
            ("file:///srv/git/a.git", RemotePlace::Directory),
            ("a.git", RemotePlace::Directory),
            ("https://github.com/a/b.git", RemotePlace::Server),
            ("ssh://git@github.com/a/b.git", RemotePlace::Server),
            ("git@github.com:a/b.git", RemotePlace::Server),
            ("ext::sh -c touch% x", RemotePlace::Unknown),
            ("transport://x", RemotePlace::Unknown),
            ("--upload-pack=x", RemotePlace::Unknown),
            ("/a:b", RemotePlace::Directory),
            ("a/b:c", RemotePlace::Unknown),
            ("", RemotePlace::Unknown),
        ] {
            assert_eq!(RemotePlace::of(address), place, "{address}");
        }
    }
}
