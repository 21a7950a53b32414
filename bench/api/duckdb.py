# Answers questions, one JSON text a line, by DuckDB over Parquet files: duckdb.py FOLDER ADDRESS.
import json
import sys
import time

# The folder of this file comes first on the path, and this file has the library's name.
sys.path.pop(0)
import duckdb

folder, address = sys.argv[1:]
database = duckdb.connect()
WIDE = f"""
    SELECT block_number, transaction_index, log_index, transaction_hash, address, topic0, topic1, topic2, topic3, data
    FROM read_parquet('{folder}/*.parquet') WHERE address = $address ORDER BY block_number, log_index
"""


def wide():
    started, first, rows, size = time.perf_counter(), None, 0, 0
    answer = database.sql(WIDE, params={"address": bytes.fromhex(address)})
    for batch in answer.to_arrow_reader(65536):
        first = first or time.perf_counter() - started
        rows += batch.num_rows
        size += batch.nbytes
    return {"rows": rows, "bytes": size, "first": first, "total": time.perf_counter() - started}


def answer(question):
    return wide() if question == "wide" else {"version": duckdb.__version__}


for line in sys.stdin:
    try:
        print(json.dumps(answer(json.loads(line))), flush=True)
    except Exception as error:
        print(json.dumps({"error": str(error)}), flush=True)
