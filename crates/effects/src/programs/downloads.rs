//! Files that programs fetch from elsewhere, and write where they run or where an option says.
//!
//! Sources: the help of each command, and for `aws` the operations of botocore 1.42 whose output is a stream (the CLI writes it to `outfile`,
//! "aws help topics", `aws lambda invoke help`).

use crate::effect::{EffectKind, Severity};
use crate::interpreter::{Call, Draft, Exit, Machine, Output, Upload, Value};

use super::cloud::{Command, value_of};
use super::containers;
use super::network::remote_name;

/// What people are told of files that come under names which nobody knows beforehand.
const UNKNOWN_NAMES: &str = "what is downloaded; under which names is not known";

/// Adds that files come into a directory under names that nobody knows beforehand: what stands there may be overwritten.
pub(super) fn come_into(machine: &mut Machine<'_>, directory: &Value) {
    for aim in machine.paths_through(directory) {
        let path = aim.target.path().cloned();
        machine.add(Draft::at(EffectKind::FileCreate, aim).recursive().possible().note(UNKNOWN_NAMES));
        if let Some(path) = path {
            machine.remember_doubt_below(&path);
        }
    }
}

/// The directory in which a command runs.
pub(super) fn here() -> Value {
    Value::exact(".")
}

/// Where what a command fetches comes to lie.
enum Lands {
    /// In the file that one of these options names.
    File(&'static [&'static str]),
    /// The same; without them in a file called like the end of what the others name.
    FileOrName(&'static [&'static str], &'static [&'static str]),
    /// The same; without them, and without any of the others, in a file called like the end of the operand behind the words.
    FileOrEnd(&'static [&'static str], &'static [&'static str]),
    /// The same; without them in this file.
    FileOr(&'static [&'static str], &'static str),
    /// Under unknown names, in the directory that one of these options names, else in the working directory.
    Directory(&'static [&'static str]),
    /// Under unknown names in this directory.
    Below(&'static str),
    /// In the file or directory that this operand behind the words names, else under unknown names in the working directory.
    Operand(usize),
    /// In the file that the first word names which belongs to no option, as every option of `aws` takes a value.
    OutFile,
}

/// A command that fetches files: the programs, its leading words, and where the files come to lie.
type Download = (&'static [&'static str], &'static [&'static str], Lands);

const AWS: &[&str] = &["aws", "awslocal", "aws2"];
const FLY: &[&str] = &["fly", "flyctl"];

const DOWNLOADS: &[Download] = &[
    (&["az"], &["storage", "blob", "download"], Lands::FileOrName(&["--file", "-f"], &["--name", "-n"])),
    (&["az"], &["storage", "blob", "download-batch"], Lands::Directory(&["--destination", "-d"])),
    (&["az"], &["storage", "file", "download"], Lands::FileOrName(&["--dest"], &["--path", "-p"])),
    (&["az"], &["storage", "file", "download-batch"], Lands::Directory(&["--destination", "-d"])),
    (
        &["az"],
        &["storage", "fs", "file", "download"],
        Lands::FileOrName(&["--destination", "-d"], &["--path", "-p"]),
    ),
    (
        &["az"],
        &["storage", "fs", "directory", "download"],
        Lands::Directory(&["--destination-path", "--destination", "-d"]),
    ),
    (&["az"], &["storage", "copy"], Lands::File(&["--destination", "-d", "--destination-local-path"])),
    (&["az"], &["keyvault", "secret", "download"], Lands::File(&["--file", "-f"])),
    (&["az"], &["keyvault", "certificate", "download"], Lands::File(&["--file", "-f"])),
    (&["az"], &["keyvault", "key", "download"], Lands::File(&["--file", "-f"])),
    (&["az"], &["keyvault", "secret", "backup"], Lands::File(&["--file", "-f"])),
    (&["az"], &["keyvault", "key", "backup"], Lands::File(&["--file", "-f"])),
    (&["az"], &["keyvault", "certificate", "backup"], Lands::File(&["--file", "-f"])),
    (&["az"], &["artifacts", "universal", "download"], Lands::Directory(&["--path"])),
    (&["az"], &["pipelines", "runs", "artifact", "download"], Lands::Directory(&["--path"])),
    (&["az"], &["webapp", "log", "download"], Lands::FileOr(&["--log-file"], "webapp_logs.zip")),
    (AWS, &["apigateway", "get-export"], Lands::OutFile),
    (AWS, &["apigateway", "get-sdk"], Lands::OutFile),
    (AWS, &["apigatewayv2", "export-api"], Lands::OutFile),
    (AWS, &["appconfig", "create-hosted-configuration-version"], Lands::OutFile),
    (AWS, &["appconfig", "get-configuration"], Lands::OutFile),
    (AWS, &["appconfig", "get-hosted-configuration-version"], Lands::OutFile),
    (AWS, &["appconfigdata", "get-latest-configuration"], Lands::OutFile),
    (AWS, &["appsync", "get-introspection-schema"], Lands::OutFile),
    (AWS, &["bedrock-agentcore", "invoke-agent-runtime"], Lands::OutFile),
    (AWS, &["bedrock-runtime", "invoke-model"], Lands::OutFile),
    (AWS, &["cloudfront", "get-connection-function"], Lands::OutFile),
    (AWS, &["cloudfront", "get-function"], Lands::OutFile),
    (AWS, &["codeartifact", "get-package-version-asset"], Lands::OutFile),
    (AWS, &["codeguruprofiler", "get-profile"], Lands::OutFile),
    (AWS, &["ebs", "get-snapshot-block"], Lands::OutFile),
    (AWS, &["geo-maps"], Lands::OutFile),
    (AWS, &["glacier", "get-job-output"], Lands::OutFile),
    (AWS, &["iot-data", "delete-thing-shadow"], Lands::OutFile),
    (AWS, &["iot-data", "get-thing-shadow"], Lands::OutFile),
    (AWS, &["iot-data", "update-thing-shadow"], Lands::OutFile),
    (AWS, &["iotwireless", "get-position-estimate"], Lands::OutFile),
    (AWS, &["iotwireless", "get-resource-position"], Lands::OutFile),
    (AWS, &["kinesis-video-archived-media", "get-clip"], Lands::OutFile),
    (AWS, &["kinesis-video-archived-media", "get-media-for-fragment-list"], Lands::OutFile),
    (AWS, &["kinesis-video-media", "get-media"], Lands::OutFile),
    (AWS, &["lakeformation", "get-work-unit-results"], Lands::OutFile),
    (AWS, &["lambda", "invoke"], Lands::OutFile),
    (AWS, &["lex-runtime", "post-content"], Lands::OutFile),
    (AWS, &["lex-runtime", "put-session"], Lands::OutFile),
    (AWS, &["lexv2-runtime", "put-session"], Lands::OutFile),
    (AWS, &["lexv2-runtime", "recognize-utterance"], Lands::OutFile),
    (AWS, &["location", "get-map-glyphs"], Lands::OutFile),
    (AWS, &["location", "get-map-sprites"], Lands::OutFile),
    (AWS, &["location", "get-map-style-descriptor"], Lands::OutFile),
    (AWS, &["location", "get-map-tile"], Lands::OutFile),
    (AWS, &["medialive", "describe-input-device-thumbnail"], Lands::OutFile),
    (AWS, &["mediastore-data", "get-object"], Lands::OutFile),
    (AWS, &["medical-imaging", "get-image-frame"], Lands::OutFile),
    (AWS, &["medical-imaging", "get-image-set-metadata"], Lands::OutFile),
    (AWS, &["neptune-graph", "execute-query"], Lands::OutFile),
    (AWS, &["neptunedata", "execute-gremlin-explain-query"], Lands::OutFile),
    (AWS, &["neptunedata", "execute-gremlin-profile-query"], Lands::OutFile),
    (AWS, &["neptunedata", "execute-open-cypher-explain-query"], Lands::OutFile),
    (AWS, &["omics", "get-read-set"], Lands::OutFile),
    (AWS, &["omics", "get-reference"], Lands::OutFile),
    (AWS, &["polly", "synthesize-speech"], Lands::OutFile),
    (AWS, &["s3api", "get-object"], Lands::OutFile),
    (AWS, &["s3api", "get-object-annotation"], Lands::OutFile),
    (AWS, &["s3api", "get-object-torrent"], Lands::OutFile),
    (AWS, &["sagemaker-geospatial", "get-tile"], Lands::OutFile),
    (AWS, &["sagemaker-runtime", "invoke-endpoint"], Lands::OutFile),
    (AWS, &["schemas", "get-code-binding-source"], Lands::OutFile),
    (AWS, &["workmailmessageflow", "get-raw-message-content"], Lands::OutFile),
    (&["gcloud"], &["secrets", "versions", "access"], Lands::File(&["--out-file"])),
    (&["gcloud"], &["kms", "decrypt"], Lands::File(&["--plaintext-file"])),
    (&["gcloud"], &["source", "repos", "clone"], Lands::Operand(1)),
    (&["kaggle"], &["competitions", "download"], Lands::Directory(&["-p", "--path"])),
    (&["kaggle"], &["datasets", "download"], Lands::Directory(&["-p", "--path"])),
    (&["kaggle"], &["datasets", "metadata"], Lands::Directory(&["-p", "--path"])),
    (&["kaggle"], &["kernels", "pull"], Lands::Directory(&["-p", "--path"])),
    (&["kaggle"], &["kernels", "output"], Lands::Directory(&["-p", "--path"])),
    (&["kaggle"], &["models", "get"], Lands::Directory(&["-p", "--path"])),
    (
        &["kaggle"],
        &["models", "instances", "versions", "download"],
        Lands::Directory(&["-p", "--path", "--untar"]),
    ),
    (&["clasp"], &["pull"], Lands::Directory(&[])),
    (&["clasp"], &["clone"], Lands::Directory(&["--rootDir"])),
    (&["oci"], &["os", "object", "get"], Lands::File(&["--file"])),
    (&["oci"], &["os", "object", "bulk-download"], Lands::Directory(&["--download-dir", "--dest-dir"])),
    (&["oci"], &["os", "object", "sync"], Lands::Directory(&["--dest-dir"])),
    (&["wrangler"], &["r2", "object", "get"], Lands::FileOrEnd(&["--file", "-f"], &["--pipe", "-p"])),
    (&["wrangler"], &["d1", "export"], Lands::File(&["--output"])),
    (&["wrangler"], &["init"], Lands::Directory(&[])),
    (FLY, &["sftp", "get"], Lands::Operand(1)),
    (FLY, &["ssh", "sftp", "get"], Lands::Operand(1)),
    (FLY, &["config", "save"], Lands::FileOr(&["-c", "--config"], "fly.toml")),
    (&["heroku"], &["pg:backups:download"], Lands::FileOr(&["--output", "-o"], "latest.dump")),
    (&["vercel", "vc"], &["pull"], Lands::Below(".vercel")),
    (&["supabase"], &["functions", "download"], Lands::Below("supabase/functions")),
    (&["supabase"], &["db", "pull"], Lands::Below("supabase")),
    (&["firebase"], &["auth:export"], Lands::Operand(0)),
    (&["firebase"], &["database:get"], Lands::File(&["--output", "-o"])),
    (&["firebase"], &["apps:sdkconfig"], Lands::File(&["--out", "-o"])),
    (&["databricks"], &["fs", "cp"], Lands::Operand(1)),
    (&["databricks"], &["workspace", "export-dir"], Lands::Operand(1)),
    (&["databricks"], &["workspace", "export_dir"], Lands::Operand(1)),
    (&["databricks"], &["workspace", "export"], Lands::File(&["--file"])),
    (&["databricks"], &["bundle", "generate"], Lands::Directory(&["--source-dir", "-s"])),
];

/// Adds what a command of a cloud writes of what it fetches.
pub(super) fn of_cloud(machine: &mut Machine<'_>, call: &Call, command: &Command<'_>) {
    let found = DOWNLOADS
        .iter()
        .find(|(programs, words, _)| programs.contains(&command.tool) && command.starts(words));
    let Some((_, words, lands)) = found else { return };
    let first = |options: &[&str]| options.iter().find_map(|option| value_of(call, option));
    let file = |machine: &mut Machine<'_>, options: &[&str]| match first(options) {
        Some(place) => {
            write_at(machine, &place);
            true
        }
        None => false,
    };
    match lands {
        Lands::File(options) => {
            file(machine, options);
        }
        Lands::FileOrName(options, names) => {
            if !file(machine, options)
                && let Some(name) = first(names)
            {
                containers::write_into(machine, &name, &here());
            }
        }
        Lands::FileOrEnd(options, unless) => {
            if !file(machine, options)
                && !call.words.iter().filter_map(Value::as_exact).any(|word| unless.contains(&word))
                && let Some(object) = free_words(call, words.len(), Grammar::Mixed).first()
            {
                containers::write_into(machine, object, &here());
            }
        }
        Lands::FileOr(options, name) => {
            if !file(machine, options) {
                machine.write(&Value::exact(*name));
            }
        }
        Lands::Directory(options) => {
            let place = first(options).filter(|place| !place.known_start().starts_with('-'));
            come_into(machine, &place.unwrap_or_else(here));
        }
        Lands::Below(place) => come_into(machine, &Value::exact(*place)),
        Lands::Operand(index) => match free_words(call, words.len(), Grammar::Mixed).get(*index) {
            Some(place) => write_at(machine, place),
            None => come_into(machine, &here()),
        },
        Lands::OutFile => {
            if let Some(place) = free_words(call, words.len().max(2), Grammar::EveryOptionTakesOne).first() {
                write_at(machine, place);
            }
        }
    }
}

/// Writes to a file, or under unknown names into a directory. What leads elsewhere again is not written here.
fn write_at(machine: &mut Machine<'_>, place: &Value) {
    let start = place.known_start();
    if start.contains("://") || start.starts_with("dbfs:") || matches!(place.as_exact(), Some("-")) {
        return;
    }
    if machine.is_directory(place) == Some(true) {
        come_into(machine, place);
    } else {
        machine.write(place);
    }
}

/// Which words behind options belong to them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grammar {
    /// One behind each option without `=`, but for those that begin with `--no-` and `--debug`.
    EveryOptionTakesOne,
    /// None that the grammar of the entry does not know.
    Mixed,
}

/// The words of a call that belong to no option, without so many at the beginning.
fn free_words(call: &Call, skipped: usize, grammar: Grammar) -> Vec<Value> {
    if grammar == Grammar::Mixed {
        return call.arguments.operands.iter().skip(skipped).cloned().collect();
    }
    let mut free = Vec::new();
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        match word.as_exact() {
            Some(option) if option.starts_with("--") => {
                if !option.contains('=') && !option.starts_with("--no-") && option != "--debug" {
                    words.next();
                }
            }
            _ => free.push(word.clone()),
        }
    }
    free.drain(..skipped.min(free.len()));
    free
}

/// Interprets `docker build`: with `--push` the image goes to a registry, with `--output` files come here: into a directory, or with a type
/// other than `local` into one file (docker.docs, "docker buildx build").
pub(crate) fn docker_build(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["--push"]) {
        let image = arguments.value(&["-t", "--tag"]).cloned();
        let before = machine.effect_count();
        machine.effect(EffectKind::Publish, &image.unwrap_or_else(|| Value::exact("registry")));
        machine.amend(before, |effect| {
            effect.severity = Severity::Medium;
            "pushes an image to a registry".clone_into(&mut effect.note);
        });
    }
    for output in arguments.values(&["-o", "--output"]).cloned().collect::<Vec<_>>() {
        let Some(text) = output.as_exact() else {
            come_into(machine, &output);
            continue;
        };
        let fields: Vec<&str> = text.split(',').collect();
        let field = |name: &str| fields.iter().find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        let (place, kind) = match field("dest").or_else(|| field("path")) {
            Some(place) => (place, field("type").unwrap_or("local")),
            None if text.contains('=') => continue,
            None => (text, "local"),
        };
        match (place, kind) {
            ("-", _) => {}
            (place, "local") => come_into(machine, &Value::exact(place)),
            (place, _) => machine.possibly(|machine| machine.write(&Value::exact(place))),
        }
    }
    Exit::unknown()
}

/// Interprets a call of a program that fetches what addresses name: `aria2c`, `axel`, `yt-dlp` and their kin (aria2c(1), axel(1), yt-dlp(1),
/// lftpget(1), httrack(1), `ia help download`).
pub(crate) fn fetcher(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    for address in &arguments.operands {
        machine.host(address, Upload::No);
    }
    let only_looks = [
        "-F",
        "--list-formats",
        "-j",
        "-J",
        "--dump-json",
        "--dump-single-json",
        "-g",
        "--get-url",
        "--simulate",
        "-S",
        "--show-files",
        "--list-subs",
    ];
    let names_itself = matches!(call.program.as_str(), "aria2c" | "axel" | "lftpget");
    if call.program == "ia" && arguments.operand(0) != Some("download") {
        return Exit::unknown();
    }
    if !names_itself && arguments.has(&only_looks) || arguments.has(&["--dry-run", "--show-files"]) {
        return Exit::unknown();
    }
    let directory = arguments.value(&["-d", "--dir", "-P", "--paths"]).cloned();
    let file = match call.program.as_str() {
        // There these say where its list of pages, or all that it fetches, comes to lie.
        "httrack" | "ia" => None,
        "aria2c" => arguments.value(&["-o", "--out"]).cloned(),
        _ => arguments.value(&["-o", "--output", "-O", "--out"]).cloned(),
    };
    let place = match call.program.as_str() {
        "httrack" => arguments.value(&["-O", "--path"]).cloned(),
        "ia" => arguments.value(&["--destdir"]).cloned(),
        _ => directory,
    };
    let inside = |name: &Value| match &place {
        Some(place) => place.followed_by(&Value::exact("/")).followed_by(name),
        None => name.clone(),
    };
    let is_template = |file: &Value| file.known_start().contains("%(") || file.known_start().ends_with('/');
    // It gives what it fetches another name where something stands, unless it is told to go on or to overwrite.
    let overwrites = call.program != "aria2c"
        || arguments.has(&["-c", "--continue", "--allow-overwrite", "--allow-overwrite=true"])
        || call.words.iter().any(|word| word.as_exact() == Some("--allow-overwrite=true"));
    let write = |machine: &mut Machine<'_>, name: &Value| {
        if overwrites || machine.is_certainly_missing(name) {
            machine.possibly(|machine| machine.write(name));
        } else {
            come_into(machine, &place.clone().unwrap_or_else(here));
        }
    };
    match &file {
        Some(file) if file.as_exact() == Some("-") => return Exit::with(Output::Network(String::new())),
        Some(file) if !is_template(file) => {
            write(machine, &inside(file));
            return Exit::unknown();
        }
        Some(_) | None => {}
    }
    let lists = arguments.has(&["-i", "--input-file", "-Z", "--force-sequential"]);
    for list in arguments.values(&["-i", "--input-file"]).cloned().collect::<Vec<_>>() {
        machine.read(&list);
    }
    let is_description =
        |name: &str| [".torrent", ".metalink", ".meta4"].iter().any(|ending| name.ends_with(ending));
    let names: Option<Vec<String>> = arguments
        .operands
        .iter()
        .map(|address| remote_name(address, None).filter(|name| !is_description(name)))
        .collect();
    match names {
        Some(names) if names_itself && !lists && file.is_none() => {
            for name in names {
                write(machine, &inside(&Value::Exact(name)));
            }
        }
        _ => come_into(machine, &place.clone().unwrap_or_else(here)),
    }
    Exit::unknown()
}
