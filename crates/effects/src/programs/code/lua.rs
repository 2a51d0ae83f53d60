//! The functions of Lua and R.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::deeds::Deed;

/// What a function of Lua does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<Deed> {
    Some(match name {
        "os.remove" | "lfs.rmdir" => Deed::Delete(Depth::Single),
        "os.rename" => Deed::Move,
        "os.execute" | "io.popen" => Deed::Shell,
        "io.open" => Deed::Open,
        "io.output" => Deed::Write,
        "io.lines" | "io.input" => Deed::Read,
        "os.getenv" => Deed::Variable,
        "os.tmpname" => Deed::TemporaryFile,
        "lfs.mkdir" => Deed::MakeDirectory,
        "lfs.chdir" => Deed::Enter,
        "lfs.currentdir" => Deed::Here,
        "load" | "loadstring" => Deed::Evaluate,
        "dofile" | "loadfile" => Deed::RunFile,
        "require" => Deed::Import,
        "socket.http.request" | "http.request" => Deed::Request,
        "socket.tcp" | "socket.udp" => Deed::Listen,
        "socket.connect" => Deed::Connect,
        "io.read" => Deed::Input,
        "package.loadlib" | "ffi.cdef" | "ffi.load" => Deed::Foreign,
        "tostring" | "tonumber" | "assert" | "string.lower" | "string.upper" | "table.unpack" | "unpack" => {
            Deed::Same
        }
        "string.format" => Deed::Format,
        "string.char" => Deed::Character,
        "print" | "type" | "pairs" | "ipairs" | "next" | "select" | "pcall" | "xpcall" | "error"
        | "setmetatable" | "getmetatable" | "rawget" | "rawset" | "rawequal" | "rawlen"
        | "collectgarbage" | "io.write" | "os.time" | "os.date" | "os.clock" | "os.exit" | "os.difftime"
        | "os.setlocale" | "io.close" | "io.type" => Deed::Nothing,
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
            Deed::Nothing
        }
        _ => return None,
    })
}

/// What a function of R does; `None` when it is not known.
pub(super) fn deed_of_r(name: &str) -> Option<Deed> {
    Some(match name {
        "unlink" => Deed::DeleteFirst,
        "file.remove" => Deed::Delete(Depth::Single),
        "file.rename" => Deed::Move,
        "file.copy" => Deed::Copy,
        "file.create" => Deed::Touch,
        "dir.create" => Deed::MakeDirectory,
        "Sys.chmod" => Deed::Mode,
        "file.append" => Deed::Append,
        "system" | "shell" | "system2" | "pipe" => Deed::Shell,
        "source" => Deed::RunFile,
        "eval" => Deed::Evaluate,
        "parse" => Deed::Parsed,
        "download.file" => Deed::Download,
        "url" => Deed::Get,
        "readLines" | "readRDS" | "read.csv" | "read.table" | "scan" | "load" => Deed::Read,
        "writeLines" | "saveRDS" | "write.csv" | "write.table" | "write" => Deed::WriteSecond,
        "Sys.getenv" => Deed::Variable,
        "getwd" => Deed::Here,
        "setwd" => Deed::Enter,
        "file.path" => Deed::Join,
        "list.files" | "dir" => Deed::List,
        "file.exists" | "dir.exists" => Deed::Exists,
        "tempfile" | "tempdir" => Deed::TemporaryFile,
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
        | "commandArgs" | "requireNamespace" | "any" | "all" => Deed::Nothing,
        "install.packages" => Deed::Package,
        _ => return None,
    })
}
