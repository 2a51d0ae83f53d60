//! Programs that run another one in a cage of their own making: with other rights, another view of the files, another environment.

use super::environment::kept;
use crate::interpreter::remote::{Access, Lifetime, Mount, PlaceSort, RemoteContext};
use crate::interpreter::{Call, Exit, Inheritance, Machine, Value};
use crate::path::AbsolutePath;

/// The options of a program that take words of their own, and how many.
struct Cage {
    names: &'static [&'static str],
    one: &'static [&'static str],
    two: &'static [&'static str],
    three: &'static [&'static str],
}

/// Sources: bwrap(1) of bubblewrap 0.11, setpriv(1) and its help of util-linux 2.39, chpst(8) of runit 2.2, fakeroot(1) 1.31, fakechroot(1)
/// 2.20, proot(1) 5.4, cgexec(1) of libcgroup 3.1, aa-exec(8) of AppArmor 3.1. firejail attaches all values.
const CAGES: &[Cage] = &[
    Cage {
        names: &["bwrap"],
        one: &[
            "--add-seccomp-fd",
            "--args",
            "--argv0",
            "--block-fd",
            "--cap-add",
            "--cap-drop",
            "--chdir",
            "--dev",
            "--dir",
            "--exec-label",
            "--file-label",
            "--gid",
            "--hostname",
            "--info-fd",
            "--json-status-fd",
            "--lock-file",
            "--mqueue",
            "--overlay-src",
            "--perms",
            "--pidns",
            "--proc",
            "--remount-ro",
            "--ro-overlay",
            "--seccomp",
            "--size",
            "--sync-fd",
            "--tmp-overlay",
            "--tmpfs",
            "--uid",
            "--unsetenv",
            "--userns",
            "--userns2",
            "--userns-block-fd",
        ],
        two: &[
            "--bind",
            "--bind-data",
            "--bind-fd",
            "--bind-try",
            "--chmod",
            "--dev-bind",
            "--dev-bind-try",
            "--file",
            "--ro-bind",
            "--ro-bind-data",
            "--ro-bind-fd",
            "--ro-bind-try",
            "--setenv",
            "--symlink",
        ],
        three: &["--overlay"],
    },
    Cage {
        names: &["setpriv"],
        one: &[
            "--ambient-caps",
            "--apparmor-profile",
            "--bounding-set",
            "--egid",
            "--euid",
            "--groups",
            "--inh-caps",
            "--landlock-access",
            "--landlock-rule",
            "--pdeathsig",
            "--ptracer",
            "--regid",
            "--reuid",
            "--rgid",
            "--ruid",
            "--seccomp-filter",
            "--securebits",
            "--selinux-label",
        ],
        two: &[],
        three: &[],
    },
    Cage {
        names: &["chpst"],
        one: &[
            "-u", "-U", "-b", "-e", "-/", "-C", "-n", "-l", "-L", "-m", "-d", "-o", "-p", "-f", "-c", "-r",
            "-t", "-s", "-a",
        ],
        two: &[],
        three: &[],
    },
    Cage { names: &["cgexec"], one: &["-g"], two: &[], three: &[] },
    Cage { names: &["fakeroot"], one: &["-l", "--lib", "--faked", "-s", "-i", "-b"], two: &[], three: &[] },
    Cage {
        names: &["fakechroot"],
        one: &[
            "-l",
            "--lib",
            "-d",
            "--elfloader",
            "-e",
            "--environment",
            "-c",
            "--config-dir",
            "-b",
            "--bindir",
        ],
        two: &[],
        three: &[],
    },
    Cage {
        names: &["proot"],
        one: &[
            "-r",
            "--rootfs",
            "-b",
            "--bind",
            "-m",
            "--mount",
            "-q",
            "--qemu",
            "-w",
            "--pwd",
            "--cwd",
            "-k",
            "--kernel-release",
            "-i",
            "--change-id",
            "-v",
            "--verbose",
            "-p",
            "--port",
            "-R",
            "-S",
        ],
        two: &[],
        three: &[],
    },
    Cage { names: &["aa-exec"], one: &["-p", "--profile", "-n", "--namespace"], two: &[], three: &[] },
    Cage { names: &["firejail"], one: &[], two: &[], three: &[] },
];

/// `bwrap`, `setpriv`, `firejail`, `proot`, ...
pub(crate) fn caged(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let name = call.program.split(' ').next().unwrap_or_default();
    let Some(cage) = CAGES.iter().find(|cage| cage.names.contains(&name)) else {
        return machine.run_words(&call.words, call.input.clone());
    };
    let (options, command) = cage.split(&call.words);
    if command.is_empty() {
        return Exit::unknown();
    }
    let has = |wanted: &str| options.iter().any(|(option, _)| option == wanted);
    let values = |wanted: &'static str| {
        options.iter().filter(move |(option, _)| option == wanted).map(|(_, values)| values.as_slice())
    };
    let texts = |wanted: &'static str| values(wanted).filter_map(|values| values.first()?.as_exact());
    let inheritance = if has("--clearenv") {
        Inheritance::Nothing
    } else if has("--reset-env") {
        Inheritance::OfTheUser
    } else {
        Inheritance::Everything
    };
    let gone: Vec<String> = texts("--unsetenv").chain(texts("--rmenv")).map(str::to_owned).collect();
    let mut set = kept(machine, texts("--env").filter(|text| text.contains('=')));
    set.extend(values("--setenv").filter_map(|values| match values {
        [name, value] => Some((name.as_exact()?.to_owned(), value.clone())),
        _ => None,
    }));
    let directory = ["--chdir", "-w", "--pwd", "--cwd", "-C"]
        .into_iter()
        .filter(|_| matches!(name, "bwrap" | "proot" | "chpst"))
        .find_map(|option| values(option).next_back()?.first().cloned());
    let mounts = mounts(machine, &options);
    let input = call.input.clone();
    let run = |machine: &mut Machine<'_>| {
        machine.with_inheritance(inheritance, |machine| {
            machine.without_variables(&gone, |machine| {
                machine.with_variables(set, |machine| {
                    if !mounts.is_empty() {
                        // What stands elsewhere in the cage is reached by another name there.
                        let inside = RemoteContext {
                            place: name.to_owned(),
                            mounts,
                            stay: Lifetime::Passing,
                            sort: PlaceSort::Container,
                        };
                        let directory = machine.cwd().cloned();
                        machine.possibly(|machine| {
                            machine.contained(inside, directory, |machine| {
                                machine.run_words(&command, input.clone())
                            });
                        });
                    }
                    machine.run_words(&command, input)
                })
            })
        })
    };
    match directory {
        Some(directory) => machine.inside(&directory, run),
        None => run(machine),
    }
}

/// The places of this machine that have another name in the cage, with what may be done to them.
fn mounts(machine: &mut Machine<'_>, options: &[(String, Vec<Value>)]) -> Vec<Mount> {
    let mut mounts = Vec::new();
    for (option, values) in options {
        let access = if option.contains("ro-") { Access::Read } else { Access::Write };
        let pair = match (option.as_str(), values.as_slice()) {
            (
                "--bind" | "--bind-try" | "--dev-bind" | "--dev-bind-try" | "--ro-bind" | "--ro-bind-try",
                [from, to],
            ) => Some((from.clone(), to.as_exact().map(str::to_owned))),
            // `proot -b HERE:THERE`
            ("-b" | "--bind" | "-m" | "--mount", [both]) => {
                let both = both.as_exact().and_then(|both| both.split_once(':'));
                both.map(|(from, to)| (Value::exact(from), Some(to.trim_end_matches('!').to_owned())))
            }
            _ => None,
        };
        let Some((from, Some(to))) = pair else { continue };
        let Some(inside) = AbsolutePath::new(&to) else { continue };
        for aim in machine.paths_through(&from) {
            match aim.target.path() {
                Some(here) if *here != inside => {
                    mounts.push(Mount { inside: inside.clone(), here: here.clone(), access });
                }
                Some(_) | None => {}
            }
        }
    }
    mounts
}

impl Cage {
    /// The options in front, each with its values, and the command behind them.
    fn split(&self, words: &[Value]) -> (Vec<(String, Vec<Value>)>, Vec<Value>) {
        let mut options = Vec::new();
        let mut rest = words;
        while let Some((first, more)) = rest.split_first() {
            let Some(text) = first.as_exact().filter(|text| text.starts_with('-') && text.len() > 1) else {
                break;
            };
            rest = more;
            if text == "--" {
                break;
            }
            let count = [(self.one, 1), (self.two, 2), (self.three, 3)]
                .iter()
                .find_map(|(names, count)| names.contains(&text).then_some(*count))
                .unwrap_or(0);
            if let (0, Some((name, value))) = (count, text.split_once('=')) {
                options.push((name.to_owned(), vec![Value::exact(value)]));
                continue;
            }
            // `-uNAME`
            let short = text.get(..2).filter(|short| !text.starts_with("--") && self.one.contains(short));
            if let (0, Some(short), Some(value)) = (count, short, text.get(2..)) {
                options.push((short.to_owned(), vec![Value::exact(value)]));
                continue;
            }
            let values = rest.get(..count).unwrap_or(rest).to_vec();
            rest = rest.get(count..).unwrap_or_default();
            options.push((text.to_owned(), values));
        }
        (options, rest.to_vec())
    }
}
