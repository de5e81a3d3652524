# Reads what is to be removed, one line each, newest to be removed first, until the process that
# started it is gone in whatever way; then removes it. It removes trees of one name only, see below.
# Lines: `KIND NAME`, or `gone KIND NAME`. NAME is text for printf %b, without blanks.
# The working directory is tracefs, if there is one.
trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE
set -f
newline='
'
list=
while IFS= read -r line; do
    case $line in
    'gone '*)
        gone=${line#gone }
        rest=
        IFS=$newline
        for entry in $list; do
            [ "$entry" = "$gone" ] || rest=$rest$entry$newline
        done
        list=$rest
        ;;
    *) list=$line$newline$list ;;
    esac
done

# The kernel closes the files of a dying process one by one, so what is busy is tried for 5 s.
remove_busy_directory() {
    tries=100
    until rmdir "$1" || [ ! -d "$1" ] || [ "$tries" = 0 ]; do
        tries=$((tries - 1))
        sleep 0.05 || sleep 1
        [ "$2" = cgroup ] && kill_members "$1"
    done
}

# 0 stands for processes of other pid namespaces; to kill 0 would be to kill ourselves.
kill_members() {
    while read -r pid; do
        [ "$pid" = 0 ] || kill -9 "$pid"
    done <"$1/cgroup.procs"
}

# What programs unpacked. They die with us, but one that still writes can fill what was just emptied; and
# who is not root has to be let into directories that forbid it. No links are followed, no mounts entered.
remove_tree() {
    tries=100
    while [ -d "$1" ] && [ "$tries" != 0 ]; do
        tries=$((tries - 1))
        find "$1" -xdev -type d ! -perm -700 -exec chmod u+rwx {} \;
        find "$1" -xdev -depth -delete || sleep 0.05 || sleep 1
    done
}

IFS=$newline
for entry in $list; do
    kind=${entry%% *}
    name=$(printf '%bx' "${entry#* }")
    name=${name%x}
    case $kind in
    cgroup)
        [ -d "$name" ] && kill_members "$name"
        remove_busy_directory "$name" cgroup
        ;;
    trace)
        echo 0 >"instances/$name/tracing_on"
        remove_busy_directory "instances/$name" trace
        ;;
    file) rm -f "$name" ;;
    # Of no other name, whatever is asked for: a mistake must not cost anybody their files.
    tree)
        case /${name##*/} in
        /.coldpress-*) remove_tree "$name" ;;
        esac
        ;;
    # A mount point is freed first: this process keeps the mount namespace, and so the mount.
    dir) rmdir "$name" || { { umount -l "$name" || fusermount3 -u -z "$name"; } && rmdir "$name"; } ;;
    esac
done
