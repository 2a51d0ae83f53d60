//! From a bound address to requests.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use checkrein_engine::answer_links::PublicAddress;
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::servers;
use checkrein_ledger::StateDirectory;
use checkrein_policy::Config;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;
use tokio::sync::{Semaphore, watch};

use crate::access::{Access, COOKIE, LOGOUT, OPEN, Visitor, guard};
use crate::address::{Address, Doors, OutsideDoor, Pairing};
use crate::answer::{ApiError, content};
use crate::api;
use crate::assets;
use crate::certificate::Certificates;
use crate::commands::{Commands, Extent, ServedCommand};
use crate::devices::{self, Role};
use crate::events::events;
use crate::index::Index;
use crate::index::follower::{Follower, Round};
use crate::links;
use crate::listening::{Listener, SealedListener, bind_outside};
use crate::metrics::names;
use crate::oidc::Oidc;
use crate::otlp::{Counts, Telling};
use crate::outside::{self, Outside};
use crate::pages;
use crate::password;
use crate::peer::Peer;
use crate::token::Token;
use crate::visits::Visits;

/// The stack of a thread that reviews, in bytes, as in the hook: virtual memory, touched only as far as it is used (ours).
const STACK: usize = 64 * 1024 * 1024;
/// How often the ledgers are looked at (ours): an event is out well under a second after the call.
const ROUND: std::time::Duration = std::time::Duration::from_millis(200);
/// How many streams of events are open at once (ours).
const STREAMS: usize = 64;
/// How many threads do what may take its time (ours), and how many of them wait for the answer of a person at most.
const THREADS: usize = 32;
const WAITS: usize = 16;

/// The server of one state directory.
pub struct Server {
    environment: HostEnvironment,
    access: Access,
    token: Token,
    commands: Arc<dyn Commands>,
    config: Config,
}

/// What requests are answered from.
pub(crate) struct App {
    environment: HostEnvironment,
    pub(crate) access: Arc<Access>,
    pub(crate) commands: Arc<dyn Commands>,
    index: Index,
    /// The number of the newest record in the index.
    pub(crate) newest: watch::Receiver<i64>,
    /// Streams of events that may still be opened.
    pub(crate) streams: Arc<Semaphore>,
    /// Requests that may still wait for the answer of a person.
    pub(crate) waits: Semaphore,
    is_up: Arc<AtomicBool>,
    /// What a session may cost, in US dollars, where the configuration of the server says.
    pub(crate) dollar_limit: Option<f64>,
    /// Reviews that were asked for, and those of them that came out of the cache.
    reviews: ReviewCounts,
    /// What was sent to a collector; `None` where there is none.
    telemetry: Option<Arc<Counts>>,
}

/// How many reviews were asked for since the start, and how many of them came out of the cache (seed 002).
#[derive(Debug, Default)]
struct ReviewCounts {
    lookups: AtomicU64,
    hits: AtomicU64,
}

impl ReviewCounts {
    fn samples(&self) -> Vec<(&'static str, String, f64)> {
        let (lookups, hits) = (self.lookups.load(Ordering::Relaxed), self.hits.load(Ordering::Relaxed));
        let ratio = if lookups > 0 { hits as f64 / lookups as f64 } else { 0.0 };
        vec![
            (names::CACHE_LOOKUPS, String::new(), lookups as f64),
            (names::CACHE_HITS, String::new(), hits as f64),
            (names::CACHE_RATIO, String::new(), ratio),
        ]
    }
}

impl App {
    /// Has a review made, and counts whether it was made before.
    pub(crate) fn reviewed(&self, question: Json) -> Result<Json, ApiError> {
        self.counted(ServedCommand::Check { question })
    }

    /// The same of an action of a sender of messages.
    pub(crate) fn evaluated(
        &self,
        (sender, session): (String, String),
        question: Json,
        extent: Extent,
    ) -> Result<Json, ApiError> {
        self.counted(ServedCommand::Evaluate { sender, session, question, extent })
    }

    fn counted(&self, command: ServedCommand) -> Result<Json, ApiError> {
        let told = self.commands.carry_out(command)?.pop().unwrap_or_default();
        self.reviews.lookups.fetch_add(1, Ordering::Relaxed);
        self.reviews.hits.fetch_add(u64::from(told["cached"] == true), Ordering::Relaxed);
        Ok(told)
    }

    /// A connection to the index.
    pub(crate) fn reader(&self) -> Result<Connection, ApiError> {
        Ok(self.index.reader()?)
    }

    pub(crate) fn environment(&self) -> &HostEnvironment {
        &self.environment
    }

    pub(crate) fn state(&self) -> &StateDirectory {
        &self.environment.state
    }

    /// The time, in milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.environment.now().0
    }

    /// The time, as RFC 3339.
    pub(crate) fn timestamp(&self) -> String {
        self.environment.now().calendar().to_rfc3339()
    }

    /// Whether the index follows the ledgers.
    pub(crate) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    /// Does something that may take its time on another thread.
    pub(crate) async fn wait<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        tokio::task::spawn_blocking(move || work(&self)).await.unwrap_or_else(|_| {
            Err(ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "defect",
                "the request failed unexpectedly",
                "report this as a defect",
            ))
        })
    }
}

/// What is said as soon as the server answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Announcement {
    /// Where it answers: `http://127.0.0.1:PORT`, or `unix:PATH`.
    pub url: String,
    /// A link that logs one browser in, once.
    pub open: String,
    /// The key for programs, also in `server/checkrein.token` of the state directory.
    pub token: String,
    /// Where other machines reach it; not there where they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
}

/// Where other machines reach the server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Elsewhere {
    /// The address, `https://HOST:PORT`.
    pub url: String,
    /// The SHA-256 fingerprint of its certificate, as browsers show it.
    pub fingerprint: String,
    /// A link that pairs one device within five minutes, once; not there where a service started the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
}

impl Server {
    /// The server over the state directory of an environment. Makes its keys at first use.
    pub fn new(environment: HostEnvironment, commands: Arc<dyn Commands>) -> Result<Self, CommandError> {
        let folder = environment.state.root().join("server");
        let key = |name: &str| {
            let path = folder.join(name);
            Token::in_file(&path).map_err(|error| CommandError::file("use", path.display(), &error))
        };
        let (token, viewer) = (key("checkrein.token")?, key("checkrein-view.token")?);
        // Hooks sign links with it.
        key("links.key")?;
        let config = config_files::load(&environment, &environment.cwd)?.config;
        let public = match config.server.public_address.as_deref() {
            None => None,
            Some(text) => Some(PublicAddress::parse(text).ok_or_else(|| {
                CommandError::user(
                    format!("`server.public_address` is `{text}`, which is not an address of a host"),
                    "write `https://HOST` or `https://HOST:PORT`",
                )
            })?),
        };
        let visits = Visits::new(folder.join("access.jsonl")).with_ledger(environment.state.clone());
        let access = Access::new(&token, &viewer, visits, Arc::clone(&environment.clock)).with_public(public);
        Ok(Self { environment, access, token, commands, config })
    }

    /// Answers requests at these doors until the process is asked to end (SIGINT, SIGTERM). `announce` is called once, when it answers.
    pub fn run(
        self,
        doors: &Doors,
        announce: impl FnOnce(&Announcement) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(THREADS)
            .thread_stack_size(STACK)
            .build()
            .map_err(|error| system("cannot start the server", &error))?;
        let ended = runtime.block_on(self.answer(doors, announce));
        // A stream of events has no end of its own.
        runtime.shutdown_timeout(std::time::Duration::from_secs(1));
        ended
    }

    async fn answer(
        mut self,
        doors: &Doors,
        announce: impl FnOnce(&Announcement) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let listener = Listener::bind(&doors.local).await?;
        let sealed = match &doors.outside {
            None => None,
            Some(door) => Some(self.open_outside(door).await?),
        };
        let pairing = doors.outside.as_ref().and_then(|door| match door.pairing {
            Pairing::Offered(role) => Some(role),
            Pairing::None => None,
        });
        let elsewhere = self.elsewhere(pairing)?;
        let until = until_asked_to_end().map_err(|error| system("cannot wait for signals", &error))?;
        let link = self.access.link().map_err(|error| system("no randomness", &error))?;
        let url = listener.url();
        // As long as this lives, `checkrein open` finds the server.
        let _announced = servers::announce(&self.environment, &url)
            .map_err(|error| system("cannot say that the server answers", &error))?;
        let announcement = Announcement {
            open: if url.starts_with("http") { format!("{url}{link}") } else { link },
            url,
            token: self.token.as_str().to_owned(),
            elsewhere,
        };
        let index = Index::of(self.environment.state.root());
        let follower = Following::begin(&index, &self.environment.state)?;
        let telling = Telling::begin(&self.environment, &self.config, &index, follower.newest.clone())
            .map_err(|error| system("cannot start to send telemetry", &error))?;
        let router = self.router(index, &follower, telling.as_ref());
        announce(&announcement)?;
        tokio::select! {
            never = listener.serve(router.clone()) => match never {},
            never = async {
                match sealed {
                    Some(sealed) => sealed.serve(router).await,
                    None => std::future::pending().await,
                }
            } => match never {},
            () = until => {}
        }
        if let Address::Unix(path) = &doors.local {
            drop(std::fs::remove_file(path));
        }
        Ok(())
    }

    /// Opens the door for other machines: its certificate, and what is known of those who come by it.
    async fn open_outside(&mut self, door: &OutsideDoor) -> Result<SealedListener, CommandError> {
        let folder = self.environment.state.root().join("server");
        let oidc = Oidc::of(std::path::Path::new(self.environment.configuration.as_str()))?;
        let can_log_in = matches!(door.pairing, Pairing::Offered(_))
            || password::hash(&folder).is_some()
            || !devices::paired_devices(&self.environment).is_empty()
            || oidc.is_some();
        if !can_log_in {
            return Err(CommandError::user(
                "nobody could log in from other machines: no password is set, and no device is paired",
                "set one with `checkrein serve --set-password`, or start it in a terminal of yours, or name an issuer in `oidc.json`",
            ));
        }
        let (listener, bound) = bind_outside(door.address).await?;
        let mut names = door.names.clone();
        names.push(door.reached.to_string());
        let clock = Arc::clone(&self.environment.clock);
        let certificates = Certificates::kept(&folder, names, clock)
            .map_err(|error| system("cannot make the certificate", &error))?;
        let reached = std::net::SocketAddr::new(door.reached, bound.port());
        let url = format!("https://{reached}");
        let known = Outside::new(folder, url, certificates.fingerprint(), &door.names).with_oidc(oidc);
        self.access.open_outside(known);
        Ok(SealedListener::new(listener, Arc::new(certificates)))
    }

    fn elsewhere(&self, pairing: Option<Role>) -> Result<Option<Elsewhere>, CommandError> {
        let Some(outside) = self.access.outside() else { return Ok(None) };
        let code = |role| outside.code(role, self.environment.now());
        let pair = pairing.map(code).transpose().map_err(|error| system("no randomness", &error))?;
        Ok(Some(Elsewhere {
            url: outside.url().to_owned(),
            fingerprint: outside.fingerprint().as_str().to_owned(),
            pair,
        }))
    }

    fn router(self, index: Index, follower: &Following, telling: Option<&Telling>) -> Router {
        let access = Arc::new(self.access);
        let app = Arc::new(App {
            environment: self.environment,
            access: Arc::clone(&access),
            commands: self.commands,
            index,
            newest: follower.newest.clone(),
            streams: Arc::new(Semaphore::new(STREAMS)),
            waits: Semaphore::new(WAITS),
            is_up: Arc::clone(&follower.is_up),
            dollar_limit: self.config.dollar_limit(),
            reviews: ReviewCounts::default(),
            telemetry: telling.map(|telling| Arc::clone(&telling.counts)),
        });
        Router::new()
            .route("/healthz", get(healthz))
            .route("/open/{key}", get(open))
            .route(LOGOUT, post(log_out))
            .route("/metrics", get(metrics))
            .route("/v1/events", get(events))
            .merge(api::router())
            .merge(pages::router())
            .merge(links::router())
            .merge(assets::router())
            .merge(outside::router())
            .fallback(async || not_found())
            .method_not_allowed_fallback(async || {
                ApiError::new(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "method",
                    "the address does not take this method",
                    "`/v1/openapi.json` lists the methods of each address",
                )
            })
            .with_state(app)
            // The guard has read all of it within its own bound.
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(access, guard))
    }
}

/// There is nothing at an address.
pub(crate) fn not_found() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "not_found",
        "nothing is there",
        "`/v1/openapi.json` lists all addresses",
    )
}

async fn healthz(State(app): State<Arc<App>>) -> Response {
    let (status, word) =
        if app.is_up() { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "failing") };
    content(status, "application/json", format!("{{\"status\":\"{word}\",\"index\":\"{word}\"}}"))
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let text = app
        .wait(|app| {
            let mut more = app.telemetry.as_ref().map(|counts| counts.samples()).unwrap_or_default();
            more.extend(app.reviews.samples());
            Ok(crate::metrics::text(&app.reader()?, app.state(), app.now(), app.is_up(), more)?)
        })
        .await;
    match text {
        Ok(text) => content(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text),
        Err(error) => error.into_response(),
    }
}

async fn open(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    axum::extract::Path(key): axum::extract::Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some(cookie) = app.access.redeem(&key, &peer.place()) else {
        app.access.note_refused("used or unknown link", OPEN, &peer);
        return ApiError::new(
            StatusCode::UNAUTHORIZED,
            "used_link",
            "the link was used already, or is of another start of the server",
            "`checkrein open` makes a new one",
        )
        .into_response();
    };
    // A browser that comes from a page elsewhere, a mail or a chat, carries neither the cookie nor its own site over a redirect. A page of
    // ours that leads on does.
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let mut response = if site.is_none_or(|site| matches!(site, "same-origin" | "none")) {
        content(StatusCode::SEE_OTHER, "text/plain", "")
    } else {
        content(StatusCode::OK, "text/html; charset=utf-8", pages::onward())
    };
    let cookie = format!("{COOKIE}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    if response.status() == StatusCode::SEE_OTHER {
        response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
    }
    response
}

/// Ends the login of a browser, and has it forget the cookie and what it keeps of our pages.
async fn log_out(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>) -> Response {
    let ended = app.wait(move |app| {
        app.access.log_out(&visitor).map_err(|error| {
            let hint = "check that the state directory can be written to";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "system", error.to_string(), hint)
        })
    });
    if let Err(error) = ended.await {
        return error.into_response();
    }
    let mut response = content(StatusCode::OK, "text/html; charset=utf-8", pages::logged_out());
    for (name, more) in [(COOKIE, ""), (outside::COOKIE, "; Secure")] {
        let gone = format!("{name}=; Path=/{more}; HttpOnly; SameSite=Strict; Max-Age=0");
        if let Ok(gone) = HeaderValue::from_str(&gone) {
            response.headers_mut().append(header::SET_COOKIE, gone);
        }
    }
    let forgotten = HeaderValue::from_static("\"cache\", \"storage\"");
    response.headers_mut().insert("clear-site-data", forgotten);
    response
}

/// The thread that follows the ledgers; it ends when this is dropped.
struct Following {
    newest: watch::Receiver<i64>,
    is_up: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Following {
    fn begin(index: &Index, state: &StateDirectory) -> Result<Self, CommandError> {
        let failed = |error: rusqlite::Error| CommandError {
            hint: Some("check that the state directory can be written to".to_owned()),
            ..system("cannot open the index", &io::Error::other(error))
        };
        let (is_up, is_over) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let mut follower = Follower::new(index, state).map_err(failed)?;
        let (tell, newest) = watch::channel(follower.newest().map_err(failed)?);
        let (up, over) = (Arc::clone(&is_up), Arc::clone(&is_over));
        let thread = std::thread::Builder::new().name("follower".to_owned()).spawn(move || {
            follow(&over, up, &tell, || follower.round());
        });
        let thread = thread.map_err(|error| system("cannot follow the records", &error))?;
        Ok(Self { newest, is_up, is_over, thread: Some(thread) })
    }
}

/// Looks at the ledgers again and again. However it ends, the index does not follow any more then, and that is said.
fn follow<E>(
    is_over: &AtomicBool,
    is_up: Arc<AtomicBool>,
    tell: &watch::Sender<i64>,
    mut round: impl FnMut() -> Result<Round, E>,
) {
    let following = IsFollowing(is_up);
    while !is_over.load(Ordering::Relaxed) {
        let read = round();
        following.0.store(read.is_ok(), Ordering::Relaxed);
        if let Ok(Round { newest, is_whole }) = read {
            tell.send_if_modified(|known| std::mem::replace(known, newest) != newest);
            if !is_whole {
                continue;
            }
        }
        std::thread::sleep(ROUND);
    }
}

/// Whether the index follows; it does not once this is dropped, also by a panic.
struct IsFollowing(Arc<AtomicBool>);

impl Drop for IsFollowing {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Ends when the process is asked to.
fn until_asked_to_end() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

pub(crate) fn system(what: &str, error: &io::Error) -> CommandError {
    CommandError {
        kind: checkrein_engine::error::ErrorKind::System,
        message: format!("{what}: {error}"),
        hint: None,
        in_short: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_follower_that_panics_is_not_up() {
        let is_up = Arc::new(AtomicBool::new(true));
        let (tell, newest) = watch::channel(0);
        let up = Arc::clone(&is_up);
        let mut left = 2;
        let thread = std::thread::spawn(move || {
            follow(&AtomicBool::new(false), up, &tell, || {
                left -= 1;
                assert!(left > 0, "a defect");
                Ok::<Round, ()>(Round { newest: 7, is_whole: true })
            });
        });
        assert!(thread.join().is_err());
        assert_eq!((*newest.borrow(), is_up.load(Ordering::Relaxed)), (7, false));
    }
}
