//! The things that known functions do.

use crate::effect::Depth;

/// What a known function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LibraryCall {
    /// Nothing worth a word.
    Nothing,
    /// Prints a line.
    Print,
    /// Prints without the end of a line.
    PrintPlain,
    /// Whole numbers in order.
    Range,
    /// Gives what it is given, in another form.
    Same,
    /// Removes everything it is given.
    Delete(Depth),
    /// Removes the first path; deeper when an option says so.
    DeleteFirst,
    /// Writes the first path.
    Write,
    /// Writes the second path.
    WriteSecond,
    /// Appends to the first path.
    Append,
    /// Opens the first path as the mode says.
    Open,
    /// Reads the first path.
    Read,
    /// Makes files that are not there.
    Touch,
    /// Makes directories.
    MakeDirectory,
    /// Moves the first path to the second.
    Move,
    /// Copies the first path to the second.
    Copy,
    /// Makes a link at the second path that points to the first.
    Link,
    /// Changes the mode or owner of the first path.
    Mode,
    /// Changes the mode of all paths behind the first value, or the second.
    ModeOfRest,
    /// Runs text in a shell, or several words as a command.
    Shell,
    /// Runs a program between two handles that it is given first.
    Pipe,
    /// Runs a list of words, or text.
    Run,
    /// Runs the first value as a program with a list of words.
    Program,
    /// Runs the first value as a program; the words behind it begin with its name.
    Execute,
    /// The same behind a first value that says how it is waited for.
    ExecuteRest,
    /// Asks a host.
    Get,
    /// Sends data to a host.
    Post,
    /// Talks to a host as a method says.
    Request,
    /// Fetches a URL into a file.
    Download,
    /// Ends a process: its number first.
    Kill,
    /// Ends processes: the signal first.
    KillRest,
    /// Changes how much a process may use: its number, behind what kind of number it is where priorities are set.
    Throttle,
    /// Unpacks an archive into a directory.
    Unpack,
    /// Runs text as code of the same language.
    Evaluate,
    /// The same, and its value is what the text comes to: often a function.
    EvaluateValue,
    /// Runs every text that it is given as code of the same language, and calls the functions.
    EvaluateTexts,
    /// Makes a function of the text behind the names of its parameters.
    MakeFunction,
    /// Starts a thread with a file, or with text when an option says so.
    Worker,
    /// The lines of a file.
    Lines,
    /// Runs what stands between the marks of a template as code of the same language.
    Template,
    /// Gives each path below its directories to a function.
    FindFiles,
    /// Runs a file of the same language.
    RunFile,
    /// Loads a module, or runs a file of the same language.
    Loads,
    /// Opens a connection.
    Connect,
    /// Waits for connections.
    Listen,
    /// Puts a connection in the place of a standard stream.
    Duplicate,
    /// Runs a program on a terminal of its own.
    Terminal,
    /// An object that stands for a path.
    PathOf,
    /// Joins parts of a path.
    Join,
    /// Joins a list with a text between.
    JoinText,
    /// A variable of the environment.
    Variable,
    /// The home directory.
    Home,
    /// The working directory.
    Here,
    /// The directory for temporary files.
    Temporary,
    /// The directory of the packages of the user (Python, "site").
    UserPackages,
    /// Makes a temporary file.
    TemporaryFile,
    /// Changes the working directory.
    Enter,
    /// The files that fit a pattern.
    Glob,
    /// The names in a directory.
    List,
    /// The paths in a directory.
    Walk,
    /// Where the program of a name is.
    Whereabouts,
    /// Whether something is there.
    Exists,
    /// A module by name.
    Import,
    /// An attribute by name.
    Attribute,
    /// An object with the functions of a module.
    Becomes(&'static str),
    /// Decodes base64.
    Base64,
    /// Encodes in base64.
    InBase64,
    /// Loads data, which may be made into objects of any kind unless a loader is named that does not.
    Loaded,
    /// Decodes as the second value says.
    Decoded,
    /// Decodes hexadecimal.
    Hexadecimal,
    /// The character of a number.
    Character,
    /// Fills in a format.
    Format,
    /// Loads code in another form than its source.
    Foreign,
    /// What comes in on the standard input.
    Input,
    /// The first of a list: `shift`.
    First,
    /// Installs packages.
    Package,
    /// Code from the value that is called `text`.
    Parsed,
    /// Changes data in a store by a statement of SQL.
    Statement,
    /// Values by name: a dictionary.
    Record,
    /// The first value with the entries of the others: `Object.assign`.
    Merge,
    /// Several values as one: an address.
    Together,
    /// Calls the function that the first value names.
    CallByName,
    /// The parent of a path.
    Parent,
    /// The number of the process that runs the code.
    OwnProcess,
    /// The number of the process that started this one.
    ParentProcess,
    /// A path with `~` and variables put in.
    Expand,
    /// Makes a temporary directory.
    TemporaryDirectory,
    /// Makes one more process like this one.
    Fork,
    /// Names and what they mean, by name.
    Names,
    /// Opens a database that is a file.
    Database,
    /// Calls what it is given later, or runs it as code when it is a text.
    Later,
    /// Takes another user's rights.
    Rights,
    /// Saves something to the path.
    Save,
    /// Runs the program that the function is called after with the words it is given: `sh.rm("-rf", "x")`.
    CalledAfter,
    /// Runs text in a shell of another machine.
    Elsewhere,
    /// Packs the tree at the third path into an archive that is called like the first.
    Archive,
}

impl LibraryCall {
    /// Whether it does something outside the code.
    pub(super) fn reaches_out(self) -> bool {
        matches!(
            self,
            Self::Delete(_)
                | Self::DeleteFirst
                | Self::Write
                | Self::Append
                | Self::Mode
                | Self::Shell
                | Self::Run
                | Self::CalledAfter
                | Self::Program
                | Self::Execute
                | Self::ExecuteRest
                | Self::Kill
                | Self::Evaluate
                | Self::EvaluateValue
                | Self::EvaluateTexts
                | Self::Download
        )
    }
}
