//! `checkrein serve`: the server of this machine.

mod desk;

use std::sync::Arc;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_server::{Address, Server};

use super::{ExitStatus, OutputForm, for_no_agent};
use crate::terminal::{log, print, print_exact};

/// What is wanted of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// Where it listens, as text.
    pub listen: String,
}

/// Answers requests until the process is asked to end. A service may start it, an agent may not: its key does what only people may.
pub fn serve(
    environment: &HostEnvironment,
    wanted: &ServeOptions,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_no_agent(environment, "serve")?;
    let address = Address::parse(&wanted.listen)?;
    let server = Server::new(environment.clone(), Arc::new(desk::Desk::new(environment)))?;
    server.run(&address, |announcement| {
        match output {
            OutputForm::Json => print_exact(&super::line(announcement)?),
            OutputForm::Text => {
                print(&format!("listening on {}", announcement.url));
                if announcement.url.starts_with("http") {
                    print(&format!("open {} in a browser; it works once", announcement.open));
                }
                log("the key for programs is in `server/checkrein.token` of the state directory; Ctrl-C ends the server");
            }
        }
        Ok(())
    })?;
    Ok(ExitStatus::Done)
}
