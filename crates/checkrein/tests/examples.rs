//! Every example on the pages for users is one that works: commands are commands of these programs, configurations are accepted, entries of
//! the catalogue compile, and blueprints play.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use support::{TestEnvironment, repository};

/// Blocks that are no input of ours, by page and first line, and why nothing is tried with them.
const NOT_TRIED: [(&str, &str, &str); 7] = [
    ("docs/ci.md", "jobs:", "a workflow of GitHub Actions, of which only the commands are ours"),
    ("docs/gates.md", "jobs:", "a workflow of GitHub Actions, of which only the commands are ours"),
    ("docs/gates.md", "repos:", "the configuration of pre-commit"),
    ("docs/governance.md", "governance:\n  blueprints", "the file and its digest are made up"),
    ("docs/scripts.md", "#!/bin/sh", "`examples/until-green.sh`; `tests/commands_on_pages.rs` runs it"),
    ("docs/quick-start.md", "curl -fsSL https", "installs a release from the network"),
    ("docs/installing.md", "claude plugin", "commands of Claude Code; `tests/plugin.rs` runs them"),
];

/// The longest row of a table on a page, in characters (ours): three lines of a terminal of 80 columns, and a bit.
const WIDEST_ROW: usize = 260;

/// A fenced block of a page.
struct Block {
    page: String,
    line: usize,
    language: String,
    text: String,
}

impl Block {
    /// Where it stands, for messages.
    fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }

    fn is_tried(&self) -> bool {
        let is_it = |(page, beginning, _): &(&str, &str, &str)| {
            self.page == *page && self.text.starts_with(beginning)
        };
        !NOT_TRIED.iter().any(is_it)
    }
}

/// The pages that tell users what to type and write, with their texts.
fn pages() -> Vec<(String, String)> {
    let root = repository();
    let of_docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        format!("docs/{name}")
    });
    let mut pages: Vec<String> = of_docs.filter(|name| name.ends_with(".md")).collect();
    pages.extend(["README.md", "SECURITY.md", "CONTRIBUTING.md"].map(str::to_owned));
    pages.sort();
    pages.into_iter().map(|page| (page.clone(), fs::read_to_string(root.join(&page)).unwrap())).collect()
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    for (page, text) in pages() {
        let mut open: Option<Block> = None;
        for (at, line) in text.lines().enumerate() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(language), None) => {
                    let language = language.to_owned();
                    open = Some(Block { page: page.clone(), line: at + 1, language, text: String::new() });
                }
                (Some(_), Some(block)) => blocks.push(block),
                (None, Some(mut block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                    open = Some(block);
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{page}: a block has no end");
    }
    assert!(blocks.len() > 40, "only {} blocks were found", blocks.len());
    blocks
}

fn blocks_in(language: &str) -> Vec<Block> {
    let blocks: Vec<Block> = blocks().into_iter().filter(|one| one.language == language).collect();
    assert!(!blocks.is_empty(), "no page has a block in `{language}`");
    blocks.into_iter().filter(Block::is_tried).collect()
}

/// The commands of a shell text as words: quotes hold words together, `#` begins a comment, a backslash joins lines. No expansion.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                word.extend(letters.by_ref().take_while(|next| *next != letter));
            }
            '\\' if letters.peek() == Some(&'\n') => drop(letters.next()),
            '#' if word.is_none() => drop(letters.by_ref().find(|next| {
                commands.push(Vec::new());
                *next == '\n'
            })),
            ' ' | '\t' => commands.last_mut().unwrap().extend(word.take()),
            '\n' | '|' | ';' | '&' | '<' | '>' | '(' | ')' => {
                commands.last_mut().unwrap().extend(word.take());
                commands.push(Vec::new());
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    commands.last_mut().unwrap().extend(word);
    commands.retain(|command| !command.is_empty());
    commands
}

/// What is wrong with the commands of ours in a shell text, and how many there are.
fn faults(text: &str, place: &str, faults: &mut Vec<String>) -> usize {
    let ours: Vec<Vec<String>> =
        commands(text).into_iter().filter(|command| command[0] == "checkrein").collect();
    for command in &ours {
        if let Some(fault) = checkrein_cli::fault_of_words(command) {
            faults.push(format!("{place}: {}: {fault}", command.join(" ")));
        }
    }
    ours.len()
}

#[test]
fn commands_are_taken_apart_as_a_shell_does() {
    let text = "checkrein check 'rm -rf ~ # no' # why\nprintenv | checkrein mask\ncheckrein run -- \\\n    claude -p \"a b\"\n";
    let words: Vec<String> = commands(text).iter().map(|words| words.join("_")).collect();
    assert_eq!(
        words,
        ["checkrein_check_rm -rf ~ # no", "printenv", "checkrein_mask", "checkrein_run_--_claude_-p_a b"]
    );
}

#[test]
fn every_command_on_a_page_is_one() {
    let mut found = Vec::new();
    for block in blocks_in("sh") {
        let count = faults(&block.text, &block.place(), &mut found);
        assert!(count > 0 || !block.is_tried() || block.text.contains("checkrein"), "{}", block.place());
    }
    for block in blocks().iter().filter(|block| block.language == "yaml") {
        let steps = block.text.lines().filter_map(|line| line.split_once("run: "));
        for (_, command) in steps {
            faults(command, &block.place(), &mut found);
        }
    }
    for (page, text) in pages() {
        // In a block of text, what is printed names commands as sentences do.
        let (mut is_fenced, mut is_text) = (false, false);
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                is_fenced = !is_fenced;
                is_text = is_fenced && line == "```text";
            }
            let quoted = line.split('`').skip(1).step_by(2).filter(|_| !is_fenced || is_text);
            let named = quoted.filter(|text| text.starts_with("checkrein ") && !text.contains("..."));
            for command in named {
                let command = command.replace(" N", " 1").replace("SNAPSHOT", "1");
                let mut of_command = Vec::new();
                faults(&command, &format!("{page}:{}", at + 1), &mut of_command);
                // A sentence may name a command without all that it needs.
                let is_cut = |fault: &String| {
                    fault.contains("were not provided") || fault.contains("a value is required")
                };
                of_command.retain(|fault| !is_cut(fault));
                found.append(&mut of_command);
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_configuration_on_a_page_is_accepted() {
    for block in blocks_in("yaml") {
        let environment = TestEnvironment::new();
        let arguments = if block.text.starts_with("artifact_type: acgp.blueprint") {
            environment.write("blueprint.yaml", &block.text);
            ["policy", "test", "blueprint.yaml"].as_slice()
        } else if block.text.lines().any(|line| line == "steps:") {
            environment.write("pipeline.yaml", &block.text);
            ["pipeline", "graph", "pipeline.yaml"].as_slice()
        } else {
            environment.write("checkrein.yaml", &block.text);
            ["policy", "test"].as_slice()
        };
        environment.succeed(&["config", "check"]);
        let output = environment.checkrein(arguments);
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", block.place());
    }
}

#[test]
fn every_entry_of_the_catalogue_and_every_price_on_a_page_is_accepted() {
    for block in blocks_in("toml") {
        let environment = TestEnvironment::new();
        environment.configure("catalogue/page.toml", &block.text);
        let output = environment.checkrein(&["config", "check"]);
        assert!(output.status.success(), "{}: {}", block.place(), String::from_utf8_lossy(&output.stderr));
    }
    for block in blocks_in("csv") {
        let environment = TestEnvironment::new();
        environment.configure("prices.csv", &block.text);
        let output = environment.checkrein(&["config", "check"]);
        assert!(output.status.success(), "{}: {}", block.place(), String::from_utf8_lossy(&output.stderr));
    }
}

/// Who reads the source of a page, in an editor or a terminal, reads its tables too.
#[test]
fn no_row_of_a_table_is_wider_than_a_reader_can_follow() {
    for (page, text) in pages() {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
            let length = line.chars().count();
            assert!(length <= WIDEST_ROW, "{page}:{}: {length} characters", at + 1);
        }
    }
}

#[test]
fn every_block_has_a_language_and_what_is_not_tried_is_there() {
    let all = blocks();
    for block in &all {
        match block.language.as_str() {
            "sh" | "yaml" | "toml" | "csv" | "console" | "text" => {}
            "json" => {
                let parsed = serde_json::from_str::<serde_json::Value>(&block.text);
                assert!(parsed.is_ok(), "{}: {parsed:?}", block.place());
            }
            // `plugins.rs` runs it.
            "python" | "jsonl" if block.page.ends_with("plugins.md") => {}
            other => panic!("{}: nothing tries a block in `{other}`", block.place()),
        }
    }
    for (page, beginning, why) in NOT_TRIED {
        let is_there = all.iter().any(|block| block.page == page && block.text.starts_with(beginning));
        assert!(is_there, "{page}: no block begins with `{beginning}` ({why})");
    }
}
