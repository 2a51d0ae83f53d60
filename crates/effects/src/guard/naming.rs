//! Patterns of names of processes, as `pkill` takes them.

/// Whether a pattern as `pkill` takes it fits somewhere in a text. Understands the signs of extended regular expressions but for groups
/// and counts, which are read as if they were not there.
pub(super) fn finds(pattern: &str, text: &str) -> bool {
    let is_number = pattern.trim_start_matches(['-', '%']).chars().all(|c| c.is_ascii_digit());
    // What names nothing means everything, which weighs more than the guard.
    if !pattern.contains(|c: char| c.is_ascii_alphanumeric()) || is_number || pattern.starts_with(['%', '$'])
    {
        return false;
    }
    let text: Vec<char> = text.chars().collect();
    pattern.split('|').any(|pattern| {
        let pattern: Vec<char> = pattern.chars().filter(|c| !matches!(c, '(' | ')')).collect();
        match pattern.split_first() {
            Some(('^', rest)) => fits(rest, &text, &mut STEPS.clone()),
            _ => (0..=text.len())
                .any(|start| text.get(start..).is_some_and(|text| fits(&pattern, text, &mut STEPS.clone()))),
        }
    })
}

/// How many steps one comparison may take (ours).
const STEPS: usize = 2000;

fn fits(pattern: &[char], text: &[char], left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    let (length, class): (usize, Vec<char>) = match pattern {
        [] => return true,
        ['$'] => return text.is_empty(),
        ['\\', letter, ..] => (2, vec![*letter]),
        ['[', rest @ ..] => match rest.iter().skip(1).position(|c| *c == ']') {
            Some(end) => (end + 3, rest.get(..=end).unwrap_or_default().to_vec()),
            None => (1, vec!['[']),
        },
        [letter, ..] => (1, vec![*letter]),
    };
    // A range is taken for any letter: what may mean the guard is looked at.
    let any = length == 1 && class.first() == Some(&'.') || length > 2 && class.contains(&'-');
    let negated = length > 2 && class.first() == Some(&'^');
    let takes = |letter: &char| any || class.contains(letter) != negated;
    let (behind, sign) = match pattern.get(length) {
        Some(sign @ ('*' | '+' | '?')) => (pattern.get(length + 1..).unwrap_or_default(), Some(*sign)),
        _ => (pattern.get(length..).unwrap_or_default(), None),
    };
    let most = match sign {
        Some('*' | '+') => text.len(),
        _ => 1,
    };
    let least = usize::from(!matches!(sign, Some('*' | '?')));
    let reach = text.iter().take(most).take_while(|letter| takes(letter)).count();
    (least..=reach).rev().any(|count| text.get(count..).is_some_and(|text| fits(behind, text, left)))
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
        assert!(!finds(&nested, &"a".repeat(200)), "the work is bounded");
    }
}
