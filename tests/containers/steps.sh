# What the tests of containers say and wait for. Who sources this defines `fail`.

skip() { echo "skipped: $*" && exit 77; }
say() { echo "-- $*"; }
within() { # SECONDS WHAT COMMAND…
    local seconds=$1 what=$2 end
    end=$(($(date +%s) + $1))
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt $end ] || fail "$what did not happen within $seconds s"
        sleep 0.5
    done
    say "$what"
}
