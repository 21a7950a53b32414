//! One run of the EVM, with or without a tracer.

use revm::context::result::{EVMError, ResultAndState};
use revm::context::{BlockEnv, Context, TxEnv};
use revm::database_interface::WrapDatabaseRef;
use revm::handler::MainnetContext;
use revm::{Inspector, MainContext};

use super::changes::Changes;
use crate::call::{settings, transaction};
use crate::handler::{self, Origin};
use crate::partial_state::ProbeError;
use crate::{Call, Failure, Rules, RulesError};

/// A trace as JSON; a failure if there is more of it than is written.
pub type Trace = Result<Vec<u8>, Failure>;

/// The context of a run.
pub(crate) type RunContext<'d, 'p> = MainnetContext<WrapDatabaseRef<&'d Changes<'p>>>;

/// Why a run ended without an outcome.
#[derive(Debug)]
pub(crate) enum RunError {
    /// The state ended it.
    State(ProbeError),
    /// It is not valid.
    Failed(Failure),
}

impl From<ProbeError> for RunError {
    fn from(error: ProbeError) -> Self {
        Self::State(error)
    }
}

impl From<EVMError<ProbeError>> for RunError {
    fn from(error: EVMError<ProbeError>) -> Self {
        match error {
            EVMError::Database(error) => Self::State(error),
            EVMError::Transaction(reason) => Self::Failed(reason.into()),
            EVMError::Custom(text) => Self::Failed(Failure::NotAvailable(RulesError::NotAvailable(text))),
            other => Self::Failed(Failure::Invalid(other.to_string())),
        }
    }
}

/// A call or a transaction, and the state and block that it runs on.
pub(super) struct Run<'d, 'p> {
    pub call: &'d Call,
    pub origin: Origin,
    pub gas: u64,
    pub nonce: u64,
    pub rules: &'d Rules,
    pub block: BlockEnv,
    pub state: &'d Changes<'p>,
}

impl<'d, 'p> Run<'d, 'p> {
    /// Runs it without a tracer.
    pub fn execute(&self) -> Result<ResultAndState, RunError> {
        Ok(handler::run(self.context(), self.transaction(), self.rules, self.origin)?)
    }

    /// Runs it while an inspector watches.
    pub fn inspect<I: Inspector<RunContext<'d, 'p>>>(&self, inspector: &mut I) -> Result<ResultAndState, RunError> {
        Ok(handler::inspect(self.context(), self.transaction(), self.rules, self.origin, inspector)?)
    }

    fn context(&self) -> RunContext<'d, 'p> {
        let context = Context::mainnet().with_db(WrapDatabaseRef(self.state));
        context.with_cfg(settings(self.call, self.rules)).with_block(self.block.clone())
    }

    fn transaction(&self) -> TxEnv {
        transaction(self.call, self.gas, self.nonce, self.rules, self.call.access_list.as_ref())
    }
}
