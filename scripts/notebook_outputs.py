"""Compares executed notebooks with the committed ones, or writes them in a form that reruns repeat."""

import difflib
import json
import re
import sys
from pathlib import Path

MAX_BYTES = 500_000
OF_A_MACHINE = re.compile(r"/(?:home|root|tmp|work|Users|var)/[^\s\"']*")


def stable(notebook):
    """The notebook without what a rerun changes: times, versions, how a stream was cut into pieces."""
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)
        if cell["cell_type"] != "code":
            continue
        outputs = []
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                output["data"].pop("text/plain", None)
            before = outputs[-1] if outputs else {}
            if output["output_type"] == "stream" and before.get("name") == output["name"]:
                before["text"] = lines(text(before["text"]) + text(output["text"]))
            else:
                outputs.append(output)
        cell["outputs"] = outputs
    return notebook


def text(value):
    return value if isinstance(value, str) else "".join(value)


def lines(value):
    return value.splitlines(keepends=True)


def printed(cell):
    """The lines a reader sees below a cell; an image is one line."""
    shown = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            shown += [f"{output['name']}: {line}" for line in text(output["text"]).splitlines()]
        elif output["output_type"] == "error":
            shown.append(f"{output['ename']}: {output['evalue']}")
        elif "image/png" in output["data"]:
            shown.append("(image)")
        else:
            shown += text(output["data"].get("text/plain", "")).splitlines()
    return shown


def faults(name, notebook, size):
    if size > MAX_BYTES:
        yield f"{name}: {size:,} bytes, more than {MAX_BYTES:,}; draw less, or at a lower dpi"
    for number, cell in enumerate(notebook["cells"], 1):
        prose = text(cell["source"]).splitlines() if cell["cell_type"] == "markdown" else []
        if len(prose) > 1 and all(line.startswith("#") for line in prose):
            yield f"{name}, cell {number}: every line of the text is a heading: take the comment marks off"
        for line in printed(cell):
            if line.startswith("stderr: "):
                yield f"{name}, cell {number}: prints a warning: {line}"
            if found := OF_A_MACHINE.search(line):
                yield f"{name}, cell {number}: prints a path of this machine: {found.group()}"


def differences(name, committed, fresh):
    for number, (old, new) in enumerate(zip(committed["cells"], fresh["cells"]), 1):
        diff = list(difflib.unified_diff(printed(old), printed(new), "committed", "now", lineterm="", n=1))
        if diff:
            yield "\n".join([f"{name}, cell {number}: prints something else now", *diff])


def main(mode, fresh_dir, committed_dir):
    wrong = []
    for path in sorted(Path(committed_dir).glob("*.ipynb")):
        fresh = stable(json.loads(Path(fresh_dir, path.name).read_text(encoding="utf-8")))
        if mode == "--update":
            content = json.dumps(fresh, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
            path.write_text(content, encoding="utf-8")
        else:
            wrong += differences(path.name, json.loads(path.read_text(encoding="utf-8")), fresh)
        wrong += faults(path.name, fresh, path.stat().st_size)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        if mode != "--update":
            print("scripts/notebooks --update writes the outputs of now; look at the plots, then commit them", file=sys.stderr)
        sys.exit(1)


main(*sys.argv[1:])
