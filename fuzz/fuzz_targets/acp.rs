//! Whatever an agent writes, no request for files, commands or permission reaches an editor where every call is refused.
#![no_main]

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use checkrein_engine::fail_closed::Failure;
use checkrein_protocol::{AbsolutePath, HookEvent, HookEventKind, HookResponse, SessionId};
use checkrein_proxies::{CallJudge, Ends, Proxy, Said};
use libfuzzer_sys::fuzz_target;
use serde_json::Value as Json;

#[derive(Debug)]
struct Refusing;

impl CallJudge for Refusing {
    fn judge(&self, event: &HookEvent) -> Said {
        let answer = match &event.moment {
            HookEventKind::BeforeAction { .. } => HookResponse::Deny { reason: "no".to_owned() },
            _ => HookResponse::NoOpinion,
        };
        Said { answer, for_user: None, remarks: Vec::new() }
    }

    fn halted(&self, _: &SessionId) -> Option<String> {
        None
    }

    fn failed(&self, _: &SessionId, _: &Failure) {}
}

/// An editor that says nothing until it is dropped.
struct Silent(mpsc::Receiver<()>);

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(0)
    }
}

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a value holds a request that is reviewed, however deep in lists. What is asked about a terminal that runs is none.
fn holds_a_call(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.iter().any(holds_a_call),
        other => other["method"].as_str().is_some_and(|method| {
            method == "session/request_permission" || method.starts_with("fs/") || method == "terminal/create"
        }),
    }
}

fuzz_target!(|text: &[u8]| {
    let (_end, silent) = mpsc::channel();
    let heard = Heard::default();
    let ends = Ends {
        from_editor: Box::new(Silent(silent)),
        to_editor: Box::new(heard.clone()),
        from_agent: Box::new(io::Cursor::new(text.to_vec())),
        to_agent: Box::new(io::sink()),
    };
    let Ok(proxy) = Proxy::start(ends, Arc::new(Refusing), AbsolutePath::root(), Arc::new(|_| {})) else { return };
    while !proxy.is_silent() {
        thread::sleep(Duration::from_micros(50));
    }
    let heard = heard.0.lock().expect("nobody panics with it");
    for line in heard.split(|byte| *byte == b'\n') {
        if let Ok(value) = serde_json::from_slice(line) {
            assert!(!holds_a_call(&value), "{value}");
        }
    }
});
