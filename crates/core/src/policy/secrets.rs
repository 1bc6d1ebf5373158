//! What commands may not see: credentials, keys, histories, and the sockets of programs that would act for them.
//!
//! A list of paths and nothing else: whether something is there is for whoever hides it, and a link is hidden at what it
//! leads to. It covers what tools keep in their usual places and where the environment has moved them; it does not search
//! for secrets in other files.
//!
//! Files of settings that often hold a token are hidden whole, `~/.npmrc`, `~/.yarnrc.yml`, `~/.config/pip/pip.conf` and
//! `~/.m2/settings.xml` among them. Who has a private registry *without* a token in there, or wants commands to use the
//! token, shows the file again with a profile that names it in `read`: what a profile names itself is stronger than
//! this list. A registry's address alone is better given by `NPM_CONFIG_REGISTRY` or `PIP_INDEX_URL`, which are inherited.

use super::places::Places;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Under home.
const HOME: &[&str] = &[
    // Keys and passwords, and the sockets of those who keep them.
    ".1password .bitwarden-ssh-agent.sock snap/bitwarden .ssh .gnupg .password-store .pki .netrc _netrc .authinfo .authinfo.gpg .pgpass .my.cnf .mylogin.cnf \
     .git-credentials .vault-token .age .sops .bitcoin .ethereum .electrum .Xauthority .ICEauthority \
     .k5login .step .putty .config/sops .config/age .config/Bitwarden .config/1Password .config/op \
     .config/keepassxc .config/rclone .config/rbw .subversion/auth .config/filezilla .local/share/mkcert \
     .android/adbkey",
    // Clouds and clusters.
    ".aws .azure .config/gcloud .boto .s3cfg .oci .aliyun .bluemix .config/doctl .config/hcloud \
     .config/linode-cli .config/flyctl .fly .config/heroku .config/netlify .config/vercel \
     .local/share/com.vercel.cli .config/.wrangler .wrangler .config/stripe .config/ngrok .ngrok2 .kube \
     .config/helm/registry .minikube/profiles .docker/config.json .docker/run .docker/desktop .dockercfg \
     .config/containers/auth.json .local/share/containers/podman/machine .colima .lima .orbstack .rd .terraformrc \
     .terraform.d/credentials.tfrc.json .terraform.d/credentials .pulumi/credentials.json .databrickscfg \
     .snowflake .snowsql .config/snowflake .dbt/profiles.yml .config/argocd .cloudflared .supabase .railway \
     .sentryclirc .expo/state.json .config/configstore .config/nix/nix.conf .local/share/DBeaverData",
    // Forges.
    ".config/gh .config/hub .config/glab-cli .config/tea .config/git/credentials .config/jj/credentials \
     .gitlab-token",
    // Package registries.
    ".npmrc .yarnrc .yarnrc.yml .bunfig.toml .pypirc .pip/pip.conf .config/pip/pip.conf \
     .config/uv/credentials .local/share/uv/credentials .config/pypoetry/auth.toml .condarc .continuum \
     .gem/credentials .bundle/config .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties \
     .ivy2/.credentials .sbt/.credentials .nuget/NuGet/NuGet.Config .config/NuGet/NuGet.Config \
     .composer/auth.json .config/composer/auth.json .hex/hex.config .pub-cache/credentials.json \
     .config/dart/pub-credentials.json .cocoapods/credentials .conan2/credentials.json .config/cachix \
     .config/rpm-credentials .config/huggingface/token .cache/huggingface/token \
     .cache/huggingface/stored_tokens .huggingface/token .kaggle .config/kaggle \
     .jupyter/jupyter_server_config.json .local/share/jupyter/runtime",
    // What agents themselves sign in with. They run outside; only their commands are in here.
    ".claude/.credentials.json .claude.json .claude/history.jsonl .codex/auth.json .codex/history.jsonl \
     .gemini/oauth_creds.json .gemini/google_accounts.json .gemini/.env .qwen/oauth_creds.json \
     .config/github-copilot .copilot .local/share/opencode/auth.json .config/goose/secrets.yaml \
     .aider.conf.yml .continue/config.json .continue/.env .cursor/mcp.json .config/anthropic \
     .config/openai .codeium .config/amp .local/share/amp/secrets.json .config/io.datasette.llm/keys.json",
    // What was said to them. Not all that they keep: a command of an agent may source what lies beside it.
    ".claude/projects .codex/sessions .gemini/tmp .local/share/opencode/storage .local/share/goose/sessions",
    // What local services sign in with: who has it runs code outside, as their user.
    ".gradle/daemon .buck/buckd .config/code-server .local/share/code-server/User/globalStorage .config/emacs/server \
     .config/syncthing .local/state/syncthing .local/share/syncthing .config/pueue .local/share/pueue .pm2/rpc.sock \
     .pm2/pub.sock .local/state/watchman .config/transmission-daemon .config/deluge/auth \
     .jupyter/jupyter_notebook_config.json",
    // Wharf's own where it usually is, also if it is elsewhere now.
    ".local/state/wharf .config/wharf",
    // Keyrings, browsers, mail, chat.
    ".local/share/keyrings .local/share/kwalletd .kde/share/apps/kwallet .mozilla .thunderbird \
     .config/google-chrome .config/google-chrome-beta .config/chromium .config/BraveSoftware \
     .config/microsoft-edge .config/vivaldi .config/opera .config/Slack .config/discord .config/Signal \
     .local/share/TelegramDesktop .config/evolution .local/share/evolution .mutt .config/mutt .msmtprc \
     .mbsyncrc .fetchmailrc .emacs.d/server .screen .config/Code/User/globalStorage .config/Cursor/User/globalStorage .var/app \
     .config/VSCodium/User/globalStorage .config/Windsurf/User/globalStorage \
     .vscode-server/data/User/globalStorage .cursor-server/data/User/globalStorage \
     snap/firefox snap/chromium",
    // Histories, in which passwords end up.
    ".bash_history .zsh_history .zhistory .local/share/fish/fish_history .local/share/nushell .history \
     .sh_history .ash_history .python_history .node_repl_history .irb_history .psql_history \
     .mysql_history .mariadb_history .sqlite_history .rediscli_history .dbshell .mongodb .lesshst \
     .viminfo .local/share/atuin .local/state/bash/history .local/state/zsh/history .wget-hsts",
];

/// Under `$XDG_CONFIG_HOME` and the like the same things are looked for, if that is elsewhere.
const XDG: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

/// Directories of a tool that a variable moves, and what of them is hidden: all of it, or these.
const MOVED: &[(&str, &[&str])] = &[
    ("GNUPGHOME", &[]),
    ("PASSWORD_STORE_DIR", &[]),
    ("AWS_SHARED_CREDENTIALS_FILE", &[]),
    ("AWS_CONFIG_FILE", &[]),
    ("AZURE_CONFIG_DIR", &[]),
    ("CLOUDSDK_CONFIG", &[]),
    ("GOOGLE_APPLICATION_CREDENTIALS", &[]),
    ("BOTO_CONFIG", &[]),
    ("KUBECONFIG", &[]),
    ("DOCKER_CONFIG", &["config.json", "run"]),
    ("REGISTRY_AUTH_FILE", &[]),
    ("NETRC", &[]),
    ("PGPASSFILE", &[]),
    ("GH_CONFIG_DIR", &[]),
    ("NPM_CONFIG_USERCONFIG", &[]),
    ("npm_config_userconfig", &[]),
    ("PIP_CONFIG_FILE", &[]),
    ("TF_CLI_CONFIG_FILE", &[]),
    ("CARGO_HOME", &["credentials", "credentials.toml"]),
    ("GRADLE_USER_HOME", &["gradle.properties", "daemon"]),
    ("HEX_HOME", &["hex.config"]),
    ("CONAN_HOME", &["credentials.json"]),
    ("HF_HOME", &["token", "stored_tokens"]),
    ("CLAUDE_CONFIG_DIR", &[".credentials.json", ".claude.json", "history.jsonl", "projects"]),
    ("CODEX_HOME", &["auth.json", "history.jsonl", "sessions"]),
    ("HISTFILE", &[]),
    ("XAUTHORITY", &[]),
    ("ICEAUTHORITY", &[]),
    ("XDG_RUNTIME_DIR", &[]),
    ("SCREENDIR", &[]),
    ("ZELLIJ_SOCKET_DIR", &[]),
    ("ABDUCO_SOCKET_DIR", &[]),
    ("PM2_HOME", &["rpc.sock", "pub.sock"]),
    ("PUEUE_CONFIG_PATH", &[]),
    ("CODE_SERVER_CONFIG", &[]),
    ("STHOMEDIR", &[]),
    ("JUPYTER_RUNTIME_DIR", &[]),
    ("CAROOT", &[]),
    ("PULUMI_HOME", &["credentials.json"]),
    ("ANDROID_USER_HOME", &["adbkey"]),
    ("COMPOSER_HOME", &["auth.json"]),
];

/// Addresses of sockets: of who holds keys, and of who types, shows or starts things on the person's behalf. Those of
/// Wayland, X11, PulseAudio and PipeWire are in the runtime directory or among temporary files, where no command gets.
const SOCKETS: &[&str] = &[
    "SSH_AUTH_SOCK GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DOCKER_HOST \
     CONTAINER_HOST PODMAN_HOST WSL_INTEROP VSCODE_IPC_HOOK_CLI VSCODE_GIT_IPC_HANDLE NVIM \
     NVIM_LISTEN_ADDRESS TMUX BITWARDEN_SSH_AUTH_SOCK GNOME_KEYRING_CONTROL EMACS_SERVER_FILE WAYLAND_DISPLAY \
     PULSE_SERVER WATCHMAN_SOCK NIX_DAEMON_SOCKET_PATH KITTY_LISTEN_ON WEZTERM_UNIX_SOCKET ALACRITTY_SOCKET I3SOCK SWAYSOCK",
];

/// Of the machine. The daemons of Nix and Guix build as other users, and for one whom they trust they do anything as root:
/// who wants to build with them from a sandbox shows their sockets. `/var/run` is `/run` on most, and a directory of its own on some.
const MACHINE: &[&str] = &[
    "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/krb5.keytab \
     /etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key \
     /etc/ssh/ssh_host_dsa_key /etc/ssl/private /etc/pki/tls/private /etc/letsencrypt /etc/wireguard \
     /etc/openvpn /etc/ppp /etc/NetworkManager/system-connections /etc/kubernetes /etc/rancher \
     /etc/docker/key.json /etc/wpa_supplicant /var/lib/kubelet /var/lib/sss /var/lib/docker \
     /var/lib/containerd /var/lib/containers /run/user /run/secrets /run/credentials /run/docker.sock \
     /run/docker /run/containerd /run/crio /run/k3s /run/podman /run/buildkit /run/dbus \
     /run/systemd/private /run/systemd/machine /run/systemd/home /run/libvirt /run/lxd.socket /run/incus \
     /run/snapd.socket /run/snapd-snap.socket /run/pcscd /run/screen /run/screens /run/tmux \
     /run/host-services /nix/var/nix/daemon-socket /var/guix/daemon-socket /run/avahi-daemon /run/cups /run/WSL /run/wharf /run/sudo /run/polkit /run/udisks2 \
     /var/run/docker.sock /var/run/docker /var/run/containerd /var/run/crio /var/run/podman /var/run/dbus \
     /var/run/libvirt /var/run/secrets /var/run/user /var/lib/lxd/unix.socket \
     /var/snap/lxd/common/lxd/unix.socket /var/lib/incus/unix.socket /mnt/wslg",
];

/// Everything that is hidden unless a profile says otherwise, sorted, none inside another.
pub(crate) fn secrets(places: &Places) -> Vec<PathBuf> {
    let mut all: BTreeSet<PathBuf> = each(MACHINE).map(PathBuf::from).collect();
    all.extend(places.own().map(PathBuf::from));
    for home in places.home.as_deref().into_iter().chain(places.homes.all()) {
        all.extend(each(HOME).map(|name| home.join(name)));
        all.extend(["credentials", "credentials.toml"].map(|name| home.join(".cargo").join(name)));
    }
    for (variable, usual) in XDG {
        let Some(moved) = places.located(variable) else { continue };
        let inner = each(HOME).filter_map(|name| name.strip_prefix(usual)?.strip_prefix('/'));
        all.extend(inner.map(|name| moved.join(name)));
    }
    for (variable, names) in MOVED {
        for place in places.all_located(variable) {
            let whole = names.is_empty().then(|| place.clone());
            all.extend(names.iter().map(|name| place.join(name)).chain(whole));
        }
    }
    // In a directory of its own for each user, which lies among whatever else is there.
    let tmux = format!("tmux-{}", rustix::process::geteuid().as_raw());
    all.extend(places.all_located("TMUX_TMPDIR").into_iter().map(|place| place.join(&tmux)));
    all.extend(each(SOCKETS).filter_map(|variable| places.socket(variable)));
    outermost(all)
}

/// The names in a list of texts.
fn each(lists: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    lists.iter().flat_map(|list| list.split_ascii_whitespace())
}

/// What lies in something that is hidden needs no hiding of its own.
fn outermost(sorted: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in sorted {
        if !kept.last().is_some_and(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::account::Homes;
    use std::path::Path;

    fn places(environment: &[(&str, &str)]) -> Places {
        Places {
            home: Some("/users/u".into()),
            state: "/users/u/.local/state/wharf".into(),
            config: "/users/u/.config/wharf".into(),
            policy: None,
            environment: environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            ..Places::default()
        }
    }

    fn hides(places: &Places, path: &str) -> bool {
        secrets(places).iter().any(|hidden| Path::new(path).starts_with(hidden))
    }

    #[test]
    fn keys_tokens_histories_sockets_and_wharfs_own_are_hidden() {
        let places = places(&[]);
        let hidden = [
            "/users/u/.ssh/id_ed25519",
            "/users/u/.aws/credentials",
            "/users/u/.config/gcloud/x",
            "/users/u/.kube/config",
            "/users/u/.docker/config.json",
            "/users/u/.netrc",
            "/users/u/.npmrc",
            "/users/u/.cargo/credentials.toml",
            "/users/u/.config/gh/hosts.yml",
            "/users/u/.git-credentials",
            "/users/u/.claude/.credentials.json",
            "/users/u/.codex/auth.json",
            "/users/u/.bash_history",
            "/users/u/.mozilla/firefox",
            "/users/u/.local/share/keyrings/x",
            "/users/u/.local/state/wharf/terminals",
            "/users/u/.config/wharf/policy.toml",
            "/run/user/1000/wharf/x",
            "/run/user/1000/bus",
            "/run/docker.sock",
            "/nix/var/nix/daemon-socket/socket",
            "/users/u/.1password/agent.sock",
            "/users/u/.bitwarden-ssh-agent.sock",
            "/users/u/.local/share/containers/podman/machine/podman.sock",
            "/users/u/.emacs.d/server/server",
            "/var/run/docker.sock",
            "/run/dbus/system_bus_socket",
            "/etc/shadow",
            "/users/u/.cache/huggingface/token",
            "/users/u/.gradle/daemon/8.10/registry.bin",
            "/users/u/.config/code-server/config.yaml",
            "/users/u/.config/emacs/server/server",
            "/users/u/.config/syncthing/config.xml",
            "/users/u/.local/share/pueue/shared_secret",
            "/users/u/.buck/buckd/work/v2/buckd.info",
            "/users/u/.subversion/auth/svn.simple/x",
            "/users/u/.claude/projects/p/x.jsonl",
            "/users/u/.codex/sessions/2026/x.jsonl",
        ];
        for path in hidden {
            assert!(hides(&places, path), "{path}");
        }
    }

    #[test]
    fn what_work_needs_is_not_hidden() {
        let places = places(&[]);
        let shown = [
            "/users/u/.gitconfig",
            "/users/u/.config/git/config",
            "/users/u/.cargo/bin/cargo",
            "/users/u/.cargo/config.toml",
            "/users/u/.rustup",
            "/users/u/.claude/skills",
            "/users/u/.claude/shell-snapshots/x.sh",
            "/users/u/.gradle/caches",
            "/users/u/.config/emacs/init.el",
            "/users/u/.config/nix/registry.json",
            "/users/u/.android/avd",
            "/users/u/.expo/cache",
            "/users/u/.subversion/config",
            "/users/u/.pm2/logs",
            "/users/u/.vscode-server/extensions",
            "/users/u/.bashrc",
            "/users/u/.cache/pip",
            "/users/u/project",
            "/etc/passwd",
            "/etc/ssl/certs",
            "/etc/resolv.conf",
            "/run/systemd/resolve/stub-resolv.conf",
            "/run/postgresql",
            "/users/u/.local/state/wharfage",
            "/users/u/.config/ghostty",
            "/usr/bin/git",
        ];
        for path in shown {
            assert!(!hides(&places, path), "{path}");
        }
    }

    #[test]
    fn what_a_variable_has_moved_is_hidden_where_it_is() {
        let places = places(&[
            ("CARGO_HOME", "/opt/cargo"),
            ("XDG_CONFIG_HOME", "/data/config"),
            ("GNUPGHOME", "/data/keys"),
            ("KUBECONFIG", "/data/k1:/data/k2"),
            ("SSH_AUTH_SOCK", "/data/agent/sock"),
            ("TMUX", "/data/tmux-1000/default,4242,0"),
            ("TMUX_TMPDIR", "/data/sockets"),
            ("GRADLE_USER_HOME", "/data/gradle"),
            ("WAYLAND_DISPLAY", "wayland-0"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/data/bus/1"),
            ("XDG_RUNTIME_DIR", "/data/run"),
            ("HISTFILE", "/"),
        ]);
        let tmux = format!("/data/sockets/tmux-{}/default", rustix::process::geteuid().as_raw());
        let hidden = [
            &tmux,
            "/data/gradle/daemon/8.10/registry.bin",
            "/opt/cargo/credentials.toml",
            "/data/config/gh/hosts.yml",
            "/data/keys/x",
            "/data/k1",
            "/data/k2",
            "/data/agent/sock",
            "/data/tmux-1000/default",
            "/data/bus/1",
            "/data/run/x",
            "/users/u/.cargo/credentials.toml",
        ];
        for path in hidden {
            assert!(hides(&places, path), "{path}");
        }
        for path in ["/opt/cargo/bin/cargo", "/data/config/git/config", "/data/other", "/data/sockets", "/"] {
            assert!(!hides(&places, path), "{path}");
        }
    }

    #[test]
    fn the_home_of_the_account_is_one_too_whatever_the_environment_says() {
        let homes = Homes { own: Some("/users/me".into()), others: vec!["/users/other".into()] };
        let places = Places { homes, state: "/data/state".into(), ..places(&[]) };
        for home in ["/users/u", "/users/me", "/users/other"] {
            for name in
                [".ssh/id_ed25519", ".aws/credentials", ".local/state/wharf/audit.jsonl", ".config/wharf"]
            {
                assert!(hides(&places, &format!("{home}/{name}")), "{home}/{name}");
            }
        }
        assert!(!hides(&places, "/users/third/.ssh"));
    }

    #[test]
    fn the_list_is_absolute_and_nothing_in_it_lies_in_another() {
        let list = secrets(&places(&[("KUBECONFIG", "/run/user/1000/k")]));
        assert!(list.iter().all(|path| path.is_absolute()));
        for inner in &list {
            assert_eq!(
                list.iter().filter(|outer| inner.starts_with(outer)).count(),
                1,
                "{}",
                inner.display()
            );
        }
        // Without a home there is still the machine.
        assert!(secrets(&Places::default()).contains(&PathBuf::from("/etc/shadow")));
    }
}
