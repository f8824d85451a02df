"""The README's Python and the notebook run as printed."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from test_simulate import _installed

README = Path(__file__).parents[2] / "README.md"
NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "scikit-learn-users.ipynb"


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


def test_notebook_has_no_outputs():
    """Outputs in the repository would be of another day."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [c for c in cells if c["cell_type"] == "code"]
    assert len(code) >= 6 and all(not c["outputs"] and c["execution_count"] is None for c in code)


@pytest.mark.skipif(not _installed(), reason="the program mercer is not installed")
def test_notebook_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient and ipykernel run the notebook")
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = "\n".join(
        output.get("text") or "".join(output.get("data", {}).get("text/plain", ""))
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.get("name") != "stderr"
    )
    scores = re.findall(r"(?:scikit-learn|Mercer): +(\{.*?\}) ([\d.]+)", said)
    assert len(scores) == 2 and scores[0] == scores[1]
    iterations = re.search(r"iterations: \[(\d+)\] \[(\d+)\]", said)
    assert iterations[1] == iterations[2] and "same support vectors: True" in said
    assert "coefficients within 1e-12: True" in said
    assert said.count("St. Mary's alone") == 2 and said.count("Can the coordinator reconstruct rows?") == 2
    together, pooled = (re.search(rf"^{row} +\d+ +([\d.]+)$", said, re.M)[1] for row in ("together", "pooled"))
    assert float(together) == float(pooled) > 0.95
    assert not list(tmp_path.iterdir())
