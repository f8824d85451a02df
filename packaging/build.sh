#!/usr/bin/env bash
# Build the files of a release from the commit that is checked out.
#
#     packaging/build.sh VERSION OUT [ARCH ...]     (default: amd64 arm64)
#
# For each architecture of Linux, OUT gets deb, rpm, an image for containers, and an archive for machines without a
# network, which has these, the programs, the wheels, docs, examples, a bill of materials and SHA256SUMS. With
# MERCER_SIGNING_KEY=FILE (a private key of ssh-keygen) SHA256SUMS is signed. The same commit with its tags, and the
# same Go, Python and gzip, give the same bytes.
#
# Needs Go, git, gzip, Python 3 and GNU tar. nfpm and cyclonedx-gomod are installed into OUT/tools.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 out=$(realpath -m "$2")
shift 2
[ $# -gt 0 ] || set -- amd64 arm64
tools=$out/tools
mkdir -p "$tools"
if [ -n "$(git status --porcelain)" ]; then
	echo "build.sh: the checkout has changes, or OUT lies in it; build from a clean checkout, into a folder outside" >&2
	exit 1
fi

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH VERSION=$version GOFLAGS= CGO_ENABLED=0
umask 022

for tool in github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0 github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0; do
	(cd "$out" && GOBIN=$tools go install "$tool")
done

# build builds a program for an architecture, as python/wheel.py does, with the commit inside.
build() { GOOS=linux GOARCH=$2 GOAMD64=v1 GOARM64=v8.0 go build -trimpath -buildvcs=true -ldflags '-s -w -buildid=' -o "$3/$1" "./cmd/$1"; }

# bill writes the bill of materials of a program. Its date and its tool are those of every build of the commit.
bill() {
	"$tools/cyclonedx-gomod" bin -json -noserial -output "$2" "$1" 2>/dev/null
	python3 - "$2" <<-'PYTHON'
		import datetime, json, os, sys
		with open(sys.argv[1]) as f:
		    bill = json.load(f)
		when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
		bill["metadata"]["timestamp"] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
		for tool in bill["metadata"]["tools"]:
		    tool.pop("hashes", None)
		with open(sys.argv[1], "w") as f:
		    json.dump(bill, f, indent=1)
	PYTHON
}

# manual writes manual pages, compressed as Debian asks for, and completion scripts.
manual() {
	go run ./internal/cli/manual "$1"
	gzip -9n "$1"/man1/*.1
}

# archive packs a folder beside its own name.
archive() {
	tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -C "$(dirname "$1")" "$(basename "$1")" |
		gzip -9n >"$1.tar.gz"
}

# sums writes SHA256SUMS of a folder and signs it if there is a key.
sums() {
	(cd "$1" && find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS)
	[ -z "${MERCER_SIGNING_KEY:-}" ] || ssh-keygen -q -Y sign -f "$MERCER_SIGNING_KEY" -n mercer "$1/SHA256SUMS"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
manual "$scratch/manual"
for ARCH in "$@"; do
	export ARCH BUILT=$scratch/$ARCH
	mkdir "$BUILT"
	build mercer "$ARCH" "$BUILT"
	build mercer-fit "$ARCH" "$BUILT"
	bill "$BUILT/mercer" "$BUILT/sbom.json"
	cp -r "$scratch/manual" "$BUILT/manual"
	for kind in deb rpm; do
		"$tools/nfpm" package --config packaging/nfpm.yaml --packager $kind --target "$out"
	done
	python3 packaging/image.py "$BUILT/mercer" "$ARCH" "$version" "$SOURCE_DATE_EPOCH" "$out/mercer-$version-image-$ARCH.tar"
	whole=$scratch/mercer-$version-linux-$ARCH
	mkdir "$whole"
	cp "$BUILT"/mercer "$BUILT"/mercer-fit "$BUILT"/sbom.json README.md LICENSE SECURITY.md CHANGELOG.md "$whole"
	cp -r docs examples "$whole"
	find "$out" -maxdepth 1 -type f \( -name "*$ARCH.deb" -o -name "*image-$ARCH.tar" \) -exec cp {} "$whole" \;
	case $ARCH in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
	cp "$out"/*"$machine".rpm "$whole"
	python3 python/wheel.py --out "$whole/wheels" "linux/$ARCH" >/dev/null
	python3 python/wheel.py --federation --out "$whole/wheels" "linux/$ARCH" >/dev/null
	sums "$whole"
	archive "$whole"
	mv "$whole.tar.gz" "$out"
done
rm -rf "$tools"
sums "$out"
