//! ClickHouse exceptions: their code, their text, and the HTTP status a server gives them.

use axum::http::StatusCode;

/// A failure in ClickHouse's form: a numeric code and `Code: N. DB::Exception: …`.
///
/// Codes: ClickHouse's `src/Common/ErrorCodes.cpp`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Exception {
    /// ClickHouse error code; never 0.
    pub code: i32,
    /// Full text, one line, starting with `Code: N.`, without version.
    pub message: String,
}

impl Exception {
    /// An exception of this program, in the form of the engine's own.
    #[must_use]
    pub fn new(code: i32, name: &str, text: impl std::fmt::Display) -> Self {
        Self { code, message: format!("Code: {code}. DB::Exception: {text} ({name})") }
    }

    /// Reads what libchdb reports; a text without a code gets 1002, `UNKNOWN_EXCEPTION`.
    #[must_use]
    pub fn from_engine(text: &str) -> Self {
        let text = text.trim();
        let mut innermost = text;
        // The engine wraps what a format threw once per layer: `Code: 161. DB::Exception: Code: 161. …`.
        while let Some(position) =
            innermost.get(1..).unwrap_or("").find("Code: ").filter(|at| *at < 40).map(|at| at + 1)
        {
            innermost = &innermost[position..];
        }
        let code = innermost
            .strip_prefix("Code: ")
            .and_then(|rest| rest.split('.').next())
            .and_then(|digits| digits.parse().ok());
        match code {
            Some(code) => Self { code, message: innermost.into() },
            None => Self::new(1002, "UNKNOWN_EXCEPTION", text),
        }
    }

    /// The same with a message of at most `bytes` bytes.
    #[must_use]
    pub fn shortened(&self, bytes: usize) -> Self {
        Self { code: self.code, message: self.message[..self.message.floor_char_boundary(bytes)].to_owned() }
    }

    /// The request is not for this user.
    #[must_use]
    pub fn access_denied(text: impl std::fmt::Display) -> Self {
        Self::new(497, "ACCESS_DENIED", text)
    }

    /// The request itself cannot be understood.
    #[must_use]
    pub fn bad_arguments(text: impl std::fmt::Display) -> Self {
        Self::new(36, "BAD_ARGUMENTS", text)
    }

    /// The statement does not parse.
    #[must_use]
    pub fn syntax_error(text: impl std::fmt::Display) -> Self {
        Self::new(62, "SYNTAX_ERROR", text)
    }

    /// The text as a server sends it, with its version and a final line feed.
    #[must_use]
    pub fn body(&self, version: &str) -> String {
        format!("{} (version {version} (official build))\n", self.message)
    }

    /// The status a ClickHouse server answers with (`src/Server/HTTPHandler.cpp`, exceptionCodeToHTTPStatus).
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.code {
            194 => StatusCode::UNAUTHORIZED,
            192 | 193 | 516 | 497 | 164 => StatusCode::FORBIDDEN,
            36 | 6 | 25 | 26 | 27 | 38 | 41 | 52 | 53 | 61 | 62 | 69 | 72 | 117 | 457 | 490 => StatusCode::BAD_REQUEST,
            43 | 46 | 47 | 50 | 56 | 60 | 63 | 73 | 81 | 115 | 152 | 233 | 336 => StatusCode::NOT_FOUND,
            162 | 371 => StatusCode::PAYLOAD_TOO_LARGE,
            48 | 344 => StatusCode::NOT_IMPLEMENTED,
            209 | 76 | 202 => StatusCode::SERVICE_UNAVAILABLE,
            159 => StatusCode::REQUEST_TIMEOUT,
            381 => StatusCode::LENGTH_REQUIRED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_exceptions_are_unwrapped() {
        let wrapped =
            "Code: 161. DB::Exception: Code: 161. DB::Exception: Output format Npy cannot … (TOO_MANY_COLUMNS)";
        let exception = Exception::from_engine(wrapped);
        assert_eq!(exception.code, 161);
        assert_eq!(exception.message, "Code: 161. DB::Exception: Output format Npy cannot … (TOO_MANY_COLUMNS)");
    }

    #[test]
    fn text_without_a_code_is_an_unknown_exception() {
        assert_eq!(Exception::from_engine("no idea").code, 1002);
        assert_eq!(Exception::from_engine("").code, 1002);
    }
}
