//! Variables of the environment that are options of a program, or that name a program which another one runs.

use checkrein_shell::{Part, Simple, Word};

use super::machine::Machine;
use super::shell::VariableContent;
use super::simple::CHOICES;
use super::value::Value;
use crate::strings::quoted_words;

/// How a program takes what stands in its variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Words like those behind its name.
    Words,
    /// One word like that behind its name.
    Whole,
    /// The value of one option.
    Behind(&'static str),
    /// The value of an option behind all other words.
    Last(&'static str),
}

/// Variables that hold options, by the programs that read them. Sources: the manuals of GNU tar 1.35 (3.2.1), zip 3.0 and unzip 6.0
/// ("ENVIRONMENT OPTIONS"), xz 5.6, gzip 1.13, bzip2 1.0.8, rsync 3.4, vim 9.1 (`initialization`), man-db 2.13, bc 1.07, fzf 0.60, less 668,
/// pip ("Configuration"), uv ("Environment variables"), npm ("config"), pytest 8 ("Reference guide", `PYTEST_ADDOPTS`), Yarn 1.22 and 4
/// ("Configuration").
const OPTIONS: &[(&[&str], &[&str], Form)] = &[
    (&["tar", "gtar", "bsdtar"], &["TAR_OPTIONS"], Form::Words),
    (&["zip"], &["ZIPOPT", "ZIP"], Form::Words),
    (&["unzip"], &["UNZIPOPT", "UNZIP"], Form::Words),
    (&["xz", "unxz", "xzcat", "lzma", "unlzma"], &["XZ_DEFAULTS", "XZ_OPT"], Form::Words),
    (&["gzip", "gunzip"], &["GZIP"], Form::Words),
    (&["bzip2", "bunzip2"], &["BZIP2", "BZIP"], Form::Words),
    (&["man"], &["MANOPT"], Form::Words),
    (&["bc"], &["BC_ENV_ARGS"], Form::Words),
    (&["fzf"], &["FZF_DEFAULT_OPTS"], Form::Words),
    (&["less"], &["LESS"], Form::Whole),
    (&["rsync"], &["RSYNC_RSH"], Form::Behind("-e")),
    (&["pip", "pip3"], &["PIP_INDEX_URL"], Form::Last("--index-url")),
    (&["pip", "pip3"], &["PIP_EXTRA_INDEX_URL"], Form::Last("--extra-index-url")),
    (&["pip", "pip3"], &["PIP_FIND_LINKS"], Form::Last("--find-links")),
    (&["pytest", "py.test"], &["PYTEST_ADDOPTS"], Form::Words),
    (&["uv"], &["UV_CACHE_DIR"], Form::Behind("--cache-dir")),
    (&["npm"], &["npm_config_cache", "NPM_CONFIG_CACHE"], Form::Behind("--cache")),
    (&["yarn", "yarnpkg"], &["YARN_CACHE_FOLDER"], Form::Behind("--cache-folder")),
    (&["uv"], &["UV_INDEX_URL", "UV_DEFAULT_INDEX"], Form::Last("--default-index")),
    (&["uv"], &["UV_EXTRA_INDEX_URL", "UV_INDEX"], Form::Last("--index")),
    (&["npm", "pnpm", "yarn"], &["npm_config_registry", "NPM_CONFIG_REGISTRY"], Form::Last("--registry")),
    (&["vim", "vi", "view", "ex", "nvim", "gvim", "vimdiff"], &["VIMINIT", "EXINIT"], Form::Behind("-c")),
];

/// Variables that name a program which other programs run when they show, edit, build or connect. Those of git stand with git.
/// Sources: environ(7); the manuals of less 668, systemd 257, sudoedit, kubectl, Mercurial, Subversion, CVS, gh, bat, delta, psql, ssh and fzf;
/// the Cargo Book, "Environment Variables"; rsync(1); Autoconf, "config.status Invocation"; ccache(1); npm, "config"; GNU make 4.4, "Variables Used by Implicit Rules"; cmake-env-variables(7).
const PROGRAMS: &[&str] = &[
    "PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "AWS_PAGER",
    "GH_PAGER",
    "BAT_PAGER",
    "DELTA_PAGER",
    "PSQL_PAGER",
    "PERLDOC_PAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "SUDO_EDITOR",
    "SYSTEMD_EDITOR",
    "KUBE_EDITOR",
    "HGEDITOR",
    "SVN_EDITOR",
    "CVSEDITOR",
    "GH_EDITOR",
    "PSQL_EDITOR",
    "BROWSER",
    "GH_BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "SVN_SSH",
    "CVS_RSH",
    "SSH_ASKPASS",
    "TERMINAL",
    "RSYNC_CONNECT_PROG",
    "CONFIG_SHELL",
    "CCACHE_PREFIX",
    "CCACHE_COMPILER",
    "npm_config_script_shell",
    "NPM_CONFIG_SCRIPT_SHELL",
    "npm_config_shell",
    "NPM_CONFIG_SHELL",
    "npm_config_git",
    "NPM_CONFIG_GIT",
    "npm_config_editor",
    "NPM_CONFIG_EDITOR",
    "npm_config_viewer",
    "NPM_CONFIG_VIEWER",
    "npm_config_browser",
    "NPM_CONFIG_BROWSER",
    "SUDO_ASKPASS",
    "FZF_DEFAULT_COMMAND",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "RUSTFMT",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTDOC",
    "CMAKE_C_COMPILER_LAUNCHER",
    "CMAKE_CXX_COMPILER_LAUNCHER",
    "AR",
    "AS",
    "CC",
    "CPP",
    "CXX",
    "FC",
    "LD",
    "LEX",
    "YACC",
];

/// Beginnings of the paths of programs that were installed.
const INSTALLED: &[&str] = &["/usr/", "/bin/", "/opt/", "/nix/", "/snap/", "/Library/", "/Applications/"];

/// Whether a variable names a program that others run.
pub(super) fn names_program(name: &str) -> bool {
    // `CARGO_TARGET_<triple>_LINKER` and `_RUNNER`.
    let of_target =
        name.starts_with("CARGO_TARGET_") && (name.ends_with("_LINKER") || name.ends_with("_RUNNER"));
    of_target || PROGRAMS.contains(&name)
}

/// The programs that a variable of flags for a compiler names (rustc, "Codegen Options"; `go help build`).
pub(super) fn named_in_flags<'a>(name: &str, text: &'a str) -> Vec<&'a str> {
    let start = match name {
        "RUSTFLAGS" | "CARGO_BUILD_RUSTFLAGS" | "RUSTDOCFLAGS" => "linker=",
        "GOFLAGS" => "toolexec=",
        _ => return Vec::new(),
    };
    text.split_whitespace()
        .filter_map(|word| word.trim_start_matches('-').trim_start_matches('C').strip_prefix(start))
        .collect()
}

/// Whether a text is an installed program by its path, with plain options at most.
pub(super) fn is_installed(text: &str) -> bool {
    INSTALLED.iter().any(|start| text.starts_with(start))
        && !text.contains("..")
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ' | '/' | '=' | '+'))
}

/// Whether a program takes from a variable what it does, beyond the programs that it runs (git(1); GNU make 4.4, "Variables/Recursion").
fn is_read_by(program: &str, name: &str) -> bool {
    match program {
        "git" => name.starts_with("GIT_"),
        "make" | "gmake" => matches!(name, "MAKEFLAGS" | "GNUMAKEFLAGS" | "MAKEFILES"),
        _ => OPTIONS.iter().any(|(programs, names, _)| programs.contains(&program) && names.contains(&name)),
    }
}

/// The name of a program that a word may be.
fn program_in(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Literal(text) | Part::Quoted(text)] => Some(text.rsplit('/').next().unwrap_or(text)),
        _ => None,
    }
}

impl Machine<'_> {
    /// The first variable from which a program of a command takes what it does, when it holds one of a few texts.
    pub(super) fn choices_of_environment(&self, simple: &Simple) -> Option<(String, Vec<String>)> {
        if self.budget.scanning > 0 || self.position.unsure > 0 {
            return None;
        }
        let open = self.shell.variables.iter().filter_map(|(name, variable)| match &variable.content {
            VariableContent::Scalar(Value::AnyOf(texts))
                if variable.exported && (2..=CHOICES).contains(&texts.len()) =>
            {
                Some((name, texts))
            }
            VariableContent::Scalar(_)
            | VariableContent::List(_)
            | VariableContent::Map(_)
            | VariableContent::Unknown
            | VariableContent::Unset => None,
        });
        let mut open = open.peekable();
        open.peek()?;
        // Also behind `env`, `sudo` and their like.
        let programs: Vec<&str> = simple.words.iter().filter_map(program_in).collect();
        open.find(|(name, _)| programs.iter().any(|program| is_read_by(program, name)))
            .map(|(name, texts)| (name.clone(), texts.clone()))
    }

    /// The words of a program that reads options from variables too, with these. What the environment of the agent held before the
    /// command was there anyway.
    pub(super) fn options_of_variables(&self, base: &str, rest: &[Value]) -> Option<Vec<Value>> {
        let mut words: Vec<Value> = Vec::new();
        let mut last: Vec<Value> = Vec::new();
        let read = OPTIONS.iter().filter(|(programs, ..)| programs.contains(&base));
        for (name, form) in read.flat_map(|(_, names, form)| names.iter().map(move |name| (name, form))) {
            let Some(Value::Exact(text)) = self.variable(name) else { continue };
            if text.is_empty() || self.world().variable(name).as_deref() == Some(text.as_str()) {
                continue;
            }
            match form {
                Form::Words => words.extend(quoted_words(&text).into_iter().map(Value::Exact)),
                Form::Whole => words.push(Value::Exact(text)),
                Form::Behind(option) => words.extend([Value::exact(*option), Value::Exact(text)]),
                Form::Last(option) => last.extend([Value::exact(*option), Value::Exact(text)]),
            }
        }
        if words.is_empty() && last.is_empty() {
            return None;
        }
        // Letters without a dash (`tar cf x`) are options only where they stand first.
        let bundle = rest.first().and_then(Value::as_exact).is_some_and(|text| !text.starts_with('-'));
        if bundle && matches!(base, "tar" | "gtar" | "bsdtar") {
            words.splice(0..0, rest.iter().cloned());
        } else {
            words.extend(rest.iter().cloned());
        }
        words.extend(last);
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_name_a_program_are_told_from_others() {
        assert_eq!(named_in_flags("RUSTFLAGS", "-Clinker=./x -C linker=y -D warnings"), ["./x", "y"]);
        assert_eq!(named_in_flags("GOFLAGS", "-mod=mod -toolexec=./x"), ["./x"]);
        assert!(named_in_flags("CFLAGS", "-O2").is_empty());
        assert!(
            names_program("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER")
                && !names_program("CARGO_TARGET_DIR")
        );
        assert!(is_installed("/usr/bin/gcc-12 -m64") && !is_installed("/usr/bin/x; y"));
    }
}
