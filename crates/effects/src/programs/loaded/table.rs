//! Which tool loads which code of the project.

mod configured;

use crate::interpreter::{Call, Value};

use configured::CONFIGURED;

/// What the words are that name code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Files and directories.
    Files,
    /// Modules of Python, or files: `app.main:app`.
    Modules,
}

/// What a tool loads.
pub(super) struct Loader {
    /// The programs, some with a subcommand, some with any (`*`).
    programs: &'static [&'static str],
    /// What the words are that name code.
    pub(super) named: Named,
    /// Options that name code.
    pub(super) options: &'static [&'static str],
    /// A variable that names code.
    pub(super) variable: Option<&'static str>,
    /// Files that it loads from its directory, whatever it is given.
    pub(super) files: &'static [&'static str],
    /// Where it looks for tests when it is given none.
    pub(super) places: &'static [&'static str],
    /// How the names of tests begin and end.
    pub(super) tests: &'static [(&'static str, &'static str)],
    /// Words with which nothing runs.
    quiet: &'static [&'static str],
}

impl Loader {
    /// Whether a word behind a program says what to do, and names no code.
    pub(super) fn is_deed(&self, program: &str, word: &str) -> bool {
        let (with_word, any) = (format!("{program} {word}"), format!("{program} *"));
        self.programs.iter().any(|name| *name == with_word || *name == any)
    }
}

/// Programs that run a module of Python behind `-m`.
pub(super) const PROFILERS: &[&str] =
    &["coverage", "viztracer", "kernprof", "scalene", "pyinstrument", "memray", "mprof", "debugpy", "py-spy"];

/// All loaders.
pub(super) fn all() -> impl Iterator<Item = &'static Loader> {
    LOADERS.iter().chain(CONFIGURED)
}

/// The loaders that a call starts.
pub(super) fn of(call: &Call) -> impl Iterator<Item = &'static Loader> {
    let program = call.program.clone();
    let words: Vec<String> = call.words.iter().filter_map(Value::as_exact).map(str::to_owned).collect();
    let first = call.arguments.operands.first().and_then(Value::as_exact).unwrap_or_default();
    let with_first = format!("{program} {first}");
    let with_option = format!("{program} {}", words.first().map_or("", String::as_str));
    let any = format!("{} *", program.split(' ').next().unwrap_or_default());
    all().filter(move |loader| {
        loader
            .programs
            .iter()
            .any(|name| [&program, &with_first, &with_option, &any].into_iter().any(|call| call == name))
            && !words.iter().any(|word| loader.quiet.contains(&word.as_str()))
    })
}

const NOTHING: Loader = Loader {
    programs: &[],
    named: Named::Files,
    options: &[],
    variable: None,
    files: &[],
    places: &[],
    tests: &[],
    quiet: &["--help", "--version", "--collect-only", "--co", "--listTests", "--list", "--showConfig"],
};

const JAVASCRIPT_TESTS: &[(&str, &str)] = &[
    ("", ".test.js"),
    ("", ".test.ts"),
    ("", ".test.mjs"),
    ("", ".test.cjs"),
    ("", ".test.jsx"),
    ("", ".test.tsx"),
    ("", ".spec.js"),
    ("", ".spec.ts"),
    ("", ".spec.mjs"),
    ("", ".spec.tsx"),
];
const JAVASCRIPT_PLACES: &[&str] = &[".", "test", "tests", "__tests__", "spec", "src", "e2e"];

/// The loaders. Sources: the documentation of each, on discovery of tests and on files of settings: pytest 8, coverage.py 7, Jest 29, Vitest 2,
/// Mocha 10, node 22 (`--test`), Bun 1.1, Playwright 1.47, Cypress 13, RSpec 3, PHPUnit 11, Busted 2, bats-core 1.11, Test::Harness 3, `go help
/// test`, the Cargo Book ("Build Scripts", "Project Layout"), setuptools ("`setup.py`"), CMake 3.30, Meson 1.5, Vite 5, webpack 5, Rollup 4, Next 14,
/// ESLint 9, Flask 3 ("Application Discovery"), Uvicorn, Gunicorn, Streamlit, Celery 5, Locust 2, Scrapy 2, Sphinx 8, MkDocs 1.6, Alembic 1.13,
/// Snakemake 8, SCons 4, Docker Compose, act 0.2, Bundler 2, RubyGems 3, Puma 6, Rails 7 ("The Rails Initialization Process"), Guard, Capistrano 3, fastlane,
/// CocoaPods, Vagrant, Danger, Homebrew Bundle, IRB, Pry, Gradle 8 ("Build Lifecycle"), Mix, sbt 1, Bazel 7, Mage, Knex, Drizzle, Hardhat,
/// Truffle, Plop, pnpm (".pnpmfile.cjs"), Storybook 8, PM2 5, nodemon 3, forever 4, VizTracer 0.16, line_profiler 4, Scalene 1.5, Memray 1.14.
const LOADERS: &[Loader] = &[
    Loader {
        programs: &["pytest", "py.test", "nose2", "nosetests", "unittest", "behave", "robot", "mutmut"],
        options: &["-p", "--confcutdir", "--rootdir", "-s", "--start-directory"],
        files: &["conftest.py", "setup.py"],
        places: &[".", "tests", "test"],
        tests: &[("test_", ".py"), ("", "_test.py"), ("conftest", ".py"), ("test", ".py")],
        variable: Some("PYTEST_PLUGINS"),
        named: Named::Modules,
        ..NOTHING
    },
    Loader {
        programs: &[
            "coverage run",
            "viztracer",
            "kernprof",
            "scalene",
            "pyinstrument",
            "memray run",
            "mprof run",
            "pyinstrument",
            "fil-profile run",
            "streamlit run",
            "fastapi run",
            "fastapi dev",
            "chainlit run",
            "panel serve",
            "bokeh serve",
            "gradio",
            "voila",
            "uvicorn",
            "gunicorn",
            "hypercorn",
            "daphne",
            "waitress-serve",
            "celery",
            "dramatiq",
            "huey_consumer",
            "arq",
            "rq worker",
            "flask",
            "flask run",
            "flask shell",
            "scrapy runspider",
            "dagster dev",
            "kedro run",
            "modal run",
            "prefect deploy",
            "freecadcmd",
            "mitmdump",
        ],
        named: Named::Modules,
        options: &["-A", "--app", "-m", "--module", "-f", "-c"],
        variable: Some("FLASK_APP"),
        ..NOTHING
    },
    Loader { programs: &["flask", "flask run"], files: &["app.py", "wsgi.py"], ..NOTHING },
    Loader { programs: &["locust"], options: &["-f", "--locustfile"], files: &["locustfile.py"], ..NOTHING },
    Loader {
        programs: &["sphinx-build"],
        files: &["conf.py", "docs/conf.py", "docs/source/conf.py"],
        ..NOTHING
    },
    Loader {
        programs: &["alembic upgrade", "alembic downgrade"],
        files: &["alembic/env.py", "migrations/env.py"],
        ..NOTHING
    },
    Loader {
        programs: &["snakemake"],
        options: &["-s", "--snakefile"],
        files: &["Snakefile", "workflow/Snakefile"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "pip install",
            "pip wheel",
            "pip3 install",
            "pip3 wheel",
            "uv pip",
            "uv build",
            "uv sync",
            "uv pip install",
            "poetry build",
            "poetry install",
            "pdm build",
            "hatch build",
            "flit build",
            "build",
            "pyproject-build",
            "pip-run",
            "cibuildwheel",
        ],
        files: &["setup.py", "hatch_build.py", "build.py"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "jest",
            "vitest",
            "vitest run",
            "vitest watch",
            "mocha",
            "ava",
            "tap",
            "jasmine",
            "c8",
            "nyc",
            "tape",
            "uvu",
            "node --test",
            "bun test",
        ],
        files: &[
            "jest.config.js",
            "jest.config.ts",
            "jest.config.cjs",
            "jest.config.mjs",
            "jest.setup.js",
            "jest.setup.ts",
            "vitest.config.js",
            "vitest.config.ts",
            "vitest.config.mts",
            "vitest.setup.ts",
            "vite.config.js",
            "vite.config.ts",
            ".mocharc.js",
            ".mocharc.cjs",
            "ava.config.js",
            "babel.config.js",
        ],
        places: JAVASCRIPT_PLACES,
        tests: JAVASCRIPT_TESTS,
        ..NOTHING
    },
    Loader {
        programs: &[
            "playwright test",
            "cypress run",
            "cypress open",
            "karma start",
            "wdio",
            "wdio run",
            "nightwatch",
            "testcafe",
            "protractor",
            "web-test-runner",
            "wtr",
        ],
        files: &[
            "playwright.config.ts",
            "playwright.config.js",
            "cypress.config.ts",
            "cypress.config.js",
            "karma.conf.js",
            "wdio.conf.js",
            "wdio.conf.ts",
            "nightwatch.conf.js",
            ".testcaferc.js",
            "protractor.conf.js",
            "conf.js",
            "web-test-runner.config.js",
            "web-test-runner.config.mjs",
        ],
        options: &["-c", "--config"],
        places: JAVASCRIPT_PLACES,
        tests: JAVASCRIPT_TESTS,
        ..NOTHING
    },
    Loader {
        programs: &["mocha"],
        files: &[".mocharc.js", ".mocharc.cjs"],
        options: &["--config", "-r", "--require", "--file"],
        places: &["test"],
        tests: &[("", ".js"), ("", ".cjs"), ("", ".mjs")],
        ..NOTHING
    },
    Loader {
        programs: &["pnpm *"],
        files: &[".pnpmfile.cjs", "pnpmfile.cjs"],
        quiet: &["--ignore-pnpmfile", "--help", "--version"],
        ..NOTHING
    },
    Loader { programs: &["yarn *"], files: &[".yarnrc.js", "yarn.config.cjs"], ..NOTHING },
    Loader {
        programs: &[
            "vite",
            "astro",
            "nuxt",
            "nuxi",
            "next",
            "remix",
            "svelte-kit",
            "webpack",
            "webpack-cli",
            "webpack-dev-server",
            "rollup",
            "tsup",
            "unbuild",
            "rspack",
            "esbuild",
            "parcel",
            "react-scripts",
            "react-native",
            "react-native *",
            "expo *",
            "metro *",
            "storybook *",
            "ember",
            "ember *",
            "craco",
            "vue-cli-service",
            "gatsby",
            "eleventy",
            "docusaurus",
            "storybook",
            "metro",
            "expo",
            "tailwindcss",
            "postcss",
            "babel",
        ],
        files: &[
            "vite.config.js",
            "vite.config.ts",
            "vite.config.mjs",
            "vite.config.mts",
            "vite.config.cjs",
            "astro.config.mjs",
            "astro.config.ts",
            "nuxt.config.ts",
            "nuxt.config.js",
            "next.config.js",
            "next.config.mjs",
            "next.config.ts",
            "remix.config.js",
            "svelte.config.js",
            "webpack.config.js",
            "webpack.config.ts",
            "webpack.config.cjs",
            "rollup.config.js",
            "rollup.config.mjs",
            "tsup.config.ts",
            "build.config.ts",
            "rspack.config.js",
            "craco.config.js",
            "vue.config.js",
            "gatsby-config.js",
            "gatsby-node.js",
            ".eleventy.js",
            "docusaurus.config.js",
            "metro.config.js",
            "app.config.js",
            "app.config.ts",
            ".storybook/main.js",
            ".storybook/main.cjs",
            ".storybook/main.ts",
            "ember-cli-build.js",
            "config/environment.js",
            "tailwind.config.js",
            "tailwind.config.ts",
            "postcss.config.js",
            "postcss.config.cjs",
            "babel.config.js",
        ],
        options: &["-c", "--config"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "eslint",
            "prettier",
            "stylelint",
            "commitlint",
            "lint-staged",
            "semantic-release",
            "knip",
            "oxlint",
        ],
        files: &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            "eslint.config.ts",
            ".eslintrc.js",
            ".eslintrc.cjs",
            "prettier.config.js",
            ".prettierrc.js",
            ".prettierrc.cjs",
            "stylelint.config.js",
            "commitlint.config.js",
            "lint-staged.config.js",
            "release.config.js",
        ],
        options: &["-c", "--config"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "knex *",
            "sequelize *",
            "sequelize-cli *",
            "drizzle-kit *",
            "typeorm *",
            "prisma *",
            "mikro-orm *",
            "graphql-codegen",
            "graphql-codegen *",
            "openapi-ts",
            "orval",
            "plop",
            "hygen *",
            "hardhat *",
            "truffle *",
            "jake",
            "just-scripts *",
            "changelogithub",
            "release-it",
            "standard-version",
            "lingui *",
            "i18next",
            "svgo",
            "serverless *",
            "sls *",
            "cdk *",
            "sst *",
            "netlify *",
            "wrangler *",
        ],
        files: &[
            "knexfile.js",
            "knexfile.ts",
            ".sequelizerc",
            "drizzle.config.js",
            "drizzle.config.ts",
            "ormconfig.js",
            "prisma.config.js",
            "prisma.config.ts",
            "mikro-orm.config.js",
            "codegen.js",
            "codegen.ts",
            "openapi-ts.config.ts",
            "orval.config.js",
            "orval.config.ts",
            "plopfile.js",
            "plopfile.mjs",
            "plopfile.ts",
            ".hygen.js",
            "hardhat.config.js",
            "hardhat.config.cjs",
            "hardhat.config.ts",
            "truffle-config.js",
            "truffle.js",
            "Jakefile.js",
            "jakefile.js",
            "Jakefile",
            "just.config.js",
            ".release-it.js",
            ".versionrc.js",
            "lingui.config.js",
            "svgo.config.js",
            "serverless.js",
            "serverless.ts",
            "sst.config.ts",
        ],
        options: &["-c", "--config", "--knexfile", "--plopfile", "-f", "-d", "--dataSource"],
        ..NOTHING
    },
    Loader {
        programs: &[
            "forever",
            "pm2 start",
            "pm2 restart",
            "pm2",
            "nodemon",
            "supervisor",
            "node-dev",
            "ts-node-dev",
            "tsnd",
        ],
        files: &["ecosystem.config.js", "ecosystem.config.cjs"],
        quiet: &[
            "list",
            "logs",
            "stop",
            "delete",
            "kill",
            "status",
            "ls",
            "monit",
            "save",
            "--help",
            "--version",
        ],
        ..NOTHING
    },
    Loader {
        programs: &["rspec", "minitest", "cucumber"],
        files: &["spec/spec_helper.rb", "spec/rails_helper.rb", "test/test_helper.rb"],
        places: &["spec", "test"],
        tests: &[("", "_spec.rb"), ("", "_test.rb"), ("", "_helper.rb")],
        ..NOTHING
    },
    Loader {
        programs: &["bundle *", "bundler *"],
        files: &["Gemfile", "gems.rb"],
        options: &["--gemfile"],
        variable: Some("BUNDLE_GEMFILE"),
        ..NOTHING
    },
    Loader { programs: &["gem build", "gem install"], ..NOTHING },
    Loader {
        programs: &["rackup", "puma", "unicorn", "thin start", "falcon serve", "passenger start"],
        files: &["config.ru", "config/puma.rb", "config/unicorn.rb", "falcon.rb"],
        options: &["-C", "--config", "-c", "-R", "--rackup"],
        ..NOTHING
    },
    Loader {
        programs: &["rails *", "rspec", "sidekiq", "spring *", "rake"],
        files: &[
            "config/boot.rb",
            "config/application.rb",
            "config/environment.rb",
            "config/environments/test.rb",
        ],
        options: &["-r", "--require"],
        ..NOTHING
    },
    Loader { programs: &["guard", "guard *"], files: &["Guardfile"], options: &["-G"], ..NOTHING },
    Loader { programs: &["cap *"], files: &["Capfile", "config/deploy.rb"], options: &["-f"], ..NOTHING },
    Loader {
        programs: &["fastlane *"],
        files: &["fastlane/Fastfile", "Fastfile", ".fastlane/Fastfile", "fastlane/Pluginfile"],
        ..NOTHING
    },
    Loader { programs: &["pod *"], files: &["Podfile"], ..NOTHING },
    Loader {
        programs: &["vagrant *"],
        files: &["Vagrantfile"],
        variable: Some("VAGRANT_VAGRANTFILE"),
        ..NOTHING
    },
    Loader {
        programs: &["danger", "danger *"],
        files: &["Dangerfile"],
        options: &["--dangerfile"],
        ..NOTHING
    },
    Loader { programs: &["brew bundle"], files: &["Brewfile"], options: &["--file"], ..NOTHING },
    Loader { programs: &["irb"], files: &[".irbrc"], options: &["-r"], quiet: &["-f"], ..NOTHING },
    Loader { programs: &["pry"], files: &[".pryrc"], options: &["-r"], quiet: &["-f"], ..NOTHING },
    Loader { programs: &["thor *"], files: &["Thorfile"], ..NOTHING },
    Loader { programs: &["berks *"], files: &["Berksfile"], ..NOTHING },
    Loader { programs: &["middleman *"], files: &["config.rb"], ..NOTHING },
    Loader {
        programs: &["phpunit", "pest", "codecept", "behat"],
        files: &["tests/bootstrap.php", "tests/Pest.php"],
        places: &["tests", "test"],
        tests: &[("", "Test.php"), ("", "Cest.php")],
        ..NOTHING
    },
    Loader { programs: &["busted"], places: &["spec", "."], tests: &[("", "_spec.lua")], ..NOTHING },
    Loader {
        programs: &["bats", "bats-core"],
        places: &["test", "tests"],
        tests: &[("", ".bats")],
        ..NOTHING
    },
    Loader { programs: &["prove"], places: &["t"], tests: &[("", ".t")], ..NOTHING },
    Loader {
        programs: &["go test", "gotest", "gotestsum", "richgo", "ginkgo"],
        places: &[".", "internal", "pkg", "cmd"],
        tests: &[("", "_test.go")],
        ..NOTHING
    },
    Loader {
        programs: &["cargo test", "cargo t", "cargo nextest", "cargo bench"],
        files: &["build.rs"],
        places: &["tests", "benches"],
        tests: &[("", ".rs")],
        ..NOTHING
    },
    Loader {
        programs: &[
            "cargo check",
            "cargo c",
            "cargo clippy",
            "cargo doc",
            "cargo install",
            "cargo publish",
            "cargo package",
            "cargo x",
        ],
        files: &["build.rs"],
        ..NOTHING
    },
    Loader {
        programs: &["cmake"],
        options: &["-C", "-P"],
        files: &["CMakeLists.txt", "../CMakeLists.txt"],
        ..NOTHING
    },
    Loader {
        programs: &["gradle", "gradle *", "gradlew", "gradlew *"],
        options: &["-I", "--init-script", "-b", "--build-file", "-c", "--settings-file"],
        files: &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "app/build.gradle",
            "app/build.gradle.kts",
            "buildSrc/build.gradle",
            "buildSrc/build.gradle.kts",
        ],
        ..NOTHING
    },
    Loader {
        programs: &["mix *", "iex"],
        files: &[
            "mix.exs",
            "config/config.exs",
            "config/runtime.exs",
            "config/test.exs",
            "test/test_helper.exs",
        ],
        ..NOTHING
    },
    Loader { programs: &["mix test"], places: &["test"], tests: &[("", "_test.exs")], ..NOTHING },
    Loader { programs: &["sbt", "sbt *"], files: &["build.sbt", "project/plugins.sbt"], ..NOTHING },
    Loader {
        programs: &[
            "bazel build",
            "bazel run",
            "bazel test",
            "bazelisk build",
            "bazelisk run",
            "bazelisk test",
            "buck2 build",
            "please build",
        ],
        files: &["BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "BUCK"],
        ..NOTHING
    },
    Loader { programs: &["mage", "mage *"], files: &["magefile.go", "magefiles/magefile.go"], ..NOTHING },
    Loader { programs: &["gunicorn"], options: &["-c", "--config"], files: &["gunicorn.conf.py"], ..NOTHING },
    Loader { programs: &["meson", "meson setup"], files: &["meson.build"], ..NOTHING },
    Loader { programs: &["scons"], options: &["-f"], files: &["SConstruct"], ..NOTHING },
    Loader {
        programs: &["act"],
        files: &[],
        places: &[".github/workflows"],
        tests: &[("", ".yml"), ("", ".yaml")],
        ..NOTHING
    },
];
