//! `pictures`: what the programs print in a terminal, as SVG for the documentation.
//!
//! Nothing is drawn by hand: `scenes.rs` runs the real programs at a terminal, and here only what differs from run to run, the times, is replaced.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anstyle::RgbColor;
use anstyle_svg::{Palette, Term};
use xtask::{Outcome, root};

use crate::scenes::{Scene, scenes};

/// `pictures [--fresh]`: draws every picture, or fails when one is not what the programs print.
pub(crate) fn pictures(arguments: &[String]) -> Outcome {
    match arguments {
        [] => write(),
        [option] if option == "--fresh" => are_fresh(),
        _ => Err("usage: cargo xtask pictures [--fresh]".to_owned()),
    }
}

fn write() -> Outcome {
    let folder = folder();
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for scene in scenes()? {
        let path = folder.join(scene.name);
        fs::write(&path, drawn(&scene))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

fn are_fresh() -> Outcome {
    for scene in scenes()? {
        let path = folder().join(scene.name);
        if fs::read_to_string(&path).unwrap_or_default() != drawn(&scene) {
            return Err(format!("{} is stale: run `cargo xtask pictures`", path.display()));
        }
    }
    Ok(())
}

fn folder() -> PathBuf {
    root().join("docs/pictures")
}

/// The picture of a scene.
fn drawn(scene: &Scene) -> String {
    let term = Term::new()
        .palette(PALETTE)
        .fg_color(anstyle::Color::Rgb(FOREGROUND))
        .bg_color(anstyle::Color::Rgb(BACKGROUND));
    // Dimmed text is drawn at less than half its strength, which is too faint to read.
    let svg = term.render_svg(&timeless(&scene.text)).replace("opacity: 0.4", "opacity: 0.75");
    // What cannot see the picture reads what it is of.
    match svg.split_once('>') {
        Some((head, rest)) => format!("{head} role=\"img\">\n  <title>{}</title>{rest}", scene.title),
        None => svg,
    }
}

const BACKGROUND: RgbColor = RgbColor(0x16, 0x1b, 0x22);
const FOREGROUND: RgbColor = RgbColor(0xe6, 0xed, 0xf3);

/// Colours with a contrast of at least 6 to 1 on the background; the usual red and blue have half of that.
const PALETTE: Palette = {
    const BLACK: RgbColor = RgbColor(0x6e, 0x76, 0x81);
    const RED: RgbColor = RgbColor(0xff, 0x8a, 0x80);
    const GREEN: RgbColor = RgbColor(0x7e, 0xe7, 0x87);
    const YELLOW: RgbColor = RgbColor(0xf2, 0xcc, 0x60);
    const BLUE: RgbColor = RgbColor(0x79, 0xc0, 0xff);
    const MAGENTA: RgbColor = RgbColor(0xd2, 0xa8, 0xff);
    const CYAN: RgbColor = RgbColor(0x76, 0xe3, 0xea);
    Palette([
        BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, FOREGROUND, BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA,
        CYAN, FOREGROUND,
    ])
};

/// A text with times and dates that stand still: each time of day is some seconds after the one before.
fn timeless(text: &str) -> String {
    let mut rest = text;
    let mut still = String::new();
    let mut seconds = 0_u32;
    while let Some(first) = rest.chars().next() {
        if has_form(rest, "00:00:00") {
            seconds += 7;
            let _ = write!(still, "10:{:02}:{:02}", 12 + seconds / 60, seconds % 60);
            rest = rest.get("00:00:00".len()..).unwrap_or_default();
        } else if has_form(rest, "0000-00-00") {
            still.push_str("2026-11-23");
            rest = rest.get("0000-00-00".len()..).unwrap_or_default();
        } else {
            still.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    still
}

/// Whether a text begins with a digit for each `0` of the form, and its other characters.
fn has_form(text: &str, form: &str) -> bool {
    let mut letters = text.chars();
    form.chars().all(|wanted| {
        letters
            .next()
            .is_some_and(|letter| if wanted == '0' { letter.is_ascii_digit() } else { letter == wanted })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_still() {
        assert_eq!(timeless("a 2031-01-02 03:04:05, 23:59:59 b"), "a 2026-11-23 10:12:07, 10:12:14 b");
        assert_eq!(timeless("2/3 1.00 v10:2"), "2/3 1.00 v10:2");
    }

    #[test]
    fn what_is_read_stands_out() {
        let brightness = |colour: RgbColor| {
            let part = |value: u8| {
                let value = f64::from(value) / 255.0;
                if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(colour.0) + 0.7152 * part(colour.1) + 0.0722 * part(colour.2)
        };
        for colour in PALETTE.0.into_iter().skip(1).filter(|colour| *colour != PALETTE.0[0]) {
            let contrast = (brightness(colour) + 0.05) / (brightness(BACKGROUND) + 0.05);
            assert!(contrast >= 6.0, "{colour:?}: {contrast}");
        }
    }
}
