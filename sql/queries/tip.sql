-- Number of transactions of some blocks, and a percentile of their tips per gas above the base fee of their block. The
-- base fees are those of consecutive blocks, ascending from the lowest.
SELECT
    count() AS transactions,
    arraySort(groupArray(paid))[1 + intDiv((greatest(count(), 1) - 1) * {percentile:UInt64}, 100)] AS tip
FROM
(
    SELECT
        toUInt256({base_fees:Array(String)}[block_number - {lowest:UInt64} + 1]) AS base_fee,
        if(effective_gas_price > base_fee, effective_gas_price - base_fee, toUInt256(0))::UInt256 AS paid
    FROM
    (
        SELECT block_number, effective_gas_price
        FROM transactions
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
          AND has_receipt = 1
        UNION ALL
        SELECT block_number, effective_gas_price
        FROM hot_transactions
        WHERE arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
          AND has_receipt = 1
    )
)
