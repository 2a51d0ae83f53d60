#!/bin/sh
# Lets an agent work until the tests pass, or until another try of the same kind would change nothing.
# usage: examples/until-green.sh 'mend the failing tests' pytest -q (needs jq)
task=$1
shift
memory=$(mktemp)
trap 'rm -f "$memory" "$memory.json"' EXIT
rm -f "$memory"

while :; do
    checkrein --json route --runner pytest --remember "$memory" -- "$@" 2> "$memory.json"
    next=$(tail -n 1 "$memory.json" | jq -r .route.next)
    advice=$(tail -n 1 "$memory.json" | jq -r .advice)
    case $next in
        go_on) exit 0 ;;
        wait) sleep 900 ;;
        implement | scaffold)
            checkrein run --profile unattended --retries 2 -- \
                claude -p "$task. $advice" --output-format stream-json --verbose > /dev/null || exit
            ;;
        *) echo "stopped: $advice" >&2; exit 1 ;;
    esac
done
