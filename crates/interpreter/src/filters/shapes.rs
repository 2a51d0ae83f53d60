//! Filters of `jq` and `yq` that tell what a file is made of, and nothing of its values.

use crate::{Call, Value};

/// What the first stage of a filter may be: names of settings, how many there are, of which sort the whole is (source: jq(1)).
const SHAPES: &[&str] = &["keys", "keys_unsorted", "keys[]", "keys_unsorted[]", "length", "type"];

/// What may stand behind it: the same in another order, or how many there are.
const REST: &[&str] = &[".[]", "sort", "sort[]", "length", "unique", "unique[]"];

/// Options that change how the answer is laid out.
const LAYOUT: &[&str] = &[
    "--raw-output",
    "--compact-output",
    "--exit-status",
    "--sort-keys",
    "--monochrome-output",
    "--color-output",
    "--join-output",
    "--tab",
];

/// Whether a call of `jq` or `yq` prints names, numbers and sorts of what it reads only: its filter is nothing but that, at the root or
/// at a place below it.
pub(super) fn tells_shape(call: &Call) -> bool {
    if !matches!(call.program.as_str(), "jq" | "gojq" | "jaq" | "yq") {
        return false;
    }
    let Some(words) = call.words.iter().map(Value::as_exact).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    let mut operands = Vec::new();
    for word in words {
        match word.strip_prefix('-') {
            None | Some("") => operands.push(word),
            Some(_) if LAYOUT.contains(&word) => {}
            // `yq -i` writes, `yq -o=json` reads another form.
            Some(letters) if letters.chars().all(|letter| "rcejSMC".contains(letter)) => {}
            Some(_) => return false,
        }
    }
    if call.program == "yq" && matches!(operands.first(), Some(&("e" | "eval"))) {
        operands.remove(0);
    }
    operands.first().is_some_and(|filter| is_shape(filter))
}

fn is_shape(filter: &str) -> bool {
    let mut stages = filter.split('|').map(str::trim).peekable();
    let is_at_root = !stages.peek().is_some_and(|stage| is_place(stage));
    let mut stages = stages.skip_while(|stage| is_place(stage));
    let first = stages.next().unwrap_or_default();
    if first.is_empty() && !is_at_root {
        return tells_of_metadata(filter);
    }
    // The length of a number is the number.
    let tells = SHAPES.contains(&first) && (is_at_root || first != "length") || asks_for_a_name(first);
    tells && stages.all(|stage| REST.contains(&stage))
}

/// Names under which programs tell about a secret, and not the secret: who made it, when, and how long it lasts (Vault, "Token lookup" and
/// "Read secret metadata"; AWS, `GetSecretValue`; Kubernetes, `ObjectMeta`).
const METADATA: &[&str] = &[
    "ttl",
    "creation_ttl",
    "explicit_max_ttl",
    "expire_time",
    "issue_time",
    "creation_time",
    "created_time",
    "deletion_time",
    "destroyed",
    "renewable",
    "orphan",
    "num_uses",
    "policies",
    "lease_duration",
    "ARN",
    "Name",
    "VersionId",
    "VersionStages",
    "CreatedDate",
    "creationTimestamp",
    "namespace",
    "resourceVersion",
    "kind",
    "apiVersion",
    "labels",
];

/// Whether a filter is one place that tells about a secret.
fn tells_of_metadata(filter: &str) -> bool {
    !filter.contains('|') && filter.trim().rsplit('.').next().is_some_and(|name| METADATA.contains(&name))
}

/// `.data.items`: a place that is looked at, and of which another stage tells something.
fn is_place(stage: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    stage.strip_prefix('.').is_some_and(|names| names.split('.').all(is_name))
}

/// `has("name")`
fn asks_for_a_name(stage: &str) -> bool {
    let name = stage.strip_prefix("has(\"").and_then(|rest| rest.strip_suffix("\")"));
    name.is_some_and(|name| !name.contains(['"', '\\']))
}

#[cfg(test)]
mod tests {
    use super::is_shape;

    #[test]
    fn only_names_numbers_and_sorts_are_shapes() {
        for filter in [
            "keys",
            " keys | .[] ",
            "keys[]",
            "keys_unsorted | sort",
            "length",
            "type",
            "has(\"a.b\")",
            ".data | keys",
            ".data.data|keys[]",
            ".data.ttl",
        ] {
            assert!(is_shape(filter), "{filter}");
        }
        for filter in [
            "",
            ".",
            ".a",
            "keys, .",
            ".[] | keys",
            "keys | map(.)",
            "to_entries",
            "has(\"\\(.)\")",
            "has(.a)",
            "keys as $k | .",
            "length | ., input",
            ".a | length",
            ".a | .b",
            ".data.id",
            ".ttl | .id",
            ".ttl, .id",
            ".a[0] | keys, .",
            "has(\"a\") , .x(\"b\")",
        ] {
            assert!(!is_shape(filter), "{filter}");
        }
    }
}
