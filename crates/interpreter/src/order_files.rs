//! Files and inputs of orders, of which some run a command in a shell.
//!
//! Sources: the manuals of lftp 4.9, sftp(1), GNU dc 1.5,
//! gnuplot 6 ("Shell commands"), Vim 9.1 (`:help :!`, `-S`), MySQL 9 (`mysql`: "system"), telnet(1) and mailx(1) ("TILDE ESCAPES").

use super::call::{Call, Input};
use super::exit::Output;
use super::machine::Machine;
use super::value::Value;
use crate::effect::NetworkReach;
use crate::known_hosts;

/// A program that reads orders: its names, the options behind which their file stands, whether its operands are such files, whether it
/// reads them from its input, and the words with which those begin that run a command.
struct Reader {
    programs: &'static [&'static str],
    options: &'static [&'static str],
    operands: bool,
    input: bool,
    marks: &'static [&'static str],
}

const READERS: &[Reader] = &[
    Reader {
        programs: &["radare2", "r2", "rizin"],
        options: &["-i", "-I"],
        operands: false,
        input: true,
        marks: &["!", "#!pipe "],
    },
    Reader { programs: &["lftp"], options: &["-f"], operands: false, input: false, marks: &["!", "shell "] },
    Reader {
        programs: &["sftp", "psftp"],
        options: &["-b"],
        operands: false,
        input: false,
        marks: &["!", "-!", "@!"],
    },
    Reader { programs: &["dc"], options: &["-f", "--file"], operands: true, input: false, marks: &["!"] },
    Reader { programs: &["gnuplot"], options: &[], operands: true, input: false, marks: &["!", "system "] },
    Reader {
        programs: &["vim", "vi", "nvim", "view", "vimdiff", "ex"],
        options: &["-S", "-u", "-s", "-U"],
        operands: false,
        input: false,
        marks: &[
            "!",
            ":!",
            "silent !",
            ":silent !",
            "sil !",
            "r !",
            ":r !",
            "w !",
            ":w !",
            "terminal ",
            "call system(",
        ],
    },
    Reader {
        programs: &["mysql", "mariadb"],
        options: &[],
        operands: false,
        input: true,
        marks: &["system ", "\\! "],
    },
    Reader { programs: &["telnet"], options: &[], operands: false, input: true, marks: &["!", "! "] },
    Reader {
        programs: &["mail", "mailx", "s-nail"],
        options: &[],
        operands: false,
        input: true,
        marks: &["~!", "~| "],
    },
];

/// Programs that compile, or carry out, what comes in on their input, and the words of which one asks for that; without words they always do.
/// Sources: the manuals of GCC 14 ("Overall Options": `-` is the standard input), TinyCC 0.9 (`-run`), GNU m4 1.4 (`syscmd`, `esyscmd`), GDB
/// 15, uv ("Running scripts": `uv run -`).
const CODE_FROM_INPUT: &[(&[&str], &[&str])] = &[
    (&["gcc", "g++", "cc", "c++", "clang", "clang++", "tcc", "gfortran", "rustc", "as"], FROM_INPUT),
    (&["uv", "uv run"], FROM_INPUT),
    (&["m4", "gm4", "gdb", "rust-gdb", "cgdb", "lldb", "rust-lldb"], &[]),
];
/// A program that runs the code in a file: its names, the options behind which the file stands, and whether without one its first operand is it.
type CodeFile = (&'static [&'static str], &'static [&'static str], FirstOperand);

/// Whether the first operand of a program is code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstOperand {
    Code,
    Other,
}

/// Programs that run compiled code, or a language that is not followed, out of a file. Nobody has read what is in it when this command
/// fetched it.
///
/// Sources: java(1) of JDK 21, `pwsh -Help` of PowerShell 7, the manuals of Mono 6 and Wine 9, `dotnet --help` 8, wasmtime 25 and wasmer 4
/// (`run FILE`), ld.so(8), insmod(8), kldload(8), installer(8) of macOS 14, `msiexec /?`, Electron 32 ("Command line").
const CODE_FILES: &[CodeFile] = &[
    (&["java", "javaw"], &["-jar", "-cp", "-classpath", "--class-path"], FirstOperand::Code),
    (&["pwsh", "powershell", "powershell.exe", "pwsh.exe"], &["-File", "-file", "-f"], FirstOperand::Code),
    (&["mono", "wine", "wine64", "dotnet", "electron", "appimage-run"], &[], FirstOperand::Code),
    (&["wasmtime", "wasmer", "wasmedge", "iwasm"], &[], FirstOperand::Code),
    (&["ld.so", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"], &[], FirstOperand::Code),
    (&["insmod", "kldload"], &[], FirstOperand::Code),
    (&["installer"], &["-pkg", "-package"], FirstOperand::Other),
    (&["msiexec", "msiexec.exe"], &["/i", "/I", "/package"], FirstOperand::Other),
];

const FROM_INPUT: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// The greatest number of orders that are looked at (ours).
const ORDERS: usize = 64;

impl Machine<'_> {
    /// Runs what the files and the input of orders of a call hold as commands.
    pub(super) fn run_orders_of(&mut self, call: &Call) {
        let program = call.program.as_str();
        if let Input::Network(url) = &call.input
            && CODE_FROM_INPUT.iter().any(|(programs, wanted)| {
                programs.contains(&program)
                    && (wanted.is_empty()
                        || call.words.iter().filter_map(Value::as_exact).any(|word| wanted.contains(&word)))
            })
        {
            self.runs_from_network(&url.clone());
        }
        self.run_fetched_code(call);
        self.run_fetched_directory(call);
        self.load_agents_of_java(call);
        self.read_default_settings(call);
        for reader in READERS.iter().filter(|reader| reader.programs.contains(&program)) {
            for file in files_of(reader, &call.words) {
                let Some(path) = self.one_path_through(&file) else { continue };
                if let Some(Output::Network(url)) = self.source(&path) {
                    self.runs_from_network(&url);
                    continue;
                }
                let text = self.text(&path);
                match text.as_exact() {
                    Some(text) => {
                        let text = text.to_owned();
                        self.run_orders(&text, reader.marks);
                    }
                    None if self.is_written_here(&path) => {
                        self.unread(format!("`{program}` carries out what this command has written"));
                    }
                    None => {}
                }
            }
            if let (true, Some(text)) = (reader.input, call.input.as_exact()) {
                let text = text.to_owned();
                self.run_orders(&text, reader.marks);
            }
        }
    }

    /// Adds that code from elsewhere runs, for programs that are given a file which this command fetched.
    fn run_fetched_code(&mut self, call: &Call) {
        let program = call.program.as_str();
        for (_, options, first) in CODE_FILES.iter().filter(|(programs, ..)| programs.contains(&program)) {
            let mut files = Vec::new();
            let mut words = call.words.iter();
            while let Some(word) = words.next() {
                let text = word.known_start();
                if options.contains(&text.as_str()) {
                    files.extend(words.next().cloned());
                    // Behind a path of classes stands the name of one, else what the code is given.
                    if !text.contains("cp") && !text.contains("class") {
                        break;
                    }
                } else if !text.starts_with('-') && text != "run" && text != "exec" {
                    files.extend((*first == FirstOperand::Code).then(|| word.clone()));
                    break;
                }
            }
            let addresses: Vec<String> = files.iter().filter_map(|file| self.address_of(file)).collect();
            // Whole programs are published by hosts that are known for their own.
            let is_strange = |address: &&String| {
                !known_hosts::publishes_its_own(address) && known_hosts::reach(address) != NetworkReach::Local
            };
            for address in addresses.iter().filter(is_strange) {
                self.runs_from_network(address);
            }
        }
    }

    fn run_orders(&mut self, text: &str, marks: &[&str]) {
        let orders = text.lines().filter_map(|line| {
            let line = line.trim_start();
            marks.iter().find_map(|mark| line.strip_prefix(mark))
        });
        for (place, order) in orders.enumerate() {
            if place >= ORDERS {
                self.unread("more orders than are looked at");
                return;
            }
            let command = Value::exact(order.trim_end_matches(';'));
            self.possibly(|machine| machine.run_text(&command, Input::Inherited));
        }
    }
}

/// The files of orders among the words.
fn files_of(reader: &Reader, words: &[Value]) -> Vec<Value> {
    let mut files = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.as_exact() else { continue };
        if reader.options.contains(&text) {
            files.extend(rest.next().cloned());
            continue;
        }
        let attached = reader.options.iter().find_map(|option| {
            let value = text.strip_prefix(option)?;
            value.strip_prefix('=').or_else(|| (option.len() == 2 && !value.is_empty()).then_some(value))
        });
        match attached {
            Some(value) => files.push(Value::exact(value)),
            None if reader.operands && !text.starts_with('-') => files.push(word.clone()),
            None => {}
        }
    }
    files
}
