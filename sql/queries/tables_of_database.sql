-- The tables, views and dictionaries of a database; none if it is not there.
SELECT name
FROM system.tables
WHERE database = {database:String}
