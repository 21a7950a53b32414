//! Durations and sizes on command lines: `30s`, `500ms`, `1h`; `64MiB`, `2GiB`, `20MB`.
//!
//! Older spellings of some flags took a bare number. Each parser names the unit of such a number.

use std::time::Duration;

/// A duration; a bare number is in seconds.
///
/// # Errors
///
/// When the text is no duration, or is zero.
pub fn seconds(text: &str) -> Result<Duration, String> {
    duration(text, Duration::from_secs)
}

/// A duration; a bare number is in milliseconds.
///
/// # Errors
///
/// When the text is no duration, or is zero.
pub fn milliseconds(text: &str) -> Result<Duration, String> {
    duration(text, Duration::from_millis)
}

fn duration(text: &str, of_bare_number: fn(u64) -> Duration) -> Result<Duration, String> {
    let duration = match text.parse() {
        Ok(number) => of_bare_number(number),
        Err(_) => humantime::parse_duration(text).map_err(|error| format!("{error}: write 500ms, 30s, 5m or 1h"))?,
    };
    if duration.is_zero() { Err("must be longer than zero".into()) } else { Ok(duration) }
}

/// A size in bytes; a bare number is in bytes.
///
/// # Errors
///
/// When the text is no size.
pub fn bytes(text: &str) -> Result<u64, String> {
    let size: bytesize::ByteSize = text.parse().map_err(|error| format!("{error}: write 512KiB, 64MiB or 2GiB"))?;
    Ok(size.as_u64())
}

/// A size in bytes; a bare number is in MiB.
///
/// # Errors
///
/// When the text is no size.
pub fn mebibytes(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(number) => number.checked_mul(1 << 20).ok_or_else(|| "is too large".into()),
        Err(_) => bytes(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_or_an_old_one() {
        assert_eq!(seconds("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(seconds("30"), Ok(Duration::from_secs(30)));
        assert_eq!(milliseconds("1500"), Ok(Duration::from_millis(1500)));
        assert_eq!(milliseconds("1m 30s"), Ok(Duration::from_secs(90)));
        for bad in ["", "0", "0s", "-1s", "soon", "30 parsecs", "99999999999999999999s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_units_or_an_old_one() {
        assert_eq!(bytes("64MiB"), Ok(64 << 20));
        assert_eq!(bytes("20MB"), Ok(20_000_000));
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("67108864"), Ok(64 << 20));
        assert_eq!(mebibytes("2048"), Ok(2 << 30));
        assert_eq!(mebibytes("2GiB"), Ok(2 << 30));
        for bad in ["", "-1", "MiB", "64 parsecs"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
        assert!(mebibytes("99999999999999999").is_err());
    }
}
