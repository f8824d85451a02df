"""Writes forms.json: CSV texts in the forms of common programs, and what they hold.

    python3 -m venv v && v/bin/pip install pandas==3.1.1 && v/bin/python forms.py

A case has a text and the keys of a catalogue entry that describe it. pandas reads the same bytes
with the options that mean the same, and its cells are expected of mercer's reader. A case with a
sentence is refused without further keys. Numbers are numbers, days are days since 1970-01-01.
"""
import base64
import io
import json
import pathlib
import re

import pandas as pd

NUMBER, DAY = {"type": "number"}, {"type": "date", "format": "%Y-%m-%d", "as": "days", "since": "1970-01-01"}
cases = []


def words(*list):
    return {"type": "category", "categories": [*list]}


def unit(sign):
    return {"type": "number", "unit": sign}


def case(writer, kind, text, schema, entry="{}", encoding="utf-8", dates=None, convert=None, missing=True, **options):
    """Adds a case that pandas reads with the options. dates are strptime formats of columns."""
    data = text.encode(encoding)
    gaps = {} if missing else {"keep_default_na": False}
    frame = pd.read_csv(io.BytesIO(data), encoding=encoding, **gaps, **options)
    cells = []
    for name in schema:
        column = frame[name]
        if convert and name in convert:
            column = column.map(convert[name])
        if dates and name in dates:
            column = sum_of_formats(column, dates[name])
        cells.append([None if pd.isna(v) else v if isinstance(v, str) else float(v) for v in column])
    cases.append({"writer": writer, "kind": kind, "entry": entry, "schema": schema, "data": base64.b64encode(data).decode(), "rows": [list(r) for r in zip(*cells)]})


def sum_of_formats(column, formats):
    """Reads each cell by the first format that reads it."""
    read = [pd.to_datetime(column, format=f, errors="coerce") for f in formats]
    first = read[0]
    for other in read[1:]:
        first = first.fillna(other)
    return (first - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)


def refused(writer, kind, text, schema, sentence, entry="{}", encoding="utf-8"):
    cases.append({"writer": writer, "kind": kind, "entry": entry, "schema": schema, "data": base64.b64encode(text.encode(encoding)).decode(), "refused": sentence})


two = {"age": NUMBER, "y": words("a", "b")}
plain = "age,y\r\n30,a\r\n41.5,b\r\n"
case("Excel", "CSV UTF-8: byte order mark, CRLF", "\ufeff" + plain, two)
case("Excel", "comma at the end of each line", "age,y,\r\n30,a,\r\n41.5,b,\r\n", two)
case("Excel", "first line `sep=;`", "sep=;\r\nage;y\r\n30;a\r\n41.5;b\r\n", two, sep=";", skiprows=1)
case("Excel", "thousands, English", 'age,y\r\n"1,234.5",a\r\n"-12,345,678",b\r\n', two, '{csv: {thousands: ","}}', thousands=",")
case("Excel", "German: semicolons, decimal commas, thousands, dates, windows-1252", "Größe;Tag;y\r\n1.234,5;1.3.2024;a\r\n-0,25;24.12.1969;b\r\n", {"Größe": NUMBER, "Tag": DAY, "y": words("a", "b")},
     '{csv: {decimal: ",", thousands: ".", encoding: windows-1252}, columns: {Tag: {format: "%d.%m.%Y"}}}', encoding="cp1252", dates={"Tag": ["%d.%m.%Y"]}, dtype={"Tag": str}, sep=";", decimal=",", thousands=".")
case("Excel", "French: thousands by U+202F", "age;y\r\n1\u202f234,5;a\r\n2;b\r\n", two, '{csv: {decimal: ",", thousands: " "}}', sep=";", decimal=",", thousands="\u202f", engine="python")
case("Excel", "Unicode text: UTF-16, tabs", plain.replace(",", "\t"), two, "{csv: {encoding: utf-16}}", encoding="utf-16", sep="\t")
case("Excel", "percent", "age,y\r\n5%,a\r\n7.5%,b\r\n", {"age": unit("%"), "y": words("a", "b")}, '{columns: {age: {unit: "%"}}}', convert={"age": lambda s: float(s.rstrip("%"))})
case("Excel", "currency", 'age,y\r\n"$1,234.50",a\r\n$7,b\r\n', {"age": unit("$"), "y": words("a", "b")}, '{csv: {thousands: ","}, columns: {age: {unit: "$"}}}', convert={"age": lambda s: float(s.lstrip("$").replace(",", ""))})
case("Excel", "dates as `1-Mar-24`", "age,tag,y\r\n30,1-Mar-24,a\r\n31,24-Dec-69,b\r\n", {"age": NUMBER, "tag": DAY}, '{columns: {tag: {format: "%d-%b-%y"}}}', dates={"tag": ["%d-%b-%y"]})
case("LibreOffice", "French: thousands by U+00A0, all text quoted", '"age";"y"\n1\u00a0234,5;"a"\n-2;"b"\n', two, '{csv: {decimal: ",", thousands: " "}}', sep=";", decimal=",", thousands="\u00a0", engine="python")
case("LibreOffice", "Swiss: apostrophes between thousands", "age;y\n1'234.5;a\n-2;b\n", two, '{csv: {thousands: "\'"}}', sep=";", thousands="'")
case("R", "`write.csv`: row names without a header, NA", '"","age","y"\n"1",30,"a"\n"2",NA,"b"\n', two, "{csv: {missing: [NA]}}")
case("R", "`write.csv2`: semicolons, decimal commas", '"";"age";"y"\n"1";30,5;"a"\n"2";-1,25;"b"\n', two, '{csv: {decimal: ","}}', sep=";", decimal=",")
case("R", "`write.table`: blanks, a header without the first name", '"age" "y"\n"1" 30 "a"\n"2" 41.5 "b"\n', two, '{csv: {delimiter: " ", headers: [row, age, y]}}', sep=" ", skiprows=1, names=["row", "age", "y"])
case("pandas", "`to_csv` with its index, gaps, booleans", ",age,ok\n0,30.0,True\n1,,False\n", {"age": NUMBER, "ok": {"type": "boolean"}})
case("pandas", "saved twice", "Unnamed: 0,age,y\n0,30.0,a\n1,2.5,b\n", two)
case("SPSS", "`#NULL!`, numbers without a leading zero, dates as 01-MAR-2024", "age,tag,y\n.5,01-MAR-2024,a\n#NULL!,24-DEC-1969,b\n", {"age": NUMBER, "tag": DAY, "y": words("a", "b")},
     '{csv: {missing: ["#NULL!"]}, columns: {tag: {format: "%d-%b-%Y"}}}', dates={"tag": ["%d-%b-%Y"]}, na_values=["#NULL!"])
case("SAS", "`PROC EXPORT`: a point for a gap, DATE9.", "age,tag,y\n.,01MAR2024,a\n41.5,24DEC1969,b\n", {"age": NUMBER, "tag": DAY, "y": words("a", "b")},
     '{csv: {missing: ["."]}, columns: {tag: {format: "%d%b%Y"}}}', dates={"tag": ["%d%b%Y"]}, na_values=["."])
case("SAS", "COMMA10.2", 'age,y\n"1,234.50",a\n"-2,000.00",b\n', two, '{csv: {thousands: ","}}', thousands=",")
case("by hand", "comment lines", "# exported, today\nage,y\n30,a\n# checked\n41.5,b\n", two, '{csv: {comment: "#"}}', comment="#")
case("by hand", "a name twice, other headers", "age,age,y\n30,1,a\n41.5,2,b\n", two, "{csv: {headers: [age, other, y]}}", header=0, names=["age", "other", "y"])
case("by hand", "no header line", "30,a\n41.5,b\n", two, "{csv: {names: [age, y]}}", header=None, names=["age", "y"])
case("by hand", "bars", "age|y\n30|a\n41.5|b\n", two, '{csv: {delimiter: "|"}}', sep="|")
case("by hand", "runs of blanks", "  age  y\n  30   a\n41.5   b\n", two, '{csv: {delimiter: " "}}', sep=r"\s+")
case("by hand", "minus sign U+2212 (pandas reads text; here by a converter)", "age,y\n\u22121.5,a\n2,b\n", two, convert={"age": lambda s: float(s.replace("\u2212", "-"))})
case("by hand", "detection limits", "age,y\n<5,a\n7,b\n", two, '{columns: {age: {values: {"<5": "2.5"}}}}', convert={"age": lambda s: 2.5 if s == "<5" else float(s)})
case("by hand", "two formats of dates", "age,tag\n1,2024-03-01\n2,24.12.1969\n", {"age": NUMBER, "tag": DAY}, '{columns: {tag: {format: ["%Y-%m-%d", "%d.%m.%Y"]}}}', dates={"tag": ["%Y-%m-%d", "%d.%m.%Y"]}, dtype={"tag": str})
case("by hand", "months by name", "age,tag\n1,1 March 2024\n2,24 Dec 1969\n", {"age": NUMBER, "tag": DAY}, '{columns: {tag: {format: ["%d %B %Y", "%d %b %Y"]}}}', dates={"tag": ["%d %B %Y", "%d %b %Y"]})
for kind, tags, english, formats in (
    ("months by name, German (pandas reads English names; here by a converter)", ("1. März 2024", "24. Dez. 1969"), ("March", "Dec"), ["%d. %B %Y", "%d. %b %Y"]),
    ("months by name, French (pandas: by a converter)", ("1 février 2024", "24 déc. 1969"), ("February", "Dec"), ["%d %B %Y", "%d %b %Y"]),
    ("months by name, Spanish (pandas: by a converter)", ("1 de enero de 2024", "24 de dic de 1969"), ("January", "Dec"), ["%d de %B de %Y", "%d de %b de %Y"]),
):
    names = dict(zip((re.search(r"(?!de\b)[^\W\d]{3,}\.?", tag)[0] for tag in tags), english))
    case("by hand", kind, "age,tag\n1,%s\n2,%s\n" % tags, {"age": NUMBER, "tag": DAY}, "{columns: {tag: {format: [%s]}}}" % ", ".join('"%s"' % f for f in formats), dates={"tag": formats}, convert={"tag": lambda s, names=names: next(s.replace(n, e) for n, e in names.items() if n in s)})
case("by hand", "quotes in quotes, line breaks in cells", 'age,y\n30,"a ""1"""\n31,"b\nc"\n', {"age": NUMBER, "y": words('a "1"', "b\nc")})

refused("Excel", "decimal commas", "age;y\n1,5;a\n", two, 't.csv:2: column "age" holds "1,5", which is not a number; correct the cell, or write csv: {decimal: ","} in the catalogue')
refused("Excel", "thousands, English", 'age,y\n"1,234.5",a\n', two, 't.csv:2: column "age" holds "1,234.5", which is not a number; correct the cell, or write csv: {thousands: ","} in the catalogue')
refused("Excel", "thousands, German", "age;y\n1.234,5;a\n", two, 't.csv:2: column "age" holds "1.234,5", which is not a number; correct the cell, or write csv: {decimal: ",", thousands: "."} in the catalogue')
refused("Excel", "thousands, French", "age;y\n1\u202f234,5;a\n", two, 't.csv:2: column "age" holds "1\\u202f234,5", which is not a number; correct the cell, or write csv: {decimal: ",", thousands: " "} in the catalogue')
refused("Excel", "UTF-16", plain, two, "t.csv:1: the text is UTF-16; save it as UTF-8, or for CSV write \"csv: {encoding: utf-16}\" (--encoding utf-16)", encoding="utf-16")
refused("Excel", "UTF-16 without a byte order mark", plain, two, "t.csv:1: the text looks like UTF-16 without a byte order mark; save it as UTF-8, or for CSV write \"csv: {encoding: utf-16}\" (--encoding utf-16)", encoding="utf-16-le")
refused("Excel", "CSV (Macintosh): lines end with a carriage return", "age,y\r30,a\r", two, "t.csv:1: the lines end with a carriage return only; save the file with line feeds, in Excel as CSV UTF-8")
refused("Excel", "percent", "age,y\n5%,a\n", two, 't.csv:2: column "age" holds "5%", which is not a number; correct the cell, or give the column unit: "%" in the catalogue')
refused("Excel", "currency", "age,y\n5 €,a\n", two, 't.csv:2: column "age" holds "5 €", which is not a number; correct the cell, or give the column unit: "€" in the catalogue')
refused("Excel", "German dates", "tag\n1.3.2024\n", {"tag": DAY}, 't.csv:2: column "tag" holds "1.3.2024", which is not a date of the form %Y-%m-%d; correct the cell, or write the file\'s "format" for the column in the catalogue')
refused("R", "`write.table`", "age,y\n1,30,a\n", two, "t.csv:2: the row has 3 fields, but the table has 2 columns; remove a field, or name all columns by \"csv: {headers: [...]}\" (--headers) if the header lacks one")
refused("R", "NA", "age,y\nNA,a\n", two, 't.csv:2: column "age" holds "NA", which is not a number; correct the cell, list the word under "csv: {missing: [...]}" in the catalogue, or give the column another type')
refused("by hand", "comment lines", "# exported, today\nage,sex,y\n1,2,a\n", two, 't.csv:1: the line begins with #, and the next one has more fields; if lines that begin with # are comments, write csv: {comment: "#"} (--comment "#")')
refused("by hand", "a name twice", "age,y,age\n1,a,2\n", two, 't.csv:1: columns 1 and 3 (from 1) are both called "age"; rename one, or name all columns by "csv: {headers: [...]}" (--headers)')
refused("by hand", "bars", "age|y\n1|a\n", two, 't.csv:1: the fields seem to be separated by bars; write csv: {delimiter: "|"} (--csv-delimiter "|"), or separate them by commas')
refused("by hand", "blanks", "age y\n1  a\n", two, 't.csv:1: the fields seem to be separated by blanks; write csv: {delimiter: " "} (--csv-delimiter " "), or separate them by commas')
refused("by hand", "detection limits", "age,y\n<5,a\n", two, 't.csv:2: column "age" holds "<5", which is not a number; correct the cell, or give the column values: {"<5": NUMBER} in the catalogue, or list the cell under "csv: {missing: [...]}"')
refused("by hand", "a day that two formats read differently", "tag\n1/3/2024\n", {"tag": DAY}, 't.csv:2: column "tag" holds "1/3/2024", which is one date by %d/%m/%Y and another by %m/%d/%Y; keep only one format, or write the month by its name in the file',
        '{columns: {tag: {format: ["%d/%m/%Y", "%m/%d/%Y"]}}}')

with open(pathlib.Path(__file__).parent / "forms.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")
