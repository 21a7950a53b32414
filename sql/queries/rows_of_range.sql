-- How many rows a table has of a range of blocks. Reads one column of the whole table, unless that is its order.
SELECT count() AS count
FROM {table:Identifier}
WHERE {column:Identifier} BETWEEN {first:UInt64} AND {last:UInt64}
