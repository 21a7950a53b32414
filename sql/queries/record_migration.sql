-- Remembers an applied step of the schema.
INSERT INTO schema_migrations (version, name, checksum)
SELECT {version:UInt32}, {name:String}, {checksum:String}
