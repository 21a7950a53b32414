//! What was proven of blocks (docs/reference/http-contract.md#verdicts).

use crate::JsonWriter;
use trawl_core::schema::{NotCheckable, VerdictRow};

/// Blocks by their newest verdict, and how many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictTotals {
    /// Loaded blocks, with a verdict or without.
    pub blocks: u64,
    /// Every check that applies ran and passed.
    pub verified: u64,
    /// What ran held, and some checks could not run.
    pub partial: u64,
    /// Checks were turned off.
    pub unverified: u64,
    /// A check failed when the block was proven again.
    pub refused: u64,
}

impl VerdictTotals {
    /// Adds blocks of a verdict; one of another name is left out, so that it counts among those that are not known.
    pub fn add(&mut self, verdict: &str, blocks: u64) {
        match verdict {
            "verified" => self.verified += blocks,
            "partial" => self.partial += blocks,
            "unverified" => self.unverified += blocks,
            "refused" => self.refused += blocks,
            _ => {}
        }
    }

    /// The totals as JSON text.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let known = self.verified + self.partial + self.unverified + self.refused;
        let mut writer = JsonWriter::new();
        writer.object(|totals| {
            totals.key("blocks").number(self.blocks);
            totals.key("verified").number(self.verified);
            totals.key("partial").number(self.partial);
            totals.key("unverified").number(self.unverified);
            totals.key("refused").number(self.refused);
            totals.key("unknown").number(self.blocks.saturating_sub(known));
        });
        writer.into_bytes()
    }
}

/// The verdict of a block as JSON text.
#[must_use]
pub fn write_verdict(row: &VerdictRow) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|verdict| {
        verdict.key("block_number").number(row.block_number);
        verdict.key("block_hash").hex(row.block_hash.as_slice());
        verdict.key("verdict").string(&row.verdict);
        verdict.key("checked").array(|checks| row.checked.iter().for_each(|check| checks.item().string(check)));
        verdict.key("not_checkable").array(|checks| {
            for NotCheckable { check, reason } in &row.not_checkable {
                checks.item().object(|item| {
                    item.key("check").string(check);
                    item.key("reason").string(reason);
                });
            }
        });
        verdict.key("source").string(&row.source);
        verdict.key("decided_at").timestamp(row.decided_at);
    });
    writer.into_bytes()
}
