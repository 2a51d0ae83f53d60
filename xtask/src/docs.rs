//! `docs`: the reference pages that are made from the code.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use checkrein_policy::rules;

use crate::{Outcome, root};

/// A generated page: where it lies and what it says.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Writes every page.
pub(crate) fn write() -> Outcome {
    for page in pages()? {
        if let Some(folder) = page.path.parent() {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        fs::write(&page.path, &page.text)
            .map_err(|error| format!("cannot write {}: {error}", page.path.display()))?;
    }
    Ok(())
}

/// Fails when a page is not what the code says.
pub(crate) fn are_fresh() -> Outcome {
    for page in pages()? {
        let found = fs::read_to_string(&page.path).unwrap_or_default();
        if found != page.text {
            return Err(format!("{} is stale: run `cargo xtask docs`", page.path.display()));
        }
    }
    Ok(())
}

fn pages() -> Result<Vec<Page>, String> {
    let folder = root().join("docs/reference");
    let schema =
        serde_json::to_string_pretty(&checkrein_policy::schema()).map_err(|error| error.to_string())?;
    Ok(vec![
        Page { path: folder.join("configuration.md"), text: checkrein_policy::reference() },
        Page { path: folder.join("checkrein.schema.json"), text: schema + "\n" },
        Page { path: folder.join("rules.md"), text: rule_page() },
    ])
}

fn rule_page() -> String {
    let mut page = "# Rules\n\nThe built-in rules, one file each in `crates/policy/src/rules/`. Made by `cargo xtask docs`.\n".to_owned();
    for rule in rules::ALL {
        let set = format!("{:?}", rule.set).to_lowercase();
        let _ = write!(
            page,
            "\n## {}\n\nSet: {set}.\n\n{}\n\n**Why it matters.** {}\n\n**Example.** `{}`\n\n**Instead.** {}\n\n**Limits.** {}\n",
            rule.name,
            rule.docs.detects,
            rule.docs.danger,
            rule.docs.example,
            rule.docs.instead,
            rule.docs.limits
        );
    }
    page
}
