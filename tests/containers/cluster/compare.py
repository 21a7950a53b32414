#!/usr/bin/env python3
"""Loads a chain on the first ClickHouse server and on all as shards, and compares the answers of an API over each.

    compare.py --dump chain.ndjson.gz --programs target/debug --stop 'docker compose stop shard3' URL URL URL
    compare.py … --cluster replicated --replicas URL,URL --stop 'docker compose stop shard1b' URL URL

The servers are empty and have the clusters `trawl` and `trawl_first` in `remote_servers`, or those of `--cluster`.
`--stop` ends one of them: after it each answer is the right one or says that a shard is missing; with `--replicas`,
the further ones of each shard, each answer is the right one. Exit code 1 and the differences, if there are any.
"""

import argparse
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

SINGLE, DISTRIBUTED = "compared_single", "compared_distributed"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


PORTS = {SINGLE: free_port(), DISTRIBUTED: free_port()}


def get(url, body=None):
    """Status and JSON of an answer, or its text."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            status, text = response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)
    return status, json.loads(text) if text.startswith("{") else text


def ingest(options, database, *arguments):
    command = [options.programs / "trawl-ingest", *arguments, "--clickhouse-url", options.nodes[0]]
    command += ["--clickhouse-database", database]
    if database == DISTRIBUTED:
        command += ["--clickhouse-shards", ",".join(options.nodes[1:])]
        command += ["--clickhouse-replicas", options.replicas] if options.replicas else []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def start_api(options, database):
    command = [options.programs / "trawl-api", "--clickhouse-url", options.nodes[0], "--clickhouse-database", database]
    command += ["--listen", f"127.0.0.1:{PORTS[database]}", "--cache-size", "0", "--settled-cache-size", "0"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def until_ready(database):
    for _ in range(300):
        if get(f"http://127.0.0.1:{PORTS[database]}/health/ready")[0] == 200:
            return
        time.sleep(0.1)
    sys.exit(f"the API over {database} is not ready after 30 s")


def ask(database, path, body):
    status, answer = get(f"http://127.0.0.1:{PORTS[database]}{path}", body)
    if isinstance(answer, dict):
        answer.pop("timestamp", None)
    return status, answer


def call(method, parameters):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}


def questions():
    """Paths, and bodies of JSON-RPC, from what the chain has."""
    lists = ["stats", "blocks", "transactions", "token-transfers", "tokens", "addresses"]
    paths = [f"/api/v2/{name}" for name in lists]
    rpc = [("eth_blockNumber", [])]
    head = int(ask(SINGLE, "/api/eth-rpc", call("eth_blockNumber", []))[1]["result"], 16)
    for number in range(0, head + 1, max(1, head // 20)):
        paths += [f"/api/v2/blocks/{number}", f"/api/v2/blocks/{number}/transactions"]
        rpc += [("eth_getBlockByNumber", [hex(number), True]), ("eth_getBlockReceipts", [hex(number)])]
        rpc += [("eth_getLogs", [{"fromBlock": hex(number), "toBlock": hex(head)}])]
    for transaction in ask(SINGLE, "/api/v2/transactions", None)[1]["items"][:20]:
        lists = ["", "/logs", "/token-transfers", "/internal-transactions"]
        paths += [f"/api/v2/transactions/{transaction['hash']}{rest}" for rest in lists]
        rpc += [("eth_getTransactionReceipt", [transaction["hash"]])]
        for party in filter(None, [transaction["from"], transaction["to"]]):
            address = party["hash"]
            lists = ["", "/transactions", "/logs", "/token-transfers", "/internal-transactions", "/counters"]
            paths += [f"/api/v2/addresses/{address}{rest}" for rest in lists]
            rpc += [("eth_getLogs", [{"fromBlock": "0x0", "toBlock": hex(head), "address": address}])]
    for path in dict.fromkeys(paths):
        yield path, None
    for method, parameters in rpc:
        yield "/api/eth-rpc", call(method, parameters)


def names_what_is_missing(status, answer):
    return status == 503 or isinstance(answer, dict) and answer.get("error", {}).get("code") == -32005


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--stop", help="command that ends one server")
    parser.add_argument("--cluster", default="trawl")
    parser.add_argument("--replicas", metavar="URL,URL", help="tables replicate; the further replicas of each shard")
    parser.add_argument("nodes", nargs="+", metavar="URL")
    options = parser.parse_args()
    ingest(options, SINGLE, "migrate")
    replicated = ["--replicated"] if options.replicas else []
    ingest(options, DISTRIBUTED, "migrate", "--cluster", options.cluster, "--shard-blocks", "7", *replicated)
    for database in PORTS:
        ingest(options, database, "load", "--dump", options.dump)
    apis = [start_api(options, database) for database in PORTS]
    try:
        for database in PORTS:
            until_ready(database)
        requests = list(questions())
        expected = [ask(SINGLE, *question) for question in requests]
        found = [ask(DISTRIBUTED, *question) for question in requests]
        wrong = [entry for entry in zip(requests, expected, found) if entry[1] != entry[2]]
        print(f"{len(requests)} questions, {len(wrong)} answers differ")
        if options.stop:
            subprocess.run(options.stop, shell=True, check=True)
            short = [(question, ask(DISTRIBUTED, *question)) for question in requests]
            refused = sum(names_what_is_missing(*answer) for _, answer in short)
            late = [
                (question, right, answer)
                for (question, answer), right in zip(short, expected)
                if answer != right and (options.replicas or not names_what_is_missing(*answer))
            ]
            print(f"one server away: {refused} refused, {len(late)} neither right nor refused")
            wrong += late
    finally:
        for api in apis:
            api.terminate()
    for question, right, answer in wrong[:10]:
        print(f"{question}\n  {str(answer)[:500]}\n  instead of\n  {str(right)[:500]}")
    sys.exit(1 if wrong else 0)


main()
