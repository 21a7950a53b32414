//! Durations on the command line.

use std::time::Duration;

/// A duration with its unit: `60s`, `500ms`, `2m`.
///
/// # Errors
///
/// Text without a unit, with one that is not known, or a duration of zero.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| format!("{error}; write it like 60s or 500ms"))?;
    if duration.is_zero() { Err("it must be longer than nothing".into()) } else { Ok(duration) }
}

/// The same, where a bare number means milliseconds: what flags and variables whose name ends with `ms` hold.
///
/// # Errors
///
/// As [`duration`].
pub fn milliseconds(text: &str) -> Result<Duration, String> {
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_bare { duration(&format!("{text}ms")) } else { duration(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m 5s"), Ok(Duration::from_secs(125)));
        for bad in ["", "60", "0s", "0", "-1s", "1 parsec"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bare_numbers_of_old_names_are_milliseconds() {
        assert_eq!(milliseconds("6000"), Ok(Duration::from_secs(6)));
        assert_eq!(milliseconds("6s"), Ok(Duration::from_secs(6)));
        assert!(milliseconds("0").is_err() && milliseconds("").is_err() && milliseconds("-1").is_err());
    }
}
