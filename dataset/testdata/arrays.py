# Wrote kinds.npz and cube.npy here, with NumPy 2.4.6; run it again only to add kinds.
import numpy as np

values = np.array([[0, 1, 2], [3, 4, 100]])
kinds = {}
for dtype in "<f4 >f4 <f8 >f8 |i1 <i2 >i2 <i4 >i4 <i8 >i8 |u1 <u2 >u2 <u4 >u4 <u8 >u8".split():
    for order in "CF":
        kinds[dtype[1:] + ("be" if dtype[0] == ">" else "") + order] = np.array(values.astype(dtype), order=order)
kinds["boolC"] = values > 2
for name, labels in {
    "y_int": np.array([1, -2]), "y_big": np.array([2**63 + 1, 2**63], dtype="u8"), "y_float": np.array([[1.0], [0.5]]),
    "y_bool": np.array([True, False]), "y_str": np.array(["größe", "x"]), "y_strbe": np.array(["größe", "x"]).astype(">U7"),
    "y_bytes": np.array([b"a b", b"c"]), "y_object": np.array(["a", None], dtype=object),
}.items():
    kinds[name] = labels
np.savez_compressed("kinds.npz", **kinds)
with open("cube.npy", "wb") as f:
    np.lib.format.write_array(f, np.asfortranarray(np.arange(24, dtype="f4").reshape(2, 3, 4)), version=(3, 0))
