//! The command line of the gateway before MCP servers.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::commands::mcp;

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Name of the server in the settings of the client [default: from its command]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Address of a server: https, or http on this machine
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    http: Option<String>,
    /// Header of each request to the address; repeatable
    #[arg(long, value_name = "NAME: VALUE", requires = "http")]
    header: Vec<String>,
    /// Header with the value of a variable: a secret belongs there
    #[arg(long, value_name = "NAME=VARIABLE", requires = "http")]
    header_env: Vec<String>,
    /// Server and its arguments
    #[arg(last = true, required_unless_present = "http", value_name = "SERVER")]
    command: Vec<OsString>,
}

impl From<McpArguments> for mcp::WantedGateway {
    fn from(arguments: McpArguments) -> Self {
        let server = match arguments.http {
            None => mcp::WantedServer::Process(arguments.command),
            Some(address) => mcp::WantedServer::Address {
                address,
                headers: arguments.header,
                header_variables: arguments.header_env,
            },
        };
        Self { name: arguments.name, server }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List servers, and the tools that wait for you (humans only)
    #[command(after_help = "Example:\n  checkrein mcp list")]
    List,
    /// Accept what a server says of its tools now (humans only)
    #[command(
        after_help = "Shows each description that waits, beside what was accepted before, and asks.\n\nExample:\n  checkrein mcp accept github"
    )]
    Accept {
        /// Name of the server
        name: String,
        /// Accept without asking
        #[arg(long)]
        yes: bool,
    },
    /// Forget what was accepted of a server (humans only)
    #[command(after_help = "Example:\n  checkrein mcp forget github")]
    Forget {
        /// Name of the server
        name: String,
        /// Forget without asking
        #[arg(long)]
        yes: bool,
    },
}
