#!/usr/bin/env python3
"""Writes the expected answers of the REST golden cases from the recorded chains, without using Trawl.

Expected values are computed here from the node's own JSON (tests/fixtures/*/chain.ndjson.gz) by the rules of the
specification, in Python integers. Run it after changing a case, and read the difference:  python3 tests/cases/make.py
"""
import functools, gzip, json, os, shutil, sys
from datetime import datetime, timezone
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
OUTPUT = HERE
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


@functools.cache
def checksum(address):
    digits = address[2:].lower()
    mask = keccak(digits.encode()).hex()
    return "0x" + "".join(d.upper() if int(m, 16) > 7 else d for d, m in zip(digits, mask))


def number(text):
    return int(text, 16)


def time(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000000Z")


SLOTS = {"0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc": "eip1967",
         "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50": "eip1967_beacon",
         "0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7": "eip1822"}
MINIMAL = ("0x363d3d373d3d3d363d73", "5af43d82803e903d91602b57fd5bf3")
# Contracts and proxies of the chain whose cases are being made.
KNOWN = {"chain": "", "contracts": set(), "codeless": set(), "proxies": {}, "accounts": set(), "ran": set()}
# Chains whose state and call frames are known from genesis on, so that whoever has no code is known too.
WHOLE = {"hive"}


def learn(name):
    """Which addresses are contracts and where proxies point, from the node's traces, receipts and state differences."""
    contracts, codeless, proxies, accounts, ran = set(), set(), {}, set(), set()

    def note(address, kind, target):
        if int(target, 16):
            proxies[address] = (kind, target)
        elif proxies.get(address, ("",))[0] == kind:
            del proxies[address]

    def account(address, after):
        code = after.get("code") or ""
        if code.startswith("0xef0100"):
            accounts.add(address)
            note(address, "eip7702", "0x" + code[8:48])
        elif code == "0x":
            note(address, "eip7702", "0x0")
        elif code.startswith(MINIMAL[0]) and code.endswith(MINIMAL[1]):
            note(address, "eip1167", "0x" + code[22:62])
        for slot, value in (after.get("storage") or {}).items():
            if slot in SLOTS:
                note(address, SLOTS[slot], "0x" + value[2:].rjust(64, "0")[24:])

    def traced(frame):
        # What a failed frame created and called was undone: its callers may not exist.
        if frame.get("error"):
            return
        if frame["type"].startswith("CREATE"):
            left_code = frame.get("output") or "0x"
            (codeless if left_code == "0x" else contracts).add(frame["to"])
        for call in frame.get("calls", []):
            if not call.get("error"):
                ran.add(call["from"])
            traced(call)

    for line in chain(name):
        if number(line["block"]["number"]) == 0:
            for address, after in (line.get("stateDiff") or {}).items():
                if after and (after.get("code") or "0x") != "0x":
                    contracts.add(address)
        for trace in line.get("traces") or []:
            traced(trace["result"])
        for receipt in line["receipts"]:
            ran.update(log["address"] for log in receipt["logs"])
            if receipt.get("contractAddress") and receipt.get("status") == "0x1" and not line.get("traces"):
                contracts.add(receipt["contractAddress"])
        for diff in line.get("txStateDiffs") or []:
            before, after = diff["prestateDiff"]["pre"], diff["prestateDiff"]["post"]
            for address, values in after.items():
                account(address, values)
            tx = next(tx for tx in line["block"]["transactions"] if tx["hash"] == diff["txHash"])
            takes_back = any(int(one["address"], 16) == 0 for one in tx.get("authorizationList") or [])
            for address, values in before.items():
                left = after.get(address, {})
                # A code that goes is left out of what is there after.
                if takes_back and (values.get("code") or "").startswith("0xef0100") and "code" not in left:
                    note(address, "eip7702", "0x0")
                for slot in values.get("storage") or {}:
                    if slot in SLOTS and slot not in (left.get("storage") or {}):
                        note(address, SLOTS[slot], "0x0")
    KNOWN.update(chain=name, contracts=contracts, codeless=codeless, proxies=proxies, accounts=accounts, ran=ran)


def well_known():
    """Decimals, symbol and name of the tokens that every installation knows on a chain, by address."""
    tokens = {}
    for file in ("known_tokens.txt", "listed_tokens.txt"):
        for line in open(os.path.join(HERE, "../../crates/json/src/tokens", file)):
            if not line.startswith("#"):
                chain_id, address, decimals, symbol, name = line.rstrip("\n").split(" ", 4)
                tokens[CHAINS.get(chain_id), address.lower()] = (decimals, symbol, name)
    return tokens


CHAINS = {"1": "mainnet"}
WELL_KNOWN = well_known()


def named(address):
    return WELL_KNOWN.get((KNOWN["chain"], address), (None, None, None))


def has_code(address, proxy_kind, is_token):
    if address in KNOWN["contracts"] or proxy_kind == "eip7702":
        return True
    if address in KNOWN["accounts"] or address in KNOWN["codeless"] or KNOWN["chain"] in WHOLE:
        return False
    return True if proxy_kind or is_token or address in KNOWN["ran"] else None


def address_object(address):
    kind, target = KNOWN["proxies"].get(address, (None, None))
    name = named(address)[2]
    is_contract = has_code(address, kind, name is not None)
    # A beacon is not what it names.
    implementations = [{"address_hash": checksum(target), "name": None}] if kind and kind != "eip1967_beacon" else []
    return {"hash": checksum(address), "implementation_name": None, "name": name, "ens_domain_name": None, "metadata": None,
            "is_contract": is_contract, "private_tags": [], "watchlist_names": [], "public_tags": [],
            "is_verified": False if is_contract else None, "implementations": implementations, "proxy_type": kind,
            "is_scam": False, "reputation": "ok"}


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
            "withdrawals_count": len(block.get("withdrawals") or []), "internal_transactions_count": frame_count(line), "rewards": rewards(line, fees - burnt),
            "uncles_hashes": block["uncles"], "blob_transactions_count": sum(t["type"] == "0x3" for t in block["transactions"]),
            "blob_gas_used": blob("blobGasUsed"), "excess_blob_gas": blob("excessBlobGas")}


def frame_count(line):
    if "parityTraces" in line:
        return sum(not (trace["type"] == "call" and index == 0) for traces in line["parityTraces"] for index, trace in enumerate(traces))
    if "traces" in line:
        return sum(not (frame["type"] == "CALL" and index == 0) for trace in line["traces"] for index, frame in enumerate(flatten(trace["result"])))
    return None


def rewards(line, miner_fees):
    """What the node's reward traces say, and for the maker the fees that were not burnt."""
    if number(line["block"]["difficulty"]) == 0:
        return []
    makers, uncles = [], {}
    for trace in line.get("parityRewards") or []:
        action = trace["action"]
        if action["rewardType"] == "block":
            makers.append({"reward": amount(number(action["value"]) + miner_fees), "type": "Miner Reward"})
        else:
            uncles[action["author"]] = uncles.get(action["author"], 0) + number(action["value"])
    return makers + [{"reward": amount(value), "type": "Uncle Reward"} for value in uncles.values()]


def amount(value):
    """A number where a double is exactly it, else text: the digits that a reader of doubles would lose."""
    return value if int(float(value)) == value else str(value)


def uncle_item(header, line):
    own = [t["action"] for t in line.get("parityRewards") or [] if t["action"]["rewardType"] == "uncle" and t["action"]["author"] == header["miner"]]
    empty = header["transactionsRoot"] == EMPTY_ROOT
    base = number(header["baseFeePerGas"]) if "baseFeePerGas" in header else None
    return {**header_part(header, "uncle"), "total_difficulty": None, "base_fee_per_gas": None if base is None else str(base),
            "burnt_fees": str((base or 0) * number(header["gasUsed"])), "burnt_fees_percentage": None,
            "priority_fee": "0" if empty else None, "transaction_fees": "0" if empty else None,
            "transactions_count": 0 if empty else None, "withdrawals_count": 0,
            "internal_transactions_count": 0 if empty else None, "uncles_hashes": [], "blob_transactions_count": 0,
            "blob_gas_used": None, "excess_blob_gas": None, "nephew_block_number": number(line["block"]["number"]),
            "rewards": [{"reward": amount(number(own[0]["value"])), "type": "Uncle Reward"}] if len(own) == 1 else []}


def log_item(block, tx, log):
    emitter = address_object(log["address"])
    return {"address_hash": emitter, "address": emitter, "smart_contract": address_object(tx["to"]) if tx["to"] else None,
            "block_hash": block["hash"], "block_number": number(block["number"]), "block_timestamp": time(number(block["timestamp"])),
            "transaction_hash": tx["hash"], "index": number(log["logIndex"]), "topics": log["topics"], "data": log["data"],
            "decoded": decoded(log["topics"], log["data"])}


EVENTS = [("Transfer", "address indexed from, address indexed to, uint256 value"),
          ("Transfer", "address indexed from, address indexed to, uint256 indexed tokenId"),
          ("Approval", "address indexed owner, address indexed spender, uint256 value"),
          ("Approval", "address indexed owner, address indexed approved, uint256 indexed tokenId"),
          ("ApprovalForAll", "address indexed owner, address indexed operator, bool approved"),
          ("TransferSingle", "address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value"),
          ("TransferBatch", "address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values"),
          ("Deposit", "address indexed dst, uint256 wad"), ("Withdrawal", "address indexed src, uint256 wad"),
          ("OwnershipTransferred", "address indexed previousOwner, address indexed newOwner"),
          ("Upgraded", "address indexed implementation"), ("Sync", "uint112 reserve0, uint112 reserve1"),
          ("Swap", "address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to"),
          ("Swap", "address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick"),
          ("Initialized", "uint64 version"), ("AdminChanged", "address previousAdmin, address newAdmin"), ("BeaconUpgraded", "address indexed beacon")]


def decoded(topics, data):
    for name, declared in EVENTS:
        inputs = [one.split(" ") for one in declared.split(", ")]
        selector = "0x" + keccak(f"{name}({','.join(one[0] for one in inputs)})".encode()).hex()
        if not topics or topics[0] != selector or len(topics) != 1 + sum(len(one) == 3 for one in inputs):
            continue
        body = [data[at:at + 64] for at in range(2, len(data), 64)]
        rest, heads, parameters = iter(topics[1:]), iter(body), []
        for one in inputs:
            raw = (next(rest)[2:] if len(one) == 3 else next(heads, None))
            if raw is None or len(raw) != 64:
                return None
            kind, value = one[0], int(raw, 16)
            if kind.endswith("[]"):
                at = value // 32
                value = [str(int(word, 16)) for word in body[at + 1:at + 1 + int(body[at], 16)]]
            elif kind == "address":
                value = checksum("0x" + raw[24:])
            elif kind == "bool":
                value = "true" if value else "false"
            else:
                value = str(value - (1 << 256) if kind.startswith("int") and value >> 255 else value)
            parameters.append({"name": one[-1], "type": kind, "indexed?": len(one) == 3, "indexed": len(one) == 3, "value": value})
        return {"method_call": f"{name}({declared})", "method_id": selector[:10], "parameters": parameters}
    return None


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
    folder = os.path.join(OUTPUT, endpoint, name)
    os.makedirs(folder)
    with open(os.path.join(folder, "request"), "w") as f:
        f.write(f"{chain_name} {status} {path}\n")
    with open(os.path.join(folder, "response.json"), "w") as f:
        json.dump(expected, f, indent=1, sort_keys=True)
        f.write("\n")


def invalid(*entries):
    return {"message": "Invalid parameter(s)", "errors": [
        {"title": "Invalid value", "source": {"pointer": "/" + name}, "detail": detail} for name, detail in entries]}


def frames(name):
    """Every frame of every transaction as a list item, with who takes part on which side."""
    for line in chain(name):
        block = line["block"]
        for position, traces in enumerate(line.get("parityTraces") or []):
            failed = [trace["traceAddress"] for trace in traces if trace.get("error")]
            for index, trace in enumerate(traces):
                action, kind = trace["action"], trace["type"]
                result = trace.get("result") or {}
                error = trace.get("error")
                undone = any(trace["traceAddress"][:len(above)] == above for above in failed)
                call_type = action.get("callType") or ""
                if kind == "call" and index == 0:
                    continue
                if kind == "suicide":
                    start, end, made, value, gas = action["address"], action["refundAddress"], None, action["balance"], "0x0"
                else:
                    start, end, made, value, gas = action["from"], action.get("to"), result.get("address"), action["value"], action["gas"]
                if call_type in ("delegatecall", "staticcall"):
                    value = "0x0"
                if kind == "create":
                    flat = list(flatten(line["traces"][position]["result"]))
                    call_type = flat[index]["type"].lower()
                yield {"from": {start}, "to": {one for one in (end, made) if one}}, lambda undone=undone: {
                    "block_number": number(block["number"]), "transaction_index": position, "index": index,
                    "transaction_hash": block["transactions"][position]["hash"], "timestamp": time(number(block["timestamp"])),
                    "type": "selfdestruct" if kind == "suicide" else call_type, "from": address_object(start),
                    "to": address_object(end) if end else None, "created_contract": address_object(made) if made else None,
                    "value": str(number(value)), "gas_limit": str(number(gas)), "success": error is None, "error": error,
                    "is_undone": undone}


def flatten(frame):
    yield frame
    for call in frame.get("calls", []):
        yield from flatten(call)


def internal_transactions():
    cursor = lambda item: {key: item[key] for key in ("block_number", "index", "transaction_index")}
    for name in ("devchain", "hive"):
        learn(name)
        by_side = {"any": {}, "from": {}, "to": {}}
        for sides, make in frames(name):
            item = make()
            for side in ("from", "to"):
                for address in sides[side]:
                    by_side[side].setdefault(address, []).append(item)
            for address in sides["from"] | sides["to"]:
                by_side["any"].setdefault(address, []).append(item)
        newest = lambda side, address: sorted(by_side[side].get(address, []), key=lambda i: (i["block_number"], i["transaction_index"], i["index"]), reverse=True)
        busiest = max(by_side["any"], key=lambda address: (len(by_side["any"][address]), address))
        path = f"/api/v2/addresses/{busiest}/internal-transactions"
        items = newest("any", busiest)
        write("address_internal_transactions", f"newest_first_{name}", name, path, page(items, 50, cursor))
        at = items[4]
        after = f"block_number={at['block_number']}&transaction_index={at['transaction_index']}&index={at['index']}&items_count=5"
        write("address_internal_transactions", f"second_page_{name}", name, f"{path}?{after}", page(items[5:], 5, cursor))
        write("address_internal_transactions", f"exactly_a_page_has_no_cursor_{name}", name, f"{path}?items_count={min(len(items), 100)}", page(items, 100, cursor))
        for side in ("from", "to"):
            one = max(by_side[side], key=lambda address: (len(by_side[side][address]), address))
            write("address_internal_transactions", f"{side}_{name}", name, f"/api/v2/addresses/{one}/internal-transactions?filter={side}", page(newest(side, one), 50, cursor))
            write("address_internal_transactions", f"busiest_{side}_{name}", name, f"{path}?filter={side}", page(newest(side, busiest), 50, cursor))
    made = next(item for items in by_side["to"].values() for item in items if item["created_contract"] and item["index"] == 0)
    contract = made["created_contract"]["hash"].lower()
    write("address_internal_transactions", "its_own_creation_is_to_it", name, f"/api/v2/addresses/{contract}/internal-transactions?filter=to", page(newest("to", contract), 50, cursor))
    path = f"/api/v2/addresses/{busiest}/internal-transactions"
    write("address_internal_transactions", "unknown_address_has_none", name, f"/api/v2/addresses/0x{'12' * 20}/internal-transactions", EMPTY)
    write("address_internal_transactions", "direction_is_lower_case", name, f"{path}?filter=TO", invalid(("filter", "Invalid value for enum")), 422)
    write("address_internal_transactions", "unknown_parameter", name, f"{path}?limit=10", invalid(("limit", "Unexpected field: limit")), 422)
    write("address_internal_transactions", "malformed_address_before_malformed_query", name, f"/api/v2/addresses/0x{'1' * 39}/internal-transactions?filter=TO", invalid(ADDRESS_FORMAT), 422)
    write("address_internal_transactions", "a_cursor_must_be_whole", name, f"{path}?block_number=5&index=1", invalid(("transaction_index", "Missing field: transaction_index")), 422)
    write("address_internal_transactions", "nothing_is_below_the_bottom", name, f"{path}?block_number=0&transaction_index=0&index=0", EMPTY)


FUNCTIONS = {"0x" + keccak(text.encode()).hex()[:8]: text.split("(")[0] for text in (
    "transfer(address,uint256)", "transferFrom(address,address,uint256)", "approve(address,uint256)", "mint(address,uint256)",
    "burn(uint256)", "safeTransferFrom(address,address,uint256)", "safeTransferFrom(address,address,uint256,bytes)",
    "safeTransferFrom(address,address,uint256,uint256,bytes)", "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)",
    "setApprovalForAll(address,bool)", "safeMint(address,uint256)", "mint(address,uint256,uint256,bytes)", "mint(uint256)",
    "mintBatch(address,uint256[],uint256[],bytes)", "deposit()", "withdraw(uint256)", "burn(address,uint256)",
    "execute(bytes,bytes[],uint256)", "execute(bytes,bytes[])",
    "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)", "swapExactETHForTokens(uint256,address[],address,uint256)",
    "swapExactTokensForETH(uint256,uint256,address[],address,uint256)", "deposit(uint256,address)", "mint(uint256,address)", "withdraw(uint256,address,address)", "redeem(uint256,address,address)",
    "upgradeTo(address)", "upgradeToAndCall(address,bytes)", "multicall(bytes[])", "transferOwnership(address)", "burn(uint256,uint256)", "withdrawETH(address,uint256,address)",
    "mint(address,uint256,uint256)", "execute(bytes)", "withdraw(address,uint256,address)", "modifyLiquidities(bytes,uint256)", "deposit(uint256)",
    "claim(address,uint256,address,uint256,(bytes32[],uint256,uint256,address),bytes)")}
TRANSFER = "0x" + keccak(b"Transfer(address,address,uint256)").hex()
SINGLE = "0x" + keccak(b"TransferSingle(address,address,address,uint256,uint256)").hex()
BATCH = "0x" + keccak(b"TransferBatch(address,address,address,uint256[],uint256[])").hex()


def party(topic):
    return "0x" + topic[26:] if int(topic[2:26], 16) == 0 else None


def words(data):
    return [int(data[at:at + 64], 16) for at in range(2, len(data), 64)] if (len(data) - 2) % 64 == 0 else None


def transfers_of(log):
    """(standard, from, to, id, value) of every transfer a log is; none if it only looks like one."""
    topics, values = log["topics"], words(log["data"])
    if not topics or values is None:
        return []
    if topics[0] == TRANSFER and len(topics) == 3 and len(values) == 1:
        kind, ends, items = "ERC-20", topics[1:3], [(None, values[0])]
    elif topics[0] == TRANSFER and len(topics) == 4 and not values:
        kind, ends, items = "ERC-721", topics[1:3], [(int(topics[3], 16), 1)]
    elif topics[0] == SINGLE and len(topics) == 4 and len(values) == 2:
        kind, ends, items = "ERC-1155", topics[2:4], [(values[0], values[1])]
    elif topics[0] == BATCH and len(topics) == 4 and len(values) >= 4:
        count = values[2]
        if values[0] != 64 or len(values) != 4 + 2 * count or values[1] != 96 + 32 * count or values[3 + count] != count:
            return []
        kind, ends, items = "ERC-1155", topics[2:4], {}
        for one, value in zip(values[3:3 + count], values[4 + count:]):
            items[one] = items.get(one, 0) + value
        items = list(items.items())
    else:
        return []
    giver, receiver = map(party, ends)
    return [(kind, giver, receiver, one, value) for one, value in items] if giver and receiver else []


BATCH_MINT = "0x" + keccak(b"ConsecutiveTransfer(uint256,uint256,address,address)").hex()
COUNTED = {}


def counted(name):
    """Holders and supply by token and kind of transfer, played block by block; a token is left out from where a balance
    falls below zero or tokens came without transfers. Unknown of a chain of which the beginning is missing."""
    if name in COUNTED:
        return COUNTED[name]
    balances, unknown = {}, set()
    # As far as no block is missing.
    lines = [line for height, line in enumerate(chain(name)) if number(line["block"]["number"]) == height]
    for line in lines:
        for receipt in line["receipts"]:
            for log in receipt["logs"]:
                if log["topics"] and log["topics"][0] == BATCH_MINT:
                    unknown.add((log["address"], "ERC-721"))
                for kind, giver, receiver, _, value in transfers_of(log):
                    holders = balances.setdefault((log["address"], kind), {})
                    holders[giver] = holders.get(giver, 0) - value
                    holders[receiver] = holders.get(receiver, 0) + value
        for token, holders in balances.items():
            if any(value < 0 or value >= 2**256 for holder, value in holders.items() if int(holder, 16)):
                unknown.add(token)
    counts = {}
    for (address, kind), holders in balances.items():
        if (address, kind) not in unknown:
            owners = [value for holder, value in holders.items() if int(holder, 16) and value]
            counts[address, kind] = (str(len(owners)), str(sum(owners)) if kind != "ERC-1155" else None)
    COUNTED[name] = counts
    return counts


def token_object(address, kind):
    holders, supply = counted(KNOWN["chain"]).get((address, kind), (None, None))
    decimals, symbol, name = named(address)
    unknown = ("exchange_rate", "volume_24h", "circulating_market_cap", "circulating_supply", "icon_url")
    return {"address_hash": checksum(address), "address": checksum(address), "type": kind, "reputation": "ok",
            "holders_count": holders, "holders": holders, "total_supply": supply, "name": name, "symbol": symbol, "decimals": decimals, **{key: None for key in unknown}}


def transfer_item(block, tx, log, kind, giver, receiver, one, value):
    zero = "0x" + "0" * 40
    total = {}
    if kind != "ERC-20":
        total.update(token_id=str(one), token_instance=None)
    if kind != "ERC-721":
        total.update(value=str(value), decimals=named(log["address"])[0])
    types = {(True, True): "token_spawning", (True, False): "token_minting", (False, True): "token_burning"}
    selector = tx["input"][:10]
    return {"transaction_hash": tx["hash"], "block_hash": block["hash"], "block_number": number(block["number"]),
            "log_index": number(log["logIndex"]), "timestamp": time(number(block["timestamp"])), "from": address_object(giver),
            "to": address_object(receiver), "token": token_object(log["address"], kind), "token_type": kind, "total": total,
            "type": types.get((giver == zero, receiver == zero), "token_transfer"),
            "method": FUNCTIONS.get(selector, selector) if len(selector) == 10 else None}


def token_transfers():
    folder = "address_token_transfers"
    for name in ("devchain", "mainnet"):
        learn(name)
        everything = []
        for line in chain(name):
            for tx, receipt in zip(line["block"]["transactions"], line["receipts"]):
                for log in receipt["logs"]:
                    for position, (kind, giver, receiver, one, value) in enumerate(transfers_of(log)):
                        key = (number(line["block"]["number"]), number(log["logIndex"]), position)
                        everything.append((key, giver, receiver, log["address"], kind, (line["block"], tx, log, kind, giver, receiver, one, value)))
        everything.sort(key=lambda entry: entry[0], reverse=True)

        def select(address, side=None, token=None, kinds=None):
            return [entry for entry in everything
                    if address in {"from": (entry[1],), "to": (entry[2],), None: (entry[1], entry[2])}[side]
                    and token in (None, entry[3]) and (not kinds or entry[4] in kinds)]

        def answer(entries, size=50):
            shown, rest = entries[:size], entries[size:]
            following = None
            if rest:
                key, _, _, _, _, (block, tx, log, *_) = shown[-1]
                following = {"block_number": key[0], "index": key[1]}
                if rest[0][0][:2] == key[:2]:
                    following.update(batch_log_index=key[1], batch_block_hash=block["hash"], batch_transaction_hash=tx["hash"], index_in_batch=key[2])
            return {"items": [transfer_item(*entry[5]) for entry in shown], "next_page_params": following}

        count = {}
        for _, giver, receiver, *_ in everything:
            for address in {giver, receiver}:
                count[address] = count.get(address, 0) + 1
        busiest = max((a for a in count if int(a, 16) and count[a] < 5000), key=lambda a: (count[a], a))
        path = f"/api/v2/addresses/{busiest}/token-transfers"
        whole = select(busiest)
        write(folder, f"newest_first_{name}", name, path, answer(whole))
        key = whole[6][0]
        write(folder, f"second_page_{name}", name, f"{path}?block_number={key[0]}&index={key[1]}&items_count=5",
              answer([entry for entry in whole if entry[0][:2] < key[:2]], 5))
        token = max({entry[3] for entry in whole}, key=lambda t: (len(select(busiest, token=t)), t))
        write(folder, f"of_one_token_{name}", name, f"{path}?token={token}", answer(select(busiest, token=token)))
        for side in ("from", "to"):
            write(folder, f"{side}_{name}", name, f"{path}?filter={side}", answer(select(busiest, side)))
            write(folder, f"{side}_of_one_token_{name}", name, f"{path}?filter={side}&token={token.upper().replace('0X', '0x')}", answer(select(busiest, side, token)))
            write(folder, f"{side}_of_one_standard_{name}", name, f"{path}?filter={side}&type=ERC-20", answer(select(busiest, side, None, ["ERC-20"])))
        for kinds in (["ERC-20"], ["ERC-721"], ["ERC-1155"], ["ERC-721", "ERC-1155"]):
            write(folder, f"{'_and_'.join(kinds).lower().replace('-', '')}_{name}", name, f"{path}?type={','.join(kinds).lower()}", answer(select(busiest, kinds=kinds)))
        zero = "0x" + "0" * 40
        write(folder, f"mints_and_burns_{name}", name, f"/api/v2/addresses/{zero}/token-transfers", answer(select(zero)))
        batches = [entry for entry in everything if entry[0][2] > 0]
        if batches:
            key, giver, receiver = batches[0][:3]
            one = receiver if int(receiver, 16) else giver
            mine = select(one)
            cut = next(at for at in range(1, len(mine)) if mine[at - 1][0][:2] == mine[at][0][:2])
            write(folder, f"a_page_ends_inside_a_batch_{name}", name, f"/api/v2/addresses/{one}/token-transfers?items_count={cut}", answer(mine, cut))
            following = answer(mine, cut)["next_page_params"]
            query = "&".join(f"{key}={value}" for key, value in following.items())
            write(folder, f"and_goes_on_inside_it_{name}", name, f"/api/v2/addresses/{one}/token-transfers?{query}", answer(mine[cut:]))
    name, path = "devchain", f"/api/v2/addresses/0x{'12' * 20}/token-transfers"
    write(folder, "unknown_address_has_none", name, path, EMPTY)
    write(folder, "unknown_token_has_none", name, f"{path}?token=0x{'34' * 20}", EMPTY)
    write(folder, "empty_type_is_no_filter", name, f"{path}?type=", EMPTY)
    bad = "Failed to cast value using any of: Schema(type: :string), Schema(title: \"EmptyString\", type: :string)"
    write(folder, "blanks_between_types", name, f"{path}?type=ERC-20,%20ERC-721", invalid(("type", bad)), 422)
    write(folder, "empty_token", name, f"{path}?token=", invalid(("token", ADDRESS_FORMAT[1])), 422)
    write(folder, "a_cursor_must_be_whole", name, f"{path}?index=1", invalid(("block_number", "Missing field: block_number")), 422)


def raw_traces():
    folder = "raw_trace"
    for name in ("devchain", "hive"):
        by_kind = {}
        for line in chain(name):
            for position, traces in enumerate(line.get("parityTraces") or []):
                flat = list(flatten(line["traces"][position]["result"]))
                kinds = {trace["type"] for trace in traces} | {"failed" for trace in traces if trace.get("error")}
                kinds |= {trace["action"].get("callType") for trace in traces if trace["action"].get("callType")}
                kinds |= {"deep"} if len(traces) > 4 else set()
                for kind in kinds:
                    by_kind.setdefault(kind, (line["block"]["transactions"][position]["hash"], traces, flat))
        for kind, (tx, traces, flat) in sorted(by_kind.items()):
            entries = []
            for trace, frame in zip(traces, flat):
                action = dict(trace["action"])
                if trace["type"] == "create":
                    action["creationMethod"] = frame["type"].lower()
                if action.get("callType") in ("delegatecall", "staticcall"):
                    action["value"] = "0x0"
                failed = trace.get("error")
                entry = {"action": action, "subtraces": trace["subtraces"], "traceAddress": trace["traceAddress"], "type": trace["type"],
                         "result": None if failed or trace["type"] == "suicide" else trace["result"]}
                entries.append({**entry, "error": failed} if failed else entry)
            write(folder, f"with_{kind}_{name}", name, f"/api/v2/transactions/{tx}/raw-trace", entries)
    write(folder, "unknown_transaction", "hive", f"/api/v2/transactions/0x{'12' * 32}/raw-trace", NOT_FOUND, 404)
    write(folder, "malformed_hash", "hive", "/api/v2/transactions/0x12/raw-trace", invalid(HASH_FORMAT), 422)
    write(folder, "unknown_parameter", "hive", f"/api/v2/transactions/0x{'12' * 32}/raw-trace?limit=1", invalid(("limit", "Unexpected field: limit")), 422)


def topic(event):
    return "0x" + keccak(event.encode()).hex()


def amount_of(amount, token):
    """An amount and its token: a decimal number of a token whose decimals are known, else smallest units of an address."""
    decimals = named(token)[0]
    if decimals is None:
        return {"type": "string", "value": str(amount)}, {"type": "address", "value": address_object(token)}
    whole, rest = divmod(amount, 10 ** int(decimals))
    value = f"{whole}.{rest:0{decimals}}".rstrip("0").rstrip(".") if int(decimals) else str(whole)
    return {"type": "currency", "value": value}, {"type": "token", "value": token_object(token, "ERC-20")}


def phrase(amount, token):
    """How a sentence names an amount of a token, by the names of both variables."""
    return lambda address: "{%s} {%s}" % (amount, token) if named(address)[0] else "{%s} units of {%s}" % (amount, token)


def event_summary(tx, logs, moved):
    """Kind and sentence of what an event says and value or transfers say too; decimals are not in a dump, so amounts are units but of well-known tokens."""
    text = lambda value: {"type": "string", "value": value}
    token = lambda log_address, kind="ERC-20": {"type": "token", "value": token_object(log_address, kind)}
    units = amount_of
    contract = {"type": "address", "value": address_object(tx["to"])}
    coins = {"type": "currency", "value": (lambda whole, rest: f"{whole}.{rest:018}".rstrip("0").rstrip("."))(*divmod(number(tx["value"]), 10**18))}
    sender, value = tx["from"], number(tx["value"])
    for log in logs:
        first, data = log["topics"][0] if log["topics"] else None, words(log["data"])
        if log["address"] != tx["to"]:
            continue
        if first == topic("DepositEvent(bytes,bytes,bytes,bytes,bytes)") and value and not moved:
            return "beacon_deposit", "{action_type} {amount} {native} into {contract}", {"action_type": text("Deposited"), "contract": contract, "amount": coins}
        if first == topic("ETHDepositInitiated(address,address,uint256,bytes)") and data[0] == value and party(log["topics"][1]) == sender and not moved:
            return "bridge", "{action_type} {amount} {native} through {contract}", {"action_type": text("Bridged"), "contract": contract, "amount": coins}
        if first == topic("Deposit(address,address,uint256,uint256)") and len(log["topics"]) == 3 and not value:
            gone = [one for one in moved if one[1:4] == ("ERC-20", sender, tx["to"]) and one[5] == data[0]]
            if len(gone) == 1:
                amount, one = units(data[0], gone[0][0]["address"])
                return "vault_deposit", "{action_type} " + phrase("amount", "token")(gone[0][0]["address"]) + " into {contract}", {"action_type": text("Deposited"), "contract": contract, "amount": amount, "token": one}
        if first == topic("Withdraw(address,address,address,uint256,uint256)") and len(log["topics"]) == 4:
            come = [one for one in moved if one[1:4] == ("ERC-20", tx["to"], sender) and one[5] == data[0]]
            if len(come) == 1:
                amount, one = units(data[0], come[0][0]["address"])
                return "vault_withdrawal", "{action_type} " + phrase("amount", "token")(come[0][0]["address"]) + " from {contract}", {"action_type": text("Withdrew"), "contract": contract, "amount": amount, "token": one}
    fulfilled = topic("OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])")
    orders = [log for log in logs if log["topics"] and log["topics"][0] == fulfilled]
    if len(orders) == 1 and len(moved) == 1 and moved[0][1] != "ERC-20" and moved[0][3] == sender and moved[0][5] == 1:
        log, kind, giver, _, one, _ = moved[0]
        data = words(orders[0]["data"])
        at = data[3] // 32
        items = [data[at + 1 + 5 * item:at + 6 + 5 * item] for item in range(data[at])]
        if all(item[0] == 0 for item in items) and sum(item[3] for item in items) == value and party(orders[0]["topics"][1]) == giver:
            return "bought", "{action_type} #{token_id} of {token} for {amount} {native} from {from_address}", {
                "action_type": text("Bought"), "token_id": text(str(one)), "token": token(log["address"], kind), "amount": coins,
                "from_address": {"type": "address", "value": address_object(giver)}}
    trades = {topic(event) for event in ("Swap(address,uint256,uint256,uint256,uint256,address)", "Swap(address,address,int256,int256,uint160,uint128,int24)")}
    pools = {log["address"] for log in logs if log["topics"] and log["topics"][0] in trades}
    if len(moved) == 2 and not value and len(pools) == 1:
        # One pool, straight: in and out.
        pool, = pools
        given = [one for one in moved if one[1:4] == ("ERC-20", sender, pool)]
        taken = [one for one in moved if one[1:4] == ("ERC-20", pool, sender)]
        if len(given) == len(taken) == 1 and given[0][0]["address"] != taken[0][0]["address"]:
            (out, outgoing), (back, incoming) = units(given[0][5], given[0][0]["address"]), units(taken[0][5], taken[0][0]["address"])
            outgoing_side = phrase("outgoing_amount", "outgoing_token")(given[0][0]["address"])
            incoming_side = phrase("incoming_amount", "incoming_token")(taken[0][0]["address"])
            return "swap", "{action_type} " + outgoing_side + " for " + incoming_side, {
                "action_type": text("Swapped"), "outgoing_amount": out, "outgoing_token": outgoing, "incoming_amount": back, "incoming_token": incoming}
    minted = {(log["address"], kind, giver, receiver) for log, kind, giver, receiver, _, _ in moved}
    if len(moved) > 1 and len(minted) == 1:
        (address, kind, giver, receiver), = minted
        if kind == "ERC-721" and not int(giver, 16) and not (value and frames_known(tx)):
            return "several_minted", "{action_type} {count} pieces of {token} to {to_address}", {
                "action_type": text("Minted"), "count": text(str(len(moved))), "token": token(address, kind), "to_address": {"type": "address", "value": address_object(receiver)}}
    return None


def frames_known(tx):
    return KNOWN["chain"] == "devchain"


def ether(wei):
    whole, rest = divmod(wei, 10**18)
    return f"{whole}.{rest:018}".rstrip("0").rstrip(".")


def failed(tx):
    """What a transaction that failed was to do."""
    text = lambda value: {"type": "string", "value": value}
    value, data = number(tx["value"]), tx["input"]
    coins = lambda: {"type": "currency", "value": ether(value)}
    if tx["to"] is None:
        return "{action_type} to create a contract", {"action_type": text("Failed")}
    to = {"type": "address", "value": address_object(tx["to"])}
    if data == "0x":
        return "{action_type} to transfer {amount} {native} to {to_address}", {"action_type": text("Failed"), "amount": coins(), "to_address": to}
    method = {"method": {"type": "method", "value": FUNCTIONS.get(data[:10], data[:10])}} if len(data) >= 10 else {}
    template = "{action_type} to call {method} on {contract}" if method else "{action_type} to call {contract}"
    sent = {"sent_amount": coins()} if value else {}
    return template + (" with {sent_amount} {native}" if value else ""), {"action_type": text("Failed"), "contract": to, **method, **sent}


def paid_by_frames(line, tx):
    """Whether call frames paid the sender something."""
    traces = line.get("parityTraces")
    frames = traces[number(tx["transactionIndex"])] if traces else []
    return any(frame["traceAddress"] and frame["action"].get("to") == tx["from"] and number(frame["action"].get("value", "0x0")) for frame in frames)


def gas_without_code(tx):
    """Gas of a transaction that runs no code: 21000 and its data (EIP-2028), or the floor since Prague (EIP-7623)."""
    data = bytes.fromhex(tx["input"][2:])
    tokens = sum(4 if byte else 1 for byte in data)
    return 21000 + 4 * tokens, 21000 + 10 * tokens


def summaries():
    """One transaction of each plain kind; what a sentence says is worked out here from the block's own JSON."""
    folder = "transaction_summary"
    text = lambda value: {"type": "string", "value": value}
    found = {}
    for name in ("devchain", "mainnet"):
        learn(name)
        for line in chain(name):
            for tx, receipt in zip(line["block"]["transactions"], line["receipts"]):
                logs = receipt["logs"]
                moved = [(log, *one) for log in logs for one in transfers_of(log)]
                status, value, to = receipt.get("status"), number(tx["value"]), tx["to"]
                if status == "0x0":
                    found.setdefault(("failed", name), (tx, [failed(tx)]))
                elif status is None:
                    found.setdefault(("before_byzantium", name), (tx, []))
                elif to is not None and (summary := event_summary(tx, logs, moved)):
                    found.setdefault((summary[0], name), (tx, [summary[1:]]))
                elif to is None:
                    found.setdefault(("creation", name), (tx, [("{action_type} contract {contract}", {
                        "action_type": text("Created"), "contract": {"type": "address", "value": address_object(receipt["contractAddress"])}})]))
                elif not logs and tx["input"] == "0x" and value:
                    amount = ether(value)
                    found.setdefault(("native_transfer", name), (tx, [("{action_type} {amount} {native} to {to_address}", {
                        "action_type": text("Transferred"), "amount": {"type": "currency", "value": amount},
                        "to_address": {"type": "address", "value": address_object(to)}})]))
                elif len(moved) == 1 and moved[0][1] == "ERC-721" and moved[0][2] == tx["from"]:
                    log, kind, giver, receiver, one, _ = moved[0]
                    found.setdefault(("nft_transfer", name), (tx, [("{action_type} #{token_id} of {token} to {to_address}", {
                        "action_type": text("Transferred"), "token_id": text(str(one)),
                        "token": {"type": "token", "value": token_object(log["address"], kind)},
                        "to_address": {"type": "address", "value": address_object(receiver)}})]))
                elif len(moved) == 1 and moved[0][1] == "ERC-20" and moved[0][2] == tx["from"] and int(moved[0][3], 16):
                    log, kind, giver, receiver, _, sent = moved[0]
                    amount, token = amount_of(sent, log["address"])
                    found.setdefault(("token_transfer", name), (tx, [("{action_type} " + phrase("amount", "token")(log["address"]) + " to {to_address}", {
                        "action_type": text("Transferred"), "amount": amount, "token": token,
                        "to_address": {"type": "address", "value": address_object(receiver)}})]))
                elif not moved and not logs and not value and not paid_by_frames(line, tx) and len(tx["input"]) >= 10:
                    if number(receipt["gasUsed"]) in gas_without_code(tx):
                        # The recipient ran no code, so the input is no call.
                        found.setdefault(("text_to_an_account", name), (tx, []))
                        continue
                    selector = tx["input"][:10]
                    found.setdefault(("call", name), (tx, [("{action_type} {method} on {contract}", {
                        "action_type": text("Called"), "method": {"type": "method", "value": FUNCTIONS.get(selector, selector)},
                        "contract": {"type": "address", "value": address_object(to)}})]))
        for (kind, chain_name), (tx, sentences) in sorted(found.items(), key=lambda pair: pair[0]):
            if chain_name == name:
                sender = {"sender_address": {"type": "address", "value": address_object(tx["from"])}}
                body = {"success": True, "data": {"summaries": [
                    {"summary_template": template + " by {sender_address}", "summary_template_variables": {**variables, **sender}}
                    for template, variables in sentences]}}
                write(folder, f"{kind}_{name}", name, f"/api/v2/transactions/{tx['hash']}/summary", body)
    write(folder, "unknown_transaction", "hive", f"/api/v2/transactions/0x{'12' * 32}/summary", NOT_FOUND, 404)
    write(folder, "malformed_hash", "hive", "/api/v2/transactions/0x12/summary", invalid(HASH_FORMAT), 422)
    write(folder, "a_flag_is_true_or_false", "hive", f"/api/v2/transactions/0x{'12' * 32}/summary?just_request_body=1",
          invalid(("just_request_body", "Invalid value for enum")), 422)


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
        learn(name)
        newest = [block_item(line) for line in reversed(chain(name))]
        write("blocks", f"first_page_is_the_newest_{name}", name, "/api/v2/blocks", page(newest, 50, by_height))
        at = newest[49]["height"]
        rest = [item for item in newest if item["height"] < at]
        write("blocks", f"second_page_starts_below_the_cursor_{name}", name, f"/api/v2/blocks?block_number={at}&items_count=50", page(rest, 50, by_height))
    learn("hive")
    hive = [block_item(line) for line in reversed(chain("hive"))]
    write("blocks", "page_size_is_honoured", "hive", "/api/v2/blocks?type=block&items_count=3", page(hive, 3, by_height))
    write("blocks", "exactly_a_page_has_no_cursor", "hive", "/api/v2/blocks?block_number=5&items_count=5", page(hive[-5:], 5, by_height))
    write("blocks", "nothing_is_below_genesis", "hive", "/api/v2/blocks?block_number=0", EMPTY)
    uncles = lambda name: sorted(((u, line) for line in chain(name) for u in line["uncleHeaders"]), key=lambda u: (number(u[0]["number"]), u[0]["hash"]), reverse=True)
    items = [uncle_item(*u) for u in uncles("hive")]
    write("blocks", "uncles_are_listed_by_their_own_height", "hive", "/api/v2/blocks?type=uncle", page(items, 50, by_height))
    learn("mainnet")
    items = [uncle_item(*u) for u in uncles("mainnet")]
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
        learn(name(block))
        items = [log_item(block, tx, log) for log in logs]
        path = f"/api/v2/transactions/{tx['hash']}/logs"
        write("transaction_logs", f"transaction_with_{count}_logs", name(block), path, page(items, 50, cursor))
        if count > 50:
            at = items[49]["index"]
            query = f"{path}?block_number={number(block['number'])}&index={at}&items_count=50"
            write("transaction_logs", f"second_page_of_{count}_logs", name(block), query, page(items[50:], 50, cursor))
            write("transaction_logs", f"index_alone_is_a_cursor_in_{count}_logs", name(block), f"{path}?index={items[-2]['index']}", page(items[-1:], 50, cursor))
    block, tx, logs = found[1]
    learn(name(block))
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
    learn("mainnet")
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


# The functions that write cases, and the folders that each writes.
CASES = {
    blocks: ["blocks"],
    transaction_logs: ["transaction_logs"],
    withdrawals: ["address_withdrawals", "block_withdrawals"],
    internal_transactions: ["address_internal_transactions"],
    token_transfers: ["address_token_transfers"],
    raw_traces: ["raw_trace"],
    summaries: ["transaction_summary"],
}

if __name__ == "__main__":
    # Into the folder that is named, or beside this script.
    OUTPUT = sys.argv[1] if len(sys.argv) > 1 else HERE
    for write_cases, folders in CASES.items():
        for folder in folders:
            shutil.rmtree(os.path.join(OUTPUT, folder), ignore_errors=True)
        write_cases()
