#!/bin/sh
# Injects one failure into a test stack, and ends it after SECONDS, or on Ctrl-C or SIGTERM. What each is called in metrics, log and
# health, and which alert fires: docs/operate/observe.md. Never run it against what somebody needs.
#
#   ops/faults.sh FAULT SUBJECT [SECONDS]
#
#   killed PID            ends a process as a crash does; whoever runs it starts it again
#   stopped PID           a process hangs: it takes connections and answers nothing
#   disk-full FOLDER      a file takes all the room of the folder's disk, and what becomes free
#
# Failures of a node. URL is that of tests/fixtures/replaynode/replaynode.py, which `follow` of the test stack has as its node:
#
#   node-silent URL       takes calls and answers none
#   node-slow URL         answers after FAULT_LATENCY milliseconds (3000)
#   node-limited URL      refuses calls as too many (429)
#   node-denied URL       refuses calls as those of a stranger (401)
#   node-failing URL      answers calls with errors
#   node-pruned URL       has no state and call frames of its blocks
#   node-other-id URL     has another chain id
#   node-other-chain URL  comes back after FAULT_AWAY seconds (5) with the blocks of FAULT_CHAIN (devchain), a folder beside its own,
#                         under the same chain id
#   node-fork URL         comes back so with those of FAULT_BRANCH (depth17), a branch in its folder
#   node-back URL         is FAULT_BLOCKS (10) blocks back, as after a restart from a snapshot
set -eu

usage() {
    sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

[ $# -ge 2 ] && [ $# -le 3 ] || usage
fault=$1 subject=$2 seconds=${3:-}
filler=$subject/faults-filler
blocks=${FAULT_BLOCKS:-10}

control() {
    curl --silent --show-error --fail --max-time 10 --output /dev/null --data "$1" "$subject/control"
}

# The node is away for a while.
restart() {
    control '{"faults": {"drop": 1}}'
    sleep "${FAULT_AWAY:-5}"
}

# Puts the node on a branch, at the height it has.
branch() {
    head=$(curl --silent --show-error --fail --max-time 10 "$subject/control" | sed 's/.*"head": \([0-9]*\).*/\1/')
    control "{\"branch\": \"$1\", \"branchHead\": $head, \"faults\": {}}"
}

begin() {
    case $fault in
    killed) kill -KILL "$subject" ;;
    stopped) kill -STOP "$subject" ;;
    disk-full) : >"$filler" ;;
    node-silent) control '{"faults": {"timeout": 1}, "timeout_secs": 600}' ;;
    node-slow) control "{\"latency\": ${FAULT_LATENCY:-3000}}" ;;
    node-limited) control '{"faults": {"http429": 1}}' ;;
    node-denied) control '{"faults": {"http401": 1}}' ;;
    node-failing) control '{"faults": {"rpcerror": 1}}' ;;
    node-pruned) control '{"pruned_below": 1000000000}' ;;
    node-other-id) control '{"chain_id": "0x5"}' ;;
    node-other-chain)
        restart
        control "{\"impostor\": \"${FAULT_CHAIN:-devchain}\", \"faults\": {}}"
        ;;
    node-fork)
        restart
        branch "${FAULT_BRANCH:-depth17}"
        ;;
    node-back) control "{\"advance\": -$blocks}" ;;
    *) usage ;;
    esac
}

end() {
    case $fault in
    killed) ;;
    stopped) kill -CONT "$subject" ;;
    disk-full) rm -f "$filler" ;;
    node-silent | node-limited | node-denied | node-failing) control '{"faults": {}}' ;;
    node-slow) control '{"latency": 0}' ;;
    node-pruned) control '{"pruned_below": 0}' ;;
    node-other-id) control '{"chain_id": null}' ;;
    node-other-chain) control '{"impostor": null}' ;;
    node-fork) branch main ;;
    node-back) control "{\"advance\": $blocks}" ;;
    esac
}

pause() {
    sleep "$1" &
    wait $! || true
}

trap 'trap - INT TERM; end; echo "$fault of $subject is over"; exit 0' INT TERM
begin
echo "$fault of $subject"
[ "$fault" != killed ] || exit 0
started=$(date +%s)
while [ -z "$seconds" ] || [ $(($(date +%s) - started)) -lt "$seconds" ]; do
    if [ "$fault" = disk-full ]; then
        # Whatever becomes free meanwhile: the database removes old parts.
        cat /dev/zero >>"$filler" 2>/dev/null || true
        pause 0.02
    else
        pause 1
    fi
done
end
echo "$fault of $subject is over"
