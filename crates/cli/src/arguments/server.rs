//! The command line of the server.

use clap::Args;

use crate::commands::serve;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address to listen on: 127.0.0.1:PORT, [::1]:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7717")]
    listen: String,
}

impl From<ServeArguments> for serve::ServeOptions {
    fn from(arguments: ServeArguments) -> Self {
        Self { listen: arguments.listen }
    }
}
