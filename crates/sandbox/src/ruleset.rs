//! The rules of Landlock for a scope.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope as LandlockScope,
};
use rustix::fs::{Mode, OFlags};

use crate::error::SuperviseError;
use crate::kernel::Kernel;
use crate::mediation::devices;
use crate::scope::{Network, ReadScope, Scope, system_paths};
use crate::terminals::{TERMINALS, is_terminal};

/// The port on which names are looked up.
pub(crate) const NAMES: u16 = 53;

/// The newest level that is asked for; of a kernel with an older one what it has, and the rest is held otherwise or a gap.
const LEVEL: u32 = 6;

/// The rules of a scope on a kernel, for a command with these terminals.
pub(crate) fn ruleset(
    scope: &Scope,
    kernel: &Kernel,
    terminals: &[OwnedFd],
) -> Result<RulesetCreated, SuperviseError> {
    let level = ABI::from(i32::try_from(kernel.landlock.min(LEVEL)).unwrap_or(0));
    let connections = if kernel.asks { Connections::Ours } else { Connections::Its };
    build(scope, level, connections, terminals).map_err(SuperviseError::restriction("the scope of files"))
}

/// Who connects and names sockets for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connections {
    /// We do, from outside of its scope.
    Ours,
    /// It does.
    Its,
}

fn build(
    scope: &Scope,
    level: ABI,
    connections: Connections,
    terminals: &[OwnedFd],
) -> Result<RulesetCreated, landlock::RulesetError> {
    let writing = AccessFs::from_write(level);
    let (ports, scoped) = (AccessNet::from_all(level), LandlockScope::from_all(level));
    let reading = match scope.read {
        // Whoever may read everything may not take away what is typed elsewhere.
        ReadScope::All => AccessFs::ReadFile.into(),
        ReadScope::Only(_) => AccessFs::from_read(level),
    };
    let handled = writing | reading;
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(handled)?;
    let limits_ports = match (&scope.network, connections) {
        // Landlock knows ports, not hosts; but where we connect nobody inside has to do any of it.
        (Network::Nothing | Network::Only(_), _)
        | (Network::Loopback | Network::LoopbackAnd(_), Connections::Ours) => true,
        (Network::Loopback | Network::LoopbackAnd(_), Connections::Its) | (Network::Open, _) => false,
    };
    if limits_ports && !ports.is_empty() {
        ruleset = ruleset.handle_access(ports)?;
    }
    if scoped.contains(LandlockScope::Signal) {
        ruleset = ruleset.scope(LandlockScope::Signal)?;
    }
    if scope.network != Network::Open && scoped.contains(LandlockScope::AbstractUnixSocket) {
        ruleset = ruleset.scope(LandlockScope::AbstractUnixSocket)?;
    }
    let mut created = ruleset.create()?;
    if let Network::Only(endpoints) = &scope.network
        && !ports.is_empty()
    {
        for endpoint in endpoints {
            created = created.add_rule(NetPort::new(endpoint.port, AccessNet::ConnectTcp))?;
        }
        if scope.looks_up_names() {
            created = created.add_rule(NetPort::new(NAMES, AccessNet::ConnectTcp))?;
        }
    }
    for path in &scope.write {
        created = allow(created, level, path, handled)?;
    }
    let use_of_device = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev | AccessFs::ReadFile;
    for device in devices() {
        created = allow(created, level, Path::new(device), use_of_device & handled)?;
    }
    for terminal in terminals {
        let access = use_of_device & handled & AccessFs::from_file(level);
        created = created.add_rule(PathBeneath::new(terminal, access))?;
    }
    match &scope.read {
        ReadScope::All => allow_reading(created, level, Path::new("/"), reading, &scope.hidden),
        ReadScope::Only(paths) => {
            let mut all = paths.iter().cloned().chain(system_paths());
            all.try_fold(created, |created, path| {
                allow_reading(created, level, &path, reading, &scope.hidden)
            })
        }
    }
}

/// Allows to read below a path all that is no terminal and not hidden. Rules only add to each other, so folders that terminals or hidden
/// ones lie in are allowed entry by entry; a link needs no rule, since what it leads to has one. What comes into such a folder later has none.
fn allow_reading(
    created: RulesetCreated,
    level: ABI,
    path: &Path,
    reading: BitFlags<AccessFs>,
    hidden: &[PathBuf],
) -> Result<RulesetCreated, landlock::RulesetError> {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return Ok(created);
    }
    let leads_to = |path: &Path| {
        let is_above = |place: &Path| place.starts_with(path) && path != place;
        is_above(Path::new(TERMINALS)) || hidden.iter().any(|hidden| is_above(hidden))
    };
    let entries = if leads_to(path) { entries(path) } else { None };
    let Some(entries) = entries else { return allow(created, level, path, reading) };
    let listing = reading & AccessFs::ReadDir;
    let mut created = if listing.is_empty() { created } else { allow(created, level, path, listing)? };
    for (entry, is_folder, held) in entries {
        let is_hidden = hidden.iter().any(|hidden| entry.starts_with(hidden));
        if is_folder && (is_hidden || leads_to(&entry) || entry == Path::new(TERMINALS)) {
            created = allow_reading(created, level, &entry, reading, hidden)?;
        } else {
            let access = if is_folder { reading } else { reading & AccessFs::from_file(level) };
            created = created.add_rule(PathBeneath::new(held, access))?;
        }
    }
    Ok(created)
}

/// Returns the entries of a folder beside links and terminals, each held open and with whether it is a folder. `None` where this cannot be
/// known, or where something is mounted only when it is used: a rule would then be about what lies below that.
fn entries(folder: &Path) -> Option<Vec<(PathBuf, bool, OwnedFd)>> {
    const MOUNTED_ON_USE: u64 = 0x0187;
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let kind = entry.file_type().ok()?;
        if kind.is_symlink() || (folder == Path::new("/dev") && is_terminal(entry.file_name().as_bytes())) {
            continue;
        }
        // What is gone meanwhile, or closed to us, needs no rule.
        let path = entry.path();
        let Ok(held) = rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
            continue;
        };
        if kind.is_dir()
            && rustix::fs::fstatfs(&held).is_ok_and(|facts| facts.f_type.cast_unsigned() == MOUNTED_ON_USE)
        {
            return None;
        }
        entries.push((path, kind.is_dir(), held));
    }
    Some(entries)
}

/// Allows access below a path, if it is there: what is not there cannot be reached either. What is no directory has no entries.
fn allow(
    ruleset: RulesetCreated,
    level: ABI,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(file) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(level) };
    ruleset.add_rule(PathBeneath::new(file, access))
}
