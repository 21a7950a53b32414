//! One user operation: its event, the logs around it, and what its bundler sent.

use alloy_primitives::keccak256;

use super::{BundleKey, BundleRead, entry_points, events, handled};
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use trawl_core::primitives::user_operation::{
    ACCOUNT_DEPLOYED, DEPOSITED, EmittedLog, OPERATION, OperationLogs, REVERTED, SubmittedOperation, account_factory,
    beneficiary, executed_call, revert_reason, submitted,
};
use trawl_core::primitives::{Address, B256};
use trawl_core::schema::LogRow;
use trawl_core::store::Head;
use trawl_json::addresses::address::Addresses;
use trawl_json::transactions::user_operations::{ExecutedCall, HandledOperation, OperationPage};
use trawl_query::logs::of_transaction;
use trawl_query::user_operations::{EventKey, EventPage};

/// More logs than a transaction emits: each costs 375 gas.
const MAX_LOGS: u64 = 1_000_000;

/// Functions of wallets that make one call: whom, with how much, and with what.
const EXECUTING: [&str; 15] = [
    "execute(address,uint256,bytes)",
    "execute(address,uint256,bytes,uint8)",
    "execute(address,uint256,bytes,bytes)",
    "execute_ncC(address,uint256,bytes)",
    "executeAndRevert(address,uint256,bytes,uint8)",
    "executeCall(address,uint256,bytes)",
    "executeUserOp(address,uint256,bytes,uint8)",
    "exec(address,uint256,bytes)",
    "execFromEntryPoint(address,uint256,bytes)",
    "execFromEntryPointWithFee(address,uint256,bytes,(address,address,uint256))",
    "execTransactionFromEntrypoint(address,uint256,bytes)",
    "execTransactionFromEntrypoint(address,uint256,bytes,uint8)",
    "execTransactionFromEntrypoint(address,uint256,bytes,uint8,address,address,uint256)",
    "callContract(address,uint256,bytes,bool)",
    "send(address,uint256,bytes)",
];

impl App {
    /// What the event of the operation with a hash says; `None` without one.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn handled_operation(&self, head: &Head, hash: B256) -> Result<Option<HandledOperation>, Problem> {
        let page = EventPage {
            entry_points: entry_points(self, None),
            event: OPERATION,
            keys: vec![EventKey::Hash(hash)],
            transaction_index: None,
            blocks: &head.receipts.span(),
            before: None,
            limit: 1,
        };
        let found: Vec<LogRow> = events(self, head, page).await?;
        Ok(found.first().and_then(|log| handled(self, log)))
    }

    /// All that is known of an operation, and of the addresses in it.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn operation_page(
        &self,
        head: &Head,
        handled: HandledOperation,
    ) -> Result<Option<(OperationPage, Addresses)>, Problem> {
        let (block_number, transaction_index) = (handled.block_number, handled.transaction_index);
        let logs = of_transaction(&head.receipts.at(block_number), transaction_index, None, MAX_LOGS);
        let positions = [(block_number, transaction_index)].into();
        let (logs, bundles) = tokio::try_join!(self.values_of(head, &logs), BundleRead::load(self, head, &positions))?;
        let key = BundleKey { block_number, transaction_index, entry_point: handled.entry_point.address };
        let Some(mut page) = operation_of(handled, &logs, bundles.get(&key)) else { return Ok(None) };
        let addresses = self.name_calls(head, &mut page).await?;
        Ok(Some((page, addresses)))
    }

    /// Decodes the calls of an operation. Returns the facts of its addresses.
    async fn name_calls(&self, head: &Head, page: &mut OperationPage) -> Result<Addresses, Problem> {
        let (event, block) = (&page.handled.event, page.handled.block_number);
        let call = page.submitted.as_ref().map(|sent| sent.call_data.clone()).unwrap_or_default();
        page.executed = executed(&call);
        let mut label_query = LabelQuery::default();
        label_query.call(Some(event.sender), &call);
        if let Some(executed) = &page.executed {
            label_query.call(Some(executed.target), &executed.input);
        }
        let optional = [page.bundler, page.factory, event.paymaster, page.executed.as_ref().map(|call| call.target)];
        let shown = [event.sender, page.handled.entry_point.address].into_iter().chain(optional.into_iter().flatten());
        let (addresses, _, vocabulary) = self.address_info(shown, label_query, head).await?;
        page.decoded_call = vocabulary.decoded_input(&event.sender, block, &call);
        if let Some(executed) = &mut page.executed {
            executed.decoded = vocabulary.decoded_input(&executed.target, block, &executed.input);
        }
        Ok(addresses)
    }
}

/// The operation among the logs of its transaction; `None` if they are not those of a bundle.
fn operation_of(handled: HandledOperation, logs: &[LogRow], read: Option<&BundleRead>) -> Option<OperationPage> {
    let emitted: Vec<EmittedLog> = logs
        .iter()
        .map(|log| EmittedLog { address: log.address, topic: log.topic0, log_index: log.log_index })
        .collect();
    let (point, event) = (handled.entry_point, &handled.event);
    let found = OperationLogs::find(&emitted, &point.address, handled.log_index)?;
    let input = read.and_then(|read| read.inputs.as_ref()?.get(usize::try_from(found.bundle_index).ok()?));
    let sent = input.and_then(|input| submitted(point.version, input, found.index));
    let sent = sent.filter(|sent| sent.sender == event.sender && sent.nonce == event.nonce);
    let of_point = |log: &&LogRow, topic: B256| log.address == point.address && log.topic0 == topic;
    let own = &logs[found.range.clone()];
    let deployed = logs.iter().find(|log| of_point(log, ACCOUNT_DEPLOYED) && log.topic1 == event.hash);
    let reverted = own.iter().find(|log| of_point(log, REVERTED));
    let has_deposited = |account: Address| {
        logs.iter().any(|log| of_point(&log, DEPOSITED) && Address::from_word(log.topic1) == account)
    };
    let call = found.of_call(&emitted, &point.address, event.paymaster.as_ref());
    Some(OperationPage {
        bundle_index: found.bundle_index,
        index: found.index,
        bundler: input.and_then(|input| beneficiary(point.version, input)),
        factory: sent
            .as_ref()
            .and_then(SubmittedOperation::factory)
            .or_else(|| deployed.and_then(|log| account_factory(&log.data))),
        submitted: sent,
        revert_reason: reverted.and_then(|log| revert_reason(&log.data)),
        sponsor: match event.paymaster {
            None if has_deposited(event.sender) => "wallet_deposit",
            None => "wallet_balance",
            Some(paymaster) if has_deposited(paymaster) => "paymaster_hybrid",
            Some(_) => "paymaster_sponsor",
        },
        first_log: logs.get(call.start).map_or(0, |log| log.log_index),
        logs: u32::try_from(call.len()).unwrap_or(u32::MAX),
        decoded_call: None,
        executed: None,
        handled,
    })
}

/// The call that the call of a wallet makes, if it is one of [`EXECUTING`].
fn executed(call: &[u8]) -> Option<ExecutedCall> {
    let selector = call.get(..4)?;
    EXECUTING.iter().find(|signature| keccak256(signature)[..4] == *selector)?;
    let (target, input) = executed_call(&call[4..])?;
    Some(ExecutedCall { target, input, decoded: None })
}
