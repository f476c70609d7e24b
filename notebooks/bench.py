"""What the notebooks share: where the dataset is, its tables as frames, SQL, the program, colours.

Tables are read with pyarrow and queries run in DuckDB where these are installed. Where they are
not, both go through one SQLite file that `agentlens export --format sqlite` writes.
"""

import functools
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from string import Template

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
DIR = os.environ.get("AGENTLENS_BENCH", os.path.relpath(ROOT / "datasets" / "agentlens-bench" / "2.0.0"))
PROFILES = ["release", "paper", "process"]

TIERS = ["ideal", "solid", "lucky", "partial_fail", "off_track"]
STAGES = ["exploration", "implementation", "verification", "orchestration"]
CATEGORIES = ["C1", "C2", "C3", "C4", "C5"]

# Okabe and Ito's palette, given out as `agentlens figures` does.
TIER_COLOURS = dict(zip(TIERS, ["#0072B2", "#56B4E9", "#F0E442", "#E69F00", "#D55E00"]))
STAGE_COLOURS = dict(zip(STAGES, ["#56B4E9", "#E69F00", "#009E73", "#CC79A7"]))
PASS_COLOUR, FAIL_COLOUR, ACCENT, GREY = "#56B4E9", "#E69F00", "#D55E00", "#5A5A5A"

_work = tempfile.TemporaryDirectory(prefix="agentlens-notebook-")


@functools.cache
def _program():
    """$AGENTLENS, or agentlens on the PATH, or one built from this checkout."""
    found = os.environ.get("AGENTLENS") or shutil.which("agentlens")
    if not found:
        found = os.path.join(_work.name, "agentlens")
        subprocess.run(["go", "build", "-C", str(ROOT), "-o", found, "./cmd/agentlens"], check=True)
    return os.path.abspath(found)


def agentlens(command, *, cwd=None, code=0, **paths):
    """Output of `agentlens COMMAND`, which has to end with the exit code given; with its messages
    when that is an error's. $BENCH is the dataset, $NAME the path given as NAME."""
    words = [Template(word).safe_substitute(paths, BENCH=DIR) for word in shlex.split(command)]
    done = subprocess.run([_program(), *words], cwd=cwd, capture_output=True, text=True)
    if done.returncode != code:
        raise RuntimeError(f"agentlens {command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout + (done.stderr if code else "")


def table(name, profile=None):
    """A table as a frame. Columns with gaps are Int64 or boolean, so that they stay whole numbers
    and truth values; without gaps they are int64 and bool. Reals are float64, texts are string."""
    try:
        path = Path(DIR, "data", profile or "", name + ".parquet")
        frame = pd.read_parquet(path, dtype_backend="numpy_nullable")
    except ImportError:
        frame = _read_sqlite(name, profile)
    plain = {"Float64": "float64", "Int64": "int64", "boolean": "bool"}
    for column, dtype in frame.dtypes.astype(str).items():
        if dtype == "Float64" or (dtype in plain and not frame[column].hasnans):
            frame[column] = frame[column].astype(plain[dtype])
    return frame


def sql(query):
    """Rows of a query. Every table has its name; those of a profile have a first column `profile`,
    and features_release, signals_process and so on are the rows of one profile."""
    con = _database()
    return pd.read_sql_query(query, con) if isinstance(con, sqlite3.Connection) else con.execute(query).df()


@functools.cache
def _database():
    try:
        import duckdb
    except ImportError:
        return _sqlite()
    con = duckdb.connect()
    parts = {}
    for path in sorted(Path(DIR, "data").rglob("*.parquet")):
        if path.parent.name == "data":
            con.execute(f"CREATE VIEW {path.stem} AS SELECT * FROM '{path}'")
        else:
            con.execute(f"CREATE VIEW {path.stem}_{path.parent.name} AS SELECT * FROM '{path}'")
            parts.setdefault(path.stem, []).append(f"SELECT '{path.parent.name}' AS profile, * FROM '{path}'")
    for name, selects in parts.items():
        con.execute(f"CREATE VIEW {name} AS {' UNION ALL BY NAME '.join(selects)}")
    return con


@functools.cache
def _sqlite():
    path = Path(DIR, "agentlens.db")
    if not path.exists():
        path = Path(_work.name, "db", "agentlens.db")
        agentlens("export $BENCH --format sqlite --out $OUT", OUT=path.parent)
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


@functools.cache
def _schema():
    return json.loads(agentlens("schema --format json"))["$defs"]


def _read_sqlite(name, profile):
    of_profile = f" WHERE profile = '{profile}'" if profile else ""
    view = name
    if profile and name in ("features", "signals"):
        view, of_profile = f"{name}_{profile}", ""
    frame = pd.read_sql_query(f"SELECT * FROM {view}{of_profile}", _sqlite(), coerce_float=False)
    frame = frame.drop(columns="profile", errors="ignore")
    columns = _schema()[name if name != "signals" else view]["properties"]
    types = {"integer": "Int64", "number": "Float64", "boolean": "boolean", "string": "string"}
    for column in frame:
        kind = columns[column]["type"]
        kind = kind if isinstance(kind, str) else kind[0]
        frame[column] = pd.array(frame[column].tolist(), dtype=types[kind])
    return frame


def style():
    """Plots that read well on a page, and the same bytes from the same data."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({
        "figure.figsize": (8, 4), "figure.dpi": 90, "figure.constrained_layout.use": True,
        "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    })
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    set_matplotlib_formats("png", metadata={"Software": None})
