//! What is counted as metrics of OTLP: the same families as on `/metrics`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{attributes, nanoseconds};
use crate::metrics::Sample;
use crate::metrics::names::{Family, Kind};

/// Sums since the beginning (OTLP).
const CUMULATIVE: u8 = 2;

/// The families that have samples.
pub(super) fn of(families: &[(&'static Family, Vec<Sample>)], began: u64, now: u64) -> Vec<Json> {
    let (began, now) = (nanoseconds(began), nanoseconds(now));
    let told = families.iter().filter(|(_, samples)| !samples.is_empty());
    told.map(|(family, samples)| {
        let points = || -> Vec<Json> {
            let point = |sample: &Sample| {
                json!({
                    "attributes": labelled(&sample.labels),
                    "startTimeUnixNano": began,
                    "timeUnixNano": now,
                    "asDouble": sample.value,
                })
            };
            samples.iter().map(point).collect()
        };
        let (name, data) = match family.kind {
            Kind::Gauge => ("gauge", json!({ "dataPoints": points() })),
            Kind::Counter => (
                "sum",
                json!({ "dataPoints": points(), "aggregationTemporality": CUMULATIVE, "isMonotonic": true }),
            ),
            Kind::Histogram => (
                "histogram",
                json!({
                    "dataPoints": distributions(samples, &began, &now),
                    "aggregationTemporality": CUMULATIVE,
                }),
            ),
        };
        json!({ "name": family.name, "description": family.help, name: data })
    })
    .collect()
}

/// The labels behind the name of a sample.
fn pairs(labels: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = labels.trim_start_matches('{');
    while let Some((name, behind)) = rest.split_once("=\"") {
        let (mut value, mut letters) = (String::new(), behind.char_indices());
        let mut end = behind.len();
        while let Some((place, letter)) = letters.next() {
            match letter {
                '"' => {
                    end = place + 1;
                    break;
                }
                '\\' => value.push(match letters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, other)) => other,
                    None => '\\',
                }),
                other => value.push(other),
            }
        }
        found.push((name.trim_start_matches(',').to_owned(), value));
        rest = behind.get(end..).unwrap_or_default();
    }
    found
}

fn labelled(labels: &str) -> Json {
    let pairs = pairs(labels);
    let all: Vec<(&str, Json)> = pairs.iter().map(|(name, value)| (name.as_str(), json!(value))).collect();
    attributes(&all)
}

/// One distribution.
#[derive(Default)]
struct Distribution {
    /// How many are at most as great as each bound.
    up_to: Vec<(f64, f64)>,
    sum: f64,
    count: f64,
}

/// Distributions, from series by bounds.
fn distributions(samples: &[Sample], began: &str, now: &str) -> Vec<Json> {
    let mut all: BTreeMap<Vec<(String, String)>, Distribution> = BTreeMap::new();
    for sample in samples {
        let mut labels = pairs(&sample.labels);
        let bound = labels.iter().position(|(name, _)| name == "le").map(|place| labels.remove(place).1);
        let one = all.entry(labels).or_default();
        match bound {
            Some(bound) if bound == "+Inf" => {}
            Some(bound) => one.up_to.push((bound.parse().unwrap_or(f64::MAX), sample.value)),
            None if sample.name.ends_with("_sum") => one.sum = sample.value,
            None => one.count = sample.value,
        }
    }
    all.into_iter()
        .map(|(labels, mut one)| {
            one.up_to.sort_by(|one, other| one.0.total_cmp(&other.0));
            let before = std::iter::once(0.0).chain(one.up_to.iter().map(|(_, count)| *count));
            let after = one.up_to.iter().map(|(_, count)| *count).chain([one.count]);
            let counts: Vec<String> = before
                .zip(after)
                .map(|(before, after)| format!("{:.0}", (after - before).max(0.0)))
                .collect();
            let all: Vec<(&str, Json)> =
                labels.iter().map(|(name, value)| (name.as_str(), json!(value))).collect();
            json!({
                "attributes": attributes(&all),
                "startTimeUnixNano": began,
                "timeUnixNano": now,
                "count": format!("{:.0}", one.count),
                "sum": one.sum,
                "explicitBounds": one.up_to.iter().map(|(bound, _)| *bound).collect::<Vec<_>>(),
                "bucketCounts": counts,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_back_as_they_were() {
        let labels = crate::metrics::names::labels(&[("model", "odd \"name\"\\\n,x=\"y"), ("kind", "input")]);
        assert_eq!(
            pairs(&labels),
            [
                ("model".to_owned(), "odd \"name\"\\\n,x=\"y".to_owned()),
                ("kind".to_owned(), "input".to_owned())
            ]
        );
        assert!(pairs("").is_empty());
    }

    #[test]
    fn a_distribution_has_one_count_more_than_bounds() {
        let sample = |name: &str, labels: &str, value| Sample {
            name: name.to_owned(),
            labels: labels.to_owned(),
            value,
        };
        let samples = [
            sample("x_bucket", "{a=\"b\",le=\"+Inf\"}", 5.0),
            sample("x_bucket", "{a=\"b\",le=\"1\"}", 4.0),
            sample("x_bucket", "{a=\"b\",le=\"0.5\"}", 1.0),
            sample("x_sum", "{a=\"b\"}", 2.5),
            sample("x_count", "{a=\"b\"}", 5.0),
        ];
        let told = distributions(&samples, "1", "2");
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["explicitBounds"], json!([0.5, 1.0]));
        assert_eq!(told[0]["bucketCounts"], json!(["1", "3", "1"]));
        assert_eq!((&told[0]["count"], &told[0]["sum"]), (&json!("5"), &json!(2.5)));
    }
}
