//! Methods of paths, of open files and of connections.

use crate::effect::Depth;
use crate::interpreter::{Input, Output, Upload, Value};
use crate::programs::archives::{Names, unpack_from};
use crate::programs::{files, network};

use super::call_effects::{names_processes, parent};
use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::value::ScriptValue;
use checkrein_scripts::Language;

impl Evaluator<'_, '_, '_> {
    /// The path that an object for paths is made of. That of Perl knows the home directory (Path::Tiny 0.146, "path").
    pub(super) fn path_named(&self, given: &Given) -> Value {
        let path = Self::joined(given);
        match path.as_exact().and_then(|text| text.strip_prefix('~')) {
            Some(rest) if self.language == Language::Perl => {
                let home = self.machine.variable("HOME").unwrap_or(Value::Unknown);
                home.followed_by(&Value::exact(rest))
            }
            Some(_) | None => path,
        }
    }

    /// Where a call goes that changes the directory: without a place to the home directory (perlfunc, "chdir"; Ruby 3.3, `Dir.chdir`).
    pub(super) fn directory_wanted(&self, given: &Given) -> Value {
        match given.positional.first() {
            Some(ScriptValue::Function(_)) | None
                if matches!(self.language, Language::Perl | Language::Ruby) =>
            {
                self.machine.variable("HOME").unwrap_or(Value::Unknown)
            }
            Some(_) | None => given.at(0).value(),
        }
    }

    pub(super) fn path_method(&mut self, path: &Value, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let this = ScriptValue::Path(path.clone());
        self.sees_processes |= names_processes(path);
        match name {
            "unlink" | "rmdir" | "delete" | "remove" => self.delete(path, Depth::Single),
            "rmtree" | "remove_tree" => self.delete(path, Depth::Recursive),
            "write_text" | "write_bytes" | "write" | "binwrite" | "spew" | "spew_utf8" | "spew_raw"
            | "spurt" | "spew_lines" => {
                self.write(path, &given.at(0));
            }
            // Path::Tiny 0.146: what they make of it is not followed.
            "edit" | "edit_utf8" | "edit_raw" | "edit_lines" | "edit_lines_utf8" | "edit_lines_raw"
            | "openw" | "openw_utf8" | "openw_raw" | "openrw" | "openrw_utf8" | "openrw_raw" => {
                self.write(path, &unknown);
                return ScriptValue::File(path.clone());
            }
            "append" | "append_utf8" | "append_raw" if matches!(given.at(0), ScriptValue::Map(_)) => {
                self.write(path, &unknown);
            }
            "append" | "append_utf8" | "append_raw" => self.append_text(path, &given.at(0)),
            "opena" | "opena_utf8" | "opena_raw" => {
                self.append(path);
                return ScriptValue::File(path.clone());
            }
            "touch" => self.act(|machine| machine.touch(path)),
            "mkdir" | "mkpath" => self.act(|machine| machine.make_directory(path)),
            "chmod" | "lchmod" | "chown" => {
                self.change_rights(name, path, given.positional.first());
            }
            "read_text" | "read_bytes" | "read" | "readlines" | "binread" | "slurp" | "slurp_utf8"
            | "lines" => return self.read(&this),
            "open" => {
                let mode = given
                    .named("mode")
                    .and_then(ScriptValue::exact)
                    .or_else(|| given.at(0).exact())
                    .unwrap_or_default();
                if mode.contains('a') {
                    self.append(path);
                } else if mode.contains(['w', 'x', '+']) {
                    self.write(path, &unknown);
                } else {
                    self.read(&this);
                }
                return ScriptValue::File(path.clone());
            }
            "rename" | "replace" | "move" => {
                let both = Given { positional: vec![this, given.at(0)], named: Vec::new() };
                self.transfer(files::mv, "mv", &both, &["-f", "-T"]);
                return ScriptValue::Path(given.at(0).value());
            }
            "copy" | "copy_into" => {
                let both = Given { positional: vec![this, given.at(0)], named: Vec::new() };
                self.transfer(files::cp, "cp", &both, &["-r"]);
            }
            // The one method of its kind whose argument is the new name.
            "link_to" => {
                let at = given.at(0).value();
                self.act(|machine| machine.second_name(path));
                self.act(|machine| machine.make_link(&at, path));
            }
            "symlink_to" | "hardlink_to" | "make_symlink" | "make_link" => {
                let to = given.at(0).value();
                if matches!(name, "hardlink_to" | "make_link") {
                    self.act(|machine| machine.second_name(&to));
                }
                self.act(|machine| machine.make_link(path, &to));
            }
            "joinpath" | "join" | "child" | "+" => {
                let joined =
                    given.positional.iter().fold(this, |path, part| ScriptValue::Path(path.below(part)));
                return joined;
            }
            "glob" | "rglob" => {
                self.note_reach(name, given);
                let pattern = given.at(0).exact().unwrap_or_else(|| "*".to_owned());
                let pattern = if name == "rglob" { format!("**/{pattern}") } else { pattern };
                let names = match path.as_exact() {
                    Some(".") => Value::Glob(pattern),
                    Some(directory) => Value::Glob(format!("{}/{pattern}", directory.trim_end_matches('/'))),
                    None => path.followed_by(&Value::exact("/")).followed_by(&Value::Unknown),
                };
                self.machine.note_printed_name(&names);
                return ScriptValue::Path(names);
            }
            "iterdir" if matches!(path, Value::Glob(_)) => {
                self.machine.reach.hidden = true;
                let Value::Glob(directory) = path else { return this };
                return ScriptValue::Path(Value::Glob(format!("{}/*", directory.trim_end_matches('/'))));
            }
            "iterdir" if path.as_exact().is_some() => {
                self.machine.reach.hidden = true;
                let names = Value::Glob(format!("{}/*", path.known_start().trim_end_matches('/')));
                self.machine.note_printed_name(&names);
                return ScriptValue::Path(names);
            }
            "iterdir" | "children" | "each_child" | "walk" | "entries" => {
                self.note_reach(name, given);
                return ScriptValue::Path(path.followed_by(&Value::exact("/")).followed_by(&Value::Unknown));
            }
            "expanduser" | "expand_path" => {
                let home = self.machine.variable("HOME").unwrap_or(Value::Unknown);
                return match path.as_exact().and_then(|text| text.strip_prefix('~')) {
                    Some(rest) => ScriptValue::Path(home.followed_by(&Value::exact(rest))),
                    None => this,
                };
            }
            "resolve" | "absolute" | "as_posix" | "realpath" | "cleanpath" | "to_s" | "to_path"
            | "toString" | "__str__" | "stringify" => return this,
            "with_name" | "sibling" => {
                return ScriptValue::Path(ScriptValue::Path(parent(path)).below(&given.at(0)));
            }
            "with_suffix" => {
                let suffix = given.at(0).exact();
                return match (path.as_exact(), suffix) {
                    (Some(text), Some(suffix)) => {
                        let name_at = text.rfind('/').map_or(0, |at| at + 1);
                        let cut = text.rfind('.').filter(|at| *at > name_at).unwrap_or(text.len());
                        ScriptValue::Path(Value::exact(format!(
                            "{}{suffix}",
                            text.get(..cut).unwrap_or(text)
                        )))
                    }
                    _ => ScriptValue::Path(Value::Unknown),
                };
            }
            "exists" | "is_file" | "is_dir" | "exist?" | "file?" | "directory?" => {
                let given = Given { positional: vec![this], named: Vec::new() };
                return self.perform(LibraryCall::Exists, "", &given);
            }
            _ => {}
        }
        unknown
    }

    pub(super) fn file_method(&mut self, path: &Value, name: &str, given: &Given) -> ScriptValue {
        match name {
            "write" | "puts" | "print" | "writelines" | "end" | "syswrite" if !packs(path, name) => {
                if let Some(ScriptValue::Network(url)) = given.positional.first() {
                    self.remember_download(path, &url.clone());
                } else if let Some(secret) = self.secret_given(given) {
                    let aims = self.machine.paths_through(path);
                    self.machine.remember_source(&aims, &secret);
                } else {
                    self.put_in(path, name, given);
                }
                ScriptValue::Text(Value::Unknown)
            }
            // Into memory, from where it may be sent.
            "add" | "write"
                if *path == Value::Unknown
                    && (name == "add" || self.machine.names_secret(&given.at(0).value())) =>
            {
                let words =
                    [Value::exact("tar"), Value::exact("-cf"), Value::exact("-"), given.at(0).value()];
                let exit = self.act(|machine| machine.run_words(&words, Input::Inherited));
                if let Output::Secret(place) = exit.output {
                    self.packed.get_or_insert(place);
                }
                ScriptValue::Text(Value::Unknown)
            }
            "add" | "write" if packs(path, name) => {
                let words = [Value::exact("tar"), Value::exact("-cf"), path.clone(), given.at(0).value()];
                self.act(|machine| machine.run_words(&words, Input::Inherited));
                ScriptValue::Text(Value::Unknown)
            }
            "extractall" | "extract" => {
                let directory = match (name, given.named("path")) {
                    (_, Some(path)) => path.value(),
                    ("extractall", None) => {
                        given.positional.first().map_or(Value::exact("."), ScriptValue::value)
                    }
                    (_, None) => given.positional.get(1).map_or(Value::exact("."), ScriptValue::value),
                };
                let archive = Some(path).filter(|_| name == "extractall");
                self.act(|machine| unpack_from(machine, archive, &directory, Names::Without(0)));
                ScriptValue::Text(Value::Unknown)
            }
            "readlines" | "each_line" | "lines" => {
                let text = Self::from_output(self.machine.peek(path));
                self.lines(&text)
            }
            "read" | "readline" | "gets" => {
                let swept = self.swept_in_file(path);
                swept.unwrap_or_else(|| Self::from_output(self.machine.peek(path)))
            }
            _ => ScriptValue::File(path.clone()),
        }
    }

    pub(super) fn socket_method(&mut self, name: &str, given: &Given) -> ScriptValue {
        match name {
            "connect" | "connect_ex" | "createConnection" => self.connect(given),
            "pipe" if self.socket.is_some() && self.spawned_shell => {
                self.gives_shell();
                ScriptValue::Local
            }
            // The address stands behind the data.
            "sendto" if given.positional.len() >= 2 => {
                let address = given.positional.last().cloned().into_iter().collect();
                let address = Given { positional: address, named: Vec::new() };
                self.connect_as(&address, Upload::Yes)
            }
            "send" | "sendall" | "sendto" | "sendmail" | "send_message" | "storbinary" | "storlines"
            | "write" | "puts" | "print" => {
                let host = self.socket.clone();
                if let Some(host) = host {
                    let secret = self.secret_given(given);
                    self.act(|machine| network::send_from_code(machine, &host, secret.as_ref()));
                }
                ScriptValue::Text(Value::Unknown)
            }
            "recv" | "read" | "gets" | "receive" | "recvfrom" | "readline" => {
                let host = self.socket.clone().and_then(|host| host.as_exact().map(str::to_owned));
                ScriptValue::Network(host.unwrap_or_default())
            }
            "fileno" => ScriptValue::Local,
            "request" => {
                let host = self.socket.clone().unwrap_or(Value::Unknown);
                let upload = match given.at(0).exact().as_deref() {
                    Some("GET" | "HEAD") => Upload::No,
                    _ => Upload::Yes,
                };
                let secret = self.secret_given(given);
                self.act(|machine| network::request_of_code(machine, &host, upload, secret.as_ref()));
                ScriptValue::Network(host.known_start())
            }
            _ => ScriptValue::Socket(self.socket.clone().unwrap_or(Value::Unknown)),
        }
    }
}

/// Whether a method of an open file packs the file that it is given: `add` of `tarfile`, `write` of `zipfile`.
fn packs(path: &Value, name: &str) -> bool {
    name == "add" || name == "write" && path.known_end().ends_with(".zip")
}
