//! Logging in from other machines at an issuer of OpenID Connect: authorization code with PKCE, and nothing that an issuer says is believed
//! but a token that it signed for this server, for this login, about an address that the user lists. They do so in a file of the configuration
//! directory, which is theirs alone: a project has no word in it.
//!
//! | module | holds |
//! |---|---|
//! | `identity` | whether a token is one that counts |
//! | `exchange` | asking the issuer, by `curl` |

mod exchange;
mod identity;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use checkrein_engine::error::CommandError;
use checkrein_protocol::Timestamp;
use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::devices::Role;
use crate::percent::encoded;
use crate::token::{Token, TokenDigest};
use exchange::Exchange;
use identity::{Expected, verified};

/// Where a login at the issuer begins.
pub(crate) const BEGIN: &str = "/login/oidc";
/// Where the issuer sends people back to.
pub(crate) const BACK: &str = "/login/oidc/back";
/// The name of the cookie that binds a login to the browser in which it began.
pub(crate) const COOKIE: &str = "__Host-checkrein-login";
/// How long a login may take, in milliseconds (ours).
const PATIENCE: u64 = 10 * 60_000;
/// How many logins are under way at most (ours); the oldest goes.
const UNDER_WAY: usize = 64;
/// After how long the addresses of the issuer are asked for again, in milliseconds (ours).
const FRESH: u64 = 60 * 60_000;
/// How long a login counts, in milliseconds: 12 hours (ours). What the issuer says later of a person is not heard.
pub(crate) const STAY: u64 = 12 * 60 * 60_000;

/// Logins at one issuer.
#[derive(Debug)]
pub(crate) struct Oidc {
    issuer: String,
    client: String,
    approvers: Vec<String>,
    viewers: Vec<String>,
    exchange: Exchange,
    under_way: Mutex<HashMap<TokenDigest, UnderWay>>,
    known: Mutex<Option<Known>>,
}

/// A login that began.
#[derive(Debug)]
struct UnderWay {
    /// The digest of the cookie of its browser.
    browser: TokenDigest,
    nonce: String,
    verifier: String,
    back: String,
    until: u64,
}

/// What the issuer tells of itself.
#[derive(Debug, Clone)]
struct Known {
    authorization: String,
    token: String,
    keys: String,
    at: u64,
}

/// Where a browser goes to log in, and what it keeps until it comes back.
#[derive(Debug)]
pub(crate) struct LoginBegun {
    pub(crate) address: String,
    pub(crate) cookie: String,
}

/// Who logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) email: String,
    pub(crate) role: Role,
}

/// The file in the configuration directory.
const FILE: &str = "oidc.json";

/// What stands in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct IssuerFile {
    /// What the issuer calls itself: an address.
    issuer: String,
    /// What the issuer calls this server.
    client_id: String,
    /// The file with what the server proves itself with to the issuer, from the configuration directory.
    client_secret_file: Option<String>,
    /// The mail addresses of those who may do everything.
    #[serde(default)]
    approvers: Vec<String>,
    /// The mail addresses of those who may look.
    #[serde(default)]
    viewers: Vec<String>,
}

impl Oidc {
    /// The issuer that the configuration directory names; none where it names none.
    pub(crate) fn of(configuration: &Path) -> Result<Option<Self>, CommandError> {
        let path = configuration.join(FILE);
        let shown = path.display().to_string();
        let text = match checkrein_files::read_text(&path, checkrein_files::SMALL) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(CommandError::file("read", &shown, &error)),
        };
        let wrong = |why: &str, hint: &str| CommandError::user(format!("`{shown}`: {why}"), hint);
        let file: IssuerFile = serde_json::from_str(&text)
            .map_err(|error| wrong(&error.to_string(), "docs/operations.md has an example"))?;
        if !exchange::is_safe(&file.issuer) || file.issuer.contains(['?', '#']) {
            let hint = "write `https://HOST`, as the issuer calls itself";
            return Err(wrong("`issuer` is not an address that is safe to ask", hint));
        }
        if file.client_id.is_empty() {
            let hint = "the issuer gives one to each program that people log in to";
            return Err(wrong("`client_id` is empty", hint));
        }
        if file.approvers.is_empty() && file.viewers.is_empty() {
            let hint = "list the mail addresses of those who may log in";
            return Err(wrong("neither `approvers` nor `viewers` lists anybody", hint));
        }
        let secret = match file.client_secret_file.as_deref() {
            None => None,
            Some(name) => {
                let place = configuration.join(name);
                let text = checkrein_files::read_text(&place, checkrein_files::SMALL)
                    .map_err(|error| CommandError::file("read", place.display(), &error))?;
                Some(text.trim().to_owned()).filter(|text| !text.is_empty())
            }
        };
        Ok(Some(Self {
            issuer: file.issuer,
            client: file.client_id,
            approvers: file.approvers,
            viewers: file.viewers,
            exchange: Exchange { secret },
            under_way: Mutex::default(),
            known: Mutex::default(),
        }))
    }

    /// The issuer.
    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The role of who has this address; none of who is not listed.
    pub(crate) fn role_of(&self, email: &str) -> Option<Role> {
        let is_in = |all: &[String]| all.iter().any(|one| one.eq_ignore_ascii_case(email));
        if is_in(&self.approvers) {
            Some(Role::Approver)
        } else {
            is_in(&self.viewers).then_some(Role::Viewer)
        }
    }

    /// What a cookie of a login here is signed over beside its own words: with another issuer or client it counts no more.
    pub(crate) fn realm(&self) -> String {
        TokenDigest::of(&format!("{}\0{}", self.issuer, self.client)).signature("oidc")
    }

    /// Begins a login of a browser that is to come back to `host`. Asks the issuer where, so it may wait.
    pub(crate) fn begin(&self, host: &str, now: Timestamp) -> Result<LoginBegun, String> {
        let known = self.known(now)?;
        let random = || Token::random().map_err(|error| format!("no randomness: {error}"));
        let (state, nonce, verifier, browser) = (random()?, random()?, random()?, random()?);
        let back = format!("https://{host}{BACK}");
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(verifier.as_str()));
        let separator = if known.authorization.contains('?') { '&' } else { '?' };
        let address = format!(
            "{}{separator}response_type=code&scope=openid%20email&client_id={}&redirect_uri={}&state={}&nonce={}\
             &code_challenge={challenge}&code_challenge_method=S256",
            known.authorization,
            encoded(&self.client),
            encoded(&back),
            state.as_str(),
            nonce.as_str(),
        );
        let mut under_way = self.lock();
        under_way.retain(|_, one| now.0 < one.until);
        if under_way.len() >= UNDER_WAY
            && let Some(oldest) = under_way.iter().min_by_key(|(_, one)| one.until).map(|(state, _)| *state)
        {
            under_way.remove(&oldest);
        }
        let one = UnderWay {
            browser: browser.digest(),
            nonce: nonce.as_str().to_owned(),
            verifier: verifier.as_str().to_owned(),
            back,
            until: now.0 + PATIENCE,
        };
        under_way.insert(state.digest(), one);
        Ok(LoginBegun { address, cookie: browser.as_str().to_owned() })
    }

    /// Ends a login with what the browser brings back; who it is, or why not. The issuer is asked, so it may wait.
    pub(crate) fn finish(
        &self,
        query: &HashMap<String, String>,
        browser: &str,
        now: Timestamp,
    ) -> Result<Person, String> {
        let given = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
        // Used once, whatever comes of it.
        let one = self.lock().remove(&TokenDigest::of(given("state")));
        let one = one.filter(|one| now.0 < one.until).ok_or("no such login is under way")?;
        if one.browser != TokenDigest::of(browser) {
            return Err("the login began in another browser".to_owned());
        }
        if query.get("iss").is_some_and(|issuer| *issuer != self.issuer) {
            return Err("another issuer answered".to_owned());
        }
        if let Some(error) = query.get("error") {
            return Err(format!("the issuer refused: {}", error.chars().take(100).collect::<String>()));
        }
        let known = self.known(now)?;
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", given("code")),
            ("redirect_uri", &one.back),
            ("client_id", &self.client),
            ("code_verifier", &one.verifier),
        ];
        let answer = self.exchange.post(&known.token, &fields)?;
        let token = answer["id_token"].as_str().ok_or("the issuer gave no identity")?;
        let keys = exchange::get(&known.keys)?;
        let expected = Expected { issuer: &self.issuer, client: &self.client, nonce: &one.nonce, now };
        let email = verified(token, &keys, &expected).map_err(|fault| fault.to_string())?;
        let role = self.role_of(&email).ok_or_else(|| format!("`{email}` is not listed"))?;
        Ok(Person { email, role })
    }

    /// What the issuer tells of itself; asked again after a while.
    fn known(&self, now: Timestamp) -> Result<Known, String> {
        let kept = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = kept.filter(|known| now.0 < known.at.saturating_add(FRESH)) {
            return Ok(known);
        }
        let address = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let told = exchange::get(&address)?;
        if told["issuer"] != self.issuer.as_str() {
            return Err("what answers for the issuer calls itself something else".to_owned());
        }
        let place = |name: &str| -> Result<String, String> {
            let place = told[name].as_str().filter(|place| exchange::is_safe(place));
            place.map(str::to_owned).ok_or_else(|| format!("the issuer tells no safe `{name}`"))
        };
        let known = Known {
            authorization: place("authorization_endpoint")?,
            token: place("token_endpoint")?,
            keys: place("jwks_uri")?,
            at: now.0,
        };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        Ok(known)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TokenDigest, UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A field of an object as text; empty where it is none.
fn text<'a>(value: &'a Json, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
