"""The README's Python runs as printed."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from test_simulate import _installed

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.skipif(not _installed(), reason="the program mercer is not installed")
def test_readme_runs():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 2 and all(len([x for x in b.splitlines() if x]) <= 6 for b in blocks)
    out, names = io.StringIO(), {}
    with contextlib.redirect_stdout(out):
        for block in blocks:
            exec(block, names)  # noqa: S102
    said = out.getvalue()
    assert 0.9 < float(said.split()[0]) < 1
    assert "St. Mary's alone" in said and "Can the coordinator reconstruct rows?" in said
