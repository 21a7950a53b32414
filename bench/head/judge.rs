//! Compares an answer with every head that it may be of.

use std::time::{Duration, Instant};

use crate::answer::{self, Content, Refusal};
use crate::ask::HeadRequest;
use crate::chain::world::World;
use crate::chain::{BlockIndex, Model};

/// The verdict on an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// What the chain looked like at a head that was current so long before the request, or during it (zero).
    Of(Duration),
    /// Rows of several branches, each of which existed once.
    Mixed(String),
    /// A state that the chain never had.
    Wrong(String),
    /// The server refused because it was busy.
    Refused,
    /// An error: its status or code, and its text.
    Failed(String),
    /// It broke off.
    BrokenOff,
}

/// Heads that were left longer ago are not looked at.
const FORGOTTEN: Duration = Duration::from_secs(120);

/// Judges the body of an answer with status 200.
pub fn judge(
    ask: HeadRequest,
    body: &[u8],
    (model, world): (&Model, &World),
    (start, end): (Instant, Instant),
) -> Verdict {
    let content = match answer::read(ask, body, model) {
        Ok(content) => content,
        Err(Refusal::Code(-32005, _)) => return Verdict::Refused,
        Err(Refusal::Code(code, message)) => return Verdict::Failed(format!("{code} {message}")),
        Err(Refusal::Foreign(error)) => return Verdict::Wrong(format!("{ask:?}: {error:#}")),
    };
    hold(ask, &content, (model, world), (start, end))
}

/// Compares the content of an answer with every head that it may be of.
pub fn hold(
    ask: HeadRequest,
    content: &Content,
    (model, world): (&Model, &World),
    (start, end): (Instant, Instant),
) -> Verdict {
    for block_index in (0..model.len()).rev() {
        let block = model.at(block_index);
        if block.shown > end {
            continue;
        }
        let age = block.left.map_or(Duration::ZERO, |left| start.saturating_duration_since(left));
        if age > FORGOTTEN {
            break;
        }
        if answer::expected(ask, model, world, block_index).as_ref() == Some(content) {
            return Verdict::Of(age);
        }
    }
    unmatched(ask, content, model, world)
}

fn unmatched(ask: HeadRequest, content: &Content, model: &Model, world: &World) -> Verdict {
    let Content::Rows(rows) = content else { return Verdict::Wrong(format!("{ask:?}: {content:?}")) };
    let block_indices: Vec<BlockIndex> = rows.iter().filter_map(|(block_index, ..)| *block_index).collect();
    let numbers: Vec<u64> = block_indices.iter().map(|block_index| model.at(*block_index).number).collect();
    let said = format!("{ask:?}: {} rows, blocks {:?} to {:?}", rows.len(), numbers.iter().min(), numbers.iter().max());
    if !model.is_one_branch(&block_indices) {
        return Verdict::Mixed(said);
    }
    // The branch of its highest block, and where it differs from what was there.
    let highest =
        block_indices.iter().copied().max_by_key(|block_index| model.at(*block_index).number).unwrap_or(model.tip());
    let expected = answer::expected(ask, model, world, highest);
    let differs = match &expected {
        Some(Content::Rows(expected)) => {
            let first = expected.iter().zip(rows).position(|(expected, found)| expected != found);
            format!("{} expected, the first that differs: {first:?}", expected.len())
        }
        _ => "not answerable there".into(),
    };
    Verdict::Wrong(format!("{said}, {differs}"))
}
