-- The views and dictionaries of a database with the statements that made them, in one form whatever they were written like.
SELECT name, formatQuerySingleLine(create_table_query) AS statement
FROM system.tables
WHERE database = {database:String} AND engine IN ('View', 'Dictionary')
