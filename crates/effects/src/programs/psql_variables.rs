//! Variables that psql puts into statements: `:name`, `:'name'`, `:"name"` (psql(1), "SQL Interpolation").

use crate::interpreter::{Arguments, Value};

/// The variables that options of a call give: `-v NAME=VALUE`.
pub(super) fn given(arguments: &Arguments) -> Vec<(String, String)> {
    let values = arguments.values(&["-v", "--set", "--variable"]).filter_map(Value::as_exact);
    values
        .filter_map(|value| value.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A text with the values of variables in place of their names, also of those that it sets itself; `None` where it names none.
pub(super) fn put_in(text: &str, variables: &[(String, String)]) -> Option<String> {
    if variables.is_empty() && !text.contains("\\set ") {
        return None;
    }
    let mut known = variables.to_vec();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.trim_start().strip_prefix("\\set ") {
            let (name, value) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
            known.push((name.to_owned(), replaced(value, &known).replace('\'', "")));
            out.push('\n');
        } else {
            out.push_str(&replaced(line, &known));
        }
    }
    Some(out)
}

/// One line with the values of variables. A cast (`x::int`) is none.
fn replaced(line: &str, known: &[(String, String)]) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(':') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let behind = behind.strip_prefix(':').unwrap_or(behind);
        if let Some(after) = behind.strip_prefix(':') {
            out.push_str("::");
            rest = after;
            continue;
        }
        let quote = behind.chars().next().filter(|letter| matches!(letter, '\'' | '"'));
        let name_at = usize::from(quote.is_some());
        let name: String = behind
            .chars()
            .skip(name_at)
            .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
            .collect();
        let end = name_at + name.len() + name_at;
        match (known.iter().rev().find(|(known, _)| *known == name), behind.get(end..)) {
            (Some((_, value)), Some(after)) if !name.is_empty() => {
                let mark = quote.map(String::from).unwrap_or_default();
                out.push_str(&mark);
                out.push_str(value);
                out.push_str(&mark);
                rest = after;
            }
            _ => {
                out.push(':');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::put_in;

    #[test]
    fn values_stand_for_names() {
        let given = [("x".to_owned(), "drop table users".to_owned()), ("id".to_owned(), "3".to_owned())];
        assert_eq!(put_in(":x;", &given).as_deref(), Some("drop table users;"));
        assert_eq!(
            put_in("select :id::int, :'id', :\"id\"", &given).as_deref(),
            Some("select 3::int, '3', \"3\"")
        );
        assert_eq!(put_in("select a::text, ':no'", &given).as_deref(), Some("select a::text, ':no'"));
        assert_eq!(put_in("\\set q 'drop table t'\n:q;\n", &[]).as_deref(), Some("\ndrop table t;\n"));
        assert_eq!(put_in("select 1", &[]), None);
    }
}
