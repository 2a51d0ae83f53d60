//! The functions of Perl.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::deeds::Deed;

/// What a function of Perl does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<Deed> {
    let name = name.strip_prefix("CORE::").unwrap_or(name);
    let name = name.strip_prefix("GLOBAL::").unwrap_or(name);
    Some(match name {
        "unlink" | "rmdir" => Deed::Delete(Depth::Single),
        "rmtree"
        | "remove_tree"
        | "File::Path::rmtree"
        | "File::Path::remove_tree"
        | "File::Path.rmtree"
        | "File::Path.remove_tree" => Deed::Delete(Depth::Recursive),
        "open" | "sysopen" => Deed::Open,
        "opendir" | "readdir" | "File::Find::find" | "find" => Deed::Nothing,
        "rename" | "move" | "File::Copy::move" | "mv" | "File::Copy::mv" => Deed::Move,
        "copy" | "File::Copy::copy" | "cp" | "File::Copy::cp" | "dircopy" => Deed::Copy,
        "symlink" | "link" => Deed::Link,
        "getppid" => Deed::ParentProcess,
        "mkdir" | "mkpath" | "make_path" | "File::Path::mkpath" | "File::Path::make_path" => {
            Deed::MakeDirectory
        }
        "chmod" | "chown" => Deed::ModeOfRest,
        "utime" => Deed::Nothing,
        "truncate" | "write_file" | "dbmopen" | "File::Slurp::write_file" => Deed::Write,
        "read_file" | "slurp" | "File::Slurp::read_file" => Deed::Read,
        "system" | "exec" | "readpipe" => Deed::Shell,
        "eval" => Deed::Evaluate,
        "do" | "require" => Deed::Loads,
        "kill" => Deed::KillRest,
        "socket" => Deed::Listen,
        "connect"
        | "IO::Socket::INET.new"
        | "IO::Socket::INET6.new"
        | "IO::Socket::IP.new"
        | "IO::Socket::SSL.new"
        | "IO::Socket::INET->new" => Deed::Connect,
        "syscall" => Deed::Foreign,
        "get" | "getprint" | "head" | "LWP::Simple::get" => Deed::Get,
        "getstore" | "mirror" | "LWP::Simple::getstore" => Deed::Download,
        "LWP::UserAgent.new" | "HTTP::Tiny.new" => Deed::Becomes("agent"),
        "agent.get" | "agent.head" => Deed::Get,
        "agent.post" | "agent.put" | "agent.delete" | "agent.post_form" | "agent.request" => Deed::Post,
        "agent.mirror" => Deed::Download,
        "chdir" => Deed::Enter,
        "cwd" | "getcwd" | "Cwd::cwd" | "Cwd::getcwd" => Deed::Here,
        "glob" | "bsd_glob" | "<>" => Deed::Glob,
        "catfile" | "catdir" | "File::Spec.catfile" | "File::Spec.catdir" => Deed::Join,
        "dirname" => Deed::Parent,
        "join" => Deed::JoinText,
        "sprintf" => Deed::Format,
        "chr" => Deed::Character,
        "decode_base64" | "MIME::Base64::decode_base64" => Deed::Base64,
        "shift" => Deed::First,
        "sockaddr_in" | "pack_sockaddr_in" | "Socket::sockaddr_in" => Deed::Together,
        "inet_aton" | "lc" | "uc" | "ucfirst" | "lcfirst" | "reverse" | "sort" | "scalar" | "quotemeta"
        | "keys" | "values" | "chomp" | "abs_path" | "Cwd::abs_path" | "List::Util::uniq" | "uniq" => {
            Deed::Same
        }
        "tempfile" | "tempdir" | "File::Temp::tempfile" => Deed::TemporaryFile,
        "print" | "printf" | "say" | "die" | "warn" | "exit" | "return" | "defined" | "ref" | "bless"
        | "length" | "substr" | "index" | "rindex" | "split" | "map" | "grep" | "push" | "pop"
        | "unshift" | "splice" | "exists" | "delete" | "each" | "chop" | "chained" | "ord" | "hex"
        | "oct" | "int" | "abs" | "sqrt" | "sin" | "cos" | "atan2" | "exp" | "log" | "rand" | "srand"
        | "time" | "localtime" | "gmtime" | "sleep" | "local" | "wantarray" | "pos" | "study" | "pack"
        | "unpack" | "vec" | "sprintf1" | "close" | "closedir" | "eof" | "binmode" | "fileno" | "seek"
        | "tell" | "read" | "sysread" | "syswrite" | "getc" | "select" | "flock" | "stat" | "lstat"
        | "umask" | "wait" | "waitpid" | "fork" | "alarm" | "undef" | "lock" | "not" | "use" | "no"
        | "my" | "our" | "readline" | "caller" | "format" | "formline" | "write" | "sum" | "max" | "min"
        | "sum0" | "first" | "any" | "all" | "none" | "strftime" | "POSIX::strftime" | "floor" | "ceil"
        | "POSIX::floor" | "POSIX::ceil" | "Dumper" | "Data::Dumper" | "decode_json" | "encode_json"
        | "from_json" | "to_json" | "basename" | "fileparse" | "encode_base64" | "md5_hex" | "sha256_hex"
        | "sha1_hex" | "croak" | "carp" | "confess" | "blessed" | "looks_like_number" | "shuffle"
        | "reduce" | "product" | "pairs" | "STDIN" | "STDOUT" | "STDERR" | "OUT" | "IN" | "F" | "FH"
        | "setsockopt" | "bind" | "listen" | "accept" | "getprotobyname" | "gethostbyname" | "getpwuid"
        | "getpwnam" | "getlogin" | "getgrgid" | "gettimeofday" | "usleep" | "encode" | "decode" | "utf8"
        | "tie" | "untie" | "prototype" | "BEGIN" | "END" | "x" | "lt" | "gt" | "sprintf2" | "isatty"
        | "dup2" | "POSIX::dup2" | "setsid" | "POSIX::setsid" | "POSIX::_exit" | "reset" | "getpriority"
        | "times" | "chroot" | "opendir1" | "encode_utf8" | "decode_utf8" => Deed::Nothing,
        // Handles are written in capitals.
        name if !name.is_empty()
            && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()) =>
        {
            Deed::Nothing
        }
        name if [
            "Data::Dumper",
            "JSON::",
            "JSON.",
            "List::Util",
            "Scalar::Util",
            "POSIX",
            "Time::",
            "Getopt::",
            "Encode",
            "MIME::",
            "Digest::",
            "Text::",
            "Carp",
            "Math::",
            "DateTime",
            "Term::",
            "Unicode::",
            "URI",
            "agent.",
            "STDIN",
            "STDOUT",
            "STDERR",
            "Config",
            "utf8::",
            "File::Basename",
            "File::Spec",
        ]
        .iter()
        .any(|start| name.starts_with(start)) =>
        {
            Deed::Nothing
        }
        _ => return None,
    })
}
