#!/usr/bin/env bash
# keep_ptxas_log.sh NVCC WORD... -o OBJECT WORD...: compiles, and keeps in OBJECT.ptxas what ptxas says
# of the kernels. CMake's CUDA_COMPILER_LAUNCHER where tests are built.
set -uo pipefail
previous=
for word; do
  if [[ $previous == -o ]]; then object=$word; fi
  previous=$word
done
"$@" -Xptxas=--verbose >"$object.ptxas" 2>&1
status=$?
grep -vE '^ptxas info|^ +[0-9]+ bytes stack frame' "$object.ptxas" >&2
exit $status
