//! `/v1`: every address by method, what it is given and what it answers. Router and description are made of the same table.

mod handlers;
mod openapi;
mod routes;

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value as Json};

use crate::access::Visitor;
use crate::answer::{ApiError, content, json};
use crate::commands::AnswerDoor;
use crate::devices::Role;
use crate::server::App;

pub(crate) use handlers::session_of;
pub(crate) use openapi::document;
pub(crate) use routes::ROUTES;

/// The method of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
}

/// An address.
pub(crate) struct Route {
    pub(crate) verb: Verb,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// What may stand behind `?`, each with what it means.
    pub(crate) query: &'static [(&'static str, &'static str)],
    /// The fields of its body, each with what it means.
    pub(crate) body: &'static [(&'static str, &'static str)],
    pub(crate) answer: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) handle: fn(&App, &Call) -> Result<Json, ApiError>,
}

/// What a request brings.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) path: HashMap<String, String>,
    pub(crate) query: HashMap<String, String>,
    pub(crate) body: Map<String, Json>,
    pub(crate) door: Option<AnswerDoor>,
    /// What the key is good for.
    pub(crate) role: Option<Role>,
}

impl Call {
    /// A part of the path.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A field of the query, where it is not empty.
    pub(crate) fn asked(&self, name: &str) -> Option<String> {
        self.query.get(name).filter(|text| !text.is_empty()).cloned()
    }

    /// Whether the key is that of the approver.
    pub(crate) fn is_of_approver(&self) -> bool {
        self.role == Some(Role::Approver)
    }

    /// A number of the query.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let Some(text) = self.asked(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| bad(format!("`{name}` is not a number"), ""))
    }

    /// A text of the body, where it is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.body.get(name).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A text that must be there.
    pub(crate) fn needed(&self, name: &str) -> Result<String, ApiError> {
        self.text(name).ok_or_else(|| bad(format!("the field `{name}` is missing"), ""))
    }

    /// Whether a switch of the body is on; forms send texts. What is neither on nor off is refused, since to take it for off does more.
    pub(crate) fn is_on(&self, name: &str) -> Result<bool, ApiError> {
        match self.body.get(name) {
            None | Some(Json::Null | Json::Bool(false)) => Ok(false),
            Some(Json::Bool(true)) => Ok(true),
            Some(Json::String(text)) if matches!(text.as_str(), "true" | "on") => Ok(true),
            Some(Json::String(text)) if matches!(text.as_str(), "" | "false" | "off") => Ok(false),
            Some(Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_)) => {
                Err(bad(format!("`{name}` is neither true nor false"), ""))
            }
        }
    }
}

/// A request that cannot be read.
pub(crate) fn bad(message: impl Into<String>, hint: &str) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "bad_request", message, hint)
}

/// The router of all addresses.
pub(crate) fn router() -> Router<Arc<App>> {
    let mut router = Router::new();
    for route in ROUTES {
        let filter = match route.verb {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
        };
        let answer = move |State(app): State<Arc<App>>,
                           Path(path): Path<HashMap<String, String>>,
                           Query(query): Query<HashMap<String, String>>,
                           Extension(visitor): Extension<Visitor>,
                           headers: HeaderMap,
                           body: Bytes| async move {
            match called(route, path, query, &headers, &body) {
                Ok((call, then)) => {
                    let call = Call { role: Some(visitor.role), ..call };
                    carried(app, route, call, &visitor.words(), then).await
                }
                Err(error) => error.into_response(),
            }
        };
        router = router.route(route.path, on(filter, answer));
    }
    router.route("/v1/openapi.json", axum::routing::get(described))
}

async fn described() -> Response {
    json(StatusCode::OK, &document())
}

async fn carried(
    app: Arc<App>,
    route: &'static Route,
    call: Call,
    from: &str,
    then: Option<String>,
) -> Response {
    let shown = if route.verb == Verb::Post { concrete(route.path, &call) } else { String::new() };
    let told = Arc::clone(&app);
    let answered = app.wait(move |app| (route.handle)(app, &call)).await;
    if route.verb == Verb::Post {
        let end = if answered.is_ok() { "done" } else { "not done" };
        told.access.note_act(end, &shown, from);
    }
    match (answered, then) {
        (Ok(value), None) => json(StatusCode::OK, &value),
        (Ok(_), Some(then)) => back(&then),
        (Err(error), None) => error.into_response(),
        (Err(error), Some(_)) => {
            let status = error.status;
            content(status, "text/html; charset=utf-8", crate::pages::failed(&error.detail))
        }
    }
}

/// Leads a browser back to a page of ours.
fn back(then: &str) -> Response {
    let mut response = content(StatusCode::SEE_OTHER, "text/plain", "");
    let is_own = leads_within(then);
    let place = HeaderValue::from_str(if is_own { then } else { "/" });
    response.headers_mut().insert(header::LOCATION, place.unwrap_or(HeaderValue::from_static("/")));
    response
}

/// Whether an address leads to a page of ours. Browsers take tabs and ends of lines out of an address, and a `\` for a `/`.
fn leads_within(then: &str) -> bool {
    let is_plain = then.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    then.starts_with('/') && !then.starts_with("//") && is_plain
}

fn concrete(path: &str, call: &Call) -> String {
    call.path.iter().fold(path.to_owned(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value))
}

/// Reads a request; the second is the page to which a form leads back.
fn called(
    route: &Route,
    path: HashMap<String, String>,
    query: HashMap<String, String>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(Call, Option<String>), ApiError> {
    let known = |name: &str| route.query.iter().any(|(known, _)| *known == name);
    if let Some(name) = query.keys().find(|name| !known(name)) {
        return Err(bad(
            format!("`{name}` is not a parameter of this address"),
            "`/v1/openapi.json` lists them",
        ));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_form = kind.starts_with("application/x-www-form-urlencoded");
    let mut fields = match (route.verb, body) {
        (Verb::Get, _) | (_, []) => Map::new(),
        (Verb::Post, body) if is_form => form(body)?,
        (Verb::Post, body) => serde_json::from_slice(body)
            .map_err(|error| bad(format!("the body is not a JSON object: {error}"), ""))?,
    };
    let then =
        if is_form { fields.remove("then").and_then(|then| Some(then.as_str()?.to_owned())) } else { None };
    // A field called `*` takes any.
    let is_open = route.body.iter().any(|(name, _)| *name == "*");
    let known = |name: &str| is_open || route.body.iter().any(|(known, _)| *known == name);
    if let Some(name) = fields.keys().find(|name| !known(name)) {
        return Err(bad(format!("`{name}` is not a field of this request"), "`/v1/openapi.json` lists them"));
    }
    let door = Some(if is_form { AnswerDoor::Console } else { AnswerDoor::Api });
    Ok((Call { path, query, body: fields, door, role: None }, then))
}

pub(crate) fn form(body: &[u8]) -> Result<Map<String, Json>, ApiError> {
    let uri = format!("/?{}", String::from_utf8_lossy(body));
    let uri = uri.parse().map_err(|_| bad("the form cannot be read", ""))?;
    let Query(fields) =
        Query::<Vec<(String, String)>>::try_from_uri(&uri).map_err(|_| bad("the form cannot be read", ""))?;
    Ok(fields.into_iter().map(|(name, value)| (name, Json::String(value))).collect())
}

#[cfg(test)]
mod tests;
