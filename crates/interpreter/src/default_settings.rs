//! Settings in the home directory that programs read by themselves, and that may name a program which they then run. People and programs
//! change these files all day, so a change of one says nothing by itself: what is written into it does, and what stands in it when it came
//! in the session.

use crate::call::Call;
use crate::draft::Draft;
use crate::effect::{EffectKind, Target};
use crate::machine::Machine;
use crate::path::AbsolutePath;
use crate::world::Entry;

/// Files of one kind.
struct Kind {
    /// From the home directory.
    files: &'static [&'static str],
    /// Who reads them.
    readers: &'static [&'static str],
    /// The variable that names others in their place.
    variable: &'static str,
    /// Before the value that names a program or where packages come from, in small letters.
    keys: &'static [&'static str],
    /// What the values are that these settings are for.
    usual: &'static [&'static str],
    /// What may stand behind a usual value.
    arguments: Arguments,
    /// Where it is written down.
    #[expect(dead_code, reason = "it is for whoever reads or checks the table")]
    source: &'static str,
}

/// Programs that hand out credentials for clusters: those of the clouds and of who sells access (kubernetes.io, "client-go credential
/// plugins").
pub const KUBERNETES_CREDENTIALS: &[&str] = &[
    "aws",
    "aws-iam-authenticator",
    "gke-gcloud-auth-plugin",
    "kubelogin",
    "kubectl",
    "oci",
    "doctl",
    "gcloud",
    "tsh",
    "exo",
    "vultr-cli",
    "linode-cli",
    "az",
    "civo",
    "scw",
    "yc",
    "ibmcloud",
    "tanzu",
    "pinniped",
    "vcluster",
    "rancher",
    "minikube",
    "kubectl-oidc_login",
    "heptio-authenticator-aws",
    "hcloud",
    "ovhcloud",
    "openstack",
];

/// What may stand behind a usual value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    /// Nothing but further usual values.
    None,
    /// The arguments of a program.
    OfProgram,
}

const KINDS: &[Kind] = &[
    Kind {
        files: &[".kube/config"],
        readers: &[
            "kubectl",
            "oc",
            "helm",
            "k9s",
            "kustomize",
            "flux",
            "argocd",
            "istioctl",
            "stern",
            "skaffold",
            "tilt",
            "kubectx",
            "kubens",
            "velero",
            "linkerd",
            "cilium",
        ],
        variable: "KUBECONFIG",
        keys: &["command:", "\"command\":", "cmd-path:", "\"cmd-path\":"],
        usual: KUBERNETES_CREDENTIALS,
        arguments: Arguments::OfProgram,
        source: "kubernetes.io, \"client-go credential plugins\"",
    },
    Kind {
        files: &[".aws/config", ".aws/credentials"],
        readers: &[
            "aws",
            "sam",
            "cdk",
            "eksctl",
            "copilot",
            "terraform",
            "tofu",
            "terragrunt",
            "pulumi",
            "s5cmd",
            "packer",
            "serverless",
            "sls",
            "chamber",
        ],
        variable: "AWS_CONFIG_FILE",
        keys: &["credential_process"],
        usual: &[
            "aws",
            "aws-vault",
            "aws-sso",
            "granted",
            "saml2aws",
            "gimme-aws-creds",
            "okta-aws-cli",
            "aws-sso-util",
            "leapp",
            "op",
            "aws_signing_helper",
            "isengardcli",
            "awsume",
            "aws-okta",
            "aws-runas",
            "aws-azure-login",
        ],
        arguments: Arguments::OfProgram,
        source: "AWS CLI, \"Sourcing credentials with an external process\"",
    },
    Kind {
        files: &[".npmrc"],
        readers: &["npm", "npx", "pnpm", "pnpx", "yarn"],
        variable: "NPM_CONFIG_USERCONFIG",
        keys: &["script-shell", "node-options", "git", "shell", "init-module", "init.module", "registry"],
        usual: &[
            "bash",
            "sh",
            "zsh",
            "git",
            "/bin/bash",
            "/bin/sh",
            "/usr/bin/git",
            "https://registry.npmjs.org",
            "https://registry.yarnpkg.com",
            "https://npm.pkg.github.com",
            "--max-old-space-size",
        ],
        arguments: Arguments::None,
        source: "docs.npmjs.com, \"config\"",
    },
    Kind {
        files: &[".config/pip/pip.conf", ".pip/pip.conf"],
        readers: &["pip", "pip3", "pipx", "uv"],
        variable: "PIP_CONFIG_FILE",
        keys: &["index-url", "extra-index-url", "find-links", "trusted-host"],
        usual: &[
            "https://pypi.org",
            "pypi.org",
            "https://test.pypi.org",
            "https://download.pytorch.org",
            "files.pythonhosted.org",
            "pypi.python.org",
        ],
        arguments: Arguments::None,
        source: "pip, \"Configuration\"",
    },
    Kind {
        files: &[".config/go/env"],
        readers: &["go"],
        variable: "GOENV",
        keys: &["goflags", "cc", "cxx", "goproxy", "gonosumdb", "gotoolchain"],
        usual: &[
            "gcc",
            "g++",
            "clang",
            "clang++",
            "cc",
            "c++",
            "https://proxy.golang.org",
            "direct",
            "off",
            "local",
            "auto",
            "-mod=",
            "-count=",
            "-tags=",
            "-v",
            "-race",
            "-trimpath",
            "go1",
        ],
        arguments: Arguments::None,
        source: "`go help environment`, `go help goproxy`",
    },
    Kind {
        files: &[".docker/config.json"],
        readers: &["docker", "docker-compose", "buildx"],
        variable: "DOCKER_CONFIG",
        keys: &["\"clipluginsextradirs\":"],
        usual: &["/usr/lib/docker", "/usr/local/lib/docker", "/usr/libexec/docker", "/opt/homebrew"],
        arguments: Arguments::None,
        source: "docs.docker.com, \"docker\" configuration files",
    },
];

/// What settings in a home directory name, when their text is this, that a program runs or takes packages from, and that is not what such
/// settings are for; `None` where nothing is.
pub fn unusual_setting(path: &AbsolutePath, home: &AbsolutePath, text: &str) -> Option<String> {
    let rest = path.relative_to(home)?;
    let kind = KINDS.iter().find(|kind| kind.files.contains(&rest))?;
    value_in(kind, text)
}

/// The first value of a key of this kind that is not usual.
fn value_in(kind: &Kind, text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.trim_start().trim_start_matches("- ");
        if line.starts_with(['#', ';']) || line.starts_with("//") {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        let key = kind.keys.iter().find(|key| {
            let behind = |start: &str| start.trim_start().starts_with(['=', ':']);
            lower.find(*key).is_some_and(|at| {
                let starts =
                    at == 0 || lower.get(..at).is_some_and(|before| before.ends_with([' ', '{', ',', '"']));
                let ends = key.ends_with(':') || lower.get(at + key.len()..).is_some_and(behind);
                starts && ends
            })
        })?;
        let at = lower.find(*key)? + key.len();
        let value = line.get(at..)?.trim_start_matches([' ', '=', ':', '[', '"', '\'']).trim();
        let value = value.trim_end_matches([',', '"', '\'', ']', '}']);
        (!value.is_empty() && !is_usual(kind, value)).then(|| value.to_owned())
    })
}

/// Whether a value is what the settings of its kind are for: each of its parts, or its program where arguments stand behind one.
fn is_usual(kind: &Kind, value: &str) -> bool {
    let separators = |letter: char| letter.is_whitespace() || matches!(letter, ',' | '|' | '"' | '\'');
    let mut parts = value.split(separators).filter(|part| !part.is_empty());
    match kind.arguments {
        // Behind `--` stands a command of its own (aws-vault(1), `exec`).
        Arguments::OfProgram => {
            parts.next().is_some_and(|program| kind.usual.contains(&program))
                && parts.all(|part| part != "--")
        }
        Arguments::None => parts.all(|part| kind.usual.iter().any(|usual| is_usual_part(usual, part))),
    }
}

/// Whether a part of a value is a usual one: it as a whole, a page or file below a usual place, or another value of a usual option.
fn is_usual_part(usual: &str, part: &str) -> bool {
    part == usual
        || part.strip_prefix(usual).is_some_and(|more| {
            let is_place = usual.contains("://") || usual.starts_with('/');
            let is_option = usual.starts_with('-');
            let is_release = usual == "go1";
            is_place && more.starts_with('/')
                || is_option && (more.starts_with('=') || usual.ends_with('='))
                || is_release && more.starts_with('.')
        })
}

impl Machine<'_> {
    /// Adds that settings of this home which the command writes name what programs run from now on.
    pub(super) fn note_default_settings(&mut self) {
        let home = self.world().place().home.clone();
        for path in KINDS.iter().flat_map(|kind| kind.files).map(|file| home.join(file)) {
            if !self.is_written_here(&path) {
                continue;
            }
            let text = self.text(&path);
            let before = self.world().text(&path);
            let Some(value) = text.as_exact().and_then(|text| unusual_setting(&path, &home, text)) else {
                continue;
            };
            // It may have stood there before.
            if matches!(before, crate::world::FileText::Whole(before) if before.contains(&value)) {
                continue;
            }
            let draft = Draft::new(EffectKind::Persistence, Target::Path(path));
            self.add(
                draft.note(format!("names `{value}`, which programs run or take packages from, from now on")),
            );
        }
    }

    /// Adds that a program reads settings of this home that came in the session, and name what it runs.
    pub(super) fn read_default_settings(&mut self, call: &Call) {
        let program = call.program.split(' ').next().unwrap_or_default();
        let Some(kind) = KINDS.iter().find(|kind| kind.readers.contains(&program)) else { return };
        if self.variable(kind.variable).is_some() {
            return;
        }
        let home = self.world().place().home.clone();
        for path in kind.files.iter().map(|file| home.join(file)) {
            if matches!(self.entry(&path), Entry::Missing)
                || !(self.is_of_session(&path) || self.came_in_session(&path))
            {
                continue;
            }
            let text = self.text(&path);
            let Some(value) = text.as_exact().and_then(|text| value_in(kind, text)) else { continue };
            if !self.was_there_before(&value) {
                self.unread(format!(
                    "`{program}` reads `{path}`, which came in this session and names `{value}`, which it runs or takes packages from"
                ));
            }
        }
    }

    /// Whether a value names a program of the machine or the user that does nothing by itself: no shell and no interpreter, and no file
    /// that came in the session.
    fn was_there_before(&self, value: &str) -> bool {
        let first = value.split_whitespace().next().unwrap_or_default();
        if !first.starts_with(['/', '~']) {
            return false;
        }
        let Some(path) = self.one_path_through(&crate::value::Value::exact(first)) else { return false };
        let is_shell = path.name().is_none_or(|name| self.knows(name));
        let place = self.world().place();
        !is_shell
            && matches!(self.entry(&path), Entry::File(_))
            && !place.is_temporary(&path)
            && !path.is_within(&place.workspace)
            && !self.is_of_session(&path)
            && !self.came_in_session(&path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Option<String> {
        let home = AbsolutePath::new("/home/dev").unwrap();
        unusual_setting(&home.join(file), &home, text)
    }

    #[test]
    fn what_settings_are_for_is_told_from_what_they_are_not_for() {
        for (file, text) in [
            (
                ".kube/config",
                "users:\n- name: me\n  user:\n    exec:\n      command: sh\n      args: [-c, \"rm -rf ~/docs\"]\n",
            ),
            (".kube/config", "{\"users\":[{\"user\":{\"exec\":{\"command\": \"/tmp/x\"}}}]}"),
            (".kube/config", "      - command: python3\n"),
            (".aws/config", "[default]\ncredential_process = sh -c \"rm -rf ~/docs\"\n"),
            (".aws/credentials", "[default]\ncredential_process=/tmp/x\n"),
            (".npmrc", "script-shell=./evil\n"),
            (".npmrc", "node-options=--require /tmp/x.js\n"),
            (".npmrc", "registry=https://packages.evil.example\n"),
            (".config/pip/pip.conf", "[global]\nindex-url = https://packages.evil.example/simple\n"),
            (".config/go/env", "GOFLAGS=-toolexec=/tmp/x\n"),
            (".config/go/env", "GOFLAGS=-mod=mod -toolexec=/tmp/x\n"),
            (".config/go/env", "GOFLAGS=-v -toolexec=/tmp/x\n"),
            (".config/go/env", "GOPROXY=https://proxy.golang.org,https://packages.evil.example\n"),
            (".config/go/env", "CC=gcc -B/tmp/x\n"),
            (".npmrc", "node-options=--max-old-space-size=1 --require /tmp/x.js\n"),
            (".config/pip/pip.conf", "[global]\nindex-url = https://pypi.org.evil.example/simple\n"),
            (
                ".aws/config",
                "[default]\ncredential_process = aws-vault exec dev -- sh -c \"rm -rf ~/docs\"\n",
            ),
            (
                ".docker/config.json",
                "{\"cliPluginsExtraDirs\": [\"/usr/lib/docker/cli-plugins\", \"/tmp/p\"]}",
            ),
            (".docker/config.json", "{\"cliPluginsExtraDirs\": [\"/tmp/p\"]}"),
        ] {
            assert!(found(file, text).is_some(), "{file} {text}");
        }
        for (file, text) in [
            (
                ".kube/config",
                "users:\n- name: me\n  user:\n    exec:\n      command: aws\n      args: [eks, get-token]\n",
            ),
            (".kube/config", "users:\n- name: me\n  user:\n    token: none\n# command: sh\n"),
            (
                ".aws/config",
                "[default]\nregion = eu-west-1\ncredential_process = aws-vault exec dev --json\n",
            ),
            (
                ".npmrc",
                "save-exact=true\nregistry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=x\n",
            ),
            (".npmrc", "node-options=--max-old-space-size=4096\n"),
            (".config/pip/pip.conf", "[global]\nindex-url = https://pypi.org/simple\ntimeout = 60\n"),
            (".config/go/env", "GOPROXY=https://proxy.golang.org,direct\nGOFLAGS=-mod=mod\n"),
            (".config/go/env", "GOFLAGS=-mod=mod -trimpath\nGOTOOLCHAIN=go1.23.4\n"),
            (".docker/config.json", "{\"cliPluginsExtraDirs\": [\"/usr/lib/docker/cli-plugins\"]}"),
            (".docker/config.json", "{\"credsStore\": \"desktop\", \"auths\": {}}"),
            (".kube/other", "      command: sh\n"),
        ] {
            assert_eq!(found(file, text), None, "{file} {text}");
        }
    }
}
