//! Findings that somebody allowed in a text that is not read as code: `checkrein: allow KIND: REASON` on the line or on the one above.

use crate::exemption::{AllowedFinding, WORD, is_reason};
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::gate::Gate;

/// What is left of findings, and what was allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sifted {
    /// By line.
    pub findings: Vec<GateFinding>,
    /// What somebody allowed.
    pub allowed: Vec<AllowedFinding>,
}

/// Takes away what a text allows. A finding about a file as a whole is allowed anywhere in it. An exemption without a reason allows
/// nothing, and is a finding where it names a kind of this gate.
pub fn sift(gate: Gate, text: &str, mut findings: Vec<GateFinding>) -> Sifted {
    let mut without_reason = Vec::new();
    let mut allowed = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some((_, wanted)) = text.split_once(WORD) else { continue };
        let (names, reason) = wanted.split_once(':').unwrap_or((wanted, ""));
        let word = |name: &str| {
            let end = |sign: char| !(sign.is_ascii_lowercase() || sign == '_');
            FindingKind::named(name.trim().split(end).next().unwrap_or_default())
        };
        let kinds: Vec<FindingKind> = names.split(',').filter_map(word).collect();
        if !kinds.iter().any(|kind| kind.gate().is_some() && kind.is_of(gate)) {
            continue;
        }
        let reason = ["*/", "-->", "\",", "\""]
            .iter()
            .fold(reason.trim(), |reason, end| reason.strip_suffix(end).unwrap_or(reason).trim_end());
        if !is_reason(reason) {
            let kind = FindingKind::ExemptionWithoutReason;
            without_reason.push(GateFinding::at(line, kind, FindingWeight::Error, text));
            continue;
        }
        findings.retain(|finding| {
            let is_allowed =
                kinds.contains(&finding.kind) && finding.first_line <= line + 1 && line <= finding.last_line;
            if is_allowed {
                allowed.push(AllowedFinding { kind: finding.kind, line, text: shown(text) });
            }
            !is_allowed
        });
    }
    findings.extend(without_reason);
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    Sifted { findings, allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: usize) -> GateFinding {
        GateFinding::at(line, FindingKind::Secret, FindingWeight::Error, "x")
    }

    #[test]
    fn an_exemption_holds_for_its_line_and_the_one_below() {
        let text = "a\n# checkrein: allow secret: a key of the documentation\nb\nc\n";
        let sifted = sift(Gate::Secrets, text, vec![found(1), found(2), found(3), found(4)]);
        let lines: Vec<usize> = sifted.findings.iter().map(|one| one.line).collect();
        assert_eq!((lines, sifted.allowed.len()), (vec![1, 4], 2));
        let json = "{\n  \"//\": \"checkrein: allow secret: a key of the documentation\",\n  \"b\": 1\n}\n";
        assert_eq!(sift(Gate::Secrets, json, vec![found(3)]).allowed.len(), 1);
    }

    #[test]
    fn a_file_as_a_whole_is_allowed_anywhere() {
        let whole = GateFinding::of_file(FindingKind::OutOfScope, FindingWeight::Error, "x");
        let text = "a\nb\nc # checkrein: allow out_of_scope: the caller had to change too\n";
        let sifted = sift(Gate::Scope, text, vec![whole]);
        let lines: Vec<usize> = sifted.allowed.iter().map(|one| one.line).collect();
        assert_eq!((sifted.findings, lines), (vec![], vec![3]));
    }

    #[test]
    fn without_a_reason_nothing_is_allowed() {
        let sifted = sift(Gate::Secrets, "# checkrein: allow secret: no\n", vec![found(1)]);
        let kinds: Vec<&str> = sifted.findings.iter().map(|one| one.kind.name()).collect();
        assert_eq!(kinds, ["exemption_without_reason", "secret"]);
        // It is the business of another gate.
        assert!(sift(Gate::Scope, "# checkrein: allow secret\n", vec![]).findings.is_empty());
        // One letter again and again is no reason.
        assert_eq!(
            sift(Gate::Secrets, "# checkrein: allow secret: xxxxxxxxxxxx\n", vec![found(1)]).allowed.len(),
            0
        );
    }
}
