//! Clients of stores that speak no SQL: Redis and MongoDB.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};

/// `redis-cli`.
pub(crate) fn redis(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if let Some(file) = arguments.value(&["--rdb", "--functions-rdb"]) {
        machine.write(file);
    }
    if let Some(file) = arguments.value(&["--eval"]).cloned() {
        if let Output::Text(Value::Exact(text)) = machine.read(&file) {
            redis_script(machine, &text);
        }
        machine.add(
            Draft::new(EffectKind::DatastoreChange, Target::Service("redis".to_owned()))
                .possible()
                .note("runs a script in the store"),
        );
    } else if arguments.has(&["--pipe"]) {
        machine.add(Draft::new(EffectKind::DatastoreChange, Target::Service("redis".to_owned())).possible());
    } else if !arguments.operands.is_empty() {
        let before = machine.effect_count();
        redis_command(machine, &arguments.operands);
        let is_numbered =
            arguments.value(&["-n"]).and_then(Value::as_exact).is_some_and(|number| number != "0");
        let flushes = arguments.operands.first().and_then(Value::as_exact);
        if is_numbered && flushes.is_some_and(|name| name.eq_ignore_ascii_case("flushdb")) {
            // One of the numbered databases beside the first, which is what tests and caches are given.
            machine.amend(before, |effect| {
                if effect.kind == EffectKind::DatastoreDestroy {
                    effect.severity = Severity::Medium;
                }
            });
        }
    } else {
        match &call.input {
            Input::Text(Value::Exact(text)) => {
                for line in text.lines() {
                    let words: Vec<Value> = line
                        .split_whitespace()
                        .map(|word| Value::exact(word.trim_matches(['"', '\''])))
                        .collect();
                    redis_command(machine, &words);
                }
            }
            Input::Inherited => {}
            Input::Text(_) | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
                machine.add(
                    Draft::new(EffectKind::DatastoreChange, Target::Service("redis".to_owned())).possible(),
                );
            }
        }
    }
    Exit::unknown()
}

/// The commands that a script in Lua calls: `redis.call('FLUSHALL')`.
fn redis_script(machine: &mut Machine<'_>, text: &str) {
    const MOST: usize = 64;
    let calls = ["redis.call(", "redis.pcall("].iter().flat_map(|start| text.split(start).skip(1));
    for call in calls.take(MOST) {
        let inner = call.split(')').next().unwrap_or(call);
        let words: Vec<Value> = inner
            .split(',')
            .map(|word| {
                let word = word.trim();
                let bare = word.trim_matches(['"', '\'']);
                if bare.len() < word.len() { Value::exact(bare) } else { Value::Unknown }
            })
            .collect();
        redis_command(machine, &words);
    }
}

/// An order to a store that speaks in lines, sent by a program that knows nothing of it: `echo flush_all | nc localhost 11211`.
/// Sources: memcached, protocol.txt; redis.io, "Redis serialization protocol", inline commands.
pub(super) fn orders_in_lines(machine: &mut Machine<'_>, text: &Value) {
    let Some(text) = text.as_exact() else { return };
    for line in text.lines() {
        let first = line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        if matches!(first.as_str(), "flush_all" | "flushall" | "flushdb") {
            let store = Target::Service("store".to_owned());
            machine.add(
                Draft::new(EffectKind::DatastoreDestroy, store)
                    .irreversible()
                    .note(format!("sends `{first}`")),
            );
        }
    }
}

fn redis_command(machine: &mut Machine<'_>, words: &[Value]) {
    let Some((name, rest)) = words.split_first() else { return };
    let store = || Target::Service("redis".to_owned());
    let Some(name) = name.as_exact().map(str::to_ascii_uppercase) else {
        machine.add(Draft::new(EffectKind::DatastoreChange, store()).possible());
        return;
    };
    let key =
        |value: &Value| value.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()));
    let second = rest.first().and_then(Value::as_exact).map(str::to_ascii_uppercase).unwrap_or_default();
    match name.as_str() {
        "FLUSHALL" | "FLUSHDB" | "SWAPDB" => {
            machine.add(
                Draft::new(EffectKind::DatastoreDestroy, store()).irreversible().note("removes every key"),
            );
        }
        "SHUTDOWN" => machine.add(Draft::new(EffectKind::ProcessKill, Target::Process("redis".to_owned()))),
        "CONFIG" if second == "SET" || second == "REWRITE" => {
            let grave = rest.get(1).and_then(Value::as_exact).is_some_and(|name| {
                matches!(
                    name.to_ascii_lowercase().as_str(),
                    "dir" | "dbfilename" | "requirepass" | "protected-mode" | "masterauth" | "bind"
                )
            });
            let severity = if grave { Severity::Critical } else { Severity::Medium };
            machine.add(
                Draft::new(EffectKind::SystemModification, store())
                    .severity(severity)
                    .note("changes the settings of the server"),
            );
        }
        "SLAVEOF" | "REPLICAOF" | "MODULE" | "DEBUG" | "FAILOVER" | "CLUSTER" | "ACL"
            if !matches!(
                second.as_str(),
                "INFO" | "NODES" | "LIST" | "SLOTS" | "KEYSLOT" | "WHOAMI" | "GETUSER" | "CAT" | "USERS"
            ) =>
        {
            machine.add(
                Draft::new(EffectKind::InfrastructureChange, store())
                    .severity(Severity::High)
                    .note("changes the server"),
            );
        }
        "EVAL" => {
            if let Some(text) = rest.first().and_then(Value::as_exact) {
                redis_script(machine, text);
            }
            machine.add(Draft::new(EffectKind::DatastoreChange, store()).note("runs a script in the store"));
        }
        "DEL" | "UNLINK" if rest.iter().any(|word| word.as_exact().is_none()) => machine.add(
            Draft::new(EffectKind::DatastoreDestroy, store())
                .irreversible()
                .note("removes keys that are not known beforehand"),
        ),
        "DEL" | "UNLINK" => {
            for word in rest {
                machine.add(Draft::new(EffectKind::DatastoreChange, key(word)).note("removes a key"));
            }
        }
        "GET" | "MGET" | "KEYS" | "SCAN" | "PING" | "INFO" | "TYPE" | "TTL" | "PTTL" | "EXISTS"
        | "STRLEN" | "LRANGE" | "LLEN" | "LINDEX" | "HGET" | "HGETALL" | "HKEYS" | "HVALS" | "HLEN"
        | "HMGET" | "HEXISTS" | "SMEMBERS" | "SCARD" | "SISMEMBER" | "ZRANGE" | "ZCARD" | "ZSCORE"
        | "ZREVRANGE" | "ZRANGEBYSCORE" | "DBSIZE" | "TIME" | "MONITOR" | "CLIENT" | "CONFIG" | "SLOWLOG"
        | "MEMORY" | "LATENCY" | "OBJECT" | "COMMAND" | "ECHO" | "SELECT" | "AUTH" | "HELLO"
        | "SUBSCRIBE" | "PSUBSCRIBE" | "XRANGE" | "XLEN" | "XREAD" | "XINFO" | "XPENDING" | "RANDOMKEY"
        | "DUMP" | "BITCOUNT" | "GETRANGE" | "GETBIT" | "PFCOUNT" | "GEOPOS" | "GEODIST" | "HSCAN"
        | "SSCAN" | "ZSCAN" | "LASTSAVE" | "ROLE" | "WAIT" | "PUBSUB" | "ZCOUNT" | "ZRANK" | "LOLWUT"
        | "QUIT" | "EXIT" | "HELP" | "ACL" | "CLUSTER" | "MODULE" | "SAVE" | "BGSAVE" | "BGREWRITEAOF"
        | "FT.SEARCH" | "FT._LIST" | "JSON.GET" | "TOUCH" => {}
        _ => {
            let target = rest.first().map_or_else(store, key);
            machine.add(Draft::new(EffectKind::DatastoreChange, target));
        }
    }
}

/// `mongosh`, `mongo`: JavaScript by its calls.
pub(crate) fn mongo(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut given = false;
    for value in arguments.values(&["--eval"]) {
        given = true;
        script(machine, value);
    }
    let files = arguments
        .operands
        .iter()
        .filter(|operand| operand.known_end().ends_with(".js"))
        .chain(arguments.values(&["-f", "--file"]));
    for file in files {
        given = true;
        match machine.read(file) {
            Output::Text(text) => script(machine, &text),
            Output::Nothing
            | Output::Network(_)
            | Output::Secret(_)
            | Output::Local(_)
            | Output::Setup(_)
            | Output::Unknown => {
                script(machine, &Value::Unknown);
            }
        }
    }
    if !given {
        match &call.input {
            Input::Text(text) => script(machine, text),
            Input::Inherited => {}
            Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
                script(machine, &Value::Unknown);
            }
        }
    }
    Exit::unknown()
}

/// Calls that lose data, with whether an empty filter is what makes them so.
const MONGO_LOSES: &[&str] = &[
    "dropDatabase",
    "drop",
    "dropIndexes",
    "deleteMany",
    "remove",
    "dropUser",
    "dropAllUsersFromDatabase",
    "convertToCapped",
];
/// Calls that change data.
const MONGO_CHANGES: &[&str] = &[
    "insertOne",
    "insertMany",
    "insert",
    "updateOne",
    "updateMany",
    "update",
    "replaceOne",
    "deleteOne",
    "findOneAndUpdate",
    "findOneAndDelete",
    "findOneAndReplace",
    "findAndModify",
    "bulkWrite",
    "createIndex",
    "createCollection",
    "renameCollection",
    "createUser",
    "grantRolesToUser",
    "save",
    "shutdownServer",
    "updateUser",
    "createView",
    "dropIndex",
    "reIndex",
    "$out",
    "$merge",
    "runCommand",
    "adminCommand",
];

fn script(machine: &mut Machine<'_>, text: &Value) {
    let Some(text) = text.as_exact() else {
        machine.add(
            Draft::new(EffectKind::DatastoreChange, Target::Service("mongodb".to_owned()))
                .possible()
                .note("the script is not known"),
        );
        return;
    };
    // Its shell is one of node, with all that node has.
    if ["require", "process.", "child_process", "import(", "Function("].iter().any(|word| text.contains(word))
    {
        let words = [Value::exact("node"), Value::exact("-e"), Value::exact(text)];
        machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
    }
    let bare = without_strings(text);
    for (at, _) in bare.match_indices('(') {
        let before = bare.get(..at).unwrap_or_default();
        let name: String = match in_brackets(text, &bare, at) {
            Some(name) => name,
            None => last_word(before),
        };
        if matches!(name.as_str(), "runCommand" | "adminCommand")
            && let Some(order) = loses_by_order(text.get(at..).unwrap_or_default())
        {
            let store = Target::Service("mongodb".to_owned());
            machine.add(
                Draft::new(EffectKind::DatastoreDestroy, store)
                    .irreversible()
                    .note(format!("gives the order `{order}`")),
            );
            continue;
        }
        let owner = before
            .strip_suffix(name.as_str())
            .unwrap_or_default()
            .strip_suffix('.')
            .map(last_word)
            .unwrap_or_default();
        let arguments: String =
            bare.get(at + 1..).unwrap_or_default().chars().filter(|c| !c.is_whitespace()).take(3).collect();
        let target = if owner.is_empty() || owner == "db" { "mongodb".to_owned() } else { owner };
        if MONGO_LOSES.contains(&name.as_str()) {
            let filtered = matches!(name.as_str(), "deleteMany" | "remove")
                && !(arguments.starts_with("{}") || arguments.starts_with(')'));
            let kind = if filtered { EffectKind::DatastoreChange } else { EffectKind::DatastoreDestroy };
            machine.add(
                Draft::new(kind, Target::Service(target)).irreversible().note(format!("calls `{name}`")),
            );
        } else if MONGO_CHANGES.contains(&name.as_str()) {
            machine.add(Draft::new(EffectKind::DatastoreChange, Target::Service(target)));
        }
    }
}

/// The name in `["name"]` in front of a parenthesis. Strings are blotted out in the second text, which is as long in letters.
fn in_brackets(text: &str, bare: &str, at: usize) -> Option<String> {
    let before = bare.get(..at)?.trim_end().strip_suffix(']')?;
    let open = before.rfind('[')?;
    let (from, to) = (bare.get(..=open)?.chars().count(), before.chars().count());
    let inside: String = text.chars().skip(from).take(to.saturating_sub(from)).collect();
    let inside = inside.trim();
    let name = inside.trim_matches(['"', '\'', '`']);
    (name.len() + 2 == inside.len()).then(|| name.to_owned())
}

/// The order in a document for the server that loses data. Source: MongoDB, "Database Commands".
fn loses_by_order(document: &str) -> Option<&'static str> {
    const ORDERS: &[&str] =
        &["dropDatabase", "drop", "dropIndexes", "dropAllUsersFromDatabase", "convertToCapped", "delete"];
    let inner = document.trim_start_matches(['(', ' ', '{']);
    let first: String =
        inner.trim_start_matches(['"', '\'']).chars().take_while(|c| c.is_alphanumeric()).collect();
    ORDERS.iter().find(|order| **order == first).copied()
}

fn last_word(text: &str) -> String {
    let start = text.rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default().to_owned()
}

/// JavaScript with the text inside quotes blotted out.
pub(super) fn without_strings(text: &str) -> String {
    let mut quote = None;
    let mut escaped = false;
    text.chars()
        .map(|letter| {
            let inside = quote.is_some();
            match quote {
                Some(_) if escaped => escaped = false,
                Some(_) if letter == '\\' => escaped = true,
                Some(open) if letter == open => quote = None,
                None if matches!(letter, '\'' | '"' | '`') => quote = Some(letter),
                Some(_) | None => {}
            }
            if inside && quote.is_some() { '_' } else { letter }
        })
        .collect()
}
