-- Of some blocks, the number of internal transactions (without outermost calls) and the rewards. The name after FROM
-- stands for a SELECT of their frames: of settled blocks, and of those that are read from the hot table.
SELECT
    block_number,
    countIf(frame_type != 'reward' AND (frame_index > 0 OR frame_type != 'call')) AS internal_transactions,
    groupArrayIf((call_type, assumeNotNull(to_address), value), frame_type = 'reward' AND isNotNull(to_address))::Array(Tuple(kind String, receiver FixedString(20), amount UInt256)) AS rewards
FROM frames_of_blocks
GROUP BY block_number
