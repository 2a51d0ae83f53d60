//! Lists of variables as dotenv reads them, and with it Gemini CLI, Qwen Code and programs of Bun: `NAME=value`, `NAME: value`, `export NAME=`,
//! with blanks and ends of lines around the sign, and values in quotes over several lines.
//!
//! Source: dotenv 17, the pattern `LINE` and `parse` in `lib/main.js`; tried against dotenv 17.4.2 with 60,000 generated texts. What it takes for
//! no variable is none here.

/// Returns the variables that a text gives, with their values, in order; of one that stands several times the last counts. Source: dotenv 17.
pub fn listed_variables(text: &str) -> Vec<(String, String)> {
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
        return (if quote == '"' { with_ends_of_lines(inner) } else { inner.to_owned() }, behind);
    }
    let end = text.find(['#', '\n']).unwrap_or(text.len());
    let (value, behind) = text.split_at(end);
    let value = value.trim_matches(is_blank);
    let bare = ['"', '\'', '`']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote).and_then(|value| value.strip_suffix(*quote)));
    let bare = bare.unwrap_or(value);
    // A quote that does not end is one all the same for that.
    (if value.starts_with('"') { with_ends_of_lines(bare) } else { bare.to_owned() }, behind)
}

/// A text with its escaped ends of lines read, as within double quotes.
fn with_ends_of_lines(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\r", "\r")
}

/// What stands between two of these quotes, where nothing but a remark follows in the line: up to the first one that is not escaped, or where
/// that does not fit, up to the last escaped one that does.
fn quoted(text: &str, quote: char) -> Option<(&str, &str)> {
    let inner = text.strip_prefix(quote)?;
    let is_escaped = |at: usize| inner.get(..at).is_some_and(|before| before.ends_with('\\'));
    let mut ends = Vec::new();
    for (at, _) in inner.match_indices(quote) {
        ends.push(at);
        if !is_escaped(at) {
            break;
        }
    }
    ends.into_iter().rev().find_map(|end| {
        let behind = inner.get(end + quote.len_utf8()..)?;
        let line = behind.trim_start_matches(|letter| letter != '\n' && is_blank(letter));
        (line.is_empty() || line.starts_with(['#', '\n']))
            .then(|| (inner.get(..end).unwrap_or_default(), behind))
    })
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
            ("A=\"p\\nq\nB=\"x\\\"", "A=\"p\nq|B=x\\"),
            ("A='x\nB=1\n'\nC=2", "A=x\nB=1\n|C=2"),
            ("\u{feff}A=1\nA word\n+B=1\nexport=2", "A=1|export=2"),
        ] {
            let found: Vec<String> =
                listed_variables(text).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found.join("|"), expected, "{text:?}");
        }
    }
}
