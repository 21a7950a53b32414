"""Runs the queries of the dashboard as Grafana would. Usage: grafana.py ENGINE_URL API_URL READER PASSWORD DATABASE DUMP FOLDER

Macros become what the plugin's documentation says: https://grafana.com/docs/plugins/grafana-clickhouse-datasource/"""
import json
import re
import sys
from collections import Counter
from pathlib import Path

import yaml

import facts
import examples

engine, api, reader, password, database, dump, folder = sys.argv[1:8]
programs = examples.Programs(engine, api, reader, password, database)
dump = facts.Dump(dump)
folder = Path(folder)
passed, failures = 0, []


def check(name, is_good, message=""):
    global passed
    if is_good:
        passed += 1
    else:
        failures.append(f"{name}: {message}")


def expanded(sql, begin, end, interval, variables):
    """The statement that Grafana sends for a range of time, in seconds."""
    macros = {
        "timeFilter": lambda column: f"{column} >= toDateTime({begin}) AND {column} <= toDateTime({end})",
        "timeInterval": lambda column: f"toStartOfInterval(toDateTime({column}), INTERVAL {max(interval, 1)} second)",
        "fromTime": lambda _: f"toDateTime({begin})",
        "toTime": lambda _: f"toDateTime({end})",
        "interval_s": lambda _: str(max(interval, 1)),
    }
    sql = re.sub(r"\$__(\w+)(?:\(([^()]*)\))?", lambda match: macros[match[1]](match[2]), sql)
    return re.sub(r"\$\{(\w+)\}", lambda match: variables[match[1]], sql)


dashboard = json.loads((folder / "dashboard.json").read_text())
[source] = yaml.safe_load((folder / "datasource.yaml").read_text())["datasources"]
[provider] = yaml.safe_load((folder / "dashboards.yaml").read_text())["providers"]
check("the data source", (source["type"], source["jsonData"]["protocol"], source["jsonData"]["port"]) == ("grafana-clickhouse-datasource", "http", 8123), source)
check("the provider", provider["type"] == "file" and provider["options"]["path"].startswith("/"), provider)
variables = {variable["name"]: variable["current"]["value"] for variable in dashboard["templating"]["list"]}
time = facts.number(dump.block(facts.NEWEST)["timestamp"])

panel_rows = {}
for panel in dashboard["panels"]:
    title = panel["title"]
    check(title, panel["datasource"] == {"type": source["type"], "uid": source["uid"]}, panel["datasource"])
    [target] = panel["targets"]
    check(title, "$__timeFilter(" in target["rawSql"], "every panel is of the dashboard's time")
    try:
        answer = json.loads(programs.sql(expanded(target["rawSql"], time - 1800, time + 1800, 60, variables), "JSON"))
    except Exception as error:
        check(title, False, error)
        continue
    panel_rows[title] = rows = answer["data"]
    check(title, rows, "no rows")
    if panel["type"] == "timeseries":
        column = answer["meta"][0]
        check(title, column["name"] == "time" and column["type"].startswith("DateTime"), column)
        check(title, all(kind["type"] != "UInt256" for kind in answer["meta"]), answer["meta"])
    # At a time without blocks a chart is empty.
    quiet = json.loads(programs.sql(expanded(target["rawSql"], 1_600_000_000, 1_600_003_600, 60, variables), "JSON"))["data"]
    check(title, not quiet or panel["type"] == "stat", quiet)

block, receipts = dump.block(facts.NEWEST), dump.lines[facts.NEWEST]["receipts"]
number = facts.number
logs = Counter(log["address"] for log in dump.logs(facts.NEWEST))
busiest = sorted(logs, key=lambda address: (-logs[address], address))[:3]
close = lambda actual, expected: abs(actual - expected) <= 1e-9 * abs(expected)
[[_, failed, _]] = facts.failed(dump)
[[fees, burnt]] = facts.fees_of_newest(dump)
[[transfers, _]] = facts.usdt_transfers(dump)
check("transactions", [int(row["transactions"]) for row in panel_rows["Transactions"]] == [len(receipts)], panel_rows["Transactions"])
check("base fee", close(panel_rows["Base fee"][0]["gwei"], number(block["baseFeePerGas"]) / 1e9), panel_rows["Base fee"])
check("burnt", close(panel_rows["Fees in ether"][0]["burnt"], burnt / 1e18), panel_rows["Fees in ether"])
check("tips", close(panel_rows["Fees in ether"][0]["tips"], (fees - burnt) / 1e18), panel_rows["Fees in ether"])
check("full", close(panel_rows["How full blocks are"][0]["full"], number(block["gasUsed"]) / number(block["gasLimit"])), panel_rows["How full blocks are"])
check("failed", close(panel_rows["Failed transactions"][0]["failed"], failed / len(receipts)), panel_rows["Failed transactions"])
check("transfers", [int(row["transfers"]) for row in panel_rows["Transfers of the token"]] == [transfers], panel_rows["Transfers of the token"])
check("tokens", any(row["token"] == facts.USDT and int(row["transfers"]) == transfers for row in panel_rows["Most moved tokens"]), panel_rows["Most moved tokens"])
busiest_logs = [(row["contract"], int(row["logs"])) for row in panel_rows["Contracts with the most logs"]][:3]
check("logs", busiest_logs == [(address, logs[address]) for address in busiest], busiest_logs)

for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} checks passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
