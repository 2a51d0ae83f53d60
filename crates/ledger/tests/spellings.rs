//! What is masked however it is written: as the name of a file, as a number of JSON, with escapes, in signs of other scripts, in a sentence.
//! Beside each, what only looks like it and stays.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should panic")]

use checkrein_ledger::mask::{MaskKey, mask_json, mask_text};
use serde_json::json;

fn key() -> MaskKey {
    MaskKey::new([7; MaskKey::LENGTH])
}

fn masked(text: &str) -> String {
    mask_text(text, &key()).into_owned()
}

/// A token of the right form, which nobody has.
const TOKEN: &str = "ghp_Zk3rT9wQx7Lm2Vb8Nc4Pd6Sf1Gh5Jy0RaUeI";

#[test]
fn what_is_glued_to_a_name_or_an_ending_is_masked() {
    for (text, kind) in [
        ("send 4539148803436467.csv", "card"),
        ("out/x_4539148803436467", "card"),
        ("card4539148803436467.txt", "card"),
        ("4539148803436467_scan.pdf", "card"),
        ("customers/536-90-4399.txt", "ssn"),
        ("x_536-90-4399.txt", "ssn"),
        ("in/+49 170 3344556.txt", "phone"),
        ("in/DE89 3704 0044 0532 0130 00.txt", "iban"),
        ("acct_DE89370400440532013000.pdf", "iban"),
        ("DE89-3704-0044-0532-0130-00", "iban"),
        ("in/BSN 111222333.txt", "national_id"),
        ("bsn_111222333.txt", "national_id"),
        ("SSN 536 90 4399", "ssn"),
        ("ssn: 536904399", "ssn"),
        ("his social security number is 536.90.4399", "ssn"),
    ] {
        let shown = masked(text);
        assert!(shown.contains(&format!("[masked:{kind}:")), "{text}: {shown}");
        assert_eq!(masked(&shown), shown, "{text}");
    }
    for text in [
        format!("key_{TOKEN}"),
        format!("backup_{TOKEN}.txt"),
        format!("mcp__crm__{TOKEN}"),
        format!("mcp__{TOKEN}__x"),
    ] {
        let shown = masked(&text);
        assert!(shown.contains("[masked:github_token:") && !shown.contains("Zk3rT9"), "{shown}");
    }
}

#[test]
fn ordinary_names_and_numbers_stay() {
    for text in [
        "build_20261122153000.log",
        "report-1763812345678.csv",
        "a4539148803436467b91c2d3e4f5061728394a5b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "git checkout 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "node_modules/.cache/1234567890123456.json",
        "ls 1234 5678 9012 3456",
        "seq 536 90 4399",
        "536 90 4399",
        "1.2.3.4.5",
        "pip install package_12.4.1.0.zip",
        "lib_93.184.216.34",
        "curl 'https://api.corp.io/v1?q=a%20b%26c'",
        "date +%Y-%m-%dT%H:%M:%S%z",
        "git log --format='%h %ad %ae %s'",
        "printf '%02d %5d\\n' 4 5",
        "SELECT * FROM t WHERE name LIKE '%25%'",
        "echo done | sudo tee /etc/motd",
        "the password is required",
        "Das Passwort ist falsch",
        "the password field is a SecretString",
        "PASSWORD is not set",
        "src/cio/cionic_module_with_a_long_name.rs",
        "SKIPPED",
        "skip_serializing_if = \"Option::is_none\"",
        "pat.py sat.py sl.rs t1.micro",
        "sha256~",
        "API-REFERENCE-GUIDE",
        "Größe: 4 KiB – fertig",
        "日本語のテキスト 2024 年",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn numbers_of_json_are_masked_by_their_form_and_their_key() {
    let text = r#"{"card": 4539148803436467, "bsn": 111222333, "ssn": 536904399, "list": [4539148803436467],
        "count": 111222333, "at": 1763812345678, "size": 4096, "ratio": 0.5}"#;
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    mask_json(&mut value, &key());
    for (field, kind) in [("card", "card"), ("bsn", "national_id"), ("ssn", "ssn")] {
        assert!(
            value[field].as_str().is_some_and(|text| text.starts_with(&format!("[masked:{kind}:"))),
            "{value}"
        );
    }
    assert!(value["list"][0].as_str().is_some_and(|text| text.starts_with("[masked:card:")), "{value}");
    for field in ["count", "at", "size", "ratio"] {
        assert!(value[field].is_number(), "{value}");
    }
}

#[test]
fn what_only_reads_so_is_masked_where_it_stands() {
    for (text, kind, before, behind) in [
        ("GET /v1?mail=maria.gundlach%40firma-nord.de&x=1", "email", "GET /v1?mail=", "&x=1"),
        ("q=password%3DSecret77x&y", "password", "q=password%3D", "&y"),
        ("q=maria%2540firma-nord.de", "email", "q=", ""),
        ("q=%2B49%20170%203344556", "phone", "q=", ""),
        ("q=4539%201488%200343%206467", "card", "q=", ""),
        ("pay 4539\u{a0}1488\u{a0}0343\u{a0}6467 now", "card", "pay ", " now"),
        ("pay 4539\u{2009}1488\u{2009}0343\u{2009}6467 now", "card", "pay ", " now"),
        ("pay 4539\u{2011}1488\u{2011}0343\u{2011}6467 now", "card", "pay ", " now"),
        ("pay 4539.1488.0343.6467 now", "card", "pay ", " now"),
        ("pay 4539/1488/0343/6467 now", "card", "pay ", " now"),
        ("pay 4539\u{200b}1488\u{200b}0343\u{200b}6467 now", "card", "pay ", " now"),
        ("pay ４５３９１４８８０３４３６４６７ now", "card", "pay ", " now"),
        ("pay ٤٥٣٩١٤٨٨٠٣٤٣٦٤٦٧ now", "card", "pay ", " now"),
        ("pay 4539 1488\n0343 6467 now", "card", "pay ", " now"),
        ("to jürgen.müller@größe-nord.de, now", "email", "to ", ", now"),
        ("to 张三@公司.中国 now", "email", "to ", " now"),
    ] {
        let shown = masked(text);
        let inside = shown
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(behind))
            .unwrap_or_else(|| panic!("{shown}"));
        assert!(inside.starts_with(&format!("[masked:{kind}:")) && inside.ends_with(']'), "{text}: {shown}");
        assert_eq!(masked(&shown), shown, "{text}");
    }
    let invisible = format!("use {}\u{200d}{} now", &TOKEN[..9], &TOKEN[9..]);
    assert!(masked(&invisible).starts_with("use [masked:github_token:"), "{}", masked(&invisible));
}

#[test]
fn tokens_of_services_are_masked() {
    for text in [
        "7381920456:AAHk3jd8Qw3rTyUiOpAsDfGhJkLzXcVbNmQ",
        "https://discord.com/api/webhooks/1038475610293847/Qw3rTyUiOpAsDfGhJkLzXcVbNmQw3rTyUiOpAsDfGhJkLzXcVbNmQw3rTyUiOp",
        "dp.st.prd.aB3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj",
        "dp.pt.aB3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj",
        "https://corp.webhook.office.com/webhookb2/1a2b3c4d-1111-2222-3333-444455556666@1a2b3c4d-1111-2222-3333-444455556666/IncomingWebhook/0123456789abcdef0123456789abcdef/1a2b3c4d-1111-2222-3333-444455556666",
    ] {
        assert!(masked(text).contains("[masked:"), "{text}");
        assert!(masked(&format!("see {text}.")).ends_with("]."), "{}", masked(&format!("see {text}.")));
    }
}

#[test]
fn passwords_that_are_told_or_handed_on_are_masked() {
    for text in [
        "log in, the password is Sommer2024!",
        "das Passwort ist Kn0blauch88z",
        "Passwort: Kn0blauch88z",
        "mot de passe : tr0ub4dor",
        "echo Geheim7x | sudo -S apt update",
        "printf '%s' hunter22 | docker login -u x --password-stdin",
        "sudo -S true <<< hunter22",
    ] {
        let shown = masked(text);
        assert!(shown.contains("[masked:password:"), "{shown}");
        assert_eq!(masked(&shown), shown);
    }
}

#[test]
fn one_token_has_one_name() {
    let alone = masked(TOKEN);
    assert!(alone.starts_with("[masked:github_token:"), "{alone}");
    for text in [
        format!("token={TOKEN}"),
        format!("GITHUB_TOKEN: {TOKEN}"),
        format!("--token {TOKEN}"),
        format!("secret=\"{TOKEN}\""),
    ] {
        assert!(masked(&text).contains(&alone), "{}", masked(&text));
    }
    let mut value = json!({ "token": TOKEN, "auth": TOKEN });
    mask_json(&mut value, &key());
    assert_eq!((&value["token"], &value["auth"]), (&json!(alone), &json!(alone)));
}
