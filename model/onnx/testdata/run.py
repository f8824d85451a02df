"""Run each file of ONNX in a folder on the inputs beside it, and write its outputs beside them.

NAME.onnx goes with NAME.in.json, which has a list of rows for each input; null is NaN. The outputs
go to NAME.out.json in the same form.
"""

import json
import math
import pathlib
import sys

import numpy
import onnx
import onnxruntime

TYPES = {"tensor(double)": numpy.float64, "tensor(string)": object}


def array(rows, kind):
    if kind == "tensor(double)":
        rows = [[math.nan if v is None else v for v in row] for row in rows]
    return numpy.array(rows, dtype=TYPES[kind])


def plain(values):
    if isinstance(values, float):
        return values if math.isfinite(values) else None
    return [plain(v) for v in values] if isinstance(values, list) else values


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    given = json.loads(path.with_suffix(".in.json").read_text())
    feeds = {i.name: array(given[i.name], i.type) for i in session.get_inputs()}
    names = [o.name for o in session.get_outputs()]
    out = {name: plain(v.tolist()) for name, v in zip(names, session.run(names, feeds))}
    path.with_suffix(".out.json").write_text(json.dumps(out))
