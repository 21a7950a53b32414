-- What a database has: name and kind of each table and view.
SELECT
    name,
    engine
FROM system.tables
WHERE database = {database:String}
