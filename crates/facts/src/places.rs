//! Well-known places: where credentials lie, what runs later by itself, what belongs to the system.
//!
//! | module | holds |
//! |---|---|
//! | `credentials` | files that prove who somebody is |
//! | `persistence` | files that make something run later |
//! | `personal` | folders of a person |
//! | `settings` | lists of settings, `NAME=value` in each line |
//! | `system` | directories of the machine rather than of a user |
//! | `watchers` | what keeps an agent in check: other guards, settings of agents |
//!
//! The tables name places by their last parts, so that they hold in every home directory, not only in one's own.

mod credentials;
mod persistence;
mod personal;
mod settings;
mod system;
mod watchers;

pub use credentials::{
    Secrecy, credential, credential_directory, credentials_at_home, environment_file, is_for_tests,
    is_sample, key_material, lies_with_tests, machine_credential, secrecy, sought_in,
};
pub use persistence::{SHADOWS, is_known_at_home, is_pipeline, known_at_home, persistence};
pub use personal::is_personal_folder;
pub use settings::is_list_of_settings;
pub use system::{
    SystemPlace, is_guarding_parameter, is_home_of_somebody, is_lifeline, is_program_directory,
    kernel_parameter, system_place,
};
pub use watchers::{names_watcher, watcher, watchers_below};
