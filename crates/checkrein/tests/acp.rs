//! The proxy between an editor and an agent (`checkrein acp`): the real program, with both ends played by the test, and real agents.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic, and measures are told"
)]

mod support;

#[path = "acp/connection.rs"]
mod connection;
#[path = "acp/fields.rs"]
mod fields;
#[path = "acp/judged.rs"]
mod judged;
#[path = "acp/other_words.rs"]
mod other_words;
#[path = "acp/real.rs"]
mod real;
#[path = "acp/streams.rs"]
mod streams;
#[path = "acp/unasked.rs"]
mod unasked;
