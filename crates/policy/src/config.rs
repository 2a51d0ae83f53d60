//! Configuration: typed settings, and how layers of them become one.

mod choice;
mod error;
mod keys;
mod listing;
mod load;
mod reference;
mod rule_text;
mod settings;
mod value;
mod version;
mod yaml;

pub use choice::*;
pub use error::{ConfigError, ConfigErrorKind, ConfigErrors};
pub use listing::{Setting, settings_of};
pub use load::{FileHash, Layer, LayerKind, Loaded, Loosening, Provenance, Source, load};
pub use reference::{reference, schema};
pub use settings::*;
pub use version::PolicyVersion;
