//! Who may ask for what: host, origin, key, role. Each request passes here before anything else looks at it.
//!
//! | module | holds |
//! |---|---|
//! | `elsewhere` | the same for requests from other machines |
//! | `ended` | logins that were ended before their time |

mod elsewhere;
mod ended;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use checkrein_engine::answer_links::{PATH, PublicAddress};
use checkrein_engine::asking::{Asker, Sign};
use checkrein_engine::clock::Clock;

use crate::answer::{ApiError, content};
use crate::assets::is_asset;
use crate::devices::{self, Role};
use crate::outside::{Door, LOGIN, Outside, PAIR};
use crate::pages::failed;
use crate::peer::Peer;
use crate::token::{Token, TokenDigest};
use crate::visits::{VisitKind, Visits};
use ended::EndedLogins;

/// The name of the cookie of a browser.
pub(crate) const COOKIE: &str = "checkrein";
/// The address of one-time links, before the key of the link.
pub(crate) const OPEN: &str = "/open/";
/// Where a browser ends its login.
pub(crate) const LOGOUT: &str = "/logout";
/// How many wrong keys a minute are answered as such (ours); further ones wait. A right key is never kept waiting.
const WRONG_A_MINUTE: usize = 20;
const MINUTE: u64 = 60_000;
/// How many links wait to be used (ours); the one that was made first goes.
const LINKS: usize = 64;
/// How long a browser stays logged in, in milliseconds: 30 days (ours).
pub(crate) const STAY: u64 = 30 * 24 * 60 * MINUTE;
/// After how long the use of a key is written down again, in milliseconds (ours).
const LOGIN_AGAIN: u64 = 60 * MINUTE;

/// The longest body of a request, in bytes (ours): more than the longest command that is reviewed.
const LONGEST_BODY: usize = 1024 * 1024;
/// How long a body may take to come (ours).
const BODY: std::time::Duration = std::time::Duration::from_secs(20);

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visitor {
    pub(crate) role: Role,
    /// How the key came.
    pub(crate) by: KeyKind,
    /// From where, for the record.
    pub(crate) from: String,
}

/// How a key came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Header,
    /// That of a browser of this machine; the digest of its cookie.
    Cookie(TokenDigest),
    /// By a login with the password.
    Password {
        /// Which password it was.
        generation: String,
        /// The digest of the cookie.
        login: TokenDigest,
    },
    /// By a login at an issuer.
    Issuer {
        email: String,
        /// The digest of the cookie.
        login: TokenDigest,
    },
    /// A device that was paired.
    Device {
        id: String,
        name: String,
    },
}

impl Visitor {
    /// Who it is and from where, for the record.
    pub(crate) fn words(&self) -> String {
        match &self.by {
            KeyKind::Header | KeyKind::Cookie(_) => self.from.clone(),
            KeyKind::Password { .. } => format!("{}, by password", self.from),
            KeyKind::Issuer { email, .. } => format!("{}, {email}", self.from),
            KeyKind::Device { id, name } => format!("{}, {name} ({id})", self.from),
        }
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Host,
    Origin,
    NoKey,
    WrongKey,
    TooMany,
    Role,
    Agent,
    /// Who started the process that sent a key cannot be told.
    Detached,
    /// What counts on this machine alone came from another.
    Elsewhere,
    /// The login of a browser elsewhere does not count any more.
    LoggedOut,
}

/// The keys that are known, and what became of those that were tried.
#[derive(Debug)]
pub(crate) struct Access {
    approver: TokenDigest,
    viewer: TokenDigest,
    links: Mutex<VecDeque<TokenDigest>>,
    wrong: Mutex<VecDeque<u64>>,
    told: Mutex<HashMap<Role, u64>>,
    ended: EndedLogins,
    visits: Visits,
    clock: Arc<dyn Clock>,
    public: Option<PublicAddress>,
    outside: Option<Outside>,
}

impl Access {
    /// Access by these two keys.
    pub(crate) fn new(approver: &Token, viewer: &Token, visits: Visits, clock: Arc<dyn Clock>) -> Self {
        Self {
            approver: approver.digest(),
            viewer: viewer.digest(),
            links: Mutex::default(),
            wrong: Mutex::default(),
            told: Mutex::default(),
            ended: EndedLogins::in_file(visits.beside("ended-logins.json")),
            visits,
            clock,
            public: None,
            outside: None,
        }
    }

    /// The same where people reach the pages of signed links from elsewhere.
    pub(crate) fn with_public(self, public: Option<PublicAddress>) -> Self {
        Self { public, ..self }
    }

    /// From now on other machines reach the server.
    pub(crate) fn open_outside(&mut self, outside: Outside) {
        self.outside = Some(outside);
    }

    /// What is known of the door for other machines, where it is open.
    pub(crate) fn outside(&self) -> Option<&Outside> {
        self.outside.as_ref()
    }

    /// Returns the path of a link that logs one browser in, once.
    pub(crate) fn link(&self) -> std::io::Result<String> {
        let key = Token::random()?;
        let mut links = lock(&self.links);
        links.push_back(key.digest());
        while links.len() > LINKS {
            links.pop_front();
        }
        Ok(format!("{OPEN}{}", key.as_str()))
    }

    /// Uses a link up; returns the value of the cookie for the browser.
    pub(crate) fn redeem(&self, key: &str, from: &str) -> Option<String> {
        let digest = TokenDigest::of(key);
        let mut links = lock(&self.links);
        let place = links.iter().position(|one| *one == digest)?;
        let fresh = Token::random().ok()?;
        links.remove(place);
        let now = self.clock.now();
        let cookie = format!("{}.{}", fresh.as_str(), now.0);
        let cookie = format!("{cookie}.{}", self.approver.signature(&cookie));
        self.visits.note(now, VisitKind::Login, "one-time link", OPEN, from);
        Some(cookie)
    }

    /// Whether the value of a cookie is one that this server gave, or one before it with the same key, a short enough time ago.
    fn is_given(&self, cookie: &str, now: u64) -> bool {
        let Some((given, signature)) = cookie.rsplit_once('.') else { return false };
        let since = given.rsplit_once('.').and_then(|(_, since)| since.parse::<u64>().ok());
        self.is_signed(given, signature)
            && since.is_some_and(|since| now < since.saturating_add(STAY))
            && !self.ended.holds(TokenDigest::of(cookie))
    }

    /// Ends the login of who asks: its cookie opens nothing any more, wherever it was copied to. A key of a program has no login.
    pub(crate) fn log_out(&self, visitor: &Visitor) -> std::io::Result<()> {
        let now = self.clock.now();
        match &visitor.by {
            KeyKind::Header => return Ok(()),
            KeyKind::Cookie(login) | KeyKind::Password { login, .. } | KeyKind::Issuer { login, .. } => {
                self.ended.end(*login, now.0.saturating_add(STAY), now.0)?;
            }
            KeyKind::Device { id, .. } => {
                if let Some(outside) = &self.outside {
                    devices::forget(&outside.folder, id)?;
                }
            }
        }
        self.visits.note(now, VisitKind::Logout, "login ended", LOGOUT, &visitor.words());
        Ok(())
    }

    fn is_signed(&self, text: &str, signature: &str) -> bool {
        TokenDigest::of(signature) == TokenDigest::of(&self.approver.signature(text))
    }

    /// Writes what was noted into the file, on a thread that may wait for the disk. Nothing is answered before its line is written.
    async fn write_down(self: Arc<Self>) {
        if self.visits.is_behind() {
            drop(tokio::task::spawn_blocking(move || self.visits.write()).await);
        }
    }

    /// Notes what a request did, and from where it came.
    pub(crate) fn note_act(&self, what: &str, path: &str, from: &str) {
        self.visits.note(self.clock.now(), VisitKind::Act, what, path, from);
    }

    /// Notes that somebody logged in from another machine.
    pub(crate) fn note_login(&self, what: &str, path: &str, peer: &Peer) {
        self.visits.note(self.clock.now(), VisitKind::Login, what, path, &peer.place());
    }

    /// Notes what came of an answer by a signed link.
    pub(crate) fn note_link(&self, what: &str, path: &str, peer: &Peer) {
        self.visits.note(self.clock.now(), VisitKind::LinkUsed, what, path, &peer.place());
    }

    /// Notes that what somebody showed at the door was refused.
    pub(crate) fn note_refused(&self, why: &str, path: &str, peer: &Peer) {
        self.visits.note(self.clock.now(), VisitKind::KeyRefused, why, path, &peer.place());
    }

    /// Whether so much was tried that is not valid that nothing is looked at for a while.
    pub(crate) fn is_flooded(&self) -> bool {
        let now = self.clock.now().0;
        let wrong = lock(&self.wrong);
        wrong.iter().filter(|at| now < **at + MINUTE).count() >= WRONG_A_MINUTE
    }

    /// Notes that a signed link was not valid, which counts like a wrong key.
    pub(crate) fn note_refused_answer(&self, peer: &Peer) {
        self.wrong_key(self.clock.now().0);
        self.note_refused("link that is not valid", PATH, peer);
    }

    /// Who asks, by the key of the request.
    fn visitor(&self, headers: &HeaderMap, from: &str) -> Result<Visitor, Refusal> {
        let now = self.clock.now().0;
        let found = if let Some(value) = headers.get(header::AUTHORIZATION) {
            let key = value.to_str().ok().and_then(bearer).ok_or(Refusal::WrongKey)?;
            let digest = TokenDigest::of(key);
            let role = [(self.approver, Role::Approver), (self.viewer, Role::Viewer)]
                .into_iter()
                .find_map(|(known, role)| (known == digest).then_some(role));
            role.map(|role| Visitor { role, by: KeyKind::Header, from: from.to_owned() })
        } else if let Some(key) = cookie(headers, COOKIE) {
            self.is_given(&key, now).then(|| Visitor {
                role: Role::Approver,
                by: KeyKind::Cookie(TokenDigest::of(&key)),
                from: from.to_owned(),
            })
        } else {
            return Err(Refusal::NoKey);
        };
        let Some(visitor) = found else { return Err(self.wrong_key(now)) };
        let mut told = lock(&self.told);
        let last = told.entry(visitor.role).or_default();
        if visitor.by == KeyKind::Header && (*last == 0 || now >= *last + LOGIN_AGAIN) {
            *last = now;
            let detail = match visitor.role {
                Role::Approver => "key of the approver",
                Role::Viewer => "key of the viewer",
            };
            self.visits.note(self.clock.now(), VisitKind::Login, detail, "", from);
        }
        Ok(visitor)
    }

    fn wrong_key(&self, now: u64) -> Refusal {
        let mut wrong = lock(&self.wrong);
        while wrong.front().is_some_and(|at| now >= at + MINUTE) {
            wrong.pop_front();
        }
        if wrong.len() >= WRONG_A_MINUTE {
            return Refusal::TooMany;
        }
        wrong.push_back(now);
        Refusal::WrongKey
    }

    fn judge(&self, request: &Request) -> Result<Option<Visitor>, Refusal> {
        let from = peer(request).map(|peer| peer.place()).unwrap_or_default();
        match request.extensions().get::<Door>() {
            Some(Door::Outside(own)) => {
                Ok(self.judge_outside(request, *own)?.map(|one| Visitor { from, ..one }))
            }
            Some(Door::Local) | None => self.judge_local(request, &from),
        }
    }

    fn judge_local(&self, request: &Request, from: &str) -> Result<Option<Visitor>, Refusal> {
        let headers = request.headers();
        // A page of another site that has its name lead here asks for its own name.
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let path = request.uri().path();
        // The pages of signed links alone are for people elsewhere: the signature is the key.
        let public = self.public.as_ref().filter(|_| path.starts_with(PATH));
        if !is_own_host(host) && public.is_none_or(|public| !host.eq_ignore_ascii_case(public.host())) {
            return Err(Refusal::Host);
        }
        // Browsers say from which page a request comes, and pages cannot change that.
        let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        let is_own_origin = origin.is_none_or(|origin| {
            origin == format!("http://{host}") || public.is_some_and(|public| origin == public.origin())
        });
        let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default());
        let is_own_site = site.is_none_or(|site| matches!(site, "same-origin" | "none"));
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        // People come to links from elsewhere; what a link answers comes from its own page.
        let is_link = path.starts_with(OPEN) || (path.starts_with(PATH) && is_read);
        if !is_own_origin || (!is_own_site && !is_link) {
            return Err(Refusal::Origin);
        }
        if path == "/healthz" || path.starts_with(OPEN) || path.starts_with(PATH) || is_asset(path) {
            return Ok(None);
        }
        let visitor = self.visitor(headers, from)?;
        // A form of another program on this machine carries the cookie too: what changes something must name its page.
        if !is_read && matches!(visitor.by, KeyKind::Cookie(_)) && origin.is_none() {
            return Err(Refusal::Origin);
        }
        if !is_read && !is_for_viewers(path) && visitor.role < Role::Approver {
            return Err(Refusal::Role);
        }
        Ok(Some(visitor))
    }
}

impl Refusal {
    /// Whether something was shown that opens nothing, or the request is refused for another reason.
    fn kind(self) -> VisitKind {
        match self {
            Self::WrongKey | Self::TooMany | Self::LoggedOut => VisitKind::KeyRefused,
            Self::Host
            | Self::Origin
            | Self::NoKey
            | Self::Role
            | Self::Agent
            | Self::Detached
            | Self::Elsewhere => VisitKind::Refused,
        }
    }

    /// In one clause, for the record.
    fn detail(self) -> &'static str {
        match self {
            Self::Host => "wrong host",
            Self::Origin => "wrong origin",
            Self::NoKey => "no key",
            Self::WrongKey => "wrong key",
            Self::TooMany => "too many wrong keys",
            Self::Role => "key of a viewer",
            Self::Agent => "sent by an agent",
            Self::Detached => "sent by a process that nobody knows who started",
            Self::Elsewhere => "key of this machine",
            Self::LoggedOut => "login that has ended",
        }
    }

    fn error(self) -> ApiError {
        let (status, kind, message, hint) = match self {
            Self::Host => (
                StatusCode::FORBIDDEN,
                "wrong_host",
                "the request is for another host",
                "use the address that `checkrein serve` printed",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "wrong_origin",
                "the request comes from a page of another origin",
                "use the pages of the server, or a program with `Authorization: Bearer TOKEN`",
            ),
            Self::NoKey => (
                StatusCode::UNAUTHORIZED,
                "no_key",
                "the request has no key",
                "send `Authorization: Bearer TOKEN`, or open the link that `checkrein serve` printed",
            ),
            Self::WrongKey => (
                StatusCode::UNAUTHORIZED,
                "wrong_key",
                "the key is not valid",
                "the key is in `server/checkrein.token` of the state directory; a link works once",
            ),
            Self::TooMany => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_many",
                "too many wrong keys",
                "wait a minute, or use the right key",
            ),
            Self::Elsewhere => (
                StatusCode::FORBIDDEN,
                "elsewhere",
                "keys and links count on the machine of the server alone",
                "log in with the password or a paired device, or use `ssh -L`",
            ),
            Self::LoggedOut => {
                (StatusCode::UNAUTHORIZED, "logged_out", "this login does not count any more", "log in again")
            }
            Self::Agent => (
                StatusCode::FORBIDDEN,
                "agent",
                "the process that sent this was started by an agent",
                "do it in a browser or a terminal of your own",
            ),
            Self::Detached => (
                StatusCode::FORBIDDEN,
                "detached",
                "who started the process that sent this is gone and cannot be told",
                "do it in a browser or a terminal of your own, or by a link in a notice",
            ),
            Self::Role => (
                StatusCode::FORBIDDEN,
                "role",
                "the key of a viewer changes nothing",
                "use the key in `server/checkrein.token` of the state directory",
            ),
        };
        ApiError::new(status, kind, message, hint)
    }
}

/// Whether a request does more than read and ask.
fn changes_something(request: &Request) -> bool {
    !matches!(*request.method(), Method::GET | Method::HEAD) && !asks_only(request.uri().path())
}

/// Whether a path is one where programs ask before they act.
fn asks_only(path: &str) -> bool {
    path == "/v1/check" || path == "/acgp/v1/messages"
}

/// Whether a viewer may post to a path: to ask, and to go.
fn is_for_viewers(path: &str) -> bool {
    asks_only(path) || path == LOGOUT
}

fn peer(request: &Request) -> Option<Peer> {
    request.extensions().get::<ConnectInfo<Peer>>().map(|info| info.0.clone())
}

/// Why a process at the other end may not act, as far as it is known. The pages are for the browser of a person, which may begin a session of
/// its own. A key is in a file, so that who sends it is held to what a command of a person is: who started it must be told. Looked up on a
/// thread that may wait; what could not be looked up is not known to be a person's.
async fn against(peer: Peer, visitor: Option<&Visitor>) -> Option<Refusal> {
    let asker = match visitor.map(|visitor| &visitor.by) {
        Some(KeyKind::Header) => Asker::Person,
        Some(
            KeyKind::Cookie(_) | KeyKind::Password { .. } | KeyKind::Issuer { .. } | KeyKind::Device { .. },
        )
        | None => Asker::PersonOrService,
    };
    match tokio::task::spawn_blocking(move || peer.sign(asker)).await {
        Ok(None) => None,
        Ok(Some(Sign::Detached)) => Some(Refusal::Detached),
        Ok(Some(Sign::Environment | Sign::Supervised | Sign::Client(_) | Sign::Copy(_))) | Err(_) => {
            Some(Refusal::Agent)
        }
    }
}

/// A request with all of its body, which is read within bounds of time and length.
async fn whole(request: Request<Body>) -> Result<Request<Body>, ApiError> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(request);
    }
    let (head, body) = request.into_parts();
    let read = tokio::time::timeout(BODY, axum::body::to_bytes(body, LONGEST_BODY)).await;
    let refused = |status, kind, words: &str| Err(ApiError::new(status, kind, words, ""));
    match read {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => {
            refused(StatusCode::PAYLOAD_TOO_LARGE, "too_long", "the body is longer than 1 MiB, or broke off")
        }
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body did not come in time"),
    }
}

/// Lets a request through, or answers it; and puts the headers on every answer that keep other pages out.
pub(crate) async fn guard(
    State(access): State<Arc<Access>>,
    mut request: Request<Body>,
    next: Next,
) -> Response {
    let peer = if changes_something(&request) { peer(&request) } else { None };
    let judged = match (access.judge(&request), peer) {
        (Ok(visitor), Some(peer)) => match against(peer, visitor.as_ref()).await {
            Some(refusal) => Err(refusal),
            None => Ok(visitor),
        },
        (judged, _) => judged,
    };
    let mut response = match judged {
        Ok(visitor) => {
            if let Some(visitor) = visitor {
                request.extensions_mut().insert(visitor);
            }
            match whole(request).await {
                Ok(request) => next.run(request).await,
                Err(late) => late.into_response(),
            }
        }
        Err(refusal) => {
            let path = request.uri().path();
            let path = [OPEN, PAIR].into_iter().find(|one| path.starts_with(one)).unwrap_or(path);
            let from = self::peer(&request).map(|peer| peer.place()).unwrap_or_default();
            access.visits.note(access.clock.now(), refusal.kind(), refusal.detail(), path, &from);
            let error = refusal.error();
            let accepted = request.headers().get(header::ACCEPT).and_then(|kind| kind.to_str().ok());
            let is_page =
                accepted.is_some_and(|kind| kind.contains("text/html")) && !path.starts_with("/v1/");
            let is_outside = matches!(request.extensions().get::<Door>(), Some(Door::Outside(_)));
            if is_page && is_outside && matches!(refusal, Refusal::NoKey | Refusal::LoggedOut) {
                let mut response = content(StatusCode::SEE_OTHER, "text/plain", "");
                response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(LOGIN));
                response
            } else if is_page {
                content(error.status, "text/html; charset=utf-8", failed(&error.detail))
            } else {
                error.into_response()
            }
        }
    };
    access.write_down().await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// What stands on every answer. Scripts, styles and pictures come from here alone, none stands in a page, no page frames ours.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    // With `no-referrer` browsers say `Origin: null` for a form, which is then refused like that of a page elsewhere.
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// Whether a host is a name of this machine for itself, with any port: a tunnel has one of its own.
fn is_own_host(host: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
        || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

/// The value of a cookie of a request.
pub(crate) fn cookie(headers: &HeaderMap, wanted: &str) -> Option<String> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(';')).find_map(|part| {
        let (name, value) = part.trim().split_once('=')?;
        (name == wanted).then(|| value.to_owned())
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
