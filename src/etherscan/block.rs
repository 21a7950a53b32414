//! `module=block`.

use axum::response::Response;

use super::answer::{Refused, result};
use crate::error::Problem;
use trawl_core::store::Head;

/// The height of the newest block.
pub(super) fn newest(head: &Head) -> Result<Response, Refused> {
    let number = head.number().ok_or(Problem::BlockNotFound)?;
    Ok(result(|writer| writer.quantity(number)))
}
