//! A review by another model: it is asked within bounds, its answer is a verdict or none, and it can only stop a step.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use checkrein_ledger::mask::mask_text;
use checkrein_ledger::{Authentication, AuthenticationAct, AuthenticationResult};
use checkrein_pipelines::{
    ModelEndpoint, ModelReviewer, NoVerdict, ReviewQuestion, ReviewRecordEntry, ReviewStep, ReviewToken,
    ReviewVerdict, ReviewedThing, ReviewerTransport, StepEnd, StepResult, TemplateValues, VerdictWord,
    eligible_reviewers, model_claim, read_verdict, review_prompt,
};
use checkrein_supervise::runs::file::{hexadecimal, replace};
use checkrein_supervise::{
    FailureCause, FailureClass, Nesting, ProviderError, ProviderFailure, Rotation, Turn, delay,
};

use super::super::notify::setting;
use super::CURL;
use super::act::{StepReport, StepWork};
use super::changes::changes;
use super::process::{ProcessEnd, StepInput, StepProcess, output_files, tail};
use crate::authentications;
use crate::credentials::{CredentialName, Credentials, Secret};

/// The longest thing that is reviewed, in bytes (ours). What is longer is not cut: then nobody has seen all of it.
const LONGEST: usize = 512 << 10;
/// The longest answer that is read, in bytes (ours).
const ANSWER: u64 = 1 << 20;
/// How often a reviewer is asked that gives no verdict (upstream 3.7: asked again, never guessed).
const ASKED: u32 = 2;

/// What came of asking one reviewer once.
enum Reviewed {
    Verdict(ReviewVerdict),
    /// None, and why; what may be done about it.
    None {
        cause: String,
        next: NextAsking,
    },
    Stopped,
}

/// What may be done when a reviewer gave no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextAsking {
    /// It is asked again.
    Again,
    /// Its provider refused, for this cause: another credential may be taken.
    Refused(FailureCause),
    /// It is not asked again.
    Over,
}

/// Asks the reviewers of a step, one after the other, until one gives a verdict.
pub(super) fn review(work: &StepWork, step: &ReviewStep) -> io::Result<Option<StepReport>> {
    let (what, data) = match &step.of {
        ReviewedThing::Changes => ("the changes of the task, as a diff", changes(work)),
        ReviewedThing::File(path) => {
            ("a file", super::own_file(&work.directory, path).map_err(|why| format!("`{path}` {why}")))
        }
    };
    let data = match data {
        Ok(data) if data.is_empty() => {
            return Ok(Some(StepReport::plain(
                StepEnd::DidNotRun,
                "there is nothing to review: nothing changed",
            )));
        }
        Ok(data) if data.len() > LONGEST => {
            let why = format!("there is more to review than {} KiB: review smaller steps", LONGEST >> 10);
            return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
        }
        Ok(data) => mask_text(&String::from_utf8_lossy(&data), &work.key).into_owned(),
        Err(why) => return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why))),
    };
    let question = mask_text(&step.question.filled(&work.values), &work.key).into_owned();
    let named: Vec<&ModelReviewer> = step.by.iter().filter_map(|name| work.pipeline.reviewer(name)).collect();
    let eligible = eligible_reviewers(&named, &work.pipeline.authors_by(&work.values));
    if eligible.is_empty() {
        let why = "nobody may review: all reviewers are of a family whose models worked in this run";
        return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
    }
    let deadline = Instant::now() + work.step.time.0;
    let mut reviews = Vec::new();
    for (number, reviewer) in eligible.iter().enumerate() {
        let keys = match &reviewer.transport {
            ReviewerTransport::Endpoint(endpoint) => endpoint.keys.as_slice(),
            ReviewerTransport::Command(_) => &[],
        };
        let mut rotation = Rotation::new(keys.len(), Nesting::Outermost);
        let mut unclear = 0;
        for asked in 1_u32.. {
            // Each gets its share of the time, so that one that hangs does not use up that of the others.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(eligible.len() - number).unwrap_or(1).max(1);
            let mut entry = ReviewRecordEntry {
                reviewer: reviewer.name.clone(),
                asked: reviewer.model.name.clone(),
                answered: None,
                verdict: None,
                cause: None,
            };
            let subject =
                ReviewQuestion { question: &question, what, data: &data, before: &work.said_before };
            let folder = work.folder.join(format!("{}-{asked}", reviewer.name));
            let key = keys.get(rotation.current()).map(String::as_str);
            let reviewed = ask(work, reviewer, &subject, (&folder, share), (key, &mut entry))?;
            let (cause, next) = match reviewed {
                Reviewed::Stopped => return Ok(None),
                Reviewed::Verdict(verdict) => {
                    entry.verdict = Some(verdict.verdict.name().to_owned());
                    reviews.push(entry);
                    let text = serde_json::to_vec_pretty(&verdict)?;
                    replace(&work.folder.join("verdict.json"), &text).map_err(io::Error::other)?;
                    return Ok(Some(StepReport {
                        result: of_verdict(&verdict, &reviewer.name),
                        text: told(&verdict),
                        route: None,
                        reviews,
                    }));
                }
                Reviewed::None { cause, next } => (cause, next),
            };
            let goes_on = match next {
                NextAsking::Over => false,
                NextAsking::Again => {
                    unclear += 1;
                    unclear < ASKED
                }
                NextAsking::Refused(refused) => {
                    let failure = ProviderFailure { class: FailureClass::Permanent, cause: refused };
                    match rotation.refused(Some(failure)) {
                        Turn::Next { tried, .. } => {
                            let time = if tried == 0 { Duration::ZERO } else { delay(tried, 0.5) };
                            if !waits(work, time.min(share)) {
                                return Ok(None);
                            }
                            true
                        }
                        Turn::Unconcerned | Turn::UsedUp => false,
                    }
                }
            };
            entry.cause = Some(match key {
                Some(key) if keys.len() > 1 => format!("{cause} (credential `{key}`)"),
                Some(_) | None => cause,
            });
            reviews.push(entry);
            if !goes_on {
                break;
            }
        }
    }
    let causes: Vec<String> = reviews
        .iter()
        .map(|entry| format!("{}: {}", entry.reviewer, entry.cause.as_deref().unwrap_or_default()))
        .collect();
    let why = format!("no reviewer gave a verdict ({})", causes.join("; "));
    Ok(Some(StepReport { reviews, ..StepReport::plain(StepEnd::DidNotRun, why) }))
}

fn ask(
    work: &StepWork,
    reviewer: &ModelReviewer,
    subject: &ReviewQuestion<'_>,
    (folder, time): (&std::path::Path, Duration),
    (key, entry): (Option<&str>, &mut ReviewRecordEntry),
) -> io::Result<Reviewed> {
    let none = |cause: String| Ok(Reviewed::None { cause, next: NextAsking::Over });
    let again = |cause: String| Ok(Reviewed::None { cause, next: NextAsking::Again });
    let failed = |message: &str, status: u8, http: Option<u16>| {
        let (cause, words) = failure(message, status, http);
        let next = cause.map_or(NextAsking::Over, NextAsking::Refused);
        Ok(Reviewed::None { cause: words, next })
    };
    let token = token()?;
    // Nothing of the project lies there, whatever the reviewer is told to do by what it reads.
    let place = folder.join("place");
    checkrein_supervise::runs::file::create_directory(&place).map_err(io::Error::other)?;
    let prompt = folder.join("prompt.txt");
    let text = review_prompt(subject, &token);
    replace(&prompt, text.as_bytes()).map_err(io::Error::other)?;
    let asked = match &reviewer.transport {
        ReviewerTransport::Command(words) => {
            let values =
                TemplateValues([("model".to_owned(), reviewer.model.name.clone())].into_iter().collect());
            words
                .iter()
                .map(|word| word.word(&values))
                .collect::<Result<Vec<String>, String>>()
                .map(|words| (words, None))
        }
        ReviewerTransport::Endpoint(endpoint) => {
            over_http(work, endpoint, (&reviewer.model.name, &text), (key, folder))?
                .map(|(words, settings)| (words, Some(settings)))
        }
    };
    let (words, settings) = match asked {
        Ok(asked) => asked,
        Err(why) => return none(why),
    };
    let mut command = work.attended(&words)?;
    command.current_dir(&place);
    let input = settings.as_deref().map_or(StepInput::File(&prompt), StepInput::Text);
    let end = StepProcess { command, input, folder, time, stop: &work.stop }.run()?;
    let (output, errors) = output_files(folder);
    match end {
        ProcessEnd::Stopped => return Ok(Reviewed::Stopped),
        ProcessEnd::TookTooLong => return none(format!("no answer within {} s", time.as_secs())),
        ProcessEnd::WroteTooMuch => return none("it wrote more than an answer may have".to_owned()),
        ProcessEnd::Exited(_) => {}
    }
    if fs::metadata(&output)?.len() > ANSWER {
        return none("it wrote more than an answer may have".to_owned());
    }
    let mut said = Vec::new();
    File::open(&output)?.take(ANSWER).read_to_end(&mut said)?;
    let aside = tail(&errors, 64 << 10);
    let claim = model_claim(&String::from_utf8_lossy(&said), &aside);
    entry.answered.clone_from(&claim.model);
    if let ProcessEnd::Exited(status @ 1..) = end {
        let message = claim.error.unwrap_or_else(|| format!("{}\n{aside}", claim.text));
        record(work, reviewer, key, refusal(&message, http_status(&aside)));
        return failed(&message, status, http_status(&aside));
    }
    record(work, reviewer, key, claim.error.as_deref().and_then(|error| refusal(error, None)));
    if let Some(error) = claim.error {
        return failed(&error, 0, None);
    }
    match &claim.model {
        None => {
            return none(
                "nothing says which model answered, so nobody knows that it is the one that was asked"
                    .to_owned(),
            );
        }
        Some(model) if !reviewer.model.is_answered_by(model) => {
            return none(format!("`{model}` answered, and `{}` was asked", reviewer.model.name));
        }
        Some(_) => {}
    }
    match read_verdict(&claim.text, &token) {
        Ok(verdict) => Ok(Reviewed::Verdict(verdict)),
        Err(why @ (NoVerdict::NoObject | NoVerdict::Malformed(_))) => again(why.to_string()),
        Err(why @ (NoVerdict::OtherQuestion | NoVerdict::Contradiction | NoVerdict::Several)) => {
            again(why.to_string())
        }
    }
}

/// The words that have `curl` ask an endpoint, and its settings; why it cannot be asked. The credential stands in the settings alone, which
/// reach it by a pipe: no list of processes and no file shows it.
fn over_http(
    work: &StepWork,
    endpoint: &ModelEndpoint,
    (model, question): (&str, &str),
    (key, folder): (Option<&str>, &std::path::Path),
) -> io::Result<Result<(Vec<String>, String), String>> {
    let key = match key {
        None => None,
        Some(name) => {
            let found = name.parse::<CredentialName>().map_err(|why| format!("`{name}`: {why}"));
            let found = found.and_then(|name| {
                Credentials::of(&work.environment).get(&name).map_err(|error| error.message)
            });
            match found {
                Ok(key) => Some(key),
                Err(why) => return Ok(Err(why)),
            }
        }
    };
    let body = folder.join("body.json");
    replace(&body, endpoint.body(model, question).as_bytes()).map_err(io::Error::other)?;
    let mut settings =
        vec![setting("url", &endpoint.url), setting("data-binary", &format!("@{}", body.display()))];
    let headers = endpoint.headers(key.as_ref().map(Secret::reveal));
    settings.extend(headers.iter().map(|header| setting("header", header)));
    // `--disable` first: a `.curlrc` has no say here. Nobody is followed elsewhere with the credential.
    let words = [
        CURL,
        "--disable",
        "--silent",
        "--show-error",
        "--fail-with-body",
        "--proto",
        "=http,https",
        "--config",
        "-",
    ];
    Ok(Ok((words.map(str::to_owned).to_vec(), settings.join("\n"))))
}

/// Waits before a credential is shown again; whether the work goes on.
fn waits(work: &StepWork, time: Duration) -> bool {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if work.stop.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    !work.stop.load(Ordering::Relaxed)
}

/// Writes down that a credential was shown to the provider of a reviewer, and whether it was taken.
fn record(work: &StepWork, reviewer: &ModelReviewer, key: Option<&str>, refused: Option<FailureCause>) {
    let (Some(key), ReviewerTransport::Endpoint(endpoint)) = (key, &reviewer.transport) else { return };
    authentications::record(
        &work.environment,
        Authentication {
            act: AuthenticationAct::CredentialUsed,
            subject: key.to_owned(),
            by: format!("reviewer {}", reviewer.name),
            from: endpoint.url.clone(),
            result: refused.map_or(AuthenticationResult::Taken, |_| AuthenticationResult::Refused),
            detail: refused.map(in_words).unwrap_or_default().to_owned(),
        },
    );
}

/// Why a provider refused the credential that it was shown; `None` when that is not what it says.
fn refusal(message: &str, http: Option<u16>) -> Option<FailureCause> {
    match cause(message, http)? {
        cause @ (FailureCause::Quota | FailureCause::Capacity | FailureCause::Authentication) => Some(cause),
        FailureCause::Connection | FailureCause::Request | FailureCause::Clock => None,
    }
}

/// What a failure came from, by what the provider says.
fn cause(message: &str, http: Option<u16>) -> Option<FailureCause> {
    let is_quota = ["quota", "usage limit"].iter().any(|words| message.to_lowercase().contains(words));
    if is_quota {
        return Some(FailureCause::Quota);
    }
    ProviderError { status: http, kind: None, message: message.to_owned() }.cause()
}

/// Why a reviewer failed, by what its provider says; also in words.
fn failure(message: &str, status: u8, http: Option<u16>) -> (Option<FailureCause>, String) {
    let cause = cause(message, http);
    let words = match cause {
        Some(
            cause @ (FailureCause::Quota
            | FailureCause::Capacity
            | FailureCause::Connection
            | FailureCause::Authentication),
        ) => in_words(cause).to_owned(),
        Some(FailureCause::Request | FailureCause::Clock) | None => {
            let first = message.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
            format!("it failed with status {status}: {}", first.chars().take(200).collect::<String>())
        }
    };
    (cause, words)
}

fn in_words(cause: FailureCause) -> &'static str {
    match cause {
        FailureCause::Quota => "its quota is used up",
        FailureCause::Capacity => "its provider is busy",
        FailureCause::Connection => "its provider cannot be reached",
        FailureCause::Authentication => "its provider does not accept who we are",
        FailureCause::Request => "its provider does not do what is asked",
        FailureCause::Clock => "its time was over",
    }
}

/// The status of HTTP that `curl` names when it fails: `curl: (22) The requested URL returned error: 401`.
fn http_status(aside: &str) -> Option<u16> {
    let (_, rest) = aside.split_once("returned error: ")?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

fn of_verdict(verdict: &ReviewVerdict, reviewer: &str) -> StepResult {
    let end = match verdict.verdict {
        VerdictWord::Approved => StepEnd::Passed,
        VerdictWord::Revise => StepEnd::Failed,
        VerdictWord::Blocked => StepEnd::Refused,
    };
    let problems = verdict.problems();
    StepResult {
        count: u64::try_from(problems.len()).ok().filter(|count| *count > 0),
        problems,
        feedback: told(verdict),
        ..StepResult::plain(end, format!("{reviewer} says {}: {}", verdict.verdict.name(), verdict.rationale))
    }
}

/// A verdict for whoever mends what it names.
fn told(verdict: &ReviewVerdict) -> String {
    let issues =
        verdict.issues.iter().map(|one| format!("- {} {}: {}", one.severity, one.place, one.problem));
    std::iter::once(format!("{}: {}", verdict.verdict.name(), verdict.rationale))
        .chain(issues)
        .collect::<Vec<_>>()
        .join("\n")
}

fn token() -> io::Result<ReviewToken> {
    let mut bytes = [0_u8; 12];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(ReviewToken(format!("review-{}", hexadecimal(&bytes))))
}
