//! Which transactions with data ran no code: their recipient had none at that moment
//! (docs/reference/http-contract.md#plain-transfers).
//!
//! The outermost call frame tells, where its source knows the gas that code used. Else creations, destructions and
//! delegations tell what was at the address then. Where neither does, nothing is known, and the transaction counts as a
//! call.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::code_timeline::{Code, CodeTimeline};
use crate::app::App;
use crate::enrich::contracts::ContractInfo;
use crate::error::Problem;
use trawl_core::primitives::{Address, BlockNumber, BlockRange};
use trawl_core::readable::Readable;
use trawl_core::schema::{Column, TransactionView};
use trawl_core::store::Head;
use trawl_query::addresses::{CodeChange, MAX_ROWS};
use trawl_query::transactions::positions::{Ending, TransactionPositions};

/// Height and position of a transaction.
type TransactionKey = (BlockNumber, u32);

/// A transaction that brought data to an address, and of which nothing else shows that code ran: it did not fail, and
/// there are no logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Where it is.
    pub position: TransactionKey,
    /// Who received it.
    pub recipient: Address,
}

impl Delivery {
    /// The delivery that a transaction is, if it is one.
    pub fn of(view: &TransactionView<'_>, row: usize) -> Option<Self> {
        let recipient = Option::<Address>::get(&view.to_address, row)?;
        let shows_code =
            view.has_receipt[row] == 1 && (view.logs_count[row] > 0 || Option::<u8>::get(&view.status, row) == Some(0));
        let has_data = !view.input.value(row).is_empty();
        let position = (view.block_number[row], view.transaction_index[row]);
        (has_data && !shows_code).then_some(Self { position, recipient })
    }
}

impl App {
    /// The positions of those `deliveries` that certainly ran no code.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn plain_transfers(
        &self,
        head: &Head,
        deliveries: Vec<Delivery>,
    ) -> Result<HashSet<TransactionKey>, Problem> {
        if deliveries.is_empty() {
            return Ok(HashSet::new());
        }
        let recipients: BTreeSet<Address> = deliveries.iter().map(|delivery| delivery.recipient).collect();
        let recipients: Vec<Address> = recipients.into_iter().collect();
        let none = BTreeSet::new();
        let known = async { Ok(self.contracts().facts(self.reader(), &recipients, &none, head).await?.code) };
        let (frames, known) = tokio::try_join!(self.outermost_frames(head, &deliveries), known)?;
        let quiet: Vec<Delivery> = deliveries.into_iter().filter(|one| !frames.shows_code(&one.position)).collect();
        let changes = self.code_changes(head, &quiet, &known).await?;
        let most = usize::try_from(MAX_ROWS).unwrap_or(usize::MAX);
        let ran_none = |delivery: &&Delivery| {
            let info = known.get(&delivery.recipient).map_or_else(Arc::default, Arc::clone);
            let changes = changes.get(&delivery.recipient).map(Vec::as_slice).unwrap_or_default();
            let first = info.creations.first().map_or(u64::MAX, |creation| creation.block_number);
            let has_all_changes = changes.len() < most && has_state(head, first, delivery.position.0);
            let timeline = CodeTimeline { info: &info, changes, is_whole: head.knows_all_code(), has_all_changes };
            let (block, index) = delivery.position;
            match timeline.before(&delivery.recipient, block, index) {
                Code::Present => false,
                Code::Absent => true,
                Code::Unknown => frames.shows_none(&delivery.position),
            }
        };
        Ok(quiet.iter().filter(ran_none).map(|delivery| delivery.position).collect())
    }

    /// What the outermost frames of `deliveries` show, as far as they are readable.
    async fn outermost_frames(&self, head: &Head, deliveries: &[Delivery]) -> Result<OutermostFrames, Problem> {
        let traced = deliveries.iter().filter(|delivery| head.traces.contains(delivery.position.0));
        let positions: TransactionPositions = traced.map(|delivery| delivery.position).collect();
        if positions.is_empty() {
            return Ok(OutermostFrames(HashMap::new()));
        }
        let found =
            self.reader().rows(&trawl_query::transactions::positions::endings(&positions, &head.traces.span())).await?;
        let shown = |frame: Ending| Some(((frame.block_number, frame.transaction_index), ran_code(&frame)?));
        Ok(OutermostFrames(found.into_iter().filter_map(shown).collect()))
    }

    /// The blocks that changed the code of recipients that were created as contracts.
    async fn code_changes(
        &self,
        head: &Head,
        deliveries: &[Delivery],
        known: &HashMap<Address, Arc<ContractInfo>>,
    ) -> Result<HashMap<Address, Vec<CodeChange>>, Problem> {
        let is_created = |address: &Address| known.get(address).is_some_and(|info| !info.creations.is_empty());
        let created: BTreeSet<Address> = deliveries.iter().map(|one| one.recipient).filter(is_created).collect();
        let mut changes: HashMap<Address, Vec<CodeChange>> = HashMap::new();
        if !created.is_empty() {
            let created: Vec<Address> = created.into_iter().collect();
            let statement = trawl_query::addresses::code_changes(&created, &head.blocks.span());
            for change in self.values_of(head, &statement).await? {
                changes.entry(change.address).or_default().push(change);
            }
        }
        Ok(changes)
    }
}

/// Whether what transactions changed of the state is loaded for all blocks from `first` to `last`.
fn has_state(head: &Head, first: BlockNumber, last: BlockNumber) -> bool {
    let Some(range) = BlockRange::new(first, last) else { return false };
    let left = |gaps: Vec<BlockRange>, part: &Readable| gaps.into_iter().flat_map(|gap| part.missing(gap)).collect();
    let gaps = left(head.state.missing(range), &head.state_but_system);
    left(gaps, &head.state_transactions).is_empty()
}

/// Whether code ran in the outermost frames of transactions, where they tell.
struct OutermostFrames(HashMap<TransactionKey, bool>);

impl OutermostFrames {
    fn shows_code(&self, position: &TransactionKey) -> bool {
        self.0.get(position) == Some(&true)
    }

    fn shows_none(&self, position: &TransactionKey) -> bool {
        self.0.get(position) == Some(&false)
    }
}

/// Whether code ran in a frame; none where the frame does not tell.
fn ran_code(frame: &Ending) -> Option<bool> {
    if frame.subtraces > 0 || !frame.output.is_empty() || !frame.error.is_empty() {
        return Some(true);
    }
    frame.execution_gas_used.map(|gas| gas > 0)
}
