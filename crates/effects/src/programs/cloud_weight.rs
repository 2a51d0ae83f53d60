//! How grave a change of a cloud is: whether it stops what others use, opens it to everyone, or takes its protection away.
//!
//! Sources: the operations of the AWS API (the service models of botocore 1.44.5, 439 services), the references of `gcloud`, `az`, `heroku`,
//! `flyctl`, `doctl` and the command lines in `cloud-*.toml`.

use crate::effect::Severity;
use crate::interpreter::{Call, Draft, Value};

use super::cloud::Command;
use super::cloud_words::{RIGHTS, STORES, Verb, kind_of};

/// Verbs that end or interrupt something that serves others, with a noun or alone: `stop-instances`, `vm deallocate`.
const INTERRUPTING: &[&str] = &[
    "abandon",
    "close",
    "deactivate",
    "deallocate",
    "deauthorize",
    "deprovision",
    "deregister",
    "detach",
    "disable",
    "disconnect",
    "drain",
    "evacuate",
    "evict",
    "expire",
    "failover",
    "freeze",
    "generalize",
    "halt",
    "kill",
    "offline",
    "pause",
    "poweroff",
    "quarantine",
    "regenerate",
    "rebuild",
    "recreate",
    "refund",
    "reimage",
    "reinit",
    "reinstall",
    "retire",
    "revoke",
    "shutdown",
    "stop",
    "suspend",
    "switchover",
    "transfer",
    "undeploy",
    "unprotect",
    "unpublish",
    "unset",
    "withdraw",
];

/// Verbs that do so with a noun only, since alone they are the name of a group or mean something else: `release-address`, `power-off`.
const INTERRUPTING_WITH_NOUN: &[&str] = &["release-", "power-off", "remove-", "reset-"];

/// What somebody starts for themselves: stopping it ends a piece of work, not a service.
const PIECES_OF_WORK: &[&str] = &[
    "analysis",
    "assessment",
    "batch",
    "build",
    "builds",
    "cache",
    "calculation",
    "crawler",
    "deployment",
    "discovery",
    "environment",
    "evaluation",
    "execution",
    "executions",
    "experiment",
    "export",
    "import",
    "ingestion",
    "job",
    "jobs",
    "notebook",
    "operation",
    "operations",
    "query",
    "run",
    "runs",
    "sandbox",
    "scan",
    "search",
    "session",
    "simulation",
    "task",
    "tasks",
    "test",
    "transcription",
];

/// Nouns of relations that end without loss: `remove-tags`, `disassociate-attribute-groups`.
const MARKS: &[&str] = &[
    "tag",
    "tags",
    "label",
    "labels",
    "metadata",
    "annotation",
    "annotations",
    "attribute",
    "attributes",
    "alias",
    "aliases",
    "comment",
    "favorite",
    "favorites",
    "components",
    "component",
    "config",
    "default",
    "context",
];

/// Words of a command that speak of who may reach a thing.
const DOORS: &[&str] = &[
    "acl",
    "acls",
    "grant",
    "grants",
    "permission",
    "public-access-block",
    "ingress",
    "block-public-access",
];

/// Operations that share something with other accounts by an attribute or entry that does not say so in its verb.
const SHARING: &[&str] = &[
    "modify-image-attribute",
    "modify-snapshot-attribute",
    "modify-db-snapshot-attribute",
    "modify-db-cluster-snapshot-attribute",
    "modify-fpga-image-attribute",
    "modify-vpc-endpoint-service-permissions",
    "modify-document-permission",
    "modify-security-group-rules",
    "create-function-url-config",
    "enable-sharing-with-aws-organization",
    "associate-resource-share",
    "create-resource-share",
    "update-assume-role-policy",
];

/// Operations after which names of the internet lead elsewhere.
const NAMES: &[&str] = &[
    "change-resource-record-sets",
    "update-domain-nameservers",
    "transfer-domain-to-another-aws-account",
    "disable-hosted-zone-dnssec",
];

/// Operations that end or destroy later: `schedule-key-deletion`.
const DELAYED: &[&str] = &["schedule-key-deletion", "schedule-destroy"];

/// Texts in the options that let everyone in.
const EVERYONE: &[&str] = &[
    "0.0.0.0/0",
    "::/0",
    "allUsers",
    "allAuthenticatedUsers",
    "public-read",
    "authenticated-read",
    "\"Principal\":\"*\"",
    "\"Principal\": \"*\"",
    "\"AWS\":\"*\"",
    "\"AWS\": \"*\"",
];

/// Options that make a thing public, by themselves.
const MAKES_PUBLIC: &[&str] = &[
    "--publicly-accessible",
    "--no-block-public-access",
    "--public-access",
    "--allow-unauthenticated",
    "--no-public-access-prevention",
];

/// Options, with a value where one is wanted, that switch off what protects against loss or against others.
const UNPROTECTS: &[&str] = &[
    "--no-deletion-protection",
    "--no-deletion-protection-enabled",
    "--deletion-protection=false",
    "--no-enable-deletion-protection",
    "--no-termination-protection",
    "--no-disable-api-termination",
    "--no-protect",
    "--backup-retention-period=0",
    "--no-backup",
    "--no-is-multi-region-trail",
    "--no-enable-log-file-validation",
    "--no-enable-point-in-time-recovery",
    "--disable-backup",
    "--enable-purge-protection=false",
    "--enable-soft-delete=false",
    "--https-only=false",
];

/// What watches, records or guards the things of an account, by its name in a command.
/// Sources: the services of AWS named in its Security Reference Architecture; `az monitor`, `az security`, `az lock`; `gcloud logging`.
const GUARDS: &[&str] = &[
    "access-analyzer",
    "accessanalyzer",
    "alert-rules",
    "armor",
    "audit",
    "cloudtrail",
    "ddos-protection",
    "defender",
    "detective",
    "diagnostic-settings",
    "flow-log",
    "flow-logs",
    "guardduty",
    "inspector2",
    "lock",
    "log-profiles",
    "macie2",
    "security",
    "securityhub",
    "sentinel",
    "shield",
    "sinks",
    "waf",
    "wafv2",
];

/// Options of changes that give an account or a database a new password.
const PASSWORDS: &[&str] = &[
    "--master-user-password",
    "--manage-master-user-password",
    "--admin-password",
    "--administrator-login-password",
    "--root-password",
    "--new-password",
];

/// Texts in the options after which what is kept goes by itself.
const EXPIRES: &[&str] = &["Expiration", "\"expire\"", "--lifecycle-file", "--lifecycle-policy"];

/// Options whose value `0` leaves nothing running.
const COUNTS: &[&str] = &[
    "--count",
    "--desired-capacity",
    "--desired-count",
    "--instance-count",
    "--max-instances",
    "--max-replicas",
    "--max-size",
    "--min-nodes",
    "--node-count",
    "--num-nodes",
    "--nodes",
    "--number-of-workers",
    "--replicas",
    "--size",
];

/// What is carried out, or let in, when a machine starts.
const AT_START: &[&str] =
    &["startup-script", "shutdown-script", "ssh-keys", "sshKeys", "--user-data", "windows-startup-script"];

/// Options of verbs that bring data in which say that what is there goes.
const REPLACING: &[&str] = &["--replace", "--replace-all", "--overwrite", "--clean", "--drop"];

/// Why a change is asked about; `None` for an ordinary one.
pub(super) fn grave_change(call: &Call, command: &Command<'_>) -> Option<&'static str> {
    let verb = command.verb_word();
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let any = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    // `add-metadata` changes a machine that is there.
    let creates =
        !verb.ends_with("-metadata") && is_any(verb, &["create", "run", "deploy", "new", "add", "launch"]);
    // A role of Chef is a list of what runs on a machine.
    let rights = if command.tool == "knife" { &[] } else { RIGHTS };
    if command.speaks_of(rights)
        || command.speaks_of(DOORS) && !creates
        || ["iam-policy", "bucket-policy", "security-group-ingress", "public-access-block", "-acl"]
            .iter()
            .any(|part| verb.contains(part))
        || SHARING.contains(&verb)
    {
        return Some("changes who may do what");
    }
    if command.speaks_of(GUARDS) && (takes_away(verb) || is_cheapest(&words)) || any(&["--no-enable"]) {
        return Some("takes away what watches or protects the account");
    }
    if command.tool == "stripe" && any(&["--live"]) {
        return Some("moves money or changes what customers pay");
    }
    if !creates
        && words.iter().any(|word| PASSWORDS.iter().any(|option| word.split('=').next() == Some(option)))
    {
        return Some("changes who may enter");
    }
    if !creates && words.iter().any(|word| EXPIRES.iter().any(|text| word.contains(text))) {
        return Some("what is kept there goes after a while");
    }
    if !creates && verb.contains("password") && !verb.contains("initial") {
        return Some("changes who may enter");
    }
    // A machine that is given back is wiped (MAAS, "Release a machine").
    if command.tool == "maas" && is_any(verb, &["release"]) {
        return Some("wipes the machine");
    }
    if NAMES.contains(&verb) {
        return Some("changes where names lead");
    }
    if DELAYED.contains(&verb) {
        return Some("is destroyed after a while");
    }
    let leads_to_everyone = words.iter().any(|word| EVERYONE.iter().any(|everyone| word.contains(everyone)));
    if leads_to_everyone && !verb.contains("route") || any(MAKES_PUBLIC) {
        return Some("opens it to everyone");
    }
    if any(UNPROTECTS) || has_pair(&words, UNPROTECTS) {
        return Some("takes its protection away");
    }
    if !creates && words.iter().any(|word| AT_START.iter().any(|start| word.contains(start))) {
        return Some("changes what a machine does when it starts, or who may enter it");
    }
    if is_scaled_to_nothing(command, &words) {
        return Some("leaves nothing of it running");
    }
    if is_any(verb, &["import", "restore", "load"]) && any(REPLACING)
        || is_any(verb, &["restore", "copy"]) && command.tool == "heroku" && command.speaks_of(STORES)
    {
        return Some("replaces the data that is there");
    }
    let is_mark = verb.split('-').any(|piece| MARKS.contains(&piece))
        || command
            .pieces()
            .any(|piece| matches!(piece, "tag" | "tags" | "label" | "labels" | "recommendation"));
    // A job of nomad is a service.
    let is_work = command.tool != "nomad" && command.pieces().any(|piece| PIECES_OF_WORK.contains(&piece));
    let interrupts =
        is_any(verb, INTERRUPTING) || INTERRUPTING_WITH_NOUN.iter().any(|start| verb.starts_with(start));
    (interrupts && !is_mark && !is_work).then_some("stops or takes away what others may use")
}

fn takes_away(verb: &str) -> bool {
    kind_of(verb) == Some(Verb::Destroys) || is_any(verb, &["remove", "clear", "reset"])
}

/// `az security pricing create --tier free`: the tier that protects nothing.
fn is_cheapest(words: &[&str]) -> bool {
    words
        .iter()
        .zip(words.iter().skip(1))
        .any(|(option, value)| *option == "--tier" && value.eq_ignore_ascii_case("free"))
}

/// A draft of a change, as grave as it is.
pub(super) fn weigh(draft: Draft, call: &Call, command: &Command<'_>) -> Draft {
    match grave_change(call, command) {
        Some(note) => draft.severity(Severity::High).note(note),
        None => draft,
    }
}

/// Whether two words that follow each other are an option with that value: `--backup-retention-period 0`.
fn has_pair(words: &[&str], wanted: &[&str]) -> bool {
    words.iter().zip(words.iter().skip(1)).any(|(option, value)| {
        wanted
            .iter()
            .any(|wanted| wanted.split_once('=').is_some_and(|(name, set)| name == *option && set == *value))
    })
}

/// `scale web=0`, `scale count 0`, `--desired-count 0`.
fn is_scaled_to_nothing(command: &Command<'_>, words: &[&str]) -> bool {
    let by_option = words.iter().zip(words.iter().skip(1).chain(std::iter::once(&""))).any(|(word, next)| {
        COUNTS
            .iter()
            .any(|option| *word == *option && *next == "0" || word.strip_prefix(option) == Some("=0"))
    });
    by_option
        || command.pieces().any(|piece| piece == "scale")
            && words.iter().any(|word| *word == "0" || word.ends_with("=0") && !word.starts_with("--min"))
}

fn is_any(verb: &str, wanted: &[&str]) -> bool {
    wanted
        .iter()
        .any(|wanted| verb == *wanted || verb.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('-')))
}
