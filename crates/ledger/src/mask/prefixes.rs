//! The prefixes that give a token away, with what stands behind them.
//!
//! Forms from the publishers' documentation, and from the rules of gitleaks (`config/gitleaks.toml`, read 2026-11): all of its rules that tell
//! a token by its own form. Its rules that need the name of a service beside a plain value are left out; here the name of a setting tells
//! those (`name`). The least lengths are ours, below the real ones, so that a token cut short is masked too.

/// Which bytes a token is made of after its prefix.
#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Plain,
    /// Capital letters and digits.
    Capital,
    /// Capital letters, digits and `-`.
    Dashed,
    /// Hexadecimal digits.
    Hex,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same and `.`.
    Dotted,
    /// The same, `/`, `:` and `@`.
    Path,
    /// Letters and digits of base64 with `+`, `/` and `=`.
    Base64,
}

impl Alphabet {
    pub(super) fn holds(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Dashed => byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-',
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Path => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'@')
            }
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// Whether a token must look random besides: the prefix alone begins ordinary words too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The prefix is enough.
    Any,
    /// Holds a digit or a capital letter.
    Random,
    /// Holds a digit.
    Digit,
}

pub(super) struct Prefix {
    pub(super) text: &'static str,
    pub(super) kind: &'static str,
    pub(super) alphabet: Alphabet,
    pub(super) least: usize,
    pub(super) look: Look,
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

/// By their first letters; longer prefixes stand before their own beginnings.
pub(super) const PREFIXES: &[Prefix] = &[
    prefix("1//0", "google_token", Alphabet::Word, 40, Look::Digit),
    prefix("4b1d", "clickhouse_key", Alphabet::Plain, 38, Look::Any),
    prefix("AGE-SECRET-KEY-1", "age_key", Alphabet::Capital, 20, Look::Any),
    prefix("ATATT3", "atlassian_token", Alphabet::Dotted, 20, Look::Any),
    prefix("ATCTT3", "atlassian_token", Alphabet::Dotted, 20, Look::Any),
    prefix("ABIA", "aws_key_id", Alphabet::Capital, 16, Look::Digit),
    prefix("ABSK", "aws_bedrock_key", Alphabet::Base64, 100, Look::Digit),
    prefix("ACCA", "aws_key_id", Alphabet::Capital, 16, Look::Digit),
    prefix("AIza", "google_key", Alphabet::Word, 30, Look::Any),
    prefix("AKCp", "artifactory_key", Alphabet::Plain, 60, Look::Digit),
    prefix("AKIA", "aws_key_id", Alphabet::Capital, 12, Look::Any),
    prefix("API-", "octopus_key", Alphabet::Capital, 26, Look::Digit),
    prefix("AQVN", "yandex_key", Alphabet::Word, 34, Look::Digit),
    prefix("ASIA", "aws_key_id", Alphabet::Capital, 16, Look::Digit),
    prefix("ATBB", "bitbucket_token", Alphabet::Plain, 28, Look::Digit),
    prefix("A3-", "onepassword_key", Alphabet::Dashed, 30, Look::Digit),
    prefix("A3T", "aws_key_id", Alphabet::Capital, 17, Look::Digit),
    prefix("BBDC-", "bitbucket_token", Alphabet::Base64, 40, Look::Any),
    prefix("CLOJARS_", "clojars_token", Alphabet::Plain, 50, Look::Any),
    prefix("CFPAT-", "contentful_token", Alphabet::Word, 20, Look::Any),
    prefix("EAACEdEose0cBA", "facebook_token", Alphabet::Plain, 8, Look::Any),
    prefix("EAAA", "square_token", Alphabet::Word, 50, Look::Digit),
    prefix("EAAC", "facebook_token", Alphabet::Plain, 90, Look::Digit),
    prefix("EAAM", "facebook_token", Alphabet::Plain, 90, Look::Digit),
    prefix("EZAK", "easypost_key", Alphabet::Plain, 50, Look::Digit),
    prefix("EZTK", "easypost_key", Alphabet::Plain, 50, Look::Digit),
    prefix("FLWSECK_TEST-", "flutterwave_key", Alphabet::Word, 12, Look::Any),
    prefix("FLWSECK-", "flutterwave_key", Alphabet::Word, 12, Look::Any),
    prefix("GR1348941", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("GOCSPX-", "google_secret", Alphabet::Word, 16, Look::Any),
    prefix("HRKU-AA", "heroku_key", Alphabet::Word, 50, Look::Any),
    prefix("LTAI", "alibaba_key_id", Alphabet::Plain, 16, Look::Digit),
    prefix("NRAK-", "newrelic_key", Alphabet::Plain, 16, Look::Any),
    prefix("NRII-", "newrelic_key", Alphabet::Word, 28, Look::Any),
    prefix("NRJS-", "newrelic_key", Alphabet::Hex, 16, Look::Any),
    prefix("PMAK-", "postman_key", Alphabet::Word, 20, Look::Any),
    prefix("SG.", "sendgrid_key", Alphabet::Dotted, 32, Look::Random),
    prefix("SK", "twilio_key", Alphabet::Hex, 32, Look::Digit),
    prefix("ZXlK", "jwt_encoded", Alphabet::Base64, 60, Look::Digit),
    prefix("access-development-", "plaid_token", Alphabet::Word, 36, Look::Digit),
    prefix("access-production-", "plaid_token", Alphabet::Word, 36, Look::Digit),
    prefix("access-sandbox-", "plaid_token", Alphabet::Word, 36, Look::Digit),
    prefix("api_org_", "huggingface_token", Alphabet::Plain, 30, Look::Any),
    prefix("checkrein_", "checkrein_key", Alphabet::Plain, 40, Look::Digit),
    prefix("cmVmd", "artifactory_token", Alphabet::Plain, 56, Look::Digit),
    prefix("cio", "crates_token", Alphabet::Plain, 32, Look::Digit),
    prefix("discordapp.com/api/webhooks/", "discord_webhook", Alphabet::Path, 40, Look::Digit),
    prefix("discord.com/api/webhooks/", "discord_webhook", Alphabet::Path, 40, Look::Digit),
    prefix("duffel_live_", "duffel_token", Alphabet::Word, 30, Look::Any),
    prefix("duffel_test_", "duffel_token", Alphabet::Word, 30, Look::Any),
    prefix("dckr_oat_", "docker_token", Alphabet::Word, 16, Look::Any),
    prefix("dckr_pat_", "docker_token", Alphabet::Word, 16, Look::Any),
    prefix("dp.audit.", "doppler_token", Alphabet::Dotted, 30, Look::Any),
    prefix("dp.said.", "doppler_token", Alphabet::Dotted, 30, Look::Any),
    prefix("dp.scim.", "doppler_token", Alphabet::Dotted, 30, Look::Any),
    prefix("doo_v1_", "digitalocean_token", Alphabet::Plain, 20, Look::Any),
    prefix("dop_v1_", "digitalocean_token", Alphabet::Plain, 20, Look::Any),
    prefix("dor_v1_", "digitalocean_token", Alphabet::Plain, 20, Look::Any),
    prefix("dt0c01.", "dynatrace_token", Alphabet::Dotted, 60, Look::Any),
    prefix("dnkey-", "defined_networking_key", Alphabet::Word, 60, Look::Any),
    prefix("dp.ct.", "doppler_token", Alphabet::Dotted, 30, Look::Any),
    prefix("dp.pt.", "doppler_token", Alphabet::Dotted, 30, Look::Any),
    prefix("dp.sa.", "doppler_token", Alphabet::Dotted, 30, Look::Any),
    prefix("dp.st.", "doppler_token", Alphabet::Dotted, 30, Look::Any),
    prefix("dapi", "databricks_token", Alphabet::Plain, 32, Look::Digit),
    prefix("eyJ", "jwt", Alphabet::Word, 8, Look::Any),
    prefix("fio-u-", "frameio_token", Alphabet::Word, 20, Look::Any),
    prefix("figd_", "figma_token", Alphabet::Word, 20, Look::Any),
    prefix("fm1a_", "fly_token", Alphabet::Base64, 90, Look::Any),
    prefix("fm1r_", "fly_token", Alphabet::Base64, 90, Look::Any),
    prefix("fm2_", "fly_token", Alphabet::Base64, 90, Look::Any),
    prefix("fo1_", "fly_token", Alphabet::Word, 40, Look::Any),
    prefix("github_pat_", "github_token", Alphabet::Word, 20, Look::Any),
    prefix("glagent-", "gitlab_token", Alphabet::Word, 40, Look::Any),
    prefix("glffct-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glsoat-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glcbt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glimt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("gloas-", "gitlab_token", Alphabet::Word, 40, Look::Any),
    prefix("glpat-", "gitlab_token", Alphabet::Dotted, 16, Look::Any),
    prefix("glptt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("gldt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glft-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glrt-", "gitlab_token", Alphabet::Word, 16, Look::Any),
    prefix("glsa_", "grafana_token", Alphabet::Word, 20, Look::Any),
    prefix("gho_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("ghp_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("ghr_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("ghs_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("ghu_", "github_token", Alphabet::Plain, 20, Look::Any),
    prefix("glc_", "grafana_token", Alphabet::Base64, 32, Look::Random),
    prefix("gsk_", "groq_key", Alphabet::Plain, 20, Look::Any),
    prefix("hooks.slack.com/workflows/", "slack_webhook", Alphabet::Path, 16, Look::Any),
    prefix("hooks.slack.com/services/", "slack_webhook", Alphabet::Path, 16, Look::Any),
    prefix("hooks.slack.com/triggers/", "slack_webhook", Alphabet::Path, 16, Look::Any),
    prefix("hvb.", "vault_token", Alphabet::Word, 20, Look::Any),
    prefix("hvr.", "vault_token", Alphabet::Word, 20, Look::Any),
    prefix("hvs.", "vault_token", Alphabet::Word, 20, Look::Any),
    prefix("hf_", "huggingface_token", Alphabet::Plain, 24, Look::Any),
    prefix("ico-", "infracost_token", Alphabet::Plain, 32, Look::Digit),
    prefix("key-", "mailgun_key", Alphabet::Plain, 32, Look::Digit),
    prefix("lin_api_", "linear_key", Alphabet::Plain, 20, Look::Any),
    prefix("lsv2_", "langsmith_key", Alphabet::Word, 24, Look::Any),
    prefix("nvapi-", "nvidia_key", Alphabet::Word, 20, Look::Any),
    prefix("napi_", "neon_key", Alphabet::Plain, 40, Look::Digit),
    prefix("nfp_", "netlify_token", Alphabet::Plain, 36, Look::Any),
    prefix("npm_", "npm_token", Alphabet::Plain, 24, Look::Any),
    prefix("ntn_", "notion_token", Alphabet::Plain, 24, Look::Any),
    prefix("ops_eyJ", "onepassword_token", Alphabet::Base64, 100, Look::Any),
    prefix("pscale_oauth_", "planetscale_token", Alphabet::Dotted, 30, Look::Any),
    prefix("pscale_tkn_", "planetscale_token", Alphabet::Dotted, 30, Look::Any),
    prefix("pscale_pw_", "planetscale_password", Alphabet::Dotted, 30, Look::Any),
    prefix("pat-eu1-", "hubspot_token", Alphabet::Word, 30, Look::Digit),
    prefix("pat-na1-", "hubspot_token", Alphabet::Word, 30, Look::Digit),
    prefix("pk_live_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("pcsk_", "pinecone_key", Alphabet::Word, 40, Look::Any),
    prefix("pplx-", "perplexity_key", Alphabet::Plain, 40, Look::Any),
    prefix("pypi-", "pypi_token", Alphabet::Word, 32, Look::Random),
    prefix("p8e-", "adobe_secret", Alphabet::Plain, 32, Look::Digit),
    prefix("pat.", "harness_token", Alphabet::Dotted, 60, Look::Digit),
    prefix("phx_", "posthog_key", Alphabet::Plain, 40, Look::Any),
    prefix("pnu_", "prefect_key", Alphabet::Plain, 36, Look::Any),
    prefix("pul-", "pulumi_token", Alphabet::Plain, 32, Look::Any),
    prefix("rubygems_", "rubygems_token", Alphabet::Plain, 32, Look::Any),
    prefix("rk_live_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("rk_prod_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("rk_test_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("rdme_", "readme_key", Alphabet::Plain, 60, Look::Any),
    prefix("r8_", "replicate_token", Alphabet::Plain, 24, Look::Any),
    prefix("shippo_live_", "shippo_token", Alphabet::Plain, 40, Look::Any),
    prefix("shippo_test_", "shippo_token", Alphabet::Plain, 40, Look::Any),
    prefix("s-s4t2af-", "intra_secret", Alphabet::Hex, 60, Look::Any),
    prefix("s-s4t2ud-", "intra_secret", Alphabet::Hex, 60, Look::Any),
    prefix("sk_live_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("sk_prod_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("sk_test_", "stripe_key", Alphabet::Plain, 16, Look::Any),
    prefix("sha256~", "openshift_token", Alphabet::Word, 40, Look::Any),
    prefix("sk-ant-", "anthropic_key", Alphabet::Word, 16, Look::Any),
    prefix("sm_aat_", "settlemint_token", Alphabet::Plain, 16, Look::Digit),
    prefix("sm_pat_", "settlemint_token", Alphabet::Plain, 16, Look::Digit),
    prefix("sm_sat_", "settlemint_token", Alphabet::Plain, 16, Look::Digit),
    prefix("sntrys_", "sentry_token", Alphabet::Dotted, 20, Look::Any),
    prefix("sntryu_", "sentry_token", Alphabet::Dotted, 20, Look::Any),
    prefix("sq0atp-", "square_token", Alphabet::Word, 20, Look::Any),
    prefix("sq0csp-", "square_token", Alphabet::Word, 20, Look::Any),
    prefix("shpat_", "shopify_token", Alphabet::Plain, 20, Look::Any),
    prefix("shpca_", "shopify_token", Alphabet::Plain, 20, Look::Any),
    prefix("shppa_", "shopify_token", Alphabet::Plain, 20, Look::Any),
    prefix("shpss_", "shopify_token", Alphabet::Plain, 20, Look::Any),
    prefix("sk.eyJ", "mapbox_token", Alphabet::Dotted, 60, Look::Any),
    prefix("sat.", "harness_token", Alphabet::Dotted, 60, Look::Digit),
    prefix("sbp_", "supabase_token", Alphabet::Plain, 24, Look::Any),
    prefix("sgp_", "sourcegraph_token", Alphabet::Word, 40, Look::Digit),
    prefix("sk-", "secret_key", Alphabet::Word, 20, Look::Random),
    prefix("sl.", "dropbox_token", Alphabet::Word, 100, Look::Digit),
    prefix("tk-us-", "scalingo_token", Alphabet::Word, 40, Look::Any),
    prefix("tskey-", "tailscale_key", Alphabet::Word, 16, Look::Any),
    prefix("tvly-", "tavily_key", Alphabet::Word, 24, Look::Digit),
    prefix("tfp_", "typeform_token", Alphabet::Dotted, 40, Look::Digit),
    prefix("t1.", "yandex_token", Alphabet::Dotted, 80, Look::Digit),
    prefix("vault:v1:", "vault_cipher", Alphabet::Base64, 24, Look::Any),
    prefix("v1.0-", "cloudflare_key", Alphabet::Word, 100, Look::Digit),
    prefix("webhook.office.com/webhookb2/", "teams_webhook", Alphabet::Path, 60, Look::Digit),
    prefix("whsec_", "webhook_secret", Alphabet::Base64, 20, Look::Any),
    prefix("xsmtpsib-", "brevo_key", Alphabet::Word, 60, Look::Any),
    prefix("xkeysib-", "brevo_key", Alphabet::Word, 60, Look::Any),
    prefix("xapp-", "slack_token", Alphabet::Word, 16, Look::Digit),
    prefix("xoxa-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxb-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxd-", "slack_token", Alphabet::Word, 20, Look::Any),
    prefix("xoxe-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxe.", "slack_token", Alphabet::Dotted, 10, Look::Any),
    prefix("xoxo-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxp-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxr-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xoxs-", "slack_token", Alphabet::Word, 10, Look::Any),
    prefix("xai-", "xai_key", Alphabet::Plain, 32, Look::Any),
    prefix("ya29.", "google_token", Alphabet::Dotted, 16, Look::Any),
];

/// Where the prefixes of each first letter begin and end in the table.
const PLACES: [(usize, usize); 128] = places();

const fn places() -> [(usize, usize); 128] {
    let mut places = [(0, 0); 128];
    let mut at = 0;
    while at < PREFIXES.len() {
        let letter = PREFIXES[at].text.as_bytes()[0] as usize;
        if places[letter].1 == 0 {
            places[letter].0 = at;
        }
        at += 1;
        places[letter].1 = at;
    }
    places
}

/// The prefixes that begin with a letter.
pub(super) fn beginning_with(letter: u8) -> &'static [Prefix] {
    let (start, end) = PLACES.get(usize::from(letter)).copied().unwrap_or_default();
    PREFIXES.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        for pair in PREFIXES.windows(2) {
            let [one, other] = pair else { unreachable!() };
            assert!(one.text.as_bytes()[0] <= other.text.as_bytes()[0], "{}", other.text);
        }
        for (place, one) in PREFIXES.iter().enumerate() {
            let hides = PREFIXES[..place].iter().find(|earlier| one.text.starts_with(earlier.text));
            assert!(hides.is_none(), "{}", one.text);
        }
    }
}
