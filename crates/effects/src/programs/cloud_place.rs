//! Whether a command of a cloud reaches the cloud, or an emulator on this machine.
//!
//! Sources: LocalStack, "AWS CLI"; AWS CLI, `AWS_ENDPOINT_URL` and `AWS_ENDPOINT_URL_<SERVICE>`; MinIO client, `mc alias`; the emulators of
//! Google Cloud and of Azure (Azurite); `wrangler d1 execute --local`.

use crate::effect::{EffectKind, NetworkReach, Severity};
use crate::interpreter::{Call, Exit, Machine, Value};

use super::store_place::{host_of, is_loopback};

/// Options whose value is the address of the service.
const ENDPOINTS: &[&str] = &[
    "--endpoint-url",
    "--endpoint",
    "--endpoint-override",
    "--host",
    "--server",
    "--server.endpoint",
    "--api",
    "--api-url",
    "--address",
    "--addr",
    "-address",
    "--url",
    "--service-url",
    "--connection-string",
];
/// Variables that hold it.
const VARIABLES: &[&str] = &[
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_DYNAMODB",
    "AWS_ENDPOINT_URL_SQS",
    "S3_ENDPOINT_URL",
    "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE",
    "NOMAD_ADDR",
    "PUBSUB_EMULATOR_HOST",
    "FIRESTORE_EMULATOR_HOST",
    "SPANNER_EMULATOR_HOST",
];
/// Programs that reach nothing else.
const EMULATORS: &[&str] = &["awslocal", "samlocal", "tflocal", "cdklocal", "azlocal"];

/// Lets `work` happen; where it reaches an emulator, what it destroys there is made again by its project.
pub(super) fn unless_emulated(
    machine: &mut Machine<'_>,
    call: &Call,
    work: fn(&mut Machine<'_>, &Call) -> Exit,
) -> Exit {
    let is_here = is_emulated(machine, call);
    let before = machine.effect_count();
    let exit = work(machine, call);
    if is_here {
        machine.amend(before, |effect| {
            let is_of_service = matches!(
                effect.kind,
                EffectKind::InfrastructureDestroy
                    | EffectKind::InfrastructureChange
                    | EffectKind::DatastoreDestroy
                    | EffectKind::DatastoreChange
            );
            if is_of_service {
                let destroys =
                    matches!(effect.kind, EffectKind::InfrastructureDestroy | EffectKind::DatastoreDestroy);
                effect.severity =
                    if destroys { Severity::Medium } else { effect.severity.min(Severity::Medium) };
                effect.reach = Some(NetworkReach::Local);
            }
        });
    }
    exit
}

fn is_emulated(machine: &Machine<'_>, call: &Call) -> bool {
    let is_here = |address: &str| is_loopback(host_of(address));
    let mut words = call.words.iter().map(Value::as_exact).peekable();
    let mut told = None;
    while let Some(word) = words.next() {
        let Some(word) = word else { continue };
        let (name, attached) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if ENDPOINTS.contains(&name) {
            let value = attached.or_else(|| words.peek().copied().flatten());
            told = Some(value.is_some_and(is_here));
        }
    }
    if let Some(told) = told {
        return told;
    }
    let tool = call.program.split(' ').next().unwrap_or(&call.program);
    EMULATORS.contains(&tool)
        || matches!(tool, "mc" | "minio-client") && is_local_alias(call)
        || matches!(tool, "wrangler" | "supabase" | "turso")
            && call.words.iter().any(|word| word.as_exact() == Some("--local"))
        || VARIABLES
            .iter()
            .any(|name| machine.variable(name).is_some_and(|value| value.as_exact().is_some_and(is_here)))
}

/// `mc rm local/bucket`: `local` is the server of this machine (`mc alias`, the names that are there from the start).
fn is_local_alias(call: &Call) -> bool {
    let mut named = call.words.iter().map(Value::known_start).filter(|text| text.contains('/')).peekable();
    named.peek().is_some() && named.all(|text| text.starts_with("local/"))
}
