#!/usr/bin/env python3
"""Write an image for containers, as an archive of the Open Container Initiative's layout.

    python3 image.py PROGRAM ARCH VERSION SECONDS OUT.tar

The image has the program, an empty /tmp and an empty /home/mercer, and nothing else: no shell, no libraries. It runs
as user 65532, with /home/mercer as its home. SECONDS since 1970 date everything, so the same program and the same
Python give the same bytes. `podman load -i OUT.tar` and `skopeo copy oci-archive:OUT.tar docker-daemon:mercer:VERSION`
read archives of this layout.
"""

import datetime
import gzip
import hashlib
import io
import json
import sys
import tarfile

USER = 65532


def entry(name, kind=tarfile.REGTYPE, mode=0o644, owner=0, size=0, when=0):
    """Return the header of a file or a folder of an archive."""
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.uid, info.gid, info.size, info.mtime = kind, mode, owner, owner, size, when
    return info


def layer(program, when):
    """Return the image's only layer as an uncompressed archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(entry("tmp", tarfile.DIRTYPE, 0o1777, when=when))
        archive.addfile(entry("home", tarfile.DIRTYPE, 0o755, when=when))
        archive.addfile(entry("home/mercer", tarfile.DIRTYPE, 0o700, USER, when=when))
        archive.addfile(entry("mercer", mode=0o755, size=len(program), when=when), io.BytesIO(program))
    return out.getvalue()


def descriptor(kind, content):
    """Return what names a blob: its media type, digest and size."""
    return {"mediaType": kind, "digest": "sha256:" + hashlib.sha256(content).hexdigest(), "size": len(content)}


def image(program, arch, version, when):
    """Return the files of the layout by name."""
    plain = layer(program, when)
    packed = gzip.compress(plain, mtime=0)
    date = datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = json.dumps({
        "created": date, "architecture": arch, "os": "linux",
        "config": {
            "User": f"{USER}:{USER}", "Env": ["HOME=/home/mercer"], "Entrypoint": ["/mercer"], "WorkingDir": "/home/mercer",
            "Labels": {"org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0",
                       "org.opencontainers.image.source": "https://github.com/mercer-fl/mercer"},
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]},
        "history": [{"created": date, "created_by": "packaging/image.py"}],
    }).encode()
    oci = "application/vnd.oci.image."
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": oci + "manifest.v1+json",
        "config": descriptor(oci + "config.v1+json", config), "layers": [descriptor(oci + "layer.v1.tar+gzip", packed)],
    }).encode()
    named = descriptor(oci + "manifest.v1+json", manifest)
    named |= {"annotations": {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"mercer:{version}"},
              "platform": {"architecture": arch, "os": "linux"}}
    index = json.dumps({"schemaVersion": 2, "mediaType": oci + "index.v1+json", "manifests": [named]}).encode()
    blobs = {"blobs/sha256/" + hashlib.sha256(b).hexdigest(): b for b in (packed, config, manifest)}
    return {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": index} | blobs


def main(program, arch, version, when, out):
    with open(program, "rb") as f:
        files = image(f.read(), arch, version, int(when))
    with tarfile.open(out, "w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("blobs", "blobs/sha256"):
            archive.addfile(entry(folder, tarfile.DIRTYPE, 0o755, when=int(when)))
        for name, content in sorted(files.items()):
            archive.addfile(entry(name, size=len(content), when=int(when)), io.BytesIO(content))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
