//! What gates answer.

use std::process::Output;

use serde_json::Value as Json;

/// What a program printed.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Each finding of a gate as path, line, weight and kind.
pub fn found(output: &Output) -> Vec<String> {
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let finding = |one: &Json| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{}:{} {} {}", text("path"), one["line"], text("weight"), text("kind"))
    };
    answer["findings"].as_array().unwrap().iter().map(finding).collect()
}
