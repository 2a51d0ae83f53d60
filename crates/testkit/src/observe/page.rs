//! The page that says how prediction and observation agree.

use std::fmt::Write as _;

use super::compare::DisagreementKind;
use super::entries::CatalogueEntry;
use super::trial::ProgramTally;

/// Why programs are not tried that may change the machine that the sandbox runs on.
const OF_MACHINE: &str = "acts on the machine, or is of a family that does";

/// Families of the catalogue whose programs are not tried, and why.
pub const NOT_TRIED: &[(&str, &str)] = &[
    ("packages-system", OF_MACHINE),
    ("users", OF_MACHINE),
    ("services", OF_MACHINE),
    ("kernel", OF_MACHINE),
    ("cloud-aws", "talks to a service that is not here"),
    ("cloud-azure", "talks to a service that is not here"),
    ("cloud-google", "talks to a service that is not here"),
    ("cloud-other", "talks to a service that is not here"),
    ("kubernetes", "talks to a service that is not here"),
    ("containers", "talks to a service that is not here"),
    ("infrastructure", "talks to a service that is not here"),
    ("agents", "talks to a service that is not here"),
];

/// The same, of programs in other families.
const NOT_TRIED_PROGRAMS: &[&str] = &[
    "kill",
    "pkill",
    "killall",
    "killall5",
    "skill",
    "xkill",
    "fuser",
    "renice",
    "mount",
    "umount",
    "losetup",
    "mkswap",
    "wipefs",
    "blkdiscard",
    "fstrim",
    "dmsetup",
    "rtcwake",
    "fsfreeze",
    "chmem",
    "chcpu",
    "ipcrm",
    "ipcmk",
    "su",
    "runuser",
    "sg",
    "tune2fs",
    "resize2fs",
    "badblocks",
    "swaplabel",
    "e2label",
    "start-stop-daemon",
];

/// Why a program is not tried; `None` when it is.
pub fn not_tried(entry: &CatalogueEntry, name: &str) -> Option<&'static str> {
    if NOT_TRIED_PROGRAMS.contains(&name)
        || name.starts_with("mkfs")
        || name.contains("fsck")
        || name == "mke2fs"
    {
        return Some(OF_MACHINE);
    }
    NOT_TRIED.iter().find(|(family, _)| *family == entry.family).map(|(_, why)| *why)
}

/// Uses that one program shows on the page at most, of each sort of fault.
const SHOWN: usize = 3;

/// The page.
pub fn page(tallies: &[ProgramTally], entries: &[CatalogueEntry], is_here: &dyn Fn(&str) -> bool) -> String {
    let mut page = "# Predictions beside real programs\n\n\
        Uses of the programs of the catalogue, as far as they are installed where this page was made. First come the examples of an entry and its\n\
        operands of each kind, then options alone, then options in pairs, as far as the number of uses of one program reaches. What a use did in a\n\
        sandbox is held against what is predicted of it. Made by `cargo xtask observe --write`.\n\n\
        Some is not compared. A use of which the prediction says that it does not see all counts as agreeing, whatever it did. What was\n\
        called certain is looked for where the status is 0. New hidden files of the program's own and the data of git are passed over.\n\n\
        | word | meaning |\n|---|---|\n\
        | uses | uses that ran to their end |\n\
        | ok | of these, how many ended with status 0 |\n\
        | unread | of these, how many have a prediction that says that it does not see all |\n\
        | left out | uses that were not run, since they are predicted to act beyond their folder |\n\
        | unsound | something was deleted, written or given another mode, and nothing was predicted of it |\n\
        | secret | a secret was read, and nothing was predicted of it |\n\
        | made | something was made, and nothing was predicted of it |\n\
        | untrue | what was called certain did not happen |\n\
        | connects | a host was to be reached, and nothing was predicted of it |\n\
        | runs, loose | a program was started that is not followed; much more was predicted than happened (neither counts against agreement) |\n"
        .to_owned();
    let uses: usize = tallies.iter().map(|tally| tally.uses).sum();
    let agreeing: usize = tallies.iter().map(|tally| tally.agreeing).sum();
    let _ = writeln!(
        page,
        "\n{} programs, {uses} uses, {} agree.\n\n\
        | program | version | uses | ok | unread | left out | agree | unsound | secret | made | untrue | connects | runs | loose |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        tallies.len(),
        percent(agreeing, uses)
    );
    for tally in tallies {
        let _ = write!(
            page,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            tally.name,
            tally.version,
            tally.uses,
            tally.succeeded,
            tally.unread,
            tally.left_out,
            percent(tally.agreeing, tally.uses)
        );
        for kind in DisagreementKind::ALL {
            match tally.count(kind) {
                0 => page.push_str(" |"),
                count => {
                    let _ = write!(page, " {count} |");
                }
            }
        }
        page.push('\n');
    }
    page.push_str("\n## Uses that differ\n\n");
    for tally in tallies {
        for kind in DisagreementKind::ALL.into_iter().filter(|kind| kind.is_fault()) {
            let of_kind = tally.differing.iter().filter_map(|(text, found)| {
                found.iter().find(|one| one.kind == kind).map(|one| (text, &one.what))
            });
            for (text, what) in of_kind.take(SHOWN) {
                let _ = writeln!(page, "- {}: `{}`: {what}", kind.name(), text.replace('\n', "; "));
            }
        }
    }
    let _ = write!(page, "\n## Not observed\n");
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in entries {
        for name in entry.names.iter().filter(|name| is_here(name)) {
            let Some(reason) = not_tried(entry, name) else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name),
                None => reasons.push((reason, vec![name])),
            }
        }
    }
    for (reason, names) in reasons {
        let _ = write!(page, "\nNot run, {reason}: {}.\n", names.join(", "));
    }
    let missing = entries.iter().filter(|entry| !entry.names.iter().any(|name| is_here(name)));
    let missing: Vec<&str> = missing.filter_map(|entry| entry.names.first().map(String::as_str)).collect();
    let _ = write!(page, "\nNot installed ({}): {}.\n", missing.len(), missing.join(", "));
    page
}

fn percent(part: usize, whole: usize) -> String {
    match part.saturating_mul(1000).checked_div(whole) {
        Some(tenths) => format!("{}.{} %", tenths / 10, tenths % 10),
        None => "-".to_owned(),
    }
}
