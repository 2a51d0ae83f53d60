//! The pull request at the end: the user is asked, then the branch is pushed. Where that is not possible, a patch and the commands take its
//! place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_ledger::mask::mask_text;
use checkrein_pipelines::{
    ForgeApi, ForgeRequest, PullRequestStep, PullRequestText, RemotePlace, StepEnd, pull_request_text,
};
use checkrein_supervise::runs::file::{create_directory, replace};
use checkrein_worktree::WorktreeName;
use serde_json::json;

use super::act::{StepReport, StepWork};
use super::approve::{self, Answered};
use super::plan::is_missing;
use super::process::{ProcessEnd, StepInput, StepProcess, output_files, tail};
use super::{CURL, forge, judged};

/// How long git and the program of a forge may take, each time (ours).
pub(super) const TIME: Duration = Duration::from_mins(5);
/// How much of what they print is read, in bytes (ours).
const PRINTED: u64 = 64 << 10;
/// The program that opens pull requests on GitHub.
const GH: &str = "gh";
/// What of its answer is wanted: the address, where the pull request is open.
const OPEN_ONE: &str = "select(.state == \"OPEN\") | .url";

/// What would be published.
#[derive(Debug, PartialEq, Eq)]
struct Publication {
    branch: String,
    base: String,
    /// The commit at the end of the branch.
    head: String,
    commits: String,
    way: Way,
}

/// How it is published.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    /// The branch is pushed into a repository on this machine.
    Push { address: String },
    /// The branch is pushed, and a pull request is opened.
    PullRequest { address: String },
    /// The same by the API of a forge.
    Api { address: String, api: ForgeApi },
    /// A patch is kept, for this reason.
    Patch { why: String },
}

/// How a program ended.
struct Ran {
    status: Option<u8>,
    output: String,
    errors: String,
}

/// Why nothing was published: a report, or nothing where the pipeline was stopped.
pub(super) type Instead = Option<Box<StepReport>>;

/// Asks the user, and publishes the branch of the task.
pub(super) fn publish(work: &StepWork, step: &PullRequestStep) -> io::Result<Option<StepReport>> {
    Ok(match attempt(work, step)? {
        Ok(report) => Some(report),
        Err(instead) => instead.map(|report| *report),
    })
}

fn attempt(work: &StepWork, step: &PullRequestStep) -> io::Result<Result<StepReport, Instead>> {
    let text = match written(work, step) {
        Ok(text) => text,
        Err(why) => return Ok(Err(Some(instead(StepEnd::Failed, why)))),
    };
    let publication = match look(work, step, "before")? {
        Ok(publication) => publication,
        Err(other) => return Ok(Err(other)),
    };
    if let Some(why) = judged::difference(work, &publication.head) {
        return Ok(Err(Some(instead(StepEnd::Refused, why))));
    }
    let question = question(work, step, &publication, &text);
    let input = json!({
        "pipeline": work.pipeline.name, "step": work.step.name, "task": work.values.0.get("task"),
        "question": question, "commit": publication.head,
    });
    match approve::ask(work, json!({ "id": "1", "tool": "PipelineApproval", "input": input }), &question)? {
        Answered::Yes(_) => {}
        Answered::No(why) => return Ok(Err(Some(instead(StepEnd::Refused, why)))),
        Answered::Nobody(why) => return Ok(Err(Some(instead(StepEnd::DidNotRun, why)))),
        Answered::Stopped => return Ok(Err(None)),
    }
    // What the user said yes to is this commit, on its way to this address.
    match look(work, step, "after")? {
        Ok(now) if now == publication => {}
        Ok(_) => {
            let why = "the branch or the address of its remote changed while the question waited";
            return Ok(Err(Some(instead(StepEnd::DidNotRun, why))));
        }
        Err(other) => return Ok(Err(other)),
    }
    let body = work.folder.join("pull-request.md");
    replace(&body, text.body.as_bytes()).map_err(io::Error::other)?;
    match &publication.way {
        Way::Push { address } => push(work, step, &publication, address),
        Way::PullRequest { address } => match push(work, step, &publication, address)? {
            Ok(_) => open(work, step, &publication, &text, &body),
            Err(other) => Ok(Err(other)),
        },
        Way::Api { address, api } => match push(work, step, &publication, address)? {
            Ok(_) => {
                let request = ForgeRequest {
                    head: &publication.branch,
                    base: step.into.as_deref().unwrap_or_default(),
                    title: &text.title,
                    text: &text.body,
                };
                let credential = step.forge.as_ref().map_or("", |forge| forge.credential.as_str());
                forge::open(work, (api, credential), &request)
            }
            Err(other) => Ok(Err(other)),
        },
        Way::Patch { why } => patch(work, step, &publication, &body, why),
    }
}

/// A report in place of a publication.
pub(super) fn instead(end: StepEnd, why: impl Into<String>) -> Box<StepReport> {
    Box::new(StepReport::plain(end, why))
}

/// The title and the text, as an agent wrote them and as the run knows itself. Secrets are masked.
fn written(work: &StepWork, step: &PullRequestStep) -> Result<PullRequestText, String> {
    let bytes =
        super::own_file(&work.directory, &step.text).map_err(|why| format!("`{}` {why}", step.text))?;
    let masked = mask_text(&String::from_utf8_lossy(&bytes), &work.key).into_owned();
    let state = work.lineage.as_deref().ok_or_else(|| "nothing is known of the run".to_owned())?;
    pull_request_text(&masked, &work.pipeline, state).map_err(|why| format!("`{}`: {why}", step.text))
}

/// What stands on the branch, and where it would go.
fn look(work: &StepWork, step: &PullRequestStep, when: &str) -> io::Result<Result<Publication, Instead>> {
    let (Some(name), Some(base)) = (&work.worktree, &work.base) else {
        let why = "the task has no branch of its own: a copy without a repository, or the work tree itself";
        return Ok(Err(Some(instead(StepEnd::DidNotRun, why))));
    };
    let branch = match name.parse::<WorktreeName>() {
        Ok(name) => name.branch(),
        Err(error) => return Ok(Err(Some(instead(StepEnd::DidNotRun, error.to_string())))),
    };
    let ask = |what: &str, words: &[&str]| git(work, &format!("{when}-{what}"), words);
    let head = ask("head", &["rev-parse", "--verify", &format!("refs/heads/{branch}^{{commit}}")])?;
    let count = ask("count", &["rev-list", "--count", &format!("{base}..refs/heads/{branch}")])?;
    let left = ask("left", &["status", "--porcelain", "--untracked-files=no"])?;
    let address = ask("address", &["remote", "get-url", "--push", "--", &step.remote])?;
    if [&head, &count, &left, &address].iter().any(|ran| ran.status.is_none()) {
        return Ok(Err(None));
    }
    if head.status != Some(0) || count.status != Some(0) || left.status != Some(0) {
        let why = format!("git does not know the branch `{branch}`: {}", first_line(&head.errors));
        return Ok(Err(Some(instead(StepEnd::DidNotRun, why))));
    }
    if count.output.trim() == "0" {
        let why = format!("nothing was committed on `{branch}`");
        return Ok(Err(Some(instead(StepEnd::Failed, why))));
    }
    if !left.output.trim().is_empty() {
        let why = format!("changes of the task are in no commit: {}", first_line(&left.output));
        return Ok(Err(Some(instead(StepEnd::Failed, why))));
    }
    let way = way(work, step, address.status.filter(|status| *status == 0).map(|_| address.output.trim()));
    Ok(Ok(Publication {
        branch,
        base: base.clone(),
        head: head.output.trim().to_owned(),
        commits: count.output.trim().to_owned(),
        way,
    }))
}

fn way(work: &StepWork, step: &PullRequestStep, address: Option<&str>) -> Way {
    let Some(address) = address else {
        return Way::Patch { why: format!("there is no remote `{}`", step.remote) };
    };
    let address = address.to_owned();
    match RemotePlace::of(&address) {
        RemotePlace::Directory if address.starts_with("file://") => Way::Push { address },
        // A relative one is meant from the repository, not from the worktree.
        RemotePlace::Directory => {
            Way::Push { address: work.workspace.join(address).to_string_lossy().into_owned() }
        }
        RemotePlace::Server => by_server(work, step, address),
        RemotePlace::Unknown => {
            Way::Patch { why: format!("the address of `{}` is not one that is pushed to", step.remote) }
        }
    }
}

fn by_server(work: &StepWork, step: &PullRequestStep, address: String) -> Way {
    if let Some(forge) = &step.forge {
        return match forge.api(&address) {
            Ok(_) if is_missing(&work.environment, CURL).is_some() => {
                Way::Patch { why: format!("`{CURL}`, which asks the API of the forge, is not there") }
            }
            Ok(api) => Way::Api { address, api },
            Err(why) => Way::Patch { why },
        };
    }
    if is_missing(&work.environment, GH).is_none() {
        return Way::PullRequest { address };
    }
    Way::Patch { why: format!("`{GH}`, which opens pull requests, is not there") }
}

fn question(
    work: &StepWork,
    step: &PullRequestStep,
    publication: &Publication,
    text: &PullRequestText,
) -> String {
    let commits = match publication.commits.as_str() {
        "1" => "1 commit".to_owned(),
        count => format!("{count} commits"),
    };
    let head: String = publication.head.chars().take(12).collect();
    let what = format!("`{}` ({commits}, {head}), \"{}\"", publication.branch, text.title);
    let into = step.into.as_ref().map(|into| format!(" into `{into}`")).unwrap_or_default();
    let first = match &publication.way {
        Way::Push { address } => format!("Push {what} to {}?", shown(address)),
        Way::PullRequest { address } => {
            format!("Push {what} to {} and open a pull request{into}?", shown(address))
        }
        Way::Api { address, api } => {
            let credential = step.forge.as_ref().map_or("", |forge| forge.credential.as_str());
            format!(
                "Push {what} to {} and open a pull request{into} by {} with the credential `{credential}`?",
                shown(address),
                api.address
            )
        }
        Way::Patch { why } => format!("Keep {what} as a patch? ({why})"),
    };
    let more = step.question.as_ref().map(|more| more.filled(&work.values)).unwrap_or_default();
    let first = format!("{first}{}", work.exemptions_told());
    if more.trim().is_empty() { first } else { format!("{first}\n{}", more.trim()) }
}

/// An address without what stands before the host: it may hold a password.
fn shown(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("`{scheme}://{host}/{path}`")
        }
        None => format!("`{address}`"),
    }
}

/// Pushes exactly the commit that was shown. Nothing that stands there is overwritten.
fn push(
    work: &StepWork,
    step: &PullRequestStep,
    publication: &Publication,
    address: &str,
) -> io::Result<Result<StepReport, Instead>> {
    let target = format!("{}:refs/heads/{}", publication.head, publication.branch);
    let ran = git(work, "push", &["push", "--", address, &target])?;
    Ok(match ran.status {
        None => Err(None),
        Some(0) => {
            let said = format!("pushed `{}` to `{}`", publication.branch, step.remote);
            Ok(StepReport { text: said.clone(), ..StepReport::plain(StepEnd::Passed, said) })
        }
        Some(status) => {
            let why = format!("`git push` ended with status {status}: {}", last_line(&ran.errors));
            Err(Some(instead(StepEnd::DidNotRun, mask_text(&why, &work.key).into_owned())))
        }
    })
}

/// Opens the pull request, unless there is one of the branch: whoever was killed in between begins here again.
fn open(
    work: &StepWork,
    step: &PullRequestStep,
    publication: &Publication,
    text: &PullRequestText,
    body: &Path,
) -> io::Result<Result<StepReport, Instead>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let there = tool(
        work,
        "look-for-it",
        // One that was merged or closed is not the one that is wanted now.
        &words(&[GH, "pr", "view", &publication.branch, "--json", "state,url", "--jq", OPEN_ONE]),
    )?;
    let mut address =
        Some(there.output.trim().to_owned()).filter(|url| there.status == Some(0) && !url.is_empty());
    if there.status.is_none() {
        return Ok(Err(None));
    }
    if address.is_none() {
        let file = body.to_string_lossy();
        let title = format!("--title={}", text.title);
        let head = format!("--head={}", publication.branch);
        let mut all = words(&[GH, "pr", "create", &head, &title, "--body-file", &file]);
        all.extend(step.into.as_ref().map(|into| format!("--base={into}")));
        let ran = tool(work, "create", &all)?;
        match ran.status {
            None => return Ok(Err(None)),
            Some(0) => address = Some(last_line(&ran.output)),
            Some(status) => {
                let why = format!("`gh pr create` ended with status {status}: {}", last_line(&ran.errors));
                return Ok(Err(Some(instead(StepEnd::DidNotRun, mask_text(&why, &work.key).into_owned()))));
            }
        }
    }
    let address = address.unwrap_or_default();
    let said = format!("pull request: {address}");
    Ok(Ok(StepReport { text: address, ..StepReport::plain(StepEnd::Passed, said) }))
}

/// Keeps the commits as a patch, and says how to go on.
fn patch(
    work: &StepWork,
    step: &PullRequestStep,
    publication: &Publication,
    body: &Path,
    why: &str,
) -> io::Result<Result<StepReport, Instead>> {
    let range = format!("{}..{}", publication.base, publication.head);
    let ran = git(work, "patch", &["format-patch", "--stdout", "--no-signature", &range])?;
    match ran.status {
        None => return Ok(Err(None)),
        Some(0) => {}
        Some(status) => {
            let why = format!("`git format-patch` ended with status {status}: {}", last_line(&ran.errors));
            return Ok(Err(Some(instead(StepEnd::DidNotRun, why))));
        }
    }
    let file = work.folder.join("change.patch");
    fs::copy(output_files(&work.folder.join("patch")).0, &file)?;
    let file = file.display();
    let by_hand = format!("`git push {} {}`", step.remote, publication.branch);
    let into = step.into.as_ref().map(|into| format!(" --base {into}")).unwrap_or_default();
    let then = format!(
        "`gh pr create --head {}{into} --title ... --body-file {}`",
        publication.branch,
        body.display()
    );
    let said =
        format!("{why}; the patch is {file}: `git am {file}` applies it, or {by_hand} and {then} publish it");
    Ok(Ok(StepReport { text: said.clone(), ..StepReport::plain(StepEnd::Passed, said) }))
}

fn git(work: &StepWork, name: &str, words: &[&str]) -> io::Result<Ran> {
    let words: Vec<String> = std::iter::once("git").chain(words.iter().copied()).map(str::to_owned).collect();
    tool(work, name, &words)
}

/// Runs a program in the worktree; it ends with the pipeline, and asks nothing.
fn tool(work: &StepWork, name: &str, words: &[String]) -> io::Result<Ran> {
    let folder: PathBuf = work.folder.join(name);
    create_directory(&folder).map_err(io::Error::other)?;
    let mut command = work.attended(words)?;
    command.current_dir(&work.directory);
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GH_PROMPT_DISABLED", "1")
        .env("SSH_ASKPASS_REQUIRE", "never");
    let process =
        StepProcess { command, input: StepInput::Nothing, folder: &folder, time: TIME, stop: &work.stop };
    let status = match process.run()? {
        ProcessEnd::Exited(status) => Some(status),
        ProcessEnd::TookTooLong | ProcessEnd::WroteTooMuch => Some(124),
        ProcessEnd::Stopped => None,
    };
    let (output, errors) = output_files(&folder);
    Ok(Ran { status, output: tail(&output, PRINTED), errors: tail(&errors, PRINTED) })
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

fn last_line(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_a_password() {
        assert_eq!(shown("https://me:secret@github.com/a/b.git"), "`https://github.com/a/b.git`");
        assert_eq!(shown("git@github.com:a/b.git"), "`git@github.com:a/b.git`");
        assert_eq!(shown("/srv/a.git"), "`/srv/a.git`");
    }
}
