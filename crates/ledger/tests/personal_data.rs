//! The page about privacy names the kinds of personal data that are masked, each as the code recognises it, and no other.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::fs;
use std::path::Path;

use checkrein_ledger::mask::{MaskKey, Masking, MaskingChoice, PERSONAL_KINDS, mask_text};

/// The rows of the table of kinds on the page.
fn documented() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/privacy.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("### Personal data").unwrap();
    let table = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    table.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

#[test]
fn the_page_lists_the_kinds_of_personal_data_that_are_masked() {
    let rows = PERSONAL_KINDS
        .iter()
        .map(|kind| format!("| `{}` | {} | {} |", kind.name, kind.what, kind.recognised));
    assert_eq!(documented(), rows.collect::<Vec<_>>());
}

// Source: seed 001-74
#[test]
fn each_kind_is_masked_and_one_switch_leaves_it() {
    let examples = [
        ("email", "write to ann.meyer@firm-of-ann.de today"),
        ("card", "paid with 4111 1111 1111 1111 today"),
        ("iban", "from DE89 3704 0044 0532 0130 00 today"),
        ("ssn", "her number is 078-05-1120 today"),
        ("national_id", "bsn 111222333 today"),
        ("name", "for Ann Meyer today"),
        ("phone", "call 0049 30 901820 today"),
        ("phone", "call 1-212-555-0173 today"),
        ("phone", "call +49 (0)30 901820 today"),
        ("ip", "came from 93.184.216.34 today"),
    ];
    let names = Masking { names: vec!["Ann Meyer".to_owned()], ..Masking::default() };
    let key = MaskKey::new([7; MaskKey::LENGTH]).with_masking(names);
    let clear = Masking { personal_data: MaskingChoice::Clear, ..Masking::default() };
    let clear = MaskKey::new([7; MaskKey::LENGTH]).with_masking(clear);
    for (kind, text) in examples {
        let masked = mask_text(text, &key);
        assert!(masked.contains(&format!("[masked:{kind}:")), "{kind}: {masked}");
        assert!(masked.ends_with(" today"), "{kind}: {masked}");
        assert_eq!(mask_text(&masked, &key), masked, "{kind}");
        assert_eq!(mask_text(text, &clear), text, "{kind}");
    }
    for kind in PERSONAL_KINDS {
        assert!(examples.iter().any(|(name, _)| *name == kind.name), "{}", kind.name);
    }
}
