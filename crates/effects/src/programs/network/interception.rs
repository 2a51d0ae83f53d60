//! Who gets what a call of curl, wget, httpie or xh sends, where it is told another receiver than the address names: a proxy, or another machine
//! under the name. As long as the certificate is checked, nobody but the owner of the name can read it.

use crate::effect::NetworkReach;
use crate::interpreter::known_hosts;
use crate::interpreter::{Arguments, Machine, Value};

/// Variables that name a proxy (curl(1), "ENVIRONMENT"; wget(1), "ENVIRONMENT"; requests, "Proxies"; xh's README, "Proxies").
const VARIABLES: &[&str] = &["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"];

/// The program that sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    Curl,
    Wget,
    /// httpie and xh, which takes the same options.
    Httpie,
}

impl Sender {
    /// Options that name a proxy: curl(1); wget has orders for it; httpie's `--proxy PROTOCOL:URL`.
    fn proxies(self) -> &'static [&'static str] {
        match self {
            Self::Curl => &[
                "-x",
                "--proxy",
                "--preproxy",
                "--proxy1.0",
                "--socks4",
                "--socks4a",
                "--socks5",
                "--socks5-hostname",
            ],
            Self::Wget => &["-e", "--execute"],
            Self::Httpie => &["--proxy"],
        }
    }

    /// The address in the value of such an option.
    fn proxy(self, value: &str) -> Option<&str> {
        match self {
            Self::Curl => Some(value),
            Self::Wget => {
                let (order, address) = value.split_once('=')?;
                matches!(plain(order).as_str(), "httpsproxy" | "httpproxy").then(|| address.trim())
            }
            Self::Httpie => value.split_once(':').map(|(_, address)| address),
        }
    }

    /// Whether the certificate of the receiver is not looked at.
    fn is_unchecked(self, arguments: &Arguments) -> bool {
        let is_off = |value: &Value| {
            value.as_exact().is_some_and(|value| {
                matches!(value.trim().to_ascii_lowercase().as_str(), "no" | "false" | "off" | "0")
            })
        };
        match self {
            Self::Curl => arguments.has(&["-k", "--insecure"]),
            Self::Wget => {
                arguments.has(&["--no-check-certificate"])
                    || arguments.values(&["--check-certificate"]).any(is_off)
                    || arguments.values(&["-e", "--execute"]).any(|order| {
                        order.as_exact().and_then(|order| order.split_once('=')).is_some_and(
                            |(order, value)| {
                                plain(order) == "checkcertificate" && is_off(&Value::exact(value))
                            },
                        )
                    })
            }
            Self::Httpie => arguments.values(&["--verify"]).any(is_off),
        }
    }
}

/// The receiver outside this machine that stands in for the address, and can read what is sent.
pub(super) fn intercepting_receiver(
    machine: &Machine<'_>,
    sender: Sender,
    arguments: &Arguments,
    url: &Value,
) -> Option<Value> {
    if !sender.is_unchecked(arguments) && !url.known_start().starts_with("http://") {
        return None;
    }
    let proxies = arguments.values(sender.proxies()).filter_map(|value| sender.proxy(value.as_exact()?));
    let moved = arguments.values(&["--connect-to"]).filter_map(|value| moved_to(value.as_exact()?));
    let resolved = arguments.values(&["--resolve"]).filter_map(|value| resolved_to(value.as_exact()?));
    let named =
        proxies.map(str::to_owned).chain(moved).chain(resolved).next().or_else(|| variable(machine))?;
    let named = Value::Exact(if named.contains("://") { named } else { format!("http://{named}") });
    (known_hosts::reach(&named.known_start()) == NetworkReach::External).then_some(named)
}

/// An order of wget without its lines and case, as wget reads it (wget manual, "Wgetrc Syntax").
fn plain(order: &str) -> String {
    order.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
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
