#!/bin/sh
# expect_exit.sh CODE TEXT COMMAND..: the command must end with this exit code and print this text.
code=$1
text=$2
shift 2
output=$("$@" 2>&1)
seen=$?
printf '%s\n' "$output"
if [ "$seen" -ne "$code" ]; then
  echo "expected exit code $code, got $seen"
  exit 1
fi
case $output in
  *"$text"*) exit 0 ;;
esac
echo "expected in the output: $text"
exit 1
