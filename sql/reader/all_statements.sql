-- Everybody else sees what it saw: on a server without `users_without_row_policies_can_read_rows`, a policy for some hides all from
-- the others.
CREATE ROW POLICY IF NOT EXISTS trawl_all_statements
ON system.query_log
FOR SELECT
USING 1
TO ALL EXCEPT trawl_reader
