//! Files that prove who somebody is, or hold what only they should know.

mod known;

use crate::path_pattern::name_matches;
use crate::{VersionState, World};
use checkrein_protocol::AbsolutePath;

use super::system::is_home_of_somebody;
use known::{DIRECTORIES, ENDS, NAMES, PROFILES, SUFFIXES, WHOLE};

/// What a secret gives away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// It proves who somebody is: whoever has it can act in their name.
    Proof,
    /// It is nobody else's business, or may hold a proof among other things: settings, histories, bookmarks.
    Private,
}

/// What credential a file holds, in a few words (`an SSH private key`); `None` for an ordinary file.
///
/// `home` is the home directory of the user; the table holds in other homes too. A directory is answered like a file
/// when everything in it is secret; [`credential_directory`] answers for directories that hold secrets among others.
pub fn credential(path: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    if let Some(inner) = seen_through_process(path) {
        return credential(&inner, home);
    }
    let name = path.name()?;
    if is_sample(name) {
        return None;
    }
    if path.as_str().contains(['*', '?', '[']) {
        return by_pattern(path, home);
    }
    by_directory(path, name)
        .or_else(|| by_name(name))
        .or_else(|| by_system_path(path.as_str()))
        .or_else(|| in_home(path, home))
}

/// Names under which secrets are looked for, one by one, in a directory of which the names cannot be listed: there are too many of them, or
/// one is not UTF-8. The common ones of those that [`credential`] knows by name (ours).
const SOUGHT: [&str; 32] = [
    ".env",
    ".env.local",
    ".env.development",
    ".env.staging",
    ".env.production",
    ".env.prod",
    ".env.dev",
    ".envrc",
    "prod.env",
    "local.env",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".dockerconfigjson",
    "credentials",
    "credentials.json",
    "service-account.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "master.key",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "key.pem",
    "server.key",
];

/// The paths in a directory under which secrets would be that are known by name; whether anything stands there is not asked.
pub fn sought_in(directory: &AbsolutePath, home: &AbsolutePath) -> Vec<AbsolutePath> {
    let paths = SOUGHT.iter().map(|name| directory.join(name));
    paths.filter(|path| credential(path, home).is_some()).collect()
}

/// The paths in a home directory under which credentials would be that are known by name; whether anything stands there is not asked.
pub fn credentials_at_home(home: &AbsolutePath) -> Vec<AbsolutePath> {
    let mut paths: Vec<AbsolutePath> =
        [home.clone(), home.join(".ssh"), home.join(".aws"), home.join(".docker")]
            .iter()
            .flat_map(|directory| sought_in(directory, home))
            .collect();
    paths.extend(known::ENDS.iter().map(|(end, _)| home.join(end)));
    paths
}

/// Names of directories in which projects keep what only tests use.
const OF_TESTS: [&str; 11] = [
    "test",
    "tests",
    "testdata",
    "__tests__",
    "spec",
    "fixtures",
    "__fixtures__",
    "testing",
    "e2e",
    "examples",
    "mocks",
];

/// Whether a file that looks like a credential is one that a project keeps for its tests, so that everybody with the repository has it. It
/// is as it was committed, and lies where tests do, or says in its name that it is for them.
pub fn is_for_tests(path: &AbsolutePath, world: &dyn World) -> bool {
    lies_with_tests(path, world) && world.version(path) == VersionState::TrackedClean
}

/// Whether a file of the project lies where tests do, or says in its name that it is for them.
pub fn lies_with_tests(path: &AbsolutePath, world: &dyn World) -> bool {
    let Some(relative) = path.relative_to(&world.place().workspace) else { return false };
    let is_named = matches!(path.name(), Some(".env.test" | ".env.testing" | ".env.ci"));
    is_named || relative.split('/').rev().skip(1).any(|part| OF_TESTS.contains(&part))
}

/// What the secret in a file gives away, for a file that holds one.
pub fn secrecy(path: &AbsolutePath) -> Secrecy {
    let text = path.as_str();
    let name = path.name().unwrap_or_default();
    let in_ssh = path.parent().is_some_and(|parent| parent.name() == Some(".ssh"));
    let in_profile = PROFILES.iter().any(|profile| text.contains(profile));
    let private = (in_ssh && !private_key_name(name))
        || (in_profile && !holds_passwords(name))
        || (text.contains("/.gnupg/") && is_public_part_of_gnupg(name))
        || matches!(
            name,
            ".envrc" | "places.sqlite" | "formhistory.sqlite" | "pip.conf" | "repositories.yaml"
        )
        || name.contains("history")
        || ends_with_parts(text, ".aws/config");
    if private { Secrecy::Private } else { Secrecy::Proof }
}

/// In the profile of a browser or mail program: what lets others log in.
fn holds_passwords(name: &str) -> bool {
    matches!(
        name,
        "logins.json"
            | "key3.db"
            | "key4.db"
            | "signons.sqlite"
            | "cookies.sqlite"
            | "cert9.db"
            | "Login Data"
            | "Login Data For Account"
            | "Cookies"
            | "Web Data"
            | "Local State"
    )
}

fn is_public_part_of_gnupg(name: &str) -> bool {
    name.ends_with(".conf") || name.starts_with("pubring") || name.starts_with("trustdb")
}

/// The secret that a pattern of paths can mean, whether or not such a file is there now: `~/.aws/credential?`, `~/.s*/id*`.
fn by_pattern(pattern: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    let wild: Vec<&str> = pattern.parts().collect();
    let (last, directory) = wild.split_last()?;
    if is_any_name(last) {
        return None;
    }
    let in_home = |end: &str| matches_parts(&wild, home.join(end).parts());
    if let Some((_, what)) = ENDS.iter().find(|(end, _)| in_home(end)) {
        return Some(what);
    }
    if PRIVATE_KEYS.iter().any(|key| in_home(&format!(".ssh/{key}"))) {
        return Some("an SSH private key");
    }
    // In a directory that is written out, a name that is nearly one of a secret.
    let written = !directory.iter().any(|part| part.contains(['*', '?', '[']));
    let means = |name: &str| written && names_nearly(last, name);
    NAMES
        .iter()
        .find(|(name, _)| means(name))
        .map(|(_, what)| *what)
        .or_else(|| means(".env").then_some("environment variables that may be secret"))
}

/// The usual names of private keys.
const PRIVATE_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Whether a part of a pattern stands for any name.
fn is_any_name(part: &str) -> bool {
    part.chars().all(|character| matches!(character, '*' | '?' | '.'))
}

fn matches_parts<'a>(wild: &[&str], parts: impl Iterator<Item = &'a str>) -> bool {
    let parts: Vec<&str> = parts.collect();
    wild.len() == parts.len() && wild.iter().zip(parts).all(|(wild, part)| name_matches(wild, part))
}

/// Whether a pattern means a name: it begins like it, and matches it or would without its question marks. `*.yml` means all sorts of
/// files, `.env?` hardly anything else.
fn names_nearly(pattern: &str, name: &str) -> bool {
    let beginning = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    beginning.len() >= 3 && (name_matches(pattern, name) || name_matches(&pattern.replace('?', ""), name))
}

/// The file that `/proc/NUMBER/root/...` or `/proc/NUMBER/cwd/...` shows by another name.
fn seen_through_process(path: &AbsolutePath) -> Option<AbsolutePath> {
    let rest = path.as_str().strip_prefix("/proc/")?;
    let (_, inside) = rest.split_once('/')?;
    let shown = inside.strip_prefix("root/").or_else(|| inside.strip_prefix("cwd/"))?;
    AbsolutePath::new(&format!("/{shown}"))
}

/// What credential of the machine itself, or of its service account, a file holds: the same in every container and on every host.
pub fn machine_credential(path: &AbsolutePath) -> Option<&'static str> {
    by_system_path(path.as_str())
}

/// What credentials a directory is known to hold; `None` when it is not known for any.
pub fn credential_directory(path: &AbsolutePath) -> Option<&'static str> {
    let text = path.as_str();
    DIRECTORIES.iter().find(|(end, _)| ends_with_parts(text, end)).map(|(_, what)| *what)
}

/// Whether a file is a list of environment variables of a project (`.env`, `.env.local`, `prod.env`).
pub fn environment_file(name: &str) -> bool {
    (name == ".env" || name.starts_with(".env.") || name.ends_with(".env")) && !is_sample(name)
}

/// Whether what the file holds cannot be issued again by asking a service: private keys and key rings.
pub fn key_material(path: &AbsolutePath) -> bool {
    let Some(name) = path.name() else { return false };
    let in_ssh = path.parent().is_some_and(|parent| parent.name() == Some(".ssh"));
    (in_ssh && private_key_name(name))
        || path.parts().any(|part| part == ".gnupg" || part == ".password-store")
        || [".key", ".pem", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Public or empty stand-ins for a secret file.
pub fn is_sample(name: &str) -> bool {
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

fn by_directory(path: &AbsolutePath, name: &str) -> Option<&'static str> {
    let parent = path.parent()?;
    if parent.name() == Some(".ssh") {
        if public_in_ssh(name) {
            return None;
        }
        return Some(if private_key_name(name) { "an SSH private key" } else { "a file among SSH keys" });
    }
    if let Some((_, what)) = ENDS.iter().find(|(end, _)| ends_with_parts(path.as_str(), end)) {
        return Some(what);
    }
    let text = path.as_str();
    WHOLE.iter().find(|(part, _)| text.contains(part)).map(|(_, what)| *what)
}

/// In `.ssh`: what is made to be shown, or to be read by everybody who works on the machine.
fn public_in_ssh(name: &str) -> bool {
    name.ends_with(".pub")
        || name.contains(".pub.")
        || name.ends_with(".sock")
        || name.starts_with("known_hosts")
        || name.to_ascii_lowercase().starts_with("readme")
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
}

/// In `.ssh` whatever is called like a key, or has no ending that tells otherwise, is a private key.
fn private_key_name(name: &str) -> bool {
    let keyword = ["id_", "key", "rsa", "ed25519", "ecdsa", "dsa", ".pem", ".ppk"];
    !public_in_ssh(name) && (!name.contains('.') || keyword.iter().any(|word| name.contains(word)))
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
        "/etc/security/opasswd" => Some("old password hashes of this machine"),
        "/etc/mysql/debian.cnf" => Some("a database password"),
        "/etc/rancher/k3s/k3s.yaml" => Some("Kubernetes credentials"),
        _ if text.starts_with("/etc/NetworkManager/system-connections/") => Some("network passwords"),
        _ if text.starts_with("/etc/wireguard/") && text.ends_with(".conf") => Some("a tunnel key"),
        _ if text.starts_with("/etc/kubernetes/pki/") && text.ends_with(".key") => Some("a cluster key"),
        _ if text.contains("/db/dslocal/nodes/Default/users/") => Some("password hashes of this machine"),
        _ if text.starts_with("/run/secrets/") || text.starts_with("/var/run/secrets/") => {
            Some("a container secret")
        }
        "/dev/mem" | "/dev/kmem" | "/dev/port" | "/proc/kcore" => Some("the memory of this machine"),
        _ if text.starts_with("/dev/input/event") || text.starts_with("/dev/input/by-") => {
            Some("what is typed on this machine")
        }
        _ if text.starts_with("/proc/") && text.ends_with("/mem") => Some("the memory of a process"),
        _ if text.starts_with("/proc/") && text.ends_with("/environ") => Some("the environment of a process"),
        _ => None,
    }
}

/// Files that are secret in a home directory only: the same name in a project is ordinary configuration. Profiles of
/// browsers and mail programs hold cookies and saved passwords.
fn in_home(path: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    if matches!(path.name(), Some(".npmrc" | ".yarnrc.yml")) {
        let parent = path.parent()?;
        return (parent == *home || is_home_of_somebody(&parent)).then_some("a registry token");
    }
    PROFILES.iter().any(|profile| path.as_str().contains(profile)).then_some("a browser or mail profile")
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
            "/home/somebody/.config/pypoetry/auth.toml",
            "/run/user/1000/containers/auth.json",
            "/home/dev/.aws/credential?",
            "/home/dev/.s*/id*",
            "/home/dev/proj/.env?",
            "/home/dev/.netr[c]",
            "/home/dev/proj/copy/checkrein/mask.key",
            "/srv/state/server/checkrein.token",
            "/home/dev/.config/checkrein/keys/0123456789abcdef.key",
            "/run/user/1000/checkrein-keys/0123456789abcdef.key",
            "/home/dev/.config/checkrein/credentials/anthropic",
            "/home/dev/.local/state/checkrein/server/links.key",
        ] {
            assert!(found(path), "{path} is a secret");
        }
    }

    #[test]
    fn what_only_looks_like_a_secret_is_not() {
        for path in [
            "/home/dev/.ssh/id_rsa.pub",
            "/home/dev/.ssh/known_hosts",
            "/home/dev/.ssh/README.md",
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
            "/home/dev/.ssh/id_ed25519.pub.old",
            "/home/dev/proj/*.rs",
            "/home/dev/proj/*",
            "/home/dev/proj/e*",
            "/home/dev/proj/main.??",
            "/home/dev/proj/.github/workflows/*.yml",
            "/home/dev/proj/schema/v1/*.json",
        ] {
            assert!(!found(path), "{path} is no secret");
        }
    }

    #[test]
    fn a_setting_gives_less_away_than_a_key() {
        let of = |text: &str| secrecy(&AbsolutePath::new(text).unwrap());
        for path in ["/home/dev/.ssh/notes.txt", "/home/dev/.aws/config", "/home/dev/.gnupg/gpg.conf"] {
            assert_eq!(of(path), Secrecy::Private, "{path}");
        }
        for path in ["/home/dev/.ssh/work", "/home/dev/.ssh/id_rsa.bak", "/home/dev/.aws/credentials"] {
            assert_eq!(of(path), Secrecy::Proof, "{path}");
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
