//! The same table for files that stand in any folder: settings of package managers, which a client started by `npx`, `bunx`, `pnpm dlx`,
//! `yarn dlx`, `deno run npm:` or `uvx` there obeys before anything of it runs.

use super::kinds::{NPM_KEYS, NPM_USUAL};
use super::{Arguments, Kind};

const INDEX_USUAL: &[&str] = &[
    "https://pypi.org",
    "https://test.pypi.org",
    "https://download.pytorch.org",
    "https://files.pythonhosted.org",
];

/// Rows by the end of the path of a file.
pub(super) const IN_PROJECTS: &[Kind] = &[
    Kind {
        files: &["/.npmrc"],
        readers: &[],
        variable: "",
        keys: NPM_KEYS,
        usual: NPM_USUAL,
        arguments: Arguments::None,
        source: "docs.npmjs.com, \"npmrc\" (per-project), \"config\"; pnpm.io, \"Settings (.npmrc)\"",
    },
    Kind {
        files: &["/pnpm-workspace.yaml"],
        readers: &[],
        variable: "",
        keys: &["scriptshell", "nodeoptions", "registry", "pnpmfile", "globalpnpmfile", "shellemulator"],
        usual: &[
            "bash",
            "sh",
            "/bin/bash",
            "/bin/sh",
            "true",
            "false",
            "https://registry.npmjs.org",
            "https://registry.yarnpkg.com",
            "https://npm.pkg.github.com",
            "--max-old-space-size",
        ],
        arguments: Arguments::None,
        source: "pnpm.io, \"Settings (pnpm-workspace.yaml)\" of pnpm 10",
    },
    Kind {
        files: &["/.yarnrc.yml"],
        readers: &[],
        variable: "",
        keys: &["yarnpath", "path", "npmregistryserver", "injectenvironmentfiles"],
        usual: &[
            ".yarn/releases/",
            ".yarn/plugins/@yarnpkg/",
            "https://registry.npmjs.org",
            "https://registry.yarnpkg.com",
            "https://npm.pkg.github.com",
            ".env",
        ],
        arguments: Arguments::None,
        source: "yarnpkg.com, \"Settings (.yarnrc.yml)\": `yarnPath`, `plugins`, `npmRegistryServer`",
    },
    Kind {
        files: &["/.yarnrc"],
        readers: &[],
        variable: "",
        keys: &["yarn-path ", "registry ", "script-shell "],
        usual: &[
            ".yarn/releases/",
            "./.yarn/releases/",
            "bash",
            "https://registry.npmjs.org",
            "https://registry.yarnpkg.com",
        ],
        arguments: Arguments::None,
        source: "classic.yarnpkg.com, \"yarnrc\": `yarn-path`",
    },
    Kind {
        files: &["/bunfig.toml", "/.bunfig.toml"],
        readers: &[],
        variable: "",
        keys: &["registry", "shell"],
        usual: &[
            "system",
            "bun",
            "https://registry.npmjs.org",
            "https://registry.yarnpkg.com",
            "https://npm.pkg.github.com",
        ],
        arguments: Arguments::None,
        source: "bun.sh, \"bunfig.toml\": `install.registry`, `run.shell`",
    },
    Kind {
        files: &["/uv.toml"],
        readers: &[],
        variable: "",
        keys: &[
            "index-url",
            "extra-index-url",
            "find-links",
            "url",
            "default-index",
            "python-install-mirror",
        ],
        usual: INDEX_USUAL,
        arguments: Arguments::None,
        source: "docs.astral.sh/uv, \"Settings\": `[[index]]`, `index-url`",
    },
    Kind {
        files: &["/pip.conf", "/pip.ini"],
        readers: &[],
        variable: "",
        keys: &["index-url", "extra-index-url", "find-links"],
        usual: INDEX_USUAL,
        arguments: Arguments::None,
        source: "pip, \"Configuration\" (of a virtual environment: `pip.conf` in its folder)",
    },
    Kind {
        files: &["/deno.json", "/deno.jsonc"],
        readers: &[],
        variable: "",
        keys: &["\"importmap\":"],
        usual: &["./"],
        arguments: Arguments::None,
        source: "docs.deno.com, \"deno.json\": `importMap` may be an address",
    },
];

/// Files of which code named before their first table runs at every start: `preload` of `bunfig.toml` (bun.sh, "bunfig.toml").
pub(super) const PRELOADING: (&[&str], &str) = (&["/bunfig.toml", "/.bunfig.toml"], "preload");
