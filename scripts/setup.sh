#!/bin/sh
# Creates .venv from the lock files, so that you install nothing by hand in a fresh clone.
#
#   scripts/setup.sh run       installs the packages for a conversation
#   scripts/setup.sh dev       installs these and the packages for tests and checks
#   scripts/setup.sh usable    changes nothing; succeeds when .venv is complete and belongs to this checkout
#
# PYTHON=<path or name> chooses the interpreter, SESTET_VENV=<directory> another place than .venv.
# Progress goes to stderr, because the conversation uses stdout.
set -eu

CDPATH="" cd -- "${0%/*}/.."
root=$(pwd -P)
venv=${SESTET_VENV:-.venv}

say() { printf 'setup: %s\n' "$*" >&2; }

# Exit code 2, as for every other mistake that the person has to fix.
give_up() {
    say "$*"
    exit 2
}

# Show the output only if the command fails.
quietly() {
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
}

# .venv contains absolute paths, so a copied checkout would run the code of the original.
usable() {
    [ -x "$venv/bin/python" ] && [ ! -e "$venv/.incomplete" ] && [ "$(cat "$venv/.root" 2>/dev/null)" = "$root" ]
}

has_ensurepip() { "$1" -c 'import ensurepip' 2>/dev/null; }

# Sets `python` to the first interpreter that is new enough, if possible one that can create a venv.
find_python() {
    python=''
    seen=''
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- python3 python3.14 python3.13 python3.12 python3.11
    fi
    for candidate in "$@"; do
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        seen="$seen${seen:+, }$candidate is $version"
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || continue
        if has_ensurepip "$candidate"; then
            python=$candidate
            return
        fi
        [ -n "$python" ] || python=$candidate
    done
    [ -n "$python" ] || give_up "Python 3.11 or newer is needed (looked for $*; found: ${seen:-none})." \
        "Install one (on Debian 12: apt-get install python3 python3-venv)," \
        "or name one: make PYTHON=/path/to/python3.11 run"
}

# On Debian, a separate package contains ensurepip, which puts pip into a venv.
ensure_ensurepip() {
    if has_ensurepip "$python"; then return; fi
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if ! command -v apt-get >/dev/null; then
        give_up "'$python' lacks the ensurepip module, so it cannot make a venv." \
            "Install that part of Python, or name another one: make PYTHON=/path/to/python3.11 run"
    fi
    if [ "$(id -u)" -ne 0 ]; then
        give_up "'$python' cannot make a venv, because the Debian package $package is missing." \
            "Install it, then do this again: sudo apt-get install $package"
    fi
    say "installing the Debian package $package, without which '$python' cannot make a venv"
    export DEBIAN_FRONTEND=noninteractive
    quietly apt-get -q update || give_up "apt-get update failed, see above"
    quietly apt-get -q install -y --no-install-recommends "$package" || give_up "apt-get install failed, see above"
    has_ensurepip "$python" || give_up "'$python' lacks ensurepip even with $package installed." \
        "It is not Debian's Python: name one that is complete: make PYTHON=/usr/bin/python3 run"
}

# Some tests need programs of Debian's: they run the sandbox of an ordinary user with bubblewrap, pages in Chromium,
# and the vault with a real keyring on a D-Bus of its own. Those tests are left out without them, so go on.
offer_package() {
    if command -v "$1" >/dev/null || ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then return 0; fi
    say "installing the Debian package $2, for the tests of the $3"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -q update && apt-get -q install -y --no-install-recommends "$2"; } >/dev/null 2>&1 ||
        say "$2 could not be installed; some tests of the $3 are left out"
}

# Some tests need npm packages, which come with hashes: a real chain on this machine for payments, the official
# client of AG-UI, and three MCP servers. Those tests are left out without them, so go on if they cannot be installed. No script of a package
# runs. ("npm ci" would refuse a lock file that lacks the packages of other systems.)
offer_npm() {
    if ! command -v npm >/dev/null; then
        say "npm was not found; the tests of $2 are left out"
        return 0
    fi
    if [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ]; then return 0; fi
    say "installing the npm packages for the tests of $2"
    (cd "$1" && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error) >/dev/null 2>&1 ||
        say "they could not be installed; the tests of $2 are left out"
}

# Rename before removing, so that an interrupted removal does not leave half a .venv.
discard_venv() {
    rm -rf "$venv.old"
    mv "$venv" "$venv.old"
    rm -rf "$venv.old"
}

make_venv() {
    find_python
    ensure_ensurepip
    say "creating $venv with $("$python" --version)"
    mkdir -p "$venv"
    : >"$venv/.incomplete"
    "$python" -m venv "$venv"
    printf '%s\n' "$root" >"$venv/.root"
}

install() {
    say "installing the packages of $1"
    "$venv/bin/python" -P scripts/install_packages.py "$1" ||
        give_up "pip failed, see above. Is the package registry within reach?"
    say "installing Sestet itself"
    # Without isolation: the build backend is in the lock file, and nothing else may be fetched.
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input install --quiet \
        --no-deps --no-build-isolation --editable .
}

# Two set-ups at once would each take the other's venv for an interrupted one, so wait for the first.
wait_for_turn() {
    command -v flock >/dev/null || return 0
    exec 9<scripts/setup.sh
    flock -n 9 && return
    say "another set-up runs in this checkout; waiting for it"
    flock 9
}

set_up() {
    wait_for_turn
    if [ -e "$venv" ] || [ -L "$venv" ]; then
        if ! usable; then
            say "the present $venv is incomplete or belongs to another checkout; creating it again"
            discard_venv
        fi
    fi
    [ -d "$venv" ] || make_venv
    # If the set-up stops after this line, the mark stays and the next call starts afresh.
    : >"$venv/.incomplete"
    install "$1"
    shift
    # The stamps get the time of the start, so that a lock file edited meanwhile counts as newer.
    for stamp in "$@"; do touch -r "$venv/.incomplete" "$venv/$stamp"; done
    rm "$venv/.incomplete"
    say "done"
}

case ${1:-} in
    run) set_up requirements.lock .run </dev/null ;;
    dev)
        offer_package bwrap bubblewrap sandbox </dev/null
        offer_package chromium-headless-shell chromium-headless-shell browser </dev/null
        offer_package gnome-keyring-daemon gnome-keyring vault </dev/null
        offer_package dbus-daemon dbus-daemon vault </dev/null
        offer_npm tests/chain "payments over a chain" </dev/null
        offer_npm tests/server/agui_client "AG-UI's own client" </dev/null
        offer_npm tests/services/mcp/npm_servers "MCP servers from npm" </dev/null
        set_up requirements-dev.lock .run .dev </dev/null
        ;;
    usable) usable ;;
    *) give_up "usage: scripts/setup.sh run|dev|usable" ;;
esac
