//! The console: pages as HTML. Nothing in them is a program but one small file of ours, which renews what the page shows; every button is a
//! form that works without it.

mod parts;
mod views;

pub(crate) use parts::legible;
pub(crate) use views::rendered;

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Extension, Router};

use crate::access::Visitor;
use crate::answer::{ApiError, ErrorDetail, content};
use crate::api::Call;
use crate::devices::Role;
use crate::server::App;

const HTML: &str = "text/html; charset=utf-8";

/// A page: its address, and what makes it.
type Page = (&'static str, fn(&App, &Call) -> Result<String, ApiError>);

const PAGES: [Page; 10] = [
    ("/", views::sessions),
    ("/sessions/{session}", views::session),
    ("/sessions/{session}/calls/{action}", views::call),
    ("/sessions/{session}/rollback", views::rollback),
    ("/sessions/{session}/snapshots", views::snapshots),
    ("/sessions/{session}/snapshots/{snapshot}", views::snapshot),
    ("/approvals", views::approvals),
    ("/calls", views::calls),
    ("/review", views::review),
    ("/stats", views::stats),
];

/// The router of all pages.
pub(crate) fn router() -> Router<Arc<App>> {
    let mut router = Router::new();
    for (path, make) in PAGES {
        let answer = move |State(app): State<Arc<App>>,
                           Path(path): Path<HashMap<String, String>>,
                           Query(query): Query<HashMap<String, String>>,
                           Extension(visitor): Extension<Visitor>| async move {
            let call = Call { path, query, role: Some(visitor.role), ..Call::default() };
            match app.wait(move |app| make(app, &call)).await {
                // Buttons that would be refused are not shown.
                Ok(text) if visitor.role == Role::Viewer => {
                    content(StatusCode::OK, HTML, text.replacen("<body>", "<body class=\"viewer\">", 1))
                }
                Ok(text) => content(StatusCode::OK, HTML, text),
                Err(error) => content(error.status, HTML, failed(&error.detail)),
            }
        };
        router = router.route(path, get(answer));
    }
    router
}

/// A page that leads on to the console.
pub(crate) fn onward() -> String {
    parts::Onward {}.render().unwrap_or_default()
}

/// The page for who has logged out.
pub(crate) fn logged_out() -> String {
    parts::LoggedOut {}.render().unwrap_or_default()
}

/// The page of a request that failed.
pub(crate) fn failed(detail: &ErrorDetail) -> String {
    parts::Failed { message: &detail.message, hint: detail.hint.as_deref() }.render().unwrap_or_default()
}
