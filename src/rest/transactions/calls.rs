//! `/api/v2/transactions/{hash}/calls`: the decoded calls of a transaction.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;

use super::failures::reasons_of_calls;
use super::transaction::with_part;
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, TransactionPath};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::addresses::plain_transfers::Delivery;
use trawl_core::primitives::Address;
use trawl_core::schema::{BlockPart, Column, InternalTransactionRow};
use trawl_core::store::Batch;
use trawl_json::JsonWriter;
use trawl_json::transactions::calls::{Names, write_decoded_frame};
use trawl_json::transactions::raw_trace::write_frame;

/// The call frames of a transaction with their methods, parameters and results (docs/reference/http-contract.md#calls).
pub(in crate::rest) async fn calls(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Traces).await?;
    let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
    let statement = trawl_query::transactions::internal::of_transaction(&head.traces.at(block), index);
    let batches = app.rows_of(&head, &statement).await?;
    let (shown, label_query) = parties(&batches);
    let (reasons, info, plain) = tokio::try_join!(
        reasons_of_calls(&app, &head, &batches),
        app.address_info(shown.iter().copied(), label_query, &head),
        app.plain_transfers(&head, Delivery::of(&batch.view(), row).into_iter().collect())
    )?;
    let (addresses, tokens, vocabulary) = info;
    let names =
        Names { addresses: &addresses, tokens: &tokens, vocabulary: &vocabulary, is_plain_transfer: !plain.is_empty() };
    let rows = || batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
    let mut writer = JsonWriter::new();
    writer.object(|answer| {
        answer.key("frames").array(|frames| {
            rows().for_each(|(batch, row)| write_frame(frames.item(), &batch.view(), row, Some(&reasons)));
        });
        answer.key("decoded").array(|frames| {
            rows().for_each(|(batch, row)| write_decoded_frame(frames.item(), &batch.view(), row, &names));
        });
        names.write(answer, &shown);
    });
    Ok(CachePolicy::of_block(&head, block).mark(json(writer.into_bytes())))
}

/// The addresses in the frames, and the query of the labels that decode them.
fn parties(batches: &[Batch<InternalTransactionRow>]) -> (BTreeSet<Address>, LabelQuery) {
    let (mut shown, mut label_query) = (BTreeSet::new(), LabelQuery::default());
    for batch in batches {
        let view = batch.view();
        for row in 0..batch.len() {
            let called = Option::<Address>::get(&view.to_address, row);
            let created = Option::<Address>::get(&view.created_contract, row);
            shown.extend([Some(Address::get(&view.from_address, row)), called, created].into_iter().flatten());
            if String::get(&view.frame_type, row) == "call" {
                label_query.call(called, view.input.value(row));
            }
        }
    }
    (shown, label_query)
}
