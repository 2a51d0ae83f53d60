//! The bill of materials, in the form of CycloneDX 1.5: every crate that is in the programs, with its version, licence and sum.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use xtask::{cargo, root};

use crate::targets::TARGETS;
use crate::{Release, output, told};

/// Writes `checkrein-VERSION.cdx.json`.
pub(crate) fn bill(release: &Release) -> Result<PathBuf, String> {
    let mut metadata = cargo(&["metadata", "--format-version", "1", "--locked"]);
    for target in TARGETS {
        metadata.args(["--filter-platform", target.triple]);
    }
    let text = output(&mut metadata)?;
    let metadata: Json = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let sums = sums_of_lock()?;
    let within = within_programs(&metadata);
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let foreign = packages.iter().filter(|package| {
        !package["source"].is_null() && package["id"].as_str().is_some_and(|id| within.contains(id))
    });
    let components: Vec<Json> = foreign.map(|package| component(package, &sums)).collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "name": "checkrein",
            "version": release.version,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        }},
        "components": components,
    });
    let path = release.folder.join(format!("checkrein-{}.cdx.json", release.version));
    fs::write(&path, format!("{bill:#}\n")).map_err(told(&path))?;
    Ok(path)
}

fn component(package: &Json, sums: &BTreeMap<(String, String), String>) -> Json {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let (name, version) = (text("name"), text("version"));
    let mut component = json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
        "licenses": [{ "expression": text("license").replace('/', " OR ") }],
    });
    if let Some(sum) = sums.get(&(name, version)) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

/// The packages that the programs are linked from: what `checkrein` needs, and what that needs, without what only tests and builds need.
fn within_programs(metadata: &Json) -> BTreeSet<&str> {
    let nodes = metadata["resolve"]["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let needs: BTreeMap<&str, Vec<&str>> = nodes
        .iter()
        .filter_map(|node| {
            let needed = node["deps"].as_array()?.iter().filter(|need| is_linked(need));
            Some((node["id"].as_str()?, needed.filter_map(|need| need["pkg"].as_str()).collect()))
        })
        .collect();
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let first = packages
        .iter()
        .filter(|package| package["name"] == "checkrein")
        .filter_map(|package| package["id"].as_str());
    let mut waiting: Vec<&str> = first.collect();
    let mut within = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if within.insert(id) {
            waiting.extend(needs.get(id).into_iter().flatten());
        }
    }
    within
}

fn is_linked(need: &Json) -> bool {
    need["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
}

/// The sums that `Cargo.lock` holds, by name and version.
fn sums_of_lock() -> Result<BTreeMap<(String, String), String>, String> {
    let path = root().join("Cargo.lock");
    let text = fs::read_to_string(&path).map_err(told(&path))?;
    let field = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let blocks = text.split("[[package]]");
    let named = blocks.filter_map(|block| {
        Some(((field(block, "name")?, field(block, "version")?), field(block, "checksum")?))
    });
    Ok(named.collect())
}
