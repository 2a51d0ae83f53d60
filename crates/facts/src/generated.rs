//! Files that a build, an install or a download makes again.

use crate::world::{Entry, VersionState, World};
use checkrein_protocol::AbsolutePath;

/// What makes the file or directory again (`an install of dependencies`); `None` when nothing is known to.
///
/// Looks at every part of the path below the workspace root of whoever made it: `node_modules/x/y` is as
/// regenerable as `node_modules`. Names that people also use for their own work (`build`, `out`, `bin`) count only when
/// version control ignores all that is in them or a build file stands beside them, and no file in them is tracked. The root of a
/// repository or workspace says nothing by its name: it is where somebody works.
pub fn generated(path: &AbsolutePath, world: &dyn World) -> Option<&'static str> {
    if let Some(why) = path.name().and_then(file_name) {
        return Some(why);
    }
    let root = world.repository(path).map(|repository| repository.root);
    let mut next = Some(path.clone());
    while let Some(place) =
        next.filter(|place| Some(place) != root.as_ref() && *place != world.place().workspace)
    {
        let parent = place.parent()?;
        let name = place.name()?;
        if let Some((_, why)) = ALWAYS.iter().find(|(known, _)| name == *known) {
            return Some(why);
        }
        if name.ends_with(".egg-info") {
            return Some("an install of the package");
        }
        if let Some((_, files, why)) = BESIDE.iter().find(|(known, _, _)| name == *known)
            && beside(&parent, files, world)
            && !world.holds_tracked(&place)
        {
            return Some(why);
        }
        if IGNORED.contains(&name)
            && world.version(&place) == VersionState::Ignored
            && !world.holds_tracked(&place)
        {
            return Some("a build");
        }
        next = Some(parent);
    }
    None
}

/// What makes a whole tree again whose top has this name (`a build`); `None` when nothing is known to. `beside` answers whether a file
/// stands beside it. For those who see a tree but no world: the names that count only when version control ignores them do not here.
pub fn regenerated_tree(name: &str, beside: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    if name.ends_with(".egg-info") {
        return Some("an install of the package");
    }
    let always = ALWAYS.iter().find(|(known, _)| name == *known).map(|(_, why)| *why);
    let built =
        || BESIDE.iter().find(|(known, files, _)| name == *known && files.iter().any(|file| beside(file)));
    always.or_else(|| built().map(|(_, _, why)| *why))
}

/// Whether something that version control ignores is made again by its name: a build, an install, a cache. What else is ignored may be the
/// only copy of something: settings of this machine, notes.
pub fn regenerated_when_ignored(name: &str, beside: &dyn Fn(&str) -> bool) -> bool {
    let lower = name.to_ascii_lowercase();
    regenerated_tree(name, beside).is_some()
        || file_name(name).is_some()
        || IGNORED.contains(&name)
        || TRANSIENT.contains(&lower.as_str())
        || lower.contains("cache")
}

/// The directories for temporary files of machines of which nothing else is known.
const TEMPORARY_ELSEWHERE: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// Whether a path of another machine lies in a directory for temporary files there.
pub fn is_temporary_elsewhere(path: &AbsolutePath) -> bool {
    TEMPORARY_ELSEWHERE.iter().any(|directory| {
        path.as_str().strip_prefix(directory).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
    })
}

/// Whether what lies at a path in a container is made again there, by its name: temporary files, caches, and what is built, of which the image
/// holds the sources. Nothing else is known of such a place; what a service keeps lies in none of these.
pub fn is_made_again_in_container(path: &AbsolutePath) -> bool {
    const BUILT: &[&str] = &["build", "dist", "out", "target", "coverage", "_build", "obj", "tmp", "temp"];
    const OF_THE_SYSTEM: &[&str] =
        &["bin", "sbin", "boot", "dev", "etc", "lib", "lib64", "proc", "sys", "usr"];
    if is_temporary_elsewhere(path) || TEMPORARY_ELSEWHERE.contains(&path.as_str()) {
        return true;
    }
    let parts: Vec<&str> = path.parts().collect();
    let is_of_system = parts.first().is_some_and(|first| OF_THE_SYSTEM.contains(first));
    let homes = [["root"].as_slice(), parts.get(..2).unwrap_or_default()];
    let is_cache = homes.iter().filter(|home| !home.is_empty()).any(|home| {
        let home = AbsolutePath::new(&format!("/{}", home.join("/")));
        home.is_some_and(|home| regenerable_cache(path, &home).is_some())
    });
    is_cache
        || !is_of_system
            && parts
                .iter()
                .skip(1)
                .any(|part| BUILT.contains(part) || ALWAYS.iter().any(|(known, _)| part == known))
}

/// Names under which programs put what they need for a while.
const TRANSIENT: &[&str] = &["tmp", "temp", ".tmp", ".temp", "log", "logs", "sessions", "cover", "nohup.out"];

/// What fills the cache that holds the path (`a download of crates`); `None` outside the well-known caches.
pub fn regenerable_cache(path: &AbsolutePath, home: &AbsolutePath) -> Option<&'static str> {
    if let Some(relative) = path.relative_to(home) {
        let (_, why) = HOME_CACHES.iter().find(|(cache, _)| starts_with_parts(relative, cache))?;
        return Some(why);
    }
    let relative = path.as_str().strip_prefix('/')?;
    SYSTEM_CACHES.iter().find(|(cache, _)| starts_with_parts(relative, cache)).map(|(_, why)| *why)
}

/// Directories with names that nobody uses for their own work.
const ALWAYS: &[(&str, &str)] = &[
    ("node_modules", "an install of dependencies"),
    ("bower_components", "an install of dependencies"),
    ("__pycache__", "the next run"),
    ("__pypackages__", "an install of dependencies"),
    (".pytest_cache", "the next test run"),
    (".mypy_cache", "the next type check"),
    (".ruff_cache", "the next lint run"),
    (".tox", "the next test run"),
    (".nox", "the next test run"),
    (".hypothesis", "the next test run"),
    (".ipynb_checkpoints", "the next save"),
    (".venv", "an install of dependencies"),
    (".next", "a build"),
    (".nuxt", "a build"),
    (".output", "a build"),
    (".svelte-kit", "a build"),
    (".turbo", "a build"),
    (".parcel-cache", "a build"),
    (".angular", "a build"),
    (".vite", "a build"),
    (".webpack", "a build"),
    (".docusaurus", "a build"),
    (".cache", "the next run"),
    (".eslintcache", "the next lint run"),
    (".nyc_output", "the next test run"),
    (".sass-cache", "a build"),
    (".gradle", "a build"),
    (".dart_tool", "a build"),
    (".terragrunt-cache", "an install of modules"),
    ("DerivedData", "a build"),
    ("CMakeFiles", "a build"),
    ("bazel-out", "a build"),
    ("bazel-bin", "a build"),
    ("bazel-testlogs", "the next test run"),
    ("htmlcov", "the next test run"),
    ("dist-newstyle", "a build"),
    (".stack-work", "a build"),
    ("zig-cache", "a build"),
    (".zig-cache", "a build"),
    ("zig-out", "a build"),
    ("elm-stuff", "a build"),
];

/// Directories that are generated when one of these files stands beside them.
const BESIDE: &[(&str, &[&str], &str)] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt", "project.clj", "deps.edn"], "a build"),
    ("build", BUILD_FILES, "a build"),
    ("dist", BUILD_FILES, "a build"),
    ("out", BUILD_FILES, "a build"),
    ("lib-cov", &["package.json"], "the next test run"),
    ("coverage", BUILD_FILES, "the next test run"),
    ("venv", &["requirements.txt", "pyproject.toml", "setup.py", "Pipfile"], "an install of dependencies"),
    ("env", &["requirements.txt", "pyproject.toml", "setup.py"], "an install of dependencies"),
    ("vendor", &["composer.json", "Gemfile", "go.mod"], "an install of dependencies"),
    ("Pods", &["Podfile"], "an install of dependencies"),
    ("Carthage", &["Cartfile"], "an install of dependencies"),
    ("_build", &["mix.exs", "dune-project", "conf.py", "rebar.config", "Makefile"], "a build"),
    ("deps", &["mix.exs"], "an install of dependencies"),
    ("obj", &["Makefile", "CMakeLists.txt"], "a build"),
    ("bin", &["go.mod"], "a build"),
    (
        ".terraform",
        &["main.tf", "versions.tf", "providers.tf", ".terraform.lock.hcl"],
        "an install of providers",
    ),
    ("public", &["hugo.toml", "config.toml", "gatsby-config.js"], "a build"),
    ("_site", &["_config.yml"], "a build"),
    ("site", &["mkdocs.yml"], "a build"),
    ("storybook-static", &["package.json"], "a build"),
    ("cmake-build-debug", &["CMakeLists.txt"], "a build"),
    ("cmake-build-release", &["CMakeLists.txt"], "a build"),
];

/// Files that show that something is built here.
const BUILD_FILES: &[&str] = &[
    "package.json",
    "Cargo.toml",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "meson.build",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "build.gradle",
    "build.gradle.kts",
    "pom.xml",
    "go.mod",
    "tsconfig.json",
    "vite.config.ts",
    "vite.config.js",
    "webpack.config.js",
    "pubspec.yaml",
    "composer.json",
    "justfile",
    "configure.ac",
    "build.zig",
    "mix.exs",
    "Gemfile",
];

/// Names that count as built when version control ignores them.
const IGNORED: &[&str] = &[
    "build",
    "dist",
    "out",
    "target",
    "bin",
    "obj",
    "coverage",
    "release",
    "debug",
    "Release",
    "Debug",
    "_build",
    "_site",
    "site",
    "vendor",
    "venv",
    "env",
    "generated",
    "wheels",
    "sdist",
    "eggs",
    ".eggs",
    "test-results",
    "playwright-report",
    "artifacts",
    "storybook-static",
    "Pods",
    ".terraform",
    ".serverless",
    ".aws-sam",
    ".vercel",
    ".netlify",
    ".expo",
];

const HOME_CACHES: &[(&str, &str)] = &[
    (".cache", "the next run"),
    ("Library/Caches", "the next run"),
    (".npm/_cacache", "a download of packages"),
    (".npm/_logs", "nothing that matters"),
    (".npm/_npx", "a download of packages"),
    (".cargo/registry", "a download of crates"),
    (".cargo/git", "a download of crates"),
    (".rustup/toolchains", "a download of toolchains"),
    (".rustup/downloads", "a download of toolchains"),
    ("go/pkg/mod", "a download of modules"),
    (".gradle/caches", "a download of dependencies"),
    (".gradle/daemon", "the next build"),
    (".m2/repository", "a download of dependencies"),
    (".ivy2/cache", "a download of dependencies"),
    (".yarn/cache", "a download of packages"),
    (".bun/install/cache", "a download of packages"),
    (".pnpm-store", "a download of packages"),
    (".local/share/pnpm/store", "a download of packages"),
    (".nuget/packages", "a download of packages"),
    (".composer/cache", "a download of packages"),
    (".pub-cache", "a download of packages"),
    (".conda/pkgs", "a download of packages"),
    (".cocoapods/repos", "a download of packages"),
    (".docker/buildx/activity", "the next build"),
    (".vscode-server/extensionsCache", "a download of extensions"),
];

const SYSTEM_CACHES: &[(&str, &str)] = &[
    ("var/cache", "the next run"),
    ("var/lib/apt/lists", "an update of the package lists"),
    ("root/.cache", "the next run"),
    ("root/.npm/_cacache", "a download of packages"),
    ("root/.cargo/registry", "a download of crates"),
];

/// Files known by their name alone.
fn file_name(name: &str) -> Option<&'static str> {
    const SUFFIXES: &[(&str, &str)] = &[
        (".pyc", "the next run"),
        (".pyo", "the next run"),
        (".o", "a build"),
        (".obj", "a build"),
        (".class", "a build"),
        (".rlib", "a build"),
        (".rmeta", "a build"),
        (".tsbuildinfo", "a build"),
        (".gcda", "the next test run"),
        (".gcno", "a build"),
        (".profraw", "the next test run"),
        (".hi", "a build"),
        (".beam", "a build"),
    ];
    if matches!(name, ".DS_Store" | "Thumbs.db" | ".coverage" | "npm-debug.log" | "yarn-error.log") {
        return Some("the next run");
    }
    SUFFIXES.iter().find(|(end, _)| name.len() > end.len() && name.ends_with(end)).map(|(_, why)| *why)
}

fn beside(directory: &AbsolutePath, files: &[&str], world: &dyn World) -> bool {
    files.iter().any(|file| matches!(world.entry(&directory.join(file)), Entry::File(_)))
}

/// Whether the parts of `text` begin with those of `start`.
fn starts_with_parts(text: &str, start: &str) -> bool {
    text.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::recorded::RecordedWorld;
    use crate::world::{HostPaths, Repository};

    fn path(text: &str) -> AbsolutePath {
        AbsolutePath::new(text).unwrap()
    }

    /// A repository at this place with one ignored file.
    fn ignored(root: &str, file: &str) -> RecordedWorld {
        let mut world = RecordedWorld::complete(HostPaths::new(path("/home/dev"), path(root))).with_file(
            &path(file),
            "x",
            VersionState::Ignored,
        );
        let repository = Repository { root: path(root), directory: path(root).join(".git"), branch: None };
        world.repositories.insert(path(root), Some(repository));
        world
    }

    #[test]
    fn the_name_of_a_repository_says_nothing_of_what_lies_in_it() {
        let world = ignored("/home/dev/build", "/home/dev/build/disk.img");
        assert_eq!(generated(&path("/home/dev/build/disk.img"), &world), None);
        let world = ignored("/home/dev/shop", "/home/dev/shop/build/disk.img");
        assert_eq!(generated(&path("/home/dev/shop/build/disk.img"), &world), Some("a build"));
    }

    #[test]
    fn a_folder_with_a_tracked_file_is_not_made_again() {
        let world = ignored("/home/dev/shop", "/home/dev/shop/bin/disk.img");
        assert_eq!(generated(&path("/home/dev/shop/bin"), &world), Some("a build"));
        let world = world.with_file(&path("/home/dev/shop/bin/tool.sh"), "x", VersionState::TrackedClean);
        assert_eq!(generated(&path("/home/dev/shop/bin"), &world), None);
        assert_eq!(generated(&path("/home/dev/shop/bin/disk.img"), &world), None);
    }
}
