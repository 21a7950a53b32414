//! Views by address: a row for each participant of each fact.

use anyhow::ensure;

use crate::chains::chain;
use crate::env;

/// Views by participant, and the same from views with one row for each fact.
const BY_ADDRESS: [(&str, &str); 3] = [
    (
        "SELECT address_hex, block_number, transaction_index, is_sender, is_recipient, nonce, value, gas_used, fee FROM v_transactions_by_address ORDER BY ALL",
        "SELECT DISTINCT hex0x(participant) AS address_hex, block_number, transaction_index, participant = from_address AS is_sender, \
         participant = coalesce(to_address, contract_address) AS is_recipient, nonce, value, gas_used, fee \
         FROM v_transactions ARRAY JOIN [from_address, coalesce(to_address, contract_address)] AS participant ORDER BY ALL",
    ),
    (
        "SELECT address_hex, block_number, log_index, batch_index, from_hex, to_hex, token_hex, value FROM v_token_transfers_by_address ORDER BY ALL",
        "SELECT DISTINCT hex0x(participant) AS address_hex, block_number, log_index, batch_index, from_hex, to_hex, token_hex, value \
         FROM v_token_transfers ARRAY JOIN [from_address, to_address] AS participant ORDER BY ALL",
    ),
    (
        "SELECT address_hex, block_number, transaction_index, frame_index, from_hex, to_hex, value, error FROM v_internal_transactions_by_address ORDER BY ALL",
        "SELECT DISTINCT hex0x(participant) AS address_hex, block_number, transaction_index, frame_index, from_hex, to_hex, value, error \
         FROM v_internal_transactions ARRAY JOIN arrayFilter(side -> side IS NOT NULL, [from_address, to_address, created_contract]) AS participant \
         WHERE frame_type != 'reward' AND NOT (frame_index = 0 AND frame_type = 'call') ORDER BY ALL",
    ),
];

/// Requires that what each took part in is what the views with one row for each fact say; how many rows each view has.
pub(super) fn compare(database: &str) -> anyhow::Result<[usize; 3]> {
    let mut counts = [0; 3];
    for ((by_address, once), count) in BY_ADDRESS.into_iter().zip(&mut counts) {
        let [found, expected] = [env::sql(database, by_address)?, env::sql(database, once)?];
        ensure!(found == expected, "{database}: {by_address}: {found}, not {expected}");
        *count = found.lines().count();
    }
    Ok(counts)
}

#[test]
fn views_by_address_have_a_row_for_each_participant() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let counts = compare(chain(name).name)?;
        ensure!(name == "hive" || counts.iter().all(|count| *count > 0), "{name}: {counts:?}");
    }
    Ok(())
}
