//! Forms of headers and addresses.

/// Whether a text is the scheme of an authorization, which stands before the secret.
pub(super) fn is_scheme(text: &str) -> bool {
    ["bearer", "basic", "token", "digest", "negotiate", "apikey", "bot", "key", "hmac"]
        .iter()
        .any(|scheme| text.eq_ignore_ascii_case(scheme))
}

/// The domain of a mail address at the beginning of what stands behind its `@`. In the name of a file more may follow: `ann@acme.io.txt`,
/// `ann@acme.io-2024.log`, `ann@acme.io.1`. `None` where nobody has a mailbox.
pub(super) fn mailbox(text: &str) -> Option<&str> {
    const LABEL: usize = 63;
    let mut domain = text.trim_end_matches(['.', '-']);
    let labels_fit = domain.split('.').all(|label| {
        !label.is_empty() && label.len() <= LABEL && !label.starts_with('-') && !label.ends_with('-')
    });
    if !labels_fit {
        return None;
    }
    let whole = domain;
    while let Some((before, top)) = domain.rsplit_once('.') {
        let word = top.split('-').next().unwrap_or_default();
        let is_domain = |top: &str| top.chars().count() >= 2 && top.chars().all(char::is_alphabetic);
        let is_plain = domain.len() == whole.len() && word.len() == top.len();
        if is_domain(word) && !is_ending(word) && (is_plain || is_name(before)) {
            let domain = &domain[..before.len() + 1 + word.len()];
            return (!is_nobody(domain, word)).then_some(domain);
        }
        domain = before;
    }
    None
}

/// Whether the last label of a text is a name. `react@18.2.beta.1` and `icon@2x.dark.png` tell a version and a size.
fn is_name(text: &str) -> bool {
    let label = text.rsplit('.').next().unwrap_or_default();
    label.trim_start_matches('v').starts_with(char::is_alphabetic)
}

/// Endings of files that stand behind an `@` without an address: `logo@dark.svg`.
fn is_ending(top: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "tsx", "jsx", "json", "css", "html", "yaml",
        "yml", "txt", "lock", "toml", "min", "map",
    ];
    ENDINGS.iter().any(|known| top.eq_ignore_ascii_case(known))
}

/// Domains in which nobody has a mailbox: reserved names, local names, endings of units.
fn is_nobody(domain: &str, top: &str) -> bool {
    const TOPS: &[&str] = &[
        "example",
        "test",
        "invalid",
        "local",
        "localhost",
        "internal",
        "lan",
        "localdomain",
        "service",
        "socket",
        "timer",
        "target",
        "mount",
        "slice",
        "scope",
        "device",
    ];
    const DOMAINS: &[&str] = &["example.com", "example.org", "example.net", "users.noreply.github.com"];
    TOPS.iter().any(|known| top.eq_ignore_ascii_case(known))
        || DOMAINS.iter().any(|known| domain.eq_ignore_ascii_case(known))
}

/// Whether a text is base64 of `user:password`.
pub(super) fn is_user_and_password(text: &str) -> bool {
    const LONGEST: usize = 1024;
    let digits = text.trim_end_matches('=');
    if digits.len() < 4 || digits.len() > LONGEST {
        return false;
    }
    let mut bits = 0_u32;
    let mut count = 0;
    let mut colon = false;
    for byte in digits.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            let decoded = (bits >> count) & 0xff;
            colon |= decoded == u32::from(b':');
            if decoded < 0x20 {
                return false;
            }
        }
    }
    colon
}
