//! The nouns of the command line, each with what can be done to it.

use std::path::PathBuf;

use crate::commands::restore::{New, RestoreConsent};
use crate::moments::TimeStart;
use checkrein_snapshot::SnapshotId;
use clap::{Args, Subcommand};

use super::restoring::RestoreArguments;
use super::words::{FormName, JudgementName, PolicyName, WayName};

/// Sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List the recorded sessions
    #[command(after_help = "Example:\n  checkrein session list")]
    List,
    /// Show one session: its calls in numbers, and what was not plainly fine
    #[command(
        after_help = "`checkrein log --session NAME` shows all of its calls. `--json` prints its entry of `session list`.\n\nExamples:\n  checkrein session show 4f3c\n  checkrein session show 4f3c --json"
    )]
    Show {
        /// Start of the name of the session, or LAST
        session: String,
    },
    /// Go back to what stood before an action of a session
    #[command(
        after_help = "Takes back the action and every later one, newest first, as `checkrein undo` does, and saves the present state first. What changed before the action, and what others changed since, stays.\n\nExit status: 0 done, 1 something is left or nothing was done.\n\nExample:\n  checkrein session rollback 4f3c --before 12"
    )]
    Rollback {
        /// Start of the name of the session, or LAST
        session: String,
        /// Action: its id in `checkrein log`, or its number in an incident
        #[arg(long, value_name = "ACTION")]
        before: String,
        #[command(flatten)]
        consent: SessionConsent,
    },
    /// Show the ways out of the newest issue, as commands
    #[command(
        after_help = "Policies: development (repair, then guide), testing (also a snapshot), production (a snapshot and the consent of a human; silence stops it). The default is that of the profile.\n\nExamples:\n  checkrein session recover 4f3c\n  checkrein session recover 4f3c --policy production\n  checkrein session recover 4f3c --abort"
    )]
    Recover(RecoverArguments),
}

/// Whether a session may be rolled back.
#[derive(Debug, Args)]
pub(crate) struct SessionConsent {
    /// Restore without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Show the changes only
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Remove files that did not exist before the action
    #[arg(long)]
    pub(crate) remove_new: bool,
}

impl SessionConsent {
    pub(crate) fn terms(&self) -> (RestoreConsent, New) {
        let consent = match (self.yes, self.dry_run) {
            (true, _) => RestoreConsent::Given,
            (false, true) => RestoreConsent::ShowOnly,
            (false, false) => RestoreConsent::Ask,
        };
        (consent, if self.remove_new { New::Remove } else { New::Keep })
    }
}

#[derive(Debug, Args)]
pub(crate) struct RecoverArguments {
    /// Start of the name of the session, or LAST
    pub(crate) session: String,
    /// Recovery policy: development, testing or production
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(crate) policy: Option<PolicyName>,
    /// Give it up: halt it, and list what it left
    #[arg(long, conflicts_with = "policy")]
    pub(crate) abort: bool,
}

/// Snapshots.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// List the snapshots of this workspace
    #[command(
        after_help = "The newest snapshot comes last.\n\nExamples:\n  checkrein snapshot list\n  checkrein snapshot list --json"
    )]
    List(NumberArguments),
    /// Save the workspace, without ignored files
    #[command(after_help = "Example:\n  checkrein snapshot create --reason 'before the move'")]
    Create {
        /// Reason, for the list
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Compare a snapshot with another, or with the present
    #[command(
        after_help = "Examples:\n  checkrein snapshot diff 17\n  checkrein snapshot diff 17 21\n  checkrein snapshot diff 17 --patch"
    )]
    Diff(DiffArguments),
    /// Restore a snapshot, or some paths of it
    #[command(
        after_help = "Saves the present state first. Keeps files created since, unless `--remove-new` is given.\n\nExit status: 0 done, or nothing to do; 1 something is left or nothing was done.\n\nExamples:\n  checkrein snapshot restore 17\n  checkrein snapshot restore 17 src/main.rs docs\n  checkrein snapshot restore 17 --remove-new --yes"
    )]
    Restore {
        /// Number of the snapshot
        snapshot: SnapshotId,
        /// Restore only these paths
        paths: Vec<String>,
        /// Remove files that did not exist in the snapshot
        #[arg(long)]
        remove_new: bool,
        #[command(flatten)]
        consent: RestoreArguments,
    },
    /// Keep a snapshot, whatever its age
    #[command(after_help = "Examples:\n  checkrein snapshot pin 17\n  checkrein snapshot pin 17 --remove")]
    Pin {
        /// Number of the snapshot
        snapshot: SnapshotId,
        /// Remove the pin
        #[arg(long)]
        remove: bool,
    },
    /// Delete snapshots beyond the configured quotas (humans only)
    #[command(
        after_help = "Keeps pinned snapshots, and those of sessions of the last 24 hours.\n\nExamples:\n  checkrein snapshot prune --dry-run\n  checkrein snapshot prune"
    )]
    Prune {
        /// Only show what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
    /// Check every saved byte
    #[command(after_help = "Exit status: 0 intact, 1 damaged.\n\nExample:\n  checkrein snapshot verify")]
    Verify,
    /// Copy a snapshot into a new directory
    #[command(after_help = "Example:\n  checkrein snapshot export 17 /tmp/before")]
    Export {
        /// Number of the snapshot
        snapshot: SnapshotId,
        /// Directory; it must not exist
        directory: String,
    },
}

/// How many of the newest.
#[derive(Debug, Args)]
pub(crate) struct NumberArguments {
    /// Number of entries, the newest
    #[arg(short, long, value_name = "COUNT", default_value_t = 30)]
    pub(crate) number: usize,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// Number of a snapshot
    pub(crate) from: SnapshotId,
    /// Number of another [default: the present]
    pub(crate) to: Option<SnapshotId>,
    /// Show the changed lines
    #[arg(long)]
    pub(crate) patch: bool,
}

/// Incidents.
#[derive(Debug, Subcommand)]
pub(crate) enum IncidentCommand {
    /// List the sessions that an intervention stopped
    #[command(after_help = "Example:\n  checkrein incident list")]
    List,
    /// Show a report: timeline, impact, cause, ways on
    #[command(after_help = "Example:\n  checkrein incident show LAST")]
    Show {
        /// Start of the name of the incident, or LAST
        id: String,
    },
    /// Close an incident after you looked at it (humans only)
    #[command(
        after_help = "The report and the records of the session keep your note. The session stays halted until you run `checkrein resume`.\n\nExample:\n  checkrein incident close 20261121 --note 'the loop was a broken test'"
    )]
    Close(IncidentCloseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct IncidentCloseArguments {
    /// Start of the name of the incident, or LAST
    pub(crate) id: String,
    /// Your finding
    #[arg(long)]
    pub(crate) note: String,
}

/// Calls that wait for an answer.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalCommand {
    /// List the calls that wait for you, and what became of earlier ones
    #[command(
        after_help = "The newest one comes last. `--json` prints one array.\n\nExamples:\n  checkrein approval list\n  checkrein approval list --json"
    )]
    List,
    /// Show what a call would do, and what each answer would allow
    #[command(after_help = "Example:\n  checkrein approval show 9f31")]
    Show {
        /// Start of the name of the question, or LAST
        id: String,
    },
    /// Let a waiting call go on (humans only)
    #[command(
        after_help = "Reports success only after the call has continued. A lasting answer is what `checkrein allow` would write: exactly this call, where it ran.\n\nExamples:\n  checkrein approval allow 9f31\n  checkrein approval allow 9f31 --session"
    )]
    Allow(ApprovalAllowArguments),
    /// Refuse a waiting call (humans only)
    #[command(
        after_help = "Example:\n  checkrein approval deny 9f31 --message 'use the copy in backup/ instead'"
    )]
    Deny {
        /// Start of the name of the question
        id: String,
        /// Words to the agent
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// Put a question of a framework, read from standard input, and wait for its answer (for the server)
    #[command(hide = true)]
    Put,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalAllowArguments {
    /// Start of the name of the question
    pub(crate) id: String,
    /// This call [default]
    #[arg(long, conflicts_with_all = ["session", "always"])]
    pub(crate) once: bool,
    /// The same call in the rest of its session too
    #[arg(long, conflicts_with = "always")]
    pub(crate) session: bool,
    /// The same call from now on too
    #[arg(long)]
    pub(crate) always: bool,
}

/// Issues.
#[derive(Debug, Subcommand)]
pub(crate) enum IssueCommand {
    /// List the detected issues
    #[command(
        after_help = "The newest issue comes last.\n\nExamples:\n  checkrein issue list\n  checkrein issue list --json"
    )]
    List(NumberArguments),
    /// Say whether an issue was real (humans only)
    #[command(
        after_help = "`confirmed`: it was real. `false-alarm`: the work was fine. `missed`: it was not detected. A mark changes no setting; `checkrein issue stats` counts marks and suggests settings.\n\nExamples:\n  checkrein issue mark 4f3c:118 false-alarm --note 'a poll that waits'\n  checkrein issue mark 4f3c:118 confirmed\n  checkrein issue mark 4f3c missed --pattern stuck_loop"
    )]
    Mark(MarkArguments),
    /// Show the accuracy of each pattern, and suggest settings
    #[command(after_help = "Example:\n  checkrein issue stats")]
    Stats,
}

#[derive(Debug, Args)]
pub(crate) struct MarkArguments {
    /// Issue as SESSION:NUMBER; SESSION alone for a missed one
    pub(crate) id: String,
    /// Judgement
    #[arg(value_enum)]
    pub(crate) judgement: JudgementName,
    /// Pattern of a missed issue
    #[arg(long, value_name = "NAME")]
    pub(crate) pattern: Option<String>,
    /// Note for the record
    #[arg(long, default_value = "")]
    pub(crate) note: String,
}

/// Tickets.
#[derive(Debug, Subcommand)]
pub(crate) enum TicketCommand {
    /// List the actions flagged for you
    #[command(
        after_help = "The newest ticket comes last.\n\nExamples:\n  checkrein ticket list\n  checkrein ticket list --open"
    )]
    List {
        /// Show only open tickets
        #[arg(long)]
        open: bool,
    },
    /// Close a ticket after you looked at it (humans only)
    #[command(
        after_help = "Closing a ticket about the tier clears what counted against the agent.\n\nExample:\n  checkrein ticket close 4f3c:17 --note 'as intended'"
    )]
    Close(CloseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CloseArguments {
    /// SESSION:NUMBER, or LAST; the start of the name of the session is enough
    pub(crate) id: String,
    /// Your finding
    #[arg(long)]
    pub(crate) note: String,
}

/// Agents.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents: a client in a project, its trust and its tier
    #[command(after_help = "Examples:\n  checkrein agent list\n  checkrein agent list --json")]
    List,
    /// Have an agent overseen more closely, or as configured (humans only)
    #[command(
        after_help = "A tier that you give holds where it is stricter than `governance.tier`. `configured` takes it back.\n\nExamples:\n  checkrein agent tier 1f2e3d4c5b6a 3 --note 'works on payments now'\n  checkrein agent tier 1f2e3d4c5b6a configured"
    )]
    Tier(TierArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TierArguments {
    /// Agent, by its name in `agent list`; the start of it is enough
    pub(crate) agent: String,
    /// Tier, from 0 to 5 or as GT-3; `configured` for that of the configuration
    pub(crate) tier: String,
    /// Why
    #[arg(long, default_value = "")]
    pub(crate) note: String,
}

/// Surprises.
#[derive(Debug, Subcommand)]
pub(crate) enum SurpriseCommand {
    /// List changes that were not predicted, by program
    #[command(
        after_help = "A surprise was seen while a program ran. It does not prove that the program caused it. Teach checkrein what a program does with an entry in ~/.config/checkrein/catalogue/*.toml; docs/catalogue.md explains how.\n\nExamples:\n  checkrein surprise list\n  checkrein surprise list --session 4f3c --number 100\n  checkrein surprise list --json"
    )]
    List(SurpriseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SurpriseArguments {
    /// Show only sessions whose name starts with this
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Number of calls, the newest
    #[arg(short, long, alias = "limit", value_name = "COUNT", default_value_t = 30)]
    pub(crate) number: usize,
}

/// Notices.
#[derive(Debug, Subcommand)]
pub(crate) enum NoticeCommand {
    /// Send the queued notices; the hook starts this
    #[command(after_help = "Example:\n  checkrein notice send")]
    Send,
    /// Send a test through every configured channel
    #[command(
        after_help = "`interventions.emergency_stop.notification_channels` names the channels, `notifications` configures them. `curl` sends webhooks and mail. Secrets: ~/.config/checkrein/notify.secrets (mode 600).\n\nExample:\n  checkrein notice test"
    )]
    Test,
}

/// Trust.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// Show what waits for your consent
    #[command(after_help = "Example:\n  checkrein trust show")]
    Show,
}

/// The policy.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show the tier, tripwires, patterns and blueprints in force
    #[command(after_help = "Example:\n  checkrein policy show")]
    Show,
    /// Check every policy file: conditions, examples, fixtures
    #[command(after_help = "Exit status: 0 valid, 1 not valid.\n\nExample:\n  checkrein policy check")]
    Check,
    /// Run the examples and fixtures of policy files
    #[command(
        after_help = "Exit status: 0 all passed, 1 some failed.\n\nExamples:\n  checkrein policy test\n  checkrein policy test blueprints/payments.yaml --json"
    )]
    Test {
        /// Blueprint or configuration [default: all in force here]
        file: Option<String>,
    },
    /// Show what a change would have said to recorded calls
    #[command(
        after_help = "Takes FILE as part of your own configuration, and judges each recorded call with and without it. Changes nothing.\n\nExamples:\n  checkrein policy try stricter.yaml\n  checkrein policy try stricter.yaml --since 7d --json"
    )]
    Try {
        /// Configuration file
        file: String,
        /// How far back, such as 30d, yesterday or 2026-11-28
        #[arg(long, value_name = "TIME", default_value = "30d", value_parser = TimeStart::parse)]
        since: TimeStart,
    },
    /// Make a key for signing policies (humans only)
    #[command(after_help = "Example:\n  checkrein policy key --to ~/checkrein-policy.key")]
    Key {
        /// File for the secret key, which must not exist
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Sign a policy for a team (humans only)
    #[command(
        after_help = "Writes the signature beside the policy, as FILE.sig. Publish both.\n\nExample:\n  checkrein policy sign policy.yaml --key ~/checkrein-policy.key"
    )]
    Sign {
        /// Policy: a configuration file that names no other files
        file: PathBuf,
        /// File with the secret key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Take a policy from a place, as long as a key signs it (humans only)
    #[command(
        after_help = "It counts as managed configuration in all projects of this user: above the built-in settings, below your own.\n\nExamples:\n  checkrein policy pin https://example.com/checkrein/policy.yaml \\\n      --key ed25519:KEY\n  checkrein policy pin /srv/checkrein/policy.yaml --key ed25519:KEY"
    )]
    Pin {
        /// Address (https) or path; the signature lies beside it
        place: String,
        /// Public key that must have signed it
        #[arg(long, value_name = "KEY")]
        key: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Fetch the pinned policy again (humans only)
    #[command(
        after_help = "An older one than the one in force is refused.\n\nExample:\n  checkrein policy update"
    )]
    Update {
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Do without the policy of the team (humans only)
    #[command(after_help = "Example:\n  checkrein policy unpin")]
    Unpin {
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// The records.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Find any edit, deletion, reordering or truncation
    #[command(after_help = "Exit status: 0 intact, 1 not intact.\n\nExample:\n  checkrein audit verify")]
    Verify {
        /// Check only sessions whose name starts with this
        session: Option<String>,
    },
    /// List logins, uses of credentials and refusals
    #[command(
        after_help = "Names each credential and never shows one. `audit verify` checks this ledger too.\n\nExamples:\n  checkrein audit authentications\n  checkrein audit authentications --json"
    )]
    Authentications(NumberArguments),
    /// Look after the keys that encrypt the records
    #[command(after_help = "Example:\n  checkrein audit key list")]
    Key {
        /// What to do
        #[command(subcommand)]
        command: AuditKeyCommand,
    },
    /// Delete records that are older than they are kept (humans only)
    #[command(
        after_help = "Goes through every store: sessions, finished runs and pipelines, incidents, lessons, events, closed changes, snapshots of all workspaces. What goes is itself on record, so `audit verify` knows it as pruned. The first session of a day does the same.\n\nExamples:\n  checkrein audit prune --dry-run\n  checkrein audit prune\n  checkrein audit prune --yes --json"
    )]
    Prune {
        /// Only show what would be deleted
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Export the records as JSON Lines or CSV, or what is worth a look for a SIEM
    #[command(
        after_help = "`cef` and `ocsf` hold no command, prompt or content: one line for each event that is worth a look.\n\nExamples:\n  checkrein audit export --form csv --output records.csv\n  checkrein audit export --form cef --follow | logger --tag checkrein"
    )]
    Export {
        /// Export only sessions whose name starts with this
        session: Option<String>,
        /// Format [default: that of `audit.export_format`]
        #[arg(long, value_enum)]
        form: Option<FormName>,
        /// File to write [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<String>,
        /// Go on with the events that come (`cef`, `ocsf`)
        #[arg(short, long)]
        follow: bool,
    },
}

/// The keys of the records.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditKeyCommand {
    /// Show the keys and where they are
    #[command(after_help = "Example:\n  checkrein audit key list")]
    List,
    /// Encrypt with a new key from now on (humans only)
    #[command(
        after_help = "Older keys stay: they open what they encrypted until those records are pruned.\n\nExample:\n  checkrein audit key rotate"
    )]
    Rotate,
    /// Move the key in use into the keyring of the system (humans only)
    #[command(
        after_help = "While you are logged in the key is kept in memory, so that no call waits for the keyring. After the next login run `checkrein audit key unlock`.\n\nExample:\n  checkrein audit key keyring"
    )]
    Keyring,
    /// Take the keys out of the keyring until you log out (humans only)
    #[command(after_help = "Example:\n  checkrein audit key unlock")]
    Unlock,
}

/// The configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting and its source
    #[command(after_help = "Examples:\n  checkrein config show\n  checkrein config show limits")]
    Show {
        /// Only the settings whose name or section this is
        filter: Option<String>,
    },
    /// Write the settings of a way of working (humans only)
    #[command(
        after_help = "Shows which settings change, asks, and adds lines: what stands in the file stays as it is. `team` goes into checkrein.yaml of the project, the others into your own configuration.\n\nExit status: 0 written, shown or set already, 1 nothing was written.\n\nExamples:\n  checkrein config preset solo\n  checkrein config preset team --dry-run\n  checkrein config preset ci --yes"
    )]
    Preset {
        /// Way of working
        #[arg(value_enum)]
        name: WayName,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
        /// Show it, write nothing
        #[arg(long, conflicts_with = "yes")]
        dry_run: bool,
    },
    /// Check every configuration file
    #[command(after_help = "Exit status: 0 valid, 1 not valid.\n\nExample:\n  checkrein config check")]
    Check,
    /// Print the JSON Schema of checkrein.yaml
    #[command(after_help = "Example:\n  checkrein config schema > checkrein.schema.json")]
    Schema,
}
