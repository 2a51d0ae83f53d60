//! Forms of headers and addresses.

/// Whether a text is the scheme of an authorization, which stands before the secret.
pub(super) fn is_scheme(text: &str) -> bool {
    ["bearer", "basic", "token", "digest", "negotiate", "apikey", "bot", "key", "hmac"]
        .iter()
        .any(|scheme| text.eq_ignore_ascii_case(scheme))
}

/// Domains in which nobody has a mailbox: reserved names, local names, endings of files and units.
pub(super) fn is_nobody(domain: &str, top: &str) -> bool {
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
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "js",
        "ts",
        "tsx",
        "jsx",
        "json",
        "css",
        "html",
        "yaml",
        "yml",
        "txt",
        "lock",
        "toml",
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
