//! Lists of variables as dotenv reads them, and with it Gemini CLI, Qwen Code and programs of Bun: `NAME=value`, `NAME: value`, `export NAME=`,
//! with blanks and ends of lines around the sign, and values in quotes over several lines.
//!
//! Source: dotenv 17, the pattern `LINE` and `parse` in `lib/main.js`. What it takes for no variable is none here.

/// The variables that a text gives, in order.
pub(super) fn variables_in(text: &str) -> Vec<(String, String)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut all = Vec::new();
    let mut rest = text.as_str();
    loop {
        // Empty lines are gone over once.
        rest = rest.trim_start_matches(is_blank);
        if let Some((variable, behind)) = variable(rest) {
            all.push(variable);
            rest = behind;
        }
        let Some((_, next)) = rest.split_once('\n') else { return all };
        rest = next;
    }
}

/// The variable at the beginning of a text, and the rest of its last line with what follows.
fn variable(text: &str) -> Option<((String, String), &str)> {
    let text = text.trim_start_matches(is_blank);
    let exported = text.strip_prefix("export").filter(|rest| rest.starts_with(is_blank));
    exported.and_then(|rest| assignment(rest.trim_start_matches(is_blank))).or_else(|| assignment(text))
}

fn assignment(text: &str) -> Option<((String, String), &str)> {
    let end = text.find(|letter: char| !is_of_name(letter)).filter(|end| *end > 0)?;
    let (name, rest) = text.split_at(end);
    let behind = match rest.strip_prefix(':') {
        // At least one blank stands behind the colon, perhaps the end of a line.
        Some(rest) => rest.strip_prefix(is_blank)?,
        None => rest.trim_start_matches(is_blank).strip_prefix('=')?,
    };
    let (value, behind) = value(behind);
    Some(((name.to_owned(), value), behind))
}

/// A value, and what stands behind it.
fn value(text: &str) -> (String, &str) {
    let start = text.trim_start_matches(is_blank);
    if let Some(quote @ ('"' | '\'' | '`')) = start.chars().next()
        && let Some((inner, behind)) = quoted(start, quote)
    {
        let inner =
            if quote == '"' { inner.replace("\\n", "\n").replace("\\r", "\r") } else { inner.to_owned() };
        return (inner, behind);
    }
    let end = text.find(['#', '\n']).unwrap_or(text.len());
    let (value, behind) = text.split_at(end);
    let value = value.trim_matches(is_blank);
    let bare = ['"', '\'', '`']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote).and_then(|value| value.strip_suffix(*quote)));
    (bare.unwrap_or(value).to_owned(), behind)
}

/// What stands between two of these quotes, where nothing but a remark follows in the line.
fn quoted(text: &str, quote: char) -> Option<(&str, &str)> {
    let inner = text.strip_prefix(quote)?;
    let is_end = |at: &usize| !inner.get(..*at).is_some_and(|before| before.ends_with('\\'));
    let end = inner.match_indices(quote).map(|(at, _)| at).find(is_end)?;
    let behind = inner.get(end + quote.len_utf8()..)?;
    let line = behind.split('\n').next().unwrap_or_default().trim_matches(is_blank);
    (line.is_empty() || line.starts_with('#')).then(|| (inner.get(..end).unwrap_or_default(), behind))
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-')
}

/// Blanks of JavaScript, the mark of the byte order among them.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_dotenv_reads_them() {
        for (text, expected) in [
            ("A=1\nB=2\n", "A=1|B=2"),
            ("A: ./x", "A=./x"),
            ("A:./x\nB=1", "B=1"),
            ("A=1\rB=2", "A=1|B=2"),
            ("export\tA=1\nexport B = 2", "A=1|B=2"),
            ("A\n=./x\nB=1", "A=./x|B=1"),
            ("A:\n./x\nB=1", "A=./x|B=1"),
            ("A=\nB=1", "A=|B=1"),
            ("A=\n\"x\"\nB=1", "A=x|B=1"),
            ("A='x#y' # z\nB=\"p\\nq\"", "A=x#y|B=p\nq"),
            ("A=x#y\n#B=1\n # C=1", "A=x"),
            ("A='x\nB=1\n'\nC=2", "A=x\nB=1\n|C=2"),
            ("\u{feff}A=1\nA word\n+B=1\nexport=2", "A=1|export=2"),
        ] {
            let found: Vec<String> =
                variables_in(text).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found.join("|"), expected, "{text:?}");
        }
    }
}
