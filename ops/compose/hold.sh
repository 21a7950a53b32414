#!/bin/sh
# Runs a program in a container: sh hold.sh PROGRAM ARGUMENTS…
# Docker restarts a program whatever its exit code. So after an exit code that a restart cannot fix, the container keeps running.
"$@" &
child=$!
trap 'kill -TERM "$child" 2>/dev/null' TERM INT
wait "$child"
code=$?
# A signal ends the wait, not the program.
while kill -0 "$child" 2>/dev/null; do
  wait "$child"
  code=$?
done
case $code in
  2 | 3 | 6 | 7 | 8)
    echo "ended with exit code $code, which another start does not cure: mend what it says above, then restart this container" >&2
    trap 'exit "$code"' TERM INT
    while :; do
      sleep 3600 &
      wait $!
    done
    ;;
esac
exit "$code"
