//! The functions of PHP.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::deeds::Deed;

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
    "pcntl_fork",
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
pub(super) fn deed(name: &str) -> Option<Deed> {
    let name = name.trim_start_matches('\\');
    Some(match name {
        "unlink" | "rmdir" => Deed::DeleteFirst,
        "File.deleteDirectory" => Deed::Delete(Depth::Recursive),
        "fopen" => Deed::Open,
        "file_put_contents" => Deed::Write,
        "file_get_contents" | "file" | "readfile" | "parse_ini_file" | "fpassthru" | "highlight_file"
        | "show_source" => Deed::Read,
        "rename" | "move_uploaded_file" => Deed::Move,
        "copy" => Deed::Copy,
        "symlink" | "link" => Deed::Link,
        "posix_getppid" => Deed::ParentProcess,
        "mkdir" => Deed::MakeDirectory,
        "touch" => Deed::Touch,
        "chmod" | "chown" | "chgrp" => Deed::Mode,
        "system" | "exec" | "shell_exec" | "passthru" | "popen" | "proc_open" => Deed::Shell,
        "pcntl_exec" => Deed::Program,
        "eval" | "assert" | "create_function" => Deed::Evaluate,
        "include" | "include_once" | "require" | "require_once" => Deed::RunFile,
        "call_user_func" | "call_user_func_array" => Deed::CallByName,
        "dl" | "unserialize" => Deed::Foreign,
        "posix_kill" => Deed::Kill,
        "fsockopen" | "pfsockopen" | "stream_socket_client" | "socket_connect" => Deed::Connect,
        "socket_create" => Deed::Listen,
        "curl_init" => Deed::Get,
        "curl_setopt" | "curl_exec" | "curl_close" | "curl_setopt_array" | "curl_error" | "curl_getinfo" => {
            Deed::Same
        }
        "mail" => Deed::Post,
        "chdir" => Deed::Enter,
        "getcwd" => Deed::Here,
        "glob" => Deed::Glob,
        "scandir" | "opendir" | "readdir" => Deed::List,
        "file_exists" | "is_file" | "is_dir" => Deed::Exists,
        "sys_get_temp_dir" => Deed::Temporary,
        "tempnam" | "tmpfile" => Deed::TemporaryFile,
        "dirname" => Deed::Parent,
        "getenv" => Deed::Variable,
        "implode" | "join" => Deed::JoinText,
        "sprintf" => Deed::Format,
        "base64_decode" => Deed::Base64,
        "hex2bin" => Deed::Hexadecimal,
        "chr" => Deed::Character,
        "realpath" | "trim" | "rtrim" | "ltrim" | "strval" | "escapeshellarg" | "escapeshellcmd"
        | "stripslashes" | "array_values" | "array_unique" | "json_decode" => Deed::Same,
        "stream_get_contents" | "fread" | "fgets" | "stream_get_line" => Deed::Same,
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
        | "iterator_to_array"
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
        | "ctype_digit" => Deed::Nothing,
        name if HARMLESS.iter().any(|start| name.starts_with(start)) => Deed::Nothing,
        _ => return None,
    })
}
