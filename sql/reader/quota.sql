-- What one reader may do in an hour, each user by itself.
CREATE QUOTA IF NOT EXISTS trawl_reader
KEYED BY user_name
FOR INTERVAL 1 hour
MAX queries = 10000, read_rows = 1000000000000, execution_time = 14400
TO trawl_reader
