//! `dd`: what it reads, what it writes, and what that leaves. Source: GNU coreutils manual, "dd invocation".

use super::after;
use crate::effect::EffectKind;
use crate::interpreter::{Call, Exit, Input, Machine, Output, Value};
use crate::path::AbsolutePath;
use crate::world::Entry;

/// How long the texts are of which it is worked out what `dd` leaves, in bytes (ours).
const COPIED: usize = 256 * 1024;

/// `dd`
pub(crate) fn dd(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut output = match &call.input {
        Input::Inherited => Output::Unknown,
        input => Output::from_input(input),
    };
    for word in &call.words {
        if let Some(value) = after(word, "if=") {
            output = machine.read(&value);
        }
    }
    let manner = Manner::of(&call.words);
    let mut writes = false;
    for word in &call.words {
        if let Some(value) = after(word, "of=") {
            writes = true;
            let left = manner.as_ref().and_then(|manner| manner.left(machine, call, &output, &value));
            let copies_all = manner.as_ref().is_some_and(Manner::copies_all);
            machine.write_from(&value, if copies_all { &output } else { &Output::Unknown });
            if let Some((path, text)) = left.filter(|_| !copies_all) {
                machine.overlay().announce(&path, text);
            }
        } else if matches!(word, Value::Unknown) {
            machine.effect(EffectKind::FileModify, &Value::Unknown);
        }
    }
    if writes { Exit::silent() } else { Exit::with(output) }
}

/// What becomes of the letters on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    Kept,
    Upper,
    Lower,
}

/// What of the file stays that is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// What stands in front of the place that is written to.
    Front,
    /// All that is not written over.
    All,
}

/// How `dd` copies, where all of its words are known.
#[derive(Debug)]
struct Manner {
    from: Option<String>,
    /// Bytes of the source that are left out, and how many are copied at most.
    skip: usize,
    most: Option<usize>,
    /// Whether a source that gives less than it was asked for makes another copy of it.
    counts_reads: bool,
    /// Where in the file it begins to write.
    seek: usize,
    appends: bool,
    rest: Rest,
    letters: Letters,
}

impl Manner {
    fn of(words: &[Value]) -> Option<Self> {
        let mut told: Vec<(&str, &str)> = Vec::new();
        for word in words {
            told.push(word.as_exact()?.split_once('=')?);
        }
        let last = |name: &str| told.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let flags = |name: &str| last(name).unwrap_or_default().split(',').filter(|flag| !flag.is_empty());
        let is_known = told.iter().all(|(key, value)| {
            let knows =
                |known: &[&str]| value.split(',').all(|flag| flag.is_empty() || known.contains(&flag));
            match *key {
                "if" | "of" | "bs" | "ibs" | "obs" | "count" | "skip" | "iseek" | "seek" | "oseek"
                | "status" => true,
                "conv" => knows(&[
                    "notrunc",
                    "nocreat",
                    "fsync",
                    "fdatasync",
                    "noerror",
                    "sparse",
                    "ucase",
                    "lcase",
                ]),
                "iflag" => knows(&["fullblock", "count_bytes", "skip_bytes", "sync", "dsync", "nofollow"]),
                "oflag" => knows(&["append", "seek_bytes", "sync", "dsync", "nofollow"]),
                _ => false,
            }
        });
        if !is_known {
            return None;
        }
        let number = |names: [&str; 2], otherwise: usize| match names.iter().find_map(|name| last(name)) {
            Some(text) => number(text),
            None => Some(otherwise),
        };
        let read = number(["bs", "ibs"], 512)?;
        let written = number(["bs", "obs"], 512)?;
        let unit = |name: &str, flag: &str, size: usize| {
            if flags(name).any(|one| one == flag) { 1 } else { size }
        };
        let count = last("count").map(self::number);
        let most = match count {
            Some(count) => Some(count?.checked_mul(unit("iflag", "count_bytes", read))?),
            None => None,
        };
        let has = |flag: &str| flags("conv").any(|one| one == flag);
        Some(Self {
            from: last("if").map(str::to_owned),
            skip: number(["skip", "iseek"], 0)?.checked_mul(unit("iflag", "skip_bytes", read))?,
            most,
            counts_reads: most.is_some() && read > 1 && !flags("iflag").any(|one| one == "fullblock"),
            seek: number(["seek", "oseek"], 0)?.checked_mul(unit("oflag", "seek_bytes", written))?,
            appends: flags("oflag").any(|one| one == "append"),
            rest: if has("notrunc") { Rest::All } else { Rest::Front },
            letters: match (has("ucase"), has("lcase")) {
                (true, _) => Letters::Upper,
                (false, true) => Letters::Lower,
                (false, false) => Letters::Kept,
            },
        })
    }

    /// Whether the file holds afterwards what the source does.
    fn copies_all(&self) -> bool {
        self.skip == 0
            && self.most.is_none()
            && self.seek == 0
            && !self.appends
            && self.rest == Rest::Front
            && self.letters == Letters::Kept
    }

    /// What it leaves in a file, where what both hold is known.
    fn left(
        &self,
        machine: &Machine<'_>,
        call: &Call,
        source: &Output,
        file: &Value,
    ) -> Option<(AbsolutePath, String)> {
        let aims = machine.paths_through(file);
        let [aim] = aims.as_slice() else { return None };
        let path = aim.target.path()?;
        let before = match machine.entry(path) {
            Entry::Missing => String::new(),
            Entry::File(_) => machine.announced_text(path).as_exact()?.to_owned(),
            Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => return None,
        };
        let data = self.data(machine, call, source)?;
        if self.appends && self.seek > 0 || self.seek.max(before.len()).checked_add(data.len())? > COPIED {
            return None;
        }
        let before = before.into_bytes();
        let (at, mut left) = match (self.appends, self.rest) {
            (false, Rest::All) => (self.seek, before),
            (false, Rest::Front) => {
                (self.seek, before.get(..self.seek).map_or(before.clone(), <[u8]>::to_vec))
            }
            (true, Rest::All) => (before.len(), before),
            (true, Rest::Front) => (0, Vec::new()),
        };
        // What lies between the end and where it begins to write is nothing but bytes of nothing; without anything to write, only cutting makes it.
        if left.len() < at && (!data.is_empty() || self.rest == Rest::Front) {
            left.resize(at, 0);
        }
        let end = at.checked_add(data.len())?;
        if !data.is_empty() {
            let tail = left.get(end..).map(<[u8]>::to_vec).unwrap_or_default();
            left.truncate(at);
            left.extend(data);
            left.extend(tail);
        }
        Some((path.clone(), String::from_utf8(left).ok()?))
    }

    /// The bytes that are copied.
    fn data(&self, machine: &Machine<'_>, call: &Call, source: &Output) -> Option<Vec<u8>> {
        let all = match self.from.as_deref() {
            Some("/dev/zero") => return Some(vec![0; self.most.filter(|most| *most <= COPIED)?]),
            Some("/dev/null") => return Some(Vec::new()),
            Some(from) => {
                let path = machine.one_path_through(&Value::exact(from))?;
                match machine.entry(&path) {
                    Entry::File(_) => machine.announced_text(&path).as_exact()?.to_owned(),
                    Entry::Missing
                    | Entry::Directory
                    | Entry::Symlink(_)
                    | Entry::Special
                    | Entry::Unknown => {
                        return None;
                    }
                }
            }
            // A pipe may give its text in pieces.
            None if self.counts_reads => return None,
            None => match (&call.input, source) {
                (Input::Text(text), Output::Text(_)) => text.as_exact()?.to_owned(),
                _ => return None,
            },
        };
        let text = match self.letters {
            Letters::Kept => all,
            Letters::Upper => all.to_ascii_uppercase(),
            Letters::Lower => all.to_ascii_lowercase(),
        };
        let rest = text.as_bytes().get(self.skip..).unwrap_or_default();
        Some(rest.get(..self.most.unwrap_or(rest.len())).unwrap_or(rest).to_vec())
    }
}

/// A number of `dd` with the letter of a unit, or several that are multiplied (`2x512`).
fn number(text: &str) -> Option<usize> {
    text.split('x').try_fold(1_usize, |product, part| {
        let digits = part.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
        let unit: usize = match part.get(digits.len()..)? {
            "" | "c" => 1,
            "w" => 2,
            "b" => 512,
            "K" | "k" | "KiB" => 1024,
            "KB" | "kB" => 1000,
            "M" | "MiB" => 1024 * 1024,
            "MB" => 1_000_000,
            _ => return None,
        };
        product.checked_mul(digits.parse::<usize>().ok()?)?.checked_mul(unit)
    })
}
