//! Patterns of names of processes, as `pkill` takes them.

use crate::interpreter::expression::fits;

/// Whether a pattern as `pkill` takes it fits somewhere in a text.
pub(super) fn finds(pattern: &str, text: &str) -> bool {
    let is_number = pattern.trim_start_matches(['-', '%']).chars().all(|c| c.is_ascii_digit());
    // What names nothing means everything, which weighs more than the guard.
    if !pattern.contains(|c: char| c.is_ascii_alphanumeric()) || is_number || pattern.starts_with(['%', '$'])
    {
        return false;
    }
    fits(pattern, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_what_pkill_finds() {
        let hook = "checkrein-hook claude";
        for pattern in [
            "check",
            "hook",
            "^check",
            "claude$",
            "check.*-hook",
            "c[h]eckrein",
            "node|rein",
            "che(ck)rein",
            "x*check+",
            "ho\\ok",
            "[a-z]+rein",
        ] {
            assert!(finds(pattern, hook), "{pattern}");
        }
        for pattern in [
            "vite",
            "node",
            "^rein",
            "check$",
            "1234",
            "-1",
            "%1",
            "$!",
            "",
            "webhook",
            "checker",
            "python.*claude",
            "[^c]heckrein x",
        ] {
            assert!(!finds(pattern, hook), "{pattern}");
        }
        let nested = format!("{}!", "a*".repeat(40));
        assert!(finds(&nested, &"a".repeat(200)), "the work is bounded, and what it does not reach may fit");
    }
}
