//! Commands that options, settings and inputs of a program carry.
//!
//! One table for all programs, beside what the entries of the catalogue say: which option it is, and how the command stands in it.
//! Sources: the manuals of less 668, lftp 4.9, mutt 2.2, nano 8.3, GCC 14 ("Overall Options"), rustc ("Codegen Options"), the Cargo Book
//! ("Configuration"), `go help vet`, Subversion 1.14, Mercurial 6.9 (`hg help config`), Jujutsu 0.28 ("Settings"), latexmk 4.86, pandoc 3.6, w3m
//! 0.5.3, lynx 2.9, strace 6.13, rake 13, npm 11 (`script-shell`), mpv 0.39, Bazel 8 (command-line reference), fzf 0.60, silver searcher 2.2,
//! ack 3.8, MySQL 9 (`mysql`), cmake 3.31 (`-E`), Ansible 2.18, Salt 3007, GNU dc 1.5, GNU m4 1.4, sftp(1), xterm 398, dtach 0.9, zellij 0.41,
//! i3 4.24, sway 1.10, Hyprland 0.47, awesome 4.3, scrot 1.11, feh 3.10, xautolock 2.2, rofi 1.7, Blender 4.3, PHP 8.4, R 4.4, radare2 5.9,
//! bpftrace 0.22, SystemTap 5.2, apt.conf(5), dpkg 1.22, rpm 4.20, pip 24 (`--python`), trace-cmd 3.3, Nmap 7.95, Wireshark 4.4, mitmproxy 11, OpenSSH 9.9, kitty 0.39, WezTerm, xdotool 3, ydotool 1, wtype 0.4, tox 4, Guix 1.4, screen 5.

use super::call::{Call, Input};
use super::machine::Machine;
use super::telling_variables::is_installed;
use super::value::Value;

/// How a command stands behind an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It is text for a shell.
    Command,
    /// It is a program and its words, with commas between.
    Commas,
    /// It follows one of these marks, with so many characters in between.
    Marked(&'static [(&'static str, usize)]),
    /// It is the value of a setting with one of these words in its name: `build.rustc-wrapper="x"`.
    Setting(&'static [&'static str]),
    /// It stands between the parentheses of an action: `start:execute(x)`.
    Action,
    /// It stands in quotes of code that runs commands of the system.
    Quoted,
    /// It is code in the language of this interpreter.
    Code(&'static str),
    /// It is a file of code in the language of this interpreter.
    Script(&'static str),
    /// It is a file or directory that holds code of which nothing more is known.
    Place,
}

/// Options and how a command stands in them.
const OPTIONS: &[(&[&str], &[&str], Form)] = &[
    (&["less", "more", "zless", "zmore"], &["++", "+"], Form::Marked(&[("!", 0), ("|", 1), ("#", 0)])),
    (&["mutt", "neomutt"], &["-e"], Form::Marked(&[("!", 0), ("set editor=", 0)])),
    (&["lftp"], &["-c", "-e"], Form::Marked(&[("!", 0), ("shell ", 0)])),
    (&["gnuplot"], &["-e"], Form::Marked(&[("!", 0)])),
    (&["mysql", "mariadb"], &["-e", "--execute"], Form::Marked(&[("system ", 0), ("\\! ", 0)])),
    (&["strace"], &["-o", "--output"], Form::Marked(&[("|", 0), ("!", 0)])),
    (&["gcc", "g++", "cc", "c++", "gfortran"], &["-wrapper"], Form::Commas),
    (
        &["gcc", "g++", "cc", "c++", "gfortran", "clang", "clang++"],
        &["-fplugin", "-fpass-plugin", "-specs", "--specs"],
        Form::Place,
    ),
    (&["rustc", "rustdoc"], &["-C", "--codegen"], Form::Setting(&["linker"])),
    (
        &["cargo"],
        &["--config"],
        Form::Setting(&["rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc", "linker", "runner"]),
    ),
    (&["go"], &["-vettool", "-toolexec"], Form::Command),
    (&["nano", "pico"], &["-s", "--speller"], Form::Command),
    (&["ag", "ack"], &["--pager"], Form::Command),
    (&["mysql", "mariadb"], &["--pager"], Form::Command),
    (&["svn"], &["--diff-cmd", "--diff3-cmd", "--editor-cmd"], Form::Command),
    (
        &["svn"],
        &["--config-option"],
        Form::Setting(&["editor-cmd", "diff-cmd", "diff3-cmd", "ssh", "password"]),
    ),
    (
        &["hg", "chg"],
        &["--config"],
        Form::Setting(&["alias", "hooks", "editor", "pager", "ssh", "cmd", "executable", "extensions"]),
    ),
    (
        &["jj"],
        &["--config"],
        Form::Setting(&[
            "aliases",
            "editor",
            "pager",
            "diff-editor",
            "merge-editor",
            "program",
            "command",
            "tool",
        ]),
    ),
    (
        &["latexmk"],
        &["-latex", "-pdflatex", "-xelatex", "-lualatex", "-pdfps", "-pdf-previewer", "-latexoption"],
        Form::Command,
    ),
    (&["latexmk"], &["-e"], Form::Code("perl")),
    (&["pandoc"], &["-F", "--filter", "--pdf-engine"], Form::Command),
    (&["pandoc"], &["-L", "--lua-filter"], Form::Script("lua")),
    (&["w3m"], &["-o"], Form::Setting(&["editor", "mailer", "extbrowser", "extbrowser2", "extbrowser3"])),
    (&["lynx"], &["-editor"], Form::Command),
    (&["rake"], &["-e", "--execute", "--execute-continue", "-p", "--execute-print"], Form::Code("ruby")),
    (&["rake", "asciidoctor"], &["-r", "--require"], Form::Place),
    (&["npm", "pnpm", "cnpm"], &["--script-shell"], Form::Command),
    (&["mpv"], &["--script", "--scripts"], Form::Place),
    (&["bazel", "bazelisk"], &["--run_under", "--workspace_status_command"], Form::Command),
    (&["fzf"], &["--preview"], Form::Command),
    (&["dialog"], &["--prgbox"], Form::Command),
    (&["sshuttle"], &["-e", "--ssh-cmd"], Form::Command),
    (&["wget", "wget2"], &["--use-askpass"], Form::Command),
    (&["enscript"], &["-I", "--filter"], Form::Command),
    (&["mail", "mailx", "s-nail"], &["--exec", "-X"], Form::Marked(&[("!", 0)])),
    (
        &["certbot", "letsencrypt"],
        &[
            "--pre-hook",
            "--post-hook",
            "--deploy-hook",
            "--renew-hook",
            "--manual-auth-hook",
            "--manual-cleanup-hook",
        ],
        Form::Command,
    ),
    (&["lego"], &["--run-hook", "--renew-hook", "--deploy-hook"], Form::Command),
    (&["acme.sh"], &["--pre-hook", "--post-hook", "--renew-hook", "--reloadcmd"], Form::Command),
    (&["fzf"], &["--bind"], Form::Action),
    (
        &["lldb"],
        &["-o", "-O", "-k", "--one-line", "--one-line-before-file"],
        Form::Marked(&[("platform shell ", 0), ("shell ", 0)]),
    ),
    (&["lldb"], &["-o", "-O", "-k", "--one-line"], Form::Marked(&[("script ", 0)])),
    (&["dc"], &["-e", "--expression"], Form::Marked(&[("!", 0)])),
    (&["nodemon"], &["--exec", "-x"], Form::Command),
    (&["luatex", "luajittex", "lualatex"], &["--luaonly"], Form::Script("lua")),
    (&["man", "apropos", "whatis", "mandb"], &["-C", "--config-file"], Form::Place),
    (&["dnf", "yum"], &["-c", "--config"], Form::Place),
    (&["nmap"], &["--script"], Form::Place),
    (&["tshark", "wireshark"], &["-X"], Form::Place),
    (&["mitmdump", "mitmproxy", "mitmweb"], &["-s", "--scripts"], Form::Script("python3")),
    (&["ssh-keygen"], &["-D"], Form::Place),
    (&["ssh-add"], &["-s", "-S"], Form::Place),
    (&["ssh"], &["-I"], Form::Place),
    (&["radare2", "r2", "rizin"], &["-c", "-qc", "-Qc", "-nc"], Form::Marked(&[("!", 0)])),
    (&["bpftrace", "stap", "dtrace"], &["-c"], Form::Command),
    (&["gradle", "gradlew"], &["-I", "--init-script"], Form::Script("groovy")),
    (&["bpftrace", "stap"], &["-e"], Form::Quoted),
    (&["dtrace"], &["-n"], Form::Quoted),
    (&["yt-dlp", "youtube-dl"], &["--exec", "--exec-before-download", "--netrc-cmd"], Form::Command),
    (
        &["aria2c"],
        &[
            "--on-download-start",
            "--on-download-complete",
            "--on-download-error",
            "--on-download-stop",
            "--on-bt-download-complete",
        ],
        Form::Command,
    ),
    (&["gallery-dl"], &["--exec", "--exec-after"], Form::Command),
    (&["scrot"], &["-e", "--exec"], Form::Command),
    (&["feh"], &["-A", "--action", "--info"], Form::Command),
    (&["xautolock"], &["-locker", "-nowlocker", "-killer", "-notifier"], Form::Command),
    (&["rofi"], &["-run-command", "-run-shell-command", "-window-command"], Form::Command),
    (&["blender"], &["--python-expr"], Form::Code("python3")),
    (&["blender"], &["-P", "--python"], Form::Script("python3")),
    (&["R"], &["-f", "--file"], Form::Script("Rscript")),
    (&["php"], &["-F", "--process-file"], Form::Script("php")),
    (&["php"], &["-B", "-R", "-E", "--process-begin", "--process-code", "--process-end"], Form::Code("php")),
    (
        &["php"],
        &["-d", "--define"],
        Form::Setting(&["auto_prepend_file", "auto_append_file", "extension", "zend_extension"]),
    ),
    (&["scp"], &["-S"], Form::Command),
    (
        &["apt", "apt-get", "aptitude", "apt-cache"],
        &["-o", "--option"],
        Form::Setting(&[
            "Pre-Invoke",
            "Post-Invoke",
            "Post-Invoke-Success",
            "Pre-Install-Pkgs",
            "Build-Command",
        ]),
    ),
    (&["dpkg"], &["--pre-invoke", "--post-invoke", "--status-logger"], Form::Command),
    (&["rpm"], &["--pipe"], Form::Command),
    (&["rpm", "rpmbuild", "rpmspec"], &["-E", "--eval"], Form::Marked(&[("%(", 0)])),
    (&["pip", "pip3", "pipx"], &["--python"], Form::Command),
    (&["pacman"], &["--hookdir"], Form::Place),
    (&["dnf", "yum"], &["--setopt"], Form::Setting(&["pluginpath", "pluginconfpath"])),
    (&["zenity", "yad"], &["--command", "--on-click"], Form::Command),
    (
        &["tsc-watch"],
        &[
            "--onSuccess",
            "--onFirstSuccess",
            "--onFailure",
            "--onEmit",
            "--onCompilationStarted",
            "--onCompilationComplete",
        ],
        Form::Command,
    ),
];

/// Words behind which a command stands: the program, the words, how many more come before it, and what runs it.
const BEHIND: &[(&[&str], &[&str], usize, Runner)] = &[
    (&["cmake"], &["-E", "env"], 0, Runner::Program("env")),
    (&["cmake"], &["-E", "time"], 0, Runner::Words),
    (&["cmake"], &["-E", "chdir"], 0, Runner::Program("env -C")),
    (&["cmake"], &["-E", "cat"], 0, Runner::Program("cat")),
    (&["cmake"], &["-E", "create_symlink"], 0, Runner::Program("ln -sf")),
    (&["cmake"], &["-E", "create_hardlink"], 0, Runner::Program("ln -f")),
    (&["cmake"], &["-P"], 0, Runner::File),
    (&["npm", "pnpm"], &["run", "env", "--"], 0, Runner::Words),
    (&["npm", "pnpm"], &["pkg", "set"], 0, Runner::Scripts),
    (&["npm"], &["set-script"], 1, Runner::Shell),
    (&["npm"], &["explore"], 1, Runner::Words),
    (&["pnpm"], &["-c", "exec"], 0, Runner::Shell),
    (&["yarn"], &["node"], 0, Runner::Program("node")),
    (&["heroku"], &["local:run"], 0, Runner::Words),
    (&["jj"], &["util", "exec", "--"], 0, Runner::Words),
    (&["tox"], &["exec", "--"], 0, Runner::Words),
    (&["zellij"], &["run", "--"], 0, Runner::Words),
    (&["zellij"], &["action", "write-chars"], 0, Runner::Typed),
    (&["kitty", "kitten"], &["@", "send-text"], 0, Runner::Typed),
    (&["kitty", "kitten"], &["@", "launch"], 0, Runner::Words),
    (&["wezterm"], &["cli", "send-text"], 0, Runner::Typed),
    (&["wezterm"], &["start", "--"], 0, Runner::Words),
    (&["xdotool", "ydotool"], &["type"], 0, Runner::Typed),
    (&["wtype"], &[], 0, Runner::Typed),
    (&["dtach"], &["-n"], 1, Runner::Words),
    (&["dtach"], &["-c"], 1, Runner::Words),
    (&["dtach"], &["-A"], 1, Runner::Words),
    (&["abduco"], &["-n"], 1, Runner::Words),
    (&["abduco"], &["-c"], 1, Runner::Words),
    (&["abduco"], &["-A"], 1, Runner::Words),
    (
        &[
            "xterm",
            "uxterm",
            "konsole",
            "alacritty",
            "urxvt",
            "terminator",
            "tilix",
            "ghostty",
            "st",
            "rxvt",
            "foot",
            "wezterm",
        ],
        &["-e"],
        0,
        Runner::Words,
    ),
    (&["gnome-terminal", "xfce4-terminal", "ptyxis", "kgx"], &["--"], 0, Runner::Words),
    (&["gnome-terminal", "xfce4-terminal", "terminator"], &["-x"], 0, Runner::Words),
    (&["dbus-launch"], &[], 0, Runner::Words),
    (&["screen"], &["-X", "eval"], 0, Runner::Screen),
    (&["screen"], &["-X", "stuff"], 0, Runner::Typed),
    (&["i3-msg", "swaymsg"], &[], 0, Runner::Orders(STARTING_ORDERS)),
    (&["hyprctl"], &["dispatch", "exec"], 0, Runner::Words),
    (&["hyprctl"], &["--batch"], 0, Runner::Orders(&["dispatch exec ", "keyword exec-once "])),
    (&["hyprctl"], &["keyword", "exec-once"], 0, Runner::Words),
    (&["xdotool"], &["exec"], 0, Runner::Words),
    (&["awesome-client"], &[], 0, Runner::Code("lua")),
    (&["startx", "xinit", "dtruss", "operf"], &[], 0, Runner::Words),
    (&["trace-cmd"], &["record"], 0, Runner::Words),
    (&["trace-cmd"], &["start"], 0, Runner::Words),
    (&["trace-cmd"], &["profile"], 0, Runner::Words),
    (&["trace-cmd"], &["stream"], 0, Runner::Words),
    (&["samply", "py-spy", "rbspy", "austin", "flamegraph", "cargo-flamegraph"], &["--"], 0, Runner::Words),
    (&["salt-call"], &["cmd.run"], 0, Runner::Shell),
    (&["salt-call"], &["cmd.shell"], 0, Runner::Shell),
    (&["pyinfra"], &["exec", "--"], 0, Runner::Words),
    (&["ncat"], &["--lua-exec"], 0, Runner::File),
];

/// What runs the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// They are a command; options in front of it are not.
    Words,
    /// This program with them.
    Program(&'static str),
    /// A shell reads the next word.
    Shell,
    /// What runs in a terminal reads the last word as if it was typed.
    Typed,
    /// Scripts of a project that later run: `scripts.test=x`.
    Scripts,
    /// Commands of screen, of which some run a program.
    Screen,
    /// The next word is a file that holds code.
    File,
    /// Orders with `;` and `,` between them, of which those that begin in one of these ways start a program.
    Orders(&'static [&'static str]),
    /// The next word is code in the language of this interpreter.
    Code(&'static str),
}

/// Orders of window managers that start a program (i3 and sway, "exec").
const STARTING_ORDERS: &[&str] =
    &["exec_always --no-startup-id ", "exec --no-startup-id ", "exec_always ", "exec "];

/// Programs that run lines of their input which begin with an exclamation mark.
const INPUT_LINES: &[&str] = &["dc", "sftp", "ftp", "lftp", "ncftp", "tnftp", "gnuplot"];
/// Calls of a shell in a text of `m4` (GNU m4, "Shell commands").
const M4_CALLS: &[&str] = &["esyscmd(", "syscmd("];
/// Calls in a text of `m4` that read files (GNU m4, "File inclusion", "Undiversion").
const M4_FILES: &[&str] = &["include(", "sinclude(", "undivert("];
/// The greatest number of commands that are taken out of one text (ours).
const COMMANDS: usize = 64;

impl Machine<'_> {
    /// Runs what the words and the input of a call carry as commands.
    pub(super) fn run_carried(&mut self, call: &Call) {
        let program = call.program.as_str();
        for (_, options, form) in OPTIONS.iter().filter(|(programs, ..)| programs.contains(&program)) {
            for value in values_of(&call.words, options) {
                self.run_as(*form, &value);
            }
        }
        for (_, words, skipped, runner) in BEHIND.iter().filter(|(programs, ..)| programs.contains(&program))
        {
            if let Some(rest) = behind(&call.words, words)
                && let Some(rest) = rest.get(*skipped..)
            {
                self.run_behind(*runner, rest);
            }
        }
        if matches!(program, "ansible" | "salt") {
            self.run_module(call);
        }
        if let Some(text) = call.input.as_exact().filter(|_| INPUT_LINES.contains(&program)) {
            let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix('!'));
            self.run_each(lines, "a line of the input makes it run");
        }
        self.run_orders_of(call);
        if program == "m4" {
            self.run_macros(call);
        }
    }

    fn run_as(&mut self, form: Form, value: &Value) {
        const NOTE: &str = "an option makes it run";
        match form {
            Form::Command => {
                let Some(text) = value.as_exact() else {
                    self.run_where_unseen(value, NOTE);
                    return;
                };
                let text = text.replace("%S", "").replace("%O", "");
                if is_name(&text) {
                    // The choice of a person.
                    self.possibly(|machine| machine.run_text(&Value::Exact(text), Input::Inherited));
                } else if !is_installed(&text) {
                    self.run_where_unseen(&Value::Exact(text), NOTE);
                }
            }
            Form::Commas => {
                let text =
                    value.as_exact().map_or(value.clone(), |text| Value::exact(text.replace(',', " ")));
                self.run_where_unseen(&text, NOTE);
            }
            Form::Marked(marks) => {
                let Some(text) = value.as_exact() else { return };
                let found = marks.iter().find_map(|(mark, skipped)| {
                    let rest = text.trim_start().strip_prefix(mark)?;
                    Some(rest.chars().skip(*skipped).collect::<String>())
                });
                if let Some(command) = found {
                    let command = command.trim_matches('"').to_owned();
                    if marks.iter().any(|(mark, _)| *mark == "script ") {
                        let words = [Value::exact("python3"), Value::exact("-c"), Value::Exact(command)];
                        self.possibly(|machine| machine.run_words(&words, Input::Inherited));
                    } else {
                        self.run_where_unseen(&Value::Exact(command), NOTE);
                    }
                }
            }
            Form::Quoted => {
                if let Some(text) = value.as_exact().filter(|text| text.contains("system")) {
                    self.run_what_may_be_meant(text);
                }
            }
            Form::Setting(names) => {
                let Some((name, text)) = value.as_exact().and_then(|text| text.split_once('=')) else {
                    return;
                };
                if name.split(['.', ':']).any(|part| names.contains(&part.trim())) {
                    self.run_setting(text);
                }
            }
            Form::Action => {
                let Some(text) = value.as_exact() else { return };
                let parts = text.split(['(', '[', '{']).skip(1);
                self.run_each(parts.map(|part| part.trim_end_matches([')', ']', '}'])), NOTE);
            }
            Form::Code(interpreter) => self.run_code(interpreter, value),
            Form::Script(interpreter) => {
                let words = [Value::exact(interpreter), value.clone()];
                self.possibly(|machine| machine.run_words(&words, Input::Inherited));
            }
            Form::Place => {
                let text = value.as_exact().unwrap_or_default();
                if text.contains('/') && !is_installed(text) {
                    self.unread(format!("`{}` loads code from `{text}`", self.cause()));
                }
            }
        }
    }

    /// Runs code by the option with which an interpreter is given some.
    fn run_code(&mut self, interpreter: &str, code: &Value) {
        let option = match interpreter {
            "python3" => "-c",
            "php" => "-r",
            _ => "-e",
        };
        let words = [Value::exact(interpreter), Value::exact(option), code.clone()];
        self.possibly(|machine| machine.run_words(&words, Input::Inherited));
    }

    /// Runs the value of a setting: text, a text between quotes, or a list of words.
    fn run_setting(&mut self, text: &str) {
        let text = text.trim();
        if let Some(list) = text.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
            let words: Vec<Value> = list
                .split(',')
                .map(|word| Value::exact(word.trim().trim_matches(['"', '\''])))
                .filter(|word| word.as_exact() != Some(""))
                .collect();
            // The words of an alias of `jj` are its own: `util exec -- program`.
            let start = words.iter().position(|word| word.as_exact() == Some("--")).map_or(0, |at| at + 1);
            let words = words.get(start..).unwrap_or_default().to_vec();
            if !words.is_empty() {
                self.possibly(|machine| machine.run_words(&words, Input::Inherited));
            }
            return;
        }
        let command = text.trim_matches(['"', '\'']);
        let command = command.strip_prefix('!').unwrap_or(command);
        // A name alone is another command of the program, or the choice of a person.
        if !is_installed(command) && !is_name(command) {
            self.run_where_unseen(&Value::exact(command), "a setting makes it run");
        }
    }

    fn run_behind(&mut self, runner: Runner, rest: &[Value]) {
        let is_option = |word: &&Value| word.as_exact().is_some_and(|text| text.starts_with('-'));
        match runner {
            Runner::Words => {
                let options = rest.iter().take_while(is_option).count();
                let words = rest.get(options..).unwrap_or_default().to_vec();
                match words.as_slice() {
                    [] => {}
                    [only] => {
                        self.possibly(|machine| machine.run_text(only, Input::Inherited));
                    }
                    words => {
                        self.possibly(|machine| machine.run_words(words, Input::Inherited));
                    }
                }
            }
            Runner::Program(program) => {
                let mut words: Vec<Value> = program.split(' ').map(Value::exact).collect();
                words.extend(rest.iter().cloned());
                self.run_words(&words, Input::Inherited);
            }
            Runner::Shell => {
                if let Some(text) = rest.iter().find(|word| !is_option(word)).cloned() {
                    self.possibly(|machine| machine.run_text(&text, Input::Inherited));
                }
            }
            Runner::Typed => {
                if let Some(text) = rest.last().filter(|word| !is_option(word)).cloned() {
                    self.run_typed(&text);
                }
            }
            Runner::Scripts => {
                let scripts = rest.iter().filter_map(Value::as_exact).filter_map(|text| text.split_once('='));
                let scripts: Vec<Value> = scripts
                    .filter(|(name, _)| name.starts_with("scripts.") || name.starts_with("scripts["))
                    .map(|(_, command)| Value::exact(command))
                    .collect();
                for command in scripts {
                    self.possibly(|machine| machine.run_text(&command, Input::Inherited));
                }
            }
            Runner::Screen => {
                for text in rest.iter().filter_map(Value::as_exact) {
                    if let Some(typed) = text.strip_prefix("stuff ") {
                        self.run_typed(&Value::exact(typed.trim_matches(['"', '\''])));
                    }
                    let command = ["exec ", "screen "].iter().find_map(|start| text.strip_prefix(start));
                    if let Some(command) = command {
                        let command = Value::exact(command);
                        self.possibly(|machine| machine.run_text(&command, Input::Inherited));
                    }
                }
            }
            Runner::Orders(starting) => {
                let words: Vec<&str> = rest.iter().filter_map(Value::as_exact).collect();
                let text = words.join(" ");
                let orders: Vec<&str> = outside_quotes(&text, &[';', ',']);
                let commands = orders.into_iter().filter_map(|order| {
                    // Criteria, options of the program and other words may stand in front: `[class="x"] exec a`, `-t command exec a`.
                    let (start, mark) = starting
                        .iter()
                        .filter_map(|start| Some((order.find(start)?, start)))
                        .min_by_key(|(at, start)| (*at, usize::MAX - start.len()))?;
                    let begins =
                        order.get(..start).is_some_and(|before| before.is_empty() || before.ends_with(' '));
                    let command = order.get(start + mark.len()..).filter(|_| begins)?;
                    Some(command.trim_matches(['"', '\'']))
                });
                self.run_each(commands, "an order makes it run");
            }
            Runner::Code(interpreter) => {
                if let Some(code) = rest.iter().find(|word| !is_option(word)).cloned() {
                    self.run_code(interpreter, &code);
                }
            }
            Runner::File => {
                if let Some(text) = rest.first().and_then(Value::as_exact) {
                    self.opaque(format!("what the code in `{text}` does is not followed"));
                }
            }
        }
    }

    /// Runs what is typed into a terminal, where a shell may read it. Keys are written as screen and its kin read them.
    fn run_typed(&mut self, text: &Value) {
        let text = match text {
            Value::Exact(text) => Value::Exact(typed(text)),
            Value::AnyOf(texts) => Value::one_of(texts.iter().map(|text| typed(text)).collect()),
            Value::Between { prefix, suffix } => {
                Value::Between { prefix: typed(prefix), suffix: typed(suffix) }
            }
            Value::Glob(_) | Value::Unknown => text.clone(),
        };
        self.possibly(|machine| machine.run_text(&text, Input::Inherited));
    }

    /// What a module of Ansible does on this machine.
    fn run_module(&mut self, call: &Call) {
        let is = |texts: &[&str]| {
            call.words
                .iter()
                .filter_map(Value::as_exact)
                .any(|word| texts.contains(&word.trim_end_matches(',')))
        };
        if !is(&["localhost", "127.0.0.1"]) && !is(&["local", "--connection=local"]) {
            return;
        }
        let module = values_of(&call.words, &["-m", "--module-name"]).pop();
        let module = module.as_ref().and_then(Value::as_exact).unwrap_or("command").to_owned();
        let Some(given) = values_of(&call.words, &["-a", "--args"]).pop() else { return };
        match module.rsplit('.').next().unwrap_or_default() {
            "command" | "shell" | "raw" | "script" => {
                self.possibly(|machine| machine.run_text(&given, Input::Inherited));
            }
            "file" => {
                let text = given.as_exact().unwrap_or_default();
                let named = |names: &[&str]| {
                    text.split_whitespace().find_map(|word| {
                        let (name, value) = word.split_once('=')?;
                        names.contains(&name).then(|| value.to_owned())
                    })
                };
                if let (Some(path), Some("absent")) =
                    (named(&["path", "dest", "name"]), named(&["state"]).as_deref())
                {
                    let words = [Value::exact("rm"), Value::exact("-rf"), Value::Exact(path)];
                    self.run_words(&words, Input::Inherited);
                }
            }
            _ => {}
        }
    }

    /// Runs the commands in a text of `m4`, and reads what it includes.
    fn run_macros(&mut self, call: &Call) {
        let mut texts: Vec<String> =
            call.words.iter().filter_map(Value::as_exact).map(str::to_owned).collect();
        for operand in call.words.iter().filter(|word| !word.known_start().starts_with('-')) {
            texts.extend(self.paths_through(operand).iter().find_map(|aim| {
                let text = self.text(aim.target.path()?);
                text.as_exact().map(str::to_owned)
            }));
        }
        texts.extend(call.input.as_exact().map(str::to_owned));
        for text in texts {
            for call in M4_CALLS {
                self.run_each(arguments_of(&text, call), "the text makes it run");
            }
            for call in M4_FILES {
                for inside in arguments_of(&text, call).take(COMMANDS) {
                    let name = inside.split([')', '\'', ',']).next().unwrap_or_default();
                    self.read(&Value::exact(name));
                }
            }
        }
    }

    /// Runs commands that one text holds. Where there are more than are looked at, nobody has read the others.
    fn run_each<'t>(&mut self, commands: impl Iterator<Item = &'t str>, note: &str) {
        for (place, command) in commands.enumerate() {
            if place == COMMANDS {
                self.unread(format!("{note}, and there is more than is looked at"));
                return;
            }
            self.run_where_unseen(&Value::exact(command), note);
        }
    }
}

/// What stands behind each call of a macro, to its last parenthesis.
fn arguments_of<'t>(text: &'t str, call: &str) -> impl Iterator<Item = &'t str> {
    text.split(call).skip(1).map(|part| {
        let inside = part.rfind(')').and_then(|end| part.get(..end)).unwrap_or(part);
        inside.trim_start_matches('`').trim_end_matches('\'')
    })
}

/// The values of options, attached or in the next word.
fn values_of(words: &[Value], options: &[&str]) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.as_exact() else { continue };
        if text == "--" {
            break;
        }
        if options.contains(&text) {
            values.extend(rest.next().cloned());
            continue;
        }
        let attached = options.iter().find_map(|option| {
            let value = text.strip_prefix(option)?;
            let is_short = option.len() <= 2 && !option.ends_with('-');
            value.strip_prefix('=').or_else(|| is_short.then_some(value))
        });
        values.extend(attached.map(Value::exact));
    }
    values
}

/// The words behind the last of these, which stand one after the other, with options of the program in between.
fn behind<'w>(words: &'w [Value], marks: &[&str]) -> Option<&'w [Value]> {
    let mut rest = words;
    for mark in marks {
        let at = rest.iter().position(|word| word.as_exact() == Some(*mark))?;
        rest = rest.get(at + 1..)?;
    }
    Some(rest)
}

/// The lines that a text of keys makes in a terminal: `^M`, `\\n`, `\\015` and their kin end one, and what ends or takes back a line by another
/// key is taken to end it too (screen 4.9 and 5, "stuff"; kitty, "send-text").
fn typed(text: &str) -> String {
    let mut lines = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek().copied()) {
            ('^', Some('A'..='Z' | '[' | '_' | 'c' | 'j' | 'm' | 'u')) | ('\\', Some('n' | 'r')) => {
                letters.next();
                lines.push('\n');
            }
            ('\\', Some('0'..='7')) => {
                let mut code = 0_u32;
                for _ in 0..3 {
                    let Some(digit) = letters.peek().and_then(|digit| digit.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    letters.next();
                }
                lines.push(char::from_u32(code).filter(|letter| !letter.is_control()).unwrap_or('\n'));
            }
            (letter, _) if letter.is_control() && letter != '\t' => lines.push('\n'),
            (letter, _) => lines.push(letter),
        }
    }
    lines
}

/// Whether a text is nothing but a name.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// The pieces of a text between these letters, where they do not stand in quotes.
fn outside_quotes<'t>(text: &'t str, between: &[char]) -> Vec<&'t str> {
    let (mut pieces, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, letter) in text.char_indices() {
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            None if between.contains(&letter) => {
                pieces.push(text.get(from..at).unwrap_or_default());
                from = at + letter.len_utf8();
            }
            Some(_) | None => {}
        }
    }
    pieces.push(text.get(from..).unwrap_or_default());
    pieces
}
