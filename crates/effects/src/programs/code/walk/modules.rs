//! Imports: modules of the language by their names, modules of the code itself followed where they lie.

use crate::effect::EffectKind;
use crate::interpreter::{Draft, Value};
use crate::path::AbsolutePath;
use crate::programs::code::LONG;
use crate::programs::code::evaluator::Evaluator;
use crate::programs::code::origin::is_put_there;
use crate::programs::code::value::ScriptValue;
use crate::programs::code::variables::Variables;
use crate::world::Entry;
use checkrein_scripts::tree::{Import, SyntaxTree};

use super::binding::Scope;
use super::scopes::ScopeSort;

/// The greatest number of modules of its own that code is followed into (ours).
const MODULES: usize = 192;
/// How many of them are followed one inside the other; those further in come after the rest (ours).
const IMPORTING: usize = 16;
/// What files of code are called, whose text is expected to be readable.
const CODE_ENDS: &[&str] = &[".py", ".js", ".cjs", ".mjs", ".ts"];

impl Evaluator<'_, '_, '_> {
    /// Where the script lies that is followed, when it is one.
    pub(in crate::programs::code) fn script(&self) -> Option<String> {
        let path = self.call.arguments.operands.first()?.as_exact().filter(|path| *path != "-")?;
        let is_code = self.call.arguments.has(&["-c", "-e", "-p", "--eval", "--print", "-pe", "-m"]);
        if is_code {
            return None;
        }
        let operand = Value::exact(path);
        let found = self.machine.paths(&operand).into_iter().next()?;
        found.target.path().map(|path| path.as_str().to_owned())
    }

    /// Follows an import.
    pub(super) fn import_tree(&mut self, import: &Import) {
        match import {
            Import::Module { module, own } => {
                let value = self.module(module, 0);
                match own {
                    Some(own) => self.bind_name(own, value, Scope::Own),
                    None if self.is_python() => {
                        let root = module.split('.').next().unwrap_or(module);
                        let value = self.module(root, 0);
                        self.bind_name(root, value, Scope::Own);
                    }
                    None => {}
                }
            }
            Import::Parts { module, level, parts } => {
                let value = self.module(module, *level);
                for (name, own) in parts {
                    let part = self.part_of_module(&value, module, *level, name);
                    self.bind_name(own, part, Scope::Own);
                }
            }
            Import::All { module, level } => match self.module(module, *level) {
                ScriptValue::Object(place) => {
                    let fields = self.objects.get(place).map(|object| object.fields.clone());
                    for (name, value) in fields.iter().flat_map(Variables::iter) {
                        self.bind_name(name, value.clone(), Scope::Own);
                    }
                }
                ScriptValue::Foreign => self.not_known(module),
                _ => self.stars.push(module.clone()),
            },
        }
    }

    fn part_of_module(&mut self, whole: &ScriptValue, module: &str, level: u32, name: &str) -> ScriptValue {
        match whole {
            ScriptValue::Object(place) => {
                let field = self.objects.get(*place).and_then(|object| object.fields.get(name)).cloned();
                match field {
                    Some(value) => value,
                    None if self.is_python() => {
                        let inner =
                            if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") };
                        self.own_module(&inner, level).unwrap_or(ScriptValue::Text(Value::Unknown))
                    }
                    None if name == "default" => whole.clone(),
                    None => ScriptValue::Text(Value::Unknown),
                }
            }
            _ if name == "default" && !self.is_python() => whole.clone(),
            // `from . import module`
            ScriptValue::Name(of) if of.is_empty() => {
                self.own_module(name, level).unwrap_or_else(|| ScriptValue::Name(name.to_owned()))
            }
            other => self.member(&other.clone(), name),
        }
    }

    fn module(&mut self, name: &str, level: u32) -> ScriptValue {
        if self.is_python() {
            if let Some(own) = self.own_module(name, level) {
                return own;
            }
            ScriptValue::Name(name.to_owned())
        } else {
            self.import(&ScriptValue::text(name))
        }
    }

    /// A module of the code itself, after it has run; `None` when there is none of the name.
    pub(in crate::programs::code) fn own_module(&mut self, name: &str, level: u32) -> Option<ScriptValue> {
        if !self.is_python() {
            let path = self.path_of_module(name)?;
            return Some(self.load(&path, name));
        }
        let mut found: Option<ScriptValue> = None;
        let mut so_far = String::new();
        for part in name.split('.').filter(|part| !part.is_empty()) {
            if !so_far.is_empty() {
                so_far.push('.');
            }
            so_far.push_str(part);
            let path = self.path_of_python_module(&so_far, level)?;
            let module = self.load(&path, &so_far);
            if let (Some(ScriptValue::Object(place)), module) = (&found, &module)
                && let Some(object) = self.objects.get_mut(*place)
            {
                object.fields.insert(part.to_owned(), module.clone());
            }
            found = Some(module);
        }
        found
    }

    fn path_of_python_module(&self, name: &str, level: u32) -> Option<String> {
        let mut directory = self.directory_of_file();
        for _ in 1..level {
            directory.push_str("/..");
        }
        let inner = name.replace('.', "/");
        let mut roots = vec![directory];
        let searched =
            self.machine.variable("PYTHONPATH").and_then(|path| path.as_exact().map(str::to_owned));
        if level == 0 {
            // Modules of a package ask from where the script lies, too.
            let script = self.script().and_then(|path| Some(path.rsplit_once('/')?.0.to_owned()));
            roots.push(script.unwrap_or_else(|| ".".to_owned()));
            roots.extend(searched.iter().flat_map(|path| path.split(':')).map(str::to_owned));
        }
        let ends = [".py", "/__init__.py"];
        roots
            .iter()
            .flat_map(|root| ends.iter().map(move |end| (root, end)))
            .map(|(root, end)| format!("{root}/{inner}{end}"))
            .find_map(|path| self.existing(&path))
    }

    fn path_of_module(&self, name: &str) -> Option<String> {
        let path = if name.starts_with('/') {
            name.to_owned()
        } else if name.starts_with("./") || name.starts_with("../") || name == "." || name == ".." {
            format!("{}/{name}", self.directory_of_file())
        } else {
            return None;
        };
        let ends = ["", ".js", ".cjs", ".mjs", ".ts", "/index.js", "/index.ts"];
        ends.iter().map(|end| format!("{path}{end}")).find_map(|path| self.existing(&path))
    }

    fn directory_of_file(&self) -> String {
        match self.file.as_deref().and_then(|file| file.rsplit_once('/')) {
            Some((directory, _)) => directory.to_owned(),
            None => ".".to_owned(),
        }
    }

    fn existing(&self, path: &str) -> Option<String> {
        let found = self.machine.paths_through(&Value::exact(path)).into_iter().next()?;
        let path = found.target.path()?;
        matches!(self.machine.entry(path), Entry::File(_)).then(|| path.as_str().to_owned())
    }

    /// Follows the code of a module; what it offers.
    fn load(&mut self, path: &str, name: &str) -> ScriptValue {
        if let Some((_, known)) = self.modules.iter().find(|(known, _)| known == path) {
            return known.clone();
        }
        if path.ends_with(".json") {
            return ScriptValue::Local;
        }
        if self.importing >= IMPORTING && self.modules.len() < MODULES {
            self.later.push((path.to_owned(), name.to_owned()));
            self.modules.push((path.to_owned(), ScriptValue::Foreign));
            return ScriptValue::Foreign;
        }
        let Some(tree) = self.tree_of_module(path) else {
            self.not_known(name);
            return ScriptValue::Foreign;
        };
        if tree.problem.is_some() {
            self.not_known(name);
        }
        self.importing += 1;
        let offered = self.run_tree_of_module(path, name, &tree);
        self.importing -= 1;
        offered
    }

    /// The tree of a module; `None` where it is not read, which is said.
    fn tree_of_module(&mut self, path: &str) -> Option<SyntaxTree> {
        let file = AbsolutePath::new(path)?;
        let text = match self.machine.code(&file) {
            _ if self.modules.len() >= MODULES => None,
            Value::Exact(text) if text.len() <= LONG => {
                return checkrein_scripts::parse(&text, self.language);
            }
            Value::Exact(text) | Value::Between { prefix: text, .. } => Some(text),
            Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => None,
        };
        if CODE_ENDS.iter().any(|end| path.ends_with(end)) && !is_put_there(self.machine, &file) {
            let name = file.name().unwrap_or_default();
            self.machine.unread(format!("the module `{name}` is not followed, it is too much"));
        }
        if let Some(text) = text {
            self.look_over_aside(&text);
        }
        None
    }

    /// Follows the modules that were imported too far inside others.
    pub(in crate::programs::code) fn follow_later_modules(&mut self) {
        let mut place = 0;
        while let Some((path, name)) = self.later.get(place).cloned() {
            place += 1;
            self.modules.retain(|(known, _)| *known != path);
            match self.tree_of_module(&path) {
                Some(tree) => {
                    self.run_tree_of_module(&path, &name, &tree);
                }
                None => self.not_known(&name),
            }
        }
    }

    fn run_tree_of_module(&mut self, path: &str, name: &str, tree: &SyntaxTree) -> ScriptValue {
        let Some(module) = self.new_object(None, Variables::new()) else { return ScriptValue::Foreign };
        self.modules.push((path.to_owned(), module.clone()));
        self.keeps_compiled(path);
        let outer = self.enter(ScopeSort::Module);
        self.scopes.keep();
        let exports = self.exports.take();
        let file = self.file.replace(path.to_owned());
        self.declare("__name__", ScriptValue::text(name));
        self.run_tree(&tree.statements);
        let fields: Variables = self.own_names().into_iter().collect();
        self.leave(outer);
        let offered = std::mem::replace(&mut self.exports, exports);
        self.file = file;
        if let (ScriptValue::Object(place), None) = (&module, &offered)
            && let Some(object) = self.objects.get_mut(*place)
        {
            object.fields = fields;
        }
        let offered = offered.unwrap_or(module);
        if let Some((_, known)) = self.modules.iter_mut().find(|(known, _)| known == path) {
            *known = offered.clone();
        }
        offered
    }

    /// Python keeps imported modules in a compiled form beside them.
    fn keeps_compiled(&mut self, path: &str) {
        if !self.is_python() || self.call.arguments.has(&["-B"]) {
            return;
        }
        if self.machine.variable("PYTHONDONTWRITEBYTECODE").is_some() {
            return;
        }
        let directory = path.rsplit_once('/').map_or(".", |(directory, _)| directory);
        let kept = Value::exact(format!("{directory}/__pycache__"));
        self.machine.possibly(|machine| {
            for aim in machine.paths(&kept) {
                machine.add(Draft::at(EffectKind::FileCreate, aim).recursive());
            }
        });
    }
}
