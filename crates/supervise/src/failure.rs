//! What kind of failure the end of an agent was, and whether trying again can help (upstream 3.3, 3.11).
//!
//! By numbers and names that the client tells first; by words only where it tells nothing else, and then only whole words of the error
//! itself: `oauth-primary` is no failed login, and a time budget is no bill.

use serde::{Deserialize, Serialize};

use crate::switches::Stop;

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The provider was busy or out of reach: a later try can help.
    Transient,
    /// Nothing was heard for too long: one more try can help.
    IdleTimeout,
    /// Our own limit of time: another try would run into it again.
    CeilingTimeout,
    /// The provider refused, and will again.
    Permanent,
}

/// What the failure came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// Too many calls, or too many people (408, 429, 5xx).
    Capacity,
    /// The line.
    Connection,
    /// What may be used is used up, or is not paid.
    Quota,
    /// Who we are is not accepted (401, 403).
    Authentication,
    /// What is asked for is not possible (400, 404, 413, 422).
    Request,
    /// Time.
    Clock,
}

/// A failure in the provider, or in waiting for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderFailure {
    /// Whether trying again can help.
    pub class: FailureClass,
    /// What it came from.
    pub cause: FailureCause,
}

/// An error of the provider as the client tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderError {
    /// The status of HTTP.
    pub status: Option<u16>,
    /// The name of the error.
    pub kind: Option<String>,
    /// In words.
    pub message: String,
}

impl ProviderError {
    /// From words alone, which may hold a status: `API Error: 529 {...}`.
    pub(crate) fn of_message(message: &str) -> Self {
        let rest = message.split_once("API Error:").map_or("", |(_, rest)| rest).trim_start();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let status = digits.parse().ok().filter(|status| (400..600).contains(status));
        Self { status, kind: None, message: message.chars().take(LONGEST).collect() }
    }

    /// What it means.
    pub fn cause(&self) -> Option<FailureCause> {
        // The same status is used for "later" and "no more".
        let text = self.message.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| holds(&text, phrase));
        if says(&QUOTA) {
            return Some(FailureCause::Quota);
        }
        let by_status = self.status.and_then(|status| match status {
            401 | 403 => Some(FailureCause::Authentication),
            402 => Some(FailureCause::Quota),
            408 | 409 | 425 | 429 | 500..=599 => Some(FailureCause::Capacity),
            400..=499 => Some(FailureCause::Request),
            _ => None,
        });
        let by_kind = || match self.kind.as_deref()? {
            "overloaded" | "overloaded_error" | "rate_limit" | "rate_limit_error" | "server_error"
            | "api_error" | "timeout_error" => Some(FailureCause::Capacity),
            "billing_error" => Some(FailureCause::Quota),
            "authentication_failed" | "authentication_error" | "permission_error" => {
                Some(FailureCause::Authentication)
            }
            "invalid_request" | "invalid_request_error" | "model_not_found" | "not_found_error" => {
                Some(FailureCause::Request)
            }
            _ => None,
        };
        by_status.or_else(by_kind).or_else(|| {
            let by_words = [
                (&CAPACITY[..], FailureCause::Capacity),
                (&CONNECTION[..], FailureCause::Connection),
                (&AUTHENTICATION[..], FailureCause::Authentication),
                (&REQUEST[..], FailureCause::Request),
            ];
            by_words.into_iter().find(|(phrases, _)| says(phrases)).map(|(_, cause)| cause)
        })
    }
}

/// How much of a message is kept, in characters.
const LONGEST: usize = 500;

const QUOTA: [&str; 7] = [
    "usage limit",
    "usage has been exhausted",
    "wait until",
    "insufficient_quota",
    "quota exceeded",
    "exceeded your current quota",
    "credit balance is too low",
];
const CAPACITY: [&str; 7] = [
    "overloaded",
    "overloaded_error",
    "rate limit",
    "rate_limit_error",
    "too many requests",
    "service unavailable",
    "internal server error",
];
const CONNECTION: [&str; 11] = [
    "econnreset",
    "econnrefused",
    "etimedout",
    "enotfound",
    "eai_again",
    "connection reset",
    "connection refused",
    "connection error",
    "socket hang up",
    "stream disconnected",
    "request timed out",
];
const AUTHENTICATION: [&str; 6] = [
    "invalid api key",
    "unauthorized",
    "authentication_error",
    "authentication failed",
    "please run /login",
    "forbidden",
];
const REQUEST: [&str; 5] =
    ["invalid_request_error", "not_found_error", "model not found", "prompt is too long", "bad request"];

/// Whether a text holds a phrase as whole words.
fn holds(text: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(phrase).any(|(place, _)| {
        let before = text.get(..place).and_then(|text| text.chars().next_back());
        let after = text.get(place + phrase.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

impl ProviderFailure {
    /// What the end of an agent was; `None` when it ended by itself, for a reason of its own, or in a way that is not known: that is
    /// never tried again. `status` is its exit status, `error` the last thing that the client told and that nothing good came after.
    pub fn of_end(status: u8, stop: Option<&Stop>, error: Option<&ProviderError>) -> Option<Self> {
        match stop {
            Some(Stop::Idle(_)) => {
                Some(Self { class: FailureClass::IdleTimeout, cause: FailureCause::Clock })
            }
            Some(Stop::Time(_)) => {
                Some(Self { class: FailureClass::CeilingTimeout, cause: FailureCause::Clock })
            }
            Some(_) => None,
            None if status == 0 && error.is_none() => None,
            None => {
                let cause = error?.cause()?;
                let class = match cause {
                    FailureCause::Capacity | FailureCause::Connection | FailureCause::Clock => {
                        FailureClass::Transient
                    }
                    FailureCause::Quota | FailureCause::Authentication | FailureCause::Request => {
                        FailureClass::Permanent
                    }
                };
                Some(Self { class, cause })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn class(message: &str) -> Option<FailureClass> {
        let error = ProviderError::of_message(message);
        ProviderFailure::of_end(1, None, Some(&error)).map(|failure| failure.class)
    }

    #[test]
    fn a_status_decides_before_any_word() {
        let transient = Some(FailureClass::Transient);
        let permanent = Some(FailureClass::Permanent);
        assert_eq!(class("API Error: 529 {\"type\":\"overloaded_error\"}"), transient);
        assert_eq!(class("API Error: 500 invalid api key"), transient);
        assert_eq!(class("API Error: 401 overloaded"), permanent);
        assert_eq!(class("API Error: 429 rate limited"), transient);
        assert_eq!(
            class("API Error: 429 You have reached your usage limit"),
            permanent,
            "no more is no later"
        );
        assert_eq!(class("API Error: 404 model: nope"), permanent);
    }

    #[test]
    fn words_count_whole_and_what_is_not_known_is_no_failure_of_the_provider() {
        assert_eq!(class("read ECONNRESET"), Some(FailureClass::Transient));
        assert_eq!(class("stream disconnected before completion"), Some(FailureClass::Transient));
        for trap in ["oauth-primary was used", "the time budget is over", "preoverloaded", "exit 1", ""] {
            assert_eq!(class(trap), None, "{trap}");
        }
    }

    #[test]
    fn our_own_clocks_are_two_kinds_and_other_stops_none() {
        let of = |stop: Stop| ProviderFailure::of_end(1, Some(&stop), None).map(|failure| failure.class);
        assert_eq!(of(Stop::Idle(Duration::ZERO)), Some(FailureClass::IdleTimeout));
        assert_eq!(of(Stop::Time(Duration::ZERO)), Some(FailureClass::CeilingTimeout));
        assert_eq!(of(Stop::Iterations(3)), None);
        assert_eq!(ProviderFailure::of_end(1, None, None), None);
        assert_eq!(ProviderFailure::of_end(0, None, None), None);
    }
}
