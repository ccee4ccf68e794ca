"""The attacks, as a table: what a hostile command tries, and how the same works without a sandbox.

Each is Python for ``probe.py``, which sets ``escaped``. ``facts`` describes the surroundings: ``world.py``.
"""

from typing import Literal, NamedTuple, TypeAlias

#: ``plain``: the control runs as the same user; ``rootless``: it first enters a user namespace of its own, in
#: which that user may do what only root may elsewhere.
Control: TypeAlias = Literal["plain", "rootless"]


class Attack(NamedTuple):
    name: str
    code: str
    control: Control = "plain"
    #: Isolations that do not promise to stop this: docs/sandbox.md says so.
    except_in: tuple[str, ...] = ()
    #: Another source for the control, where the attack itself would do harm.
    harmless: str = ""


_NOT_LANDLOCK = ("landlock",)

FILES = (
    Attack("read a private key", "escaped = facts['secret'] in read(facts['home'] + '/.ssh/id_ed25519')"),
    Attack("list the home", "escaped = '.ssh' in os.listdir(facts['home'])"),
    Attack(
        "read a key through /proc/self/root",
        "escaped = facts['secret'] in read('/proc/self/root' + facts['home'] + '/.ssh/id_ed25519')",
    ),
    Attack(
        "read /etc/shadow",
        "escaped = ':' in read('/etc/shadow')",
        harmless="escaped = facts['secret'] in read(facts['data'] + '/sestet.db')",
    ),
    Attack("read Sestet's data", "escaped = facts['secret'] in read(facts['data'] + '/sestet.db')"),
    Attack(
        "read Sestet's settings",
        "escaped = facts['secret'] in read(facts['home'] + '/.config/sestet/sestet.yaml')",
    ),
    Attack(
        "read Sestet's data inside the workspace",
        "escaped = facts['secret'] in read(facts['work'] + '/.own/sestet/sestet.db')",
        except_in=_NOT_LANDLOCK,
    ),
    Attack(
        "move the directory above Sestet's data",
        """
os.rename(facts['work'] + '/.own', facts['work'] + '/moved')
escaped = True  # the next launcher would not find it, and would not hide it
os.rename(facts['work'] + '/moved', facts['work'] + '/.own')
""",
        except_in=_NOT_LANDLOCK,
    ),
    Attack("write outside", "escaped = write(facts['outside'] + '/target')"),
    Attack("make a file outside", "escaped = write(facts['outside'] + '/' + facts['unique'])"),
    Attack(
        "write into /etc",
        "escaped = write('/etc/sestet-attack')",
        harmless="escaped = write(facts['outside'] + '/target')",
    ),
    Attack(
        "write outside through a link in the workspace",
        """
link = facts['work'] + '/' + facts['unique']
os.symlink(facts['outside'] + '/target', link)
escaped = write(link)
""",
    ),
    Attack(
        "write outside through a hard link",
        """
link = facts['work'] + '/' + facts['unique']
os.link(facts['outside'] + '/target', link)
escaped = write(link)
""",
    ),
    Attack(
        "write outside through /proc/self/root",
        "escaped = write('/proc/self/root' + facts['outside'] + '/target')",
    ),
    Attack(
        "write outside through the root of any process",
        """
for process in (*processes(), 1, os.getppid()):
    try:
        escaped = escaped or write(f"/proc/{process}/root{facts['outside']}/target")
    except OSError as error:
        why = error
if not escaped: raise why
""",
    ),
    Attack(
        "write outside through /proc/self/cwd/..",
        """
os.chdir(facts['work'])
escaped = write('/proc/self/cwd/../outside/target')
""",
    ),
    Attack(
        "write outside by a descriptor of the directory above",
        """
above = os.open(facts['work'] + '/..', os.O_PATH)
os.close(os.open('outside/target', os.O_WRONLY, dir_fd=above))
escaped = True
""",
    ),
    Attack("truncate a file outside", "os.truncate(facts['outside'] + '/target', 0); escaped = True"),
    Attack(
        "move a file out of the workspace",
        """
name = '/' + facts['unique']
write(facts['work'] + name)
os.rename(facts['work'] + name, facts['outside'] + name)
escaped = True
""",
    ),
    Attack("remove a file outside", "os.unlink(facts['outside'] + '/spare'); escaped = True"),
    Attack(
        "change the mode of a file outside", "os.chmod(facts['outside'] + '/target', 0o777); escaped = True"
    ),
    Attack("change the time of a file outside", "os.utime(facts['outside'] + '/target'); escaped = True"),
    Attack(
        "change the group of a file outside",
        "os.chown(facts['outside'] + '/target', -1, os.getgid()); escaped = True",
    ),
    Attack(
        "change the mode of a file that may only be read",
        """
descriptor = os.open(facts['readable'] + '/tool', os.O_RDONLY)
os.fchmod(descriptor, 0o777)
escaped = True
""",
    ),
    Attack(
        "write a file that may only be read",
        "escaped = write(facts['readable'] + '/tool')",
    ),
    Attack(
        "read Sestet's settings inside a readable place",
        "escaped = facts['secret'] in read(facts['readable'] + '/private/sestet.yaml')",
    ),
    Attack(
        "make a program that runs with its owner's rights",
        """
path = facts['work'] + '/' + facts['unique']
write(path)
os.chmod(path, 0o4755)
escaped = bool(os.stat(path).st_mode & 0o4000)
""",
    ),
    Attack(
        "make such a program at once",
        """
path = facts['work'] + '/' + facts['unique']
os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o4755))
escaped = bool(os.stat(path).st_mode & 0o4000)
""",
    ),
    Attack("make a device", "os.mknod(facts['work'] + '/' + facts['unique'], 0o020666, 0); escaped = True"),
    Attack(
        "change a git hook",
        "escaped = write(facts['work'] + '/.git/hooks/pre-commit')",
        except_in=_NOT_LANDLOCK,
    ),
    Attack(
        "add a git hook",
        "escaped = write(facts['work'] + '/.git/hooks/' + facts['unique'])",
        except_in=_NOT_LANDLOCK,
    ),
    Attack(
        "exchange the git directory",
        """
os.rename(facts['work'] + '/.git', facts['work'] + '/.git2')
escaped = True
os.rename(facts['work'] + '/.git2', facts['work'] + '/.git')
""",
        except_in=_NOT_LANDLOCK,
    ),
    Attack(
        "exchange the git settings",
        """
write(facts['work'] + '/new-config')
os.rename(facts['work'] + '/new-config', facts['work'] + '/.git/config')
escaped = True
""",
        except_in=_NOT_LANDLOCK,
    ),
    Attack("change sestet.yaml", "escaped = write(facts['work'] + '/sestet.yaml')", except_in=_NOT_LANDLOCK),
    Attack(
        "find a file by its handle",
        "escaped = reaches_kernel('name_to_handle_at', -100, b'/usr', None, None, 0)",
    ),
    Attack(
        "watch a directory outside",
        "escaped = call('inotify_add_watch', call('inotify_init1', 0), facts['outside'].encode(), 2) > 0",
    ),
    Attack(
        "open a terminal, a disk or the memory",
        """
for name in ('ptmx', 'tty', 'kmsg', 'mem', 'vda', 'sda', 'nvme0n1', 'fuse', 'net/tun', 'kvm'):
    try:
        os.close(os.open('/dev/' + name, os.O_RDWR))
        escaped = True
        break
    except OSError as error:
        why = error
if not escaped: raise why
""",
    ),
)

PROCESSES = (
    Attack(
        "see another process",
        "escaped = bool(with_argument(facts['marker']))",
    ),
    Attack(
        "read the environment of another process",
        """
for process in processes():
    try:
        escaped = escaped or facts['secret'] in read(f'/proc/{process}/environ')
    except OSError as error:
        why = error
if not escaped: raise why
""",
    ),
    Attack(
        "see another command",
        "escaped = bool(with_argument(facts['command']))",
        except_in=("bubblewrap",),
        harmless="escaped = bool(with_argument(facts['marker']))",
    ),
    Attack(
        "signal another command",
        """
for process in with_argument(facts['command']):
    os.kill(process, 0)
    escaped = True
""",
        harmless="os.kill(facts['victim'], 0); escaped = True",
    ),
    Attack("signal another process", "os.kill(facts['victim'], 0); escaped = True"),
    Attack(
        "signal a process by its descriptor",
        "import signal; signal.pidfd_send_signal(os.pidfd_open(facts['victim']), 0); escaped = True",
    ),
    Attack("trace another process", "call('ptrace', 0x4206, facts['victim'], 0, 0); escaped = True"),
    Attack(
        "read the memory of another process",
        """
import struct
buffer = ctypes.create_string_buffer(len(facts['secret']))
ours = struct.pack('PN', ctypes.addressof(buffer), len(buffer))
theirs = struct.pack('PN', facts['address'], len(buffer))
call('process_vm_readv', facts['victim'], ours, 1, theirs, 1, 0)
escaped = buffer.raw.decode() == facts['secret']
""",
    ),
    Attack(
        "read the memory of another process from /proc",
        """
with open(f"/proc/{facts['victim']}/mem", 'rb') as file:
    file.seek(facts['address'])
    escaped = file.read(len(facts['secret'])).decode() == facts['secret']
""",
    ),
    Attack(
        "take a descriptor of another process",
        "call('pidfd_getfd', os.pidfd_open(facts['victim']), 0, 0); escaped = True",
    ),
    Attack(
        "limit another process",
        "import resource; resource.prlimit(facts['victim'], resource.RLIMIT_NOFILE); escaped = True",
    ),
    Attack(
        "move another process to other cores",
        "os.sched_setaffinity(facts['victim'], os.sched_getaffinity(facts['victim'])); escaped = True",
    ),
    Attack(
        "slow another process down",
        "os.setpriority(os.PRIO_PROCESS, facts['victim'], 19); escaped = True",
    ),
    Attack(
        "read memory that another process shares",
        """
LIBC.shmat.restype = ctypes.c_void_p
place = LIBC.shmat(facts['shared'], None, 0o10000)
if place == ctypes.c_void_p(-1).value: raise OSError(ctypes.get_errno(), 'shmat')
escaped = ctypes.string_at(place, len(facts['secret'])).decode() == facts['secret']
""",
    ),
    Attack(
        "use a descriptor that Sestet has open",
        """
for descriptor in range(3, 1024):
    try:
        os.fstat(descriptor)
        escaped = True
    except OSError as error:
        why = error
if not escaped: raise why
""",
    ),
    Attack("read Sestet's environment", "escaped = facts['secret'] in repr(os.environ)"),
    Attack(
        "leave a core file",
        """
import resource
if not os.fork():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    os.abort()
escaped = os.WCOREDUMP(os.wait()[1])
""",
    ),
    Attack(
        "become root by a program that root owns",
        """
import subprocess
ordinary = {'user': 12345} if not os.geteuid() else {}
done = subprocess.run([facts['setuid'], '-u'], capture_output=True, text=True, **ordinary)
escaped = done.stdout.strip() == '0'
""",
    ),
    Attack(
        "raise a limit",
        """
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
escaped = hard == resource.RLIM_INFINITY
""",
    ),
)

NETWORK = (
    Attack(
        "reach a server of this computer by TCP",
        "import socket; socket.create_connection(('127.0.0.1', facts['tcp']), 2); escaped = True",
    ),
    Attack(
        "reach a server over the network by TCP",
        "import socket; socket.create_connection((facts['address_out'], facts['tcp']), 2); escaped = True",
    ),
    Attack(
        "reach a server by UDP",
        """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.settimeout(2)
sender.sendto(b'hello', (facts['address_out'], facts['udp']))
escaped = sender.recv(10) == b'heard'
""",
    ),
    Attack(
        "reach a server by a socket in a directory",
        """
import socket
socket.socket(socket.AF_UNIX).connect(facts['outside'] + '/server')
escaped = True
""",
    ),
    Attack(
        "reach a server by an abstract socket",
        """
import socket
socket.socket(socket.AF_UNIX).connect('\\0' + facts['abstract'])
escaped = True
""",
    ),
    Attack(
        "ask the kernel by netlink",
        "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); escaped = True",
    ),
    Attack(
        "open a raw socket",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); escaped = True",
        "rootless",
    ),
    Attack(
        "listen to all packets",
        "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); escaped = True",
        "rootless",
    ),
)

KERNEL = (
    Attack(
        "mount",
        "call('mount', b'x', facts['work'].encode(), b'tmpfs', 0, None); escaped = True",
        "rootless",
    ),
    Attack(
        "unmount",
        """
for path in (facts['mounted'], facts['work'] + '/.own/sestet', facts['home'], '/proc/sys', '/tmp'):
    try:
        call('umount2', path.encode(), 2)
        escaped = True
        break
    except OSError as error:
        why = error
if not escaped: raise why
""",
        "rootless",
    ),
    Attack(
        "make a mount writable again",
        "call('mount', b'', facts['mounted'].encode(), b'', 0x20 | 0x1000, None); escaped = True",
        "rootless",
    ),
    Attack("mount by the new calls", "call('fsopen', b'tmpfs', 0); escaped = True", "rootless"),
    Attack("copy a mount", "call('open_tree', -100, facts['work'].encode(), 1); escaped = True", "rootless"),
    Attack("change the root", "os.chroot(facts['work']); escaped = True", "rootless"),
    Attack(
        "exchange the root",
        "escaped = reaches_kernel('pivot_root', b'/nowhere', b'/nowhere')",
        "rootless",
    ),
    Attack("enter a user namespace", "call('unshare', 0x10000000); escaped = True"),
    Attack("enter a mount namespace", "call('unshare', 0x20000); escaped = True", "rootless"),
    Attack(
        "start a process in a user namespace",
        """
child = call('clone', 0x10000000 | 17, 0, 0, 0, 0)
if not child: os._exit(0)
os.waitpid(child, 0)
escaped = True
""",
    ),
    Attack(
        "start one by clone3",
        """
import struct
arguments = struct.pack('8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0)
child = call('clone3', arguments, len(arguments))
if not child: os._exit(0)
os.waitpid(child, 0)
escaped = True
""",
    ),
    Attack(
        "enter the namespace of another process",
        """
call('setns', os.open('/proc/self/ns/uts', os.O_RDONLY), 0)
escaped = True
""",
        "rootless",
    ),
    Attack("rename the computer", "call('sethostname', b'owned', 5); escaped = True", "rootless"),
    Attack("read a setting of the kernel", "escaped = bool(read('/proc/sys/kernel/hostname'))"),
    Attack(
        "change a setting of the kernel",
        """
path = '/proc/sys/net/ipv4/ip_default_ttl'
with open(path, 'r+') as file: file.write(file.read())
escaped = True
""",
        "rootless",
    ),
    Attack(
        "read about the kernel and the computer",
        """
for name in ('cmdline', 'kallsyms', 'partitions', 'diskstats', 'interrupts', 'key-users', 'devices'):
    try:
        escaped = escaped or bool(read('/proc/' + name))
    except OSError as error:
        why = error
""",
    ),
    Attack("use io_uring", "escaped = reaches_kernel('io_uring_setup', 1, None)"),
    Attack("use a keyring", "escaped = call('keyctl', 0, -3, 1) > 0"),
    Attack("count processor events", "escaped = reaches_kernel('perf_event_open', None, 0, -1, -1, 0)"),
    Attack("load a program into the kernel", "escaped = reaches_kernel('bpf', 0, None, 0)", "rootless"),
    Attack("handle page faults", "escaped = reaches_kernel('userfaultfd', -1)"),
    Attack("compare processes", "escaped = call('kcmp', os.getpid(), os.getpid(), 0, 0, 0) == 0"),
    Attack("make memory that belongs to no process", "escaped = call('memfd_create', b'x', 0) > 2"),
    Attack("make shared memory", "escaped = call('shmget', 0, 4096, 0o1600) >= 0"),
    Attack("open a message queue", "escaped = reaches_kernel('mq_open', None, 0, 0, None)"),
    Attack("open a file past the filter", "escaped = reaches_kernel('openat2', -100, b'/usr', None, 24)"),
    Attack("change the processor's tables", "escaped = reaches_kernel('modify_ldt', 0, None, 0)"),
    Attack("switch random addresses off", "escaped = call('personality', 0x0040000) >= 0"),
    Attack("type into a terminal", "escaped = reaches_kernel('ioctl', 0, 0x5412, b'x')"),
    Attack("look at the clock's settings", "escaped = reaches_kernel('adjtimex', None)"),
    Attack(
        "make a call as a 32-bit program",
        """
import mmap
code = bytes.fromhex('b814000000cd80c3')  # mov eax, 20 (getpid); int 0x80; ret
place = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
place.write(code)
if not os.fork():
    getpid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(place)))
    os._exit(0 if getpid() == os.getpid() else 1)
escaped = os.wait()[1] == 0
""",
    ),
)

PARTS = {"files": FILES, "processes": PROCESSES, "network": NETWORK, "kernel": KERNEL}
