//! Variables of the environment by which a program loads code, or settings that run something, from a place that they name.

use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Entry, VersionState};

use super::call::{Call, Input};
use super::machine::Machine;
use super::value::Value;

/// What a program does with the place that its variable names.
#[derive(Debug, Clone, Copy)]
enum Loads {
    /// Looks there for programs, modules or libraries; the variable may hold several directories.
    Directories,
    /// Keeps there what it installs, and makes it where it is missing.
    Store,
    /// Runs the files as code, as these words before each do; without words nothing can read it.
    Code(&'static [&'static str]),
    /// Reads settings, in a directory those of this name. These words in them run something, or say where from code comes.
    Settings(&'static str, &'static [&'static str]),
}

/// The variables, in groups by the manual that describes them.
const VARIABLES: &[(&[&str], Loads)] = &[
    // environ(7), ld.so(8), dyld(1).
    (&["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"], Loads::Directories),
    (&["DYLD_FRAMEWORK_PATH", "DYLD_FALLBACK_FRAMEWORK_PATH"], Loads::Directories),
    // zsh(1) "STARTUP/SHUTDOWN FILES"; zshparam(1).
    (&["ZDOTDIR", "FPATH"], Loads::Directories),
    // git(1), git-init(1).
    (&["GIT_EXEC_PATH", "GIT_TEMPLATE_DIR"], Loads::Directories),
    (&["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"], Loads::Settings("", GIT)),
    // python(1), "Environment variables"; node(1); perlrun(1); ruby(1); the manual of Lua 5.4, `package.path`; PHP, "The configuration file".
    (&["PYTHONPATH", "PYTHONHOME", "NODE_PATH", "PERL5LIB", "PERLLIB", "RUBYLIB"], Loads::Directories),
    (&["LUA_PATH", "LUA_CPATH", "LUA_PATH_5_1", "LUA_PATH_5_2", "LUA_PATH_5_3"], Loads::Directories),
    (
        &["LUA_PATH_5_4", "LUA_CPATH_5_1", "LUA_CPATH_5_2", "LUA_CPATH_5_3", "LUA_CPATH_5_4"],
        Loads::Directories,
    ),
    (&["PHPRC", "PHP_INI_SCAN_DIR"], Loads::Directories),
    // The manuals of Julia ("Environment Variables"), R (`?Startup`, `?.libPaths`), Guile, Erlang (`code`), Tcl, Emacs, Vim, java(1).
    (&["JULIA_LOAD_PATH", "GUILE_LOAD_PATH", "ERL_LIBS", "TCLLIBPATH"], Loads::Directories),
    (&["EMACSLOADPATH", "VIMRUNTIME", "CLASSPATH"], Loads::Directories),
    // The manual of GCC, "Environment Variables"; OpenSSL's openssl-env(7); Qt and GStreamer, environment variables.
    (&["GCC_EXEC_PREFIX", "COMPILER_PATH", "OPENSSL_MODULES", "OPENSSL_ENGINES"], Loads::Directories),
    (&["QT_PLUGIN_PATH", "GST_PLUGIN_PATH", "GTK_PATH", "GIO_EXTRA_MODULES"], Loads::Directories),
    // `gem help environment`; python(1); the Cargo Book; the manuals of Julia and R.
    (&["GEM_HOME", "GEM_PATH", "PYTHONUSERBASE", "JULIA_DEPOT_PATH", "R_LIBS", "R_LIBS_USER"], Loads::Store),
    // Programs that take a file as code: .NET's host-startup-hook and profiling, lua(1), `?Startup` of R, psql(1), GNU make, bundle-config(1).
    (&["DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH", "COR_PROFILER_PATH"], Loads::Code(&[])),
    (&["LUA_INIT", "LUA_INIT_5_2", "LUA_INIT_5_3", "LUA_INIT_5_4"], Loads::Code(&["lua"])),
    (&["R_PROFILE", "R_PROFILE_USER"], Loads::Code(&["Rscript"])),
    (&["PSQLRC"], Loads::Code(&["psql", "-f"])),
    (&["MAKEFILES"], Loads::Code(&["make", "-f"])),
    (&["BUNDLE_GEMFILE"], Loads::Code(&["ruby"])),
    // gpg-agent(1), gpgsm(1), dirmngr(8); the Cargo Book, "Configuration".
    (&["GNUPGHOME"], Loads::Settings("gpg-agent.conf", &["program", "scdaemon"])),
    (&["CARGO_HOME"], Loads::Settings("config.toml", CARGO)),
    // Settings: cmake-toolchains(7), ripgrep's guide, kubectl and AWS CLI on exec plugins and processes for credentials, Docker CLI plugins.
    (&["CMAKE_TOOLCHAIN_FILE"], Loads::Settings("", &["execute_process", "cmake_language"])),
    (&["RIPGREP_CONFIG_PATH"], Loads::Settings("", &["--pre", "--hostname-bin"])),
    (&["KUBECONFIG"], Loads::Settings("", &["exec:", "cmd-path"])),
    (&["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"], Loads::Settings("", &["credential_process"])),
    (&["DOCKER_CONFIG"], Loads::Settings("config.json", &["clipluginsextradirs"])),
    // pip, "Configuration"; npm, "config"; uv, "Configuration files"; `go help environment`; the Cargo Book, "Configuration".
    (&["PIP_CONFIG_FILE"], Loads::Settings("", &["index-url", "find-links", "trusted-host"])),
    (&["NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG"], Loads::Settings("", NPM)),
    (&["npm_config_userconfig", "npm_config_globalconfig"], Loads::Settings("", NPM)),
    (&["UV_CONFIG_FILE"], Loads::Settings("", &["index", "find-links", "allow-insecure-host"])),
    (&["GOENV"], Loads::Settings("", &["toolexec", "goproxy", "cc=", "cxx=", "gonosumdb", "goflags"])),
    // Ansible, "Configuration Settings"; Terraform, "CLI Configuration"; openssl config(5); hg(1) and hgrc(5); screen(1); mailcap(4); lesskey(1).
    (
        &["ANSIBLE_CONFIG"],
        Loads::Settings("", &["_plugins", "library", "module_utils", "_command", "executable"]),
    ),
    (
        &["TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"],
        Loads::Settings("", &["dev_overrides", "provider_installation", "credentials_helper"]),
    ),
    (&["OPENSSL_CONF"], Loads::Settings("", &["dynamic_path", "engines", "module"])),
    (&["HGRCPATH"], Loads::Settings("", &["[hooks]", "[extensions]", "[alias]", "editor", "ssh"])),
    (&["SCREENRC"], Loads::Settings("", &["exec", "backtick", "shell", "screen "])),
    (&["MAILCAPS"], Loads::Settings("", &[";"])),
    (&["LESSKEY", "LESSKEYIN"], Loads::Settings("", &["lessopen", "lessclose"])),
];

/// What settings of git name that it runs, or that say where more of them stand (git-config(1)).
const GIT: &[&str] = &[
    "pager",
    "fsmonitor",
    "sshcommand",
    "hookspath",
    "editor",
    "external",
    "textconv",
    "clean =",
    "clean=",
    "smudge",
    "process",
    "helper",
    "program",
    "askpass",
    "alias",
    "cmd",
    "command",
    "path =",
    "insteadof",
    "normaltarget",
    "perftarget",
    "eventtarget",
];

/// What settings of cargo name that it runs, or that say where code comes from.
const CARGO: &[&str] = &[
    "linker",
    "runner",
    "rustc",
    "wrapper",
    "[alias",
    "rustdoc",
    "credential",
    "registry",
    "replace-with",
    "[env",
];

/// What settings of npm say that run something, or where packages come from.
const NPM: &[&str] = &["script-shell", "node-options", "registry", "git=", "git =", "shell"];

/// The greatest number of places of one variable that are looked at (ours).
const PLACES: usize = 32;

/// Settings in small letters, without the lines that are comments.
fn without_comments(text: &str) -> String {
    let is_said =
        |line: &&str| !line.trim_start().starts_with(['#', ';']) && !line.trim_start().starts_with("//");
    text.lines().filter(is_said).flat_map(|line| [line, "\n"]).collect::<String>().to_lowercase()
}

impl Machine<'_> {
    /// Adds what a program loads because of one of these variables. What the environment of the agent held before the command was there
    /// anyway.
    pub(super) fn load_what_variable_names(&mut self, name: &str, value: &Value) {
        let Some((_, loads)) = VARIABLES.iter().find(|(names, _)| names.contains(&name)) else { return };
        // Of a text that is known in part, the places before the unknown.
        let known = |start: String| start.rsplit_once([':', ';']).map(|(places, _)| places.to_owned());
        let Some(text) = value.as_exact().map(str::to_owned).or_else(|| known(value.known_start())) else {
            return;
        };
        if let (true, Loads::Code(["lua"])) = (!text.starts_with('@'), loads) {
            let words = ["lua", "-e", &text].map(Value::exact);
            self.possibly(|machine| machine.run_words(&words, Input::Inherited));
            return;
        }
        let before = self.world().variable(name).unwrap_or_default();
        let is_new = |place: &&str| !place.is_empty() && before.split([':', ';']).all(|old| old != *place);
        let places: Vec<&str> = text.split([':', ';']).filter(is_new).take(PLACES).collect();
        for place in places {
            let place = place.trim_start_matches('@');
            let Some(path) = self.one_path_through(&Value::exact(place)) else { continue };
            match *loads {
                Loads::Directories if self.anyone_writes(&path) => self.lead_astray(name),
                Loads::Store if self.anyone_writes(&path) && !self.nothing_is_at(&path) => {
                    self.lead_astray(name);
                }
                Loads::Directories | Loads::Store => {}
                Loads::Code(words) => self.run_code_of_variable(name, &path, words),
                Loads::Settings(file, marks) => self.read_settings_of_variable(name, &path, file, marks),
            }
        }
    }

    /// Adds that a Java machine loads an agent that anybody may have put where it lies (java(1): `-javaagent`, `-agentpath`).
    pub(super) fn load_agents_of_java(&mut self, call: &Call) {
        if call.program != "java" {
            return;
        }
        let words = call.words.iter().filter_map(Value::as_exact);
        let named = words.filter_map(|word| {
            let file = word.strip_prefix("-javaagent:").or_else(|| word.strip_prefix("-agentpath:"))?;
            file.split('=').next().map(str::to_owned)
        });
        for file in named.collect::<Vec<_>>() {
            let Some(path) = self.one_path_through(&Value::exact(file)) else { continue };
            if self.anyone_writes(&path) || self.is_written_here(&path) {
                self.unread("an agent is loaded from where anybody may have put it");
            }
        }
    }

    fn run_code_of_variable(&mut self, name: &str, path: &AbsolutePath, words: &[&str]) {
        if !self.may_hold_something(path) {
            return;
        }
        if words.is_empty() || self.text(path).as_exact().is_none() {
            self.lead_astray(name);
            return;
        }
        let words: Vec<Value> = words.iter().copied().chain([path.as_str()]).map(Value::exact).collect();
        self.possibly(|machine| machine.run_words(&words, Input::Inherited));
    }

    fn read_settings_of_variable(&mut self, name: &str, path: &AbsolutePath, file: &str, marks: &[&str]) {
        let file = if file.is_empty() { path.clone() } else { path.join(file) };
        if !self.may_hold_something(&file) {
            return;
        }
        if self.is_as_it_was(&file) {
            return;
        }
        match self.text(&file).as_exact().map(without_comments) {
            Some(text) => {
                if let Some(mark) = marks.iter().find(|mark| text.contains(*mark)) {
                    let mark = mark.trim_end_matches(['=', ':', ' ']);
                    self.unread(format!(
                        "the variable `{name}` makes programs read settings in which `{mark}` stands, which runs something or says from where code comes"
                    ));
                }
            }
            None if self.anyone_writes(&file) || self.is_written_here(&file) => self.lead_astray(name),
            None => {}
        }
    }

    /// Whether settings are those that were there before the session: of the system, of the user, or as they were committed.
    fn is_as_it_was(&self, path: &AbsolutePath) -> bool {
        let place = self.world().place();
        let is_of_user = path.is_within(&place.home) && !path.is_within(&place.workspace);
        !self.is_of_session(path)
            && !self.anyone_writes(path)
            && !self.came_in_session(path)
            && (is_of_user
                || places::system_place(path).is_some()
                || self.world().version(path) == VersionState::TrackedClean)
    }

    /// Whether the options of node load something that is not a package of the project, or a file that was there before the session.
    pub(super) fn loads_into_node(&self, options: &str) -> bool {
        let mut words = options.split_whitespace();
        while let Some(word) = words.next() {
            let (option, value) =
                word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
            let loads =
                matches!(option, "-r" | "--require" | "--import" | "--loader" | "--experimental-loader");
            if loads && !value.or_else(|| words.next()).is_some_and(|named| self.is_module_of_project(named))
            {
                return true;
            }
        }
        false
    }

    fn is_module_of_project(&self, named: &str) -> bool {
        let named = named.trim_matches(['"', '\'']);
        if named.starts_with(['.', '/', '~']) {
            return self.one_path_through(&Value::exact(named)).is_some_and(|path| self.is_as_it_was(&path));
        }
        if named.contains([':', '$', '`']) || named.split('/').any(|part| part == "..") {
            return false;
        }
        let parts = if named.starts_with('@') { 2 } else { 1 };
        let package = named.split('/').take(parts).collect::<Vec<_>>().join("/");
        std::iter::successors(self.cwd().cloned(), AbsolutePath::parent).any(|directory| {
            let place = directory.join("node_modules").join(&package);
            let manifest = directory.join("package.json");
            let is_named = || {
                let text = self.text(&manifest);
                let is_there = text.as_exact().is_some_and(|text| text.contains(&format!("\"{package}\"")));
                is_there && !self.is_of_session(&manifest) && !self.came_in_session(&manifest)
            };
            !self.holds_work_of_session(&place)
                && (matches!(self.entry(&place), Entry::Directory | Entry::Symlink(_))
                    && (is_named() || self.was_installed(&package) || !self.came_in_session(&place))
                    || is_named())
        })
    }

    /// Whether a program may find a file there. Where anybody may put one, it counts as there although it is not.
    fn may_hold_something(&self, path: &AbsolutePath) -> bool {
        !matches!(self.entry(path), Entry::Special)
            && path.as_str() != "/dev/null"
            && (self.anyone_writes(path) || !self.nothing_is_at(path))
    }

    fn lead_astray(&mut self, name: &str) {
        self.unread(format!(
            "the variable `{name}` makes programs load what lies where anybody may have put it"
        ));
    }

    /// Whether a place is one into which anyone may have put something: not the workspace, the home directory, or what this command makes.
    fn anyone_writes(&self, path: &AbsolutePath) -> bool {
        let place = self.world().place();
        let is_made_here = self.tree.is_known(path) && self.world().entry(path) == Entry::Missing;
        !is_made_here
            && !path.is_within(&place.workspace)
            && !path.is_within(&place.home)
            && (place.temporary.iter().any(|temporary| path.is_within(temporary))
                || ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|shared| {
                    path.as_str()
                        .strip_prefix(shared)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                }))
    }
}
