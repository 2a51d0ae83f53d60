//! Files that prove who somebody is, or hold what only they should know.

use crate::path::AbsolutePath;

use super::system::is_home_of_somebody;

/// What credential a file holds, in a few words (`an SSH private key`); `None` for an ordinary file.
///
/// `home` is the home directory of the person; the table holds in other homes too. A directory is answered like a file
/// when everything in it is secret; [`credential_directory`] answers for directories that hold secrets among others.
pub(crate) fn credential(path: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    if let Some(inner) = seen_through_process(path) {
        return credential(&inner, home);
    }
    let name = path.name()?;
    if is_sample(name) {
        return None;
    }
    by_directory(path, name)
        .or_else(|| by_name(name))
        .or_else(|| by_system_path(path.as_str()))
        .or_else(|| in_home(path, home))
}

/// The file that `/proc/NUMBER/root/...` or `/proc/NUMBER/cwd/...` shows by another name.
fn seen_through_process(path: &AbsolutePath) -> Option<AbsolutePath> {
    let rest = path.as_str().strip_prefix("/proc/")?;
    let (_, inside) = rest.split_once('/')?;
    let shown = inside.strip_prefix("root/").or_else(|| inside.strip_prefix("cwd/"))?;
    AbsolutePath::new(&format!("/{shown}"))
}

/// What credentials a directory is known to hold; `None` when it is not known for any.
pub(crate) fn credential_directory(path: &AbsolutePath) -> Option<&'static str> {
    let text = path.as_str();
    DIRECTORIES.iter().find(|(end, _)| ends_with_parts(text, end)).map(|(_, what)| *what)
}

/// Whether a file is a list of environment variables of a project (`.env`, `.env.local`, `prod.env`).
pub(crate) fn environment_file(name: &str) -> bool {
    (name == ".env" || name.starts_with(".env.") || name.ends_with(".env")) && !is_sample(name)
}

/// Whether what the file holds cannot be issued again by asking a service: private keys and key rings.
pub(crate) fn key_material(path: &AbsolutePath) -> bool {
    let Some(name) = path.name() else { return false };
    let in_ssh = path.parent().is_some_and(|parent| parent.name() == Some(".ssh"));
    (in_ssh && private_key_name(name))
        || path.parts().any(|part| part == ".gnupg" || part == ".password-store")
        || [".key", ".pem", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Directories that hold secrets among other files, by their last parts.
const DIRECTORIES: &[(&str, &str)] = &[
    (".ssh", "SSH keys"),
    (".gnupg", "GnuPG keys"),
    (".aws", "AWS credentials"),
    (".azure", "Azure credentials"),
    (".kube", "Kubernetes credentials"),
    (".docker", "container registry credentials"),
    (".config/gcloud", "Google Cloud credentials"),
    (".config/gh", "GitHub tokens"),
    (".config/hub", "GitHub tokens"),
    (".config/op", "1Password data"),
    (".config/doctl", "DigitalOcean tokens"),
    (".config/rclone", "storage credentials"),
    (".password-store", "the password store"),
    (".local/share/keyrings", "the login keyring"),
    ("Library/Keychains", "the login keychain"),
    (".terraform.d", "Terraform tokens"),
    (".vault-token", "a Vault token"),
    ("run/secrets", "container secrets"),
    ("etc/ssl/private", "TLS private keys"),
];

/// Files by the end of their path.
const ENDS: &[(&str, &str)] = &[
    (".aws/credentials", "AWS credentials"),
    (".aws/config", "AWS configuration with profiles"),
    (".kube/config", "Kubernetes credentials"),
    (".docker/config.json", "container registry credentials"),
    (".config/gh/hosts.yml", "a GitHub token"),
    (".config/hub", "a GitHub token"),
    (".config/rclone/rclone.conf", "storage credentials"),
    (".config/doctl/config.yaml", "a DigitalOcean token"),
    (".config/heroku/credentials", "a Heroku token"),
    (".config/configstore/firebase-tools.json", "a Firebase token"),
    (".cargo/credentials", "a registry token"),
    (".cargo/credentials.toml", "a registry token"),
    (".gem/credentials", "a registry token"),
    (".terraform.d/credentials.tfrc.json", "a Terraform token"),
    (".claude/.credentials.json", "the credentials of Claude Code"),
    (".codex/auth.json", "the credentials of Codex"),
    (".gemini/oauth_creds.json", "the credentials of Gemini"),
    (".m2/settings-security.xml", "Maven credentials"),
    (".config/git/credentials", "git credentials"),
    (".claude/history.jsonl", "agent history, which may hold secrets"),
    (".codex/history.jsonl", "agent history, which may hold secrets"),
    (".jupyter/jupyter_server_config.json", "a Jupyter password"),
];

/// Files by their whole name, anywhere.
const NAMES: &[(&str, &str)] = &[
    (".netrc", "login data of hosts"),
    ("_netrc", "login data of hosts"),
    (".git-credentials", "git credentials"),
    (".pgpass", "database passwords"),
    (".my.cnf", "database passwords"),
    (".mylogin.cnf", "database passwords"),
    (".pypirc", "a registry token"),
    (".htpasswd", "password hashes"),
    (".vault-token", "a Vault token"),
    (".vault_pass", "a vault password"),
    (".dockercfg", "container registry credentials"),
    (".boto", "cloud credentials"),
    (".s3cfg", "cloud credentials"),
    (".envrc", "environment variables that may be secret"),
    (".terraformrc", "a Terraform token"),
    ("credentials.json", "service credentials"),
    ("client_secret.json", "service credentials"),
    ("service-account.json", "service credentials"),
    ("service_account.json", "service credentials"),
    ("application_default_credentials.json", "Google Cloud credentials"),
    ("kubeconfig", "Kubernetes credentials"),
    ("terraform.tfstate", "infrastructure state, secrets in clear text"),
    ("terraform.tfstate.backup", "infrastructure state, secrets in clear text"),
    ("master.key", "an encryption key"),
    ("wallet.dat", "a wallet"),
    ("secrets.yml", "secrets"),
    ("secrets.yaml", "secrets"),
    ("secrets.json", "secrets"),
    ("secrets.toml", "secrets"),
    (".bash_history", "shell history, which may hold secrets"),
    (".zsh_history", "shell history, which may hold secrets"),
    (".sh_history", "shell history, which may hold secrets"),
    ("fish_history", "shell history, which may hold secrets"),
    (".python_history", "interpreter history, which may hold secrets"),
    (".node_repl_history", "interpreter history, which may hold secrets"),
    (".irb_history", "interpreter history, which may hold secrets"),
    (".psql_history", "database history, which may hold secrets"),
    (".mysql_history", "database history, which may hold secrets"),
    (".sqlite_history", "database history, which may hold secrets"),
    (".rediscli_history", "database history, which may hold secrets"),
];

/// Name endings of key files.
const SUFFIXES: &[(&str, &str)] = &[
    (".pem", "a private key or certificate"),
    (".p12", "a key store"),
    (".pfx", "a key store"),
    (".jks", "a key store"),
    (".keystore", "a key store"),
    (".kdbx", "a password database"),
    (".ppk", "an SSH private key"),
];

/// Public or empty stand-ins for a secret file.
fn is_sample(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.ends_with(".pub")
        || lower.ends_with(".d.ts")
        || lower.split(['.', '-', '_']).any(|part| {
            matches!(
                part,
                "example" | "examples" | "sample" | "template" | "tmpl" | "dist" | "schema" | "defaults"
            )
        })
}

/// Directories of which every file is secret, as they stand in a path.
const WHOLE: &[(&str, &str)] = &[
    ("/.gnupg/", "GnuPG keys"),
    ("/.password-store/", "the password store"),
    ("/.local/share/keyrings/", "the login keyring"),
    ("/Library/Keychains/", "the login keychain"),
    ("/.config/gcloud/", "Google Cloud credentials"),
    ("/.azure/", "Azure credentials"),
    ("/.aws/sso/", "AWS credentials"),
    ("/.aws/cli/cache/", "AWS credentials"),
];

fn by_directory(path: &AbsolutePath, name: &str) -> Option<&'static str> {
    let parent = path.parent()?;
    if parent.name() == Some(".ssh") {
        return private_key_name(name).then_some("an SSH private key");
    }
    if let Some((_, what)) = ENDS.iter().find(|(end, _)| ends_with_parts(path.as_str(), end)) {
        return Some(what);
    }
    let text = path.as_str();
    WHOLE.iter().find(|(part, _)| text.contains(part)).map(|(_, what)| *what)
}

/// In `.ssh` everything is a private key but the files known to be public.
fn private_key_name(name: &str) -> bool {
    !(name.ends_with(".pub")
        || name.starts_with("known_hosts")
        || matches!(
            name,
            "config"
                | "config.d"
                | "authorized_keys"
                | "authorized_keys2"
                | "rc"
                | "environment"
                | "allowed_signers"
        )
        || name.ends_with(".sock"))
}

fn by_name(name: &str) -> Option<&'static str> {
    if environment_file(name) {
        return Some("environment variables that may be secret");
    }
    if let Some((_, what)) = NAMES.iter().find(|(whole, _)| name == *whole) {
        return Some(what);
    }
    if matches!(name, "id_rsa" | "id_dsa" | "id_ecdsa" | "id_ed25519" | "id_ed25519_sk" | "id_ecdsa_sk") {
        return Some("an SSH private key");
    }
    if public_certificate(name) {
        return None;
    }
    if name.strip_suffix(".key").is_some_and(names_key_owner) {
        return Some("a private key");
    }
    SUFFIXES.iter().find(|(end, _)| name.len() > end.len() && name.ends_with(end)).map(|(_, what)| *what)
}

/// Whether `NAME.key` is a key of somebody rather than a list of key bindings or slides: the name tells a use of keys, or a
/// host.
fn names_key_owner(stem: &str) -> bool {
    let known = |part: &str| {
        matches!(
            part,
            "private"
                | "priv"
                | "server"
                | "client"
                | "tls"
                | "ssl"
                | "cert"
                | "certificate"
                | "ca"
                | "root"
                | "rsa"
                | "ec"
                | "ecdsa"
                | "ed25519"
                | "domain"
                | "host"
                | "localhost"
                | "privkey"
                | "private_key"
                | "secret"
                | "signing"
                | "jwt"
                | "deploy"
                | "key"
                | "tlskey"
                | "wildcard"
                | "dev"
                | "prod"
                | "production"
                | "encryption"
                | "license"
                | "api"
                | "apiserver"
                | "etcd"
                | "admin"
                | "sa"
        )
    };
    stem.contains('.') || stem.split(['-', '_']).any(known)
}

/// Certificates are made to be shown; only their keys are secret.
fn public_certificate(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".pem") else { return false };
    stem.split(['.', '-', '_']).any(|part| {
        matches!(
            part,
            "ca" | "cacert"
                | "cert"
                | "certs"
                | "certificate"
                | "chain"
                | "fullchain"
                | "bundle"
                | "pub"
                | "public"
        )
    })
}

fn by_system_path(text: &str) -> Option<&'static str> {
    match text {
        "/etc/shadow" | "/etc/shadow-" | "/etc/gshadow" | "/etc/gshadow-" | "/etc/master.passwd" => {
            Some("password hashes of this machine")
        }
        "/etc/sudoers" => Some("the rules of who may become root"),
        "/etc/krb5.keytab" => Some("the Kerberos key of this machine"),
        "/etc/kubernetes/admin.conf" => Some("Kubernetes credentials"),
        _ if text.starts_with("/etc/ssl/private/") => Some("a TLS private key"),
        _ if text.starts_with("/etc/ssh/ssh_host_") && text.ends_with("_key") => {
            Some("the SSH key of this machine")
        }
        _ if text.starts_with("/run/secrets/") || text.starts_with("/var/run/secrets/") => {
            Some("a container secret")
        }
        _ if text.starts_with("/proc/") && text.ends_with("/environ") => Some("the environment of a process"),
        _ => None,
    }
}

/// Profiles of browsers and mail programs, relative to a home directory.
const PROFILES: &[&str] = &[
    ".mozilla/firefox/",
    ".thunderbird/",
    ".config/google-chrome/",
    ".config/chromium/",
    ".config/BraveSoftware/",
    "Library/Application Support/Google/Chrome/",
    "Library/Application Support/Firefox/",
    "Library/Cookies/",
];

/// Files that are secret in a home directory only: the same name in a project is ordinary configuration. Profiles of
/// browsers and mail programs hold cookies and saved passwords.
fn in_home(path: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    if matches!(path.name(), Some(".npmrc" | ".yarnrc.yml")) {
        let parent = path.parent()?;
        return (parent == *home || is_home_of_somebody(&parent)).then_some("a registry token");
    }
    let relative = path.relative_to(home)?;
    PROFILES.iter().any(|profile| relative.starts_with(profile)).then_some("a browser or mail profile")
}

/// Whether `text` ends with the whole parts of `end`.
fn ends_with_parts(text: &str, end: &str) -> bool {
    text.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> bool {
        let home = AbsolutePath::new("/home/dev").unwrap();
        credential(&AbsolutePath::new(path).unwrap(), &home).is_some()
    }

    #[test]
    fn secrets_are_known_by_where_they_lie() {
        for path in [
            "/home/dev/.ssh/id_rsa",
            "/home/dev/.ssh/work_key",
            "/home/somebody/.aws/credentials",
            "/root/.netrc",
            "/home/dev/proj/.env",
            "/home/dev/proj/.env.production",
            "/home/dev/proj/certs/server.pem",
            "/home/dev/.gnupg/private-keys-v1.d/a.key",
            "/etc/shadow",
            "/proc/self/environ",
            "/proc/1/root/etc/shadow",
            "/home/dev/certs/tls.key",
            "/home/dev/certs/www.acme.org.key",
            "/home/dev/.mozilla/firefox/x.default/logins.json",
        ] {
            assert!(found(path), "{path} is a secret");
        }
    }

    #[test]
    fn what_only_looks_like_a_secret_is_not() {
        for path in [
            "/home/dev/.ssh/id_rsa.pub",
            "/home/dev/.ssh/known_hosts",
            "/home/dev/.ssh/config",
            "/home/dev/proj/.env.example",
            "/home/dev/proj/.env.template",
            "/home/dev/proj/src/environment.ts",
            "/etc/passwd",
            "/home/dev/proj/.key",
            "/home/dev/proj/monkey",
            "/home/dev/proj/keyboard.key",
            "/home/dev/proj/.npmrc",
            "/home/dev/proj/certs/ca.pem",
        ] {
            assert!(!found(path), "{path} is no secret");
        }
    }

    #[test]
    fn a_directory_of_secrets_is_known() {
        let path = |text| AbsolutePath::new(text).unwrap();
        assert!(credential_directory(&path("/home/dev/.ssh")).is_some());
        assert!(credential_directory(&path("/home/dev/.config/gcloud")).is_some());
        assert!(credential_directory(&path("/home/dev/.config")).is_none());
    }
}
