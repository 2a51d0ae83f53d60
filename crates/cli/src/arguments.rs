//! The command line: every command with its help and examples.

mod supervision;
mod words;
mod worktrees;

use std::path::PathBuf;

use crate::commands::restoring::{Changed, Consent, GuardPlaces, New, Permissions};
use checkrein_snapshot::SnapshotId;
use clap::{Args, Parser, Subcommand};

pub(crate) use supervision::{CredentialCommand, ExecArguments, RouteArguments, RunArguments};
pub(crate) use worktrees::{WorktreeCommand, consent};

use words::{FormName, JudgementName, PolicyName, VerdictName, client_names, client_names_or_all};

/// The safety layer for coding agents: reviews every step before and after it happens.
#[derive(Debug, Parser)]
#[command(
    name = "checkrein",
    version,
    max_term_width = 100,
    after_help = "Begin with:\n  checkrein init        wire Claude Code in this project\n  checkrein doctor      prove that it protects\n  checkrein check 'rm -rf build'"
)]
pub(crate) struct Arguments {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Register the hooks of a client, after showing the change.
    #[command(
        after_help = "Examples:\n  checkrein init                 this project, for you only; asks before writing\n  checkrein init --user --yes    every project of yours, without asking\n  checkrein init --team          this project, for everyone: .claude/settings.json, to be committed\n  checkrein init --dry-run       only show the change\n  checkrein init --client codex  another client; `all` takes those found on this machine"
    )]
    Init(InitArguments),
    /// Take the hooks back; the records stay.
    #[command(after_help = "Examples:\n  checkrein uninstall\n  checkrein uninstall --user --yes")]
    Uninstall(InitArguments),
    /// Prove that the protection works: feeds the registered hook a call that must be denied.
    #[command(
        after_help = "Exit status: 0 protected, 1 not protected.\n\nExamples:\n  checkrein doctor\n  checkrein doctor --json"
    )]
    Doctor {
        /// The client, or `all`; without it, those whose hooks are registered here.
        #[arg(long, value_name = "NAME", value_parser = client_names_or_all())]
        client: Option<String>,
    },
    /// Explain the verdict on a command without running anything.
    #[command(
        after_help = "Exit status: 0 ok or nudge, 2 block or halt, 3 escalate, 1 error. With `--batch`: 0 all lines are answered, 1 a line is not a question.\n\nA line of a batch is a JSON object: `{\"command\": \"rm -rf build\"}`, or `{\"tool\": \"Write\", \"input\": {...}}`. `id` (else the number of the line) comes back in the answer, `cwd` is its working directory.\n\nExamples:\n  checkrein check 'git push --force'\n  checkrein check --json --cwd ~/proj 'rm -rf build'\n  checkrein check --batch commands.jsonl"
    )]
    Check {
        /// Answer JSON Lines of questions from a file, or from standard input with `-`.
        #[arg(long, value_name = "FILE")]
        batch: Option<String>,
        /// The working directory of the command.
        #[arg(long, value_name = "DIR")]
        cwd: Option<String>,
        /// The root of the workspace, instead of the repository around the working directory.
        #[arg(long, value_name = "DIR")]
        root: Option<String>,
        /// The shell command.
        command: Option<String>,
    },
    /// Run one command inside a scope that the kernel enforces, with all that it starts.
    #[command(
        after_help = "Without options the command may read everything, change nothing but a temporary folder of its own, and talk\nto nobody. What this machine cannot enforce is said before the command runs. What was refused is said at\nthe end, with the option that would allow it.\n\nExit status: that of the command; 124 a limit was reached, 125 nothing was run, 126 it cannot be run,\n127 it is not there.\n\nExamples:\n  checkrein exec --write . -- make test\n  checkrein exec --write target --net crates.io:443,static.crates.io:443 -- cargo fetch\n  checkrein exec --net loopback --time 5m --memory 2G -- pytest"
    )]
    Exec(ExecArguments),
    /// Run a whole agent under supervision: with limits, and with a stop that stops.
    #[command(
        after_help = "What the agent writes is passed on as it is; Claude Code with `--output-format stream-json` and Codex with\n`exec --json` are understood, so that tokens, cost and answers can be limited. To stop, the agent is asked,\nthen told, then ended with everything it started. If checkrein itself is killed, the agent ends too. Calls that no\nhook reviewed are judged as they are heard: loops and what would have been blocked are said, or end the run.\n\nCHECKREIN_TELEMETRY=0 turns off the telemetry of the agent as well.\n\nExit status: that of the agent; 92 the provider fails and nothing was run, 94 halted, 114 processes,\n115 a call without review, 116 given up by the detectors, 117 silence, 118 memory,\n119 new work nobody asked for, 120 budget, 121 tokens, 122 the next call would be too much,\n123 answers, 124 time, 125 nothing was run, 128 and more a signal (137 also: what supervised was killed).\n\nExamples:\n  checkrein run --budget 2 --time 30m -- claude -p 'mend the tests' --output-format stream-json --verbose\n  checkrein run --profile unattended --retries 3 -- codex exec --json 'mend the tests'\n  checkrein run --profile strict --credential anthropic=ANTHROPIC_API_KEY -- claude -p '...' --output-format stream-json --verbose\n  checkrein run --worktree fix-12 --carry .env -- claude    its own git worktree; then `checkrein worktree diff fix-12`\n  checkrein run --resume --budget 1                         the newest that can go on, with one dollar from now on\n  checkrein run -- claude"
    )]
    Run(RunArguments),
    /// Keep, show or delete what an agent needs to log in. For people only.
    Credential {
        #[command(subcommand)]
        command: CredentialCommand,
    },
    /// Run tests and say what kind of failure it was and what to do next.
    #[command(
        after_help = "The same result again, twice when nothing passes and three times otherwise, is a reason to stop: another\ntry of the same kind changes nothing. Which tests fail counts where the runner tells, of other commands (`any`)\nhow alike the outputs are, and the statuses 91 a gate, 92 the provider is busy, 93 a conflict, 94 a person\nstopped it. `--json` tells it on standard error for scripts; docs/scripts.md has one.\n\nExit status: that of the tests; 124 they took too long.\n\nExamples:\n  checkrein route --runner pytest -- pytest -q\n  checkrein --json route --runner cargo --time 10m -- cargo test\n  checkrein route --runner pytest --phase red -- pytest tests/test_new.py\n  checkrein --json route --runner any --remember deploy.route -- ./deploy.sh"
    )]
    Route(RouteArguments),
    /// Show what happened, newest last.
    #[command(
        after_help = "Examples:\n  checkrein log\n  checkrein log --verdict block\n  checkrein log --session 4f3c -n 100 --json"
    )]
    Log {
        /// Only the sessions whose name begins so.
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
        /// How many records.
        #[arg(short, long, value_name = "COUNT", default_value_t = 30)]
        number: usize,
        /// Only reviews with this verdict.
        #[arg(long)]
        verdict: Option<VerdictName>,
    },
    /// Show everything that is known about one action.
    #[command(
        after_help = "Examples:\n  checkrein show toolu_12441b       by the beginning of its name\n  checkrein show 4f3c:17            by session and record number"
    )]
    Show {
        /// The beginning of the action's name, or SESSION:NUMBER.
        id: String,
    },
    /// List what changed although it was not predicted, by program, so that the catalogue can be mended.
    #[command(
        after_help = "A surprise was seen while a program ran; it is no proof that the program did it.\nAn entry of your own in ~/.config/checkrein/catalogue/*.toml teaches what a program does:\ndocs/catalogue.md says how.\n\nExamples:\n  checkrein surprises\n  checkrein surprises --session 4f3c --limit 100\n  checkrein surprises --json"
    )]
    Surprises {
        /// Only the sessions whose name begins so.
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
        /// How many calls, the newest.
        #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 30)]
        limit: usize,
    },
    /// List what was flagged for a person to look at, newest last, or close a ticket.
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Examples:\n  checkrein reviews --open\n  checkrein reviews close 4f3c:17 --note 'meant so'"
    )]
    Reviews {
        /// Only those that nobody has closed.
        #[arg(long)]
        open: bool,
        #[command(subcommand)]
        command: Option<ReviewsCommand>,
    },
    /// List the recorded sessions.
    #[command(after_help = "Example:\n  checkrein sessions")]
    Sessions,
    /// Watch the running sessions: last call, verdicts, issues, interventions, tokens and cost.
    #[command(
        after_help = "In a terminal it refreshes until Ctrl-C; elsewhere it shows the state once.\nWith --json it goes on, unless --once is given.\n\nExamples:\n  checkrein watch\n  checkrein watch --once --all\n  checkrein watch --once --json"
    )]
    Watch {
        /// Only once.
        #[arg(long)]
        once: bool,
        /// Also sessions that nothing was heard of for an hour.
        #[arg(long)]
        all: bool,
    },
    /// Say whether a detected issue was one. For people only.
    #[command(
        after_help = "Marks change nothing by themselves; `checkrein marks` counts them and suggests settings.\n\nExamples:\n  checkrein mark 4f3c:118 false-alarm --note 'a poll that waits'\n  checkrein mark 4f3c:118 confirmed\n  checkrein mark 4f3c missed --pattern stuck_loop"
    )]
    Mark {
        /// The issue as SESSION:NUMBER; the session alone for one that was missed.
        id: String,
        /// What it was.
        #[arg(value_enum)]
        judgement: JudgementName,
        /// The pattern that was missed.
        #[arg(long, value_name = "NAME")]
        pattern: Option<String>,
        /// Why.
        #[arg(long, default_value = "")]
        note: String,
    },
    /// Show how often each pattern was right, and what to set if it was not.
    #[command(after_help = "Example:\n  checkrein marks")]
    Marks,
    /// Show the ways out of what went wrong in a session, as commands.
    #[command(
        after_help = "Policies: development (repair, then guide), testing (snapshot too), production (snapshot, a person agrees,\nsilence means stop). Without one it is that of the profile.\n\nExamples:\n  checkrein recover 4f3c\n  checkrein recover 4f3c --policy production"
    )]
    Recover {
        /// The session, by the beginning of its name.
        session: String,
        /// How much is risked.
        #[arg(long, value_enum)]
        policy: Option<PolicyName>,
    },
    /// Send the notices that wait; the hook starts this. With --test, try every way that is set.
    #[command(
        after_help = "`interventions.emergency_stop.notification_channels` says who is told, `notifications` how; webhooks and\nmail are sent by `curl`. Secrets: ~/.config/checkrein/notify.secrets (mode 600).\n\nExamples:\n  checkrein notify --test"
    )]
    Notify {
        /// Send a test.
        #[arg(long)]
        test: bool,
    },
    /// List the sessions that an intervention stopped.
    #[command(after_help = "Example:\n  checkrein incidents")]
    Incidents,
    /// Show the report on such a stop.
    Incident {
        #[command(subcommand)]
        command: IncidentCommand,
    },
    /// Halt a session, or all: every further call is refused until a person resumes.
    #[command(
        after_help = "An agent under `checkrein run` is ended, with all that it started. Every other is refused its next call.\nWithout this program: a file named as the session, or `ALL`, in `halts/` of the state directory does the same.\n\nExamples:\n  checkrein halt 4f3c --reason 'wrong branch'\n  checkrein halt --all\n  checkrein halt --all --lift        people only; `resume` does the same"
    )]
    Halt {
        /// The session, by the beginning of its name.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        session: Option<String>,
        /// Every session, also those that begin later.
        #[arg(long)]
        all: bool,
        /// Take the halt back.
        #[arg(long)]
        lift: bool,
        /// What the agent and the records are told.
        #[arg(long, default_value = "a person stopped it")]
        reason: String,
    },
    /// Let a halted session, or all, go on. For people only.
    #[command(
        after_help = "Examples:\n  checkrein resume\n  checkrein resume 4f3c\n  checkrein resume --all"
    )]
    Resume {
        /// The session, by the beginning of its name; the only halted one by default.
        #[arg(conflicts_with = "all")]
        session: Option<String>,
        /// The halt of all sessions.
        #[arg(long)]
        all: bool,
    },
    /// Take back what an action destroyed: the last one of the newest session here that is not taken back yet.
    #[command(
        after_help = "What is there now is saved first, so that this can be taken back too. What somebody changed after the\naction stays, unless `--force` is given; what was not there before goes only with `--remove-new`. By default the last action in this workspace or below it is meant.\n\nExit status: 0 done, 1 something is left or nothing could be done.\n\nExamples:\n  checkrein undo\n  checkrein undo toolu_12441b --yes\n  checkrein undo --dry-run --json"
    )]
    Undo {
        /// The beginning of the action's name, or the number of its snapshot.
        action: Option<String>,
        /// Remove what was not there before the action, whoever made it.
        #[arg(long)]
        remove_new: bool,
        #[command(flatten)]
        consent: RestoreArguments,
    },
    /// Go back to a snapshot, or to some paths of it, or to what stood before a session went wrong.
    #[command(
        after_help = "What is there now is saved first. What was not there at the time of a snapshot stays, unless `--remove-new` is given;\nwith `--session` what changed before the action stays, and what was made since goes.\n\nExamples:\n  checkrein rollback 17\n  checkrein rollback 17 src/main.rs docs\n  checkrein rollback 17 --remove-new --yes\n  checkrein rollback --session 4f3c --before 12"
    )]
    Rollback {
        /// The number of the snapshot.
        #[arg(required_unless_present = "session")]
        snapshot: Option<SnapshotId>,
        /// Instead of a snapshot: the session whose work is taken back, by the beginning of its name.
        #[arg(long, value_name = "NAME", requires = "before", conflicts_with_all = ["snapshot", "paths", "remove_new", "force", "with_guard_files"])]
        session: Option<String>,
        /// Back to what stood before this action: its id in `checkrein log`, or its number, as incidents name it.
        #[arg(long, value_name = "ACTION", requires = "session")]
        before: Option<String>,
        /// Only these paths.
        paths: Vec<String>,
        /// Remove what was not there at the time.
        #[arg(long)]
        remove_new: bool,
        #[command(flatten)]
        consent: RestoreArguments,
    },
    /// Show what differs between a snapshot and another, or what is there now.
    #[command(
        after_help = "Examples:\n  checkrein diff 17\n  checkrein diff 17 21\n  checkrein diff 17 --patch"
    )]
    Diff {
        /// The number of a snapshot.
        from: SnapshotId,
        /// The number of another; what is there now by default.
        to: Option<SnapshotId>,
        /// Show the lines of text that differ.
        #[arg(long)]
        patch: bool,
    },
    /// List what was saved in this workspace, newest last.
    #[command(after_help = "Examples:\n  checkrein snapshots\n  checkrein snapshots --json")]
    Snapshots {
        /// How many, the newest.
        #[arg(short, long, value_name = "COUNT", default_value_t = 30)]
        number: usize,
    },
    /// Take a snapshot of this workspace, keep, check, copy or clear away what was saved.
    Snapshot {
        #[command(subcommand)]
        command: SnapshotCommand,
    },
    /// List the agents that ran under `run`, and how they ended; newest last.
    #[command(
        after_help = "What was stopped or cut off goes on by `checkrein run --resume RUN`. What is done stays as it is: with\n--verify that is checked, and the exit status is 1 when it does not hold.\n\nExamples:\n  checkrein runs\n  checkrein runs --verify\n  checkrein runs --json"
    )]
    Runs {
        /// How many, the newest.
        #[arg(short, long, value_name = "COUNT", default_value_t = 30)]
        number: usize,
        /// Check that what is done is what it was.
        #[arg(long)]
        verify: bool,
    },
    /// Look at the worktrees of runs, bring their changes back, or throw them away.
    Worktree {
        #[command(subcommand)]
        command: WorktreeCommand,
    },
    /// Play a recorded session through the review and show what would have been said.
    #[command(
        after_help = "Reads a transcript of Claude Code, Codex or Gemini CLI, or JSON Lines {\"id\", \"steps\": [{\"tool\", \"input\", ...}]}.\n\nExamples:\n  checkrein replay examples/session.jsonl\n  checkrein replay ~/.codex/sessions/2026/11/21/rollout-1.jsonl\n  checkrein replay examples/session.jsonl --against stricter.yaml"
    )]
    Replay {
        /// The recording; `-` reads standard input.
        file: String,
        /// Show only where this configuration, by itself, would say something else.
        #[arg(long, value_name = "FILE")]
        against: Option<String>,
        /// What the session was for, beside what it says itself; may be given more than once.
        #[arg(long = "goal", value_name = "TEXT")]
        goals: Vec<String>,
    },
    /// Verify the records, or copy them.
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Show or check the configuration.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Show, check or test the governance that holds here: tier, tripwires, patterns, blueprints.
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Agree to what this project's checkrein.yaml loosens. For people only.
    #[command(after_help = "Example:\n  checkrein trust")]
    Trust {
        /// Without asking.
        #[arg(long)]
        yes: bool,
    },
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  checkrein completions bash > ~/.local/share/bash-completion/completions/checkrein"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Answer one hook call of a client; the client runs this, not you.
    Hook {
        /// The client.
        #[arg(value_parser = client_names())]
        client: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The settings of this person: every project.
    #[arg(long, conflicts_with_all = ["local", "team"])]
    pub(crate) user: bool,
    /// The settings of this project that are committed: everyone who works in it.
    #[arg(long, conflicts_with = "local")]
    pub(crate) team: bool,
    /// The settings of this person in this project; the default.
    #[arg(long)]
    pub(crate) local: bool,
    /// Only show the change.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write without asking.
    #[arg(long)]
    pub(crate) yes: bool,
    /// The client, or `all`.
    #[arg(long, value_name = "NAME", value_parser = client_names_or_all(), default_value = "claude")]
    pub(crate) client: String,
    /// The hook program, instead of `checkrein-hook` beside this program.
    #[arg(long, value_name = "PATH")]
    pub(crate) hook: Option<PathBuf>,
}

/// The words after `checkrein exec` alone: the command line of all commands together takes longer to build than a scope.
#[derive(Debug, Parser)]
#[command(name = "exec")]
pub(crate) struct ExecAlone {
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) wanted: ExecArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Without asking.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only show what would be done.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Put back also what somebody changed since.
    #[arg(long)]
    pub(crate) force: bool,
    /// Put back also what says what agents may do: `checkrein.yaml`, settings of clients. Only a person may.
    #[arg(long)]
    pub(crate) with_guard_files: bool,
}

impl RestoreArguments {
    pub(crate) fn consent(&self) -> Consent {
        match (self.yes, self.dry_run) {
            (true, _) => Consent::Given,
            (false, true) => Consent::ShowOnly,
            (false, false) => Consent::Ask,
        }
    }

    pub(crate) fn permissions(&self, remove_new: bool) -> Permissions {
        Permissions {
            consent: self.consent(),
            changed: if self.force { Changed::Overwrite } else { Changed::Keep },
            new: if remove_new { New::Remove } else { New::Keep },
            guard: if self.with_guard_files { GuardPlaces::PutBack } else { GuardPlaces::Spare },
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Save the workspace as it is now, without what version control ignores.
    #[command(after_help = "Example:\n  checkrein snapshot create --reason 'before the move'")]
    Create {
        /// What it is for.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Keep a snapshot, however old it gets.
    #[command(after_help = "Examples:\n  checkrein snapshot pin 17\n  checkrein snapshot pin 17 --remove")]
    Pin {
        /// The number of the snapshot.
        snapshot: SnapshotId,
        /// Let it go again.
        #[arg(long)]
        remove: bool,
    },
    /// Take away what is older, more or larger than the configuration keeps. For people only.
    #[command(
        after_help = "Pinned snapshots stay, and so does everything of sessions of the last 24 hours.\n\nExamples:\n  checkrein snapshot prune --dry-run\n  checkrein snapshot prune"
    )]
    Prune {
        /// Only show what would go.
        #[arg(long)]
        dry_run: bool,
    },
    /// Read everything that is saved and check it.
    #[command(after_help = "Exit status: 0 whole, 1 not whole.\n\nExample:\n  checkrein snapshot verify")]
    Verify,
    /// Copy a snapshot into a new directory.
    #[command(after_help = "Example:\n  checkrein snapshot export 17 /tmp/as-it-was")]
    Export {
        /// The number of the snapshot.
        snapshot: SnapshotId,
        /// The directory, which must not be there yet.
        directory: String,
    },
}

/// What to do with the policy.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show what holds.
    #[command(after_help = "Example:\n  checkrein policy show")]
    Show,
    /// Check every file that takes part, with every condition, example and fixture.
    #[command(after_help = "Exit status: 0 valid, 1 not valid.\n\nExample:\n  checkrein policy check")]
    Check,
    /// Play the examples and fixtures of a blueprint or a configuration, or of all that take part here.
    #[command(
        after_help = "Exit status: 0 all passed, 1 some failed.\n\nExamples:\n  checkrein policy test\n  checkrein policy test blueprints/payments.yaml --json"
    )]
    Test {
        /// The file.
        file: Option<String>,
    },
}

/// What to do with tickets.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewsCommand {
    /// Say that you looked at it. For people only. Closing a ticket about the tier clears the trust debt.
    #[command(after_help = "Example:\n  checkrein reviews close 4f3c:17 --note 'meant so'")]
    Close {
        /// SESSION:NUMBER, the session by the beginning of its name.
        id: String,
        /// What you found.
        #[arg(long)]
        note: String,
    },
}

/// What to do with an incident.
#[derive(Debug, Subcommand)]
pub(crate) enum IncidentCommand {
    /// Show the report: timeline, impact, cause, ways on.
    #[command(after_help = "Example:\n  checkrein incident show 20261121")]
    Show {
        /// The beginning of its name.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Find any edit, deletion, reordering or truncation of the records.
    #[command(after_help = "Exit status: 0 whole, 1 not whole.\n\nExample:\n  checkrein audit verify")]
    Verify {
        /// Only the sessions whose name begins so.
        session: Option<String>,
    },
    /// Copy the records as JSON Lines or CSV.
    #[command(after_help = "Example:\n  checkrein audit export --form csv --output records.csv")]
    Export {
        /// Only the sessions whose name begins so.
        session: Option<String>,
        /// The form; not given: what `audit.export_format` says.
        #[arg(long, value_enum)]
        form: Option<FormName>,
        /// The file to write, instead of standard output.
        #[arg(short, long, value_name = "FILE")]
        output: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting and where it comes from.
    #[command(after_help = "Example:\n  checkrein config show")]
    Show,
    /// Check every file that takes part.
    #[command(after_help = "Exit status: 0 valid, 1 not valid.\n\nExample:\n  checkrein config check")]
    Check,
    /// Print the JSON Schema of checkrein.yaml.
    #[command(after_help = "Example:\n  checkrein config schema > checkrein.schema.json")]
    Schema,
}
