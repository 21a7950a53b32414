//! Lets the dictionary of tokens read its view on a server whose user `default` may not.

use super::{StoreError, Writer};
use crate::schema::analysts::stages;
use crate::schema::migrations::Step;

/// How `sql/analysts/dictionaries/token_facts.sql` names the source: ClickHouse reads it as `default` without a
/// password (<https://clickhouse.com/docs/sql-reference/statements/create/dictionary/sources/clickhouse>).
const SOURCE: &str = "CLICKHOUSE(TABLE";

impl Writer {
    /// Makes the dictionary anew with the account of this program, if it cannot be read as it is: a server may have
    /// switched `default` off, given it a password, or taken its rights. ClickHouse hides the password where it shows
    /// the statement.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub(super) async fn make_dictionary_readable(&self) -> Result<(), StoreError> {
        let look = self.address.client().query_raw("SELECT dictGetOrDefault('token_facts', 'name', '', NULL)");
        match (look.execute().await.map_err(StoreError::from), account(&self.address.user, &self.address.password)) {
            (Err(error), Some(account)) if !error.is_transient() => {
                let source = format!("CLICKHOUSE({account} TABLE");
                self.execute_all(dictionaries().map(|step| step.sql.replace(SOURCE, &source))).await
            }
            (outcome, _) => outcome,
        }
    }
}

/// What is made from a table of this server.
fn dictionaries() -> impl Iterator<Item = &'static Step> {
    stages().flatten().filter(|step| step.sql.contains(SOURCE))
}

/// An account as a source states it; `None` if it is what ClickHouse takes without any.
fn account(user: &str, password: &str) -> Option<String> {
    let is_stated = user != "default" || !password.is_empty();
    is_stated.then(|| format!("USER {} PASSWORD {}", literal(user), literal(password)))
}

/// A string as ClickHouse writes it: the source of a dictionary takes no parameters.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_named_as_in_the_file() {
        assert!(dictionaries().map(|step| step.name).eq(["token_facts"]));
    }

    #[test]
    fn an_account_is_stated_unless_it_is_the_one_without_a_password() {
        assert_eq!(account("default", ""), None);
        assert_eq!(account("default", "x").as_deref(), Some("USER 'default' PASSWORD 'x'"));
        assert_eq!(account("trawl", "").as_deref(), Some("USER 'trawl' PASSWORD ''"));
    }

    #[test]
    fn nothing_leaves_a_literal() {
        assert_eq!(literal(r"a'b\"), r"'a\'b\\'");
    }
}
