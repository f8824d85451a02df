#!/bin/sh
# Make the user mercer and the folder of homes, and show systemd the units. No daemon starts before a home exists.
set -e
command -v systemd-sysusers >/dev/null && systemd-sysusers mercer.conf
command -v systemd-tmpfiles >/dev/null && systemd-tmpfiles --create mercer.conf
[ -d /run/systemd/system ] && systemctl daemon-reload
exit 0
