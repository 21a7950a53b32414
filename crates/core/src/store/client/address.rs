//! Address and credentials of ClickHouse.

use clickhouse::Client;

/// Address and credentials of a ClickHouse HTTP endpoint.
#[derive(Clone)]
pub struct StoreAddress {
    /// URL of the HTTP interface: `http://host:port` or `https://host:port`.
    pub url: String,
    /// Database that holds the tables.
    pub database: String,
    /// Name of the ClickHouse user.
    pub user: String,
    /// Password; never shown.
    pub password: String,
    /// Whether responses and inserts are compressed on the wire.
    pub compression: Compression,
}

/// Compression between the programs and ClickHouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// LZ4 unless the server is on this machine, where copying is cheaper than compressing.
    #[default]
    Auto,
    /// Neither responses nor inserts are compressed.
    None,
    /// LZ4 wherever the server is.
    Lz4,
}

impl std::fmt::Debug for StoreAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StoreAddress")
            .field("url", &self.url)
            .field("database", &self.database)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl StoreAddress {
    /// A client without a database, for the statement that creates it.
    pub(crate) fn server(&self) -> Client {
        let compressed = match self.compression {
            Compression::None => false,
            Compression::Lz4 => true,
            Compression::Auto => !self.is_local(),
        };
        let compression = if compressed { clickhouse::Compression::Lz4 } else { clickhouse::Compression::None };
        Client::default()
            .with_url(&self.url)
            .with_user(&self.user)
            .with_password(&self.password)
            .with_compression(compression)
            .with_product_info("trawl", env!("CARGO_PKG_VERSION"))
    }

    pub(crate) fn client(&self) -> Client {
        self.server().with_database(&self.database)
    }

    /// Its host and port, without what else a URL may have.
    #[must_use]
    pub fn host(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?']).next().unwrap_or(rest);
        authority.rsplit('@').next().unwrap_or(authority)
    }

    fn is_local(&self) -> bool {
        ["://127.", "://localhost", "://[::1]"].iter().any(|host| self.url.contains(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_says_no_password() {
        let host = |url: &str| {
            let (database, user, password) = Default::default();
            StoreAddress { url: url.into(), database, user, password, compression: Compression::Auto }.host().to_owned()
        };
        assert_eq!(host("http://ana:secret@db1:8123/?x=@y"), "db1:8123");
        assert_eq!((host("https://[::1]:8123"), host("db1")), ("[::1]:8123".into(), "db1".into()));
    }
}
