"""Reads the CSV and SQLite files of a plan with pandas and prints what it sees.

It also checks, without pandas, that a CSV file is UTF-8 and ends its lines with LF.
"""

import json
import math
import pathlib
import sqlite3
import sys

import pandas as pd

DTYPES = {"text": "string", "integer": "Int64", "real": "Float64", "boolean": "boolean"}


def frame(item, path):
    dtypes = {c["name"]: DTYPES[c["type"]] for c in item["columns"]}
    if item["format"] == "csv":
        return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=dtypes, float_precision="round_trip")
    names = ", ".join(f'"{c["name"]}"' for c in item["columns"])
    where, of = (" WHERE profile = ?", [item["profile"]]) if "profile" in item else ("", [])
    db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    return pd.read_sql_query(f"SELECT {names} FROM {item['relation']}{where}", db, params=of, dtype=dtypes)


def figures(series):
    present = series.dropna()
    kind = str(series.dtype)
    if kind == "string":
        total = sum(len(v.encode()) for v in present)
    elif kind == "Float64":
        total = math.fsum(present)
    else:
        total = sum(map(int, present))
    return {"name": series.name, "type": kind, "nulls": int(series.isna().sum()), "sum": str(total),
            "empty": int((present == "").sum()) if kind == "string" else 0}


def check_csv(data):
    data.decode("utf-8")
    if any(b"\r" in outside for outside in data.split(b'"')[::2]):
        raise ValueError("a CR outside of quotes")
    if not data.endswith(b"\n"):
        raise ValueError("the last line has no LF")


plan = json.load(open(sys.argv[1]))
seen = []
for index, item in enumerate(plan["items"]):
    if item["format"] not in ("csv", "sqlite"):
        continue
    out = {"index": index, "reader": "pandas on " + item["format"]}
    try:
        path = pathlib.Path(item["files"][0])
        if item["format"] == "csv":
            check_csv(path.read_bytes())
        f = frame(item, path)
        out.update(rows=len(f), columns=[figures(f[name]) for name in f.columns])
    except Exception as error:
        out["error"] = f"{type(error).__name__}: {error}"
    seen.append(out)
json.dump(seen, sys.stdout)
