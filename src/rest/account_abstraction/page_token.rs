//! The cursor of lists of user operations: a height and the position of a log, as one text.

use crate::error::Problem;
use crate::http::query::{Kind, ParameterGroup, Query};
use trawl_core::primitives::LogPosition;
use trawl_json::Object;

/// The cursor, under the names that the API family has here.
pub(crate) const PAGE: ParameterGroup = &[("page_size", Kind::Count), ("page_token", Kind::Text)];

/// Items of a page without the parameter `page_size`.
const DEFAULT_SIZE: u64 = 50;

/// The most items of the page.
pub(super) fn size(query: &Query) -> u64 {
    query.height("page_size").unwrap_or(DEFAULT_SIZE)
}

/// The position below which the page begins.
///
/// # Errors
///
/// When the text is no such position.
pub(super) fn before(query: &Query) -> Result<Option<LogPosition>, Problem> {
    let position = |text: &str| {
        let (block, log) = text.split_once(',')?;
        Some(LogPosition { block_number: block.parse().ok()?, log_index: log.parse::<u32>().ok()?.into() })
    };
    let wrong = || Problem::invalid_parameter("page_token", "Invalid format. Expected a height, a comma, a log index");
    query.text("page_token").map(|text| position(text).ok_or_else(wrong)).transpose()
}

/// The members of `next_page_params`.
pub(super) fn write(next: &mut Object<'_>, last: LogPosition, size: u64) {
    next.key("page_token").string(&format!("{},{}", last.block_number, last.log_index));
    next.key("page_size").number(size);
}
