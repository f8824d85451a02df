#!/usr/bin/env python3
"""Build the wheels of package mercer: one for each platform, with the program mercer-fit.

    python3 wheel.py [--out DIR] [PLATFORM ...]     (default: dist, and all platforms)

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


def build(platform, folder):
    """Return the program for a platform."""
    goos, goarch = platform.split("/")
    path = Path(folder, "mercer-fit" + (".exe" if goos == "windows" else ""))
    settings = {"CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch, "GOAMD64": "v1", "GOARM64": "v8.0", "GOFLAGS": ""}
    flags = ["-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid="]
    command = ["go", "build", *flags, "-o", path, "./cmd/mercer-fit"]
    subprocess.run(command, cwd=HERE.parent, env={**os.environ, **settings}, check=True)
    return path


def write(platform, out):
    """Write the wheel for a platform, and return its path."""
    version = re.search(r'__version__ = "(.+)"', (HERE / "mercer/__init__.py").read_text())[1]
    name, tags = f"mercer-{version}", PLATFORMS[platform]
    files = {f"mercer/{p.name}": p.read_bytes() for p in (HERE / "mercer").iterdir() if p.is_file()}
    with tempfile.TemporaryDirectory() as folder:
        program = build(platform, folder)
        files[f"{name}.data/scripts/{program.name}"] = program.read_bytes()
    info = f"{name}.dist-info"
    lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\n{lines}".encode()
    files[f"{info}/METADATA"] = (HERE / "METADATA").read_text().format(version=version).encode()
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
    parser.add_argument("--out", default="dist", help="folder of the wheels")
    given = parser.parse_args()
    if unknown := set(given.platforms) - set(PLATFORMS):
        parser.error(f"unknown platform {', '.join(sorted(unknown))}; there are {', '.join(PLATFORMS)}")
    os.makedirs(given.out, exist_ok=True)
    for each in given.platforms or PLATFORMS:
        print(write(each, given.out))
