//! Who gets what a call of curl sends, where it is told another receiver than the address names: a proxy, or another machine under the name. As long
//! as the certificate is checked, nobody but the owner of the name can read it.

use crate::effect::NetworkReach;
use crate::interpreter::known_hosts;
use crate::interpreter::{Arguments, Machine, Value};

/// Options that name a proxy (curl(1)).
const PROXIES: &[&str] =
    &["-x", "--proxy", "--preproxy", "--proxy1.0", "--socks4", "--socks4a", "--socks5", "--socks5-hostname"];
/// Variables that name a proxy (curl(1), "ENVIRONMENT").
const VARIABLES: &[&str] = &["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"];

/// The receiver outside this machine that stands in for the address, and can read what is sent.
pub(super) fn stand_in(machine: &Machine<'_>, arguments: &Arguments, url: &Value) -> Option<Value> {
    let is_checked = !arguments.has(&["-k", "--insecure"]) && !url.known_start().starts_with("http://");
    if is_checked {
        return None;
    }
    let proxies = arguments.values(PROXIES).filter_map(Value::as_exact).map(str::to_owned);
    let moved = arguments.values(&["--connect-to"]).filter_map(|value| moved_to(value.as_exact()?));
    let resolved = arguments.values(&["--resolve"]).filter_map(|value| resolved_to(value.as_exact()?));
    let named = proxies.chain(moved).chain(resolved).next().or_else(|| variable(machine))?;
    let named = Value::Exact(if named.contains("://") { named } else { format!("http://{named}") });
    (known_hosts::reach(&named.known_start()) == NetworkReach::External).then_some(named)
}

/// The host behind `HOST:PORT:HOST:PORT`.
fn moved_to(text: &str) -> Option<String> {
    let (rest, _) = text.rsplit_once(':')?;
    let host = rest.rsplit_once(':').map_or(rest, |(_, host)| host);
    (!host.is_empty()).then(|| host.to_owned())
}

/// The first address behind `HOST:PORT:ADDRESS,...`.
fn resolved_to(text: &str) -> Option<String> {
    let addresses = text.splitn(3, ':').nth(2)?;
    addresses.split(',').next().map(str::to_owned)
}

/// A proxy that the command itself names; the one that the user has set up is theirs.
fn variable(machine: &Machine<'_>) -> Option<String> {
    VARIABLES.iter().find_map(|name| {
        let value = machine.variable(name)?.as_exact().map(str::to_owned)?;
        (machine.world().variable(name).as_deref() != Some(value.as_str())).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::{moved_to, resolved_to};

    #[test]
    fn receivers_are_read_out_of_options() {
        assert_eq!(moved_to("example.com:443:203.0.113.6:8443").as_deref(), Some("203.0.113.6"));
        assert_eq!(moved_to("::other.example:443").as_deref(), Some("other.example"));
        assert_eq!(resolved_to("example.com:443:203.0.113.6,203.0.113.7").as_deref(), Some("203.0.113.6"));
    }
}
