//! The file of `--readers`: a name and a password on each line.

use std::path::{Path, PathBuf};

use trawl_engine::account::{Account, Digest, Role};

/// Longest name of a reader, in characters.
const MAX_NAME_LENGTH: usize = 64;

/// A file that does not tell who the readers are.
#[derive(Debug, thiserror::Error)]
pub enum ReadersError {
    /// The file cannot be read.
    #[error("cannot read the readers from {}", path.display())]
    Unreadable {
        /// Value of `--readers`.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A line is not of the form.
    #[error("line {line} of {}: {problem}; a line is `name password` or `name sha256:…` with 64 hexadecimal digits", path.display())]
    Line {
        /// Value of `--readers`.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file has no reader.
    #[error("{} has no reader: write one on each line as `name password`, or leave out --readers", .0.display())]
    Empty(PathBuf),
}

/// Reads the readers. Empty lines and those that begin with `#` say nothing.
///
/// # Errors
///
/// [`ReadersError`], if the file cannot be read, has a wrong line or none.
pub fn read(path: &Path) -> Result<Vec<Account>, ReadersError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ReadersError::Unreadable { path: path.into(), source })?;
    let lines = text.lines().map(str::trim).enumerate();
    let mut readers: Vec<Account> = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let wrong = |problem| ReadersError::Line { path: path.into(), line: at + 1, problem };
        let reader = reader(line).map_err(wrong)?;
        if readers.iter().any(|other| other.user == reader.user) {
            return Err(wrong("the name is on an earlier line too"));
        }
        readers.push(reader);
    }
    if readers.is_empty() { Err(ReadersError::Empty(path.into())) } else { Ok(readers) }
}

fn reader(line: &str) -> Result<Account, &'static str> {
    let (user, password) = line.split_once([' ', '\t']).ok_or("there is no password")?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte);
    if user.len() > MAX_NAME_LENGTH || !user.bytes().all(is_name) {
        return Err("a name has at most 64 letters, digits, `_`, `-`, `.` and `@`");
    }
    let password = password.trim_start();
    let digest = match password.strip_prefix("sha256:") {
        Some(hex) => Digest::from_hex(hex).ok_or("`sha256:` must be followed by 64 hexadecimal digits")?,
        None => Digest::of(password),
    };
    let reader = Account { user: user.into(), digest, role: Role::Reader };
    if reader.is_open() { Err("the password is empty") } else { Ok(reader) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_a_password() {
        let hash = "sha256:5E884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";
        for (line, expected) in [
            ("ana two words", Some(("ana", "two words"))),
            ("a.b@c-d\t \tx:#y", Some(("a.b@c-d", "x:#y"))),
            (&format!("bob {hash}"), Some(("bob", "password"))),
            ("ana", None),
            ("a:b c", None),
            ("é x", None),
            ("bob sha256:5e88", None),
            ("bob sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", None),
        ] {
            let reader = reader(line).ok().map(|reader| (reader.user, reader.digest));
            let expected = expected.map(|(user, password)| (user.to_owned(), Digest::of(password)));
            assert_eq!(reader, expected, "{line}");
        }
    }
}
