//! What no kernel holds of a scope, or none that is known: said by `checkrein doctor`, and in `docs/reference/escapes.md` with more words.

/// Something that is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotHeld {
    /// In a few words.
    pub brief: &'static str,
    /// In sentences, as the page has them.
    pub text: &'static str,
}

/// All of it.
pub const NOT_HELD: &[NotHeld] = &[
    NotHeld {
        brief: "reading is open unless `--read` is given",
        text: "Reading, unless `--read` is given; in a view of its own not even then, which is said before and refused with `--require`. What\n\
              \x20 programs need may always be read, as far as the user may: `/usr`, `/etc`, `/opt`, `/proc`, `/sys`, `/dev`. Where root runs the\n\
              \x20 command that is `/etc/shadow` too. The keys of checkrein and the questions that wait (`server`, `approvals`, `notices` in its state\n\
              \x20 directory) are not read, unless `--write` names a directory above them, or one on the way is mounted when it is used. For\n\
              \x20 that, with Landlock, what others put directly into a directory above them while the command runs is not read either.",
    },
    NotHeld {
        brief: "files inside that have a hard link outside",
        text: "A file inside that has a second name outside since before (a hard link): it is one file, and the scope names it.",
    },
    NotHeld {
        brief: "code written inside that others run later (`Makefile`, `package.json`, editor tasks)",
        text: "What is written inside and run by others later: `.envrc`, `Makefile`, `package.json`, `.vscode/tasks.json`, `conftest.py`, hooks of git\n\
              \x20 in the work tree (`.husky`), and whatever else a program takes from the folder that it works in. What guards a project\n\
              \x20 (`checkrein.yaml`, the settings of clients, `.mcp.json`) and what git runs by itself (`.git/hooks`, `.git/config` but for\n\
              \x20 remotes, branches and the like) may be written while the command runs, and is put back when nothing of it is left, unless\n\
              \x20 `--write` names it. Not so in repositories deeper below, where `checkrein exec` itself is killed, and for what another\n\
              \x20 program reads of it meanwhile.",
    },
    NotHeld {
        brief: "other terminals, if `/dev/pts` is mounted a second time",
        text: "Other terminals of the same user where they are reached by a second mount of their folder (that of a `chroot`). A command has the\n\
              \x20 terminals that are its input and outputs, the one that controls it, and those that it makes; in a view of its own, where they\n\
              \x20 have other names, the first two only as open files and as `/dev/tty`.",
    },
    NotHeld {
        brief: "shared locks on files that may be read",
        text: "Shared locks on files that it may read (`flock`, and `fcntl`, which knows no other ones there): writers outside wait for them. In the\n\
              \x20 state directory of checkrein those of `flock` are refused too.",
    },
    NotHeld {
        brief: "shared memory in `/dev/shm` under the names that libraries choose",
        text: "Semaphores and shared memory of POSIX are files of everybody in `/dev/shm`. With Landlock a command may make those whose names begin\n\
              \x20 as libraries choose them (`sem.`, `psm_`, `torch_`), and use and remove what it made; what is left goes at the end. So it may\n\
              \x20 take such a name that a program outside would take. `--write /dev/shm` would let it reach those of all programs of the user.",
    },
    NotHeld {
        brief: "local sockets without a path (abstract sockets)",
        text: "Names of local sockets that are no paths: a command may take one that a program outside would take or look for.",
    },
    NotHeld {
        brief: "memory in sockets and pipes; System V shared memory whose creation `run` did not see",
        text: "What System V has processes share goes at the end of `exec` where a command made it. At the end of `run` that holds for memory, where its\n\
              \x20 maker lived long enough to be seen (50 ms); its semaphores and queues are left, since the kernel tells nobody who made them, and\n\
              \x20 memory is left where both processes of `run` are killed. Memory in sockets, in pipes and in files of memory that are passed\n\
              \x20 from one to another and not open meanwhile is not counted by `--memory`: nothing tells which of it is on its way.",
    },
    NotHeld {
        brief: "the total size of what is written to the disk",
        text: "How much is written to the disk in all: `--file-size` bounds each file.",
    },
    NotHeld {
        brief: "memory that grows faster than it is measured",
        text: "Memory that is used faster than it is measured, where no control group can be made: it is looked at every 20 ms, every 2 ms from half\n\
              \x20 of the limit on.",
    },
    NotHeld {
        brief: "what a server inside the network scope does",
        text: "What a server inside the scope of the network does for the command.",
    },
];
