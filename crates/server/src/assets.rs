//! What pages load: style, scripts, icons, and what makes an app of the console. Nothing of it is about anybody, so it needs no key.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;

use crate::answer::content;

/// An asset.
struct Asset {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const STYLE: &[u8] = include_bytes!("../assets/style.css");

const ASSETS: &[Asset] = &[
    Asset { path: "/assets/style.css", kind: "text/css", bytes: STYLE },
    // At the public address nothing but `/answer/` is answered.
    Asset { path: "/answer/style.css", kind: "text/css", bytes: STYLE },
    Asset { path: "/assets/live.js", kind: "text/javascript", bytes: include_bytes!("../assets/live.js") },
    // At the root, since it works for pages beside and below it alone.
    Asset { path: "/service.js", kind: "text/javascript", bytes: include_bytes!("../assets/service.js") },
    Asset {
        path: "/assets/manifest.webmanifest",
        kind: "application/manifest+json",
        bytes: include_bytes!("../assets/manifest.webmanifest"),
    },
    Asset { path: "/assets/icon.svg", kind: "image/svg+xml", bytes: include_bytes!("../assets/icon.svg") },
    Asset {
        path: "/assets/icon-192.png",
        kind: "image/png",
        bytes: include_bytes!("../assets/icon-192.png"),
    },
    Asset {
        path: "/assets/icon-512.png",
        kind: "image/png",
        bytes: include_bytes!("../assets/icon-512.png"),
    },
];

/// Whether there is an asset at a path.
pub(crate) fn is_asset(path: &str) -> bool {
    ASSETS.iter().any(|asset| asset.path == path)
}

/// The router of all assets.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    ASSETS.iter().fold(Router::new(), |router, asset| {
        router.route(asset.path, get(async || content(StatusCode::OK, asset.kind, asset.bytes)))
    })
}
