//! From the words of a command line to the command.

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::arguments::{
    Arguments, AuditCommand, Command, ConfigCommand, CredentialCommand, ExecAlone, IncidentCommand,
    InitArguments, PolicyCommand, ReviewsCommand, SnapshotCommand, WorktreeCommand, consent,
};
use crate::commands::check::Where;
use crate::commands::init::Approval;
use crate::commands::{
    Exit, Output, audit, check, config, credential, diff, doctor, exec, export, halt, incidents, init, log,
    marks, notify, policy, recover, replay, reviews, rollback, route, run, runs, sessions, show, snapshots,
    surprises, trust, undo, watch, worktree,
};
use crate::terminal;
use checkrein_clients::{ClientAdapter, Scope};
use checkrein_engine::environment::Surroundings;
use checkrein_engine::error::CommandError;
use checkrein_hook::answer_hook_of;
use checkrein_policy::VerdictKind;
use checkrein_snapshot::Pin;
use checkrein_worktree::GuardFiles;

/// Does what the command line of this process says. Never fails: what goes wrong is told, and in the exit status.
pub fn run() -> ExitCode {
    // The hook is looked for by hand: building the command line of all the other commands costs more than a review.
    let asks_for_help = std::env::args().nth(2).is_some_and(|word| ["--help", "-h"].contains(&word.as_str()));
    if std::env::args().nth(1).as_deref() == Some("hook") && !asks_for_help {
        answer_hook_of(std::env::args().nth(2).as_deref());
        return ExitCode::SUCCESS;
    }
    // What is no plain call of it is told by the whole command line.
    if std::env::args_os().nth(1).is_some_and(|word| word == "exec")
        && let Ok(alone) = ExecAlone::try_parse_from(std::env::args_os().skip(1))
    {
        let output = Output::from_switch(alone.json.into());
        return ExitCode::from(exec::exec(alone.wanted.into(), output).code());
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // The status 2 of a usage error would be read as a block by those who call `check`.
            let failed = error.use_stderr();
            drop(error.print());
            return ExitCode::from(if failed { Exit::Failed.code() } else { Exit::Done.code() });
        }
    };
    match obey(arguments) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            terminal::log(&format!("error: {error}"));
            if let Some(hint) = &error.hint {
                terminal::log(&format!("hint: {hint}"));
            }
            ExitCode::from(Exit::Failed.code())
        }
    }
}

fn obey(arguments: Arguments) -> Result<Exit, CommandError> {
    // What runs a command looks at nothing that it does not need: it is started for every call.
    if let Command::Exec(wanted) = arguments.command {
        return Ok(exec::exec(wanted.into(), Output::from_switch(arguments.json.into())));
    }
    // Before there is any thread: this process is split in two.
    if let Command::Run(wanted) = arguments.command {
        return Ok(run::run(&wanted.into(), Output::from_switch(arguments.json.into())));
    }
    let surroundings = Surroundings::of_process()?;
    let output = Output::from_switch(arguments.json.into());
    match arguments.command {
        Command::Init(wanted) => {
            let (scope, approval) = (scope(&wanted), approval(&wanted));
            each_client(init::clients(&surroundings, &wanted.client)?, |client| {
                init::init(&surroundings, client, scope, approval, wanted.hook.clone(), output)
            })
        }
        Command::Uninstall(wanted) => {
            let (scope, approval) = (scope(&wanted), approval(&wanted));
            each_client(init::clients(&surroundings, &wanted.client)?, |client| {
                init::uninstall(&surroundings, client, scope, approval, output)
            })
        }
        Command::Doctor { client } => {
            let clients = doctor::clients(&surroundings, client.as_deref())?;
            doctor::doctor(surroundings, &clients, output)
        }
        Command::Check { batch, cwd, root, command } => {
            let place = Where { cwd, root };
            match (batch, command) {
                (Some(source), _) => check::batch(surroundings, &place, &source),
                (None, Some(command)) => check::one(surroundings, &place, &command, output),
                (None, None) => {
                    Err(CommandError::user("no command to check", "`checkrein check 'rm -rf build'`"))
                }
            }
        }
        Command::Exec(_) | Command::Run(_) => Ok(Exit::Done),
        Command::Route(wanted) => route::route(&surroundings, &wanted.into(), output),
        Command::Credential { command } => match command {
            CredentialCommand::Set { name } => credential::set(&surroundings, &name, output),
            CredentialCommand::Get { name } => credential::get(&surroundings, &name, output),
            CredentialCommand::List => credential::list(&surroundings, output),
            CredentialCommand::Delete { name } => credential::delete(&surroundings, &name, output),
        },
        Command::Log { session, number, verdict } => log::log(
            &surroundings,
            &log::Selection {
                session,
                count: number,
                verdict: verdict.map(|name| VerdictKind::from(name).name().to_owned()),
            },
            output,
        ),
        Command::Show { id } => show::show(&surroundings, &id, output),
        Command::Surprises { session, limit } => {
            surprises::surprises(&surroundings, &surprises::Selection { session, limit }, output)
        }
        Command::Sessions => sessions::sessions(&surroundings, output),
        Command::Watch { once, all } => watch::watch(&surroundings, once.into(), all.into(), output),
        Command::Mark { id, judgement, pattern, note } => {
            marks::mark(&surroundings, &id, judgement.into(), pattern.as_deref(), &note, output)
        }
        Command::Recover { session, policy } => {
            recover::recover(&surroundings, &session, policy.map(Into::into), output)
        }
        Command::Notify { test } => notify::notify(&surroundings, test.into(), output),
        Command::Marks => marks::marks(&surroundings, output),
        Command::Reviews { open, command } => match command {
            Some(ReviewsCommand::Close { id, note }) => reviews::close(&surroundings, &id, &note, output),
            None => {
                let shown = if open { reviews::Shown::Open } else { reviews::Shown::All };
                reviews::reviews(&surroundings, shown, output)
            }
        },
        Command::Incidents => incidents::incidents(&surroundings, output),
        Command::Incident { command: IncidentCommand::Show { id } } => {
            incidents::show(&surroundings, &id, output)
        }
        Command::Halt { session, all: _, lift: true, reason: _ } => {
            let which = session.as_deref().map_or(halt::Which::All, halt::Which::Named);
            halt::resume(&surroundings, which, output)
        }
        Command::Halt { session, all: _, lift: false, reason } => {
            halt::halt(&surroundings, session.as_deref(), &reason, output)
        }
        Command::Resume { session, all } => {
            halt::resume(&surroundings, halt::Which::of(session.as_deref(), all.into()), output)
        }
        Command::Undo { action, remove_new, consent } => {
            undo::undo(&surroundings, action.as_deref(), consent.permissions(remove_new), output)
        }
        Command::Rollback { snapshot, session, before, paths, remove_new, consent } => {
            match (snapshot, session, before) {
                (_, Some(session), Some(before)) => {
                    rollback::rollback_session(&surroundings, &session, &before, consent.consent(), output)
                }
                (Some(snapshot), _, _) => {
                    let permissions = consent.permissions(remove_new);
                    rollback::rollback(&surroundings, snapshot, &paths, permissions, output)
                }
                (None, _, _) => {
                    Err(CommandError::user("no snapshot is named", "`checkrein snapshots` lists them"))
                }
            }
        }
        Command::Diff { from, to, patch } => diff::diff(&surroundings, from, to, patch.into(), output),
        Command::Snapshots { number } => snapshots::list(&surroundings, number, output),
        Command::Snapshot { command } => match command {
            SnapshotCommand::Create { reason } => snapshots::create(&surroundings, &reason, output),
            SnapshotCommand::Pin { snapshot, remove } => {
                let pin = if remove { Pin::Loose } else { Pin::Pinned };
                snapshots::pin(&surroundings, snapshot, pin, output)
            }
            SnapshotCommand::Prune { dry_run } => snapshots::prune(&surroundings, dry_run.into(), output),
            SnapshotCommand::Verify => snapshots::verify(&surroundings, output),
            SnapshotCommand::Export { snapshot, directory } => {
                export::export(&surroundings, snapshot, &directory, output)
            }
        },
        Command::Runs { number, verify } => runs::runs(&surroundings, number, verify.into(), output),
        Command::Worktree { command } => worktrees(&surroundings, command, output),
        Command::Replay { file, against, goals } => {
            replay::replay(&surroundings, &file, against.as_deref(), &goals, output)
        }
        Command::Audit { command } => match command {
            AuditCommand::Verify { session } => audit::verify(&surroundings, session.as_deref(), output),
            AuditCommand::Export { session, form, output } => {
                audit::export(&surroundings, session.as_deref(), form.map(Into::into), output.as_deref())
            }
        },
        Command::Config { command } => match command {
            ConfigCommand::Show => config::show(&surroundings, output),
            ConfigCommand::Check => config::check(&surroundings, output),
            ConfigCommand::Schema => config::schema(),
        },
        Command::Policy { command } => match command {
            PolicyCommand::Show => policy::show(&surroundings, output),
            PolicyCommand::Check => policy::check(&surroundings, output),
            PolicyCommand::Test { file } => policy::test(&surroundings, file.as_deref(), output),
        },
        Command::Trust { yes } => trust::trust(&surroundings, yes.into(), output),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "checkrein", &mut text);
            terminal::print(&String::from_utf8_lossy(&text));
            Ok(Exit::Done)
        }
        Command::Hook { client } => {
            answer_hook_of(Some(&client));
            Ok(Exit::Done)
        }
    }
}

fn worktrees(
    surroundings: &Surroundings,
    command: WorktreeCommand,
    output: Output,
) -> Result<Exit, CommandError> {
    match command {
        WorktreeCommand::List => worktree::list(surroundings, output),
        WorktreeCommand::Diff { name, stat } => worktree::diff(surroundings, &name, stat.into(), output),
        WorktreeCommand::Merge { name, yes, with_guard_files, keep } => {
            let guard_files = if with_guard_files { GuardFiles::ComeBack } else { GuardFiles::StayBehind };
            let afterwards = if keep { worktree::Afterwards::Keep } else { worktree::Afterwards::Remove };
            worktree::merge(surroundings, &name, consent(yes), guard_files, afterwards, output)
        }
        WorktreeCommand::Discard { name, yes } => {
            worktree::discard(surroundings, &name, consent(yes), output)
        }
    }
}

/// Does something for each client; the worst end counts.
fn each_client(
    clients: Vec<&'static ClientAdapter>,
    mut work: impl FnMut(&'static ClientAdapter) -> Result<Exit, CommandError>,
) -> Result<Exit, CommandError> {
    let mut exit = Exit::Done;
    for client in clients {
        let done = work(client)?;
        if done != Exit::Done {
            exit = done;
        }
    }
    Ok(exit)
}

fn scope(wanted: &InitArguments) -> Option<Scope> {
    match (wanted.user, wanted.team, wanted.local) {
        (true, _, _) => Some(Scope::User),
        (_, true, _) => Some(Scope::Team),
        (_, _, true) => Some(Scope::Local),
        (false, false, false) => None,
    }
}

fn approval(wanted: &InitArguments) -> Approval {
    if wanted.dry_run {
        Approval::DryRun
    } else if wanted.yes {
        Approval::Given
    } else {
        Approval::Ask
    }
}
