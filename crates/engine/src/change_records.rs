//! Change records: what is written down before something is changed on which users depend, and what became of it (seed 004, "Production Safety
//! Protocol": tracking issue, blast radius, rollback plan, verification).
//!
//! | module | holds |
//! |---|---|
//! | `record` | what a change record says, and its steps |
//! | `store` | their files: each is written once |
//! | `opening` | making one: what its command would do is predicted and kept |
//! | `covering` | whether one lets a call of an agent pass |
//! | `due` | what is told of changes that ran and are not verified |
//!
//! **Invariants.** A record lets pass one call: exactly its command, where it was opened, while each effect and each file of code is one that
//! the user read when they approved it, once, and until the approval ends. Only a person approves. The folder is read only for an action on
//! production.

mod covering;
mod due;
mod opening;
mod record;
mod store;

pub use crate::checkpoint::masked;
pub(crate) use covering::{Covering, cover, cover_asked, give_back};
pub use due::EVENT;
pub(crate) use due::{before_the_end, ran, session_before, unverified};
pub use opening::{Opening, open};
pub use record::{
    ChangeActor, ChangeRecord, ChangeState, ChangeStep, OpenedChange, RolledBackCommand, STEP_OUTPUT,
};
pub(crate) use store::expired;
pub use store::{add, all, one};
