-- How many inserts of other ingest runs into this database are still in progress, but for those of the spared ones.
-- trawl-engine puts lines of its own into the comment, hence position() and not startsWith().
SELECT count() AS count
FROM system.processes
WHERE query_kind = 'Insert'
  AND current_database = currentDatabase()
  AND position(Settings['log_comment'], {comment:String}) > 0
  AND NOT multiSearchAny(Settings['log_comment'], {spared:Array(String)})
