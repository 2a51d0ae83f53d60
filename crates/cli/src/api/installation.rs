//! Answers about settings, policy, trust, credentials, notices and the state of the records.

use checkrein_clients::ClientAdapter;
use checkrein_protocol::AbsolutePath;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{Moment, answers};

/// A settings file of a client that was changed, or would be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RegistrationAnswer {
    /// The client.
    pub client: String,
    /// The file; none where it could not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// What became of it.
    pub result: RegistrationResult,
    /// Why it failed, or was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Every line that would change, as a unified difference; of a dry run only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl RegistrationAnswer {
    /// Makes the answer about a client.
    pub fn new(
        client: &ClientAdapter,
        settings: Option<&AbsolutePath>,
        result: RegistrationResult,
        reason: Option<String>,
    ) -> Self {
        Self {
            client: client.client.name().to_owned(),
            settings: settings.map(AbsolutePath::to_string),
            result,
            reason,
            change: None,
        }
    }
}

/// What became of a settings file.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegistrationResult {
    /// It was written.
    Written,
    /// It was right already.
    Unchanged,
    /// It was shown only.
    DryRun,
    /// The user declined.
    Declined,
    /// The client has no such settings.
    Skipped,
    /// It failed.
    Failed,
}

/// The manual pages, written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ManualPages {
    /// The directory that they are in.
    pub folder: String,
}

/// The records and what was saved, deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Purged {
    /// The files and directories.
    pub folders: Vec<String>,
    /// What stays there.
    pub kept: Vec<KeptPlace>,
    /// What became of `folders`.
    pub result: PurgeResult,
}

/// Something that is not deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptPlace {
    /// Where it is.
    pub path: String,
    /// Why it stays.
    pub reason: String,
}

/// What became of directories that were to be deleted.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PurgeResult {
    /// They are gone.
    Deleted,
    /// They were shown only.
    DryRun,
}

/// What a change of the configuration would have said to recorded calls.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyTried {
    /// How many different calls were judged.
    pub calls: usize,
    /// How many calls are recorded of that time, equal ones each for itself.
    pub recorded: usize,
    /// How many of them get each verdict as it is now.
    pub now: Vec<super::sessions::NamedCount>,
    /// How many get each verdict with the file.
    pub then: Vec<super::sessions::NamedCount>,
    /// Where the two say different things.
    pub changes: Vec<VerdictChange>,
    /// Projects that were left out, since their own configuration cannot be used.
    pub skipped: Vec<SkippedProject>,
}

/// A project of which no call was judged.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedProject {
    /// Its directory.
    pub workspace: String,
    /// How many calls were left out.
    pub calls: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Calls that get another verdict.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerdictChange {
    /// The verdict of now.
    pub from: String,
    /// The verdict with the file.
    pub to: String,
    /// How many.
    pub calls: usize,
    /// The first few.
    pub examples: Vec<String>,
}

/// A preset, written or shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetAnswer {
    /// Its name.
    pub preset: String,
    /// The file that it belongs into.
    pub file: String,
    /// What became of it.
    pub result: PresetResult,
    /// The settings that change here.
    pub changes: Vec<SettingChange>,
    /// The settings that stay as somebody set them.
    pub kept: Vec<KeptSetting>,
    /// The lines that are added, as YAML.
    pub lines: String,
    /// What the file asks for and does not get until it is trusted.
    #[schemars(with = "Vec<super::parts::PendingSetting>")]
    pub pending: Json,
}

/// What became of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PresetResult {
    /// It was written.
    Written,
    /// The file said all of it already.
    Unchanged,
    /// It was shown only.
    DryRun,
    /// The file is written in a form to which a program adds nothing.
    ByHand,
}

/// A setting with what holds now and what would.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingChange {
    /// Its path.
    pub key: String,
    /// What holds now.
    pub from: String,
    /// What would hold.
    pub to: String,
}

/// A setting of a preset that somebody set otherwise.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptSetting {
    /// Its path.
    pub key: String,
    /// What it stays.
    pub value: String,
    /// What the preset says.
    pub preset: String,
}

/// A key for signing policies, or a policy that one signed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyKey {
    /// The public key, as `policy pin` takes it.
    pub key: String,
    /// The file that was written: the secret key, or the signature.
    pub file: String,
}

/// The policy of a team, checked and in force.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyPinned {
    /// Where it is fetched from.
    pub source: String,
    /// The public key that must have signed it.
    pub key: String,
    /// The SHA-256 of its text.
    pub digest: String,
    /// When it was signed.
    pub signed: String,
    /// Whether it was another one before.
    pub changed: bool,
}

/// The policy of a team does not count any more.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyUnpinned {
    /// Whether one is pinned.
    pub pinned: bool,
}

/// The programs of another release, installed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Updated {
    /// The directory that they are in.
    pub folder: String,
    /// What they say that they are.
    pub version: String,
}

/// Whether a project is guarded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// What the findings amount to: `protected`, `protected_with_remarks`, `registered_not_tested` (all that is known of
    /// the client comes from its documentation), `not_enforced` (the mode is observe) or `not_protected`.
    pub result: &'static str,
    /// One finding for each check.
    pub findings: Vec<DiagnosisEntry>,
}

/// The result of one check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiagnosisEntry {
    /// The name of the check.
    pub check: String,
    /// Whether all is well.
    pub health: FindingHealth,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What no machine enforces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub not_held: Vec<&'static str>,
}

/// How something was found to be.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingHealth {
    /// As it should be.
    #[serde(rename = "ok")]
    Well,
    /// As it should be; the detail says what the client itself leaves open.
    Noted,
    /// It works, and you should know about it.
    Doubtful,
    /// It does not protect.
    Broken,
}

/// All settings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Settings {
    /// Each with its source.
    pub settings: Vec<SettingEntry>,
    /// What waits for your consent.
    #[schemars(with = "Vec<super::parts::PendingSetting>")]
    pub pending: Json,
    /// What of your own configuration waits for you; null where nothing does.
    pub loosened: Option<LoosenedFile>,
    /// What of the policy of the team holds with another value.
    pub overridden: Vec<OverriddenSetting>,
}

/// A setting of the policy of the team that holds with another value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OverriddenSetting {
    /// Its key.
    pub key: String,
    /// The value that the team wants.
    pub team: String,
    /// The value that holds.
    pub value: String,
    /// The file that sets it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// A setting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingEntry {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// File and line; null for a built-in value.
    #[schemars(with = "Option<super::parts::SettingSource>")]
    pub from: Json,
}

/// A configuration that is valid; one that is not is an error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ValidConfiguration {
    /// Always true.
    pub valid: bool,
    /// How many settings wait for your consent.
    pub pending: usize,
}

/// The policy in force.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyAnswer {
    /// Whether governance is on.
    pub enabled: bool,
    /// The tier.
    #[schemars(with = "String")]
    pub tier: Json,
    /// Up to which value each verdict goes.
    #[schemars(with = "super::parts::VerdictThresholds")]
    pub thresholds: Json,
    /// The settings of trust debt.
    #[schemars(with = "super::parts::DebtThresholds")]
    pub trust_debt: Json,
    /// The contract.
    #[schemars(with = "super::parts::ContractTerms")]
    pub contract: Json,
    /// The blueprints.
    pub blueprints: Vec<String>,
    /// Tripwires and patterns.
    pub tripwires: Vec<TripwireEntry>,
}

/// A tripwire or a pattern.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TripwireEntry {
    /// Its name.
    pub name: String,
    /// What it decides.
    #[schemars(with = "String")]
    pub decision: Json,
    /// Its condition.
    pub condition: String,
    /// What it counts.
    #[schemars(with = "Option<String>")]
    pub of: Json,
    /// Why.
    pub reason: String,
}

/// The result of an example of a policy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyTrial {
    /// What it is an example of.
    #[schemars(with = "String")]
    pub of: Json,
    /// The example.
    #[schemars(with = "String")]
    pub example: Json,
    /// What it says should come out.
    #[schemars(with = "String")]
    pub expected: Json,
    /// What came out.
    #[schemars(with = "String")]
    pub found: Json,
    /// Whether they agree.
    pub passed: bool,
}

/// What waits for trust, and whether all of it has it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trust {
    /// The file of the project.
    pub file: String,
    /// What it loosens without your consent.
    #[schemars(with = "Vec<super::parts::PendingSetting>")]
    pub pending: Json,
    /// What became looser of your own configuration since you confirmed it; null where nothing did.
    pub loosened: Option<LoosenedFile>,
    /// The sessions that are held to stricter rules.
    pub sessions: Vec<HeldSession>,
    /// Whether nothing waits.
    pub trusted: bool,
}

/// A configuration of the user that is looser than the one that was confirmed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoosenedFile {
    /// The file.
    pub file: String,
    /// The settings that differ; empty where the file cannot be used.
    pub settings: Vec<&'static str>,
    /// When the file changed last; null where it is gone.
    pub since: Option<Moment>,
    /// What happened, in words.
    pub reason: String,
}

/// A session that is held to the rules it began with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldSession {
    /// Its name.
    pub session: String,
    /// The settings that do not count in it yet.
    pub settings: Vec<&'static str>,
}

/// A credential, without its value.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Credential {
    /// Its name.
    pub name: String,
    /// Where it is kept.
    pub place: String,
}

/// All credentials.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CredentialList {
    /// Without their values.
    pub credentials: Vec<Credential>,
}

/// A credential with its value.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CredentialValue {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A credential that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CredentialDeleted {
    /// Its name.
    pub name: String,
    /// Whether there was one.
    pub deleted: bool,
}

/// A process that answers hooks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineAnswering {
    /// The socket at which it does.
    pub socket: String,
    /// The number of the process.
    pub process: u32,
}

/// A link that logs one browser in, once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerLink {
    /// Where the server answers: `http://127.0.0.1:PORT`, or `unix:PATH`.
    pub url: String,
    /// The link, or its path where the server answers at a socket.
    pub open: String,
}

/// A link that pairs a device of another machine, once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PairingLink {
    /// The link; it works within five minutes.
    pub pair: String,
    /// The SHA-256 fingerprint of the certificate, as browsers show it.
    pub fingerprint: String,
}

/// The password for other machines.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasswordSet {
    /// Whether it was set.
    pub set: bool,
}

/// A device that is paired.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PairedDevice {
    /// The name by which it is removed.
    pub id: String,
    /// What it was called when it was paired.
    pub name: String,
    /// `viewer` or `approver`.
    pub role: &'static str,
    /// When it was paired, in milliseconds since 1970.
    pub since: u64,
    /// From where.
    pub from: String,
}

impl From<checkrein_server::Device> for PairedDevice {
    fn from(device: checkrein_server::Device) -> Self {
        let checkrein_server::Device { id, name, role, since, from } = device;
        Self { id, name, role: role.word(), since, from }
    }
}

/// A device that is paired no longer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeviceRemoved {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// A notice that was sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoticeSent {
    /// The channel.
    pub channel: String,
    /// Whether it was sent.
    pub sent: bool,
    /// Why not.
    pub why: Option<String>,
}

/// An MCP server that was seen by `checkrein mcp`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpServer {
    /// The names that clients have for it.
    pub names: Vec<String>,
    /// What is started or connected to, without secrets.
    pub origin: String,
    /// How many of its tools are accepted.
    pub accepted: usize,
    /// The tools that wait for a user.
    pub waiting: Vec<McpWaiting>,
}

/// A tool that waits for a user.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpWaiting {
    /// Its name.
    pub tool: String,
    /// Why it waits.
    pub why: String,
    /// What was accepted; null where nothing was, or where it is too long to be kept.
    pub before: Option<serde_json::Value>,
    /// What the server says now; null where it is too long to be kept.
    pub now: Option<serde_json::Value>,
}

/// What was decided about an MCP server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpAccepted {
    /// The name by which it was meant.
    pub name: String,
    /// The tools that are accepted by this.
    pub accepted: Vec<String>,
    /// Whether it was forgotten: what it says next counts as said for the first time.
    pub forgotten: bool,
}

/// The state of the records of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditedSession {
    /// The session; null for what is wrong around all of them.
    pub session: Option<String>,
    /// How many records were read.
    pub records: u64,
    /// What is wrong.
    pub problems: Vec<String>,
    /// What was repaired.
    pub repairs: Vec<String>,
}

/// Who showed what to get in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditedAuthentication {
    /// The number of the record.
    pub record: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// `credential_used`, `credential_kept`, `credential_shown`, `credential_deleted`, `login`, `logout`, `link_used` or `key_unlocked`.
    pub act: String,
    /// With what, by name; never its value.
    pub subject: String,
    /// By whom.
    pub by: String,
    /// From where: a terminal, an address, a run.
    pub from: String,
    /// `taken` or `refused`.
    pub result: String,
    /// What else is known, such as why it was refused.
    pub detail: String,
}

/// Records that were deleted as they were older than they are kept, or would be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditPruned {
    /// How many sessions.
    pub sessions: u64,
    /// How many snapshots, of all workspaces.
    pub snapshots: u64,
    /// What else, by the store that it was in.
    pub stores: Vec<PrunedStore>,
    /// Whether it is deleted; false for a dry run.
    pub deleted: bool,
}

/// The keys that encrypt the records.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditKeys {
    /// The folder that they are in.
    pub folder: String,
    /// The keys.
    pub keys: Vec<AuditKey>,
}

/// A key that encrypts records.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditKey {
    /// Its name.
    pub name: String,
    /// Where it is kept: `file`, `keyring, unlocked` or `keyring, locked`.
    pub place: String,
    /// Whether records are encrypted with it from now on.
    pub in_use: bool,
}

/// What went from one store.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrunedStore {
    /// The name of its folder in the state directory.
    pub store: String,
    /// How many entries.
    pub entries: u64,
    /// When the oldest of them was written last, in milliseconds since 1970.
    pub oldest: u64,
    /// When the newest of them was written last, in milliseconds since 1970.
    pub newest: u64,
}

answers! {
    RegistrationAnswer => "registration",
    ManualPages => "manual",
    PolicyTried => "policy_tried",
    PresetAnswer => "preset",
    PolicyKey => "policy_key",
    PolicyPinned => "policy_pinned",
    PolicyUnpinned => "policy_unpinned",
    Updated => "update",
    Purged => "purge",
    Diagnosis => "doctor",
    Settings => "config",
    ValidConfiguration => "config-check",
    PolicyAnswer => "policy",
    PolicyTrial => "policy-test",
    Trust => "trust",
    Credential => "credential",
    CredentialList => "credential-list",
    CredentialValue => "credential-value",
    CredentialDeleted => "credential-deletion",
    McpServer => "mcp-server",
    McpAccepted => "mcp-accepted",
    NoticeSent => "notice",
    EngineAnswering => "engine",
    ServerLink => "server-link",
    PairingLink => "pairing-link",
    PasswordSet => "password-set",
    PairedDevice => "paired-device",
    DeviceRemoved => "device-removed",
    AuditedSession => "audit",
    AuditedAuthentication => "audit-authentication",
    AuditPruned => "audit-prune",
    AuditKeys => "audit-keys",
}
