//! The functions of Perl.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::library_calls::LibraryCall;

/// What a function of Perl does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<LibraryCall> {
    let name = name.strip_prefix("CORE::").unwrap_or(name);
    let name = name.strip_prefix("GLOBAL::").unwrap_or(name);
    Some(match name {
        "unlink" | "rmdir" | "POSIX::unlink" | "POSIX::remove" | "POSIX::rmdir" => {
            LibraryCall::Delete(Depth::Single)
        }
        // POSIX 2.07: the functions of C under their own names, which take what those take.
        "POSIX::rename" => LibraryCall::Move,
        "POSIX::open" | "POSIX::creat" => LibraryCall::Write,
        "POSIX::chmod" => LibraryCall::ModeOfRest,
        "POSIX::chown" => LibraryCall::ModeOfRest,
        "POSIX::mkdir" => LibraryCall::MakeDirectory,
        "POSIX::system" => LibraryCall::Shell,
        "POSIX::kill" => LibraryCall::Kill,
        "store" | "nstore" | "lock_store" | "lock_nstore" | "Storable::store" | "Storable::nstore" => {
            LibraryCall::WriteSecond
        }
        // Path::Tiny 0.146, Mojo::File 9.39, Path::Class 0.37, IO::All 0.87: an object with methods of paths.
        "path"
        | "Path::Tiny::path"
        | "Path::Tiny.new"
        | "Mojo::File::path"
        | "Mojo::File.new"
        | "file"
        | "dir"
        | "Path::Class::file"
        | "Path::Class::dir"
        | "Path::Class::File.new"
        | "Path::Class::Dir.new"
        | "io"
        | "IO::All::io"
        | "IO::All.new" => LibraryCall::PathOf,
        // File::Copy::Recursive 0.45, File::Remove 1.61.
        "pathrmdir"
        | "pathempty"
        | "remove"
        | "File::Copy::Recursive::pathrmdir"
        | "File::Copy::Recursive::pathempty"
        | "File::Remove::remove"
        | "rmtree"
        | "remove_tree"
        | "File::Path::rmtree"
        | "File::Path::remove_tree"
        | "File::Path.rmtree"
        | "File::Path.remove_tree" => LibraryCall::Delete(Depth::Recursive),
        "open" | "IO::File.new" => LibraryCall::Open,
        "opendir" | "readdir" | "pipe" | "fc" | "fcntl" | "ioctl" | "readlink" | "getpgrp" | "setpgrp"
        | "telldir" | "seekdir" | "rewinddir" | "sysseek" | "dbmclose" | "shutdown" | "socketpair"
        | "getpeername" | "getsockname" | "getsockopt" | "recv" | "crypt" => LibraryCall::Nothing,
        "File::Find::find" | "find" | "File::Find::finddepth" | "finddepth" => LibraryCall::FindFiles,
        "rename"
        | "move"
        | "File::Copy::move"
        | "mv"
        | "File::Copy::mv"
        | "fmove"
        | "dirmove"
        | "rmove"
        | "File::Copy::Recursive::fmove"
        | "File::Copy::Recursive::dirmove"
        | "File::Copy::Recursive::rmove" => LibraryCall::Move,
        "copy"
        | "File::Copy::copy"
        | "cp"
        | "File::Copy::cp"
        | "dircopy"
        | "fcopy"
        | "rcopy"
        | "File::Copy::Recursive::fcopy"
        | "File::Copy::Recursive::dircopy"
        | "File::Copy::Recursive::rcopy" => LibraryCall::Copy,
        "symlink" | "link" => LibraryCall::Link,
        "getppid" => LibraryCall::ParentProcess,
        "mkdir" | "mkpath" | "make_path" | "File::Path::mkpath" | "File::Path::make_path" => {
            LibraryCall::MakeDirectory
        }
        "chmod" | "chown" => LibraryCall::ModeOfRest,
        "utime" => LibraryCall::Nothing,
        // File::Slurp 9999.32, File::Slurper 0.014.
        "truncate"
        | "write_file"
        | "dbmopen"
        | "File::Slurp::write_file"
        | "overwrite_file"
        | "edit_file"
        | "edit_file_lines"
        | "write_text"
        | "write_binary"
        | "File::Slurp::edit_file"
        | "File::Slurper::write_text"
        | "File::Slurper::write_binary" => LibraryCall::Write,
        "read_file" | "slurp" | "File::Slurp::read_file" => LibraryCall::Read,
        "system" | "exec" | "readpipe" => LibraryCall::Shell,
        // IPC::System::Simple 1.30, "SYNOPSIS": as `system` and back-ticks; those with an X never start a shell.
        "runx"
        | "systemx"
        | "capturex"
        | "IPC::System::Simple::run"
        | "IPC::System::Simple::runx"
        | "IPC::System::Simple::system"
        | "IPC::System::Simple::systemx"
        | "IPC::System::Simple::capture"
        | "IPC::System::Simple::capturex" => LibraryCall::Shell,
        // IPC::Run 20231003, IPC::Run3 0.049, IPC::Cmd 1.04: the first value is the words, or a text for a shell; IPC::Cmd names it `command`.
        "run"
        | "harness"
        | "start"
        | "run3"
        | "run_forked"
        | "IPC::Run::run"
        | "IPC::Run::harness"
        | "IPC::Run::start"
        | "IPC::Run3::run3"
        | "IPC::Cmd::run"
        | "IPC::Cmd::run_forked" => LibraryCall::Run,
        "Capture::Tiny::capture"
        | "Capture::Tiny::capture_merged"
        | "Capture::Tiny::tee"
        | "Capture::Tiny::capture_stdout"
        | "capture_merged"
        | "capture_stdout"
        | "capture_stderr"
        | "tee"
        | "tee_merged"
        | "tee_stdout"
        | "tee_stderr"
        | "finish"
        | "pump" => LibraryCall::Nothing,
        // File::Which 1.27, "FUNCTIONS"; IPC::Cmd 1.04, `can_run`.
        "which" | "where" | "File::Which::which" | "File::Which::where" | "can_run" | "IPC::Cmd::can_run" => {
            LibraryCall::Whereabouts
        }
        "open2" | "open3" | "IPC::Open2::open2" | "IPC::Open3::open3" => LibraryCall::Pipe,
        "eval" | "evalbytes" => LibraryCall::Evaluate,
        "do" | "require" => LibraryCall::Loads,
        "kill" => LibraryCall::KillRest,
        "fork" => LibraryCall::Fork,
        "setpriority" => LibraryCall::Throttle,
        "socket" => LibraryCall::Listen,
        "connect"
        | "IO::Socket::INET.new"
        | "IO::Socket::INET6.new"
        | "IO::Socket::IP.new"
        | "IO::Socket::SSL.new"
        | "IO::Socket::INET->new" => LibraryCall::Connect,
        "syscall" => LibraryCall::Foreign,
        "get" | "getprint" | "head" | "LWP::Simple::get" => LibraryCall::Get,
        "getstore" | "mirror" | "LWP::Simple::getstore" => LibraryCall::Download,
        "LWP::UserAgent.new" | "HTTP::Tiny.new" => LibraryCall::Becomes("agent"),
        "agent.get" | "agent.head" => LibraryCall::Get,
        "agent.post" | "agent.put" | "agent.delete" | "agent.post_form" | "agent.request" => {
            LibraryCall::Post
        }
        "agent.mirror" => LibraryCall::Download,
        "chdir" => LibraryCall::Enter,
        "cwd" | "getcwd" | "Cwd::cwd" | "Cwd::getcwd" => LibraryCall::Here,
        // A line of a handle: `<$handle>`.
        "<$>" => LibraryCall::Input,
        "glob" | "bsd_glob" | "<>" => LibraryCall::Glob,
        "catfile" | "catdir" | "File::Spec.catfile" | "File::Spec.catdir" => LibraryCall::Join,
        "dirname" => LibraryCall::Parent,
        "join" => LibraryCall::JoinText,
        "sprintf" => LibraryCall::Format,
        "chr" => LibraryCall::Character,
        "decode_base64" | "MIME::Base64::decode_base64" => LibraryCall::Base64,
        "shift" => LibraryCall::First,
        "sockaddr_in" | "pack_sockaddr_in" | "Socket::sockaddr_in" => LibraryCall::Together,
        "inet_aton" | "lc" | "uc" | "ucfirst" | "lcfirst" | "reverse" | "sort" | "scalar" | "quotemeta"
        | "keys" | "values" | "chomp" | "abs_path" | "Cwd::abs_path" | "List::Util::uniq" | "uniq" => {
            LibraryCall::Same
        }
        "tempfile" | "tempdir" | "File::Temp::tempfile" => LibraryCall::TemporaryFile,
        "print" | "printf" | "say" | "die" | "warn" | "exit" | "return" | "defined" | "ref" | "bless"
        | "length" | "substr" | "index" | "rindex" | "split" | "map" | "grep" | "push" | "pop"
        | "unshift" | "splice" | "exists" | "delete" | "each" | "chop" | "chained" | "ord" | "hex"
        | "oct" | "int" | "abs" | "sqrt" | "sin" | "cos" | "atan2" | "exp" | "log" | "rand" | "srand"
        | "time" | "localtime" | "gmtime" | "sleep" | "local" | "wantarray" | "pos" | "study" | "pack"
        | "unpack" | "vec" | "sprintf1" | "close" | "closedir" | "eof" | "binmode" | "fileno" | "seek"
        | "tell" | "read" | "sysread" | "syswrite" | "getc" | "select" | "flock" | "stat" | "lstat"
        | "umask" | "wait" | "waitpid" | "alarm" | "undef" | "lock" | "not" | "use" | "no" | "my" | "our"
        | "readline" | "caller" | "format" | "formline" | "write" | "sum" | "max" | "min" | "sum0"
        | "first" | "any" | "all" | "none" | "strftime" | "POSIX::strftime" | "floor" | "ceil"
        | "POSIX::floor" | "POSIX::ceil" | "Dumper" | "Data::Dumper" | "decode_json" | "encode_json"
        | "from_json" | "to_json" | "basename" | "fileparse" | "encode_base64" | "md5_hex" | "sha256_hex"
        | "sha1_hex" | "croak" | "carp" | "confess" | "blessed" | "looks_like_number" | "shuffle"
        | "reduce" | "product" | "pairs" | "STDIN" | "STDOUT" | "STDERR" | "OUT" | "IN" | "F" | "FH"
        | "setsockopt" | "bind" | "listen" | "accept" | "getprotobyname" | "gethostbyname" | "getpwuid"
        | "getpwnam" | "getlogin" | "getgrgid" | "gettimeofday" | "usleep" | "encode" | "decode" | "utf8"
        | "tie" | "untie" | "prototype" | "BEGIN" | "END" | "x" | "lt" | "gt" | "sprintf2" | "isatty"
        | "dup2" | "POSIX::dup2" | "setsid" | "POSIX::setsid" | "POSIX::_exit" | "reset" | "getpriority"
        | "times" | "chroot" | "opendir1" | "encode_utf8" | "decode_utf8" => LibraryCall::Nothing,
        // Handles are written in capitals.
        name if !name.is_empty()
            && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()) =>
        {
            LibraryCall::Nothing
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
            LibraryCall::Nothing
        }
        _ => return None,
    })
}
