-- Of some blocks, the number of internal transactions (without outermost calls) and the rewards.
SELECT
    block_number,
    countIf(frame_type != 'reward' AND (frame_index > 0 OR frame_type != 'call')) AS internal_transactions,
    groupArrayIf((call_type, assumeNotNull(to_address), value), frame_type = 'reward' AND isNotNull(to_address))::Array(Tuple(kind String, receiver FixedString(20), amount UInt256)) AS rewards
FROM
(
    SELECT block_number, frame_type, frame_index, call_type, to_address, value
    FROM internal_transactions
    WHERE block_number IN (SELECT arrayJoin({settled:Array(UInt64)}))
    UNION ALL
    SELECT block_number, frame_type, frame_index, call_type, to_address, value
    FROM hot_internal_transactions
    WHERE arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
)
GROUP BY block_number
