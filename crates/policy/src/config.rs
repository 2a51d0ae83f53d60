//! Configuration: typed settings, and how layers of them become one.

mod asked;
mod blueprint;
mod choice;
mod error;
mod fields;
mod keys;
mod layer;
mod listing;
mod load;
mod prompts;
mod reference;
mod rule_parser;
mod sections;
mod settings;
mod strictest;
mod thresholds;
mod tripwire_parser;
mod value;
mod version;
pub mod yaml;

pub use blueprint::{BASES_LIMIT, Base, Blueprint, Digest, Fixture};
pub(crate) use choice::choice;
pub use choice::*;
pub use error::{ConfigError, ConfigErrorKind, ConfigErrors, Fault, Position, closest};
pub use layer::{ConfigSource, FileHash, Layer, LayerKind};
pub use listing::{Setting, settings_of};
pub use load::{LimitedSettings, LoadedConfig, Loosening, Provenance, load, load_at, load_proved};
pub use prompts::{NamedText, NamedTextError, named_texts};
pub use reference::{reference, schema};
pub use sections::{Limit, PipelineStep, SaidBy, Standpoint, TargetKnowledge};
pub use settings::*;
pub use strictest::strictest;
pub use thresholds::*;
pub use version::PolicyVersion;
