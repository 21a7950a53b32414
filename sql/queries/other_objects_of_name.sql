-- Whether the database has something of a name that is no view of an event.
SELECT count()
FROM system.tables
WHERE database = currentDatabase()
  AND name = {name:String}
  AND NOT (engine = 'View' AND startsWith(comment, 'logs of the event '))
