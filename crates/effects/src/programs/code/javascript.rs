//! The functions of JavaScript: Node, Deno and Bun.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::library_calls::LibraryCall;

/// Objects whose functions change nothing outside the program.
const HARMLESS: &[&str] = &[
    "console",
    "JSON",
    "Math",
    "Object",
    "Array",
    "Number",
    "String",
    "Boolean",
    "Date",
    "Promise",
    "Symbol",
    "Reflect",
    "Intl",
    "Buffer",
    "util",
    "path",
    "url",
    "os",
    "crypto",
    "assert",
    "events",
    "stream",
    "querystring",
    "string_decoder",
    "perf_hooks",
    "performance",
    "process.stdout",
    "process.stderr",
    "process.stdin",
    "Set",
    "Map",
    "WeakMap",
    "Proxy",
    "RegExp",
    "URL",
    "URLSearchParams",
    "zlib",
    "readline",
    "timers",
    "buffer",
    "BigInt",
    "Error",
    "v8",
    "tty",
    "punycode",
    "worker_threads",
    "TextEncoder",
    "TextDecoder",
    "AbortController",
    "semver",
    "chalk",
    "lodash",
    "_",
    "process.hrtime",
    "process.memoryUsage",
    "Uint8Array",
    "structuredClone",
    "Float64Array",
    "ArrayBuffer",
    "Atomics",
    "WebAssembly",
    "require.resolve",
    "dns",
    "async_hooks",
    "process.versions",
    "Deno.env",
    "Deno.stdout",
    "Bun.stdout",
];

/// What a function of JavaScript does; `None` when it is not known.
pub(super) fn deed(name: &str) -> Option<LibraryCall> {
    // What a module of the older form exports is the default of the newer one.
    let name = name.strip_suffix(".default").unwrap_or(name);
    let whole = name.replacen(".default.", ".", 1);
    let name = whole.as_str();
    let plain = name.strip_suffix("Sync").unwrap_or(name);
    Some(match plain {
        "require"
        | "import"
        | "createRequire"
        | "process.getBuiltinModule"
        | "module.constructor._load"
        | "process.mainModule.constructor._load"
        | "module._load"
        | "module.Module._load" => LibraryCall::Import,
        "module.createRequire" => LibraryCall::Becomes("require"),
        "console.log" | "console.info" => LibraryCall::Print,
        "process.stdout.write" => LibraryCall::PrintPlain,
        // "The Function Constructor" of ECMA-262, and its names that need none; node 22, "Worker threads", "Modules".
        "Function" | "GeneratorFunction" | "AsyncFunction" => LibraryCall::MakeFunction,
        name if name.ends_with(".constructor.constructor") => LibraryCall::MakeFunction,
        "module.prototype._compile" | "Module.prototype._compile" | "module._compile" => {
            LibraryCall::Evaluate
        }
        "Worker" | "worker_threads.Worker" => LibraryCall::Worker,
        "module.constructor" => LibraryCall::Becomes("module"),
        "inspector.Session" | "inspector.promises.Session" => LibraryCall::Becomes("inspector.session"),
        "inspector.session.post"
        | "inspector.session.connect"
        | "inspector.session.disconnect"
        | "cluster.setupPrimary"
        | "cluster.setupMaster"
        | "cluster.fork" => LibraryCall::Nothing,
        "setTimeout.code" | "vm.SourceTextModule" => LibraryCall::Evaluate,
        // Node 22, "VM": what the text comes to is the value, which may be a function that is called then.
        "eval"
        | "vm.runInThisContext"
        | "vm.runInNewContext"
        | "vm.runInContext"
        | "vm.Script"
        | "vm.compileFunction" => LibraryCall::EvaluateValue,
        "fs.unlink" | "fs.rmdir" | "fs.rm" | "fs.remove" | "fs.emptyDir" | "Deno.remove" | "rimraf"
        | "rimraf.sync" | "del" | "rimraf.rimraf" | "trash" => match plain {
            "fs.remove" | "fs.emptyDir" | "rimraf" | "rimraf.sync" | "del" | "rimraf.rimraf" | "trash" => {
                LibraryCall::Delete(Depth::Recursive)
            }
            _ => LibraryCall::DeleteFirst,
        },
        "fs.writeFile"
        | "fs.createWriteStream"
        | "fs.truncate"
        | "fs.outputFile"
        | "fs.writeJson"
        | "fs.outputJson"
        | "Deno.writeTextFile"
        | "Deno.writeFile"
        | "Bun.write"
        | "Deno.create" => LibraryCall::Write,
        "fs.appendFile" => LibraryCall::Append,
        "v8.writeHeapSnapshot" | "process.report.writeReport" => LibraryCall::Write,
        "Reflect.get" => LibraryCall::Attribute,
        "fs.open" | "Deno.open" => LibraryCall::Open,
        "fs.readFile" | "fs.createReadStream" | "fs.readJson" | "Deno.readTextFile" | "Deno.readFile" => {
            LibraryCall::Read
        }
        "Bun.file" => LibraryCall::PathOf,
        "fs.mkdir" | "fs.mkdirp" | "fs.ensureDir" | "Deno.mkdir" | "mkdirp" => LibraryCall::MakeDirectory,
        "fs.ensureFile" | "fs.utimes" => LibraryCall::Touch,
        "fs.rename" | "fs.move" | "Deno.rename" => LibraryCall::Move,
        "fs.copyFile" | "fs.cp" | "fs.copy" | "Deno.copyFile" => LibraryCall::Copy,
        "fs.symlink" | "fs.link" | "Deno.symlink" | "Deno.link" => LibraryCall::Link,
        "fs.chmod" | "fs.chown" | "fs.lchown" | "fs.lchmod" | "Deno.chmod" => LibraryCall::Mode,
        "fs.readdir" | "Deno.readDir" => LibraryCall::List,
        "fs.exists" | "fs.pathExists" => LibraryCall::Exists,
        // node-which 5, "USAGE"; Bun 1.1, `Bun.which`; ShellJS 0.8, `which`; hasbin, lookpath and command-exists find whether there is one.
        "which" | "which.sync" | "Bun.which" | "bun.which" | "shelljs.which" | "lookpath.lookpath"
        | "zx.which" | "zx.which.sync" => LibraryCall::Whereabouts,
        "fs.glob" | "glob" | "glob.sync" | "glob.glob" | "globby" | "fast-glob" => LibraryCall::Glob,
        "fs.mkdtemp" => LibraryCall::TemporaryDirectory,
        "fs.stat" | "fs.lstat" | "fs.access" | "fs.realpath" | "fs.readlink" | "fs.fstat" | "fs.watch"
        | "fs.close" | "fs.write" | "fs.read" | "fs.fsync" | "fs.statfs" | "fs.watchFile" => {
            LibraryCall::Nothing
        }
        "Object.assign" => LibraryCall::Merge,
        "child_process.exec" | "shelljs.exec" | "$" | "execa.command" | "execa.execaCommand" => {
            LibraryCall::Shell
        }
        "shelljs.rm" | "shelljs.mv" | "shelljs.cp" | "shelljs.mkdir" | "shelljs.touch" | "shelljs.chmod"
        | "shelljs.cat" | "shelljs.ln" | "shelljs.cmd" => LibraryCall::CalledAfter,
        "shelljs.ls" | "shelljs.test" | "shelljs.pwd" | "shelljs.echo" | "shelljs.config"
        | "shelljs.find" | "shelljs.grep" | "shelljs.head" | "shelljs.tail" => LibraryCall::Nothing,
        "shelljs.cd" => LibraryCall::Enter,
        "simple-git" | "simple-git.simpleGit" | "simple-git.gitP" => LibraryCall::Becomes("simple-git.git"),
        "simple-git.git.raw"
        | "simple-git.git.reset"
        | "simple-git.git.push"
        | "simple-git.git.clean"
        | "simple-git.git.checkout"
        | "simple-git.git.stash"
        | "simple-git.git.rebase"
        | "simple-git.git.branch" => LibraryCall::CalledAfter,
        name if name.starts_with("simple-git.git.") => LibraryCall::Nothing,
        "node-ssh" | "node-ssh.NodeSSH" => LibraryCall::Becomes("node-ssh.session"),
        "node-ssh.session.execCommand" | "node-ssh.session.exec" => LibraryCall::Elsewhere,
        "del.delete" | "del.deleteAsync" | "del.sync" | "trash.trash" | "fs-extra.remove"
        | "fs-extra.emptyDir" => LibraryCall::Delete(Depth::Recursive),
        "globby.globby" | "globby.sync" | "fast-glob.sync" | "fast-glob.glob" | "tiny-glob"
        | "tinyglobby.glob" | "fs.promises.glob" => LibraryCall::Glob,
        "cross-spawn.spawn" | "cross-spawn.sync" | "node-pty.spawn" | "execa.node" | "nano-spawn"
        | "tinyexec.exec" | "tinyexec.x" => LibraryCall::Program,
        "child_process.execFile"
        | "child_process.spawn"
        | "child_process.fork"
        | "execa"
        | "execa.execa"
        | "cross-spawn" => LibraryCall::Program,
        "Bun.spawn" | "Deno.run" => LibraryCall::Run,
        "Deno.Command" => LibraryCall::Program,
        "fetch" | "undici.fetch" | "node-fetch" | "axios" | "axios.request" | "undici.request" | "got"
        | "http.request" | "https.request" => LibraryCall::Request,
        "http.get" | "https.get" | "axios.get" | "got.get" | "axios.head" => LibraryCall::Get,
        "axios.post"
        | "axios.put"
        | "axios.patch"
        | "axios.delete"
        | "got.post"
        | "got.put"
        | "navigator.sendBeacon" => LibraryCall::Post,
        "net.connect" | "net.createConnection" | "tls.connect" | "WebSocket" | "ws" | "Deno.connect" => {
            LibraryCall::Connect
        }
        "net.Socket" => LibraryCall::Listen,
        "process.kill" | "Deno.kill" => LibraryCall::Kill,
        "os.setPriority" => LibraryCall::Throttle,
        "process.chdir" | "Deno.chdir" => LibraryCall::Enter,
        "process.cwd" | "Deno.cwd" => LibraryCall::Here,
        "os.homedir" => LibraryCall::Home,
        "os.tmpdir" => LibraryCall::Temporary,
        "path.join" | "path.resolve" => LibraryCall::Join,
        "path.dirname" => LibraryCall::Parent,
        "path.normalize" | "String" | "Array.from" | "Array.of" | "encodeURIComponent"
        | "decodeURIComponent" | "Object.keys" | "Object.values" | "url.fileURLToPath" | "URL" | "Number"
        | "JSON.parse" | "util.promisify" | "Promise.resolve" | "Proxy" | "Object.create"
        | "structuredClone" | "unescape" | "escape" => LibraryCall::Same,
        "atob" => LibraryCall::Base64,
        "Buffer.from" => LibraryCall::Decoded,
        "String.fromCharCode" | "String.fromCodePoint" => LibraryCall::Character,
        "Deno.env.get" => LibraryCall::Variable,
        "process.exit"
        | "process.on"
        | "process.once"
        | "process.uptime"
        | "process.nextTick"
        | "process.cpuUsage"
        | "process.getuid"
        | "process.emitWarning"
        | "process.abort"
        | "process.umask"
        | "process.emit"
        | "process.getgid"
        | "process.binding"
        | "process.removeListener"
        | "process.off" => {
            if plain == "process.binding" {
                LibraryCall::Foreign
            } else {
                LibraryCall::Nothing
            }
        }
        "setTimeout" | "setInterval" | "setImmediate" => LibraryCall::Later,
        "better-sqlite3"
        | "sqlite3.Database"
        | "node:sqlite.DatabaseSync"
        | "sqlite.DatabaseSync"
        | "bun:sqlite.Database" => LibraryCall::Database,
        "process.setuid" | "process.seteuid" => LibraryCall::Rights,
        "parseInt" | "parseFloat" | "isNaN" | "isFinite" | "clearTimeout" | "clearInterval"
        | "queueMicrotask" | "encodeURI" | "decodeURI" | "btoa" | "alert" | "Boolean" | "Object"
        | "Array" | "Date" | "Error" | "TypeError" | "RegExp" | "Promise" | "Set" | "Map" | "Symbol"
        | "BigInt" | "WeakMap" | "WeakSet" | "URLSearchParams" | "TextEncoder" | "TextDecoder"
        | "AbortController" | "EventEmitter" | "events" | "assert" | "http.createServer"
        | "https.createServer" | "net.createServer" | "Uint8Array" | "Deno.exit" | "Deno.args"
        | "RangeError" | "Headers" | "FormData" | "Blob" | "Buffer" | "util.inspect" | "describe" | "it"
        | "test" | "expect" | "http.Agent" | "https.Agent" | "super" => LibraryCall::Nothing,
        _ if HARMLESS
            .iter()
            .any(|object| plain.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'))) =>
        {
            LibraryCall::Nothing
        }
        // Functions of built-in types, called by `call` and `apply`.
        _ if plain.contains(".prototype.") => LibraryCall::Nothing,
        _ if plain.ends_with(".on") || plain.ends_with(".once") => LibraryCall::Nothing,
        _ => return None,
    })
}
