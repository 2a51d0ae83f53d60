//! What functions do that send and fetch.

use super::super::evaluator::{Evaluator, Given};
use super::super::value::ScriptValue;
use crate::interpreter::{Output, Upload, Value};

impl Evaluator<'_, '_, '_> {
    pub(super) fn perform_request(&mut self, given: &Given) -> ScriptValue {
        let method = given.named("method").and_then(ScriptValue::exact);
        let first = given.at(0).exact().unwrap_or_default();
        let verb = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
            .contains(&first.to_ascii_uppercase().as_str());
        let method = if verb { Some(first) } else { method };
        let body = ["data", "body", "json", "files"].iter().any(|name| given.named(name).is_some());
        let sends = method.as_deref().is_some_and(|method| {
            !matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
        }) || body;
        let given = if verb {
            Given {
                positional: given.positional.get(1..).unwrap_or_default().to_vec(),
                named: given.named.clone(),
            }
        } else {
            given.clone()
        };
        self.request_by(&given, if sends { Upload::Yes } else { Upload::No }, method)
    }

    pub(super) fn perform_download(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let url = self.request(given, Upload::No);
        let path = given.positional.get(1).or_else(|| given.named("filename")).map(ScriptValue::value);
        if let Some(path) = path {
            let output = match url {
                ScriptValue::Network(url) => Output::Network(url),
                _ => Output::Unknown,
            };
            self.act(|machine| machine.write_from(&path, &output));
        }
        unknown
    }
}
