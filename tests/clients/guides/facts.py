"""Expected results of the guides, computed from the answers of the node in a dump, without Trawl.

A fact is a list of rows; a row is a list of cells as text."""
import gzip
import json
from collections import Counter
from datetime import datetime, timezone

TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"
USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
NEWEST = 22_869_878


def number(text):
    return int(text, 16)


class Dump:
    def __init__(self, path):
        with gzip.open(path) as lines:
            self.lines = {number(line["block"]["number"]): line for line in map(json.loads, lines)}

    def block(self, height):
        return self.lines[height]["block"]

    def transactions(self, height):
        return self.block(height)["transactions"]

    def logs(self, height):
        return [log for receipt in self.lines[height]["receipts"] for log in receipt["logs"]]

    def transfers(self, height, token):
        """Transfers of an ERC-20 token: giver, receiver, amount."""
        return [("0x" + log["topics"][1][26:], "0x" + log["topics"][2][26:], number(log["data"]))
                for log in self.logs(height) if log["address"] == token and log["topics"][:1] == [TRANSFER] and len(log["topics"]) == 3]


def fee(receipt):
    return number(receipt["gasUsed"]) * number(receipt["effectiveGasPrice"])


def newest_blocks(dump):
    heights = sorted(dump.lines, reverse=True)[:5]
    return [[height, len(dump.transactions(height)), number(dump.block(height)["gasUsed"])] for height in heights]


def usdt_transfers(dump):
    amounts = [amount for _, _, amount in dump.transfers(NEWEST, USDT)]
    return [[len(amounts), sum(amounts)]]


def usdt_first_transfers(dump):
    return [[giver, receiver, amount] for giver, receiver, amount in dump.transfers(NEWEST, USDT)[:3]]


def weth_logs(dump):
    return [[sum(log["address"] == WETH for log in dump.logs(NEWEST))]]


def most_valuable(dump):
    ranked = sorted(dump.transactions(NEWEST), key=lambda transaction: (-number(transaction["value"]), number(transaction["transactionIndex"])))[:3]
    return [[transaction["hash"], number(transaction["value"])] for transaction in ranked]


def largest_value(dump):
    return [most_valuable(dump)[0][1:]]


def value_moved(dump):
    return [[sum(number(transaction["value"]) for transaction in dump.transactions(NEWEST))]]


def senders(dump):
    counts = Counter(transaction["from"] for transaction in dump.transactions(NEWEST))
    fees = Counter()
    for receipt in dump.lines[NEWEST]["receipts"]:
        fees[receipt["from"]] += fee(receipt)
    ranked = sorted(counts, key=lambda sender: (-counts[sender], sender))[:3]
    return [[sender, counts[sender], fees[sender]] for sender in ranked]


def failed(dump):
    receipts = dump.lines[NEWEST]["receipts"]
    failures = [receipt for receipt in receipts if receipt["status"] == "0x0"]
    return [[len(receipts), len(failures), sum(map(fee, failures))]]


def fees_of_newest(dump):
    base = number(dump.block(NEWEST)["baseFeePerGas"])
    receipts = dump.lines[NEWEST]["receipts"]
    return [[sum(map(fee, receipts)), sum(number(receipt["gasUsed"]) * base for receipt in receipts)]]


def fees_paid(dump):
    return [fees_of_newest(dump)[0][:1]]


def without_status(dump):
    with_status = [receipt for receipt in dump.lines[1_755_635]["receipts"] if receipt.get("status") is not None]
    return [[len(dump.transactions(1_755_635)), len(with_status)]]


def blocks_of_a_day(dump):
    day = lambda height: datetime.fromtimestamp(number(dump.block(height)["timestamp"]), timezone.utc).date().isoformat()
    counts = Counter(day(height) for height in dump.lines if height)
    return [[date, counts[date]] for date in sorted(counts, reverse=True)[:3]]


def gas_by_type(dump):
    used = Counter()
    counts = Counter()
    for receipt in dump.lines[NEWEST]["receipts"]:
        used[number(receipt["type"])] += number(receipt["gasUsed"])
        counts[number(receipt["type"])] += 1
    return [[kind, counts[kind], used[kind]] for kind in sorted(used)]


def loaded(dump):
    heights = sorted(dump.lines)
    holes = sum(after > before + 1 for before, after in zip(heights, heights[1:]))
    return [[heights[0], heights[-1], holes + 1, len(heights)]]


def creations(dump):
    transactions = [transaction for line in dump.lines.values() for transaction in line["block"]["transactions"]]
    created = sum(transaction["to"] is None for transaction in transactions)
    return [[len(transactions), created, len(transactions) - created]]


def largest_approval(dump):
    """Amounts above 38 digits, which no decimal of 128 bits holds."""
    amounts = [number(log["data"]) for height in dump.lines for log in dump.logs(height) if height
                 and log["topics"][:1] == [APPROVAL]
                 and len(log["topics"]) == 3 and len(log["data"]) == 66]
    return [[len(amounts), sum(amount >= 10**38 for amount in amounts), max(amounts)]]


def approvals(dump):
    return [largest_approval(dump)[0][:2]]


def wrapped_sum(dump):
    """What is left of a sum in 256 bits."""
    amounts = [number(log["data"]) for log in dump.logs(NEWEST)
                 if log["topics"][:1] == [APPROVAL] and len(log["topics"]) == 3 and len(log["data"]) == 66]
    return [[sum(amount >= 2**255 for amount in amounts), sum(amounts) % 2**256]]


def value_of_successful(dump):
    successful = {receipt["transactionHash"] for receipt in dump.lines[NEWEST]["receipts"] if receipt["status"] == "0x1"}
    values = [(transaction["hash"], number(transaction["value"])) for transaction in dump.transactions(NEWEST)]
    return [[sum(value for _, value in values), sum(value for hash, value in values if hash in successful)]]


def newest_height(dump):
    return [[NEWEST]]


def withdrawals(dump):
    entries = dump.block(NEWEST)["withdrawals"]
    return [[len(entries), sum(number(entry["amount"]) for entry in entries) * 10**9]]


FACTS = {name: fact for name, fact in list(globals().items()) if getattr(fact, "__module__", None) == __name__ and callable(fact)
         and name not in ("number", "fee", "Dump")}


def missing(fact, output):
    """Rows of a fact that no line of an output has: its cells in order, and no longer numbers."""
    def is_in(row, line):
        offset = 0
        for cell in map(str, row):
            while True:
                offset = line.find(cell, offset)
                if offset < 0:
                    return False
                before, offset = offset, offset + len(cell)
                if not (line[before - 1:before] or " ").isalnum() and not (line[offset:offset + 1] or " ").isalnum():
                    break
        return True

    lines = output.lower().splitlines()
    return [row for row in fact if not any(is_in(row, line) for line in lines)]
