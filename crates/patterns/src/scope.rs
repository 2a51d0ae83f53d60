//! Scope creep (upstream 1.2): work that leaves its scope. What counts is the share of places outside among all that were touched.

use std::collections::VecDeque;

use checkrein_policy::ScopeCreepThresholds;
use checkrein_protocol::{Fingerprint, Severity};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share, newest};
use crate::settings::entries;

/// How many different places are remembered (ours).
const WINDOW: usize = 64;

/// A place that an action touches, as far as the scope is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// The path.
    pub path: Fingerprint,
    /// Where it lies.
    pub side: ScopeSide,
    /// Whether it is only read.
    pub use_of: Use,
}

/// Where a place lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ScopeSide {
    /// Where work is expected, or where every program reads.
    Inside,
    /// Elsewhere.
    Outside,
    /// Elsewhere, and of weight: settings of the machine, secrets.
    Critical,
}

impl ScopeSide {
    /// Where an absolute path lies, seen from a workspace. Places where every program reads (libraries, caches of packages) are inside (ours).
    pub fn of(path: &str, workspace: &str) -> Self {
        const SHARED: [&str; 12] = [
            "/tmp", "/var/tmp", "/dev", "/proc", "/sys", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt",
            "/nix",
        ];
        const CACHES: [&str; 8] = [
            "/.cargo/",
            "/.rustup/",
            "/node_modules/",
            "/site-packages/",
            "/.cache/",
            "/.claude/",
            "/go/pkg/",
            "/.npm/",
        ];
        const CRITICAL: [&str; 5] = ["/.ssh/", "/.aws/", "/.gnupg/", "/secrets/", "/.env"];
        let within = |place: &str| {
            path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if within(workspace) || SHARED.iter().any(|place| within(place)) {
            Self::Inside
        } else if within("/etc") || CRITICAL.iter().any(|part| path.contains(part)) {
            Self::Critical
        } else if CACHES.iter().any(|part| path.contains(part)) {
            Self::Inside
        } else {
            Self::Outside
        }
    }
}

/// What is done with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Use {
    /// It is read.
    Read,
    /// It is changed.
    Changed,
}

/// The places that were touched, each once.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Scope(VecDeque<PastTouch>);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct PastTouch {
    number: ActionNumber,
    touch: Touch,
}

impl Scope {
    pub(crate) fn touched(&mut self, number: ActionNumber, touch: Touch) {
        if let Some(past) = self.0.iter_mut().find(|past| past.touch.path == touch.path) {
            past.touch.use_of = past.touch.use_of.max(touch.use_of);
            return;
        }
        while self.0.len() >= WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(PastTouch { number, touch });
    }

    /// The user spoke: what they ask for may lie elsewhere.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn detect(&self, thresholds: ScopeCreepThresholds) -> Option<Issue> {
        let outside = || self.0.iter().filter(|past| past.touch.side != ScopeSide::Inside);
        let count = outside().count();
        let ratio = count as f64 / self.0.len().max(1) as f64;
        if count < entries(thresholds.places) || ratio <= thresholds.ratio {
            return None;
        }
        let changed = outside().any(|past| past.touch.use_of == Use::Changed);
        let critical = outside().any(|past| past.touch.side == ScopeSide::Critical);
        Some(Issue {
            kind: PatternKind::ScopeCreep,
            severity: match (changed, critical) {
                (true, true) => Severity::High,
                (true, false) | (false, true) => Severity::Medium,
                (false, false) => Severity::Low,
            },
            confidence: Share::new(ratio),
            impact: Share::default(),
            signal: ratio,
            summary: format!("{count} of {} places that were touched lie outside the work", self.0.len()),
            advice: "go back to the files of the task; say why another place is needed before using it"
                .to_owned(),
            actions: newest(outside().map(|past| past.number)),
            growth: None,
            growths: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(touches: &[(ScopeSide, Use)]) -> Option<Issue> {
        let mut scope = Scope::default();
        for (index, (side, use_of)) in touches.iter().enumerate() {
            let touch = Touch { path: Fingerprint(index as u32 + 1), side: *side, use_of: *use_of };
            scope.touched(ActionNumber(index as u64 + 1), touch);
        }
        scope.detect(ScopeCreepThresholds::default())
    }

    #[test]
    fn the_scenario_of_upstream_1_2() {
        let inside = (ScopeSide::Inside, Use::Read);
        let found =
            touched(&[inside, inside, (ScopeSide::Critical, Use::Read), (ScopeSide::Outside, Use::Changed)])
                .unwrap();
        assert_eq!(found.confidence, Share::new(0.5), "two of four: the confidence is the ratio");
        assert_eq!(found.severity, Severity::High);
    }

    #[test]
    fn where_places_lie() {
        let side = |path| ScopeSide::of(path, "/home/dev/proj");
        for path in [
            "/home/dev/proj/src/a.rs",
            "/home/dev/proj",
            "/tmp/x",
            "/usr/include/a.h",
            "/home/dev/.cargo/registry/a",
        ] {
            assert_eq!(side(path), ScopeSide::Inside, "{path}");
        }
        assert_eq!(side("/home/dev/project/a"), ScopeSide::Outside);
        for path in ["/etc/passwd", "/home/dev/.ssh/config", "/home/dev/other/.env"] {
            assert_eq!(side(path), ScopeSide::Critical, "{path}");
        }
    }

    #[test]
    fn a_glance_elsewhere_is_none() {
        let inside = (ScopeSide::Inside, Use::Read);
        assert_eq!(touched(&[(ScopeSide::Outside, Use::Read)]), None);
        assert_eq!(
            touched(&[
                inside,
                inside,
                inside,
                inside,
                inside,
                (ScopeSide::Outside, Use::Read),
                (ScopeSide::Outside, Use::Read)
            ]),
            None
        );
    }
}
