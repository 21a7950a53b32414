//! EXPLAIN on the engine: labels, ABIs and dictionaries are found along their keys, however many there are.

use alloy_primitives::Selector;
use anyhow::{Context as _, ensure};
use trawl_core::primitives::{Address, B256};

use crate::env;
use crate::plans::explain_in;

#[test]
fn lookups_read_their_keys() -> anyhow::Result<()> {
    let database = &env::migrate("labels_keys")?;
    let fill = [
        "INSERT INTO label_loads (generation) VALUES (1)",
        "INSERT INTO address_labels (address, label_type, generation, value) \
         SELECT substring(sipHash128(number) || sipHash128(number, 1), 1, 20), 'name', 1, 'x' FROM numbers(200000)",
        "INSERT INTO contract_abis (address, selector, generation, entry_type, entry) \
         SELECT substring(sipHash128(number % 5000) || sipHash128(number % 5000, 1), 1, 20), \
                substring(sipHash128(number, 2), 1, 4), 1, 'event', 'x' FROM numbers(200000)",
        "INSERT INTO event_signatures (hash, signature, generation) \
         SELECT sipHash128(number) || sipHash128(number, 1), 'x', 1 FROM numbers(200000)",
        "INSERT INTO function_signatures (selector, signature, generation) \
         SELECT substring(sipHash128(number), 1, 4), 'x', 1 FROM numbers(200000)",
    ];
    for statement in fill {
        env::sql(database, statement)?;
    }
    let addresses: Vec<Address> = (1..60).map(Address::repeat_byte).collect();
    let selectors: Vec<Selector> = (1..20).map(Selector::repeat_byte).collect();
    let hashes: Vec<B256> = (1..60).map(B256::repeat_byte).collect();
    let reads = [
        ("address_labels", "address", explain_in(database, &trawl_query::labels::of_addresses(&addresses))?),
        ("contract_abis", "address", explain_in(database, &trawl_query::labels::abi_entries(&addresses, &selectors))?),
        ("event_signatures", "hash", explain_in(database, &trawl_query::labels::events(&hashes))?),
        ("function_signatures", "selector", explain_in(database, &trawl_query::labels::functions(&selectors))?),
    ];
    for (table, key, reads) in reads {
        let read = reads.iter().find(|read| read.table == table).with_context(|| format!("{table}: {reads:?}"))?;
        ensure!(read.keys.first().is_some_and(|first| first == key), "{read:?}");
        // About 780 granules of 256 rows; a key that was looked up lies in one, at a boundary in two.
        ensure!(read.by_key.1 > 700 && read.by_key.0 <= 2 * 60, "{read:?}");
    }
    Ok(())
}
