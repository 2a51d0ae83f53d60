//! `checkrein serve`: the server of this machine.

mod desk;
mod people;

use std::sync::Arc;

use checkrein_engine::asking::{self, Asker};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_server::{Address, Doors, OutsideDoor, Pairing, Role, Server};

use super::{ExitStatus, OutputForm, for_no_agent};
use crate::terminal::{log, print, print_exact, qr_code};

pub use people::{devices, remove_device, set_password};

/// What is wanted of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// Where it listens, as text.
    pub listen: String,
    /// Who reaches it.
    pub reach: Reach,
    /// Under which names other machines reach it.
    pub names: Vec<String>,
    /// What the device may do that is paired by the code.
    pub role: Role,
}

/// Who reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// This machine.
    Machine,
    /// Also others, at the address of this machine in its network.
    Network,
    /// Also others, at the address that is listened on.
    Address,
}

/// The port of the server where none is said.
const PORT: u16 = 7717;

/// Answers requests until the process is asked to end. A service may start it, an agent may not: its key does what only people may.
pub fn serve(
    environment: &HostEnvironment,
    wanted: &ServeOptions,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_no_agent(environment, "serve")?;
    // A code in the journal of a service is a code for whoever reads it.
    let pairing = match asking::sign(environment, Asker::Person) {
        None => Pairing::Offered(wanted.role),
        Some(_) => Pairing::None,
    };
    let doors = doors(wanted, pairing)?;
    let _engine = super::engine::beside_server(environment);
    let server = Server::new(environment.clone(), Arc::new(desk::Desk::new(environment)))?;
    server.run(&doors, |announcement| {
        match output {
            OutputForm::Json => print_exact(&super::line(announcement)?),
            OutputForm::Text => {
                print(&format!("listening on {}", announcement.url));
                if announcement.url.starts_with("http") {
                    print(&format!("open {} in a browser; it works once", announcement.open));
                }
                if let Some(elsewhere) = &announcement.elsewhere {
                    print(&format!("other machines reach it at {}", elsewhere.url));
                    match &elsewhere.pair {
                        Some(pair) => show_code(pair, &elsewhere.fingerprint),
                        None => print(&format!("fingerprint of the certificate: {}", elsewhere.fingerprint)),
                    }
                }
                log("the key for programs is in `server/checkrein.token` of the state directory; Ctrl-C ends the server");
            }
        }
        Ok(())
    })?;
    Ok(ExitStatus::Done)
}

/// Shows a link that pairs a device, as a code for its camera and as text.
pub(super) fn show_code(pair: &str, fingerprint: &str) {
    if let Some(code) = qr_code(pair) {
        print_exact(&code);
    }
    print(&format!("pair a phone: {pair}"));
    print(
        "it works once, within five minutes; the browser warns, since nobody but you vouches for the certificate",
    );
    print(&format!("compare its fingerprint: {fingerprint}"));
}

fn doors(wanted: &ServeOptions, pairing: Pairing) -> Result<Doors, CommandError> {
    let names = wanted.names.clone();
    match wanted.reach {
        Reach::Machine => Ok(Doors { local: Address::parse(&wanted.listen)?, outside: None }),
        Reach::Network => {
            let local = Address::parse(&wanted.listen)?;
            let port = match &local {
                Address::Loopback(address) => address.port(),
                Address::Unix(_) => PORT,
            };
            Ok(Doors { local, outside: Some(OutsideDoor::in_network(port, names, pairing)?) })
        }
        Reach::Address => {
            let outside = OutsideDoor::parse(&wanted.listen, names, pairing)?;
            // One socket cannot have the port at all addresses and another at one of them.
            let ip = outside.address.ip();
            let port = if ip.is_loopback() || ip.is_unspecified() { 0 } else { outside.address.port() };
            let local = Address::parse(&format!("127.0.0.1:{port}"))?;
            Ok(Doors { local, outside: Some(outside) })
        }
    }
}
