//! The families, a file each. A new one is a new file here and a line in [`crate::registry`].

mod arbitrum;
mod arbitrum_forks;
mod authority_round;
mod avalanche;
mod avalanche_forks;
mod berachain;
mod bnb_forks;
mod celo;
mod ethereum;
mod geth_forks;
mod gnosis_forks;
mod hyperevm;
mod mantle;
mod optimism;
mod optimism_forks;
mod polygon;
mod polygon_forks;
mod scroll;
mod tempo;
mod unproven;

pub use arbitrum::ARBITRUM;
pub use authority_round::AUTHORITY_ROUND;
pub use avalanche::AVALANCHE;
pub use berachain::BERACHAIN;
pub use celo::CELO;
pub use ethereum::{BNB, ETHEREUM};
pub use geth_forks::{RONIN, SONIC};
pub use hyperevm::HYPEREVM;
pub use mantle::MANTLE;
pub use optimism::OPTIMISM;
pub use polygon::POLYGON;
pub use scroll::SCROLL;
pub use tempo::TEMPO;
pub use unproven::{COSMOS, FRONTIER, STABLE, ZKSYNC};
