//! The names of the parameters of Python's functions, in their order: a value that is given by its name goes to the same place as one without.
//!
//! Taken from `inspect.signature` of Python 3.11 for every function of the standard library that the table of functions names, and from the documentation of each package
//! for the others. A parameter that has no name, or takes only values without one, is an empty text; behind `*` the list ends.

use super::evaluator::{Given, REST};
use super::value::ScriptValue;
use crate::interpreter::Value;

/// The greatest number of places that are filled in where any of them may be given (ours).
const OPEN_PLACES: usize = 3;

/// The function, and the names of what it takes.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("__import__", &["name", "globals", "locals", "fromlist", "level"]),
    ("asyncio.create_subprocess_exec", &["program"]),
    ("asyncio.create_subprocess_shell", &["cmd", "stdin", "stdout", "stderr", "limit"]),
    ("base64.b64decode", &["s", "altchars", "validate"]),
    ("base64.b64encode", &["s", "altchars"]),
    ("base64.decodebytes", &["s"]),
    ("base64.encodebytes", &["s"]),
    ("base64.standard_b64decode", &["s"]),
    ("base64.standard_b64encode", &["s"]),
    ("base64.urlsafe_b64decode", &["s"]),
    ("bdb.Bdb", &["skip"]),
    ("bz2.compress", &["data", "compresslevel"]),
    ("bz2.decompress", &["data"]),
    ("bz2.open", &["filename", "mode", "compresslevel", "encoding", "errors", "newline"]),
    ("cProfile.run", &["statement", "filename", "sort"]),
    ("cProfile.runctx", &["statement", "globals", "locals", "filename", "sort"]),
    ("cffi.FFI.dlopen", &["name", "flags"]),
    ("code.InteractiveConsole", &["locals", "filename"]),
    ("code.InteractiveInterpreter", &["locals"]),
    ("code.interact", &["banner", "readfunc", "local", "exitmsg"]),
    ("codecs.decode", &["obj", "encoding", "errors"]),
    ("codecs.encode", &["obj", "encoding", "errors"]),
    ("codecs.open", &["filename", "mode", "encoding", "errors", "buffering"]),
    ("codeop.compile_command", &["source", "filename", "symbol"]),
    ("compile", &["source", "filename", "mode", "flags", "dont_inherit", "optimize"]),
    ("complex", &["real", "imag"]),
    ("csv.DictReader", &["f", "fieldnames", "restkey", "restval", "dialect"]),
    ("ctypes.CDLL", &["name", "mode", "handle", "use_errno", "use_last_error", "winmode"]),
    ("ctypes.PyDLL", &["name", "mode", "handle", "use_errno", "use_last_error", "winmode"]),
    ("ctypes.cdll.LoadLibrary", &["name"]),
    ("ctypes.pydll.LoadLibrary", &["name"]),
    ("ctypes.util.find_library", &["name"]),
    ("cv2.imwrite", &["filename", "img"]),
    (
        "distutils.dir_util.copy_tree",
        &[
            "src",
            "dst",
            "preserve_mode",
            "preserve_times",
            "preserve_symlinks",
            "update",
            "verbose",
            "dry_run",
        ],
    ),
    ("distutils.dir_util.remove_tree", &["directory", "verbose", "dry_run"]),
    ("doctest.debug_src", &["src", "pm", "globs"]),
    ("doctest.run_docstring_examples", &["f", "globs", "verbose", "name", "compileflags", "optionflags"]),
    ("doctest.script_from_examples", &["s"]),
    ("enumerate", &["iterable", "start"]),
    ("exit", &["code"]),
    ("fileinput.FileInput", &["files", "inplace", "backup"]),
    ("fileinput.input", &["files", "inplace", "backup"]),
    ("ftplib.FTP", &["host", "user", "passwd", "acct", "timeout", "source_address"]),
    ("ftplib.FTP_TLS", &["host", "user", "passwd", "acct", "keyfile", "certfile", "context", "timeout"]),
    ("glob.glob", &["pathname"]),
    ("glob.iglob", &["pathname"]),
    ("gzip.compress", &["data", "compresslevel"]),
    ("gzip.decompress", &["data"]),
    ("gzip.open", &["filename", "mode", "compresslevel", "encoding", "errors", "newline"]),
    ("http.client.HTTPConnection", &["host", "port", "timeout", "source_address", "blocksize"]),
    ("http.client.HTTPSConnection", &["host", "port", "key_file", "cert_file", "timeout", "source_address"]),
    ("httpx.delete", &["url"]),
    ("httpx.get", &["url"]),
    ("httpx.head", &["url"]),
    ("httpx.patch", &["url"]),
    ("httpx.post", &["url"]),
    ("httpx.put", &["url"]),
    ("httpx.request", &["method", "url"]),
    ("importlib.__import__", &["name", "globals", "locals", "fromlist", "level"]),
    ("importlib.import_module", &["name", "package"]),
    ("io.BytesIO", &["initial_bytes"]),
    ("io.StringIO", &["initial_value", "newline"]),
    ("io.open", &["file", "mode", "buffering", "encoding", "errors", "newline", "closefd", "opener"]),
    ("joblib.dump", &["value", "filename"]),
    ("joblib.load", &["filename"]),
    ("json.load", &["fp"]),
    ("json.loads", &["s"]),
    ("linecache.getline", &["filename", "lineno", "module_globals"]),
    ("linecache.getlines", &["filename", "module_globals"]),
    ("lzma.compress", &["data", "format", "check", "preset", "filters"]),
    ("lzma.decompress", &["data", "format", "memlimit", "filters"]),
    ("lzma.open", &["filename", "mode"]),
    ("matplotlib.pyplot.savefig", &["fname"]),
    ("memoryview", &["object"]),
    ("multiprocessing.Process", &["group", "target", "name", "args", "kwargs"]),
    ("numpy.save", &["file", "arr"]),
    ("numpy.savetxt", &["fname", "X"]),
    ("numpy.savez", &["file"]),
    ("open", &["file", "mode", "buffering", "encoding", "errors", "newline", "closefd", "opener"]),
    ("os._exit", &["status"]),
    ("os.access", &["path", "mode"]),
    ("os.chdir", &["path"]),
    ("os.chmod", &["path", "mode"]),
    ("os.chown", &["path", "uid", "gid"]),
    ("os.close", &["fd"]),
    ("os.dup2", &["fd", "fd2", "inheritable"]),
    ("os.environ.get", &["key", "default"]),
    ("os.execl", &["file"]),
    ("os.execle", &["file"]),
    ("os.execlp", &["file"]),
    ("os.execlpe", &["file"]),
    ("os.execve", &["path", "argv", "env"]),
    ("os.execvp", &["file", "args"]),
    ("os.execvpe", &["file", "args", "env"]),
    ("os.fdopen", &["fd", "mode", "buffering", "encoding"]),
    ("os.fsdecode", &["filename"]),
    ("os.fsencode", &["filename"]),
    ("os.fspath", &["path"]),
    ("os.fstat", &["fd"]),
    ("os.fsync", &["fd"]),
    ("os.fwalk", &["top", "topdown", "onerror"]),
    ("os.get_exec_path", &["env"]),
    ("os.getenv", &["key", "default"]),
    ("os.getenvb", &["key", "default"]),
    ("os.getpgid", &["pid"]),
    ("os.lchown", &["path", "uid", "gid"]),
    ("os.link", &["src", "dst"]),
    ("os.listdir", &["path"]),
    ("os.lstat", &["path"]),
    ("os.makedirs", &["name", "mode", "exist_ok"]),
    ("os.mkdir", &["path", "mode"]),
    ("os.mkfifo", &["path", "mode"]),
    ("os.mknod", &["path", "mode", "device"]),
    ("os.open", &["path", "flags", "mode"]),
    ("os.path.abspath", &["path"]),
    ("os.path.dirname", &["p"]),
    ("os.path.exists", &["path"]),
    ("os.path.expanduser", &["path"]),
    ("os.path.expandvars", &["path"]),
    ("os.path.isdir", &["s"]),
    ("os.path.isfile", &["path"]),
    ("os.path.join", &["a"]),
    ("os.path.lexists", &["path"]),
    ("os.path.normpath", &["path"]),
    ("os.path.realpath", &["filename"]),
    ("os.popen", &["cmd", "mode", "buffering"]),
    ("os.readlink", &["path"]),
    ("os.remove", &["path"]),
    ("os.removedirs", &["name"]),
    ("os.removexattr", &["path", "attribute"]),
    ("os.rename", &["src", "dst"]),
    ("os.renames", &["old", "new"]),
    ("os.replace", &["src", "dst"]),
    ("os.rmdir", &["path"]),
    ("os.scandir", &["path"]),
    ("os.setxattr", &["path", "attribute", "value", "flags"]),
    ("os.spawnl", &["mode", "file"]),
    ("os.spawnle", &["mode", "file"]),
    ("os.spawnlp", &["mode", "file"]),
    ("os.spawnlpe", &["mode", "file"]),
    ("os.spawnv", &["mode", "file", "args"]),
    ("os.spawnve", &["mode", "file", "args", "env"]),
    ("os.spawnvp", &["mode", "file", "args"]),
    ("os.spawnvpe", &["mode", "file", "args", "env"]),
    ("os.stat", &["path"]),
    ("os.statvfs", &["path"]),
    ("os.symlink", &["src", "dst", "target_is_directory"]),
    ("os.system", &["command"]),
    ("os.truncate", &["path", "length"]),
    ("os.unlink", &["path"]),
    ("os.walk", &["top", "topdown", "onerror", "followlinks"]),
    ("pandas.DataFrame.to_csv", &["path_or_buf"]),
    ("pandas.DataFrame.to_excel", &["excel_writer"]),
    ("pandas.DataFrame.to_feather", &["path"]),
    ("pandas.DataFrame.to_html", &["buf"]),
    ("pandas.DataFrame.to_json", &["path_or_buf"]),
    ("pandas.DataFrame.to_parquet", &["path"]),
    ("pandas.DataFrame.to_pickle", &["path"]),
    ("pathlib.Path.chmod", &["mode"]),
    ("pathlib.Path.glob", &["pattern"]),
    ("pathlib.Path.hardlink_to", &["target"]),
    ("pathlib.Path.lchmod", &["mode"]),
    ("pathlib.Path.mkdir", &["mode", "parents", "exist_ok"]),
    ("pathlib.Path.open", &["mode", "buffering", "encoding", "errors", "newline"]),
    ("pathlib.Path.read_text", &["encoding", "errors"]),
    ("pathlib.Path.rename", &["target"]),
    ("pathlib.Path.replace", &["target"]),
    ("pathlib.Path.rglob", &["pattern"]),
    ("pathlib.Path.symlink_to", &["target", "target_is_directory"]),
    ("pathlib.Path.touch", &["mode", "exist_ok"]),
    ("pathlib.Path.unlink", &["missing_ok"]),
    ("pathlib.Path.with_name", &["name"]),
    ("pathlib.Path.with_suffix", &["suffix"]),
    ("pathlib.Path.write_bytes", &["data"]),
    ("pathlib.Path.write_text", &["data", "encoding", "errors", "newline"]),
    ("pdb.Pdb", &["completekey", "stdin", "stdout", "skip", "nosigint", "readrc"]),
    ("pdb.run", &["statement", "globals", "locals"]),
    ("pdb.runeval", &["expression", "globals", "locals"]),
    (
        "pexpect.run",
        &["command", "timeout", "withexitstatus", "events", "extra_args", "logfile", "cwd", "env"],
    ),
    (
        "pexpect.spawn",
        &["command", "args", "timeout", "maxread", "searchwindowsize", "logfile", "cwd", "env"],
    ),
    ("pickle.dumps", &["obj", "protocol"]),
    ("pickle.load", &["file"]),
    ("plt.savefig", &["fname"]),
    ("posix.remove", &["path"]),
    ("posix.system", &["command"]),
    ("posix.unlink", &["path"]),
    ("posixpath.join", &["a"]),
    ("pow", &["base", "exp", "mod"]),
    ("profile.Profile", &["timer", "bias"]),
    ("profile.run", &["statement", "filename", "sort"]),
    ("profile.runctx", &["statement", "globals", "locals", "filename", "sort"]),
    ("property", &["fget", "fset", "fdel", "doc"]),
    ("pty.spawn", &["argv", "master_read", "stdin_read"]),
    ("quit", &["code"]),
    ("requests.Request", &["method", "url", "headers", "files", "data", "params", "auth", "cookies"]),
    ("requests.delete", &["url"]),
    ("requests.get", &["url", "params"]),
    ("requests.head", &["url"]),
    ("requests.options", &["url"]),
    ("requests.patch", &["url", "data"]),
    ("requests.post", &["url", "data", "json"]),
    ("requests.put", &["url", "data"]),
    ("requests.request", &["method", "url"]),
    ("round", &["number", "ndigits"]),
    ("runpy.run_path", &["path_name", "init_globals", "run_name"]),
    ("send2trash.send2trash", &["paths"]),
    ("shelve.open", &["filename", "flag", "protocol", "writeback"]),
    ("shlex.quote", &["s"]),
    ("shlex.split", &["s", "comments", "posix"]),
    ("shutil.chown", &["path", "user", "group"]),
    ("shutil.copy", &["src", "dst"]),
    ("shutil.copy2", &["src", "dst"]),
    ("shutil.copyfile", &["src", "dst"]),
    ("shutil.copyfileobj", &["fsrc", "fdst", "length"]),
    ("shutil.copymode", &["src", "dst"]),
    ("shutil.copystat", &["src", "dst"]),
    (
        "shutil.copytree",
        &["src", "dst", "symlinks", "ignore", "copy_function", "ignore_dangling_symlinks", "dirs_exist_ok"],
    ),
    ("shutil.disk_usage", &["path"]),
    ("shutil.get_terminal_size", &["fallback"]),
    (
        "shutil.make_archive",
        &["base_name", "format", "root_dir", "base_dir", "verbose", "dry_run", "owner", "group"],
    ),
    ("shutil.move", &["src", "dst", "copy_function"]),
    ("shutil.rmtree", &["path", "ignore_errors", "onerror"]),
    ("shutil.unpack_archive", &["filename", "extract_dir", "format"]),
    ("shutil.which", &["cmd", "mode", "path"]),
    ("smtplib.SMTP", &["host", "port", "local_hostname", "timeout", "source_address"]),
    (
        "smtplib.SMTP_SSL",
        &["host", "port", "local_hostname", "keyfile", "certfile", "timeout", "source_address", "context"],
    ),
    ("socket.create_connection", &["address", "timeout", "source_address"]),
    ("socket.getaddrinfo", &["host", "port", "family", "type", "proto", "flags"]),
    ("socket.getfqdn", &["name"]),
    ("socket.socket", &["family", "type", "proto", "fileno"]),
    (
        "subprocess.Popen",
        &["args", "bufsize", "executable", "stdin", "stdout", "stderr", "preexec_fn", "close_fds"],
    ),
    ("subprocess.getoutput", &["cmd"]),
    ("subprocess.getstatusoutput", &["cmd"]),
    ("tarfile.open", &["name", "mode", "fileobj", "bufsize"]),
    ("telnetlib.Telnet", &["host", "port", "timeout"]),
    (
        "tempfile.NamedTemporaryFile",
        &["mode", "buffering", "encoding", "newline", "suffix", "prefix", "dir", "delete"],
    ),
    ("tempfile.TemporaryDirectory", &["suffix", "prefix", "dir", "ignore_cleanup_errors"]),
    ("tempfile.TemporaryFile", &["mode", "buffering", "encoding", "newline", "suffix", "prefix", "dir"]),
    ("tempfile.mkdtemp", &["suffix", "prefix", "dir"]),
    ("tempfile.mkstemp", &["suffix", "prefix", "dir", "text"]),
    ("tempfile.mktemp", &["suffix", "prefix", "dir"]),
    ("textwrap.dedent", &["text"]),
    ("threading.Thread", &["group", "target", "name", "args", "kwargs"]),
    ("threading.Timer", &["interval", "function", "args", "kwargs"]),
    ("timeit.Timer", &["stmt", "setup", "timer", "globals"]),
    ("timeit.main", &["args"]),
    ("timeit.repeat", &["stmt", "setup", "timer", "repeat", "number", "globals"]),
    ("timeit.timeit", &["stmt", "setup", "timer", "number", "globals"]),
    ("torch.save", &["obj", "f"]),
    (
        "trace.Trace",
        &["count", "trace", "countfuncs", "countcallers", "ignoremods", "ignoredirs", "infile", "outfile"],
    ),
    ("urllib.request.Request", &["url", "data", "headers", "origin_req_host", "unverifiable", "method"]),
    ("urllib.request.urlopen", &["url", "data", "timeout"]),
    ("urllib.request.urlretrieve", &["url", "filename", "reporthook", "data"]),
    ("urllib3.request", &["method", "url"]),
    ("webbrowser.open", &["url", "new", "autoraise"]),
    ("wget.download", &["url", "out"]),
    ("yaml.full_load", &["stream"]),
    ("yaml.load", &["stream", "Loader"]),
    ("yaml.load_all", &["stream", "Loader"]),
    ("yaml.safe_load", &["stream"]),
    ("yaml.unsafe_load", &["stream"]),
    ("zipfile.ZipFile", &["file", "mode", "compression", "allowZip64", "compresslevel"]),
    ("zipfile.ZipFile.extract", &["member", "path", "pwd"]),
    ("zipfile.ZipFile.extractall", &["path", "members", "pwd"]),
    ("zlib.decompress", &["", "wbits", "bufsize"]),
];

/// The names of what a function takes; `None` when they are not known.
fn parameters(function: &str) -> Option<&'static [&'static str]> {
    let name = function.strip_prefix("builtins.").unwrap_or(function);
    let name = name.strip_prefix("posix.").map_or_else(|| name.to_owned(), |own| format!("os.{own}"));
    let place = PARAMETERS.binary_search_by(|(known, _)| (*known).cmp(name.as_str())).ok()?;
    PARAMETERS.get(place).map(|(_, names)| *names)
}

/// What a function is given, with the values that have names also at their places. What may be given besides, or under a name that the
/// function does not have, leaves a place that is not known, never none.
pub(super) fn placed(function: &str, given: &Given) -> Given {
    let mut placed = given.clone();
    if given.named.is_empty() {
        return placed;
    }
    let unknown = || ScriptValue::Text(Value::Unknown);
    let by_name = |name: &str| given.named.iter().rev().find(|(key, _)| key == name && !name.is_empty());
    let is_open = by_name(REST).is_some();
    let names = parameters(function);
    for (place, name) in names.unwrap_or_default().iter().enumerate().skip(given.positional.len()) {
        match by_name(name) {
            Some((_, value)) => placed.positional.push(value.clone()),
            None if is_open && place < OPEN_PLACES => placed.positional.push(unknown()),
            None => break,
        }
    }
    let is_strange =
        names.is_some_and(|names| given.named.iter().any(|(key, _)| !names.contains(&key.as_str())));
    if placed.positional.is_empty() && (is_open || is_strange && names.is_some_and(|names| names.len() == 1))
    {
        placed.positional.push(unknown());
    }
    for (place, names) in [(0, ["dir_fd", "src_dir_fd"]), (1, ["dst_dir_fd", "dir_fd_dst"])] {
        let opened = names.into_iter().find_map(by_name).map(|(_, value)| value);
        if let (Some(opened), Some(path)) = (opened, placed.positional.get_mut(place)) {
            below(opened, path);
        }
    }
    placed
}

/// Puts a path below the directory that was opened for it, unless it begins at the root.
fn below(opened: &ScriptValue, path: &mut ScriptValue) {
    let written = path.value();
    if written.known_start().starts_with('/') || opened.exact().as_deref() == Some("None") {
        return;
    }
    let directory = match opened {
        ScriptValue::File(directory) | ScriptValue::Path(directory) => directory.clone(),
        _ => Value::Unknown,
    };
    *path = ScriptValue::Text(directory.followed_by(&Value::exact("/")).followed_by(&written));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(PARAMETERS.is_sorted_by(|(one, _), (other, _)| one < other));
    }

    #[test]
    fn a_value_with_a_name_goes_to_its_place() {
        let named = |names: &[&str]| Given {
            positional: Vec::new(),
            named: names.iter().map(|name| ((*name).to_owned(), ScriptValue::text(*name))).collect(),
        };
        let places = |function: &str, names: &[&str]| placed(function, &named(names)).positional;
        assert_eq!(
            places("os.rename", &["dst", "src"]),
            [ScriptValue::text("src"), ScriptValue::text("dst")]
        );
        assert_eq!(places("open", &["file", "encoding"]), [ScriptValue::text("file")]);
        assert_eq!(places("os.system", &[REST]), [ScriptValue::Text(Value::Unknown)]);
        assert_eq!(places("os.system", &["cmd"]), [ScriptValue::Text(Value::Unknown)]);
        assert_eq!(places("unheard.of", &["src"]), []);
    }

    /// Prints of each function that is named on a line which parameters it takes by place, where that can be asked.
    const ASK: &str = r#"
import builtins, importlib, inspect, sys
for name in sys.stdin.read().split():
    parts = name.split(".")
    try:
        for cut in range(len(parts) - 1, 0, -1):
            try:
                found, rest = importlib.import_module(".".join(parts[:cut])), parts[cut:]
                break
            except ImportError:
                pass
        else:
            found, rest = builtins, parts
        owner = None
        for part in rest:
            owner, found = found, getattr(found, part)
        parameters = inspect.signature(found).parameters.values()
    except Exception:
        continue
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in parameters if each.kind in by_place]
    if inspect.isclass(owner) and names[:1] == ["self"]:
        names = names[1:]
    print(name, *names)
"#;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the real program is asked")]
    fn the_table_says_what_python_says() {
        use std::io::Write as _;
        use std::process::{Command, Stdio};
        let python = Command::new("python3")
            .args(["-W", "ignore", "-c", ASK])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut python) = python else {
            return checkrein_testkit::not_run("python3 is not here to be asked for its parameters");
        };
        let names: Vec<&str> = PARAMETERS.iter().map(|(name, _)| *name).collect();
        python.stdin.take().unwrap().write_all(names.join("\n").as_bytes()).unwrap();
        let told = String::from_utf8(python.wait_with_output().unwrap().stdout).unwrap();
        let mut asked = 0;
        for line in told.lines() {
            let mut words = line.split(' ');
            let function = words.next().unwrap();
            let told: Vec<&str> = words.collect();
            let known = parameters(function).unwrap();
            let wrong = known.iter().zip(&told).find(|(known, told)| !known.is_empty() && known != told);
            assert_eq!(wrong, None, "{function}: {known:?} here, {told:?} in Python");
            asked += 1;
        }
        if asked < 100 {
            checkrein_testkit::not_run("this python3 does not tell its parameters");
        }
    }
}
