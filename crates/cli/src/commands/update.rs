//! `checkrein update`: the installer of releases, run over the programs that are in use.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api::{self, installation};
use crate::terminal::{Reply, confirm, log, print, print_exact};

/// The installer that each release carries.
const INSTALLER: &str = include_str!("../../../../packaging/install.sh");

/// Folders whose programs somebody else keeps up to date, by a part of their path, and the command that does.
const KEPT_BY_OTHERS: [(&str, &str); 6] = [
    ("/node_modules/", "npm install checkrein@latest"),
    ("/Cellar/", "brew upgrade checkrein"),
    ("/nix/store/", "update the flake or channel that it comes from"),
    ("/.cargo/bin/", "cargo binstall checkrein"),
    ("/target/", "build it anew"),
    ("/usr/bin/", "your system's package manager, such as `apt` or `dnf`"),
];

/// What is wanted of an update.
pub(crate) struct Wanted {
    /// The version; `None` is the newest.
    pub(crate) version: Option<String>,
    /// Where the release lies, as an address or a directory; `None` is the project's page.
    pub(crate) from: Option<String>,
    /// Whether an older version may take the place of a newer one.
    pub(crate) downgrade: Switch,
    /// Whether the question is answered already.
    pub(crate) yes: Switch,
}

/// Replaces both programs where they lie by those of a release. Only a user may, since the guard itself changes.
pub(crate) fn update(
    environment: &HostEnvironment,
    wanted: &Wanted,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "update")?;
    let folder = folder_in_use(environment)?;
    if wanted.yes == Switch::Off {
        let release =
            wanted.version.as_deref().map_or("the newest release".to_owned(), |one| format!("release {one}"));
        let question = format!(
            "Replace the programs in {} ({}) by those of {release}?",
            folder.display(),
            env!("CARGO_PKG_VERSION")
        );
        match confirm(&question) {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    run_installer(&folder, wanted)?;
    let version = version_of(&folder.join("checkrein"))?;
    let hook = version_of(&folder.join("checkrein-hook"))?;
    if hook.split(' ').nth(1) != version.split(' ').nth(1) {
        return Err(CommandError::user(
            format!("the programs in {} are of two versions: `{version}` and `{hook}`", folder.display()),
            "run `checkrein update` again",
        ));
    }
    let folder = folder.display().to_string();
    match output {
        OutputForm::Json => print_exact(&api::line(&installation::Updated { folder, version })?),
        OutputForm::Text => {
            print(&format!("{version} is in {folder}; `checkrein doctor` proves that it guards"));
        }
    }
    Ok(ExitStatus::Done)
}

/// Where the programs lie, unless somebody else puts them there.
fn folder_in_use(environment: &HostEnvironment) -> Result<PathBuf, CommandError> {
    let folder = environment.program.as_deref().and_then(Path::parent);
    let Some(folder) = folder else {
        return Err(CommandError::user(
            "this program does not know where it lies",
            "run it by its whole path",
        ));
    };
    let text = format!("{}/", folder.display());
    match KEPT_BY_OTHERS.iter().find(|(part, _)| text.contains(part)) {
        Some((_, how)) => Err(CommandError::user(
            format!("the programs in {} are kept up to date by what installed them", folder.display()),
            *how,
        )),
        None => Ok(folder.to_owned()),
    }
}

fn run_installer(folder: &Path, wanted: &Wanted) -> Result<(), CommandError> {
    let failed =
        |cause: String| CommandError::user(cause, "nothing was replaced; the programs in use still work");
    let mut sh = Command::new("/bin/sh");
    sh.args(["-s", "--", "--to"]).arg(folder);
    for (option, value) in [("--version", &wanted.version), ("--from", &wanted.from)] {
        sh.args(value.iter().flat_map(|value| [option, value.as_str()]));
    }
    if wanted.downgrade == Switch::On {
        sh.arg("--allow-downgrade");
    }
    let started = sh.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| failed(format!("cannot start /bin/sh: {error}")))?;
    if let Some(mut input) = child.stdin.take() {
        // Who ends before the end of the script says why by its status.
        drop(input.write_all(INSTALLER.as_bytes()));
    }
    let ended = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    String::from_utf8_lossy(&ended.stdout).lines().filter(|line| line.starts_with("note: ")).for_each(log);
    if ended.status.success() { Ok(()) } else { Err(failed("the release could not be installed".to_owned())) }
}

/// What a program says that it is.
fn version_of(program: &Path) -> Result<String, CommandError> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|error| CommandError::file("start", program.display(), &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
