//! The log filter of a request.

use std::collections::HashSet;

use crate::etherscan::answer::{Dialect, Refusal};
use crate::etherscan::params::Params;
use trawl_core::primitives::{Address, B256, LogFilter};

/// Emitter and topics, one of them at least: alternatives, of which a log has to meet one.
///
/// # Errors
///
/// [`Refusal::Sentence`] without any, and where the operators of topics are missing or contradict each other.
pub(super) fn filters(params: &Params) -> Result<Vec<LogFilter>, Refusal> {
    let addresses: Vec<Address> = params.address("address").into_iter().collect();
    let topics = ["topic0", "topic1", "topic2", "topic3"].map(|name| params.hash(name));
    if addresses.is_empty() && topics.iter().all(Option::is_none) {
        return Err(Refusal::Sentence("Query parameter 'address' or one of 'topic0' to 'topic3' is required".into()));
    }
    let of_group = |group: Vec<usize>| {
        let positions = group.last().map_or(0, |last| last + 1);
        let topic = |position: usize| topics[position].filter(|_| group.contains(&position)).into_iter().collect();
        LogFilter { addresses: addresses.clone(), topics: (0..positions).map(topic).collect() }
    };
    Ok(groups(params, &topics)?.into_iter().map(of_group).collect())
}

/// The positions of topics that have to be met together; of the groups one is enough. Each pair of topics needs an
/// operator.
fn groups(params: &Params, topics: &[Option<B256>; 4]) -> Result<Vec<Vec<usize>>, Refusal> {
    let positions: Vec<usize> = (0..4).filter(|position| topics[*position].is_some()).collect();
    let mut and_pairs = HashSet::new();
    for (index, one) in positions.iter().enumerate() {
        for other in &positions[index + 1..] {
            if is_and(params, *one, *other)? {
                and_pairs.extend([(*one, *other), (*other, *one)]);
            }
        }
    }
    alternatives(&positions, &and_pairs).ok_or_else(|| Refusal::Sentence("The operators contradict each other".into()))
}

/// Pairs of topics that `and` joins, both ways round.
type AndPairs = HashSet<(usize, usize)>;

/// Which of `positions` have to be met together, in each way in which that can be. Topics fall into parts between which
/// all operators are `or`, or all are `and`, and so does each part; `None` where they do not.
fn alternatives(positions: &[usize], and_pairs: &AndPairs) -> Option<Vec<Vec<usize>>> {
    if positions.len() < 2 {
        return Some(vec![positions.to_vec()]);
    }
    let either = parts(positions, |one, other| and_pairs.contains(&(one, other)));
    if either.len() > 1 {
        let each = either.iter().map(|part| alternatives(part, and_pairs)).collect::<Option<Vec<_>>>()?;
        return Some(each.concat());
    }
    let both = parts(positions, |one, other| !and_pairs.contains(&(one, other)));
    if both.len() == 1 {
        return None;
    }
    let mut groups = vec![Vec::new()];
    for part in &both {
        let ways = alternatives(part, and_pairs)?;
        groups = groups.iter().flat_map(|group| ways.iter().map(|way| [&group[..], way].concat())).collect();
    }
    groups.iter_mut().for_each(|group: &mut Vec<usize>| group.sort_unstable());
    Some(groups)
}

/// The parts of `positions` that pairs hold together.
fn parts(positions: &[usize], is_held: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for position in positions {
        let is_near = |part: &Vec<usize>| part.iter().any(|other| is_held(*other, *position));
        let (near, far): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_near);
        let mut whole = near.concat();
        whole.push(*position);
        parts = far;
        parts.push(whole);
    }
    parts
}

/// Whether both of two topics have to be met, and not only one. Etherscan takes `and` for an operator that is missing.
fn is_and(params: &Params, one: usize, other: usize) -> Result<bool, Refusal> {
    let name = format!("topic{one}_{other}_opr");
    match params.word(&name).as_deref() {
        Some(word) => Ok(word == "and"),
        None if params.dialect() == Dialect::Etherscan => Ok(true),
        None => Err(Refusal::Sentence(format!("Query parameter '{name}' is required"))),
    }
}
