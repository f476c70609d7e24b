"""Reads the SQLite file of a plan with Python's sqlite3 and prints what it sees."""

import json
import math
import pathlib
import sqlite3
import sys

VALUES = {"TEXT": str, "INTEGER": int, "REAL": float}


def read(db, item):
    """A table of one profile; features and signals have a view per profile."""
    relation, where, of = item["relation"], "", []
    if "profile" in item:
        view = f"{relation}_{item['profile']}"
        if db.execute("SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?", [view]).fetchone():
            relation = view
        else:
            where, of = " WHERE profile = ?", [item["profile"]]
    declared = [(name, kind) for _, name, kind, *_ in db.execute(f"PRAGMA table_info({relation})")
                if not (where and name == "profile")]
    names = ", ".join(f'"{name}"' for name, _ in declared)
    rows = db.execute(f"SELECT {names} FROM {relation}{where}", of).fetchall()
    columns = []
    for (name, kind), values in zip(declared, zip(*rows) if rows else [()] * len(declared)):
        present = [v for v in values if v is not None]
        if any(type(v) is not VALUES[kind] for v in present):
            raise TypeError(f"{name}: a value that is no {kind}")
        if kind == "TEXT":
            total = sum(len(v.encode()) for v in present)
        else:
            total = math.fsum(present) if kind == "REAL" else sum(present)
        columns.append({"name": name, "type": kind, "nulls": len(values) - len(present), "sum": str(total),
                        "empty": present.count("") if kind == "TEXT" else 0})
    return len(rows), columns


plan = json.load(open(sys.argv[1]))
seen = []
for index, item in enumerate(plan["items"]):
    if item["format"] != "sqlite":
        continue
    out = {"index": index, "reader": "Python's sqlite3"}
    try:
        with sqlite3.connect(f"{pathlib.Path(item['files'][0]).as_uri()}?mode=ro", uri=True) as db:
            out["rows"], out["columns"] = read(db, item)
    except Exception as error:
        out["error"] = f"{type(error).__name__}: {error}"
    seen.append(out)
json.dump(seen, sys.stdout)
