//! Requests that a stand-in for a server reads.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;

use serde_json::Value as Json;

/// The head and the JSON of a request; `None` where the other end has gone.
pub fn read_request(stream: &TcpStream) -> Option<(String, Json)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or_default()];
    reader.read_exact(&mut body).unwrap();
    Some((head, serde_json::from_slice(&body).unwrap_or_default()))
}
