//! Pipes and terminals between code and what it starts, and functions that start something in a way of their own.
//!
//! The functions are those of "The Python Standard Library" 3.13 (os, pty, runpy, importlib, pydoc), of node 22 (child_process, cluster,
//! stream, worker_threads), of perlfunc and perlipc, of IO, Kernel and Open3 of Ruby 3.3, and of the manual of PHP 8 ("Program execution
//! Functions", "FFI").

use crate::interpreter::{Value, filters};

use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::started::Started;
use super::value::ScriptValue;
use checkrein_scripts::Language;

/// Parts of node that start programs, below its modules.
const STARTING: &[&str] = &["spawn_sync", "process_wrap"];

impl Evaluator<'_, '_, '_> {
    /// What a function does that starts, connects or feeds programs in a way of its own; `None` for others.
    pub(super) fn through_channels(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        match self.language {
            Language::Python => self.channels_of_python(name, given),
            Language::JavaScript => self.channels_of_javascript(name, given),
            Language::Perl => self.channels_of_perl(name, given),
            Language::Ruby => self.channels_of_ruby(name, given),
            Language::Php => self.channels_of_php(name, given),
            Language::Lua | Language::R => None,
        }
    }

    fn channels_of_python(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let unknown = ScriptValue::Text(Value::Unknown);
        Some(match name {
            "os.pipe" | "os.pipe2" | "os.openpty" | "pty.openpty" | "socket.socketpair" => self.ends(),
            "os.memfd_create" => self.channel(),
            // The child reads what is written to the terminal.
            "pty.fork" | "os.forkpty" => {
                let channel = self.channel();
                self.read_from(&channel);
                ScriptValue::List(vec![ScriptValue::Local, channel])
            }
            "os.write" | "os.writev" | "os.pwrite" => match given.at(0) {
                ScriptValue::Process(process) => {
                    self.feed(process, &given.at(1));
                    unknown
                }
                _ => return None,
            },
            "os.fdopen" | "open" | "io.open" | "io.FileIO" => match given.at(0) {
                process @ ScriptValue::Process(_) => process,
                _ => return None,
            },
            "os.dup2" | "os.dup" if matches!(given.at(0), ScriptValue::Process(_)) => {
                if given.at(1).exact().is_none_or(|number| number == "0") && name == "os.dup2" {
                    self.read_from(&given.at(0));
                }
                given.at(0)
            }
            "print" => match given.named("file").cloned() {
                Some(ScriptValue::File(path)) => {
                    self.put_in(&path, "puts", &Given { named: Vec::new(), ..given.clone() });
                    unknown
                }
                _ => return None,
            },
            "pydoc.pipepager" | "pydoc.tempfilepager" => self.run_shell(&given.at(1)),
            "platform.popen" => self.run_shell(&given.at(0)),
            "runpy.run_module" => {
                let module = given.at(0);
                self.import(&module)
            }
            "importlib.util.spec_from_file_location"
            | "importlib.machinery.SourceFileLoader"
            | "imp.load_source" => {
                let file = given.named("path").or_else(|| given.named("location")).cloned();
                let file = file.unwrap_or_else(|| given.at(1));
                let given = Given { positional: vec![file], named: Vec::new() };
                self.perform_plain(LibraryCall::RunFile, name, &given)
            }
            // Who writes a pickle out means what it runs.
            "pickle.loads" | "cPickle.loads" | "dill.loads" | "marshal.loads" => {
                given.at(0).exact()?;
                self.runs_unknown_code("loads a pickle that is written out, which runs what it names");
                unknown
            }
            _ => return None,
        })
    }

    fn channels_of_javascript(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let unknown = ScriptValue::Text(Value::Unknown);
        let plain = name.trim_end_matches("Sync");
        Some(match plain {
            "fs.write" | "fs.writev" => match given.at(0) {
                ScriptValue::Process(process) => {
                    self.feed(process, &given.at(1));
                    unknown
                }
                _ => return None,
            },
            "child_process.fork" => {
                self.note_copies();
                let rest = match given.positional.get(1) {
                    Some(ScriptValue::List(words)) => words.clone(),
                    _ => Vec::new(),
                };
                let words: Vec<ScriptValue> =
                    [ScriptValue::text("node"), given.at(0)].into_iter().chain(rest).collect();
                self.run_list(&words)
            }
            "Worker" | "worker_threads.Worker" if !given.is_on("eval") => {
                let file = given.at(0);
                self.load_beside(&file)?
            }
            "cluster.setupPrimary" | "cluster.setupMaster" => {
                let file = given.named("exec")?.clone();
                self.load_beside(&file)?
            }
            // The protocol of the inspector of node.
            "inspector.session.post" if given.at(0).exact().as_deref() == Some("Runtime.evaluate") => {
                let code = given.named("expression").cloned().unwrap_or(ScriptValue::Local);
                self.evaluate(&code);
                unknown
            }
            "process.binding"
                if given.at(0).exact().is_some_and(|name| STARTING.contains(&name.as_str())) =>
            {
                self.runs_unknown_code("starts programs by what node is made of");
                ScriptValue::Foreign
            }
            "stream.pipeline" | "stream.promises.pipeline" | "pipeline" => {
                for pair in given.positional.windows(2) {
                    if let [from, ScriptValue::Process(process)] = pair {
                        let text = match from {
                            ScriptValue::Process(_) => continue,
                            other => other.clone(),
                        };
                        self.feed(*process, &text);
                    }
                }
                unknown
            }
            _ => return None,
        })
    }

    /// Loads a file of code that is named as a path, from where the code runs.
    fn load_beside(&mut self, file: &ScriptValue) -> Option<ScriptValue> {
        let text = file.exact()?;
        let is_path = text.starts_with(['/', '.']) || text.contains(':');
        let text = if is_path { text } else { format!("./{text}") };
        Some(self.import(&ScriptValue::text(text)))
    }

    fn channels_of_perl(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let unknown = ScriptValue::Text(Value::Unknown);
        Some(match name {
            "pipe" => {
                let channel = self.channel();
                for thing in &given.positional {
                    if let ScriptValue::Name(name) = thing {
                        self.put(name, channel.clone());
                    }
                }
                unknown
            }
            "<$>" => {
                let line = given.at(0);
                let is_known = matches!(line, ScriptValue::Text(Value::Exact(_)));
                self.reads_names |= !is_known;
                if is_known { line } else { unknown }
            }
            "select" if given.positional.len() == 1 => {
                self.selected = match given.at(0) {
                    ScriptValue::Process(process) => Some(process),
                    _ => None,
                };
                unknown
            }
            "print" | "printf" | "say" => {
                if let Some(ScriptValue::File(path)) = given.positional.first() {
                    let rest = given.positional.get(1..).unwrap_or_default().to_vec();
                    self.put_in(&path.clone(), name, &Given { positional: rest, named: Vec::new() });
                    return Some(unknown);
                }
                let is_to_other = matches!(
                    given.positional.first(),
                    Some(ScriptValue::Process(_) | ScriptValue::Socket(_) | ScriptValue::Name(_))
                );
                let selected = self.selected.filter(|_| !is_to_other)?;
                for text in &given.positional {
                    self.feed(selected, text);
                }
                unknown
            }
            "IO::File.new" => {
                let positional = std::iter::once(ScriptValue::Local).chain(given.positional.iter().cloned());
                let positional: Vec<ScriptValue> = match positional.collect::<Vec<_>>().as_slice() {
                    [handle, file, mode] => vec![handle.clone(), mode.clone(), file.clone()],
                    other => other.to_vec(),
                };
                self.open(&Given { positional, named: Vec::new() })
            }
            // `run ["sh"], \$input` of IPC::Run
            "run" | "IPC::Run::run" | "IPC::Run.run" => match (given.at(0), given.positional.get(1)) {
                (ScriptValue::List(words), Some(text)) => {
                    let text = text.clone();
                    let output = self.run_list(&words);
                    if let (ScriptValue::Process(process), ScriptValue::Text(_)) =
                        (self.running_last(output), &text)
                    {
                        self.feed(process, &text);
                    }
                    unknown
                }
                _ => return None,
            },
            // An array or a hash that is a file (perldoc Tie::File, DB_File, SDBM_File).
            "tie" => {
                let class = given.at(1).exact().unwrap_or_default();
                if ["Tie::File", "DB_File", "SDBM_File", "GDBM_File", "NDBM_File"].contains(&class.as_str()) {
                    self.write(&given.at(2).value(), &unknown);
                }
                unknown
            }
            // That of IPC::System::Simple runs a command, that of Capture::Tiny a block.
            "capture" => match given.at(0) {
                ScriptValue::Function(_) => unknown,
                _ => return Some(self.perform_plain(LibraryCall::Shell, name, given)),
            },
            "syscall" => {
                self.runs_unknown_code("asks the kernel itself, which may start a program");
                unknown
            }
            _ => return None,
        })
    }

    fn channels_of_ruby(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let unknown = ScriptValue::Text(Value::Unknown);
        let first = given.at(0);
        let command = || first.exact().and_then(|text| text.strip_prefix('|').map(str::to_owned));
        let joined = || {
            let commands: Vec<ScriptValue> = given
                .positional
                .iter()
                .filter(|thing| !matches!(thing, ScriptValue::Map(_) | ScriptValue::Function(_)))
                .map(|thing| match thing {
                    ScriptValue::List(words) => {
                        super::call_effects::joined_text(&ScriptValue::text(" "), words)
                    }
                    other => other.clone(),
                })
                .collect();
            super::call_effects::joined_text(&ScriptValue::text(" | "), &commands)
        };
        Some(match name {
            "IO.pipe" | "UNIXSocket.pair" | "Socket.pair" => self.ends(),
            "IO.read" | "IO.readlines" | "IO.foreach" | "IO.binread" | "IO.write" | "IO.binwrite" => {
                let text = command()?;
                self.run_shell(&ScriptValue::text(text))
            }
            "IO.popen" if first.exact().as_deref() == Some("-") => {
                let channel = self.channel();
                self.read_from(&channel);
                channel
            }
            "STDIN.reopen" | "$stdin.reopen" if matches!(first, ScriptValue::Process(_)) => {
                self.read_from(&first);
                unknown
            }
            "Open3.pipeline" | "Open3.pipeline_start" | "Open3.pipeline_r" => {
                let text = joined();
                self.run_shell(&text)
            }
            "Open3.pipeline_w" | "Open3.pipeline_rw" => {
                let text = joined();
                let output = self.run_shell(&text);
                self.running_last(output)
            }
            "sh" | "rake.sh" | "Rake.sh" | "FileUtils.sh" => match given.positional.as_slice() {
                [only] => self.run_shell(only),
                several => self.run_list(several),
            },
            "require" | "require_relative" => {
                let text = first.exact()?;
                if name == "require" && !text.contains('/') {
                    return None;
                }
                let text = if text.ends_with(".rb") { text } else { format!("{text}.rb") };
                let given = Given { positional: vec![ScriptValue::text(text)], named: Vec::new() };
                self.perform_plain(LibraryCall::RunFile, name, &given)
            }
            _ => return None,
        })
    }

    fn channels_of_php(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let unknown = ScriptValue::Text(Value::Unknown);
        // `stream_copy_to_stream($from, $to)` names what it writes to behind what it reads.
        let (first, text) = match name {
            "stream_copy_to_stream" => (given.at(1), given.at(0)),
            _ => (given.at(0), given.at(1)),
        };
        Some(match name {
            "fwrite" | "fputs" | "stream_copy_to_stream" => match first {
                ScriptValue::Process(process) => {
                    self.feed(process, &text);
                    unknown
                }
                // One of the pipes of `proc_open("sh", [...], $pipes)`, which are known by that alone.
                ScriptValue::Text(Value::Unknown) => {
                    self.feed(self.selected?, &text);
                    unknown
                }
                ScriptValue::File(path) => {
                    let text = Given { positional: vec![text], named: Vec::new() };
                    self.put_in(&path, "write", &text);
                    unknown
                }
                _ => return None,
            },
            "fopen" => {
                let command = first.exact()?.strip_prefix("expect://")?.to_owned();
                self.run_shell(&ScriptValue::text(command))
            }
            "FFI.cdef" | "FFI.load" => ScriptValue::Name("ffi.library".to_owned()),
            "ffi.library.system" | "ffi.library.popen" | "expect_popen" => self.run_shell(&first),
            "include" | "include_once" | "require" | "require_once" => {
                let code = text_of_data(&first.exact()?)?;
                self.evaluate(&code);
                unknown
            }
            _ => return None,
        })
    }

    /// A value that is written to on one side, and read by a program that is started with it.
    pub(super) fn channel(&mut self) -> ScriptValue {
        self.running(Started::Nothing, super::started::Handed::default(), ScriptValue::Local)
    }

    fn ends(&mut self) -> ScriptValue {
        let channel = self.channel();
        ScriptValue::List(vec![channel.clone(), channel])
    }

    /// Puts a channel in the place of the standard input of what is started from here on.
    pub(super) fn read_from(&mut self, channel: &ScriptValue) {
        if let ScriptValue::Process(process) = channel {
            self.redirected = Some(*process);
        }
    }
}

/// What an address holds that is the data itself: `data:text/javascript,...` (RFC 2397); `None` for others.
pub(super) fn text_of_data(address: &str) -> Option<ScriptValue> {
    let (kind, data) = address.strip_prefix("data:")?.split_once(',')?;
    let text = if kind.ends_with(";base64") { filters::decoded_base64(data) } else { Some(unescaped(data)) };
    Some(text.map_or(ScriptValue::Text(Value::Unknown), ScriptValue::text))
}

/// Text with `%41` for `A`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = byte.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = behind.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_hold_their_data() {
        let text = |address| text_of_data(address).and_then(|value| value.exact());
        assert_eq!(text("data:text/javascript,a%20%28b%29").as_deref(), Some("a (b)"));
        assert_eq!(text("data:text/plain;base64,YSgp").as_deref(), Some("a()"));
        assert_eq!(text("data:,100%").as_deref(), Some("100%"));
        assert_eq!(text("./module.js"), None);
    }
}
