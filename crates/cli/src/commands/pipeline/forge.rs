//! The pull request by the API of a forge, where no program of the forge is to do it.
//!
//! `curl` asks. The credential stands in its settings alone, which reach it by a pipe: no list of processes and no file shows it.

use std::io;

use checkrein_ledger::mask::mask_text;
use checkrein_ledger::{Authentication, AuthenticationAct, AuthenticationResult};
use checkrein_pipelines::{ForgeApi, ForgeRequest, StepEnd};
use checkrein_supervise::runs::file::{create_directory, replace};

use super::super::notify::setting;
use super::CURL;
use super::act::{StepReport, StepWork};
use super::process::{ProcessEnd, StepInput, StepProcess, output_files, tail};
use super::publish::{Instead, TIME, instead};
use crate::authentications;
use crate::credentials::{CredentialName, Credentials, Secret};

/// How much of an answer is read, in bytes (ours): fifty pull requests with their texts.
const ANSWER: u64 = 8 << 20;

/// What a forge answered.
struct Answer {
    status: u16,
    text: String,
}

/// Opens the pull request, unless there is one of the branch: whoever was killed in between begins here again.
pub(super) fn open(
    work: &StepWork,
    (api, credential): (&ForgeApi, &str),
    request: &ForgeRequest<'_>,
) -> io::Result<Result<StepReport, Instead>> {
    let found = credential.parse::<CredentialName>().map_err(|why| format!("`{credential}`: {why}"));
    let found =
        found.and_then(|name| Credentials::of(&work.environment).get(&name).map_err(|error| error.message));
    let key = match found {
        Ok(key) => key,
        Err(why) => return Ok(Err(Some(instead(StepEnd::DidNotRun, why)))),
    };
    let record = |result: AuthenticationResult| {
        authentications::record(
            &work.environment,
            Authentication {
                act: AuthenticationAct::CredentialUsed,
                subject: credential.to_owned(),
                by: "pipeline".to_owned(),
                from: api.open_ones(request.head),
                result,
                detail: "forge".to_owned(),
            },
        );
    };
    let there = match ask(work, "look-for-it", (&api.open_ones(request.head), None), &headers(api, &key))? {
        Ok(answer) => answer,
        Err(other) => return Ok(Err(other)),
    };
    record(match there.status {
        401 | 403 => AuthenticationResult::Refused,
        _ => AuthenticationResult::Taken,
    });
    if there.status != 200 {
        return Ok(Err(Some(refused(work, api, &there))));
    }
    let mut address = api.address_of(&there.text, request.head);
    if address.is_none() {
        let body = api.body(request);
        let made = match ask(work, "create", (&api.collection(), Some(&body)), &headers(api, &key))? {
            Ok(answer) => answer,
            Err(other) => return Ok(Err(other)),
        };
        if !matches!(made.status, 200 | 201) {
            return Ok(Err(Some(refused(work, api, &made))));
        }
        address = api.address_of(&made.text, request.head);
    }
    let Some(address) = address else {
        let why = format!("`{}` names no pull request of the branch in its answer", api.address);
        return Ok(Err(Some(instead(StepEnd::DidNotRun, why))));
    };
    let said = format!("pull request: {address}");
    Ok(Ok(StepReport { text: address, ..StepReport::plain(StepEnd::Passed, said) }))
}

fn headers(api: &ForgeApi, key: &Secret) -> Vec<String> {
    api.headers(key.reveal()).iter().map(|header| setting("header", header)).collect()
}

/// Why nothing was opened, in the words of the forge.
fn refused(work: &StepWork, api: &ForgeApi, answer: &Answer) -> Box<StepReport> {
    let said: String =
        answer.text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
    let why = match answer.status {
        401 | 403 => format!("`{}` does not accept the credential ({}): {said}", api.address, answer.status),
        status => format!("`{}` answered with status {status}: {said}", api.address),
    };
    instead(StepEnd::DidNotRun, mask_text(&why, &work.key).into_owned())
}

fn ask(
    work: &StepWork,
    name: &str,
    (url, body): (&str, Option<&str>),
    headers: &[String],
) -> io::Result<Result<Answer, Instead>> {
    let folder = work.folder.join(name);
    create_directory(&folder).map_err(io::Error::other)?;
    let mut settings = vec![setting("url", url), setting("write-out", "\n%{http_code}")];
    if let Some(body) = body {
        let file = folder.join("body.json");
        replace(&file, body.as_bytes()).map_err(io::Error::other)?;
        settings.push(setting("data-binary", &format!("@{}", file.display())));
    }
    settings.extend(headers.iter().cloned());
    // `--disable` first: a `.curlrc` has no say here. Nobody is followed elsewhere with the credential.
    let words = [CURL, "--disable", "--silent", "--show-error", "--proto", "=http,https", "--config", "-"];
    let command = work.attended(&words.map(str::to_owned))?;
    let settings = settings.join("\n");
    let input = StepInput::Text(&settings);
    let end = StepProcess { command, input, folder: &folder, time: TIME, stop: &work.stop }.run()?;
    let (output, errors) = output_files(&folder);
    let none = |why: String| Ok(Err(Some(instead(StepEnd::DidNotRun, why))));
    match end {
        ProcessEnd::Stopped => return Ok(Err(None)),
        ProcessEnd::Exited(0) => {}
        ProcessEnd::Exited(_) | ProcessEnd::TookTooLong | ProcessEnd::WroteTooMuch => {
            let said = tail(&errors, 4 << 10);
            let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
            return none(format!("the forge cannot be asked: {said}"));
        }
    }
    let said = tail(&output, ANSWER);
    let (text, status) = said.rsplit_once('\n').unwrap_or(("", &said));
    match status.trim().parse() {
        Ok(status) => Ok(Ok(Answer { status, text: text.to_owned() })),
        Err(_) => none("the forge gave no answer of HTTP".to_owned()),
    }
}
