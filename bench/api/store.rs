//! The engine of a test bed, queried without Trawl in between, and what its data set holds.

use anyhow::ensure;

/// The database of the product's tables.
pub const DATABASE: &str = "trawl";

/// What a data set holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Rows of the tables of logs alone.
    Logs,
    /// Token transfers of one very busy address and others.
    Transfers,
    /// The bundled mainnet blocks, so many times.
    Mainnet,
}

/// The engine, queried over HTTP.
pub struct Store {
    agent: ureq::Agent,
    /// Where it listens.
    pub url: String,
}

impl Store {
    /// The engine at an address.
    pub fn new(url: &str) -> Self {
        // Filling and merging tables takes as long as it takes.
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { agent, url: url.into() }
    }

    /// Sends a statement and returns the unread response.
    pub fn reader(
        &self,
        sql: &str,
        parameters: &[(&str, String)],
        format: &str,
    ) -> anyhow::Result<impl std::io::Read + use<>> {
        let mut request = self.agent.post(&self.url).query("database", DATABASE).query("default_format", format);
        for (name, value) in parameters {
            request = request.query(format!("param_{name}"), value);
        }
        let mut response = request.send(sql)?;
        let status = response.status();
        if status != 200 {
            let body = response.body_mut().read_to_string()?;
            ensure!(status == 200, "{sql}: {body}");
        }
        Ok(response.into_body().into_with_config().limit(u64::MAX).reader())
    }

    /// The answer as tab-separated text without the last line's end.
    pub fn text(&self, sql: &str, parameters: &[(&str, String)]) -> anyhow::Result<String> {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut self.reader(sql, parameters, "TSV")?, &mut text)?;
        Ok(text.trim_end_matches('\n').to_owned())
    }
}
