//! `txsBeaconWithdrawal`: what validators paid out to an account.

use axum::response::Response;

use crate::error::Problem;
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::rows::{ListBody, Parts, respond};
use crate::etherscan::window::Window;
use crate::http::body::StreamError;
use trawl_core::schema::WithdrawalRow;
use trawl_core::store::Batch;
use trawl_json::etherscan::write_withdrawal;
use trawl_query::blocks::withdrawals::to_account;

/// The withdrawals to an account, from either end.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, requester, .. } = request;
    let account = params.require("address", Params::address)?;
    let window = Window::read(&params, &app, &head, &head.withdrawals).await?;
    let statement = to_account(&account, &window.blocks, window.walk());
    // Rows of a fixed length: ten thousand are a megabyte.
    let batches = app.reader().all(&statement).await.map_err(Problem::from)?;
    let rows: usize = batches.iter().map(Batch::len).sum();
    window.check_reach(rows)?;
    let skip = usize::try_from(window.skip).unwrap_or(usize::MAX);
    let parts = (rows > skip).then_some(Withdrawals { batches, skip });
    Ok(respond(&app, requester, &window, parts, NO_TRANSACTIONS))
}

/// Withdrawals that were read.
struct Withdrawals {
    batches: Vec<Batch<WithdrawalRow>>,
    /// Those before the page.
    skip: usize,
}

impl Parts for Withdrawals {
    async fn write(&mut self, list: &mut ListBody) -> Result<bool, StreamError> {
        let batches = std::mem::take(&mut self.batches);
        let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
        for (batch, row) in rows.skip(self.skip) {
            write_withdrawal(list.row(), &batch.view(), row);
            list.send_if_full().await?;
        }
        Ok(false)
    }
}
