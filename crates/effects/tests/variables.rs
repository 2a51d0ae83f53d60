//! The table of variables that name what programs write: every row has an effect, and none where the environment held the variable before.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use checkrein_catalogue::{UserCatalogue, WrittenPlace};
use checkrein_effects::predict;
use checkrein_facts::{GuardedPath, RecordedWorld};
use checkrein_protocol::EffectKind;
use checkrein_testkit::world::{command, path, project};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    variable: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    programs: Vec<String>,
    #[serde(default)]
    when: Vec<String>,
    #[serde(default)]
    input: bool,
    writes: WrittenPlace,
    #[serde(default)]
    files: Vec<String>,
}

#[test]
fn every_row_has_its_effect() {
    let table: Table = toml::from_str(include_str!("../catalogue/variables.toml")).unwrap();
    let directory = path("/home/dev/place");
    for row in &table.variable {
        let file = row.files.first().map_or_else(|| directory.join("file"), |file| directory.join(file));
        let value =
            if row.files.is_empty() && row.writes != WrittenPlace::Below { &file } else { &directory };
        let words = row.when.first().map_or("", String::as_str);
        for (name, program) in row.names.iter().flat_map(|name| row.programs.iter().map(move |p| (name, p))) {
            let input = if row.input { "echo x | " } else { "" };
            let text = format!("{input}{name}={value} {program} {words}");
            let mut world = project().with_directory(&directory);
            world.place.guarded.push(GuardedPath { path: file.clone(), role: "the settings".to_owned() });
            let is_written = |world: &RecordedWorld| {
                predict(&command(&text), world).effects.iter().any(|effect| {
                    let writes =
                        effect.kind.file_change().is_some() || effect.kind == EffectKind::GuardTampering;
                    writes && effect.target.path().is_some_and(|at| *at == file || *at == directory)
                })
            };
            assert!(is_written(&world), "{text}");
            // Without places of the guard, of which names alone say enough.
            world.place.guarded.clear();
            world.variables.insert(name.clone(), Some(value.as_str().to_owned()));
            // Settings of npm are described with it.
            assert!(name.starts_with("npm_config") || !is_written(&world), "{text}, as before");
        }
    }
}

#[test]
fn a_user_adds_rows() {
    let text = "[[variable]]\nnames = [\"OURS\"]\nprograms = [\"ls\"]\nwrites = \"behind\"\n";
    let user = UserCatalogue::parse(text, "mine.toml").unwrap();
    assert!(!user.is_empty());
    assert_eq!(user.variables("ls").len(), 1);
    assert!(user.variables("rm").is_empty());
    let fault =
        UserCatalogue::parse("[[variable]]\nnames = []\nprograms = []\nwrites = \"over\"\n", "mine.toml");
    assert!(fault.unwrap_err().to_string().starts_with("mine.toml:1:1: an entry has no name"));
}
