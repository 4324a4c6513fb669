#!/bin/sh
# Keys of several parties on one machine, for trying out: `sh keys.sh miner north east` makes keys-miner, keys-north and keys-east, and lets
# each trust the others. On real machines every party runs `privet keys init` itself, and fingerprints are exchanged by a way that people trust.
set -eu
for party in "$@"; do
    [ -e "keys-$party/identity" ] || privet keys --keys "keys-$party" init >/dev/null
done
for party in "$@"; do
    for other in "$@"; do
        if [ "$party" != "$other" ]; then
            fingerprint=$(privet --json keys --keys "keys-$other" show | sed -n 's/^ *"fingerprint": "\([0-9a-f-]*\)",*$/\1/p' | head -n 1)
            privet keys --keys "keys-$party" trust "$other" "$fingerprint" >/dev/null
        fi
    done
done
