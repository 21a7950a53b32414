//! The file of `--api-keys`: a name, a key and a rate on each line.

use std::path::{Path, PathBuf};

use trawl::options::rates::{ApiKey, KeyDigest};

/// Longest name, and the length of a key.
const MAX_NAME_LENGTH: usize = 64;
const KEY_LENGTH: std::ops::RangeInclusive<usize> = 16..=128;

/// The holders of keys.
#[derive(Debug, Clone)]
pub struct ApiKeys(pub Vec<ApiKey>);

/// A file of keys that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ApiKeysError {
    /// The file cannot be read.
    #[error("cannot read the keys from {}: {source}", path.display())]
    Unreadable {
        /// The file of keys.
        path: PathBuf,
        /// Why the system refuses it.
        source: std::io::Error,
    },
    /// A line is not of the form.
    #[error(
        "line {line} of {}: {problem}; a line is `name key 300/1m` or `name key unlimited`, and the key may be \
         `sha256:…` with 64 hexadecimal digits",
        path.display()
    )]
    Line {
        /// The file of keys.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file has no key.
    #[error("{} has no key: write one on each line as `name key 300/1m`, or leave out --api-keys", .0.display())]
    Empty(PathBuf),
}

impl ApiKeys {
    /// Reads the keys. Empty lines and those that begin with `#` say nothing.
    ///
    /// # Errors
    ///
    /// See [`ApiKeysError`], which names the line.
    pub fn open(path: &str) -> Result<Self, ApiKeysError> {
        let path = Path::new(path);
        let text =
            std::fs::read_to_string(path).map_err(|source| ApiKeysError::Unreadable { path: path.into(), source })?;
        let lines = text.lines().map(str::trim).enumerate();
        let mut keys: Vec<ApiKey> = Vec::new();
        for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = |problem| ApiKeysError::Line { path: path.into(), line: at + 1, problem };
            let key = api_key(line).map_err(wrong)?;
            if keys.iter().any(|other| other.name == key.name || other.digest == key.digest) {
                return Err(wrong("the name or the key is on an earlier line too"));
            }
            keys.push(key);
        }
        if keys.is_empty() { Err(ApiKeysError::Empty(path.into())) } else { Ok(Self(keys)) }
    }
}

fn api_key(line: &str) -> Result<ApiKey, &'static str> {
    let mut words = line.split_ascii_whitespace();
    let (Some(name), Some(key), Some(rate), None) = (words.next(), words.next(), words.next(), words.next()) else {
        return Err("there are not three words");
    };
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte));
    if name.len() > MAX_NAME_LENGTH || !is_plain(name) {
        return Err("a name has at most 64 letters, digits, `_`, `-`, `.` and `@`");
    }
    let digest = match key.strip_prefix("sha256:") {
        Some(hex) => KeyDigest::from_hex(hex).ok_or("`sha256:` must be followed by 64 hexadecimal digits")?,
        None if KEY_LENGTH.contains(&key.len()) && is_plain(key) => KeyDigest::of(key),
        None => return Err("a key has 16 to 128 letters, digits, `_`, `-`, `.` and `@`"),
    };
    let rate = match rate {
        "unlimited" => None,
        rate => Some(rate.parse().map_err(|_| "the third word is neither a rate such as 300/1m nor `unlimited`")?),
    };
    Ok(ApiKey { name: name.into(), digest, rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_a_key_and_a_rate() {
        let (key, hash) =
            ("0123456789abcdef", "sha256:9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f");
        for (line, expected) in [
            (format!("ana {key} 300/1m"), Some(("ana", Some("300/1m")))),
            (format!("a.b@c-d\t {hash} \t unlimited"), Some(("a.b@c-d", None))),
            (format!("ana {key}"), None),
            (format!("ana {key} 300"), None),
            (format!("ana {key} 300/1m more"), None),
            (format!("a:b {key} 300/1m"), None),
            ("ana short 300/1m".into(), None),
            ("ana sha256:9f9f 300/1m".into(), None),
        ] {
            let read = api_key(&line).ok().map(|read| (read.name, read.digest, read.rate));
            let expected = expected.map(|(name, rate)| {
                (name.to_owned(), KeyDigest::of(key), rate.map(|rate| rate.parse().expect("a rate")))
            });
            assert_eq!(read, expected, "{line}");
        }
    }
}
