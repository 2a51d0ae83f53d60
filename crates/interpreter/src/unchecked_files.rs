//! Settings in files by which a program checks no more whom it talks to, or who made what it fetches.
//!
//! People and programs change these files all day. What is written into one says whether a check goes.

use crate::draft::Draft;
use crate::effect::{EffectKind, Severity, Target};
use crate::known_hosts::host_of;
use crate::machine::Machine;
use crate::path::AbsolutePath;
use crate::world::FileText;

/// Ends of paths, and how a line begins there that switches a check off (behind `*`: how it ends), in small letters, without blanks and quotes.
///
/// Sources: docs.npmjs.com, `strict-ssl`; yarnpkg.com, `enableStrictSsl`; pnpm.io, "Settings"; docs.conda.io, `ssl_verify`; pip, "Configuration"; uv, "Settings";
/// python-poetry.org, `certificates`; `gem help environment`; bundle-config(1); getcomposer.org, "config"; curl(1), "-K"; wget manual, "Wgetrc Commands";
/// lftp(1); containers-registries.conf(5); dockerd(8), "daemon.json"; `go help environment`; maven.apache.org, "Configuring Apache Maven";
/// docs.gradle.org, "Build Environment"; kubernetes.io, "Kubeconfig (v1)"; hgrc(5), `web.cacerts`.
const FILES: &[(&[&str], &[&str])] = &[
    (&["/.npmrc", "/pnpm/rc", "/npmrc"], &["strict-ssl=false", "strict-ssl=0"]),
    (&["/.yarnrc"], &["strict-sslfalse"]),
    (&["/.yarnrc.yml"], &["enablestrictssl:false"]),
    (&["/pnpm-workspace.yaml", "/pnpm/config.yaml"], &["strictssl:false"]),
    (&["/.condarc", "/condarc", "/.mambarc"], &["ssl_verify:false", "ssl_verify:no", "ssl_verify:0"]),
    (&["/pip.conf", "/pip.ini"], &["trusted-host=", "trusted_host="]),
    (&["/uv.toml"], &["allow-insecure-host=["]),
    (&["/poetry.toml", "/pypoetry/config.toml"], &["cert=false", "*.cert=false"]),
    (&["/.gemrc", "/gemrc"], &[":ssl_verify_mode:0", "ssl_verify_mode:0"]),
    (&["/.bundle/config"], &["bundle_ssl_verify_mode:0"]),
    (&["/.curlrc", "/curlrc", "/_curlrc"], &["insecure", "--insecure", "-k", "proxy-insecure"]),
    (
        &["/.wgetrc", "/wgetrc", "/.wget2rc", "/wget2rc"],
        &[
            "check_certificate=off",
            "check-certificate=off",
            "checkcertificate=off",
            "check_certificate=no",
            "check-certificate=no",
        ],
    ),
    (&["/.lftprc", "/lftp/rc"], &["setssl:verify-certificateno", "setssl:verify-certificatefalse"]),
    (
        &["/composer/config.json", "/.composer/config.json", "/composer.json"],
        &["disable-tls:true", "secure-http:false"],
    ),
    (&["/registries.conf"], &["insecure=true"]),
    (&["/daemon.json"], &["insecure-registries:["]),
    (&["/go/env"], &["goinsecure=", "gosumdb=off", "gonosumdb=*", "gonosumcheck=1", "goflags=-insecure"]),
    (
        &["/.mvn/maven.config", "/.mvn/jvm.config"],
        &[
            "-dmaven.wagon.http.ssl.insecure=true",
            "-dmaven.wagon.http.ssl.allowall=true",
            "-daether.connector.https.securitymode=insecure",
        ],
    ),
    (
        &["/gradle.properties"],
        &[
            "systemprop.jdk.internal.httpclient.disablehostnameverification=true",
            "systemprop.maven.wagon.http.ssl.insecure=true",
        ],
    ),
    (&["/.kube/config"], &["insecure-skip-tls-verify:true"]),
    (
        &["/.env.production", "/.env.prod"],
        &["node_tls_reject_unauthorized=0", "git_ssl_no_verify=1", "pythonhttpsverify=0"],
    ),
];

/// The line of a text that switches a check off, when it stands in a file at this path; `None` where none does.
pub fn switched_off_in(path: &AbsolutePath, text: &str) -> Option<String> {
    let (_, lines) = FILES.iter().find(|(ends, _)| ends.iter().any(|end| path.as_str().ends_with(end)))?;
    text.split(['\n', ',', '{'])
        .find(|line| {
            let plain = plain(line);
            let is_one = |wanted: &str| match wanted.strip_prefix('*') {
                Some(end) => plain.ends_with(end),
                None => plain.starts_with(wanted) && is_whole(&plain, wanted),
            };
            lines.iter().any(|wanted| is_one(wanted)) && !is_about_this_machine(line)
        })
        .map(|line| line.trim().to_owned())
}

fn plain(line: &str) -> String {
    let is_kept = |letter: &char| !letter.is_whitespace() && !matches!(letter, '"' | '\'');
    line.trim_start_matches("export ").chars().filter(is_kept).collect::<String>().to_ascii_lowercase()
}

/// Whether what stands behind the beginning of a line is part of it: a list that is not empty, a key without a value.
fn is_whole(line: &str, start: &str) -> bool {
    let rest = line.get(start.len()..).unwrap_or_default();
    match start {
        "-k" | "insecure" | "--insecure" | "proxy-insecure" => rest.is_empty() || rest == "=true",
        start if start.ends_with('=') || start.ends_with('[') => !rest.is_empty() && !rest.starts_with(']'),
        _ => rest.is_empty() || rest.starts_with(['#', ';', '}', ']']),
    }
}

/// Whether a line names hosts, and all of them are this machine. What stands in a remark names none.
fn is_about_this_machine(line: &str) -> bool {
    let line = line.split(['#', ';']).next().unwrap_or_default();
    let value = line.split_once(['=', '[']).map_or("", |(_, value)| value);
    let mut hosts = value
        .split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | ']' | '}'))
        .filter(|host| !host.is_empty())
        .peekable();
    let is_here = |host: &str| matches!(host_of(host).as_str(), "localhost" | "127.0.0.1" | "::1");
    hosts.peek().is_some() && hosts.all(is_here)
}

impl Machine<'_> {
    /// Adds that a file which the command writes switches a check off.
    pub(super) fn note_unchecked_files(&mut self) {
        let is_written = |kind: EffectKind| matches!(kind, EffectKind::FileCreate | EffectKind::FileModify);
        let mut paths: Vec<AbsolutePath> = self
            .findings
            .effects
            .iter()
            .filter(|effect| is_written(effect.kind))
            .filter_map(|effect| effect.target.path().cloned())
            .filter(|path| FILES.iter().any(|(ends, _)| ends.iter().any(|end| path.as_str().ends_with(end))))
            .collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.is_written_here(path));
        for path in paths {
            let text = self.text(&path);
            let Some(line) = text.as_exact().and_then(|text| switched_off_in(&path, text)) else { continue };
            // It may have stood there before.
            if matches!(self.world().text(&path), FileText::Whole(before) if before.contains(&line)) {
                continue;
            }
            let target = Target::Service("checks of certificates".to_owned());
            let draft = Draft::new(EffectKind::SystemModification, target).severity(Severity::High);
            self.add(
                draft.note(format!("`{line}` in `{path}` has programs check no more whom they talk to")),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> bool {
        switched_off_in(&AbsolutePath::new("/home/dev").unwrap().join(file), text).is_some()
    }

    #[test]
    fn a_check_that_goes_is_found() {
        for (file, text) in [
            (".npmrc", "registry=https://registry.npmjs.org/\nstrict-ssl = false\n"),
            ("proj/.condarc", "ssl_verify: False\n"),
            (".config/pip/pip.conf", "[global]\ntrusted-host = pypi.org\n"),
            (".config/pip/pip.conf", "[global]\ntrusted-host = pypi.org # localhost\n"),
            (".config/pip/pip.conf", "[global]\ntrusted-host = localhost pypi.org\n"),
            (".curlrc", "# all\n-k\n"),
            (".wgetrc", "check_certificate = off\n"),
            ("proj/poetry.toml", "[certificates.acme]\ncert = false\n"),
            ("proj/poetry.toml", "[certificates]\nacme.cert = false\ncertificates.b.cert = false\n"),
            (".config/composer/config.json", "{\"config\":{\"disable-tls\":true}}"),
            ("proj/composer.json", "{\n  \"config\": {\n    \"secure-http\": false\n  }\n}"),
            (".docker/daemon.json", "{\"insecure-registries\":[\"r.acme.io\"]}"),
            (".config/go/env", "GOINSECURE=git.acme.io\n"),
            ("proj/.bundle/config", "---\nBUNDLE_SSL_VERIFY_MODE: \"0\"\n"),
            (".kube/config", "  cluster:\n    insecure-skip-tls-verify: true\n"),
        ] {
            assert!(found(file, text), "{file} {text}");
        }
    }

    #[test]
    fn a_check_that_stays_is_left_alone() {
        for (file, text) in [
            (".npmrc", "strict-ssl=true\nsave-exact=true\n"),
            (".npmrc", "# strict-ssl=false\n"),
            ("README.md", "strict-ssl=false\n"),
            (".config/pip/pip.conf", "[global]\ntimeout = 60\ntrusted-host = localhost\n"),
            (".curlrc", "progress-bar\n"),
            ("proj/poetry.toml", "[virtualenvs]\nin-project = true\n"),
            ("proj/composer.json", "{\"config\": {\"secure-http\": true}}"),
            (".docker/daemon.json", "{\"insecure-registries\":[]}"),
            (".docker/daemon.json", "{\"insecure-registries\":[\"localhost:5000\"]}"),
            (".config/go/env", "GOPRIVATE=github.com/acme/*\n"),
        ] {
            assert!(!found(file, text), "{file} {text}");
        }
    }
}
