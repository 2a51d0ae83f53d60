//! Connections: each is answered beside the others, and none may take its time over saying what it wants.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tower_service::Service as _;

use crate::outside::Door;
use crate::peer::Peer;

/// How long the head of a request may take, and how long a connection may be idle before the next one (ours).
const HEAD: Duration = Duration::from_secs(10);
/// How many connections are open at once (ours): further ones wait to be taken.
const CONNECTIONS: usize = 512;
/// How long it is waited where none can be taken, as without free descriptors (ours).
const PAUSE: Duration = Duration::from_millis(500);

/// A connection that may have to be greeted before it is spoken over.
pub(crate) trait Greeted: Send + 'static {
    /// What is spoken over then.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Greets it, within bounds of time.
    fn greeted(self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// Answers what `accept` brings, without an end.
pub(crate) async fn serve<S: Greeted>(
    accept: impl AsyncFn() -> io::Result<(S, Peer, Door)>,
    router: Router,
) -> Infallible {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // Nobody closes it.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { continue };
        let Ok((stream, peer, door)) = accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let router = router.clone();
        tokio::spawn(async move {
            // Beside the others: who takes their time over it keeps nobody waiting.
            let Ok(stream) = stream.greeted().await else { return };
            let answer = service_fn(move |request: Request<Incoming>| {
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(ConnectInfo(peer.clone()));
                request.extensions_mut().insert(door);
                let mut router = router.clone();
                async move { router.call(request).await }
            });
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // Who goes away in the middle is nobody's business.
            drop(connection.serve_connection(TokioIo::new(stream), answer).await);
            drop(place);
        });
    }
}
