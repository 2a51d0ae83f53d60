//! What this machine can enforce, and what of a scope it cannot.

use std::fmt;

use crate::filter;
use crate::scope::{Network, Reading, Scope};

/// What the kernel offers. Found out once, by asking it; not from its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The level of Landlock; 0 when it is absent or off.
    pub landlock: u32,
    /// Whether system calls can be filtered.
    pub filters: bool,
    /// Whether the kernel asks us about calls (user notifications of seccomp).
    pub asks: bool,
}

impl Kernel {
    /// Asks the kernel.
    pub fn probe() -> Self {
        Self { landlock: landlock_level(), filters: filter::is_offered(), asks: filter::can_ask() }
    }

    /// What of a scope is not enforced here. Empty when all of it is.
    pub fn gaps(&self, scope: &Scope) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let restricts_network = scope.network != Network::Open;
        if self.landlock == 0 {
            gaps.push(Gap::Writes);
            if scope.read != Reading::All {
                gaps.push(Gap::Reads);
            }
        } else {
            if self.landlock < 3 {
                gaps.push(Gap::Truncation);
            }
            if self.landlock < 6 {
                gaps.push(Gap::Signals);
            }
        }
        if !self.filters {
            gaps.push(Gap::Calls);
        }
        if !self.asks {
            gaps.extend([Gap::Attributes, Gap::Processes, Gap::Words]);
            if restricts_network && !matches!(scope.network, Network::Nothing) {
                gaps.push(Gap::Hosts);
            }
        }
        if restricts_network && !self.filters {
            gaps.push(Gap::Network);
        }
        gaps
    }
}

/// A part of a scope that this machine does not enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Writing outside the scope.
    Writes,
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

impl fmt::Display for Gap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Writes => "writes outside the scope (no Landlock)",
            Self::Reads => "reads outside the scope (no Landlock)",
            Self::Truncation => "cutting files short (Landlock below level 3)",
            Self::Signals => "signals to other processes (Landlock below level 6)",
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

    const OLD: Kernel = Kernel { landlock: 0, filters: true, asks: false };

    #[test]
    fn what_an_old_kernel_does_not_hold_is_named() {
        let scope = Scope { network: Network::Loopback, read: Reading::Only(vec![]), ..Scope::default() };
        let gaps = OLD.gaps(&scope);
        for gap in [Gap::Writes, Gap::Reads, Gap::Hosts, Gap::Processes, Gap::Attributes, Gap::Words] {
            assert!(gaps.contains(&gap), "{gap} is missing");
        }
        assert!(!gaps.contains(&Gap::Network), "sockets are refused by the filter alone");
    }

    #[test]
    fn a_new_kernel_holds_everything() {
        let kernel = Kernel { landlock: 7, filters: true, asks: true };
        assert_eq!(kernel.gaps(&Scope::default()), []);
    }
}
