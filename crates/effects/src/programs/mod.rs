//! Programs whose effects are more than data: handlers, chosen by the `semantics` of a catalogue entry.
//!
//! | module | holds |
//! |---|---|
//! | `agent_patches` | patches in the form of coding agents |
//! | `agents` | other coding agents |
//! | `archives` | packing and unpacking |
//! | `cloud`, `cloud_place`, `cloud_remote`, `cloud_secrets`, `cloud_weight`, `cloud_words` | clouds and hosting platforms, by their verbs |
//! | `attacks` | tools that examine or load other machines |
//! | `code` | code in other languages than that of the shell |
//! | `compose_files` | descriptions of services that a command brings itself |
//! | `containers`, `kubernetes` | docker, compose, kubectl |
//! | `store_commands` | clients of stores with commands of their own |
//! | `sites` | by which names what a command changes elsewhere is known there |
//! | `store_place` | whether a store is one of this machine, and made for trying things |
//! | `own_hosts` | machines that the user gave a name |
//! | `names_in_text` | names of files in the text of a shell |
//! | `disclosing_code` | what code of any language hands to strangers, takes from the person, or fetches and loads |
//! | `data_calls` | what code tells libraries for stores and clouds to destroy |
//! | `databases`, `sql`, `sql_words`, `stores` | clients of databases and what statements do |
//! | `devices` | files that come from devices, and versions of Node |
//! | `direnv` | letting the variables of a directory in |
//! | `disk` | overwriting devices and files |
//! | `downloads` | files that are fetched, and where they come to lie |
//! | `emptied` | directories that go with the last of what was in them |
//! | `file_patterns` | programs that take files away by patterns of their own |
//! | `files` | making, moving and removing files |
//! | `find` | `find` and `fd` |
//! | `git` | git |
//! | `git_wrappers` | programs that hand their words over to git, with a work tree of their own |
//! | `words_of_variables` | words that programs take from variables |
//! | `unchecked_connections` | calls after which, or in which, nobody checks whom a program talks to |
//! | `unauthenticated_listeners` | servers that let in whoever reaches their port |
//! | `handed_over` | credentials and folders of the person among the words of a call that sends |
//! | `json` | `jq`: which words are files |
//! | `compiled` | sources given to compilers, as far as they end processes |
//! | `instructions` | files of instructions that a program carries out |
//! | `interpreters` | interpreters of other languages |
//! | `loaded` | code of the project that a tool loads by itself |
//! | `lasting_variables` | variables that programs give to whatever starts later |
//! | `own_languages` | programs that read a language of their own: typesetters, viewers, database clients |
//! | `network` | curl, wget, netcat, socat and other programs that talk to hosts |
//! | `packages`, `package_sources` | what package managers and build tools run, and where packages come from |
//! | `remote` | ssh, scp, rsync: other machines |
//! | `media` | sound, films, pictures, AppleScript |
//! | `playbooks` | tasks of Ansible on this machine, and on others those that the same command wrote |
//! | `printed_secrets` | commands of tools that print a secret |
//! | `psql_variables` | variables that psql puts into statements |
//! | `processes`, `services`, `system` | ending processes, services, the kernel and the network |
//! | `text` | text programs that write or run something |
//! | `transfer_sessions` | sftp, ftp, lftp, smbclient: programs with commands of their own to fetch and put files |
//! | `spelled_secrets` | secrets that stand in the words of a call |
//! | `shells` | interpreters that run their standard input |
//! | `windows_shells`, `cmdlets` | PowerShell and `cmd` |
//! | `wrappers` | programs that run another program |
//! | `listed` | operands that stand in a file or come from a pipe |

mod agent_patches;
mod agents;
mod archives;
mod attacks;
mod cloud;
mod cloud_place;
mod cloud_remote;
mod cloud_secrets;
mod cloud_weight;
mod cloud_words;
mod cmdlets;
mod code;
mod compiled;
mod compose_files;
mod containers;
mod data_calls;
mod databases;
mod devices;
mod direnv;
mod disclosing_code;
mod disk;
mod downloads;
mod emptied;
mod file_patterns;
mod files;
mod find;
mod git;
mod git_wrappers;
mod handed_over;
mod instructions;
mod interpreters;
mod json;
mod kubernetes;
mod lasting_variables;
mod listed;
mod loaded;
mod media;
mod names_in_text;
mod network;
mod own_hosts;
mod own_languages;
mod package_sources;
mod packages;
mod playbooks;
mod printed_secrets;
pub(crate) mod processes;
mod psql_variables;
mod remote;
mod services;
pub(crate) mod shells;
pub(crate) mod sites;
mod spelled_secrets;
mod sql;
mod sql_words;
mod store_commands;
pub(crate) mod store_place;
mod stores;
mod system;
pub(crate) mod text;
mod transfer_sessions;
mod unauthenticated_listeners;
mod unchecked_connections;
mod windows_shells;
mod words_of_variables;
mod wrappers;

use crate::interpreter::{Call, Exit, Machine};

pub(crate) use agents::is_place as is_place_of_agents;
pub(crate) use archives::unpacked;
pub(crate) use code::braces;
pub(crate) use code::code;
pub(crate) use code::line as line_of_code;
pub(crate) use compiled::sources;
pub(crate) use git::decoded_address;
pub use git::remote_hosts;
pub(crate) use handed_over::handed_over;
pub(crate) use interpreters::source_file;
pub(crate) use lasting_variables::{given as lasting_variable, note as lasting_variables};
pub(crate) use loaded::{follow_cell, follow_written, is_loaded, loaded, loaded_by_custom};
pub(crate) use own_languages::{handed_input, own_languages, place_of_reader};
pub(crate) use package_sources::package_sources;
pub(crate) use packages::{follow_unread_text, life_cycle, tasks};
pub(crate) use playbooks::ad_hoc as ad_hoc_tasks;
pub(crate) use printed_secrets::{is_told_by as prints_secrets, printed_secrets};
pub(crate) use spelled_secrets::spelled_secrets;
pub(crate) use unauthenticated_listeners::unauthenticated_listeners;
pub(crate) use unchecked_connections::{is_told_by as switches_checks_off, unchecked_connections};
pub(crate) use words_of_variables::words_of_variables;

/// What a program does to the machine.
pub(crate) type Handler = fn(&mut Machine<'_>, &Call) -> Exit;

/// The handler that the `semantics` of a catalogue entry names; `None` when there is none of that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    let handler: Handler = match name {
        "agent" => agents::agent,
        "git" => git::git,
        "git_by_program" => git_wrappers::git_by_program,
        "yadm" => git_wrappers::yadm,
        "yadm_enter" => git_wrappers::yadm_enter,
        "vcsh" => git_wrappers::vcsh,
        "vcsh_run" => git_wrappers::vcsh_run,
        "vcsh_foreach" => git_wrappers::vcsh_foreach,
        "etckeeper_vcs" => git_wrappers::etckeeper_vcs,
        "chezmoi_git" => git_wrappers::chezmoi_git,
        "jq" => json::jq,
        "project_command" => packages::project_command,
        "just" => packages::just,
        "make" => packages::make,
        "nix_command" => wrappers::nix_command,
        "package_runner" => packages::runner,
        "side_by_side" => packages::side_by_side,
        "package_script" => packages::script,
        "yarn_script" => packages::named_script,
        "rclone" => remote::rclone,
        "rclone_removal" => remote::rclone_removal,
        "rsync" => remote::rsync,
        "scp" => remote::scp,
        "ssh" => remote::ssh,
        "github_token" => cloud_secrets::github_token,
        "ssh_keygen" => remote::ssh_keygen,
        "vagrant_ssh" => remote::vagrant_ssh,
        "repository_clone" => network::repository_clone,
        "hosting_api" => network::hosting_api,
        "serve_files" => network::serving::serve,
        "socat" => network::socat,
        "name_lookup" => network::name_lookup,
        "netcat" => network::netcat,
        "telnet" => network::telnet,
        "httpie" => network::httpie,
        "wget" => network::wget,
        "curl" => network::curl,
        "rm" => files::rm,
        "rmdir" => files::rmdir,
        "mkdir" => files::mkdir,
        "touch" => files::touch,
        "truncate" => files::truncate,
        "mode" => files::mode,
        "cp" => files::cp,
        "mv" => files::mv,
        "install" => files::install,
        "ln" => files::ln,
        "tee" => files::tee,
        "dd" => files::dd,
        "split" => files::split,
        "find" => find::find,
        "fd" => find::fd,
        "tar" => archives::tar,
        "zip" => archives::zip,
        "unzip" => archives::unzip,
        "compress" => archives::compress,
        "seven_zip" => archives::seven_zip,
        "cpio" => archives::cpio,
        "pax" => archives::pax,
        "ar" => archives::ar,
        "jar" => archives::jar,
        "sed" => text::sed::sed,
        "awk" => text::awk::awk,
        "sort" => text::sort,
        "editor" => text::editor,
        "ed" => text::ed,
        "patch" => text::patch,
        "agent_patch" => agent_patches::apply,
        "direnv_allow" => direnv::let_run,
        "removed_patterns" => file_patterns::removed_patterns,
        "rimraf" => file_patterns::rimraf,
        "renamed" => file_patterns::renamed,
        "exchanged" => file_patterns::exchanged,
        "device_pull" => devices::device_pull,
        "run_node" => devices::run_node,
        "manifest_fields" => packages::manifest_fields,
        "format" => disk::format,
        "shred" => disk::shred,
        "python" => interpreters::python,
        "perl" => interpreters::perl,
        "ruby" => interpreters::ruby,
        "interpreter" => interpreters::interpreter,
        "ansible_playbook" => playbooks::ansible_playbook,
        "run_script" => interpreters::run_script,
        "detached" => interpreters::detached,
        "sudo" => wrappers::sudo,
        "su" => wrappers::su,
        "env" => wrappers::env,
        "nice" => wrappers::nice,
        "ionice" => wrappers::ionice,
        "caged" => wrappers::caged,
        "scheduled" => wrappers::scheduled,
        "nohup" => wrappers::nohup,
        "confined" => wrappers::confined,
        "gateway" => wrappers::gateway,
        "timeout" => wrappers::timeout,
        "time" => wrappers::time,
        "stdbuf" => wrappers::stdbuf,
        "setsid" => wrappers::setsid,
        "chroot" => wrappers::chroot,
        "watch" => wrappers::watch,
        "xargs" => wrappers::xargs,
        "parallel" => wrappers::parallel,
        "shell" => wrappers::shell,
        "new_group" => wrappers::new_group,
        "capabilities_shell" => wrappers::capabilities_shell,
        "busybox" => wrappers::busybox,
        "flock" => wrappers::flock,
        "powershell" => windows_shells::powershell,
        "cmd" => windows_shells::cmd,
        "mount" => disk::mount,
        "transfer_session" => transfer_sessions::session,
        "file_server" => transfer_sessions::file_server,
        "fetcher" => downloads::fetcher,
        "debugger" => wrappers::debugger,
        "strace" => wrappers::strace,
        "script" => wrappers::script,
        "unbuffer" => wrappers::unbuffer,
        "docker_run" => containers::run,
        "docker_exec" => containers::exec,
        "docker_cp" => containers::copy,
        "docker_build" => downloads::docker_build,
        "docker_end" => containers::end,
        "docker_volumes" => containers::volumes,
        "docker_compose" => containers::compose,
        "kubectl" => kubernetes::kubectl,
        "store_commands" => store_commands::store_commands,
        "attack_tool" => attacks::attack_tool,
        "port_scanner" => attacks::port_scanner,
        "cloud_verbs" => cloud::verbs,
        "bucket_objects" => cloud::bucket_objects,
        "credential_runner" => cloud::credential_runner,
        "sql_words" => databases::statement_words,
        "psql" => databases::psql,
        "mysql" => databases::mysql,
        "sqlite" => databases::sqlite,
        "duckdb" => databases::duckdb,
        "clickhouse" => databases::clickhouse,
        "sql_client" => databases::client,
        "mongo" => stores::mongo,
        "redis" => stores::redis,
        "kill" => processes::kill,
        "other_shell" => interpreters::other_shell,
        "kill_by_name" => processes::kill_by_name,
        "ps" => processes::ps,
        "fuser" => processes::fuser,
        "renice" => processes::renice,
        "limited" => processes::limited,
        "prlimit" => processes::prlimit,
        "snice" => processes::snice,
        "attached" => processes::attached,
        "taskkill" => processes::taskkill,
        "wmic" => processes::wmic,
        "crontab" => processes::crontab,
        "tmux" => processes::tmux,
        "hyperfine" => processes::hyperfine,
        "on_change" => processes::on_change,
        "scripts_by_name" => packages::scripts_by_name,
        "kept_running" => packages::kept_running,
        "systemctl" => services::systemctl,
        "service" => services::service_script,
        "systemd_run" => services::systemd_run,
        "launchctl" => services::launchctl,
        "sysctl" => system::sysctl,
        "ip" => system::ip,
        "iptables" => system::iptables,
        "chattr" => system::chattr,
        "attributes" => system::attributes,
        "dscl" => system::dscl,
        "ffmpeg" => media::ffmpeg,
        "last_is_output" => media::last_is_output,
        "exiftool" => media::exiftool,
        "osascript" => media::osascript,
        _ => return None,
    };
    Some(handler)
}
