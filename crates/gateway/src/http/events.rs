//! A stream of events (`text/event-stream`, the WHATWG HTML standard): what is in one of them.

/// Puts the lines of a stream together to events.
#[derive(Debug, Default)]
pub(super) struct Events {
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
}

impl Events {
    /// Takes a line without its end; the data of the event that it ends, if it ends one with data.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            let had_data = std::mem::take(&mut self.has_data);
            let data = std::mem::take(&mut self.data);
            return had_data.then_some(data);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => {
                let value = line.get(at + 1..).unwrap_or_default();
                (line.get(..at).unwrap_or_default(), value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"id" => {
                let is_plain = value.len() < 1024 && value.iter().all(u8::is_ascii_graphic);
                self.id = is_plain.then(|| String::from_utf8_lossy(value).into_owned()).or(self.id.take());
            }
            _ => {}
        }
        None
    }

    /// How many bytes wait for the end of their event.
    pub(super) fn waiting(&self) -> usize {
        self.data.len()
    }

    /// The id of the last event that had one.
    pub(super) fn last(&self) -> Option<String> {
        self.id.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_line_by_line() {
        let mut events = Events::default();
        let text =
            ": hello\nevent: message\nid: 7\ndata: {\"a\":\ndata: 1}\n\nretry: 5\n\ndata\n\ndata:x\n\n";
        let found: Vec<Vec<u8>> = text.split('\n').filter_map(|line| events.line(line.as_bytes())).collect();
        assert_eq!(found, [&b"{\"a\":\n1}"[..], b"", b"x"]);
        assert_eq!(events.last().as_deref(), Some("7"));
    }
}
