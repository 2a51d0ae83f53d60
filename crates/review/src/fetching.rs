//! Commands that fetch code and run it: what stands in front of the step that runs it.
//!
//! `git clone URL && cd NAME && make`, `curl -o FILE URL && sh FILE`: every step in front of the running one stays, so that what was fetched can be
//! looked at as it would have run, and the shell goes where it would. What runs of it is for a command of its own, which is read then.
//! Which step runs it is not guessed from names of programs: it is the first with which the review of the text finds that fetched code runs.

use checkrein_policy::Decision;
use checkrein_shell::{Command, Connective, Launch, RedirectOperation, ShellStatement, Simple, Word, parse};

use crate::verdict::{Review, Rewrite, RewriteConsent, Safety};

/// The rule by which code that comes from elsewhere is asked about.
pub(crate) const REMOTE_CODE: &str = "prevent_remote_code_execution";

/// The greatest number of steps of a text that is taken apart (ours).
const STEPS: usize = 64;

/// What stands between a step and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `&&` or `||`
    Connective(Connective),
    /// `;` or the end of a line.
    End,
}

/// A command of a text that runs one after the other.
#[derive(Debug)]
struct Step<'t> {
    /// The simple commands of it: more than one where they are joined by pipes.
    stages: Vec<&'t Simple>,
    /// What follows it.
    joint: Joint,
}

/// Proposes what stands in front of the step that runs what the others fetched. `judge` reviews a text in place of this one. `None` where the
/// steps are not all in sight, the first one runs it, the running step fetches it itself, or nothing came into a file.
pub(crate) fn propose(
    text: &str,
    script: &[ShellStatement],
    judge: &dyn Fn(&str) -> Review,
) -> Option<Rewrite> {
    let steps = steps(script)?;
    let mut kept = None;
    for count in 1..steps.len() {
        let front = part(text, &steps, 0, count)?;
        let judged = judge(&front);
        if runs_remote_code(&judged) {
            break;
        }
        kept = Some((front, count, judged));
    }
    let (command, running, judged) = kept?;
    // What fetches and runs in one step runs the same without those in front of it.
    if !fills_files(&judged) || runs_remote_code(&judge(&part(text, &steps, running, running + 1)?)) {
        return None;
    }
    Some(Rewrite {
        command,
        note: "what was fetched is not run unseen; look at what would run of it, then give the rest as a command of its own, which is read then"
            .to_owned(),
        consent: RewriteConsent::NotNeeded,
        safety: Safety::Changed,
    })
}

/// Whether code runs that comes from elsewhere.
fn runs_remote_code(review: &Review) -> bool {
    review.rules.iter().any(|finding| finding.rule == REMOTE_CODE && finding.decision >= Decision::Modify)
}

/// Whether something comes into a file, where it can be looked at.
fn fills_files(review: &Review) -> bool {
    review.side_effects.effects.iter().any(|effect| effect.kind.file_change().is_some())
}

/// The steps of a text that runs one after the other, each in full sight; `None` for any other text.
fn steps(script: &[ShellStatement]) -> Option<Vec<Step<'_>>> {
    let mut found = Vec::new();
    for statement in script {
        if statement.launch != Launch::Foreground {
            return None;
        }
        match &statement.command {
            Command::AndOr(list) => {
                let mut before = &*list.first;
                for (connective, command) in &list.rest {
                    found.push(Step { stages: stages(before)?, joint: Joint::Connective(*connective) });
                    before = command;
                }
                found.push(Step { stages: stages(before)?, joint: Joint::End });
            }
            other => found.push(Step { stages: stages(other)?, joint: Joint::End }),
        }
    }
    (found.len() <= STEPS).then_some(found)
}

/// The simple commands that make up a step.
fn stages(command: &Command) -> Option<Vec<&Simple>> {
    match command {
        Command::Simple(simple) => Some(vec![simple]),
        Command::Pipeline(pipeline) => {
            let stages = pipeline.stages.iter().map(|stage| match &stage.command {
                Command::Simple(simple) => Some(simple),
                _of_parts => None,
            });
            stages.collect()
        }
        Command::Time(inner) => stages(inner),
        Command::AndOr(_)
        | Command::Subshell(_)
        | Command::Group(_)
        | Command::If(_)
        | Command::For(_)
        | Command::CStyleFor(_)
        | Command::While(_)
        | Command::Case(_)
        | Command::Select(_)
        | Command::Function(_)
        | Command::Test(_)
        | Command::Arithmetic(_)
        | Command::Coprocess(_)
        | Command::Redirected(_)
        | Command::Opaque(_) => None,
    }
}

/// The text of some steps, with the here-documents that they open; `None` where it cannot be cut out.
fn part(text: &str, steps: &[Step<'_>], from: usize, until: usize) -> Option<String> {
    let meant = steps.get(from..until)?;
    let start = if from == 0 { 0 } else { meant.first()?.stages.first()?.span.start };
    let last = meant.last()?;
    let behind = last.stages.iter().map(|simple| end_of_words(simple)).max()?;
    let gap = match steps.get(until) {
        Some(next) => text.get(behind..next.stages.first()?.span.start)?,
        None => text.get(behind..)?,
    };
    let sign = match last.joint {
        Joint::Connective(Connective::And) => gap.find("&&"),
        Joint::Connective(Connective::Or) => gap.find("||"),
        Joint::End => gap.find([';', '\n']).or((until == steps.len()).then_some(gap.len())),
    };
    let end = behind + sign?;
    let mut cut = without_continuation(text.get(start..end)?).to_owned();
    // The text of a here-document stands behind the line in which it is opened, also where the rest of the line goes.
    let bodies = |steps: &[Step<'_>]| -> Vec<(usize, usize)> {
        let simples = steps.iter().flat_map(|step| step.stages.iter());
        let words = simples.flat_map(|simple| simple.redirects.iter()).filter_map(here_document);
        words.map(|word| (word.span.start, word.span.end)).filter(|(start, _)| *start >= end).collect()
    };
    if let Some((_, last)) = bodies(meant).last() {
        // Those of steps in front of the part stand in front of its own.
        let passed = bodies(steps.get(..from)?).last().map(|(_, end)| line_end(text, *end));
        let first = match passed {
            Some(passed) => passed + 1,
            None => bodies(meant).first()?.0,
        };
        cut.push('\n');
        cut.push_str(text.get(first..line_end(text, *last))?);
    }
    holds(&cut, text, meant).then_some(cut)
}

/// A piece of text without the space behind it, and without the backslashes by which it would go on in the next line.
fn without_continuation(piece: &str) -> &str {
    let mut piece = piece;
    loop {
        let bare = piece.trim_end();
        let goes_on = piece.get(bare.len()..).is_some_and(|space| space.starts_with('\n'));
        match bare.strip_suffix('\\').filter(|_| goes_on) {
            Some(shorter) => piece = shorter,
            None => return bare,
        }
    }
}

/// Where the line ends that ends a here-document whose body ends there.
fn line_end(text: &str, body_end: usize) -> usize {
    let rest = text.get(body_end..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |at| body_end + at)
}

/// Whether a piece of a text consists of these steps of it, word for word.
fn holds(piece: &str, text: &str, meant: &[Step<'_>]) -> bool {
    let parsed = parse(piece);
    let same = |one: &Simple, other: &Simple| {
        one.assignments.len() == other.assignments.len()
            && one.redirects.len() == other.redirects.len()
            && words(one).map(|word| written(piece, word)).eq(words(other).map(|word| written(text, word)))
    };
    parsed.problems.is_empty()
        && steps(&parsed.script).is_some_and(|found| {
            found.len() == meant.len()
                && found.iter().zip(meant).all(|(found, meant)| {
                    found.stages.len() == meant.stages.len()
                        && found.stages.iter().zip(&meant.stages).all(|(one, other)| same(one, other))
                })
        })
}

/// The words of a simple command, with those of its redirections.
fn words(simple: &Simple) -> impl Iterator<Item = &Word> {
    simple.words.iter().chain(simple.redirects.iter().map(|redirect| redirect.operation.word()))
}

/// How a word is written in the text in which it stands.
fn written<'t>(text: &'t str, word: &Word) -> &'t str {
    text.get(word.span.start..word.span.end).unwrap_or_default()
}

/// The text of a here-document.
fn here_document(redirect: &checkrein_shell::Redirect) -> Option<&Word> {
    match &redirect.operation {
        RedirectOperation::HereDocument(word) => Some(word),
        RedirectOperation::Read(_)
        | RedirectOperation::Write(_)
        | RedirectOperation::Clobber(_)
        | RedirectOperation::Append(_)
        | RedirectOperation::ReadWrite(_)
        | RedirectOperation::WriteAll(_)
        | RedirectOperation::AppendAll(_)
        | RedirectOperation::Duplicate(_)
        | RedirectOperation::HereString(_) => None,
    }
}

/// Where the last word of a simple command ends, without texts that stand behind its line.
fn end_of_words(simple: &Simple) -> usize {
    let redirected = simple.redirects.iter().filter(|redirect| here_document(redirect).is_none());
    let words = simple.words.iter().chain(redirected.map(|redirect| redirect.operation.word()));
    words.map(|word| word.span.end).max().unwrap_or(simple.span.start)
}
