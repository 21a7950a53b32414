//! Fork rules of a chain from its genesis file: `chain_configurations`.

use super::{Reader, StoreError, Writer};
use crate::schema::columns::columns;
use crate::statement::Statement;

columns! {
    /// The `config` member of a genesis file.
    pub struct ConfigurationRow / ConfigurationView {
        /// JSON in geth's form.
        configuration: String,
    }
}

impl Reader {
    /// The newest configuration of a chain, as JSON in geth's form; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn configuration(&self, chain_id: u64) -> Result<Option<String>, StoreError> {
        let sql = include_str!("../../../../sql/queries/newest_configuration.sql");
        let statement = Statement::<ConfigurationRow>::page(sql).with("chain_id", chain_id);
        Ok(self.rows(&statement).await?.pop().map(|row| row.configuration))
    }
}

impl Writer {
    /// Stores the configuration of a chain, unless it equals the newest one.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn record_configuration(&self, chain_id: u64, configuration: &str) -> Result<(), StoreError> {
        let parameters = [("chain_id", chain_id.into()), ("configuration", configuration.into())];
        self.execute_promptly(include_str!("../../../../sql/queries/record_configuration.sql"), &parameters).await
    }
}
