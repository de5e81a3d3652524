# Five real applications, from small to large, and a screen for those that have windows; to be sourced behind common.sh.

command -v Xvfb >/dev/null || die "install xvfb"

# What is installed, and what is started: application NAME. A command succeeds only if the program has done its work.
application() {
    start=(--chroot)
    case $1 in
    python3)
        packages=python3
        command=(python3 -c 'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config')
        ;;
    git)
        packages=git
        command=(sh -c 'git init -q /tmp/r && cd /tmp/r && git -c user.name=a -c user.email=a@example.org
            commit -q --allow-empty -m a && git log -p | grep -q Author')
        ;;
    libreoffice)
        packages=libreoffice-writer-nogui,fonts-dejavu-core
        command=(sh -c 'cp /etc/os-release /tmp/letter.txt && HOME=/tmp soffice --headless --convert-to pdf --outdir /tmp /tmp/letter.txt &&
            test -s /tmp/letter.pdf')
        ;;
    chromium)
        packages=chromium
        command=(sh -c 'chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
            --disable-component-update --disable-sync --user-data-dir=/tmp/profile --dump-dom "data:text/html,<p>started" | grep -q started')
        ;;
    gnome-calculator)
        packages=gnome-calculator
        start+=(--ready window)
        command=(/usr/bin/env -i HOME=/tmp PATH=/usr/bin:/bin DISPLAY=":$display" /usr/bin/gnome-calculator)
        ;;
    *) die "no such application: $1" ;;
    esac
    # A command is one line.
    command=("${command[@]//$'\n'/ }")
    # That of recorders.sh, for python3.
    source=$work/rootfs-${1%3}
}

# An application, its root file system, and in $images the trace of its start, made once: recorded NAME
recorded() {
    application "$1"
    rootfs "$source" "$packages"
    [ -e "$images/$1.trace" ] ||
        "$coldpress" -q record "$source" -o "$images/$1.trace" "${start[@]}" -- "${command[@]}" 2>"$work/errors"
}

# A screen of its own until the scenario ends: screen
screen() {
    display=$((RANDOM % 1000 + 1000))
    # Without -noreset it starts anew when the last window goes, and refuses connections meanwhile.
    Xvfb ":$display" -screen 0 1280x800x24 -nolisten tcp -noreset >/dev/null 2>&1 &
    server=$!
    trap 'kill $server' EXIT
    # Where coldpress looks for windows.
    export DISPLAY=":$display"
}
