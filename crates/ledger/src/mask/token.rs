//! Tokens that their prefix gives away.

/// Which bytes a token is made of after its prefix.
#[derive(Clone, Copy)]
enum Alphabet {
    /// Letters and digits.
    Plain,
    /// Capital letters and digits.
    Capital,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same and `.`.
    Dotted,
    /// The same, `/` and `:`.
    Path,
    /// Letters and digits of base64 with `+`, `/` and `=`.
    Base64,
}

impl Alphabet {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// Whether a token must look random besides: the prefix alone begins ordinary words too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The prefix is enough.
    Any,
    /// Holds a digit or a capital letter.
    Random,
    /// Holds a digit.
    Digit,
}

struct Prefix {
    text: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    least: usize,
    look: Look,
}

const fn prefix(
    text: &'static str,
    kind: &'static str,
    alphabet: Alphabet,
    least: usize,
    look: Look,
) -> Prefix {
    Prefix { text, kind, alphabet, least, look }
}

/// Longer prefixes stand before their own beginnings. Forms from the publishers' documentation; the least lengths are ours,
/// below the real ones, so that a token cut short is masked too.
const PREFIXES: &[Prefix] = &[
    prefix("AKIA", "aws_key_id", Alphabet::Capital, 12, Look::Any),
    prefix("ASIA", "aws_key_id", Alphabet::Capital, 16, Look::Digit),
    prefix("ABIA", "aws_key_id", Alphabet::Capital, 16, Look::Digit),
    prefix("ACCA", "aws_key_id", Alphabet::Capital, 16, Look::Digit),
    prefix("AIza", "google_key", Alphabet::Word, 30, Look::Any),
    prefix("AGE-SECRET-KEY-1", "age_key", Alphabet::Capital, 20, Look::Any),
    prefix("ATATT3", "atlassian_token", Alphabet::Dotted, 20, Look::Any),
    prefix("CFPAT-", "contentful_token", Alphabet::Word, 20, Look::Any),
    prefix("EAACEdEose0cBA", "facebook_token", Alphabet::Plain, 8, Look::Any),
    prefix("GOCSPX-", "google_secret", Alphabet::Word, 16, Look::Any),
    prefix("NRAK-", "newrelic_key", Alphabet::Plain, 16, Look::Any),
    prefix("PMAK-", "postman_key", Alphabet::Word, 20, Look::Any),
    prefix("SG.", "sendgrid_key", Alphabet::Dotted, 32, Look::Random),
    prefix("checkrein_", "checkrein_key", Alphabet::Plain, 40, Look::Digit),
    prefix("dapi", "databricks_token", Alphabet::Plain, 32, Look::Digit),
    prefix("dckr_pat_", "docker_token", Alphabet::Word, 16, Look::Any),
    prefix("dop_v1_", "digitalocean_token", Alphabet::Plain, 20, Look::Any),
    prefix("doo_v1_", "digitalocean_token", Alphabet::Plain, 20, Look::Any),
    prefix("eyJ", "jwt", Alphabet::Word, 8, Look::Any),
    prefix("figd_", "figma_token", Alphabet::Word, 20, Look::Any),
    prefix("fio-u-", "frameio_token", Alphabet::Word, 20, Look::Any),
    prefix("github_pat_", "github_token", Alphabet::Word, 20, Look::Any),
    prefix("ghp_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("gho_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("ghs_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("ghu_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("ghr_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("glpat-", "gitlab_token", Alphabet::Dotted, 16, Look::Any),
    prefix("gldt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glrt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glptt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glsa_", "grafana_token", Alphabet::Word, 20, Look::Any),
    prefix("glc_", "grafana_token", Alphabet::Base64, 32, Look::Random),
    prefix("gsk_", "groq_key", Alphabet::Plain, 20, Look::Any),
    prefix("hf_", "huggingface_token", Alphabet::Plain, 24, Look::Any),
    prefix("hooks.slack.com/services/", "slack_webhook", Alphabet::Path, 16, Look::Any),
    prefix("hvs.", "vault_token", Alphabet::Word, 20, Look::Any),
    prefix("hvb.", "vault_token", Alphabet::Word, 20, Look::Any),
    prefix("key-", "mailgun_key", Alphabet::Plain, 32, Look::Digit),
    prefix("lin_api_", "linear_key", Alphabet::Plain, 20, Look::Any),
    prefix("lsv2_", "langsmith_key", Alphabet::Word, 24, Look::Any),
    prefix("npm_", "npm_token", Alphabet::Plain, 24, Look::Any),
    prefix("ntn_", "notion_token", Alphabet::Plain, 24, Look::Any),
    prefix("nvapi-", "nvidia_key", Alphabet::Word, 20, Look::Any),
    prefix("pk_live_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("pul-", "pulumi_token", Alphabet::Plain, 32, Look::Any),
    prefix("pypi-", "pypi_token", Alphabet::Word, 32, Look::Random),
    prefix("r8_", "replicate_token", Alphabet::Plain, 24, Look::Any),
    prefix("rk_live_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("rk_test_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("rubygems_", "rubygems_token", Alphabet::Plain, 32, Look::Any),
    prefix("sbp_", "supabase_token", Alphabet::Plain, 24, Look::Any),
    prefix("shpat_", "shopify_token", Alphabet::Plain, 20, Look::Any),
    prefix("shpss_", "shopify_token", Alphabet::Plain, 20, Look::Any),
    prefix("sk_live_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("sk_test_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("sk-ant-", "anthropic_key", Alphabet::Word, 16, Look::Any),
    prefix("sk-", "secret_key", Alphabet::Word, 20, Look::Random),
    prefix("sntrys_", "sentry_token", Alphabet::Dotted, 20, Look::Any),
    prefix("sntryu_", "sentry_token", Alphabet::Dotted, 20, Look::Any),
    prefix("sq0atp-", "square_token", Alphabet::Word, 20, Look::Any),
    prefix("sq0csp-", "square_token", Alphabet::Word, 20, Look::Any),
    prefix("tskey-", "tailscale_key", Alphabet::Word, 16, Look::Any),
    prefix("vault:v1:", "vault_cipher", Alphabet::Base64, 24, Look::Any),
    prefix("whsec_", "webhook_secret", Alphabet::Base64, 20, Look::Any),
    prefix("xai-", "xai_key", Alphabet::Plain, 32, Look::Any),
    prefix("xapp-", "slack_token", Alphabet::Word, 16, Look::Digit),
    prefix("xoxa-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxb-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxe-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxe.", "slack_token", Alphabet::Dotted, 10, Look::Any),
    prefix("xoxp-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxr-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxs-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("ya29.", "google_token", Alphabet::Dotted, 16, Look::Any),
];

/// How many bytes after a prefix decide whether it begins a token.
const DECIDING: usize = 128;

/// A token at the beginning of `bytes`.
pub(super) struct Token {
    /// How long it is, with its prefix.
    pub(super) length: usize,
    /// What it is.
    pub(super) kind: &'static str,
}

/// The token at the beginning of `bytes`, if they begin with one.
pub(super) fn token(bytes: &[u8]) -> Option<Token> {
    let first = *bytes.first()?;
    // All prefixes begin with one of these letters; most words end here.
    if !matches!(first, b'A' | b'C' | b'E' | b'G' | b'N' | b'P' | b'S' | b'c'..=b'h' | b'k'..=b'n' | b'p' | b'r'..=b't' | b'v'..=b'y')
    {
        return None;
    }
    PREFIXES.iter().filter(|prefix| prefix.text.as_bytes().first() == Some(&first)).find_map(|prefix| {
        let rest = bytes.strip_prefix(prefix.text.as_bytes())?;
        let measure = |most: usize| {
            let run = rest.iter().take(most).take_while(|byte| prefix.alphabet.holds(**byte)).count();
            trimmed(rest, run)
        };
        // The beginning decides, so that what is no token costs little however long it is.
        let head = rest.get(..measure(DECIDING))?;
        if head.len() < prefix.least || is_filler(head) {
            return None;
        }
        let digit = head.iter().any(u8::is_ascii_digit);
        let looks = match prefix.look {
            Look::Any => true,
            Look::Random => digit || head.iter().any(u8::is_ascii_uppercase),
            Look::Digit => digit,
        };
        if !looks {
            return None;
        }
        let run = measure(usize::MAX);
        let length = prefix.text.len() + run;
        if prefix.kind == "jwt" {
            return web_token(bytes, length).map(|length| Token { length, kind: prefix.kind });
        }
        Some(Token { length, kind: prefix.kind })
    })
}

/// The length of a JSON web token of which the header ends at `header`: a second part, and a signature if there is one.
fn web_token(bytes: &[u8], header: usize) -> Option<usize> {
    let part = |start: usize| -> Option<usize> {
        let rest = bytes.get(start..)?.strip_prefix(b".")?;
        let run = rest.iter().take_while(|byte| Alphabet::Word.holds(**byte)).count();
        (run >= 2).then_some(start + 1 + run)
    };
    let payload = part(header)?;
    if payload - header < 5 {
        return None;
    }
    Some(part(payload).unwrap_or(payload))
}

/// A length without the full stops and the like that end a sentence rather than a token.
fn trimmed(rest: &[u8], mut length: usize) -> usize {
    while length > 0 && rest.get(length - 1).is_some_and(|byte| matches!(byte, b'.' | b':' | b'-')) {
        length -= 1;
    }
    length
}

/// Whether a text is one character over and over: `xxxx`, `....`.
pub(super) fn is_filler(bytes: &[u8]) -> bool {
    let Some(first) = bytes.first() else { return true };
    bytes.iter().all(|byte| byte == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_reached() {
        for prefix in PREFIXES.iter().filter(|prefix| prefix.kind != "jwt") {
            let text = format!("{}{}", prefix.text, "A7B2C3D4E5F6G7H2".repeat(4));
            let found = token(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.kind, found.length), (prefix.kind, text.len()), "{text}");
        }
    }

    #[test]
    fn ordinary_words_are_no_tokens() {
        for text in [
            "sk-learn-contrib-extensions-package",
            "npm_config_registry_and_more_settings_here",
            "hf_hub_download_with_a_long_name",
            "AKIAxxxx",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "pypi-simple-index-mirror-of-packages-server",
            "eyJhbGciOiJIUzI1NiJ9",
            "key-value-store-implementation-with-long-name",
        ] {
            assert!(token(text.as_bytes()).is_none(), "{text}");
        }
    }
}
