//! Code that installs packages by the library of its language, and where they come from.

use crate::effect::{EffectKind, Target};
use crate::interpreter::{Draft, Machine, known_hosts};

/// How a package is written that is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// A name in the registry of the language.
    Registry,
    /// Only what is an address counts.
    Address,
    /// `owner/name` at a host of code.
    At(&'static str),
}

/// How code in these languages installs what stands in quotes behind it: Julia 1.11, "Pkg"; R 4, `utils`, `remotes`, `devtools`, BiocManager, pak,
/// renv; Elixir 1.17, `Mix.install`; Emacs 29, `package.el`, quelpa, straight.el, `package-vc`; Quicklisp, Ultralisp; Racket 8, `pkg`; Octave 9, `pkg`;
/// Common libraries of Ruby (`bundler/inline`) and of Python (`pip.main`, micropip).
const INSTALLERS: &[(&[&str], &[&str], Names)] = &[
    (&["julia", "jl"], &["Pkg.add(", "Pkg.develop(", "Pkg.clone(", "PackageSpec("], Names::Registry),
    (
        &["R", "Rscript", "r", "littler"],
        &[
            "install.packages(",
            "install_url(",
            "install_git(",
            "install_svn(",
            "BiocManager::install(",
            "renv::install(",
            "install_version(",
        ],
        Names::Registry,
    ),
    (
        &["R", "Rscript", "r", "littler"],
        &["install_github(", "pkg_install(", "pak::pak("],
        Names::At("https://github.com/"),
    ),
    (&["R", "Rscript", "r", "littler"], &["install_gitlab("], Names::At("https://gitlab.com/")),
    (&["R", "Rscript", "r", "littler"], &["install_bitbucket("], Names::At("https://bitbucket.org/")),
    // `options(repos = ...)`, `source` of an address and `source_url` name whom all that follows comes from.
    (
        &["R", "Rscript", "r", "littler"],
        &["repos=", "repos =", "source_url(", "source_gist("],
        Names::Address,
    ),
    (&["julia", "jl"], &["pkg\"add ", "pkg\"dev ", "pkg\"develop "], Names::Address),
    (
        &["ruby", "rb", "irb", "pry"],
        &["gemfile", "Gem.install(", "Gem.sources", "DependencyInstaller.new("],
        Names::Address,
    ),
    (
        &["perl", "pl"],
        &[
            "CPAN::Shell->install(",
            "CPAN::Shell->notest(",
            "CPAN::install(",
            "install \"",
            "install '",
            "urllist",
        ],
        Names::Address,
    ),
    (&["swipl", "prolog"], &["pack_install("], Names::Address),
    (
        &["python", "python3"],
        &["micropip.install(", "pip.main(", "sys.argv=[\"pip\"", "sys.argv=['pip'", "sys.argv = [\"pip\""],
        Names::Address,
    ),
    (&["node", "nodejs"], &["commands.install("], Names::Address),
    (&["elixir", "iex", "mix", "exs", "ex"], &["Mix.install("], Names::Registry),
    (
        &["emacs", "emacsclient", "el"],
        &[
            "package-install-from-archive",
            "package-vc-install",
            "quelpa",
            "straight-use-package",
            "package-archives",
        ],
        Names::Registry,
    ),
    (&["sbcl", "clisp", "ecl", "lisp", "cl", "ros"], &["ql:quickload", "install-dist"], Names::Registry),
    (&["racket", "rkt"], &["pkg-install", "(install "], Names::Registry),
    (&["octave", "octave-cli"], &["pkg install", "pkg('install'", "pkg(\"install\""], Names::Registry),
];

/// Mirrors of the registries of these languages, which code names by custom, also without encryption (cran.r-project.org, "CRAN Mirrors"; Posit;
/// bioconductor.org; r-universe.dev; pkg.julialang.org; elpa.gnu.org; melpa.org; dist.ultralisp.org; beta.quicklisp.org).
const MIRRORS: &[&str] = &[
    "r-project.org",
    "cran.rstudio.com",
    "packagemanager.posit.co",
    "packagemanager.rstudio.com",
    "bioconductor.org",
    "r-universe.dev",
    "pkg.julialang.org",
    "elpa.gnu.org",
    "elpa.nongnu.org",
    "melpa.org",
    "quicklisp.org",
    "ultralisp.org",
];

/// How far behind its name the words of an installer are looked for, in bytes (ours).
const REACH: usize = 400;
/// The greatest number of packages of one text that are told of (ours).
const PACKAGES: usize = 16;

/// Adds what a text in a language installs, as far as addresses or names stand in quotes.
pub(super) fn run(machine: &mut Machine<'_>, language: &str, text: &str) {
    let mut found: Vec<String> = Vec::new();
    for (_, marks, names) in INSTALLERS.iter().filter(|(languages, ..)| languages.contains(&language)) {
        for mark in *marks {
            for (at, _) in text.match_indices(mark) {
                let behind = text.get(at + mark.len()..).unwrap_or_default();
                let end =
                    behind.char_indices().map(|(at, _)| at).find(|at| *at >= REACH).unwrap_or(behind.len());
                let behind = behind.get(..end).unwrap_or_default();
                match names {
                    Names::Address => found.extend(addresses(behind)),
                    Names::Registry | Names::At(_) => found.extend(quoted(behind, *names)),
                }
            }
        }
    }
    found.retain(|package| !MIRRORS.iter().any(|mirror| known_hosts::host_of(package).ends_with(mirror)));
    found.sort();
    found.dedup();
    for package in found.into_iter().take(PACKAGES) {
        let draft = Draft::new(EffectKind::PackageInstall, Target::Service(package));
        machine.add(draft.note("code comes from there"));
    }
}

/// The addresses in a text, but for those of the registries themselves.
fn addresses(text: &str) -> Vec<String> {
    let is_between =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | ']' | '}' | ',' | ';' | '<');
    let pieces = text.split(is_between).map(|piece| piece.trim_start_matches(['(', '[', '{']));
    let is_registry = |address: &&str| {
        let host = known_hosts::host_of(address);
        ["rubygems.org", "cpan.org", "metacpan.org", "pypi.org", "registry.npmjs.org"]
            .iter()
            .any(|own| host.ends_with(own))
    };
    let all = pieces
        .filter(|piece| piece.contains("://") || piece.starts_with("git@"))
        .filter(|piece| !is_registry(piece));
    all.map(str::to_owned).collect()
}

/// The packages in quotes of the arguments that a text begins with.
fn quoted(text: &str, names: Names) -> Vec<String> {
    let mut found = Vec::new();
    let mut depth = 1_usize;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '\n' | ';' if depth <= 1 => return found,
            '"' | '\'' => {
                let behind = text.get(at + 1..).unwrap_or_default();
                let Some(end) = behind.find(letter) else { return found };
                let word = behind.get(..end).unwrap_or_default();
                letters = text.char_indices();
                letters.by_ref().take_while(|(place, _)| *place < at + end + 1).for_each(drop);
                if let Names::At(host) = names
                    && !word.contains("://")
                    && word.split('/').count() >= 2
                {
                    found.push(format!("{host}{word}"));
                } else if word.len() > 1 {
                    found.push(word.to_owned());
                }
            }
            _ => {}
        }
        if depth == 0 {
            return found;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_stand_in_quotes() {
        assert_eq!(
            quoted("url=\"https://x.example/a.jl\"); using A", Names::Registry),
            ["https://x.example/a.jl"]
        );
        assert_eq!(quoted("c('a1', \"b2\")); f('c')", Names::Registry), ["a1", "b2"]);
        assert_eq!(quoted("'o/n')", Names::At("https://github.com/")), ["https://github.com/o/n"]);
        assert_eq!(quoted("'open", Names::Registry), Vec::<String>::new());
    }
}
