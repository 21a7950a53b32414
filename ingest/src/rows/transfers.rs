//! Token transfers, recognised by the shape of a log alone, whichever contract emitted it.
//!
//! ERC-20 (<https://eips.ethereum.org/EIPS/eip-20>), ERC-721 (<https://eips.ethereum.org/EIPS/eip-721>) and ERC-1155
//! (<https://eips.ethereum.org/EIPS/eip-1155>). `Transfer` with nothing indexed is none of them: its third argument may
//! be an amount or a token. `Deposit` and `Withdrawal` of wrapped coins are no transfers of a standard either.

use alloy_primitives::{address, b256};
use alloy_sol_types::SolValue;
use trawl_core::primitives::{Address, B256, Timestamp, U256};
use trawl_core::schema::{BlockTokenTransferRow, DirectedTokenTransferRow, TokenTransferRow};

use crate::block::{Header, Log, Transaction};
use crate::write::batch::BlockRows;

/// `Transfer(address,address,uint256)` of ERC-20 and ERC-721.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/// `TransferSingle(address,address,address,uint256,uint256)` of ERC-1155.
const TRANSFER_SINGLE: B256 = b256!("c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62");
/// `TransferBatch(address,address,address,uint256[],uint256[])` of ERC-1155.
const TRANSFER_BATCH: B256 = b256!("4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb");

/// The account in whose name blocks log transfers of the chain's own coin (EIP-7708), which is no token.
const SYSTEM_ADDRESS: Address = address!("fffffffffffffffffffffffffffffffffffffffe");

/// Bytes of an ABI word.
const WORD: usize = 32;

/// A movement of one token by one log.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Transfer {
    token_type: &'static str,
    from: Address,
    to: Address,
    token_id: Option<U256>,
    value: U256,
    batch_index: u32,
}

/// Adds the rows of the transfers of `log` to each of their tables.
pub(super) fn transfer_rows(
    header: &Header,
    timestamp: Timestamp,
    transaction: &Transaction,
    log: &Log,
    rows: &mut BlockRows,
) {
    for transfer in transfers(log) {
        let row = BlockTokenTransferRow {
            block_number: header.number,
            log_index: log.index,
            batch_index: transfer.batch_index,
            transaction_index: transaction.index,
            transaction_hash: transaction.hash,
            block_hash: header.hash,
            block_timestamp: timestamp,
            token_type: transfer.token_type.into(),
            token_address: log.address,
            from_address: transfer.from,
            to_address: transfer.to,
            token_id: transfer.token_id,
            value: transfer.value,
        };
        // The zero address takes part too: its list is that of all mints and burns.
        for (direction, address) in [("from", transfer.from), ("to", transfer.to)] {
            rows.token_transfers_by_direction.push(directed(&row, address, direction));
            if direction == "from" || transfer.from != transfer.to {
                rows.token_transfers.push(seen_by(&row, address));
            }
        }
        rows.token_transfers_by_block.push(row);
    }
}

fn seen_by(row: &BlockTokenTransferRow, address: Address) -> TokenTransferRow {
    TokenTransferRow {
        address,
        block_number: row.block_number,
        log_index: row.log_index,
        batch_index: row.batch_index,
        transaction_index: row.transaction_index,
        transaction_hash: row.transaction_hash,
        block_hash: row.block_hash,
        block_timestamp: row.block_timestamp,
        token_type: row.token_type.clone(),
        token_address: row.token_address,
        from_address: row.from_address,
        to_address: row.to_address,
        token_id: row.token_id,
        value: row.value,
    }
}

fn directed(row: &BlockTokenTransferRow, address: Address, direction: &str) -> DirectedTokenTransferRow {
    DirectedTokenTransferRow {
        address,
        direction: direction.into(),
        block_number: row.block_number,
        log_index: row.log_index,
        batch_index: row.batch_index,
        transaction_index: row.transaction_index,
        transaction_hash: row.transaction_hash,
        block_hash: row.block_hash,
        block_timestamp: row.block_timestamp,
        token_type: row.token_type.clone(),
        token_address: row.token_address,
        from_address: row.from_address,
        to_address: row.to_address,
        token_id: row.token_id,
        value: row.value,
    }
}

/// The transfers of a log; none if it only looks like one.
fn transfers(log: &Log) -> Vec<Transfer> {
    if log.address == SYSTEM_ADDRESS {
        return Vec::new();
    }
    let one = |transfer: Option<Transfer>| transfer.into_iter().collect();
    match *log.topics.as_slice() {
        [TRANSFER, from, to] => one(erc20(from, to, &log.data)),
        [TRANSFER, from, to, id] => one(erc721(from, to, id, &log.data)),
        [TRANSFER_SINGLE, operator, from, to] => one(erc1155_single([operator, from, to], &log.data)),
        [TRANSFER_BATCH, operator, from, to] => erc1155_batch([operator, from, to], &log.data).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn erc20(from: B256, to: B256, data: &[u8]) -> Option<Transfer> {
    let value = U256::from_be_bytes::<WORD>(data.try_into().ok()?);
    let (from, to) = (address(from)?, address(to)?);
    Some(Transfer { token_type: "ERC-20", from, to, token_id: None, value, batch_index: 0 })
}

fn erc721(from: B256, to: B256, id: B256, data: &[u8]) -> Option<Transfer> {
    let (from, to) = (address(from)?, address(to)?);
    let transfer =
        Transfer { token_type: "ERC-721", from, to, token_id: Some(id.into()), value: U256::ONE, batch_index: 0 };
    data.is_empty().then_some(transfer)
}

fn erc1155_single(topics: [B256; 3], data: &[u8]) -> Option<Transfer> {
    let (from, to) = parties(topics)?;
    let (id, value) = data.split_at_checked(WORD)?;
    let id = U256::from_be_bytes::<WORD>(id.try_into().ok()?);
    let value = U256::from_be_bytes::<WORD>(value.try_into().ok()?);
    Some(Transfer { token_type: "ERC-1155", from, to, token_id: Some(id), value, batch_index: 0 })
}

/// One transfer for each id; the amounts of an id that is repeated are added up, as lists show it.
fn erc1155_batch(topics: [B256; 3], data: &[u8]) -> Option<Vec<Transfer>> {
    let (from, to) = parties(topics)?;
    let items = data.len().checked_sub(4 * WORD)?;
    let (ids, values) = <(Vec<U256>, Vec<U256>)>::abi_decode_params(data).ok()?;
    // Two offsets, two lengths and the items are all there is, in this order: nothing overlaps and nothing is left
    // over.
    let offsets = [2 * WORD, (3 + ids.len()) * WORD].map(|offset| U256::from(offset).to_be_bytes::<WORD>());
    let fits = ids.len() == values.len() && (ids.len() + values.len()) * WORD == items;
    if !fits || !data.starts_with(offsets.as_flattened()) {
        return None;
    }
    let mut transfers: Vec<Transfer> = Vec::with_capacity(ids.len());
    let mut positions = std::collections::HashMap::with_capacity(ids.len());
    for ((id, value), position) in ids.into_iter().zip(values).zip(0..) {
        let earliest = *positions.entry(id).or_insert(transfers.len());
        // A sum above 256 bits is no amount: such items stay apart.
        if let Some(sum) = transfers.get(earliest).and_then(|earlier| earlier.value.checked_add(value)) {
            transfers[earliest].value = sum;
            continue;
        }
        let token_id = Some(id);
        transfers.push(Transfer { token_type: "ERC-1155", from, to, token_id, value, batch_index: position });
    }
    Some(transfers)
}

/// Giver and receiver of an ERC-1155 transfer; its operator must be an address too.
fn parties([operator, from, to]: [B256; 3]) -> Option<(Address, Address)> {
    address(operator)?;
    Some((address(from)?, address(to)?))
}

/// The address in a topic, if it is one: the upper bytes are zero.
fn address(topic: B256) -> Option<Address> {
    let (padding, address) = topic.split_at(WORD - Address::len_bytes());
    padding.iter().all(|byte| *byte == 0).then(|| Address::from_slice(address))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Bytes, U256, uint};
    use proptest::prelude::*;

    use super::*;

    fn topic(byte: u8) -> B256 {
        Address::repeat_byte(byte).into_word()
    }

    fn log(topics: &[B256], data: impl Into<Bytes>) -> Log {
        Log { address: Address::repeat_byte(9), topics: topics.to_vec(), data: data.into(), index: 3 }
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| U256::from(*word).to_be_bytes::<32>()).collect()
    }

    #[test]
    fn each_standard_has_its_shape() {
        let [alice, bob] = [topic(1), topic(2)];
        let plain = |token_type, token_id, value| Transfer {
            token_type,
            from: Address::repeat_byte(1),
            to: Address::repeat_byte(2),
            token_id,
            value,
            batch_index: 0,
        };
        let seven = uint!(7_U256);
        assert_eq!(transfers(&log(&[TRANSFER, alice, bob], words(&[7]))), [plain("ERC-20", None, seven)]);
        assert_eq!(
            transfers(&log(&[TRANSFER, alice, bob, seven.into()], vec![])),
            [plain("ERC-721", Some(seven), U256::ONE)]
        );
        assert_eq!(
            transfers(&log(&[TRANSFER_SINGLE, bob, alice, bob], words(&[7, 0]))),
            [plain("ERC-1155", Some(seven), U256::ZERO)]
        );
        let batch = words(&[0x40, 0xc0, 3, 7, 8, 7, 3, 1, 2, 3]);
        assert_eq!(
            transfers(&log(&[TRANSFER_BATCH, bob, alice, bob], batch)),
            [
                plain("ERC-1155", Some(seven), uint!(4_U256)),
                Transfer { batch_index: 1, ..plain("ERC-1155", Some(uint!(8_U256)), uint!(2_U256)) }
            ]
        );
        assert_eq!(transfers(&log(&[TRANSFER_BATCH, bob, alice, bob], words(&[0x40, 0x60, 0, 0]))), []);
    }

    #[test]
    fn the_coin_of_the_chain_is_no_token() {
        let of = |address| Log { address, ..log(&[TRANSFER, topic(1), topic(2)], words(&[7])) };
        assert_eq!(transfers(&of(SYSTEM_ADDRESS)), []);
        assert_eq!(transfers(&of(Address::repeat_byte(0xff))).len(), 1);
    }

    #[test]
    fn amounts_that_overflow_together_stay_apart() {
        let mut data = words(&[0x40, 0xa0, 2, 7, 7, 2]);
        data.extend([[0xff; 32], [0xff; 32]].concat());
        let found = transfers(&log(&[TRANSFER_BATCH, topic(1), topic(1), topic(2)], data));
        assert_eq!(found.iter().map(|transfer| transfer.value).collect::<Vec<_>>(), [U256::MAX, U256::MAX]);
    }

    #[test]
    fn look_alikes_are_no_transfers() {
        let [alice, bob] = [topic(1), topic(2)];
        let dirty = B256::repeat_byte(1);
        let huge = u64::MAX;
        let single = [TRANSFER_SINGLE, alice, alice, bob];
        let batch = [TRANSFER_BATCH, alice, alice, bob];
        for (case, log) in [
            ("no topics", log(&[], words(&[1]))),
            ("nothing indexed", log(&[TRANSFER], words(&[1, 2, 3]))),
            ("one side indexed", log(&[TRANSFER, alice], words(&[2, 3]))),
            ("no amount", log(&[TRANSFER, alice, bob], vec![])),
            ("half an amount", log(&[TRANSFER, alice, bob], vec![0; 31])),
            ("two amounts", log(&[TRANSFER, alice, bob], words(&[1, 2]))),
            ("no address", log(&[TRANSFER, dirty, bob], words(&[1]))),
            ("an id and data", log(&[TRANSFER, alice, bob, bob], words(&[1]))),
            ("an id and no address", log(&[TRANSFER, alice, dirty, bob], vec![])),
            ("a single without data", log(&single, vec![])),
            ("a single without amount", log(&single, words(&[1]))),
            ("a single with more", log(&single, words(&[1, 2, 3]))),
            ("an operator that is none", log(&[TRANSFER_SINGLE, dirty, alice, bob], words(&[1, 2]))),
            ("a batch without data", log(&batch, vec![])),
            ("fewer amounts", log(&batch, words(&[0x40, 0xa0, 2, 1, 2, 1, 1]))),
            ("something left over", log(&batch, words(&[0x40, 0x80, 1, 1, 1, 1, 0]))),
            ("one list for both", log(&batch, words(&[0x40, 0x40, 2, 1, 2, 0]))),
            ("a length beyond the data", log(&batch, words(&[0x40, 0x80, huge, 1, huge, 1]))),
            ("an offset beyond the data", log(&batch, words(&[huge, 0x80, 1, 1, 1, 1]))),
            ("lists that overlap, and as much left over", log(&batch, words(&[0x40, 0x60, 1, 1, 7, 0]))),
            ("an offset into the offsets", log(&batch, words(&[0, 0x20, 1, 1, 1, 1]))),
        ] {
            assert_eq!(transfers(&log), [], "{case}");
        }
    }

    proptest! {
        /// Whatever a batch claims, there are no more transfers than its data has room for.
        #[test]
        fn a_batch_is_never_larger_than_its_data(data in proptest::collection::vec(any::<u8>(), 0..600),
                                                 small in proptest::collection::vec(0_u64..20, 0..20)) {
            for data in [data, words(&small.iter().map(|word| word * 32).collect::<Vec<_>>()), words(&small)] {
                let room = data.len() / 64;
                prop_assert!(transfers(&log(&[TRANSFER_BATCH, topic(1), topic(2), topic(3)], data)).len() <= room);
            }
        }

        /// What was encoded is found again, amounts by id included.
        #[test]
        fn a_batch_is_read_as_it_was_written(items in proptest::collection::vec((0_u64..5, any::<u64>()), 0..20)) {
            let (ids, values): (Vec<U256>, Vec<U256>) =
                items.iter().map(|(id, value)| (U256::from(*id), U256::from(*value))).unzip();
            let data = (ids, values).abi_encode_params();
            let mut expected = std::collections::BTreeMap::<U256, U256>::new();
            for (id, value) in items {
                *expected.entry(U256::from(id)).or_default() += U256::from(value);
            }
            let found: Vec<Transfer> = transfers(&log(&[TRANSFER_BATCH, topic(1), topic(2), topic(3)], data));
            prop_assert_eq!(found.len(), expected.len());
            let found: std::collections::BTreeMap<U256, U256> =
                found.iter().map(|transfer| (transfer.token_id.expect("an id"), transfer.value)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
