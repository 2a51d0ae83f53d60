//! Saving files before they are lost, and bringing them back.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod capture;
mod difference;
mod draft;
mod error;
mod facts;
mod id;
mod ignoring;
mod index;
mod node;
mod pack;
mod plan;
mod restore;
mod seen;
mod store;

pub use capture::*;
pub use difference::{Difference, Differences};
pub use draft::Draft;
pub use error::SnapshotError;
pub use id::{ObjectId, SnapshotId};
pub use ignoring::Ignoring;
pub use node::*;
pub use plan::{Deed, Preparation, Prepared, Since, Step};
pub use restore::{Interrupted, Request, Restored};
pub use seen::Seen;
pub use store::{LOCK_WAIT, Listed, Pin, Reader, Store};
