//! What a user types, as the interface understands it.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Press {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Enter,
    /// Escape.
    Back,
    Tab,
    Erase,
    Character(char),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
}

/// The key of an event; `None` where it is not one that means something.
pub(super) fn press(event: &Event) -> Option<Press> {
    let Event::Key(KeyEvent { code, modifiers, kind, .. }) = event else { return None };
    if *kind == KeyEventKind::Release {
        return None;
    }
    let is_control = modifiers.contains(KeyModifiers::CONTROL);
    match code {
        KeyCode::Char('c' | 'd') if is_control => Some(Press::Interrupt),
        KeyCode::Char('z') if is_control => Some(Press::Suspend),
        KeyCode::Char(_) if is_control || modifiers.contains(KeyModifiers::ALT) => None,
        KeyCode::Char(letter) => Some(Press::Character(*letter)),
        KeyCode::Up => Some(Press::Up),
        KeyCode::Down => Some(Press::Down),
        KeyCode::PageUp => Some(Press::PageUp),
        KeyCode::PageDown => Some(Press::PageDown),
        KeyCode::Home => Some(Press::First),
        KeyCode::End => Some(Press::Last),
        KeyCode::Enter => Some(Press::Enter),
        KeyCode::Esc => Some(Press::Back),
        KeyCode::Tab | KeyCode::BackTab => Some(Press::Tab),
        KeyCode::Backspace => Some(Press::Erase),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_they_say() {
        let key = |code, modifiers| press(&Event::Key(KeyEvent::new(code, modifiers)));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Press::Interrupt));
        assert_eq!(key(KeyCode::Char('z'), KeyModifiers::CONTROL), Some(Press::Suspend));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::NONE), Some(Press::Character('c')));
        assert_eq!(key(KeyCode::Char('h'), KeyModifiers::ALT), None);
        assert_eq!(key(KeyCode::Esc, KeyModifiers::NONE), Some(Press::Back));
        assert_eq!(press(&Event::Resize(80, 24)), None);
    }
}
