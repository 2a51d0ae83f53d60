//! Which command answers with what: the schema of every form, and the page about them.

use std::fmt::Write as _;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};

use super::{
    Answer, ErrorAnswer, Remark, approvals, changes, fixed, gates, installation, pipelines, plugins,
    programs, pushes, saved, sessions,
};

/// Whether a command prints one answer or one on each line.
#[derive(Clone, Copy)]
enum Form {
    /// One object.
    One,
    /// One array of objects.
    Array,
    /// One object on each line.
    Lines,
    /// One object on one line of standard error.
    StandardError,
}

/// A form with the commands that answer in it.
struct Entry {
    schema: &'static str,
    commands: &'static [(&'static str, Form)],
    make: fn(&mut SchemaGenerator) -> Schema,
}

fn entry<T: Answer>(commands: &'static [(&'static str, Form)]) -> Entry {
    Entry { schema: T::SCHEMA, commands, make: T::json_schema }
}

fn fixed_entry<T: JsonSchema>(schema: &'static str, commands: &'static [(&'static str, Form)]) -> Entry {
    Entry { schema, commands, make: T::json_schema }
}

use Form::{Array, Lines, One, StandardError};

/// The form of the answer to one question of `check`: that of a line of a batch, with its name.
pub const CHECK: &str = "checkrein/check/1";

fn answers() -> Vec<Entry> {
    vec![
        entry::<installation::RegistrationAnswer>(&[("init", Lines), ("uninstall", Lines)]),
        entry::<installation::Purged>(&[("uninstall --purge", One)]),
        entry::<installation::ManualPages>(&[("manual", One)]),
        entry::<sessions::Allowed>(&[("allow", One)]),
        entry::<approvals::ApprovalEntry>(&[("approval show", One)]),
        entry::<approvals::ApprovalGiven>(&[("approval allow", One), ("approval deny", One)]),
        entry::<changes::ChangeEntry>(&[
            ("change list", Lines),
            ("change open", One),
            ("change show", One),
            ("change approve", One),
            ("change verify", One),
            ("change rollback", One),
            ("change close", One),
        ]),
        entry::<sessions::ListedAllowance>(&[("allow --list", Lines)]),
        entry::<sessions::Stats>(&[("stats", One)]),
        entry::<sessions::Forgotten>(&[("allow", One)]),
        entry::<sessions::OpinionMarked>(&[("wrong", One), ("missed", One)]),
        entry::<installation::PolicyTried>(&[("policy try", One)]),
        entry::<installation::PresetAnswer>(&[("config preset", One)]),
        entry::<installation::PolicyKey>(&[("policy key", One), ("policy sign", One)]),
        entry::<installation::PolicyPinned>(&[("policy pin", One), ("policy update", One)]),
        entry::<installation::PolicyUnpinned>(&[("policy unpin", One)]),
        entry::<installation::Updated>(&[("update", One)]),
        entry::<installation::Diagnosis>(&[("doctor", One)]),
        entry::<sessions::ActionRecords>(&[("show", One)]),
        entry::<sessions::WatchEntry>(&[("watch", Lines)]),
        entry::<saved::RestoreAnswer>(&[("undo", One), ("snapshot restore", One)]),
        entry::<programs::RunEndAnswer>(&[("run", StandardError)]),
        entry::<programs::ExecEnd>(&[("exec", StandardError)]),
        entry::<programs::TestRoute>(&[("route", StandardError)]),
        entry::<gates::GateAnswer>(&[("gate", One)]),
        entry::<pushes::PushAnswer>(&[("push-hook run", One)]),
        entry::<pushes::PushHookAnswer>(&[("push-hook install", One), ("push-hook remove", One)]),
        entry::<pipelines::PipelineAnswer>(&[
            ("pipeline run", One),
            ("pipeline list", Lines),
            ("pipeline show", One),
            ("task", One),
        ]),
        entry::<pipelines::PipelinePlan>(&[("pipeline check", One), ("pipeline graph", One)]),
        entry::<pipelines::VerifiedPipeline>(&[("pipeline verify", Lines)]),
        entry::<plugins::PluginEntry>(&[
            ("plugin list", Lines),
            ("plugin run", Lines),
            ("plugin enable", One),
            ("plugin disable", One),
        ]),
        entry::<plugins::PluginWritten>(&[("plugin init", One)]),
        entry::<plugins::PluginTrial>(&[("plugin test", Lines)]),
        entry::<sessions::Halted>(&[("halt", One), ("resume", One)]),
        entry::<installation::Trust>(&[("trust", One), ("trust show", One)]),
        fixed_entry::<fixed::Check>(CHECK, &[("check", One)]),
        entry::<sessions::SessionEntry>(&[("session list", Lines), ("session show", One)]),
        entry::<sessions::StatusLineAnswer>(&[("statusline", One)]),
        entry::<sessions::SessionRollback>(&[("session rollback", One)]),
        entry::<sessions::Recovery>(&[("session recover", One)]),
        entry::<sessions::SessionGivenUp>(&[("session recover --abort", One)]),
        entry::<saved::SnapshotEntry>(&[("snapshot list", Lines), ("snapshot create", One)]),
        entry::<saved::SnapshotDifference>(&[("snapshot diff", Lines)]),
        entry::<saved::Pinned>(&[("snapshot pin", One)]),
        entry::<saved::PruneAnswer>(&[("snapshot prune", One)]),
        entry::<saved::SnapshotCheck>(&[("snapshot verify", One)]),
        entry::<saved::Exported>(&[("snapshot export", One)]),
        entry::<programs::RunAnswer>(&[("run list", Lines), ("run verify", Lines), ("run show", One)]),
        entry::<saved::Worktree>(&[("worktree list", Lines)]),
        entry::<saved::WorktreeDiff>(&[("worktree diff", One)]),
        entry::<saved::Merged>(&[("worktree merge", One)]),
        entry::<saved::Discarded>(&[("worktree discard", One)]),
        entry::<saved::MergedBranch>(&[("worktree clean", Lines)]),
        entry::<sessions::PastWorkEntry>(&[("history", Lines)]),
        entry::<sessions::IncidentReport>(&[
            ("incident list", Lines),
            ("incident show", One),
            ("incident close", One),
        ]),
        entry::<sessions::DetectedIssue>(&[("issue list", Lines)]),
        entry::<sessions::Mark>(&[("issue mark", One)]),
        entry::<sessions::IssueStats>(&[("issue stats", One)]),
        entry::<sessions::Ticket>(&[("ticket list", Lines), ("ticket close", One)]),
        entry::<sessions::AgentEntry>(&[("agent list", Lines), ("agent tier", One)]),
        entry::<sessions::SurprisingCall>(&[("surprise list", Lines)]),
        entry::<installation::Settings>(&[("config show", One)]),
        entry::<installation::ValidConfiguration>(&[("config check", One), ("policy check", One)]),
        entry::<installation::PolicyAnswer>(&[("policy show", One)]),
        entry::<installation::PolicyTrial>(&[("policy test", Lines)]),
        entry::<installation::AuditedSession>(&[("audit verify", Lines)]),
        entry::<installation::AuditedAuthentication>(&[("audit authentications", Lines)]),
        entry::<installation::AuditPruned>(&[("audit prune", One)]),
        entry::<installation::AuditKeys>(&[
            ("audit key list", One),
            ("audit key rotate", One),
            ("audit key keyring", One),
            ("audit key unlock", One),
        ]),
        entry::<installation::CredentialList>(&[("credential list", One)]),
        entry::<installation::Credential>(&[("credential set", One)]),
        entry::<installation::CredentialValue>(&[("credential get", One)]),
        entry::<installation::CredentialDeleted>(&[("credential delete", One)]),
        entry::<installation::McpServer>(&[("mcp list", Lines)]),
        entry::<installation::McpAccepted>(&[("mcp accept", One), ("mcp forget", One)]),
        entry::<installation::EngineAnswering>(&[("engine", One)]),
        entry::<installation::ServerLink>(&[("open", One)]),
        entry::<installation::PairingLink>(&[("open --phone", One)]),
        entry::<installation::PasswordSet>(&[("serve --set-password", One)]),
        entry::<installation::PairedDevice>(&[("serve --devices", Lines)]),
        entry::<installation::DeviceRemoved>(&[("serve --remove-device", One)]),
        entry::<installation::NoticeSent>(&[("notice send", Lines), ("notice test", Lines)]),
        entry::<ErrorAnswer>(&[]),
        entry::<Remark>(&[]),
    ]
}

fn fixed_forms() -> Vec<Entry> {
    vec![
        fixed_entry::<approvals::ApprovalList>("approval-list", &[("approval list", Array)]),
        fixed_entry::<fixed::Check>("check", &[("check --batch", Lines)]),
        fixed_entry::<fixed::CheckFault>("check-fault", &[("check --batch", Lines)]),
        fixed_entry::<gates::GateBatchAnswer>("gate-batch", &[("gate completeness --batch", Lines)]),
        fixed_entry::<checkrein_server::Announcement>("serve", &[("serve", One)]),
        fixed_entry::<fixed::LogRecord>("log", &[("log", Lines)]),
        fixed_entry::<fixed::Replay>("replay", &[("replay", Lines)]),
        fixed_entry::<fixed::ReplayDifference>("replay-against", &[("replay --against", Lines)]),
    ]
}

/// The JSON Schema of everything that `--json` prints: one definition for each form, by the name in its `schema` field, and by a short name
/// for those without; `x-commands` says which commands print it.
pub fn schema() -> Json {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut forms = Map::new();
    for (entries, has_envelope) in [(answers(), true), (fixed_forms(), false)] {
        for Entry { schema, commands, make } in entries {
            let mut form = make(&mut generator).to_value();
            if has_envelope {
                envelop(&mut form, schema);
            }
            if let Some(fields) = form.as_object_mut() {
                let names: Vec<&str> = commands.iter().map(|(name, _)| *name).collect();
                fields.insert("x-commands".to_owned(), json!(names));
            }
            forms.insert(schema.to_owned(), form);
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What checkrein prints with --json",
        "forms": forms,
        "$defs": generator.take_definitions(true),
    })
}

/// Adds the field that every answer has.
fn envelop(form: &mut Json, schema: &str) {
    let Some(fields) = form.as_object_mut() else { return };
    let properties = fields.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.shift_insert(0, "schema".to_owned(), json!({ "const": schema }));
    }
    if let Some(required) = fields.entry("required").or_insert_with(|| json!([])).as_array_mut() {
        required.insert(0, json!("schema"));
    }
}

const BEGINNING: &str = "# JSON\n\n\
`--json` makes every command answer in JSON. Made by `cargo xtask docs`; the JSON Schema of every form is in [json.schema.json](json.schema.json), under `forms`.\n\n\
- An answer is one object. Its field `schema` names its form and version. A form gets new fields without a new version; a field goes or changes its meaning only with one.\n\
- A command that lists prints JSON Lines: one object on each line, and nothing when there is nothing; `jq -s` makes one array of them. Two lists are one value instead, also when they are empty: `approval list` is one array, and `credential list` one object.\n\
- Times are RFC 3339 in UTC. In records, which stand in answers as the ledger holds them, they are milliseconds since 1970.\n\
- An error is an answer of the form `checkrein/error/1` with `kind`, `cause`, `hint` and `exit_status`, on one line of the same stream, behind what was already printed. Standard error has it in words.\n\
- `exec`, `run` and `route` answer on standard error, since standard output belongs to the program that they run. What they say before that is JSON there too, of the form `checkrein/remark/1`; their answer, or an error, is the last line.\n\n";

/// The page about JSON.
pub fn page() -> String {
    let all = schema();
    let mut page = BEGINNING.to_owned();
    page.push_str("## Commands\n\n| command | prints | form |\n|---|---|---|\n");
    let entries: Vec<Entry> = answers().into_iter().chain(fixed_forms()).collect();
    for Entry { schema, commands, .. } in &entries {
        for (command, form) in *commands {
            let prints = match form {
                One => "one object",
                Array => "one array",
                Lines => "JSON Lines",
                StandardError => "one line on standard error",
            };
            let _ = writeln!(page, "| `{command}` | {prints} | [`{schema}`](#{}) |", anchor(schema));
        }
    }
    page.push_str(
        "\n`config schema`, `completions`, `hook` and `audit export` print what they are for, with and without `--json`.\n",
    );
    for Entry { schema, .. } in answers() {
        form_section(&mut page, &all, schema);
    }
    page.push_str(
        "\n## Forms without an envelope\n\nScripts rely on these as they are. They have no `schema` field.\n",
    );
    for Entry { schema, .. } in fixed_forms() {
        form_section(&mut page, &all, schema);
    }
    page.push_str("\n## Parts\n");
    for (name, part) in all["$defs"].as_object().into_iter().flatten() {
        if part.get("properties").is_some() {
            section(&mut page, name, part);
        }
    }
    page
}

fn anchor(schema: &str) -> String {
    schema.to_lowercase().chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect()
}

fn form_section(page: &mut String, all: &Json, schema: &str) {
    section(page, schema, &all["forms"][schema]);
}

fn section(page: &mut String, title: &str, form: &Json) {
    let about = form["description"].as_str().unwrap_or_default().replace('\n', " ");
    let _ = write!(page, "\n### {title}\n\n{about}\n");
    let properties = form["properties"].as_object();
    let rows = properties.into_iter().flatten().filter(|(name, _)| name.as_str() != "schema");
    for (place, (name, field)) in rows.enumerate() {
        if place == 0 {
            page.push_str("\n| field | type | meaning |\n|---|---|---|\n");
        }
        let about = field["description"].as_str().unwrap_or_default().replace('\n', " ");
        let _ = writeln!(page, "| `{name}` | {} | {about} |", type_of(field));
    }
}

/// The type of a field in words.
fn type_of(field: &Json) -> String {
    if let Some(name) = field["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return name.to_owned();
    }
    if let Some(one_of) = field["anyOf"].as_array() {
        return one_of.iter().map(type_of).collect::<Vec<_>>().join(" or ");
    }
    match &field["type"] {
        Json::String(name) if name == "array" => format!("array of {}", type_of(&field["items"])),
        Json::String(name) => name.clone(),
        Json::Array(names) => names.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_name_of_its_own_and_tells_what_its_fields_are() {
        let entries: Vec<Entry> = answers().into_iter().chain(fixed_forms()).collect();
        let mut names: Vec<&str> = entries.iter().map(|entry| entry.schema).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), entries.len());
        let all = schema();
        let parts =
            all["$defs"].as_object().unwrap().values().chain(all["forms"].as_object().unwrap().values());
        for part in parts {
            for (name, field) in part["properties"].as_object().into_iter().flatten() {
                assert!(name == "schema" || field["description"].is_string(), "{name} in {part}");
            }
        }
    }

    #[test]
    fn the_page_names_every_form() {
        let page = page();
        for Entry { schema, .. } in answers().iter().chain(&fixed_forms()) {
            assert!(page.contains(&format!("### {schema}\n")), "{schema}");
        }
    }
}
