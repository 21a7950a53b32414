-- The columns of the views of the current database, view by view and in their order.
SELECT
    columns.table AS view,
    views.comment AS view_comment,
    columns.name AS name,
    columns.type AS type,
    columns.comment AS comment
FROM system.columns AS columns
INNER JOIN system.tables AS views ON views.database = columns.database AND views.name = columns.table
WHERE columns.database = currentDatabase()
  AND views.database = currentDatabase()
  AND views.engine = 'View'
  AND startsWith(columns.table, 'v_')
ORDER BY columns.table, columns.position
