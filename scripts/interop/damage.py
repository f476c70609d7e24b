"""Makes damaged files and prints the plan that belongs to the whole ones.

usage: damage.py PLAN FOLDER

In CSV, Arrow and SQLite one number of the table of models is greater by one; of the runs by
task a Parquet file is missing.
"""

import json
import pathlib
import sqlite3
import struct
import sys


def csv_file(source, target):
    *lines, last = source.read_text().splitlines()
    model, n, *rest = last.rsplit(",", 5)
    target.write_text("\n".join(lines + [",".join([model, str(int(n) + 1), *rest])]) + "\n")


def arrow_file(source, target, counts):
    whole, data = struct.pack(f"<{len(counts)}q", *counts), source.read_bytes()
    if whole not in data:
        sys.exit(f"{source}: the column n_trajectories is not in it")
    counts = [counts[0] + 1, *counts[1:]]
    target.write_bytes(data.replace(whole, struct.pack(f"<{len(counts)}q", *counts), 1))


def sqlite_file(source, target):
    with sqlite3.connect(target) as db:
        db.execute("ATTACH ? AS whole", [str(source)])
        db.execute(db.execute("SELECT sql FROM whole.sqlite_master WHERE name = 'models'").fetchone()[0])
        db.execute("INSERT INTO models SELECT * FROM whole.models")
        db.execute("UPDATE models SET n_trajectories = n_trajectories + 1 WHERE model = (SELECT min(model) FROM models)")


def main(plan, folder):
    folder = pathlib.Path(folder)
    folder.mkdir()
    items = json.load(open(plan))["items"]
    models = {i["format"]: i for i in items if i["table"] == "models"}
    source = {format: pathlib.Path(item["files"][0]) for format, item in models.items()}
    with sqlite3.connect(f"{source['sqlite'].as_uri()}?mode=ro", uri=True) as db:
        counts = [n for (n,) in db.execute("SELECT n_trajectories FROM models ORDER BY model")]
    target = {format: folder / f"models.{format}" for format in ("csv", "arrow", "sqlite")}
    csv_file(source["csv"], target["csv"])
    arrow_file(source["arrow"], target["arrow"], counts)
    sqlite_file(source["sqlite"], target["sqlite"])
    damaged = [dict(models[format], files=[str(path)]) for format, path in target.items()]
    runs = next(i for i in items if i["table"] == "trajectories" and "hive" in i)
    damaged.append(dict(runs, files=runs["files"][1:]))
    for item in damaged:
        item["folder"] = "a damaged copy of " + item["folder"]
    json.dump({"items": damaged}, sys.stdout)


main(*sys.argv[1:])
