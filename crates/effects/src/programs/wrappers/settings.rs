//! The words of a wrapper in front of the command that it runs.

use crate::interpreter::Value;

/// Whether a word in front of the command that a wrapper runs is one that it surely takes: an option that it is known to have, a number
/// with a unit, a signal, a mode.
pub(super) fn is_plain_setting(word: &Value, short: &str, long: &[&str]) -> bool {
    const FLAGS: &[&str] = &["--foreground", "--preserve-status", "--verbose", "-f", "-p", "-v", "--"];
    let is_value = |text: &str| {
        let number =
            text.trim_start_matches(['-', '+']).trim_end_matches(|letter: char| "smhdKMGB".contains(letter));
        let is_number =
            !number.is_empty() && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        is_number
            || !text.is_empty() && text.len() < 9 && text.chars().all(|letter| letter.is_ascii_uppercase())
    };
    let Some(text) = word.as_exact() else { return false };
    if FLAGS.contains(&text) || is_value(text) {
        return true;
    }
    if let Some(option) = text.strip_prefix("--") {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        return long.contains(&name) && value.is_none_or(is_value);
    }
    let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
    letters.next().is_some_and(|letter| short.contains(letter))
        && (letters.as_str().is_empty() || is_value(letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_plain_setting;
    use crate::interpreter::Value;

    #[test]
    fn what_wrappers_take_is_told_from_what_they_may_refuse() {
        for word in
            ["5", "0.5s", "10m", "-k", "-k5s", "-s", "KILL", "--signal=TERM", "--foreground", "-5", "-n"]
        {
            assert!(is_plain_setting(&Value::exact(word), "ksn", &["kill-after", "signal"]), "{word}");
        }
        for word in ["zz", "5x", "-z", "-kzz", "--unknown", "--signal=nothing", "", "-"] {
            assert!(!is_plain_setting(&Value::exact(word), "ksn", &["kill-after", "signal"]), "{word}");
        }
        assert!(!is_plain_setting(&Value::Unknown, "k", &[]));
    }
}
