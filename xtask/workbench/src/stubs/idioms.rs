//! How each language says the few things that stubs are made of.

use checkrein_gates::SourceLanguage;

/// The words of a language.
pub(super) struct Idioms {
    /// What begins a comment.
    pub(super) comment: &'static str,
    /// What says that a function is not written, as the language has it; the first ones are the usual ones.
    pub(super) unwritten: &'static [&'static str],
    /// An error with a text, `TEXT`.
    pub(super) error: &'static str,
    /// What prints `TEXT`.
    pub(super) print: &'static str,
    /// What logs `TEXT`.
    pub(super) log: &'static str,
    /// What waits a moment.
    pub(super) sleep: &'static str,
    /// What returns `VALUE`.
    pub(super) give: &'static str,
    /// A value where none is known to fit; empty where there is none.
    pub(super) value: &'static str,
    /// An empty collection; empty where no type is known to take one.
    pub(super) collection: &'static str,
    /// Made-up data.
    pub(super) canned: &'static str,
}

pub(super) fn idioms(language: SourceLanguage) -> Idioms {
    use SourceLanguage as L;
    match language {
        L::Python => Idioms {
            comment: "#",
            unwritten: &[
                "raise NotImplementedError",
                "raise NotImplementedError(\"TODO\")",
                "raise NotImplementedError()",
            ],
            error: "raise RuntimeError(\"TEXT\")",
            print: "print(\"TEXT\")",
            log: "logging.info(\"TEXT\")",
            sleep: "time.sleep(0.1)",
            give: "return VALUE",
            value: "None",
            collection: "[]",
            canned: "{\"id\": 1, \"name\": \"Example\", \"status\": \"ok\"}",
        },
        L::JavaScript | L::TypeScript | L::Tsx => Idioms {
            comment: "//",
            unwritten: &[
                "throw new Error(\"Not implemented\");",
                "throw new Error('TODO');",
                "throw new Error(\"Method not implemented.\");",
            ],
            error: "throw new Error(\"TEXT\");",
            print: "console.log(\"TEXT\");",
            log: "console.debug(\"TEXT\");",
            sleep: "for (let i = 0; i < 1e6; i++) {}",
            give: "return VALUE;",
            value: "null",
            collection: "[]",
            canned: "{ id: 1, name: \"Example\", status: \"ok\" }",
        },
        L::Rust => Idioms {
            comment: "//",
            unwritten: &[
                concat!("todo", "!()"),
                concat!("unimplemented", "!()"),
                concat!("todo", "!(\"write this\")"),
            ],
            error: "panic!(\"TEXT\");",
            print: "println!(\"TEXT\");",
            log: "log::debug!(\"TEXT\");",
            sleep: "std::thread::sleep(std::time::Duration::from_millis(10));",
            give: "VALUE",
            value: "Default::default()",
            collection: "Vec::new()",
            canned: "",
        },
        L::Go => Idioms {
            comment: "//",
            unwritten: &["panic(\"not implemented\")", "panic(\"TODO\")", "panic(\"implement me\")"],
            error: "panic(\"TEXT\")",
            print: "fmt.Println(\"TEXT\")",
            log: "log.Printf(\"TEXT\")",
            sleep: "time.Sleep(10 * time.Millisecond)",
            give: "return VALUE",
            value: "",
            collection: "",
            canned: "",
        },
        L::Java => Idioms {
            comment: "//",
            unwritten: &[
                "throw new UnsupportedOperationException(\"Not implemented yet\");",
                "throw new RuntimeException(\"TODO\");",
                "throw new UnsupportedOperationException(\"Unimplemented method\");",
            ],
            error: "throw new RuntimeException(\"TEXT\");",
            print: "System.out.println(\"TEXT\");",
            log: "log.info(\"TEXT\");",
            sleep: "Thread.sleep(10);",
            give: "return VALUE;",
            value: "",
            collection: "",
            canned: "",
        },
        L::CSharp => Idioms {
            comment: "//",
            unwritten: &[
                "throw new NotImplementedException();",
                "throw new NotImplementedException(\"later\");",
            ],
            error: "throw new InvalidOperationException(\"TEXT\");",
            print: "Console.WriteLine(\"TEXT\");",
            log: "_logger.LogInformation(\"TEXT\");",
            sleep: "Thread.Sleep(10);",
            give: "return VALUE;",
            value: "default",
            collection: "",
            canned: "",
        },
        L::C | L::Cpp => Idioms {
            comment: "//",
            unwritten: &["assert(0 && \"not implemented\");", "abort(); /* not implemented */"],
            error: "fprintf(stderr, \"TEXT\\n\"); abort();",
            print: "printf(\"TEXT\\n\");",
            log: "log_debug(\"TEXT\");",
            sleep: "usleep(1000);",
            give: "return VALUE;",
            value: "",
            collection: "",
            canned: "",
        },
        L::Php => Idioms {
            comment: "//",
            unwritten: &["throw new \\Exception('Not implemented');", "throw new \\LogicException('TODO');"],
            error: "throw new \\RuntimeException('TEXT');",
            print: "echo 'TEXT';",
            log: "error_log('TEXT');",
            sleep: "usleep(1000);",
            give: "return VALUE;",
            value: "null",
            collection: "[]",
            canned: "['id' => 1, 'name' => 'Example', 'status' => 'ok']",
        },
        L::Ruby => Idioms {
            comment: "#",
            unwritten: &["raise NotImplementedError", "raise 'Not implemented'"],
            error: "raise 'TEXT'",
            print: "puts 'TEXT'",
            log: "logger.info('TEXT')",
            sleep: "sleep 0.1",
            give: "VALUE",
            value: "nil",
            collection: "[]",
            canned: "{ id: 1, name: 'Example', status: 'ok' }",
        },
        L::Shell => Idioms {
            comment: "#",
            unwritten: &["echo 'not implemented' >&2; return 1", "echo 'TODO' >&2; return 1"],
            error: "echo 'TEXT' >&2; return 1",
            print: "echo 'TEXT'",
            log: "logger 'TEXT'",
            sleep: "sleep 1",
            give: "return VALUE",
            value: "0",
            collection: "",
            canned: "",
        },
    }
}
