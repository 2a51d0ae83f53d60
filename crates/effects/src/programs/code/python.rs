//! The functions of Python.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::library_calls::LibraryCall;

/// Modules whose functions change nothing outside the program.
const HARMLESS: &[&str] = &[
    "json",
    "re",
    "math",
    "cmath",
    "random",
    "datetime",
    "time",
    "string",
    "textwrap",
    "collections",
    "itertools",
    "functools",
    "operator",
    "statistics",
    "decimal",
    "fractions",
    "hashlib",
    "hmac",
    "secrets",
    "uuid",
    "struct",
    "binascii",
    "difflib",
    "pprint",
    "typing",
    "dataclasses",
    "enum",
    "copy",
    "platform",
    "locale",
    "calendar",
    "html",
    "unicodedata",
    "bisect",
    "heapq",
    "array",
    "io",
    "errno",
    "traceback",
    "warnings",
    "logging",
    "argparse",
    "inspect",
    "ast",
    "dis",
    "keyword",
    "token",
    "tokenize",
    "sysconfig",
    "site",
    "stat",
    "fnmatch",
    "contextlib",
    "abc",
    "types",
    "weakref",
    "gc",
    "threading",
    "queue",
    "concurrent",
    "asyncio",
    "zlib",
    "urllib.parse",
    "email",
    "mimetypes",
    "base64",
    "codecs",
    "getpass",
    "colorsys",
    "numbers",
    "unittest",
    "doctest",
    "timeit",
    "cProfile",
    "pstats",
    "csv",
    "configparser",
    "xml",
    "tomllib",
    "toml",
    "yaml",
    "ipaddress",
    "posixpath",
    "sys",
    "signal",
    "atexit",
    "numpy",
    "np",
    "importlib.metadata",
    "importlib.util",
    "importlib.resources",
    "pkg_resources",
    "packaging",
    "select",
    "selectors",
    "shlex",
    "getopt",
    "optparse",
    "linecache",
    "tracemalloc",
    "psutil",
    "pyperclip",
    "resource",
    "pwd",
    "grp",
    "curses",
    "readline",
    "plistlib",
    "zoneinfo",
    "multiprocessing",
    "graphlib",
    "filecmp",
    "copyreg",
    "contextvars",
    "sched",
    "fileinput",
    "netrc",
    "pydoc",
    "cgi",
    "tty",
    "termios",
    "syslog",
    "faulthandler",
    "tqdm",
    "rich",
    "click",
    "typer",
    "tabulate",
    "termcolor",
    "colorama",
    "dateutil",
    "pytz",
    "pydantic",
    "attr",
    "attrs",
    "simplejson",
    "orjson",
    "ujson",
    "scipy",
    "sklearn",
    "sympy",
    "networkx",
    "statsmodels",
    "matplotlib",
    "plt",
    "seaborn",
    "pandas",
    "pd",
    "bs4",
    "lxml",
    "markdown",
    "jinja2",
    "pytest",
    "cryptography",
    "Crypto",
    "regex",
    "chardet",
    "certifi",
    "six",
];

/// What a function of Python does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<LibraryCall> {
    let name =
        name.strip_prefix("builtins.").or_else(|| name.strip_prefix("posix.").map(|_| name)).unwrap_or(name);
    Some(match name {
        "print" => LibraryCall::Print,
        "range" | "xrange" => LibraryCall::Range,
        "len"
        | "sum"
        | "min"
        | "max"
        | "abs"
        | "round"
        | "isinstance"
        | "issubclass"
        | "type"
        | "dir"
        | "id"
        | "hash"
        | "hasattr"
        | "callable"
        | "repr"
        | "format"
        | "ord"
        | "hex"
        | "oct"
        | "bin"
        | "divmod"
        | "pow"
        | "complex"
        | "float"
        | "bool"
        | "set"
        | "frozenset"
        | "map"
        | "filter"
        | "enumerate"
        | "zip"
        | "any"
        | "all"
        | "next"
        | "iter"
        | "object"
        | "super"
        | "property"
        | "staticmethod"
        | "classmethod"
        | "slice"
        | "memoryview"
        | "help"
        | "exit"
        | "quit"
        | "ascii"
        | "delattr"
        | "input"
        | "raw_input"
        | "setattr"
        | "Exception"
        | "BaseException"
        | "ZeroDivisionError"
        | "TimeoutError"
        | "ConnectionError"
        | "IOError"
        | "NameError"
        | "LookupError"
        | "ArithmeticError"
        | "OverflowError"
        | "MemoryError"
        | "UnicodeDecodeError"
        | "UnicodeEncodeError"
        | "KeyboardInterrupt"
        | "FileExistsError"
        | "IsADirectoryError"
        | "NotADirectoryError"
        | "EOFError"
        | "Warning"
        | "UserWarning"
        | "DeprecationWarning"
        | "aiter"
        | "anext"
        | "breakpoint"
        | "copyright"
        | "credits"
        | "license"
        | "tuple.__new__"
        | "ValueError"
        | "TypeError"
        | "KeyError"
        | "RuntimeError"
        | "SystemExit"
        | "AssertionError"
        | "OSError"
        | "FileNotFoundError"
        | "NotImplementedError"
        | "IndexError"
        | "StopIteration"
        | "ImportError"
        | "AttributeError"
        | "PermissionError"
        | "unichr"
        | "long" => LibraryCall::Nothing,
        "str" | "bytes" | "bytearray" | "int" | "list" | "tuple" | "sorted" | "reversed" | "os.fspath"
        | "os.fsencode" | "os.fsdecode" | "os.path.abspath" | "os.path.realpath" | "os.path.normpath"
        | "shlex.quote" | "textwrap.dedent" | "codecs.encode" | "unicode" | "bytes.decode" | "str.strip"
        | "os.pidfd_open" | "os.getpgid" | "os.getsid" | "json.loads" | "io.StringIO" | "io.BytesIO"
        | "shlex.split" => LibraryCall::Same,
        "dict" => LibraryCall::Record,
        "chr" => LibraryCall::Character,
        "globals" | "locals" | "vars" => LibraryCall::Names,
        "os.fork" | "pty.fork" | "os.forkpty" => LibraryCall::Fork,
        "os.setuid" | "os.seteuid" | "os.setreuid" | "os.setresuid" => LibraryCall::Rights,
        "open"
        | "io.open"
        | "io.open_code"
        | "io.FileIO"
        | "codecs.open"
        | "gzip.open"
        | "bz2.open"
        | "lzma.open"
        | "os.fdopen"
        | "gzip.GzipFile"
        | "bz2.BZ2File"
        | "lzma.LZMAFile"
        | "wave.open"
        | "aifc.open"
        | "sunau.open"
        | "zipfile.PyZipFile"
        | "tarfile.TarFile"
        | "tarfile.TarFile.open"
        | "tokenize.open" => LibraryCall::Open,
        // "Logging handlers", "basicConfig": they append unless a mode says otherwise, and that is told as a change all the same.
        "logging.FileHandler"
        | "logging.handlers.RotatingFileHandler"
        | "logging.handlers.TimedRotatingFileHandler"
        | "logging.handlers.WatchedFileHandler" => LibraryCall::Append,
        "distutils.file_util.write_file"
        | "evaluator.dump_stats"
        | "tracemalloc.snapshot.dump"
        | "xml.tree.write"
        | "xml.tree.write_c14n" => LibraryCall::Write,
        "tracemalloc.take_snapshot" => LibraryCall::Becomes("tracemalloc.snapshot"),
        "xml.etree.ElementTree.ElementTree"
        | "xml.etree.ElementTree.parse"
        | "xml.etree.cElementTree.parse" => LibraryCall::Becomes("xml.tree"),
        name if name.starts_with("xml.tree.") => LibraryCall::Nothing,
        "os.open" => LibraryCall::Open,
        "fileinput.input" | "fileinput.FileInput" => LibraryCall::Lines,
        "exec" | "eval" | "compile" | "runpy.run_code" => LibraryCall::Evaluate,
        // "The Python Standard Library", 3.13: what takes statements as text, or an object that does.
        "timeit.timeit"
        | "timeit.repeat"
        | "timeit.Timer"
        | "timeit.main"
        | "cProfile.run"
        | "cProfile.runctx"
        | "profile.run"
        | "profile.runctx"
        | "pdb.run"
        | "pdb.runeval"
        | "pdb.runcall"
        | "bdb.run"
        | "code.interact"
        | "doctest.run_docstring_examples"
        | "doctest.debug_src"
        | "doctest.script_from_examples"
        | "codeop.compile_command" => LibraryCall::EvaluateTexts,
        "trace.Trace"
        | "bdb.Bdb"
        | "pdb.Pdb"
        | "profile.Profile"
        | "cProfile.Profile"
        | "code.InteractiveInterpreter"
        | "code.InteractiveConsole" => LibraryCall::Becomes("evaluator"),
        "evaluator.run"
        | "evaluator.runctx"
        | "evaluator.runeval"
        | "evaluator.runcall"
        | "evaluator.runfunc"
        | "evaluator.runsource"
        | "evaluator.runcode"
        | "evaluator.push" => LibraryCall::EvaluateTexts,
        "execfile" | "runpy.run_path" | "ipython.safe_execfile" | "ipython.run_line_magic.run" => {
            LibraryCall::RunFile
        }
        "get_ipython" => LibraryCall::Becomes("ipython"),
        "ipython.run_cell" | "ipython.ex" | "ipython.ev" | "ipython.run_code" => LibraryCall::Evaluate,
        "__import__" | "importlib.import_module" | "importlib.__import__" => LibraryCall::Import,
        "getattr" => LibraryCall::Attribute,
        "os.remove"
        | "os.unlink"
        | "os.rmdir"
        | "os.removedirs"
        | "posix.remove"
        | "posix.unlink"
        | "pathlib.Path.unlink"
        | "pathlib.Path.rmdir" => LibraryCall::Delete(Depth::Single),
        "shutil.rmtree" | "send2trash.send2trash" | "distutils.dir_util.remove_tree" => {
            LibraryCall::Delete(Depth::Recursive)
        }
        "os.rename" | "os.replace" | "os.renames" | "shutil.move" => LibraryCall::Move,
        "shutil.copy"
        | "shutil.copy2"
        | "shutil.copyfile"
        | "shutil.copytree"
        | "distutils.dir_util.copy_tree"
        | "shutil.copyfileobj" => LibraryCall::Copy,
        "os.symlink" | "os.link" => LibraryCall::Link,
        "os.mkdir" | "os.makedirs" => LibraryCall::MakeDirectory,
        "os.chmod" | "os.lchmod" | "os.chown" | "os.lchown" | "shutil.chown" | "os.setxattr"
        | "shutil.copymode" | "shutil.copystat" => LibraryCall::Mode,
        "os.truncate" | "os.mkfifo" | "os.mknod" => LibraryCall::Write,
        "os.utime" => LibraryCall::Touch,
        "os.system"
        | "os.popen"
        | "subprocess.getoutput"
        | "subprocess.getstatusoutput"
        | "ipython.system"
        | "ipython.getoutput"
        | "ipython.system_raw"
        | "ipython.system_piped"
        | "commands.getoutput"
        | "commands.getstatusoutput"
        | "os.popen2"
        | "os.popen3"
        | "popen2.popen2"
        | "posix.system"
        | "pexpect.spawn"
        | "pexpect.run"
        | "asyncio.create_subprocess_shell" => LibraryCall::Shell,
        "subprocess.run"
        | "subprocess.call"
        | "subprocess.check_call"
        | "subprocess.check_output"
        | "subprocess.Popen" => LibraryCall::Run,
        "asyncio.create_subprocess_exec" => LibraryCall::Program,
        "os.execl" | "os.execlp" | "os.execle" | "os.execlpe" | "os.execv" | "os.execvp" | "os.execve"
        | "os.execvpe" | "os.posix_spawn" | "os.posix_spawnp" => LibraryCall::Execute,
        // Behind how it is waited for these take what the ones above do.
        "os.spawnl" | "os.spawnlp" | "os.spawnle" | "os.spawnlpe" | "os.spawnv" | "os.spawnvp"
        | "os.spawnve" | "os.spawnvpe" => LibraryCall::ExecuteRest,
        // Libraries of C: of their functions those count that run a command.
        "ctypes.CDLL"
        | "ctypes.PyDLL"
        | "ctypes.WinDLL"
        | "ctypes.cdll.LoadLibrary"
        | "ctypes.CDLL.LoadLibrary"
        | "ctypes.pydll.LoadLibrary"
        | "cffi.FFI.dlopen" => LibraryCall::Becomes("ctypes.library"),
        "cffi.FFI" => LibraryCall::Becomes("cffi.FFI"),
        // POSIX.1-2024: the functions of C under their own names, which take what those take.
        name if name.starts_with("ctypes.pythonapi.") && !name.ends_with(".system") => {
            return deed(&format!("ctypes.library.{}", name.trim_start_matches("ctypes.pythonapi.")));
        }
        "ctypes.library.unlink" | "ctypes.library.remove" | "ctypes.library.rmdir" => {
            LibraryCall::Delete(Depth::Single)
        }
        "ctypes.library.rename" => LibraryCall::Move,
        "ctypes.library.truncate"
        | "ctypes.library.truncate64"
        | "ctypes.library.creat"
        | "ctypes.library.creat64" => LibraryCall::Write,
        "ctypes.library.open" | "ctypes.library.open64" | "ctypes.library.fopen" => LibraryCall::Open,
        "ctypes.library.symlink" | "ctypes.library.link" => LibraryCall::Link,
        "ctypes.library.mkdir" => LibraryCall::MakeDirectory,
        "ctypes.library.execl"
        | "ctypes.library.execlp"
        | "ctypes.library.execle"
        | "ctypes.library.execv"
        | "ctypes.library.execvp"
        | "ctypes.library.execve"
        | "ctypes.library.execvpe" => LibraryCall::Execute,
        "ctypes.library.syscall" => LibraryCall::Foreign,
        "ctypes.library.system"
        | "ctypes.library.popen"
        | "ctypes.cdll.msvcrt.system"
        | "ctypes.pythonapi.system" => LibraryCall::Shell,
        "sh.Command" | "sh.bake" | "sh.contrib" | "plumbum.local.env" | "plumbum.local.cwd"
        | "plumbum.local.path" => LibraryCall::Nothing,
        name if ["sh.", "plumbum.cmd.", "plumbum.local.", "git.repository.git."]
            .iter()
            .any(|start| name.starts_with(start)) =>
        {
            LibraryCall::CalledAfter
        }
        "argparse.ArgumentParser" => LibraryCall::Becomes("argparse.parser"),
        "configparser.ConfigParser" | "configparser.RawConfigParser" | "configparser.SafeConfigParser" => {
            LibraryCall::Becomes("configparser.parser")
        }
        "keyring.get_password" | "keyring.get_credential" => LibraryCall::Nothing,
        "os.fchdir" => LibraryCall::Enter,
        "git.Repo" | "git.repo.Repo" | "git.repository" => LibraryCall::Becomes("git.repository"),
        "invoke.run"
        | "invoke.sudo"
        | "delegator.run"
        | "invoke.context.run"
        | "invoke.context.sudo"
        | "fabric.connection.local"
        | "anyio.run_process"
        | "anyio.open_process"
        | "trio.run_process"
        | "pexpect.spawnu"
        | "pexpect.popen_spawn.PopenSpawn"
        | "sarge.run"
        | "sarge.capture_stdout"
        | "pexpect.runu" => LibraryCall::Run,
        "invoke.Context" | "invoke.context.Context" => LibraryCall::Becomes("invoke.context"),
        "fabric.Connection"
        | "fabric.connection.Connection"
        | "fabric2.Connection"
        | "fabric.Group"
        | "fabric.SerialGroup"
        | "fabric.ThreadingGroup" => LibraryCall::Becomes("fabric.connection"),
        "paramiko.SSHClient" | "paramiko.client.SSHClient" => LibraryCall::Becomes("paramiko.session"),
        "asyncssh.connect" | "spur.SshShell" => LibraryCall::Becomes("fabric.connection"),
        "fabric.connection.run" | "fabric.connection.sudo" | "paramiko.session.exec_command" => {
            LibraryCall::Elsewhere
        }
        name if name.starts_with("paramiko.session.")
            || name.starts_with("fabric.connection.")
            || name == "paramiko.AutoAddPolicy" =>
        {
            LibraryCall::Nothing
        }
        "shutil.make_archive" => LibraryCall::Archive,
        "shutil.unpack_archive" => LibraryCall::Unpack,
        "os.startfile" | "webbrowser.open" => LibraryCall::Nothing,
        "os.kill" | "os.killpg" | "signal.pidfd_send_signal" => LibraryCall::Kill,
        "os.dup2" | "os.dup" => LibraryCall::Duplicate,
        "pty.spawn" => LibraryCall::Terminal,
        "socket.socket" => LibraryCall::Listen,
        "socket.create_connection"
        | "telnetlib.Telnet"
        | "ftplib.FTP"
        | "ftplib.FTP_TLS"
        | "smtplib.SMTP"
        | "smtplib.SMTP_SSL"
        | "http.client.HTTPConnection"
        | "http.client.HTTPSConnection"
        | "httplib.HTTPConnection"
        | "httplib.HTTPSConnection" => LibraryCall::Connect,
        "urllib.request.urlopen"
        | "urllib2.urlopen"
        | "urllib.urlopen"
        | "urllib.request.Request"
        | "urllib2.Request"
        | "requests.Request" => LibraryCall::Request,
        "requests.get" | "requests.head" | "requests.options" | "httpx.get" | "httpx.head"
        | "urllib3.request" => LibraryCall::Get,
        "requests.post" | "requests.put" | "requests.patch" | "requests.delete" | "httpx.post"
        | "httpx.put" | "httpx.patch" | "httpx.delete" => LibraryCall::Post,
        "requests.request" | "httpx.request" => LibraryCall::Request,
        "requests.Session" | "requests.session" | "httpx.Client" => LibraryCall::Becomes("requests"),
        "urllib.request.urlretrieve" | "urllib.urlretrieve" | "wget.download" => LibraryCall::Download,
        "pathlib.Path"
        | "pathlib.PosixPath"
        | "pathlib.PurePath"
        | "pathlib.PurePosixPath"
        | "Path"
        | "py.path.local" => LibraryCall::PathOf,
        "pathlib.Path.home" | "Path.home" => LibraryCall::Home,
        "pathlib.Path.cwd" | "Path.cwd" => LibraryCall::Here,
        "os.path.join" | "posixpath.join" => LibraryCall::Join,
        "os.path.expanduser" | "os.path.expandvars" => LibraryCall::Expand,
        "os.path.dirname" => LibraryCall::Parent,
        "os.getenv" | "os.environ.get" | "os.getenvb" => LibraryCall::Variable,
        "os.getcwd" | "os.getcwdu" => LibraryCall::Here,
        "site.getusersitepackages" | "site.USER_SITE" | "site._get_path" => LibraryCall::UserPackages,
        "tempfile.gettempdir" => LibraryCall::Temporary,
        "tempfile.mkdtemp" | "tempfile.TemporaryDirectory" => LibraryCall::TemporaryDirectory,
        "tempfile.mkstemp" | "tempfile.NamedTemporaryFile" | "tempfile.TemporaryFile" | "tempfile.mktemp" => {
            LibraryCall::TemporaryFile
        }
        "os.chdir" => LibraryCall::Enter,
        "glob.glob" | "glob.iglob" => LibraryCall::Glob,
        "os.listdir" => LibraryCall::List,
        "os.walk" | "os.scandir" | "os.fwalk" => LibraryCall::Walk,
        "os.path.exists" | "os.path.isfile" | "os.path.isdir" | "os.path.lexists" => LibraryCall::Exists,
        "base64.b64decode"
        | "base64.standard_b64decode"
        | "base64.urlsafe_b64decode"
        | "base64.decodebytes"
        | "base64.decodestring" => LibraryCall::Base64,
        "bytes.fromhex" | "bytearray.fromhex" | "binascii.unhexlify" | "binascii.a2b_hex" => {
            LibraryCall::Hexadecimal
        }
        "codecs.decode" | "zlib.decompress" | "marshal.loads" | "pickle.loads" | "pickle.load"
        | "cPickle.loads" | "dill.loads" | "joblib.load"
            if !name.starts_with("codecs") && !name.starts_with("zlib") =>
        {
            LibraryCall::Foreign
        }
        "codecs.decode" | "zlib.decompress" => LibraryCall::Nothing,
        "yaml.load" | "yaml.load_all" => LibraryCall::Loaded,
        "yaml.unsafe_load" | "yaml.full_load" | "jsonpickle.decode" | "shelve.open" => LibraryCall::Foreign,
        "base64.b64encode" | "base64.standard_b64encode" | "base64.encodebytes" => LibraryCall::InBase64,
        "sys.stdin.read" | "sys.stdin.readlines" | "sys.stdin.readline" | "sys.stdin.buffer.read" => {
            LibraryCall::Input
        }
        "json.load" | "tomllib.load" | "yaml.safe_load" | "csv.reader" | "csv.DictReader" => {
            LibraryCall::Nothing
        }
        "linecache.getline" | "linecache.getlines" | "numpy.loadtxt" | "tomllib.loads" => LibraryCall::Read,
        "pip.main" | "pip._internal.main" | "pip._internal.cli.main.main" => LibraryCall::CalledAfter,
        "sqlite3.connect" => LibraryCall::Database,
        "psycopg2.connect"
        | "psycopg.connect"
        | "pymysql.connect"
        | "MySQLdb.connect"
        | "mysql.connector.connect" => LibraryCall::Becomes("connection"),
        "os.getppid" => LibraryCall::ParentProcess,
        "psutil.Process"
        | "psutil.process_iter"
        | "psutil.Process.parent"
        | "psutil.Process.parents"
        | "psutil.Process.children" => LibraryCall::Becomes("psutil.Process"),
        "psutil.Process.kill"
        | "psutil.Process.terminate"
        | "psutil.Process.suspend"
        | "psutil.Process.send_signal"
        | "ctypes.library.kill"
        | "ctypes.library.killpg" => LibraryCall::Kill,
        "os.setpriority"
        | "os.sched_setaffinity"
        | "os.sched_setscheduler"
        | "os.sched_setparam"
        | "resource.prlimit"
        | "psutil.Process.nice"
        | "psutil.Process.ionice"
        | "psutil.Process.cpu_affinity"
        | "psutil.Process.rlimit" => LibraryCall::Throttle,
        "os.sched_param" | "os.sched_getscheduler" | "os.getpriority" => LibraryCall::Nothing,
        "pickle.dumps" | "marshal.dumps" | "gzip.compress" | "gzip.decompress" | "lzma.compress"
        | "lzma.decompress" | "bz2.compress" | "bz2.decompress" => LibraryCall::Nothing,
        "connection.cursor" => LibraryCall::Becomes("connection"),
        "connection.execute" | "connection.executescript" | "connection.executemany" => {
            LibraryCall::Statement
        }
        "shutil.which"
        | "distutils.spawn.find_executable"
        | "setuptools._distutils.spawn.find_executable"
        | "whichcraft.which"
        | "sh.which"
        | "plumbum.local.which"
        | "pexpect.which" => LibraryCall::Whereabouts,
        "shutil.disk_usage"
        | "shutil.get_terminal_size"
        | "os.get_terminal_size"
        | "ctypes.util.find_library" => LibraryCall::Nothing,
        "tarfile.open" | "zipfile.ZipFile" => LibraryCall::Open,
        "matplotlib.pyplot.savefig"
        | "plt.savefig"
        | "numpy.save"
        | "numpy.savetxt"
        | "numpy.savez"
        | "cv2.imwrite" => LibraryCall::Save,
        "torch.save" | "joblib.dump" => LibraryCall::WriteSecond,
        "pandas.read_csv" | "pandas.read_json" | "pandas.read_excel" | "pandas.read_parquet" => {
            LibraryCall::Becomes("pandas.DataFrame")
        }
        "pandas.DataFrame" | "pandas.Series" | "pandas.concat" | "pandas.DataFrame.from_dict" => {
            LibraryCall::Becomes("pandas.DataFrame")
        }
        name if name.starts_with("pandas.DataFrame.to_") => match name {
            "pandas.DataFrame.to_string" | "pandas.DataFrame.to_dict" | "pandas.DataFrame.to_list" => {
                LibraryCall::Nothing
            }
            _ => LibraryCall::Save,
        },
        name if name.starts_with("pandas.DataFrame.") => LibraryCall::Becomes("pandas.DataFrame"),
        name if name.starts_with("connection.")
            || name.starts_with("cursor.")
            || name.starts_with("requests.")
            || name.starts_with("expanded.") =>
        {
            LibraryCall::Nothing
        }
        name if name.starts_with("sys.stdin")
            || name.starts_with("sys.stdout")
            || name.starts_with("sys.stderr") =>
        {
            LibraryCall::Nothing
        }
        name if name.starts_with("os.path.") || name.starts_with("os.environ.") => LibraryCall::Nothing,
        "os.getpid" => LibraryCall::OwnProcess,
        "os.getuid"
        | "os.geteuid"
        | "os.getgid"
        | "os.getlogin"
        | "os.uname"
        | "os.cpu_count"
        | "os.stat"
        | "os.lstat"
        | "os.access"
        | "os.umask"
        | "os.getpgrp"
        | "os.urandom"
        | "os.times"
        | "os.strerror"
        | "os.isatty"
        | "os.close"
        | "os.readlink"
        | "os.wait"
        | "os.waitpid"
        | "os.read"
        | "os.write"
        | "os.pipe"
        | "os.pipe2"
        | "os.memfd_create"
        | "os.openpty"
        | "pty.openpty"
        | "socket.socketpair"
        | "runpy.run_module"
        | "importlib.machinery.SourceFileLoader"
        | "imp.load_source"
        | "os.lseek"
        | "os.fsync"
        | "os._exit"
        | "os.setsid"
        | "os.nice"
        | "os.sync"
        | "os.getloadavg"
        | "os.sched_getaffinity"
        | "os.statvfs"
        | "os.getgroups"
        | "os.fstat"
        | "os.abort"
        | "os.putenv"
        | "os.unsetenv"
        | "os.get_exec_path" => LibraryCall::Nothing,
        "socket.gethostname"
        | "socket.gethostbyname"
        | "socket.getaddrinfo"
        | "socket.getfqdn"
        | "socket.setdefaulttimeout"
        | "socket.inet_aton" => LibraryCall::Nothing,
        name if HARMLESS
            .iter()
            .any(|module| name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'))) =>
        {
            LibraryCall::Nothing
        }
        // Methods of built-in types, by the name of the type.
        name if ["str.", "dict.", "list.", "bytes.", "int.", "float.", "set.", "tuple.", "object."]
            .iter()
            .any(|start| name.starts_with(start)) =>
        {
            LibraryCall::Nothing
        }
        _ => return None,
    })
}
