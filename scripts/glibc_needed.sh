#!/usr/bin/env bash
# Whether programs and libraries of a tree need no symbol of a newer glibc. Usage: glibc_needed.sh
# VERSION TREE
set -euo pipefail
most=$1
tree=$2
status=0
checked=0
while IFS= read -r -d '' file; do
  needed=$(objdump -T "$file" 2>/dev/null | grep -oE '\(?GLIBC_[0-9.]+' | tr -d '(' | sort -uV | tail -n 1) || continue
  checked=$((checked + 1))
  if [[ $(printf '%s\n' "GLIBC_$most" "$needed" | sort -V | tail -n 1) != "GLIBC_$most" ]]; then
    echo "error: $file needs $needed:" >&2
    objdump -T "$file" | grep -F "$needed" | awk '{ print "  " $NF }' >&2
    status=1
  fi
done < <(find "$tree" -type f \( -perm -u+x -o -name '*.so*' \) -print0 | sort -z)
if ((checked == 0)); then
  echo "error: no program in $tree" >&2
  status=1
fi
exit $status
