//! Writes down who authenticated: the ledger of the crate below, with what this process knows of the moment.

use checkrein_engine::environment::HostEnvironment;
use checkrein_ledger::{Authentication, AuthenticationAct, AuthenticationResult, record_authentication};
use rustix::termios::ttyname;

use crate::credentials::CredentialName;
use crate::terminal::{log, plain};

/// Writes one down. What cannot be written is said, and keeps nobody from working.
pub(crate) fn record(environment: &HostEnvironment, one: Authentication) {
    if let Err(error) = record_authentication(&environment.state, environment.now(), one) {
        log(&plain(&format!("checkrein: the ledger of authentications could not be written: {error}")));
    }
}

/// Writes down what a person did to a credential at the command line.
pub(crate) fn by_person(
    environment: &HostEnvironment,
    act: AuthenticationAct,
    subject: &CredentialName,
    result: AuthenticationResult,
) {
    record(
        environment,
        Authentication {
            act,
            subject: subject.to_string(),
            by: "person".to_owned(),
            from: place(),
            result,
            detail: String::new(),
        },
    );
}

/// From where this process is used: its terminal, where it has one.
pub(crate) fn place() -> String {
    let name = ttyname(std::io::stdin(), Vec::new()).or_else(|_| ttyname(std::io::stderr(), Vec::new()));
    name.ok().and_then(|name| name.into_string().ok()).unwrap_or_else(|| "no terminal".to_owned())
}
