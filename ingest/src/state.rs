//! What a block itself changes of the accounts: [`rules`] adds to a state difference what follows from the header,
//! where the chain's rules are known, and nothing is called complete that is not. Pure.

pub mod genesis;
pub mod rules;
mod schedule;
