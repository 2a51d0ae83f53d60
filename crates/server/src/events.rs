//! `/v1/events`: records as they are written, as server-sent events. The number of an event is that of its record in the index, so that a
//! client that lost the stream goes on with `Last-Event-ID` and misses nothing.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::mpsc;

use crate::access::Visitor;
use crate::answer::{ApiError, content, signed};
use crate::index::query::{RecordRow, Wanted, records};
use crate::server::App;

/// After how long without an event a comment is sent, so that a lost client shows (ours).
const SILENCE: Duration = Duration::from_secs(15);
/// How old a record may be to count as one that is written now, in milliseconds (ours).
const LATE: u64 = 30_000;
/// How long is waited after a look that failed (ours).
const AGAIN: Duration = Duration::from_millis(500);
/// How many events are read at once (ours).
const PIECE: u64 = 200;

/// The body of an answer, as it comes.
struct Incoming(mpsc::Receiver<Bytes>);

impl futures_core::Stream for Incoming {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|item| item.map(Ok))
    }
}

/// Answers with a stream: of all sessions, or of the one that `session` names.
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Query(query): Query<HashMap<String, String>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
) -> Response {
    let Ok(permit) = Arc::clone(&app.streams).try_acquire_owned() else {
        return ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many",
            "too many streams are open",
            "close one",
        )
        .into_response();
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = last.or(query.get("after").map(String::as_str)).and_then(|id| id.parse().ok());
    let session = query.get("session").filter(|name| !name.is_empty()).cloned();
    let mut newest = app.newest.clone();
    // Without a number a stream tells what is written from now on, not what the index takes up late.
    let since = after.is_none().then(|| signed(app.now().saturating_sub(LATE)));
    // A number of an index that was made again since is beyond all that this one has.
    let mut known: i64 = *newest.borrow_and_update();
    let mut after: i64 = after.map_or(known, |after: i64| after.min(known));
    let (send, receive) = mpsc::channel(64);
    tokio::spawn(async move {
        let _permit = permit;
        let mut out = Bytes::from_static(b": hello\n\n");
        loop {
            // Who is logged out meanwhile reads nothing further.
            if !app.access.is_still_in(&visitor) || send.send(out).await.is_err() {
                return;
            }
            let wanted =
                Wanted { session: session.clone(), after: Some(after), limit: PIECE, ..Wanted::default() };
            let found = Arc::clone(&app).wait(move |app| Ok(records(&app.reader()?, &wanted)?.rows)).await;
            let Ok(found) = found else {
                // What could not be read now is read with what comes next.
                tokio::time::sleep(AGAIN).await;
                out = Bytes::new();
                continue;
            };
            if let Some(last) = found.last() {
                after = last.id;
                let told = found.iter().filter(|row| since.is_none_or(|since| row.at >= since));
                out = told.map(event).collect::<String>().into();
                continue;
            }
            // Nothing of this session stands before what is known: the next look need not begin there again.
            after = after.max(known);
            tokio::select! {
                changed = newest.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    // An index that was made again counts from 1.
                    let now = *newest.borrow_and_update();
                    if now < known {
                        after = 0;
                    }
                    known = now;
                    out = Bytes::new();
                }
                () = tokio::time::sleep(SILENCE) => out = Bytes::from_static(b": still here\n\n"),
                () = send.closed() => return,
            }
        }
    });
    content(StatusCode::OK, "text/event-stream", Body::from_stream(Incoming(receive)))
}

fn event(row: &RecordRow) -> String {
    let data = serde_json::to_string(row).unwrap_or_default();
    format!("id: {}\nevent: {}\ndata: {data}\n\n", row.id, row.kind)
}
