"""Prints, as JSON, the files that readers must read and what they must see in them.

usage: plan.py BENCH DB EXPORTS

Columns, types and rows are those of the manifests of the exports; NULLs and sums come from
one query that `agentlens query DB` answers. A plan has an item for every table of every
folder: the files to read, rows, and columns with name, type, nullable, nulls, sum, empty.
The sum of text is its bytes, that of truth values the number of true ones; empty counts
empty texts. Sums of integers are exact.
"""

import json
import os
import pathlib
import subprocess
import sys


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def figures(column):
    """SQL for NULLs, sum and empty texts of a column."""
    x = '"' + column["name"] + '"'
    total = f"octet_length({x})" if column["type"] == "text" else x
    zero = "0.0" if column["type"] == "real" else "0"
    empty = f"coalesce(sum({x} = ''), 0)" if column["type"] == "text" else "0"
    return f"json_array(count(*) - count({x}), coalesce(sum({total}), {zero}), {empty})"


def name_of(table):
    return "/".join(filter(None, [table.get("profile"), table["table"]]))


def query(db, tables):
    """What SQLite says of every table: rows, then the figures of each column."""
    terms = []
    for t in tables:
        where = f" WHERE profile = {literal(t['profile'])}" if "profile" in t else ""
        columns = ", ".join(["count(*)"] + [figures(c) for c in t["columns"]])
        terms.append(f"SELECT {literal(name_of(t))} AS name, json_array({columns}) AS figures FROM {t['table']}{where}")
    done = subprocess.run([os.environ["AGENTLENS"], "query", db, "-", "--format", "jsonl"],
                          input="\nUNION ALL ".join(terms), text=True, stdout=subprocess.PIPE, check=True)
    return {row["name"]: json.loads(row["figures"]) for row in map(json.loads, done.stdout.splitlines())}


def partitions(db, column, tables):
    """Rows of each value of a partition column, for each of the tables."""
    out = {}
    for t in tables:
        sql = f"SELECT {column} AS value, count(*) AS n FROM {t} GROUP BY 1 ORDER BY 1"
        if t == "states":
            sql = f"SELECT {column} AS value, count(*) AS n FROM states JOIN trajectories USING (trajectory_id) GROUP BY 1 ORDER BY 1"
        done = subprocess.run([os.environ["AGENTLENS"], "query", db, sql, "--format", "jsonl"], stdout=subprocess.PIPE, check=True)
        out[t] = {row["value"]: row["n"] for row in map(json.loads, done.stdout.splitlines())}
    return out


def main(bench, db, exports):
    problems = []
    bench, exports = pathlib.Path(bench).resolve(), pathlib.Path(exports).resolve()
    read = lambda folder: json.loads((folder / "manifest.json").read_text())
    tables = read(exports / "parquet")["tables"]
    stated = [(name_of(t), t["rows"]) for t in read(bench)["tables"]]
    if stated != [(name_of(t), t["rows"]) for t in tables]:
        problems.append("the export has other tables or rows than the dataset's manifest")
    known = query(db, tables)
    by_name = {}
    for t in tables:
        rows, *columns = known[name_of(t)]
        if rows != t["rows"]:
            problems.append(f"{name_of(t)}: SQLite has {rows} rows, the manifest of the export says {t['rows']}")
        for c, (nulls, total, empty) in zip(t["columns"], columns):
            c.update(nulls=nulls, sum=total, empty=empty)
        by_name[name_of(t)] = t

    items = []

    def item(folder, format, t, files, **more):
        items.append(dict(folder=folder, format=format, table=name_of(t), rows=t["rows"], columns=t["columns"],
                          files=[str(f) for f in files], **more))

    def same_files(folder, ending):
        have = {str(f) for f in pathlib.Path(folder).rglob("*." + ending)}
        planned = {f for i in items if i["folder"] == str(folder) for f in i["files"]}
        for f in sorted(have ^ planned):
            problems.append(f"{f}: " + ("a file that no manifest lists" if f in have else "there is no such file"))

    data = bench / "data"
    for t in tables:
        item(str(data), "parquet", t, [data / (name_of(t) + ".parquet")])
    same_files(data, "parquet")
    for format in ["parquet", "csv", "arrow"]:
        folder = exports / format
        listed = read(folder)["tables"]
        if [name_of(t) for t in listed] != [name_of(t) for t in tables]:
            problems.append(f"{folder}: other tables than in the Parquet export")
        for t in listed:
            item(str(folder), format, by_name[name_of(t)], [folder / f["path"] for f in t["files"]])
        same_files(folder, format)

    folder = exports / "by-task"
    counts = partitions(db, "task_id", ["trajectories", "states"])
    for t in read(folder)["tables"]:
        whole = by_name[t["table"]]
        inside = [c for c in whole["columns"] if c["name"] != t["partition_by"]]
        item(str(folder), "parquet", dict(whole, columns=inside), [folder / f["path"] for f in t["files"]],
             hive=t["partition_by"], partitions=counts[t["table"]])
    same_files(folder, "parquet")

    for t in tables:
        more = {"profile": t["profile"]} if "profile" in t else {}
        item(str(db), "sqlite", t, [pathlib.Path(db).resolve() / "agentlens.db"], relation=t["table"],
             loaded=pathlib.Path(db).resolve() != bench, **more)
    if problems:
        sys.exit("\n".join(problems))
    json.dump({"items": items}, sys.stdout)


main(*sys.argv[1:])
