//! `txpool_*`: no transaction waits here, as the tables have only those of blocks.

use crate::error::Problem;
use crate::http::values::{address, invalid};
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::value;

/// No transaction, for `txpool_content` and `txpool_inspect`.
pub(crate) async fn content(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(empty())
}

/// No transaction of an address.
pub(crate) async fn content_from(call: Context<'_>) -> Result<Answer, Problem> {
    let [account] = call.exactly()?;
    address(&value(account)).ok_or_else(|| invalid("Invalid address"))?;
    Ok(empty())
}

/// The numbers of transactions that wait.
pub(crate) async fn status(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| {
        writer.object(|numbers| {
            numbers.key("pending").quantity(0);
            numbers.key("queued").quantity(0);
        });
    }))
}

fn empty() -> Answer {
    Answer::of(|writer| {
        writer.object(|transactions| {
            transactions.key("pending").object(|_| {});
            transactions.key("queued").object(|_| {});
        });
    })
}
