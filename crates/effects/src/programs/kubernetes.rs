//! kubectl: verbs on kinds of resources.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::default_settings::KUBERNETES_CREDENTIALS;
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};
use serde_json::Value as Json;

use super::cloud::value_of;
use super::containers;
use super::packages::yaml_document;
use super::store_place::speaks_of_production;

/// Kinds whose removal removes data.
const HOLDS_DATA: &[&str] = &[
    "pvc",
    "pvcs",
    "persistentvolumeclaim",
    "persistentvolumeclaims",
    "pv",
    "pvs",
    "persistentvolume",
    "persistentvolumes",
    "volumesnapshot",
    "volumesnapshots",
];
/// Kinds that hold others, or that others cannot do without.
const HOLDS_OTHERS: &[&str] = &[
    "ns",
    "namespace",
    "namespaces",
    "node",
    "nodes",
    "no",
    "crd",
    "crds",
    "customresourcedefinition",
    "customresourcedefinitions",
    "project",
    "projects",
    "cluster",
    "clusters",
    "storageclass",
    "all",
];
/// Kinds that a controller makes again by itself.
const MADE_AGAIN: &[&str] =
    &["pod", "pods", "po", "event", "events", "ev", "replicaset", "replicasets", "rs", "lease", "leases"];
/// Verbs that only look, or change nothing but settings of the client.
const LOOKING: &[&str] = &[
    "get",
    "describe",
    "logs",
    "log",
    "top",
    "explain",
    "diff",
    "api-resources",
    "api-versions",
    "cluster-info",
    "version",
    "config",
    "auth",
    "options",
    "plugin",
    "completion",
    "wait",
    "events",
    "port-forward",
    "proxy",
    "kustomize",
    "krew",
    "ctx",
    "ns",
    "whoami",
    "status",
    "login",
    "logout",
    "project",
    "projects",
    "help",
    "tree",
    "neat",
    "attach",
    "convert",
    "alpha",
    "observe",
    "image",
    "registry",
    "extract",
    "get-token",
];

/// `kubectl config view`: keys and tokens are left out, unless it is asked for all as it is.
fn view(machine: &mut Machine<'_>, call: &Call) {
    let is_raw = |word: &Value| word.as_exact().is_some_and(|text| matches!(text, "--raw" | "--raw=true"));
    if !call.words.iter().any(is_raw) {
        return;
    }
    let given = call.arguments.value(&["--kubeconfig"]).cloned().or_else(|| machine.variable("KUBECONFIG"));
    let given = given.filter(|given| given.as_exact() != Some(""));
    let home = machine.world().place().home.clone();
    let file = given.unwrap_or_else(|| Value::exact(home.join(".kube/config").as_str()));
    for file in
        file.as_exact().map_or_else(|| vec![file.clone()], |text| text.split(':').map(Value::exact).collect())
    {
        machine.read(&file);
    }
}

/// `kubectl config set-credentials --exec-command`, `kubectl config set users.NAME.exec.command`: a program that every later call of
/// kubectl runs. Those of the clouds are what such settings are for (kubernetes.io, "client-go credential plugins").
fn name_program_for_credentials(machine: &mut Machine<'_>, call: &Call) {
    let words: Vec<&str> = call.arguments.operands.iter().filter_map(Value::as_exact).collect();
    let by_path = match words.as_slice() {
        ["config", "set", path, value, ..]
            if path.ends_with(".exec.command") || path.ends_with(".cmd-path") =>
        {
            Some((*value).to_owned())
        }
        _ => None,
    };
    let Some(program) = by_path.or_else(|| value_of(call, "--exec-command").as_ref().and_then(exact_text))
    else {
        return;
    };
    if !KUBERNETES_CREDENTIALS.contains(&program.as_str()) {
        let file = machine.world().place().home.join(".kube/config");
        let draft = Draft::new(EffectKind::Persistence, Target::Path(file));
        machine.add(draft.note(format!("`kubectl` runs `{program}` from now on")));
    }
}

fn exact_text(value: &Value) -> Option<String> {
    value.as_exact().map(str::to_owned)
}

/// Interprets a call of kubectl or oc.
pub(crate) fn kubectl(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let operands = &call.arguments.operands;
    let Some(verb) = operands.first() else { return Exit::unknown() };
    let Some(verb) = verb.as_exact() else {
        machine.opaque("the verb is not known");
        return Exit::unknown();
    };
    machine.set_cause(&format!("{} {verb}", call.program));
    let rest = operands.get(1..).unwrap_or_default();
    if is_rehearsal(call) {
        return Exit::unknown();
    }
    match verb {
        "get" => get(machine, call, rest),
        "extract" => extract(machine, call),
        "config" if rest.first().and_then(Value::as_exact) == Some("view") => view(machine, call),
        "config" => name_program_for_credentials(machine, call),
        "krew" => {
            for option in ["--manifest-url", "--archive", "--manifest"] {
                if let Some(place) = value_of(call, option).as_ref().and_then(exact_text) {
                    let draft = Draft::new(EffectKind::PackageInstall, Target::Service(place));
                    machine.add(draft.severity(Severity::High).note("code of a plugin that is in no index"));
                }
            }
        }
        "debug" if rest.first().is_some_and(is_node) => {
            let node = rest.first().cloned().unwrap_or(Value::Unknown);
            machine.add(
                infrastructure(EffectKind::PrivilegeEscalation, node)
                    .severity(Severity::High)
                    .note("opens the node with its whole file system"),
            );
        }
        "exec" | "rsh" | "debug" => return exec(machine, call, rest),
        "run" => return run(machine, call, rest),
        "cp" => copy(machine, rest),
        "delete" => delete(machine, call, rest),
        "drain" => {
            let note = "moves everything off the node and stops what cannot move";
            for node in rest {
                machine.add(
                    infrastructure(EffectKind::InfrastructureChange, node.clone())
                        .severity(Severity::High)
                        .note(note),
                );
            }
            if rest.is_empty() {
                let nodes = Value::exact("nodes");
                machine.add(
                    infrastructure(EffectKind::InfrastructureChange, nodes)
                        .severity(Severity::High)
                        .note(note),
                );
            }
        }
        "rollout" => match rest.first().and_then(Value::as_exact) {
            Some("status" | "history") | None => {}
            Some(_) => {
                let subject = rest.get(1).cloned().unwrap_or(Value::exact("cluster"));
                let draft = infrastructure(EffectKind::InfrastructureChange, subject);
                machine.add(if is_of_production(call) {
                    draft.severity(Severity::High).note(CHANGES_PRODUCTION)
                } else {
                    draft.note("changes what runs")
                });
            }
        },
        "create" if rest.first().and_then(Value::as_exact) == Some("token") => {
            let target = Target::Service(named_resource(rest).as_exact().unwrap_or("token").to_owned());
            machine.add(Draft::new(EffectKind::SecretRead, target).note("prints a token of the cluster"));
        }
        "set" | "certificate" | "adm" | "policy" => {
            let grave = matches!(verb, "adm" | "policy" | "certificate");
            let subject = named_resource(rest.get(1..).unwrap_or_default());
            let draft = infrastructure(EffectKind::InfrastructureChange, subject);
            machine.add(if grave {
                draft.severity(Severity::High).note("changes who may do what in the cluster")
            } else if is_of_production(call) {
                draft.severity(Severity::High).note(CHANGES_PRODUCTION)
            } else {
                draft
            });
        }
        "apply" if matches!(rest.first().and_then(Value::as_exact), Some("view-last-applied")) => {}
        "apply" | "create" | "replace" | "patch" | "edit" | "scale" | "autoscale" | "label" | "annotate"
        | "expose" | "taint" | "cordon" | "uncordon" | "new-app" | "new-project" | "start-build" | "tag"
        | "import-image" | "process" | "rollback" => {
            hand_files_over(machine, call);
            let subject = files_or(call, rest);
            let draft = infrastructure(EffectKind::InfrastructureChange, subject.clone());
            open_what_is_described(machine, call, verb);
            let why = grave_change(call, verb, rest, &subject);
            machine.add(match why {
                Some(note) => draft.severity(Severity::High).note(note),
                None => draft,
            });
        }
        known if LOOKING.contains(&known) => {}
        _ => machine.opaque(format!("`{} {verb}` is not in the catalogue", call.program)),
    }
    Exit::unknown()
}

/// Adds what descriptions that can be read give away: all rights of the cluster, or the node to a pod. Sources: kubernetes.io, "Using RBAC
/// Authorization" (roles `cluster-admin`, groups of everybody), "Pod Security Standards" (what the baseline forbids).
fn open_what_is_described(machine: &mut Machine<'_>, call: &Call, verb: &str) {
    if !matches!(verb, "apply" | "create" | "replace" | "patch") {
        return;
    }
    let mut texts: Vec<String> = Vec::new();
    for file in call.arguments.values(&["-f", "--filename"]).cloned().collect::<Vec<_>>() {
        let text = match (file.as_exact(), &call.input) {
            (Some("-"), Input::Text(text)) => text.clone(),
            _ => match machine.one_path_through(&file) {
                Some(path) => machine.text(&path),
                None => continue,
            },
        };
        texts.extend(text.as_exact().map(str::to_owned));
    }
    texts.extend(call.arguments.values(&["-p", "--patch"]).filter_map(exact_text));
    for text in texts {
        for (kind, note) in given_away(&text) {
            let draft = Draft::new(EffectKind::PrivilegeEscalation, Target::Service(kind.to_owned()));
            machine.add(draft.severity(Severity::High).note(note));
        }
    }
}

/// What a description gives away, document by document. One that is no YAML says nothing.
fn given_away(text: &str) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for document in text.split("\n---").filter_map(yaml_document) {
        if binds_everything(&document) {
            found.push(("cluster-admin", "gives rights over the cluster away"));
        }
        if opens_node(&document) {
            found.push(("pod", "opens the node to the pod"));
        }
    }
    found
}

/// Whether a binding, or one in a list, is of the role that may do everything, or for everybody.
fn binds_everything(document: &Json) -> bool {
    let text = |value: &Json, key: &str| value.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    if let Some(Json::Array(items)) = document.get("items") {
        return items.iter().any(binds_everything);
    }
    let is_binding = matches!(text(document, "kind").as_str(), "ClusterRoleBinding" | "RoleBinding");
    let role = document.get("roleRef").map(|role| text(role, "name")).unwrap_or_default();
    let subjects = document.get("subjects").and_then(Json::as_array).into_iter().flatten();
    let mut names = subjects.map(|subject| text(subject, "name"));
    let is_everybody = |name: String| {
        matches!(name.as_str(), "system:anonymous" | "system:unauthenticated" | "system:authenticated")
    };
    is_binding && (role == "cluster-admin" || names.any(is_everybody))
}

/// Whether something in a description gives a pod the node that it runs on.
fn opens_node(value: &Json) -> bool {
    let is_root = |volume: &Json| {
        let path = volume.get("path").and_then(Json::as_str).unwrap_or_default();
        path == "/" || containers::ENGINE_SOCKETS.iter().any(|socket| path.ends_with(&format!("/{socket}")))
    };
    match value {
        Json::Object(fields) => fields.iter().any(|(name, inner)| match name.as_str() {
            "privileged" | "hostPID" | "hostIPC" => {
                *inner == Json::Bool(true) || inner.as_str() == Some("true")
            }
            "hostPath" => is_root(inner),
            _ => opens_node(inner),
        }),
        Json::Array(items) => items.iter().any(opens_node),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Why a change of resources is asked about; `None` for an ordinary one. Source: `kubectl VERB --help` (1.31).
fn grave_change(call: &Call, verb: &str, rest: &[Value], subject: &Value) -> Option<&'static str> {
    let arguments = &call.arguments;
    let text = subject.as_exact().unwrap_or_default();
    let is_zero = |word: &Value| {
        let bare: String =
            word.as_exact().unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
        bare == "0" || bare.contains("\"replicas\":0") || bare.contains("replicas:0")
    };
    let files = || arguments.values(&["-f", "--filename", "-k", "--kustomize"]);
    let of_rights = ["clusterrolebinding", "clusterrole", "rolebinding", "role/"];
    if verb == "replace" && arguments.has(&["--force"]) {
        Some("removes the resources and makes them again")
    } else if call.words.iter().any(|word| matches!(word.as_exact(), Some("--prune" | "--prune=true"))) {
        Some("removes the resources that the files do not describe")
    } else if matches!(verb, "scale" | "patch" | "edit")
        && arguments.values(&["--replicas", "-p", "--patch"]).any(is_zero)
    {
        Some("leaves nothing of it running")
    } else if verb == "taint" && rest.iter().any(|word| word.known_end().ends_with("NoExecute")) {
        Some("moves everything off the node")
    } else if matches!(verb, "apply" | "create" | "replace") && files().any(is_from_elsewhere) {
        Some("applies a description from elsewhere that nobody has read")
    } else if of_rights.iter().any(|kind| text.starts_with(kind)) {
        Some("changes who may do what in the cluster")
    } else if is_of_production(call) {
        Some(CHANGES_PRODUCTION)
    } else {
        None
    }
}

pub(super) const CHANGES_PRODUCTION: &str = "changes what runs in production";

/// Whether the call names a cluster that users depend on.
fn is_of_production(call: &Call) -> bool {
    let named = call.arguments.values(&["--context", "--cluster"]).filter_map(Value::as_exact);
    named.into_iter().any(speaks_of_production)
}

/// Whether a file is one of the network.
fn is_from_elsewhere(file: &Value) -> bool {
    let start = file.known_start();
    start.contains("://") || start.starts_with("github.com/") || start.contains("?ref=")
}

/// `node/NAME`.
fn is_node(subject: &Value) -> bool {
    let start = subject.known_start();
    start.starts_with("node/") || start.starts_with("nodes/") || start.starts_with("no/")
}

/// Reads the files whose content a `ConfigMap` or secret takes along: `--from-file=[NAME=]FILE`, `--from-env-file`.
fn hand_files_over(machine: &mut Machine<'_>, call: &Call) {
    let files: Vec<Value> =
        call.arguments.values(&["--from-file", "--from-env-file", "--key", "--cert"]).cloned().collect();
    for file in files {
        let path = match file.as_exact().and_then(|text| text.split_once('=')) {
            Some((_, path)) => Value::exact(path),
            None => file,
        };
        containers::carry(machine, &path, "the cluster");
    }
}

/// Whether the call only says what it would do.
fn is_rehearsal(call: &Call) -> bool {
    call.arguments.options.iter().any(|(name, value)| {
        name == "--dry-run" && !matches!(value.as_ref().and_then(Value::as_exact), Some("none" | "false"))
            || name == "--help"
            || name == "-h"
    })
}

/// `kubectl get`: reads secrets when their content is asked for.
/// What of a secret tells none: the public half of what a name is proved with, and what it is called (kubernetes.io, "TLS Secrets", "ObjectMeta").
/// The notes on a secret may hold all of it as it was applied.
const PUBLIC: &[&str] = &[
    r".data.tls\.crt",
    r".data.ca\.crt",
    ".metadata.name",
    ".metadata.namespace",
    ".metadata.uid",
    ".metadata.creationTimestamp",
    ".metadata.resourceVersion",
    ".type",
];

fn get(machine: &mut Machine<'_>, call: &Call, rest: &[Value]) {
    let Some(kind) = rest.first().and_then(Value::as_exact) else { return };
    let kinds = kind.split('/').next().unwrap_or(kind);
    let asks_for_secrets = kinds.split(',').any(|kind| matches!(kind, "secret" | "secrets"));
    let shows_content = call.arguments.values(&["-o", "--output"]).any(|format| {
        let whole = format.as_exact().unwrap_or_default();
        let format = format.known_start();
        let path = whole.strip_prefix("jsonpath=").map(|path| path.trim_matches(['\'', '"', '{', '}']));
        let is_public = path.is_some_and(|path| PUBLIC.contains(&path));
        !is_public
            && ["yaml", "json", "go-template", "jsonpath", "template"]
                .iter()
                .any(|shown| format.starts_with(shown))
    });
    if asks_for_secrets && shows_content && !machine.hides_what_it_prints(call) {
        let target = Target::Service(named_resource(rest).as_exact().unwrap_or("secrets").to_owned());
        machine.add(Draft::new(EffectKind::SecretRead, target).note("reads secrets of the cluster"));
    }
}

/// `oc extract secret/NAME`: into files, or with `--to=-` on the screen (`oc extract --help`).
fn extract(machine: &mut Machine<'_>, call: &Call) {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let is_secret = |word: &&str| matches!(word.split('/').next(), Some("secret" | "secrets"));
    if words.iter().any(is_secret) {
        let target = Target::Service("secrets".to_owned());
        machine.add(Draft::new(EffectKind::SecretRead, target).note("reads secrets of the cluster"));
    }
}

/// `kubectl exec POD -- WORDS`; without `--` the words behind the pod.
fn exec(machine: &mut Machine<'_>, call: &Call, rest: &[Value]) -> Exit {
    let place = rest.first().cloned().unwrap_or(Value::exact("a pod"));
    let words = behind_dashes(call).unwrap_or_else(|| rest.get(1..).unwrap_or_default().to_vec());
    if prints_environment(&words) {
        let target = Target::Service(place.as_exact().unwrap_or("a pod").to_owned());
        machine.add(
            Draft::new(EffectKind::SecretRead, target)
                .note("prints what the cluster keeps in the environment of the pod, secrets with it"),
        );
    }
    containers::inside(machine, &place, &words, call.input.clone())
}

/// Whether words print every variable: `env`, `printenv`, and a shell that is given one of them.
pub(super) fn prints_environment(words: &[Value]) -> bool {
    let is_of_shell = |word: &Value| {
        let name = word.as_exact().and_then(|text| text.rsplit('/').next());
        name.is_some_and(|name| matches!(name, "sh" | "bash" | "ash" | "dash" | "zsh"))
    };
    let prints = |text: &str| matches!(text.trim(), "env" | "printenv" | "export" | "export -p" | "set");
    match words {
        [only] => matches!(only.as_exact(), Some("env" | "printenv")),
        [shell, option, text, ..] if is_of_shell(shell) && option.known_end().ends_with('c') => {
            text.known_start().split([';', '|', '&', '\n']).any(prints)
        }
        _ => false,
    }
}

/// `kubectl run NAME --image=I [-- WORDS]`: a new pod.
fn run(machine: &mut Machine<'_>, call: &Call, rest: &[Value]) -> Exit {
    let name = rest.first().cloned().unwrap_or(Value::exact("a pod"));
    let lasting = !call.arguments.has(&["--rm"]);
    if lasting {
        change(machine, Some(&name), "starts a pod");
    }
    if let Some(overrides) = call.arguments.value(&["--overrides"]) {
        let text = overrides.known_start();
        if ["hostPath", "privileged", "hostPID"].iter().any(|door| text.contains(door)) {
            let target = Target::Service(name.as_exact().unwrap_or("a pod").to_owned());
            machine.add(
                Draft::new(EffectKind::PrivilegeEscalation, target)
                    .severity(Severity::High)
                    .note("opens the node to the pod"),
            );
        }
    }
    let words = behind_dashes(call).unwrap_or_else(|| rest.get(1..).unwrap_or_default().to_vec());
    containers::inside(machine, &name, &words, call.input.clone())
}

/// The words behind `--`, when there is one.
fn behind_dashes(call: &Call) -> Option<Vec<Value>> {
    let at = call.words.iter().position(|word| word.as_exact() == Some("--"))?;
    call.words.get(at + 1..).map(<[Value]>::to_vec)
}

fn copy(machine: &mut Machine<'_>, rest: &[Value]) {
    let [from, to] = rest else { return };
    let remote = |value: &Value| {
        value.as_exact().is_some_and(|text| text.contains(':') && !text.starts_with(['/', '.']))
    };
    if remote(to) {
        containers::carry(machine, from, "the cluster");
        let pod = to.as_exact().and_then(|text| text.split(':').next()).unwrap_or("a pod").to_owned();
        change(machine, Some(&Value::Exact(pod)), "copies files into it");
    } else if remote(from) {
        containers::read_inside(machine, from);
        // What is a directory there is unpacked over the one that is named here.
        if !containers::write_over_tree(machine, to) {
            containers::write_into(machine, from, to);
        }
    }
}

fn delete(machine: &mut Machine<'_>, call: &Call, rest: &[Value]) {
    let from_files: Vec<Value> =
        call.arguments.values(&["-f", "--filename", "-k", "--kustomize"]).cloned().collect();
    if !from_files.is_empty() {
        for file in from_files {
            destroy(machine, &file, "removes the resources that the file describes");
        }
        return;
    }
    let many =
        call.arguments.has(&["--all", "-l", "--selector", "-A", "--all-namespaces", "--field-selector"]);
    let Some(first) = rest.first() else { return };
    // Those with a label are those of one deployment, as the name of one is that of one pod.
    let is_labelled = call.arguments.has(&["-l", "--selector"])
        && !call.arguments.has(&["--all", "-A", "--all-namespaces"]);
    let text = first.as_exact().unwrap_or_default();
    let kind =
        text.split('/').next().unwrap_or(text).split('.').next().unwrap_or_default().to_ascii_lowercase();
    let names: Vec<Value> = if text.contains('/') {
        rest.to_vec()
    } else if many || rest.len() < 2 {
        vec![first.clone()]
    } else {
        rest.iter().skip(1).map(|name| first.followed_by(&Value::exact("/")).followed_by(name)).collect()
    };
    for name in names {
        if kind.split(',').any(|kind| HOLDS_DATA.contains(&kind)) {
            machine.add(
                infrastructure(EffectKind::DatastoreDestroy, name)
                    .irreversible()
                    .note("removes volumes with the data in them"),
            );
        } else if kind.split(',').any(|kind| HOLDS_OTHERS.contains(&kind)) {
            machine.add(
                infrastructure(EffectKind::InfrastructureDestroy, name)
                    .severity(Severity::Critical)
                    .irreversible()
                    .note("removes it with everything in it"),
            );
        } else if MADE_AGAIN.contains(&kind.as_str()) && (!many || is_labelled) {
            change(machine, Some(&name), "a controller makes it again, if there is one");
        } else {
            destroy(machine, &name, "");
        }
    }
}

/// What the call is about: its files, else `kind/name`.
fn files_or(call: &Call, rest: &[Value]) -> Value {
    match call.arguments.value(&["-f", "--filename", "-k", "--kustomize"]) {
        Some(file) => file.clone(),
        None => named_resource(rest),
    }
}

/// `kind name` and `kind/name` as `kind/name`.
fn named_resource(words: &[Value]) -> Value {
    let parts: Vec<&str> =
        words.iter().take(3).filter_map(Value::as_exact).filter(|word| !word.contains('=')).collect();
    if parts.is_empty() { Value::exact("cluster") } else { Value::Exact(parts.join("/")) }
}

fn change(machine: &mut Machine<'_>, what: Option<&Value>, note: &str) {
    let what = what.cloned().unwrap_or(Value::exact("cluster"));
    machine.add(infrastructure(EffectKind::InfrastructureChange, what).note(note));
}

fn destroy(machine: &mut Machine<'_>, what: &Value, note: &str) {
    machine.add(infrastructure(EffectKind::InfrastructureDestroy, what.clone()).irreversible().note(note));
}

fn infrastructure(kind: EffectKind, what: Value) -> Draft {
    let target = match what {
        Value::Exact(text) => Target::Service(text),
        Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => Target::Unknown,
    };
    Draft::new(kind, target)
}
