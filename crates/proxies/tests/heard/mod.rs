//! What one end of a proxy hears.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// What one end of a proxy was told.
#[derive(Debug, Clone, Default)]
pub struct Heard(Arc<Mutex<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Heard {
    /// All of it until now.
    pub fn text(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}
