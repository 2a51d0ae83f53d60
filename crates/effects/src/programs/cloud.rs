//! Command lines of clouds and hosting platforms, understood by their verbs.

use crate::effect::{Depth, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Machine, Output, Upload, Value};
use crate::nature::Nature;

use super::cloud_words::{GROUPS, SMALL_THINGS, STORES, VALUES, Verb, kind_of};
use super::kubernetes::prints_environment;
use super::{cloud_place, cloud_remote, cloud_secrets, cloud_weight, containers, downloads, sql};

/// The command that a call names: `ec2 terminate-instances`, and what follows.
pub(super) struct Command<'a> {
    /// The program.
    pub(super) tool: &'a str,
    /// The leading words, exact and no options.
    pub(super) path: Vec<&'a str>,
    /// The verb that decides, as an index into the path, and what it does.
    pub(super) verb: Option<(usize, Verb)>,
}

impl Command<'_> {
    /// `aws ec2 terminate-instances`: the program and the path as far as the verb.
    pub(super) fn name(&self) -> String {
        let end = match self.verb {
            // In `delete cluster` the verb says too little.
            Some((0, _)) => self.path.len().min(2),
            Some((index, _)) => index + 1,
            None => self.path.len().min(4),
        };
        let path = self.path.get(..end).unwrap_or_default();
        // `NAME=value` may hold a secret.
        let path = path.iter().copied().filter(|word| !word.contains('='));
        std::iter::once(self.tool).chain(path).collect::<Vec<_>>().join(" ")
    }

    /// The words at the start of the path.
    pub(super) fn starts(&self, words: &[&str]) -> bool {
        self.path.get(..words.len()).is_some_and(|path| path == words)
    }

    /// The noun, where the verb is aimed at an entry, a rule or a setting rather than at a thing that holds data or serves somebody:
    /// `records-delete`, `firewall-rules delete`, `delete-tags`.
    fn small_thing(&self) -> Option<&'static str> {
        let (index, _) = self.verb?;
        let before = index.checked_sub(1).and_then(|before| self.path.get(before)).copied();
        let behind = if index == 0 { self.path.get(1).copied() } else { None };
        let itself = self.path.get(index).copied();
        let last_noun = |word: &str| {
            word.split(['-', ':', '.'])
                .rev()
                .find(|piece| kind_of(piece) != Some(Verb::Destroys))
                .map(str::to_owned)
        };
        let named = itself.filter(|word| word.contains(['-', ':'])).or(before).or(behind).and_then(last_noun);
        named.and_then(|noun| SMALL_THINGS.iter().find(|small| **small == noun).copied())
    }

    /// The verb itself, without the noun in front of a colon: `ps:scale` is `scale`.
    pub(super) fn verb_word(&self) -> &str {
        let word = self.verb.and_then(|(index, _)| self.path.get(index)).copied().unwrap_or_default();
        word.rsplit(':').next().unwrap_or(word)
    }

    /// The pieces of the words as far as the verb.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &str> {
        let end = self.verb.map_or(0, |(index, _)| index + 1);
        self.path.get(..end).unwrap_or_default().iter().flat_map(|word| word.split(['-', ':', '.']))
    }

    pub(super) fn speaks_of(&self, words: &[&str]) -> bool {
        let mut pieces =
            self.path.iter().flat_map(|word| word.split(['-', ':', '.']).chain(std::iter::once(*word)));
        pieces.any(|piece| words.contains(&piece))
    }
}

/// Interprets a call of any of these programs.
pub(crate) fn verbs(machine: &mut Machine<'_>, call: &Call) -> Exit {
    cloud_place::unless_emulated(machine, call, judged_by_verb)
}

fn judged_by_verb(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let command = read_command(call);
    let given = |names: &[&str]| {
        call.words
            .iter()
            .filter_map(Value::as_exact)
            .any(|word| names.contains(&word.split('=').next().unwrap_or(word)) && !word.ends_with("=false"))
    };
    // `-h HOST` of some.
    let ends_in_help = call.words.last().and_then(Value::as_exact) == Some("-h");
    if ends_in_help
        || given(&[
            "--help",
            "--generate-cli-skeleton",
            "--dry-run",
            "--dryrun",
            "--dry_run",
            "--noop",
            "--what-if",
        ]) && !given(&["--no-dry-run"])
        || command.path.last() == Some(&"help")
    {
        if command.starts(&["s3"]) && given(&["--dryrun"]) {
            ask(machine, &command);
        }
        return Exit::unknown();
    }
    machine.set_cause(&command.name());
    downloads::of_cloud(machine, call, &command);
    if let Some(exit) = cloud_secrets::secret(machine, call, &command) {
        return exit;
    }
    hand_files_over(machine, call, &command);
    if let Some(exit) =
        cloud_remote::run(machine, call, &command).or_else(|| special(machine, call, &command))
    {
        return exit;
    }
    match (command.verb, command.small_thing()) {
        (Some((_, Verb::Looks)), _) => ask(machine, &command),
        (Some((at, Verb::Changes)), _) => {
            let draft = cloud_weight::weigh(change(&command), call, &command);
            // A queue or topic hands on what it is given.
            let verb = command.path.get(at).copied().unwrap_or_default();
            let tells = verb.starts_with("publish") || verb.starts_with("send");
            machine.add(if tells { draft.nature(Nature::TellsOthers) } else { draft });
        }
        (Some((_, Verb::Destroys)), Some(noun)) => {
            let draft = change(&command).note("takes a setting away");
            let is_value = VALUES.contains(&noun);
            machine.add(if is_value {
                draft.severity(Severity::High).note("takes away a value that may be kept nowhere else")
            } else {
                cloud_weight::weigh(draft, call, &command)
            });
        }
        (Some((_, Verb::Destroys)), None) => machine.add(destroy(&command)),
        (None, _) if command.path.is_empty() && !matches!(command.tool, "vercel" | "vc") => {}
        (None, _) if command.path.is_empty() => machine.add(change(&command).note("deploys the project")),
        (None, _) if knows_all_verbs(command.tool) => {
            let target = Target::Service(command.name());
            machine.add(
                Draft::new(EffectKind::InfrastructureChange, target).possible().note("the verb is not known"),
            );
        }
        (None, _) => {}
    }
    if call.arguments.uncertain && command.verb.is_none() {
        machine.opaque("the words are not known");
    }
    Exit::unknown()
}

/// Reads the files whose content goes along: `file://PATH` of AWS, `@PATH` of Azure, options of the others.
/// Sources: AWS CLI, "Loading a parameter from a file"; Azure CLI, "Load arguments from a file"; `gcloud secrets create --help`.
fn hand_files_over(machine: &mut Machine<'_>, call: &Call, command: &Command<'_>) {
    let mut files: Vec<Value> = Vec::new();
    for text in call.words.iter().filter_map(Value::as_exact) {
        let value =
            text.split_once('=').filter(|(name, _)| name.starts_with("--")).map_or(text, |(_, value)| value);
        let path = match command.tool {
            "aws" | "awslocal" => value.strip_prefix("file://").or_else(|| value.strip_prefix("fileb://")),
            "az" => value.strip_prefix('@').filter(|path| path.contains(['/', '.'])),
            _ => None,
        };
        files.extend(path.map(Value::exact));
    }
    if command.verb.is_some_and(|(_, verb)| verb != Verb::Looks) {
        files.extend(
            ["--data-file", "--value-file", "--from-file"].iter().filter_map(|option| value_of(call, option)),
        );
    }
    for file in files {
        containers::carry(machine, &file, command.tool);
    }
}

/// Whether a verb that is not known is worth an effect.
fn knows_all_verbs(tool: &str) -> bool {
    matches!(tool, "aws" | "gcloud" | "az" | "oci" | "ibmcloud" | "openstack" | "doctl" | "hcloud")
}

/// The host that a looking verb asks.
fn ask(machine: &mut Machine<'_>, command: &Command<'_>) {
    let host = match command.tool {
        "aws" => "amazonaws.com",
        "gcloud" => "googleapis.com",
        "az" => "azure.com",
        _ => return,
    };
    let stays_here = matches!(
        command.path.first(),
        Some(
            &("configure"
                | "config"
                | "login"
                | "logout"
                | "version"
                | "info"
                | "feedback"
                | "help"
                | "bicep"
                | "interactive"
                | "init")
        )
    ) || command.starts(&["auth", "login"])
        || command.starts(&["auth", "list"])
        || command.starts(&["auth", "revoke"]);
    if !stays_here {
        machine.add(
            Draft::new(EffectKind::NetworkRequest, Target::Host(host.to_owned())).reach(NetworkReach::Known),
        );
    }
}

pub(super) fn change(command: &Command<'_>) -> Draft {
    Draft::new(EffectKind::InfrastructureChange, Target::Service(command.name()))
}

fn destroy(command: &Command<'_>) -> Draft {
    let kind = if command.speaks_of(STORES) {
        EffectKind::DatastoreDestroy
    } else {
        EffectKind::InfrastructureDestroy
    };
    let draft = Draft::new(kind, Target::Service(command.name())).irreversible();
    let whole = [
        "project",
        "projects",
        "account",
        "organization",
        "group",
        "cluster",
        "clusters",
        "stack",
        "delete-stack",
        "delete-cluster",
        "subscription",
    ];
    if command.path.iter().any(|word| whole.contains(word)) {
        draft.severity(Severity::Critical).note("removes everything in it")
    } else {
        draft
    }
}

/// The leading words of a call, and the verb among them.
pub(super) fn read_command(call: &Call) -> Command<'_> {
    let mut path: Vec<&str> = Vec::new();
    let mut words = call.words.iter().peekable();
    // Options in front of the path, with their values, are told apart by the grammar of the entry.
    let values: Vec<&str> = call
        .arguments
        .options
        .iter()
        .filter(|(_, value)| value.is_some())
        .map(|(name, _)| name.as_str())
        .collect();
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact() else { break };
        if text.starts_with('-') && text.len() > 1 {
            if !path.is_empty() && path.len() > 1 {
                break;
            }
            if !text.contains('=') && values.contains(&text) {
                words.next();
            }
            continue;
        }
        // `govc vm.destroy`.
        path.push(if call.program == "govc" { text.rsplit('.').next().unwrap_or(text) } else { text });
        if path.len() >= 8 {
            break;
        }
    }
    let tool = call.program.split(' ').next().unwrap_or(call.program.as_str());
    let verb = find_verb(&path, tool);
    Command { tool, path, verb }
}

fn find_verb(path: &[&str], tool: &str) -> Option<(usize, Verb)> {
    let found: Vec<(usize, Verb)> =
        path.iter().enumerate().filter_map(|(index, word)| Some((index, kind_of(word)?))).collect();
    if tool == "az" {
        // Every word in front of the options is the command.
        return found.last().copied();
    }
    if matches!(tool, "aws" | "awslocal") {
        return found
            .into_iter()
            .find(|(index, _)| *index == 1)
            .or_else(|| Some((0, kind_of(path.first()?)?)));
    }
    let (first, kind) = found.first().copied()?;
    let next = found.get(1).copied().filter(|(index, _)| *index == first + 1);
    match next {
        Some(next) if path.get(first).is_some_and(|word| GROUPS.contains(word)) => Some(next),
        Some((_, Verb::Destroys))
            if kind != Verb::Destroys && path.len() > first + 1 && kind == Verb::Looks =>
        {
            next
        }
        Some(_) | None => Some((first, kind)),
    }
}

/// What is different from the rule.
#[expect(clippy::match_same_arms, reason = "an arm for each platform")]
fn special(machine: &mut Machine<'_>, call: &Call, command: &Command<'_>) -> Option<Exit> {
    let has = |option: &str| {
        call.words.iter().filter_map(Value::as_exact).any(|word| word.split('=').next() == Some(option))
    };
    let value = |option: &str| value_of(call, option);
    let path = command.path.as_slice();
    match (command.tool, path) {
        ("aws" | "awslocal", ["s3", verb, ..]) => objects(machine, call, verb, 2),
        ("gcloud", ["storage", verb @ ("cp" | "mv" | "rm" | "rsync" | "cat" | "ls"), ..]) => {
            objects(machine, call, verb, 2);
        }
        ("mc" | "minio-client", ["cp" | "mv" | "mirror" | "put", words @ ..]) => {
            if let [sources @ .., to] = words {
                let comes_here = to.starts_with(['/', '.', '~']);
                if comes_here {
                    machine.write(&Value::exact(*to));
                }
                for source in sources.iter().filter(|source| !comes_here && !source.starts_with('-')) {
                    machine.read(&Value::exact(*source));
                    let host = Target::Host((*to).to_owned());
                    machine.add(Draft::new(EffectKind::DataUpload, host).reach(NetworkReach::Known));
                }
            }
        }
        ("gcloud", ["compute", "scp", ..] | ["alpha" | "beta", "compute", "scp", ..]) => {
            // `[USER@]INSTANCE:PATH`, as scp (gcloud compute scp --help).
            let first = path.iter().position(|word| *word == "scp").map_or(0, |at| at + 1);
            let words: Vec<Value> = call.arguments.operands.iter().skip(first).cloned().collect();
            let recurses = has("--recurse").then(|| Value::exact("-r"));
            return Some(machine.call_program(
                "scp",
                "scp",
                &recurses.into_iter().chain(words).collect::<Vec<_>>(),
            ));
        }
        ("gcloud", ["components", "install" | "update", names @ ..]) => {
            let name = names.first().copied().unwrap_or("components");
            machine.add(Draft::new(EffectKind::PackageInstall, Target::Service(name.to_owned())));
        }
        ("az", ["extension", "add" | "update", ..]) => {
            let name = value("--name")
                .and_then(|value| value.as_exact().map(str::to_owned))
                .unwrap_or("extension".to_owned());
            machine.add(Draft::new(EffectKind::PackageInstall, Target::Service(name)));
        }
        (
            "az",
            ["storage", _, "upload" | "upload-batch", ..]
            | ["storage", "copy", ..]
            | ["webapp", "deploy", ..],
        )
        | ("wrangler", ["r2", "object", "put", ..]) => {
            if let Some(file) =
                value("--file").or_else(|| value("-f")).or_else(|| value("--source")).or_else(|| value("-s"))
            {
                machine.read(&file);
            }
            let host = if command.tool == "az" { "azure.com" } else { "cloudflare.com" };
            machine.add(
                Draft::new(EffectKind::DataUpload, Target::Host(host.to_owned())).reach(NetworkReach::Known),
            );
        }
        (
            "gcloud" | "aws" | "az",
            ["config" | "configure" | "components" | "bicep" | "topic" | "feedback" | "info" | "version", ..],
        )
        | (
            "gcloud",
            [
                "auth",
                "login"
                | "list"
                | "revoke"
                | "configure-docker"
                | "activate-service-account"
                | "application-default",
                ..,
            ],
        ) => {}
        ("wrangler", ["d1", "execute", ..]) => {
            if let Some(text) = value("--command") {
                sql::run_text(machine, &text, sql::Language::Sqlite, "d1");
            } else if let Some(file) = value("--file") {
                sql::run_file(machine, &file, sql::Language::Sqlite, "d1");
            }
        }
        ("supabase", ["db", "reset", ..]) => {
            let severity =
                if has("--linked") || has("--db-url") { Severity::Critical } else { Severity::Medium };
            machine.add(
                Draft::new(EffectKind::DatastoreDestroy, Target::Service(command.name()))
                    .severity(severity)
                    .irreversible(),
            );
        }
        ("supabase", ["db", "push" | "remote", ..] | ["migration", "up" | "repair", ..]) => {
            machine.add(Draft::new(EffectKind::DatastoreChange, Target::Service(command.name())));
        }
        ("supabase", ["start" | "stop" | "init" | "gen" | "test" | "seed", ..])
        | ("firebase", ["emulators:start" | "emulators:exec" | "serve" | "use" | "init" | "setup", ..])
        | ("wrangler", ["dev" | "pages" | "types" | "init", "dev", ..] | ["dev" | "types" | "init", ..])
        | ("netlify" | "ntl", ["dev" | "build" | "link" | "unlink" | "init" | "serve", ..])
        | ("vercel" | "vc", ["dev" | "build" | "link" | "pull" | "init" | "switch" | "teams", ..])
        | ("heroku", ["local" | "git:remote" | "apps" | "create", ..])
        | ("celery", ["worker" | "beat" | "flower" | "inspect" | "report" | "status", ..])
        | ("fly" | "flyctl", ["proxy" | "ping" | "dig" | "wireguard", ..])
            if !matches!(path, ["create", ..]) => {}
        ("railway", ["run", ..]) => {
            let words = behind(call, "run");
            return Some(machine.run_words(
                containers::skip_options(&words, &["-s", "--service", "-e", "--environment"]),
                call.input.clone(),
            ));
        }
        ("celery", words) if words.contains(&"purge") => {
            machine.add(
                Draft::new(EffectKind::InfrastructureDestroy, Target::Service("celery purge".to_owned()))
                    .irreversible(),
            );
        }
        ("celery", _) => {}
        _ => return None,
    }
    Some(Exit::unknown())
}

/// The value of an option of the words as they stand: `--name value`, `--name=value`.
pub(super) fn value_of(call: &Call, option: &str) -> Option<Value> {
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact() else { continue };
        if text == option {
            return words.next().cloned();
        }
        if let Some(value) = text.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            return Some(Value::exact(value));
        }
    }
    None
}

/// The words behind the first word that is exactly this.
pub(super) fn behind(call: &Call, word: &str) -> Vec<Value> {
    let at = call.words.iter().position(|found| found.as_exact() == Some(word));
    at.and_then(|at| call.words.get(at + 1..)).map(<[Value]>::to_vec).unwrap_or_default()
}

/// `s3cmd`, `gsutil`, `azcopy`: a verb, then objects and files.
pub(crate) fn bucket_objects(machine: &mut Machine<'_>, call: &Call) -> Exit {
    cloud_place::unless_emulated(machine, call, objects_by_verb)
}

fn objects_by_verb(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some(verb) = call.arguments.operands.first().and_then(Value::as_exact) else {
        return Exit::unknown();
    };
    machine.set_cause(&format!("{} {verb}", call.program));
    let operand = call.arguments.operands.get(1).cloned();
    match verb {
        "iam" | "acl" | "setacl" | "setpolicy" | "delpolicy" | "defacl" | "chmod" | "ubla" | "pap" => {
            let subject = call
                .arguments
                .operands
                .iter()
                .rev()
                .find_map(|word| word.as_exact().filter(|text| is_remote(text)));
            let is_question = matches!(call.arguments.operand(1), Some("get"));
            if let Some(subject) = subject.filter(|_| !is_question) {
                let draft = Draft::new(EffectKind::InfrastructureChange, Target::Service(subject.to_owned()));
                machine.add(draft.severity(Severity::High).note("changes who may see the bucket"));
            }
        }
        "mb" => {
            if let Some(bucket) = operand {
                machine.effect(EffectKind::InfrastructureChange, &bucket);
            }
        }
        // `b2 bucket delete NAME`.
        "bucket" | "file" | "key" | "replication" | "lifecycle-rule" => return judged_by_verb(machine, call),
        "bench" | "make" | "env" | "version" | "login" | "logout" | "jobs" | "list" | "ls" | "la" | "du"
        | "info" | "stat" | "hash" | "head" | "cat" | "--configure" | "signurl" => {}
        verb => objects(machine, call, verb, 1),
    }
    Exit::unknown()
}

/// Verbs that copy, move and remove objects; the objects and files are the operands from `first` on.
fn objects(machine: &mut Machine<'_>, call: &Call, verb: &str, first: usize) {
    let operands: Vec<Value> = call.arguments.operands.iter().skip(first).cloned().collect();
    let has = |options: &[&str]| {
        call.words
            .iter()
            .filter_map(Value::as_exact)
            .any(|word| options.contains(&word.split('=').next().unwrap_or(word)))
    };
    let takes_many = has(&["--recursive", "-r", "-R", "--force", "-f", "--all", "-a", "--versions"])
        // `swift delete CONTAINER`: with nothing behind it, all of it.
        || call.program == "swift" && operands.len() == 1
        || operands.iter().any(|operand| operand.known_start().contains('*'));
    let recursive = if takes_many { Severity::High } else { Severity::Medium };
    let lost = |target: &Value, severity: Severity| {
        let target = target.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()));
        Draft::new(EffectKind::DatastoreDestroy, target).severity(severity).irreversible()
    };
    match verb {
        "rm" | "del" | "remove" | "rb" | "delete" => {
            for target in &operands {
                let severity = if verb == "rb" { Severity::Critical } else { recursive };
                machine.add(lost(target, severity).note(if verb == "rb" {
                    "removes a bucket"
                } else {
                    "removes objects"
                }));
            }
        }
        "cp" | "mv" | "sync" | "rsync" | "put" | "get" | "copy" | "dsync" => {
            let Some((to, from)) = operands.split_last() else { return };
            let (from, to) = if verb == "get" && from.is_empty() {
                (std::slice::from_ref(to), Value::exact("."))
            } else {
                (from, to.clone())
            };
            for from in from {
                transfer(machine, call, verb, from, &to);
            }
            let mirrors = matches!(verb, "sync" | "rsync")
                && has(&["--delete", "-d", "--delete-removed", "--delete-unmatched-destination-objects"])
                || has(&["--delete-destination"]);
            if mirrors {
                if to.as_exact().is_some_and(is_remote) {
                    machine.add(lost(&to, Severity::High).note("removes what is not at the source"));
                } else {
                    machine.possibly(|machine| machine.delete(&to, Depth::Recursive));
                }
            }
        }
        "website" | "mb" | "setlifecycle" | "expire" | "fixbucket" | "modify" | "lifecycle" | "cors"
        | "versioning" | "web" | "rewrite" => {
            if let Some(bucket) = operands.last() {
                machine.effect(EffectKind::InfrastructureChange, bucket);
            }
        }
        // `delete-bucket`, `abort`, `rm-all`: other names of the same.
        verb if kind_of(verb) == Some(Verb::Destroys) => {
            for target in &operands {
                machine.add(lost(target, Severity::High).note("removes what is kept there"));
            }
        }
        // `swift upload CONTAINER FILE...`.
        "upload" => {
            let Some((to, files)) = operands.split_first() else { return };
            for file in files {
                machine.read(file);
            }
            machine.host(to, Upload::Yes);
        }
        _ => {
            let command = read_command(call);
            ask(machine, &command);
        }
    }
}

fn transfer(machine: &mut Machine<'_>, call: &Call, verb: &str, from: &Value, to: &Value) {
    let remote = |value: &Value| is_remote(&value.known_start());
    let moves = verb == "mv";
    match (remote(from), remote(to)) {
        (false, true) => {
            let secret = matches!(machine.read(from), Output::Secret(_));
            let target = to.as_exact().map_or(Target::Unknown, |text| Target::Host(text.to_owned()));
            // The user's own storage, by its own program: known, though not this machine.
            let mut draft = Draft::new(EffectKind::DataUpload, target).reach(NetworkReach::Known);
            if secret {
                draft = draft.severity(Severity::Critical).note("sends a secret");
            }
            machine.add(draft);
            if moves {
                let before = machine.effect_count();
                machine.delete(from, Depth::Single);
                machine.amend(before, |effect| {
                    effect.nature = Nature::Moved;
                    "moved to the bucket".clone_into(&mut effect.note);
                });
            }
        }
        (true, false) => {
            if call.program.starts_with("aws") || call.program.starts_with("gcloud") {
                ask(machine, &read_command(call));
            }
            let many = matches!(verb, "sync" | "rsync" | "dsync")
                || call.arguments.has(&["--recursive", "-r", "-R", "--recursive=true"]);
            let is_written = to.as_exact() == Some("-") || many && containers::write_over_tree(machine, to);
            if !is_written {
                containers::write_into(machine, from, to);
            }
            if moves {
                machine.effect(EffectKind::DatastoreChange, from);
            }
        }
        (true, true) => {
            machine.effect(EffectKind::DatastoreChange, to);
            if moves {
                machine.effect(EffectKind::DatastoreChange, from);
            }
        }
        (false, false) => {
            if to.known_start().is_empty() && to.as_exact().is_none() {
                machine.host(&Value::Unknown, Upload::Yes);
            }
        }
    }
}

/// Whether a word names an object in a bucket.
fn is_remote(text: &str) -> bool {
    text.contains("://")
}

/// `aws-vault exec PROFILE -- WORDS`, `aws-vault export`.
pub(crate) fn credential_runner(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let operands = &call.arguments.operands;
    let words: Vec<Value> = operands.iter().skip(1).cloned().collect();
    match operands.first().and_then(Value::as_exact) {
        Some("exec") => {
            let behind_profile =
                containers::skip_options(&words, &["-d", "--duration", "--region", "-a", "-p", "--profile"]);
            let rest = behind_profile.get(1..).unwrap_or_default();
            let rest = containers::skip_options(rest, &["-d", "--duration", "--region"]);
            if prints_environment(rest) {
                let target = Target::Service(call.program.clone());
                machine.add(Draft::new(EffectKind::SecretRead, target).note("prints credentials"));
            }
            machine.run_words(rest, call.input.clone())
        }
        Some(verb @ ("export" | "login" | "script" | "creds")) if verb != "login" => {
            let name = format!("{} {verb}", call.program);
            machine.add(
                Draft::new(EffectKind::SecretRead, Target::Service(name.clone())).note("prints credentials"),
            );
            Exit::with(Output::Secret(name))
        }
        Some("remove" | "clear") => {
            machine.add(
                Draft::new(EffectKind::DatastoreDestroy, Target::Service(call.program.clone()))
                    .severity(Severity::Medium),
            );
            Exit::unknown()
        }
        Some(_) | None => Exit::unknown(),
    }
}
