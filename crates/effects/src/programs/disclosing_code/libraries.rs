//! Libraries that take something from the person or hand it to others, by the names under which code loads them.

/// What a library is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Hears what is typed, wherever it is typed.
    Keys,
    /// Takes pictures of the screen or of the camera, or sound from the microphone.
    Recorder,
    /// Reads what was copied.
    Clipboard,
    /// Reads passwords that a person keeps: key rings, stores of browsers.
    Passwords,
    /// Sends mails, messages and files to a service.
    Sender,
    /// Lets others reach a port of this machine.
    Tunnel,
}

/// Libraries of a purpose.
pub(super) struct Libraries {
    pub(super) purpose: Purpose,
    /// The names under which they are loaded.
    pub(super) modules: &'static [&'static str],
    /// Functions and classes of theirs that are seldom called otherwise, and tell them without a line that loads them.
    pub(super) functions: &'static [&'static str],
    /// Parts of paths of the credentials that are theirs to use.
    pub(super) own: &'static [&'static str],
}

/// Sources: the indexes of packages of Python, JavaScript, Ruby, PHP, Go and Rust by their subjects (pypi.org, npmjs.com, rubygems.org,
/// packagist.org, pkg.go.dev, crates.io), and the manuals of what is named.
pub(super) const LIBRARIES: &[Libraries] = &[
    Libraries {
        purpose: Purpose::Keys,
        modules: &[
            "pynput",
            "keyboard",
            "pyxhook",
            "evdev",
            "iohook",
            "uiohook-napi",
            "node-global-key-listener",
            "gkm",
            "robotgo/hook",
            "gohook",
            "rdev",
            "device_query",
        ],
        functions: &[],
        own: &[],
    },
    Libraries {
        purpose: Purpose::Recorder,
        modules: &[
            "mss",
            "pyscreenshot",
            "pyautogui",
            "screenshot-desktop",
            "desktop-screenshot",
            "node-webcam",
            "sounddevice",
            "pyaudio",
            "node-record-lpcm16",
            "kbinani/screenshot",
            "xcap",
            "scrap",
        ],
        functions: &["ImageGrab", "PyAudio"],
        own: &[],
    },
    Libraries {
        purpose: Purpose::Tunnel,
        modules: &[
            "ngrok",
            "@ngrok/ngrok",
            "pyngrok",
            "localtunnel",
            "untun",
            "cloudflared-tunnel",
            "pinggy",
            "bore-cli",
        ],
        functions: &[],
        own: &[],
    },
    Libraries {
        purpose: Purpose::Clipboard,
        modules: &[
            "pyperclip",
            "clipboardy",
            "pyclip",
            "copykitten",
            "arboard",
            "atotto/clipboard",
            "copy-paste",
        ],
        functions: &[],
        own: &[],
    },
    Libraries {
        purpose: Purpose::Passwords,
        modules: &[
            "keyring",
            "secretstorage",
            "keytar",
            "browser_cookie3",
            "pycookiecheat",
            "rookiepy",
            "win32crypt",
            "chrome-cookies-secure",
            "@napi-rs/keyring",
            "zalando/go-keyring",
            "99designs/keyring",
            "gnomekeyring",
        ],
        functions: &["SecretService"],
        own: &[],
    },
    // Mail.
    Libraries {
        purpose: Purpose::Sender,
        modules: &[
            "nodemailer",
            "emailjs",
            "smtplib",
            "aiosmtplib",
            "yagmail",
            "redmail",
            "sendgrid",
            "@sendgrid/mail",
            "mailgun",
            "mailgun.js",
            "postmark",
            "postmarker",
            "resend",
            "net/smtp",
            "gomail",
            "lettre",
            "blastula",
            "sendmailR",
            "mailR",
            "jakarta.mail",
            "javax.mail",
        ],
        functions: &["PHPMailer", "Swift_Message", "Net::SMTP", "MIME::Lite", "Email::Sender"],
        own: &[],
    },
    // Messages.
    Libraries {
        purpose: Purpose::Sender,
        modules: &[
            "telebot",
            "telegram",
            "telethon",
            "pyrogram",
            "aiogram",
            "node-telegram-bot-api",
            "telegraf",
            "grammy",
            "slack_sdk",
            "slackclient",
            "@slack/web-api",
            "@slack/webhook",
            "discord",
            "discord.js",
            "discord_webhook",
            "nio",
            "matrix-js-sdk",
            "twilio",
            "pushbullet",
            "pushover",
            "apprise",
            "paho.mqtt",
            "paho-mqtt",
            "mqtt",
            "pika",
            "amqplib",
            "nats",
            "kafkajs",
            "kafka",
            "zmq",
            "zeromq",
        ],
        functions: &[],
        own: &[],
    },
    // Files.
    Libraries {
        purpose: Purpose::Sender,
        modules: &[
            "dropbox",
            "pydrive",
            "pydrive2",
            "megajs",
            "mega",
            "onedrivesdk",
            "webdav",
            "webdav3",
            "webdavclient3",
            "webdav4",
            "ipfshttpclient",
            "ipfs-http-client",
            "kubo-rpc-client",
            "ftplib",
            "basic-ftp",
            "jsftp",
            "wandb",
            "comet_ml",
            "b2sdk",
            "internetarchive",
        ],
        functions: &[
            "Net::FTP",
            "upload_folder",
            "upload_file",
            "CURLFile",
            "curl_file_create",
            "httr",
            "httr2",
            "RCurl",
        ],
        own: &[],
    },
    Libraries {
        purpose: Purpose::Sender,
        modules: &["huggingface_hub", "@huggingface/hub"],
        functions: &[],
        own: &["huggingface"],
    },
    Libraries {
        purpose: Purpose::Sender,
        modules: &["boto3", "aioboto3", "s3fs", "minio", "aws-sdk", "@aws-sdk/client-s3"],
        functions: &[],
        own: &[".aws"],
    },
    Libraries {
        purpose: Purpose::Sender,
        modules: &["google.cloud", "googleapiclient", "googleapis", "@google-cloud/storage", "gcsfs"],
        functions: &[],
        own: &["gcloud", "google", "credentials.json", "service_account"],
    },
    Libraries {
        purpose: Purpose::Sender,
        modules: &["azure.storage", "@azure/storage-blob", "adlfs"],
        functions: &[],
        own: &[".azure"],
    },
    Libraries {
        purpose: Purpose::Sender,
        modules: &[
            "paramiko",
            "asyncssh",
            "pysftp",
            "fabric",
            "ssh2",
            "ssh2-sftp-client",
            "node-ssh",
            "x/crypto/ssh",
        ],
        functions: &["Net::SCP", "Net::SFTP"],
        own: &[".ssh"],
    },
    Libraries {
        purpose: Purpose::Sender,
        modules: &["@octokit/rest", "octokit", "github", "github3", "ghapi", "gitlab", "@gitbeaker/rest"],
        functions: &[],
        own: &["gh/hosts.yml", ".netrc", ".git-credentials"],
    },
];

/// What hands a terminal, an interpreter or the objects of a program to whoever connects (Ruby, "DRb"; Guile, "REPL Servers"; node, "REPL"; RPyC 6; Python,
/// `code`, `xmlrpc.server`; debugpy; Erlang, "Distributed Erlang"; Clojure, "socket REPL"; Common Lisp, SLYNK and SWANK).
pub(super) const COMMANDED: &[&str] = &[
    "DRb.start_service",
    "run-server",
    "repl.start",
    "\"repl\").start",
    "'repl').start",
    "ThreadedServer",
    "SlaveService",
    "ClassicService",
    "InteractiveConsole",
    "code.interact",
    "RemotePdb",
    "remote_pdb",
    "debugpy.listen",
    "register_instance",
    "start-server",
    "create-server",
    "swank:",
    "slynk:",
];

/// How a server is bound to all addresses of a machine.
pub(super) const OPEN_TO_ALL: &[&str] = &["0.0.0.0", "\"::\"", "'::'", "[::]", "INADDR_ANY", "::0"];

/// What puts a file somewhere else, in any language.
pub(super) const PUTS: &[&str] =
    &[".put(", "putfo", "upload", "Upload", "putbinaryfile", "storbinary", "copy-file", "fastPut"];

/// What reads a file, in any language.
pub(super) const READS: &[&str] = &[
    "read",
    "Read",
    "open",
    "slurp",
    "cat",
    "lines",
    "include",
    "file(",
    "load",
    "get-string",
    "Get-Content",
    "insert-file",
    "contentsOf",
    ".text",
    "ifstream",
    "fopen",
];

/// Functions that load code of the machine or of a virtual one from where they are told (Python, "ctypes", "importlib", "runpy", "zipimport",
/// "marshal"; `PyYAML`, "Loading YAML"; node, `process.dlopen`, "vm"; Java, `URLClassLoader`; .NET, `Assembly.Load`; PowerShell, "about_Script_Blocks"; Ruby, "Fiddle"; Lua,
/// `package.loadlib`; Perl, `DynaLoader`; R, `dyn.load`; POSIX, `dlopen`).
pub(super) const LOADERS: &[&str] = &[
    "CDLL(",
    "LoadLibrary(",
    "dlopen",
    "zipimport",
    "load_module(",
    "exec_module(",
    "UnsafeLoader",
    "unsafe_load",
    "marshal.loads",
    "run_path(",
    "addpackage(",
    "vm.run",
    "runInThisContext",
    "runInNewContext",
    "evalScript",
    "URLClassLoader",
    "defineClass",
    "Assembly]::Load",
    "Assembly.Load",
    "ScriptBlock]::Create",
    "scriptblock]::Create",
    "Fiddle.dlopen",
    "loadlib(",
    "dl_load_file",
    "dyn.load(",
    "torch.load(",
    "pickle.loads",
    "dill.loads",
    "jsonpickle.decode",
    "httpimport",
    "@INC",
    "joblib.load(",
    "GroovyShell",
];

/// Functions that ask a name server for texts (node, "DNS"; dnspython, "Resolver"; Go, "net"; PHP, `dns_get_record`).
pub(super) const TEXTS_OF_NAMES: &[&str] =
    &["resolveTxt", "'TXT'", "\"TXT\"", "LookupTXT", "DNS_TXT", "Type::TXT", "TXT("];

/// What starts a program, in any language (the manuals of each).
pub(super) const STARTS: &[&str] = &[
    "spawn",
    "exec",
    "system(",
    "popen",
    "subprocess",
    "eval(",
    "Command::new",
    "exec.Command",
    "ProcessBuilder",
    "shell_exec",
    "passthru",
];

/// What hands something on, in any language.
pub(super) const SENDS: &[&str] = &[
    "post", "Post", "POST", "put(", "Put(", "PUT", "send", "Send", "upload", "Upload", "body", "Body",
    "data=", "fetch", "connect", "publish", "write", "attach", "request",
];

/// What shows a value to whoever reads the output.
pub(super) const PRINTS: &[&str] = &[
    "print",
    "Print",
    "console.log",
    "puts ",
    "puts(",
    "putStr",
    "putchar",
    "fputs",
    "cout",
    "echo",
    "stdout",
    "say ",
    "pp ",
    "princ",
    "(message ",
    "cat(",
    "Console.Write",
    "WriteLine",
    "IO.inspect",
    "cargo:warning",
    "display ",
];

/// Methods that give the values of secrets out of a cluster or a store of secrets (Kubernetes' clients; the SDKs of AWS Secrets Manager and Systems
/// Manager, Google Secret Manager, Azure Key Vault; hvac).
pub(super) const READS_SECRETS: &[&str] = &[
    "listSecretForAllNamespaces",
    "listNamespacedSecret",
    "readNamespacedSecret",
    "list_secret_for_all_namespaces",
    "list_namespaced_secret",
    "read_namespaced_secret",
    "get_secret_value",
    "getSecretValue",
    "GetSecretValueCommand",
    "BatchGetSecretValueCommand",
    "batch_get_secret_value",
    "access_secret_version",
    "accessSecretVersion",
    "SecretClient",
    "read_secret_version",
    "GetParametersByPathCommand",
    "get_parameters_by_path",
];

/// Ciphers of libraries (pyca/cryptography, PyCryptodome, PyNaCl; node, "Crypto"; Ruby and PHP, "OpenSSL"; Java, `javax.crypto`; Go, "crypto/cipher").
pub(super) const CIPHERS: &[&str] = &[
    "Fernet",
    "AES.new(",
    "AESGCM",
    "ChaCha20",
    "SecretBox",
    "createCipheriv",
    "createCipher(",
    "openssl_encrypt",
    "OpenSSL::Cipher",
    "Cipher.getInstance",
    "cipher.NewGCM",
    "aes.NewCipher",
    "publicEncrypt",
];

/// Libraries that change the timetable of a user (python-crontab; node, `crontab`).
pub(super) const TIMETABLES: &[&str] = &["CronTab(", "require('crontab')", "require(\"crontab\")"];

/// Folders in which browsers keep what they know of a person, below the home directory.
pub(super) const BROWSERS: &[&str] = &[
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".mozilla/firefox",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Keychains",
    "AppData/Local/Google/Chrome",
    "AppData/Roaming/Mozilla",
];
