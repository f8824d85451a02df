#!/usr/bin/env python3
"""Build the wheels of package mercer, or with --federation the wheel that adds the program mercer.

    python3 wheel.py [--federation] [--out DIR] [PLATFORM ...]     (default: dist, and all platforms)

A wheel of mercer has the package and the program mercer-fit. A wheel of mercer-federation has nothing
but the program mercer, which does not run on Windows.

Needs Go and Python's standard library. The same sources and the same Go give the same bytes.
"""

import argparse
import base64
import hashlib
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
PLATFORMS = {  # GOOS/GOARCH of the program: tags of the wheel
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
}


def build(program, platform, folder):
    """Return the path of a program, built for a platform."""
    goos, goarch = platform.split("/")
    path = Path(folder, program + (".exe" if goos == "windows" else ""))
    settings = {"CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch, "GOAMD64": "v1", "GOARM64": "v8.0", "GOFLAGS": ""}
    flags = ["-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid="]
    command = ["go", "build", *flags, "-o", path, f"./cmd/{program}"]
    subprocess.run(command, cwd=HERE.parent, env={**os.environ, **settings}, check=True)
    return path


def package(platform, out):
    """Write the wheel of mercer for a platform, and return its path."""
    files = {f"mercer/{p.name}": p.read_bytes() for p in (HERE / "mercer").iterdir() if p.is_file()}
    return write("mercer", "METADATA", files, "mercer-fit", platform, out)


def federation(platform, out):
    """Write the wheel of mercer-federation for a platform, and return its path."""
    return write("mercer_federation", "METADATA.federation", {}, "mercer", platform, out)


def write(title, metadata, files, program, platform, out):
    """Write a wheel with files and a program, and return its path."""
    version = re.search(r'__version__ = "(.+)"', (HERE / "mercer/__init__.py").read_text())[1]
    name, tags = f"{title}-{version}", PLATFORMS[platform]
    with tempfile.TemporaryDirectory() as folder:
        built = build(program, platform, folder)
        files[f"{name}.data/scripts/{built.name}"] = built.read_bytes()
    info = f"{name}.dist-info"
    lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\n{lines}".encode()
    files[f"{info}/METADATA"] = (HERE / metadata).read_text().format(version=version).encode()
    files[f"{info}/licenses/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in sorted(files.items()))
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = Path(out, f"{name}-py3-none-{tags}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(entry, data)
    return path


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(PLATFORMS))
    parser.add_argument("--federation", action="store_true", help="build wheels of mercer-federation")
    parser.add_argument("--out", default="dist", help="folder of the wheels")
    given = parser.parse_args()
    if unknown := set(given.platforms) - set(PLATFORMS):
        parser.error(f"unknown platform {', '.join(sorted(unknown))}; there are {', '.join(PLATFORMS)}")
    os.makedirs(given.out, exist_ok=True)
    build_one = federation if given.federation else package
    for each in given.platforms or [p for p in PLATFORMS if not (given.federation and p.startswith("windows"))]:
        print(build_one(each, given.out))
