//! The pages on which people of other machines log in, and pair a phone. Opening one does nothing: programs that look into links open them too.

use std::net::IpAddr;
use std::sync::Arc;

use askama::Template;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use checkrein_protocol::Timestamp;

use super::{COOKIE, Door, LOGIN, Outside, PAIR};
use crate::answer::{ApiError, content};
use crate::api::form;
use crate::devices;
use crate::oidc::{self, Oidc};
use crate::pages::rendered;
use crate::password;
use crate::peer::Peer;
use crate::server::{App, not_found};

const HTML: &str = "text/html; charset=utf-8";

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    is_set: bool,
    /// The issuer at which people may log in.
    issuer: Option<&'a str>,
    said: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "pair.html")]
struct PairPage<'a> {
    code: &'a str,
    /// The fingerprint of the certificate.
    fingerprint: &'a str,
    /// Whether the link tells the same.
    is_same: bool,
    said: Option<&'a str>,
}

/// The router of these pages.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route(LOGIN, get(login).post(log_in))
        .route(oidc::BEGIN, get(begin_at_issuer))
        .route(oidc::BACK, get(back_from_issuer))
        .route("/pair/{code}", get(pairing).post(pair))
}

fn page(status: StatusCode, text: Result<String, ApiError>) -> Response {
    match text {
        Ok(text) => content(status, HTML, text),
        Err(error) => error.into_response(),
    }
}

fn outside(app: &App, door: Door) -> Result<&Outside, ApiError> {
    match (door, app.access.outside()) {
        (Door::Outside(_), Some(outside)) => Ok(outside),
        (Door::Outside(_), None) | (Door::Local, _) => Err(not_found()),
    }
}

/// From which machine; none where nothing is known of it, and who is not known logs in nowhere.
fn machine(peer: &Peer) -> Option<IpAddr> {
    match peer {
        Peer::Address(address) => Some(address.ip()),
        Peer::Process(_) => None,
    }
}

async fn login(State(app): State<Arc<App>>, Extension(door): Extension<Door>) -> Response {
    let outside = match outside(&app, door) {
        Ok(outside) => outside,
        Err(error) => return error.into_response(),
    };
    let is_set = password::hash(&outside.folder).is_some();
    page(StatusCode::OK, rendered(&LoginPage { is_set, issuer: issuer(outside), said: None }))
}

/// The issuer at which people may log in.
fn issuer(outside: &Outside) -> Option<&str> {
    outside.oidc.as_ref().map(Oidc::issuer)
}

fn field(body: &Bytes, name: &str) -> String {
    let fields = form(body).unwrap_or_default();
    fields.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

/// Leads on with a cookie.
fn in_with(cookie: &str, to: &'static str, stay: u64) -> Response {
    let mut response = content(StatusCode::SEE_OTHER, "text/plain", "");
    let cookie = format!("{COOKIE}={cookie}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={stay}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    response
}

const TOO_OFTEN: &str = "This was tried too often. Wait a minute.";

async fn log_in(
    State(app): State<Arc<App>>,
    Extension(door): Extension<Door>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Bytes,
) -> Response {
    let outside = match outside(&app, door) {
        Ok(outside) => outside,
        Err(error) => return error.into_response(),
    };
    let refused = |status, why: &str, said: &str| {
        app.access.note_refused(why, LOGIN, &peer);
        page(status, rendered(&LoginPage { is_set: true, issuer: issuer(outside), said: Some(said) }))
    };
    let now = Timestamp(app.now());
    let Some(from) = machine(&peer) else { return not_found().into_response() };
    let Some(hash) = password::hash(&outside.folder) else {
        app.access.note_refused("no password is set", LOGIN, &peer);
        let shown = LoginPage { is_set: false, issuer: issuer(outside), said: None };
        return page(StatusCode::FORBIDDEN, rendered(&shown));
    };
    if !outside.may_try(from, now) {
        return refused(StatusCode::TOO_MANY_REQUESTS, "too many passwords", TOO_OFTEN);
    }
    let given = field(&body, "password");
    // Nobody closes it.
    let Ok(_place) = outside.hashing.acquire().await else { return not_found().into_response() };
    let of_file = hash.clone();
    let asked = tokio::task::spawn_blocking(move || password::is_right(&of_file, &given)).await;
    if !asked.unwrap_or(false) {
        return refused(StatusCode::UNAUTHORIZED, "wrong password", "This is not the password.");
    }
    outside.was_right(from);
    match app.access.admit_by_password(&hash) {
        Ok((cookie, stay)) => {
            app.access.note_login("password", LOGIN, &peer);
            in_with(&cookie, "/", stay)
        }
        Err(error) => {
            let failed = StatusCode::INTERNAL_SERVER_ERROR;
            ApiError::new(failed, "system", format!("no randomness: {error}"), "").into_response()
        }
    }
}

/// Sends a browser to the issuer.
async fn begin_at_issuer(
    State(app): State<Arc<App>>,
    Extension(door): Extension<Door>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default().to_owned();
    let begun = at_issuer(&app, door, move |oidc, now| oidc.begin(&host, now)).await;
    match begun {
        Ok(Ok(begun)) => {
            let mut response = content(StatusCode::SEE_OTHER, "text/plain", "");
            // The issuer leads back from its own page: a cookie that is stricter would not come along.
            let kept = format!(
                "{}={}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600",
                oidc::COOKIE,
                begun.cookie
            );
            for (name, value) in [(header::SET_COOKIE, kept), (header::LOCATION, begun.address)] {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    response.headers_mut().insert(name, value);
                }
            }
            response
        }
        Ok(Err(why)) => not_vouched(&app, door, &peer, &why),
        Err(error) => error.into_response(),
    }
}

/// Lets in whom the issuer vouches for.
async fn back_from_issuer(
    State(app): State<Arc<App>>,
    Extension(door): Extension<Door>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Query(query): Query<std::collections::HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let browser = crate::access::cookie(&headers, oidc::COOKIE).unwrap_or_default();
    let person = at_issuer(&app, door, move |oidc, now| oidc.finish(&query, &browser, now)).await;
    let person = match person {
        Ok(Ok(person)) => person,
        Ok(Err(why)) => return not_vouched(&app, door, &peer, &why),
        Err(error) => return error.into_response(),
    };
    let admitted = outside(&app, door)
        .map(|outside| outside.oidc.as_ref().map(|oidc| app.access.admit_by_issuer(oidc, &person.email)));
    let Ok(Some(Ok((shown, stay)))) = admitted else { return not_found().into_response() };
    app.access.note_login(&format!("issuer: {} as {}", person.email, person.role.word()), oidc::BACK, &peer);
    // A browser that comes from the issuer carries no strict cookie over a redirect; a page of ours leads on.
    let mut response = content(StatusCode::OK, HTML, crate::pages::onward());
    let cookies = [
        format!("{COOKIE}={shown}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={stay}"),
        format!("{}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0", oidc::COOKIE),
    ];
    for cookie in cookies {
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
    response
}

/// Does something that asks the issuer, on a thread that may wait, few at a time.
async fn at_issuer<T: Send + 'static>(
    app: &Arc<App>,
    door: Door,
    ask: impl FnOnce(&Oidc, Timestamp) -> Result<T, String> + Send + 'static,
) -> Result<Result<T, String>, ApiError> {
    let place = outside(app, door)?;
    if place.oidc.is_none() {
        return Err(not_found());
    }
    // Nobody closes it.
    let Ok(_place) = place.hashing.acquire().await else { return Err(not_found()) };
    Arc::clone(app)
        .wait(move |app| {
            let oidc =
                app.access.outside().and_then(|outside| outside.oidc.as_ref()).ok_or_else(not_found)?;
            Ok(ask(oidc, Timestamp(app.now())))
        })
        .await
}

fn not_vouched(app: &App, door: Door, peer: &Peer, why: &str) -> Response {
    app.access.note_refused(&format!("login at the issuer: {why}"), oidc::BACK, peer);
    match outside(app, door) {
        Ok(outside) => {
            let is_set = password::hash(&outside.folder).is_some();
            let said = format!("You are not logged in: {why}.");
            let shown = LoginPage { is_set, issuer: issuer(outside), said: Some(&said) };
            page(StatusCode::UNAUTHORIZED, rendered(&shown))
        }
        Err(error) => error.into_response(),
    }
}

async fn pairing(
    State(app): State<Arc<App>>,
    Extension(door): Extension<Door>,
    Path(code): Path<String>,
    Query(query): Query<std::collections::HashMap<String, String>>,
) -> Response {
    let outside = match outside(&app, door) {
        Ok(outside) => outside,
        Err(error) => return error.into_response(),
    };
    let is_same = query.get("certificate").is_some_and(|told| *told == outside.fingerprint().in_link());
    let fingerprint = outside.fingerprint().as_str();
    // Whether there is such a code is told to who presses the button.
    page(StatusCode::OK, rendered(&PairPage { code: &code, fingerprint, is_same, said: None }))
}

async fn pair(
    State(app): State<Arc<App>>,
    Extension(door): Extension<Door>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(code): Path<String>,
    body: Bytes,
) -> Response {
    let outside = match outside(&app, door) {
        Ok(outside) => outside,
        Err(error) => return error.into_response(),
    };
    let refused = |status, why: &str, said: &str| {
        app.access.note_refused(why, PAIR, &peer);
        let fingerprint = outside.fingerprint().as_str();
        page(status, rendered(&PairPage { code: "", fingerprint, is_same: true, said: Some(said) }))
    };
    let now = Timestamp(app.now());
    let Some(from) = machine(&peer) else { return not_found().into_response() };
    if !outside.may_try(from, now) {
        return refused(StatusCode::TOO_MANY_REQUESTS, "too many codes", TOO_OFTEN);
    }
    let Some(role) = outside.redeem(&code, now) else {
        let said = "This code was used already, or its five minutes are over. `checkrein open --phone` shows a new one.";
        return refused(StatusCode::UNAUTHORIZED, "used or unknown code", said);
    };
    outside.was_right(from);
    match devices::pair(&outside.folder, &field(&body, "name"), role, now, &from.to_string()) {
        Ok((device, shown)) => {
            let told = format!("paired {} ({}) as {}", device.name, device.id, device.role.word());
            app.access.note_login(&told, PAIR, &peer);
            in_with(&format!("d.{shown}"), "/approvals", devices::STAY)
        }
        Err(error) => refused(
            StatusCode::INSUFFICIENT_STORAGE,
            "the device could not be written down",
            &format!("The device could not be paired: {error}."),
        ),
    }
}
