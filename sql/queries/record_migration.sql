-- Records an applied migration.
INSERT INTO schema_migrations (version, name, checksum)
SELECT {version:UInt32}, {name:String}, {checksum:String}
