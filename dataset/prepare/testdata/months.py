"""Writes months.json: the names of months that the Unicode CLDR has for some languages.

    python3 -m venv v && v/bin/pip install babel==2.19.0 && v/bin/python months.py

Each entry has a language, the letter of strptime for the names, and the names of January to
December, in the forms that stand within a date and alone.
"""
import json
import pathlib

from babel import Locale

languages = "en de de_AT de_CH fr fr_CA es es_MX it pt pt_PT nl nl_BE".split()
entries = []
for language in languages:
    months = Locale.parse(language).months
    for form in ("format", "stand-alone"):
        for letter, width in (("B", "wide"), ("b", "abbreviated")):
            entries.append({"language": language, "letter": letter, "names": [months[form][width][m] for m in range(1, 13)]})
path = pathlib.Path(__file__).with_name("months.json")
path.write_text("[\n" + ",\n".join(json.dumps(e, ensure_ascii=False) for e in entries) + "\n]\n")
