"""web3.py against an endpoint: blocks, logs, receipts, state and calls. Usage: web3_check.py RPC_URL CHAIN.ndjson.gz EXPECTED.json NODE_URL"""
import gzip
import json
import sys

from web3 import HTTPProvider, Web3
from web3.exceptions import BlockNotFound, ContractCustomError, TransactionNotFound

rpc, dump, expected, node = sys.argv[1:5]
chain = [json.loads(line) for line in gzip.open(dump)]
with open(expected) as file:
    expected = json.load(file)
w3, node = Web3(HTTPProvider(rpc)), Web3(HTTPProvider(node))
failures = []
passed = 0


def check(name, actual, expected):
    global passed
    if actual == expected:
        passed += 1
    else:
        failures.append(f"{name}: {actual!r:.2000} instead of {expected!r:.2000}")


def both(name, read):
    check(name, read(w3), read(node))


def number(text):
    return int(text, 16)


def refusal(kind, action):
    try:
        return action()
    except kind as error:
        return (type(error).__name__, getattr(error, "data", None))


head = chain[-1]["block"]
check("connected", w3.is_connected(), True)
check("chain id", w3.eth.chain_id, 31337)
check("net version", w3.net.version, "31337")
check("client version", w3.client_version.startswith("Trawl/"), True)
check("syncing", w3.eth.syncing, False)
check("block number", w3.eth.block_number, number(head["number"]))
blocks = [w3.eth.get_block(number(line["block"]["number"]), full_transactions=True) for line in chain]
check("block hashes", [block["hash"].to_0x_hex() for block in blocks], [line["block"]["hash"] for line in chain])
check(
    "transactions",
    [(tx["hash"].to_0x_hex(), tx["value"], tx["from"].lower()) for block in blocks for tx in block["transactions"]],
    [(tx["hash"], number(tx["value"]), tx["from"]) for line in chain for tx in line["block"]["transactions"]],
)
some = [receipt for line in chain for receipt in line["receipts"]][::40]
for receipt in some:
    actual = w3.eth.get_transaction_receipt(receipt["transactionHash"])
    check(
        "a receipt",
        (actual["status"], actual["gasUsed"], [log["data"].to_0x_hex() for log in actual["logs"]]),
        (number(receipt["status"]), number(receipt["gasUsed"]), [log["data"] for log in receipt["logs"]]),
    )
check("an absent transaction", refusal(TransactionNotFound, lambda: w3.eth.get_transaction("0x" + "12" * 32))[0], "TransactionNotFound")
check("an absent block", refusal(BlockNotFound, lambda: w3.eth.get_block(5000))[0], "BlockNotFound")

accounts, usd = expected["accounts"], expected["addresses"]["DUSD"]
check("balances", [w3.eth.get_balance(it) for it in accounts], [int(expected["native"][it]) for it in accounts])
check("nonces", [w3.eth.get_transaction_count(it) for it in accounts], [expected["nonces"][it] for it in accounts])
codes = [it for it in expected["addresses"].values() if it in expected["code"]]
check("codes", [Web3.keccak(w3.eth.get_code(it)).to_0x_hex() for it in codes], [expected["code"][it] for it in codes])
address, amount = {"type": "address", "name": "a"}, {"type": "uint256", "name": "n"}
abi = [
    {"type": "function", "name": "balanceOf", "stateMutability": "view", "inputs": [address], "outputs": [amount]},
    {"type": "function", "name": "totalSupply", "stateMutability": "view", "inputs": [], "outputs": [amount]},
    {"type": "function", "name": "transfer", "stateMutability": "nonpayable", "inputs": [address, amount], "outputs": [{"type": "bool", "name": ""}]},
    {
        "type": "event",
        "name": "Transfer",
        "anonymous": False,
        "inputs": [
            {"type": "address", "name": "from", "indexed": True},
            {"type": "address", "name": "to", "indexed": True},
            {"type": "uint256", "name": "value", "indexed": False},
        ],
    },
]
for token, facts in expected["erc20"].items():
    contract = w3.eth.contract(token, abi=abi)
    check(f"supply of {facts['label']}", contract.functions.totalSupply().call(), int(facts["totalSupply"]))
    balances = [contract.functions.balanceOf(holder).call() for holder in facts["balances"]]
    check(f"holders of {facts['label']}", balances, [int(balance) for balance in facts["balances"].values()])


def token(of):
    return of.eth.contract(usd, abi=abi)


def pad(account):
    return "0x" + "00" * 12 + account[2:].lower()


transfer = Web3.keccak(text="Transfer(address,address,uint256)").to_0x_hex()
sender = {"from": accounts[0]}
both("balance at a height", lambda of: of.eth.get_balance(accounts[1], 30))
both("nonce at a height", lambda of: of.eth.get_transaction_count(accounts[1], 30))
both("storage", lambda of: of.eth.get_storage_at(usd, 2, 30))
both("a contract read at a height", lambda of: token(of).functions.balanceOf(accounts[0]).call(block_identifier=30))
both("a call", lambda of: of.eth.call({"to": usd, "data": "0x313ce567"}))
both("a call that would send", lambda of: token(of).functions.transfer(accounts[2], 5).call(sender))
both("gas of a transfer", lambda of: of.eth.estimate_gas({"from": accounts[0], "to": accounts[1], "value": 1}))
both("gas of a contract call", lambda of: token(of).functions.transfer(accounts[2], 5).estimate_gas(sender))
both("a revert has its data", lambda of: refusal(ContractCustomError, lambda: token(of).functions.transfer(accounts[2], 10**30).call(sender)))
both("gas price", lambda of: of.eth.gas_price)
both("priority fee", lambda of: of.eth.max_priority_fee)
for name, log_filter in {
    "logs of a contract": {"fromBlock": 1, "toBlock": "latest", "address": usd, "topics": [transfer]},
    "logs to an account": {"fromBlock": 5, "toBlock": 80, "topics": [[transfer, "0x" + "12" * 32], None, pad(accounts[3])]},
    "logs of a block": {"blockHash": chain[20]["block"]["hash"]},
}.items():
    both(name, lambda of: [(log["blockHash"], log["logIndex"], log["topics"], log["data"]) for log in of.eth.get_logs(log_filter)])
both("events of a contract", lambda of: [(it["blockNumber"], dict(it["args"])) for it in token(of).events.Transfer().get_logs(from_block=10, to_block=60)])

for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} checks passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
