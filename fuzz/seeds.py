"""Writes corpus/ from the specification's test files and the statements of readers: envelope/, filter/, call/ and reader/. Usage: seeds.py"""
import hashlib
import json
import pathlib

here = pathlib.Path(__file__).parent
recorded = here.parent / "tests/fixtures/execution-apis"


def seed(target, text):
    folder = here / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    data = text if isinstance(text, bytes) else text.encode()
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


sent = [line[2:].strip() for file in sorted(recorded.rglob("*.io")) for line in file.read_text().splitlines() if line.startswith(">>")]
for line in sent:
    if len(line) < 4096:
        seed("envelope", line)
    call = json.loads(line)
    if call["method"] == "eth_getLogs":
        seed("filter", json.dumps(call["params"][0]))
    if call["method"] in ("eth_call", "eth_estimateGas"):
        seed("call", json.dumps(call["params"]))
        # Code that reads a slot, the balance of its caller and a block's hash, and calls on.
        seed("call", json.dumps(call["params"]).encode() + b"\0" + bytes.fromhex("5f545f553331504340505f5f5f5f5f335af15f5260205ff3"))
seed("envelope", "[" + ",".join(sent[:3]) + "]")
for line in (here.parent / "tests/fixtures/reader/statements.txt").read_text().splitlines():
    seed("reader", line)
word, account = "0x" + "22" * 32, "0x" + "11" * 20
for filter in [
    {"fromBlock": 1, "toBlock": "latest", "address": [account], "topics": [None, word, [word, None], []]},
    {"blockHash": word, "paging_options": {"blockNumber": "a", "logIndex": 3}},
]:
    seed("filter", json.dumps(filter))
whole = {
    "from": account, "to": account, "gas": "0x5208", "maxFeePerGas": "0x2", "maxPriorityFeePerGas": "0x1", "value": "0x1", "nonce": "0x0",
    "input": "0x1234", "accessList": [{"address": account, "storageKeys": [word]}], "blobVersionedHashes": ["0x01" + "22" * 31],
    "maxFeePerBlobGas": "0x1",
    "authorizationList": [{"chainId": "0x1", "address": account, "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}],
}
accounts = {account: {"balance": "0x1", "nonce": "0x1", "code": "0x5f5ff3", "stateDiff": {word: "0x1"}}, "0x" + "22" * 20: {"state": {word: "0x1"}, "code": "0xef0100" + "11" * 20}}
block = {"number": "0x1", "time": "0x1", "gasLimit": "0x1", "feeRecipient": account, "prevRandao": word, "baseFeePerGas": "0x1", "blobBaseFee": "0x1", "difficulty": "0x1"}
for params in [[whole, {"blockHash": word, "requireCanonical": True}, accounts, block], [{"to": account, "gasPrice": "0x1"}, "safe", accounts], [{"data": "0x5f5ff3"}, None, {}, block]]:
    seed("call", json.dumps(params))
