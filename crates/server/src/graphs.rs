//! Graphs as SVG: bars by day, stacked, with words for each part. Colour is never all that tells parts apart: each has its own pattern, its
//! place in the stack and its number in the title.

use std::fmt::Write as _;

/// One part of the bars.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// One value for each day.
    pub(crate) values: Vec<f64>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;
const FOOT: f64 = 18.0;

/// Bars by day; `days` are their names, oldest first.
pub(crate) fn bars(title: &str, days: &[String], series: &[Series]) -> String {
    let sums = (0..days.len()).map(|day| series.iter().filter_map(|one| one.values.get(day)).sum::<f64>());
    let greatest = sums.fold(0.0_f64, f64::max);
    let scale = if greatest > 0.0 { HEIGHT / greatest } else { 0.0 };
    let step = WIDTH / (days.len().max(1) as f64);
    let mut svg = format!(
        "<svg class=\"graph\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">",
        HEIGHT + FOOT,
        escaped(title)
    );
    for (day, name) in days.iter().enumerate() {
        let mut top = HEIGHT;
        for (place, one) in series.iter().enumerate() {
            let value = one.values.get(day).copied().unwrap_or_default();
            if value <= 0.0 {
                continue;
            }
            let height = value * scale;
            top -= height;
            let _ = write!(
                svg,
                "<rect class=\"s{}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{}: {} {}</title></rect>",
                place % 6,
                day as f64 * step + 1.0,
                (step - 2.0).max(1.0),
                escaped(name),
                escaped(&one.name),
                number(value),
            );
        }
    }
    let _ = write!(svg, "<line class=\"axis\" x1=\"0\" y1=\"{HEIGHT}\" x2=\"{WIDTH}\" y2=\"{HEIGHT}\"/>");
    if let (Some(first), Some(last)) = (days.first(), days.last()) {
        let y = HEIGHT + FOOT - 4.0;
        let _ = write!(
            svg,
            "<text x=\"0\" y=\"{y}\">{}</text><text x=\"{WIDTH}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
            escaped(first),
            escaped(last)
        );
    }
    let _ = write!(svg, "<text x=\"0\" y=\"12\">most in a day: {}</text></svg>", number(greatest));
    svg
}

/// A number as people read it.
pub(crate) fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 000-110
    #[test]
    fn each_part_has_its_height_and_its_words() {
        let days = ["a<".to_owned(), "b".to_owned()];
        let series = [
            Series { name: "ok".to_owned(), values: vec![1.0, 3.0] },
            Series { name: "block".to_owned(), values: vec![1.0, 0.0] },
        ];
        let svg = bars("Verdicts", &days, &series);
        assert_eq!(svg.matches("<rect").count(), 3);
        assert!(svg.contains("<title>b: ok 3</title>") && svg.contains("a&lt;: block 1"), "{svg}");
        assert!(bars("none", &[], &[]).ends_with("</svg>"));
    }
}
