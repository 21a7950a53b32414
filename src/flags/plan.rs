//! What is served: one chain, or several that share what the flags give.

use trawl::web::{IndexPage, PageAttributes, Web};
use trawl_core::served_chain::ServedChain;
use trawl_core::store::{HeadSettings, StoreAddress};

use super::Flags;
use super::chains::ChainDatabase;
use trawl::options::Options;

/// A chain that is served.
pub struct ChainPlan {
    /// Its name; `None` of the only one.
    pub chain: Option<ServedChain>,
    /// Where its database is, one address at least.
    pub addresses: Vec<StoreAddress>,
    /// How its head is followed.
    pub head: HeadSettings,
    /// What holds for its answers.
    pub options: Options,
    /// The page at its paths.
    pub web: Web,
}

impl Flags {
    /// The chains that are served, one at least, in their order; starts the tasks that follow prices.
    ///
    /// # Errors
    ///
    /// When names, settings or addresses cannot be used, or a file of a password cannot be read.
    pub fn plans(&self) -> anyhow::Result<Vec<ChainPlan>> {
        let addresses = self.store.addresses()?;
        let chains = &self.chains.chains;
        if chains.is_empty() {
            let (head, options, web) = (self.head(1), self.options(&self.of_chain, 1)?, self.web_of_one());
            return Ok(vec![ChainPlan { chain: None, addresses, head, options, web }]);
        }
        self.chains.check()?;
        chains.iter().map(|chain| self.plan(chain, &addresses)).collect()
    }

    /// The page of the only chain, which is that of the build where it needs no attributes.
    fn web_of_one(&self) -> Web {
        match self.web() {
            Web::Page if self.sql_console => Web::Index(IndexPage::new(&self.page_attributes())),
            other => other,
        }
    }

    fn page_attributes(&self) -> PageAttributes {
        match self.sql_console {
            true => PageAttributes::default().with_console(),
            false => PageAttributes::default(),
        }
    }

    fn plan(
        &self,
        ChainDatabase { name, database }: &ChainDatabase,
        servers: &[StoreAddress],
    ) -> anyhow::Result<ChainPlan> {
        let (chain, count) = (ServedChain::new(name), self.chains.chains.len());
        let own = self.of_chain.with(&self.chains.settings_of(name))?;
        let options = chain.sync_scope(|| self.options(&own, count))?;
        let names: Vec<&str> = self.chains.chains.iter().map(|chain| chain.name.as_str()).collect();
        let web = match self.web() {
            Web::Page => Web::Index(IndexPage::new(&self.page_attributes().of_chain(name, &names))),
            other => other,
        };
        let of_chain = |server: &StoreAddress| StoreAddress { database: database.clone(), ..server.clone() };
        Ok(ChainPlan {
            chain: Some(chain),
            addresses: servers.iter().map(of_chain).collect(),
            head: self.head(count),
            options: Options { path_prefix: format!("/{name}"), ..options },
            web,
        })
    }
}
