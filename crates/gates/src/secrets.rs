//! The gate of secrets: credentials in lines that are new. What a credential is says who calls.

use std::collections::HashSet;

use crate::finding::{FindingKind, FindingWeight, GateFinding};

/// The most lines of a key that stands in a block (ours).
const BLOCK: usize = 200;

/// Finds the new lines of a text that hold a credential. `masked` gives the text with its credentials masked, `None` where it holds none.
pub fn examine_secrets(
    text: &str,
    before: Option<&str>,
    weight: FindingWeight,
    masked: impl Fn(&str) -> Option<String>,
) -> Vec<GateFinding> {
    let old: HashSet<&str> = before.unwrap_or_default().lines().collect();
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let number = at + 1;
        at += 1;
        // A key in a block is one credential, whose lines by themselves may look like others.
        if let Some(length) = block(lines.get(number - 1..).unwrap_or_default()) {
            let whole = lines.get(number - 1..number - 1 + length).unwrap_or_default();
            let is_new = whole.iter().any(|line| !old.contains(line));
            if is_new && masked(&whole.join("\n")).is_some() {
                let words = format!("{} ...", line.trim());
                findings.push(GateFinding::at(number, FindingKind::Secret, weight, &words));
            }
            at += length - 1;
            continue;
        }
        if !old.contains(line)
            && let Some(shown) = masked(line)
        {
            findings.push(GateFinding::at(number, FindingKind::Secret, weight, &shown));
        }
    }
    findings
}

/// How many lines a private key takes that begins with the first of these.
fn block(lines: &[&str]) -> Option<usize> {
    let first = lines.first()?;
    let is_key = first.contains("-----BEGIN ") && first.contains("PRIVATE KEY");
    if !is_key {
        return None;
    }
    let end = lines.iter().take(BLOCK).position(|line| line.contains("-----END "));
    Some(end.map_or(lines.len().min(BLOCK), |end| end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, before: Option<&str>) -> Vec<(usize, String)> {
        let masked = |text: &str| {
            (text.contains("hunter2") || text.contains("PRIVATE KEY"))
                .then(|| text.replace("hunter2", "[masked]"))
        };
        let findings = examine_secrets(text, before, FindingWeight::Error, masked);
        findings.into_iter().map(|finding| (finding.line, finding.text)).collect()
    }

    #[test]
    fn only_new_lines_count_and_no_credential_is_shown() {
        assert_eq!(found("a\nkey = hunter2\n", None), [(2, "key = [masked]".to_owned())]);
        assert!(found("b\nkey = hunter2\n", Some("key = hunter2\n")).is_empty(), "it moved");
    }

    #[test]
    fn a_key_in_a_block_is_one() {
        let key = "-----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----";
        let lines = found(&format!("a\n{key}\nkey = hunter2\n"), None);
        assert_eq!(lines.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 5]);
        assert!(!lines[0].1.contains("hunter2"));
        assert!(found(key, Some(key)).is_empty());
        assert_eq!(found("-----BEGIN PRIVATE KEY-----\nx", None).len(), 1, "it never ends");
    }
}
