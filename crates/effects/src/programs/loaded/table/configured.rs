//! Tools whose settings are data in which commands stand: builds, deployments, services, shells for development.

use super::{Loader, NOTHING};

/// The tools. Sources: the reference of each on its settings: Terraform 1.9 ("External data source", "Provisioners"), Terragrunt (hooks), Packer
/// ("shell-local"), MSBuild ("Exec task", "Directory.Build.props"), Maven (exec-maven-plugin, maven-antrun-plugin), Ant, Nix (`shellHook`), DVC
/// ("dvc.yaml"), tox 4, Hatch ("Environment scripts"), lint-staged, nodemon, Serverless, AWS SAM, CDK ("cdk.json"), Pulumi ("Pulumi.yaml"), Firebase
/// (`predeploy`), Vercel, Netlify, Wrangler (`build.command`), `GoReleaser` (`before.hooks`), git-cliff, cargo-release, semantic-release, Air, Trunk, Tauri
/// (`beforeBuildCommand`), mprocs, Process Compose, supervisord, Circus, Skaffold ("custom build"), Tilt ("local"), Garden, Werf, `gitlab-runner exec`,
/// gitlab-ci-local, the Cargo Book ("Configuration"), VHS, goss, Molecule, Quarto (`pre-render`), mdBook, Jekyll, latexmk, moon, Turborepo, Nx, Pants, Buck2,
/// xmake, Premake, pre-commit, Lefthook, Overcommit. Which files these are was taken from there as remembered; no program was run for it.
pub(super) const CONFIGURED: &[Loader] = &[
    Loader {
        programs: &["terraform *", "tofu *", "terragrunt *", "cdktf *"],
        options: &["-chdir", "--terragrunt-working-dir"],
        files: &["terragrunt.hcl"],
        places: &["."],
        tests: &[("", ".tf"), ("", ".tofu"), ("", ".tf.json")],
        quiet: &["fmt", "validate", "version", "output", "graph", "--help", "--version"],
        ..NOTHING
    },
    Loader {
        programs: &["packer build", "packer validate", "packer init"],
        places: &["."],
        tests: &[("", ".pkr.hcl"), ("", ".pkr.json")],
        ..NOTHING
    },
    Loader {
        programs: &["dotnet *", "msbuild", "msbuild *", "xbuild"],
        files: &[
            "Directory.Build.props",
            "Directory.Build.targets",
            "Directory.Packages.props",
            "../Directory.Build.props",
            "../Directory.Build.targets",
        ],
        places: &["."],
        tests: &[("", "proj"), ("", ".props"), ("", ".targets")],
        quiet: &["--info", "--list-sdks", "--help", "--version", "new", "format"],
        ..NOTHING
    },
    Loader {
        programs: &["mvn", "mvn *", "mvnw", "mvnw *", "mvnd", "mvnd *"],
        options: &["-f", "--file"],
        files: &["pom.xml"],
        quiet: &["--help", "--version", "-v"],
        ..NOTHING
    },
    Loader { programs: &["ant", "ant *"], options: &["-f", "-buildfile"], files: &["build.xml"], ..NOTHING },
    Loader {
        programs: &["nix *", "nix-shell", "nix-shell *", "nix-build", "nix-build *", "devenv *", "lorri *"],
        files: &["flake.nix", "shell.nix", "default.nix", "devenv.nix"],
        quiet: &["fmt", "search", "eval", "flake", "--help", "--version"],
        ..NOTHING
    },
    Loader { programs: &["dvc repro", "dvc exp", "dvc stage"], files: &["dvc.yaml"], ..NOTHING },
    Loader {
        programs: &["tox", "tox *", "detox", "hatch *", "pdm *", "poe", "poe *", "bump-my-version *"],
        options: &["-c"],
        files: &["tox.ini", "setup.cfg", "tox.toml", "pyproject.toml", "hatch.toml", ".bumpversion.toml"],
        quiet: &["-l", "--listenvs", "--help", "--version", "list"],
        ..NOTHING
    },
    Loader {
        programs: &["lint-staged", "nano-staged", "nodemon", "nodemon *", "simple-git-hooks", "wireit"],
        files: &[
            ".lintstagedrc",
            ".lintstagedrc.json",
            ".lintstagedrc.yaml",
            ".lintstagedrc.yml",
            ".nano-staged.json",
            "nodemon.json",
            ".simple-git-hooks.json",
            "package.json",
        ],
        options: &["-c", "--config"],
        ..NOTHING
    },
    Loader {
        programs: &["serverless *", "sls *", "sam *", "cdk *", "pulumi *", "sst *", "architect *"],
        files: &[
            "serverless.yml",
            "serverless.yaml",
            "template.yaml",
            "Makefile",
            "cdk.json",
            "app.py",
            "Pulumi.yaml",
            "index.js",
            "index.ts",
            "__main__.py",
        ],
        places: &["bin"],
        tests: &[("", ".ts"), ("", ".js")],
        quiet: &["--help", "--version", "ls", "stack", "config"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "firebase *",
            "vercel",
            "vercel *",
            "netlify *",
            "wrangler *",
            "amplify *",
            "render *",
            "railway *",
            "shopify *",
        ],
        files: &[
            "firebase.json",
            "vercel.json",
            "netlify.toml",
            "wrangler.toml",
            "wrangler.json",
            "wrangler.jsonc",
            "amplify.yml",
            "railway.toml",
            "railway.json",
            "package.json",
        ],
        options: &["-c", "--config"],
        quiet: &["--help", "--version", "login", "logout", "whoami"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "goreleaser *",
            "changie *",
            "git-cliff",
            "cargo release",
            "cargo-release",
            "jreleaser *",
        ],
        files: &[
            ".goreleaser.yml",
            ".goreleaser.yaml",
            "goreleaser.yml",
            ".changie.yaml",
            "cliff.toml",
            "release.toml",
            "jreleaser.yml",
        ],
        options: &["-f", "--config"],
        ..NOTHING
    },
    Loader {
        programs: &["semantic-release", "release-it", "standard-version", "commit-and-tag-version"],
        files: &[
            ".releaserc",
            ".releaserc.json",
            ".releaserc.yml",
            ".release-it.json",
            ".versionrc",
            "package.json",
        ],
        ..NOTHING
    },
    Loader {
        programs: &[
            "air",
            "air *",
            "trunk build",
            "trunk serve",
            "tauri *",
            "dx *",
            "cargo leptos",
            "reflex",
        ],
        files: &[
            ".air.toml",
            "Trunk.toml",
            "src-tauri/tauri.conf.json",
            "tauri.conf.json",
            "Dioxus.toml",
            "reflex.conf",
        ],
        options: &["-c", "--config"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "mprocs",
            "process-compose",
            "process-compose *",
            "supervisord",
            "circusd",
            "tmuxinator *",
            "tmuxp *",
            "teamocil",
            "zellij *",
            "concurrently",
            "watchexec",
            "bacon",
        ],
        files: &[
            "mprocs.yaml",
            "process-compose.yaml",
            "process-compose.yml",
            "supervisord.conf",
            "circus.ini",
            ".tmuxinator.yml",
            ".tmuxp.yaml",
            "bacon.toml",
        ],
        options: &["-c", "--config", "-f", "--configuration", "--layout", "-l"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "skaffold *",
            "tilt *",
            "garden *",
            "werf *",
            "devspace *",
            "okteto *",
            "dagger *",
            "helmfile *",
            "ko *",
            "kustomize *",
        ],
        files: &[
            "skaffold.yaml",
            "Tiltfile",
            "garden.yml",
            "project.garden.yml",
            "werf.yaml",
            "devspace.yaml",
            "okteto.yml",
            "helmfile.yaml",
            ".ko.yaml",
        ],
        options: &["-f", "--file", "--filename"],
        quiet: &["--help", "--version", "version", "diagnose", "schema"],
        ..NOTHING
    },
    Loader {
        programs: &["gitlab-runner exec", "gitlab-ci-local", "gitlab-ci-local *"],
        options: &["--file"],
        files: &[".gitlab-ci.yml", ".gitlab-ci-local.yml"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "cargo build",
            "cargo b",
            "cargo run",
            "cargo r",
            "cargo test",
            "cargo t",
            "cargo check",
            "cargo c",
            "cargo clippy",
            "cargo bench",
            "cargo doc",
            "cargo nextest",
            "cargo install",
        ],
        files: &[".cargo/config.toml", ".cargo/config"],
        ..NOTHING
    },
    Loader {
        programs: &["vhs", "goss *", "molecule *"],
        files: &["goss.yaml", "molecule/default/molecule.yml", "molecule/default/converge.yml"],
        options: &["-g", "--gossfile"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "quarto *", "mdbook *", "jekyll *", "hugo", "hugo *", "zola *", "latexmk", "tectonic", "pandoc",
        ],
        files: &["_quarto.yml", "book.toml", "_config.yml", "latexmkrc", ".latexmkrc", "Tectonic.toml"],
        quiet: &["--help", "--version", "new", "init"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "moon *", "turbo *", "nx *", "pants *", "buck2 *", "xmake", "xmake *", "premake5", "wireit *",
        ],
        files: &[
            "moon.yml",
            ".moon/tasks.yml",
            "project.json",
            "BUILD",
            "BUCK",
            "TARGETS",
            "xmake.lua",
            "premake5.lua",
        ],
        quiet: &["--help", "--version", "graph"],
        ..NOTHING
    },
    Loader {
        programs: &["pre-commit *", "prek *", "lefthook *", "overcommit *", "trunk check"],
        files: &[
            ".pre-commit-config.yaml",
            "lefthook.yml",
            ".lefthook.yml",
            ".overcommit.yml",
            ".trunk/trunk.yaml",
        ],
        quiet: &["--help", "--version", "autoupdate", "validate-config", "sample-config"],
        ..NOTHING
    },
];
