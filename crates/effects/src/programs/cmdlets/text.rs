//! The text of PowerShell in pieces: statements, words, blocks, what stands in parentheses.

use super::called::Calling;

/// The address that a text fetches for itself: `(iwr URL)`, `.DownloadString('URL')`.
pub(super) fn address(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let fetches = [
        ".downloadstring(",
        ".downloaddata(",
        "iwr ",
        "irm ",
        "invoke-webrequest",
        "invoke-restmethod",
        "curl ",
        "wget ",
        "getstringasync(",
    ]
    .iter()
    .any(|name| lower.contains(name));
    let at = text.find("://").filter(|_| fetches)?;
    let start = text.get(..at)?.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |before| before + 1);
    let end = text
        .get(start..)?
        .find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ')' | ';' | '|'))
        .map_or(text.len(), |end| start + end);
    text.get(start..end).map(str::to_owned)
}

/// The pieces between signs that stand outside of quotes, brackets and blocks.
pub(super) fn cut<'a>(text: &'a str, signs: &[char]) -> Vec<&'a str> {
    let (mut pieces, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '{' | '[') => depth += 1,
            (None, ')' | '}' | ']') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && signs.contains(&letter) => {
                pieces.extend(text.get(start..at));
                start = at + letter.len_utf8();
            }
            (Some(_) | None, _) => {}
        }
    }
    pieces.extend(text.get(start..));
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

/// The statements of a text, and whether each stands behind the operator that calls: `& $command`.
pub(super) fn statements(text: &str) -> Vec<(Calling, &str)> {
    let mut found = Vec::new();
    for line in cut(text, &[';', '\n']) {
        let mut behind = line;
        // `a & b` starts one behind the other, `& b` calls, and `a && b` does neither.
        for piece in cut(line, &['&']) {
            let before = behind.find(piece).and_then(|at| behind.get(..at)).unwrap_or_default().trim();
            let calling = if before == "&" { Calling::Operator } else { Calling::Plain };
            behind = behind.find(piece).and_then(|at| behind.get(at + piece.len()..)).unwrap_or_default();
            found.push((calling, piece));
        }
    }
    found
}

/// The words of a command; what stands in parentheses is one word.
pub(super) fn words(text: &str) -> Vec<String> {
    cut(text, &[' ', '\t', ',']).into_iter().map(|word| word.trim().to_owned()).collect()
}

/// The texts in braces, without the names of variables in braces.
pub(super) fn blocks(text: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    let mut before = ' ';
    let mut of_name = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' if depth == 0 && before == '$' => of_name = true,
            '{' => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            '}' if of_name => of_name = false,
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.extend(text.get(start..at));
                }
            }
            _ => {}
        }
        before = letter;
    }
    found
}

/// The text in the first parentheses of a command, where it is a command: `rm (Get-Item x)`.
pub(super) fn inside_parentheses(text: &str) -> Option<&str> {
    let (before, behind) = text.split_once('(')?;
    (!before.ends_with(|c: char| c.is_alphanumeric())).then(|| closed(behind))
}

/// The text as far as the parenthesis that closes what was opened before it.
pub(super) fn closed(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}
