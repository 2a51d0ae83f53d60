//! Asking reviewers: one after the other, within bounds, until one gives a verdict.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_ledger::{Authentication, AuthenticationAct, AuthenticationResult};
use checkrein_pipelines::{
    ModelEndpoint, ModelReviewer, ReviewQuestion, ReviewRecordEntry, ReviewToken, ReviewVerdict,
    ReviewerTransport, TemplateValues, model_claim, read_verdict, review_prompt,
};
use checkrein_supervise::runs::file::{create_directory, hexadecimal, replace};
use checkrein_supervise::{
    FailureCause, FailureClass, Nesting, ProviderError, ProviderFailure, Rotation, Turn, delay,
};

use super::super::notify::setting;
use super::CURL;
use super::process::{ProcessEnd, StepInput, StepProcess, output_files, tail};
use crate::authentications;
use crate::credentials::{CredentialName, Credentials, Secret};

/// The longest thing that is reviewed, in bytes (ours). What is longer is not cut: then nobody has seen all of it.
pub(in crate::commands) const LONGEST_REVIEWED: usize = 512 << 10;
/// The longest answer that is read, in bytes (ours).
const ANSWER: u64 = 1 << 20;
/// How often a reviewer is asked that gives no verdict (upstream 3.7: asked again, never guessed).
const ASKED: u32 = 2;

/// Who asks, and where what is asked and answered is kept.
pub(in crate::commands) struct ReviewDesk<'a> {
    pub(in crate::commands) environment: &'a HostEnvironment,
    /// This program.
    pub(in crate::commands) program: &'a Path,
    /// What everything that it starts locks.
    pub(in crate::commands) hold: &'a Path,
    /// A folder of its own: one below it for each time that somebody is asked.
    pub(in crate::commands) folder: &'a Path,
    /// Whether everything is to end.
    pub(in crate::commands) stop: &'a AtomicBool,
}

/// What came of a review.
pub(in crate::commands) struct ReviewRound {
    pub(in crate::commands) end: ReviewEnd,
    /// Who was asked, and what became of it.
    pub(in crate::commands) reviews: Vec<ReviewRecordEntry>,
}

/// How a review ended.
pub(in crate::commands) enum ReviewEnd {
    /// The reviewer of this name gave a verdict.
    Verdict(ReviewVerdict, String),
    /// Nobody did, and why.
    NoVerdict(String),
    /// It was stopped.
    Stopped,
}

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

/// A command that ends with this process, with everything that it starts.
pub(super) fn attended(program: &Path, hold: &Path, words: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(["pipeline", "attend", "--parent", &std::process::id().to_string(), "--hold"]);
    command.arg(hold).arg("--").args(words);
    command
}

impl ReviewDesk<'_> {
    /// Asks these reviewers, one after the other, until one gives a verdict.
    pub(in crate::commands) fn ask_each(
        &self,
        eligible: &[&ModelReviewer],
        subject: &ReviewQuestion<'_>,
        time: Duration,
    ) -> io::Result<ReviewRound> {
        let deadline = Instant::now() + time;
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
                let folder = self.folder.join(format!("{}-{asked}", reviewer.name));
                let key = keys.get(rotation.current()).map(String::as_str);
                let reviewed = self.ask(reviewer, subject, (&folder, share), (key, &mut entry))?;
                let (cause, next) = match reviewed {
                    Reviewed::Stopped => return Ok(ReviewRound { end: ReviewEnd::Stopped, reviews }),
                    Reviewed::Verdict(verdict) => {
                        entry.verdict = Some(verdict.verdict.name().to_owned());
                        reviews.push(entry);
                        let end = ReviewEnd::Verdict(verdict, reviewer.name.clone());
                        return Ok(ReviewRound { end, reviews });
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
                                if !self.waits(time.min(share)) {
                                    return Ok(ReviewRound { end: ReviewEnd::Stopped, reviews });
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
        Ok(ReviewRound { end: ReviewEnd::NoVerdict(why), reviews })
    }

    fn ask(
        &self,
        reviewer: &ModelReviewer,
        subject: &ReviewQuestion<'_>,
        (folder, time): (&Path, Duration),
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
        create_directory(&place).map_err(io::Error::other)?;
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
            ReviewerTransport::Endpoint(endpoint) => self
                .over_http(endpoint, (&reviewer.model.name, &text), (key, folder))?
                .map(|(words, settings)| (words, Some(settings))),
        };
        let (words, settings) = match asked {
            Ok(asked) => asked,
            Err(why) => return none(why),
        };
        let mut command = attended(self.program, self.hold, &words);
        command.current_dir(&place);
        let input = settings.as_deref().map_or(StepInput::File(&prompt), StepInput::Text);
        let end = StepProcess { command, input, folder, time, stop: self.stop }.run()?;
        let (output, errors) = output_files(folder);
        match end {
            ProcessEnd::Stopped => return Ok(Reviewed::Stopped),
            ProcessEnd::TookTooLong => return none(format!("no answer within {} s", time.as_secs())),
            ProcessEnd::WroteTooMuch => {
                return none("it wrote more than an answer may have".to_owned());
            }
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
            self.record(reviewer, key, refusal(&message, http_status(&aside)));
            return failed(&message, status, http_status(&aside));
        }
        self.record(reviewer, key, claim.error.as_deref().and_then(|error| refusal(error, None)));
        if let Some(error) = claim.error {
            return failed(&error, 0, None);
        }
        if said.iter().all(u8::is_ascii_whitespace) {
            return again("its answer is empty".to_owned());
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
        // What was cut off may have taken back what stands before.
        if let Some(why) = claim.unfinished {
            return again(format!("its answer is cut off (`{}`)", why.chars().take(60).collect::<String>()));
        }
        match read_verdict(&claim.text, &token) {
            Ok(verdict) => Ok(Reviewed::Verdict(verdict)),
            Err(why) => again(why.to_string()),
        }
    }

    /// The words that have `curl` ask an endpoint, and its settings; why it cannot be asked. The credential stands in the settings alone, which
    /// reach it by a pipe: no list of processes and no file shows it.
    fn over_http(
        &self,
        endpoint: &ModelEndpoint,
        (model, question): (&str, &str),
        (key, folder): (Option<&str>, &Path),
    ) -> io::Result<Result<(Vec<String>, String), String>> {
        let key = match key {
            None => None,
            Some(name) => {
                let found = name.parse::<CredentialName>().map_err(|why| format!("`{name}`: {why}"));
                let found = found.and_then(|name| {
                    Credentials::of(self.environment).get(&name).map_err(|error| error.message)
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
    fn waits(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        !self.stop.load(Ordering::Relaxed)
    }

    /// Writes down that a credential was shown to the provider of a reviewer, and whether it was taken.
    fn record(&self, reviewer: &ModelReviewer, key: Option<&str>, refused: Option<FailureCause>) {
        let (Some(key), ReviewerTransport::Endpoint(endpoint)) = (key, &reviewer.transport) else { return };
        authentications::record(
            self.environment,
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

fn token() -> io::Result<ReviewToken> {
    let mut bytes = [0_u8; 12];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(ReviewToken(format!("review-{}", hexadecimal(&bytes))))
}
