"""cryo and ethereum-etl export a chain from Trawl's /rpc and from the node; every row of every file is compared.
Usage: compare.py cryo|ethereum-etl TRAWL_RPC NODE_RPC CHAIN.ndjson.gz FOLDER"""
import csv
import gzip
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

exporter, trawl, node, dump, folder = sys.argv[1:6]
chain = [json.loads(line) for line in gzip.open(dump)]
last = len(chain) - 1
recorded = {
    "blocks": [line["block"]["hash"] for line in chain],
    "transactions": [transaction["hash"] for line in chain for transaction in line["block"]["transactions"]],
    "receipts": [receipt["transactionHash"] for line in chain for receipt in line["receipts"]],
    "logs": [log["transactionHash"] for line in chain for receipt in line["receipts"] for log in receipt["logs"]],
    "traces": [trace["transactionHash"] for line in chain for frames in line.get("parityTraces", []) for trace in frames],
}
csv.field_size_limit(1 << 30)
failures = []
passed = 0


def run(program, arguments):
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if outcome.returncode:
        raise RuntimeError(f"{arguments} ended with {outcome.returncode}: {outcome.stdout[-1000:]}\n{outcome.stderr[-4000:]}")


# cryo's threads outlive its work. One run of about a hundred crashed in them while the interpreter was taken down, with all
# files written, so it is not taken down.
CRYO = """
import asyncio, cryo, os, sys
rpc, out, blocks, *kinds = sys.argv[1:]
for kind in kinds:
    asyncio.run(cryo.async_freeze(kind, rpc=rpc, output_dir=out, blocks=[blocks], file_format="csv", hex=True, verbose=False, no_report=True))
os._exit(0)
"""


def cryo(rpc, out):
    """The files by kind. Each chunk has more logs than the specification's endpoint returns."""
    kinds = ["blocks", "transactions", "logs", "erc20_transfers", "erc721_transfers", "traces"]
    run(CRYO, [rpc, out, f"0:{last + 1}", *kinds])
    return {path.name.split("__")[1]: path for path in Path(out).glob("*.csv")}


ETL = "import sys; sys.argv[0] = 'ethereumetl'; from ethereumetl.cli import cli; cli()"


def ethereum_etl(rpc, out):
    file = lambda name: Path(out) / f"{name}.csv"
    hashes = Path(out) / "hashes.txt"
    blocks = ["-e", last, "-p", rpc, "-w", 2]
    run(ETL, ["export_blocks_and_transactions", *blocks, "--blocks-output", file("blocks"), "--transactions-output", file("transactions")])
    run(ETL, ["extract_csv_column", "-i", file("transactions"), "-c", "hash", "-o", hashes])
    run(ETL, ["export_receipts_and_logs", "-t", hashes, "-p", rpc, "-w", 2, "--receipts-output", file("receipts"), "--logs-output", file("logs")])
    run(ETL, ["export_token_transfers", *blocks, "-o", file("token_transfers")])
    # No transaction of block 0 has a trace.
    run(ETL, ["export_traces", "-s", 1, *blocks, "-o", file("traces")])
    return {path.stem: path for path in Path(out).glob("*.csv")}


def rows(path):
    """Workers write in any order; their rows are whole."""
    with open(path, newline="") as file:
        return sorted((normalize(path, row) for row in csv.DictReader(file)), key=lambda row: sorted(row.items()))


def normalize(path, row):
    """A row without the values that only anvil reports: see docs/reference/json-rpc.md#traces for the frames."""
    row.pop("total_difficulty", None)
    row.pop("blob_gas_price", None)
    if "traces" in path.name and row["error"]:
        for column in [column for column in row if column.startswith("result_") or column in ("output", "gas_used")]:
            row[column] = ""
        if row.get("trace_type") == "create":
            # The address that would have been.
            row["to_address"] = ""
    if row.get("call_type", row.get("action_call_type")) in ("delegatecall", "staticcall", "delegate_call", "static_call"):
        row["value"] = row["action_value"] = ""
    return row


def check(name, actual, expected):
    global passed
    if actual == expected:
        passed += 1
    else:
        failures.append(f"{name}: {actual!r:.1500} instead of {expected!r:.1500}")


export = {"cryo": cryo, "ethereum-etl": ethereum_etl}[exporter]
with ThreadPoolExecutor() as both:
    outputs = [Path(folder) / name for name in ("trawl", "node")]
    for output in outputs:
        output.mkdir(parents=True)
    trawl_files, node_files = both.map(export, (trawl, node), outputs)
check("files", sorted(trawl_files), sorted(node_files))
for kind in sorted(trawl_files):
    actual, expected = rows(trawl_files[kind]), rows(node_files[kind])
    check(f"number of {kind}", (len(actual), bool(actual)), (len(expected), True))
    for one, other in zip(actual, expected):
        check(kind, one, other)
    if kind in recorded:
        names = ["hash", "block_hash" if kind == "blocks" else "transaction_hash"]
        column = next(name for name in names if name in actual[0])
        check(f"recorded {kind}", sorted(row[column] for row in actual), sorted(recorded[kind]))

for failure in failures[:20]:
    print(failure, file=sys.stderr)
print(f"{passed} checks passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
