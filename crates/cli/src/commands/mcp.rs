//! `checkrein mcp`: the gateway before an MCP server, and what was accepted of each.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::sync::Arc;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_gateway::{
    ClientSide, EngineReviewer, FixedHeader, Origin, PinStore, PinnedDefinition, Pins, Relay, ServerAddress,
    WaitingDefinition, serve_address, serve_process,
};
use checkrein_ledger::mask::mask_text;
use similar::TextDiff;

use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api;
use crate::api::installation::{McpAccepted, McpServer, McpWaiting};
use crate::terminal::{Reply, confirm, counted, log, plain, print, print_exact};

/// Programs that start a server which one of their arguments names.
const STARTERS: [&str; 14] = [
    "npx", "bunx", "uvx", "pnpm", "yarn", "bun", "deno", "node", "python", "python3", "uv", "pipx", "docker",
    "podman",
];

/// Words behind a starter that name no server.
const VERBS: [&str; 8] = ["run", "exec", "dlx", "tool", "x", "start", "container", "stdio"];

/// What is wanted of the gateway.
#[derive(Debug)]
pub struct WantedGateway {
    /// The name that the client has for the server.
    pub name: Option<String>,
    /// The server.
    pub server: WantedServer,
}

/// The server that is stood before.
#[derive(Debug)]
pub enum WantedServer {
    /// A program and its arguments.
    Process(Vec<OsString>),
    /// One at an address.
    Address {
        /// The address.
        address: String,
        /// Headers, each `Name: value`.
        headers: Vec<String>,
        /// Headers, each `Name=VARIABLE`.
        header_variables: Vec<String>,
    },
}

/// Stands before a server until it or its client ends.
pub fn serve(environment: &HostEnvironment, wanted: &WantedGateway) -> Result<ExitStatus, CommandError> {
    let named = |or: String| canonical(&wanted.name.clone().unwrap_or(or));
    match &wanted.server {
        WantedServer::Process(command) => {
            let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let (name, origin) = (named(name_of(&words)), origin(environment, &words)?);
            let relay = Relay::new(EngineReviewer::new(environment.clone(), &name, origin), &name);
            serve_process(command, relay, client_side(&name)).map(ExitStatus::Passed)
        }
        WantedServer::Address { address, headers, header_variables } => {
            let address = ServerAddress::new(address)?;
            let headers = fixed_headers(environment, headers, header_variables)?;
            let name = named(address.host().to_owned());
            let key = environment.state.mask_key()?;
            let origin = Origin::of(&["http", address.as_str()], mask_text(address.as_str(), &key));
            let relay = Relay::new(EngineReviewer::new(environment.clone(), &name, origin), &name);
            serve_address(environment, address, headers, relay, client_side(&name)).map(ExitStatus::Passed)
        }
    }
}

/// The side of the client: the standard streams of this process.
fn client_side(name: &str) -> ClientSide {
    let name = name.to_owned();
    ClientSide {
        input: Box::new(io::stdin()),
        output: Box::new(io::BufWriter::with_capacity(64 * 1024, io::stdout())),
        remark: Arc::new(move |text| log(&format!("checkrein mcp {name}: {}", plain(text)))),
    }
}

fn fixed_headers(
    environment: &HostEnvironment,
    headers: &[String],
    variables: &[String],
) -> Result<Vec<FixedHeader>, CommandError> {
    let mut all = Vec::new();
    for header in headers {
        let Some((name, value)) = header.split_once(':') else {
            return Err(CommandError::user("a header has no colon", "`--header 'Name: value'`"));
        };
        all.push(FixedHeader::new(name, value)?);
    }
    for header in variables {
        let Some((name, variable)) = header.split_once('=') else {
            return Err(CommandError::user(
                format!("`{}` names no variable", plain(header)),
                "`--header-env Authorization=VARIABLE`",
            ));
        };
        let Some(value) = environment.variables.get(variable) else {
            return Err(CommandError::user(
                format!("the variable `{}` is not set", plain(variable)),
                "set it in the environment of the client, or in `env` of the server",
            ));
        };
        all.push(FixedHeader::new(name, value)?);
    }
    Ok(all)
}

/// What a server is known by: its command line, and the directory where that names files in it.
fn origin(environment: &HostEnvironment, words: &[String]) -> Result<Origin, CommandError> {
    let is_of_here =
        |word: &String| !word.starts_with('/') && fs::metadata(environment.cwd.join(word).as_str()).is_ok();
    let mut parts = vec!["stdio"];
    parts.extend(words.iter().map(String::as_str));
    if words.iter().any(is_of_here) {
        parts.push(environment.cwd.as_str());
    }
    let key = environment.state.mask_key()?;
    Ok(Origin::of(&parts, mask_text(&words.join(" "), &key)))
}

/// The name of a server by its command line.
fn name_of(words: &[String]) -> String {
    let base = |word: &str| {
        let word = word.rsplit('/').next().unwrap_or(word);
        let word =
            word.split_once('@').filter(|(before, _)| !before.is_empty()).map_or(word, |(before, _)| before);
        word.split_once('.').map_or(word, |(before, _)| before).to_owned()
    };
    let Some((program, arguments)) = words.split_first() else { return "server".to_owned() };
    let program = base(program);
    let names_another = STARTERS.contains(&program.as_str());
    let named = arguments
        .iter()
        .filter(|_| names_another)
        .find(|word| !word.starts_with('-') && !VERBS.contains(&word.as_str()));
    named.map(|word| base(word)).filter(|name| !name.is_empty()).unwrap_or(program)
}

/// A name as clients write it into the names of tools.
fn canonical(name: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_".contains(letter) { letter } else { '_' };
    let name: String = name.chars().map(letter).take(64).collect();
    if name.is_empty() { "server".to_owned() } else { name }
}

/// Lists the servers that were seen, and what waits of each.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    // What is listed is meant for the model by those who wrote it.
    for_people_only(environment, "mcp list")?;
    let servers = PinStore::new(environment).all()?;
    match output {
        OutputForm::Json => {
            for (_, pins) in &servers {
                print_exact(&api::line(&described(pins))?);
            }
        }
        OutputForm::Text if servers.is_empty() => {
            print(
                "no MCP server was seen yet; `checkrein init --mcp` puts those of a client behind checkrein",
            );
        }
        OutputForm::Text => {
            for (_, pins) in &servers {
                show(pins);
            }
        }
    }
    Ok(ExitStatus::Done)
}

fn described(pins: &Pins) -> McpServer {
    let waiting = pins.waiting().map(|(tool, pin, waiting)| McpWaiting {
        tool: tool.to_owned(),
        why: waiting.why.clone(),
        before: pin.accepted.as_ref().and_then(|accepted| accepted.fields.clone()),
        now: waiting.definition.fields.clone(),
    });
    McpServer {
        names: pins.names.clone(),
        origin: pins.origin.clone(),
        accepted: pins.tools.values().filter(|pin| pin.accepted.is_some()).count(),
        waiting: waiting.collect(),
    }
}

fn show(pins: &Pins) {
    let tools = counted(pins.tools.values().filter(|pin| pin.accepted.is_some()).count() as u64, "tool");
    print(&format!(
        "{}: {tools} as the server first told of them, or as you accepted them since",
        plain(&pins.names.join(", "))
    ));
    print(&format!("  runs {}", plain(&pins.origin)));
    for (tool, pin, waiting) in pins.waiting() {
        print(&format!("  `{}` waits for you: {}", plain(tool), plain(&waiting.why)));
        for line in difference(pin.accepted.as_ref(), waiting).lines() {
            print(&format!("    {}", plain(line)));
        }
    }
}

/// What changes by accepting a definition, line by line.
fn difference(accepted: Option<&PinnedDefinition>, waiting: &WaitingDefinition) -> String {
    let text = |definition: Option<&PinnedDefinition>| match definition {
        None => String::new(),
        Some(PinnedDefinition { fields: Some(fields), .. }) => {
            let text = serde_json::to_string_pretty(fields).unwrap_or_default();
            // Characters that nobody sees are shown by their numbers.
            text.chars()
                .map(|letter| match letter {
                    '\n' | ' '..='~' => letter.to_string(),
                    letter if letter.is_alphabetic() => letter.to_string(),
                    letter => letter.escape_unicode().to_string(),
                })
                .collect()
        }
        Some(PinnedDefinition { fields: None, digest }) => format!("(too long to be shown: {digest})"),
    };
    let (before, now) = (text(accepted), text(Some(&waiting.definition)));
    TextDiff::from_lines(&before, &now).unified_diff().context_radius(1).to_string()
}

/// Accepts what waits of the servers with this name.
pub fn accept(
    environment: &HostEnvironment,
    name: &str,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "mcp accept")?;
    let store = PinStore::new(environment);
    let servers = named(&store, name)?;
    if servers.iter().all(|(_, pins)| pins.waiting().next().is_none()) {
        match output {
            OutputForm::Json => print_exact(&api::pretty(&decided(name, Vec::new(), Switch::Off))?),
            OutputForm::Text => print(&format!("nothing of `{}` waits for you", plain(name))),
        }
        return Ok(ExitStatus::Done);
    }
    if output == OutputForm::Text {
        servers.iter().for_each(|(_, pins)| show(pins));
    }
    if yes == Switch::Off {
        match confirm("Let the model read these descriptions and call these tools?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    let mut accepted = Vec::new();
    for (file, _) in &servers {
        accepted.extend(store.accept(file)?);
    }
    match output {
        OutputForm::Json => print_exact(&api::pretty(&decided(name, accepted, Switch::Off))?),
        OutputForm::Text => {
            print(
                "accepted; clients show the tools when they ask the server for them again, at the latest in their next session",
            );
        }
    }
    Ok(ExitStatus::Done)
}

/// Forgets the servers with this name.
pub fn forget(
    environment: &HostEnvironment,
    name: &str,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "mcp forget")?;
    let store = PinStore::new(environment);
    let servers = named(&store, name)?;
    if yes == Switch::Off {
        match confirm(
            "Forget what was accepted? What the server says next is taken as said for the first time.",
        ) {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    for (file, _) in &servers {
        store.forget(file)?;
    }
    match output {
        OutputForm::Json => print_exact(&api::pretty(&decided(name, Vec::new(), Switch::On))?),
        OutputForm::Text => print("forgotten"),
    }
    Ok(ExitStatus::Done)
}

fn decided(name: &str, accepted: Vec<String>, forgotten: Switch) -> McpAccepted {
    McpAccepted { name: name.to_owned(), accepted, forgotten: forgotten == Switch::On }
}

/// The servers that a client knows by a name.
fn named(store: &PinStore, name: &str) -> Result<Vec<(String, Pins)>, CommandError> {
    let mut servers = store.all()?;
    servers.retain(|(_, pins)| pins.names.iter().any(|known| known == name || *known == canonical(name)));
    if servers.is_empty() {
        return Err(CommandError::user(
            format!("no MCP server called `{}` was seen", plain(name)),
            "`checkrein mcp list` lists those that were",
        ));
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_after_what_they_are() {
        for (line, name) in [
            ("npx -y @modelcontextprotocol/server-filesystem .", "server-filesystem"),
            ("uvx mcp-server-git@1.2 --repository .", "mcp-server-git"),
            ("/usr/local/bin/github-mcp-server stdio", "github-mcp-server"),
            ("python3 tools/notes.py", "notes"),
            ("docker run -i --rm mcp/fetch", "fetch"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(name_of(&words), name, "{line}");
        }
        assert_eq!(canonical("my server.x"), "my_server_x");
    }
}
