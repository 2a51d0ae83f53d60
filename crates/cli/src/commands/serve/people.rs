//! What people decide about other machines: the password, and the devices that are paired.

use std::io::{self, IsTerminal as _};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_server::{Device, paired_devices};

use crate::api;
use crate::api::installation::{DeviceRemoved, PasswordSet};
use crate::commands::{ExitStatus, OutputForm, for_people_only};
use crate::terminal::{print, print_exact, table, typed_unseen};

/// Sets the password with which people log in from other machines. It is typed at a terminal, twice, and never stands in arguments.
pub fn set_password(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "serve --set-password")?;
    if !io::stdin().is_terminal() {
        return Err(CommandError::user(
            "the password is typed at a terminal, and there is none",
            "run `checkrein serve --set-password` in a terminal of your own",
        ));
    }
    let ask = |words: &str| -> Result<String, CommandError> {
        Ok(typed_unseen(words)?.trim_end_matches(['\r', '\n']).to_owned())
    };
    let password = ask("type the password for other machines; it is not shown:")?;
    if password != ask("type it again:")? {
        return Err(CommandError::user("these were two passwords", "nothing was changed; try again"));
    }
    checkrein_server::set_password(environment, &password)?;
    match output {
        OutputForm::Json => print_exact(&api::line(&PasswordSet { set: true })?),
        OutputForm::Text => {
            print("the password is set; who logged in with the one before is logged out");
        }
    }
    Ok(ExitStatus::Done)
}

/// Lists the devices that are paired.
pub fn devices(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "serve --devices")?;
    let all = paired_devices(environment);
    match output {
        OutputForm::Json => {
            for device in all {
                print_exact(&api::line(&api::installation::PairedDevice::from(device))?);
            }
        }
        OutputForm::Text if all.is_empty() => {
            print("no device is paired; `checkrein open --phone` pairs one");
        }
        OutputForm::Text => {
            let row = |device: Device| {
                let since = device.paired_at().calendar().to_rfc3339().replace('T', " ").replace('Z', " UTC");
                vec![device.id, device.name, device.role.word().to_owned(), since, device.from]
            };
            let rows = all.into_iter().map(row).collect();
            print(&table(&["id", "name", "role", "paired", "from"], rows));
        }
    }
    Ok(ExitStatus::Done)
}

/// Removes a device: what it asks for next is refused.
pub fn remove_device(
    environment: &HostEnvironment,
    wanted: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "serve --remove-device")?;
    let device = checkrein_server::remove_device(environment, wanted)?;
    match output {
        OutputForm::Json => print_exact(&api::line(&DeviceRemoved { id: device.id, name: device.name })?),
        OutputForm::Text => print(&format!("{} ({}) is removed", device.name, device.id)),
    }
    Ok(ExitStatus::Done)
}
