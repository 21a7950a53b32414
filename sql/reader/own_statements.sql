-- A reader sees its own statements in the log.
CREATE ROW POLICY IF NOT EXISTS trawl_own_statements
ON system.query_log
FOR SELECT
USING user = currentUser()
TO trawl_reader
