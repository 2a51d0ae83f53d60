//! What this machine can enforce, and what of a scope it cannot.

use std::fmt;

use crate::scope::{Network, ReadScope, Scope};
#[cfg(target_os = "linux")]
use crate::{filter, launch, namespaces};

/// What the kernel offers. Found out once, by asking it; not from its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The level of Landlock; 0 when it is absent or off.
    pub landlock: u32,
    /// What holds writes where Landlock is absent.
    pub view: OwnView,
    /// Whether system calls can be filtered.
    pub filters: bool,
    /// Whether the kernel asks us about calls (user notifications of seccomp).
    pub asks: bool,
    /// Whether another scope is around this process already.
    pub surroundings: Surroundings,
}

/// What is around a process that is going to hold a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Surroundings {
    /// Nobody is asked about its calls.
    #[default]
    Free,
    /// Another scope: the kernel asks only one about the calls of a process, and that is the outer one. Its bounds hold for the command too.
    Scope,
}

/// Whether a command can be given a view of the file system of its own (user and mount namespaces).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnView {
    /// Not asked, since Landlock holds.
    Unneeded,
    /// It can.
    Offered,
    /// It cannot, for this reason.
    Absent(Hindrance),
}

/// Why there is no view of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    /// AppArmor lets only programs with a profile make user namespaces (`kernel.apparmor_restrict_unprivileged_userns`).
    AppArmor,
    /// They are switched off for ordinary users (`kernel.unprivileged_userns_clone`).
    SwitchedOff,
    /// None may be made (`user.max_user_namespaces`).
    NoneAllowed,
    /// The kernel refuses without a reason that it tells.
    Refused,
    /// The system is not Linux.
    OtherSystem,
}

impl fmt::Display for Hindrance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::AppArmor => {
                "AppArmor forbids user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1"
            }
            Self::SwitchedOff => "user namespaces are off: kernel.unprivileged_userns_clone is 0",
            Self::NoneAllowed => "user namespaces are off: user.max_user_namespaces is 0",
            Self::Refused => "user namespaces are refused here, as in most containers",
            Self::OtherSystem => "only Linux has user namespaces",
        })
    }
}

impl Kernel {
    /// Asks the kernel. One that is not Linux offers nothing of this.
    #[cfg(not(target_os = "linux"))]
    pub fn probe() -> Self {
        Self {
            landlock: 0,
            view: OwnView::Absent(Hindrance::OtherSystem),
            filters: false,
            asks: false,
            surroundings: Surroundings::Free,
        }
    }

    /// Asks the kernel.
    #[cfg(target_os = "linux")]
    pub fn probe() -> Self {
        let landlock = landlock_level();
        let view = match landlock {
            0 => namespaces::probe().map_or_else(OwnView::Absent, |()| OwnView::Offered),
            _ => OwnView::Unneeded,
        };
        let surroundings = launch::surroundings();
        let asks = filter::can_ask() && surroundings == Surroundings::Free;
        Self { landlock, view, filters: filter::is_offered(), asks, surroundings }
    }

    /// The part of a scope that nothing here leaves open, where another scope is around: hosts cannot be told apart there, so that no network
    /// is what can be held. The same scope anywhere else.
    #[must_use]
    pub fn held(&self, scope: Scope) -> Scope {
        let cannot_tell = !self.asks && self.surroundings == Surroundings::Scope;
        match scope.network {
            Network::Loopback | Network::LoopbackAnd(_) | Network::Only(_) if cannot_tell => {
                Scope { network: Network::Nothing, ..scope }
            }
            Network::Open
            | Network::Nothing
            | Network::Loopback
            | Network::LoopbackAnd(_)
            | Network::Only(_) => scope,
        }
    }

    /// What of a scope nobody enforces here: its gaps but for those that a scope around it holds, as wide as that one is.
    pub fn open_gaps(&self, scope: &Scope) -> Vec<Gap> {
        let holds = |gap: &Gap| self.surroundings == Surroundings::Scope && gap.is_held_around();
        self.gaps(scope).into_iter().filter(|gap| !holds(gap)).collect()
    }

    /// Whether Landlock leaves signals to processes outside to us.
    pub(crate) fn leaves_signals(&self) -> bool {
        self.landlock < SIGNALS
    }

    /// Whether Landlock leaves cutting files short to us.
    pub(crate) fn leaves_truncation(&self) -> bool {
        (1..TRUNCATION).contains(&self.landlock)
    }

    /// What of a scope is not enforced here. Empty when all of it is.
    pub fn gaps(&self, scope: &Scope) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let restricts_network = scope.network != Network::Open;
        if let OwnView::Absent(hindrance) = self.view {
            gaps.push(Gap::Writes(hindrance));
        }
        if self.landlock == 0 && scope.read != ReadScope::All {
            gaps.push(Gap::Reads);
        }
        // Where the kernel asks us, we judge what Landlock leaves open.
        if !self.asks {
            if self.leaves_truncation() {
                gaps.push(Gap::Truncation);
            }
            if self.leaves_signals() {
                gaps.push(Gap::Signals);
            }
        }
        if !self.filters {
            gaps.push(Gap::Calls);
        }
        if !self.asks {
            // In a view of our own modes and owners outside are as unchangeable as contents.
            if self.view != OwnView::Offered {
                gaps.push(Gap::Attributes);
            }
            gaps.extend([Gap::Processes, Gap::Words]);
            if restricts_network && scope.network != Network::Nothing {
                gaps.push(Gap::Hosts);
            }
        }
        let has_none = self.view == OwnView::Offered && scope.network == Network::Nothing;
        if restricts_network && !self.filters && !has_none {
            gaps.push(Gap::Network);
        }
        gaps
    }
}

/// The levels of Landlock from which on it judges these.
const TRUNCATION: u32 = 3;
const SIGNALS: u32 = 6;

/// A part of a scope that this machine does not enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Writing outside the scope.
    Writes(Hindrance),
    /// Reading outside the scope.
    Reads,
    /// Cutting files outside the scope short.
    Truncation,
    /// Signals to processes outside.
    Signals,
    /// Dangerous system calls.
    Calls,
    /// Modes, owners, times and attributes of files outside the scope.
    Attributes,
    /// The number of processes.
    Processes,
    /// Which hosts are talked to.
    Hosts,
    /// The network at all.
    Network,
    /// Saying what was refused.
    Words,
}

impl Gap {
    /// Whether a scope around the command holds it too, within bounds of its own.
    pub fn is_held_around(self) -> bool {
        match self {
            Self::Attributes | Self::Processes | Self::Words => true,
            Self::Writes(_)
            | Self::Reads
            | Self::Truncation
            | Self::Signals
            | Self::Calls
            | Self::Hosts
            | Self::Network => false,
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Writes(hindrance) => {
                return write!(formatter, "writes outside the scope (no Landlock, and {hindrance})");
            }
            Self::Reads => "reads outside the scope (no Landlock)",
            Self::Truncation => "cutting files short (Landlock below level 3, and seccomp cannot ask)",
            Self::Signals => "signals to other processes (Landlock below level 6, and seccomp cannot ask)",
            Self::Calls => "dangerous system calls (no seccomp)",
            Self::Attributes => "modes, owners and times of files (seccomp cannot ask)",
            Self::Processes => "the number of processes (seccomp cannot ask)",
            Self::Hosts => "which host is talked to (seccomp cannot ask)",
            Self::Network => "the network (no seccomp)",
            Self::Words => "saying what was refused (seccomp cannot ask)",
        })
    }
}

/// `landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)`.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the crate `landlock` does not tell the level")]
fn landlock_level() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call takes no memory of ours and changes nothing; it returns a number.
    let level = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    u32::try_from(level).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Kernel = Kernel {
        landlock: 0,
        view: OwnView::Absent(Hindrance::AppArmor),
        filters: true,
        asks: false,
        surroundings: Surroundings::Free,
    };

    #[test]
    fn what_an_old_kernel_does_not_hold_is_named() {
        let scope = Scope { network: Network::Loopback, read: ReadScope::Only(vec![]), ..Scope::default() };
        let gaps = OLD.gaps(&scope);
        let writes = Gap::Writes(Hindrance::AppArmor);
        for gap in [writes, Gap::Reads, Gap::Signals, Gap::Hosts, Gap::Processes, Gap::Attributes, Gap::Words]
        {
            assert!(gaps.contains(&gap), "{gap} is missing");
        }
        assert!(!gaps.contains(&Gap::Network), "sockets are refused by the filter alone");
    }

    #[test]
    fn a_new_kernel_holds_everything() {
        let kernel = Kernel {
            landlock: 7,
            view: OwnView::Unneeded,
            filters: true,
            asks: true,
            surroundings: Surroundings::Free,
        };
        assert_eq!(kernel.gaps(&Scope::default()), []);
    }

    #[test]
    fn where_the_kernel_asks_what_an_older_landlock_leaves_is_held_too() {
        for landlock in 1..6 {
            let kernel = Kernel {
                landlock,
                view: OwnView::Unneeded,
                filters: true,
                asks: true,
                surroundings: Surroundings::Free,
            };
            assert_eq!(kernel.gaps(&Scope::default()), [], "{landlock}");
            let silent = Kernel { asks: false, ..kernel };
            assert!(silent.gaps(&Scope::default()).contains(&Gap::Signals), "{landlock}");
        }
    }

    #[test]
    fn a_view_of_our_own_holds_writes_without_landlock_but_not_reads() {
        let kernel = Kernel {
            landlock: 0,
            view: OwnView::Offered,
            filters: true,
            asks: true,
            surroundings: Surroundings::Free,
        };
        assert_eq!(kernel.gaps(&Scope::default()), []);
        let scope = Scope { read: ReadScope::Only(vec![]), ..Scope::default() };
        assert_eq!(kernel.gaps(&scope), [Gap::Reads]);
    }

    #[test]
    fn inside_another_scope_what_only_one_can_be_asked_about_is_held_by_that_one() {
        let inside = Kernel {
            landlock: 7,
            view: OwnView::Unneeded,
            filters: true,
            asks: false,
            surroundings: Surroundings::Scope,
        };
        let scope = Scope { network: Network::Loopback, ..Scope::default() };
        assert_eq!(inside.gaps(&scope), [Gap::Attributes, Gap::Processes, Gap::Words, Gap::Hosts]);
        assert_eq!(inside.open_gaps(&scope), [Gap::Hosts]);
        let held = inside.held(scope.clone());
        assert_eq!((&held.network, inside.open_gaps(&held).as_slice()), (&Network::Nothing, [].as_slice()));
        // Without one around it nobody holds them, and nothing is made narrower.
        let alone = Kernel { surroundings: Surroundings::Free, ..inside };
        assert_eq!(alone.open_gaps(&scope), alone.gaps(&scope));
        assert_eq!(alone.held(scope.clone()).network, Network::Loopback);
    }

    #[test]
    fn what_forbids_a_view_of_our_own_is_said_in_a_sentence() {
        assert_eq!(
            Gap::Writes(Hindrance::AppArmor).to_string(),
            "writes outside the scope (no Landlock, and AppArmor forbids user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1)"
        );
    }
}
