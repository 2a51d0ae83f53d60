//! Records and calls in words, and text from elsewhere made fit to be shown.

use checkrein_facts::is_hidden;
use checkrein_protocol::{ReviewRecord, RollbackStage, Timestamp};

/// A number of things in words: `1 record`, `2 records`.
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// One line of a text, cut to a width in characters.
pub fn cut(text: &str, width: usize) -> String {
    let line = text.split('\n').next().unwrap_or_default();
    let more = text.len() > line.len();
    if line.chars().count() <= width && !more {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Text from elsewhere without characters that control, turn or are not seen, so that a file name cannot speak to the terminal, and what is
/// read is what stands there. What joins and colours pictures stays.
pub fn plain(text: &str) -> String {
    let is_of_pictures = |c: char| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    let is_shown =
        |c: char| matches!(c, '\n' | '\t') || is_of_pictures(c) || !(c.is_control() || is_hidden(c));
    text.chars().map(|c| if is_shown(c) { c } else { '\u{fffd}' }).collect()
}

/// The lines of a text from elsewhere as they are, made fit for a terminal: each character that moves, hides or turns around what stands
/// beside it is written as its number, such as `\\u{202e}`. Nothing is left out.
pub fn plain_lines(text: &str) -> Vec<String> {
    let shown = |letter: char| {
        if (letter.is_control() && letter != '\t') || is_hidden(letter) {
            letter.escape_unicode().to_string()
        } else {
            letter.to_string()
        }
    };
    text.split('\n').map(|line| line.chars().map(shown).collect()).collect()
}

/// A name from elsewhere in one line: as [`plain`], with a line feed and a tab written as `\n` and `\t`.
pub fn plain_name(name: &str) -> String {
    plain(name).replace('\n', "\\n").replace('\t', "\\t")
}

/// A text with the names of files from the root of a workspace, or of the home directory, on.
pub fn short_names(text: &str, workspace: &str, home: &str) -> String {
    below(&below(text, workspace, ""), home, "~/")
}

/// A text in which the names of files below `root` begin with `short` instead, and `root` itself is called so where that is a name. The same
/// letters in the middle of another name stay.
pub fn below(text: &str, root: &str, short: &str) -> String {
    if root.len() < 2 {
        return text.to_owned();
    }
    let itself = Some(short.trim_end_matches('/')).filter(|name| !name.is_empty()).unwrap_or(root);
    let is_inside = |letter: char| letter.is_alphanumeric() || "/._-~".contains(letter);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(root) {
        shown.push_str(before);
        rest = after;
        if shown.ends_with(is_inside) {
            shown.push_str(root);
        } else if let Some(name) = after.strip_prefix('/') {
            shown.push_str(short);
            rest = name;
        } else {
            shown.push_str(if after.starts_with(is_inside) { root } else { itself });
        }
    }
    shown.push_str(rest);
    shown
}

/// Text from elsewhere in one line of at most `width` columns: what follows the first line, and what does not fit, becomes an ellipsis.
/// Characters that move, colour or turn the text around are left out.
pub fn one_line(text: &str, width: usize) -> String {
    let text = text.trim_end();
    let shown = |c: &char| !c.is_control() && !is_hidden(*c);
    let line: String =
        text.lines().next().unwrap_or_default().replace('\t', " ").chars().filter(shown).collect();
    let is_cut = text.lines().nth(1).is_some();
    if !is_cut && columns(&line) <= width {
        return line;
    }
    let mut short = String::new();
    let mut used = 1;
    for letter in line.trim_end().chars() {
        used += letter_columns(letter);
        if used > width {
            break;
        }
        short.push(letter);
    }
    short.push('…');
    short
}

/// How many columns of a terminal a text takes: letters of East Asia and pictures take two.
pub fn columns(text: &str) -> usize {
    text.chars().map(letter_columns).sum()
}

fn letter_columns(letter: char) -> usize {
    match u32::from(letter) {
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1_f300..=0x1_faff
        | 0x2_0000..=0x3_fffd => 2,
        _ => 1,
    }
}

/// How far a rollback went, in words.
pub fn rollback_stage(stage: RollbackStage) -> &'static str {
    match stage {
        RollbackStage::Proposed => "proposed",
        RollbackStage::Done => "done",
        RollbackStage::NotDone => "not done",
    }
}

/// A call in one line: the tool and what it is given.
pub fn call(review: &ReviewRecord) -> String {
    let text = |key: &str| review.input.get(key).and_then(serde_json::Value::as_str);
    let given = text("command")
        .or_else(|| text("file_path"))
        .or_else(|| text("notebook_path"))
        .or_else(|| text("url"));
    let files = text("command").map(patched_files).filter(|_| review.tool.as_str() == "apply_patch");
    if let Some(files) = files.filter(|files| !files.is_empty()) {
        return format!("{} {}", review.tool.as_str(), files.join(", "));
    }
    format!("{} {}", review.tool.as_str(), given.map_or_else(|| review.input.to_string(), str::to_owned))
}

/// Returns the files that the text of a patch tool changes, in its order.
pub fn patched_files(patch: &str) -> Vec<&str> {
    const HEADS: [&str; 3] = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
    let file = |line: &'_ str| -> Option<usize> {
        HEADS.iter().find(|head| line.starts_with(**head)).map(|head| head.len())
    };
    let mut files: Vec<&str> = Vec::new();
    for line in patch.lines() {
        let name = file(line).and_then(|length| line.get(length..)).map(str::trim);
        if let Some(name) = name.filter(|name| !name.is_empty() && !files.contains(name)) {
            files.push(name);
        }
    }
    files
}

/// A moment as text, in UTC.
pub fn time(milliseconds: u64) -> String {
    Timestamp(milliseconds).calendar().to_string()
}

/// What stands in a record before a warning that was not said, since it was the first of its kind.
pub const WARNING_NOT_SAID: &str = "warning of the first time, not said: ";

#[cfg(test)]
mod tests {
    use super::{below, one_line, patched_files, plain, short_names};

    #[test]
    fn what_is_not_seen_is_not_shown() {
        for hidden in ["\u{ad}", "\u{200b}", "\u{202e}", "\u{2066}", "\u{e0041}", "\u{feff}", "\u{3164}"] {
            assert_eq!(one_line(&format!("r{hidden}m"), 80), "rm", "{hidden:?}");
            assert_eq!(plain(&format!("r{hidden}m")), "r\u{fffd}m", "{hidden:?}");
        }
        assert_eq!(plain("a\tb\n\u{1b}[31m"), "a\tb\n\u{fffd}[31m");
        // A family is one picture by characters that are not seen.
        assert_eq!(plain("👩\u{200d}👧 \u{2764}\u{fe0f}"), "👩\u{200d}👧 \u{2764}\u{fe0f}");
    }

    #[test]
    fn a_patch_is_called_by_the_files_that_it_changes() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-*** Add File: x\n+y\n*** Add File: b c.rs\n+z\n\
                     *** Delete File: src/a.rs\n*** End Patch";
        assert_eq!(patched_files(patch), ["src/a.rs", "b c.rs"]);
        assert!(patched_files("git apply").is_empty());
    }

    #[test]
    fn a_directory_is_shortened_where_it_is_meant_and_nowhere_else() {
        let cases = [
            ("in /home/dev/p/a and /home/dev/b", "in ~/p/a and ~/b"),
            ("deletes `/home/dev` with all", "deletes `~` with all"),
            ("/home/dev", "~"),
            ("/home/dev/", "~/"),
            ("/home/dev2 and /home/dev-old", "/home/dev2 and /home/dev-old"),
            ("/mnt/home/dev/a and /mnt/home/dev", "/mnt/home/dev/a and /mnt/home/dev"),
            ("/home/dev.", "/home/dev."),
            ("/home/dev:/home/dev/bin", "~:~/bin"),
        ];
        for (text, wanted) in cases {
            assert_eq!(below(text, "/home/dev", "~/"), wanted, "{text}");
        }
        assert_eq!(short_names("/home/dev/p/a and /home/dev/b", "/home/dev/p", "/home/dev"), "a and ~/b");
        // A workspace has no short name of its own.
        assert_eq!(below("rm -r /p /p/a", "/p", ""), "rm -r /p a");
        assert_eq!(below("/ and /a", "/", "~/"), "/ and /a");
    }
}
