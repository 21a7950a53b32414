-- Memory that statements, caches and background tasks of the server have allocated.
SELECT toUInt64(greatest(value, 0)) AS allocated_bytes FROM system.metrics WHERE metric = 'MemoryTracking'
