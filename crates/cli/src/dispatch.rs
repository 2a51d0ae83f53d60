//! From the words of a command line to the command.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

use clap::FromArgMatches as _;
#[cfg(target_os = "linux")]
use clap::Parser as _;
use clap::error::{ContextKind, ContextValue};

use crate::api::ErrorAnswer;
#[cfg(target_os = "linux")]
use crate::arguments::ExecAlone;
use crate::arguments::{
    AgentCommand, ApprovalCommand, Arguments, AuditCommand, AuditKeyCommand, ChangeCommand, Command,
    ConfigCommand, CredentialCommand, IncidentCommand, InitArguments, IssueCommand, McpCommand,
    NoticeCommand, OldForm, OldReviewsForm, OpinionArguments, PipelineCommand, PluginCommand, PolicyCommand,
    PushHookCommand, RollbackForm, RunCommand, ServeWish, SessionCommand, SnapshotCommand, SurpriseCommand,
    TicketCommand, TrustCommand, UninstallArguments, WorktreeCommand, command_line, completions, consent,
    push_request,
};
use crate::commands::check::Where;
#[cfg(not(target_os = "linux"))]
use crate::commands::elsewhere;
use crate::commands::engine::EngineLife;
use crate::commands::history::HistoryQuery;
use crate::commands::incidents::ClosingSource;
use crate::commands::name_choice::{NEWEST, is_near};
use crate::commands::pipeline::PipelineRequest;
use crate::commands::session_choice::only_folder;
use crate::commands::settings_change::{Approval, ChangeDetail, Manner};
use crate::commands::uninstall::UninstallReach;
use crate::commands::{
    ExitStatus, OutputForm, Switch, agents, allow, approvals, audit, audit_keys, change, check, config,
    credential, diff, doctor, engine, export, gate, halt, history, incidents, init, log, manual, marks, mask,
    mcp, notify, open, opinion, pipeline, policy, policy_try, preset, purge, push_hook, recover, replay,
    reviews, rollback, runs, serve, session_rollback, sessions, show, snapshots, stats, statusline,
    surprises, team_policy, trust, undo, uninstall, update, watch, worktree,
};
#[cfg(target_os = "linux")]
use crate::commands::{acp, exec, plugin, route, run};
use crate::terminal;
use checkrein_clients::SettingsScope;
use checkrein_engine::approvals::ApprovalAnswer;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_hook::answer_hook_of;
use checkrein_policy::VerdictKind;
use checkrein_snapshot::Pin;
use checkrein_worktree::GuardFiles;

/// The stack on which commands are read, in bytes, as in the hook: virtual memory, touched only as far as it is used (ours).
const STACK: usize = 64 * 1024 * 1024;

/// Does what the command line of this process says. Never fails: what goes wrong is told, and in the exit status.
pub fn run() -> ExitCode {
    // The hook is looked for by hand: building the command line of all the other commands costs more than a review.
    let asks_for_help = std::env::args().nth(2).is_some_and(|word| ["--help", "-h"].contains(&word.as_str()));
    if std::env::args().nth(1).as_deref() == Some("hook") && !asks_for_help {
        answer_hook_of(std::env::args().nth(2).as_deref(), None);
        return ExitCode::SUCCESS;
    }
    // What is no plain call of it is told by the whole command line.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|word| word == "exec")
        && let Ok(alone) = ExecAlone::try_parse_from(std::env::args_os().skip(1))
    {
        let output = OutputForm::from_switch(alone.json.into());
        aside(output);
        return ExitCode::from(exec::exec(alone.wanted.into(), output).code());
    }
    let matches = command_line().try_get_matches();
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = with_near_commands(error);
            // The status 2 of a usage error would be read as a block by those who call `check`.
            let failed = error.use_stderr();
            drop(error.print());
            if failed && asks_for_json() {
                terminal::print_exact(&usage(&error).line());
            }
            return ExitCode::from(if failed { ExitStatus::Failed.code() } else { ExitStatus::Done.code() });
        }
    };
    let output = OutputForm::from_switch(arguments.json.into());
    // Standard output belongs to the tests.
    let is_route = matches!(arguments.command, Command::Route(_));
    match obey(arguments) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            let told = ErrorAnswer::of(&error, ExitStatus::Failed.code());
            match output {
                OutputForm::Json if is_route => {
                    terminal::answer_aside(&told.line());
                    return ExitCode::from(ExitStatus::Failed.code());
                }
                OutputForm::Json => terminal::print_exact(&told.line()),
                OutputForm::Text => {}
            }
            // What is quoted, such as a line of a file, does not speak to the terminal.
            terminal::log(&terminal::plain(&format!("error: {error}")));
            if let Some(hint) = &error.hint {
                terminal::log(&terminal::plain(&format!("hint: {hint}")));
            }
            ExitCode::from(ExitStatus::Failed.code())
        }
    }
}

/// What is wrong with the words of a command line, the name of the program first; `None` where they are a command. Runs nothing.
pub fn fault_of_words(words: &[String]) -> Option<String> {
    let matches = command_line().try_get_matches_from(words);
    let error = matches.and_then(|matches| Arguments::from_arg_matches(&matches)).err()?;
    // Help and version are asked for, and are no fault.
    error.use_stderr().then(|| error.to_string())
}

/// For a command whose answer goes to standard error: where that is JSON, all that is said there is.
fn aside(output: OutputForm) {
    match output {
        OutputForm::Json => terminal::remark_in_json(),
        OutputForm::Text => {}
    }
}

/// Whether JSON is asked for by words that are no command as a whole.
fn asks_for_json() -> bool {
    std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json")
}

/// The error about an unknown command with those that may be meant: clap compares letters by their places, so that a swap (`lgo`) is far off.
fn with_near_commands(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand).cloned() else {
        return error;
    };
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return error;
    }
    let all = command_line();
    let before = std::env::args().skip(1).take_while(|word| *word != typed);
    let known = before.fold(&all, |known, word| known.find_subcommand(word).unwrap_or(known));
    let shown = known.get_subcommands().filter(|command| !command.is_hide_set());
    let mut near: Vec<(usize, String)> = shown
        .filter_map(|command| Some((is_near(&typed, command.get_name())?, command.get_name().to_owned())))
        .collect();
    near.sort();
    if !near.is_empty() {
        let names = near.into_iter().map(|(_, name)| name).take(3).collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    error
}

/// Words that are not a command, for programs: what clap says first, and its advice.
fn usage(error: &clap::Error) -> ErrorAnswer {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let cause = lines.next().map(|line| line.strip_prefix("error: ").unwrap_or(line)).unwrap_or_default();
    let tip = lines.find_map(|line| line.strip_prefix("tip: "));
    let hint = tip.unwrap_or("`checkrein help COMMAND` shows its arguments");
    ErrorAnswer::of_usage(cause.to_owned(), Some(hint.to_owned()), ExitStatus::Failed.code())
}

fn obey(arguments: Arguments) -> Result<ExitStatus, CommandError> {
    // What runs a command looks at nothing that it does not need: it is started for every call.
    if let Command::Acp(_)
    | Command::Exec(_)
    | Command::Route(_)
    | Command::Run { command: None, wanted: _ } = arguments.command
    {
        aside(OutputForm::from_switch(arguments.json.into()));
    }
    #[cfg(not(target_os = "linux"))]
    match arguments.command {
        Command::Exec(_) => return Err(elsewhere::needs_linux("exec")),
        Command::Run { command: None, wanted: _ } => return Err(elsewhere::needs_linux("run")),
        Command::Route(_) => return Err(elsewhere::needs_linux("route")),
        Command::Acp(_) => return Err(elsewhere::needs_linux("acp")),
        _ => {}
    }
    #[cfg(target_os = "linux")]
    if let Command::Exec(wanted) = arguments.command {
        return Ok(exec::exec(wanted.into(), OutputForm::from_switch(arguments.json.into())));
    }
    #[cfg(target_os = "linux")]
    if let Command::Acp(wanted) = arguments.command {
        return Ok(acp::acp(wanted.into(), OutputForm::from_switch(arguments.json.into())));
    }
    #[cfg(target_os = "linux")]
    if let Command::Pipeline { command: PipelineCommand::Attend(wanted) } = arguments.command {
        return Ok(pipeline::attend::attend(&wanted.into()));
    }
    // Before there is any thread: this process is split in two.
    #[cfg(target_os = "linux")]
    if let Command::Run { wanted, command: None } = arguments.command {
        return Ok(run::run(&(*wanted).into(), OutputForm::from_switch(arguments.json.into())));
    }
    // It says in its line what goes wrong.
    if let Command::Statusline = arguments.command {
        return Ok(statusline::statusline(OutputForm::from_switch(arguments.json.into())));
    }
    let environment = HostEnvironment::of_process()?;
    if let Command::Route(_) = arguments.command {
        return command(arguments, environment);
    }
    let vault = environment.state.vault().clone();
    // Commands are read on a stack as large as that of the hook, so that every door gives the same answer.
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || command(arguments, environment));
    let worker = worker.map_err(|error| {
        CommandError::user(format!("no thread could be started: {error}"), "allow more processes or memory")
    })?;
    let done = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    if done.is_ok() {
        for error in vault.missed() {
            terminal::log(&format!("what is encrypted is left out: {error}"));
            terminal::log(&format!("hint: {}", error.hint()));
        }
    }
    done
}

fn command(arguments: Arguments, environment: HostEnvironment) -> Result<ExitStatus, CommandError> {
    let output = OutputForm::from_switch(arguments.json.into());
    match arguments.command {
        Command::Init(wanted) => {
            let InitArguments { user, team, local, dry_run, verbose, yes, client, statusline, mcp, hook } =
                wanted;
            let order = init::Order {
                scope: scope(user, team, local),
                manner: manner(dry_run, yes, verbose),
                program: hook,
                status_line: statusline.into(),
                servers: mcp.into(),
            };
            init::init(&environment, client.as_deref(), &order, output)
        }
        Command::Uninstall(wanted) => {
            let UninstallArguments { user, team, local, dry_run, verbose, yes, purge, client } = wanted;
            let manner = manner(dry_run, yes, verbose);
            let reach = UninstallReach::of(scope(user, team, local), client.as_deref());
            let clients = uninstall::meant(&environment, client.as_deref(), reach)?;
            if purge {
                purge::check_first(&environment, &clients, reach)?;
            }
            let done = uninstall::uninstall(&environment, &clients, reach, manner, output)?;
            match (done, purge) {
                (ExitStatus::Done, true) => purge::purge(&environment, manner.approval, output),
                (ExitStatus::Done, false) if output == OutputForm::Text && !dry_run => {
                    uninstall::tell_what_stays(&environment);
                    Ok(done)
                }
                (done, _) => Ok(done),
            }
        }
        Command::Doctor { client, all, verbose } => {
            let clients = doctor::clients(&environment, client.as_deref())?;
            let detail =
                if verbose { doctor::DiagnosisDetail::Whole } else { doctor::DiagnosisDetail::Summary };
            let others = doctor::OtherAgents::beside(client.as_deref());
            doctor::doctor(environment, &clients, others, all.into(), detail, output)
        }
        Command::Check { batch, cwd, root, verbose, command } => {
            let place = Where { cwd, root };
            let extent = if verbose { show::ShowExtent::Verbose } else { show::ShowExtent::Story };
            match (batch, command) {
                (Some(source), _) => check::batch(environment, &place, &source),
                (None, Some(command)) => check::one(environment, &place, &command, extent, output),
                (None, None) => {
                    Err(CommandError::user("no command to check", "`checkrein check 'rm -rf build'`"))
                }
            }
        }
        Command::Acp(_)
        | Command::Exec(_)
        | Command::Run { command: None, wanted: _ }
        | Command::Statusline => Ok(ExitStatus::Done),
        Command::Run { command: Some(command), wanted: _ } => run_records(&environment, &command, output),
        Command::Mask => mask::mask(&environment),
        Command::Mcp { wanted, command: None } => mcp::serve(&environment, &wanted.into()),
        Command::Mcp { wanted: _, command: Some(command) } => match command {
            McpCommand::List => mcp::list(&environment, output),
            McpCommand::Accept { name, yes } => mcp::accept(&environment, &name, yes.into(), output),
            McpCommand::Forget { name, yes } => mcp::forget(&environment, &name, yes.into(), output),
        },
        Command::Plugin { command } => plugins(&environment, command, output),
        #[cfg(target_os = "linux")]
        Command::Route(wanted) => route::route(&environment, &wanted.into(), output),
        #[cfg(not(target_os = "linux"))]
        Command::Route(_) => Ok(ExitStatus::Done),
        Command::Log { session, number, verdict, here, today, since, risky, follow } => log::log(
            &environment,
            &log::LogFilter {
                session,
                count: number.unwrap_or(if since.is_some() { usize::MAX } else { log::NUMBER }),
                verdict: verdict.map(|name| VerdictKind::from(name).name().to_owned()),
                here: here.into(),
                today: today.into(),
                since: since.map(|since| since.start(environment.now())).transpose()?,
                risky: risky.into(),
                follow: follow.into(),
            },
            output,
        ),
        Command::Show { id, verbose } => {
            let extent = if verbose { show::ShowExtent::Verbose } else { show::ShowExtent::Story };
            show::show(&environment, &id, extent, output)
        }
        Command::Watch { once, all } => watch::watch(&environment, once.into(), all.into(), output),
        Command::Undo(wanted) => {
            let permissions = wanted.consent.permissions(wanted.remove_new);
            let named = wanted.action.as_deref().filter(|named| *named != NEWEST);
            let session = wanted.session.as_deref();
            let session = session.map(|session| only_folder(&environment, session)).transpose()?;
            let choice = match (named, &session) {
                (Some(named), _) => undo::UndoChoice::Named(named),
                (None, Some(folder)) => undo::UndoChoice::NewestOf(folder),
                (None, None) => undo::UndoChoice::Newest,
            };
            undo::undo(&environment, choice, permissions, output)
        }
        Command::Halt { session, all: _, lift: true, reason: _ } => {
            let which = session.as_deref().map_or(halt::Which::All, halt::Which::Named);
            halt::resume(&environment, which, output)
        }
        Command::Halt { session, all: _, lift: false, reason } => {
            halt::halt(&environment, session.as_deref(), &reason, output)
        }
        Command::Resume { session, all, terms } => {
            let which = halt::Which::of(session.as_deref(), all.into());
            halt::resume_on_terms(&environment, which, &terms.into(), output)
        }
        Command::Gate(wanted) => gate::gate(&environment, &wanted.into(), output),
        Command::PushHook { command } => push_hooks(&environment, command, output),
        Command::Pipeline { command } => pipelines(&environment, command, output),
        Command::Task(wanted) => {
            let dry_run = wanted.dry_run;
            let wanted = wanted.request(&environment)?;
            if dry_run {
                pipeline::dry_run(&environment, &wanted, output)
            } else {
                pipeline::run(&environment, &wanted, output)
            }
        }
        Command::Allow(wanted) => match (wanted.list, wanted.forget, wanted.id) {
            (true, _, _) => allow::list(&environment, output),
            (false, Some(name), _) => allow::forget(&environment, &name, output),
            (false, None, id) => {
                let span = match (wanted.session, wanted.always) {
                    (true, _) => allow::WantedSpan::Session,
                    (false, true) => allow::WantedSpan::Always,
                    (false, false) => allow::WantedSpan::Once,
                };
                let id = id.unwrap_or_default();
                let yes = wanted.yes.into();
                allow::allow(
                    &environment,
                    &allow::Wanted { id, span, directory: wanted.directory, yes },
                    output,
                )
            }
        },
        Command::Wrong(wanted) => opine(&environment, &wanted, opinion::Opinion::Wrong, output),
        Command::Missed(wanted) => opine(&environment, &wanted, opinion::Opinion::Missed, output),
        Command::Trust { yes: _, command: Some(TrustCommand::Show) } => {
            trust::show_waiting(&environment, output)
        }
        Command::Trust { yes, command: None } => trust::trust(&environment, yes.into(), output),
        Command::Serve(wanted) => match wanted.into() {
            ServeWish::Serve(wanted) => serve::serve(&environment, &wanted, output),
            ServeWish::SetPassword => serve::set_password(&environment, output),
            ServeWish::Devices => serve::devices(&environment, output),
            ServeWish::RemoveDevice(device) => serve::remove_device(&environment, &device, output),
        },
        Command::Engine { with_starter } => {
            let life = if with_starter { EngineLife::WithStarter } else { EngineLife::UntilAsked };
            engine::engine(&environment, life, output)
        }
        Command::Open(wanted) => open::open(&environment, wanted.into(), output),
        Command::Stats { since, here } => stats::stats(&environment, &since, here.into(), output),
        Command::History { words, since, here, number } => {
            let words = words.join(" ");
            let query = HistoryQuery { words, since, here: here.into(), most: number };
            history::history(&environment, &query, output)
        }
        Command::Session { command } => sessions(&environment, command, output),
        Command::Snapshot { command } => snapshots(&environment, command, output),
        Command::Worktree { command } => worktrees(&environment, command, output),
        Command::Approval { command } => approvals(&environment, command, output),
        Command::Change { command } => changes(&environment, command, output),
        Command::Incident { command } => match command {
            IncidentCommand::List => incidents::incidents(&environment, output),
            IncidentCommand::Show { id } => incidents::show(&environment, &id, output),
            IncidentCommand::Close(wanted) => {
                let note = wanted.note.as_str();
                incidents::close(&environment, &wanted.id, (note, ClosingSource::CommandLine), output)
            }
        },
        Command::Issue { command } => issues(&environment, command, output),
        Command::Ticket { command } => tickets(&environment, command, output),
        Command::Agent { command } => match command {
            AgentCommand::List => agents::list(&environment, output),
            AgentCommand::Tier(wanted) => {
                agents::tier(&environment, &wanted.agent, &wanted.tier, &wanted.note, output)
            }
        },
        Command::Surprise { command: SurpriseCommand::List(wanted) } => {
            let selection = surprises::SurpriseFilter { session: wanted.session, number: wanted.number };
            surprises::surprises(&environment, &selection, output)
        }
        Command::Replay { file, against, goals } => {
            replay::replay(&environment, &file, against.as_deref(), &goals, output)
        }
        Command::Config { command } => match command {
            ConfigCommand::Show { filter } => config::show(&environment, filter.as_deref(), output),
            ConfigCommand::Preset { name, yes, dry_run } => {
                let wanted =
                    preset::PresetWanted { preset: name.into(), yes: yes.into(), dry_run: dry_run.into() };
                preset::preset(&environment, wanted, output)
            }
            ConfigCommand::Check => config::check(&environment, output),
            ConfigCommand::Schema => config::schema(),
        },
        Command::Policy { command } => match command {
            PolicyCommand::Show => policy::show(&environment, output),
            PolicyCommand::Check => policy::check(&environment, output),
            PolicyCommand::Test { file } => policy::test(&environment, file.as_deref(), output),
            PolicyCommand::Try { file, since } => policy_try::policy_try(&environment, &file, &since, output),
            PolicyCommand::Key { to } => team_policy::key(&environment, &to, output),
            PolicyCommand::Sign { file, key } => team_policy::sign(&environment, &file, &key, output),
            PolicyCommand::Pin { place, key, yes } => {
                team_policy::pin(&environment, &place, &key, yes.into(), output)
            }
            PolicyCommand::Update { yes } => team_policy::update(&environment, yes.into(), output),
            PolicyCommand::Unpin { yes } => team_policy::unpin(&environment, yes.into(), output),
        },
        Command::Audit { command } => match command {
            AuditCommand::Verify { session } => audit::verify(&environment, session.as_deref(), output),
            AuditCommand::Authentications(wanted) => {
                audit::authentications(&environment, wanted.number, output)
            }
            AuditCommand::Key { command } => match command {
                AuditKeyCommand::List => audit_keys::list(&environment, output),
                AuditKeyCommand::Rotate => audit_keys::rotate(&environment, output),
                AuditKeyCommand::Keyring => audit_keys::keyring(&environment, output),
                AuditKeyCommand::Unlock => audit_keys::unlock(&environment, output),
            },
            AuditCommand::Prune { dry_run, yes } => {
                audit::prune(&environment, dry_run.into(), yes.into(), output)
            }
            AuditCommand::Export { session, form, output: file, follow } => audit::export(
                &environment,
                session.as_deref(),
                form.map(Into::into),
                file.as_deref(),
                (if follow { audit::Going::On } else { audit::Going::Ends }, output),
            ),
        },
        Command::Credential { command } => match command {
            CredentialCommand::Set { name } => credential::set(&environment, &name, output),
            CredentialCommand::Get { name } => credential::get(&environment, &name, output),
            CredentialCommand::List => credential::list(&environment, output),
            CredentialCommand::Delete { name } => credential::delete(&environment, &name, output),
        },
        Command::Notice { command } => notify::notify(
            &environment,
            match command {
                NoticeCommand::Send => Switch::Off,
                NoticeCommand::Test => Switch::On,
            },
            output,
        ),
        Command::Completions { shell } => {
            terminal::print_exact(&completions(shell));
            Ok(ExitStatus::Done)
        }
        Command::Manual { to } => manual::manual(&to, output),
        Command::Update { version, from, allow_downgrade, yes } => {
            let wanted = update::Wanted { version, from, downgrade: allow_downgrade.into(), yes: yes.into() };
            update::update(&environment, &wanted, output)
        }
        Command::Hook { client } => {
            answer_hook_of(Some(&client), None);
            Ok(ExitStatus::Done)
        }
        Command::Old(form) => old_form(&environment, form, output),
    }
}

fn pipelines(
    environment: &HostEnvironment,
    command: PipelineCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        PipelineCommand::Run(wanted) if wanted.dry_run => {
            pipeline::dry_run(environment, &wanted.into(), output)
        }
        PipelineCommand::Run(wanted) => pipeline::run(environment, &wanted.into(), output),
        PipelineCommand::Check { file } => {
            let wanted = PipelineRequest { file: Some(file), ..PipelineRequest::default() };
            pipeline::check(environment, &wanted, output)
        }
        PipelineCommand::Graph { file } => pipeline::graph(environment, &file, output),
        PipelineCommand::List => pipeline::list(environment, output),
        PipelineCommand::Show { run } => pipeline::show(environment, &run, output),
        PipelineCommand::Verify => pipeline::verify(environment, output),
        // It was answered before there was any thread.
        PipelineCommand::Attend(_) => Ok(ExitStatus::Done),
    }
}

fn run_records(
    environment: &HostEnvironment,
    command: &RunCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        RunCommand::List(wanted) => runs::list(environment, wanted.number, output),
        RunCommand::Show { run } => runs::show(environment, run, output),
        RunCommand::Verify => runs::verify(environment, output),
    }
}

fn sessions(
    environment: &HostEnvironment,
    command: SessionCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        SessionCommand::List => sessions::sessions(environment, output),
        SessionCommand::Show { session } => sessions::show(environment, &session, output),
        SessionCommand::Rollback { session, before, consent } => {
            session_rollback::rollback_session(environment, &session, &before, consent.terms(), output)
        }
        SessionCommand::Recover(wanted) if wanted.abort => {
            recover::abort(environment, &wanted.session, output)
        }
        SessionCommand::Recover(wanted) => {
            recover::recover(environment, &wanted.session, wanted.policy.map(Into::into), output)
        }
    }
}

fn snapshots(
    environment: &HostEnvironment,
    command: SnapshotCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        SnapshotCommand::List(wanted) => snapshots::list(environment, wanted.number, output),
        SnapshotCommand::Create { reason } => snapshots::create(environment, &reason, output),
        SnapshotCommand::Diff(wanted) => {
            diff::diff(environment, wanted.from, wanted.to, wanted.patch.into(), output)
        }
        SnapshotCommand::Restore { snapshot, paths, remove_new, consent } => {
            rollback::rollback(environment, snapshot, &paths, consent.permissions(remove_new), output)
        }
        SnapshotCommand::Pin { snapshot, remove } => {
            let pin = if remove { Pin::Loose } else { Pin::Pinned };
            snapshots::pin(environment, snapshot, pin, output)
        }
        SnapshotCommand::Prune { dry_run } => snapshots::prune(environment, dry_run.into(), output),
        SnapshotCommand::Verify => snapshots::verify(environment, output),
        SnapshotCommand::Export { snapshot, directory } => {
            export::export(environment, snapshot, &directory, output)
        }
    }
}

fn issues(
    environment: &HostEnvironment,
    command: IssueCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        IssueCommand::List(wanted) => marks::issues(environment, wanted.number, output),
        IssueCommand::Mark(wanted) => marks::mark(
            environment,
            &wanted.id,
            wanted.judgement.into(),
            wanted.pattern.as_deref(),
            &wanted.note,
            output,
        ),
        IssueCommand::Stats => marks::marks(environment, output),
    }
}

fn approvals(
    environment: &HostEnvironment,
    command: ApprovalCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        ApprovalCommand::List => approvals::list(environment, output),
        ApprovalCommand::Show { id } => approvals::show(environment, &id, output),
        ApprovalCommand::Allow(wanted) => {
            let answer = match (wanted.session, wanted.always) {
                (true, _) => ApprovalAnswer::Session,
                (false, true) => ApprovalAnswer::Always,
                (false, false) => ApprovalAnswer::Once,
            };
            approvals::answer(environment, &wanted.id, &answer, output)
        }
        ApprovalCommand::Put => approvals::put::put(environment),
        ApprovalCommand::Deny { id, message } => {
            approvals::answer(environment, &id, &ApprovalAnswer::No { message }, output)
        }
    }
}

#[cfg(target_os = "linux")]
fn plugins(
    environment: &HostEnvironment,
    command: PluginCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        PluginCommand::Init { name, language, kind } => {
            let kinds: Vec<_> = kind.into_iter().map(Into::into).collect();
            plugin::init(environment, &name, language.into(), &kinds, output)
        }
        PluginCommand::Test { plugin } => plugin::test(environment, &plugin, output),
        PluginCommand::List => plugin::list(environment, output),
        PluginCommand::Enable { plugin, yes } => plugin::enable(environment, &plugin, yes.into(), output),
        PluginCommand::Disable { name } => plugin::disable(environment, &name, output),
        PluginCommand::Run { session } => plugin::run(environment, session.as_deref(), output),
    }
}

/// Nothing holds the bounds of a plugin here.
#[cfg(not(target_os = "linux"))]
fn plugins(_: &HostEnvironment, _: PluginCommand, _: OutputForm) -> Result<ExitStatus, CommandError> {
    Err(CommandError::user("plugins run on Linux only", "only there a sandbox holds them"))
}

fn push_hooks(
    environment: &HostEnvironment,
    command: PushHookCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        PushHookCommand::Install(gates) => push_hook::install(environment, &Vec::from(gates), output),
        PushHookCommand::Remove => push_hook::remove(environment, output),
        PushHookCommand::Run { gates, remote } => {
            push_hook::run(environment, &push_request(gates, &remote), output)
        }
    }
}

fn changes(
    environment: &HostEnvironment,
    command: ChangeCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        ChangeCommand::Open(wanted) => change::open(environment, wanted.into(), output),
        ChangeCommand::List => change::list(environment, output),
        ChangeCommand::Show { change } => change::show(environment, &change, output),
        ChangeCommand::Approve { change, hours, yes } => {
            change::approve(environment, &change, hours, yes.into(), output)
        }
        ChangeCommand::Verify(wanted) => change::verify(environment, &wanted.into(), output),
        ChangeCommand::Rollback { change, timeout_seconds, yes } => {
            change::rollback(environment, &change, timeout_seconds, yes.into(), output)
        }
        ChangeCommand::Close { change, outcome } => change::close(environment, &change, outcome, output),
    }
}

fn tickets(
    environment: &HostEnvironment,
    command: TicketCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        TicketCommand::List { open } => {
            let shown = if open { reviews::Shown::Open } else { reviews::Shown::All };
            reviews::reviews(environment, shown, output)
        }
        TicketCommand::Close(wanted) => reviews::close(environment, &wanted.id, &wanted.note, output),
    }
}

fn old_form(
    environment: &HostEnvironment,
    form: OldForm,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match form {
        OldForm::Sessions { command } => {
            sessions(environment, command.unwrap_or(SessionCommand::List), output)
        }
        OldForm::Snapshots(wanted) => snapshots(environment, SnapshotCommand::List(wanted), output),
        OldForm::Diff(wanted) => snapshots(environment, SnapshotCommand::Diff(wanted), output),
        OldForm::Rollback(wanted) => match wanted.now() {
            Some(RollbackForm::Session(command)) => sessions(environment, command, output),
            Some(RollbackForm::Snapshot(command)) => snapshots(environment, command, output),
            None => Err(CommandError::user(
                "no snapshot is named",
                "`checkrein undo --dry-run` shows what the last action would give back; `checkrein snapshot list` lists the snapshots",
            )),
        },
        OldForm::Recover(wanted) => sessions(environment, SessionCommand::Recover(wanted), output),
        OldForm::Runs { number, verify: false } => {
            run_records(environment, &RunCommand::List(number), output)
        }
        OldForm::Runs { number: _, verify: true } => run_records(environment, &RunCommand::Verify, output),
        OldForm::Surprises(wanted) => {
            let selection = surprises::SurpriseFilter { session: wanted.session, number: wanted.number };
            surprises::surprises(environment, &selection, output)
        }
        OldForm::Reviews { open, command: None } => {
            tickets(environment, TicketCommand::List { open }, output)
        }
        OldForm::Reviews { open: _, command: Some(OldReviewsForm::Close(wanted)) } => {
            tickets(environment, TicketCommand::Close(wanted), output)
        }
        OldForm::Mark(wanted) => issues(environment, IssueCommand::Mark(wanted), output),
        OldForm::Marks => issues(environment, IssueCommand::Stats, output),
        OldForm::Incidents => incidents::incidents(environment, output),
        OldForm::Notify { test } => notify::notify(environment, test.into(), output),
    }
}

fn worktrees(
    environment: &HostEnvironment,
    command: WorktreeCommand,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match command {
        WorktreeCommand::List => worktree::list(environment, output),
        WorktreeCommand::Diff { name, stat } => worktree::diff(environment, &name, stat.into(), output),
        WorktreeCommand::Merge { name, yes, with_guard_files, keep } => {
            let guard_files = if with_guard_files { GuardFiles::ComeBack } else { GuardFiles::StayBehind };
            let afterwards = if keep { worktree::Afterwards::Keep } else { worktree::Afterwards::Remove };
            worktree::merge(environment, &name, consent(yes), guard_files, afterwards, output)
        }
        WorktreeCommand::Clean { dry_run } => {
            let cleaning = if dry_run { worktree::Cleaning::ShowOnly } else { worktree::Cleaning::Remove };
            worktree::clean(environment, cleaning, output)
        }
        WorktreeCommand::Discard { name, yes } => worktree::discard(environment, &name, consent(yes), output),
    }
}

fn scope(user: bool, team: bool, local: bool) -> Option<SettingsScope> {
    [(user, SettingsScope::User), (team, SettingsScope::Team), (local, SettingsScope::Local)]
        .into_iter()
        .find_map(|(is_wanted, scope)| is_wanted.then_some(scope))
}

fn opine(
    environment: &HostEnvironment,
    wanted: &OpinionArguments,
    opinion: opinion::Opinion,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let OpinionArguments { id, set, yes } = wanted;
    opinion::judge(
        environment,
        &opinion::OpinionWanted { id, opinion, set: *set, yes: (*yes).into() },
        output,
    )
}

fn manner(dry_run: bool, yes: bool, verbose: bool) -> Manner {
    let approval = if dry_run {
        Approval::DryRun
    } else if yes {
        Approval::Given
    } else {
        Approval::Ask
    };
    Manner { approval, detail: if verbose { ChangeDetail::Lines } else { ChangeDetail::Summary } }
}
