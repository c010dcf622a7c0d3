#!/bin/sh
# Installs the Debian packages that packages.txt lists for the given purposes, unless they are all there.
#   cmake/packages.sh build [bench] [lint] [fuzz] [viewer] [browser]
set -eu
list="$(dirname "$0")/../packages.txt"

missing=""
for purpose in "$@"; do
  for package in $(awk -v p="$purpose" '!/^#/ && $2 == p { print $1 }' "$list"); do
    status="$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)"
    [ "$status" = "install ok installed" ] || missing="$missing $package"
  done
done
[ -n "$missing" ] || exit 0

stop() {
  echo "$1" >&2
  echo "Needed, and not installed:$missing" >&2
  exit 1
}

command -v apt-get >/dev/null || stop "This is no Debian system (no apt-get): install the equivalents by hand."
if [ "$(id -u)" = 0 ]; then
  as_root="env"
elif command -v sudo >/dev/null; then
  as_root="sudo env"
else
  stop "Packages must be installed by root, and there is no sudo here. As root: apt-get install$missing"
fi
echo "Installing:$missing"
$as_root DEBIAN_FRONTEND=noninteractive apt-get update -qq || echo "apt-get update failed; trying with the lists that are there" >&2
# Word splitting of $missing is wanted: one argument per package.
# shellcheck disable=SC2086
$as_root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
  stop "apt-get could not install the packages (no network, or another release than Debian 12?)."
