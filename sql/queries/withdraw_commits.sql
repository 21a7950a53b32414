-- Takes back the commits that begin in given ranges; readers see their blocks no more. Commits that others replaced go
-- too: they say nothing that those do not.
DELETE FROM ingest_commits
WHERE arrayExists(range -> first_block BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
   OR (first_block, last_block, run) IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(replaced) AS one FROM ingest_commits))
