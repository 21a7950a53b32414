#!/bin/bash
# Follows docs/operate/services.md in a Debian 12 container in which systemd is process 1: the units run, survive kills and a reboot, and end
# for good where another start cures nothing.
#
#   tests/containers/systemd.sh PROGRAMS LIBRARY
#
# PROGRAMS is the folder of trawl-engine, trawl-ingest and trawl-api, LIBRARY libchdb.so. Needs root, podman and debootstrap (once, for the image
# localhost/trawl-systemd); ends with 77 and a sentence where they are missing.
set -euo pipefail

programs=$(realpath "$1") library=$(realpath "$2")
repository=$(realpath "$(dirname "$0")/../..")
image=localhost/trawl-systemd:bookworm
name=trawl-systemd-$$

source "$(dirname "$0")/steps.sh"
fail() {
    echo "FAILED: $*"
    inside journalctl --no-pager -n 60 -u trawl-engine -u trawl-follow -u trawl-api || true
    exit 1
}
[ "$(id -u)" = 0 ] || skip "containers with systemd are started by root here"
for tool in podman debootstrap; do command -v $tool >/dev/null || skip "$tool is not here"; done

if ! podman image exists $image 2>/dev/null; then
    say "making $image"
    folder=$(mktemp -d)
    debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,procps,curl,python3,ca-certificates bookworm "$folder" >"$folder.log" 2>&1 ||
        skip "debootstrap could not fetch Debian: $(tail -1 "$folder.log")"
    tar -C "$folder" -c . | podman import -q - $image
    rm -rf "$folder" "$folder.log"
fi

trap 'podman rm -f -t 0 "$name" >/dev/null 2>&1; rm -f "/tmp/$name.sh"' EXIT
podman run -d --name "$name" --privileged --systemd=always --ulimit "nofile=$(ulimit -Hn):$(ulimit -Hn)" --ulimit nproc=16384:16384 --network none --hostname explorer \
    -v "$repository:/trawl:ro" -v "$programs:/programs:ro" -v "$library:/usr/local/lib/trawl/libchdb.so:ro" $image /sbin/init >/dev/null ||
    skip "podman does not start a container with systemd here"
inside() { podman exec -w /trawl "$name" "$@"; }
state() { inside systemctl show -P "$2" "$1"; }
is() { [ "$(state "$1" "$2")" = "$3" ]; }
api() {
    local request='{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
    inside curl -fsS -H 'content-type: application/json' -d "$request" http://127.0.0.1:4000/rpc | grep -q '"0x28"'
}
follow_ready() { inside curl -fsS http://127.0.0.1:9002/health/ready; }
node() { # FLAGS…
    printf '[Service]\nExecStart=python3 /trawl/tests/fixtures/replaynode/replaynode.py --data /trawl/tests/fixtures/hive --port 8545 --finality 8 --head 40 %s\n[Install]\nWantedBy=multi-user.target\n' "$*" |
        podman exec -i "$name" tee /etc/systemd/system/node.service >/dev/null
    inside systemctl daemon-reload
    inside systemctl enable -q node
    inside systemctl restart node
}
started() { inside systemctl is-system-running | grep -qE 'running|degraded'; }

within 60 "systemd runs" started
node
inside bash -c 'install -m 755 /programs/trawl-{engine,ingest,api} /usr/local/bin/'

# Credentials of other users than root need access lists on tmpfs, which a kernel may lack (CONFIG_TMPFS_POSIX_ACL).
adapt() { :; }
if ! inside systemd-run -q --wait -p User=nobody -p LoadCredential=probe:/etc/hostname sh -c 'cat $CREDENTIALS_DIRECTORY/probe'; then
    say "this kernel gives a unit's user no credentials: the units read the files themselves here"
    adapt() {
        inside sh -c 'chown trawl /etc/trawl/*-password; for unit in engine follow api; do
            folder=/etc/systemd/system/trawl-$unit.service.d; mkdir -p $folder
            { echo "[Service]"; sed -n "s|^\(Environment=.*_FILE=\)%d/|\1/etc/trawl/|p" /etc/systemd/system/trawl-$unit.service; } > $folder/files.conf
        done; systemctl daemon-reload; systemctl restart trawl-engine trawl-follow trawl-api'
    }
fi

say "the commands of services.md"
awk '/^```sh$/ { on = 1; next } /^```$/ { if (on) print "#end"; on = 0 } on' "$repository/docs/operate/services.md" | grep -v '^#end' >"/tmp/$name.sh"
# The status is requested when there is one.
head -n -2 "/tmp/$name.sh" | podman exec -i -w /trawl "$name" bash -euo pipefail -s || fail "the commands of services.md"
adapt
within 90 "the API has the newest block" api
within 30 "follow is ready" follow_ready
tail -n 2 "/tmp/$name.sh" | podman exec -i -w /trawl "$name" bash -euo pipefail -s || fail "commands by hand"

for unit in trawl-engine trawl-follow trawl-api; do
    process=$(state $unit MainPID)
    password=$(inside cat /etc/trawl/owner-password)
    inside cat "/proc/$process/environ" | tr '\0' '\n' | grep -qF "$password" && fail "$unit has a password in its environment"
    [ "$(inside stat -c %U "/proc/$process")" = trawl ] || fail "$unit does not run as trawl"
    level=$(inside systemd-analyze security $unit | sed -n 's/.*exposure level for [^:]*: \([0-9.]*\).*/\1/p')
    say "$unit: exposure level $level"
    awk "BEGIN { exit !($level <= 2.0) }" || fail "$unit is not hardened"
done
[ "$(inside stat -c '%a %U' /var/lib/trawl)" = "750 trawl" ] || fail "the data folder is open to others"

inside bash -c 'TRAWL_CLICKHOUSE_PASSWORD_FILE=/etc/trawl/owner-password trawl-ingest backup /var/lib/trawl-backup/one' || fail "backup"

for unit in trawl-engine trawl-follow trawl-api; do
    inside systemctl kill -s KILL $unit
    within 20 "$unit that was killed runs again" is $unit ActiveState active
done
within 60 "the API answers after the kills" api
within 60 "follow is ready after the kills" follow_ready

node --chain-id 0x5
inside systemctl restart trawl-follow
within 60 "a node of another chain ends follow with 3" is trawl-follow ExecMainStatus 3
sleep 8
is trawl-follow ActiveState failed || fail "follow is started again after 3"
node
inside systemctl restart trawl-follow

inside bash -c 'echo wrong > /etc/trawl/owner-password'
inside systemctl restart trawl-follow
within 60 "a wrong password ends follow with 6" is trawl-follow ExecMainStatus 6
sleep 8
is trawl-follow ActiveState failed || fail "follow is started again after 6"
inside systemctl restart trawl-engine trawl-follow
within 60 "the password is changed at both" follow_ready

say "a reboot"
podman restart -t 60 "$name" >/dev/null
within 120 "the API answers after the reboot" api
within 60 "follow is ready after the reboot" follow_ready
say "done"
