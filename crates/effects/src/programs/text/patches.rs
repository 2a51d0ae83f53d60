//! Patches as text: which files a unified diff changes, how, and whether it fits what they hold (diffutils manual, "Unified Format";
//! git-diff(1), "Generating patch text").

/// What a patch does to one file. Names are as written, with the `a/` and `b/` of git.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FilePatch {
    /// The file before; `None` where the patch makes it.
    pub(crate) old: Option<String>,
    /// The file after; `None` where the patch takes it away.
    pub(crate) new: Option<String>,
    /// Whether the old name goes: the file is renamed.
    pub(crate) is_renamed: bool,
    hunks: Vec<Hunk>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Hunk {
    /// The line of the old file that it begins at, from 1.
    start: usize,
    before: Vec<String>,
    after: Vec<String>,
    /// How many lines at its beginning and end are the same before and after.
    context: (usize, usize),
}

/// Whether a patch fits a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Every part where it says; the text becomes this.
    Exact(String),
    /// Every part, but not all of them where they say; the text becomes this.
    Shifted(String),
    /// Only with less context than it has.
    Loose,
    /// Not at all, at least one part of it.
    Fails,
}

/// Reads the file patches of a text.
pub(crate) fn read(text: &str) -> Vec<FilePatch> {
    let mut all: Vec<FilePatch> = Vec::new();
    // The header of git names a file of which perhaps only the mode or the name changes.
    let mut git: Option<FilePatch> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            all.extend(git.take().filter(is_told));
            git = Some(from_header(names));
        } else if let Some(header) = git.as_mut().filter(|_| !line.starts_with("--- ")) {
            note_header(header, line);
        }
        let Some(old) = line.strip_prefix("--- ") else { continue };
        let Some(new) = lines.peek().and_then(|next| next.strip_prefix("+++ ")) else { continue };
        let (old, new) = (file_name(old), file_name(new));
        lines.next();
        let is_renamed = git.take().is_some_and(|header| header.is_renamed);
        let mut hunks = Vec::new();
        while let Some(start) = lines.peek().and_then(|line| hunk_start(line)) {
            let header = lines.next().unwrap_or_default();
            hunks.push(read_hunk(start, header, &mut lines));
        }
        all.push(FilePatch { old, new, is_renamed, hunks });
    }
    all.extend(git.take().filter(is_told));
    all
}

/// Whether a header of git alone says that something changes.
fn is_told(header: &FilePatch) -> bool {
    header.is_renamed || header.old.is_none() || header.new.is_none() || !header.hunks.is_empty()
}

/// Both names of a header of git. Where they are the same, a blank in them is told from the one between them.
fn from_header(names: &str) -> FilePatch {
    let bare = |name: &str| unquoted(name).split_once('/').map(|(_, name)| name.to_owned());
    let halves = names.split_at_checked(names.len() / 2);
    let same = halves.filter(|(old, new)| {
        new.strip_prefix(' ').is_some_and(|new| *old == new || bare(old).is_some() && bare(old) == bare(new))
    });
    let middle = names.find(" b/").or_else(|| names.find(" \"b/")).unwrap_or(names.len());
    let (old, new) = same.unwrap_or_else(|| names.split_at(middle));
    FilePatch {
        old: Some(unquoted(old.trim())),
        new: Some(unquoted(new.trim())).filter(|name| !name.is_empty()),
        ..FilePatch::default()
    }
}

fn note_header(header: &mut FilePatch, line: &str) {
    if line.starts_with("new file mode ") {
        header.old = None;
    } else if line.starts_with("deleted file mode ") {
        header.new = None;
    } else if let Some(name) = line.strip_prefix("rename from ") {
        header.old = Some(format!("a/{}", unquoted(name.trim_end())));
        header.is_renamed = true;
    } else if let Some(name) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
        header.new = Some(format!("b/{}", unquoted(name.trim_end())));
        header.is_renamed |= line.starts_with("rename");
        if line.starts_with("copy") {
            header.old = None;
        }
    } else if line.starts_with("new mode ") || line == "GIT binary patch" {
        // A part without lines stands for the mode, or for bytes.
        header.hunks.push(Hunk::default());
    }
}

/// The name in a header line; `None` for `/dev/null`, and where the time behind the name is the beginning of all times: `diff -N` writes so of
/// a file that is not there (diffutils manual, "Creating Files"; git takes it so, too).
fn file_name(header: &str) -> Option<String> {
    let (name, time) = header.split_once('\t').unwrap_or((header, ""));
    let name = name.trim();
    (name != "/dev/null" && !is_beginning_of_time(time)).then(|| unquoted(name))
}

/// A name without the quotes that git puts around one with unusual bytes, and without the signs in front of these (git-config(1),
/// `core.quotePath`).
pub(crate) fn unquoted(name: &str) -> String {
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let Some(inner) = inner else { return name.to_owned() };
    let mut bytes = Vec::new();
    let mut given = inner.bytes().peekable();
    while let Some(byte) = given.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match given.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'v') => bytes.push(11),
            Some(b'f') => bytes.push(12),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(next) = given.next_if(|next| (b'0'..=b'7').contains(next)) else { break };
                    value = value * 8 + u32::from(next - b'0');
                }
                bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a time such as `1969-12-31 19:00:00.000000000 -0500` is that of the first second.
fn is_beginning_of_time(time: &str) -> bool {
    let mut words = time.split_whitespace();
    let (Some(date), Some(clock)) = (words.next(), words.next()) else { return false };
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i32>().ok());
    let mut parts = clock.split([':', '.']);
    let (Some(hours), Some(minutes)) = (number(parts.next()), number(parts.next())) else { return false };
    let is_full_minute = parts.all(|part| part.chars().all(|digit| digit == '0'));
    let zone = words.next().unwrap_or("+0000");
    let (Some(sign), Some(ahead)) = (zone.get(..1), number(zone.get(1..3))) else { return false };
    let ahead = ahead * 60 + number(zone.get(3..5)).unwrap_or(0);
    let ahead = if sign == "-" { -ahead } else { ahead };
    let since = match date {
        "1970-01-01" => hours * 60 + minutes,
        "1969-12-31" => hours * 60 + minutes - 24 * 60,
        _ => return false,
    };
    is_full_minute && since == ahead
}

/// The line that a part begins at in the old file.
fn hunk_start(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("@@ -")?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest.get(..end)?.parse().ok()
}

/// How many lines of the old and of the new file a part says that it has.
fn lengths(header: &str) -> Option<(usize, usize)> {
    let mut words = header.split(' ').skip(1);
    let mut length = || {
        let word = words.next()?;
        word.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok())
    };
    Some((length()?, length()?))
}

fn read_hunk<'t>(
    start: usize,
    header: &str,
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>,
) -> Hunk {
    let (mut old, mut new) = lengths(header).unwrap_or((0, 0));
    let mut hunk = Hunk { start, ..Hunk::default() };
    let mut changed = false;
    while old > 0 || new > 0 {
        let Some(line) = lines.peek().copied() else { break };
        let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
        match sign {
            " " => {
                hunk.before.push(rest.to_owned());
                hunk.after.push(rest.to_owned());
                (old, new) = (old.saturating_sub(1), new.saturating_sub(1));
                if changed {
                    hunk.context.1 += 1;
                } else {
                    hunk.context.0 += 1;
                }
            }
            "-" | "+" => {
                changed = true;
                hunk.context.1 = 0;
                if sign == "-" {
                    hunk.before.push(rest.to_owned());
                    old = old.saturating_sub(1);
                } else {
                    hunk.after.push(rest.to_owned());
                    new = new.saturating_sub(1);
                }
            }
            "\\" => {}
            _ => break,
        }
        lines.next();
    }
    hunk
}

/// A name without its first `strip` directories, or without all of them.
pub(crate) fn stripped(name: &str, strip: Option<usize>) -> String {
    let parts: Vec<&str> = name.split('/').collect();
    let skip = strip.unwrap_or(usize::MAX).min(parts.len().saturating_sub(1));
    parts.get(skip..).unwrap_or_default().join("/")
}

impl FilePatch {
    /// The same patch the other way round.
    pub(crate) fn reversed(mut self) -> Self {
        std::mem::swap(&mut self.old, &mut self.new);
        for hunk in &mut self.hunks {
            std::mem::swap(&mut hunk.before, &mut hunk.after);
        }
        self
    }

    /// Whether it says that the file held nothing before: such a patch makes a file that is not there.
    pub(crate) fn begins_with_nothing(&self) -> bool {
        !self.hunks.is_empty() && self.hunks.iter().all(|hunk| hunk.start == 0 && hunk.before.is_empty())
    }

    /// The same patch for a file with this name.
    pub(crate) fn renamed(mut self, name: &str) -> Self {
        for place in [&mut self.old, &mut self.new] {
            if place.is_some() {
                *place = Some(name.to_owned());
            }
        }
        self.is_renamed = false;
        self
    }

    /// Whether it fits a text, and what the text becomes.
    pub(crate) fn fit(&self, text: &str) -> Fit {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (mut shift, mut from, mut is_shifted, mut is_loose) = (0_isize, 0_usize, false, false);
        for hunk in &self.hunks {
            let wanted = hunk.start.saturating_sub(usize::from(!hunk.before.is_empty()));
            let wanted = wanted.saturating_add_signed(shift);
            if let Some(at) = place_of(&lines, &hunk.before, wanted, from) {
                is_shifted |= at != wanted;
                shift += at.cast_signed() - wanted.cast_signed();
                shift += hunk.after.len().cast_signed() - hunk.before.len().cast_signed();
                let end = (at + hunk.before.len()).min(lines.len());
                lines.splice(at.min(end)..end, hunk.after.iter().cloned());
                from = at + hunk.after.len();
            } else if hunk.loosened().is_some_and(|inner| place_of(&lines, inner, wanted, from).is_some()) {
                is_loose = true;
            } else {
                return Fit::Fails;
            }
        }
        let mut whole = lines.join("\n");
        if !whole.is_empty() {
            whole.push('\n');
        }
        match (is_loose, is_shifted) {
            (true, _) => Fit::Loose,
            (false, true) => Fit::Shifted(whole),
            (false, false) => Fit::Exact(whole),
        }
    }
}

impl Hunk {
    /// The lines that have to be there when two lines of context at each end need not fit.
    fn loosened(&self) -> Option<&[String]> {
        let (head, tail) = (self.context.0.min(2), self.context.1.min(2));
        let inner = self.before.get(head..self.before.len().saturating_sub(tail))?;
        (!inner.is_empty()).then_some(inner)
    }
}

/// Where lines stand in a text: at the wanted place, else the nearest one behind `from`.
fn place_of(lines: &[String], before: &[String], wanted: usize, from: usize) -> Option<usize> {
    let fits = |at: usize| lines.get(at..at + before.len()).is_some_and(|found| found == before);
    if fits(wanted) && wanted >= from {
        return Some(wanted);
    }
    if before.is_empty() {
        return None;
    }
    (from..lines.len()).filter(|at| fits(*at)).min_by_key(|at| at.abs_diff(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "--- a/src/x\t2020\n+++ b/src/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";

    #[test]
    fn files_are_named() {
        let found = read(PLAIN);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].new.as_deref(), Some("b/src/x"));
        assert_eq!(found[1].new, None);
        assert_eq!(stripped("a/src/x", Some(1)), "src/x");
        assert_eq!(stripped("a/src/x", None), "x");
    }

    #[test]
    fn what_only_git_says_counts() {
        let text = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/run b/run\nnew file mode 100755\nindex 0000000..e69de29\ndiff --git a/m b/m\nold mode 100644\nnew mode 100755\ndiff --git a/same b/same\n";
        let found = read(text);
        let names: Vec<_> = found.iter().map(|file| (file.old.as_deref(), file.new.as_deref())).collect();
        assert_eq!(names, [(Some("a/x"), Some("b/y")), (None, Some("b/run")), (Some("a/m"), Some("b/m"))]);
        assert!(found[0].is_renamed);
    }

    #[test]
    fn names_in_a_header_are_those_of_the_file() {
        for (header, old) in [
            ("a/x b/x", "a/x"),
            ("a/x b/y b/x b/y", "a/x b/y"),
            ("x x", "x"),
            ("\"a/\\056bashrc\" \"b/\\056bashrc\"", "a/.bashrc"),
            ("a/x y b/x y", "a/x y"),
        ] {
            let found = read(&format!("diff --git {header}\ndeleted file mode 100644\n"));
            assert_eq!((found[0].old.as_deref(), &found[0].new), (Some(old), &None), "{header}");
        }
        assert_eq!(unquoted("\"\\303\\244\\t\\\"\""), "\u{e4}\t\"");
    }

    #[test]
    fn times_say_which_files_are_not_there() {
        for (time, is) in [
            ("1970-01-01 00:00:00.000000000 +0000", true),
            ("1970-01-01 05:30:00.000000000 +0530", true),
            ("1969-12-31 19:00:00.000000000 -0500", true),
            ("1970-01-01 00:00:01.000000000 +0000", false),
            ("2024-05-01 10:00:00.000000000 +0200", false),
            ("", false),
        ] {
            let text = format!("--- a/x\t{time}\n+++ b/x\t2024-05-01 10:00:00 +0200\n@@ -0,0 +1 @@\n+y\n");
            assert_eq!(read(&text)[0].old.is_none(), is, "{time}");
        }
        assert!(read("--- x\n+++ x\n@@ -0,0 +1 @@\n+y\n")[0].begins_with_nothing());
    }

    #[test]
    fn fits_are_told_apart() {
        let patch = &read(PLAIN)[0];
        assert_eq!(patch.fit("a\nb\nc\n"), Fit::Exact("a\nB\nc\n".to_owned()));
        assert_eq!(patch.fit("0\na\nb\nc\n"), Fit::Shifted("0\na\nB\nc\n".to_owned()));
        assert_eq!(patch.fit("q\nb\nc\n"), Fit::Loose);
        assert_eq!(patch.fit("q\n"), Fit::Fails);
        assert_eq!(patch.clone().reversed().fit("a\nB\nc\n"), Fit::Exact("a\nb\nc\n".to_owned()));
        assert_eq!(
            read("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n")[0].fit(""),
            Fit::Exact("x\n".to_owned())
        );
    }
}
