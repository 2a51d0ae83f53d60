//! Resource spirals (upstream 1.2): what grows by half and more from one stretch of work to the next.

use std::collections::VecDeque;

use checkrein_policy::ResourceSpiralThresholds;
use checkrein_protocol::{LimitedResource, Severity};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share};
use crate::settings::entries;

/// How many actions make one point (upstream 1.2, `measurement_window`).
const STRETCH: u32 = 5;

/// How many points are remembered (ours).
const POINTS: usize = 5;

/// Use of resources over some actions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) file_operations: u64,
    pub(crate) processes: u64,
    pub(crate) bytes_written: u64,
    pub(crate) output_bytes: u64,
    pub(crate) milliseconds: u64,
    pub(crate) tokens: u64,
    /// The longest time in which nothing was done, in milliseconds.
    #[serde(default)]
    pub(crate) pause: u64,
}

/// The last stretches of work, and the one that goes on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Spiral {
    points: VecDeque<Usage>,
    current: Usage,
    actions: u32,
}

/// A resource: its name, its amount, and what is too little to be called a spiral (ours).
type Resource = (&'static str, fn(&Usage) -> u64, u64);

const RESOURCES: [Resource; 6] = [
    ("file operations", |usage| usage.file_operations, 100),
    ("processes", |usage| usage.processes, 200),
    ("bytes written", |usage| usage.bytes_written, 1024 * 1024),
    ("output", |usage| usage.output_bytes, 1024 * 1024),
    ("time", |usage| usage.milliseconds, 10 * 60 * 1000),
    ("tokens", |usage| usage.tokens, 200_000),
];

/// Which limits a resource uses up: what is printed the model reads, and processes take memory (ours).
fn limited(name: &str) -> &'static [LimitedResource] {
    match name {
        "file operations" | "bytes written" => &[LimitedResource::FileOperations],
        "tokens" | "output" => &[LimitedResource::Tokens, LimitedResource::Dollars],
        "time" => &[LimitedResource::Seconds],
        "processes" => &[LimitedResource::Megabytes],
        _ => &[],
    }
}

impl Spiral {
    pub(crate) fn used(&mut self, usage: Usage) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.current.file_operations, usage.file_operations);
        add(&mut self.current.processes, usage.processes);
        add(&mut self.current.bytes_written, usage.bytes_written);
        add(&mut self.current.output_bytes, usage.output_bytes);
        add(&mut self.current.milliseconds, usage.milliseconds);
        self.current.pause = self.current.pause.max(usage.pause);
        self.actions += 1;
        if self.actions < STRETCH {
            return;
        }
        while self.points.len() >= POINTS {
            self.points.pop_front();
        }
        self.points.push_back(std::mem::take(&mut self.current));
        self.actions = 0;
    }

    /// Tokens come beside the actions, so they make no stretch longer.
    pub(crate) fn spent(&mut self, tokens: u64) {
        self.current.tokens = self.current.tokens.saturating_add(tokens);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn detect(
        &self,
        now: ActionNumber,
        thresholds: ResourceSpiralThresholds,
        window_seconds: u64,
    ) -> Option<Issue> {
        // What grew before a pause was another matter.
        let paused = |usage: &Usage| usage.pause > window_seconds.saturating_mul(1000);
        let first = self.points.iter().rposition(paused).unwrap_or_default();
        let grown = RESOURCES.iter().filter_map(|(name, amount, least)| {
            let series: Vec<u64> = self.points.iter().skip(first).map(amount).collect();
            let growth = growth(&series, thresholds)?;
            let enough = series.last().is_some_and(|last| last >= least);
            enough.then_some((*name, growth, series))
        });
        let grown: Vec<(&str, f64, Vec<u64>)> = grown.collect();
        let mut growths: Vec<(LimitedResource, f64)> = Vec::new();
        for (name, growth, _) in &grown {
            for resource in limited(name) {
                match growths.iter_mut().find(|(known, _)| known == resource) {
                    Some((_, greatest)) => *greatest = greatest.max(*growth),
                    None => growths.push((*resource, *growth)),
                }
            }
        }
        let spirals = grown.into_iter().filter(|(_, growth, _)| *growth > thresholds.growth);
        let (name, growth, series) = spirals.max_by(|(_, one, _), (_, other, _)| one.total_cmp(other))?;
        let amounts: Vec<String> = series.iter().map(|value| amount(name, *value)).collect();
        let amounts = amounts.join(", ");
        // What came since was not measured yet: whether it is better shows at the end of the next stretch.
        let latest = ActionNumber(now.0.saturating_sub(u64::from(self.actions)));
        let onset = now.0.saturating_sub(self.points.len() as u64 * u64::from(STRETCH)) + 1;
        Some(Issue {
            kind: PatternKind::ResourceSpiral,
            severity: match growth {
                // A critical spiral is one that seed 001 names; its numbers are ours, those of the steps of limits and one more.
                growth if growth > 4.0 => Severity::Critical,
                growth if growth > 3.0 => Severity::High,
                growth if growth > 2.0 => Severity::Medium,
                _ => Severity::Low,
            },
            confidence: Share::new(growth / 3.0),
            impact: Share::default(),
            signal: growth,
            summary: format!(
                "{name} grew {growth:.1} times from each {STRETCH} actions to the next: {amounts}"
            ),
            advice:
                "work in smaller parts, leave out what is not needed, and clean up what was made on the way"
                    .to_owned(),
            actions: [ActionNumber(onset), latest].to_vec(),
            growth: Some(growth),
            growths,
        })
    }
}

/// An amount of a resource as a reader counts it.
fn amount(name: &str, value: u64) -> String {
    match name {
        "bytes written" | "output" if value >= 1 << 20 => {
            format!("{:.1} MB", value as f64 / f64::from(1 << 20))
        }
        "bytes written" | "output" => format!("{} kB", value.div_ceil(1 << 10)),
        "time" => format!("{} s", value / 1000),
        _ => value.to_string(),
    }
}

/// The mean of b / max(a, 1) over neighbours (upstream 1.2); `None` with fewer points than that needs.
fn growth(series: &[u64], thresholds: ResourceSpiralThresholds) -> Option<f64> {
    if series.len() < entries(thresholds.points).max(2) {
        return None;
    }
    let ratios = series.windows(2).filter_map(|pair| match pair {
        [before, after] => Some(*after as f64 / (*before).max(1) as f64),
        _ => None,
    });
    Some(ratios.sum::<f64>() / (series.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLDS: ResourceSpiralThresholds = ResourceSpiralThresholds { growth: 1.5, points: 3 };

    #[test]
    fn the_scenario_of_upstream_1_2() {
        let growth = growth(&[100, 200, 450, 1100], THRESHOLDS).unwrap();
        assert!(growth > THRESHOLDS.growth && growth < 2.5, "{growth}");
    }

    #[test]
    fn two_points_are_no_growth_and_little_is_none() {
        assert_eq!(growth(&[1, 1000], THRESHOLDS), None);
        let mut spiral = Spiral::default();
        for point in 0..4_u32 {
            for _ in 0..STRETCH {
                spiral.used(Usage { file_operations: 2_u64.pow(point), ..Usage::default() });
            }
        }
        assert_eq!(
            spiral.detect(ActionNumber(20), THRESHOLDS, 60),
            None,
            "40 operations in 5 actions are little"
        );
    }

    // Source: seed 000-10
    #[test]
    fn tokens_that_grow_are_a_spiral_too() {
        let mut spiral = Spiral::default();
        for point in 0..4_u32 {
            spiral.spent(50_000 * 2_u64.pow(point));
            (0..STRETCH).for_each(|_| spiral.used(Usage::default()));
        }
        let found = spiral.detect(ActionNumber(20), THRESHOLDS, 60).unwrap();
        assert!(found.summary.starts_with("tokens grew 2.0 times"), "{}", found.summary);
        assert!(
            found.summary.ends_with(": 50000, 100000, 200000, 400000"),
            "what is used now: {}",
            found.summary
        );
        assert_eq!(found.advice.split(", ").count(), 3, "three things to do: {}", found.advice);
    }

    #[test]
    fn what_doubles_and_is_much_is_a_spiral() {
        let mut spiral = Spiral::default();
        for point in 0..4_u32 {
            for _ in 0..STRETCH {
                spiral.used(Usage { file_operations: 20 * 3_u64.pow(point), ..Usage::default() });
            }
        }
        let found = spiral.detect(ActionNumber(20), THRESHOLDS, 60).unwrap();
        assert_eq!((found.severity, found.growth), (Severity::Medium, Some(3.0)));
        assert!(found.summary.ends_with("to the next: 100, 300, 900, 2700"), "{}", found.summary);
        assert_eq!(found.latest(), Some(ActionNumber(20)));
        // Two harmless actions later nothing new was measured, so nothing more is done about it.
        (0..2).for_each(|_| spiral.used(Usage::default()));
        let later = spiral.detect(ActionNumber(22), THRESHOLDS, 60).unwrap();
        assert_eq!(later.latest(), Some(ActionNumber(20)));
    }

    // Source: seed 000-28
    #[test]
    fn each_resource_that_a_limit_is_about_has_its_own_growth() {
        let mut spiral = Spiral::default();
        for point in 0..4_u32 {
            for _ in 0..STRETCH {
                let milliseconds = 2_u64.pow(point) * 60_000;
                spiral.used(Usage {
                    file_operations: 20 * 3_u64.pow(point),
                    milliseconds,
                    ..Usage::default()
                });
            }
            spiral.spent(30);
        }
        let found = spiral.detect(ActionNumber(20), THRESHOLDS, 600).unwrap();
        let growths = [(LimitedResource::FileOperations, 3.0), (LimitedResource::Seconds, 2.0)];
        assert_eq!((found.growth, found.growths.as_slice()), (Some(3.0), growths.as_slice()));
    }

    // Source: seed 001-18
    #[test]
    fn what_grows_fivefold_is_critical_seed_001() {
        let mut spiral = Spiral::default();
        for point in 0..4_u32 {
            for _ in 0..STRETCH {
                spiral.used(Usage { file_operations: 5_u64.pow(point), ..Usage::default() });
            }
        }
        assert_eq!(spiral.detect(ActionNumber(20), THRESHOLDS, 60).unwrap().severity, Severity::Critical);
    }

    // Source: seed 000-92
    #[test]
    fn growth_is_measured_over_work_without_a_long_pause_seed_000() {
        let mut spiral = Spiral::default();
        for point in 0..4_u32 {
            for action in 0..STRETCH {
                let pause = if (point, action) == (2, 0) { 90_000 } else { 1_000 };
                let file_operations = 20 * 3_u64.pow(point);
                spiral.used(Usage { file_operations, pause, ..Usage::default() });
            }
        }
        let found = |seconds| spiral.detect(ActionNumber(20), THRESHOLDS, seconds).is_some();
        assert!(!found(60) && found(120));
    }
}
