#!/usr/bin/env python3
"""Writes the expected answers of the REST golden cases from the recorded chains, without using Trawl.

Expected values are computed here from the node's own JSON (tests/fixtures/*/chain.ndjson.gz) by the rules of the
specification, in Python integers. Run it after changing a case, and read the difference:  python3 tests/cases/make.py
"""
import gzip, json, os, shutil
from datetime import datetime, timezone
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"


def keccak(data):
    """Keccak-256 (FIPS 202 sponge with the original padding), for address checksums."""
    def rotate(value, count):
        return (value << count | value >> (64 - count)) & (1 << 64) - 1 if count else value
    rounds, register = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            if register & 1:
                constant |= 1 << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        rounds.append(constant)
    state = [0] * 25
    padded = bytearray(data) + b"\x01" + bytes(-(len(data) + 1) % 136)
    padded[-1] |= 0x80
    for at in range(0, len(padded), 136):
        for lane in range(17):
            state[lane] ^= int.from_bytes(padded[at + 8 * lane:at + 8 * lane + 8], "little")
        for constant in rounds:
            columns = [state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20] for x in range(5)]
            for x in range(5):
                mix = columns[(x + 4) % 5] ^ rotate(columns[(x + 1) % 5], 1)
                for y in range(0, 25, 5):
                    state[x + y] ^= mix
            x, y, lane = 1, 0, state[1]
            for step in range(24):
                x, y = y, (2 * x + 3 * y) % 5
                state[x + 5 * y], lane = rotate(lane, (step + 1) * (step + 2) // 2 % 64), state[x + 5 * y]
            for y in range(0, 25, 5):
                row = state[y:y + 5]
                for x in range(5):
                    state[x + y] = row[x] ^ (~row[(x + 1) % 5] & (1 << 64) - 1 & row[(x + 2) % 5])
            state[0] ^= constant
    return b"".join(lane.to_bytes(8, "little") for lane in state[:4])


def checksum(address):
    digits = address[2:].lower()
    mask = keccak(digits.encode()).hex()
    return "0x" + "".join(d.upper() if int(m, 16) > 7 else d for d, m in zip(digits, mask))


def number(text):
    return int(text, 16)


def time(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def address_object(address):
    return {"hash": checksum(address), "implementation_name": None, "name": None, "ens_domain_name": None, "metadata": None,
            "is_contract": False, "private_tags": [], "watchlist_names": [], "public_tags": [], "is_verified": None,
            "implementations": [], "proxy_type": None, "is_scam": False, "reputation": "ok"}


def gas(limit, used):
    share = used / limit if limit else 0.0
    return {"gas_limit": str(limit), "gas_used": str(used), "gas_used_percentage": share * 100,
            "gas_target_percentage": (share * 2 - 1) * 100}


def header_part(block, kind):
    return {"height": number(block["number"]), "hash": block["hash"], "parent_hash": block["parentHash"],
            "timestamp": time(number(block["timestamp"])), "type": kind, "miner": address_object(block["miner"]),
            "nonce": block["nonce"], "size": number(block["size"]), "difficulty": str(number(block["difficulty"])),
            "extra_data": block["extraData"], "state_root": block["stateRoot"], "is_pending_update": False, "rewards": [],
            **gas(number(block["gasLimit"]), number(block["gasUsed"]))}


def block_item(line):
    block, receipts = line["block"], line["receipts"]
    base = number(block["baseFeePerGas"]) if "baseFeePerGas" in block else None
    fees = sum(number(r["gasUsed"]) * number(r["effectiveGasPrice"]) for r in receipts)
    tips = 0
    for tx, receipt in zip(block["transactions"], receipts):
        if base is not None:
            price = number(tx["gasPrice"])
            cap = number(tx["maxFeePerGas"]) if "maxFeePerGas" in tx else price
            tip = number(tx["maxPriorityFeePerGas"]) if "maxPriorityFeePerGas" in tx else price
            tips += number(receipt["gasUsed"]) * min(tip, cap - base)
    burnt = (base or 0) * number(block["gasUsed"])
    total = line.get("totalDifficulty") or block.get("totalDifficulty")
    blob = lambda key: str(number(block[key])) if key in block else None
    return {**header_part(block, "block"), "total_difficulty": None if total is None else str(number(total)),
            "base_fee_per_gas": None if base is None else str(base), "burnt_fees": str(burnt),
            "burnt_fees_percentage": float(Fraction(burnt * 100, fees)) if fees else None, "priority_fee": str(tips),
            "transaction_fees": str(fees), "transactions_count": len(block["transactions"]),
            "withdrawals_count": len(block.get("withdrawals") or []), "internal_transactions_count": None,
            "uncles_hashes": block["uncles"], "blob_transactions_count": sum(t["type"] == "0x3" for t in block["transactions"]),
            "blob_gas_used": blob("blobGasUsed"), "excess_blob_gas": blob("excessBlobGas")}


def uncle_item(header):
    empty = header["transactionsRoot"] == EMPTY_ROOT
    base = number(header["baseFeePerGas"]) if "baseFeePerGas" in header else None
    return {**header_part(header, "uncle"), "total_difficulty": None, "base_fee_per_gas": None if base is None else str(base),
            "burnt_fees": str((base or 0) * number(header["gasUsed"])), "burnt_fees_percentage": None,
            "priority_fee": "0" if empty else None, "transaction_fees": "0" if empty else None,
            "transactions_count": 0 if empty else None, "withdrawals_count": 0,
            "internal_transactions_count": 0 if empty else None, "uncles_hashes": [], "blob_transactions_count": 0,
            "blob_gas_used": None, "excess_blob_gas": None}


def log_item(block, tx, log):
    emitter = address_object(log["address"])
    return {"address_hash": emitter, "address": emitter, "smart_contract": address_object(tx["to"]) if tx["to"] else None,
            "block_hash": block["hash"], "block_number": number(block["number"]), "block_timestamp": time(number(block["timestamp"])),
            "transaction_hash": tx["hash"], "index": number(log["logIndex"]), "topics": log["topics"], "data": log["data"],
            "decoded": None}


def withdrawal_item(block, withdrawal, scope):
    item = {"index": number(withdrawal["index"]), "amount": str(number(withdrawal["amount"]) * 10**9),
            "validator_index": number(withdrawal["validatorIndex"]), "receiver": address_object(withdrawal["address"])}
    if scope == "address":
        item.update(block_number=number(block["number"]), timestamp=time(number(block["timestamp"])))
    return item


def page(items, size, cursor):
    shown = items[:size]
    more = len(items) > size
    return {"items": shown, "next_page_params": {**cursor(shown[-1]), "items_count": len(shown)} if more else None}


CHAINS = {}


def chain(name):
    if name not in CHAINS:
        path = os.path.join(HERE, "..", "fixtures", name, "chain.ndjson.gz")
        CHAINS[name] = [json.loads(line) for line in gzip.open(path, "rt")]
    return CHAINS[name]


def write(endpoint, name, chain_name, path, expected, status=200):
    folder = os.path.join(HERE, endpoint, name)
    os.makedirs(folder)
    with open(os.path.join(folder, "request"), "w") as f:
        f.write(f"{chain_name} {status} {path}\n")
    with open(os.path.join(folder, "response.json"), "w") as f:
        json.dump(expected, f, indent=1, sort_keys=True)
        f.write("\n")


def invalid(*entries):
    return {"message": "Invalid parameter(s)", "errors": [
        {"title": "Invalid value", "source": {"pointer": "/" + name}, "detail": detail} for name, detail in entries]}


EMPTY = {"items": [], "next_page_params": None}
NOT_FOUND = {"message": "Not found"}
MALFORMED = {"message": "Bad request"}
ADDRESS_FORMAT = ("address_hash_param", "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{40})$/")
HASH_FORMAT = ("transaction_hash_param", "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{64})$/")
BLOCK_FORMAT = [("block_hash_or_number_param", detail) for detail in (
    'Failed to cast value using any of: Schema(title: "FullHash", type: :string), Schema(type: :integer)',
    "Invalid integer. Got: string", "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{64})$/")]


def blocks():
    by_height = lambda item: {"block_number": item["height"]}
    for name in ("hive", "mainnet", "devchain"):
        newest = [block_item(line) for line in reversed(chain(name))]
        write("blocks", f"first_page_is_the_newest_{name}", name, "/api/v2/blocks", page(newest, 50, by_height))
        at = newest[49]["height"]
        rest = [item for item in newest if item["height"] < at]
        write("blocks", f"second_page_starts_below_the_cursor_{name}", name, f"/api/v2/blocks?block_number={at}&items_count=50", page(rest, 50, by_height))
    hive = [block_item(line) for line in reversed(chain("hive"))]
    write("blocks", "page_size_is_honoured", "hive", "/api/v2/blocks?type=block&items_count=3", page(hive, 3, by_height))
    write("blocks", "exactly_a_page_has_no_cursor", "hive", "/api/v2/blocks?block_number=5&items_count=5", page(hive[-5:], 5, by_height))
    write("blocks", "nothing_is_below_genesis", "hive", "/api/v2/blocks?block_number=0", EMPTY)
    uncles = lambda name: sorted((u for line in chain(name) for u in line["uncleHeaders"]), key=lambda u: (number(u["number"]), u["hash"]), reverse=True)
    items = [uncle_item(u) for u in uncles("hive")]
    write("blocks", "uncles_are_listed_by_their_own_height", "hive", "/api/v2/blocks?type=uncle", page(items, 50, by_height))
    items = [uncle_item(u) for u in uncles("mainnet")]
    heights = [item["height"] for item in items]
    # A page that would end between two uncles of one height takes both.
    size = next(n for n in range(1, len(heights)) if heights[n - 1] == heights[n])
    whole = size + heights[size:].count(heights[size])
    write("blocks", "a_page_of_uncles_is_not_cut_within_a_height", "mainnet", f"/api/v2/blocks?type=uncle&items_count={size}", page(items, whole, by_height))
    write("blocks", "uncles_below_a_cursor", "mainnet", f"/api/v2/blocks?type=uncle&block_number={heights[size]}", page(items[whole:], 50, by_height))
    write("blocks", "no_block_was_reorganised", "hive", "/api/v2/blocks?type=reorg", EMPTY)
    write("blocks", "kind_is_lower_case", "hive", "/api/v2/blocks?type=BLOCK", invalid(("type", "Invalid value for enum")), 422)
    write("blocks", "unknown_parameter", "hive", "/api/v2/blocks?limit=10", invalid(("limit", "Unexpected field: limit")), 422)
    write("blocks", "several_errors_at_once", "hive", "/api/v2/blocks?type=x&block_number=-1", invalid(
        ("type", "Invalid value for enum"), ("block_number", "-1 is smaller than inclusive minimum 0")), 422)
    write("blocks", "height_beyond_64_bits", "hive", "/api/v2/blocks?block_number=99999999999999999999", invalid(("block_number", "Invalid integer. Got: string")), 422)
    write("blocks", "broken_escape", "hive", "/api/v2/blocks?type=%zz", MALFORMED, 400)
    write("blocks", "escaped_bytes_that_are_no_text", "hive", "/api/v2/blocks?key=%ff", MALFORMED, 400)
    write("blocks", "broken_escape_after_unknown_parameter", "hive", "/api/v2/blocks?limit=10&%", MALFORMED, 400)


def transaction_logs():
    found = {}
    for line in chain("mainnet") + chain("devchain"):
        for tx, receipt in zip(line["block"]["transactions"], line["receipts"]):
            found.setdefault(len(receipt["logs"]), (line["block"], tx, receipt["logs"]))
    cursor = lambda item: {"block_number": item["block_number"], "index": item["index"]}
    most = max(found)
    name = lambda block: "mainnet" if number(block["number"]) > 1000 else "devchain"
    for count in sorted({0, 1, max(n for n in found if n <= 50), min(n for n in found if n > 50), most}):
        block, tx, logs = found[count]
        items = [log_item(block, tx, log) for log in logs]
        path = f"/api/v2/transactions/{tx['hash']}/logs"
        write("transaction_logs", f"transaction_with_{count}_logs", name(block), path, page(items, 50, cursor))
        if count > 50:
            at = items[49]["index"]
            query = f"{path}?block_number={number(block['number'])}&index={at}&items_count=50"
            write("transaction_logs", f"second_page_of_{count}_logs", name(block), query, page(items[50:], 50, cursor))
            write("transaction_logs", f"index_alone_is_a_cursor_in_{count}_logs", name(block), f"{path}?index={items[-2]['index']}", page(items[-1:], 50, cursor))
    block, tx, logs = found[1]
    path = f"/api/v2/transactions/{tx['hash']}/logs"
    items = [log_item(block, tx, log) for log in logs]
    upper = path.replace(tx["hash"], "0x" + tx["hash"][2:].upper())
    write("transaction_logs", "hash_in_any_letter_case", name(block), upper, page(items, 50, cursor))
    write("transaction_logs", "cursor_below_zero_is_the_beginning", name(block), f"{path}?index=-1", page(items, 50, cursor))
    write("transaction_logs", "cursor_without_index", name(block), f"{path}?block_number=1", invalid(("index", "Missing field: index")), 422)
    write("transaction_logs", "unknown_transaction", "mainnet", f"/api/v2/transactions/0x{'12' * 32}/logs", NOT_FOUND, 404)
    write("transaction_logs", "malformed_hash", "mainnet", "/api/v2/transactions/0x12/logs?index=x", invalid(HASH_FORMAT), 422)
    write("transaction_logs", "lone_percent_sign_in_the_path", "mainnet", "/api/v2/transactions/%/logs", MALFORMED, 400)
    write("transaction_logs", "escape_that_is_text", "mainnet", "/api/v2/transactions/%30x%C3%A9/logs", invalid(HASH_FORMAT), 422)


def withdrawals():
    for_index = lambda item: {"index": item["index"]}
    with_some = [line["block"] for line in chain("mainnet") if line["block"].get("withdrawals")]
    block = with_some[0]
    everything = sorted(((number(w["index"]), b, w) for b in with_some for w in b["withdrawals"]), key=lambda t: t[0], reverse=True)
    receivers = {}
    for _, b, w in everything:
        receivers.setdefault(w["address"], []).append(withdrawal_item(b, w, "address"))
    receiver, items = max(receivers.items(), key=lambda pair: (len(pair[1]), pair[0]))
    path = f"/api/v2/addresses/{receiver}/withdrawals"
    write("address_withdrawals", "newest_first", "mainnet", path, page(items, 50, for_index))
    write("address_withdrawals", "pages_end_with_the_last", "mainnet", f"{path}?items_count={len(items) - 1}", page(items, len(items) - 1, for_index))
    write("address_withdrawals", "cursor_is_exclusive", "mainnet", f"{path}?index={items[1]['index']}", page(items[2:], 50, for_index))
    write("address_withdrawals", "checksummed_address", "mainnet", f"/api/v2/addresses/{checksum(receiver)}/withdrawals", page(items, 50, for_index))
    write("address_withdrawals", "unknown_address_has_none", "mainnet", f"/api/v2/addresses/0x{'12' * 20}/withdrawals", EMPTY)
    write("address_withdrawals", "malformed_address_before_malformed_query", "mainnet", f"/api/v2/addresses/0x{'1' * 39}/withdrawals?limit=1", invalid(ADDRESS_FORMAT), 422)
    write("address_withdrawals", "index_is_an_integer", "mainnet", f"{path}?index=x", invalid(("index", "Invalid integer. Got: string")), 422)
    write("address_withdrawals", "escaped_bytes_that_are_no_text_in_the_path", "mainnet", "/api/v2/addresses/%ff/withdrawals", MALFORMED, 400)
    of_block = [withdrawal_item(block, w, "block") for w in reversed(block["withdrawals"])]
    write("block_withdrawals", "by_number", "mainnet", f"/api/v2/blocks/{number(block['number'])}/withdrawals", page(of_block, 50, for_index))
    write("block_withdrawals", "by_hash", "mainnet", f"/api/v2/blocks/{block['hash']}/withdrawals", page(of_block, 50, for_index))
    write("block_withdrawals", "second_page", "mainnet", f"/api/v2/blocks/{block['hash']}/withdrawals?index={of_block[4]['index']}&items_count=5", page(of_block[5:], 5, for_index))
    write("block_withdrawals", "none_before_shanghai", "mainnet", "/api/v2/blocks/55/withdrawals", EMPTY)
    write("block_withdrawals", "a_hole_is_not_found", "mainnet", "/api/v2/blocks/54/withdrawals", NOT_FOUND, 404)
    write("block_withdrawals", "above_the_head_is_not_found", "mainnet", "/api/v2/blocks/30000000/withdrawals", NOT_FOUND, 404)
    write("block_withdrawals", "unknown_hash", "mainnet", f"/api/v2/blocks/0x{'12' * 32}/withdrawals", NOT_FOUND, 404)
    write("block_withdrawals", "a_tag_is_no_block", "mainnet", "/api/v2/blocks/latest/withdrawals", invalid(*BLOCK_FORMAT), 422)
    write("block_withdrawals", "broken_escape_in_the_path", "mainnet", "/api/v2/blocks/%zz/withdrawals", MALFORMED, 400)
    negative = invalid(("block_hash_or_number_param", "-1 is smaller than inclusive minimum 0"))
    write("block_withdrawals", "a_negative_number", "mainnet", "/api/v2/blocks/-1/withdrawals", {**negative, "message": "Invalid number"}, 422)


if __name__ == "__main__":
    for endpoint in ("blocks", "transaction_logs", "address_withdrawals", "block_withdrawals"):
        shutil.rmtree(os.path.join(HERE, endpoint), ignore_errors=True)
    blocks()
    transaction_logs()
    withdrawals()
