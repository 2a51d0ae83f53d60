//! Links with which a question is answered without a login: whoever holds one may answer that question, once. A link names the question, the
//! digest of what is shown of it, when it ends and what it is good for, and is signed with a key that only this user reads.

use checkrein_protocol::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::approvals::ApprovalRequest;
use crate::environment::HostEnvironment;
use crate::seal::{authentication, hexadecimal};
use crate::servers;

/// The longest file of a key, in bytes.
const LONGEST: u64 = 128;
/// The key, in the folder of the server.
pub const KEY_FILE: &str = "server/links.key";
/// The path of the pages that links lead to.
pub const PATH: &str = "/answer/";

/// What a link is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRole {
    /// Answering the question.
    Approver,
}

impl LinkRole {
    /// The word in a link.
    pub fn word(self) -> &'static str {
        match self {
            Self::Approver => "approver",
        }
    }

    /// The role of a word.
    pub fn parse(word: &str) -> Option<Self> {
        (word == "approver").then_some(Self::Approver)
    }
}

/// What a link says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTerms {
    /// When it ends.
    pub until: Timestamp,
    /// What it is good for.
    pub role: LinkRole,
}

/// A link to a question, where people can reach one: a public address is configured, and a server answers.
pub(crate) fn link(
    environment: &HostEnvironment,
    public: Option<&str>,
    id: &str,
    shown: &str,
    until: Timestamp,
) -> Option<String> {
    let public = public.and_then(PublicAddress::parse)?;
    if servers::answering(environment).is_empty() {
        return None;
    }
    let terms = LinkTerms { until, role: LinkRole::Approver };
    let signature = signature(&key(environment)?, id, shown, &terms);
    let role = terms.role.word();
    Some(format!("{}{PATH}{id}?until={}&role={role}&signature={signature}", public.origin(), until.0))
}

/// Whether a signature is that of a link to this question on these terms.
pub fn is_signed(
    environment: &HostEnvironment,
    approval: &ApprovalRequest,
    terms: &LinkTerms,
    given: &str,
) -> bool {
    let Some(key) = key(environment) else { return false };
    let own = signature(&key, &approval.id, &approval.shown, terms);
    // Digests of what is compared differ in places that tell nothing about it.
    Sha256::digest(own) == Sha256::digest(given)
}

/// The key, where the server made one.
fn key(environment: &HostEnvironment) -> Option<String> {
    let text = checkrein_files::read_text(environment.state.root().join(KEY_FILE), LONGEST).ok()?;
    let key = text.trim().strip_prefix("checkrein_")?;
    (key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| key.to_owned())
}

fn signature(key: &str, id: &str, shown: &str, terms: &LinkTerms) -> String {
    let text = format!("checkrein-answer-link-1\0{id}\0{shown}\0{}\0{}", terms.until.0, terms.role.word());
    hexadecimal(&authentication(key.as_bytes(), text.as_bytes()))
}

/// Where people reach the server from elsewhere: something before it speaks TLS and passes requests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicAddress {
    scheme: &'static str,
    host: String,
}

impl PublicAddress {
    /// Reads `https://HOST` or `https://HOST:PORT`; `None` for anything else, and for `http` but on this machine.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('/');
        let is_host = |host: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
            !host.is_empty() && host.bytes().all(is_letter)
        };
        let (scheme, host) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(host), _) => ("https", host),
            (None, Some(host)) if matches!(host.split(':').next(), Some("localhost" | "127.0.0.1")) => {
                ("http", host)
            }
            (None, _) => return None,
        };
        is_host(host).then(|| Self { scheme, host: host.to_ascii_lowercase() })
    }

    /// The host, with its port where it has one.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The origin, as browsers name it.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_link_is_signed() {
        let key = "0".repeat(64);
        let terms = |until| LinkTerms { until: Timestamp(until), role: LinkRole::Approver };
        let own = signature(&key, "ab12", "sha256:1", &terms(5));
        assert_ne!(own, signature(&"1".repeat(64), "ab12", "sha256:1", &terms(5)));
        assert_ne!(own, signature(&key, "ab13", "sha256:1", &terms(5)));
        assert_ne!(own, signature(&key, "ab12", "sha256:2", &terms(5)));
        assert_ne!(own, signature(&key, "ab12", "sha256:1", &terms(6)));
        assert_eq!(LinkRole::parse("viewer"), None);
    }

    #[test]
    fn a_public_address_is_one_of_a_host_behind_tls() {
        for (text, host) in [
            ("https://answers.example", "answers.example"),
            ("https://Answers.example:8443/", "answers.example:8443"),
            ("http://localhost:9", "localhost:9"),
        ] {
            assert_eq!(PublicAddress::parse(text).unwrap().host(), host);
        }
        for text in
            ["", "answers.example", "http://answers.example", "https://", "https://a/b", "https://a@b"]
        {
            assert_eq!(PublicAddress::parse(text), None, "{text}");
        }
    }
}
