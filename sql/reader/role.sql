-- The role of people who read: `CREATE USER ana IDENTIFIED BY '…' DEFAULT ROLE trawl_reader`. It is of the whole server: migrating
-- another database adds that database to it.
CREATE ROLE IF NOT EXISTS trawl_reader
