"""Writes the parquet files of this folder, and expected.json with what they hold.

    python3 -m venv v && v/bin/pip install pyarrow==26.0.1 fastparquet==2026.9.0 polars==2.1.0 \
        duckdb==2.0.1 pandas==3.1.1 && v/bin/python writers.py FOLDER

Four programs write tables with all kinds of columns, compressions, page versions, encodings and
counts of rows. expected.json has each file's columns and cells as mercer's reader shows them: a
file of few rows with all cells, a file of many rows with the SHA-256 of its lines.
"""
import datetime as dt
import decimal
import hashlib
import json
import pathlib
import sys
import uuid

import duckdb
import fastparquet
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

FEW = 40  # most rows of a file whose cells are all listed
N = 20
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
expected = {}


def text(v):
    """Returns a cell as the reader shows it."""
    if v is None or v is pd.NaT or isinstance(v, float) and v != v:
        return ""
    if isinstance(v, bool):
        return "1" if v else "0"
    if isinstance(v, dt.datetime):
        if v.tzinfo:
            v = v.astimezone(dt.timezone.utc)
        return v.strftime("%Y-%m-%dT%H:%M:%S")
    if isinstance(v, dt.time):
        return v.strftime("%H:%M:%S")
    if isinstance(v, dt.date):
        return v.isoformat()
    if isinstance(v, bytes):
        return v.decode()
    return repr(v) if isinstance(v, float) else str(v)


def note(name, columns, skipped=()):
    """Stores what a file holds. Columns map names to lists of values; the reader skips some."""
    columns = {n: [text(v) for v in c] for n, c in columns.items() if n not in skipped}
    rows = [list(r) for r in zip(*columns.values())]
    entry = {"columns": list(columns), "rows": len(rows), "skipped": list(skipped)}
    if len(rows) <= FEW:
        entry["cells"] = rows
    else:
        entry["sha256"] = hashlib.sha256("".join("|".join(r) + "\n" for r in rows).encode()).hexdigest()
    expected[name] = entry


def gaps(values, every=3):
    return [None if i % every == 1 else v for i, v in enumerate(values)]


def moments():
    start = dt.datetime(1969, 12, 31, 23, 59, 59)
    return [start + dt.timedelta(days=1234 * i, seconds=4321 * i, microseconds=1000 * i) for i in range(N)]


def kinds():
    """Returns a pyarrow table with a column of each kind that the reader reads."""
    r = range(N)
    day = [dt.date(1950, 1, 31) + dt.timedelta(days=999 * i) for i in r]
    time = [dt.time(i, 2 * i, i, 1000 * i) for i in r]
    dec = [decimal.Decimal(i * i * 1001 - 7).scaleb(-2) for i in r]
    c = {
        "boolean": pa.array(gaps([i % 2 == 0 for i in r])),
        "i8": pa.array(gaps([i - 9 for i in r]), pa.int8()), "u8": pa.array([i * 13 for i in r], pa.uint8()),
        "i16": pa.array([i * 1000 - 9000 for i in r], pa.int16()), "u16": pa.array([i * 3000 for i in r], pa.uint16()),
        "i32": pa.array(gaps([i * 10**8 - 10**9 for i in r]), pa.int32()), "u32": pa.array([i * 2 * 10**8 for i in r], pa.uint32()),
        "i64": pa.array([(-3) ** i for i in r], pa.int64()), "u64": pa.array([2**63 + i for i in r], pa.uint64()),
        "f16": pa.array(gaps([i / 8 - 1 for i in r]), pa.float16()), "f32": pa.array([i / 7 for i in r], pa.float32()),
        "f64": pa.array([float("nan") if i == 3 else i / 3 * 10.0 ** (i - 9) for i in r], pa.float64()),
        "dec9": pa.array(gaps(dec), pa.decimal128(9, 2)), "dec18": pa.array(dec, pa.decimal128(18, 2)),
        "dec38": pa.array(dec, pa.decimal128(38, 2)), "dec76": pa.array(dec, pa.decimal256(76, 2)),
        "text": pa.array(gaps([f"wört {i}" for i in r])), "long": pa.array(["common prefix " + "x" * (i + 1) for i in r], pa.large_string()),
        "word": pa.array([["F", "M", None][i % 3] for i in r]).dictionary_encode(),
        "day": pa.array(gaps(day)), "time_ms": pa.array(time, pa.time32("ms")), "time_us": pa.array(gaps(time), pa.time64("us")),
        "time_ns": pa.array(time, pa.time64("ns")), "ms": pa.array(moments(), pa.timestamp("ms")),
        "us": pa.array(gaps(moments()), pa.timestamp("us")), "ns": pa.array(moments(), pa.timestamp("ns")),
        "zone": pa.array([m.replace(tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))) for m in moments()], pa.timestamp("us", tz="Asia/Kolkata")),
        "uuid": pa.array(gaps([uuid.UUID(int=i << 100 | 77).bytes for i in r]), pa.uuid()),
        "none": pa.array([None] * N, pa.int32()),
        "struct": pa.array([{"a": i, "b": [i]} for i in r]), "list": pa.array([[i] * (i % 3) for i in r], pa.list_(pa.int64())),
        "map": pa.array([[("k", i)] for i in r], pa.map_(pa.string(), pa.int64())),
        "last": pa.array([i % 2 for i in r], pa.int64()),
    }
    return pa.table(c)


NESTED = ("struct", "list", "map")


def values(table):
    """Returns the columns of a pyarrow table as lists, with fractions of seconds cut."""
    out = {}
    for name, column in zip(table.column_names, table.columns):
        t = column.type
        if pa.types.is_timestamp(t) and t.unit == "ns":
            column = column.cast(pa.timestamp("us"), safe=False)
        if pa.types.is_time64(t) and t.unit == "ns":
            column = column.cast(pa.time64("us"), safe=False)
        out[name] = column.to_pylist()
        if pa.types.is_float16(t) or pa.types.is_float32(t):
            out[name] = [None if v is None else float(v) for v in out[name]]
    return out


def by_pyarrow():
    table = kinds()
    for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        for version in ("1.0", "2.0"):
            name = f"pyarrow-{codec}-v{version[0]}.parquet"
            pq.write_table(table, folder / name, compression=codec, data_page_version=version, row_group_size=13, write_statistics=False, store_schema=False)
            note(name, values(table), NESTED)
    flat = table.drop_columns(list(NESTED))
    delta = {n: "DELTA_BINARY_PACKED" for n in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "day", "time_ms", "time_us", "ms", "us", "ns", "zone", "dec9", "dec18", "last")}
    delta |= {"text": "DELTA_BYTE_ARRAY", "word": "DELTA_BYTE_ARRAY", "long": "DELTA_LENGTH_BYTE_ARRAY", "f16": "BYTE_STREAM_SPLIT", "f32": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT", "dec38": "BYTE_STREAM_SPLIT", "uuid": "BYTE_STREAM_SPLIT", "boolean": "RLE"}
    split = {n: "BYTE_STREAM_SPLIT" for n in ("i32", "u32", "i64", "u64", "f16", "f32", "f64", "day", "us", "dec9", "dec18", "dec38", "dec76", "uuid", "last")}
    for name, options in {
        "plain": {"use_dictionary": False, "column_encoding": {n: "PLAIN" for n in flat.column_names}},
        "delta": {"use_dictionary": False, "column_encoding": delta, "data_page_version": "2.0", "store_decimal_as_integer": True},
        "split": {"use_dictionary": False, "column_encoding": split, "store_decimal_as_integer": True},
        "int96": {"use_deprecated_int96_timestamps": True},
        "integers": {"store_decimal_as_integer": True},
        "checked": {"write_page_checksum": True, "write_page_index": True, "data_page_size": 64, "sorting_columns": [pq.SortingColumn(0)]},
        "old": {"version": "1.0"},
    }.items():
        name = f"pyarrow-{name}.parquet"
        pq.write_table(flat, folder / name, **({"compression": "snappy", "store_schema": False, "write_statistics": False, "row_group_size": 13} | options))
        note(name, values(flat))


def by_fastparquet():
    frame = values(kinds().select(["boolean", "i8", "i32", "u8", "i64", "f32", "f64", "text", "day", "us", "last"]))
    frame["day"] = [None if d is None else dt.datetime(d.year, d.month, d.day) for d in frame["day"]]
    wrote = pd.DataFrame({n: pd.Series(c, dtype={"boolean": "boolean", "i8": "Int8", "i32": "Int32", "u8": "uint8", "f32": "float32"}.get(n)) for n, c in frame.items()})
    wrote["word"] = pd.Categorical([["F", "M", None][i % 3] for i in range(N)])
    frame["word"] = [["F", "M", None][i % 3] for i in range(N)]
    # fastparquet 2026.9.0 writes an INT96 of microseconds as if these were nanoseconds.
    wrote = wrote.astype({"day": "datetime64[ns]", "us": "datetime64[ns]"})
    for codec in ("UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4", "LZ4_RAW"):
        for times in ("int64", "int96"):
            name = f"fastparquet-{codec.lower()}-{times}.parquet"
            fastparquet.write(str(folder / name), wrote, compression=codec, times=times, row_group_offsets=[0, 13], stats=False)
            note(name, frame)


def by_polars():
    table = kinds().drop_columns(["dec76", "map", "zone", "uuid"])
    frame = pl.from_arrow(table)
    for codec in ("uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"):
        name = f"polars-{codec}.parquet"
        frame.write_parquet(folder / name, compression=codec, row_group_size=13, statistics=False)
        note(name, values(table), [n for n in NESTED if n in table.column_names])


def by_duckdb():
    table = kinds().drop_columns(["f16", "dec76", "map"])
    con = duckdb.connect()
    con.register("kinds", table)
    kept = {n: v for n, v in values(table).items()}
    for codec in ("uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4", "lz4_raw"):
        for version in ("V1", "V2"):
            name = f"duckdb-{codec}-{version.lower()}.parquet"
            con.execute(f"COPY kinds TO '{folder / name}' (FORMAT parquet, CODEC '{codec}', PARQUET_VERSION {version}, ROW_GROUP_SIZE 13)")
            note(name, kept, [n for n in NESTED if n in kept])


def counted(n):
    """Returns columns whose values compress well, in lists of n rows."""
    return {"i": [i * i % 97 for i in range(n)], "b": [i % 5 < 2 for i in range(n)], "w": [None if i % 11 == 3 else f"w{i % 13}" for i in range(n)], "g": [None if i // 100 % 2 else i % 3 for i in range(n)]}


def counts():
    for n in (1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1000, 1025, 8193, 70000):
        columns = counted(n)
        table = pa.table({"i": pa.array(columns["i"], pa.int32()), "b": pa.array(columns["b"]), "w": pa.array(columns["w"], pa.string()), "g": pa.array(columns["g"], pa.int64())})
        names = []

        def write(program, do):
            name = f"{program}-rows-{n}.parquet"
            do(folder / name)
            names.append(name)

        write("pyarrow", lambda path: pq.write_table(table, path, compression="zstd", data_page_version="2.0", data_page_size=4096, write_statistics=False, store_schema=False,
              use_dictionary=["w"], column_encoding={"i": "DELTA_BINARY_PACKED", "b": "RLE", "g": "DELTA_BINARY_PACKED"}))
        if n in (1, 8, 9, 33, 1025, 70000):
            frame = pd.DataFrame({"i": pd.Series(columns["i"], dtype="int32"), "b": columns["b"], "w": pd.Series(columns["w"], dtype=object), "g": pd.Series(columns["g"], dtype="Int64")})
            write("polars", lambda path: pl.from_arrow(table).write_parquet(path, statistics=False))
            write("fastparquet", lambda path: fastparquet.write(str(path), frame, compression="ZSTD", stats=False))
            con = duckdb.connect()
            con.register("t", table)
            write("duckdb", lambda path: con.execute(f"COPY t TO '{path}' (FORMAT parquet, CODEC 'zstd', PARQUET_VERSION V2)"))
        for name in names:
            note(name, columns)


for part in (by_pyarrow, by_fastparquet, by_polars, by_duckdb, counts):
    part()
with open(folder / "expected.json", "w") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in sorted(expected.items())) + "\n}\n")
