"""Validates the golden cases and the recorded transcripts, which Trawl did not produce, against the description of the API.

    described_cases.py BASE_URL TESTS_FOLDER
"""
import json
import pathlib
import re
import sys
import urllib.request

import jsonschema_rs

base, tests = sys.argv[1], pathlib.Path(sys.argv[2])
with urllib.request.urlopen(f"{base}/api/v2/openapi") as answer:
    description = json.load(answer)
passed, failed = 0, []


def resolve(item):
    """The component that a reference names."""
    if "$ref" not in item:
        return item
    family, name = item["$ref"].split("/")[-2:]
    return description["components"][family][name]


def schema(path, verb, status):
    content = resolve(description["paths"][path][verb]["responses"][status])["content"]["application/json"]
    return jsonschema_rs.validator_for({
        "$schema": "https://json-schema.org/draft/2020-12/schema", **content["schema"], "components": description["components"]})


def check(name, path, verb, status, value):
    global passed
    key = (path, verb, status)
    if key not in validators:
        validators[key] = schema(*key)
    try:
        validators[key].validate(value)
        passed += 1
    except jsonschema_rs.ValidationError as error:
        failed.append(f"{name}: {str(error)[:600]}")


validators = {}
routes = {path: re.compile("^" + re.sub(r"\{[^}]*\}", "[^/]+", path) + "$") for path in description["paths"]}
for case in sorted((tests / "cases").glob("*/*")):
    _, status, target = (case / "request").read_text().split()
    matches = [path for path, form in routes.items() if form.match(target.split("?")[0])]
    if len(matches) != 1:
        failed.append(f"{case.name}: {target} is of {matches}")
        continue
    check(f"{case.parent.name}/{case.name}", matches[0], "get", status, json.loads((case / "response.json").read_text()))
for transcript in sorted((tests / "fixtures/execution-apis").rglob("*.io")):
    for line in transcript.read_text().splitlines():
        if line.startswith("<< "):
            check(transcript.name, "/api/eth-rpc", "post", "200", json.loads(line[3:]))
print("\n".join(failed))
print(f"{passed} checks passed, {len(failed)} failed")
