//! The attempts: where each must fail, and whether it succeeds in the open as root and as an ordinary user.
//!
//! The attempts themselves are in `attempts/`; this is the list by which they are made.

use super::Profile;
use super::cast::{Surroundings, User};
use Held::{Abstract, Everywhere, Locked, Metadata, NoNetwork, NoSockets, Protected, Settings, Signal};
use Open::{Fails, Succeeds, Varies};

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    held: Held,
    as_root: Open,
    as_user: Open,
}

/// What an attempt comes to without a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// It must, or it would test nothing.
    Succeeds,
    /// The kernel does not let this user do it anyway; or, for descriptors, wharf does not in any profile.
    Fails,
    /// By how the kernel was built and set, or by who runs the tests.
    Varies,
}

/// Where an attempt must fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Everywhere,
    /// The kernel's path rules do not speak of it: a profile has mounts that are read-only, or refuses the calls, or does
    /// without, as its description says.
    Metadata,
    /// Where mounts keep the hooks of the root's repository as they are.
    Protected,
    /// Where mounts keep names in the root as they are that git may want to change, whether they exist or not.
    Settings,
    /// Where no signal leaves the sandbox.
    Signal,
    /// Where no socket without a path is reached outside the sandbox.
    Abstract,
    /// Where the host's network is out of reach.
    NoNetwork,
    /// Where sockets of files are refused, because no mount hides those of others.
    NoSockets,
    Locked,
}

impl Attempt {
    /// What is guaranteed is held on every machine, and the rest where the machine has what it takes.
    pub(crate) fn is_held_in(&self, profile: Profile, user: User, on: Surroundings) -> bool {
        let mounts = on.has_namespaces(user) && !matches!(profile, Profile::Bare | Profile::Locked);
        let locked = profile == Profile::Locked;
        match self.held {
            Everywhere => true,
            Metadata => mounts || locked,
            Protected => mounts || locked,
            Settings => (mounts && profile == Profile::Strict) || locked,
            Signal => on.landlock() >= 6,
            Abstract => on.landlock() >= 6 || !mounts,
            NoNetwork => locked || profile == Profile::Loopback,
            NoSockets => !mounts,
            Locked => locked,
        }
    }

    /// Whether the table speaks of it here: not of what makes namespaces where there are none.
    pub(crate) fn is_possible(&self, user: User, on: Surroundings) -> bool {
        on.has_namespaces(user) || !self.name.contains("namespace")
    }

    pub(crate) fn in_the_open(&self, user: User) -> Open {
        match user {
            User::Root => self.as_root,
            User::Ordinary => self.as_user,
        }
    }
}

const fn row(name: &'static str, held: Held, as_root: Open, as_user: Open) -> Attempt {
    Attempt { name, held, as_root, as_user }
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // Writing where it may not be written.
    row("write-by-absolute-path", Everywhere, Succeeds, Succeeds),
    row("write-by-dot-dot", Everywhere, Succeeds, Succeeds),
    row("write-by-dot-dot-beyond-a-symlink", Everywhere, Succeeds, Succeeds),
    row("write-through-own-symlink", Everywhere, Succeeds, Succeeds),
    row("write-by-directory-descriptor", Everywhere, Succeeds, Succeeds),
    row("write-by-hard-link", Everywhere, Succeeds, Succeeds),
    row("write-by-reopened-descriptor", Everywhere, Succeeds, Succeeds),
    row("write-by-reopened-path-descriptor", Everywhere, Succeeds, Succeeds),
    row("write-by-own-root-link", Everywhere, Succeeds, Succeeds),
    row("write-by-root-link-of-another", Everywhere, Succeeds, Succeeds),
    row("write-by-root-link-of-the-parent", Everywhere, Succeeds, Succeeds),
    row("write-by-directory-of-another", Everywhere, Succeeds, Succeeds),
    row("write-by-descriptor-of-another", Everywhere, Succeeds, Succeeds),
    row("write-by-fetched-descriptor", Everywhere, Succeeds, Succeeds),
    row("create-file", Everywhere, Succeeds, Succeeds),
    row("create-directory", Everywhere, Succeeds, Succeeds),
    row("create-symlink", Everywhere, Succeeds, Succeeds),
    row("create-fifo", Everywhere, Succeeds, Succeeds),
    row("create-in-home", Everywhere, Succeeds, Succeeds),
    row("create-in-host-temp", Everywhere, Succeeds, Succeeds),
    row("move-outside-file-in", Everywhere, Succeeds, Succeeds),
    row("move-own-file-out", Everywhere, Succeeds, Succeeds),
    row("replace-outside-file", Everywhere, Succeeds, Succeeds),
    row("link-own-file-out", Everywhere, Succeeds, Succeeds),
    row("link-unnamed-file-out", Everywhere, Succeeds, Succeeds),
    row("link-own-unnamed-file-out", Everywhere, Succeeds, Succeeds),
    row("remove-file", Everywhere, Succeeds, Succeeds),
    row("remove-directory", Everywhere, Succeeds, Succeeds),
    row("move-the-root", Everywhere, Succeeds, Succeeds),
    row("truncate-by-path", Everywhere, Succeeds, Succeeds),
    row("truncate-by-opening", Everywhere, Succeeds, Succeeds),
    row("write-policy-file", Everywhere, Succeeds, Succeeds),
    row("make-device-node", Everywhere, Succeeds, Fails),
    row("open-by-handle", Everywhere, Succeeds, Fails),
    // Changing what is known of a file.
    row("change-mode", Metadata, Succeeds, Succeeds),
    row("change-mode-by-path-descriptor", Metadata, Succeeds, Succeeds),
    // Linux 6.6 or newer has the call.
    row("change-mode-by-new-call", Metadata, Varies, Varies),
    row("change-owner", Metadata, Succeeds, Succeeds),
    row("change-times", Metadata, Succeeds, Succeeds),
    row("change-times-by-descriptor", Metadata, Succeeds, Succeeds),
    row("set-attribute", Metadata, Succeeds, Succeeds),
    row("set-attribute-by-descriptor", Metadata, Succeeds, Succeeds),
    row("remove-attribute", Metadata, Succeeds, Succeeds),
    row("set-flags", Metadata, Varies, Varies),
    // Changing what paths mean.
    row("bind-mount", Everywhere, Succeeds, Fails),
    row("remount-writable", Everywhere, Succeeds, Fails),
    row("unmount-a-mask", Everywhere, Succeeds, Fails),
    row("set-mount-attributes", Everywhere, Succeeds, Fails),
    row("clone-a-mount", Everywhere, Succeeds, Fails),
    row("open-a-file-system", Everywhere, Succeeds, Fails),
    row("change-root", Everywhere, Succeeds, Fails),
    row("enter-mount-namespace-of-another", Everywhere, Succeeds, Fails),
    row("enter-namespaces-by-pidfd", Everywhere, Succeeds, Fails),
    row("mount-in-new-user-namespace", Everywhere, Succeeds, Succeeds),
    row("mount-in-namespace-by-clone", Everywhere, Succeeds, Succeeds),
    row("mount-in-namespace-by-clone3", Everywhere, Succeeds, Succeeds),
    row("unmask-in-new-user-namespace", Everywhere, Succeeds, Succeeds),
    // Reaching processes outside.
    row("kill-another", Signal, Succeeds, Succeeds),
    row("kill-a-group", Signal, Succeeds, Succeeds),
    row("kill-a-thread", Signal, Succeeds, Succeeds),
    row("kill-by-pidfd", Signal, Succeeds, Succeeds),
    row("kill-by-queued-signal", Signal, Succeeds, Succeeds),
    row("kill-by-file-owner", Signal, Succeeds, Succeeds),
    row("signal-the-holder", Signal, Succeeds, Succeeds),
    row("signal-another-terminal", Signal, Succeeds, Succeeds),
    row("trace-another", Everywhere, Succeeds, Succeeds),
    row("trace-the-holder", Everywhere, Succeeds, Succeeds),
    row("read-memory-by-call", Everywhere, Succeeds, Succeeds),
    row("write-memory-by-call", Everywhere, Succeeds, Succeeds),
    row("read-memory-by-file", Everywhere, Succeeds, Succeeds),
    row("read-environment-of-another", Everywhere, Succeeds, Succeeds),
    row("look-for-a-secret-in-every-environment", Everywhere, Succeeds, Succeeds),
    row("see-a-secret-in-own-environment", Everywhere, Succeeds, Succeeds),
    row("compare-descriptors-with-another", Everywhere, Succeeds, Succeeds),
    row("limit-another", Everywhere, Succeeds, Succeeds),
    row("renice-another", Everywhere, Succeeds, Succeeds),
    row("renice-a-user", Everywhere, Succeeds, Succeeds),
    row("pin-another", Everywhere, Succeeds, Succeeds),
    row("reschedule-another", Everywhere, Succeeds, Succeeds),
    row("slow-the-disk-of-another", Everywhere, Succeeds, Succeeds),
    row("offer-another-to-the-memory-killer", Everywhere, Succeeds, Succeeds),
    row("raise-a-hard-limit", Everywhere, Varies, Fails),
    row("leave-the-cgroup", Everywhere, Varies, Fails),
    row("make-a-cgroup", Everywhere, Varies, Fails),
    row("inherit-a-descriptor", Everywhere, Fails, Fails),
    row("gain-by-setuid-program", Everywhere, Fails, Varies),
    row("gain-by-file-capabilities", Everywhere, Fails, Varies),
    // Reading what is nobody's business.
    row("read-ssh-key", Everywhere, Succeeds, Succeeds),
    row("list-ssh-directory", Everywhere, Succeeds, Succeeds),
    row("read-cloud-credentials", Everywhere, Succeeds, Succeeds),
    row("read-registry-credentials", Everywhere, Succeeds, Succeeds),
    row("read-git-credentials", Everywhere, Succeeds, Succeeds),
    row("read-key-by-own-symlink", Everywhere, Succeeds, Succeeds),
    row("read-key-by-hard-link", Everywhere, Succeeds, Succeeds),
    row("read-key-by-moving-its-directory", Everywhere, Succeeds, Succeeds),
    row("read-key-by-root-link-of-another", Everywhere, Succeeds, Succeeds),
    row("read-key-by-root-link-of-the-parent", Everywhere, Succeeds, Succeeds),
    row("read-key-by-directory-of-another", Everywhere, Succeeds, Succeeds),
    row("read-key-by-descriptor-of-another", Everywhere, Succeeds, Succeeds),
    row("read-key-by-symlink-of-the-host", Everywhere, Succeeds, Succeeds),
    row("list-state-directory", Everywhere, Succeeds, Succeeds),
    row("read-another-journal", Everywhere, Succeeds, Succeeds),
    row("read-own-journal", Everywhere, Succeeds, Succeeds),
    row("write-in-state-directory", Everywhere, Succeeds, Succeeds),
    row("change-another-journal", Everywhere, Succeeds, Succeeds),
    // Talking to whoever listens outside.
    row("ask-ssh-agent", Everywhere, Succeeds, Succeeds),
    row("ask-docker", Everywhere, Succeeds, Succeeds),
    row("ask-podman", Everywhere, Succeeds, Succeeds),
    row("ask-session-bus", Everywhere, Succeeds, Succeeds),
    row("ask-session-manager", Everywhere, Succeeds, Succeeds),
    row("ask-by-datagram", Everywhere, Succeeds, Succeeds),
    row("ask-by-own-symlink", Everywhere, Succeeds, Succeeds),
    row("ask-by-root-link-of-another", Everywhere, Succeeds, Succeeds),
    row("ask-another-terminal", Everywhere, Succeeds, Succeeds),
    row("ask-own-holder", Everywhere, Succeeds, Succeeds),
    row("ask-abstract-socket", Abstract, Succeeds, Succeeds),
    row("ask-abstract-socket-by-datagram", Abstract, Succeeds, Succeeds),
    row("ask-any-socket-file", NoSockets, Succeeds, Succeeds),
    row("connect-by-tcp", NoNetwork, Succeeds, Succeeds),
    row("connect-by-tcp-6", NoNetwork, Varies, Varies),
    row("connect-by-mapped-address", NoNetwork, Varies, Varies),
    row("connect-by-multipath-tcp", NoNetwork, Varies, Varies),
    row("connect-by-fast-open", NoNetwork, Succeeds, Succeeds),
    row("send-by-udp", NoNetwork, Succeeds, Succeeds),
    row("listen-for-the-host", NoNetwork, Succeeds, Succeeds),
    row("open-ping-socket", NoNetwork, Varies, Varies),
    row("open-raw-socket", Everywhere, Succeeds, Fails),
    row("open-packet-socket", Everywhere, Succeeds, Fails),
    row("open-vsock", Everywhere, Varies, Varies),
    row("open-crypto-socket", Everywhere, Varies, Varies),
    row("open-netlink-in-a-locked-place", Locked, Succeeds, Succeeds),
    row("write-shared-memory-file", Everywhere, Succeeds, Succeeds),
    row("write-shared-memory-segment", Everywhere, Succeeds, Succeeds),
    row("send-to-message-queue", Everywhere, Succeeds, Succeeds),
    row("send-to-old-message-queue", Everywhere, Succeeds, Succeeds),
    row("set-a-semaphore", Everywhere, Succeeds, Succeeds),
    row("find-a-key-of-the-user", Everywhere, Succeeds, Succeeds),
    row("add-a-key", Everywhere, Succeeds, Succeeds),
    row("write-to-another-terminal", Everywhere, Succeeds, Succeeds),
    row("type-into-another-terminal", Everywhere, Varies, Fails),
    row("type-into-own-terminal", Everywhere, Varies, Varies),
    row("type-with-high-bits", Everywhere, Varies, Varies),
    row("paste-into-own-terminal", Everywhere, Succeeds, Succeeds),
    row("open-the-console", Everywhere, Varies, Fails),
    // Reaching the kernel itself.
    row("set-up-io-uring", Everywhere, Varies, Varies),
    row("load-bpf", Everywhere, Succeeds, Varies),
    row("open-performance-event", Everywhere, Succeeds, Succeeds),
    row("catch-page-faults", Everywhere, Varies, Varies),
    row("load-module", Everywhere, Varies, Fails),
    row("load-module-by-descriptor", Everywhere, Varies, Fails),
    row("remove-module", Everywhere, Varies, Fails),
    row("load-another-kernel", Everywhere, Varies, Fails),
    row("reboot", Everywhere, Succeeds, Fails),
    row("turn-off-swap", Everywhere, Varies, Fails),
    row("turn-on-accounting", Everywhere, Varies, Fails),
    row("name-the-host", Everywhere, Succeeds, Fails),
    row("read-the-kernels-log", Everywhere, Succeeds, Varies),
    row("call-as-x32", Everywhere, Varies, Varies),
    row("call-as-32-bit", Everywhere, Varies, Varies),
    row("open-kernel-setting", Everywhere, Succeeds, Fails),
    row("open-system-request", Everywhere, Varies, Fails),
    row("open-system-file", Everywhere, Varies, Fails),
    row("open-memory-device", Everywhere, Varies, Fails),
    row("open-kernel-log-device", Everywhere, Varies, Fails),
    row("open-block-device", Everywhere, Varies, Fails),
    row("open-other-device", Everywhere, Varies, Varies),
    // Leaving something that the host would run later.
    row("change-a-hook", Protected, Succeeds, Succeeds),
    row("add-a-hook", Protected, Succeeds, Succeeds),
    row("make-a-hook-executable", Protected, Succeeds, Succeeds),
    row("remove-a-hook", Protected, Succeeds, Succeeds),
    row("change-a-hook-by-hard-link", Protected, Succeeds, Succeeds),
    row("change-a-hook-by-descriptor", Protected, Succeeds, Succeeds),
    row("move-a-hook-in", Protected, Succeeds, Succeeds),
    row("replace-the-hooks", Protected, Succeeds, Succeeds),
    row("replace-the-hooks-by-a-symlink", Protected, Succeeds, Succeeds),
    row("move-the-repository-away-and-back", Protected, Succeeds, Succeeds),
    row("replace-the-repository-by-a-symlink", Protected, Succeeds, Succeeds),
    row("replace-the-repository-by-a-file", Protected, Succeeds, Succeeds),
    row("add-editor-tasks", Settings, Succeeds, Succeeds),
    row("add-agent-settings", Settings, Succeeds, Succeeds),
    row("add-tool-servers", Settings, Succeeds, Succeeds),
    row("move-tool-servers-in", Settings, Succeeds, Succeeds),
    row("link-tool-servers-in", Settings, Succeeds, Succeeds),
    row("move-agent-settings-in", Settings, Succeeds, Succeeds),
];
