//! Places elsewhere that a user calls their own: hosts, repositories, registries, buckets.

/// Whether an entry names the place of an address, or one above it: `github.com/acme` names `git@github.com:acme/app.git`,
/// `registry.example.com` names `registry.example.com/team/app:1`, `s3://assets` names `s3://assets/a.png`. `*.example.com` names every
/// host below that domain. An entry with nothing but stars and dots names nothing.
pub fn is_owned(entry: &str, address: &str) -> bool {
    let (Some(entry), Some(address)) = (Place::of(entry), Place::of(address)) else { return false };
    let is_scheme = match (entry.store, address.store) {
        (Some(own), other) => other == Some(own),
        (None, Some(_)) => false,
        (None, None) => true,
    };
    is_scheme && is_host(&entry.host, &address.host) && address.path.starts_with(&entry.path)
}

/// Stores of objects, whose schemes are part of their names.
const STORES: [&str; 6] = ["s3", "gs", "gcs", "az", "abfs", "b2"];

struct Place {
    store: Option<&'static str>,
    host: String,
    path: Vec<String>,
}

impl Place {
    /// The place of an address; `None` where it cannot be told.
    fn of(address: &str) -> Option<Self> {
        let address = address.trim();
        let is_plain = |letter: char| !letter.is_control() && !letter.is_whitespace() && letter != '\\';
        if address.is_empty() || !address.chars().all(is_plain) {
            return None;
        }
        let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
        let store = STORES.iter().find(|store| scheme.eq_ignore_ascii_case(store)).copied();
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit('@').next().unwrap_or_default();
        // `git@host:owner/name` has a path behind the colon, `host:443` a port.
        let (host, behind) = host.split_once(':').unwrap_or((host, ""));
        let is_port = behind.bytes().all(|byte| byte.is_ascii_digit());
        let path = if is_port { path.to_owned() } else { format!("{behind}/{path}") };
        let path = path.trim_end_matches('/');
        let parts: Vec<String> = path
            .strip_suffix(".git")
            .unwrap_or(path)
            .split('/')
            .filter(|part| !part.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        // What leads back up is another place than it says.
        let leads_away = parts.iter().any(|part| part == ".." || part.contains('%'));
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        (!leads_away && !host.is_empty()).then_some(Self { store, host, path: parts })
    }
}

fn is_host(entry: &str, host: &str) -> bool {
    match entry.strip_prefix("*.") {
        Some(domain) => {
            domain.contains('.')
                && !domain.contains('*')
                && host.strip_suffix(domain).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
        }
        None => !entry.contains('*') && entry == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_its_place_and_what_lies_below() {
        for (entry, address) in [
            ("api.example.com", "https://api.example.com/v1?x=1"),
            ("api.example.com", "api.example.com:8443"),
            ("*.example.com", "https://api.example.com"),
            ("github.com/acme", "git@github.com:acme/app.git"),
            ("github.com/acme", "https://github.com/Acme/app"),
            ("github.com/acme/app", "ssh://git@github.com/acme/app.git"),
            ("registry.example.com/team", "registry.example.com/team/app:1"),
            ("s3://assets", "s3://assets/a/b.png"),
        ] {
            assert!(is_owned(entry, address), "{entry} {address}");
        }
    }

    #[test]
    fn nothing_passes_for_it() {
        for (entry, address) in [
            ("api.example.com", "https://api.example.com.evil.net/"),
            ("api.example.com", "https://api.example.com@evil.net/"),
            ("api.example.com", "https://evil.net/api.example.com"),
            ("api.example.com", "https://evil.net\\@api.example.com"),
            ("example.com", "https://api.example.com"),
            ("*.example.com", "https://example.com"),
            ("*.example.com", "https://evilexample.com"),
            ("*.com", "https://evil.com"),
            ("*", "https://evil.com"),
            ("github.com/acme", "git@github.com:acme-evil/app.git"),
            ("github.com/acme", "https://github.com/acme/../evil/app"),
            ("github.com/acme", "https://github.com/acme/%2e%2e/evil/app"),
            ("registry.example.com/team", "registry.example.com/other/app"),
            ("s3://assets", "s3://assets-evil/x"),
            ("s3://assets", "gs://assets/x"),
            ("assets", "s3://assets/x"),
            ("", "https://evil.com"),
        ] {
            assert!(!is_owned(entry, address), "{entry} {address}");
        }
    }
}
