//! Where code that is not read to its end comes from: a file that an installer or a build put there is run every day, and one that the session
//! wrote is not taken for that because it is long.

use crate::interpreter::Machine;
use crate::path::AbsolutePath;
use crate::places::system_place;
use crate::world::VersionState;
use checkrein_facts::generated;

/// Names of directories in which programs that install others put them: npm, pip, Bundler, Composer, Yarn, version managers.
const INSTALLED: &[&str] = &[
    "node_modules",
    "site-packages",
    "dist-packages",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "vendor",
    ".yarn",
    ".pnpm-store",
    ".npm",
    ".nvm",
    ".volta",
    ".fnm",
    ".asdf",
    ".pyenv",
    ".rbenv",
    ".rvm",
    ".cargo",
    ".rustup",
    ".bun",
    ".deno",
    ".gem",
    ".cache",
    ".local",
    ".vscode-server",
    "perl5",
];

/// Whether a file of code was put where it lies by an installer or a build, or is as it was committed, and no call of the session wrote it.
pub(super) fn is_put_there(machine: &Machine<'_>, path: &AbsolutePath) -> bool {
    let world = machine.world();
    !machine.is_of_session(path)
        && (system_place(path).is_some()
            || path.parts().any(|part| INSTALLED.contains(&part))
            || generated(path, world).is_some()
            || world.version(path) == VersionState::TrackedClean)
}
