-- Records an event of a lease; the time is ClickHouse's.
INSERT INTO ingest_leases (lease, event, host, place, process)
SELECT {lease:String}, {event:String}, {host:String}, {process_namespace:String}, {process:String}
