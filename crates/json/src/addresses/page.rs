//! The page of an address: the address object and what stands beside it
//! (docs/reference/http-contract.md#address-pages).

use super::address::Addresses;
use crate::JsonWriter;
use crate::tokens::prices::Decimal;
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, B256, BlockNumber, U256};

/// What is known of an address beside the address object; `None` is what is not known.
#[derive(Debug, Clone, Default)]
pub struct AddressPage {
    /// Whether it has or had code, or delegates to some.
    pub is_contract: Option<bool>,
    /// Its balance in wei, and the block after which it has that.
    pub balance: Option<(U256, BlockNumber)>,
    /// Who created it; none for an account, and for a contract of the genesis.
    pub creator: Option<Address>,
    /// The transaction that created it; none for an account, and for a contract of the genesis.
    pub creation_transaction: Option<B256>,
    /// `success` while the contract exists, `selfdestructed` after.
    pub creation_status: Option<&'static str>,
    /// Whether it emitted a log.
    pub has_logs: Option<bool>,
    /// Whether it holds tokens.
    pub has_tokens: Option<bool>,
    /// Whether a token transfer names it.
    pub has_token_transfers: Option<bool>,
    /// Whether a withdrawal went to it.
    pub has_withdrawals: Option<bool>,
    /// Whether it made a block.
    pub has_validated_blocks: Option<bool>,
    /// The price of the chain's coin.
    pub coin_price: Option<Decimal>,
}

impl AddressPage {
    /// Writes the page of `address`.
    pub fn write(&self, writer: &mut JsonWriter, address: &Address, addresses: &Addresses, tokens: &Tokens) {
        let token = tokens.metadata.get(address);
        writer.object(|page| {
            addresses.write_members(page, address, self.is_contract);
            page.key("watchlist_address_id").null();
            page.key("coin_balance").option(self.balance.map(|known| known.0), JsonWriter::decimal_256);
            page.key("block_number_balance_updated_at").option(self.balance.map(|known| known.1), JsonWriter::number);
            page.key("exchange_rate").option(self.coin_price.as_ref().map(Decimal::text), JsonWriter::string);
            page.key("creator_address_hash")
                .option(self.creator, |writer, creator| writer.string(&creator.to_checksum(None)));
            // Clients use two names (docs/reference/http-contract.md#family).
            for key in ["creation_transaction_hash", "creation_tx_hash"] {
                page.key(key).option(self.creation_transaction, |writer, hash| writer.hex(hash.as_slice()));
            }
            page.key("creation_status").option(self.creation_status, JsonWriter::string);
            page.key("token").option(token, |writer, token| tokens.write(writer, address, &token.token_type));
            page.key("has_logs").option(self.has_logs, JsonWriter::bool);
            page.key("has_tokens").option(self.has_tokens, JsonWriter::bool);
            page.key("has_token_transfers").option(self.has_token_transfers, JsonWriter::bool);
            page.key("has_validated_blocks").option(self.has_validated_blocks, JsonWriter::bool);
            page.key("has_beacon_chain_withdrawals").option(self.has_withdrawals, JsonWriter::bool);
        });
    }
}
