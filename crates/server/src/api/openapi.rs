//! The description of all addresses: OpenAPI 3.1, made from the table that the router is made of.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use super::{ROUTES, Verb};
use crate::answer::ErrorBody;

/// The addresses beside the table: method, path, what they do, the type of what they answer.
const OTHERS: [(&str, &str, &str); 4] = [
    ("/healthz", "Says that the server answers; needs no key", "application/json"),
    ("/metrics", "Returns all metrics in the text form of Prometheus", "text/plain"),
    ("/v1/events", "Streams records as they are written, as server-sent events", "text/event-stream"),
    ("/v1/openapi.json", "Returns this description", "application/json"),
];

/// The description.
pub(crate) fn document() -> Json {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let error = generator.subschema_for::<ErrorBody>();
    let mut paths: Map<String, Json> = Map::new();
    for route in ROUTES {
        let described = |name: &str, place: &str, text: &str| {
            json!({
                "name": name, "in": place, "required": place == "path", "description": text,
                "schema": { "type": "string" },
            })
        };
        let parts = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let mut parameters: Vec<Json> = parts.map(|name| described(name, "path", "")).collect();
        parameters.extend(route.query.iter().map(|(name, text)| described(name, "query", text)));
        let answer = (route.answer)(&mut generator);
        let mut operation = json!({
            "summary": route.summary,
            "operationId": operation_id(route.verb, route.path),
            "parameters": parameters,
            "responses": {
                "200": { "description": "Done", "content": { "application/json": { "schema": answer } } },
                "default": {
                    "description": "Refused or failed",
                    "content": { "application/json": { "schema": error.clone() } },
                },
            },
        });
        if !route.body.is_empty() {
            let named = route.body.iter().filter(|(name, _)| *name != "*");
            let fields: Map<String, Json> =
                named.map(|(name, text)| ((*name).to_owned(), json!({ "description": text }))).collect();
            operation["requestBody"] = json!({
                "content": { "application/json": { "schema": { "type": "object", "properties": fields } } },
            });
        }
        let place = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        place[method(route.verb)] = operation;
    }
    for (path, summary, kind) in OTHERS {
        let content = json!({ kind: { "schema": {} } });
        let operation = json!({
            "summary": summary,
            "operationId": operation_id(Verb::Get, path),
            "responses": { "200": { "description": "Done", "content": content } },
            "security": if path == "/healthz" { json!([{}]) } else { json!([{ "key": [] }]) },
        });
        paths.insert(path.to_owned(), json!({ "get": operation }));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "checkrein serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The API of one machine over the records of all sessions.",
        },
        "security": [{ "key": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            "schemas": generator.take_definitions(true),
        },
    })
}

fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
    }
}

fn operation_id(verb: Verb, path: &str) -> String {
    let words = path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty());
    words.fold(method(verb).to_owned(), |id, word| format!("{id}_{word}"))
}
