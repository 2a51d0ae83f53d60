//! The typed tree. Quoting is already undone here: what a part says is what the shell would see after
//! quote removal, and the kind of the part says whether it may still be split or globbed.

use serde::Serialize;

/// Byte offsets into the text that was parsed, `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// What [`crate::parse`] answers: always a tree, plus what went wrong while reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parsed {
    /// The statements that could be read, in order. Unreadable text appears as [`Command::Opaque`].
    pub script: Block,
    /// Everything that was not plain sailing; empty for well-formed input within the limits.
    pub problems: Vec<Problem>,
}

/// One thing that went wrong while reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What sort of trouble it was.
    pub kind: ProblemKind,
    /// Where it was met; the whole text when no better place is known.
    pub span: Span,
    /// One sentence for a user, lower case, without a period.
    pub message: String,
}

/// The sorts of trouble that reading can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The text is longer than the limit.
    TooLong,
    /// Brackets, quotes or prefix words are nested deeper than the limit.
    TooDeep,
    /// Reading did not end before the deadline.
    Deadline,
    /// The text is not well formed; statements before the error are kept, as the shell would run them.
    Syntax,
    /// The parser failed in a way that it should not.
    ParserFailed,
    /// The construct is valid, but has no place in the tree.
    Unsupported,
}

/// A sequence of statements.
pub type Block = Vec<ShellStatement>;

/// A command together with how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShellStatement {
    /// What runs.
    pub command: Command,
    /// Whether the shell waits for it.
    pub launch: Launch,
    /// Where it stands in the text.
    pub span: Span,
}

/// Whether the shell waits for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    /// `cmd` or `cmd;`
    Foreground,
    /// `cmd &`
    Background,
}

/// A command of any form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// `A=1 program argument >file`
    Simple(Simple),
    /// `a | b | c`; also `! a` (one stage, negated).
    Pipeline(Pipeline),
    /// `a && b || c`, left-associative.
    AndOr(AndOr),
    /// `( ... )`
    Subshell(Block),
    /// `{ ...; }`
    Group(Block),
    /// `if ...; then ...; elif ...; else ...; fi`
    If(If),
    /// `for x in words; do ...; done`
    For(For),
    /// `for ((init; condition; step)); do ...; done`
    CStyleFor(CStyleFor),
    /// `while` and `until`
    While(While),
    /// `case word in pattern) ...;; esac`
    Case(Case),
    /// `select x in words; do ...; done`
    Select(For),
    /// `name() body` and `function name body`
    Function(Function),
    /// `[[ ... ]]`
    Test(Test),
    /// `(( ... ))`
    Arithmetic(Arithmetic),
    /// `coproc [name] command`
    Coprocess(Coprocess),
    /// `time command`
    Time(Box<Command>),
    /// A compound command with redirections of its own: `{ ...; } >file`
    Redirected(Redirected),
    /// Text that could not be read. Nothing may be assumed about what it does.
    Opaque(Opaque),
}

/// A simple command: assignments, words and redirections, in the order of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct Simple {
    /// `A=1` before the first word; permanent when there are no words.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments, brace expansion already done, other expansions not.
    pub words: Vec<Word>,
    /// Redirections in the order in which the shell opens them.
    pub redirects: Vec<Redirect>,
    /// Arrays among the operands of `declare`, `export`, `local`, `readonly`, `typeset`: `declare -a x=(1 2)`. The
    /// word of such an operand is the bare name; a scalar operand stays a word as written (`A=1`).
    pub declared_arrays: Vec<Assignment>,
    /// Where it stands in the text.
    pub span: Span,
}

impl Simple {
    /// The name of the program, when it is written out in one piece; `None` when there is none, or parts of it are expanded or quoted
    /// apart.
    pub fn written_name(&self) -> Option<&str> {
        match self.words.first()?.parts.as_slice() {
            [Part::Literal(text) | Part::Quoted(text)] => Some(text),
            _ => None,
        }
    }
}

/// `a | b`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pipeline {
    /// At least one.
    pub stages: Vec<PipelineStage>,
    /// Whether the exit status is inverted by `!`.
    pub negated: bool,
}

/// One stage of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PipelineStage {
    /// What runs.
    pub command: Command,
    /// What the pipe after this stage carries; meaningless for the last stage.
    pub carries: Carries,
}

/// What a pipe carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Carries {
    /// `|`
    Output,
    /// `|&`
    OutputAndErrors,
}

/// `first && b || c`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AndOr {
    /// Always runs.
    pub first: Box<Command>,
    /// Each runs depending on the status so far.
    pub rest: Vec<(Connective, Command)>,
}

/// What joins two commands of an [`AndOr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Connective {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// `if`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct If {
    /// `if`/`elif` conditions with their `then` bodies; at least one.
    pub branches: Vec<(Block, Block)>,
    /// The `else` body.
    pub otherwise: Option<Block>,
}

/// `for` over words, and `select`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct For {
    /// The loop variable.
    pub variable: String,
    /// The words; `None` means the positional parameters.
    pub words: Option<Vec<Word>>,
    /// The loop body.
    pub body: Block,
}

/// `for ((;;))`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CStyleFor {
    /// Evaluated once.
    pub start: Option<Arithmetic>,
    /// Evaluated before each turn.
    pub condition: Option<Arithmetic>,
    /// Evaluated after each turn.
    pub step: Option<Arithmetic>,
    /// The loop body.
    pub body: Block,
}

/// `while` and `until`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct While {
    /// The condition.
    pub condition: Block,
    /// Whether the loop goes on while the condition succeeds or until it does.
    pub until: bool,
    /// The loop body.
    pub body: Block,
}

/// `case`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// What is compared.
    pub subject: Word,
    /// The arms, in order.
    pub arms: Vec<Arm>,
}

/// One arm of a `case`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Arm {
    /// Alternatives; unquoted parts are patterns.
    pub patterns: Vec<Word>,
    /// What runs.
    pub body: Block,
    /// What follows the arm.
    pub end: ArmEnd,
}

/// How an arm of a `case` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArmEnd {
    /// `;;`
    Break,
    /// `;&`: the next body runs too.
    FallThrough,
    /// `;;&`: the next patterns are tried too.
    TryNext,
}

/// A function definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What a call runs.
    pub body: Box<Command>,
}

/// `[[ ... ]]`: the operators are not modelled, the substitutions inside run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Test {
    /// The condition.
    pub condition: ConditionalExpression,
}

/// A condition of `[[ ... ]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionalExpression {
    /// A single word: true when not empty.
    Word(Word),
    /// `-f word`; the operator with its dash.
    Unary(String, Word),
    /// `left == right`; the operator as written.
    Binary(Word, String, Word),
    /// `! condition`
    Not(Box<ConditionalExpression>),
    /// `a && b`
    And(Box<ConditionalExpression>, Box<ConditionalExpression>),
    /// `a || b`
    Or(Box<ConditionalExpression>, Box<ConditionalExpression>),
}

/// An arithmetic expression. Evaluated by the interpreter from its text; command substitutions inside it run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct Arithmetic {
    /// The expression as written, without the brackets.
    pub text: String,
    /// Blocks of the command substitutions that evaluating it runs.
    pub substitutions: Vec<Block>,
}

/// `coproc`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coprocess {
    /// Its name; `COPROC` when none was given.
    pub name: String,
    /// What runs beside the shell.
    pub command: Box<Command>,
}

/// A compound command with redirections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redirected {
    /// The compound command.
    pub command: Box<Command>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
}

/// Text that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Opaque {
    /// The text, cut to a bounded length.
    pub text: String,
    /// Why it could not be read.
    pub reason: ProblemKind,
}

/// `NAME=value`, `NAME+=value`, `NAME[index]=value`, `NAME=(...)`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The subscript, when one element is assigned.
    pub index: Option<Word>,
    /// Whether the value is put behind the old one (`+=`).
    pub append: bool,
    /// What is assigned.
    pub value: AssignedValue,
}

/// The right side of an assignment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AssignedValue {
    /// One word; empty for `NAME=`.
    Scalar(Word),
    /// `( a b [2]=c )`: each element with its subscript, if given.
    Array(Vec<(Option<Word>, Word)>),
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redirect {
    /// The descriptor on the left, when written: `2>`, `{name}>`.
    pub descriptor: Option<Descriptor>,
    /// What is done with it.
    pub operation: RedirectOperation,
}

/// The left side of a redirection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Descriptor {
    /// `2>`
    Number(u32),
    /// `{name}>`
    Variable(String),
}

/// What a redirection does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RedirectOperation {
    /// `< file`
    Read(Word),
    /// `> file`: created or emptied.
    Write(Word),
    /// `>| file`: as `Write`, whatever `noclobber` says.
    Clobber(Word),
    /// `>> file`
    Append(Word),
    /// `<> file`
    ReadWrite(Word),
    /// `&> file`, `>& file`: output and errors.
    WriteAll(Word),
    /// `&>> file`
    AppendAll(Word),
    /// `>&2`, `<&3`, `>&-`: copies or closes a descriptor; touches no file when the word is a number or `-`. The
    /// descriptor of a bare `<&` is written out as 0; that of a bare `>&` is 1.
    Duplicate(Word),
    /// `<<< word`
    HereString(Word),
    /// `<< END`: the body, one quoted part when the delimiter was quoted, else one double-quoted part.
    HereDocument(Word),
}

impl RedirectOperation {
    /// The word behind the sign: a file, a descriptor, or a text.
    pub fn word(&self) -> &Word {
        match self {
            Self::Read(word)
            | Self::Write(word)
            | Self::Clobber(word)
            | Self::Append(word)
            | Self::ReadWrite(word)
            | Self::WriteAll(word)
            | Self::AppendAll(word)
            | Self::Duplicate(word)
            | Self::HereString(word)
            | Self::HereDocument(word) => word,
        }
    }
}

/// A word: parts written without space between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct Word {
    /// The parts; empty for `''`-less nothing, which the shell never produces on its own.
    pub parts: Vec<Part>,
    /// Where it stands in the text.
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Unquoted text, backslashes already undone (an escaped character becomes [`Part::Quoted`]). `*`, `?`, `[...]`,
    /// extended patterns and a leading `~` are special in it.
    Literal(String),
    /// Text that stands for itself: single quotes, `$'...'` decoded, escaped characters, literal text in double quotes.
    Quoted(String),
    /// So many bytes that are no text, in `$'...'`: a file may have such a name.
    Bytes(usize),
    /// `"..."`: the parts inside are not split or globbed.
    DoubleQuoted(Vec<Part>),
    /// `$name`, `${...}`
    Parameter(Box<ParameterExpansion>),
    /// `$( ... )`, back-ticks and `${ ...; }`
    CommandSubstitution(Block),
    /// `<( ... )` and `>( ... )`
    ProcessSubstitution(Direction, Block),
    /// `$(( ... ))`
    Arithmetic(Arithmetic),
    /// `{a,b}` that would make too many words. The word stands for any number of them.
    Braces(Braces),
}

/// What is known of braces that would make too many words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Braces {
    /// What may stand in their place.
    pub offered: Offered,
    /// What is expanded in them.
    pub hidden: Vec<Part>,
}

/// What braces offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Offered {
    /// Numbers, letters, names without a slash, a dot or a tilde.
    Names,
    /// Any text.
    Anything,
}

/// Which way the data of a process substitution flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// `<( )`: the outer command reads what the inner one writes.
    Read,
    /// `>( )`: the outer command writes what the inner one reads.
    Write,
}

/// A parameter expansion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParameterExpansion {
    /// `name`, `1`, `@`, `*`, `#`, `?`, `-`, `$`, `!`, `0`
    pub name: String,
    /// `[index]`, `[@]`, `[*]`
    pub index: Option<Word>,
    /// `${!name}`: the value names the parameter that is meant.
    pub indirect: bool,
    /// What is done with the value.
    pub operation: ParameterOperation,
}

/// What a parameter expansion does with the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterOperation {
    /// `$x`
    Plain,
    /// `${#x}`
    Length,
    /// `${x:-word}` (`colon`) and `${x-word}`
    Default {
        /// The value when it is unset.
        word: Word,
        /// Whether an empty value counts as unset.
        colon: bool,
    },
    /// `${x:=word}` and `${x=word}`
    Assign {
        /// The value, assigned too, when it is unset.
        word: Word,
        /// Whether an empty value counts as unset.
        colon: bool,
    },
    /// `${x:?word}` and `${x?word}`
    Error {
        /// The message with which the shell gives up when it is unset.
        word: Word,
        /// Whether an empty value counts as unset.
        colon: bool,
    },
    /// `${x:+word}` and `${x+word}`
    Alternative {
        /// The value when it is set.
        word: Word,
        /// Whether an empty value counts as unset.
        colon: bool,
    },
    /// `${x#pattern}`, `${x##pattern}`
    RemovePrefix {
        /// What is taken away.
        pattern: Word,
        /// Whether the longest match goes, not the shortest.
        longest: bool,
    },
    /// `${x%pattern}`, `${x%%pattern}`
    RemoveSuffix {
        /// What is taken away.
        pattern: Word,
        /// Whether the longest match goes, not the shortest.
        longest: bool,
    },
    /// `${x/pattern/word}` and its variants
    Replace {
        /// What is replaced.
        pattern: Word,
        /// What stands there afterwards; without parts when it is taken away.
        with: Word,
        /// Which matches.
        scope: ReplaceScope,
    },
    /// `${x:offset:length}`
    Substring {
        /// Where it begins; from the end when negative.
        offset: Arithmetic,
        /// How long it is; to the end when not given.
        length: Option<Arithmetic>,
    },
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}`
    Case {
        /// Whether letters become capital, not small.
        upper: bool,
        /// Whether all letters do, not the first.
        all: bool,
        /// Which letters; without parts any.
        pattern: Word,
    },
    /// `${!prefix*}`, `${!prefix@}`: names of variables
    NamesWithPrefix,
    /// `${!array[@]}`: the subscripts
    Keys,
    /// `${x@Q}` and the like: the letter
    Transform(char),
    /// Anything else; the value cannot be known. Words inside it that run are kept.
    Other(Vec<Word>),
}

/// What `${x/...}` replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplaceScope {
    /// `/`
    First,
    /// `//`
    All,
    /// `/#`
    Prefix,
    /// `/%`
    Suffix,
}
