//! The gate of licences: new packages whose licence is not among those that are allowed. A licence that nobody can tell is not allowed.

use std::collections::BTreeSet;

use crate::finding::{FindingKind, FindingWeight, GateFinding};
use crate::manifest::{Package, PackageList, PackageSource};

/// The licences that are allowed where nobody says which (ours): those that ask for no more than to be named.
pub const PERMISSIVE: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "BlueOak-1.0.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "PSF-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Judges the packages of a file that were not in it before. `licence` tells the licence of a package where something on disk does.
pub fn examine_licences(
    now: &PackageList,
    before: Option<&PackageList>,
    allowed: &[String],
    licence: impl Fn(&Package) -> Option<String>,
) -> Vec<GateFinding> {
    let mut seen: BTreeSet<(&str, Option<&str>)> = BTreeSet::new();
    let was_there = |package: &Package| {
        before.is_some_and(|before| {
            before.packages.iter().any(|old| old.name == package.name && old.version == package.version)
        })
    };
    let mut findings = Vec::new();
    for package in &now.packages {
        let is_own = package.source == PackageSource::Elsewhere || now.own.contains(&package.name);
        if is_own || was_there(package) || !seen.insert((&package.name, package.version.as_deref())) {
            continue;
        }
        let version = package.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let name = format!("`{}`{version}", package.name);
        let said =
            package.licence.clone().or_else(|| licence(package)).filter(|said| !said.trim().is_empty());
        let (kind, words) = match said {
            None => (FindingKind::LicenceUnknown, format!("{name}: nothing on disk tells its licence")),
            Some(said) => match is_allowed(&said, allowed) {
                Some(true) => continue,
                Some(false) => (FindingKind::LicenceNotAllowed, format!("{name}: {said}")),
                None => {
                    (FindingKind::LicenceUnknown, format!("{name}: `{said}` is not a licence expression"))
                }
            },
        };
        findings.push(GateFinding::at(package.line, kind, FindingWeight::Error, &words));
    }
    findings
}

/// Whether a licence expression (SPDX) can be met with the allowed licences; `None` where it is none.
fn is_allowed(expression: &str, allowed: &[String]) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    // Older manifests of Rust write a slash for `OR`.
    let spaced = spaced.replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, at: 0, depth: 0, allowed };
    let value = reader.either()?;
    (reader.at == words.len()).then_some(value)
}

/// The deepest nesting that is read (ours).
const DEEPEST: usize = 32;

struct Reader<'t> {
    words: &'t [&'t str],
    at: usize,
    depth: usize,
    allowed: &'t [String],
}

impl Reader<'_> {
    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.words.get(self.at).is_some_and(|next| next.eq_ignore_ascii_case(word));
        self.at += usize::from(is_next);
        is_next
    }

    fn either(&mut self) -> Option<bool> {
        let mut value = self.both()?;
        while self.takes("OR") {
            value |= self.both()?;
        }
        Some(value)
    }

    fn both(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.takes("AND") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        if self.takes("(") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return None;
            }
            let value = self.either()?;
            self.depth -= 1;
            return self.takes(")").then_some(value);
        }
        let name = *self.words.get(self.at)?;
        let is_name = name.chars().all(|sign| sign.is_ascii_alphanumeric() || ".-+:".contains(sign));
        let is_word = ["OR", "AND", "WITH"].iter().any(|word| name.eq_ignore_ascii_case(word));
        if !is_name || is_word {
            return None;
        }
        self.at += 1;
        // An exception only adds to what is allowed.
        if self.takes("WITH") {
            self.words.get(self.at)?;
            self.at += 1;
        }
        let is_it = |allowed: &String| {
            allowed.eq_ignore_ascii_case(name) || allowed.eq_ignore_ascii_case(name.trim_end_matches('+'))
        };
        Some(self.allowed.iter().any(is_it))
    }
}

/// The licence that the metadata of a distribution of Python tells: its expression, else its classifier, else its field.
pub fn licence_of_metadata(metadata: &str) -> Option<String> {
    let head = metadata.split("\n\n").next().unwrap_or_default();
    let field = |name: &str| {
        head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).filter(|value| !value.is_empty())
    };
    if let Some(expression) = field("License-Expression:") {
        return Some(expression.to_owned());
    }
    let classifiers = head.lines().filter_map(|line| line.strip_prefix("Classifier: License ::"));
    let mut names: Vec<&str> =
        classifiers.filter_map(|path| licence_named(path.rsplit("::").next()?)).collect();
    names.dedup();
    if !names.is_empty() {
        return Some(names.join(" AND "));
    }
    let said = field("License:")?;
    Some(licence_named(said).unwrap_or(said).to_owned())
}

/// The identifier of a licence that is written out.
fn licence_named(words: &str) -> Option<&'static str> {
    let lower = words.trim().to_lowercase();
    let lower = lower.trim_start_matches("the ").trim_end_matches(" (mit)").trim_end_matches(" (isc)");
    Some(match lower {
        "mit license" | "mit" => "MIT",
        "apache software license"
        | "apache 2.0"
        | "apache license 2.0"
        | "apache-2.0"
        | "apache 2"
        | "apache license, version 2.0" => "Apache-2.0",
        "bsd license" | "bsd" | "bsd 3-clause" | "new bsd" | "modified bsd" | "bsd-3-clause" => {
            "BSD-3-Clause"
        }
        "bsd 2-clause" | "bsd-2-clause" | "simplified bsd" => "BSD-2-Clause",
        "isc license" | "isc license (iscl)" | "isc" => "ISC",
        "python software foundation license" | "psf" | "psfl" => "PSF-2.0",
        "mozilla public license 2.0 (mpl 2.0)" | "mpl-2.0" | "mpl 2.0" => "MPL-2.0",
        "unlicense (unlicense)" | "unlicense" => "Unlicense",
        "gnu general public license v3 (gplv3)" | "gplv3" => "GPL-3.0-only",
        "gnu general public license v3 or later (gplv3+)" => "GPL-3.0-or-later",
        "gnu general public license v2 (gplv2)" | "gplv2" => "GPL-2.0-only",
        "gnu lesser general public license v3 (lgplv3)" => "LGPL-3.0-only",
        "gnu affero general public license v3" => "AGPL-3.0-only",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{PackageFile, read_packages};

    fn allowed(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn expressions_are_met_or_not() {
        let list = allowed(&["MIT", "Apache-2.0", "Unicode-3.0"]);
        for (expression, expected) in [
            ("MIT", Some(true)),
            ("mit", Some(true)),
            ("GPL-3.0-only", Some(false)),
            ("GPL-3.0-only OR MIT", Some(true)),
            ("MIT/GPL-2.0", Some(true)),
            ("GPL-3.0-only AND MIT", Some(false)),
            ("(MIT OR GPL-2.0-only) AND Unicode-3.0", Some(true)),
            ("MIT OR GPL-2.0-only AND GPL-3.0-only", Some(true)),
            ("Apache-2.0 WITH LLVM-exception", Some(true)),
            ("SEE LICENSE IN LICENSE.md", None),
            ("", None),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT GPL", None),
        ] {
            assert_eq!(is_allowed(expression, &list), expected, "{expression}");
        }
        assert_eq!(is_allowed(&"(".repeat(100_000), &list), None);
    }

    #[test]
    fn new_packages_are_judged_and_unknown_is_its_own_answer() {
        let read = |text: &str| {
            read_packages("package-lock.json", PackageFile::of_path("package-lock.json").unwrap(), text)
                .unwrap()
        };
        let before = read(r#"{"packages": {"node_modules/old": {"version": "1", "license": "GPL-3.0"}}}"#);
        let now = read(
            r#"{"packages": {"node_modules/old": {"version": "1", "license": "GPL-3.0"}, "node_modules/a": {"version": "1", "license": "MIT"},
                "node_modules/b": {"version": "1", "license": "AGPL-3.0"}, "node_modules/c": {"version": "1"}, "node_modules/d": {"version": "1"},
                "node_modules/e": {"version": "1", "license": "UNLICENSED, really"}}}"#,
        );
        let told = |package: &Package| (package.name == "d").then(|| "ISC".to_owned());
        let findings = examine_licences(&now, Some(&before), &allowed(&["MIT", "ISC"]), told);
        let words: Vec<String> = findings.iter().map(|one| format!("{} {}", one.kind, one.text)).collect();
        assert_eq!(
            words,
            [
                "licence_not_allowed `b` 1: AGPL-3.0",
                "licence_unknown `c` 1: nothing on disk tells its licence",
                "licence_unknown `e` 1: `UNLICENSED, really` is not a licence expression",
            ]
        );
    }

    #[test]
    fn metadata_of_python_tells_a_licence() {
        let of = |text: &str| licence_of_metadata(text).unwrap_or_default();
        assert_eq!(of("License: other\nLicense-Expression: MIT OR Apache-2.0\n"), "MIT OR Apache-2.0");
        assert_eq!(of("Classifier: License :: OSI Approved :: BSD License\n\nLicense: MIT"), "BSD-3-Clause");
        assert_eq!(of("License: Apache 2.0\n"), "Apache-2.0");
        assert_eq!(of("Name: x\n\nLicense: MIT\n"), "");
    }
}
