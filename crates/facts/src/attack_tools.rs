//! Programs that are made to attack machines, by the name of their file.

/// Names without an extension, in small letters, each of which means one program. Sources: the software of MITRE ATT&CK that is publicly
/// available (type "tool"), the packages behind Kali's `kali-tools-passwords`, `-exploitation`, `-post-exploitation`, `-sniffing-spoofing`,
/// `-social-engineering` and `-wireless`, and the collections of the PEASS and GhostPack projects. What is also an ordinary word (`john`,
/// `hydra`, `empire`, `watson`) stands in the catalogue alone, where it counts as a program that is called by its bare name.
const NAMES: &[&str] = &[
    // Credentials that programs of this machine keep.
    "lazagne",
    "mimikatz",
    "mimikittenz",
    "mimipenguin",
    "pypykatz",
    "sharpdpapi",
    "safetykatz",
    "gsecdump",
    "pwdump",
    "pwdump7",
    "fgdump",
    "cachedump",
    "quarkspwdump",
    "secretsdump",
    "lsassy",
    "nanodump",
    "firefox_decrypt",
    "hackbrowserdata",
    "hack-browser-data",
    "chromepass",
    "keychaindump",
    "swap_digger",
    "gimmecredz",
    // Ways to more rights on this machine.
    "linpeas",
    "winpeas",
    "linenum",
    "linux-exploit-suggester",
    "linux-exploit-suggester-2",
    "linux-smart-enumeration",
    "linuxprivchecker",
    "unix-privesc-check",
    "beroot",
    "gtfonow",
    "sudo_killer",
    "suid3num",
    "deepce",
    "peirates",
    "pspy",
    "sharpup",
    "privesccheck",
    "juicypotato",
    "godpotato",
    "printspoofer",
    // Passwords, by trying.
    "thc-hydra",
    "ncrack",
    "patator",
    "brutespray",
    "kerbrute",
    "spraykatz",
    "trevorspray",
    "o365spray",
    "ophcrack",
    "rainbowcrack",
    "cowpatty",
    "pyrit",
    "wifite",
    "wifiphisher",
    "airgeddon",
    "fern-wifi-cracker",
    // Other machines of a network.
    "crackmapexec",
    "netexec",
    "evil-winrm",
    "impacket-psexec",
    "impacket-wmiexec",
    "impacket-smbexec",
    "impacket-secretsdump",
    "psexec",
    "wmiexec",
    "smbexec",
    "atexec",
    "dcomexec",
    "ntlmrelayx",
    "getnpusers",
    "getuserspns",
    "mitm6",
    "petitpotam",
    "rubeus",
    "sharphound",
    "bloodhound-python",
    "certipy",
    "certipy-ad",
    "krbrelayx",
    "pywhisker",
    "powersploit",
    "powerview",
    // Ways back, and what steers them.
    "msfconsole",
    "msfvenom",
    "meterpreter",
    "koadic",
    "poshc2",
    "deimosc2",
    "silenttrinity",
    "nimplant",
    "hoaxshell",
    "weevely",
    "pwncat",
    "pwncat-cs",
    "sliver-client",
    "sliver-server",
    "pupysh",
    "dnscat2",
    "revsocks",
    "rpivot",
    "ligolo-ng",
    "evilginx",
    "evilginx2",
    "modlishka",
    "gophish",
    "setoolkit",
    "zphisher",
    "socialfish",
    "king-phisher",
    "beef-xss",
    // Services, by holes and by load.
    "sqlmap",
    "commix",
    "nosqlmap",
    "xsstrike",
    "xsser",
    "fimap",
    "dotdotpwn",
    "tplmap",
    "goldeneye",
    "slowloris",
    "torshammer",
    "thc-ssl-dos",
    "ufonet",
    "loic",
    // The wire.
    "bettercap",
    "ettercap",
    "arpspoof",
    "dnschef",
    "sslstrip",
    "yersinia",
    "mdk3",
    "mdk4",
    // Keys, hiding, coins.
    "logkeys",
    "xspy",
    "diamorphine",
    "xmrig",
    "xmr-stak",
    "minerd",
    "cgminer",
    "ethminer",
    "nbminer",
    "lolminer",
    "phoenixminer",
    "cpuminer",
    "ccminer",
    "bfgminer",
    "sgminer",
    "gminer",
    "nanominer",
    "teamredminer",
    "srbminer",
    "bzminer",
    "nheqminer",
    "nsfminer",
    "hellminer",
    "verusminer",
    "wildrig",
    "cudominer",
    "moneroocean",
    // Clouds.
    "weirdaal",
    "cloudfox",
    "stormspotter",
    "azurehound",
    "roadrecon",
];

/// Endings of files that are programs.
const ENDINGS: &[&str] = &[".py", ".sh", ".rb", ".pl", ".exe", ".ps1", ".elf", ".bin", ".jar"];

/// Whether a file of this name is a program that is made to attack machines: `LaZagne.py`, `linpeas.sh`, `pspy64`, `xmrig-6.21.0`.
pub fn is_attack_tool(name: &str) -> bool {
    let name = name.to_lowercase();
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    NAMES.iter().any(|known| {
        stem.strip_prefix(known).is_some_and(|rest| {
            // A version, or what it was built for.
            let rest = rest.trim_start_matches(['-', '_', '.', 'v']);
            rest.is_empty()
                || rest.starts_with(|letter: char| letter.is_ascii_digit())
                || ["linux", "darwin", "windows", "amd64", "x86", "arm"]
                    .iter()
                    .any(|machine| rest.starts_with(machine))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_with_endings_versions_and_machines() {
        for name in ["LaZagne.py", "linpeas.sh", "linpeas_linux_amd64", "pspy64", "xmrig-6.21.0", "MSFVENOM"]
        {
            assert!(is_attack_tool(name), "{name}");
        }
        for name in [
            "powerup-your-day.md",
            "watson-client.py",
            "certipyre.py",
            "john",
            "test_sqlmapper.py",
            "sqlmapper.py",
            "ncracker",
            "main.py",
            "villains.py",
        ] {
            assert!(!is_attack_tool(name), "{name}");
        }
    }
}
