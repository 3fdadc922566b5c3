"""The jobs of a folder, one line each. `spark-submit.sh` prints it where it is given no job:

python -m groupreplay.cli.job_list FOLDER
"""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

WIDTH = 100


def job_lines(folder: Path) -> list[str]:
    """Name and first sentence of every job, in order of the alphabet."""
    jobs = {path.stem: _first_sentence(path) for path in sorted(folder.glob("*.py"))}
    column = max(map(len, jobs), default=0) + 2
    lines = []
    for name, sentence in jobs.items():
        first, *more = textwrap.wrap(sentence, WIDTH - column - 2)
        lines.append(f"  {name:<{column}}{first}")
        lines += [" " * (column + 2) + line for line in more]
    return lines


def _first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n", 1)[0].split()).partition(". ")[0]


if __name__ == "__main__":
    sys.stdout.write("\n".join(job_lines(Path(sys.argv[1]))) + "\n")
