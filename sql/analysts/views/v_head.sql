-- v_head: how far the views reach, as one row.
CREATE OR REPLACE VIEW v_head
(
    block_number UInt64 COMMENT 'the highest block that the views show',
    settled_block UInt64 COMMENT 'the highest block that no reorganisation can change any more',
    api_block UInt64 COMMENT 'the newest block that the API shows'
)
AS
SELECT
    greatest(committed.last_block, newest.last_block) AS block_number,
    committed.last_block AS settled_block,
    greatest(committed.last_block, newest.head_block) AS api_block
FROM v_committed AS committed
CROSS JOIN v_newest AS newest
COMMENT 'one row: the newest blocks that the views show'
