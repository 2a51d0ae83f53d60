//! Processes by the part they play on a machine: ending some of them ends more than one task.

use crate::effect::Severity;

/// What keeps the machine, the session of a user or its watchers going. Ending one ends everything that rests on it.
const VITAL: &[&str] = &[
    // The system itself.
    "init",
    "systemd",
    "systemd-logind",
    "dbus-daemon",
    "dbus-broker",
    "login",
    "loginctl",
    "udevd",
    "systemd-udevd",
    "launchd",
    // Ways in and the network.
    "sshd",
    "NetworkManager",
    // The desktop of a user.
    "Xorg",
    "Xwayland",
    "gnome-shell",
    "gnome-session",
    "gdm",
    "gdm3",
    "sddm",
    "lightdm",
    "kwin",
    "kwin_x11",
    "kwin_wayland",
    "plasmashell",
    "WindowServer",
    "loginwindow",
    "Finder",
    "explorer.exe",
    // Records and watchers.
    "journald",
    "systemd-journald",
    "auditd",
    "rsyslogd",
    "syslogd",
    "firewalld",
    "falco",
    "osqueryd",
    "clamd",
    "crowdstrike",
    "falcon-sensor",
    "wdavdaemon",
    "auditbeat",
    "checkrein",
    // What runs other things.
    "cron",
    "crond",
    "containerd",
    "dockerd",
    "kubelet",
    "chronyd",
];

/// Services of the machine that others than this task use: data, mail, names, time, printing, devices, virtual machines.
const SERVICES: &[&str] = &[
    "postgres",
    "postgresql",
    "mysqld",
    "mysql",
    "mariadbd",
    "mariadb",
    "mongod",
    "oracle",
    "apache2",
    "httpd",
    "haproxy",
    "docker",
    "podman",
    "libvirtd",
    "qemu",
    "named",
    "dnsmasq",
    "systemd-resolved",
    "resolved",
    "unbound",
    "sssd",
    "slapd",
    "winbindd",
    "krb5kdc",
    "cups",
    "cupsd",
    "bluetoothd",
    "bluetooth",
    "avahi-daemon",
    "ModemManager",
    "wpa_supplicant",
    "dhclient",
    "dhcpcd",
    "ntpd",
    "timesyncd",
    "systemd-timesyncd",
    "polkitd",
    "udisksd",
    "upowerd",
    "accounts-daemon",
    "colord",
    "pulseaudio",
    "pipewire",
    "wireplumber",
    "postfix",
    "exim4",
    "dovecot",
    "sendmail",
    "smbd",
    "nmbd",
    "nfsd",
    "rpcbind",
    "vsftpd",
    "atd",
    "anacron",
    "snapd",
    "fail2ban",
    "fail2ban-server",
    "ufw",
    "multipathd",
    "irqbalance",
    "thermald",
    "tuned",
    "ssh-agent",
    "gpg-agent",
];

/// Names of services that are also those of programs which people call.
const PROGRAMS_OF_PEOPLE: &[&str] = &["docker", "podman", "mysql", "ufw", "oracle", "init"];

/// How grave it is to end processes of a name or a pattern of names, and why; `None` for what a task starts itself.
pub(super) fn gravity(pattern: &str) -> Option<(Severity, &'static str)> {
    let names = || pattern.split('|').map(|name| name.trim().rsplit('/').next().unwrap_or_default());
    // Behind the name of what runs stand its options, or what it calls itself; other words are those of a program for people that is called
    // like its service: `docker compose up`.
    let is_one_of = |list: &[&str]| {
        names().any(|name| {
            let (name, rest) = name.split_once([' ', ':']).unwrap_or((name, ""));
            let rest = rest.trim_start();
            let is_itself = !rest.starts_with(char::is_alphabetic) || !PROGRAMS_OF_PEOPLE.contains(&name);
            is_itself && list.iter().any(|known| known.eq_ignore_ascii_case(name))
        })
    };
    if is_one_of(VITAL) {
        Some((Severity::Critical, "the machine needs it"))
    } else if is_one_of(SERVICES) {
        Some((Severity::High, "a service of the machine, which others use too"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_told_by_whole_names() {
        assert_eq!(gravity("sshd").map(|(severity, _)| severity), Some(Severity::Critical));
        assert_eq!(gravity("node|cupsd").map(|(severity, _)| severity), Some(Severity::High));
        assert_eq!(gravity("postgres: writer").map(|(severity, _)| severity), Some(Severity::High));
        for own in [
            "docker compose",
            "podman run --rm x",
            "node",
            "vite",
            "python3 manage.py",
            "my-postgres-proxy",
            "initdb-test",
            "logind-mock",
        ] {
            assert_eq!(gravity(own), None, "{own}");
        }
    }
}
