//! `checkrein open`: a new link to the console of the server that runs.

use std::path::Path;
use std::process::{Command, Stdio};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::{config_files, servers};
use checkrein_protocol::AbsolutePath;
use checkrein_server::{Role, new_code, new_link};

use super::serve::show_code;
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api;
use crate::api::installation::{PairingLink, ServerLink};
use crate::terminal::{log, print, print_exact};

/// What becomes of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenWay {
    /// A browser opens it.
    Browser,
    /// It is printed.
    Print,
    /// A phone is paired by it, and gets this role.
    Phone(Role),
}

/// Opens the console of the server that began last, or prints a link to it.
pub fn open(
    environment: &HostEnvironment,
    way: OpenWay,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "open")?;
    let server = servers::answering(environment)
        .into_iter()
        .next()
        .ok_or_else(|| CommandError::user("no server runs", "`checkrein serve` starts one"))?;
    if let OpenWay::Phone(role) = way {
        let code = new_code(environment, &server, role)?;
        match output {
            OutputForm::Json => {
                print_exact(&api::line(&PairingLink { pair: code.pair, fingerprint: code.fingerprint })?);
            }
            OutputForm::Text => show_code(&code.pair, &code.fingerprint),
        }
        return Ok(ExitStatus::Done);
    }
    let link = new_link(environment, &server)?;
    match (output, way) {
        (OutputForm::Json, _) => {
            print_exact(&api::line(&ServerLink { url: server.url, open: link })?);
        }
        (OutputForm::Text, OpenWay::Browser) if link.starts_with("http") => {
            match in_browser(environment, &link) {
                Ok(()) => log("the console opens in a browser; if it does not, `checkrein open --print`"),
                Err(why) => {
                    log(&format!("no browser was opened: {why}"));
                    print(&link);
                }
            }
        }
        (OutputForm::Text, OpenWay::Browser | OpenWay::Print | OpenWay::Phone(_)) => print(&link),
    }
    Ok(ExitStatus::Done)
}

/// Has the system open the link. It stands in a file that only this user reads: others see the words of a command line.
fn in_browser(environment: &HostEnvironment, link: &str) -> Result<(), String> {
    let path = environment.state_path.join("server/open.html");
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>checkrein</title><meta http-equiv=\"refresh\" content=\"0; url={link}\"><a href=\"{link}\">Open the console</a>\n"
    );
    write(&path, &page)?;
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let ended = Command::new(opener)
        .arg(Path::new(path.as_str()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("`{opener}` cannot be started: {error}"))?;
    if ended.success() { Ok(()) } else { Err(format!("`{opener}` ended with {ended}")) }
}

fn write(path: &AbsolutePath, page: &str) -> Result<(), String> {
    config_files::write_private(path, page.as_bytes()).map_err(|error| error.message)
}
