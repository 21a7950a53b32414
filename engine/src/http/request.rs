//! An HTTP request to ClickHouse, body aside: URL parameters, headers and form fields, as a server reads them.
//!
//! <https://clickhouse.com/docs/interfaces/http>

use std::time::Duration;

use axum::http::{HeaderMap, Method, Uri};

use crate::account::Credentials;
use crate::codec::Encoding;
use crate::exception::Exception;
use crate::execute::query::Query;
use crate::execute::session::{MAX_TIMEOUT, SessionRequest};
use crate::http::credentials::{UrlCredentials, credentials, text};
use crate::sql::format::{is_name, unknown_format};

/// A request, body aside.
#[derive(Debug, Clone)]
pub struct Request {
    /// The statement; its text is that of the `query` parameter, which the body follows.
    pub query: Query,
    /// Name of the query, for KILL QUERY.
    pub query_id: String,
    /// How to compress the answer.
    pub encoding: Encoding,
    /// The body is in ClickHouse's compressed framing.
    pub decompress: bool,
    /// Answer only when the query is over, so that its outcome is in the head.
    pub wait_end_of_query: bool,
    /// The client's user and password.
    pub credentials: Credentials,
}

impl Request {
    /// Reads the head of a request. `own_id` becomes the query id if the client gives none.
    ///
    /// # Errors
    ///
    /// If a parameter or a header cannot be understood.
    pub fn read(method: &Method, uri: &Uri, headers: &HeaderMap, own_id: String) -> Result<Self, Exception> {
        let mut request = Self {
            query: Query {
                database: text(headers, "x-clickhouse-database"),
                default_format: format_name(text(headers, "x-clickhouse-format").unwrap_or_default())?,
                is_read_only: method == Method::GET || method == Method::HEAD,
                ..Query::default()
            },
            query_id: text(headers, "x-clickhouse-query-id").unwrap_or_else(|| own_id.clone()),
            encoding: Encoding::Identity,
            decompress: false,
            wait_end_of_query: false,
            credentials: Credentials::default(),
        };
        let mut session = SessionRequest { id: String::new(), timeout: Duration::from_secs(60), must_exist: false };
        let mut http_compression = true;
        let mut blocks = false;
        let mut in_url = UrlCredentials::default();
        for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or("").as_bytes()) {
            let value = value.into_owned();
            match &*name {
                "query" => request.query.text.push_str(&value),
                "database" => request.query.database = Some(value),
                "default_format" => request.query.default_format = format_name(value)?,
                "query_id" if !value.is_empty() => request.query_id = value,
                "query_id"
                | "quota_key"
                | "role"
                | "stacktrace"
                | "buffer_size"
                | "http_response_headers"
                | "close_session" => {}
                "client_protocol_version" => request.query.protocol_version = protocol_version(&value)?,
                "user" => in_url.user = Some(value),
                "password" => in_url.password = Some(value),
                "session_id" => session.id = value,
                "session_timeout" => session.timeout = timeout(&value)?,
                "session_check" => session.must_exist = flag(&value),
                "compress" => blocks = flag(&value),
                "decompress" => request.decompress = flag(&value),
                "enable_http_compression" => http_compression = flag(&value),
                "wait_end_of_query" => request.wait_end_of_query = flag(&value),
                name => request.field(name, value),
            }
        }
        request.credentials = credentials(headers, in_url)?;
        request.encoding = match (blocks, http_compression) {
            (true, _) => Encoding::Blocks,
            (false, true) => Encoding::negotiate(headers),
            (false, false) => Encoding::Identity,
        };
        request.query.session = (!session.id.is_empty()).then_some(session);
        request.query.is_named = request.query_id != own_id;
        Ok(request)
    }

    /// Takes a `param_…` value, the query, or a setting; form fields and URL parameters share this.
    pub fn field(&mut self, name: &str, value: String) {
        match name.strip_prefix("param_") {
            Some(parameter) => self.query.parameters.push((parameter.into(), value)),
            None if name == "query" => self.query.text.push_str(&value),
            None => self.query.settings.push((name.into(), value)),
        }
    }

    /// Whether a form field of this name is something else than a table of data.
    #[must_use]
    pub fn is_field(name: &str) -> bool {
        name == "query" || name.starts_with("param_")
    }
}

/// The name becomes part of a statement's text. An empty one is none, as on a server.
fn format_name(name: String) -> Result<Option<String>, Exception> {
    match name {
        name if name.is_empty() => Ok(None),
        name if is_name(&name) => Ok(Some(name)),
        name => Err(unknown_format(&name)),
    }
}

fn flag(value: &str) -> bool {
    matches!(value, "1" | "true")
}

fn protocol_version(value: &str) -> Result<u64, Exception> {
    value.parse().map_err(|_| Exception::bad_arguments(format!("client_protocol_version is not a number: '{value}'")))
}

fn timeout(value: &str) -> Result<Duration, Exception> {
    let seconds: u64 = value
        .parse()
        .map_err(|_| Exception::new(374, "INVALID_SESSION_TIMEOUT", format!("Invalid session timeout: '{value}'")))?;
    let timeout = Duration::from_secs(seconds);
    if timeout > MAX_TIMEOUT {
        return Err(Exception::new(
            374,
            "INVALID_SESSION_TIMEOUT",
            format!("Session timeout '{seconds}' is larger than max_session_timeout: {}", MAX_TIMEOUT.as_secs()),
        ));
    }
    Ok(timeout)
}
