//! Tests that mostly wait for others (a client that starts, a hook that takes its time), several at a time, however many processors there are.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Condvar, Mutex, OnceLock};
use std::thread;

/// How many are done at a time.
const WIDTH: usize = 4;

/// A test: its name, and what it does.
pub type Job = (String, fn(&str), &'static str);

/// All tests of a program.
pub struct Pool {
    waiting: Mutex<VecDeque<Job>>,
    ended: Mutex<BTreeMap<String, Result<(), String>>>,
    changed: Condvar,
    names: Vec<String>,
}

static POOL: OnceLock<Pool> = OnceLock::new();

/// Waits for one of these tests. The first one that is waited for has all begun that are meant by the words of the command line.
pub fn wait(name: &str, all: impl FnOnce() -> Vec<Job>) {
    let all = all();
    let own = all.iter().find(|(known, ..)| known == name).cloned().unwrap();
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word.starts_with("--test-threads=1") || word == "--exact" || word == "--skip")
    {
        return (own.1)(own.2);
    }
    let is_meant = |name: &str| {
        let mut filters = words.iter().filter(|word| !word.starts_with('-')).peekable();
        filters.peek().is_none() || filters.any(|word| name.contains(word.as_str()))
    };
    let mut is_first = false;
    let pool = POOL.get_or_init(|| {
        is_first = true;
        let waiting: VecDeque<Job> = all.into_iter().filter(|(name, ..)| is_meant(name)).collect();
        let names = waiting.iter().map(|(name, ..)| name.clone()).collect();
        Pool {
            waiting: Mutex::new(waiting),
            ended: Mutex::new(BTreeMap::new()),
            changed: Condvar::new(),
            names,
        }
    });
    if !pool.names.iter().any(|known| known == name) {
        return (own.1)(own.2);
    }
    if is_first {
        for _ in 0..WIDTH {
            thread::spawn(|| work(POOL.wait()));
        }
    }
    let mut ended = pool.ended.lock().unwrap();
    let result = loop {
        match ended.remove(name) {
            Some(result) => break result,
            None => ended = pool.changed.wait(ended).unwrap(),
        }
    };
    drop(ended);
    if let Err(why) = result {
        panic!("{why}");
    }
}

fn work(pool: &Pool) {
    loop {
        let next = pool.waiting.lock().unwrap().pop_front();
        let Some((name, job, client)) = next else { return };
        // A test that does not run is told by the name of its thread.
        let named = thread::Builder::new().name(name.clone());
        let ended =
            named.spawn(move || panic::catch_unwind(AssertUnwindSafe(|| job(client)))).unwrap().join();
        let result = ended.unwrap_or_else(Err).map_err(|cause| words(cause.as_ref()));
        pool.ended.lock().unwrap().insert(name, result);
        pool.changed.notify_all();
    }
}

/// What a panic said.
fn words(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
