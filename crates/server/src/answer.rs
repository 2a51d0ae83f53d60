//! Errors and values as JSON.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use checkrein_engine::error::{CommandError, ErrorKind};
use schemars::JsonSchema;
use serde::Serialize;

/// An error, as every address answers it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    /// What went wrong.
    pub(crate) error: ErrorDetail,
}

/// What went wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorDetail {
    /// What sort, for programs: `no_key`, `wrong_key`, `forbidden`, `not_found`, `refused`, `unavailable`, ...
    pub(crate) kind: &'static str,
    /// What happened, in words.
    pub(crate) message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// A request that is not answered with what it asked for.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) detail: ErrorDetail,
}

impl ApiError {
    /// An error with these words.
    pub(crate) fn new(
        status: StatusCode,
        kind: &'static str,
        message: impl Into<String>,
        hint: &str,
    ) -> Self {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Self { status, detail: ErrorDetail { kind, message: message.into(), hint } }
    }
}

impl From<CommandError> for ApiError {
    fn from(error: CommandError) -> Self {
        let (status, kind) = match error.kind {
            ErrorKind::User => (StatusCode::UNPROCESSABLE_ENTITY, "refused"),
            ErrorKind::Configuration => (StatusCode::UNPROCESSABLE_ENTITY, "configuration"),
            ErrorKind::System => (StatusCode::INTERNAL_SERVER_ERROR, "system"),
        };
        Self { status, detail: ErrorDetail { kind, message: error.message, hint: error.hint } }
    }
}

impl From<rusqlite::Error> for ApiError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "index",
            format!("the index cannot be read: {error}"),
            "try again; it is made again when it is damaged",
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response<Body> {
        let mut response = json(self.status, &ErrorBody { error: self.detail });
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A value as JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let (status, text) = match serde_json::to_vec(value) {
        Ok(text) => (status, text),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, b"{}".to_vec()),
    };
    content(status, "application/json", text)
}

/// Text of some type.
pub(crate) fn content(status: StatusCode, kind: &'static str, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A number as SQLite keeps it; what is too large for it is the greatest that it keeps.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
