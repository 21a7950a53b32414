-- Records a report of `trawl-ingest follow`; the time is ClickHouse's.
INSERT INTO follow_reports (run, event, interval_ms, node_block, node_silence_ms, head_block, head_age_ms, problems)
SELECT
    {run:String},
    {event:String},
    {interval_ms:UInt64},
    if(empty({node_block:Array(UInt64)}), NULL, {node_block:Array(UInt64)}[1]),
    {node_silence_ms:UInt64},
    if(empty({head_block:Array(UInt64)}), NULL, {head_block:Array(UInt64)}[1]),
    {head_age_ms:UInt64},
    arrayZip({kinds:Array(String)}, {details:Array(String)}, {ages:Array(UInt64)})
