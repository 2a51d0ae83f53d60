//! The command line of the server.

use checkrein_server::Role;
use clap::Args;

use crate::commands::{open, serve};

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address to listen on: 127.0.0.1:PORT, [::1]:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7717")]
    listen: String,
    /// Also answer other machines in the network, over TLS, and show a code that pairs a phone
    #[arg(long)]
    lan: bool,
    /// Speak TLS at the address of `--listen`, which may be any IP:PORT
    #[arg(long, conflicts_with = "lan")]
    tls: bool,
    /// Name under which other machines reach this one; may be repeated
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// What the phone may do that the code pairs
    #[arg(long, value_name = "ROLE", default_value = "approver", value_parser = role_of)]
    role: Role,
    /// Set the password for other machines, typed at the terminal (humans only)
    #[arg(long, conflicts_with_all = ["lan", "tls", "names"])]
    set_password: bool,
    /// List paired devices (humans only)
    #[arg(long, conflicts_with_all = ["lan", "tls", "names", "set_password"])]
    devices: bool,
    /// Remove a paired device, by id or name (humans only)
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["lan", "tls", "names", "set_password", "devices"])]
    remove_device: Option<String>,
}

fn role_of(word: &str) -> Result<Role, String> {
    Role::parse(word).ok_or_else(|| "it is `viewer` or `approver`".to_owned())
}

/// What `checkrein serve` is asked for.
#[derive(Debug)]
pub(crate) enum ServeWish {
    Serve(serve::ServeOptions),
    SetPassword,
    Devices,
    RemoveDevice(String),
}

#[derive(Debug, Args)]
pub(crate) struct OpenArguments {
    /// Print the link, and open nothing
    #[arg(long)]
    print: bool,
    /// Show a code that pairs a phone with the server
    #[arg(long, conflicts_with = "print")]
    phone: bool,
    /// What the phone may do that the code pairs
    #[arg(long, value_name = "ROLE", default_value = "approver", value_parser = role_of)]
    role: Role,
}

impl From<OpenArguments> for open::OpenWay {
    fn from(arguments: OpenArguments) -> Self {
        match arguments {
            OpenArguments { phone: true, role, .. } => Self::Phone(role),
            OpenArguments { print: true, .. } => Self::Print,
            OpenArguments { .. } => Self::Browser,
        }
    }
}

impl From<ServeArguments> for ServeWish {
    fn from(arguments: ServeArguments) -> Self {
        let ServeArguments { listen, lan, tls, names, role, set_password, devices, remove_device } =
            arguments;
        if let Some(device) = remove_device {
            return Self::RemoveDevice(device);
        }
        if set_password {
            return Self::SetPassword;
        }
        if devices {
            return Self::Devices;
        }
        let reach = match (lan, tls) {
            (true, _) => serve::Reach::Network,
            (false, true) => serve::Reach::Address,
            (false, false) => serve::Reach::Machine,
        };
        Self::Serve(serve::ServeOptions { listen, reach, names, role })
    }
}
