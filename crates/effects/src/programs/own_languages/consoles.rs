//! Consoles of frameworks and languages: what comes in, or stands behind an option, is code in a language that is followed, with all that the project
//! holds at hand.

use crate::interpreter::{Call, Input, Machine, Value};

use super::codes::{self, Runner};

/// A console.
struct Console {
    programs: &'static [&'static str],
    /// The words that open it, as they follow each other; one of them is enough. Without any, each call does.
    opened: &'static [&'static [&'static str]],
    /// Options whose value is code.
    options: &'static [&'static str],
    runner: Runner,
}

const PYTHON: Runner = Runner::Followed("python3", "-c");
const RUBY: Runner = Runner::Followed("ruby", "-e");
const PHP: Runner = Runner::Followed("php", "-r");

/// Sources: Rails 8, "The Rails Command Line"; Django 5, "django-admin and manage.py", and django-extensions; Flask 3, "Command Line"; Scrapy 2, "shell";
/// Pyramid 2, `pshell`; php(1), `-a`; Laravel 12, "Tinker"; PsySH 0.12; Drush 13, `php:eval` and `php:cli`; WP-CLI 2, `wp shell`; irb, Pry 0.15; Hanami,
/// Padrino and Jekyll consoles; Bun 1.1, `bun -`; Deno 2, "deno repl"; Yarn 4, "yarn node"; Hardhat 2, Truffle 5, Strapi 5 and Sails 1, consoles; Emacs 29, "Initial Options"; Kotlin
/// 2, "Run code snippets"; Spark 3.5, "Quick Start"; Groovy 4, "Groovysh"; sbt 1, "console"; Leiningen 2; Scala 3; utop 2; GHC 9, "Using GHCi".
const CONSOLES: &[Console] = &[
    console(&["rails", "hanami", "padrino", "rack-console"], &[&["console"], &["c"]], &[], RUBY),
    console(&["rails"], &[&["runner", "-"], &["r", "-"], &["runner", "/dev/stdin"]], &[], RUBY),
    console(&["bundle", "gitlab-rails", "console"], &[&["console"]], &[], RUBY),
    console(&["chef-shell", "jekyll"], &[], &[], RUBY),
    console(&["irb", "pry", "pry-remote"], &[], &["-e", "--exec"], RUBY),
    console(
        &["python", "python3", "django-admin", "uv", "poetry", "pipenv"],
        &[&["manage.py", "shell"], &["manage.py", "shell_plus"], &["shell_plus"]],
        &["-c", "--command"],
        PYTHON,
    ),
    console(&["django-admin", "flask", "scrapy"], &[&["shell"]], &["-c", "--command"], PYTHON),
    console(&["pshell", "bpython", "ptpython", "pyspark"], &[], &[], PYTHON),
    console(&["bun"], &[&["-"]], &[], Runner::Followed("node", "-e")),
    console(&["deno"], &[&["-"], &["repl"]], &[], Runner::Followed("deno", "eval")),
    console(&["yarn"], &[&["node"]], &[], Runner::Followed("node", "-e")),
    console(
        &["hardhat", "truffle", "strapi", "sails", "medusa"],
        &[&["console"]],
        &[],
        Runner::Followed("node", "-e"),
    ),
    console(&["emacs"], &[&["/dev/stdin"]], &[], Runner::Language("emacs")),
    console(&["kotlinc", "kotlin"], &[], &[], Runner::Language("kts")),
    console(&["php"], &[&["-a"], &["--interactive"], &["artisan", "tinker"]], &["--execute"], PHP),
    console(&["artisan", "sail"], &[&["tinker"]], &["--execute"], PHP),
    console(&["psysh", "boris"], &[], &[], PHP),
    console(&["drush"], &[&["php:cli"], &["php"], &["core:cli"]], &[], PHP),
    console(&["wp"], &[&["shell"]], &[], PHP),
    console(&["spark-shell", "scala", "amm"], &[], &[], Runner::Language("scala")),
    console(&["sbt", "mill"], &[&["console"], &["consoleQuick"]], &[], Runner::Language("scala")),
    console(&["groovysh"], &[], &["-e"], Runner::Language("groovy")),
    console(&["lein", "clj", "clojure"], &[&["repl"]], &[], Runner::Language("clojure")),
    console(&["utop", "ocaml"], &[], &["-e"], Runner::Language("ocaml")),
    console(&["ghci"], &[], &["-e"], Runner::Language("ghc")),
    console(&["stack", "cabal"], &[&["ghci"], &["repl"]], &[], Runner::Language("ghc")),
];

/// Commands of consoles that take code as words (Drush 13, `php:eval`).
const EVALUATED: &[(&[&str], &[&str], Runner)] =
    &[(&["drush"], &["php:eval", "ev", "eval", "php-eval"], PHP)];

const fn console(
    programs: &'static [&'static str],
    opened: &'static [&'static [&'static str]],
    options: &'static [&'static str],
    runner: Runner,
) -> Console {
    Console { programs, opened, options, runner }
}

/// The code with the libraries that the console has loaded (`config/boot.rb` of Rails loads the files' own).
fn with_libraries(runner: Runner, code: String) -> String {
    match runner {
        Runner::Followed("ruby", _) => format!("require 'fileutils'\n{code}"),
        Runner::Followed(..) | Runner::Language(_) | Runner::Mongo => code,
    }
}

/// Consoles of databases that a framework opens: the words that do, and the clients of which it may be one (Rails, `dbconsole`; Django, `dbshell`;
/// WP-CLI, `wp db cli`; Drush, `sql:cli`; Laravel, `db`; Heroku, `pg:psql`).
const DATABASES: &[(&[&str], &[&[&str]])] = &[
    (&["rails"], &[&["db"], &["dbconsole"]]),
    (&["python", "python3", "django-admin", "manage.py", "uv", "poetry"], &[&["dbshell"]]),
    (&["wp"], &[&["db", "cli"], &["db", "query"]]),
    (&["drush"], &[&["sqlc"], &["sql:cli"], &["sql-cli"]]),
    (&["php", "artisan", "sail"], &[&["artisan", "db"], &["db"], &["mysql"], &["psql"]]),
    (&["heroku"], &[&["pg:psql"]]),
];

pub(super) fn run(machine: &mut Machine<'_>, call: &Call, program: &str) {
    let handed = machine.handed_texts(call);
    let comes_in = matches!(&call.input, Input::Text(_)) || !handed.is_empty();
    if comes_in {
        let is_opened = |(programs, opened): &&(&[&str], &[&[&str]])| {
            let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
            programs.contains(&program)
                && opened.iter().any(|series| words.windows(series.len()).any(|words| words == *series))
        };
        if DATABASES.iter().any(|row| is_opened(&row)) {
            let inputs = handed
                .iter()
                .cloned()
                .map(Input::Text)
                .chain(matches!(call.input, Input::Text(_)).then(|| call.input.clone()));
            let inputs: Vec<Input> = inputs.collect();
            for client in ["psql", "mysql"] {
                let words = [Value::exact(client), Value::exact("database")];
                for input in &inputs {
                    machine.possibly(|machine| machine.run_words(&words, input.clone()));
                }
            }
        }
    }
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    for console in CONSOLES.iter().filter(|console| console.programs.contains(&program)) {
        let is_opened = |series: &&[&str]| {
            words.windows(series.len()).any(|words| {
                let matches =
                    |(word, asked): (&&str, &&str)| *word == *asked || word.ends_with(&format!("/{asked}"));
                words.iter().zip(*series).all(matches)
            })
        };
        if !console.opened.is_empty() && !console.opened.iter().any(is_opened) {
            continue;
        }
        // What opens by its name alone may be given words that say something else.
        let is_console = !console.opened.is_empty() || call.arguments.operands.is_empty();
        let mut codes = codes::values(call, console.options);
        match &call.input {
            Input::Text(Value::Exact(text)) => codes.push(text.clone()),
            Input::Local(place) if is_console => {
                codes.extend(
                    machine.code_coming_in(place).and_then(|text| text.as_exact().map(str::to_owned)),
                );
                if machine.is_handed_undone(call) || machine.is_written_here_unread(place) {
                    machine.unread(format!(
                        "what `{program}` reads and runs was written by this command, and is not known"
                    ));
                }
            }
            Input::Network(url) if is_console => machine.runs_from_network(&url.clone()),
            Input::Unknown if is_console && codes.is_empty() => {
                machine.unread(format!("what `{program}` reads and runs is not known"));
            }
            Input::Inherited
            | Input::Text(_)
            | Input::Local(_)
            | Input::Network(_)
            | Input::Secret(_)
            | Input::Unknown => {}
        }
        for code in codes {
            codes::run_code(machine, call, console.runner, &with_libraries(console.runner, code));
        }
    }
    for (_, commands, runner) in EVALUATED.iter().filter(|(programs, ..)| programs.contains(&program)) {
        if let Some(at) = words.iter().position(|word| commands.contains(word)) {
            for code in words.iter().skip(at + 1).filter(|word| !word.starts_with('-')) {
                codes::run_code(machine, call, *runner, code);
            }
        }
    }
}
