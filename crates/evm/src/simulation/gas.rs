//! Gas of a simulation and of its blocks.

use super::refusal::Refusal;

/// Remaining gas of a simulation, and of the block that is simulated.
#[derive(Debug, Clone, Copy)]
pub(super) struct GasLeft {
    all: u64,
    block: u64,
}

impl GasLeft {
    /// All gas of a simulation.
    pub fn new(all: u64) -> Self {
        Self { all, block: 0 }
    }

    /// Begins a block.
    pub fn begin(&mut self, limit: u64) {
        self.block = limit;
    }

    /// The gas limit of a call.
    ///
    /// # Errors
    ///
    /// If it exceeds what is left of the gas of its block.
    pub fn limit(&self, requested: Option<u64>) -> Result<u64, Refusal> {
        let requested = requested.unwrap_or(self.block);
        if requested > self.block {
            return Err(Refusal::BlockGas { remaining: self.block, required: requested });
        }
        Ok(requested.min(self.all))
    }

    /// Deducts the gas that a call used.
    pub fn take(&mut self, used: u64) {
        self.all = self.all.saturating_sub(used);
        self.block = self.block.saturating_sub(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_share_the_gas_of_their_block_and_of_all() {
        let mut left = GasLeft::new(100);
        left.begin(70);
        assert_eq!((left.limit(None), left.limit(Some(20))), (Ok(70), Ok(20)));
        assert_eq!(left.limit(Some(71)), Err(Refusal::BlockGas { remaining: 70, required: 71 }));
        left.take(60);
        assert_eq!(left.limit(Some(11)).map_err(|refusal| refusal.code()), Err(-38_015));
        left.begin(70);
        assert_eq!((left.limit(None), left.limit(Some(50))), (Ok(40), Ok(40)));
    }
}
