-- Everything in the current database, and nothing that writes.
GRANT
    SELECT,
    dictGet
ON *
TO trawl_reader
