-- How many inserts of other ingest runs the server is still working on.
-- trawl-engine puts the query id in front of the comment, hence position() and not startsWith().
SELECT count() AS count
FROM system.processes
WHERE query_kind = 'Insert'
  AND position(Settings['log_comment'], {comment:String}) > 0
  AND position(Settings['log_comment'], {own:String}) = 0
