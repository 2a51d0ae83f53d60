//! The table of national numbers.

use super::checks::{
    austria, belgium, brazil, chile, china, digit, estonia, finland, france, germany, ireland, is_day, italy,
    luhn, mexico, mod_11_10, norway, number, singapore, spain, turkey, united_kingdom, verhoeff, weighted,
};
use super::{Counts, NationalForm, NationalNumber};

const fn alone(written: &'static str) -> NationalForm {
    NationalForm { written, counts: Counts::Alone }
}

const fn named(written: &'static str) -> NationalForm {
    NationalForm { written, counts: Counts::Named }
}

/// All national numbers that are known, by country.
pub const NATIONAL_NUMBERS: &[NationalNumber] = &[
    NationalNumber {
        country: "AT",
        name: "Sozialversicherungsnummer",
        forms: &[named("9999 999999"), named("9999999999")],
        checked: "date, weights 3 7 9 5 8 4 2 1 6 (ASVG § 460d)",
        words: &["svnr", "sv-nummer", "sv-nr", "sozialversicherungsnummer", "versicherungsnummer"],
        check: austria,
    },
    NationalNumber {
        country: "AU",
        name: "Tax File Number",
        forms: &[named("999 999 999"), named("999999999")],
        checked: "weights 1 4 3 7 5 8 6 9 10, remainder of 11 (Australian Taxation Office)",
        words: &["tfn", "tax file number"],
        check: |text| weighted(text, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11),
    },
    NationalNumber {
        country: "BE",
        name: "Rijksregisternummer, numéro national",
        forms: &[alone("99.99.99-999.99"), alone("99.99.99-999-99"), named("99999999999")],
        checked: "date, 97 less the remainder of 97 (Royal Decree of 3 April 1984)",
        words: &[
            "rijksregisternummer",
            "rijksregister",
            "numéro national",
            "numero national",
            "registre national",
            "nationaal nummer",
            "niss",
            "insz",
            "bis-nummer",
        ],
        check: belgium,
    },
    NationalNumber {
        country: "BG",
        name: "ЕГН",
        forms: &[named("9999999999")],
        checked: "date, weights 2 4 8 5 10 9 7 3 6, remainder of 11 (Civil Registration Act)",
        words: &["egn", "егн"],
        check: |text| {
            let month = number(text, 2, 2) % 20;
            is_day(month, number(text, 4, 2))
                && weighted(text, &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == digit(text, 9)
        },
    },
    NationalNumber {
        country: "BR",
        name: "CPF",
        forms: &[alone("999.999.999-99"), named("99999999999")],
        checked: "two digits, remainders of 11 (Receita Federal)",
        words: &["cpf"],
        check: brazil,
    },
    NationalNumber {
        country: "CA",
        name: "Social Insurance Number",
        forms: &[named("999-999-999"), named("999 999 999"), named("999999999")],
        checked: "Luhn (Employment and Social Development Canada)",
        words: &["social insurance", "sin number", "sin no", "numéro d'assurance sociale"],
        check: |text| !matches!(text.first(), Some(b'0' | b'8')) && luhn(text),
    },
    NationalNumber {
        country: "CH",
        name: "AHV-Nummer",
        forms: &[alone("756.9999.9999.99"), alone("7569999999999")],
        checked: "756 and the check digit of EAN-13 (AHVV Art. 133bis)",
        words: &["ahv", "avs", "ahv-nummer", "numéro avs"],
        check: |text| weighted(text, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10),
    },
    NationalNumber {
        country: "CL",
        name: "RUT",
        forms: &[named("99.999.999-X"), named("9.999.999-X"), named("99999999-X"), named("9999999-X")],
        checked: "remainder of 11, `K` for 10 (Servicio de Impuestos Internos)",
        words: &["rut", "rol único tributario", "rol unico tributario"],
        check: chile,
    },
    NationalNumber {
        country: "CN",
        name: "公民身份号码",
        forms: &[alone("99999999999999999X")],
        checked: "date, ISO 7064 MOD 11-2 (GB 11643-1999)",
        words: &["身份证", "resident identity", "id card"],
        check: china,
    },
    NationalNumber {
        country: "CZ",
        name: "rodné číslo (also SK)",
        forms: &[named("999999/9999"), named("9999999999")],
        checked: "date, divisible by 11 (Act 133/2000)",
        words: &["rodné číslo", "rodne cislo", "rodné č", "rodne c", "birth number"],
        check: |text| {
            let month = number(text, 2, 2) % 50;
            let month = if month > 20 { month - 20 } else { month };
            let last = number(text, 0, 9) % 11 % 10;
            is_day(month, number(text, 4, 2)) && last == digit(text, 9)
        },
    },
    NationalNumber {
        country: "DE",
        name: "Steuer-Identifikationsnummer",
        forms: &[named("99999999999"), named("99 999 999 999")],
        checked: "one digit of the first ten twice or three times, ISO 7064 MOD 11,10 (§ 139b AO, Bundeszentralamt für Steuern)",
        words: &[
            "steuer-id",
            "steuer-idnr",
            "steuerid",
            "steueridentifikationsnummer",
            "idnr",
            "steuernummer",
            "tax id",
            "tax_id",
        ],
        check: germany,
    },
    NationalNumber {
        country: "DK",
        name: "CPR-nummer",
        forms: &[named("999999-9999"), named("9999999999")],
        checked: "date; there is no check digit since 2007 (CPR-kontoret)",
        words: &["cpr", "cpr-nr", "cprnr", "cpr-nummer", "personnummer"],
        check: |text| is_day(number(text, 2, 2), number(text, 0, 2)),
    },
    NationalNumber {
        country: "EE",
        name: "isikukood, asmens kodas (also LT)",
        forms: &[named("99999999999")],
        checked: "date, two rows of weights, remainder of 11 (EVS 585)",
        words: &["isikukood", "asmens kodas", "personal code"],
        check: estonia,
    },
    NationalNumber {
        country: "ES",
        name: "DNI, NIE",
        forms: &[
            named("99999999A"),
            named("99999999-A"),
            named("99.999.999-A"),
            named("A9999999A"),
            named("A-9999999-A"),
        ],
        checked: "letter by the remainder of 23; X, Y, Z stand for 0, 1, 2 (Ministerio del Interior)",
        words: &["dni", "nie", "nif", "documento nacional", "número de identidad"],
        check: spain,
    },
    NationalNumber {
        country: "FI",
        name: "henkilötunnus",
        forms: &[named("999999-999X"), named("999999+999X"), named("999999A999X")],
        checked: "date, character by the remainder of 31 (Digital and Population Data Services Agency)",
        words: &["hetu", "henkilötunnus", "henkilotunnus", "personal identity code"],
        check: finland,
    },
    NationalNumber {
        country: "FR",
        name: "numéro de sécurité sociale (NIR)",
        forms: &[
            alone("999999999999999"),
            alone("999999A99999999"),
            alone("9 99 99 99 999 999 99"),
            alone("9 99 99 9A 999 999 99"),
        ],
        checked: "sex, month, department, 97 less the remainder of 97 (INSEE)",
        words: &["nir", "sécurité sociale", "securite sociale", "numéro de sécu", "numero de secu"],
        check: france,
    },
    NationalNumber {
        country: "GB",
        name: "National Insurance number",
        forms: &[alone("AA 99 99 99 A"), alone("AA-99-99-99-A"), named("AA999999A"), named("AA 999999 A")],
        checked: "form: the prefixes that are given out, A to D at the end (HMRC, NIM39110)",
        words: &["nino", "ni number", "ni no", "national insurance"],
        check: united_kingdom,
    },
    NationalNumber {
        country: "HR",
        name: "OIB",
        forms: &[named("99999999999")],
        checked: "ISO 7064 MOD 11,10 (Porezna uprava)",
        words: &["oib", "osobni identifikacijski broj"],
        check: |text| mod_11_10(text),
    },
    NationalNumber {
        country: "IE",
        name: "PPS number",
        forms: &[named("9999999A"), named("9999999AA")],
        checked: "letter by the remainder of 23 (Department of Social Protection)",
        words: &["pps", "ppsn", "pps no", "pps number"],
        check: ireland,
    },
    NationalNumber {
        country: "IL",
        name: "מספר זהות",
        forms: &[named("999999999")],
        checked: "Luhn (Population and Immigration Authority)",
        words: &["teudat zehut", "mispar zehut", "תעודת זהות", "מספר זהות"],
        check: |text| luhn(text) && text.iter().any(|byte| *byte != b'0'),
    },
    NationalNumber {
        country: "IN",
        name: "Aadhaar",
        forms: &[named("9999 9999 9999"), named("9999-9999-9999"), named("999999999999")],
        checked: "Verhoeff, begins with 2 to 9 (UIDAI)",
        words: &["aadhaar", "aadhar", "uidai", "आधार"],
        check: |text| {
            let is_palindrome = text.iter().eq(text.iter().rev());
            matches!(text.first(), Some(b'2'..=b'9')) && !is_palindrome && verhoeff(text)
        },
    },
    NationalNumber {
        country: "IT",
        name: "codice fiscale",
        forms: &[alone("AAAAAA99A99A999A")],
        checked: "month, day, letter by the remainder of 26 (D.M. 23 December 1976)",
        words: &["codice fiscale"],
        check: italy,
    },
    NationalNumber {
        country: "JP",
        name: "個人番号 (My Number)",
        forms: &[named("9999 9999 9999"), named("9999-9999-9999"), named("999999999999")],
        checked: "remainder of 11 (Ordinance 85 of 2014, Article 5)",
        words: &["my number", "mynumber", "マイナンバー", "個人番号"],
        check: |text| {
            let rest = weighted(text, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
            (if rest <= 1 { 0 } else { 11 - rest }) == digit(text, 11)
        },
    },
    NationalNumber {
        country: "KR",
        name: "주민등록번호",
        forms: &[named("999999-9999999")],
        checked: "date; there is no check digit since 2020 (Ministry of the Interior and Safety)",
        words: &["주민등록번호", "resident registration", "rrn"],
        check: |text| is_day(number(text, 2, 2), number(text, 4, 2)) && !matches!(text.get(6), Some(b'9')),
    },
    NationalNumber {
        country: "MX",
        name: "CURP",
        forms: &[alone("AAAA999999AAAAAAX9")],
        checked: "date, H or M, check digit of base 37 (RENAPO)",
        words: &["curp"],
        check: mexico,
    },
    NationalNumber {
        country: "NL",
        name: "burgerservicenummer (BSN)",
        forms: &[named("999999999"), named("9999.99.999"), named("9999 99 999")],
        checked: "the elevenproof, last digit negative (Rijksdienst voor Identiteitsgegevens)",
        words: &["bsn", "burgerservicenummer", "sofinummer", "sofi-nummer"],
        check: |text| {
            let sum = weighted(text, &[9, 8, 7, 6, 5, 4, 3, 2]);
            sum > 0 && sum % 11 == digit(text, 8)
        },
    },
    NationalNumber {
        country: "NO",
        name: "fødselsnummer",
        forms: &[alone("99999999999"), alone("999999 99999")],
        checked: "date, two digits, remainders of 11 (Skatteetaten)",
        words: &["fødselsnummer", "fodselsnummer", "personnummer", "fnr"],
        check: norway,
    },
    NationalNumber {
        country: "PL",
        name: "PESEL",
        forms: &[named("99999999999")],
        checked: "date, weights 1 3 7 9 (Act on the population register, Article 15)",
        words: &["pesel"],
        check: |text| {
            let month = number(text, 2, 2) % 20;
            is_day(month, number(text, 4, 2))
                && weighted(text, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10)
        },
    },
    NationalNumber {
        country: "PT",
        name: "NIF",
        forms: &[named("999999999"), named("999 999 999")],
        checked: "remainder of 11 (Autoridade Tributária)",
        words: &["nif", "contribuinte", "número fiscal", "numero fiscal"],
        check: |text| {
            let rest = weighted(text, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
            !text.starts_with(b"0") && (if rest <= 1 { 0 } else { 11 - rest }) == digit(text, 8)
        },
    },
    NationalNumber {
        country: "RO",
        name: "CNP",
        forms: &[named("9999999999999")],
        checked: "date, county, weights 2 7 9 1 4 6 3 5 8 2 7 9, remainder of 11 (Law 105/1996)",
        words: &["cnp", "cod numeric personal"],
        check: |text| {
            let rest = weighted(text, &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
            matches!(text.first(), Some(b'1'..=b'9'))
                && is_day(number(text, 3, 2), number(text, 5, 2))
                && (if rest == 10 { 1 } else { rest }) == digit(text, 12)
        },
    },
    NationalNumber {
        country: "SE",
        name: "personnummer",
        forms: &[
            named("999999-9999"),
            named("999999+9999"),
            named("99999999-9999"),
            named("9999999999"),
            named("999999999999"),
        ],
        checked: "date, Luhn over the last ten digits (Skatteverket)",
        words: &["personnummer", "samordningsnummer", "personal identity number", "pnr"],
        check: |text| {
            let text = text.get(text.len().saturating_sub(10)..).unwrap_or_default();
            let day = number(text, 4, 2);
            let day = if day > 60 { day - 60 } else { day };
            is_day(number(text, 2, 2), day) && luhn(text)
        },
    },
    NationalNumber {
        country: "SG",
        name: "NRIC, FIN",
        forms: &[named("A9999999A")],
        checked: "letter by the remainder of 11, another row for each beginning (Immigration & Checkpoints Authority)",
        words: &["nric", "fin number", "fin no"],
        check: singapore,
    },
    NationalNumber {
        country: "TR",
        name: "T.C. kimlik numarası",
        forms: &[named("99999999999")],
        checked: "two digits, remainders of 10 (Law 5490)",
        words: &["tckn", "tc kimlik", "t.c. kimlik", "kimlik no", "kimlik numarası"],
        check: turkey,
    },
    NationalNumber {
        country: "ZA",
        name: "identity number",
        forms: &[named("9999999999999")],
        checked: "date, 0 or 1 for citizens, Luhn (Identification Act 68 of 1997)",
        words: &["sa id", "id number", "identity number", "rsa id"],
        check: |text| {
            is_day(number(text, 2, 2), number(text, 4, 2))
                && matches!(text.get(10), Some(b'0'..=b'2'))
                && luhn(text)
        },
    },
];
