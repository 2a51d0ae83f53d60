//! A file that holds nothing but the difference between texts that stand, or come back: nothing is lost with it.

/// How many bytes of such a file are read at most (ours).
pub(super) const LONGEST: u64 = 1024 * 1024;

/// Whether a text is all that `git diff` wrote of files of which `known` gives the texts that stand or come back, by their names below the root:
/// each difference leads from one of them, or from nothing, to another one, or to nothing.
pub(super) fn is_of_known(text: &str, known: impl Fn(&str) -> Vec<String>) -> bool {
    let mut lines = text.split_inclusive('\n').peekable();
    let mut found = false;
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("diff --git ").and_then(name_of_both) else { return false };
        let (mut is_new, mut is_gone) = (false, false);
        while let Some(line) =
            lines.next_if(|line| !line.starts_with("diff --git ") && !line.starts_with("@@ "))
        {
            let line = line.trim_end_matches('\n');
            is_new |= line.starts_with("new file mode ");
            is_gone |= line.starts_with("deleted file mode ");
            let is_mode = || {
                let starts = ["new file mode ", "deleted file mode ", "old mode ", "new mode "];
                let rest = starts.iter().find_map(|start| line.strip_prefix(start));
                rest.is_some_and(|mode| mode.bytes().all(|byte| byte.is_ascii_digit()))
            };
            let is_index = || {
                let known = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b' ');
                line.strip_prefix("index ").is_some_and(|rest| rest.bytes().all(known))
            };
            let is_name = || {
                line == format!("--- a/{name}")
                    || line == format!("+++ b/{name}")
                    || is_new && line == "--- /dev/null"
                    || is_gone && line == "+++ /dev/null"
            };
            if !is_mode() && !is_index() && !is_name() {
                return false;
            }
        }
        let mut parts = Vec::new();
        while let Some(header) = lines.next_if(|line| line.starts_with("@@ ")) {
            let Some(part) = Part::read(header, &mut lines) else { return false };
            parts.push(part);
        }
        let mut texts = known(name);
        texts.sort();
        texts.dedup();
        let nothing = [String::new()];
        let before = if is_new { &nothing[..] } else { &texts };
        let after = if is_gone { &nothing[..] } else { &texts };
        let leads = |from: &String| applied(&parts, from).is_some_and(|left| after.contains(&left));
        if !before.iter().any(leads) {
            return false;
        }
        found = true;
    }
    found
}

/// The name of a file in a header that names it twice.
fn name_of_both(names: &str) -> Option<&str> {
    let names = names.trim_end_matches('\n').strip_prefix("a/")?;
    let length = names.len().checked_sub(" b/".len())? / 2;
    let (one, other) = (names.get(..length)?, names.get(length..)?);
    (other.strip_prefix(" b/") == Some(one)).then_some(one)
}

/// A part of a difference: where it begins, and the lines before and after, with their ends.
struct Part {
    start: usize,
    heading: String,
    before: Vec<String>,
    after: Vec<String>,
}

impl Part {
    fn read<'t>(
        header: &str,
        lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>,
    ) -> Option<Self> {
        let (places, heading) = header.trim_end_matches('\n').strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = places.split_once(" +")?;
        let numbers = |text: &str| -> Option<(usize, usize)> {
            let (start, length) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse().ok()?, length.parse().ok()?))
        };
        let ((start, old), (_, new)) = (numbers(old)?, numbers(new)?);
        let mut part =
            Self { start, heading: heading.trim().to_owned(), before: Vec::new(), after: Vec::new() };
        let mut last = ' ';
        while part.before.len() < old
            || part.after.len() < new
            || lines.peek().is_some_and(|line| line.starts_with('\\'))
        {
            let line = lines.next()?;
            let sign = line.chars().next()?;
            let rest = line.get(1..)?.to_owned();
            let ends = |side: &mut Vec<String>| side.last_mut().is_some_and(|last| last.pop() == Some('\n'));
            match sign {
                ' ' => {
                    part.before.push(rest.clone());
                    part.after.push(rest);
                }
                '-' => part.before.push(rest),
                '+' => part.after.push(rest),
                '\\' if line.trim_end() == "\\ No newline at end of file" => {
                    let is_cut = match last {
                        '-' => ends(&mut part.before),
                        '+' => ends(&mut part.after),
                        _ => ends(&mut part.before) && ends(&mut part.after),
                    };
                    if !is_cut {
                        return None;
                    }
                }
                _ => return None,
            }
            last = sign;
        }
        (part.before.len() == old && part.after.len() == new).then_some(part)
    }
}

/// What a text becomes by all parts, each just where it says; `None` where one does not fit.
fn applied(parts: &[Part], text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut left, mut at) = (String::new(), 0);
    for part in parts {
        let start = if part.before.is_empty() { part.start } else { part.start.checked_sub(1)? };
        left.extend(lines.get(at..start)?.iter().copied());
        let found = lines.get(start..start + part.before.len())?;
        let is_heading = |line: &&str| line.trim().starts_with(part.heading.as_str());
        if found != part.before.as_slice() || !part.heading.is_empty() && !lines.iter().any(is_heading) {
            return None;
        }
        left.extend(part.after.iter().map(String::as_str));
        at = start + part.before.len();
    }
    left.extend(lines.get(at..)?.iter().copied());
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_between_known_texts_is_told() {
        let old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
        let new = "one\nTWO\nthree\nfour\nfive\nsix\nseven\nlast";
        let text = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -7 +7,2 @@ six\n seven\n+last\n\\ No newline at end of file\n";
        let known = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            move |name: &str| if name == "x" { texts.clone() } else { Vec::new() }
        };
        assert!(is_of_known(text, known(&[old, new])));
        for (text, texts) in [
            (text.to_owned(), &[old][..]),
            (text.to_owned(), &[new]),
            (format!("mine\n{text}"), &[old, new]),
            (format!("{text}mine\n"), &[old, new]),
            (text.replace("index 1..2", "index mine"), &[old, new]),
            (text.replace("@@ six", "@@ mine"), &[old, new]),
            (text.replace("a/x", "a/y"), &[old, new]),
            (text.replace("+TWO", "+Two"), &[old, new]),
            (String::new(), &[old, new]),
        ] {
            assert!(!is_of_known(&text, known(texts)), "{text}");
        }
        let made = "diff --git a/x b/x\nnew file mode 100644\nindex 0..2\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        assert!(is_of_known(made, known(&["a\nb\n"])));
        assert!(!is_of_known(made, known(&["a\n"])));
        let gone = "diff --git a/x b/x\ndeleted file mode 100644\nindex 2..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
        assert!(is_of_known(gone, known(&["a\n"])));
    }
}
