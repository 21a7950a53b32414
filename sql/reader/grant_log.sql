-- What ran; `own_statements` leaves each user its own.
GRANT
    SELECT
ON system.query_log
TO trawl_reader
