//! docker, podman and compose: what is run in containers, and which doors to this machine they open.

use super::compose_files;
use super::downloads;
use super::files;
use super::store_place::{host_of, is_loopback, locate_in_container, speak_of_trying, speaks_of_production};
use checkrein_facts::is_attack_tool;

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::remote::{Access, Lifetime, Mount, PlaceSort, RemoteContext};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};
use crate::path::AbsolutePath;
use crate::places::credential;
use crate::world::Entry;

/// Directories of this machine whose writable mount hands the machine over.
const KEYS_OF_THE_MACHINE: &[&str] =
    &["/", "/etc", "/root", "/boot", "/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/var"];
/// Sockets through which a container commands the engine that runs it.
pub(crate) const ENGINE_SOCKETS: &[&str] = &["docker.sock", "podman.sock", "containerd.sock", "crio.sock"];
/// Capabilities that amount to rights of the administrator.
const STRONG_CAPABILITIES: &[&str] =
    &["ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_RAWIO", "DAC_READ_SEARCH", "CAP_SYS_ADMIN"];

/// `docker run`: the words behind the image run in a fresh container.
pub(crate) fn run(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let Some((image, words)) = arguments.operands.split_first() else { return Exit::unknown() };
    let mut mounts = Vec::new();
    for value in arguments.values(&["-v", "--volume"]) {
        bind(machine, &split_volume(value), &mut mounts);
    }
    for value in arguments.values(&["--mount"]) {
        bind(machine, &split_mount(value), &mut mounts);
    }
    if let Some(reason) = open_door(call) {
        machine.add(escalation(reason));
    }
    let image = image.as_exact().unwrap_or("a container").to_owned();
    for mount in mounts.iter().filter(|_| !is_of_the_project(&image)) {
        hand_in(machine, &mount.here, &image);
    }
    if !is_of_the_project(&image) {
        hand_in_variables(machine, call, &image);
    }
    if is_image_of_attack_tool(&image) {
        machine.add(
            Draft::new(EffectKind::Opaque, Target::Unknown)
                .severity(Severity::High)
                .note("an image of a tool for attacks, or of one that mines coins"),
        );
    }
    let command = command_words(arguments.value(&["--entrypoint"]), words);
    if command.is_empty() {
        // What the image runs by itself is mostly a shell where it is given an input.
        if call.input == Input::Inherited && arguments.has(&["-i", "--interactive"]) {
            machine.left_open(&image);
        }
        return Exit::unknown();
    }
    let directory =
        arguments.value(&["-w", "--workdir"]).and_then(Value::as_exact).and_then(AbsolutePath::new);
    // A door in the wall makes what runs inside as grave as if it ran here.
    let wide = mounts
        .iter()
        .any(|mount: &Mount| mount.here == AbsolutePath::root() && mount.access == Access::Write);
    let stay = if wide { Lifetime::Lasting } else { Lifetime::Passing };
    let away = RemoteContext { place: image, mounts, stay, sort: PlaceSort::Container };
    let input = call.input.clone();
    machine.contained(away, directory, |machine| machine.run_words(&command, input))
}

/// Whether an image is called like a program that is made to attack machines: `xmrig/xmrig:latest`.
fn is_image_of_attack_tool(image: &str) -> bool {
    let name = image.split('@').next().unwrap_or(image);
    let last = name.rsplit('/').next().unwrap_or(name);
    is_attack_tool(last.split(':').next().unwrap_or(last))
}

/// Whether an image is one that somebody builds here, or one that Docker itself looks after: a name without a registry and an owner.
/// Source: docs.docker.com, "Docker Official Images"; `docker image tag` for how names are put together.
fn is_of_the_project(image: &str) -> bool {
    let name = image.split(['@']).next().unwrap_or(image);
    !name.contains('/') || name.starts_with("localhost/") || name.starts_with("docker.io/library/")
}

/// Images of those who made the credentials, which are there to be used with them.
const OWN_CREDENTIALS: &[(&str, &str)] = &[
    (".aws", "amazon/aws-"),
    (".aws", "public.ecr.aws/aws-cli/"),
    (".azure", "mcr.microsoft.com/azure-cli"),
    (".config/gcloud", "google/cloud-sdk"),
    (".config/gcloud", "gcr.io/google.com/cloudsdktool/"),
    (".kube", "bitnami/kubectl"),
    (".kube", "alpine/k8s"),
    (".kube", "alpine/helm"),
    (".ssh", "alpine/git"),
    (".docker", "docker/"),
];

/// Images that are given the keys of whichever cloud they are to work on.
const TOOLS_OF_ALL_CLOUDS: &[&str] =
    &["hashicorp/", "ghcr.io/opentofu/", "pulumi/", "alpine/terragrunt", "gruntwork/", "rclone/", "restic/"];

/// Variables with the keys of clouds: how their names begin, words of which one tells a key from a setting, and how the images of its maker
/// begin. Sources: the documentation of each command line on its environment.
const KEYS_OF_CLOUDS: &[(&str, &[&str], &[&str])] = &[
    (
        "AWS_",
        &["SECRET", "SESSION_TOKEN"],
        &["amazon/", "public.ecr.aws/aws-cli/", "public.ecr.aws/sam/", "localstack/", "minio/"],
    ),
    ("AZURE_", &["SECRET", "PASSWORD"], &["mcr.microsoft.com/"]),
    ("ARM_", &["SECRET", "ACCESS_KEY", "SAS_TOKEN"], &["mcr.microsoft.com/"]),
    ("GOOGLE_", &["CREDENTIALS", "TOKEN"], &["google/cloud-sdk", "gcr.io/google.com/cloudsdktool/"]),
    ("CLOUDSDK_AUTH_", &["TOKEN"], &["google/cloud-sdk", "gcr.io/google.com/cloudsdktool/"]),
    ("DIGITALOCEAN_", &["TOKEN"], &["digitalocean/"]),
    ("HCLOUD_", &["TOKEN"], &["hetznercloud/"]),
    ("CLOUDFLARE_", &["TOKEN", "KEY"], &["cloudflare/"]),
    ("OCI_CLI_", &["KEY", "TOKEN"], &["ghcr.io/oracle/"]),
    ("IBMCLOUD_", &["KEY", "TOKEN"], &["icr.io/"]),
    ("ALIBABA_CLOUD_", &["SECRET", "TOKEN"], &["aliyun/"]),
    ("LINODE_", &["TOKEN"], &["linode/"]),
    ("VULTR_", &["KEY"], &["vultr/"]),
    ("SCW_", &["SECRET"], &["scaleway/"]),
    ("HEROKU_", &["KEY"], &["heroku/"]),
    ("FLY_", &["TOKEN"], &["flyio/"]),
    ("VERCEL_", &["TOKEN"], &["vercel/"]),
    ("NETLIFY_", &["TOKEN"], &["netlify/"]),
];

/// A directory of this machine that holds credentials, or is itself a home of them, and is handed into a container of somebody else's image.
fn hand_in(machine: &mut Machine<'_>, here: &AbsolutePath, image: &str) {
    let place = machine.world().place();
    let (home, workspace) = (place.home.clone(), place.workspace.clone());
    let belongs = OWN_CREDENTIALS
        .iter()
        .any(|(kept, owner)| here.is_within(&home.join(kept)) && image.starts_with(owner));
    // What the project holds belongs to the task.
    if belongs || here.is_within(&workspace) {
        return;
    }
    let is_home = home.is_within(here);
    if credential(here, &home).is_some() || is_home {
        carry_credentials(machine, here, image);
    } else if here.is_within(&home) {
        let found = machine.credentials_within(here, &[]);
        if !found.is_empty() {
            carry_credentials(machine, here, image);
        }
    }
}

/// Variables that hold credentials, and lists of them, which an image of somebody else is given.
fn hand_in_variables(machine: &mut Machine<'_>, call: &Call, image: &str) {
    let home = machine.world().place().home.clone();
    for file in call.arguments.values(&["--env-file"]) {
        let Some(path) = machine.one_path_through(file) else { continue };
        if credential(&path, &home).is_some() {
            machine.add(handed_to(image, path.as_str()));
        }
    }
    for given in call.arguments.values(&["-e", "--env"]).map(Value::known_start).collect::<Vec<_>>() {
        let name = given.split('=').next().unwrap_or_default();
        // Keys of clouds belong to no image but those of the cloud's own maker, and of tools that work on every cloud.
        let key = KEYS_OF_CLOUDS.iter().find(|(start, _, _)| name.starts_with(start));
        let belongs =
            |makers: &[&str]| makers.iter().chain(TOOLS_OF_ALL_CLOUDS).any(|maker| image.starts_with(maker));
        if let Some((_, words, makers)) = key
            && words.iter().any(|word| name.contains(word))
            && !belongs(makers)
        {
            machine.add(handed_to(image, name));
        }
    }
}

fn carry_credentials(machine: &mut Machine<'_>, here: &AbsolutePath, image: &str) {
    machine.read(&Value::exact(here.as_str()));
    machine.add(handed_to(image, here.as_str()));
}

fn handed_to(image: &str, what: &str) -> Draft {
    Draft::new(EffectKind::DataUpload, Target::Host(image.to_owned()))
        .reach(NetworkReach::External)
        .severity(Severity::High)
        .note(format!("hands `{what}` to an image of somebody else"))
}

/// `docker exec`: the words behind the container run in one that is there already.
pub(crate) fn exec(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if call.arguments.has(&["--privileged"]) {
        machine.add(escalation("runs with all rights inside the container"));
    }
    let Some((container, words)) = call.arguments.operands.split_first() else { return Exit::unknown() };
    let directory = call.arguments.value(&["-w", "--workdir"]);
    inside_here(machine, container, directory, words, call.input.clone())
}

/// Runs words in a container of this machine.
fn inside_here(
    machine: &mut Machine<'_>,
    container: &Value,
    directory: Option<&Value>,
    words: &[Value],
    input: Input,
) -> Exit {
    let before = machine.effect_count();
    let exit = inside_at(machine, container, directory, words, input);
    locate_in_container(machine, before, container, words);
    exit
}

/// Runs words in a container or pod that lasts.
pub(super) fn inside(machine: &mut Machine<'_>, place: &Value, words: &[Value], input: Input) -> Exit {
    inside_at(machine, place, None, words, input)
}

fn inside_at(
    machine: &mut Machine<'_>,
    place: &Value,
    directory: Option<&Value>,
    words: &[Value],
    input: Input,
) -> Exit {
    if words.is_empty() {
        return Exit::unknown();
    }
    let place = place.as_exact().unwrap_or("a container").to_owned();
    // Where a container begins is said by its image: nobody here knows the directory, but that it is one (Dockerfile reference, "WORKDIR").
    let directory = match directory {
        Some(directory) => directory.as_exact().and_then(AbsolutePath::new),
        None => AbsolutePath::new("/WORKDIR"),
    };
    machine.contained(RemoteContext::container(&place), directory, |machine| machine.run_words(words, input))
}

/// `docker rm`, `stop`, `kill` and `prune`: what they end on this machine is made again by a line; on another one others may use it.
pub(crate) fn end(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let verb = call.program.rsplit(' ').next().unwrap_or_default();
    let mut names: Vec<Value> = call.arguments.operands.clone();
    if names.is_empty() {
        names.push(Value::exact(if verb == "prune" { "unused containers and images" } else { "containers" }));
    }
    let stops = matches!(verb, "stop" | "kill");
    let (severity, note) = match verb {
        "stop" | "kill" => (Severity::Low, "stops containers"),
        "prune" => (Severity::Medium, "removes every stopped container and unused image"),
        _ => (Severity::Low, "removes containers"),
    };
    let is_elsewhere = is_engine_elsewhere(machine, call);
    for name in &names {
        let target =
            |of: fn(String) -> Target| name.as_exact().map_or(Target::Unknown, |text| of(text.to_owned()));
        let draft = if stops {
            Draft::new(EffectKind::ProcessKill, target(Target::Process))
        } else {
            Draft::new(EffectKind::InfrastructureChange, target(Target::Service))
        };
        machine.add(draft.severity(severity).note(note));
        if is_elsewhere {
            // What is stopped can be started again.
            let draft = if stops {
                let draft = Draft::new(EffectKind::InfrastructureChange, target(Target::Service));
                draft.severity(Severity::High)
            } else {
                Draft::new(EffectKind::InfrastructureDestroy, target(Target::Service))
            };
            machine.add(draft.note("on another machine"));
        }
    }
    let volumes = if verb == "prune" {
        Some((&["--volumes"][..], "unused volumes", "removes every unused volume with the data in it", None))
    } else {
        let note = "removes the anonymous volumes of the containers";
        (verb == "rm").then_some((
            &["-v", "--volumes"][..],
            "anonymous volumes",
            note,
            Some(Severity::Medium),
        ))
    };
    if let Some((options, name, note, severity)) = volumes
        && call.arguments.has(options)
    {
        let draft = lost_volume(machine, call, Target::Service(name.to_owned()), &[]).note(note);
        machine.add(match severity {
            Some(severity) => draft.severity(severity),
            None => draft,
        });
    }
    Exit::unknown()
}

/// `docker volume rm` and `prune`.
pub(crate) fn volumes(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if call.program.ends_with("prune") {
        let name = Target::Service("unused volumes".to_owned());
        let draft = lost_volume(machine, call, name, &[]);
        machine.add(draft.note("removes every unused volume with the data in it"));
        return Exit::unknown();
    }
    for name in &call.arguments.operands {
        let text = name.as_exact().map(str::to_owned);
        let target = text.clone().map_or(Target::Unknown, Target::Service);
        let names: Vec<String> = text.into_iter().collect();
        let draft = lost_volume(machine, call, target, &names);
        machine.add(draft.note("removes volumes with the data in them"));
    }
    Exit::unknown()
}

/// That volumes go with the data in them. Those of an engine of this machine are a store of this machine, of which the user knows whether it
/// is needed, unless a name speaks of production; one that is named for trying things its project makes again.
fn lost_volume(machine: &Machine<'_>, call: &Call, target: Target, names: &[String]) -> Draft {
    let draft = Draft::new(EffectKind::DatastoreDestroy, target).irreversible();
    if is_engine_elsewhere(machine, call) || names.iter().any(|name| speaks_of_production(name)) {
        return draft;
    }
    let draft = draft.reach(NetworkReach::Local);
    if speak_of_trying(names) { draft.severity(Severity::Medium) } else { draft }
}

/// Whether the engine that a call commands is one of another machine: by `-H`, `--context`, or the variables that say the same.
/// Source: docs.docker.com, "Docker contexts", "Environment variables" of the command line.
fn is_engine_elsewhere(machine: &Machine<'_>, call: &Call) -> bool {
    let value = |options: &[&str], variables: &[&str]| {
        let given = call.arguments.value(options).cloned();
        given.or_else(|| variables.iter().find_map(|name| machine.variable(name)))
    };
    let is_remote = |address: Value| {
        let start = address.known_start();
        let is_address = ["tcp:", "ssh:", "http:", "https:"].iter().any(|scheme| start.starts_with(scheme));
        is_address && !is_loopback(host_of(&start))
    };
    value(&["-H", "--host", "--url"], &["DOCKER_HOST", "CONTAINER_HOST"]).is_some_and(is_remote)
        || value(&["-c", "--context", "--connection"], &["DOCKER_CONTEXT", "CONTAINER_CONNECTION"])
            .is_some_and(|context| context.as_exact().is_some_and(speaks_of_production))
}

/// `docker cp`: files between a container and this machine.
pub(crate) fn copy(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let [from, to] = call.arguments.operands.as_slice() else { return Exit::unknown() };
    match (container_of(from), container_of(to)) {
        (None, Some(container)) => {
            carry(machine, from, &container);
            machine.add(
                Draft::new(EffectKind::InfrastructureChange, Target::Service(container))
                    .note("copies files into it"),
            );
        }
        (Some(_), _) if to.as_exact() == Some("-") => read_inside(machine, from),
        (Some(_), None) => {
            read_inside(machine, from);
            write_into(machine, from, to);
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    Exit::unknown()
}

/// Reads what is handed to a place that lasts elsewhere; credentials in it leave this machine.
pub(super) fn carry(machine: &mut Machine<'_>, from: &Value, to: &str) {
    let found = match machine.read(from) {
        Output::Secret(name) => Some(name),
        Output::Nothing
        | Output::Text(_)
        | Output::Network(_)
        | Output::Local(_)
        | Output::Setup(_)
        | Output::Unknown => {
            let path = machine.one_path_through(from);
            let within = path.map(|path| machine.credentials_within(&path, &[])).unwrap_or_default();
            let first = within.first().map(|path| path.as_str().to_owned());
            if let Some(first) = &first {
                machine.read(&Value::exact(first.as_str()));
            }
            first
        }
    };
    if found.is_some() {
        let draft = Draft::new(EffectKind::DataUpload, Target::Host(to.to_owned()));
        machine
            .add(draft.reach(NetworkReach::Known).severity(Severity::High).note("takes credentials there"));
    }
}

/// Reading `CONTAINER:PATH`: a secret is one in a container too.
pub(super) fn read_inside(machine: &mut Machine<'_>, from: &Value) {
    let Some((_, path)) = from.as_exact().and_then(|text| text.split_once(':')) else { return };
    let secret = AbsolutePath::new(path).and_then(|path| credential(&path, &machine.world().place().home));
    if let Some(what) = secret {
        let target = Target::Service(from.as_exact().unwrap_or_default().to_owned());
        machine.add(Draft::new(EffectKind::SecretRead, target).note(what));
    }
}

/// Writes what a source is named into a file, or into a directory under the name of the source.
pub(super) fn write_into(machine: &mut Machine<'_>, from: &Value, to: &Value) {
    let name = from
        .as_exact()
        .and_then(|text| text.trim_end_matches('/').rsplit(['/', ':']).next())
        .map(str::to_owned);
    let directory = to.known_end().ends_with('/')
        || matches!(to.as_exact(), Some("." | ".."))
        || machine.is_directory(to) == Some(true);
    if name.as_ref().is_some_and(|name| name.contains(['*', '?', '[', '{'])) {
        // What the pattern means elsewhere need not stand here.
        downloads::come_into(machine, to);
        return;
    }
    let place = match name {
        Some(name) if directory => to.followed_by(&Value::Exact(format!("/{name}"))),
        Some(_) | None => to.clone(),
    };
    if !write_over_tree(machine, &place) {
        machine.write(&place);
    }
}

/// Overwrites whatever may come in a directory that stands at a place; answers whether one does.
pub(super) fn write_over_tree(machine: &mut Machine<'_>, place: &Value) -> bool {
    let paths = machine.paths_through(place).into_iter().filter_map(|aim| aim.target.path().cloned());
    let standing: Vec<_> = paths.filter(|path| machine.entry(path) == Entry::Directory).collect();
    for path in &standing {
        files::arrive_tree(machine, None, path);
    }
    !standing.is_empty()
}

/// The container that `NAME:PATH` names; `None` for a path of this machine.
fn container_of(value: &Value) -> Option<String> {
    let text = value.as_exact()?;
    let (name, _) = text.split_once(':')?;
    (!name.is_empty() && !name.contains('/') && !name.starts_with('.')).then(|| name.to_owned())
}

/// Compose, with the subcommand as the first operand.
pub(crate) fn compose(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some((verb, rest)) = call.arguments.operands.split_first() else { return Exit::unknown() };
    // A description from elsewhere (docs.docker.com, "Compose file: Git repositories, OCI artifacts") says what runs, and with which mounts.
    for file in call.arguments.values(&["-f", "--file"]).map(Value::known_start).collect::<Vec<_>>() {
        if file.contains("://") || file.starts_with("git@") || file.starts_with("github.com/") {
            machine.runs_from_network(&file);
        }
    }
    let project = || Target::Process("compose".to_owned());
    let by_variables =
        ["COMPOSE_FILE", "COMPOSE_PROJECT_NAME"].iter().filter_map(|name| machine.variable(name));
    let given = call.arguments.values(&["-f", "--file", "-p", "--project-name"]).cloned();
    let names: Vec<String> = given.chain(by_variables).map(|value| value.known_start()).collect();
    let volumes = lost_volume(machine, call, Target::Service("compose volumes".to_owned()), &names)
        .note("removes the volumes of the project with the data in them");
    let given = |names: &[&str]| {
        rest.iter().filter_map(Value::as_exact).any(|word| names.contains(&word) || is_bundled(word, names))
    };
    match verb.as_exact().unwrap_or_default() {
        "down" => {
            if given(&["-v", "--volumes"]) {
                machine.add(volumes);
            }
            machine.add(
                Draft::new(EffectKind::ProcessKill, project())
                    .note("stops and removes the containers of the project"),
            );
        }
        "rm" => {
            if given(&["-v", "--volumes"]) {
                machine.add(volumes);
            }
            machine.add(
                Draft::new(EffectKind::ProcessKill, project()).note("removes the containers of the project"),
            );
        }
        "stop" | "kill" => machine
            .add(Draft::new(EffectKind::ProcessKill, project()).note("stops the containers of the project")),
        "push" | "publish" => {
            let target = Target::Service("registry".to_owned());
            machine.add(
                Draft::new(EffectKind::Publish, target)
                    .severity(Severity::Medium)
                    .note("pushes images to a registry"),
            );
        }
        "exec" | "run" => {
            let words = skip_options(
                rest,
                &[
                    "-e",
                    "--env",
                    "-u",
                    "--user",
                    "-w",
                    "--workdir",
                    "--index",
                    "-v",
                    "--volume",
                    "-p",
                    "--publish",
                    "--name",
                    "--entrypoint",
                    "-l",
                    "--label",
                ],
            );
            let Some((service, words)) = words.split_first() else { return Exit::unknown() };
            let own = rest.get(..rest.len() - words.len()).unwrap_or_default();
            let behind = |names: &[&str]| {
                let places = own
                    .iter()
                    .enumerate()
                    .filter(|(_, word)| word.as_exact().is_some_and(|word| names.contains(&word)));
                places.filter_map(|(at, _)| own.get(at + 1)).collect::<Vec<_>>()
            };
            let directory = behind(&["-w", "--workdir"]).first().copied();
            let mut mounts = Vec::new();
            for value in behind(&["-v", "--volume"]) {
                bind(machine, &split_volume(value), &mut mounts);
            }
            for mount in &mounts {
                hand_in(machine, &mount.here, service.as_exact().unwrap_or("compose"));
            }
            let words = command_words(behind(&["--entrypoint"]).first().copied(), words);
            return inside_here(machine, service, directory, &words, call.input.clone());
        }
        "config" | "convert" => {
            if compose_files::is_complete(machine, call) {
                return Exit::unknown();
            }
            return configuration(machine, call, rest);
        }
        "up" | "create" => {
            if given(&["-V", "--renew-anon-volumes"]) {
                machine.add(volumes.note("anonymous ones only").severity(Severity::Medium));
            }
            let note = if verb.as_exact() == Some("create") {
                "creates the containers of the project"
            } else {
                "creates and starts the containers of the project"
            };
            machine.add(Draft::new(EffectKind::ProcessSpawn, project()).note(note));
            compose_files::start(machine, call);
        }
        "start" | "restart" | "unpause" => machine.add(
            Draft::new(EffectKind::ProcessSpawn, project()).note("starts the containers of the project"),
        ),
        _ => {}
    }
    Exit::unknown()
}

/// What of the project `compose config` prints: the settings, with the values of the files that set variables filled in.
fn configuration(machine: &mut Machine<'_>, call: &Call, rest: &[Value]) -> Exit {
    const WITHOUT_VALUES: &[&str] = &[
        "-q",
        "--quiet",
        "--services",
        "--volumes",
        "--networks",
        "--models",
        "--images",
        "--profiles",
        "--hash",
        "--no-interpolate",
    ];
    let words = || rest.iter().chain(&call.words).filter_map(Value::as_exact);
    let is_quiet =
        words().any(|word| WITHOUT_VALUES.iter().any(|quiet| word.split('=').next() == Some(quiet)));
    if is_quiet || machine.is_kept() {
        return Exit::unknown();
    }
    let mut files: Vec<Value> = call.arguments.values(&["--env-file"]).cloned().collect();
    if files.is_empty() {
        files.push(match call.arguments.value(&["--project-directory"]) {
            Some(directory) => directory.followed_by(&Value::exact("/.env")),
            None => Value::exact(".env"),
        });
    }
    let secrets = files.iter().find_map(|file| machine.packed(file, &[]));
    Exit::with(secrets.unwrap_or(Output::Unknown))
}

/// Whether a word is a bundle of short options with one of these among them.
fn is_bundled(word: &str, names: &[&str]) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with('-')
            && names
                .iter()
                .filter_map(|name| name.strip_prefix('-'))
                .any(|name| name.len() == 1 && letters.contains(name))
    })
}

/// The words from the first that is no option; options in `values` take the next word with them.
pub(super) fn skip_options<'a>(words: &'a [Value], values: &[&str]) -> &'a [Value] {
    let mut index = 0;
    while let Some(text) = words.get(index).and_then(Value::as_exact) {
        if text == "--" {
            index += 1;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        index += if values.contains(&text) { 2 } else { 1 };
    }
    words.get(index..).unwrap_or_default()
}

/// What a container runs: the entry point, when given, and the words behind the image.
fn command_words(entry: Option<&Value>, words: &[Value]) -> Vec<Value> {
    entry.filter(|entry| entry.as_exact() != Some("")).into_iter().chain(words).cloned().collect()
}

/// A volume as written: its source, its place in the container, its options.
struct Volume {
    source: Value,
    inside: Option<AbsolutePath>,
    access: Access,
}

/// `SOURCE:TARGET[:OPTIONS]`.
fn split_volume(value: &Value) -> Volume {
    match value {
        Value::Exact(text) => {
            let mut parts = text.splitn(3, ':');
            let source = parts.next().unwrap_or_default();
            let inside = parts.next().and_then(AbsolutePath::new);
            let options = parts.next().unwrap_or_default();
            let access =
                if options.split(',').any(|option| option == "ro") { Access::Read } else { Access::Write };
            Volume { source: Value::exact(source), inside, access }
        }
        Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => {
            // `"$PWD":/app` with a directory that is not known: the end tells the place.
            let inside = value.known_end().rsplit(':').find_map(AbsolutePath::new);
            Volume { source: Value::Unknown, inside, access: Access::Write }
        }
    }
}

/// `type=bind,source=...,target=...[,readonly]`.
fn split_mount(value: &Value) -> Volume {
    let mut volume = Volume { source: Value::Unknown, inside: None, access: Access::Write };
    for part in value.known_start().split(',') {
        match part.split_once('=').unwrap_or((part, "")) {
            ("source" | "src", path) => volume.source = Value::exact(path),
            ("target" | "dst" | "destination", path) => volume.inside = AbsolutePath::new(path),
            ("readonly" | "ro", "" | "true" | "1") => volume.access = Access::Read,
            _ => {}
        }
    }
    volume
}

/// Notes a mounted path of this machine, and that some of them hand the machine over.
fn bind(machine: &mut Machine<'_>, volume: &Volume, mounts: &mut Vec<Mount>) {
    let is_path = volume.source.known_start().starts_with(['/', '.', '~']);
    if !is_path {
        return; // A named volume.
    }
    for aim in machine.paths_through(&volume.source) {
        let Some(here) = aim.target.path().cloned() else { continue };
        let is_socket = here.name().is_some_and(|name| ENGINE_SOCKETS.contains(&name));
        if is_socket {
            machine
                .add(escalation("hands the socket of the container engine in, which commands this machine"));
        } else if KEYS_OF_THE_MACHINE.contains(&here.as_str())
            && (volume.access == Access::Write || here.parent().is_none())
        {
            machine.add(escalation(&format!("hands `{}` of this machine in", here.as_str())));
        }
        if let Some(inside) = &volume.inside {
            mounts.push(Mount { inside: inside.clone(), here, access: volume.access });
        }
    }
}

/// What in the options gives the container rights over this machine.
fn open_door(call: &Call) -> Option<&'static str> {
    let arguments = &call.arguments;
    let valued = |names: &[&str], wanted: &[&str]| {
        arguments.options.iter().any(|(name, value)| {
            names.contains(&name.as_str())
                && value
                    .as_ref()
                    .and_then(Value::as_exact)
                    .is_some_and(|text| wanted.iter().any(|wanted| text.eq_ignore_ascii_case(wanted)))
        })
    };
    if arguments.has(&["--privileged"]) && !valued(&["--privileged"], &["false"]) {
        Some("runs a container with all rights over this machine")
    } else if valued(&["--pid"], &["host"]) {
        Some("lets the container see and end the processes of this machine")
    } else if valued(&["--cap-add"], STRONG_CAPABILITIES) {
        Some("gives the container rights of the administrator")
    } else if valued(&["--userns", "--uts", "--ipc", "--cgroupns"], &["host"])
        && valued(&["--userns"], &["host"])
    {
        Some("lets the container use the users of this machine")
    } else if arguments.values(&["--device"]).filter_map(Value::as_exact).any(|device| {
        ["/dev/sd", "/dev/nvme", "/dev/mem", "/dev/kmem", "/dev/vd", "/dev/xvd"]
            .iter()
            .any(|start| device.starts_with(start))
    }) {
        Some("hands a disk of this machine in")
    } else {
        None
    }
}

fn escalation(note: &str) -> Draft {
    Draft::new(EffectKind::PrivilegeEscalation, Target::Service("docker".to_owned()))
        .severity(Severity::High)
        .note(note)
}
