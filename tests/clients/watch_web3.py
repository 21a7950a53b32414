"""web3.py over a WebSocket: watches blocks and logs while the node moves on. Usage: watch_web3.py API_URL NODE_URL CHAIN.ndjson.gz"""
import asyncio
import gzip
import json
import sys
import urllib.request

from web3 import AsyncWeb3, WebSocketProvider

api, node, dump = sys.argv[1:4]
chain = [json.loads(line) for line in gzip.open(dump)]
failures = []
passed = 0


def check(name, actual, expected):
    global passed
    if actual == expected:
        passed += 1
    else:
        failures.append(f"{name}: {actual!r} instead of {expected!r}")


def move_on(head):
    request = urllib.request.Request(f"{node}/control", json.dumps({"head": head}).encode())
    urllib.request.urlopen(request).read()


async def main():
    async with AsyncWeb3(WebSocketProvider(api.replace("http", "ws") + "/api/eth-rpc")) as w3:
        check("connected", await w3.is_connected(), True)
        check("chain id", await w3.eth.chain_id, 3503995874084926)
        check("block number", await w3.eth.block_number, 40)
        check("client version", (await w3.client_version).startswith("Trawl/"), True)
        check("syncing", await w3.eth.syncing, False)
        heads = await w3.eth.subscribe("newHeads")
        logs = await w3.eth.subscribe("logs", {})
        expected = chain[41:45]
        expected_logs = [log for line in expected for receipt in line["receipts"] for log in receipt["logs"]]
        # Emitter and topics of one of the logs to come.
        sample = expected_logs[-1]
        sample_logs = [log for log in expected_logs if log["address"] == sample["address"] and log["topics"][: len(sample["topics"])] == sample["topics"]]
        sample_subscription = await w3.eth.subscribe("logs", {"address": w3.to_checksum_address(sample["address"]), "topics": sample["topics"]})
        move_on(44)
        blocks, watched_logs, contract_logs = [], [], []

        async def listen():
            async for message in w3.socket.process_subscriptions():
                if message["subscription"] == heads:
                    blocks.append(message["result"])
                elif message["subscription"] == logs:
                    watched_logs.append(message["result"])
                elif message["subscription"] == sample_subscription:
                    contract_logs.append(message["result"])
                if len(blocks) >= 4 and len(watched_logs) >= len(expected_logs) and len(contract_logs) >= len(sample_logs):
                    return

        await asyncio.wait_for(listen(), 30)
        check("watched blocks", [block["hash"].to_0x_hex() for block in blocks], [line["block"]["hash"] for line in expected])
        check(
            "watched logs",
            [(log["blockHash"].to_0x_hex(), log["logIndex"], log["data"].to_0x_hex()) for log in watched_logs],
            [(log["blockHash"], int(log["logIndex"], 16), log["data"]) for log in expected_logs],
        )
        check(
            "watched logs of one contract and its topics",
            [(log["blockHash"].to_0x_hex(), log["logIndex"]) for log in contract_logs],
            [(log["blockHash"], int(log["logIndex"], 16)) for log in sample_logs],
        )
        check("unsubscribed", await w3.eth.unsubscribe(heads), True)
        check("gas price", await w3.eth.gas_price > 0, True)
        history = await w3.eth.fee_history(4, "latest", [50])
        check("fee history", [len(history["baseFeePerGas"]), len(history["reward"])], [5, 4])
        receipts = await w3.eth.get_block_receipts(41)
        check("receipts", [receipt["gasUsed"] for receipt in receipts], [int(receipt["gasUsed"], 16) for receipt in expected[0]["receipts"]])


asyncio.run(main())
for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} checks passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
