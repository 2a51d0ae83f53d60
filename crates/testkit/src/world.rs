//! The made-up world that tests share: a developer with one project at home.
//!
//! ```text
//! /home/dev          the home directory of the user `dev`
//! /home/dev/proj     the workspace
//! /tmp               the directory for temporary files
//! ```
//!
//! A test that needs more adds it with the methods of `RecordedWorld`. What is not added is not there.

use checkrein_facts::{HostPaths, RecordedWorld};
use checkrein_protocol::{AbsolutePath, Action};

/// The home directory of the developer.
pub const HOME: &str = "/home/dev";

/// The workspace, which is where actions start.
pub const PROJECT: &str = "/home/dev/proj";

/// The path that a text says, from the project when it is relative.
///
/// # Panics
/// Never: the project is an absolute path.
pub fn path(text: &str) -> AbsolutePath {
    AbsolutePath::root().join(PROJECT).join(text)
}

/// Where things are on the developer's machine; nothing is guarded or expected.
pub fn host_paths() -> HostPaths {
    HostPaths {
        home: path(HOME),
        user: Some("dev".to_owned()),
        workspace: path(PROJECT),
        temporary: vec![path("/tmp")],
        guarded: Vec::new(),
        expected: Vec::new(),
    }
}

/// A machine on which the workspace is a directory in no repository, and nothing else is there.
pub fn bare() -> RecordedWorld {
    RecordedWorld::complete(host_paths()).with_directory(&path(PROJECT)).with_directory(&path("/tmp"))
}

/// A machine on which the workspace is a repository without files.
pub fn project() -> RecordedWorld {
    bare().with_repository(&path(PROJECT))
}

/// A command that starts in the project.
pub fn command(text: &str) -> Action {
    Action::command(text, path(PROJECT))
}
