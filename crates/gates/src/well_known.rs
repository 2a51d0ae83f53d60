//! Lists of names: what the standard libraries have, and packages that many know. The lists are ours; a name that is missing costs a question, not a pass.

use crate::manifest::Ecosystem;

/// The modules of the standard library of Python, those that older versions had too.
const PYTHON: &str = "\
    __future__ _collections_abc _socket _ssl _thread _typeshed abc aifc annotationlib antigravity argparse array ast \
    asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk \
    cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser contextlib \
    contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest \
    email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc \
    genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp \
    importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap \
    marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path \
    numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib \
    poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri \
    random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal \
    site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics \
    string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile \
    termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle \
    turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound \
    wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// The modules of Node, as they are named without `node:`.
const NODE: &str = "\
    assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel \
    dns domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring \
    readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib";

/// The first names of the packages of the standard library of Go.
const GO: &str = "\
    archive bufio builtin bytes cmp compress container context crypto database debug embed encoding errors expvar flag \
    fmt go hash html image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort \
    strconv strings structs sync syscall testing text time unicode unique unsafe weak C internal";

/// The crates that need no dependency.
const RUST: &str = "alloc core crate proc_macro self std super test Self";

/// Packages of Python that many know.
const KNOWN_PYTHON: &str = "\
    aiohttp alembic ansible anthropic asyncpg attrs awscli azure-core azure-identity bcrypt beautifulsoup4 black boto3 \
    botocore celery certifi chardet charset-normalizer click colorama coverage cryptography dash dask datasets django \
    djangorestframework docker elasticsearch email-validator fabric fastapi flake8 flask gensim \
    google-api-python-client google-auth google-cloud-storage gradio graphene grpcio gunicorn httpx huggingface-hub \
    hypothesis idna invoke ipython isort itsdangerous jinja2 joblib jsonschema jupyter kafka-python keras langchain \
    langchain-core loguru lxml markdown markupsafe marshmallow matplotlib mkdocs msgpack mypy networkx nltk notebook \
    numpy openai opencv-python openpyxl orjson packaging pandas paramiko passlib pexpect pika pillow pipenv playwright \
    plotly poetry polars prometheus-client protobuf psutil psycopg psycopg2 psycopg2-binary pyarrow pydantic pygments \
    pyjwt pylint pymongo pymysql pypdf pytest pytest-asyncio pytest-cov python-dateutil python-dotenv python-multipart \
    pytz pyyaml redis regex reportlab requests rich ruff s3transfer scikit-learn scipy scrapy seaborn selenium \
    sentry-sdk setuptools simplejson six spacy sphinx sqlalchemy starlette streamlit structlog sympy tabulate \
    tensorflow termcolor tiktoken tokenizers toml tomli torch torchvision tox tqdm transformers typer tzdata ujson \
    urllib3 uvicorn virtualenv watchdog websocket-client websockets werkzeug wheel xlrd xlsxwriter";

/// Packages of npm that many know.
const KNOWN_NPM: &str = "\
    ajv angular apollo-server async autoprefixer aws-sdk axios babel-jest babel-loader bcrypt bcryptjs bluebird \
    body-parser bootstrap chai chalk chart.js cheerio chokidar classnames clsx colors commander concurrently \
    cookie-parser core-js cors cross-env cross-spawn css-loader cypress d3 date-fns dayjs debug discord.js dotenv \
    electron esbuild eslint execa express fastify firebase formik fs-extra glob got graphql hapi helmet http-proxy \
    husky immer immutable inquirer ioredis jest joi jquery js-yaml jsdom jsonwebtoken knex koa less lint-staged lodash \
    micromatch minimatch minimist mkdirp mobx mocha moment mongodb mongoose morgan multer mysql mysql2 nanoid next \
    node-fetch nodemailer nodemon nuxt openai ora passport picocolors pino playwright postcss preact prettier prisma \
    puppeteer ramda react react-dom react-redux react-router react-router-dom redis redux regenerator-runtime request \
    rimraf rollup rxjs sass semver sequelize sharp sinon socket.io socket.io-client stripe style-loader \
    styled-components superagent svelte tailwindcss tar three ts-node tslib typeorm typescript underscore undici uuid \
    vite vitest vue vuex webpack webpack-cli winston ws yaml yargs yup zod zustand";

/// Crates that many know.
const KNOWN_CARGO: &str = "\
    actix-web ahash anyhow assert_cmd async-trait axum base64 bevy bincode bitflags bytes chrono clap console \
    criterion crossbeam crossterm dashmap dialoguer diesel directories dirs env_logger flate2 futures getrandom glob \
    globset hashbrown hex hmac http hyper ignore image indexmap indicatif insta itertools js-sys jsonschema \
    lazy_static libc log md-5 memchr memmap2 mime mockall mongodb nalgebra native-tls ndarray nix nom num-traits \
    num_cpus once_cell openssl parking_lot percent-encoding pest postcard predicates proc-macro2 proptest prost \
    quickcheck quote rand ratatui rayon redis regex reqwest ring rocket rusqlite rustc_version_runtime rustix rustls \
    schemars semver serde serde_json serde_yaml sha1 sha2 similar smallvec sqlx syn tar tempfile thiserror time tokio \
    tokio-util toml toml_edit tonic tower tracing tracing-subscriber tree-sitter url uuid walkdir warp wasm-bindgen \
    web-sys wgpu winit zip zstd";

/// Modules of Go that many know.
const KNOWN_GO: &str = "\
    github.com/BurntSushi/toml github.com/aws/aws-sdk-go github.com/charmbracelet/bubbletea github.com/docker/docker \
    github.com/fatih/color github.com/gin-gonic/gin github.com/go-chi/chi github.com/go-redis/redis \
    github.com/go-sql-driver/mysql github.com/gofiber/fiber github.com/golang-jwt/jwt github.com/golang/protobuf \
    github.com/google/go-cmp github.com/google/uuid github.com/gorilla/mux github.com/gorilla/websocket \
    github.com/hashicorp/consul github.com/hashicorp/vault github.com/jackc/pgx github.com/labstack/echo \
    github.com/lib/pq github.com/mattn/go-sqlite3 github.com/pkg/errors github.com/prometheus/client_golang \
    github.com/redis/go-redis github.com/rs/zerolog github.com/sirupsen/logrus github.com/spf13/cobra \
    github.com/spf13/pflag github.com/spf13/viper github.com/stretchr/testify github.com/urfave/cli go.uber.org/zap \
    golang.org/x/crypto golang.org/x/net golang.org/x/sync golang.org/x/sys golang.org/x/text golang.org/x/tools \
    google.golang.org/grpc google.golang.org/protobuf gopkg.in/yaml.v3 gorm.io/gorm k8s.io/client-go";

/// Packages of Python that bring a module of another name: each the module, a sign of equality, and the package.
const PACKAGE_OF_MODULE: &str = "\
    Crypto=pycryptodome Cryptodome=pycryptodomex Levenshtein=python-levenshtein MySQLdb=mysqlclient OpenSSL=pyopenssl \
    PIL=pillow _pytest=pytest attr=attrs botocore=boto3 bs4=beautifulsoup4 click=flask corsheaders=django-cors-headers \
    cv2=opencv-python dateutil=python-dateutil debug_toolbar=django-debug-toolbar discord=discord-py \
    django_filters=django-filter docx=python-docx dotenv=python-dotenv engineio=python-engineio environ=django-environ \
    faiss=faiss-cpu fitz=pymupdf gi=pygobject git=gitpython grpc=grpcio jinja2=flask jose=python-jose jwt=pyjwt \
    kafka=kafka-python ldap=python-ldap magic=python-magic markdown_it=markdown-it-py memcache=python-memcached \
    mpl_toolkits=matplotlib multipart=python-multipart nacl=pynacl numpy=pandas pkg_resources=setuptools pluggy=pytest \
    pptx=python-pptx psycopg2=psycopg2-binary pydantic_core=pydantic pylab=matplotlib pythoncom=pywin32 \
    rest_framework=djangorestframework ruamel=ruamel-yaml serial=pyserial skimage=scikit-image sklearn=scikit-learn \
    slugify=python-slugify socketio=python-socketio starlette=fastapi telegram=python-telegram-bot \
    tree_sitter=tree-sitter usb=pyusb websocket=websocket-client werkzeug=flask win32api=pywin32 win32con=pywin32 \
    wx=wxpython yaml=pyyaml zmq=pyzmq";

impl Ecosystem {
    /// Whether an import that begins with this name is one of the standard library.
    pub(crate) fn is_standard(self, root: &str) -> bool {
        let list = match self {
            Self::Python => PYTHON,
            Self::Npm => NODE,
            Self::Go => GO,
            Self::Cargo => RUST,
        };
        list.split_whitespace().any(|name| name == root)
    }

    /// A package that many know and whose name differs from this one by one letter, or by two letters in the other order.
    pub(crate) fn lookalike(self, name: &str) -> Option<&'static str> {
        let list = match self {
            Self::Python => KNOWN_PYTHON,
            Self::Npm => KNOWN_NPM,
            Self::Go => KNOWN_GO,
            Self::Cargo => KNOWN_CARGO,
        };
        let name = self.normal(name);
        if list.split_whitespace().any(|known| self.normal(known) == name) {
            return None;
        }
        let is_near = |known: &&str| known.len() >= SHORTEST && is_one_slip(&self.normal(known), &name);
        list.split_whitespace().find(is_near)
    }
}

/// The packages that bring a module of Python under another name.
pub(crate) fn packages_of_module(module: &str) -> impl Iterator<Item = &'static str> {
    let pairs = PACKAGE_OF_MODULE.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.filter(move |(name, _)| *name == module).map(|(_, package)| package)
}

/// The shortest name that is held against others: short ones differ by one letter all the time (ours).
const SHORTEST: usize = 5;

/// Whether one letter more, less or other, or two that changed places, make one text of the other.
fn is_one_slip(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > 1 || one == other {
        return false;
    }
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = |text: &[char], from: usize| text.get(from..).map(<[char]>::to_vec).unwrap_or_default();
    match one.len().cmp(&other.len()) {
        std::cmp::Ordering::Less => rest(&one, same) == rest(&other, same + 1),
        std::cmp::Ordering::Greater => rest(&one, same + 1) == rest(&other, same),
        std::cmp::Ordering::Equal => {
            let is_other = rest(&one, same + 1) == rest(&other, same + 1);
            let is_swapped = one.get(same) == other.get(same + 1)
                && one.get(same + 1) == other.get(same)
                && rest(&one, same + 2) == rest(&other, same + 2);
            is_other || is_swapped
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_seen_and_no_more() {
        for name in ["reqests", "requestss", "reqeusts", "rwquests"] {
            assert_eq!(Ecosystem::Python.lookalike(name), Some("requests"), "{name}");
        }
        for name in ["requests", "rqsts", "flask-login", "pandas2x", ""] {
            assert_eq!(Ecosystem::Python.lookalike(name), None, "{name}");
        }
        assert_eq!(Ecosystem::Npm.lookalike("preact"), None, "both are known");
        assert_eq!(Ecosystem::Npm.lookalike("loadsh"), Some("lodash"));
        assert_eq!(Ecosystem::Cargo.lookalike("serde_jsom"), Some("serde_json"));
        assert_eq!(Ecosystem::Cargo.lookalike("serde-json"), None, "it is the same crate");
    }

    #[test]
    fn standard_libraries_are_known() {
        assert!(Ecosystem::Python.is_standard("asyncio") && !Ecosystem::Python.is_standard("requests"));
        assert!(Ecosystem::Npm.is_standard("fs") && Ecosystem::Go.is_standard("net"));
    }
}
