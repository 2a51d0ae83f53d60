//! The functions of Ruby.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::deeds::Deed;

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
pub(super) fn deed(name: &str) -> Option<Deed> {
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
        | "IO.unlink" => Deed::Delete(Depth::Single),
        "FileUtils.rm_rf"
        | "FileUtils.rm_r"
        | "FileUtils.remove_dir"
        | "FileUtils.remove_entry"
        | "FileUtils.rmtree"
        | "FileUtils.remove_entry_secure"
        | "FileUtils.remove_file"
        | "rm_rf"
        | "rm_r" => Deed::Delete(Depth::Recursive),
        "File.open" | "File.new" | "open" | "IO.open" | "File.for_fd" => Deed::Open,
        "URI.open" | "OpenURI.open_uri" => Deed::Open,
        "File.write" | "IO.write" | "File.binwrite" | "IO.binwrite" | "File.truncate" => Deed::Write,
        "File.read" | "IO.read" | "File.readlines" | "IO.readlines" | "File.foreach" | "IO.foreach"
        | "File.binread" | "IO.binread" => Deed::Read,
        "File.rename" | "FileUtils.mv" | "FileUtils.move" | "mv" => Deed::Move,
        "FileUtils.cp"
        | "FileUtils.cp_r"
        | "FileUtils.copy"
        | "FileUtils.copy_file"
        | "FileUtils.copy_entry"
        | "FileUtils.install"
        | "IO.copy_stream"
        | "cp"
        | "cp_r" => Deed::Copy,
        "File.symlink" | "File.link" | "FileUtils.ln" | "FileUtils.ln_s" | "FileUtils.ln_sf"
        | "FileUtils.symlink" => Deed::Link,
        "Process.ppid" => Deed::ParentProcess,
        "Dir.mkdir" | "FileUtils.mkdir" | "FileUtils.mkdir_p" | "FileUtils.makedirs" | "mkdir_p"
        | "mkdir" => Deed::MakeDirectory,
        "FileUtils.touch" | "touch" => Deed::Touch,
        "File.chmod" | "File.chown" | "FileUtils.chmod" | "FileUtils.chmod_R" | "FileUtils.chown"
        | "FileUtils.chown_R" => Deed::ModeOfRest,
        "system" | "exec" | "spawn" | "Process.spawn" | "Process.exec" | "IO.popen" | "Open3.capture2"
        | "Open3.capture2e" | "Open3.capture3" | "Open3.popen3" | "Open3.popen2" | "Open3.popen2e"
        | "Open3.pipeline" | "PTY.spawn" | "PTY.getpty" => Deed::Shell,
        "eval" | "instance_eval" | "class_eval" | "module_eval" | "RubyVM::InstructionSequence.eval" => {
            Deed::Evaluate
        }
        "load" | "require_relative" => Deed::RunFile,
        "require" | "autoload" | "include" | "extend" | "using" | "gem" => Deed::Nothing,
        "Object.const_get" | "syscall" | "Fiddle.dlopen" => Deed::Foreign,
        "Process.kill" => Deed::KillRest,
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
        | "OpenSSL.SSL.SSLSocket.new" => Deed::Connect,
        "Net.HTTP.get"
        | "Net.HTTP.get_response"
        | "Net.HTTP.get_print"
        | "HTTParty.get"
        | "Faraday.get"
        | "RestClient.get"
        | "HTTP.get" => Deed::Get,
        "Net.HTTP.post" | "Net.HTTP.post_form" | "HTTParty.post" | "Faraday.post" | "RestClient.post"
        | "HTTP.post" => Deed::Post,
        "URI" | "URI.parse" | "URI.join" | "String" | "Integer" | "Array" | "Shellwords.escape"
        | "Shellwords.split" | "File.expand_path" | "File.absolute_path" | "File.realpath" | "JSON.parse" => {
            match name {
                "File.expand_path" => Deed::Expand,
                _ => Deed::Same,
            }
        }
        "Base64.decode64" | "Base64.strict_decode64" | "Base64.urlsafe_decode64" => Deed::Base64,
        "Pathname.new" | "Pathname" => Deed::PathOf,
        "Pathname.pwd" | "Dir.pwd" | "Dir.getwd" | "FileUtils.pwd" => Deed::Here,
        "Dir.home" => Deed::Home,
        "Dir.tmpdir" => Deed::Temporary,
        "Dir.mktmpdir" | "Tempfile.new" | "Tempfile.create" | "Tempfile.open" => Deed::TemporaryFile,
        "Dir.chdir" | "FileUtils.cd" | "FileUtils.chdir" => Deed::Enter,
        "Dir.glob" | "Dir.[]" | "Pathname.glob" => Deed::Glob,
        "Dir.entries" | "Dir.children" | "Dir.each_child" | "Dir.foreach" => Deed::List,
        "Find.find" => Deed::Walk,
        "File.join" => Deed::Join,
        "File.dirname" => Deed::Parent,
        "File.exist?" | "File.exists?" | "File.file?" | "File.directory?" | "Dir.exist?" => Deed::Exists,
        "ENV.fetch" => Deed::Variable,
        "sprintf" | "format" => Deed::Format,
        "STDIN.read" | "$stdin.read" | "ARGF.read" | "gets" => Deed::Input,
        "puts" => Deed::Print,
        "print" => Deed::PrintPlain,
        "p" | "pp" | "printf" | "putc" | "warn" | "raise" | "abort" | "exit" | "exit!" | "sleep" | "rand"
        | "srand" | "loop" | "lambda" | "proc" | "catch" | "throw" | "at_exit" | "trap" | "fork"
        | "binding" | "caller" | "block_given?" | "attr_accessor" | "attr_reader" | "attr_writer"
        | "private" | "public" | "protected" | "module_function" | "define_method" | "freeze" | "frozen?"
        | "require!" | "Float" | "Rational" | "Hash" | "select" | "test" | "set_trace_func" | "readline"
        | "readlines" | "yield" | "defined?" | "alias" | "ap" | "j" | "jj" | "super" | "sub" | "gsub"
        | "chomp" | "chop" => Deed::Nothing,
        name if HARMLESS
            .iter()
            .any(|module| name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'))) =>
        {
            Deed::Nothing
        }
        name if name.ends_with("Error.new")
            || name.starts_with("Struct")
            || name.starts_with("Encoding.") =>
        {
            Deed::Nothing
        }
        _ => return None,
    })
}
