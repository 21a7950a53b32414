-- The parts of all tables but the hot ones, with their bytes on disk.
SELECT table AS name, bytes_on_disk AS bytes
FROM system.parts
WHERE active
  AND rows > 0
  AND database = currentDatabase()
  AND NOT startsWith(table, 'hot_')
