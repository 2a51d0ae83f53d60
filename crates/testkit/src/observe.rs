//! The catalogue against real programs: what a use of a program was seen to do, held against what is predicted of it.
//!
//! | module | holds |
//! |---|---|
//! | `entries` | the entries of the catalogue, as far as uses are made of them |
//! | `uses` | makes uses of an entry: its examples, its options alone and in pairs, operands of each kind |
//! | `fixture` | the files that stand where a use runs |
//! | `tree` | what stands below a folder, and what became of it |
//! | `sandbox` | runs many uses in name spaces of their own, within limits |
//! | `trace` | reads what strace wrote: programs that were started, files that were read, connections |
//! | `compare` | holds what was seen against what was predicted |
//! | `trial` | tries the programs one after the other, on some threads |
//! | `page` | the page that says how they agree |
//!
//! A use runs as a user without rights, in name spaces in which nothing can be written but its own folder, without a network and without the
//! processes of the machine. It is not run at all when the prediction says that it acts elsewhere.

pub mod compare;
pub mod entries;
pub mod fixture;
pub mod page;
pub mod sandbox;
pub mod trace;
pub mod tree;
pub mod trial;
pub mod uses;

pub use compare::{Disagreement, DisagreementKind};
pub use entries::{CatalogueEntry, entries};
pub use fixture::{HomeFixture, UsePlace};
pub use trial::{Observer, ProgramTally, UseReader};
