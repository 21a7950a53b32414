-- v_schema: the version of the views, as one row. docs/reference/views.md says what may change with it.
CREATE OR REPLACE VIEW v_schema
(
    version UInt32 COMMENT 'increases when a column of a view is removed or changes its meaning'
)
AS
SELECT toUInt32(1) AS version
COMMENT 'one row: the version of the views'
