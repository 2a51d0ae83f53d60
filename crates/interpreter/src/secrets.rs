//! Variables that hold secrets by their names, and to whom these secrets belong.
//!
//! Such a variable travels as a secret that was read from `$NAME`.

use crate::builtins;

use crate::effect::{Effect, Target};
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::exit::Output;
use super::machine::Machine;
use super::shell::VariableContent;
use super::value::Value;

/// Parts of names that say "this is a secret".
const TELLING: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "PGPASSWORD",
    "SSHPASS",
];
/// What stands in front of `KEY` when it is a secret one.
const SECRET_KEYS: &[&str] = &[
    "API",
    "ACCESS",
    "SECRET",
    "PRIVATE",
    "AUTH",
    "SIGNING",
    "ENCRYPTION",
    "SERVICE",
    "ACCOUNT",
    "MASTER",
    "DEPLOY",
    "JWT",
    "HMAC",
];
/// Ends of names that say "this is a secret" behind another word: `DB_PASS`, `MYSQL_PWD`.
const SHORT_ENDS: &[&str] = &["PASS", "PWD"];
/// Ends of names of what is about a secret, and no secret itself.
const ABOUT: &[&str] = &[
    "FILE", "PATH", "DIR", "NAME", "ID", "URL", "URI", "HOST", "LENGTH", "SIZE", "TYPE", "COUNT", "LIMIT",
    "TTL", "EXPIRY", "EXPIRES", "ARN", "VERSION", "FORMAT", "PREFIX",
];

/// Services that give out tokens, with the parts of variable names and the domains that are theirs.
const OWNERS: &[(&[&str], &[&str])] = &[
    (&["GITHUB", "GH"], &["github.com", "githubusercontent.com", "ghcr.io", "github.io"]),
    (&["NPM", "YARN", "PNPM"], &["npmjs.org", "npmjs.com", "yarnpkg.com", "github.com"]),
    (&["CARGO", "CRATES"], &["crates.io"]),
    (&["PYPI", "TWINE", "UV"], &["pypi.org"]),
    (&["DOCKERHUB", "DOCKER"], &["docker.io", "docker.com"]),
    (&["AWS"], &["amazonaws.com", "aws.amazon.com"]),
    (&["AZURE"], &["azure.com", "windows.net", "microsoft.com", "microsoftonline.com", "azure-api.net"]),
    (&["GOOGLE", "GEMINI", "GCP", "GCLOUD"], &["googleapis.com", "google.com", "gcr.io", "pkg.dev"]),
    (&["OPENAI"], &["openai.com", "openai.azure.com"]),
    (&["ANTHROPIC", "CLAUDE"], &["anthropic.com", "claude.ai"]),
    (&["HF", "HUGGINGFACE"], &["huggingface.co", "hf.co"]),
    (&["STRIPE"], &["stripe.com"]),
    (&["SLACK"], &["slack.com"]),
    (&["CLOUDFLARE", "CF"], &["cloudflare.com"]),
    (&["HEROKU"], &["heroku.com"]),
    (&["DIGITALOCEAN"], &["digitalocean.com"]),
    (&["VERCEL"], &["vercel.com"]),
    (&["NETLIFY"], &["netlify.com"]),
    (&["LINEAR"], &["linear.app"]),
    (&["NOTION"], &["notion.com"]),
    (&["TWILIO"], &["twilio.com"]),
    (&["SENDGRID"], &["sendgrid.com"]),
];

/// To whom a secret in a variable may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretOwner {
    /// To these domains and what lies below them.
    Domains(&'static [&'static str]),
    /// The name does not say.
    NotSaid,
}

impl SecretOwner {
    /// Whether a host belongs to the owner; `None` when it is not known who that is.
    pub fn has(self, host: &str) -> Option<bool> {
        match self {
            Self::NotSaid => None,
            Self::Domains(domains) => Some(domains.iter().any(|domain| {
                host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
            })),
        }
    }
}

/// The owner of the secret that a variable of this name holds.
pub fn owner(name: &str) -> SecretOwner {
    let upper = name.to_ascii_uppercase();
    let is_named = |part: &&str| upper.split('_').any(|word| word == *part);
    OWNERS
        .iter()
        .find(|(parts, _)| parts.iter().any(&is_named))
        .map_or(SecretOwner::NotSaid, |(_, domains)| SecretOwner::Domains(domains))
}

/// Whether a part of a name is that of a service that gives out tokens.
fn is_owner(word: &str) -> bool {
    OWNERS.iter().any(|(parts, _)| parts.contains(&word))
}

/// Whether a variable of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words: Vec<&str> = upper.split('_').filter(|word| !word.is_empty()).collect();
    let Some(last) = words.last() else { return false };
    if ABOUT.contains(last) {
        return false;
    }
    words.iter().any(|word| TELLING.contains(word))
        || *last == "KEY" && words.iter().any(|word| SECRET_KEYS.contains(word) || is_owner(word))
        || words.len() > 1 && SHORT_ENDS.contains(last)
}

impl Machine<'_> {
    /// The secret that a variable holds, by its name, when its value is not one that the command itself gave it.
    pub(super) fn secret_in(&self, name: &str) -> Option<Output> {
        if !is_secret_name(name) {
            return None;
        }
        let is_own = self.shell.variables.get(name).is_some_and(|variable| match &variable.content {
            VariableContent::Scalar(value) => matches!(value, Value::Exact(_)) || variable.origin.is_some(),
            VariableContent::List(_) | VariableContent::Map(_) | VariableContent::Unset => true,
            VariableContent::Unknown => false,
        });
        (!is_own).then(|| Output::Secret(format!("${name}")))
    }
}

/// How many values of secrets are kept (ours).
const TEXTS: usize = 32;

/// The least length of a value that is told from other text, in bytes (ours).
const TELLING_TEXT: usize = 6;

/// Whether a value can be told from other text where it stands: no word, and not short.
fn is_telling(text: &str) -> bool {
    text.len() >= TELLING_TEXT && text.chars().any(|c| !c.is_ascii_lowercase())
}

impl Machine<'_> {
    /// Keeps the value of a variable that holds a secret, so that it is known again where it comes out. Answers the secret.
    pub(super) fn note_secret(&mut self, name: &str, value: Option<&str>) -> Option<Output> {
        if self.away.is_some() {
            return None;
        }
        let of_settings = self.shell.variables.get(name).and_then(|variable| variable.origin.clone());
        let of_settings =
            of_settings.filter(|origin| matches!(origin, Output::Secret(_)) && is_secret_name(name));
        let secret = of_settings.or_else(|| self.secret_in(name))?;
        if let Some(text) = value.filter(|text| is_telling(text))
            && self.flow.secret_names.len() < TEXTS
        {
            self.flow.secret_names.entry(text.to_owned()).or_insert_with(|| name.to_owned());
        }
        if let Some(text) = value.filter(|text| is_telling(text))
            && self.flow.secret_texts.len() < TEXTS
            && !self.flow.secret_texts.iter().any(|(known, _)| known == text)
        {
            self.flow.secret_texts.push((text.to_owned(), secret.clone()));
        }
        Some(secret)
    }

    /// Puts the names of variables in the place of the secrets that they hold, in all that is told of the effects: where a credential is part
    /// of an address, a branch or a name, a refusal would hand it to the model that was kept from it. The path of what is there stays, since
    /// it is what is saved.
    pub(super) fn name_secrets(&mut self) {
        if self.flow.secret_names.is_empty() {
            return;
        }
        let names = std::mem::take(&mut self.flow.secret_names);
        let by_name = |text: &str| {
            // The longer ones first: one may be a part of another.
            let mut values: Vec<(&String, &String)> =
                names.iter().filter(|(value, _)| text.contains(value.as_str())).collect();
            values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
            values.iter().fold(text.to_owned(), |text, (value, name)| {
                text.replace(value.as_str(), &format!("${name}"))
            })
        };
        let effects = std::mem::take(&mut self.findings.effects);
        let told = effects.into_iter().map(|effect| {
            let target = match effect.target {
                Target::Host(text) => Target::Host(by_name(&text)),
                Target::Process(text) => Target::Process(by_name(&text)),
                Target::Service(text) => Target::Service(by_name(&text)),
                Target::Reference(text) => Target::Reference(by_name(&text)),
                Target::Glob(text) => Target::Glob(by_name(&text)),
                Target::Path(path) if self.world.entry(&path) == Entry::Missing => {
                    Target::Path(AbsolutePath::new(&by_name(path.as_str())).unwrap_or(path))
                }
                target @ (Target::Path(_) | Target::Unknown) => target,
            };
            Effect { target, cause: by_name(&effect.cause), note: by_name(&effect.note), ..effect }
        });
        self.findings.effects = told.collect();
        for problem in &mut self.findings.problems {
            *problem = by_name(problem);
        }
    }

    /// The secret that a variable of the environment holds for a program that asks for it.
    pub fn secret_variable(&mut self, name: &str) -> Option<Output> {
        let value = self.variable(name);
        self.note_secret(name, value.as_ref().and_then(Value::as_exact))
    }

    /// The output that carries a secret of this place: variables, or a file whose settings became variables.
    pub fn carry_secret(&mut self, place: String) -> Output {
        let secret = Output::Secret(place.clone());
        if variable_of(&secret).is_none() {
            self.flow.carried.insert(place);
        }
        secret
    }

    /// Whether a text, or one of which nothing is known, may be a part of the value of a secret.
    pub(crate) fn is_part_of_secret(&self, value: &Value) -> bool {
        match value.as_exact() {
            Some(text) => {
                !text.is_empty()
                    && self
                        .flow
                        .secret_texts
                        .iter()
                        .any(|(secret, _)| secret.contains(text) || text.contains(secret))
            }
            None => true,
        }
    }

    /// The secret whose value stands in a text.
    pub fn secret_held(&self, value: &Value) -> Option<Output> {
        if self.flow.secret_texts.is_empty() {
            return None;
        }
        let holds = |text: &str| {
            self.flow
                .secret_texts
                .iter()
                .find(|(secret, _)| text.contains(secret))
                .map(|(_, place)| place.clone())
        };
        match value.alternatives() {
            Some(texts) => texts.iter().find_map(|text| holds(text)),
            None => holds(&value.known_start()).or_else(|| holds(&value.known_end())),
        }
    }
}

/// Built-ins that list what they were given before, with the built-ins that list it.
const LISTING: &[(&str, &[&str])] = &[
    ("alias", &["alias", "type"]),
    ("trap", &["trap"]),
    ("hash", &["hash", "type"]),
    ("complete", &["complete"]),
    ("history", &["history", "fc"]),
    ("bind", &["bind"]),
    // The functions that a text defines.
    ("eval", &["declare", "typeset", "type", "set"]),
];

impl Machine<'_> {
    /// The secret that a built-in lists, because the shell was given it before; what it is given now is kept for the next time.
    pub(crate) fn listed_secret(&mut self, name: &str, words: &[Value]) -> Option<Output> {
        if self.flow.secret_texts.is_empty() {
            return None;
        }
        let given = words.iter().find_map(|word| self.secret_held(word));
        if let Some(secret) = given {
            let listing = LISTING.iter().find(|(keeper, _)| *keeper == name);
            for lister in listing.map_or(&[][..], |(_, listing)| listing) {
                self.flow.listed_again.insert((*lister).to_owned(), secret.clone());
            }
            return None;
        }
        let is_list = match name {
            // Only some of their forms print.
            "alias" | "trap" | "declare" | "typeset" | "set" => builtins::prints(name, words),
            "complete" | "bind" => {
                !words.iter().any(|word| matches!(word.as_exact(), Some("-W" | "-F" | "-x")))
            }
            _ => true,
        };
        self.flow.listed_again.get(name).filter(|_| is_list).cloned()
    }
}

/// The variable that a secret was read from; `None` when it came out of a file.
pub fn variable_of(secret: &Output) -> Option<&str> {
    secret.as_secret()?.strip_prefix('$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets() {
        for secret in [
            "NPM_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "db_password",
            "OPENAI_API_KEY",
            "PGPASSWORD",
            "SECRET",
            "STRIPE_KEY",
            "DB_PASS",
        ] {
            assert!(is_secret_name(secret), "{secret}");
        }
        for other in [
            "HOME",
            "TOKEN_FILE",
            "CACHE_KEY",
            "KEY",
            "AWS_ACCESS_KEY_ID",
            "PATH",
            "SECRET_NAME",
            "PARTITION_KEY",
            "OLDPWD",
            "PWD",
            "GPG_KEY",
            "SSH_AUTH_SOCK",
        ] {
            assert!(!is_secret_name(other), "{other}");
        }
    }

    #[test]
    fn secrets_have_owners() {
        assert_eq!(owner("GITHUB_TOKEN").has("api.github.com"), Some(true));
        assert_eq!(owner("GH_TOKEN").has("notgithub.com"), Some(false));
        assert_eq!(owner("NPM_TOKEN").has("registry.npmjs.org"), Some(true));
        assert_eq!(owner("API_KEY").has("anything.example"), None);
    }
}
