//! Which provider an agent calls, and the circuit breaker that all runs of this user share for it.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use checkrein_protocol::AbsolutePath;
use checkrein_supervise::{Breaker, Milliseconds, Passage, ProviderFailure};

use crate::terminal::log;
use checkrein_engine::config_files::write_private;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// A provider, and where the state of its breaker is kept.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) name: String,
    folder: AbsolutePath,
}

impl Provider {
    /// The one that an agent with this name calls, as far as its variables tell.
    pub(super) fn of(program: &str, environment: &HostEnvironment) -> Self {
        let variable = |name: &str| environment.variables.get(name).filter(|value| !value.is_empty());
        let host = |name: &str| {
            let rest = variable(name)?.split_once("://").map(|(_, rest)| rest)?;
            rest.split(['/', '?', '#']).next()?.rsplit('@').next().map(str::to_owned)
        };
        let of_client = |provider: &checkrein_clients::Provider| {
            let instead = provider.instead.iter().find(|(name, _)| variable(name).is_some());
            let other = instead.map(|(_, name)| (*name).to_owned());
            other.or_else(|| host(provider.address?)).unwrap_or_else(|| provider.name.to_owned())
        };
        let known = checkrein_clients::of_program(program);
        let name = match program {
            _ if let Some(client) = known => of_client(&client.provider),
            "gemini" => host("GOOGLE_GEMINI_BASE_URL").unwrap_or_else(|| "google".to_owned()),
            other => other.to_owned(),
        };
        Self { name, folder: environment.state_path.join("providers") }
    }

    /// The host and port at which an agent calls its model, by the variables that it gets; `None` where that is not known.
    pub(super) fn host<'a>(program: &str, variable: impl Fn(&str) -> Option<&'a String>) -> Option<String> {
        let provider = &checkrein_clients::of_program(program)?.provider;
        if provider.instead.iter().any(|(name, _)| variable(name).is_some()) {
            return None;
        }
        let Some(address) = provider.address.and_then(&variable) else {
            return provider.host.map(|host| format!("{host}:443"));
        };
        let (scheme, rest) = address.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if scheme == "http" { 80 } else { 443 };
        Some(if has_port { authority.to_owned() } else { format!("{authority}:{port}") })
    }

    /// Whether an agent may be started now.
    pub(super) fn ask(&self, now: Milliseconds) -> Result<Passage, CommandError> {
        self.change(|breaker| breaker.ask(now))
    }

    /// Keeps how it went; the earliest time of the next call, when it may not be made at once.
    pub(super) fn ended(
        &self,
        now: Milliseconds,
        failure: Option<ProviderFailure>,
        answered: Answered,
    ) -> Result<Option<Milliseconds>, CommandError> {
        self.change(|breaker| {
            match (failure, answered) {
                (Some(failure), _) => breaker.failed(now, failure),
                (None, Answered::Yes) => breaker.worked(),
                (None, Answered::NotKnown) => breaker.said_nothing(now),
            }
            breaker.earliest(now)
        })
    }

    /// One change under a lock that all runs share. What cannot be read counts as new: a breaker is there to save, not to keep away.
    fn change<T>(&self, change: impl FnOnce(&mut Breaker) -> T) -> Result<T, CommandError> {
        let fail = |error: std::io::Error| CommandError::file("write", &self.folder, &error);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.folder.as_str()).map_err(fail)?;
        let name: String = self.name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(100).collect();
        let lock = self.folder.join(&format!("{name}.lock"));
        let _held = locked(Path::new(lock.as_str())).map_err(fail)?;
        let place = self.folder.join(&format!("{name}.json"));
        let stored = checkrein_files::read(place.as_str(), 4095).ok();
        let before: Breaker = match stored.map(|bytes| serde_json::from_slice(&bytes)) {
            None => Breaker::default(),
            Some(Ok(breaker)) => breaker,
            Some(Err(error)) => {
                log(&format!("checkrein: `{place}` is not read, so the provider counts as well: {error}"));
                Breaker::default()
            }
        };
        let mut breaker = before.clone();
        let answer = change(&mut breaker);
        if breaker != before {
            write_private(&place, super::super::line(&breaker)?.as_bytes())?;
        }
        Ok(answer)
    }
}

/// Whether the provider was heard to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answered {
    Yes,
    NotKnown,
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
}

fn locked(path: &Path) -> std::io::Result<File> {
    let file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    file.lock()?;
    Ok(file)
}
