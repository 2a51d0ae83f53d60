//! What is special about an effect, as far as anything is decided by it.
//!
//! It is set where the effect is made and read wherever something is decided. The note of an effect says the same to people, and its cause
//! names the program to them: nothing is decided by either.

use serde::{Deserialize, Serialize};

/// What is special about an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// Nothing is.
    #[default]
    Ordinary,
    /// Version control can give back what was there, under a name that stays.
    KeptByVersionControl,
    /// A file of a work tree that version control writes, makes or takes away by itself; it keeps what was there.
    WrittenByVersionControl,
    /// Version control can give back what was there, and a name, a setting or what was staged goes without a trace.
    KeptWithoutItsName,
    /// The same, of a repository that others fetch from: the remote of this one.
    OfRemote,
    /// The same, and names in it go or are set whatever they held.
    LostAtRemote,
    /// Version control keeps what was there for a while, but nothing that lasts names it: it is in a reflog, or waits to be cleared away.
    KeptForAWhile,
    /// Version control keeps what was there, and takes ignored files away with the others.
    KeptWithIgnoredFiles,
    /// What is staged and in no commit goes out of the index too: only an object is left of it that nothing names.
    OnlyStaged,
    /// What version control holds and nothing names any more is cleared away.
    ClearedAway,
    /// A setting that makes nothing run.
    SettingThatRunsNothing,
    /// A setting of the program that changes it, in a place that is named after the program.
    OwnSetting,
    /// The same program or text, laid out anew.
    Reformatted,
    /// What is searched for is not there now.
    NothingFits,
    /// The path is not there now.
    NotThere,
    /// A variable in its name is empty or not set, or its pattern matches nothing now.
    Hollow,
    /// Goes because what is mirrored does not have it.
    NotInSource,
    /// What goes from here stands elsewhere afterwards.
    Moved,
    /// Something is added behind what is there, which stays.
    Appended,
    /// The same by a redirection of a shell. What a program writes has no bounds, so it weighs as a change and is saved like one.
    AppendedByRedirection,
    /// What goes was made by the same command.
    MadeBySameCommand,
    /// The history of a repository that goes was cloned or made by the same command, where nothing was before.
    ClonedBySameCommand,
    /// A directory is made, with nothing in it.
    EmptyDirectory,
    /// A file that is a database, changed by its own program.
    DatabaseFile,
    /// Data in a database that is one file.
    DataInAFile,
    /// A whole database goes, not what is in one.
    WholeDatabase,
    /// A secret that a search or a count over the workspace comes by, without showing what it holds.
    SweptAlong,
    /// The same, into a file: not settled as long as that file may be shown.
    SweptIntoFile,
    /// A secret that is read, and masked before the model reads it.
    Masked,
    /// Rights are added to read and run, none are taken.
    LetsRun,
    /// An owner may no longer read, write or enter.
    TakesRights,
    /// The owner keeps every right.
    LeavesRights,
    /// The owner keeps every right, and everybody may write.
    OpensRights,
    /// Comes from a repository, another tree or an archive whose names are changed, and nobody looked at what it holds.
    BroughtUnread,
    /// Comes from an archive that was not read, into the directory that is named.
    ArchiveUnread,
    /// The same, and it holds nothing of the guard.
    ArchiveWithoutGuard,
    /// What a patch changes that was not read.
    PatchUnread,
    /// What runs later and only may be among what comes.
    ByChance,
    /// A second name of what is there.
    Link,
    /// All that a walk finds goes, whatever it is called.
    AllThatIsFound,
    /// Is brought over a directory, and holds nothing of the guard.
    BroughtWithoutGuard,
    /// What nobody can foresee, below a directory that the kernel keeps it to. What guards a project and what git runs by itself is put back
    /// when it is over.
    WithinBounds,
    /// Something is taken away where an effect of this kind brings or replaces: software, a branch of a remote.
    Removal,
    /// Processes are ended by a signal, picked by number or by a pattern of their command lines.
    Signal,
    /// Looks into a process, which stands still meanwhile.
    HoldsUp,
    /// A process that goes on after the command has ended.
    Background,
    /// Text that no shell can read.
    Unreadable,
    /// What is written was named by the output of a program, of which nothing is known beforehand.
    NamedByOutput,
    /// Others are told something in words of the agent: a request with a body that stands in the command, a comment, a message.
    TellsOthers,
    /// Goes to a place elsewhere that the user calls their own.
    ToOwnPlace,
    /// Version control shows something else afterwards than what is there: a change that it passes over, an object in place of another, a branch
    /// of the remote that the remote does not have.
    HidesChanges,
}

impl Nature {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 51] = [
        Self::Ordinary,
        Self::KeptByVersionControl,
        Self::WrittenByVersionControl,
        Self::KeptWithoutItsName,
        Self::OfRemote,
        Self::LostAtRemote,
        Self::KeptForAWhile,
        Self::KeptWithIgnoredFiles,
        Self::OnlyStaged,
        Self::ClearedAway,
        Self::SettingThatRunsNothing,
        Self::OwnSetting,
        Self::Reformatted,
        Self::NothingFits,
        Self::NotThere,
        Self::Hollow,
        Self::NotInSource,
        Self::Moved,
        Self::Appended,
        Self::AppendedByRedirection,
        Self::MadeBySameCommand,
        Self::ClonedBySameCommand,
        Self::EmptyDirectory,
        Self::DatabaseFile,
        Self::DataInAFile,
        Self::WholeDatabase,
        Self::SweptAlong,
        Self::SweptIntoFile,
        Self::Masked,
        Self::LetsRun,
        Self::TakesRights,
        Self::LeavesRights,
        Self::OpensRights,
        Self::BroughtUnread,
        Self::ArchiveUnread,
        Self::ArchiveWithoutGuard,
        Self::PatchUnread,
        Self::ByChance,
        Self::Link,
        Self::AllThatIsFound,
        Self::BroughtWithoutGuard,
        Self::WithinBounds,
        Self::Removal,
        Self::Signal,
        Self::HoldsUp,
        Self::Background,
        Self::Unreadable,
        Self::NamedByOutput,
        Self::TellsOthers,
        Self::ToOwnPlace,
        Self::HidesChanges,
    ];

    /// The word used on the wire and in the catalogue, such as `moved`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::KeptByVersionControl => "kept_by_version_control",
            Self::WrittenByVersionControl => "written_by_version_control",
            Self::KeptWithoutItsName => "kept_without_its_name",
            Self::OfRemote => "of_remote",
            Self::LostAtRemote => "lost_at_remote",
            Self::KeptForAWhile => "kept_for_a_while",
            Self::KeptWithIgnoredFiles => "kept_with_ignored_files",
            Self::OnlyStaged => "only_staged",
            Self::ClearedAway => "cleared_away",
            Self::SettingThatRunsNothing => "setting_that_runs_nothing",
            Self::OwnSetting => "own_setting",
            Self::Reformatted => "reformatted",
            Self::NothingFits => "nothing_fits",
            Self::NotThere => "not_there",
            Self::Hollow => "hollow",
            Self::NotInSource => "not_in_source",
            Self::Moved => "moved",
            Self::Appended => "appended",
            Self::AppendedByRedirection => "appended_by_redirection",
            Self::MadeBySameCommand => "made_by_same_command",
            Self::ClonedBySameCommand => "cloned_by_same_command",
            Self::EmptyDirectory => "empty_directory",
            Self::DatabaseFile => "database_file",
            Self::DataInAFile => "data_in_a_file",
            Self::WholeDatabase => "whole_database",
            Self::SweptAlong => "swept_along",
            Self::SweptIntoFile => "swept_into_file",
            Self::Masked => "masked",
            Self::LetsRun => "lets_run",
            Self::TakesRights => "takes_rights",
            Self::LeavesRights => "leaves_rights",
            Self::OpensRights => "opens_rights",
            Self::BroughtUnread => "brought_unread",
            Self::ArchiveUnread => "archive_unread",
            Self::ArchiveWithoutGuard => "archive_without_guard",
            Self::PatchUnread => "patch_unread",
            Self::ByChance => "by_chance",
            Self::Link => "link",
            Self::AllThatIsFound => "all_that_is_found",
            Self::BroughtWithoutGuard => "brought_without_guard",
            Self::WithinBounds => "within_bounds",
            Self::Removal => "removal",
            Self::Signal => "signal",
            Self::HoldsUp => "holds_up",
            Self::Background => "background",
            Self::Unreadable => "unreadable",
            Self::NamedByOutput => "named_by_output",
            Self::TellsOthers => "tells_others",
            Self::ToOwnPlace => "to_own_place",
            Self::HidesChanges => "hides_changes",
        }
    }

    /// Whether nothing is special.
    pub fn is_ordinary(&self) -> bool {
        matches!(self, Self::Ordinary)
    }

    /// Whether it is about a repository that others fetch from.
    pub fn is_of_remote(self) -> bool {
        matches!(self, Self::OfRemote | Self::LostAtRemote)
    }

    /// Whether version control can give back what was there, be it for a while.
    pub fn is_kept_by_version_control(self) -> bool {
        match self.relief() {
            Relief::VersionControl => true,
            Relief::None | Relief::Rewritten | Relief::Absent | Relief::Elsewhere | Relief::Waived => false,
        }
    }

    /// What it takes from the weight of an effect. Only the project's own catalogue and code may say such a thing: a user's entry can
    /// make an effect weigh more, never less.
    pub fn relief(self) -> Relief {
        match self {
            Self::KeptByVersionControl
            | Self::WrittenByVersionControl
            | Self::KeptWithoutItsName
            | Self::OfRemote
            | Self::LostAtRemote
            | Self::KeptForAWhile
            | Self::HidesChanges
            | Self::KeptWithIgnoredFiles => Relief::VersionControl,
            Self::SettingThatRunsNothing | Self::Reformatted => Relief::Rewritten,
            Self::NothingFits | Self::ClonedBySameCommand => Relief::Absent,
            Self::Moved | Self::Appended | Self::MadeBySameCommand | Self::LetsRun => Relief::Elsewhere,
            Self::OwnSetting
            | Self::AppendedByRedirection
            | Self::EmptyDirectory
            | Self::DatabaseFile
            | Self::DataInAFile
            | Self::SweptAlong
            | Self::SweptIntoFile
            | Self::Masked
            | Self::LeavesRights
            | Self::OpensRights
            | Self::BroughtWithoutGuard
            | Self::WithinBounds
            | Self::ArchiveUnread
            | Self::ArchiveWithoutGuard
            | Self::PatchUnread
            | Self::ByChance
            | Self::Link
            | Self::ToOwnPlace
            | Self::NotThere => Relief::Waived,
            Self::Ordinary
            | Self::WholeDatabase
            | Self::Hollow
            | Self::NotInSource
            | Self::OnlyStaged
            | Self::ClearedAway
            | Self::TakesRights
            | Self::BroughtUnread
            | Self::AllThatIsFound
            | Self::Removal
            | Self::Signal
            | Self::HoldsUp
            | Self::Background
            | Self::Unreadable
            | Self::NamedByOutput
            | Self::TellsOthers => Relief::None,
        }
    }
}

/// What the nature of an effect takes from its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relief {
    /// Nothing.
    None,
    /// A change loses nothing: version control gives it back.
    VersionControl,
    /// A change loses nothing: what matters is there afterwards as well.
    Rewritten,
    /// Nothing is there to be lost.
    Absent,
    /// Nothing is lost unless it is a disaster: it stays, or stands elsewhere.
    Elsewhere,
    /// The stake is that of the target, but some question is not asked.
    Waived,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_name_on_the_wire() {
        for (at, nature) in Nature::ALL.into_iter().enumerate() {
            assert_eq!(serde_json::to_value(nature).unwrap(), nature.name());
            assert_eq!(nature as usize, at, "{nature:?} stands in another place in `ALL`");
        }
    }
}
