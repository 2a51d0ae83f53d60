//! Addresses among the words of a call, and in its variables, from which code comes that the call installs or runs.
//!
//! What a package manager installs comes from the place that it is told: a registry, an index, a repository. Each calls the option otherwise,
//! so every word of such a call that is an address counts, whatever stands before it. Programs that build, deploy or generate take code from
//! some of their words only; these are listed.

use checkrein_catalogue::Program;

use crate::effect::{Effect, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::known_hosts::reach;
use crate::interpreter::{Call, Draft, Machine, Value, has_series};
use crate::nature::Nature;

/// Which words of a call name a place that code comes from.
enum Words {
    /// All.
    Every,
    /// The value of one of these options, or what stands behind one of these beginnings of a word.
    Behind(&'static [&'static str]),
}

struct Row {
    programs: &'static [&'static str],
    /// The series of words of which one stands in the call; without any, every call is meant.
    calls: &'static [&'static str],
    words: Words,
}

const fn row(programs: &'static [&'static str], calls: &'static [&'static str], words: Words) -> Row {
    Row { programs, calls, words }
}

/// Programs that run, build or deploy what an address names. Sources: docs.docker.com ("Build context", "docker stack deploy", "buildx bake"),
/// `podman kube play --help`, `buildah build --help`; guides.rubyonrails.org ("Rails Application Templates"); cli.vuejs.org ("Remote Presets");
/// maven.apache.org (dependency:get, archetype:generate); bazel.build (`--registry`); docs.conan.io (`conan config install`);
/// taskfile.dev ("Remote Taskfiles"); jupyterlab.readthedocs.io ("Extensions"); krew.sigs.k8s.io; `az extension add --help`;
/// nix.dev ("substituters"); docs.deno.com ("Modules"); `helm install --help` (OCI registries); dagger.io (`dagger -m`); tilt.dev.
const TABLE: &[Row] = &[
    row(
        &["docker", "podman", "nerdctl", "buildah", "docker-buildx", "kaniko", "buildctl", "img"],
        &["build", "bake", "bud", "stack deploy", "kube play", "play kube"],
        Words::Every,
    ),
    row(&["helm"], &["install", "upgrade"], Words::Every),
    row(&["rails"], &["new"], Words::Behind(&["-m", "--template"])),
    row(&["rails", "rake"], &["app:template"], Words::Behind(&["LOCATION="])),
    row(&["vue"], &["create"], Words::Behind(&["-p", "--preset"])),
    row(
        &["mvn", "mvnw", "./mvnw"],
        &[],
        Words::Behind(&["-DremoteRepositories=", "-DarchetypeRepository=", "-DarchetypeCatalog="]),
    ),
    row(&["bazel", "bazelisk"], &[], Words::Behind(&["--registry"])),
    row(&["conan"], &["config install"], Words::Every),
    row(&["task", "go-task"], &[], Words::Behind(&["-t", "--taskfile"])),
    row(&["ansible-playbook"], &[], Words::Every),
    row(&["jupyter"], &["labextension install", "nbextension install"], Words::Every),
    row(&["kubectl-krew", "krew"], &["install"], Words::Every),
    row(&["kubectl"], &["krew install"], Words::Every),
    row(&["az"], &["extension add"], Words::Every),
    row(&["gcloud"], &["components repositories add"], Words::Every),
    row(
        &["nix", "nix-build", "nix-shell", "nix-env", "nixos-rebuild", "darwin-rebuild", "home-manager"],
        &[],
        Words::Behind(&["substituters", "extra-substituters", "--substituters", "--extra-substituters"]),
    ),
    row(
        &["deno"],
        &["run", "serve", "task", "test"],
        Words::Behind(&["--import-map", "--preload", "--import"]),
    ),
    row(&["dagger"], &["call", "run"], Words::Behind(&["-m", "--mod"])),
    row(&["cargo"], &["add"], Words::Behind(&["--git"])),
    row(
        &["npx", "npm", "pnpm", "yarn", "bun", "bunx"],
        &[],
        Words::Behind(&["-e", "--example", "--template", "--scripts-version"]),
    ),
    row(&["kustomize"], &["build"], Words::Every),
];

/// Variables from which programs take what they install. A star stands for any letters. Sources: pip and uv ("Configuration"), Yarn 1.22 and 4,
/// pnpm, npm ("config"); go.dev/ref/mod (GOPROXY); the Cargo Book ("Configuration"); bundler.io (mirror); docs.brew.sh ("Environment");
/// rust-lang.github.io/rustup ("Environment variables"); dart.dev (PUB_HOSTED_URL); hex.pm; Julia (JULIA_PKG_SERVER); nvm; fnm; Electron,
/// Puppeteer, Playwright and Cypress ("Install"); huggingface_hub (HF_ENDPOINT).
const VARIABLES: &[(&[&str], &[&str])] = &[
    (&["yarn", "yarnpkg"], &["YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "npm_config_registry"]),
    (&["go"], &["GOPROXY"]),
    (&["cargo"], &["CARGO_REGISTRIES_*_INDEX", "CARGO_SOURCE_*_REGISTRY", "CARGO_REGISTRY_INDEX"]),
    (&["bundle", "bundler"], &["BUNDLE_MIRROR__*"]),
    (&["brew"], &["HOMEBREW_*_DOMAIN", "HOMEBREW_*_GIT_REMOTE"]),
    (&["rustup"], &["RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT"]),
    (&["dart", "flutter"], &["PUB_HOSTED_URL", "FLUTTER_STORAGE_BASE_URL"]),
    (&["mix"], &["HEX_MIRROR", "HEX_CDN"]),
    (&["julia"], &["JULIA_PKG_SERVER"]),
    (&["pipenv"], &["PIPENV_PYPI_MIRROR", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"]),
    (&["poetry", "pdm", "hatch"], &["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PDM_PYPI_URL"]),
    (
        &["npm", "pnpm", "yarn", "npx", "bun", "bunx"],
        &[
            "NPM_CONFIG_*_MIRROR",
            "npm_config_*_mirror",
            "npm_config_disturl",
            "npm_config_nodedir",
            "BUN_CONFIG_REGISTRY",
            "ELECTRON_MIRROR",
            "PUPPETEER_DOWNLOAD_*",
            "PLAYWRIGHT_DOWNLOAD_HOST",
            "CYPRESS_INSTALL_BINARY",
            "SASS_BINARY_SITE",
        ],
    ),
    (&["npx", "bunx", "bun"], &["npm_config_registry", "NPM_CONFIG_REGISTRY"]),
];

/// Adds where the code comes from that a call installs or runs, as far as addresses of its words and variables say it. Before the call there
/// were `before` effects.
pub(crate) fn package_sources(machine: &mut Machine<'_>, program: &Program, call: &Call, before: usize) {
    let name = call.program.split(' ').next().unwrap_or_default();
    let is_install =
        |effect: &Effect| effect.kind == EffectKind::PackageInstall && effect.nature != Nature::Removal;
    let may_install = program.clauses.iter().any(|clause| clause.kind == EffectKind::PackageInstall);
    let installs = may_install && machine.effects_since(before).any(is_install);
    let mut found: Vec<String> = Vec::new();
    if installs {
        found.extend(addresses(&call.words, &Words::Every));
    }
    for row in TABLE.iter().filter(|row| row.programs.contains(&name) && has_series(call, row.calls)) {
        found.extend(addresses(&call.words, &row.words));
    }
    if name == "go" && has_series(call, &["run", "install"]) {
        found.extend(call.words.iter().filter_map(Value::as_exact).filter_map(foreign_module));
    }
    if !found.is_empty() || installs || name == "go" {
        found.extend(of_variables(machine, name));
    }
    // Of places that are known nothing needs to be said, unless whoever stands between decides what comes from there.
    found.retain(|address| match reach(address) {
        NetworkReach::External => true,
        NetworkReach::Known => {
            !["https", "ssh", "oci", "s3"].iter().any(|scheme| address.starts_with(scheme))
        }
        NetworkReach::Local => false,
    });
    found.sort();
    found.dedup();
    for address in found {
        let is_said = |effect: &Effect| {
            let text = effect.target.text().unwrap_or_default();
            matches!(effect.kind, EffectKind::PackageInstall | EffectKind::RemoteCodeExecution)
                && (effect.severity >= Severity::High || text.contains(address.as_str()))
        };
        if machine.effects_since(before).any(is_said) {
            continue;
        }
        machine.add(
            Draft::new(EffectKind::PackageInstall, Target::Service(address)).note("code comes from there"),
        );
    }
}

/// Hosts under whose name modules of Go are published that others keep elsewhere (ours: those of tools and libraries that many use).
const MODULE_HOSTS: &[&str] = &[
    "cloud.google.com",
    "google.golang.org",
    "gopkg.in",
    "gotest.tools",
    "honnef.co",
    "mvdan.cc",
    "sigs.k8s.io",
    "go.uber.org",
    "go.opentelemetry.io",
    "go.etcd.io",
    "go.mongodb.org",
    "go.mozilla.org",
    "go.k6.io",
    "go.temporal.io",
    "go.starlark.net",
    "gorm.io",
    "entgo.io",
    "goa.design",
    "gocloud.dev",
    "gonum.org",
    "gioui.org",
    "modernc.org",
    "storj.io",
    "istio.io",
    "knative.dev",
    "helm.sh",
    "rsc.io",
    "9fans.net",
    "4d63.com",
    "fyne.io",
    "pgregory.net",
    "tinygo.org",
    "upspin.io",
    "golift.io",
    "goreleaser.com",
    "buf.build",
    "connectrpc.com",
    "cuelang.org",
    "dagger.io",
    "filippo.io",
    "moul.io",
    "vitess.io",
    "tailscale.com",
    "cel.dev",
    "zgo.at",
    "src.elv.sh",
    "git.sr.ht",
    "gitea.com",
    "gitee.com",
];

/// The address of a module of Go that comes from a host that nobody knows: `git.evil.example/tool@latest`.
fn foreign_module(word: &str) -> Option<String> {
    let (path, _version) = word.split_once('@')?;
    let (host, _) = path.split_once('/')?;
    let is_host = host.contains('.') && !host.starts_with(['.', '-']);
    let is_below = |known: &&str| {
        host.strip_suffix(*known).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    (is_host && !MODULE_HOSTS.iter().any(is_below)).then(|| format!("https://{path}"))
}

/// What variables say of where a program takes packages from.
fn of_variables(machine: &Machine<'_>, name: &str) -> Vec<String> {
    let rows = VARIABLES.iter().filter(|(programs, _)| programs.contains(&name));
    let patterns: Vec<&str> = rows.flat_map(|(_, patterns)| patterns.iter().copied()).collect();
    if patterns.is_empty() {
        return Vec::new();
    }
    let is_meant = |variable: &str| {
        patterns.iter().any(|pattern| match pattern.split_once('*') {
            Some((start, end)) => variable.starts_with(start) && variable.ends_with(end),
            None => variable == *pattern,
        })
    };
    machine
        .set_variables()
        .filter(|(variable, _)| is_meant(variable))
        .flat_map(|(_, text)| text.split([',', '|', ' ']).filter_map(address_in).map(str::to_owned))
        .collect()
}

/// The addresses among words, as far as these name a source.
fn addresses(words: &[Value], wanted: &Words) -> Vec<String> {
    let texts: Vec<&str> = words.iter().map(|word| word.as_exact().unwrap_or_default()).collect();
    let mut found = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| texts.get(index)).copied().unwrap_or_default();
        let is_meant = match wanted {
            // What stands between the machine and the place does not choose what comes.
            Words::Every => {
                let names_proxy = |word: &str| word.to_ascii_lowercase().contains("proxy");
                !names_proxy(before) && !text.split_once("://").is_some_and(|(before, _)| names_proxy(before))
            }
            Words::Behind(options) => options.iter().any(|option| {
                before == *option
                    || text.strip_prefix(option).is_some_and(|rest| {
                        rest.starts_with('=')
                            || option.ends_with('=')
                            || option.len() == 2 && !rest.is_empty()
                    })
            }),
        };
        if is_meant {
            found.extend(text.split([',', ' ']).filter_map(address_in).map(str::to_owned));
        }
    }
    found
}

/// How addresses begin that packages come from.
const SCHEMES: &[&str] = &["https", "http", "git", "ssh", "ftp", "oci", "svn", "hg", "s3"];

/// The address in a word, without what stands before it: `--index=https://...`, `-ihttps://...`, `git+https://...`.
fn address_in(word: &str) -> Option<&str> {
    let (before, rest) = word.split_once("://")?;
    let scheme = SCHEMES.iter().find(|scheme| before.ends_with(*scheme))?;
    let is_host = rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '[');
    let start = before.len() - scheme.len();
    is_host.then(|| word.get(start..)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stand_behind_what_names_them() {
        for (word, address) in [
            ("https://a.b/c", Some("https://a.b/c")),
            ("--index=https://a.b", Some("https://a.b")),
            ("-ihttps://a.b", Some("https://a.b")),
            ("git+ssh://git@a.b/c", Some("ssh://git@a.b/c")),
            ("x@git+https://a.b/c", Some("https://a.b/c")),
            ("oci://a.b/c", Some("oci://a.b/c")),
            ("file:///a", None),
            ("https:///a", None),
            ("a/b", None),
        ] {
            assert_eq!(address_in(word), address, "{word}");
        }
    }

    #[test]
    fn a_proxy_is_no_source() {
        let words: Vec<Value> =
            ["--proxy", "http://a.b:3128", "--proxy=http://a.b", "x"].into_iter().map(Value::exact).collect();
        assert!(addresses(&words, &Words::Every).is_empty());
    }
}
