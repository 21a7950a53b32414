"""Gives schemathesis what a description cannot know: addresses, transactions and blocks of the chain that is loaded.

Three of four generated requests that name something get a name of the recording at TRAWL_CHAIN; the choice hangs on
the request alone, so that a run can be repeated.
"""
import atexit
import gzip
import json
import os
import zlib

import schemathesis

CALLS = ("eth_getTransactionByHash", "eth_getTransactionReceipt", "eth_getBlockByHash", "eth_getBlockByNumber", "eth_getLogs")
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def read_chain(path):
    values_by_name = {"address_hash": {}, "holder": {}, "transaction_hash": {}, "block_number_or_hash": {}, "number": {}}
    with gzip.open(path, "rt") as lines:
        for line in map(json.loads, lines):
            block = line["block"]
            values_by_name["number"][block["number"]] = None
            values_by_name["block_number_or_hash"].update({block["hash"]: None, str(int(block["number"], 16)): None})
            values_by_name["transaction_hash"].update((transaction["hash"], None) for transaction in block["transactions"])
            addresses = [withdrawal["address"] for withdrawal in block.get("withdrawals") or []] + [block["miner"]]
            for transaction in block["transactions"]:
                addresses += [transaction["from"], transaction.get("to")]
            for receipt in line.get("receipts") or []:
                addresses += [receipt.get("contractAddress"), *(log["address"] for log in receipt["logs"])]
                for topics in (log["topics"] for log in receipt["logs"]):
                    if topics[:1] == [TRANSFER]:
                        values_by_name["holder"].update(("0x" + topic[26:], None) for topic in topics[1:3])
            values_by_name["address_hash"].update((address, None) for address in addresses if address)
    values_by_name["name"] = dict.fromkeys(["newTxns", "newBlocks", "txnsFee", "txnsGrowth", "averageBlockSize", "networkUtilization"])
    return {name: list(values) for name, values in values_by_name.items()}


VALUES = read_chain(os.environ["TRAWL_CHAIN"])


@schemathesis.hook
def map_case(context, case):
    seed = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode())
    if seed % 4 == 0:
        return case
    pick = lambda name: VALUES[name][seed // 4 % len(VALUES[name])]
    # Others, such as ids of tokens, stay as they were generated.
    for name in set(case.path_parameters or {}) & set(VALUES):
        case.path_parameters[name] = pick(name)
    if "/search" in case.operation.path:
        case.query = {"q": pick(["block_number_or_hash", "transaction_hash", "address_hash"][seed % 3])}
    is_of_address = case.operation.path.endswith("{address_hash}/token-transfers")
    if is_of_address and VALUES["holder"] and seed % 4 == 1:
        # Few addresses have any, and fewer with a made-up filter.
        case.path_parameters["address_hash"], case.query = pick("holder"), {}
    if isinstance(case.body, dict) and case.body.get("method") in CALLS and isinstance(case.body.get("params"), list):
        method, full = case.body["method"], bool(seed & 4)
        case.body["params"] = {
            "eth_getBlockByHash": lambda: [VALUES["block_number_or_hash"][seed // 4 % len(VALUES["number"]) * 2], full],
            "eth_getBlockByNumber": lambda: [pick("number"), full],
            "eth_getLogs": lambda: [{"fromBlock": pick("number"), "toBlock": "latest"}],
        }.get(method, lambda: [pick("transaction_hash")])()
    return case


COUNTS = {}


@schemathesis.hook
def after_call(context, case, response):
    """Counts answers by status, to prove that not all of them were refusals."""
    label = f"{case.operation.label} {response.status_code}"
    if response.status_code == 200 and b'"items":[{' in response.content[:20]:
        label += " with items"
    COUNTS[label] = COUNTS.get(label, 0) + 1


@atexit.register
def report():
    with open(os.environ["TRAWL_ANSWERS"], "w") as file:
        json.dump(COUNTS, file, indent=1, sort_keys=True)
