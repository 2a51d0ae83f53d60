//! The part of a long output that an agent is told: its beginning and its end, where sums and the first failures stand.

/// How much of the beginning and of the end is kept, in bytes (ours): what an agent reads again in each round should not crowd out its task.
const FIRST: usize = 2 << 10;
const LAST: usize = 6 << 10;

/// A text without its middle where it is long, by whole lines; what is left out is said.
pub fn excerpt(text: &str) -> String {
    if text.len() <= FIRST + LAST {
        return text.to_owned();
    }
    let first = text.floor_char_boundary(FIRST);
    let first = text.get(..first).and_then(|part| part.rfind('\n')).map_or(first, |at| at + 1);
    let last = text.ceil_char_boundary(text.len() - LAST);
    let last = text.get(last..).and_then(|part| part.find('\n')).map_or(last, |at| last + at + 1);
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    let left_out = part(first..last);
    let lines = left_out.lines().count();
    let end = if first > 0 && !part(0..first).ends_with('\n') { "\n" } else { "" };
    format!("{}{end}[{lines} lines left out]\n{}", part(0..first), part(last..text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_goes_by_whole_lines() {
        let long = (0..2000).map(|number| format!("line {number} é")).collect::<Vec<_>>().join("\n") + "\n";
        let short = excerpt(&long);
        assert!(short.starts_with("line 0 é\nline 1 é\n") && short.ends_with("line 1999 é\n"), "{short}");
        assert!(short.len() < FIRST + LAST + 40);
        let kept = short.lines().filter(|line| line.starts_with("line ")).count();
        let said = short.lines().find(|line| line.starts_with('[')).unwrap();
        assert_eq!(said, format!("[{} lines left out]", 2000 - kept));
        assert_eq!(excerpt("short"), "short");
    }

    #[test]
    fn one_line_without_an_end_is_cut_where_letters_end() {
        let short = excerpt(&"é".repeat(10_000));
        assert!(short.len() < FIRST + LAST + 40 && short.contains("left out]"), "{}", short.len());
    }
}
