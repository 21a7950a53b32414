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
mod gnosis_forks;
mod hyperevm;
mod mantle;
mod optimism;
mod optimism_forks;
mod polygon;
mod polygon_forks;
mod scroll;
mod sonic;
mod tempo;
mod unproven;

pub use arbitrum::ARBITRUM;
pub use authority_round::AUTHORITY_ROUND;
pub use avalanche::AVALANCHE;
pub use berachain::BERACHAIN;
pub use celo::CELO;
pub use ethereum::{BNB, ETHEREUM};
pub use hyperevm::HYPEREVM;
pub use mantle::MANTLE;
pub use optimism::OPTIMISM;
pub use polygon::POLYGON;
pub use scroll::SCROLL;
pub use sonic::SONIC;
pub use tempo::TEMPO;
pub use unproven::{COSMOS, FRONTIER, STABLE, ZKSYNC};
