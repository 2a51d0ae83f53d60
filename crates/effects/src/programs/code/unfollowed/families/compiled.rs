//! Languages whose code a compiler reads.

use super::{Deed, Family, Form};

/// Languages whose code a compiler reads.
pub(super) const FAMILIES: &[Family] = &[
    // POSIX.1-2024 and ISO C, C++23 `std::filesystem`, GLib `gio`.
    Family {
        languages: &["c", "h", "cc", "cpp", "cxx", "hpp", "tcc", "cling", "d", "m-objc"],
        form: Form::Call,
        quotes: &['"'],
        comment: "//",
        functions: &[
            (
                Deed::Delete,
                &["unlink(", "unlinkat(", "rmdir(", "remove_all(", "g_unlink(", "g_rmdir(", "rmdirRecurse("],
            ),
            (Deed::DeleteOther, &["remove("]),
            (Deed::Move, &["rename(", "renameat("]),
            (Deed::Write, &["ofstream", "truncate(", "creat(", "symlink(", "chmod(", "chown("]),
            (Deed::Open, &["fopen(", "open(", "openat(", "freopen("]),
            (Deed::Read, &["ifstream"]),
        ],
    },
    // Go 1.23, `os`, `io/ioutil`, `syscall`.
    Family {
        languages: &["go", "mage"],
        form: Form::Call,
        quotes: &['"', '`'],
        comment: "//",
        functions: &[
            (Deed::Delete, &["os.Remove(", "os.RemoveAll(", "syscall.Unlink(", "syscall.Rmdir("]),
            (Deed::Move, &["os.Rename("]),
            (
                Deed::Write,
                &[
                    "os.WriteFile(",
                    "ioutil.WriteFile(",
                    "os.Create(",
                    "os.OpenFile(",
                    "os.Truncate(",
                    "os.Symlink(",
                    "os.Chmod(",
                ],
            ),
            (Deed::Read, &["os.ReadFile(", "ioutil.ReadFile(", "os.Open("]),
        ],
    },
    // Rust 1.80, `std::fs`; `fs_extra`, `remove_dir_all`.
    Family {
        languages: &["rs", "rust", "rustc", "cargo", "rust-script", "evcxr"],
        form: Form::Call,
        quotes: &['"'],
        comment: "//",
        functions: &[
            (Deed::Delete, &["remove_file(", "remove_dir(", "remove_dir_all(", "remove_items("]),
            (Deed::Move, &["fs::rename("]),
            (Deed::Write, &["fs::write(", "File::create(", "fs::set_permissions(", "symlink("]),
            (Deed::Open, &[".open("]),
            (Deed::Read, &["fs::read(", "read_to_string(", "File::open("]),
        ],
    },
    // Zig 0.13, `std.fs`; V 0.4, `os`; Odin, `core:os`; C# 12, `System.IO`; F#; Free Pascal 3.2, `SysUtils`.
    Family {
        languages: &["zig", "v", "odin", "cs", "csx", "fsx", "dotnet-script", "csharprepl", "fsi", "pas"],
        form: Form::Call,
        quotes: &['"', '\''],
        comment: "//",
        functions: &[
            (
                Deed::Delete,
                &[
                    "deleteTree",
                    "deleteTreeAbsolute",
                    "deleteFile",
                    "deleteFileAbsolute",
                    "deleteDir",
                    "deleteDirAbsolute",
                    "os.rm(",
                    "os.rmdir(",
                    "os.rmdir_all(",
                    "os.remove(",
                    "File.Delete",
                    "Directory.Delete",
                    "DeleteFile(",
                    "RemoveDir(",
                ],
            ),
            (Deed::Move, &["File.Move", "Directory.Move", "os.rename("]),
            (
                Deed::Write,
                &[
                    "WriteAllText",
                    "WriteAllBytes",
                    "WriteAllLines",
                    "AppendAllText",
                    "File.Create",
                    "os.write_file(",
                    "StreamWriter",
                ],
            ),
            (
                Deed::Read,
                &[
                    "ReadAllText",
                    "ReadAllBytes",
                    "ReadAllLines",
                    "ReadLines",
                    "os.read_file(",
                    "StreamReader",
                ],
            ),
        ],
    },
];
