// The official @clickhouse/client against trawl-engine. Usage: clickhouse.mjs ENGINE_URL READER PASSWORD
import { createClient as create, ClickHouseLogLevel } from '@clickhouse/client'
import { check, finish } from './check.mjs'

// Refused statements are what is checked here, not worth a log line each.
const createClient = (options) => create({ ...options, log: { level: ClickHouseLogLevel.OFF } })
const [url, reader, password] = process.argv.slice(2)
const client = createClient({ url, database: 'default' })
const json = async (query, more = {}) => (await client.query({ query, format: 'JSONEachRow', ...more })).json()
const failure = async (promise) => promise.then(() => 'no error', (error) => error)

check('ping', (await client.ping()).success, true)
await client.command({ query: 'CREATE OR REPLACE TABLE from_node (id UInt32, name String, big UInt256, at DateTime64(6), tags Array(String)) ORDER BY id' })
const rows = Array.from({ length: 5000 }, (_, id) => ({ id, name: `n${id}`, big: `${2n ** 255n + BigInt(id)}`, at: '2024-02-17 08:49:36.000000', tags: ['a', `${id}`] }))
const inserted = await client.insert({ table: 'from_node', values: rows, format: 'JSONEachRow' })
check('an insert is summarised', inserted.summary?.written_rows, '5000')
check('its query id comes back', typeof inserted.query_id === 'string' && inserted.query_id.length > 0, true)
check('rows come back', await json('SELECT * FROM from_node WHERE id IN (0, 4999) ORDER BY id', { clickhouse_settings: { output_format_json_quote_64bit_integers: 1 } }), [rows[0], rows[4999]])
check('parameters', await json('SELECT name FROM from_node WHERE id = {id:UInt32}', { query_params: { id: 7 } }), [{ name: 'n7' }])
check('array parameters', await json('SELECT count() AS n FROM from_node WHERE id IN {ids:Array(UInt32)}', { query_params: { ids: [1, 2, 3] } }), [{ n: 3 }])
check('strings that look like SQL', await json('SELECT {s:String} AS s', { query_params: { s: "'; DROP TABLE from_node --\n\t\\" } }), [{ s: "'; DROP TABLE from_node --\n\t\\" }])
check('settings', await json("SELECT getSetting('max_block_size') AS n", { clickhouse_settings: { max_block_size: '77' } }), [{ n: 77 }])

const whole = await (await client.query({ query: 'SELECT number FROM numbers(300000)', format: 'JSON' })).json()
check('one JSON document over many blocks', [whole.rows, whole.data.length], [300000, 300000])
let streamed = 0
const stream = (await client.query({ query: 'SELECT number FROM numbers(1000000)', format: 'JSONEachRow' })).stream()
for await (const some of stream) streamed += some.length
check('a streamed answer', streamed, 1000000)
const csv = await (await client.query({ query: 'SELECT number AS n FROM numbers(200000)', format: 'CSVWithNames' })).text()
check('names once', csv.split('\n').filter((line) => line === '"n"').length, 1)

const compressed = createClient({ url, compression: { request: true, response: true } })
await compressed.insert({ table: 'from_node', values: [{ id: 5000, name: 'gzip', big: '1', at: '2024-02-17 08:49:36', tags: [] }], format: 'JSONEachRow' })
check('compressed both ways', await (await compressed.query({ query: 'SELECT name FROM from_node WHERE id = 5000', format: 'JSONEachRow' })).json(), [{ name: 'gzip' }])
await compressed.close()

const unknown = await failure(json('SELECT * FROM nowhere'))
check('an error has its code and type', [unknown.code, unknown.type], ['60', 'UNKNOWN_TABLE'])
const middle = await failure((async () => {
  const rows = await client.query({ query: 'SELECT throwIf(number = 3000000), repeat(toString(number), 8) FROM numbers(10000000)', format: 'JSONEachRow', clickhouse_settings: { max_block_size: '10000' } })
  for await (const some of rows.stream()) some.length
})())
check('an error in mid-stream is an error', middle === 'no error' ? middle : 'error', 'error')

const aborting = new AbortController()
const slow = failure(json('SELECT sum(sleepEachRow(0.1)) FROM numbers(10000) SETTINGS max_block_size = 1', { abort_signal: aborting.signal, query_id: 'from-node-slow' }))
await new Promise((resolve) => setTimeout(resolve, 500))
aborting.abort()
await slow
let left = '?'
for (let i = 0; i < 50 && left !== '0'; i++) {
  left = (await json("SELECT toString(count()) AS n FROM system.processes WHERE query LIKE '%sleepEachRow(0.1)%' AND query NOT LIKE '%system.processes%'"))[0].n
  await new Promise((resolve) => setTimeout(resolve, 100))
}
check('an aborted query does not go on', left, '0')

const session = createClient({ url, session_id: 'node-session' })
await session.command({ query: 'CREATE TEMPORARY TABLE mine (a UInt8)' })
await session.insert({ table: 'mine', values: [{ a: 1 }], format: 'JSONEachRow' })
check('a session keeps its temporary table', await (await session.query({ query: 'SELECT a FROM mine', format: 'JSONEachRow' })).json(), [{ a: 1 }])
await session.close()

const analyst = createClient({ url, username: reader, password })
check('a reader reads', await (await analyst.query({ query: 'SELECT count() AS n FROM from_node', format: 'JSONEachRow', clickhouse_settings: { max_threads: 1 } })).json(), [{ n: 5001 }])
for (const query of ['DROP TABLE from_node', 'INSERT INTO from_node (id) VALUES (1)', 'CREATE TABLE x (a UInt8) ORDER BY a']) {
  const error = await failure(analyst.command({ query }))
  check(`a reader may not: ${query}`, error.type, 'READONLY')
}
await analyst.close()
const stranger = createClient({ url, username: reader, password: 'wrong' })
check('a wrong password', (await failure(stranger.query({ query: 'SELECT 1' }))).type, 'AUTHENTICATION_FAILED')
await stranger.close()
await client.close()
finish()
