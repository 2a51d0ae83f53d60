//! The pages on which people of other machines log in, and pair a phone. Opening one does nothing: programs that look into links open them too.

use std::net::IpAddr;
use std::sync::Arc;

use askama::Template;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use checkrein_protocol::Timestamp;

use super::{COOKIE, Door, LOGIN, Outside, PAIR};
use crate::answer::{ApiError, content};
use crate::api::form;
use crate::devices;
use crate::pages::rendered;
use crate::password;
use crate::peer::Peer;
use crate::server::{App, not_found};

const HTML: &str = "text/html; charset=utf-8";

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    is_set: bool,
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
    Router::new().route(LOGIN, get(login).post(log_in)).route("/pair/{code}", get(pairing).post(pair))
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
    page(StatusCode::OK, rendered(&LoginPage { is_set, said: None }))
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
        page(status, rendered(&LoginPage { is_set: true, said: Some(said) }))
    };
    let now = Timestamp(app.now());
    let Some(from) = machine(&peer) else { return not_found().into_response() };
    let Some(hash) = password::hash(&outside.folder) else {
        app.access.note_refused("no password is set", LOGIN, &peer);
        return page(StatusCode::FORBIDDEN, rendered(&LoginPage { is_set: false, said: None }));
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
