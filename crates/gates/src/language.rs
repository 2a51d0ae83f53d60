//! The languages that the gates read, and how they are told apart.

use std::borrow::Cow;

use crate::grammar::{self, Grammar};

/// A language that the gates read as a syntax tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceLanguage {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// C#.
    CSharp,
    /// Shell, as bash reads it.
    Shell,
}

/// For each language: the name that is printed, the other names it goes by, and the endings of its files.
const ROWS: [(SourceLanguage, &str, &[&str], &[&str]); 13] = [
    (SourceLanguage::Rust, "rust", &["rs"], &["rs"]),
    (SourceLanguage::Python, "python", &["py", "python3"], &["py", "pyi", "pyw"]),
    (
        SourceLanguage::JavaScript,
        "javascript",
        &["js", "jsx", "node"],
        &["js", "jsx", "mjs", "cjs", "es6", "es"],
    ),
    (SourceLanguage::TypeScript, "typescript", &["ts"], &["ts", "mts", "cts", "vue", "svelte"]),
    (SourceLanguage::Tsx, "tsx", &["typescriptreact"], &["tsx"]),
    (SourceLanguage::Go, "go", &["golang"], &["go"]),
    (SourceLanguage::Java, "java", &[], &["java"]),
    (SourceLanguage::C, "c", &[], &["c"]),
    (
        SourceLanguage::Cpp,
        "cpp",
        &["c++", "cxx", "cc"],
        // A header may be either; the grammar of C++ reads nearly all of C.
        &["cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "h++", "inl", "ipp"],
    ),
    (SourceLanguage::Ruby, "ruby", &["rb"], &["rb", "rake", "gemspec"]),
    (SourceLanguage::Php, "php", &[], &["php", "phtml"]),
    (SourceLanguage::CSharp, "csharp", &["c#", "cs", "c-sharp", "c_sharp"], &["cs"]),
    (
        SourceLanguage::Shell,
        "shell",
        &["bash", "sh", "zsh", "ksh", "dash"],
        &["sh", "bash", "zsh", "ksh", "bats"],
    ),
];

/// Files that hold code between marks, by their endings.
const COMPONENTS: [&str; 2] = ["vue", "svelte"];

/// The code of a file: of a component what stands in its scripts, at the lines where it stands, else all of the text.
pub fn code_of<'t>(path: &str, text: &'t str) -> Cow<'t, str> {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    if !ending.is_some_and(|ending| COMPONENTS.contains(&ending.as_str())) {
        return Cow::Borrowed(text);
    }
    let mut is_script = false;
    let mut code = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mark = line.trim_start().to_ascii_lowercase();
        if mark.starts_with("</script") {
            is_script = false;
        }
        if is_script {
            code.push_str(line);
        } else {
            code.extend(line.chars().filter(|letter| matches!(letter, '\n' | '\r')));
        }
        let opens = mark.starts_with("<script") && !mark.contains("</script");
        is_script |= opens;
    }
    Cow::Owned(code)
}

impl SourceLanguage {
    /// The language of a name such as `python` or `c++`, in any case; `None` when no grammar reads it.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let row = ROWS.iter().find(|(_, own, others, _)| *own == name || others.contains(&name.as_str()));
        row.map(|(language, ..)| *language)
    }

    /// The language of a file, by the ending of its name, or else by the program that its first line names.
    pub fn of_file(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        let by_ending = ending.as_deref().and_then(|ending| {
            ROWS.iter().find(|(.., endings)| endings.contains(&ending)).map(|(language, ..)| *language)
        });
        by_ending.or_else(|| Self::of_first_line(text.lines().next().unwrap_or_default()))
    }

    /// The name that is printed.
    pub fn name(self) -> &'static str {
        ROWS.iter().find(|(language, ..)| *language == self).map_or("unknown", |(_, name, ..)| name)
    }

    /// What nodes of its trees mean.
    pub(crate) fn grammar(self) -> &'static Grammar {
        match self {
            Self::Rust => &grammar::RUST,
            Self::Python => &grammar::PYTHON,
            Self::JavaScript | Self::TypeScript | Self::Tsx => &grammar::JAVASCRIPT,
            Self::Go => &grammar::GO,
            Self::Java => &grammar::JAVA,
            Self::C | Self::Cpp => &grammar::C,
            Self::Ruby => &grammar::RUBY,
            Self::Php => &grammar::PHP,
            Self::CSharp => &grammar::CSHARP,
            Self::Shell => &grammar::SHELL,
        }
    }

    /// What its parser is made of.
    pub(crate) fn tables(self) -> tree_sitter::Language {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Php => tree_sitter_php::LANGUAGE_PHP.into(),
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
            Self::Shell => tree_sitter_bash::LANGUAGE.into(),
        }
    }

    fn of_first_line(line: &str) -> Option<Self> {
        let program = line.strip_prefix("#!")?;
        let words: Vec<&str> =
            program.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
        // `env`, its options and its variables stand before the program that is meant.
        let name =
            words.iter().find(|word| **word != "env" && !word.starts_with('-') && !word.contains('='))?;
        // What runs scripts of one language, whatever is installed for them.
        let is_of = |name: &&str, others: &[&str]| others.contains(name);
        if is_of(name, &["uv", "pipx", "pypy", "pypy3", "ipython"]) {
            return Some(Self::Python);
        }
        if is_of(name, &["deno", "bun", "tsx", "ts-node"]) {
            return Some(Self::TypeScript);
        }
        Self::named(name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_say_in_their_first_line_what_they_are() {
        for (line, language) in [
            ("#!/usr/bin/env -S uv run --script", Some(SourceLanguage::Python)),
            ("#!/usr/bin/env -S PYTHONPATH=src python3.12 -u", Some(SourceLanguage::Python)),
            ("#!/usr/bin/env -S deno run -A", Some(SourceLanguage::TypeScript)),
            ("#!/usr/bin/env node", Some(SourceLanguage::JavaScript)),
            ("#!/bin/sh", Some(SourceLanguage::Shell)),
            ("#!/usr/bin/perl", None),
            ("uv run", None),
        ] {
            assert_eq!(SourceLanguage::of_file("tool", line), language, "{line}");
        }
        assert_eq!(SourceLanguage::of_file("a.es6", ""), Some(SourceLanguage::JavaScript));
    }

    #[test]
    fn the_code_of_a_component_stands_in_its_scripts() {
        let text = "<template>\n  <p>{{ a }}</p>\n</template>\n<script setup lang=\"ts\">\nconst a = 1\n</script>\n<style>\n</style>\n";
        assert_eq!(code_of("a.vue", text), "\n\n\n\nconst a = 1\n\n\n\n");
        assert_eq!(code_of("a.ts", text), text);
        assert_eq!(SourceLanguage::of_file("a.vue", ""), Some(SourceLanguage::TypeScript));
    }

    #[test]
    fn every_language_has_a_row_and_a_parser() {
        for (language, name, ..) in ROWS {
            assert_eq!(SourceLanguage::named(name), Some(language));
            assert_eq!(language.name(), name);
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&language.tables()).unwrap();
        }
    }

    #[test]
    fn files_are_told_by_ending_and_first_line() {
        let of = |path: &str, text: &str| SourceLanguage::of_file(path, text).map(SourceLanguage::name);
        assert_eq!(of("src/a.rs", ""), Some("rust"));
        assert_eq!(of("a/b.TSX", ""), Some("tsx"));
        assert_eq!(of("bin/tool", "#!/usr/bin/env -S python3.12 -u\n"), Some("python"));
        assert_eq!(of("bin/tool", "#!/bin/sh\n"), Some("shell"));
        assert_eq!(of("README.md", "# Text"), None);
    }
}
