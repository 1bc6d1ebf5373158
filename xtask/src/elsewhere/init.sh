#!/bin/busybox sh
# The first program of the guest: makes of the host's files, which are read-only, and an empty disk a system as the tests
# expect it, and starts the job there. What goes wrong is said on the console, and turns the machine off.

export PATH=/bin
/bin/busybox --install -s /bin
trap 'echo "guest: it could not be set up"; poweroff -f' EXIT
set -e
. /settings

mkdir -p /proc /sys /dev /host /disk /new
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
# What is not among them is built in.
for module in $load; do
    if grep -q "/$module\.ko" "/lib/modules/$(uname -r)/modules.dep"; then modprobe "$module"; fi
done

# Loose: nothing is checked again that was read once. What changes on the host meanwhile is not to be seen anyway.
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /host
mount -t ext4 /dev/vda /disk
mkdir /disk/changed /disk/work
mount -t overlay -o lowerdir=/host,upperdir=/disk/changed,workdir=/disk/work overlay /new

# Where tests make files there is no layer in between: they ask for attributes, holes and birth times of a real disk.
for place in /tmp /var/tmp "$workplace"; do
    mkdir -p "/disk/plain$place" "/new$place"
    chmod 1777 "/disk/plain$place"
    mount --bind "/disk/plain$place" "/new$place"
done
mount -t tmpfs -o mode=755 tmpfs /new/run

# Tests copy these, and what debuggers want of them is most of their size.
for program in "/new$light"/*; do
    mount --bind "$program" "/new$programs/${program##*/}"
done

mount --move /proc /new/proc
mount --move /sys /new/sys
mount --move /dev /new/dev
mkdir -p /new/dev/pts /new/dev/shm /new/dev/mqueue
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /new/dev/pts
mount -t tmpfs -o mode=1777 tmpfs /new/dev/shm
mount -t mqueue mqueue /new/dev/mqueue
ln -s /proc/self/fd /new/dev/fd
ln -s /proc/self/fd/0 /new/dev/stdin
ln -s /proc/self/fd/1 /new/dev/stdout
ln -s /proc/self/fd/2 /new/dev/stderr
mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
mount -t securityfs securityfs /new/sys/kernel/security
ip link set lo up
hostname guest

# The kernel loads modules on demand, as on every Debian, but the host may have neither them nor the program.
mkdir -p "/new/lib/modules/$(uname -r)"
mount --bind "/new$modules" "/new/lib/modules/$(uname -r)"
cp /bin/busybox /new/run/busybox
ln -s busybox /new/run/modprobe
echo /run/modprobe > /new/proc/sys/kernel/modprobe

cp /job /new/run/job
echo "guest: Linux $(uname -r) after $(cut -d' ' -f1 /new/proc/uptime) s"
echo "guest: security modules $(cat /new/sys/kernel/security/lsm)"
echo "guest: $(cat /new/proc/sys/user/max_user_namespaces) user namespaces"
trap - EXIT
exec switch_root /new /bin/sh /run/job
