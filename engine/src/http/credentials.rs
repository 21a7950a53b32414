//! Whose a request is: name and password in its URL, its `X-ClickHouse-…` headers or its `Authorization`.

use axum::http::HeaderMap;
use base64::Engine as _;

use crate::account::Credentials;
use crate::exception::Exception;

/// What `user` and `password` in the URL say.
#[derive(Debug, Default)]
pub(super) struct UrlCredentials {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

impl UrlCredentials {
    fn is_given(&self) -> bool {
        self.user.is_some() || self.password.is_some()
    }
}

/// The credentials of a request; those that a fresh ClickHouse has if it gives none.
///
/// As on a server, the URL comes before `Authorization`, which browsers add to whatever they send; `X-ClickHouse-User`
/// and `X-ClickHouse-Key` go with neither.
///
/// # Errors
///
/// Code 516 if they are given in two ways, without a name, or by a scheme other than Basic.
pub(super) fn credentials(headers: &HeaderMap, in_url: UrlCredentials) -> Result<Credentials, Exception> {
    let (user, password) = (text(headers, "x-clickhouse-user"), text(headers, "x-clickhouse-key"));
    // ClickHouse's own page sends `never`, so that its browser adds none.
    let authorization = text(headers, "authorization").filter(|value| value != "never" && !in_url.is_given());
    let given = if user.is_some() || password.is_some() {
        if in_url.is_given() {
            return Err(refused("X-ClickHouse-User or X-ClickHouse-Key, and user or password in the URL: give one"));
        }
        if authorization.is_some() {
            return Err(refused("X-ClickHouse-User or X-ClickHouse-Key, and Authorization: give one"));
        }
        Credentials { user: user.unwrap_or_default(), password: password.unwrap_or_default() }
    } else if let Some(value) = authorization {
        basic(&value)?
    } else {
        let fresh = Credentials::default();
        Credentials { user: in_url.user.unwrap_or(fresh.user), password: in_url.password.unwrap_or(fresh.password) }
    };
    if given.user.is_empty() { Err(refused("the name of the user is empty")) } else { Ok(given) }
}

/// A header that is there and not empty.
pub(super) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The credentials in an `Authorization` of the scheme Basic, whose name may have any letter case.
fn basic(value: &str) -> Result<Credentials, Exception> {
    let unsupported = || refused("only Basic is supported in Authorization");
    let (scheme, encoded) = value.split_once(' ').ok_or_else(unsupported)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(unsupported());
    }
    let decoded = base64::engine::general_purpose::STANDARD.decode(encoded.trim()).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let (user, password) = decoded
        .as_deref()
        .and_then(|decoded| decoded.split_once(':'))
        .ok_or_else(|| refused("Authorization has no user and password in base64"))?;
    Ok(Credentials { user: user.into(), password: password.into() })
}

fn refused(reason: &str) -> Exception {
    Exception::new(516, "AUTHENTICATION_FAILED", format!("Invalid authentication: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name and password, or the code of the refusal.
    fn read(headers: &[(&'static str, &str)], user: Option<&str>, password: Option<&str>) -> Result<String, i32> {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        let in_url = UrlCredentials { user: user.map(str::to_owned), password: password.map(str::to_owned) };
        let known = credentials(&headers.collect(), in_url).map_err(|exception| exception.code)?;
        Ok(format!("{} {}", known.user, known.password))
    }

    /// The name `boss` and the password `p:w`.
    const BOSS: &str = "Ym9zczpwOnc=";

    #[test]
    fn one_way_to_give_them_is_enough() {
        assert_eq!(read(&[], None, None), Ok("default ".into()));
        assert_eq!(read(&[], Some("ana"), None), Ok("ana ".into()));
        assert_eq!(read(&[], None, Some("p")), Ok("default p".into()));
        for scheme in ["Basic", "basic", "BASIC"] {
            let value = format!("{scheme} {BOSS}");
            assert_eq!(read(&[("authorization", value.as_str())], None, None), Ok("boss p:w".into()), "{scheme}");
        }
        assert_eq!(read(&[("x-clickhouse-user", "ana"), ("x-clickhouse-key", "p")], None, None), Ok("ana p".into()));
        assert_eq!(read(&[("x-clickhouse-user", "ana")], None, None), Ok("ana ".into()));
    }

    #[test]
    fn the_url_comes_before_what_a_browser_adds() {
        let basic = format!("Basic {BOSS}");
        for authorization in [&basic, "never", "Bearer x", "Basic"] {
            let headers = [("authorization", authorization)];
            assert_eq!(read(&headers, Some("ana"), Some("p")), Ok("ana p".into()), "{authorization}");
            assert_eq!(read(&headers, None, Some("p")), Ok("default p".into()), "{authorization}");
        }
        assert_eq!(read(&[("authorization", "never")], None, None), Ok("default ".into()));
        assert_eq!(read(&[("authorization", "never"), ("x-clickhouse-user", "ana")], None, None), Ok("ana ".into()));
    }

    #[test]
    fn two_ways_at_once_are_refused_and_so_is_no_name() {
        let basic = format!("Basic {BOSS}");
        for (headers, user) in [
            (&[("x-clickhouse-user", "ana")][..], Some("ana")),
            (&[("x-clickhouse-key", "p")], Some("ana")),
            (&[("x-clickhouse-user", "ana"), ("authorization", &basic)], None),
            (&[("x-clickhouse-key", "p")], None),
            (&[("authorization", "Basic OnA=")], None),
            (&[("authorization", &basic)], Some("")),
            (&[], Some("")),
            (&[("authorization", "Bearer x")], None),
            (&[("authorization", "Never")], None),
            (&[("authorization", "Basic")], None),
            (&[("authorization", "Basic !")], None),
            (&[("authorization", "Basic Ym9zcw==")], None),
        ] {
            assert_eq!(read(headers, user, None), Err(516), "{headers:?} {user:?}");
        }
    }
}
