//! `checkrein mask`: passes on what it reads, with the secrets in it masked.

use std::io::{self, BufRead, ErrorKind, Write};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::mask::{MaskKey, ShownText, mask_text, secret_settings};

use super::ExitStatus;

/// How much of a private key is waited for before what is there of it is passed on, in bytes (ours): the greatest ones are a tenth of it.
const LONGEST_KEY: usize = 64 * 1024;

/// Masks standard input to standard output, line by line as it comes. Where there is no key for masks nothing is passed on.
pub fn mask(environment: &HostEnvironment) -> Result<ExitStatus, CommandError> {
    let key = environment.state.mask_key().map_err(|error| {
        CommandError::user(
            format!("nothing is shown, since it cannot be masked: {error}"),
            "`checkrein doctor` says what is wrong with the state directory",
        )
    })?;
    match pass_on(&mut io::stdin().lock(), &mut io::stdout().lock(), &key) {
        Ok(()) => Ok(ExitStatus::Done),
        // Who reads it has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitStatus::Done),
        Err(error) => Err(CommandError::user(
            format!("what is to be masked could not be passed on: {error}"),
            "check what it is piped into",
        )),
    }
}

fn pass_on(input: &mut dyn BufRead, output: &mut dyn Write, key: &MaskKey) -> io::Result<()> {
    let mut waiting: Vec<u8> = Vec::new();
    loop {
        let read = input.fill_buf()?;
        let length = read.len();
        waiting.extend_from_slice(read);
        input.consume(length);
        if length == 0 {
            return output.write_all(&masked(&waiting, key)).and_then(|()| output.flush());
        }
        // What waited already has no end of a line, or is the beginning of a key.
        let fresh = waiting.len() - length;
        let end = waiting.get(fresh..).unwrap_or_default().iter().rposition(|byte| *byte == b'\n');
        let lines = end.map_or(0, |end| fresh + end + 1);
        let whole = waiting.get(..lines).unwrap_or_default();
        if lines == 0 || has_open_key(whole) && lines < LONGEST_KEY {
            continue;
        }
        output.write_all(&masked(whole, key))?;
        output.flush()?;
        waiting.drain(..lines);
    }
}

/// Whether a private key begins that does not end.
fn has_open_key(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let last = |mark: &str| text.rfind(mark);
    last("-----BEGIN ").is_some_and(|begin| last("-----END ").is_none_or(|end| end < begin))
}

/// The text with masks in it; as it came where there are none.
fn masked(bytes: &[u8], key: &MaskKey) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let key = key.clone().for_reader(ShownText::List, secret_settings(&text));
    match mask_text(&text, &key) {
        std::borrow::Cow::Borrowed(_) => bytes.to_vec(),
        std::borrow::Cow::Owned(masked) => masked.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(text: &str) -> String {
        let mut output = Vec::new();
        pass_on(&mut text.as_bytes(), &mut output, &MaskKey::new([7; MaskKey::LENGTH])).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn names_stay_and_values_go() {
        let shown = passed(
            "PORT=3000\n.env:2:API_KEY=abcdef0123456789abcd\n+DB_PASSWORD='correct horse'\nplain words\n",
        );
        for gone in ["abcdef0123456789abcd", "correct", "horse"] {
            assert!(!shown.contains(gone), "{shown}");
        }
        for kept in ["PORT=3000\n", ".env:2:API_KEY=[masked:", "+DB_PASSWORD='[masked:", "\nplain words\n"] {
            assert!(shown.contains(kept), "{shown}");
        }
    }

    #[test]
    fn no_part_of_a_secret_is_left_whatever_its_form() {
        for line in [
            "export A=1 DB_PASSWORD=gone\\ goner",
            "DB_PASSWORD=\"gone\\\"goner\\\" gonest\"",
            "API_KEY='gone'\"goner\"",
            "SECRET_KEY_BASE=gone",
            "NEXTAUTH_SECRET=gone",
            "DB_PASSWORD=changeme-gone1",
            "TOKEN=gone # was goner",
            "# password: goner",
            "CONNECTION=Server=db;Uid=sa;Pwd=gone;",
            "DSN=me:gone@tcp(db)/app",
            "A={\"pass\":\"gone\"}",
            "HOOK=https://discord.example/api/webhooks/1/gone",
            "A=1\rDB_PASSWORD=gone",
            "dir/.env:12:DB_PASSWORD=gone",
        ] {
            let shown = passed(&format!("{line}\nPORT=3000\n"));
            assert!(!shown.contains("gone"), "{line}: {shown}");
            assert!(shown.ends_with("PORT=3000\n"), "{line}: {shown}");
        }
    }

    #[test]
    fn what_holds_no_secret_comes_out_as_it_went_in() {
        let mut output = Vec::new();
        let bytes = b"\xff\xfe no text\nlast line without an end";
        pass_on(&mut &bytes[..], &mut output, &MaskKey::new([7; MaskKey::LENGTH])).unwrap();
        assert_eq!(output, bytes);
    }
}
