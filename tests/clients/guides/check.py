"""Runs what the guides show. Usage: check.py ENGINE_URL API_URL READER PASSWORD DATABASE DUMP PAGE…

A page is Markdown or a notebook. With TRAWL_WRITE_PAGES in the environment, outputs are written into it instead of compared;
facts are compared all the same."""
import os
import sys
import tempfile
from pathlib import Path

import facts
import examples

engine, api, reader, password, database, dump = sys.argv[1:7]
programs = examples.Programs(engine, api, reader, password, database)
dump = facts.Dump(dump)
writes = "TRAWL_WRITE_PAGES" in os.environ
passed, failures = 0, []


def check(name, is_good, message):
    global passed
    if is_good:
        passed += 1
    else:
        failures.append(f"{name}: {message}")


def check_page(path):
    is_notebook = path.suffix == ".ipynb"
    page, blocks = examples.of_notebook(path) if is_notebook else examples.of_page(path)
    outputs = []
    with tempfile.TemporaryDirectory() as folder:
        runner = examples.Runner(programs, folder)
        for count, block in enumerate(blocks, 1):
            output, error = examples.attempt(runner, block)
            outputs.append(output)
            name = f"{path.name}, block {count}"
            check(name, error is None, f"{error}\n{block.code}")
            if block.output is not None and not writes:
                check(name, examples.tidy(output) == examples.tidy(block.output), f"printed\n{output}\ninstead of\n{block.output}")
            for fact in block.facts:
                missing = facts.missing(facts.FACTS[fact](dump), output)
                check(name, not missing, f"{fact}: {missing} not in\n{output}")
    check(path.name, blocks and any(block.facts for block in blocks), "no facts are checked")
    if writes:
        path.write_text(examples.with_notebook_outputs(page, blocks, outputs) if is_notebook else examples.with_outputs(page, blocks, outputs))


for page in sys.argv[7:]:
    check_page(Path(page))
for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} checks passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
