//! The command line of the server.

use clap::Args;

use crate::commands::{open, serve};

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address to listen on: 127.0.0.1:PORT, [::1]:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7717")]
    listen: String,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArguments {
    /// Print the link, and open nothing
    #[arg(long)]
    print: bool,
}

impl From<OpenArguments> for open::OpenWay {
    fn from(arguments: OpenArguments) -> Self {
        if arguments.print { Self::Print } else { Self::Browser }
    }
}

impl From<ServeArguments> for serve::ServeOptions {
    fn from(arguments: ServeArguments) -> Self {
        Self { listen: arguments.listen }
    }
}
