//! Token transfers by participant, token and standard.

use super::{Part, Participants, ScanSpec, Sides, address_set, address_value, ranges_of, rows_after};
use crate::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, TransferPosition};
use trawl_core::readable::Span;
use trawl_core::schema::{BlockTokenTransferRow, BlockTokenTransferView};
use trawl_core::statement::Statement;

/// Token transfers by sender, recipient, token and standard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenTransferScan {
    /// Senders and recipients.
    pub participants: Participants,
    /// Only of these tokens; of any if empty. Sorted, without repeats.
    pub tokens: Vec<Address>,
    /// Only of these standards, as the tables write them; of all if empty.
    pub types: Vec<&'static str>,
}

const SIDES: Sides = Sides { from: &["from_address"], to: &["to_address"] };
const KEY: &[&str] = &["block_number", "log_index", "batch_index"];

impl ScanSpec for TokenTransferScan {
    type Row = BlockTokenTransferRow;
    type Position = TransferPosition;
    const PART: Part = Part::Receipts;

    fn table(&self) -> &'static str {
        match self.participants.key() {
            Some((Some(_), _)) => "token_transfers_by_direction",
            // With one token, a participant's transfers of it are one range.
            Some((None, _)) if self.tokens.len() == 1 => "token_transfers_by_token",
            Some((None, _)) => "token_transfers",
            None => "token_transfers_by_block",
        }
    }

    fn statement(&self, blocks: &Span, after: Option<TransferPosition>, limit: u64) -> Statement<Self::Row> {
        let key = self.participants.key();
        let mut select = match key {
            Some((side, addresses)) => ranges_of(Select::default(), addresses, side, &SIDES),
            None => Select::default(),
        };
        select = match self.tokens.as_slice() {
            [] => select,
            // An equality, so that the remaining order is that of the key.
            [token] => {
                let text = format!("token_address = {}", address_value("token"));
                select.condition(text, Predicate::among("token_address", &[token])).with("token", token)
            }
            tokens => {
                let text = format!("token_address IN ({})", address_set("tokens"));
                select.condition(text, Predicate::among("token_address", tokens)).with("tokens", tokens)
            }
        };
        let select = rows_after(select, KEY, blocks, after);
        let mut select = self.participants.conditions(select, &SIDES, key.map(|(side, _)| side));
        if !self.types.is_empty() {
            let types: Vec<String> = self.types.iter().map(|name| (*name).to_owned()).collect();
            let test = Predicate::among("token_type", &self.types);
            select = select.condition("token_type IN {types:Array(String)}", test).with("types", types);
        }
        select.page(self.table(), &KEY.join(", "), limit)
    }

    fn position(transfers: &BlockTokenTransferView<'_>, row: usize) -> TransferPosition {
        TransferPosition {
            block_number: transfers.block_number[row],
            log_index: transfers.log_index[row].into(),
            batch_index: transfers.batch_index[row].into(),
        }
    }

    fn passes_over(&self) -> bool {
        let is_narrowed = !(self.participants.is_empty() && self.tokens.is_empty() && self.types.is_empty());
        is_narrowed && self.participants.key().is_none()
    }

    fn lists(&self) -> Vec<&[Address]> {
        let mut lists = self.participants.lists();
        lists.push(&self.tokens);
        lists
    }
}
