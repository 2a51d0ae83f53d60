//! The functions of PHP.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::library_calls::LibraryCall;

/// Beginnings of the names of functions that change nothing outside the program.
const HARMLESS: &[&str] = &[
    "str_",
    "array_",
    "mb_",
    "preg_match",
    "preg_replace",
    "preg_split",
    "preg_quote",
    "preg_grep",
    "json_",
    "ctype_",
    "date_",
    "math_",
    "is_",
    "hash_",
    "var_",
    "iterator_",
    "ucwords",
    "gmp_",
    "bc",
    "iconv",
    "openssl_digest",
    "password_",
    "random_",
    "html",
    "url",
    "http_build",
    "xml",
    "simplexml",
    "dom_",
    "number_",
    "money_",
    "ob_",
    "php",
    "zend_",
    "get_",
    "func_",
    "class_",
    "method_",
    "property_",
    "filter_",
    "sodium_",
    "spl_",
    "error_",
    "set_",
    "restore_",
    "session_",
    "header",
    "ini_get",
    "gc_",
    "memory_",
    "opcache_",
    "sys_getloadavg",
    "libxml_",
    "posix_get",
    "posix_is",
    "DateTime",
    "Exception",
    "ArrayObject",
    "stdClass",
    "DateInterval",
    "stream_get_c",
    "stream_set",
    "pcntl_wait",
    "assert_",
    "ctype",
    "gzinflate",
    "gzuncompress",
    "gzdecode",
    "str_rot13",
    "extension_",
    "ini_set",
    "constant",
];

/// What a function of PHP does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<LibraryCall> {
    let name = name.trim_start_matches('\\');
    Some(match name {
        "unlink" | "rmdir" => LibraryCall::DeleteFirst,
        "RecursiveDirectoryIterator"
        | "DirectoryIterator"
        | "FilesystemIterator"
        | "GlobIterator"
        | "RecursiveDirectoryIterator.new"
        | "DirectoryIterator.new"
        | "FilesystemIterator.new" => LibraryCall::Walk,
        "RecursiveIteratorIterator"
        | "RecursiveIteratorIterator.new"
        | "IteratorIterator"
        | "iterator_to_array" => LibraryCall::Same,
        "File.deleteDirectory" => LibraryCall::Delete(Depth::Recursive),
        "fopen" | "gzopen" | "bzopen" | "SplFileObject" | "SplFileObject.new" => LibraryCall::Open,
        "file_put_contents" => LibraryCall::Write,
        "file_get_contents" | "file" | "readfile" | "parse_ini_file" | "fpassthru" | "highlight_file"
        | "show_source" => LibraryCall::Read,
        "rename" | "move_uploaded_file" => LibraryCall::Move,
        "copy" => LibraryCall::Copy,
        "symlink" | "link" => LibraryCall::Link,
        "posix_getppid" => LibraryCall::ParentProcess,
        "mkdir" => LibraryCall::MakeDirectory,
        "touch" => LibraryCall::Touch,
        "chmod" | "chown" | "chgrp" | "lchown" | "lchgrp" => LibraryCall::Mode,
        "system" | "exec" | "shell_exec" | "passthru" | "popen" | "proc_open" => LibraryCall::Shell,
        "pcntl_exec" => LibraryCall::Program,
        "eval" | "assert" => LibraryCall::Evaluate,
        // The parameters come first, the code behind them.
        "create_function" => LibraryCall::MakeFunction,
        // The picture comes first.
        "imagepng" | "imagejpeg" | "imagegif" | "imagewebp" | "imagebmp" | "imageavif" => {
            LibraryCall::WriteSecond
        }
        "include" | "include_once" | "require" | "require_once" => LibraryCall::RunFile,
        "call_user_func" | "call_user_func_array" => LibraryCall::CallByName,
        "FFI.cdef" | "FFI.load" | "ffi.library.system" | "ffi.library.popen" | "expect_popen" => {
            LibraryCall::Nothing
        }
        "dl" | "unserialize" => LibraryCall::Foreign,
        "posix_kill" => LibraryCall::Kill,
        "pcntl_fork" => LibraryCall::Fork,
        "fsockopen" | "pfsockopen" | "stream_socket_client" | "socket_connect" => LibraryCall::Connect,
        "socket_create" => LibraryCall::Listen,
        "curl_init" => LibraryCall::Get,
        "curl_setopt" | "curl_exec" | "curl_close" | "curl_setopt_array" | "curl_error" | "curl_getinfo" => {
            LibraryCall::Same
        }
        "mail" => LibraryCall::Post,
        "chdir" => LibraryCall::Enter,
        "getcwd" => LibraryCall::Here,
        "glob" => LibraryCall::Glob,
        "scandir" | "opendir" | "readdir" => LibraryCall::List,
        "file_exists" | "is_file" | "is_dir" => LibraryCall::Exists,
        "sys_get_temp_dir" => LibraryCall::Temporary,
        "tempnam" | "tmpfile" => LibraryCall::TemporaryFile,
        "dirname" => LibraryCall::Parent,
        "getenv" => LibraryCall::Variable,
        "implode" | "join" => LibraryCall::JoinText,
        "sprintf" => LibraryCall::Format,
        "base64_decode" => LibraryCall::Base64,
        "hex2bin" => LibraryCall::Hexadecimal,
        "chr" => LibraryCall::Character,
        "realpath" | "trim" | "rtrim" | "ltrim" | "strval" | "escapeshellarg" | "escapeshellcmd"
        | "stripslashes" | "array_values" | "array_unique" | "json_decode" => LibraryCall::Same,
        "stream_get_contents" | "fread" | "fgets" | "stream_get_line" => LibraryCall::Same,
        "echo"
        | "print"
        | "printf"
        | "vprintf"
        | "print_r"
        | "var_dump"
        | "var_export"
        | "die"
        | "exit"
        | "isset"
        | "empty"
        | "unset"
        | "putenv"
        | "count"
        | "sizeof"
        | "strlen"
        | "substr"
        | "strpos"
        | "strrpos"
        | "stripos"
        | "strtolower"
        | "strtoupper"
        | "ucfirst"
        | "lcfirst"
        | "explode"
        | "nl2br"
        | "intval"
        | "floatval"
        | "boolval"
        | "settype"
        | "gettype"
        | "round"
        | "floor"
        | "ceil"
        | "abs"
        | "max"
        | "min"
        | "rand"
        | "mt_rand"
        | "mt_srand"
        | "srand"
        | "pi"
        | "pow"
        | "sqrt"
        | "log"
        | "exp"
        | "time"
        | "microtime"
        | "date"
        | "gmdate"
        | "mktime"
        | "strtotime"
        | "strftime"
        | "checkdate"
        | "sleep"
        | "usleep"
        | "uniqid"
        | "md5"
        | "sha1"
        | "crc32"
        | "hash"
        | "base64_encode"
        | "bin2hex"
        | "serialize"
        | "range"
        | "sort"
        | "rsort"
        | "usort"
        | "ksort"
        | "asort"
        | "shuffle"
        | "compact"
        | "extract"
        | "list"
        | "array"
        | "in_array"
        | "key"
        | "current"
        | "next"
        | "reset"
        | "end"
        | "each"
        | "strcmp"
        | "strstr"
        | "strrev"
        | "wordwrap"
        | "similar_text"
        | "levenshtein"
        | "soundex"
        | "metaphone"
        | "ord"
        | "dechex"
        | "hexdec"
        | "bindec"
        | "decbin"
        | "octdec"
        | "decoct"
        | "defined"
        | "define"
        | "fclose"
        | "fwrite"
        | "fputs"
        | "feof"
        | "fflush"
        | "fseek"
        | "ftell"
        | "fgetcsv"
        | "fputcsv"
        | "fscanf"
        | "flock"
        | "filesize"
        | "filemtime"
        | "fileperms"
        | "basename"
        | "pathinfo"
        | "disk_free_space"
        | "gethostname"
        | "gethostbyname"
        | "phpinfo"
        | "phpversion"
        | "php_sapi_name"
        | "php_uname"
        | "function_exists"
        | "strtr"
        | "substr_count"
        | "ucwords"
        | "vsprintf"
        | "number_format"
        | "fdiv"
        | "intdiv"
        | "fmod"
        | "getmypid"
        | "set_time_limit"
        | "proc_close"
        | "pclose"
        | "version_compare"
        | "trigger_error"
        | "spl_autoload_register"
        | "stat"
        | "proc_get_status"
        | "uasort"
        | "uksort"
        | "arsort"
        | "krsort"
        | "natsort"
        | "strncmp"
        | "strcasecmp"
        | "lcg_value"
        | "hrtime"
        | "checkdnsrr"
        | "ctype_digit" => LibraryCall::Nothing,
        name if HARMLESS.iter().any(|start| name.starts_with(start)) => LibraryCall::Nothing,
        _ => return None,
    })
}
