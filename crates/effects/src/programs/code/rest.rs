//! What is found in code that is too much to follow: single calls by the names of functions that take something away or run commands. Each is
//! looked at by itself, as something that may happen, and counts as far as its own texts say what it does.

use super::evaluator::Evaluator;
use super::origin::is_put_there;
use crate::path::AbsolutePath;
use checkrein_scripts::Language;

/// The greatest number of calls that are looked at (ours).
const LOOKED_AT: usize = 200;
/// The greatest length of one of them, in bytes (ours).
const CALL: usize = 1_000;

/// What shows in a call that it may take away what nobody could live without: these come first.
const GRAVE: &[&str] = &[
    "~", "HOME", "home", "rm ", "\"/", "'/", "sudo", "curl", "wget", "dd ", "mkfs", ".ssh", ".aws", ".claude",
];

/// The names of functions with what stands for each of them here.
fn functions(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Python => &[
            ("rmtree", "shutil.rmtree"),
            ("move", "shutil.move"),
            ("system", "os.system"),
            ("popen", "os.popen"),
            ("remove", "os.remove"),
            ("unlink", "os.unlink"),
            ("rename", "os.rename"),
            ("replace", "os.replace"),
            ("truncate", "os.truncate"),
            ("execv", "os.execv"),
            ("execvp", "os.execvp"),
            ("execl", "os.execl"),
            ("execlp", "os.execlp"),
            ("run", "subprocess.run"),
            ("call", "subprocess.call"),
            ("check_call", "subprocess.check_call"),
            ("check_output", "subprocess.check_output"),
            ("Popen", "subprocess.Popen"),
            ("getoutput", "subprocess.getoutput"),
            ("getstatusoutput", "subprocess.getstatusoutput"),
        ],
        Language::JavaScript => &[
            ("exec", "child_process.exec"),
            ("execSync", "child_process.execSync"),
            ("execFile", "child_process.execFile"),
            ("execFileSync", "child_process.execFileSync"),
            ("spawn", "child_process.spawn"),
            ("spawnSync", "child_process.spawnSync"),
            ("rm", "fs.rm"),
            ("rmSync", "fs.rmSync"),
            ("rmdir", "fs.rmdir"),
            ("rmdirSync", "fs.rmdirSync"),
            ("unlink", "fs.unlink"),
            ("unlinkSync", "fs.unlinkSync"),
            ("rename", "fs.rename"),
            ("renameSync", "fs.renameSync"),
            ("rimraf", "rimraf"),
            ("removeSync", "fs.removeSync"),
            ("emptyDirSync", "fs.emptyDirSync"),
        ],
        Language::Perl => &[
            ("system", "system"),
            ("exec", "exec"),
            ("unlink", "unlink"),
            ("rmtree", "rmtree"),
            ("remove_tree", "remove_tree"),
            ("qx", "system"),
            ("rename", "rename"),
        ],
        Language::Ruby => &[
            ("system", "system"),
            ("exec", "exec"),
            ("spawn", "spawn"),
            ("rm_rf", "FileUtils.rm_rf"),
            ("rm_r", "FileUtils.rm_r"),
            ("rm_f", "FileUtils.rm_f"),
            ("remove_dir", "FileUtils.remove_dir"),
            ("delete", "File.delete"),
            ("unlink", "File.unlink"),
            ("mv", "FileUtils.mv"),
        ],
        Language::Php => &[
            ("system", "system"),
            ("exec", "exec"),
            ("shell_exec", "shell_exec"),
            ("passthru", "passthru"),
            ("unlink", "unlink"),
            ("rename", "rename"),
        ],
        Language::Lua => &[("execute", "os.execute"), ("remove", "os.remove"), ("popen", "io.popen")],
        Language::R => &[("system", "system"), ("unlink", "unlink")],
    }
}

impl Evaluator<'_, '_, '_> {
    /// Whether a text is part of the command itself, not of a file.
    pub(super) fn is_given_here(&self, text: &str) -> bool {
        self.call.input.as_exact() == Some(text)
            || self.call.words.iter().any(|word| word.as_exact().is_some_and(|word| word.ends_with(text)))
    }

    /// Whether the script that is followed was put where it lies by a tool, or lies there as it was committed.
    pub(super) fn is_put_there(&self) -> bool {
        let script = self.script().and_then(|path| AbsolutePath::new(&path));
        script.is_some_and(|path| is_put_there(self.machine, &path))
    }

    /// Looks over a text for calls that say by themselves what they do.
    pub(super) fn look_over(&mut self, text: &str) {
        let mut calls = calls_in(text, self.language);
        calls.sort_by_key(|call| !GRAVE.iter().any(|word| call.contains(word)));
        self.glancing = true;
        self.texts = 0;
        self.file = None;
        self.steps = 0;
        for call in calls.into_iter().take(LOOKED_AT) {
            self.in_doubt(|follower| follower.run_code(&call));
        }
        self.glancing = false;
    }

    /// As [`Evaluator::look_over`], of text beside the code that is followed, which goes on as it was.
    pub(super) fn look_over_aside(&mut self, text: &str) {
        let (texts, file, steps) = (self.texts, self.file.clone(), self.steps);
        let (variables, glancing) = (self.variables.clone(), self.glancing);
        self.look_over(text);
        (self.texts, self.file, self.steps) = (texts, file, steps);
        (self.variables, self.glancing) = (variables, glancing);
    }
}

/// The calls of known functions in a text that are given something to read.
fn calls_in(text: &str, language: Language) -> Vec<String> {
    let known = functions(language);
    let mut found: Vec<String> = Vec::new();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !is_part(*byte) {
            at += 1;
            continue;
        }
        let start = at;
        while bytes.get(at).is_some_and(|byte| is_part(*byte)) {
            at += 1;
        }
        let Some((_, full)) =
            text.get(start..at).and_then(|word| known.iter().find(|(name, _)| *name == word))
        else {
            continue;
        };
        let given = given_behind(text.get(at..).unwrap_or_default(), language);
        if let Some(given) = given.filter(|given| given.contains(['"', '\'', '`'])) {
            let call = format!("{full}{given}");
            if !found.contains(&call) {
                found.push(call);
            }
        }
    }
    found
}

/// What a call is given: up to the bracket that closes it, or to the end of the line where the language needs none.
fn given_behind(text: &str, language: Language) -> Option<String> {
    let rest = text.trim_start_matches([' ', '\t']);
    if !rest.starts_with('(') {
        let is_bare = language.calls_without_parentheses() && rest.starts_with(['"', '\'', '`', '%', '~']);
        let line = rest.split(['\n', ';']).next().unwrap_or_default();
        return (is_bare && line.len() < CALL).then(|| format!(" {line}"));
    }
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (place, letter) in rest.char_indices().take_while(|(place, _)| *place < CALL) {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(mark), letter) if mark == letter => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') if depth == 1 => return rest.get(..=place).map(str::to_owned),
            (None, ')') => depth -= 1,
            (Some(_) | None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Certainty, Effect, EffectKind, Severity};
    use crate::predict;
    use checkrein_facts::{FileText, VersionState};
    use checkrein_testkit::world::{command, path, project};

    const END: &str = "\nimport os, shutil\nshutil.rmtree(os.path.expanduser('~'))\n";

    fn of_command(program: &str, code: &str) -> Vec<Effect> {
        predict(&command(&format!("{program} '{}'", code.replace('\'', "'\\''"))), &project()).effects
    }

    fn of_file(program: &str, code: &str) -> Vec<Effect> {
        let world = project().with_file(&path("/home/dev/proj/code"), code, VersionState::TrackedClean);
        predict(&command(&format!("{program} code")), &world).effects
    }

    fn unread(effects: &[Effect]) -> Option<Severity> {
        effects.iter().filter(|effect| effect.kind == EffectKind::Opaque).map(|effect| effect.severity).max()
    }

    fn deletes(effects: &[Effect]) -> Option<Certainty> {
        effects.iter().find(|effect| effect.kind == EffectKind::FileDelete).map(|effect| effect.certainty)
    }

    #[test]
    fn long_code_is_read_to_its_end() {
        for (count, line) in
            [(4_500, "# a comment here\n"), (13_000, "# a comment here\n"), (6_000, "x = 1  # here\n")]
        {
            let effects = of_file("python3", &format!("{}{END}", line.repeat(count)));
            assert_eq!(deletes(&effects), Some(Certainty::Certain));
            assert_eq!(unread(&effects), None);
        }
    }

    #[test]
    fn behind_a_bound_single_calls_are_looked_at() {
        let many = format!("{}{END}", "x=1\n".repeat(60_000));
        let nested = format!("{}require('child_process').execSync('rm -rf ~')", "if (a) ".repeat(400));
        let perl = format!("{}system('rm -rf ~');\n", "$x=1;\n".repeat(40_000));
        for (program, code) in [("python3", many), ("node", nested.clone()), ("perl", perl)] {
            assert_eq!(deletes(&of_file(program, &code)), Some(Certainty::Possible), "{program}");
        }
        let effects = of_command("node -e", &nested);
        assert_eq!(deletes(&effects), Some(Certainty::Possible), "{effects:?}");
    }

    #[test]
    fn a_command_that_is_too_much_to_follow_weighs_as_the_worst_and_a_file_does_not() {
        let nested = format!("{}console.log(1)", "if (a) ".repeat(400));
        assert_eq!(unread(&of_command("node -e", &nested)), Some(Severity::High));
        assert_eq!(unread(&of_file("node", &nested)), Some(Severity::Medium));
        let bundle = "a.f=function(x){return exec(x)};".repeat(6_000);
        let effects = of_file("node", &bundle);
        assert_eq!((deletes(&effects), unread(&effects)), (None, Some(Severity::Medium)));
    }

    #[test]
    fn what_is_long_without_saying_much_is_followed_as_any_other() {
        let comment = "# a comment that says nothing\n".repeat(12_000);
        let slashes = comment.replace('#', "//");
        let text = "a".repeat(600_000);
        let forms = [
            ("python3", format!("{comment}{END}")),
            ("python3", format!("x = '{text}'\n{END}")),
            ("node", format!("{slashes}require('child_process').execSync('rm -rf ~')\n")),
            ("node", format!("const x = '{text}';\nrequire('child_process').execSync('rm -rf ~')\n")),
            ("perl", format!("{comment}system('rm -rf ~');\n")),
            ("perl", format!("$x = '{text}';\nsystem('rm -rf ~');\n")),
            ("ruby", format!("{comment}system('rm -rf ~')\n")),
            ("ruby", format!("x = '{text}'\nsystem('rm -rf ~')\n")),
            ("php", format!("<?php\n{slashes}system('rm -rf ~');\n")),
            ("php", format!("<?php\n$x = '{text}';\nsystem('rm -rf ~');\n")),
        ];
        for (program, code) in forms {
            let effects = of_file(program, &code);
            assert_eq!(deletes(&effects), Some(Certainty::Certain), "{program} {}", code.len());
        }
    }

    #[test]
    fn long_code_that_is_not_followed_is_asked_about_unless_it_was_put_there() {
        let bundle = "a.f=function(x){return g[x](x)};".repeat(12_000);
        let weight = |place: &str, state: VersionState| {
            let world = project().with_file(&path(place), &bundle, state);
            unread(&predict(&command(&format!("node {place}")), &world).effects)
        };
        let mine = "/home/dev/proj/code.js";
        assert_eq!(weight(mine, VersionState::TrackedClean), Some(Severity::Medium));
        for state in [VersionState::Untracked, VersionState::TrackedModified, VersionState::NoRepository] {
            assert_eq!(weight(mine, state), Some(Severity::High), "{state:?}");
        }
        for place in ["/home/dev/proj/node_modules/a/b.js", "/usr/lib/node_modules/npm/lib/c.js"] {
            assert_eq!(weight(place, VersionState::Untracked), Some(Severity::Medium), "{place}");
        }
        let mut world = project().with_file(&path(mine), &bundle, VersionState::TrackedClean);
        world.history.created.push(path(mine));
        let effects = predict(&command("node code.js"), &world).effects;
        assert_eq!(unread(&effects), Some(Severity::High), "the session wrote it");
    }

    #[test]
    fn of_a_file_that_is_longer_than_is_read_the_beginning_counts() {
        let mut world = project().with_file(&path("/home/dev/proj/c.py"), "", VersionState::TrackedClean);
        let start = format!("import os\nos.system('rm -rf ~')\n{}", "# more\n".repeat(40_000));
        world.texts.insert(path("/home/dev/proj/c.py"), FileText::Beginning(start));
        assert_eq!(deletes(&predict(&command("python3 c.py"), &world).effects), Some(Certainty::Possible));
    }

    #[test]
    fn chains_of_imports_are_followed_to_their_end() {
        let chain = |length: usize| {
            let mut world = project();
            for number in 0..length {
                let next = number + 1;
                let file = path(&format!("/home/dev/proj/m{number}.py"));
                world = world.with_file(&file, &format!("import m{next}\n"), VersionState::Untracked);
            }
            let last = path(&format!("/home/dev/proj/m{length}.py"));
            world.with_file(&last, END, VersionState::Untracked)
        };
        for length in [10, 50, 120] {
            let effects = predict(&command("python3 m0.py"), &chain(length)).effects;
            assert!(deletes(&effects).is_some(), "{length}");
        }
        let effects = predict(&command("python3 m0.py"), &chain(400)).effects;
        assert_eq!(unread(&effects), Some(Severity::High));
    }

    #[test]
    fn calls_are_found_with_what_they_are_given() {
        let found = calls_in("x.y; a.system('rm (-rf ~)')\nrmtree(p)\n my_system('x')", Language::Python);
        assert_eq!(found, ["os.system('rm (-rf ~)')"]);
        assert_eq!(calls_in("system \"ls\"; 1", Language::Perl), ["system \"ls\""]);
        assert_eq!(calls_in("rmSync(`é${'", Language::JavaScript), Vec::<String>::new());
    }
}
