//! Holders and supply of tokens: the last counted block, and the steps that extend them inside ClickHouse.

use crate::primitives::{BlockNumber, BlockRange};
use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError, Writer};

columns! {
    /// A step and its stage.
    pub struct StepStage / StepStageView {
        /// First block of the step.
        first_block: u64,
        /// Last block of the step, inclusive.
        last_block: u64,
        /// `known` or `done`.
        stage: String,
        /// Token transfers in the step.
        transfers: u64,
    }
}

columns! {
    pub struct StepSize / StepSizeView {
        last_block: u64,
        transfers: u64,
        blocks_left: u64,
    }
}

/// Blocks whose transfers are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenStep {
    /// Heights of the step, both ends inclusive.
    pub blocks: BlockRange,
    /// Token transfers in them.
    pub transfers: u64,
}

/// How far token statistics reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenProgress {
    /// The last counted block, if any.
    pub reach: Option<BlockNumber>,
    /// The step after that, if its changes are computed but not all applied.
    pub begun: Option<TokenStep>,
}

impl TokenProgress {
    /// Derives the progress from the newest steps, the newest first.
    fn new(stages: &[StepStage]) -> Self {
        let done = stages.iter().find(|step| step.stage == "done").map(|step| step.last_block);
        let begun = stages.first().filter(|step| step.stage != "done").and_then(|step| {
            let blocks = BlockRange::new(step.first_block, step.last_block)?;
            Some(TokenStep { blocks, transfers: step.transfers })
        });
        Self { reach: done, begun }
    }
}

impl Reader {
    /// How far token statistics reach.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn token_progress(&self) -> Result<TokenProgress, StoreError> {
        let statement = Statement::<StepStage>::page(include_str!("../../../../../sql/queries/token_progress.sql"));
        Ok(TokenProgress::new(&self.rows(&statement).await?))
    }

    /// The next step from the beginning of `blocks`: blocks with `most` transfers together, or a single one with more.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn token_step(&self, blocks: BlockRange, most: u64) -> Result<TokenStep, StoreError> {
        let statement = Statement::<StepSize>::page(include_str!("../../../../../sql/queries/token_step.sql"))
            .with("first", blocks.first())
            .with("last", blocks.last())
            .with("most", most);
        let size = self.rows(&statement).await?.pop();
        let size = size.unwrap_or(StepSize { last_block: 0, transfers: 0, blocks_left: 0 });
        let last = if size.blocks_left == 0 { blocks.last() } else { size.last_block };
        let blocks = BlockRange::new(blocks.first(), last).unwrap_or(blocks);
        Ok(TokenStep { blocks, transfers: size.transfers })
    }
}

impl Writer {
    /// Removes the changes of the last step.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn clear_token_changes(&self) -> Result<(), StoreError> {
        self.execute("TRUNCATE TABLE token_balance_changes", &[]).await?;
        self.execute("TRUNCATE TABLE token_id_changes", &[]).await
    }

    /// Computes the effect of transfers in `blocks` on balances. A repetition with the same `token` changes nothing.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn work_out_token_changes(&self, blocks: BlockRange, token: &str) -> Result<(), StoreError> {
        let bounds = [("first", blocks.first().into()), ("last", blocks.last().into())];
        // Those of single ids first: where they are not determined, those of their token are not either.
        let ids = include_str!("../../../../../sql/queries/work_out_token_ids.sql");
        self.execute_once(ids, &bounds, &format!("{token}/ids")).await?;
        let balances = include_str!("../../../../../sql/queries/work_out_token_balances.sql");
        self.execute_once(balances, &bounds, &format!("{token}/balances")).await
    }

    /// Applies the computed changes. A repetition, also by another run, changes nothing.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn make_token_changes(&self, token: &str) -> Result<(), StoreError> {
        let balances = include_str!("../../../../../sql/queries/extend_token_balances.sql");
        self.execute_once(balances, &[], &format!("{token}/balances")).await?;
        let ids = include_str!("../../../../../sql/queries/extend_token_id_balances.sql");
        self.execute_once(ids, &[], &format!("{token}/ids")).await?;
        let statistics = include_str!("../../../../../sql/queries/extend_token_statistics.sql");
        self.execute_once(statistics, &[], &format!("{token}/statistics")).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_known_and_not_done_is_begun() {
        let stage = |first_block, last_block, stage: &str| StepStage {
            first_block,
            last_block,
            stage: stage.into(),
            transfers: 3,
        };
        assert_eq!(TokenProgress::new(&[]), TokenProgress::default());
        let done = TokenProgress::new(&[stage(5, 9, "done"), stage(5, 9, "known")]);
        assert_eq!(done, TokenProgress { reach: Some(9), begun: None });
        let begun = TokenProgress::new(&[stage(10, 12, "known"), stage(5, 9, "done")]);
        let step = TokenStep { blocks: BlockRange::new(10, 12).expect("a range"), transfers: 3 };
        assert_eq!(begun, TokenProgress { reach: Some(9), begun: Some(step) });
        assert_eq!(TokenProgress::new(&[stage(0, 4, "known")]).reach, None);
    }
}
