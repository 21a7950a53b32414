//! `/api/v2/transactions/{transaction_hash}/summary`: collects the effects of a transaction, which the rules summarise.

use axum::extract::State;
use axum::response::Response;

use super::transaction::with_part;
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{Parameters, TransactionPath, query_parameters};
use crate::http::query::Kind;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::addresses::plain_transfers::Delivery;
use crate::read::completeness::require_transaction;
use trawl_core::primitives::{Address, U256};
use trawl_core::readable::Span;
use trawl_core::schema::{BlockPart, BlockTokenTransferRow, Column, LogRow};
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::stats::chain_facts::type_name;
use trawl_json::transactions::summary::{
    CoinMove, Log, TransactionEffects, Transfer, call_alone, failure, shown, summaries, write_summaries,
};
use trawl_query::transactions::internal::CoinFrame;

/// Most transfers that are examined; of a transaction with more, only its call is described.
const MAX_TRANSFERS: u64 = 100;
/// Most logs that are examined; those of a transaction with more are ignored.
const MAX_LOGS: u64 = 500;
/// Most call frames that are examined; with more, moves of coins are unknown.
const MAX_FRAMES: u64 = 1000;

query_parameters! {
    pub(crate) SummaryParameters: [&[("just_request_body", Kind::Name(&["true", "false"]))]];
}

/// The effects of a transaction in sentences (docs/reference/http-contract.md#summaries).
pub(in crate::rest) async fn summary(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    _: Parameters<SummaryParameters>,
) -> Result<Response, Problem> {
    // `just_request_body` is accepted and ignored: no external service writes the summary, so there is no request body.
    let head = head.get()?;
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Receipts).await?;
    let transaction = batch.view();
    let block = transaction.block_number[row];
    require_transaction(&transaction, row)?;
    let (span, index) = (head.receipts.at(block), transaction.transaction_index[row]);
    let transfers = trawl_query::tokens::transfers::of_transaction(&span, index, MAX_TRANSFERS + 1);
    let logs = trawl_query::logs::of_transaction(&span, index, None, MAX_LOGS + 1);
    let (transfers, logs, coins, plain) = tokio::try_join!(
        app.values_of(&head, &transfers),
        app.values_of(&head, &logs),
        coins(&app, &head, block, index),
        app.plain_transfers(&head, Delivery::of(&transaction, row).into_iter().collect())
    )?;
    let logs = if logs.len() as u64 > MAX_LOGS { Vec::new() } else { logs };
    let has_all = transfers.len() as u64 <= MAX_TRANSFERS;
    let mut effects = TransactionEffects {
        family: app.family(&head),
        type_name: app.family(&head).and_then(|family| type_name(family, &transaction, row)),
        chain_id: app.chain_id(&head),
        from: Address::get(&transaction.from_address, row),
        to: Option::<Address>::get(&transaction.to_address, row),
        created: Option::<Address>::get(&transaction.contract_address, row),
        value: U256::get(&transaction.value, row),
        // No code read the data of a plain transfer.
        input: if plain.is_empty() { transaction.input.value(row).to_vec() } else { Vec::new() },
        method: None,
        transfers: transfers.into_iter().map(transfer).collect(),
        logs: logs.into_iter().map(log).collect(),
        coins,
    };
    let mut label_query = LabelQuery::default();
    label_query.call(effects.to, &effects.input);
    label_query.tokens.extend(shown(&effects));
    let (addresses, tokens, vocabulary) = app.address_info(shown(&effects), label_query, &head).await?;
    effects.method = vocabulary.method(effects.to.as_ref(), block, &effects.input);
    let sentences = match Option::<u8>::get(&transaction.status, row) {
        // A chain's own type without a recipient has no sentence of its intent.
        Some(0) if effects.to.is_none() && effects.type_name.is_some() => Vec::new(),
        Some(0) => vec![failure(&effects)],
        Some(_) if has_all => summaries(&effects, &tokens),
        Some(_) => call_alone(&effects),
        // Before Byzantium no receipt has a status.
        None => Vec::new(),
    };
    let mut writer = JsonWriter::new();
    write_summaries(&mut writer, &sentences, &addresses, &tokens);
    Ok(CachePolicy::of_block(&head, block).mark(json(writer.into_bytes())))
}

/// Moves of coins in the call frames of a transaction; `None` if its frames are not indexed, or too many.
async fn coins(app: &App, head: &Head, block: u64, index: u32) -> Result<Option<Vec<CoinMove>>, Problem> {
    if !head.traces.contains(block) {
        return Ok(None);
    }
    let span: Span = head.traces.at(block);
    let statement = trawl_query::transactions::internal::coin_frames(&span, index, MAX_FRAMES + 1);
    let frames = app.values_of(head, &statement).await?;
    Ok((frames.len() as u64 <= MAX_FRAMES).then(|| moved(&frames)))
}

/// Moves of coins in frames, except the outermost one and those that were undone.
fn moved(frames: &[CoinFrame]) -> Vec<CoinMove> {
    // A delegate call moves no coins, though its frame has the value of its caller.
    let moves = |frame: &&CoinFrame| frame.frame_type != "call" || frame.call_type == "call";
    let inner = frames.iter().filter(|frame| frame.frame_index > 0 && frame.is_undone == 0 && !frame.value.is_zero());
    let coins = inner.filter(moves).filter_map(|frame| {
        let to = frame.to_address.or(frame.created_contract)?;
        Some(CoinMove { from: frame.from_address, to, value: frame.value })
    });
    coins.collect()
}

fn log(row: LogRow) -> Log {
    let topics = [row.topic0, row.topic1, row.topic2, row.topic3];
    let topics = topics.into_iter().take(row.topics_count.into()).collect();
    Log { emitter: row.address, topics, data: row.data.to_vec() }
}

fn transfer(row: BlockTokenTransferRow) -> Transfer {
    Transfer {
        token_type: row.token_type,
        token: row.token_address,
        from: row.from_address,
        to: row.to_address,
        token_id: row.token_id,
        value: row.value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_move_in_frames_that_last() {
        let frame = |frame_index: u32, call_type: &str, is_undone: u8| CoinFrame {
            frame_index,
            frame_type: "call".into(),
            call_type: call_type.into(),
            from_address: Address::repeat_byte(1),
            to_address: Some(Address::repeat_byte(2)),
            created_contract: None,
            value: U256::from(frame_index),
            is_undone,
        };
        let frames = [
            frame(0, "call", 0),
            frame(1, "call", 0),
            frame(2, "call", 1),
            frame(3, "delegatecall", 0),
            frame(4, "call", 0),
        ];
        let values: Vec<U256> = moved(&frames).into_iter().map(|coins| coins.value).collect();
        assert_eq!(values, [U256::from(1), U256::from(4)]);
    }
}
