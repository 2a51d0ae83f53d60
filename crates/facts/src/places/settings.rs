//! Lists of settings: `NAME=value` in each line.

use checkrein_protocol::AbsolutePath;

use super::credentials::environment_file;

/// The sign that stands between a name and its value.
const SIGN: char = '=';

/// Whether a file is a list of settings of which each line is a name and a value, a remark, or empty: no value goes on in a second line.
pub fn is_list_of_settings(path: &AbsolutePath, text: &str) -> bool {
    path.name().is_some_and(environment_file) && text.lines().all(is_setting)
}

fn is_setting(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return true;
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    line.split_once(SIGN).is_some_and(|(name, value)| {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        };
        // A quote that stays open goes on in the next line.
        let quotes = |quote: char| value.matches(quote).count();
        is_name(name.trim_end()) && quotes('"') % 2 == 0 && quotes('\'') % 2 == 0 && !value.ends_with('\\')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_goes_on_in_a_second_line_makes_no_list() {
        let path = AbsolutePath::new("/home/dev/proj/.env").unwrap();
        assert!(is_list_of_settings(&path, "# why\nA=1\n\nexport B='x y'\nC=\"z\"\n"));
        for text in ["A=\"one\ntwo\"\n", "A='one\ntwo'\n", "A=one\\\ntwo\n", "A=1\nMIIEpAIBAAKCAQEA\n"] {
            assert!(!is_list_of_settings(&path, text), "{text:?}");
        }
        assert!(!is_list_of_settings(&AbsolutePath::new("/home/dev/.ssh/id_rsa").unwrap(), "A=1\n"));
    }
}
