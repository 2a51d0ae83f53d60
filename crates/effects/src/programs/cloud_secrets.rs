//! Commands of clouds that print credentials.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Machine, Output, Value};

use super::cloud::{Command, change, value_of};

/// The effects of a command that prints or makes credentials; `None` for any other.
#[expect(clippy::match_same_arms, reason = "an arm for each platform")]
pub(super) fn secret(machine: &mut Machine<'_>, call: &Call, command: &Command<'_>) -> Option<Exit> {
    let has = |option: &str| call.words.iter().filter_map(Value::as_exact).any(|word| word == option);
    let path = command.path.as_slice();
    let last = path.last().copied().unwrap_or_default();
    let reads = match (command.tool, path) {
        ("aws" | "awslocal", ["configure", "get", name, ..]) => {
            let secret = name.contains("secret") || name.contains("token") || name.contains("key");
            if secret {
                let home = machine.world().place().home.clone();
                machine.effect(EffectKind::SecretRead, &Value::exact(home.join(".aws/credentials").as_str()));
                return Some(Exit::with(Output::Secret("~/.aws/credentials".to_owned())));
            }
            return Some(Exit::unknown());
        }
        ("aws", ["configure", "export-credentials", ..]) => true,
        ("aws", ["configure", "set", ..]) => {
            let home = machine.world().place().home.clone();
            let file = home.join(".aws/config");
            machine.write(&Value::exact(file.as_str()));
            // AWS CLI, "Sourcing credentials with an external process".
            if path.iter().any(|word| word.rsplit('.').next() == Some("credential_process")) {
                let draft = Draft::new(EffectKind::Persistence, Target::Path(file));
                machine.add(draft.note("names a program that every later call for credentials runs"));
            }
            return Some(Exit::unknown());
        }
        (
            "aws" | "awslocal",
            [
                "sts",
                "get-session-token"
                | "assume-role"
                | "assume-role-with-saml"
                | "assume-role-with-web-identity"
                | "get-federation-token",
                ..,
            ]
            | ["secretsmanager", "get-secret-value" | "batch-get-secret-value", ..]
            | ["sso", "get-role-credentials", ..]
            | ["kms", "decrypt", ..]
            | ["ec2", "get-password-data", ..]
            | ["cognito-identity", "get-credentials-for-identity", ..]
            | ["redshift", "get-cluster-credentials", ..]
            | ["lightsail", "download-default-key-pair", ..],
        ) => true,
        (
            "aws" | "awslocal",
            [
                "ssm",
                "get-parameter" | "get-parameters" | "get-parameters-by-path" | "get-parameter-history",
                ..,
            ],
        ) => has("--with-decryption"),
        (
            "aws",
            [
                "iam",
                "create-access-key"
                | "create-login-profile"
                | "update-login-profile"
                | "create-service-specific-credential",
                ..,
            ],
        )
        | ("az", ["ad", "sp", "create-for-rbac", ..] | ["ad", "app" | "sp", "credential", "reset", ..])
        | ("gcloud", ["iam", "service-accounts", "keys", "create", ..]) => {
            machine.add(change(command).severity(Severity::High).note("makes new credentials"));
            true
        }
        (
            "gcloud",
            ["auth", "print-access-token" | "print-identity-token" | "print-refresh-token", ..]
            | ["auth", "application-default", "print-access-token", ..]
            | ["secrets", "versions", "access", ..]
            | ["kms", "decrypt" | "asymmetric-decrypt", ..]
            | ["config", "config-helper", ..],
        ) => true,
        (
            "az",
            ["account", "get-access-token", ..]
            | ["keyvault", "secret" | "key" | "certificate", "show" | "download" | "backup", ..]
            | ["acr", "credential", ..]
            | ["storage", "account", "show-connection-string" | "generate-sas", ..],
        ) => true,
        ("az", _)
            if matches!(
                last,
                "list-keys"
                    | "list-secrets"
                    | "list-connection-strings"
                    | "list-publishing-credentials"
                    | "list-publishing-profiles"
            ) =>
        {
            true
        }
        ("az", [.., "keys" | "key" | "credentials", "list"]) => true,
        (
            "heroku",
            [
                "config"
                | "config:get"
                | "auth:token"
                | "authorizations:create"
                | "authorizations:info"
                | "pg:credentials:url"
                | "redis:credentials",
                ..,
            ],
        )
        | ("fly" | "flyctl", ["auth", "token", ..] | ["tokens", "create", ..])
        | ("firebase", ["login:ci" | "functions:secrets:access" | "auth:export", ..])
        | ("netlify" | "ntl", ["env:get" | "env:list", ..])
        | ("railway", ["variables" | "variable", ..])
        | ("doctl", ["auth", "token", ..])
        | ("oci", ["secrets", "secret-bundle", "get", ..])
        | ("ibmcloud", ["iam", "oauth-tokens", ..])
        | ("linode-cli", ["linodes", "disk-reset-password", ..])
        | ("scw", ["config", "dump", ..]) => true,
        ("vercel" | "vc", ["env", "pull", rest @ ..]) => {
            let file = rest.first().copied().unwrap_or(".env.local");
            read_secret(machine, command);
            machine.write(&Value::exact(file));
            return Some(Exit::unknown());
        }
        ("jira" | "gh" | "glab", ["auth", "token", ..]) => true,
        _ => false,
    };
    if !reads {
        return None;
    }
    if let Some(token) = own_token(command.tool, path) {
        return Some(print_token(machine, Target::Service(command.name()), token));
    }
    let files: Vec<Value> = ["--output-file", "--file", "--out-file"]
        .iter()
        .filter_map(|option| value_of(call, option))
        .collect();
    if files.is_empty() && machine.hides_what_it_prints(call) {
        return Some(Exit::with(Output::Secret(command.name())));
    }
    let name = read_secret(machine, command);
    for file in &files {
        machine.write(file);
    }
    Some(Exit::with(Output::Secret(name)))
}

/// The variable in which people keep the token that a command prints, by whose name it is known to whom the token belongs.
fn own_token(tool: &str, path: &[&str]) -> Option<&'static str> {
    match (tool, path) {
        ("gcloud", ["auth", ..]) => Some("$GOOGLE_TOKEN"),
        ("az", ["account", "get-access-token", ..]) => Some("$AZURE_TOKEN"),
        ("heroku", ["auth:token", ..]) => Some("$HEROKU_TOKEN"),
        ("doctl", ["auth", "token", ..]) => Some("$DIGITALOCEAN_TOKEN"),
        ("gh", ["auth", "token", ..]) => Some("$GH_TOKEN"),
        _ => None,
    }
}

/// A token that its own program prints: it is told where it is shown, and may go to whom it belongs.
fn print_token(machine: &mut Machine<'_>, target: Target, token: &str) -> Exit {
    let is_seen = machine.is_shown() && !machine.is_listened_to() && !machine.is_kept();
    if is_seen || machine.is_shown() && machine.is_kept() {
        machine.add(Draft::new(EffectKind::SecretRead, target).note("prints credentials"));
    }
    if is_seen { Exit::unknown() } else { Exit::with(Output::Secret(token.to_owned())) }
}

/// `gh auth token`
pub(crate) fn github_token(machine: &mut Machine<'_>, _: &Call) -> Exit {
    let file = machine.world().place().home.join(".config/gh/hosts.yml");
    print_token(machine, Target::Path(file), "$GH_TOKEN")
}

fn read_secret(machine: &mut Machine<'_>, command: &Command<'_>) -> String {
    let name = command.name();
    machine.add(Draft::new(EffectKind::SecretRead, Target::Service(name.clone())).note("prints credentials"));
    name
}
