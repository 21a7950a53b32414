//! Which logs a request asks for.

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

/// The positions of topics that have to be met together: `and` joins two of them, and of the groups one is enough. Each pair of
/// topics needs an operator.
fn groups(params: &Params, topics: &[Option<B256>; 4]) -> Result<Vec<Vec<usize>>, Refusal> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for position in (0..4).filter(|position| topics[*position].is_some()) {
        let mut joined = None;
        for (place, group) in groups.iter().enumerate() {
            let operators: Vec<bool> =
                group.iter().map(|other| is_and(params, *other, position)).collect::<Result<_, _>>()?;
            let is_joined = operators.iter().all(|is_and| *is_and);
            if is_joined && joined.is_none() {
                joined = Some(place);
            } else if is_joined || operators.contains(&true) {
                let text =
                    "The operators contradict each other: topics that 'and' joins have the same one with every other";
                return Err(Refusal::Sentence(text.into()));
            }
        }
        match joined {
            Some(place) => groups[place].push(position),
            None => groups.push(vec![position]),
        }
    }
    Ok(if groups.is_empty() { vec![Vec::new()] } else { groups })
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
