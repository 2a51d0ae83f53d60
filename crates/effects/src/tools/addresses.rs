//! Texts that are addresses, whatever the field is called in which they stand.
//!
//! Sources: WHATWG URL, "URL parsing" (blanks around it, `\` for `/`, any number of slashes, case of the scheme); RFC 8089 (files).

use std::collections::HashSet;

use checkrein_protocol::folded;
use serde_json::Value as Json;

use super::call::{DEPTH, texts_within};
use crate::interpreter::known_hosts;
use crate::programs::decoded_address;

/// How long an address is at most (ours).
const LONGEST: usize = 8 * 1024;
/// What browsers and libraries write before an address that is read all the same (Chromium, `view-source:`; curl and RFC 1738, `url:`; Java, `jar:`).
const FRONTS: &[&str] = &["view-source:", "url:", "jar:"];
/// Schemes of what is fetched from a host.
const FETCHED: &[&str] = &["http", "https", "ws", "wss", "ftp"];
/// Names by which an address of a file means this machine.
const HERE: &[&str] = &["", "localhost", "127.0.0.1", "[::1]"];
/// Fields that hold a host where the rest of the address stands beside it, folded (ours; Node's `http.request`, Python's `http.client`).
const HOSTS: &[&str] = &["host", "hostname", "domain", "ip", "ipaddress", "server", "authority"];
/// Fields that hold the rest.
const RESTS: &[&str] = &["path", "pathname", "requestpath", "uri", "url", "endpoint", "resource", "route"];
/// Fields that hold its scheme and its port.
const SCHEMES: &[&str] = &["scheme", "protocol"];

/// A text without what readers of addresses take off; `None` of what is too long or has several lines.
fn trimmed(text: &str) -> Option<&str> {
    let mut text = text.trim_matches(|letter: char| letter.is_control() || letter == ' ');
    if text.len() > LONGEST || text.contains(['\n', '\r']) {
        return None;
    }
    while let Some(rest) = FRONTS.iter().find_map(|front| behind(text, front)) {
        text = rest;
    }
    Some(text)
}

/// What follows a beginning, whatever its case.
fn behind<'a>(text: &'a str, front: &str) -> Option<&'a str> {
    let start = text.get(..front.len())?;
    start.eq_ignore_ascii_case(front).then(|| text.get(front.len()..).unwrap_or_default())
}

/// The path in the address of a file, without query, fragment and escapes; `None` of a text that is no such address.
pub(super) fn file_path(text: &str) -> Option<String> {
    let rest = behind(trimmed(text)?, "file:")?;
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let path = without_host(rest.get(..end).unwrap_or(rest));
    (!path.is_empty()).then(|| decoded_address(&path))
}

/// The absolute path in a text that is one, or behind a scheme that is neither of files nor of what is fetched: `fs:///a`, `filesystem://a/b`.
pub(super) fn path_behind_scheme(text: &str) -> Option<String> {
    let text = trimmed(text)?;
    if text.starts_with('/') || text.starts_with("~/") {
        return Some(decoded_address(text));
    }
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign));
    if !is_scheme || FETCHED.iter().chain(&["file"]).any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let path = decoded_address(&without_host(&format!("//{}", rest.get(..end).unwrap_or(rest))));
    Some(if path.starts_with(['/', '~']) { path } else { format!("/{path}") })
}

/// The path that a server reads which takes off no more than the scheme, where it is another one: what climbs up behind a query or a fragment.
pub(super) fn whole_file_path(text: &str) -> Option<String> {
    let rest = behind(trimmed(text)?, "file:")?;
    let at = rest.find(['?', '#'])?;
    let climbs = decoded_address(rest.get(at..).unwrap_or_default()).contains("..");
    climbs.then(|| decoded_address(&without_host(rest)))
}

/// What stands behind the host of this machine. Another one is no host to servers that take off `file://` alone.
fn without_host(rest: &str) -> String {
    let rest = rest.replace('\\', "/");
    let Some(named) = rest.strip_prefix("//") else { return rest };
    let (host, path) = named.split_at(named.find('/').unwrap_or(named.len()));
    if HERE.iter().any(|here| host.eq_ignore_ascii_case(here)) {
        return format!("/{}", path.trim_start_matches('/'));
    }
    named.to_owned()
}

/// A text that is one address of something at a host, as browsers write it; `None` of any other text.
pub(super) fn web_address(text: &str) -> Option<String> {
    let text = trimmed(text)?;
    let (scheme, rest) = text.split_once(':')?;
    if !FETCHED.iter().any(|known| scheme.eq_ignore_ascii_case(known)) || text.contains(char::is_whitespace) {
        return None;
    }
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (place, asked) = rest.split_at(end);
    let place = place.replace('\\', "/");
    let named = place.strip_prefix("//")?.trim_start_matches('/');
    (!named.is_empty()).then(|| format!("{}://{named}{asked}", scheme.to_ascii_lowercase()))
}

/// Whether a text in an input is an address.
pub(super) fn names_address(input: &Json) -> bool {
    texts_within(input, &|_| true).into_iter().any(|text| web_address(text).is_some())
}

/// Whether the host of an address is called like a server: `www.figma.com` is of `figma`.
pub(super) fn is_host_of(address: &str, server: &str) -> bool {
    !server.is_empty()
        && known_hosts::host_of(address).split('.').any(|part| part.eq_ignore_ascii_case(server))
}

/// The addresses in an input, each once: texts that are one, and those whose parts stand in fields beside each other.
pub(super) fn web_addresses(input: &Json) -> Vec<String> {
    let mut all: Vec<String> = texts_within(input, &|_| true).into_iter().filter_map(web_address).collect();
    apart(input, DEPTH, &mut all);
    let mut seen = HashSet::new();
    all.retain(|address| seen.insert(address.clone()));
    all
}

/// The addresses whose host and path are fields of one object: `{"host": "example.com", "port": 8080, "path": "/a"}`.
fn apart(value: &Json, depth: usize, all: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Json::Object(fields) => {
            let named = |names: &[&str]| {
                let is_one = |name: &str| names.contains(&folded(name).as_str());
                let found = fields.iter().filter(|(name, _)| is_one(name));
                found.filter_map(|(_, value)| value.as_str()).collect::<Vec<_>>()
            };
            let scheme = named(SCHEMES).first().map(|scheme| scheme.trim_end_matches([':', '/']).to_owned());
            let port = fields.get("port").map(|port| match port.as_str() {
                Some(text) => format!(":{text}"),
                None => format!(":{port}"),
            });
            let mut rests = named(RESTS);
            rests.retain(|rest| rest.starts_with('/'));
            if rests.is_empty() && scheme.is_some() {
                rests.push("/");
            }
            for host in named(HOSTS).into_iter().filter(|host| is_host(host)) {
                let scheme = scheme.as_deref().unwrap_or("http");
                let port = port.as_deref().unwrap_or_default();
                all.extend(
                    rests.iter().filter_map(|rest| web_address(&format!("{scheme}://{host}{port}{rest}"))),
                );
            }
            fields.values().for_each(|value| apart(value, depth, all));
        }
        Json::Array(items) => items.iter().for_each(|value| apart(value, depth, all)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Whether a text reads as the name or the number of a machine.
fn is_host(text: &str) -> bool {
    let is_part =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':' | '[' | ']');
    text.chars().all(is_part) && (text.contains(['.', ':']) || text == "localhost" || text == "metadata")
}

#[cfg(test)]
mod tests {
    use super::{file_path, path_behind_scheme, web_address, web_addresses, whole_file_path};
    use serde_json::json;

    #[test]
    fn addresses_of_files_are_read_as_their_readers_read_them() {
        for (text, path) in [
            ("file:///a/b", "/a/b"),
            ("file:///a/b?x=1", "/a/b"),
            ("file:///a/b#y?z", "/a/b"),
            ("file:/a/b", "/a/b"),
            ("FILE:////a/b", "/a/b"),
            ("file:\\\\\\a\\b", "/a/b"),
            ("file:\\\\localhost\\a", "/a"),
            ("file://127.0.0.1/a", "/a"),
            (" file:///a%2Fb%20c\t", "/a/b c"),
            ("view-source:url:file:///a", "/a"),
            ("file://~/a", "~/a"),
            ("file:a", "a"),
        ] {
            assert_eq!(file_path(text).as_deref(), Some(path), "{text}");
        }
        for (text, path) in [
            ("fs:///a/b?c", "/a/b"),
            ("filesystem://a/b", "/a/b"),
            ("FS://localhost/a", "/a"),
            ("x://~/a%20b", "~/a b"),
            ("/a", "/a"),
        ] {
            assert_eq!(path_behind_scheme(text).as_deref(), Some(path), "{text}");
        }
        for text in ["a/b", "http:///a", "file:///a", "a b://c", "://a"] {
            assert_eq!(path_behind_scheme(text), None, "{text}");
        }
        for text in ["file", "files:/a", "a file:/b", "file:/a\nfile:/b", "http://a/file:/b", "file:"] {
            assert_eq!(file_path(text), None, "{text}");
        }
        assert_eq!(whole_file_path("file:///w/a?/../../b").as_deref(), Some("/w/a?/../../b"));
        assert_eq!(whole_file_path("file:///w/a?b=c"), None);
    }

    #[test]
    fn addresses_are_told_from_words_with_one_in_them() {
        for text in ["http://a.example/b", "HTTP:\\\\a.example\\b", " http:///a.example/b"] {
            assert_eq!(web_address(text).as_deref(), Some("http://a.example/b"), "{text}");
        }
        for text in ["see http://a.example", "http://a.example is one", "http:", "postgres://a:b@c/d", "a/b"]
        {
            assert_eq!(web_address(text), None, "{text}");
        }
        let apart = json!({ "request": { "hostname": "a.example", "port": 81, "path": "/b" } });
        assert_eq!(web_addresses(&apart), ["http://a.example:81/b"]);
        for whole in [json!({ "host": "a.example" }), json!({ "host": "the host", "path": "/b" })] {
            assert!(web_addresses(&whole).is_empty(), "{whole}");
        }
    }
}
