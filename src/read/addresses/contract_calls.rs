//! Calls to contracts, on the state after a block.

use std::sync::Arc;

use crate::app::App;
use crate::error::Problem;
use crate::read::calls;
use trawl_core::primitives::{Address, BlockNumber, Bytes};
use trawl_core::store::Head;

/// The state that contracts are called on.
#[derive(Clone)]
pub(crate) struct ContractCalls<'c> {
    pub app: &'c App,
    pub head: Arc<Head>,
    /// The block after which they are called.
    pub number: BlockNumber,
}

impl<'c> ContractCalls<'c> {
    /// On the state after the head; `None` of an empty chain.
    pub fn at_head(app: &'c App, head: &Head) -> Option<Self> {
        Some(Self { app, head: Arc::new(head.clone()), number: head.number()? })
    }

    /// What a contract returns to a call without arguments; `None` if the call fails.
    ///
    /// # Errors
    ///
    /// When state or rules are missing, the call takes too long, or the store fails.
    pub async fn returned(&self, contract: Address, selector: [u8; 4]) -> Result<Option<Bytes>, Problem> {
        self.answer(contract, selector.to_vec().into()).await
    }

    /// The same of any input.
    ///
    /// # Errors
    ///
    /// When state or rules are missing, the call takes too long, or the store fails.
    pub async fn answer(&self, contract: Address, input: Bytes) -> Result<Option<Bytes>, Problem> {
        match calls::returned(self.app, &self.head, self.number, contract, input).await {
            Ok(returned) => Ok(Some(returned)),
            Err(Problem::Call(_)) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The other contracts that a call of one touches; none if it cannot run.
    ///
    /// # Errors
    ///
    /// When state or rules are missing, the call takes too long, or the store fails.
    pub async fn touched(&self, contract: Address, selector: [u8; 4]) -> Result<Vec<Address>, Problem> {
        match calls::touched(self.app, &self.head, self.number, contract, selector.to_vec().into()).await {
            Err(Problem::Call(_)) => Ok(Vec::new()),
            touched => touched,
        }
    }
}
