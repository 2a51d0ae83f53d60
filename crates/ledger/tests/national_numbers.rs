//! National numbers of persons: those that another program takes for valid are masked where they are named, and chance hits are rare.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::collections::BTreeMap;

use checkrein_ledger::mask::{Counts, MaskKey, Masking, NATIONAL_NUMBERS, mask_json, mask_text};
use serde_json::json;

/// Numbers that were made up, with what another program says about them.
const NUMBERS: &str = include_str!("national/numbers.txt");

fn is_masked(text: &str) -> bool {
    mask_text(text, &MaskKey::new([7; MaskKey::LENGTH])).contains("[masked:national_id:")
}

/// The same, whatever it is taken for: some have the form of a card too.
fn is_anything(text: &str) -> bool {
    mask_text(text, &MaskKey::new([7; MaskKey::LENGTH])).contains("[masked:")
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    NUMBERS.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut parts = line.split(' ');
        (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap() == "valid")
    })
}

// Source: seed 001-74
#[test]
fn what_another_program_takes_for_valid_is_masked_where_it_is_named_and_nothing_else() {
    let mut seen: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (country, number, is_valid) in rows() {
        let one = NATIONAL_NUMBERS.iter().find(|one| one.country == country).unwrap();
        seen.entry(country).or_default()[usize::from(is_valid)] += 1;
        for word in one.words {
            let text = format!("{word}: {number}");
            // What counts by itself for another country, or has a word with one in common, is that.
            let is_shared = NATIONAL_NUMBERS.iter().filter(|other| other.words.contains(word)).count() > 1;
            let is_other = is_masked(&text) && !is_shared && !is_masked(number);
            if if is_valid { !is_anything(&text) } else { is_other } {
                wrong.push(format!("{country} {text} is valid: {is_valid}"));
            }
        }
        let mut value = json!({ one.words[0]: number });
        mask_json(&mut value, &MaskKey::new([7; MaskKey::LENGTH]));
        if is_valid {
            assert!(value.to_string().contains("[masked:"), "{country} {number}: {value}");
        }
        let is_alone = one.forms.iter().any(|form| {
            form.counts == Counts::Alone
                && form.written.len() == number.len()
                && !form.written.contains(['.', '-', ' '])
        });
        if is_valid && !is_masked(number) && is_alone && !number.contains("2A") && !number.contains("2B") {
            wrong.push(format!("{country} {number} counts alone"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    for one in NATIONAL_NUMBERS {
        let [others, valid] = seen[one.country];
        assert!(others > 0 && valid > 0, "{}", one.country);
    }
}

#[test]
fn forms_with_separators_are_those_of_the_table() {
    for text in [
        "CPF do cliente 529.982.247-25",
        "529.982.247-25",
        "85.07.30-033.28",
        "756.9217.0769.85",
        "AB 12 34 56 C",
        "2 55 08 14 168 025 38",
        "RSSMRA85T10A562S",
        "BOXW310820HNERXN09",
        "11010519491231002X",
        "bsn_number = 111222333",
        "Steuer-ID: 86 095 742 719",
        "sin no 123-456-782",
        "hetu 131052-308T",
        "aadhaar 2341 2341 2346",
        "tax file number: 123 456 782",
        "personnummer 811218-9876",
    ] {
        assert!(is_masked(text), "{text}");
    }
    for text in
        ["111222333", "12345678Z", "86095742719", "529.982.247-26", "756.9217.0769.84", "bsnx 111222333"]
    {
        assert!(!is_masked(text), "{text}");
    }
    // A word on another line, or far away, names nothing.
    assert!(!is_masked("bsn\n111222333"));
    assert!(!is_masked(&format!("bsn {}111222333", "of nobody ".repeat(6))));
}

// Source: seed 001-74
#[test]
fn a_kind_that_is_left_as_it_is_leaves_the_others_masked() {
    let masking = Masking { clear: vec!["national_id".to_owned(), "phone".to_owned()], ..Masking::default() };
    let key = MaskKey::new([7; MaskKey::LENGTH]).with_masking(masking);
    for (kind, text) in [
        ("national_id", "bsn 111222333"),
        ("phone", "call +49 30 901820"),
        ("email", "ann.meyer@firm-of-ann.de"),
        ("card", "4111 1111 1111 1111"),
        ("iban", "DE89370400440532013000"),
        ("ssn", "078-05-1120"),
        ("ip", "from 93.184.216.34"),
    ] {
        let is_clear = mask_text(text, &key) == text;
        assert_eq!(is_clear, matches!(kind, "national_id" | "phone"), "{kind}");
    }
}

// Source: seed 001-74
#[test]
fn names_are_masked_in_any_case_and_only_as_whole_words() {
    let names = vec!["Ann Meyer".to_owned(), "Øyvind".to_owned(), " ".to_owned()];
    let key = MaskKey::new([7; MaskKey::LENGTH]).with_masking(Masking { names, ..Masking::default() });
    let masked =
        mask_text("ANN  meyer and Ann\nMeyer, ØYVIND too; Anna Meyer, ann meyers, Øyvinds stay", &key);
    assert_eq!(masked.matches("[masked:name:").count(), 3, "{masked}");
    assert!(masked.ends_with("; Anna Meyer, ann meyers, Øyvinds stay"), "{masked}");
    let marks: Vec<&str> =
        masked.split("[masked:name:").skip(1).filter_map(|part| part.split(']').next()).collect();
    assert_eq!(marks[0], marks[1], "a name has one mark however it is written");
    assert_eq!(mask_text(&masked, &key), masked);
}

/// Numbers after each other that are the same in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn filled(&mut self, form: &str) -> String {
        let mut one = |set: &[u8]| char::from(set[usize::try_from(self.next()).unwrap() % set.len()]);
        form.chars()
            .map(|letter| match letter {
                '9' => one(b"0123456789"),
                'A' => one(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                'X' => one(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                'x' => one(b"0123456789abcdef"),
                other => other,
            })
            .collect()
    }
}

#[test]
fn of_a_thousand_numbers_of_a_form_that_counts_alone_less_than_one_is_a_chance_hit() {
    const TRIES: usize = 10_000;
    let mut dice = Dice(1);
    for one in NATIONAL_NUMBERS {
        for form in one.forms.iter().filter(|form| form.counts == Counts::Alone) {
            // A beginning that is always the same makes it rarer.
            let letters = form.written.matches('A').count();
            let any = match letters {
                // So many letters at their places are most of the form.
                5.. => "X".repeat(form.written.len()),
                _ => form.written.replace(|letter: char| letter.is_ascii_digit(), "9"),
            };
            let hits = (0..TRIES).filter(|_| is_masked(&dice.filled(&any))).count();
            // Nothing but such a number is written in these ways: points and hyphens at places of their own.
            let is_own = form.written.contains(['.', '-', ' ']) && !form.written.contains("999999 99999");
            assert!(is_own || hits * 1_000 < TRIES, "{} {}: {hits} of {TRIES}", one.country, form.written);
        }
    }
    // Digits alone, of every length.
    for length in 6..=19 {
        let form = "9".repeat(length);
        let hits = (0..TRIES).filter(|_| is_masked(&dice.filled(&form))).count();
        assert!(hits * 1_000 < TRIES, "{length} digits: {hits} of {TRIES}");
    }
}

#[test]
fn build_logs_hold_nobody() {
    const LINES: usize = 48_000;
    let forms = [
        "2026-11-29T12:99:59.999Z [info] step 999/999 done in 99.999 s",
        "[99/999] Compiling serde v1.0.999 (xxxxxxxx)",
        "commit xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "Finished `dev` in 9m 99s, 99999999 bytes, pid 99999",
        "job 99999999999 run 9999999999 attempt 9",
        "at 0xxxxxxxxxxxxx, offset 999999999, size 99999",
        "1763999999999 INFO request 99999999-9999-9999-9999-999999999999 took 999999 us",
        "sha256:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  app-9.9.99.tar.gz",
        "ts=1763999999.999999 trace=xxxxxxxxxxxxxxxx span=xxxxxxxx",
        "20261129-9999 build 20261129999999 artifact AA9999 rev A9999999",
        "99999999A 9999999A AA999999A A9999999A part numbers",
        "test result: ok. 999 passed; 9 failed; finished in 99.99s",
    ];
    let mut dice = Dice(2);
    let hits: Vec<String> =
        (0..LINES).map(|at| dice.filled(forms[at % forms.len()])).filter(|line| is_masked(line)).collect();
    assert!(hits.len() * 10_000 < LINES * 2, "{} of {LINES}: {:?}", hits.len(), &hits[..hits.len().min(10)]);
}
