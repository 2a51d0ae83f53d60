//! `/answer/NAME`: a page on which whoever holds a signed link answers one question, without a login. Opening it answers nothing: programs
//! that look into mail open links too.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use checkrein_engine::answer_links::{LinkRole, LinkTerms, is_signed};
use checkrein_engine::approvals::{self, ApprovalRequest, ApprovalState};
use checkrein_protocol::Timestamp;
use serde_json::{Map, Value as Json};

use crate::answer::{ApiError, content};
use crate::api::form;
use crate::commands::{AnswerDoor, ServedAnswer, ServedCommand};
use crate::pages::{legible, rendered};
use crate::peer::Peer;
use crate::server::App;

const HTML: &str = "text/html; charset=utf-8";

#[derive(Template)]
#[template(path = "answer.html")]
struct AnswerPage {
    id: String,
    until: u64,
    role: &'static str,
    signature: String,
    call: String,
    rewrite: Option<String>,
    directory: String,
    reasons: Vec<String>,
    effects: Vec<String>,
    expires: String,
}

#[derive(Template)]
#[template(path = "answered.html")]
struct Answered<'a> {
    title: &'a str,
    text: &'a str,
}

/// The router of the pages of links.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new().route("/answer/{approval}", get(shown).post(answered))
}

async fn shown(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let asked = app.wait(move |app| {
        let text = |name: &str| query.get(name).cloned().unwrap_or_default();
        let (approval, terms) = held(app, &id, &text, &peer)?;
        page(app, &approval, &terms, text("signature"))
    });
    told(asked.await)
}

async fn answered(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    let asked = app.wait(move |app| {
        let fields = form(&body)?;
        let text = |name: &str| field(&fields, name);
        let (approval, _) = held(app, &id, &text, &peer)?;
        let answer = match text("answer").as_str() {
            "allow" => ServedAnswer::Once,
            "deny" => ServedAnswer::No(Some(text("message")).filter(|message| !message.is_empty())),
            _ => return Err(invalid("the answer is neither `allow` nor `deny`")),
        };
        let is_yes = answer == ServedAnswer::Once;
        let command = ServedCommand::Answer {
            approval: approval.id.clone(),
            answer,
            shown: Some(approval.shown.clone()),
            from: AnswerDoor::Link,
        };
        let given = app.commands.carry_out(command);
        let end = if given.is_ok() { "done" } else { "not done" };
        let path = format!("/answer/{}", approval.id);
        app.access.note_link(&format!("answered by a link: {end}"), &path, &peer);
        given?;
        let (title, words) =
            if is_yes { ("Allowed", "The call went on.") } else { ("Refused", "The call was refused.") };
        rendered(&Answered { title, text: words })
    });
    told(asked.await)
}

fn field(fields: &Map<String, Json>, name: &str) -> String {
    fields.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn told(asked: Result<String, ApiError>) -> Response {
    match asked {
        Ok(text) => content(StatusCode::OK, HTML, text),
        Err(error) => {
            let page = Answered { title: "Not done", text: &error.detail.message };
            content(error.status, HTML, page.render().unwrap_or_default())
        }
    }
}

/// The question of a link that holds: signed by us on these terms, not ended, and still waiting.
fn held(
    app: &App,
    id: &str,
    text: &dyn Fn(&str) -> String,
    peer: &Peer,
) -> Result<(ApprovalRequest, LinkTerms), ApiError> {
    let refused = || {
        app.access.note_refused_answer(peer);
        // Whether there is such a question is nobody's business.
        ApiError::new(StatusCode::FORBIDDEN, "link", "this link is not valid", "")
    };
    if app.access.is_flooded() {
        let text = "too many links that are not valid were tried; wait a minute";
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many", text, ""));
    }
    let role = LinkRole::parse(&text("role")).ok_or_else(refused)?;
    let until = text("until").parse().map(Timestamp).map_err(|_| refused())?;
    let terms = LinkTerms { until, role };
    let approval = approvals::one(app.environment(), id).ok_or_else(refused)?;
    if !is_signed(app.environment(), &approval, &terms, &text("signature")) {
        return Err(refused());
    }
    let gone = |words: &str| Err(ApiError::new(StatusCode::GONE, "link", words, ""));
    match approval.state {
        ApprovalState::Allowed | ApprovalState::Denied => gone("this question is answered already"),
        ApprovalState::Expired | ApprovalState::Gone => gone("nothing waits for this answer any more"),
        ApprovalState::Pending if app.now() > terms.until.0 => gone("this link has ended"),
        ApprovalState::Pending => Ok((approval, terms)),
    }
}

fn page(
    app: &App,
    approval: &ApprovalRequest,
    terms: &LinkTerms,
    signature: String,
) -> Result<String, ApiError> {
    let command = ServedCommand::Approval { approval: approval.id.clone() };
    let entry = app.commands.carry_out(command)?.pop().unwrap_or_default();
    let all = |name: &str| {
        let all = entry[name].as_array().into_iter().flatten();
        all.filter_map(Json::as_str).map(legible).collect::<Vec<String>>()
    };
    rendered(&AnswerPage {
        id: approval.id.clone(),
        until: terms.until.0,
        role: terms.role.word(),
        signature,
        call: legible(&approval.call()),
        rewrite: entry["rewrite"].as_str().map(legible),
        directory: legible(&approval.review.cwd),
        reasons: all("reasons"),
        effects: all("effects"),
        expires: approval.expires_at.calendar().to_rfc3339().replace('T', " ").replace('Z', " UTC"),
    })
}

fn invalid(words: &str) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "bad_request", words, "")
}
