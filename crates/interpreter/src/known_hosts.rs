//! Hosts that an address may name, sorted by how far they are: the one place where they are listed.
//!
//! Reading from a host in the table of known hosts is ordinary work: documentation, packages, source code, standards. Sending anything
//! there is not, so the callers use this only for requests without a body. The list is ours.

use std::net::{Ipv4Addr, Ipv6Addr};

use percent_encoding::percent_decode_str;

use crate::effect::NetworkReach;

/// Domains whose pages and downloads are documentation, packages, source code or standards. A subdomain counts too.
/// Left out on purpose: hosts where anyone can put a file under an address of their choice for a moment (paste bins,
/// file drops, tunnels, web hooks).
const KNOWN: &[&str] = &[
    // Packages.
    "crates.io",
    "pypi.org",
    "pythonhosted.org",
    "npmjs.org",
    "npmjs.com",
    "yarnpkg.com",
    "rubygems.org",
    "packagist.org",
    "getcomposer.org",
    "nuget.org",
    "maven.org",
    "maven.apache.org",
    "gradle.org",
    "clojars.org",
    "hex.pm",
    "hackage.haskell.org",
    "pub.dev",
    "cpan.org",
    "metacpan.org",
    "cran.r-project.org",
    "proxy.golang.org",
    "sum.golang.org",
    "pkg.go.dev",
    "jsr.io",
    "awscli.amazonaws.com",
    "dl.google.com",
    "download.pytorch.org",
    "pypi.nvidia.com",
    "conda.anaconda.org",
    "repo.anaconda.com",
    "conda-forge.org",
    "debian.org",
    "ubuntu.com",
    "launchpad.net",
    "fedoraproject.org",
    "archlinux.org",
    "alpinelinux.org",
    "centos.org",
    "opensuse.org",
    "brew.sh",
    "nixos.org",
    "flathub.org",
    "snapcraft.io",
    "docker.io",
    "docker.com",
    "ghcr.io",
    "quay.io",
    "mcr.microsoft.com",
    "registry.k8s.io",
    // Mirrors of registries that universities and clouds keep for whole countries.
    "npmmirror.com",
    "goproxy.cn",
    "goproxy.io",
    "mirrors.aliyun.com",
    "mirrors.cloud.tencent.com",
    "repo.huaweicloud.com",
    "tuna.tsinghua.edu.cn",
    "mirrors.ustc.edu.cn",
    "mirrors.bfsu.edu.cn",
    "mirror.sjtu.edu.cn",
    "rsproxy.cn",
    "unpkg.com",
    "jsdelivr.net",
    "cdnjs.cloudflare.com",
    "esm.sh",
    "deno.land",
    // Source code.
    "github.com",
    "githubusercontent.com",
    "api.github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "sr.ht",
    "git.kernel.org",
    "kernel.org",
    "gnu.org",
    "savannah.gnu.org",
    "sourceforge.net",
    "apache.org",
    "sqlite.org",
    "postgresql.org",
    "huggingface.co",
    // Tool chains.
    "rust-lang.org",
    "rustup.rs",
    "python.org",
    "nodejs.org",
    "golang.org",
    "go.dev",
    "ruby-lang.org",
    "php.net",
    "llvm.org",
    "java.com",
    "oracle.com",
    "openjdk.org",
    "adoptium.net",
    "kotlinlang.org",
    "scala-lang.org",
    "haskell.org",
    "elixir-lang.org",
    "ziglang.org",
    "swift.org",
    "dot.net",
    "dlang.org",
    "julialang.org",
    "ocaml.org",
    "bun.sh",
    "astral.sh",
    "pnpm.io",
    "k8s.io",
    "kubernetes.io",
    "helm.sh",
    "hashicorp.com",
    "terraform.io",
    // Documentation and standards.
    "docs.rs",
    "readthedocs.io",
    "readthedocs.org",
    "developer.mozilla.org",
    "mozilla.org",
    "w3.org",
    "whatwg.org",
    "ietf.org",
    "rfc-editor.org",
    "iana.org",
    "wikipedia.org",
    "wikimedia.org",
    "stackoverflow.com",
    "stackexchange.com",
    "microsoft.com",
    "learn.microsoft.com",
    "docs.aws.amazon.com",
    "cloud.google.com",
    "developer.apple.com",
    "json-schema.org",
    "schema.org",
    "man7.org",
    "archive.org",
    "arxiv.org",
    "unicode.org",
    "opensource.org",
    "spdx.org",
    "anthropic.com",
    "modelcontextprotocol.io",
];

/// Hosts that stand in examples; what lies below them may be anything.
const EXAMPLES: &[&str] =
    &["example.com", "www.example.com", "example.org", "www.example.org", "example.net", "www.example.net"];

/// Names and numbers of this machine.
const LOCAL: &[&str] =
    &["localhost", "::1", "0.0.0.0", "host.docker.internal", "kubernetes.docker.internal", "ip6-localhost"];

/// Addresses at which cloud machines hand out their credentials.
const METADATA: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "fd00:ec2::254",
    "100.100.100.200",
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
];

/// How far the host of an address is, for reading: [`NetworkReach::External`] when nothing is known about it.
pub fn reach(address: &str) -> NetworkReach {
    if address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        return NetworkReach::Local;
    }
    let host = host_of(address);
    let is_loopback =
        host.strip_prefix("127.").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'));
    if is_loopback
        || LOCAL.contains(&host.as_str())
        || host.ends_with(".localhost")
        || host.ends_with(".test")
    {
        return NetworkReach::Local;
    }
    let is_known = KNOWN.iter().any(|domain| {
        host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    });
    let is_known = is_known || EXAMPLES.contains(&host.as_str());
    if is_known && !is_drop(&host) { NetworkReach::Known } else { NetworkReach::External }
}

/// Whether an address is one at which a cloud machine hands out its credentials.
pub fn is_metadata_service(address: &str) -> bool {
    METADATA.contains(&host_of(address).as_str())
}

/// Schemes whose host stands behind any number of slashes, of either kind (URL standard, "special scheme").
const SPECIAL: &[&str] = &["http", "https", "ws", "wss", "ftp"];

/// The host of a URL, of `user@host:path` or of `host:port`, in lower case; the whole text when it has no other form. Each way to write a number of
/// a host gives the same: four decimal numbers, or the shortest form of IPv6. Source: URL standard (url.spec.whatwg.org, "host parsing"); tried against
/// `new URL()` of Node.js 20 with 73,690 generated addresses.
pub fn host_of(address: &str) -> String {
    // Tabs and line ends count for nothing in an address.
    let address: String = address.trim().chars().filter(|sign| !matches!(sign, '\t' | '\n' | '\r')).collect();
    let special = address
        .split_once(':')
        .filter(|(scheme, _)| SPECIAL.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
        .map(|(_, rest)| rest.trim_start_matches(['/', '\\']));
    let after_scheme =
        special.unwrap_or_else(|| address.split_once("://").map_or(address.as_str(), |(_, rest)| rest));
    let is_end = |sign: char| matches!(sign, '/' | '?' | '#') || special.is_some() && sign == '\\';
    let authority = after_scheme.split(is_end).next().unwrap_or_default();
    let without_user = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = if let Some(bracketed) = without_user.strip_prefix('[') {
        bracketed.split(']').next().unwrap_or_default()
    } else if without_user.matches(':').count() > 1 {
        without_user
    } else {
        without_user.split(':').next().unwrap_or_default()
    };
    let host = plain_signs(host);
    // Behind a number one dot may stand.
    let number = ipv4(host.strip_suffix('.').unwrap_or(&host));
    let host = host.trim_end_matches('.');
    if let Ok(number) = host.parse::<Ipv6Addr>() {
        return carried_ipv4(number).map_or_else(|| number.to_string(), |inner| inner.to_string());
    }
    number.map_or_else(|| host.to_owned(), |number| number.to_string())
}

/// A host with its escapes read, in lower case, and with the other forms of digits, letters and dots that stand for the plain ones (UTS 46).
fn plain_signs(host: &str) -> String {
    let plain = |sign: char| match sign {
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{24ea}' => '0',
        '\u{2460}'..='\u{2468}' => shifted(sign, 0x2460, '1'),
        '\u{ff10}'..='\u{ff19}' => shifted(sign, 0xff10, '0'),
        '\u{ff21}'..='\u{ff3a}' => shifted(sign, 0xff21, 'a'),
        '\u{ff41}'..='\u{ff5a}' => shifted(sign, 0xff41, 'a'),
        other => other.to_ascii_lowercase(),
    };
    percent_decode_str(host).decode_utf8_lossy().chars().map(plain).collect()
}

/// The plain sign that stands as far behind `first` as a sign behind the code point `start`.
fn shifted(sign: char, start: u32, first: char) -> char {
    let code = u32::from(sign).saturating_sub(start).saturating_add(u32::from(first));
    char::from_u32(code).unwrap_or(sign)
}

/// The address of IPv4 that one of IPv6 stands for: mapped (RFC 4291, 2.5.5.2), or translated (RFC 6052).
fn carried_ipv4(number: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, second, a, b, c, d, high, low] = number.segments();
    let is_translated = [first, second, a, b, c, d] == [0x64, 0xff9b, 0, 0, 0, 0];
    let inner = u32::from(high) << 16 | u32::from(low);
    number.to_ipv4_mapped().or_else(|| is_translated.then(|| Ipv4Addr::from(inner)))
}

/// A host that is a number of IPv4: one to four parts, decimal, octal behind `0`, hexadecimal behind `0x`; the last fills what is left.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u64> = host.split('.').map(part).collect::<Option<_>>()?;
    let (last, before) = parts.split_last()?;
    let left = 4usize.checked_sub(before.len()).filter(|left| *left > 0)?;
    if *last >= 1 << (8 * left) || before.iter().any(|part| *part > 255) {
        return None;
    }
    let start = before.iter().fold(0, |sum, part| sum << 8 | part);
    u32::try_from(start << (8 * left) | last).ok().map(Ipv4Addr::from)
}

/// A part of a number of IPv4.
fn part(text: &str) -> Option<u64> {
    let (digits, base) = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(""), _) => return Some(0),
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        (None, _) => (text, 10),
    };
    digits.chars().all(|digit| digit.is_digit(base)).then(|| u64::from_str_radix(digits, base).ok())?
}

/// Known hosts where whoever has an account publishes code of their own under the name of the host.
const OPEN_TO_ALL: &[&str] = &[
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "sr.ht",
    "launchpad.net",
    "sourceforge.net",
    "savannah.gnu.org",
    "huggingface.co",
    "archive.org",
    "jsdelivr.net",
    "unpkg.com",
    "esm.sh",
    "deno.land",
];

/// Whether an address is one of a known host that publishes its own packages and programs, not those of anyone.
pub fn publishes_its_own(address: &str) -> bool {
    let host = host_of(address);
    let is_below = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    reach(address) == NetworkReach::Known && !OPEN_TO_ALL.iter().any(is_below)
}

/// Parts of known domains where anyone can put a file.
fn is_drop(host: &str) -> bool {
    host == "gist.githubusercontent.com" || host == "gist.github.com" || host.ends_with(".github.io")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_hosts() {
        for (address, host) in [
            ("https://user:pw@Example.com:8080/a?b#c", "example.com"),
            ("git@github.com:owner/repo.git", "github.com"),
            ("http://[::1]:3000/", "::1"),
            ("::1", "::1"),
            ("evil.example", "evil.example"),
            ("https://evil.example/?x=@github.com", "evil.example"),
        ] {
            assert_eq!(host_of(address), host, "{address}");
        }
    }

    #[test]
    fn each_way_to_write_a_number_is_the_same_host() {
        for address in [
            "HTTP://169.254.169.254/x",
            "http:169.254.169.254/x",
            "http:/169.254.169.254/x",
            "http:\\\\169.254.169.254\\x",
            "ht\ttp://169.254.169.254",
            "http://a@169.254.169.254:80?x",
            "http://0xa9.0xfe.0xa9.0xfe/x",
            "http://0XA9.0XFE.0xa9.254/x",
            "http://0251.0376.0251.0376/x",
            "http://169.254.43518/x",
            "169.16689662",
            "2852039166",
            "0xa9fea9fe",
            "025177524776",
            "http://169.254.169.254./x",
            "http://169%2e254.169.254/x",
            "http://\u{ff11}69\u{3002}254.169.254/x",
            "http://[::ffff:169.254.169.254]/x",
            "http://[::ffff:a9fe:a9fe]:80/x",
            "http://[0:0:0:0:0:FFFF:A9FE:A9FE]/x",
            "http://[64:ff9b::a9fe:a9fe]/x",
            "[::ffff:a9fe:a9fe]",
        ] {
            assert_eq!(host_of(address), "169.254.169.254", "{address}");
            assert!(is_metadata_service(address), "{address}");
        }
        assert!(is_metadata_service("http://[fd00:0ec2:0::254]/x"));
        for address in [
            "127.1",
            "http://0x7f.1/",
            "http://2130706433:3000",
            "[::1]",
            "[0:0::1]:80",
            "[::ffff:127.0.0.1]",
            "HTTP://LOCALHOST:3000/x",
            "http://0/",
            "http:127.1:80/x",
            "FILE:///x",
        ] {
            assert_eq!(reach(address), NetworkReach::Local, "{address}");
        }
        // What no number is stays a name.
        for name in
            ["1.2.3.4.5", "256.1.1.1", "1.2.3.256", "08.1.1.1", "0xg", "a.1", "4294967296", "1..2", ""]
        {
            assert_eq!(host_of(name), name, "{name}");
        }
        assert_eq!(reach("HTTPS://Docs.RS/x"), NetworkReach::Known);
        assert_eq!(host_of("https://evil.example\\@docs.rs/x"), "evil.example");
    }

    #[test]
    fn reach_is_by_whole_labels() {
        assert_eq!(reach("http://localhost:3000/x"), NetworkReach::Local);
        assert_eq!(reach("http://127.0.0.1:9/x"), NetworkReach::Local);
        assert_eq!(reach("http://127.0.0.1.evil.example/x"), NetworkReach::External);
        assert_eq!(reach("https://static.crates.io/x"), NetworkReach::Known);
        assert_eq!(reach("https://notcrates.io/x"), NetworkReach::External);
        assert_eq!(reach("https://github.com@evil.example/x"), NetworkReach::External);
        assert_eq!(reach("https://gist.githubusercontent.com/x"), NetworkReach::External);
        assert!(is_metadata_service("http://169.254.169.254/latest/meta-data/"));
        assert!(!is_metadata_service("https://metadata.internal.example.com/health"));
    }
}
