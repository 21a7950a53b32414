"""Views as text and numbers, read whole by programs. Usage: text_views_check.py ENGINE_URL READER PASSWORD DATABASE DUMP"""
import gzip
import json
import sys
from urllib.parse import urlparse

import clickhouse_connect
import clickhouse_connect.dbapi
import polars

engine, reader, password, database, dump = sys.argv[1:6]
address = urlparse(engine)
account = dict(host=address.hostname, port=address.port, username=reader, password=password, database=database)
client = clickhouse_connect.get_client(**account)
connection = clickhouse_connect.dbapi.connect(**account)
passed, failures = 0, []


def check(name, is_good, message=""):
    global passed
    if is_good:
        passed += 1
    else:
        failures.append(f"{name}: {message}")


def open_dump(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


names = sorted(row[0] for row in client.query("SHOW TABLES").result_rows)
check("views", 25 <= len(names) <= 40, names)
for name in names:
    statement = f"SELECT * FROM {name} LIMIT 5"
    try:
        rows = client.query(statement).result_rows
        by_polars = polars.read_database(statement, connection)
        check(f"{name}, polars", by_polars.height == len(rows) and polars.Binary not in by_polars.dtypes, by_polars.schema)
        by_arrow = polars.from_arrow(client.query_arrow(statement, use_strings=True))
        check(f"{name}, Arrow", by_arrow.height == len(rows) and polars.Binary not in by_arrow.dtypes, by_arrow.schema)
        by_pandas = client.query_df(statement)
        is_bytes = by_pandas.map(lambda value: isinstance(value, bytes)).to_numpy().any()
        check(f"{name}, pandas", len(by_pandas) == len(rows) and not is_bytes, by_pandas.dtypes)
        json.dumps([[str(value) if not isinstance(value, (list, int, float, str)) else value for value in row] for row in rows])
    except Exception as error:
        failures.append(f"{name}: {type(error).__name__}: {error}")

# The views equal what the node reported.
blocks = {int(line["block"]["number"], 16): line["block"] for line in map(json.loads, open_dump(dump)) if "block" in line}
height = max(blocks)
transactions = polars.read_database(f"SELECT * FROM transactions WHERE block_number = {height} ORDER BY transaction_index", connection)
node_transactions = blocks[height]["transactions"]
check("hashes", transactions["hash"].to_list() == [transaction["hash"] for transaction in node_transactions])
check("senders", transactions["from_address"].to_list() == [transaction["from"].lower() for transaction in node_transactions])
check("receivers", transactions["to_address"].to_list() == [transaction["to"] and transaction["to"].lower() for transaction in node_transactions])
check("inputs", transactions["input"].to_list() == [transaction["input"] for transaction in node_transactions])
check("amounts", [int(value) for value in transactions["value_exact"]] == [int(transaction["value"], 16) for transaction in node_transactions])
check("rounded", transactions["value"].to_list() == [float(int(transaction["value"], 16)) for transaction in node_transactions])

for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} checks passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
