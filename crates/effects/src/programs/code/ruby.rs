//! The functions of Ruby.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::library_calls::LibraryCall;

/// Modules and classes whose functions change nothing outside the program.
const HARMLESS: &[&str] = &[
    "JSON",
    "YAML",
    "CSV",
    "Math",
    "Time",
    "Date",
    "DateTime",
    "Random",
    "SecureRandom",
    "Digest",
    "Base64",
    "Integer",
    "Float",
    "String",
    "Array",
    "Hash",
    "Set",
    "Struct",
    "Range",
    "Regexp",
    "Comparable",
    "Benchmark",
    "Etc",
    "RbConfig",
    "ERB",
    "URI",
    "Shellwords",
    "StringIO",
    "Logger",
    "OptionParser",
    "PP",
    "Rational",
    "Complex",
    "BigDecimal",
    "Exception",
    "StandardError",
    "RuntimeError",
    "ArgumentError",
    "ENV",
    "ARGF",
    "ARGV",
    "STDOUT",
    "STDERR",
    "STDIN",
    "$stdout",
    "$stderr",
    "$stdin",
    "GC",
    "ObjectSpace",
    "Thread",
    "Mutex",
    "Queue",
    "Process",
    "Signal",
    "Timeout",
    "Encoding",
    "Object",
    "Class",
    "Module",
    "Gem",
    "Open3",
    "Kernel",
    "File",
    "Dir",
    "IO",
    "Symbol",
    "Proc",
    "Marshal",
    "Zlib",
    "Ripper",
    "OpenStruct",
];

/// What a function of Ruby does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<LibraryCall> {
    let name = name.strip_prefix("Kernel.").unwrap_or(name);
    Some(match name {
        "File.delete"
        | "File.unlink"
        | "Dir.rmdir"
        | "Dir.delete"
        | "Dir.unlink"
        | "FileUtils.rm"
        | "FileUtils.rm_f"
        | "FileUtils.remove"
        | "FileUtils.rmdir"
        | "FileUtils.safe_unlink"
        | "rm"
        | "rm_f"
        | "IO.unlink" => LibraryCall::Delete(Depth::Single),
        "FileUtils.rm_rf"
        | "FileUtils.rm_r"
        | "FileUtils.remove_dir"
        | "FileUtils.remove_entry"
        | "FileUtils.rmtree"
        | "FileUtils.remove_entry_secure"
        | "FileUtils.remove_file"
        | "rm_rf"
        | "rm_r" => LibraryCall::Delete(Depth::Recursive),
        "File.open" | "File.new" | "open" | "IO.open" | "File.for_fd" => LibraryCall::Open,
        "URI.open" | "OpenURI.open_uri" => LibraryCall::Open,
        "File.write" | "IO.write" | "File.binwrite" | "IO.binwrite" | "File.truncate" => LibraryCall::Write,
        "File.read" | "IO.read" | "File.binread" | "IO.binread" => LibraryCall::Read,
        "File.rename" | "FileUtils.mv" | "FileUtils.move" | "mv" => LibraryCall::Move,
        "FileUtils.cp"
        | "FileUtils.cp_r"
        | "FileUtils.copy"
        | "FileUtils.copy_file"
        | "FileUtils.copy_entry"
        | "FileUtils.install"
        | "IO.copy_stream"
        | "FileUtils.cp_lr"
        | "FileUtils.link_entry"
        | "cp"
        | "cp_r"
        | "cp_lr" => LibraryCall::Copy,
        "File.symlink" | "File.link" | "FileUtils.ln" | "FileUtils.link" | "FileUtils.ln_s"
        | "FileUtils.ln_sf" | "FileUtils.ln_sr" | "ln" | "ln_s" | "ln_sf" | "FileUtils.symlink" => {
            LibraryCall::Link
        }
        "Process.pid" => LibraryCall::OwnProcess,
        "Process.ppid" => LibraryCall::ParentProcess,
        "Dir.mkdir" | "FileUtils.mkdir" | "FileUtils.mkdir_p" | "FileUtils.makedirs" | "mkdir_p"
        | "mkdir" => LibraryCall::MakeDirectory,
        "FileUtils.touch" | "touch" => LibraryCall::Touch,
        "File.chmod" | "File.chown" | "FileUtils.chmod" | "FileUtils.chmod_R" | "FileUtils.chown"
        | "FileUtils.chown_R" => LibraryCall::ModeOfRest,
        "system" | "sh" | "exec" | "spawn" | "Process.spawn" | "Process.exec" | "IO.popen"
        | "Open3.capture2" | "Open3.capture2e" | "Open3.capture3" | "Open3.popen3" | "Open3.popen2"
        | "Open3.popen2e" | "Open3.pipeline" | "PTY.spawn" | "PTY.getpty" => LibraryCall::Shell,
        "File.readlines" | "IO.readlines" | "File.foreach" | "IO.foreach" => LibraryCall::Lines,
        "ERB.new" => LibraryCall::Template,
        name if [".instance_eval", ".class_eval", ".module_eval", ".class_exec"]
            .iter()
            .any(|end| name.ends_with(end)) =>
        {
            LibraryCall::Evaluate
        }
        "eval"
        | "instance_eval"
        | "class_eval"
        | "module_eval"
        | "binding.eval"
        | "Kernel.eval"
        | "RubyVM::InstructionSequence.eval"
        | "RubyVM::InstructionSequence.compile"
        | "RubyVM::InstructionSequence.new" => LibraryCall::Evaluate,
        "load" | "require_relative" => LibraryCall::RunFile,
        "require" | "autoload" | "include" | "extend" | "using" | "gem" => LibraryCall::Nothing,
        "Object.const_get" | "syscall" | "Fiddle.dlopen" => LibraryCall::Foreign,
        "Process.kill" => LibraryCall::KillRest,
        "fork" | "Process.fork" | "Kernel.fork" => LibraryCall::Fork,
        "Process.setpriority" => LibraryCall::Throttle,
        "TCPSocket.new"
        | "TCPSocket.open"
        | "Socket.tcp"
        | "UDPSocket.new"
        | "Net::FTP.new"
        | "Net::HTTP.start"
        | "Net::SMTP.start"
        | "Net.FTP.new"
        | "Net.HTTP.start"
        | "Net.SMTP.start"
        | "OpenSSL.SSL.SSLSocket.new" => LibraryCall::Connect,
        "Net.HTTP.get"
        | "Net.HTTP.get_response"
        | "Net.HTTP.get_print"
        | "HTTParty.get"
        | "Faraday.get"
        | "RestClient.get"
        | "HTTP.get" => LibraryCall::Get,
        "Net.HTTP.post" | "Net.HTTP.post_form" | "HTTParty.post" | "Faraday.post" | "RestClient.post"
        | "HTTP.post" => LibraryCall::Post,
        "URI" | "URI.parse" | "URI.join" | "String" | "Integer" | "Array" | "Shellwords.escape"
        | "Shellwords.split" | "File.expand_path" | "File.absolute_path" | "File.realpath" | "JSON.parse" => {
            match name {
                "File.expand_path" => LibraryCall::Expand,
                _ => LibraryCall::Same,
            }
        }
        "Base64.decode64" | "Base64.strict_decode64" | "Base64.urlsafe_decode64" => LibraryCall::Base64,
        "Pathname.new" | "Pathname" => LibraryCall::PathOf,
        "Pathname.pwd" | "Dir.pwd" | "Dir.getwd" | "FileUtils.pwd" => LibraryCall::Here,
        "Dir.home" => LibraryCall::Home,
        "Dir.tmpdir" => LibraryCall::Temporary,
        "Dir.mktmpdir" | "Tempfile.new" | "Tempfile.create" | "Tempfile.open" => LibraryCall::TemporaryFile,
        "Dir.chdir" | "FileUtils.cd" | "FileUtils.chdir" => LibraryCall::Enter,
        "Dir.glob" | "Dir.[]" | "Pathname.glob" => LibraryCall::Glob,
        "Dir.entries" | "Dir.children" | "Dir.each_child" | "Dir.foreach" => LibraryCall::List,
        "Find.find" => LibraryCall::Walk,
        "File.join" => LibraryCall::Join,
        "File.dirname" => LibraryCall::Parent,
        "File.exist?" | "File.exists?" | "File.file?" | "File.directory?" | "Dir.exist?" => {
            LibraryCall::Exists
        }
        // Ruby 3.3, `MakeMakefile`; TTY::Which 0.5.
        "find_executable" | "MakeMakefile.find_executable" | "find_executable0" | "TTY::Which.which" => {
            LibraryCall::Whereabouts
        }
        "ENV.fetch" => LibraryCall::Variable,
        "ENV.delete" | "ENV.clear" | "ENV.replace" | "ENV.delete_if" | "ENV.reject!" | "ENV.select!"
        | "ENV.keep_if" | "ENV.filter!" | "ENV.shift" => LibraryCall::Nothing,
        "sprintf" | "format" => LibraryCall::Format,
        "STDIN.read" | "$stdin.read" | "ARGF.read" | "gets" => LibraryCall::Input,
        "puts" => LibraryCall::Print,
        "print" => LibraryCall::PrintPlain,
        "p" | "pp" | "printf" | "putc" | "warn" | "raise" | "abort" | "exit" | "exit!" | "sleep" | "rand"
        | "srand" | "loop" | "lambda" | "proc" | "catch" | "throw" | "at_exit" | "trap" | "binding"
        | "caller" | "block_given?" | "attr_accessor" | "attr_reader" | "attr_writer" | "private"
        | "public" | "protected" | "module_function" | "define_method" | "freeze" | "frozen?"
        | "require!" | "Float" | "Rational" | "Hash" | "select" | "test" | "set_trace_func" | "readline"
        | "readlines" | "yield" | "defined?" | "alias" | "ap" | "j" | "jj" | "super" | "sub" | "gsub"
        | "chomp" | "chop" => LibraryCall::Nothing,
        name if HARMLESS
            .iter()
            .any(|module| name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'))) =>
        {
            LibraryCall::Nothing
        }
        name if name.ends_with("Error.new")
            || name.starts_with("Struct")
            || name.starts_with("Encoding.") =>
        {
            LibraryCall::Nothing
        }
        _ => return None,
    })
}
