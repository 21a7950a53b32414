#!/bin/bash
# Follows docs/quickstart.md, section 4, with the embedded engine, on a Docker engine of its own: the stack becomes healthy, survives kills, a
# restart of its database and a reboot, holds a program that another start does not cure, says that a volume is full, and is removed.
#
#   tests/containers/compose.sh PROGRAMS LIBRARY
#
# PROGRAMS is the folder of trawl-engine, trawl-ingest and trawl-api, LIBRARY libchdb.so. The images are those of the Dockerfile, whose stages
# that compile and download are replaced by these files. Needs root, Docker's engine and client, debootstrap, Debian's packages, and Compose
# 2.23.1 or later; ends with 77 and a sentence where they are missing, or where another Docker engine runs: the bridge docker0 and the
# chains of the firewall, which stay, would be its own.
set -euo pipefail

programs=$(realpath "$1") library=$(realpath "$2")
repository=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
export DOCKER_HOST=unix://$folder/docker.sock COMPOSE_PROJECT_NAME=trawl-test-$$
node= daemon= compose=()

source "$(dirname "$0")/steps.sh"
fail() {
    echo "FAILED: $*"
    docker compose ps --all || true
    docker compose logs --no-color --tail 40 || true
    exit 1
}
docker() {
    if [ "$1" = compose ]; then (cd "$folder/trawl" && "${compose[@]}" "${@:2}"); else command docker "$@"; fi
}
# A container's signals end at its own processes; the daemon ends all of them.
start_docker() {
    echo '{}' >"$folder/daemon.json"
    dockerd --config-file "$folder/daemon.json" --data-root "$folder/root" --exec-root "$folder/exec" --pidfile "$folder/dockerd.pid" \
        -H "$DOCKER_HOST" >>"$folder/dockerd.log" 2>&1 &
    daemon=$!
    for _ in $(seq 60); do command docker info >/dev/null 2>&1 && return; sleep 0.5; done
    return 1
}
stop_docker() {
    [ -n "$daemon" ] || return 0
    kill "$daemon" 2>/dev/null || true
    for _ in $(seq 300); do kill -0 "$daemon" 2>/dev/null || break; sleep 0.2; done
    kill -KILL "$daemon" 2>/dev/null || true
    rm -f "$folder/dockerd.pid"
    daemon=
}
clean() {
    [ -z "$node" ] || kill "$node" 2>/dev/null || true
    [ -z "$daemon" ] || docker compose down --volumes --timeout 5 >/dev/null 2>&1 || true
    stop_docker
    rm -rf --one-file-system "$folder"
}
trap clean EXIT

[ "$(id -u)" = 0 ] || skip "a Docker engine of its own is started by root"
for tool in dockerd docker debootstrap python3 curl openssl ip; do command -v $tool >/dev/null || skip "$tool is not here"; done
for socket in /run/containerd/containerd.sock /var/run/docker.sock; do
    [ ! -e $socket ] || skip "$socket is here: another Docker engine may run"
done
for free in 4000 8123 9002; do
    ! (exec 3<>/dev/tcp/127.0.0.1/$free) 2>/dev/null || skip "port $free of docker-compose.yml is in use"
done
is_new() { printf '2.23.1\n%s\n' "${1#v}" | sort --version-sort --check=silent; }
if is_new "$(command docker compose version --short 2>/dev/null || echo 0)"; then
    compose=(command docker compose)
elif is_new "$("${TRAWL_TEST_COMPOSE:-docker-compose}" version --short 2>/dev/null || echo 0)"; then
    compose=("${TRAWL_TEST_COMPOSE:-docker-compose}")
else
    skip "Compose 2.23.1 or later is not here (TRAWL_TEST_COMPOSE names its program)"
fi
start_docker || skip "no Docker engine starts here: $(tail -1 "$folder/dockerd.log")"

say "the images"
debootstrap --variant=minbase bookworm "$folder/debian" >"$folder/debootstrap.log" 2>&1 ||
    skip "debootstrap could not fetch Debian: $(tail -1 "$folder/debootstrap.log")"
tar -C "$folder/debian" -c . | docker import - debian:12-slim >/dev/null
rm -rf "$folder/debian"
mkdir -p "$folder/context/trawl/target/dist" "$folder/context/library/node_modules/@chdb/lib-linux-x64-gnu" "$folder/trawl"
cp "$programs"/trawl-{engine,ingest,api} "$folder/context/trawl/target/dist/"
cp "$repository"/LICENSE-* "$folder/context/trawl/"
cp "$library" "$folder/context/library/node_modules/@chdb/lib-linux-x64-gnu/libchdb.so"
{
    printf 'FROM debian:12-slim AS build\nCOPY trawl /trawl\nFROM debian:12-slim AS library\nCOPY library /library\n'
    sed -n '/^FROM debian:12-slim AS engine/,$p' "$repository/Dockerfile"
} >"$folder/context/Dockerfile"
for image in trawl trawl-engine; do
    docker build --target "${image#trawl-}" --tag $image:local "$folder/context" >"$folder/build.log" 2>&1 || {
        grep -qE 'Temporary failure resolving|Could not resolve|Could not connect|Failed to fetch' "$folder/build.log" && skip "Debian's packages cannot be fetched in containers: $(tail -1 "$folder/build.log")"
        fail "$image: $(cat "$folder/build.log")"
    }
done
rm -rf "$folder/context"

cp -r "$repository"/{docker-compose.yml,.env.example,ops} "$folder/trawl/"
address=$(ip -4 -o addr show docker0 | sed 's/.* inet \([0-9.]*\).*/\1/')
start_node() { # FLAGS…
    [ -z "$node" ] || { kill "$node" && wait "$node" 2>/dev/null || true; }
    python3 "$repository/tests/fixtures/replaynode/replaynode.py" --data "$repository/tests/fixtures/hive" --host "$address" \
        --port "$port" --finality 8 --head 40 "$@" >"$folder/node.log" 2>&1 &
    node=$!
}
port=$(python3 -c "import socket; s = socket.socket(); s.bind(('$address', 0)); print(s.getsockname()[1])")
start_node

say "the commands of quickstart.md"
awk '/^## 4/ { here = 1 } here && /^```/ { on = !on; if (!on) exit; next } here && on' "$repository/docs/quickstart.md" >"$folder/commands"
[ "$(wc -l <"$folder/commands")" = 3 ] || fail "section 4 of quickstart.md has other commands"
(cd "$folder/trawl" && head -n 2 "$folder/commands" | bash -euo pipefail)
sed -i "s/^COMPOSE_PROFILES=.*/COMPOSE_PROFILES=embedded/; s|^ETH_RPC_URL=.*|ETH_RPC_URL=http://host.docker.internal:$port|" "$folder/trawl/.env"
limit=$(ulimit -Hn)
if [ "$limit" != unlimited ] && [ "$limit" -lt 262144 ]; then
    say "the hard limit of open files is $limit: as services.md says, in a docker-compose.override.yml"
    printf 'services:\n  engine: {ulimits: {nofile: %s}}\n' "$limit" >"$folder/trawl/docker-compose.override.yml"
fi

inspect() { docker inspect -f "$2" "$(docker compose ps --all --quiet "$1")"; }
is() { [ "$(inspect "$1" "$2")" = "$3" ]; }
healthy() { is "$1" '{{.State.Health.Status}}' healthy; }
all_healthy() { healthy engine && healthy ingest && healthy api; }
api() { # TEXT: the newest block as the API says it
    local request='{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
    curl -fsS -m 5 -H 'content-type: application/json' -d "$request" http://127.0.0.1:4000/rpc | grep '"0x28"' >/dev/null
}
password() { cat "$folder/trawl/secrets/$1-password"; }
select_as() { # USER SECRET SQL
    curl -fsS -m 10 -u "$1:$(password "$2")" http://127.0.0.1:8123/ --data-binary "$3"
}
docker compose up --detach --no-build >"$folder/up.log" 2>&1 || fail "up: $(tail -5 "$folder/up.log")"
within 90 "the API has the newest block" api
within 90 "all are healthy" all_healthy
is migrate '{{.State.Status}} {{.State.ExitCode}}' 'exited 0' || fail "migrate did not end with 0"

reads() { [ "$(select_as reader reader "SELECT max(block_number) FROM $1")" = 40 ]; }
within 60 "the reader has the newest block" reads trawl.v_blocks
within 10 "the reader has it in views as text" reads trawl_views.blocks
select_as api api 'SELECT count() FROM trawl.blocks' >/dev/null || fail "the API's account cannot read"
! select_as api api 'DROP TABLE trawl.logs' >/dev/null 2>&1 || fail "the API's account may drop tables"
curl -fsS http://127.0.0.1:9002/metrics | grep '^trawl_ingest_' >/dev/null || fail "no metrics of ingest"
curl -fsS http://127.0.0.1:4000/metrics | grep '^trawl_' >/dev/null || fail "no metrics of the API"
for service in engine ingest api; do
    configuration=$(inspect $service '{{json .Config}}')
    for secret in owner api reader; do
        [[ $configuration != *"$(password $secret)"* ]] || fail "$service has a password in its configuration"
    done
    process=$(inspect $service '{{.State.Pid}}')
    [ "$(stat -c %u "/proc/$process")" = 10001 ] || fail "$service does not run as user 10001"
    for none in CapEff CapBnd; do grep -q "^$none:\s*0*$" "/proc/$process/status" || fail "$service has capabilities"; done
    grep -q '^NoNewPrivs:\s*1$' "/proc/$process/status" || fail "$service may get privileges"
done
docker compose exec -T ingest trawl-ingest backup /backup/one >"$folder/backup.log" 2>&1 || fail "backup: $(tail -3 "$folder/backup.log")"
say "reader, metrics, passwords, users, backup"

docker compose restart --timeout 60 engine >/dev/null 2>&1
within 60 "the API answers after a restart of the database" api
within 90 "all are healthy after it" all_healthy
for service in engine ingest api; do
    started=$(inspect $service '{{.State.StartedAt}}')
    # Docker says 0 of a container that does not run.
    process=$(inspect $service '{{.State.Pid}}')
    [ "$process" -gt 1 ] || fail "$service does not run"
    kill -KILL "$process"
    restarted() { ! is $service '{{.State.StartedAt}}' "$started" && is $service '{{.State.Status}}' running; }
    within 30 "$service that was killed runs again" restarted
done
within 90 "the API answers after the kills" api
within 90 "all are healthy after the kills" all_healthy

start_node --chain-id 0x5
docker compose restart --timeout 60 ingest >/dev/null 2>&1
held() { docker compose logs --no-color ingest | grep 'exit code 3, which another start does not cure' >/dev/null; }
within 60 "a node of another chain ends follow with 3" held
restarts=$(inspect ingest '{{.RestartCount}}')
within 150 "its container is unhealthy" is ingest '{{.State.Health.Status}}' unhealthy
is ingest '{{.RestartCount}}' "$restarts" || fail "follow is started again after 3"
api || fail "the API does not answer beside it"
start_node
docker compose restart --timeout 60 ingest >/dev/null 2>&1
within 60 "ingest is healthy with the right node" healthy ingest

say "a reboot"
stop_docker
start_docker || fail "Docker does not start again: $(tail -1 "$folder/dockerd.log")"
within 120 "the API answers after the reboot" api
# The database may end before `follow` could release its lease, which another container takes after a minute.
within 150 "all are healthy after the reboot" all_healthy

docker compose stop --timeout 60 >/dev/null 2>&1
for service in engine ingest api; do
    code=$(inspect $service '{{.State.ExitCode}}')
    case $service:$code in engine:0 | ingest:0 | ingest:130 | ingest:143 | api:0) ;; *) fail "$service ended with $code" ;; esac
done
docker compose start >/dev/null 2>&1
within 90 "the API answers after stop and start" api
docker compose down --volumes --timeout 60 >/dev/null 2>&1
[ -z "$(docker ps --all --quiet)$(docker volume ls --quiet)" ] || fail "down leaves containers or volumes"

say "a full volume"
printf 'services:\n  engine: {ulimits: {nofile: 16384}}\nvolumes:\n  engine:\n    driver_opts: {type: tmpfs, device: tmpfs, o: "size=256m,uid=10001,gid=10001"}\n' \
    >"$folder/trawl/docker-compose.override.yml"
start_node --head 20
docker compose up --detach --no-build >"$folder/up.log" 2>&1 || fail "up: $(tail -5 "$folder/up.log")"
within 90 "all are healthy on a small volume" all_healthy
docker compose exec -T engine sh -c 'head -c 512M /dev/zero >/var/lib/trawl/ballast' 2>/dev/null || true
start_node
full() { curl -sS -m 5 http://127.0.0.1:9002/health/ready | grep -iE 'space|disk' >/dev/null; }
within 120 "ingest says that the disk is full" full
healthy engine || fail "the engine is not healthy beside a full disk"
docker compose exec -T engine rm /var/lib/trawl/ballast
within 90 "with room the API has the newest block" api
within 90 "all are healthy again" all_healthy
docker compose down --volumes --timeout 60 >/dev/null 2>&1
say "done"
