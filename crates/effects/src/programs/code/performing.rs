//! What known functions give, after their effects.
//!
//! | module | holds |
//! |---|---|
//! | `file_calls` | functions about files and directories |
//! | `network_calls` | functions that send and fetch |
//! | `program_calls` | functions that start, end or become programs, or run code |
//! | `value_calls` | functions that change nothing by themselves |

mod file_calls;
mod network_calls;
mod program_calls;
mod value_calls;

use super::call_effects::{own_process, parent};
use super::evaluator::{Evaluator, Given};
use super::expressions::formatted;
use super::library_calls::LibraryCall;
use super::value::ScriptValue;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::guarded::PARENT;
use crate::interpreter::{Draft, Upload, Value};

impl Evaluator<'_, '_, '_> {
    /// Adds, in a loop without end, that a process like this one is started in each turn.
    pub(super) fn note_copies(&mut self) {
        if self.endless == 0 {
            return;
        }
        let target = Target::Service("the resources of the machine".to_owned());
        let draft = Draft::new(EffectKind::SystemModification, target)
            .severity(Severity::Critical)
            .irreversible()
            .note("starts copies of itself without end");
        self.act(|machine| machine.add(draft));
    }

    /// As [`Evaluator::perform`], without what is handed to programs.
    pub(super) fn perform_plain(&mut self, deed: LibraryCall, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        self.note_processes(deed, name, given);
        self.note_printed(name, given);
        if let Some(value) = self.json(name, given) {
            return value;
        }
        match deed {
            LibraryCall::Nothing => {
                self.mapped_names(given);
                Self::of_environment(name).or_else(|| self.passed_secret(name, given)).unwrap_or(unknown)
            }
            LibraryCall::Print | LibraryCall::PrintPlain => self.perform_print(deed, given),
            LibraryCall::Range => self.perform_range(given),
            // What runs over the variables gets their names.
            LibraryCall::Same if self.gives_names(name, &given.at(0)) => unknown,
            LibraryCall::Same => self.perform_same(name, given),
            LibraryCall::Delete(depth) => self.perform_delete(depth, given),
            LibraryCall::DeleteFirst => self.perform_delete_first(given),
            LibraryCall::Write => self.perform_write(given),
            LibraryCall::WriteSecond => self.perform_write_second(given),
            LibraryCall::Append => self.perform_append(given),
            LibraryCall::Open => self.open(given),
            LibraryCall::Read => {
                let path = given.at(0);
                self.read(&path)
            }
            LibraryCall::Touch => self.perform_touch(given),
            LibraryCall::MakeDirectory => self.perform_make_directory(given),
            LibraryCall::Move => self.perform_move(name, given),
            LibraryCall::Copy => self.perform_copy(name, given),
            LibraryCall::Link => self.perform_link(name, given),
            LibraryCall::Mode if name.starts_with("shutil.copy") => self.perform_copied_mode(given),
            LibraryCall::Mode => self.perform_mode(name, given),
            LibraryCall::ModeOfRest => self.perform_mode_of_rest(name, given),
            LibraryCall::Shell => self.perform_shell(name, given),
            LibraryCall::Pipe => self.perform_pipe(name, given),
            LibraryCall::Run => self.perform_run(given),
            LibraryCall::Program => self.perform_program(given),
            LibraryCall::Execute => self.perform_execute(given),
            LibraryCall::ExecuteRest => self.perform_execute_rest(name, given),
            LibraryCall::Get => self.request(given, Upload::No),
            LibraryCall::Post => {
                let method = name.rsplit('.').next().map(str::to_owned);
                self.request_by(given, Upload::Yes, method)
            }
            LibraryCall::Request => self.perform_request(given),
            LibraryCall::Download => self.perform_download(given),
            LibraryCall::Kill => self.perform_kill(name, given),
            LibraryCall::KillRest => self.perform_kill_rest(name, given),
            LibraryCall::Evaluate => self.perform_evaluate(given),
            LibraryCall::Unpack => self.perform_unpack(given),
            LibraryCall::EvaluateValue => self.evaluated_value(name, given),
            LibraryCall::EvaluateTexts => self.evaluated_texts(name, given),
            LibraryCall::Worker if given.is_on("eval") => {
                self.evaluate(&given.at(0));
                unknown
            }
            LibraryCall::Worker => {
                self.not_known(name);
                unknown
            }
            LibraryCall::Lines => self.perform_lines(name, given),
            LibraryCall::MakeFunction => self.made_function(given),
            LibraryCall::Template => self.template(given),
            LibraryCall::FindFiles => self.found_files(given),
            LibraryCall::RunFile => self.perform_run_file(name, given),
            LibraryCall::Loads => self.perform_loads(name, given),
            LibraryCall::Connect => self.connect(given),
            LibraryCall::Listen => ScriptValue::Socket(Value::Unknown),
            LibraryCall::Duplicate => self.perform_duplicate(),
            LibraryCall::Terminal => self.perform_terminal(given),
            LibraryCall::PathOf => ScriptValue::Path(self.path_named(given)),
            LibraryCall::Join => ScriptValue::Text(Self::joined(given)),
            LibraryCall::JoinText => Self::perform_join_text(given),
            LibraryCall::Variable => self.environment(given),
            LibraryCall::Home => self.perform_home(name),
            LibraryCall::Here => {
                let here = self.machine.cwd_value();
                if name.contains("Path") { ScriptValue::Path(here) } else { ScriptValue::Text(here) }
            }
            LibraryCall::Temporary => ScriptValue::text("/tmp"),
            LibraryCall::UserPackages => {
                let home = &self.machine.world().place().home;
                ScriptValue::text(format!("{home}/.local/lib/python3/site-packages"))
            }
            LibraryCall::TemporaryFile | LibraryCall::TemporaryDirectory => {
                self.make_temporary(deed, name, given)
            }
            LibraryCall::Fork => self.perform_fork(name),
            LibraryCall::Throttle => {
                self.throttle(name, given);
                unknown
            }
            LibraryCall::Names => self.perform_names(given),
            LibraryCall::Database => ScriptValue::Database(given.at(0).value()),
            LibraryCall::Later => self.perform_later(given),
            LibraryCall::Rights => self.perform_rights(given),
            LibraryCall::CalledAfter => self.perform_called_after(name, given),
            LibraryCall::Elsewhere => self.perform_elsewhere(name, given),
            LibraryCall::Archive => self.perform_archive(given),
            LibraryCall::Save => self.perform_save(given),
            LibraryCall::Enter => self.perform_enter(given),
            LibraryCall::Glob => {
                self.note_reach(name, given);
                self.globbed(deed, name, given)
            }
            LibraryCall::OwnProcess => own_process(),
            LibraryCall::ParentProcess => ScriptValue::text(PARENT),
            // The names, which stand below the directory once they are put behind it.
            LibraryCall::List => self.perform_list(given),
            LibraryCall::Walk => self.perform_walk(name, given),
            LibraryCall::Whereabouts => self.perform_whereabouts(given),
            LibraryCall::Exists => self.exists(&given.at(0)),
            LibraryCall::Import => {
                let module = given.at(0);
                self.import(&module)
            }
            LibraryCall::Attribute => self.perform_attribute(given),
            LibraryCall::Becomes(module) => ScriptValue::Name(module.to_owned()),
            LibraryCall::Base64 => Self::perform_base64(given),
            LibraryCall::InBase64 => self.perform_in_base64(given),
            LibraryCall::Loaded => self.perform_loaded(name, given),
            LibraryCall::Decoded => self.perform_decoded(name, given),
            LibraryCall::Hexadecimal => Self::perform_hexadecimal(given),
            LibraryCall::Character => Self::perform_character(given),
            LibraryCall::Format => {
                let values = ScriptValue::List(given.positional.get(1..).unwrap_or_default().to_vec());
                formatted(&given.at(0), &values)
            }
            LibraryCall::Foreign => self.perform_foreign(name, given),
            LibraryCall::Input => self.standard_input(),
            LibraryCall::First => self.perform_first(given),
            LibraryCall::Package => self.perform_package(given),
            LibraryCall::Parsed => given.named("text").cloned().unwrap_or(unknown),
            LibraryCall::Statement => self.perform_statement(given),
            LibraryCall::Record => self.perform_record(name, given),
            LibraryCall::Merge => Self::perform_merge(given),
            LibraryCall::Together => ScriptValue::List(given.positional.clone()),
            LibraryCall::CallByName => self.perform_call_by_name(name, given),
            LibraryCall::Expand => self.perform_expand(given),
            LibraryCall::Parent => ScriptValue::Text(parent(&given.at(0).value())),
        }
    }
}

/// The words of the program that a function is called after: sh 2, plumbum 1.9, `ShellJS` 0.8, GitPython 3.1 (`Repo.git`), simple-git 3, pip.
fn program_of(name: &str) -> Vec<String> {
    let last = name.rsplit('.').next().unwrap_or(name).trim_end_matches("Sync");
    let words: &[&str] = if name.starts_with("pip.") || name.starts_with("pip._internal.") {
        &["pip"]
    } else if last == "raw" {
        &["git"]
    } else if name.starts_with("git.repository.") || name.starts_with("simple-git.") {
        return vec!["git".to_owned(), last.replace('_', "-")];
    } else {
        return vec![last.to_owned()];
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}
