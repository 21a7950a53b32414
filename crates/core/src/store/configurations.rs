//! Which rules a chain follows, as its genesis file states them: `chain_configurations`.

use super::{Reader, StoreError, Writer};
use crate::schema::columns::columns;
use crate::statement::Statement;

columns! {
    /// What a genesis file says of its chain.
    pub struct ConfigurationRow / ConfigurationView {
        /// JSON in geth's form.
        configuration: String,
    }
}

impl Reader {
    /// The configuration of a chain that was given last, as JSON in geth's form; `None` if there is none.
    pub async fn configuration(&self, chain_id: u64) -> Result<Option<String>, StoreError> {
        let sql = include_str!("../../../../sql/queries/newest_configuration.sql");
        let statement = Statement::<ConfigurationRow>::page(sql).with("chain_id", chain_id);
        Ok(self.rows(&statement).await?.pop().map(|row| row.configuration))
    }
}

impl Writer {
    /// Remembers the configuration of a chain. One that is the newest already is not written again.
    pub async fn record_configuration(&self, chain_id: u64, configuration: &str) -> Result<(), StoreError> {
        let parameters = [("chain_id", chain_id.into()), ("configuration", configuration.into())];
        self.execute_promptly(include_str!("../../../../sql/queries/record_configuration.sql"), &parameters).await
    }
}
