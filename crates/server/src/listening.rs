//! Addresses that are listened on, and how a connection to each begins.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use checkrein_engine::error::CommandError;
use rustls::ServerConfig;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::address::Address;
use crate::certificate::Certificates;
use crate::connections::{self, Greeted};
use crate::outside::Door;
use crate::peer::Peer;
use crate::server::system;

/// How long the beginning of TLS may take (ours).
const GREETING: Duration = Duration::from_secs(10);
/// What TLS begins with: a record of the type handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 46\r\n\r\nthis address speaks TLS alone: use `https://`\n";

/// A socket for this machine.
pub(crate) enum Listener {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, PathBuf),
}

/// A socket for other machines.
pub(crate) struct SealedListener {
    listener: TcpListener,
    certificates: Arc<Certificates>,
}

/// A connection that has to begin with TLS.
struct Sealed {
    stream: TcpStream,
    config: Arc<ServerConfig>,
}

async fn bound(address: SocketAddr) -> Result<(TcpListener, SocketAddr), CommandError> {
    let failed = |error: io::Error| CommandError {
        hint: Some("choose another port; port 0 takes any free one".to_owned()),
        ..system(&format!("cannot listen on `{address}`"), &error)
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

impl Listener {
    pub(crate) async fn bind(address: &Address) -> Result<Self, CommandError> {
        match address {
            Address::Loopback(address) => {
                let (listener, bound) = bound(*address).await?;
                Ok(Self::Tcp(listener, bound))
            }
            Address::Unix(path) => {
                let failed = |error: io::Error| CommandError::file("listen on", path.display(), &error);
                remove_stale(path);
                let listener = UnixListener::bind(path).map_err(failed)?;
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Tcp(_, address) => format!("http://{address}"),
            Self::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    pub(crate) async fn serve(self, router: Router) -> Infallible {
        match self {
            Self::Tcp(listener, _) => {
                let accept = async || {
                    let (stream, address) = listener.accept().await?;
                    Ok((stream, Peer::Address(address), Door::Local))
                };
                connections::serve(accept, router).await
            }
            Self::Unix(listener, _) => {
                let accept = async || {
                    let (stream, _) = listener.accept().await?;
                    let peer = Peer::of_socket(&stream);
                    Ok((stream, peer, Door::Local))
                };
                connections::serve(accept, router).await
            }
        }
    }
}

/// Binds the address for other machines; the port that it got.
pub(crate) async fn bind_outside(address: SocketAddr) -> Result<(TcpListener, SocketAddr), CommandError> {
    bound(address).await
}

impl SealedListener {
    pub(crate) fn new(listener: TcpListener, certificates: Arc<Certificates>) -> Self {
        Self { listener, certificates }
    }

    pub(crate) async fn serve(self, router: Router) -> Infallible {
        let accept = async || {
            let (stream, address) = self.listener.accept().await?;
            let door = Door::Outside(stream.local_addr()?);
            let config = self.certificates.config();
            Ok((Sealed { stream, config }, Peer::Address(address), door))
        };
        connections::serve(accept, router).await
    }
}

impl Greeted for TcpStream {
    type Stream = Self;

    async fn greeted(self) -> io::Result<Self> {
        Ok(self)
    }
}

impl Greeted for UnixStream {
    type Stream = Self;

    async fn greeted(self) -> io::Result<Self> {
        Ok(self)
    }
}

impl Greeted for Sealed {
    type Stream = TlsStream<TcpStream>;

    async fn greeted(mut self) -> io::Result<Self::Stream> {
        let greeting = async {
            let mut first = [0_u8];
            self.stream.peek(&mut first).await?;
            if first != [HANDSHAKE] {
                self.stream.write_all(PLAIN).await?;
                self.stream.shutdown().await?;
                return Err(io::Error::other("it does not begin with TLS"));
            }
            TlsAcceptor::from(self.config).accept(self.stream).await
        };
        tokio::time::timeout(GREETING, greeting).await?
    }
}

/// Removes a socket on which nobody listens any more.
fn remove_stale(path: &Path) {
    use std::os::unix::fs::FileTypeExt as _;
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|facts| facts.file_type().is_socket());
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err() {
        drop(std::fs::remove_file(path));
    }
}
