"""Examples of a page or a notebook: finds and runs them with the addresses of the programs under test, and compares the output with the
one in the page and with facts of the node."""
import contextlib
import io
import json
import os
import re
import subprocess
import traceback
import urllib.error
import urllib.request

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FACTS = re.compile(r"<!-- facts: ([\w ,]+) -->")


class Programs:
    """Where the test's programs are, in place of the addresses that guides name."""

    def __init__(self, engine, api, reader, password, database):
        self.engine, self.reader, self.password, self.database = engine, reader, password, database
        engine, api = engine.removeprefix("http://"), api.removeprefix("http://")
        self.words = [("127.0.0.1:8123", engine), ("127.0.0.1:4000", api), ("port=8123", "port=" + engine.rsplit(":", 1)[1]),
                      ("ana:secret", f"{reader}:{password}"), ('username="ana"', f'username="{reader}"'),
                      ('password="secret"', f'password="{password}"'),
                      ("database=trawl", "database=" + database), ('database="trawl"', f'database="{database}"')]

    def in_place(self, code):
        for placeholder, value in self.words:
            code = code.replace(placeholder, value)
        return code

    def sql(self, statement, format="TabSeparatedWithNames"):
        url = f"{self.engine}/?database={self.database}&default_format={format}"
        request = urllib.request.Request(url, statement.encode(), {"X-ClickHouse-User": self.reader, "X-ClickHouse-Key": self.password})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from None


class Runner:
    """Runs blocks one after another; those in Python share their names, as in one program."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.names = programs, folder, {"__name__": "__main__"}

    def run(self, language, code):
        code = self.programs.in_place(code)
        if language == "sql":
            return self.programs.sql(code)
        if language == "sh":
            process = subprocess.run(["bash", "-euo", "pipefail", "-c", code], cwd=self.folder, capture_output=True, text=True)
            if process.returncode:
                raise RuntimeError(process.stdout + process.stderr)
            return process.stdout
        output, before = io.StringIO(), os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(output):
                exec(compile(code, "<example>", "exec"), self.names)
        finally:
            os.chdir(before)
        return output.getvalue()


def tidy(output):
    return "\n".join(line.rstrip() for line in output.strip("\n").splitlines())


class Block:
    """A block of code with the output that is shown below it, and the facts that should be in there."""

    def __init__(self, language, code, output, facts, replace):
        self.language, self.code, self.output, self.facts, self.replace = language, code, output, facts, replace


def of_page(path):
    """The blocks of a Markdown page. `replace` gives the page with another output."""
    text = path.read_text()
    fences, blocks = list(FENCE.finditer(text)), []
    for fence, after in zip(fences, fences[1:] + [None]):
        if fence[1] not in ("sh", "python", "sql"):
            continue
        between = text[fence.end():after.start()] if after and after[1] == "text" else "-"
        facts = FACTS.findall(between)
        has_output = not FACTS.sub("", between).strip()
        blocks.append(Block(fence[1], fence[2], after[2] if has_output else None, ",".join(facts).replace(",", " ").split(), after))
    return text, blocks


def with_outputs(text, blocks, outputs):
    """The page with these outputs."""
    for block, output in reversed(list(zip(blocks, outputs))):
        if block.output is not None:
            text = text[:block.replace.start(2)] + tidy(output) + "\n" + text[block.replace.end(2):]
    return text


def of_notebook(path):
    """The code cells of a notebook."""
    notebook = json.loads(path.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    blocks = []
    for cell in cells:
        texts = [text for output in cell["outputs"] for text in output.get("text", [])]
        blocks.append(Block("python", "".join(cell["source"]), "".join(texts), cell["metadata"].get("facts", []), cell))
    return notebook, blocks


def with_notebook_outputs(notebook, blocks, outputs):
    for count, (block, output) in enumerate(zip(blocks, outputs), 1):
        block.replace["execution_count"] = count
        lines = (tidy(output) + "\n").splitlines(keepends=True) if output.strip() else []
        block.replace["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def attempt(runner, block):
    try:
        return runner.run(block.language, block.code), None
    except Exception:
        return "", traceback.format_exc(limit=-2)
