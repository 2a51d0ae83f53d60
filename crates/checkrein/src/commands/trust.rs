//! `checkrein trust`: a person agrees to what a project file loosens.

use checkrein_world::find_workspace;

use super::{Exit, for_people_only};
use crate::error::CommandError;
use crate::settings;
use crate::surroundings::Surroundings;
use crate::terminal::{confirm, log, print};

/// Shows what the project file loosens and trusts this very text of it.
pub fn trust(surroundings: &Surroundings, yes: super::Switch) -> Result<Exit, CommandError> {
    for_people_only(surroundings, "trust")?;
    let workspace = find_workspace(&surroundings.cwd);
    let file = settings::project_file(&workspace);
    let loaded = settings::load(surroundings, &workspace)?;
    if loaded.pending.is_empty() {
        print(&format!("`{file}` loosens nothing that is not trusted already"));
        return Ok(Exit::Done);
    }
    print(&format!("`{file}` asks for more than the layers below it allow:"));
    for loosening in &loaded.pending {
        print(&format!("  {}", super::config::waiting(loosening)));
    }
    if yes == super::Switch::Off && !confirm("Trust this text of the file?") {
        log("not trusted; `--yes` trusts without asking");
        return Ok(Exit::Failed);
    }
    settings::trust(surroundings, &file)?;
    print("trusted; a change of the file asks again");
    Ok(Exit::Done)
}
