//! The functions of Lua and R.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::library_calls::LibraryCall;

/// What a function of Lua does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<LibraryCall> {
    Some(match name {
        "os.remove" | "lfs.rmdir" | "vim.uv.fs_unlink" | "vim.uv.fs_rmdir" | "vim.loop.fs_unlink"
        | "pl.file.delete" => LibraryCall::Delete(Depth::Single),
        "vim.fn.delete" => LibraryCall::DeleteFirst,
        "vim.fs.rm" | "pl.dir.rmtree" => LibraryCall::Delete(Depth::Recursive),
        "vim.fn.expand" | "vim.fs.normalize" | "pl.path.expanduser" => LibraryCall::Expand,
        "vim.fn.system" | "vim.fn.systemlist" | "vim.fn.jobstart" | "vim.fn.termopen"
        | "pl.utils.execute" | "pl.utils.executeex" => LibraryCall::Shell,
        "vim.system" => LibraryCall::Run,
        "vim.fn.writefile" => LibraryCall::WriteSecond,
        "vim.fn.readfile" | "pl.file.read" | "pl.utils.readfile" => LibraryCall::Read,
        "vim.fn.rename" | "pl.file.move" => LibraryCall::Move,
        "os.rename" => LibraryCall::Move,
        "os.execute" | "io.popen" => LibraryCall::Shell,
        "io.open" => LibraryCall::Open,
        "io.output" => LibraryCall::Write,
        "io.lines" | "io.input" => LibraryCall::Read,
        "os.getenv" => LibraryCall::Variable,
        "os.tmpname" => LibraryCall::TemporaryFile,
        "lfs.mkdir" => LibraryCall::MakeDirectory,
        "lfs.chdir" => LibraryCall::Enter,
        "lfs.currentdir" => LibraryCall::Here,
        "load" | "loadstring" => LibraryCall::Evaluate,
        "dofile" | "loadfile" => LibraryCall::RunFile,
        "require" => LibraryCall::Import,
        "socket.http.request" | "http.request" => LibraryCall::Request,
        "socket.tcp" | "socket.udp" => LibraryCall::Listen,
        "socket.connect" => LibraryCall::Connect,
        "io.read" => LibraryCall::Input,
        "package.loadlib" | "ffi.cdef" | "ffi.load" => LibraryCall::Foreign,
        "tostring" | "tonumber" | "assert" | "string.lower" | "string.upper" | "table.unpack" | "unpack" => {
            LibraryCall::Same
        }
        "string.format" => LibraryCall::Format,
        "string.char" => LibraryCall::Character,
        "print" | "type" | "pairs" | "ipairs" | "next" | "select" | "pcall" | "xpcall" | "error"
        | "setmetatable" | "getmetatable" | "rawget" | "rawset" | "rawequal" | "rawlen"
        | "collectgarbage" | "io.write" | "os.time" | "os.date" | "os.clock" | "os.exit" | "os.difftime"
        | "os.setlocale" | "io.close" | "io.type" => LibraryCall::Nothing,
        name if [
            "string.",
            "table.",
            "math.",
            "coroutine.",
            "utf8.",
            "debug.",
            "bit32.",
            "bit.",
            "jit.",
            "io.stdout.",
            "io.stderr.",
        ]
        .iter()
        .any(|start| name.starts_with(start)) =>
        {
            LibraryCall::Nothing
        }
        _ => return None,
    })
}

/// What a function of R does; `None` when it is not known.
pub(super) fn deed_of_r(name: &str) -> Option<LibraryCall> {
    Some(match name {
        "unlink" => LibraryCall::DeleteFirst,
        "file_delete" | "dir_delete" | "link_delete" => LibraryCall::Delete(Depth::Recursive),
        "file_move" => LibraryCall::Move,
        "file_copy" | "dir_copy" => LibraryCall::Copy,
        "exec_wait" | "exec_background" | "exec_internal" => LibraryCall::Program,
        "read_file" | "read_lines" | "read_utf8" | "fread" => LibraryCall::Read,
        "file.remove" => LibraryCall::Delete(Depth::Single),
        "file.rename" => LibraryCall::Move,
        "file.copy" => LibraryCall::Copy,
        "file.create" => LibraryCall::Touch,
        "dir.create" => LibraryCall::MakeDirectory,
        "Sys.chmod" => LibraryCall::Mode,
        "file.append" => LibraryCall::Append,
        "pskill" | "tools::pskill" => LibraryCall::Kill,
        "system" | "shell" | "system2" | "pipe" => LibraryCall::Shell,
        "source" => LibraryCall::RunFile,
        "eval" => LibraryCall::Evaluate,
        "parse" => LibraryCall::Parsed,
        "download.file" => LibraryCall::Download,
        "url" => LibraryCall::Get,
        "readLines" | "readRDS" | "read.csv" | "read.table" | "scan" | "load" => LibraryCall::Read,
        "writeLines" | "saveRDS" | "write.csv" | "write.table" | "write" => LibraryCall::WriteSecond,
        "Sys.getenv" => LibraryCall::Variable,
        "getwd" => LibraryCall::Here,
        "setwd" => LibraryCall::Enter,
        "file.path" => LibraryCall::Join,
        "list.files" | "dir" => LibraryCall::List,
        "file.exists" | "dir.exists" => LibraryCall::Exists,
        "Sys.which" => LibraryCall::Whereabouts,
        "tempfile" | "tempdir" => LibraryCall::TemporaryFile,
        "paste" | "c" | "print" | "cat" | "library" | "require" | "length" | "sum" | "mean" | "median"
        | "sd" | "var" | "min" | "max" | "seq" | "rep" | "rnorm" | "runif" | "sample" | "sessionInfo"
        | "message" | "stop" | "sqrt" | "exp" | "log" | "abs" | "round" | "nchar" | "toupper" | "tolower"
        | "substr" | "strsplit" | "gsub" | "sub" | "grepl" | "sprintf" | "format" | "list" | "data.frame"
        | "matrix" | "nrow" | "ncol" | "head" | "tail" | "summary" | "str" | "names" | "lapply"
        | "sapply" | "vapply" | "Map" | "Reduce" | "Filter" | "is.null" | "is.na" | "as.numeric"
        | "as.integer" | "as.character" | "Sys.time" | "Sys.Date" | "Sys.info" | "R.Version"
        | "packageVersion" | "quit" | "q" | "set.seed" | "options" | "suppressMessages"
        | "suppressWarnings" | "paste0" | "invisible" | "identity" | "unlist" | "order" | "sort"
        | "unique" | "table" | "ifelse" | "exists" | "nlevels" | "installed.packages" | "R.home"
        | "commandArgs" | "requireNamespace" | "any" | "all" => LibraryCall::Nothing,
        "install.packages" => LibraryCall::Package,
        _ => return None,
    })
}
