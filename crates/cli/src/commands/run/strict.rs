//! What the strict profile wants before anything runs: an agent whose hooks are registered, work, and are not switched off by its arguments.

use std::ffi::OsString;

use checkrein_clients::ClientAdapter;

use super::super::doctor;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Fails when calls of the agent would run without being reviewed.
pub(super) fn hooks_work(
    environment: &HostEnvironment,
    program: &str,
    agent: &[OsString],
) -> Result<(), CommandError> {
    let Some(client) = checkrein_clients::of_program(program) else {
        return Err(CommandError::user(
            format!("the profile strict wants every call reviewed, and `{program}` has no hooks of ours"),
            "run Claude Code, or take `--profile unattended`, which judges what its stream tells",
        ));
    };
    if let Some(name) = silenced(client, agent) {
        return Err(CommandError::user(
            format!("with `{name}` the hooks may not run, and the profile strict wants every call reviewed"),
            "leave it out, and put what is needed into the settings of the project",
        ));
    }
    doctor::protection(environment, client)
}

/// The argument with which the hooks of an agent may not run.
pub(super) fn silenced(client: &ClientAdapter, agent: &[OsString]) -> Option<String> {
    agent.iter().find_map(|argument| {
        let text = argument.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        client.silencing.contains(&name).then(|| name.to_owned())
    })
}
