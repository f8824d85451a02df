#!/bin/sh
# Make the user mercer and the folder of homes, and show systemd the units. No daemon starts before a home exists.
set -e
root=${DPKG_ROOT:-}/
if command -v systemd-sysusers >/dev/null; then systemd-sysusers --root="$root" mercer.conf; fi
if command -v systemd-tmpfiles >/dev/null; then systemd-tmpfiles --root="$root" --create mercer.conf; fi
if [ "$root" = / ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
