//! The server of one machine: API, live events, metrics and console over the records of all sessions. Nothing that decides about a call
//! needs it.
//!
//! | module | holds |
//! |---|---|
//! | `address` | where the server listens: loopback or a unix socket |
//! | `token` | keys: made from the randomness of the system, kept in private files |
//! | `access` | who may ask for what: host, origin, key, role |
//! | `visits` | the record of logins and of what was refused |
//! | `caller` | asking a server that answers for a link |
//! | `answer` | errors and values as JSON |
//! | `server` | from a bound address to requests |
//! | `listening` | addresses that are listened on, and how a connection begins |
//! | `certificate` | the certificate of TLS: made, kept, made anew |
//! | `outside` | other machines: names, logins, codes that pair a phone |
//! | `password` | the password, as a hash |
//! | `oidc` | logins at an issuer of OpenID Connect |
//! | `devices` | phones that were paired |
//! | `connections` | connections, within bounds of time and number |
//! | `commands` | the commands of the command line that the server gives on |
//! | `index` | the SQLite index over all ledgers |
//! | `metrics` | `/metrics` |
//! | `api` | `/v1` and its description |
//! | `events` | `/v1/events` |
//! | `acgp` | messages of ACGP |
//! | `links` | the page on which a signed link answers a question |
//! | `otlp` | what is sent to a collector of OpenTelemetry |
//! | `percent` | percent signs in addresses and forms |
//! | `peer` | the process at the other end of a connection |
//! | `pages` | the console |
//! | `assets` | what its pages load |
//! | `graphs` | its graphs |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod access;
mod acgp;
mod address;
mod answer;
mod api;
mod assets;
mod caller;
mod certificate;
mod commands;
mod connections;
mod devices;
mod events;
mod graphs;
mod index;
mod links;
mod listening;
mod metrics;
mod oidc;
mod otlp;
mod outside;
mod pages;
mod password;
mod peer;
mod percent;
mod server;
mod token;
mod visits;

pub use address::{Address, AddressError, Doors, OutsideDoor, Pairing};
pub use caller::{NewCode, new_code, new_link};
pub use commands::{AnswerDoor, Commands, Detail, Extent, ServedAnswer, ServedCommand, ServedQuestion};
pub use devices::{Device, Role, paired_devices, remove_device};
pub use password::{SHORTEST_PASSWORD, set_password};
pub use server::{Announcement, Elsewhere, Server};
