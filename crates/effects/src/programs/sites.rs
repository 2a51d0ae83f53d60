//! Sites: by which name what a command changes elsewhere is known there. Which cluster, which workspace, which account.
//!
//! A name stands in an option, in a variable, or in the settings of the program. One that is given and not known beforehand is a site without
//! a name: whoever has named their production cannot tell that it is not that. Nothing is decided here.

use crate::effect::{Effect, EffectKind, EffectSite, Severity, SiteKind, Target};
use crate::interpreter::{Machine, Value};
use crate::world::Entry;

use super::kubernetes::CHANGES_PRODUCTION;

mod settings;

pub(super) use settings::ssh_host;

/// Where programs find the name of what they work on.
struct Row {
    programs: &'static [&'static str],
    kind: SiteKind,
    /// Options whose value is the name.
    options: &'static [&'static str],
    /// Options that stand for a name.
    switches: &'static [(&'static str, &'static str)],
    /// Variables that hold it where no option is given.
    variables: &'static [&'static str],
    /// What holds where neither says it.
    otherwise: Otherwise,
}

/// Where a name stands that the call does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Otherwise {
    /// Nowhere that is read.
    Nothing,
    /// In the settings of `kubectl`.
    KubeSettings,
    /// In the directory of Terraform.
    TerraformDirectory,
    /// In what Pulumi keeps of the project.
    PulumiWorkspace,
    /// In the configuration of `gcloud`.
    GcloudConfiguration,
}

/// Options and variables by program. Sources: `kubectl options`, `helm help`, `argocd`, `flux`, `istioctl`, `skaffold`, `helmfile` and `velero`
/// `--help`; developer.hashicorp.com/terraform/cli (workspaces, environment variables); pulumi.com/docs/iac/cli; AWS CLI and SDK, "Environment
/// variables"; cloud.google.com/sdk/gcloud/reference; `az --help`; `doctl`, `flyctl`, `heroku`, `vercel`, `netlify`, `firebase`, `wrangler`
/// `--help`; serverless.com/framework/docs/cli-reference; docs.aws.amazon.com (SAM, CDK, Elastic Beanstalk, Copilot CLI).
const TABLE: &[Row] = &[
    Row {
        programs: &[
            "kubectl",
            "oc",
            "k",
            "kubecolor",
            "istioctl",
            "linkerd",
            "flux",
            "cilium",
            "kn",
            "tkn",
            "kapp",
        ],
        kind: SiteKind::KubeContext,
        options: &["--context", "--cluster", "--kubeconfig-context"],
        switches: &[],
        variables: &[],
        otherwise: Otherwise::KubeSettings,
    },
    Row {
        programs: &[
            "helm", "helmfile", "skaffold", "argocd", "velero", "helmsman", "tilt", "devspace", "okteto",
            "werf",
        ],
        kind: SiteKind::KubeContext,
        options: &["--kube-context", "--kubecontext", "--context", "-c"],
        switches: &[],
        variables: &["HELM_KUBECONTEXT", "WERF_KUBE_CONTEXT"],
        otherwise: Otherwise::KubeSettings,
    },
    Row {
        programs: &["terraform", "tofu", "opentofu", "terragrunt"],
        kind: SiteKind::Workspace,
        options: &["-var-file", "--var-file"],
        switches: &[],
        variables: &["TF_WORKSPACE"],
        otherwise: Otherwise::TerraformDirectory,
    },
    Row {
        programs: &["pulumi"],
        kind: SiteKind::Workspace,
        options: &["-s", "--stack"],
        switches: &[],
        variables: &["PULUMI_STACK"],
        otherwise: Otherwise::PulumiWorkspace,
    },
    Row {
        programs: &[
            "serverless",
            "sls",
            "sam",
            "copilot",
            "helmfile",
            "skaffold",
            "eb",
            "cap",
            "wrangler",
            "ansible-playbook",
            "amplify",
            "eas",
        ],
        kind: SiteKind::Workspace,
        options: &[
            "--stage",
            "-s",
            "--config-env",
            "--stack-name",
            "--env",
            "-e",
            "--environment",
            "-p",
            "--profile",
            "-i",
            "--inventory",
        ],
        switches: &[],
        variables: &["SLS_STAGE"],
        otherwise: Otherwise::Nothing,
    },
    Row {
        programs: &["vercel", "vc", "netlify"],
        kind: SiteKind::Workspace,
        options: &["--target", "--context", "--alias"],
        switches: &[("--prod", "production"), ("--production", "production"), ("-p", "production")],
        variables: &[],
        otherwise: Otherwise::Nothing,
    },
    Row {
        programs: &[
            "aws",
            "aws2",
            "eksctl",
            "eb",
            "sam",
            "cdk",
            "copilot",
            "serverless",
            "sls",
            "s3cmd",
            "s5cmd",
            "terraform",
            "tofu",
            "opentofu",
            "terragrunt",
            "pulumi",
            "packer",
            "ecs-cli",
            "chamber",
            "sceptre",
            "rain",
        ],
        kind: SiteKind::CloudProfile,
        options: &["--profile", "--aws-profile"],
        switches: &[],
        variables: &["AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_VAULT"],
        otherwise: Otherwise::Nothing,
    },
    Row {
        programs: &["gcloud", "gsutil", "bq", "cbt"],
        kind: SiteKind::CloudProfile,
        options: &["--project", "--configuration", "--account", "--project_id", "-P"],
        switches: &[],
        variables: &["CLOUDSDK_CORE_PROJECT", "CLOUDSDK_ACTIVE_CONFIG_NAME", "GOOGLE_CLOUD_PROJECT"],
        otherwise: Otherwise::GcloudConfiguration,
    },
    Row {
        programs: &["firebase"],
        kind: SiteKind::CloudProfile,
        options: &["--project", "--account", "-P"],
        switches: &[],
        variables: &["GOOGLE_CLOUD_PROJECT"],
        otherwise: Otherwise::Nothing,
    },
    Row {
        programs: &["az", "azd", "func"],
        kind: SiteKind::CloudProfile,
        options: &["--subscription", "-e", "--environment"],
        switches: &[],
        variables: &["AZURE_SUBSCRIPTION_ID", "AZURE_ENV_NAME"],
        otherwise: Otherwise::Nothing,
    },
    Row {
        programs: &[
            "doctl",
            "flyctl",
            "fly",
            "heroku",
            "scalingo",
            "render",
            "railway",
            "linode-cli",
            "hcloud",
            "ibmcloud",
            "oci",
            "scw",
            "cf",
            "supabase",
            "turso",
            "gh",
        ],
        kind: SiteKind::CloudProfile,
        options: &[
            "--context",
            "-a",
            "--app",
            "-r",
            "--remote",
            "--environment",
            "-e",
            "--profile",
            "-p",
            "--project-ref",
            "--as-user",
            "--env",
        ],
        switches: &[],
        variables: &[
            "FLY_APP",
            "HEROKU_APP",
            "HCLOUD_CONTEXT",
            "SCW_PROFILE",
            "OCI_CLI_PROFILE",
            "DIGITALOCEAN_CONTEXT",
        ],
        otherwise: Otherwise::Nothing,
    },
];

/// Programs whose first operands name what a command works on: `aws-vault exec PROFILE`, `eb deploy ENVIRONMENT`, `cap STAGE deploy`.
const BY_OPERAND: &[(&[&str], SiteKind, usize)] = &[
    (&["aws-vault", "granted", "assume", "awsume"], SiteKind::CloudProfile, 1),
    (&["eb"], SiteKind::Workspace, 1),
    (&["cap"], SiteKind::Workspace, 0),
    (&["cdk"], SiteKind::Workspace, 1),
];

/// The variables in which it is kept what a command chose for those behind it; no shell can have variables of such names.
const CHOSEN_CONTEXT: &str = "kube context";
const CHOSEN_WORKSPACE: &str = "terraform workspace";

/// Whether calls of a program are looked at: others name no site.
pub(crate) fn is_told_by(program: &str) -> bool {
    program == "kubectx"
        || TABLE.iter().any(|row| row.programs.contains(&program))
        || BY_OPERAND.iter().any(|(programs, ..)| programs.contains(&program))
        || STARTS_RUNS.contains(&program)
}

/// Marks the effects beyond this machine that were added since there were `before` of them with the sites that the call names.
pub(crate) fn mark(machine: &mut Machine<'_>, before: usize, program: &str, words: &[Value]) {
    note_choice(machine, program, words);
    if !machine.effects_since(before).any(is_elsewhere) {
        return;
    }
    let sites = sites(machine, program, words);
    add(machine, before, &sites);
    if names_production_by_input(program, words) {
        machine.amend(before, |effect| {
            if effect.kind == EffectKind::InfrastructureChange {
                effect.severity = effect.severity.max(Severity::High);
                CHANGES_PRODUCTION.clone_into(&mut effect.note);
            }
        });
    }
    if are_clusters_of_this_machine(&sites) && !names_server(words) {
        machine.amend(before, |effect| {
            let is_loss =
                matches!(effect.kind, EffectKind::InfrastructureDestroy | EffectKind::DatastoreDestroy);
            if is_elsewhere(effect) && is_loss {
                effect.severity = Severity::Medium;
            }
        });
    }
}

/// Whether a call names the server itself, whatever the context says (kubectl(1), `--server`, `--kubeconfig`; helm(1), `--kube-apiserver`).
fn names_server(words: &[Value]) -> bool {
    const OPTIONS: &[&str] = &["-s", "--server", "--kubeconfig", "--kube-apiserver"];
    let is_one = |word: &Value| {
        let text = word.known_start();
        OPTIONS.contains(&text.split('=').next().unwrap_or_default())
    };
    words.iter().any(is_one)
}

/// Whether the sites name contexts, and all of these are clusters of this machine.
fn are_clusters_of_this_machine(sites: &[EffectSite]) -> bool {
    let mut contexts = sites.iter().filter(|site| site.kind == SiteKind::KubeContext).peekable();
    contexts.peek().is_some() && contexts.all(is_cluster_of_this_machine)
}

/// Whether a site is a cluster that runs on this machine for trying things, by the names that its makers give the context: minikube, kind, k3d,
/// Docker Desktop, Rancher Desktop, `OrbStack`, Colima, `MicroK8s` (the documentation of each).
fn is_cluster_of_this_machine(site: &EffectSite) -> bool {
    const NAMES: &[&str] = &[
        "minikube",
        "docker-desktop",
        "docker-for-desktop",
        "rancher-desktop",
        "orbstack",
        "colima",
        "microk8s",
    ];
    const BEGINNINGS: &[&str] = &["kind-", "k3d-", "colima-"];
    site.name.as_deref().is_some_and(|name| {
        NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    })
}

/// Adds sites to the effects beyond this machine that were added since there were `before` of them.
pub(super) fn add(machine: &mut Machine<'_>, before: usize, sites: &[EffectSite]) {
    if sites.is_empty() {
        return;
    }
    machine.amend(before, |effect| {
        if is_elsewhere(effect) {
            for site in sites {
                if !effect.sites.contains(site) {
                    effect.sites.push(site.clone());
                }
            }
        }
    });
}

fn is_elsewhere(effect: &Effect) -> bool {
    match effect.target {
        Target::Path(_) | Target::Glob(_) | Target::Process(_) => false,
        Target::Host(_) | Target::Service(_) | Target::Reference(_) | Target::Unknown => true,
    }
}

fn sites(machine: &Machine<'_>, program: &str, words: &[Value]) -> Vec<EffectSite> {
    let mut found = Vec::new();
    for row in TABLE.iter().filter(|row| row.programs.contains(&program)) {
        let own = words.iter().position(|word| word.as_exact() == Some("--")).unwrap_or(words.len());
        let own = words.get(..own).unwrap_or_default();
        let mut named: Vec<Value> = values(own, row.options);
        let is_said = |switch: &str| own.iter().any(|word| word.as_exact() == Some(switch));
        let switched = row.switches.iter().filter(|(switch, _)| is_said(switch));
        named.extend(switched.map(|(_, name)| Value::exact(*name)));
        let by_options = !named.is_empty();
        let chosen = row.variables.iter().filter_map(|name| machine.variable(name));
        let is_beside = match row.otherwise {
            // A file of variables is named beside a workspace, not in its place.
            Otherwise::TerraformDirectory => true,
            // A configuration and an account say nothing of the project.
            Otherwise::GcloudConfiguration => values(own, settings::PROJECT).is_empty(),
            Otherwise::Nothing | Otherwise::KubeSettings | Otherwise::PulumiWorkspace => false,
        };
        if !by_options || is_beside {
            let before = named.len();
            named.extend(chosen);
            let has_project = settings::PROJECT_VARIABLES.iter().any(|name| machine.variable(name).is_some());
            if named.len() == before || row.otherwise == Otherwise::GcloudConfiguration && !has_project {
                named.extend(otherwise(machine, row.otherwise, own));
            }
        }
        found.extend(named.iter().flat_map(|name| of_value(row.kind, name)));
    }
    for (programs, kind, index) in BY_OPERAND {
        let mut operands = words.iter().filter(|word| !word.known_start().starts_with('-'));
        if let Some(name) = operands.nth(*index).filter(|_| programs.contains(&program)) {
            found.extend(of_value(*kind, name));
        }
    }
    if STARTS_RUNS.contains(&program) {
        found.extend(
            words.iter().filter_map(Value::as_exact).filter_map(|word| input_for_place(program, word)),
        );
    }
    found.sort();
    found.dedup();
    found
}

/// Programs that start what runs elsewhere with inputs that they are given (`gh workflow run -f`, `glab ci run --variables`, `az pipelines run
/// --parameters`, `circleci`, `tkn`, `argo submit -p`, `bk build create --env`, the command lines of Jenkins and TeamCity).
const STARTS_RUNS: &[&str] = &[
    "gh",
    "glab",
    "az",
    "circleci",
    "tkn",
    "argo",
    "bk",
    "jenkins",
    "jcli",
    "jx",
    "teamcity",
    "drone",
    "woodpecker-cli",
    "harness",
];

/// Whether what a call starts elsewhere is told to work on production.
fn names_production_by_input(program: &str, words: &[Value]) -> bool {
    let mut inputs =
        words.iter().filter_map(Value::as_exact).filter_map(|word| input_for_place(program, word));
    STARTS_RUNS.contains(&program) && inputs.any(|site| site.name.as_deref().is_some_and(is_production))
}

/// Whether a place is production by its name: a deployment to staging is what a pipeline is for.
fn is_production(name: &str) -> bool {
    let mut parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts.any(|part| {
        ["prod", "production", "prd", "live"].iter().any(|called| part.eq_ignore_ascii_case(called))
    })
}

/// The place that an input of a run names: `environment=production`, `ENV:prod`.
fn input_for_place(program: &str, word: &str) -> Option<EffectSite> {
    const NAMES: &[&str] = &[
        "env",
        "environment",
        "stage",
        "target",
        "target_env",
        "target_environment",
        "deploy_env",
        "deploy_environment",
        "deploy_to",
        "cluster",
        "namespace",
        "tier",
        "app_env",
        "rails_env",
        "node_env",
    ];
    // `glab ci run --variables KEY:VALUE`; others write a sign of equality, and colons in names of labels.
    let sign = if program == "glab" { ':' } else { '=' };
    let (name, value) = word.trim_start_matches('-').split_once(sign)?;
    let name = name.trim_start_matches("inputs.").to_ascii_lowercase().replace('-', "_");
    let is_one = NAMES.contains(&name.as_str()) && !value.is_empty() && !value.contains(char::is_whitespace);
    is_one.then(|| EffectSite::named(SiteKind::Workspace, value))
}

/// The sites that a value names: each of several, or one that is not known.
pub(super) fn of_value(kind: SiteKind, value: &Value) -> Vec<EffectSite> {
    match value.alternatives() {
        Some(names) => names
            .iter()
            .filter(|name| !name.is_empty())
            .map(|name| EffectSite::named(kind, bare(name)))
            .collect(),
        None => vec![EffectSite { kind, name: None }],
    }
}

/// A name without the folder and the ending of the file that bears it: `env/prod.tfvars` -> `prod`.
fn bare(name: &str) -> &str {
    let file = name.strip_suffix(".json").unwrap_or(name).strip_suffix(".tfvars");
    file.map_or(name, |file| file.rsplit_once('/').map_or(file, |(_, file)| file))
}

/// The values of options, attached or in the next word.
fn values(words: &[Value], options: &[&str]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut behind = false;
    for word in words {
        if behind {
            found.push(word.clone());
            behind = false;
            continue;
        }
        let start = word.known_start();
        match start.split_once('=') {
            Some((option, value)) if options.contains(&option) => {
                found.push(word.as_exact().map_or(Value::Unknown, |_| Value::exact(value)));
            }
            _ => behind = word.as_exact().is_some_and(|text| options.contains(&text)),
        }
    }
    found
}

/// Keeps which context or workspace a command chose for those behind it: `kubectl config use-context`, `kubectx`, `terraform workspace select`.
fn note_choice(machine: &mut Machine<'_>, program: &str, words: &[Value]) {
    let is = |index: usize, text: &str| words.get(index).and_then(Value::as_exact) == Some(text);
    let last = || words.iter().rev().find(|word| !word.known_start().starts_with('-')).cloned();
    let chosen = match program {
        "kubectl" | "oc" | "k" if is(0, "config") && is(1, "use-context") => (CHOSEN_CONTEXT, last()),
        "kubectx" if words.len() == 1 => (CHOSEN_CONTEXT, last()),
        "terraform" | "tofu" | "opentofu"
            if words.iter().any(|word| word.as_exact() == Some("workspace")) =>
        {
            let selects = |word: &Value| matches!(word.as_exact(), Some("select" | "new"));
            (CHOSEN_WORKSPACE, last().filter(|_| words.iter().any(selects)))
        }
        "pulumi" if is(0, "stack") && is(1, "select") => (settings::CHOSEN_STACK, last()),
        "gcloud" if is(0, "config") && is(1, "set") && (is(2, "project") || is(2, "core/project")) => {
            (settings::CHOSEN_PROJECT, last())
        }
        "gcloud" if is(0, "config") && is(1, "configurations") && is(2, "activate") => {
            (settings::CHOSEN_CONFIGURATION, last())
        }
        _ => return,
    };
    if let (name, Some(value)) = chosen {
        machine.assign(name, value);
    }
}

fn otherwise(machine: &Machine<'_>, otherwise: Otherwise, words: &[Value]) -> Vec<Value> {
    match otherwise {
        Otherwise::Nothing => Vec::new(),
        Otherwise::KubeSettings => kube_context(machine, words).into_iter().collect(),
        Otherwise::TerraformDirectory => terraform_workspace(machine, words).into_iter().collect(),
        Otherwise::PulumiWorkspace => settings::pulumi_stacks(machine, words),
        Otherwise::GcloudConfiguration => settings::gcloud_project(machine, words).into_iter().collect(),
    }
}

/// The context that the settings of `kubectl` say (kubernetes.io, "Organizing Cluster Access Using kubeconfig Files"): of several files the
/// first that names one counts.
fn kube_context(machine: &Machine<'_>, words: &[Value]) -> Option<Value> {
    if let Some(chosen) = machine.variable(CHOSEN_CONTEXT) {
        return Some(chosen);
    }
    if machine.is_away() {
        return Some(Value::Unknown);
    }
    let named = values(words, &["--kubeconfig"]).pop().or_else(|| machine.variable("KUBECONFIG"));
    let files = match named {
        Some(files) => files.as_exact()?.to_owned(),
        None => machine.world().place().home.join(".kube/config").to_string(),
    };
    for file in files.split(':').filter(|file| !file.is_empty()) {
        let path = machine.cwd().map(|cwd| cwd.join(file))?;
        match machine.text(&path).as_exact() {
            Some(text) => {
                let named = text.lines().find_map(|line| line.strip_prefix("current-context:"));
                let named = named.map(|name| name.trim().trim_matches(['"', '\'']));
                if let Some(name) = named.filter(|name| !name.is_empty()) {
                    return Some(Value::exact(name));
                }
            }
            None if machine.entry(&path) == Entry::Missing => {}
            None => return Some(Value::Unknown),
        }
    }
    None
}

/// The workspace that the directory of Terraform says: `default` where none was chosen.
fn terraform_workspace(machine: &Machine<'_>, words: &[Value]) -> Option<Value> {
    if let Some(chosen) = machine.variable(CHOSEN_WORKSPACE) {
        return Some(chosen);
    }
    if machine.is_away() {
        return Some(Value::Unknown);
    }
    let mut directory = machine.cwd()?.clone();
    if let Some(changed) = values(words, &["-chdir", "--chdir"]).pop() {
        directory = directory.join(changed.as_exact()?);
    }
    let data = machine.variable("TF_DATA_DIR").unwrap_or_else(|| Value::exact(".terraform"));
    let file = directory.join(data.as_exact()?).join("environment");
    match machine.text(&file).as_exact() {
        Some(name) => Some(Value::exact(name.trim())).filter(|name| name.as_exact() != Some("")),
        None if machine.entry(&file) == Entry::Missing => None,
        None => Some(Value::Unknown),
    }
}
