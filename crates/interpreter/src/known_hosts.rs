//! Hosts that an address may name, sorted by how far they are: the one place where they are listed.
//!
//! Reading from a host in the table of known hosts is ordinary work: documentation, packages, source code, standards. Sending anything
//! there is not, so the callers use this only for requests without a body. The list is ours.

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
    if address.starts_with("file:") {
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
    let host = host_of(address);
    METADATA.contains(&host.as_str())
        || matches!(host.as_str(), "2852039166" | "0xa9fea9fe" | "[::ffff:169.254.169.254]")
}

/// The host of a URL, of `user@host:path` or of `host:port`, in lower case; the whole text when it has no other form.
pub fn host_of(address: &str) -> String {
    let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let without_user = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = if let Some(bracketed) = without_user.strip_prefix('[') {
        bracketed.split(']').next().unwrap_or_default()
    } else if without_user.matches(':').count() > 1 {
        without_user
    } else {
        without_user.split(':').next().unwrap_or_default()
    };
    host.trim_end_matches('.').to_ascii_lowercase()
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
