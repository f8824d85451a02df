# Wrote people.*.parquet here, with pyarrow 26.0.1.
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table({
    "id": ["p1", "p2", "p3"],
    "age": pa.array([30, 41, 200], pa.uint8()),
    "income": pa.array([1.5, -2.5, 0.25], pa.float64()),
    "member": [True, False, True],
    "paid": pa.array([Decimal("12.34"), Decimal("-0.05"), Decimal("7.00")], pa.decimal128(12, 2)),
    "label": ["yes", "no", "yes"],
    "__index_level_0__": [0, 1, 2],
})
for name, options in {
    "snappy": {"compression": "snappy"},
    "gzip": {"compression": "gzip", "data_page_version": "2.0"},
    "zstd": {"compression": "zstd", "use_dictionary": False},
    "delta": {"compression": "none", "data_page_version": "2.0", "use_dictionary": False, "write_page_checksum": True, "column_encoding": {
        "id": "DELTA_BYTE_ARRAY", "label": "DELTA_LENGTH_BYTE_ARRAY", "age": "DELTA_BINARY_PACKED", "income": "BYTE_STREAM_SPLIT"}},
}.items():
    pq.write_table(table, f"people.{name}.parquet", row_group_size=2, **options)
