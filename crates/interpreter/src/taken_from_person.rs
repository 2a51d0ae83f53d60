//! What programs take from the person who sits at the machine: what was copied, what is seen on the screen, what the microphone and the camera take up.
//!
//! It stays what it is until it goes to a host. Sources: the manuals of xclip 0.13, xsel 1.2, wl-clipboard 2.2, macOS (`pbpaste`, `screencapture`), Termux:API,
//! grim 1.4, scrot 1.11, maim 5.8, ImageMagick 7 (`import`), `xwd` 1.0, gnome-screenshot 41, Spectacle 24, Flameshot 12, FFmpeg 7 ("Input devices"), alsa-utils 1.2,
//! PulseAudio 17, SoX 14.4, fswebcam, imagesnap, v4l-utils 1.28, libcamera-apps, PowerShell 7 (`Get-Clipboard`).

use crate::effect::{EffectKind, NetworkReach, Severity};

use super::call::{Call, Input};
use super::exit::Output;
use super::machine::Machine;
use super::value::Value;

/// The place that stands for what was taken from the person.
const TAKEN: &str = "what was taken from the person";

/// Programs that take something, with the words of which one has to stand behind each; none where they do nothing else.
const TAKING: &[(&[&str], &[&str])] = &[
    (&["pbpaste", "wl-paste", "termux-clipboard-get", "xwd", "imagesnap", "get-clipboard"], &[]),
    (
        &["grim", "maim", "scrot", "screencapture", "gnome-screenshot", "spectacle", "flameshot", "fswebcam"],
        &[],
    ),
    (
        &[
            "arecord",
            "parecord",
            "parec",
            "pw-record",
            "rec",
            "libcamera-still",
            "libcamera-vid",
            "rpicam-still",
        ],
        &[],
    ),
    (&["xclip"], &["-o", "-out"]),
    (&["xsel"], &["-o", "--output"]),
    (&["import"], &["-window", "root"]),
    (&["v4l2-ctl"], &["--stream-to"]),
    (
        &["ffmpeg", "avconv", "gst-launch-1.0", "sox"],
        &[
            "x11grab",
            "avfoundation",
            "gdigrab",
            "kmsgrab",
            "ddagrab",
            "v4l2",
            "alsa",
            "pulse",
            "dshow",
            "decklink",
            "ximagesrc",
            "pipewiresrc",
            "v4l2src",
            "pulsesrc",
            "-d",
        ],
    ),
];

/// What a call prints that takes something from the person; `None` for all others.
pub(super) fn output(call: &Call) -> Option<Output> {
    let (_, words) = TAKING.iter().find(|(programs, _)| programs.contains(&call.program.as_str()))?;
    let has = |wanted: &&str| {
        call.words.iter().filter_map(Value::as_exact).any(|word| {
            word == *wanted
                || wanted.starts_with("--")
                    && word.strip_prefix(*wanted).is_some_and(|rest| rest.starts_with('='))
        })
    };
    (words.is_empty() || words.iter().any(has)).then(|| Output::Local(TAKEN.to_owned()))
}

impl Machine<'_> {
    /// Says of what goes out, since there were `before` effects, that it was taken from the person, where that is so.
    pub(super) fn note_taken_from_person(&mut self, call: &Call, before: usize) {
        let comes_in = matches!(&call.input, Input::Local(place) if place == TAKEN);
        let stands_in_words =
            self.substituted().iter().any(|output| matches!(output, Output::Local(place) if place == TAKEN));
        if !comes_in && !stands_in_words && output(call).is_none() {
            return;
        }
        self.amend(before, |effect| {
            if matches!(effect.kind, EffectKind::DataUpload | EffectKind::NetworkRequest)
                && effect.reach == Some(NetworkReach::External)
            {
                effect.kind = EffectKind::DataUpload;
                effect.severity = Severity::High;
                "what was copied, seen or heard here goes there".clone_into(&mut effect.note);
            }
        });
    }
}
