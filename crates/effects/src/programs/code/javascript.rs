//! The functions of JavaScript: Node, Deno and Bun.

#![allow(clippy::match_same_arms)] // The tables are sorted by what the functions are about.

use crate::effect::Depth;

use super::deeds::Deed;

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
pub(super) fn deed(name: &str) -> Option<Deed> {
    let name = name.strip_suffix(".default").unwrap_or(name);
    let plain = name.strip_suffix("Sync").unwrap_or(name);
    Some(match plain {
        "require" | "import" | "createRequire" => Deed::Import,
        "module.createRequire" => Deed::Becomes("require"),
        "console.log" | "console.info" => Deed::Print,
        "process.stdout.write" => Deed::PrintPlain,
        "eval"
        | "Function"
        | "vm.runInThisContext"
        | "vm.runInNewContext"
        | "vm.Script"
        | "setTimeout.code" => Deed::Evaluate,
        "fs.unlink" | "fs.rmdir" | "fs.rm" | "fs.remove" | "fs.emptyDir" | "Deno.remove" | "rimraf"
        | "rimraf.sync" | "del" | "rimraf.rimraf" | "trash" => match plain {
            "fs.remove" | "fs.emptyDir" | "rimraf" | "rimraf.sync" | "del" | "rimraf.rimraf" | "trash" => {
                Deed::Delete(Depth::Recursive)
            }
            _ => Deed::DeleteFirst,
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
        | "Deno.create" => Deed::Write,
        "fs.appendFile" => Deed::Append,
        "fs.open" | "Deno.open" => Deed::Open,
        "fs.readFile" | "fs.createReadStream" | "fs.readJson" | "Deno.readTextFile" | "Deno.readFile" => {
            Deed::Read
        }
        "Bun.file" => Deed::PathOf,
        "fs.mkdir" | "fs.mkdirp" | "fs.ensureDir" | "Deno.mkdir" | "mkdirp" => Deed::MakeDirectory,
        "fs.ensureFile" | "fs.utimes" => Deed::Touch,
        "fs.rename" | "fs.move" | "Deno.rename" => Deed::Move,
        "fs.copyFile" | "fs.cp" | "fs.copy" | "Deno.copyFile" => Deed::Copy,
        "fs.symlink" | "fs.link" | "Deno.symlink" | "Deno.link" => Deed::Link,
        "fs.chmod" | "fs.chown" | "fs.lchown" | "fs.lchmod" | "Deno.chmod" => Deed::Mode,
        "fs.readdir" | "Deno.readDir" => Deed::List,
        "fs.exists" | "fs.pathExists" => Deed::Exists,
        "fs.glob" | "glob" | "glob.sync" | "glob.glob" | "globby" | "fast-glob" => Deed::Glob,
        "fs.mkdtemp" => Deed::TemporaryDirectory,
        "fs.stat" | "fs.lstat" | "fs.access" | "fs.realpath" | "fs.readlink" | "fs.fstat" | "fs.watch"
        | "fs.close" | "fs.write" | "fs.read" | "fs.fsync" | "fs.statfs" | "fs.watchFile" => Deed::Nothing,
        "child_process.exec" | "shelljs.exec" | "$" | "execa.command" | "execa.execaCommand" => Deed::Shell,
        "child_process.execFile"
        | "child_process.spawn"
        | "child_process.fork"
        | "execa"
        | "execa.execa"
        | "cross-spawn" => Deed::Program,
        "Bun.spawn" | "Deno.run" => Deed::Run,
        "Deno.Command" => Deed::Program,
        "fetch" | "undici.fetch" | "node-fetch" | "axios" | "axios.request" | "undici.request" | "got"
        | "http.request" | "https.request" => Deed::Request,
        "http.get" | "https.get" | "axios.get" | "got.get" | "axios.head" => Deed::Get,
        "axios.post"
        | "axios.put"
        | "axios.patch"
        | "axios.delete"
        | "got.post"
        | "got.put"
        | "navigator.sendBeacon" => Deed::Post,
        "net.connect" | "net.createConnection" | "tls.connect" | "WebSocket" | "ws" | "Deno.connect" => {
            Deed::Connect
        }
        "net.Socket" => Deed::Listen,
        "process.kill" | "Deno.kill" => Deed::Kill,
        "process.chdir" | "Deno.chdir" => Deed::Enter,
        "process.cwd" | "Deno.cwd" => Deed::Here,
        "os.homedir" => Deed::Home,
        "os.tmpdir" => Deed::Temporary,
        "path.join" | "path.resolve" => Deed::Join,
        "path.dirname" => Deed::Parent,
        "path.normalize" | "String" | "Array.from" | "Array.of" | "encodeURIComponent"
        | "decodeURIComponent" | "Object.keys" | "Object.values" | "url.fileURLToPath" | "URL" | "Number"
        | "JSON.parse" | "util.promisify" | "Promise.resolve" | "unescape" | "escape" => Deed::Same,
        "atob" => Deed::Base64,
        "Buffer.from" => Deed::Decoded,
        "String.fromCharCode" | "String.fromCodePoint" => Deed::Character,
        "Deno.env.get" => Deed::Variable,
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
                Deed::Foreign
            } else {
                Deed::Nothing
            }
        }
        "setTimeout" | "setInterval" | "setImmediate" => Deed::Later,
        "better-sqlite3"
        | "sqlite3.Database"
        | "node:sqlite.DatabaseSync"
        | "sqlite.DatabaseSync"
        | "bun:sqlite.Database" => Deed::Database,
        "process.setuid" | "process.seteuid" => Deed::Rights,
        "parseInt" | "parseFloat" | "isNaN" | "isFinite" | "clearTimeout" | "clearInterval"
        | "queueMicrotask" | "encodeURI" | "decodeURI" | "btoa" | "alert" | "Boolean" | "Object"
        | "Array" | "Date" | "Error" | "TypeError" | "RegExp" | "Promise" | "Set" | "Map" | "Symbol"
        | "BigInt" | "WeakMap" | "WeakSet" | "URLSearchParams" | "TextEncoder" | "TextDecoder"
        | "AbortController" | "Proxy" | "EventEmitter" | "events" | "assert" | "http.createServer"
        | "https.createServer" | "net.createServer" | "structuredClone" | "Uint8Array" | "Deno.exit"
        | "Deno.args" | "RangeError" | "Headers" | "FormData" | "Blob" | "Buffer" | "util.inspect"
        | "describe" | "it" | "test" | "expect" | "http.Agent" | "https.Agent" | "super" => Deed::Nothing,
        _ if HARMLESS
            .iter()
            .any(|object| plain.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'))) =>
        {
            Deed::Nothing
        }
        // Functions of built-in types, called by `call` and `apply`.
        _ if plain.contains(".prototype.") => Deed::Nothing,
        _ if plain.ends_with(".on") || plain.ends_with(".once") => Deed::Nothing,
        _ => return None,
    })
}
