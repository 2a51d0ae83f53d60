//! The credentials that an agent is given: one value each, or several, of which the next is taken when the provider refuses.

use std::ffi::{OsStr, OsString};

use checkrein_engine::environment::{CREDENTIALS, HostEnvironment};
use checkrein_engine::error::CommandError;
use checkrein_ledger::{Authentication, AuthenticationAct, AuthenticationResult};
use checkrein_supervise::runs::RunId;
use checkrein_supervise::{FailureCause, ProviderFailure};

use super::super::for_no_agent;
use crate::authentications;
use crate::credentials::{CredentialName, Credentials, RunCredential, Secret};

/// The credentials of one run, with their values.
pub(super) struct GivenCredentials {
    all: Vec<GivenCredential>,
}

struct GivenCredential {
    variable: OsString,
    values: Vec<(CredentialName, Secret)>,
}

/// Why a provider refused the value that it was shown; `None` when it did not, or failed for a reason that says nothing against the value.
pub(super) fn refusal_of_key(failure: Option<ProviderFailure>) -> Option<FailureCause> {
    match failure?.cause {
        cause @ (FailureCause::Quota | FailureCause::Capacity | FailureCause::Authentication) => Some(cause),
        FailureCause::Connection | FailureCause::Request | FailureCause::Clock => None,
    }
}

impl GivenCredentials {
    /// The values of what is wanted, all of them read before anything runs.
    pub(super) fn of(environment: &HostEnvironment, wanted: &[RunCredential]) -> Result<Self, CommandError> {
        if !wanted.is_empty() {
            for_no_agent(environment, "run --credential")?;
        }
        let mut several = wanted.iter().map(|one| one.names.len()).filter(|count| *count > 1);
        if let Some(first) = several.next()
            && several.any(|count| count != first)
        {
            return Err(CommandError::user(
                "credentials with several values change together, so each needs as many of them",
                "name as many credentials before each variable, or one",
            ));
        }
        let credentials = Credentials::of(environment);
        let mut all = Vec::new();
        for one in wanted {
            let mut values = Vec::new();
            for name in &one.names {
                values.push((name.clone(), credentials.get(name)?));
            }
            all.push(GivenCredential { variable: one.variable.clone(), values });
        }
        Ok(Self { all })
    }

    /// How many values there are one after the other.
    pub(super) fn values(&self) -> usize {
        self.all.iter().map(|one| one.values.len()).max().unwrap_or(0)
    }

    /// What must stand in nothing that is said: names and values.
    pub(super) fn hidden(&self) -> Vec<(String, String)> {
        let values = self.all.iter().flat_map(|one| &one.values);
        values.map(|(name, value)| (name.to_string(), value.reveal().to_owned())).collect()
    }

    /// The variables of the agent while it has this value.
    pub(super) fn variables(&self, value: usize) -> Vec<(OsString, OsString)> {
        let shown = self.all.iter().filter_map(|one| {
            let (_, secret) = one.shown(value)?;
            Some((one.variable.clone(), secret.reveal().into()))
        });
        let mut variables: Vec<(OsString, OsString)> = shown.collect();
        if !variables.is_empty() {
            // The hooks of the agent find them among their variables, and mask them in the records.
            let names: Vec<OsString> = variables.iter().map(|(name, _)| name.clone()).collect();
            variables.push((CREDENTIALS.into(), names.join(OsStr::new(","))));
        }
        variables
    }

    /// The names of what is shown with this value, for people.
    pub(super) fn in_words(&self, value: usize) -> String {
        let changing = self.all.iter().filter(|one| one.values.len() > 1);
        let names = changing.filter_map(|one| one.shown(value));
        names.map(|(name, _)| format!("the credential `{name}`")).collect::<Vec<_>>().join(" and ")
    }

    /// Why a run halts of which every value was refused.
    pub(super) fn used_up(&self) -> String {
        let changing = self.all.iter().filter(|one| one.values.len() > 1).flat_map(|one| &one.values);
        let names: Vec<String> = changing.map(|(name, _)| format!("`{name}`")).collect();
        format!("its provider refused every credential that it may use: {}", names.join(", "))
    }

    /// Writes down that the agent is given these values, or why its provider refused them.
    pub(super) fn record(
        &self,
        environment: &HostEnvironment,
        value: usize,
        run: &RunId,
        refused: Option<FailureCause>,
    ) {
        let (result, detail) = match refused {
            None => (AuthenticationResult::Taken, String::new()),
            Some(cause) => (AuthenticationResult::Refused, super::word(cause)),
        };
        for (name, _) in self.all.iter().filter_map(|one| one.shown(value)) {
            authentications::record(
                environment,
                Authentication {
                    act: AuthenticationAct::CredentialUsed,
                    subject: name.to_string(),
                    by: "agent".to_owned(),
                    from: format!("run {run}"),
                    result,
                    detail: detail.clone(),
                },
            );
        }
    }
}

impl GivenCredential {
    /// What it shows with this value; one that has a single value always that.
    fn shown(&self, value: usize) -> Option<&(CredentialName, Secret)> {
        self.values.get(value).or_else(|| self.values.first())
    }
}
