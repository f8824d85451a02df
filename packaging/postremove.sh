#!/bin/sh
# Tell systemd that the units are gone. Homes and the user mercer stay: they hold keys and ledgers.
[ -d /run/systemd/system ] && systemctl daemon-reload
exit 0
