//! The functions of languages by which they take files away, write and read them.

mod compiled;

/// What a function does to the paths that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    /// Takes them away.
    Delete,
    /// Takes them away where they are paths: the name says it of other things too.
    DeleteOther,
    /// Takes them from where they are.
    Move,
    /// Writes them.
    Write,
    /// Reads or writes them, as a mode says.
    Open,
    /// Reads them.
    Read,
}

/// How calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `f(a, b)`, `a.f()`, or `f a b` to the end of the line.
    Call,
    /// `(f a b)`
    List,
    /// `f a b` to the end of the line, where words need no quotes.
    Words,
}

/// Languages with the same functions.
pub(super) struct Family {
    /// The programs that run or compile them, and the endings of their sources.
    pub(super) languages: &'static [&'static str],
    pub(super) form: Form,
    /// What texts stand between.
    pub(super) quotes: &'static [char],
    /// What begins a comment.
    pub(super) comment: &'static str,
    pub(super) functions: &'static [(Deed, &'static [&'static str])],
}

/// The family of a program or of the ending of a source.
pub(super) fn of(language: &str) -> Option<&'static Family> {
    let name = language.split(' ').next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or(name);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    FAMILIES
        .iter()
        .chain(compiled::FAMILIES)
        .find(|family| family.languages.contains(&name) || family.languages.contains(&plain))
}

/// The functions of the libraries that languages of the Java virtual machine share.
const JVM_DELETE: &[&str] = &[
    "deleteRecursively",
    "deleteIfExists",
    "Files.delete",
    "deleteDir",
    "deleteDirectory",
    "forceDelete",
    "deleteQuietly",
    "cleanDirectory",
    "deleteOnExit",
    "remove.all",
    "os.remove",
    "rm!",
];
const JVM_MOVE: &[&str] = &["renameTo", "Files.move", "moveTo", "moveFile", "moveDirectory", "os.move"];
const JVM_WRITE: &[&str] = &[
    "writeText",
    "appendText",
    "writeBytes",
    "appendBytes",
    "writeString",
    "Files.write",
    "FileWriter",
    "PrintWriter",
    "FileOutputStream",
    "newBufferedWriter",
    "newOutputStream",
    "withWriter",
    "withWriterAppend",
    "bufferedWriter",
    "printWriter",
    "os.write",
    "createFile",
    "createSymbolicLink",
    "createLink",
];
const JVM_READ: &[&str] = &[
    "readText",
    "readLines",
    "readString",
    "readAllBytes",
    "readAllLines",
    "readBytes",
    "Files.lines",
    "fromFile",
    "forEachLine",
    "eachLine",
    "useLines",
    "bufferedReader",
    "newBufferedReader",
    "FileReader",
    "FileInputStream",
    "withReader",
    "os.read",
    ".text",
];

/// Languages whose code is mostly run as it is written.
const FAMILIES: &[Family] = &[
    // CMake 3.31, `file`, `configure_file`.
    Family {
        languages: &["cmake"],
        form: Form::Call,
        quotes: &['"'],
        comment: "#",
        functions: &[
            (Deed::Delete, &["REMOVE_RECURSE", "REMOVE"]),
            (Deed::Move, &["RENAME"]),
            (Deed::Write, &["WRITE", "APPEND", "TOUCH", "COPY_FILE", "CREATE_LINK"]),
            (Deed::Read, &["READ", "STRINGS"]),
        ],
    },
    // Java 21, `java.nio.file.Files`, `java.io.File`; Kotlin 2.0, `kotlin.io`; Groovy 4, "The GDK"; Scala 3, `scala.io`, `scala.reflect.io`; os-lib 0.11;
    // Apache Commons IO, `FileUtils`.
    Family {
        languages: &[
            "java",
            "kt",
            "kts",
            "groovy",
            "scala",
            "jshell",
            "jsh",
            "kotlin",
            "kotlinc",
            "groovysh",
            "scala-cli",
            "amm",
            "sc",
            "spark-shell",
        ],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "//",
        functions: &[
            (Deed::Delete, JVM_DELETE),
            (Deed::DeleteOther, &[".delete", "::delete"]),
            (Deed::Move, JVM_MOVE),
            (Deed::Write, JVM_WRITE),
            (Deed::Read, JVM_READ),
        ],
    },
    // Gradle 8, `Project`, `Delete`: a script of the build calls the functions of its project without a name before them.
    Family {
        languages: &["gradle"],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "//",
        functions: &[
            (Deed::Delete, JVM_DELETE),
            (Deed::DeleteOther, &["delete", "setDelete"]),
            (Deed::Move, JVM_MOVE),
            (Deed::Write, JVM_WRITE),
            (Deed::Read, JVM_READ),
        ],
    },
    // Clojure 1.12, `clojure.core`, `clojure.java.io`; babashka.fs 0.5.
    Family {
        languages: &["clojure", "clj", "bb", "lein", "cljs"],
        form: Form::List,
        quotes: &['"'],
        comment: ";",
        functions: &[
            (
                Deed::Delete,
                &[
                    "delete-file",
                    "delete-tree",
                    "fs/delete",
                    "fs/delete-if-exists",
                    "delete-on-exit",
                    "Files/delete",
                ],
            ),
            (Deed::DeleteOther, &[".delete"]),
            (Deed::Move, &["fs/move", ".renameTo"]),
            (Deed::Write, &["spit", "writer", "output-stream", "fs/write-bytes", "fs/write-lines"]),
            (
                Deed::Read,
                &["slurp", "reader", "input-stream", "read-all-lines", "read-all-bytes", "load-file"],
            ),
        ],
    },
    // Elixir 1.17, `File`, `Code`.
    Family {
        languages: &["elixir", "iex", "mix", "exs", "ex"],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "#",
        functions: &[
            (
                Deed::Delete,
                &["File.rm", "File.rm!", "File.rm_rf", "File.rm_rf!", "File.rmdir", "File.rmdir!"],
            ),
            (Deed::Move, &["File.rename", "File.rename!"]),
            (
                Deed::Write,
                &[
                    "File.write",
                    "File.write!",
                    "File.touch",
                    "File.touch!",
                    "File.ln_s",
                    "File.chmod",
                    "File.chmod!",
                ],
            ),
            (
                Deed::Read,
                &["File.read", "File.read!", "File.stream!", "File.open", "File.open!", "Code.eval_file"],
            ),
        ],
    },
    // Erlang/OTP 27, `file`, `filelib`.
    Family {
        languages: &["erl", "escript"],
        form: Form::Call,
        quotes: &['"'],
        comment: "%",
        functions: &[
            (Deed::Delete, &["file:delete", "file:del_dir", "file:del_dir_r"]),
            (Deed::Move, &["file:rename"]),
            (Deed::Write, &["file:write_file", "file:make_symlink", "file:change_mode"]),
            (Deed::Read, &["file:read_file", "file:consult", "file:open", "file:path_consult"]),
        ],
    },
    // Julia 1.11, "Filesystem", "I/O and Network".
    Family {
        languages: &["julia", "jl"],
        form: Form::Call,
        quotes: &['"'],
        comment: "#",
        functions: &[
            (Deed::Delete, &["rm(", "rm.(", "Base.rm("]),
            (Deed::Move, &["mv("]),
            (Deed::Write, &["write(", "touch(", "symlink(", "chmod("]),
            (Deed::Open, &["open("]),
            (Deed::Read, &["read(", "readlines(", "eachline(", "readchomp("]),
        ],
    },
    // GNU Octave 9, "Filesystem Utilities", "Opening and Closing Files"; MATLAB, "File Operations".
    Family {
        languages: &["octave", "octave-cli", "matlab", "m"],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "%",
        functions: &[
            (Deed::Delete, &["rmdir(", "unlink("]),
            (Deed::DeleteOther, &["delete("]),
            (Deed::Move, &["movefile(", "rename("]),
            (Deed::Write, &["writelines(", "writematrix(", "diary("]),
            (Deed::Open, &["fopen("]),
            (Deed::Read, &["fileread(", "textread(", "importdata(", "readlines(", "textscan("]),
        ],
    },
    // GHC 9.10: `directory`, `base` (`System.IO`), `bytestring`, `text`.
    Family {
        languages: &["ghc", "ghci", "runghc", "runhaskell", "hs", "stack", "cabal"],
        form: Form::Call,
        quotes: &['"'],
        comment: "--",
        functions: &[
            (
                Deed::Delete,
                &[
                    "removeFile",
                    "removeDirectory",
                    "removeDirectoryRecursive",
                    "removePathForcibly",
                    "removeDirectoryLink",
                ],
            ),
            (Deed::Move, &["renameFile", "renameDirectory", "renamePath"]),
            (Deed::Write, &["writeFile", "appendFile"]),
            (Deed::Read, &["readFile", "withFile", "openFile"]),
        ],
    },
    // OCaml 5.2, `Sys`, `Unix`, `Stdlib`, `In_channel`, `Out_channel`; ocaml-fileutils.
    Family {
        languages: &["ocaml", "utop", "ml", "ocamlfind"],
        form: Form::Call,
        quotes: &['"'],
        comment: "(*",
        functions: &[
            (Deed::Delete, &["Sys.remove", "Sys.rmdir", "Unix.unlink", "Unix.rmdir", "FileUtil.rm"]),
            (Deed::Move, &["Sys.rename", "Unix.rename", "FileUtil.mv"]),
            (
                Deed::Write,
                &[
                    "open_out",
                    "open_out_bin",
                    "open_out_gen",
                    "Out_channel.with_open_text",
                    "Out_channel.open_text",
                ],
            ),
            (
                Deed::Read,
                &[
                    "open_in",
                    "open_in_bin",
                    "In_channel.with_open_text",
                    "In_channel.with_open_bin",
                    "In_channel.open_text",
                ],
            ),
        ],
    },
    // Foundation of Swift 6, `FileManager`, `String`, `Data`, `FileHandle`.
    Family {
        languages: &["swift"],
        form: Form::Call,
        quotes: &['"'],
        comment: "//",
        functions: &[
            (Deed::Delete, &["removeItem", "trashItem", "unlink(", "rmdir("]),
            (Deed::Move, &["moveItem", "replaceItem"]),
            (
                Deed::Write,
                &["write(to", "write(toFile", "createFile(", "forWritingAtPath", "createSymbolicLink"],
            ),
            (Deed::Read, &["contentsOfFile", "contentsOf", "contents(atPath", "forReadingAtPath"]),
        ],
    },
    // Crystal 1.13, `File`, `Dir`, `FileUtils`.
    Family {
        languages: &["crystal", "cr"],
        form: Form::Call,
        quotes: &['"'],
        comment: "#",
        functions: &[
            (
                Deed::Delete,
                &[
                    "File.delete",
                    "File.delete?",
                    "Dir.delete",
                    "FileUtils.rm",
                    "FileUtils.rm_r",
                    "FileUtils.rm_rf",
                    "FileUtils.rmdir",
                ],
            ),
            (Deed::Move, &["File.rename", "FileUtils.mv"]),
            (Deed::Write, &["File.write", "File.touch", "FileUtils.touch", "File.chmod"]),
            (Deed::Open, &["File.open", "File.new"]),
            (Deed::Read, &["File.read", "File.read_lines", "File.each_line"]),
        ],
    },
    // Nim 2.0, `std/dirs`, `std/files`, `std/os`, `std/syncio`.
    Family {
        languages: &["nim", "nims"],
        form: Form::Call,
        quotes: &['"'],
        comment: "#",
        functions: &[
            (Deed::Delete, &["removeFile", "tryRemoveFile", "removeDir"]),
            (Deed::Move, &["moveFile", "moveDir"]),
            (Deed::Write, &["writeFile", "createSymlink"]),
            (Deed::Open, &["open("]),
            (Deed::Read, &["readFile", "readLines", "staticRead"]),
        ],
    },
    // Dart 3.5, `dart:io`.
    Family {
        languages: &["dart"],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "//",
        functions: &[
            (Deed::Delete, &["deleteSync"]),
            (Deed::DeleteOther, &[".delete"]),
            (Deed::Move, &["renameSync", ".rename"]),
            (
                Deed::Write,
                &["writeAsString", "writeAsStringSync", "writeAsBytes", "writeAsBytesSync", "openWrite"],
            ),
            (
                Deed::Read,
                &["readAsString", "readAsStringSync", "readAsLines", "readAsLinesSync", "readAsBytes"],
            ),
        ],
    },
    // Raku, `IO::Path`, "Independent routines".
    Family {
        languages: &["raku", "perl6", "rakumod"],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "#",
        functions: &[
            (Deed::Delete, &["unlink", "rmdir", "rmtree"]),
            (Deed::Move, &["rename", "move"]),
            (Deed::Write, &["spurt"]),
            (Deed::Open, &["open"]),
            (Deed::Read, &["slurp", "lines"]),
        ],
    },
    // Emacs 30, "Files"; Guile 3.0, "File System"; Racket 8, "Filesystem"; CLHS 20, UIOP 3.3, SBCL 2.4; Chicken 5, Gauche 0.9; Janet 1.36, `os`, `file`;
    // Fennel 1.5 has the library of Lua.
    Family {
        languages: &[
            "emacs",
            "emacsclient",
            "el",
            "guile",
            "racket",
            "rkt",
            "scm",
            "ss",
            "scheme",
            "sbcl",
            "lisp",
            "cl",
            "clisp",
            "ecl",
            "csi",
            "gosh",
            "chibi-scheme",
            "chez",
            "janet",
            "fennel",
            "fnl",
            "ros",
            "newlisp",
        ],
        form: Form::List,
        quotes: &['"'],
        comment: ";",
        functions: &[
            (
                Deed::Delete,
                &[
                    "delete-file",
                    "delete-file-recursively",
                    "delete-directory",
                    "delete-directory/files",
                    "delete-directory-tree",
                    "move-file-to-trash",
                    "remove-directory",
                    "remove-directory*",
                    "rmdir",
                    "os/rm",
                    "os/rmdir",
                    "os.remove",
                    "remove-dir",
                ],
            ),
            (
                Deed::Move,
                &[
                    "rename-file",
                    "rename-file-or-directory",
                    "os/rename",
                    "os.rename",
                    "move-file",
                    "sys-rename",
                ],
            ),
            (
                Deed::Write,
                &[
                    "write-region",
                    "write-file",
                    "append-to-file",
                    "with-temp-file",
                    "call-with-output-file",
                    "with-output-to-file",
                    "open-output-file",
                    "display-to-file",
                    "display-lines-to-file",
                    "write-to-file",
                    "make-symbolic-link",
                    "symlink",
                    "set-file-modes",
                    "spit",
                ],
            ),
            (Deed::Open, &["file/open", "io.open"]),
            (
                Deed::Read,
                &[
                    "insert-file-contents",
                    "insert-file-contents-literally",
                    "call-with-input-file",
                    "with-input-from-file",
                    "open-input-file",
                    "file->string",
                    "file->lines",
                    "file->bytes",
                    "file->list",
                    "read-file-string",
                    "read-file-lines",
                    "read-file-into-string",
                    "with-open-file",
                    "find-file-noselect",
                    "slurp",
                    "io.lines",
                ],
            ),
        ],
    },
    // Tcl 8.6, `file`, `open`.
    Family {
        languages: &["tclsh", "wish", "expect", "tcl", "jimsh"],
        form: Form::Words,
        quotes: &['"'],
        comment: "#",
        functions: &[
            (Deed::Delete, &["file delete"]),
            (Deed::Move, &["file rename"]),
            (Deed::Write, &["file link"]),
            (Deed::Open, &["open"]),
            (Deed::Read, &["source"]),
        ],
    },
    // SWI-Prolog 9, "Files and Streams", `filesex`; GNU Prolog 1.5.
    Family {
        languages: &["swipl", "prolog", "gprolog", "yap", "pl-prolog"],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "%",
        functions: &[
            (
                Deed::Delete,
                &[
                    "delete_file",
                    "delete_directory",
                    "delete_directory_and_contents",
                    "delete_directory_contents",
                    "unlink",
                ],
            ),
            (Deed::Move, &["rename_file"]),
            (Deed::Write, &["tell", "append", "link_file"]),
            (Deed::Open, &["open"]),
            (Deed::Read, &["read_file_to_string", "read_file_to_terms", "read_file_to_codes", "see"]),
        ],
    },
    // MongoDB 4.4, "Native Methods in mongo"; mongosh 2.3, "Methods".
    Family {
        languages: &["mongo", "mongosh"],
        form: Form::Call,
        quotes: &['"', '\'', '`'],
        comment: "//",
        functions: &[
            (Deed::Delete, &["removeFile("]),
            (Deed::Write, &["writeFile(", "copyFile("]),
            (Deed::Read, &["cat(", "load("]),
        ],
    },
    // "Nushell commands" 0.98.
    Family {
        languages: &["nu"],
        form: Form::Words,
        quotes: &['"', '\'', '`'],
        comment: "#",
        functions: &[
            (Deed::Delete, &["rm"]),
            (Deed::Move, &["mv"]),
            (Deed::Write, &["save"]),
            (Deed::Read, &["open"]),
        ],
    },
];
