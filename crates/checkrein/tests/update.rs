//! `checkrein update`: both programs are replaced where they lie, or neither.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::TestEnvironment;

/// What stands in for a program of a release: it only says which version it is.
fn saying(program: &str, version: &str) -> String {
    format!("#!/bin/sh\necho {program} {version}\n")
}

/// A release with programs that only say which version they are.
fn write_release(folder: &Path, version: &str) {
    write_release_of(
        folder,
        version,
        &["checkrein", "checkrein-hook"].map(|name| (name, saying(name, version))),
    );
}

/// A release with these programs; those of before stay in it.
fn write_release_of(folder: &Path, version: &str, programs: &[(&str, String)]) {
    let name = format!("checkrein-{version}-{}-unknown-linux-musl", std::env::consts::ARCH);
    let inner = folder.join(&name);
    fs::create_dir_all(&inner).unwrap();
    for (program, text) in programs {
        fs::write(inner.join(program), text).unwrap();
    }
    let pack = format!("tar czf {name}.tar.gz {name} && rm -r {name} && sha256sum *.tar.gz > SHA256SUMS");
    assert!(Command::new("sh").current_dir(folder).args(["-c", &pack]).status().unwrap().success());
}

/// The programs of this build, where a user would have them.
fn installed(environment: &TestEnvironment) -> PathBuf {
    let folder = environment.home().join(".local/bin");
    fs::create_dir_all(&folder).unwrap();
    for program in [env!("CARGO_BIN_EXE_checkrein"), env!("CARGO_BIN_EXE_checkrein-hook")] {
        support::copy_program(program, folder.join(Path::new(program).file_name().unwrap()));
    }
    folder
}

fn update(environment: &TestEnvironment, folder: &Path, from: &Path) -> Output {
    let mut command = environment.command(folder.join("checkrein"));
    command.args(["update", "--yes", "--from"]).arg(from).output().unwrap()
}

/// The installer itself, as somebody pipes it into a shell.
fn piped(environment: &TestEnvironment, arguments: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/install.sh");
    let mut command = environment.command("sh");
    command.args(["-s", "--"]).args(arguments).stdin(fs::File::open(script).unwrap()).output().unwrap()
}

/// What stands in a folder, by name, with its text where it is one.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut found: Vec<_> = entries
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap_or_default())
        })
        .collect();
    found.sort();
    found
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_hook_says_its_version_and_is_no_consent_by_that() {
    let environment = TestEnvironment::new();
    let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
    let output = hook.arg("--version").output().unwrap();
    assert_eq!(words(&output), format!("checkrein-hook {}\n", env!("CARGO_PKG_VERSION")));
    environment.succeed(&["init", "--yes"]);
    let settings = environment.project().join(".claude/settings.local.json");
    let changed =
        fs::read_to_string(&settings).unwrap().replace("checkrein-hook claude", "checkrein-hook --version");
    assert!(changed.contains("--version"), "{changed}");
    fs::write(&settings, changed).unwrap();
    let output = environment.checkrein(&["doctor"]);
    assert!(!output.status.success(), "{}", words(&output));
}

#[test]
fn a_program_that_does_not_run_keeps_both_of_before() {
    for broken in ["checkrein", "checkrein-hook"] {
        for text in ["#!/bin/sh\nexit 1\n".to_owned(), saying(broken, "9.8.6")] {
            let environment = TestEnvironment::new();
            let (folder, release) = (installed(&environment), environment.home().join("release"));
            let other = if broken == "checkrein" { "checkrein-hook" } else { "checkrein" };
            let programs = [(broken, text), (other, saying(other, "9.8.7"))];
            write_release_of(&release, "9.8.7", &programs);
            let before = contents(&folder);
            let output = update(&environment, &folder, &release);
            assert!(!output.status.success(), "{broken}: {}", words(&output));
            assert!(words(&output).contains(&format!("{broken} of checkrein-9.8.7")), "{}", words(&output));
            assert!(contents(&folder) == before, "{broken}: something was replaced, or left behind");
        }
    }
}

#[test]
fn a_failure_between_the_two_renames_brings_the_first_back() {
    let environment = TestEnvironment::new();
    let (folder, release) = (installed(&environment), environment.home().join("release"));
    write_release(&release, "9.8.7");
    // A `mv` that refuses the second program, once.
    let tools = environment.home().join("tools");
    fs::create_dir(&tools).unwrap();
    let script =
        "#!/bin/sh\ncase $2 in */new/checkrein) echo full >&2; exit 1 ;; esac\nexec /bin/mv \"$@\"\n";
    fs::write(tools.join("mv.new"), script).unwrap();
    let make = Command::new("chmod").arg("755").arg(tools.join("mv.new")).status().unwrap();
    assert!(make.success());
    fs::rename(tools.join("mv.new"), tools.join("mv")).unwrap();
    let before = contents(&folder);
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = environment.command(folder.join("checkrein"));
    let output =
        command.env("PATH", path).args(["update", "--yes", "--from"]).arg(&release).output().unwrap();
    assert!(!output.status.success(), "{}", words(&output));
    assert!(words(&output).contains("both programs are as they were before"), "{}", words(&output));
    assert!(contents(&folder) == before, "half an update stayed");
}

#[test]
fn an_older_release_needs_a_word() {
    let environment = TestEnvironment::new();
    let (folder, release) = (installed(&environment), environment.home().join("release"));
    write_release(&release, "0.0.9");
    let before = contents(&folder);
    let output = update(&environment, &folder, &release);
    assert!(!output.status.success() && words(&output).contains("is older than"), "{}", words(&output));
    assert!(contents(&folder) == before);
    let mut command = environment.command(folder.join("checkrein"));
    let output =
        command.args(["update", "--yes", "--allow-downgrade", "--from"]).arg(&release).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    assert!(fs::read_to_string(folder.join("checkrein")).unwrap().contains("0.0.9"));
}

#[test]
fn a_version_is_chosen_among_those_of_a_folder() {
    let environment = TestEnvironment::new();
    let release = environment.home().join("release");
    for version in ["9.8.6", "9.8.7"] {
        write_release(&release, version);
    }
    let (folder, from) = (environment.home().join(".local/bin"), release.to_str().unwrap());
    let output = piped(&environment, &["--from", from]);
    assert!(!output.status.success() && words(&output).contains("several archives"), "{}", words(&output));
    let output = piped(&environment, &["--from", from, "--version", "9.8.5"]);
    assert!(
        !output.status.success() && words(&output).contains("no archive of version 9.8.5"),
        "{}",
        words(&output)
    );
    let output = piped(&environment, &["--from", from, "--version", "v9.8.6"]);
    assert!(output.status.success(), "{}", words(&output));
    assert!(words(&output).contains("who put it there was not checked"), "{}", words(&output));
    assert!(fs::read_to_string(folder.join("checkrein-hook")).unwrap().contains("9.8.6"));
}

#[test]
fn an_address_without_protection_is_not_fetched() {
    let environment = TestEnvironment::new();
    for from in ["http://127.0.0.1:9/release", "ftp://127.0.0.1/release"] {
        let output = piped(&environment, &["--from", from]);
        assert!(
            !output.status.success() && words(&output).contains("begins with https://"),
            "{}",
            words(&output)
        );
    }
}

#[test]
fn the_installer_says_how_it_is_used_also_through_a_pipe() {
    let output = piped(&TestEnvironment::new(), &["--help"]);
    assert!(output.status.success() && words(&output).contains("--allow-downgrade"), "{}", words(&output));
}

#[test]
fn a_checkout_that_git_cannot_look_at_is_built_and_said() {
    let environment = TestEnvironment::new();
    let (checkout, tools) = (environment.home().join("checkout"), environment.home().join("tools"));
    fs::create_dir_all(checkout.join("packaging")).unwrap();
    fs::create_dir_all(&tools).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(root.join("install"), checkout.join("install")).unwrap();
    fs::write(checkout.join("packaging/install.sh"), "echo taken from a release\n").unwrap();
    let git = "#!/bin/sh\ncase \"$*\" in *describe*) echo v9.8.7 ;; *) echo broken >&2; exit 128 ;; esac\n";
    for (name, text) in [("git", git), ("cargo", "#!/bin/sh\necho built from source\n")] {
        fs::write(tools.join(name), text).unwrap();
        assert!(Command::new("chmod").arg("755").arg(tools.join(name)).status().unwrap().success());
    }
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = environment.command("sh");
    let output = command.env("PATH", path).arg(checkout.join("install")).output().unwrap();
    let said = words(&output);
    assert!(said.contains("built from source") && said.contains("git cannot say"), "{said}");
    assert!(!said.contains("taken from a release"), "{said}");
}

#[test]
fn a_folder_without_sums_is_told_how_to_get_them() {
    let environment = TestEnvironment::new();
    let release = environment.home().join("release");
    fs::create_dir(&release).unwrap();
    let said = words(&piped(&environment, &["--from", release.to_str().unwrap()]));
    assert!(
        said.contains("holds no SHA256SUMS") && said.contains("hint: fetch it from the same release"),
        "{said}"
    );
}

#[test]
fn both_programs_are_replaced_where_they_lie() {
    let environment = TestEnvironment::new();
    let (folder, release) = (installed(&environment), environment.home().join("release"));
    write_release(&release, "9.8.7");
    let output = update(&environment, &folder, &release);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("checkrein 9.8.7"), "{output:?}");
    for program in ["checkrein", "checkrein-hook"] {
        assert!(fs::read_to_string(folder.join(program)).unwrap().contains("9.8.7"), "{program}");
    }
}

#[test]
fn nothing_is_replaced_by_what_has_another_sum() {
    let environment = TestEnvironment::new();
    let (folder, release) = (installed(&environment), environment.home().join("release"));
    write_release(&release, "9.8.7");
    let before = fs::metadata(folder.join("checkrein")).unwrap().len();
    let sums = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let (first, rest) = sums.split_at(1);
    let other = if first == "0" { "1" } else { "0" };
    fs::write(release.join("SHA256SUMS"), format!("{other}{rest}")).unwrap();
    let output = update(&environment, &folder, &release);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("nothing was replaced"), "{output:?}");
    assert_eq!(fs::metadata(folder.join("checkrein")).unwrap().len(), before);
}

#[test]
fn what_somebody_else_installed_is_left_to_them() {
    let environment = TestEnvironment::new();
    let output = environment.checkrein(&["update", "--yes", "--from", "x"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("kept up to date by what installed them"), "{said}");
}
