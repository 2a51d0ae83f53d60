//! Paths that are no ordinary files: devices and switches of the kernel, and pipes.

use super::call::Input;
use super::known_hosts::reach;
use super::machine::{Machine, socket_host};
use super::value::Value;
use crate::effect::NetworkReach;
use crate::path::AbsolutePath;
use crate::world::Entry;

/// What writing to a path below `/dev` or `/proc` or `/sys` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    /// Nothing is kept: `/dev/null`, the terminal, the shell's own descriptors.
    Nothing,
    /// A connection: `/dev/tcp/host/port`.
    Network,
    /// A disk, memory or a switch of the kernel.
    System,
}

/// What writing to the path means, when it is no ordinary file.
pub(crate) fn device(path: &AbsolutePath) -> Option<Device> {
    let text = path.as_str();
    if let Some(name) = text.strip_prefix("/dev/") {
        if name.starts_with("tcp/") || name.starts_with("udp/") {
            return Some(Device::Network);
        }
        if name.starts_with("shm/") || name.starts_with("mqueue/") {
            return None;
        }
        let is_nothing = matches!(
            name,
            "null"
                | "zero"
                | "full"
                | "random"
                | "urandom"
                | "stdin"
                | "stdout"
                | "stderr"
                | "tty"
                | "console"
                | "ptmx"
                | "log"
        ) || name.starts_with("fd/")
            || name.starts_with("pts/")
            || name.starts_with("tty");
        return Some(if is_nothing { Device::Nothing } else { Device::System });
    }
    if super::descriptors::OWN.iter().any(|start| text.starts_with(start)) {
        return Some(Device::Nothing);
    }
    (text.starts_with("/proc/") || text.starts_with("/sys/")).then_some(Device::System)
}

impl Machine<'_> {
    /// What is written into a pipe with a name, or to a port of this machine, may be read by a shell that waits there, and run: pipes are for
    /// text that somebody else reads.
    pub(super) fn hear_through_pipe(&mut self, path: &AbsolutePath, text: &Value) {
        // A text of one word is a message or a number.
        let is_command = text.as_exact().is_some_and(|text| text.split_whitespace().nth(1).is_some());
        if !is_command || self.is_away() {
            return;
        }
        let is_heard = match device(path) {
            Some(Device::Network) => reach(&socket_host(path.as_str())) == NetworkReach::Local,
            Some(Device::Nothing | Device::System) => false,
            None => self.world().entry(path) == Entry::Special,
        };
        if is_heard {
            self.possibly(|machine| machine.cut_loose(|machine| machine.run_text(text, Input::Inherited)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_told_apart() {
        let path = |text: &str| AbsolutePath::new(text).unwrap();
        assert_eq!(device(&path("/dev/null")), Some(Device::Nothing));
        assert_eq!(device(&path("/dev/sda1")), Some(Device::System));
        assert_eq!(device(&path("/dev/tcp/example.com/80")), Some(Device::Network));
        assert_eq!(device(&path("/dev/shm/x")), None);
        assert_eq!(device(&path("/home/dev/null")), None);
    }
}
