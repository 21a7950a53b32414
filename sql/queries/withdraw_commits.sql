-- Takes back the commits that begin in given ranges; readers see their blocks no more.
DELETE FROM ingest_commits
WHERE arrayExists(range -> first_block BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
