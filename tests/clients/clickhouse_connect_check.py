"""Python's clickhouse-connect against trawl-engine. Usage: clickhouse_connect_check.py ENGINE_URL READER PASSWORD"""
import io
import sys
from urllib.parse import urlparse

import clickhouse_connect
import pyarrow as pa
import pyarrow.parquet
from clickhouse_connect.driver.exceptions import DatabaseError

url, reader, password = sys.argv[1:4]
address = urlparse(url)
passed, failures = 0, []


def check(name, actual, expected):
    global passed
    if actual == expected:
        passed += 1
    else:
        failures.append(f"{name}: {actual!r} instead of {expected!r}")


def code_of(action):
    try:
        action()
        return "no error"
    except DatabaseError as error:
        return next((word for word in str(error).replace("(", " ").replace(")", " ").split() if word.isupper() and "_" in word or word == "READONLY"), str(error))


def connect(**more):
    return clickhouse_connect.get_client(host=address.hostname, port=address.port, **more)


for compress in (True, False, "lz4", "zstd", "gzip"):
    client = connect(compress=compress)
    name = f"compress={compress}"
    client.command("CREATE OR REPLACE TABLE from_python (id UInt32, word FixedString(4), amount UInt256, at DateTime64(6, 'UTC'), maybe Nullable(String), list Array(UInt8)) ORDER BY id")
    rows = [[i, f"w{i % 999:03}".encode(), 2**255 + i, None, None if i % 3 else str(i), [1, i % 256]] for i in range(20_000)]
    for row in rows:
        row[3] = __import__("datetime").datetime.fromtimestamp(1_708_159_776 + row[0], __import__("datetime").timezone.utc)
    summary = client.insert("from_python", rows, column_names=["id", "word", "amount", "at", "maybe", "list"])
    check(f"{name}: an insert is summarised", summary.written_rows, 20_000)
    result = client.query("SELECT id, word, amount, maybe, list FROM from_python ORDER BY id")
    check(f"{name}: native rows", result.result_rows[19_999], (19_999, b"w" + b"%03d" % (19_999 % 999), 2**255 + 19_999, None, [1, 19_999 % 256]))
    check(f"{name}: how many", len(result.result_rows), 20_000)
    check(f"{name}: arrow", client.query_arrow("SELECT number FROM numbers(300000)").num_rows, 300_000)
    with client.query_row_block_stream("SELECT number FROM numbers(1000000)") as stream:
        check(f"{name}: streamed", sum(len(block) for block in stream), 1_000_000)
    client.close()

client = connect()
check("parameters", client.query("SELECT {a:UInt8} + {b:Int32}, {s:String}", parameters={"a": 3, "b": -5, "s": "x'y\\z\n"}).result_rows, [(-2, "x'y\\z\n")])
check("settings", client.query("SELECT getSetting('max_block_size')", settings={"max_block_size": 77}).result_rows, [(77,)])
check("settings within a session", client.query("SELECT getSetting('max_threads')", settings={"max_threads": 1}).result_rows, [(1,)])
client.command("SET max_block_size = 99")
check("SET lasts in the session", client.query("SELECT getSetting('max_block_size')").result_rows, [(99,)])
check("one request's setting does not outlive it", [client.query("SELECT getSetting('max_block_size')", settings={"max_block_size": 5}).result_rows,
                                                    client.query("SELECT getSetting('max_block_size')").result_rows], [[(5,)], [(99,)]])
client.command("CREATE TEMPORARY TABLE mine (a UInt8)")
client.insert("mine", [[7]], column_names=["a"])
check("temporary tables", client.query("SELECT a FROM mine").result_rows, [(7,)])

table = pa.table({"id": pa.array([1, 2, 3], pa.uint32()), "name": pa.array(["a", None, "c"])})
client.command("CREATE OR REPLACE TABLE from_arrow (id UInt32, name Nullable(String)) ORDER BY id")
client.insert_arrow("from_arrow", table)
check("arrow insert", client.query("SELECT * FROM from_arrow ORDER BY id").result_rows, [(1, "a"), (2, None), (3, "c")])
parquet = client.raw_query("SELECT number, toString(number) AS s FROM numbers(300000)", fmt="Parquet")
check("parquet is one file", pa.parquet.read_table(io.BytesIO(parquet)).num_rows, 300_000)
stream = client.raw_query("SELECT number FROM numbers(300000)", fmt="ArrowStream")
check("arrow is one stream", pa.ipc.open_stream(stream).read_all().num_rows, 300_000)
typed = client.raw_query("SELECT number FROM numbers(300000)", fmt="RowBinaryWithNamesAndTypes")
check("names and types once", typed.count(b"\x06UInt64"), 1)
check("csv insert", client.raw_insert("from_arrow", ["id", "name"], insert_block=b"4,d\n5,e\n", fmt="CSV").written_rows, 2)
check("dataframes are not needed for this", client.query("SELECT count() FROM from_arrow").first_row, (5,))

check("an unknown table", code_of(lambda: client.query("SELECT * FROM nowhere")), "UNKNOWN_TABLE")
check("a syntax error", code_of(lambda: client.query("SELEC 1")), "SYNTAX_ERROR")
check("an error in mid-stream", code_of(lambda: client.query("SELECT throwIf(number = 3000000), repeat(toString(number), 8) FROM numbers(10000000)", settings={"max_block_size": 10000})) != "no error", True)

analyst = connect(username=reader, password=password)
check("a reader reads", analyst.query("SELECT count() FROM from_python", settings={"max_threads": 1}).first_row, (20_000,))
for sql in ("DROP TABLE from_python", "CREATE TABLE x (a UInt8) ORDER BY a", "ALTER TABLE from_python DELETE WHERE 1", "SYSTEM FLUSH LOGS", "KILL QUERY WHERE 1"):
    check(f"a reader may not: {sql}", code_of(lambda: analyst.command(sql)), "READONLY")
for sql in ("SELECT * FROM file('/etc/passwd', LineAsString)", "SELECT file('/etc/passwd')", "SELECT * FROM (SELECT 1 SETTINGS readonly = 0)", "SELECT * FROM url('http://127.0.0.1:1', CSV)"):
    check(f"a reader may not: {sql}", code_of(lambda: analyst.query(sql)) in ("ACCESS_DENIED", "READONLY"), True)
try:
    connect(username=reader, password="wrong")
    check("a wrong password", "no error", "an error")
except DatabaseError as error:
    check("a wrong password", "AUTHENTICATION_FAILED" in str(error), True)

for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} checks passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
