"""Compares what readers saw with the plan and prints a line per reader.

usage: compare.py [--want-differences] PLAN SEEN_FOLDER

Exit code 1 when anything differs; with --want-differences, when a reader saw none.
"""

import json
import math
import pathlib
import sys

TYPES = {
    "DuckDB on parquet": {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN"},
    "DuckDB on csv": {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN"},
    "hyparquet": {"text": "BYTE_ARRAY UTF8", "integer": "INT64 INT_64", "real": "DOUBLE", "boolean": "BOOLEAN"},
    "apache-arrow": {"text": "Utf8", "integer": "Int64", "real": "Float64", "boolean": "Bool"},
    "pandas on csv": {"text": "string", "integer": "Int64", "real": "Float64", "boolean": "boolean"},
    "pandas on sqlite": {"text": "string", "integer": "Int64", "real": "Float64", "boolean": "boolean"},
    "Python's sqlite3": {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "boolean": "INTEGER"},
}
READS = {"parquet": ["DuckDB on parquet", "hyparquet"], "csv": ["DuckDB on csv", "pandas on csv"], "arrow": ["apache-arrow"],
         "sqlite": ["pandas on sqlite", "Python's sqlite3"]}
SHOWN = 5  # differences of a reader


def same_sum(kind, want, got):
    if kind == "real":
        return math.isclose(float(want), float(got), rel_tol=1e-9, abs_tol=1e-9)
    return int(want) == int(got)


def differences(item, got):
    """Yields column (or nothing), what, got and want for all that differs."""
    if "error" in got:
        yield "", "reading", got["error"], "no error"
        return
    if int(got["rows"]) != item["rows"]:
        yield "", "rows", got["rows"], item["rows"]
    names = [c["name"] for c in item["columns"]]
    columns = got["columns"]
    if item.get("loaded"):  # SQLite has every column; those that the Parquet files lack hold nothing
        columns = [c for c in columns if c["name"] in names or c["nulls"] + c["empty"] < item["rows"]]
    if [c["name"] for c in columns] != names:
        yield "", "columns", [c["name"] for c in columns], names
        return
    types = TYPES[got["reader"]]
    guessed = {c["name"]: c["type"] for c in got.get("guessed", [])}
    for want, c in zip(item["columns"], columns):
        nulls, empty = want["nulls"], want["empty"]
        if got["reader"] == "pandas on csv":  # it takes an empty text for NULL
            nulls, empty = nulls + empty, 0
        if c["type"] != types[want["type"]]:
            yield c["name"], "type", c["type"], types[want["type"]]
            continue
        if c.get("nullable", want["nullable"]) != want["nullable"]:
            yield c["name"], "nullable", c["nullable"], want["nullable"]
        if int(c["nulls"]) != nulls:
            yield c["name"], "NULLs", c["nulls"], nulls
        if int(c["empty"]) != empty:
            yield c["name"], "empty texts", c["empty"], empty
        if not same_sum(want["type"], want["sum"], c["sum"]):
            yield c["name"], "sum", c["sum"], want["sum"]
        if guessed and want["type"] != "text" and want["nulls"] < item["rows"] and guessed.get(c["name"]) != types[want["type"]]:
            yield c["name"], "guessed type", guessed.get(c["name"]), types[want["type"]]
    if "partitions" in got:
        if got["hiveType"] != types["text"]:
            yield item["hive"], "type", got["hiveType"], types["text"]
        parts = {value: int(n) for value, n in got["partitions"].items()}
        for value in sorted(parts.keys() | item["partitions"].keys()):
            if parts.get(value) != item["partitions"].get(value):
                yield item["hive"], f"rows of {value}", parts.get(value), item["partitions"].get(value)


def main(plan, seen, want_differences):
    items = json.load(open(plan))["items"]
    read = {}
    for path in sorted(pathlib.Path(seen).glob("*.json")):
        for got in json.load(open(path)):
            read[got["reader"], got["index"]] = got
    failed = False
    for reader in TYPES:
        columns = cells = 0
        files, lines = set(), []
        for index, item in enumerate(items):
            if reader not in READS[item["format"]]:
                continue
            files.update(item["files"])
            columns += len(item["columns"])
            cells += item["rows"] * len(item["columns"])
            got = read.get((reader, index), {"reader": reader, "error": "it was not read"})
            for column, what, have, want in differences(item, got):
                where = f"{item['folder']} {item['table']}" + (f", column {column}" if column else "")
                lines.append(f"  {where}: {what}: got {have}, want {want}")
        if want_differences:
            failed |= not lines
            print(f"{reader} on damaged files: " + (f"noticed ({lines[0].strip()})" if lines else "it did NOT notice the damage"))
            continue
        failed |= bool(lines) or not files
        print(f"{reader}: files {len(files)}, columns {columns:,}, cells {cells:,}: " + (f"{len(lines)} DIFFERENCES" if lines else "the same"))
        print("".join(line + "\n" for line in lines[:SHOWN]), end="")
    return int(failed)


arguments = sys.argv[1:]
want = "--want-differences" in arguments
sys.exit(main(*[a for a in arguments if not a.startswith("--")], want))
