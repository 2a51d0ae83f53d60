//! The status line of a client in its settings: registered beside the hooks, taken back with them.

use checkrein_clients::{ClientAdapter, HookCommand, StatusLine};
use checkrein_protocol::AbsolutePath;

use super::init::{read, settings_file};
use crate::terminal::{cut, plain};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::looked_up;

/// The name of the program that prints the line.
const PROGRAM: &str = "checkrein";

/// The settings with our status line, and a remark about it. One that is there already, in this file or another one of the client, stays.
pub(super) fn registered(
    environment: &HostEnvironment,
    client: &ClientAdapter,
    settings: &str,
    hook: &HookCommand,
) -> Result<(String, String), CommandError> {
    let Some(layout) = &client.status_line else {
        return Ok((settings.to_owned(), format!("status    {} shows no line of a program", client.title)));
    };
    for (scope, _) in client.places.settings {
        let Some(path) = settings_file(environment, client, *scope) else { continue };
        if let Ok(StatusLine::Other { command }) = layout.found(&read(&path)?) {
            let command = cut(&plain(&command), 60);
            let remark = format!("status    stays as it is: {path} has one already (`{command}`)");
            return Ok((settings.to_owned(), remark));
        }
    }
    let own = environment.program.as_ref().and_then(|program| Some(layout.command(program.to_str()?)));
    let command = match (hook.program(), own) {
        (Some(_), Some(own)) => own,
        (None, _) | (Some(_), None) => layout.looked_up(),
    };
    let remark = "status    verdicts, tokens and cost in the status line".to_owned();
    Ok((layout.register(settings, &command)?, remark))
}

/// The settings without our status line.
pub(super) fn unregistered(client: &ClientAdapter, settings: &str) -> Result<String, CommandError> {
    Ok(match &client.status_line {
        Some(layout) => layout.unregister(settings)?,
        None => settings.to_owned(),
    })
}

/// The settings that name our status line, and where its program may be; `None` when none do.
pub(super) fn ours(
    environment: &HostEnvironment,
    client: &ClientAdapter,
) -> Option<(AbsolutePath, Vec<AbsolutePath>)> {
    let layout = client.status_line.as_ref()?;
    client.places.settings.iter().find_map(|(scope, _)| {
        let path = settings_file(environment, client, *scope)?;
        match layout.found(&read(&path).ok()?).ok()? {
            StatusLine::Absent | StatusLine::Other { .. } => None,
            StatusLine::Ours { program: Some(program) } => {
                Some((path, AbsolutePath::new(&program).into_iter().collect()))
            }
            StatusLine::Ours { program: None } => {
                let beside = |hook: AbsolutePath| Some(hook.parent()?.join(PROGRAM));
                Some((path, looked_up(environment).filter_map(beside).collect()))
            }
        }
    })
}
