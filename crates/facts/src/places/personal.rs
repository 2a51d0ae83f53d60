//! Folders of a home directory that hold what a person made or got, not what programs need.

/// Their names (xdg-user-dirs 0.18; macOS, "Folders that come with your Mac"; mail as clients keep it; the folders of clients of storage in the network).
const FOLDERS: [&str; 15] = [
    "Desktop",
    "Documents",
    "Downloads",
    "Dropbox",
    "Library",
    "Mail",
    "Maildir",
    "Movies",
    "Music",
    "Nextcloud",
    "OneDrive",
    "Pictures",
    "Private",
    "Videos",
    "mail",
];

/// Whether the name of a directory right below a home directory is that of such a folder.
pub fn is_personal_folder(name: &str) -> bool {
    FOLDERS.contains(&name)
}
