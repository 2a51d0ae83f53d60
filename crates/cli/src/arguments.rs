//! The command line: every command with its help and examples. Daily work is done by verbs, the rest by a noun and a verb.

mod changes;
mod gates;
mod gateway;
mod help;
mod nouns;
mod old_forms;
mod pipelines;
mod plugins;
mod pushes;
mod restoring;
mod server;
mod supervision;
mod words;
mod worktrees;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use changes::ChangeCommand;
pub(crate) use gates::GateArguments;
pub(crate) use gateway::{McpArguments, McpCommand};
pub(crate) use help::{command_line, completions, write_manual};
pub(crate) use nouns::{
    AgentCommand, ApprovalCommand, AuditCommand, AuditKeyCommand, ConfigCommand, IncidentCommand,
    IssueCommand, NoticeCommand, PolicyCommand, SessionCommand, SnapshotCommand, SurpriseCommand,
    TicketCommand, TrustCommand,
};
pub(crate) use old_forms::{OldForm, OldReviewsForm, RollbackForm};
pub(crate) use pipelines::{PipelineCommand, TaskArguments};
pub(crate) use plugins::PluginCommand;
pub(crate) use pushes::{PushHookCommand, push_request};
pub(crate) use restoring::{TermsArguments, UndoArguments};
pub(crate) use server::{OpenArguments, ServeArguments, ServeWish};
pub(crate) use supervision::{
    AcpArguments, CredentialCommand, ExecArguments, RouteArguments, RunArguments, RunCommand,
};
pub(crate) use worktrees::{WorktreeCommand, consent};

use crate::moments::TimeStart;
use words::{VerdictName, client_names, client_names_or_all};

/// Review every step of a coding agent before and after it happens
#[derive(Debug, Parser)]
#[command(
    name = "checkrein",
    version,
    max_term_width = 80,
    after_help = "Examples:\n  checkrein init                  guard this project\n  checkrein doctor                prove that it is guarded\n  checkrein check 'rm -rf build'  see a verdict without running anything\n  checkrein snapshot --help       see what can be done with snapshots"
)]
pub(crate) struct Arguments {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Guard a project: register the hooks of your agents
    #[command(
        after_help = "Says in a few lines what it writes, for which projects, and asks before it does. Only Claude Code has settings of a project that are yours alone: other clients are registered for all your projects.\n\nExamples:\n  checkrein init                 Claude Code here, others everywhere\n  checkrein init --user --yes    all your projects, without asking\n  checkrein init --team          this project, for everyone: commit the file\n  checkrein init --dry-run       show it only; every line with --verbose\n  checkrein init --client codex  another client; `all`: every one found here\n  checkrein init --statusline    also a status line, where there is none\n  checkrein init --mcp           also before the MCP servers of the client"
    )]
    Init(InitArguments),
    /// Prove that this project is guarded
    #[command(
        after_help = "Feeds each registered hook a call that it must deny. Problems come first, in full. Of several agents each has one line.\n\nExit status: 0 guarded, 1 not guarded.\n\nExamples:\n  checkrein doctor\n  checkrein doctor --client codex   what was found of one agent\n  checkrein doctor --verbose        the same of all, with their limits\n  checkrein doctor --json"
    )]
    Doctor {
        /// Client, or `all` [default: those registered here]
        #[arg(long, value_name = "NAME", value_parser = client_names_or_all())]
        client: Option<String>,
        /// Also list what no machine enforces, and projects without hooks
        #[arg(long)]
        all: bool,
        /// Show all that was found, also of several agents that are well
        #[arg(long, short)]
        verbose: bool,
    },
    /// Explain the verdict on a command without running it
    #[command(
        after_help = "Exit status: 0 ok or hint, 2 stopped or halted, 3 asked, 1 error. With `--batch`: 0 all lines answered, 1 some line is not a question.\n\nEach line of a batch is a JSON object: `{\"command\": \"rm -rf build\"}` or `{\"tool\": \"Write\", \"input\": {...}}`. `cwd` sets its working directory. The answer repeats its `id`, or else has the number of the line.\n\nExamples:\n  checkrein check 'git push --force'\n  checkrein check --verbose 'git push --force'\n  checkrein check --json --cwd ~/proj 'rm -rf build'\n  checkrein check --batch commands.jsonl"
    )]
    Check {
        /// Answer JSON Lines from a file, or from standard input with `-`
        #[arg(long, value_name = "FILE")]
        batch: Option<String>,
        /// Working directory of the command
        #[arg(long, value_name = "DIR")]
        cwd: Option<String>,
        /// Root of the workspace [default: the repository around DIR]
        #[arg(long, value_name = "DIR")]
        root: Option<String>,
        /// Show the rules and the numbers too
        #[arg(long, short, conflicts_with = "batch")]
        verbose: bool,
        /// Shell command
        command: Option<String>,
    },
    /// Show the newest calls, verdicts and reasons
    #[command(
        after_help = "Session by session, the newest call last. Times of day are UTC. In a terminal, what is longer than the screen opens in a pager: `$PAGER`, or `less`. `q` leaves it, and `PAGER=cat` does without.\n\nExamples:\n  checkrein log\n  checkrein log --here --today\n  checkrein log --since 2h\n  checkrein log --since '2026-11-28 10:00'\n  checkrein log --risky -n 100\n  checkrein log -f\n  checkrein log --session 4f3c -n 100 --json"
    )]
    Log {
        /// Show only sessions whose name starts with this
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
        /// Number of records [default: 30; all with `--since`]
        #[arg(short, long, value_name = "COUNT")]
        number: Option<usize>,
        /// Show only reviews with this verdict
        #[arg(long)]
        verdict: Option<VerdictName>,
        /// Show only sessions of this project
        #[arg(long)]
        here: bool,
        /// Show only the last 24 hours
        #[arg(long, conflicts_with = "since")]
        today: bool,
        /// Show only what came since: 2h, yesterday, monday, 2026-11-28
        #[arg(long, value_name = "TIME", value_parser = TimeStart::parse)]
        since: Option<TimeStart>,
        /// Show only what was not plainly fine
        #[arg(long)]
        risky: bool,
        /// Keep showing what comes
        #[arg(short, long)]
        follow: bool,
    },
    /// Tell the story of one call: wanted, seen, decided, and its end
    #[command(
        after_help = "`--verbose` adds the whole call, the numbers and the rules. `--json` prints the records.\n\nExamples:\n  checkrein show toolu_12441b  by the start of its name\n  checkrein show 4f3c:17       by session and record number\n  checkrein show LAST          the newest call of this project\n  checkrein show 4f3c          a session, as `session show` does"
    )]
    Show {
        /// Start of the name of the action or session, SESSION:NUMBER, or LAST
        id: String,
        /// Show the whole call, the numbers and the rules too
        #[arg(long, short)]
        verbose: bool,
    },
    /// Watch the running sessions
    #[command(
        after_help = "Shows the last call, verdicts, issues, interventions, tokens and cost of each session. In a terminal it is an interface with the newest calls of each session; keys halt, resume and undo, and `?` lists them. Elsewhere it shows the state once. With `--json` it continues, unless `--once` is given.\n\nExamples:\n  checkrein watch\n  checkrein watch --once --all\n  checkrein watch --once --json"
    )]
    Watch {
        /// Show the state once
        #[arg(long)]
        once: bool,
        /// Include sessions that were silent for an hour
        #[arg(long)]
        all: bool,
    },
    /// Serve API, live events, metrics and console on this machine
    #[command(
        after_help = "Prints where it answers, a link that logs one browser in once, and with `--json` the key for programs, as one line. Ends with Ctrl-C.\n\nOther machines reach it only with `--lan` or `--tls`, over TLS, and only with the password or from a paired device. The certificate is made at the first start; compare its fingerprint with what the browser shows.\n\nExamples:\n  checkrein serve\n  checkrein serve --lan                     a phone reads the code\n  checkrein serve --lan --name desk.local\n  checkrein serve --set-password\n  checkrein serve --devices\n  checkrein serve --listen 127.0.0.1:0 --json\n  checkrein serve --listen unix:$XDG_RUNTIME_DIR/checkrein.sock"
    )]
    Serve(ServeArguments),
    /// Answer hooks from memory, where `engine.resident` is set
    #[command(
        after_help = "A hook asks this process instead of reading configuration, rules and catalogue itself. It accepts an answer only from the program that lies beside it and knows the key of the seals. Otherwise, or if nobody answers, it decides by itself. `checkrein serve` starts one too. Restart it after an update.\n\nExamples:\n  checkrein engine"
    )]
    Engine {
        /// End when standard input ends
        #[arg(long)]
        with_starter: bool,
    },
    /// Open the console of the running server in a browser (humans only)
    #[command(
        after_help = "Has the server that `checkrein serve` started make a new link, which logs one browser in, once. `--print` and `--json` print it; whoever opens it first is logged in. `--phone` shows a code that pairs a phone, where the server answers other machines.\n\nExamples:\n  checkrein open\n  checkrein open --phone --role viewer\n  checkrein open --print"
    )]
    Open(OpenArguments),
    /// Count calls, verdicts, answers and spending
    #[command(
        after_help = "Tokens are those that count against limits: what is read from the cache is left out. An intervention ended the issue when the issue ended before the next one about it.\n\nExamples:\n  checkrein stats\n  checkrein stats --since 7d --here"
    )]
    Stats {
        /// How far back, such as 30d, yesterday or 2026-11-28
        #[arg(long, value_name = "TIME", default_value = "30d", value_parser = TimeStart::parse)]
        since: TimeStart,
        /// Only sessions in this project
        #[arg(long)]
        here: bool,
    },
    /// Search what was done before: goals, ends, causes
    #[command(
        after_help = "Looks through the records, the reports on stops and the runs of pipelines for work that holds at least half of the words, and shows how it ended and what it came from. The best comes first. An agent that is given a goal again at which earlier work in the project failed is told so by itself.\n\nExamples:\n  checkrein history flaky login test\n  checkrein history --here --since 7d migrations\n  checkrein history openssl --json"
    )]
    History {
        /// What it was about
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// How far back, such as 30d, yesterday or 2026-11-28
        #[arg(long, value_name = "TIME", default_value = "90d", value_parser = TimeStart::parse)]
        since: TimeStart,
        /// Only work in this project
        #[arg(long)]
        here: bool,
        /// How many at most
        #[arg(short, long, default_value_t = 5)]
        number: usize,
    },
    /// Print the line for the status line of Claude Code
    #[command(
        after_help = "Reads the status JSON of the client on standard input and prints one line: what became of the calls of the session, the tokens in its window, its cost, and HALTED where it is halted. `init --statusline` registers it. Never fails: what goes wrong is the line.\n\nExample:\n  echo '{\"session_id\": \"4f3c\"}' | checkrein statusline"
    )]
    Statusline,
    /// Restore what an action destroyed
    #[command(
        after_help = "Saves the present state first, so that you can take this back too. Keeps files modified after the action, unless `--force` is given. Removes files that only the action can have made, and keeps other new ones, unless `--remove-new` is given. Without an action it takes the last one in this workspace or below that destroyed something, whichever agent did it; with `--session` the last one of that session. What another session changed since stays.\n\nExit status: 0 done, 1 something is left or nothing was done.\n\nExamples:\n  checkrein undo\n  checkrein undo toolu_12441b --yes\n  checkrein undo --session LAST\n  checkrein undo --dry-run --json"
    )]
    Undo(UndoArguments),
    /// Run an agent with limits and a reliable kill switch
    #[command(
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true,
        disable_help_subcommand = true,
        after_help = "Passes the output of the agent on unchanged. To stop, checkrein sends SIGINT, then SIGTERM, then kills the process tree. If checkrein itself is killed, the agent ends too. It judges calls that no hook reviewed as it hears them: it reports loops and stopped calls, or ends the run.\n\nAgents whose tokens, cost and answers it counts, and the output that tells them:\n  Claude Code  --output-format stream-json --verbose\n  Codex        exec --json\n  Gemini CLI   -o stream-json\n  Qwen Code    -o stream-json\n  Copilot CLI  --output-format json\n  OpenCode     run --format json\n  Droid        exec -o stream-json\n\nWith another output the hooks of the first five count. Any other program is stopped only by time, silence, memory, processes, `checkrein halt` and signals.\n\nProfiles, beside the limits of the configuration:\n  interactive  warns of calls that were not reviewed\n  unattended   20 dollars, 3 million tokens, 200 answers, 60 minutes, 4 GB\n  strict       the same, for an agent in a sandbox and with working hooks\n\n`unattended` and `strict` also end a run at unrequested work, and at a call that ran without review and would have been stopped. `strict` passes on a basic environment, takes `--hold namespace`, and lets the agent reach its directory and the host of its model only.\n\nLimits, for `--limits`:\n  standard     those of the profile\n  seed         5 dollars, 100,000 tokens, 20 answers, 5 minutes, 512 MB\n\nHold, for `--hold`:\n  processes    ends the agent itself, not what it started\n  namespace    ends everything, by a PID namespace, or runs nothing\n\nSandbox: `--write`, `--read` and `--net` put the scope of `exec` around the agent and all that it starts. What is not named is as wide as an agent needs it; docs/supervision.md says how wide.\n\nCredentials: `--credential ONE,TWO=VARIABLE` goes on with TWO when the provider refuses ONE.\n\nPrices: INPUT,OUTPUT[,CACHE_WRITE,CACHE_READ]; a cache price that is not given is that of the input. Prices for all runs stand in ~/.config/checkrein/prices.csv, with the columns model,input,output,cache_write,cache_read; docs/supervision.md explains them.\n\nCHECKREIN_TELEMETRY=0 turns off the telemetry of the agent and of the programs it uses.\n\nExit status: that of the agent, or one of these\n   92  the provider fails, or refused every credential; nothing was run\n   94  halted\n  114  too many processes\n  115  a call without review\n  116  stopped by the detectors\n  117  silence\n  118  memory\n  119  unrequested work\n  120  budget, or the spending cannot be counted\n  121  tokens\n  122  the next call would exceed a limit\n  123  answers\n  124  time\n  125  checkrein failed; the message says whether the agent had begun\n  126  the agent cannot be run: no program, or outside of `--read`\n  127  the agent was not found\n  128  and more: a signal; 137 also: the supervisor was killed\n\nExamples:\n  checkrein run -- claude\n  checkrein run --budget 2 --time 30m -- codex exec --json 'fix the tests'\n  checkrein run --profile unattended --retries 3 -- codex exec --json 'fix it'\n  checkrein run --profile strict --credential anthropic=ANTHROPIC_API_KEY -- \\\n      claude -p 'fix it' --output-format stream-json --verbose\n  checkrein run --write . --net api.anthropic.com:443 -- claude\n  checkrein run --worktree fix-12 --carry .env -- claude\n  checkrein run --resume --budget 1\n  checkrein run list"
    )]
    Run {
        #[command(flatten)]
        wanted: Box<RunArguments>,
        #[command(subcommand)]
        command: Option<RunCommand>,
    },
    /// Run one command in a sandbox
    #[command(
        after_help = "The kernel enforces the scope, for the command and everything that it starts. Without options the command may read everything, change only a temporary folder of its own, and use no network. checkrein reports what this machine cannot enforce before the command runs. At the end it reports each refusal, with the option that would allow it.\n\n`--processes N` counts processes at one time, including those that ended and were not waited for. Threads are counted separately, over all processes together: 16 for each of the N, at least 64.\n\nExit status: that of the command; 124 a limit was reached, 125 checkrein failed, 126 it cannot be run, 127 it was not found.\n\nExamples:\n  checkrein exec --write . -- make test\n  checkrein exec --write target --net crates.io:443 -- cargo fetch\n  checkrein exec --net loopback --time 5m --memory 2G -- pytest"
    )]
    Exec(ExecArguments),
    /// Review an agent that an editor runs (Agent Client Protocol)
    #[command(
        after_help = "Stands between the editor and the agent. Requests for permission, file access and commands are reviewed: what is refused never reaches the editor, and what needs a question is shown with the reason. All other messages pass unchanged. Tool calls that the agent runs without a request are reviewed when it reports them. Set it as the command of the agent in the editor; docs/acp.md shows the setting of Zed.\n\nExit status: that of the agent; 125 checkrein failed, 126 it cannot be run, 127 it was not found, 137 it was killed.\n\nExamples:\n  checkrein acp -- gemini --acp\n  checkrein acp --contain --write . --write ~/.gemini --net open -- gemini --acp"
    )]
    Acp(AcpArguments),
    /// Mask the secrets in what is piped through it
    #[command(
        after_help = "Names stay, values become `[masked:KIND:FINGERPRINT]`; equal values have equal fingerprints. Lists of settings and variables lose every value that is a secret by its name or looks like one; other text loses what has the form of a key or token.\n\nExit status: 0, or 1 when nothing could be masked, and then nothing is shown.\n\nExamples:\n  cat .env | checkrein mask\n  printenv | checkrein mask"
    )]
    Mask,
    /// Run tests and classify the failure
    #[command(
        after_help = "Says what kind of failure it was and what to do next. The same result again is a reason to stop: twice when nothing passes, three times otherwise. It compares the failed tests where the runner names them. For other commands (`any`) it compares the outputs and the exit codes 91 (gate), 92 (provider busy), 93 (conflict) and 94 (stopped by a human). `--json` writes the result to standard error for scripts; docs/scripts.md has one.\n\nExit status: that of the tests; 124 timeout, 126 they cannot be run, 127 the program was not found.\n\nExamples:\n  checkrein route --runner pytest -- pytest -q\n  checkrein --json route --runner cargo --time 10m -- cargo test\n  checkrein route --runner pytest --phase red -- pytest tests/test_new.py\n  checkrein --json route --runner any --remember last.json -- ./deploy.sh"
    )]
    Route(RouteArguments),
    /// Say what in the changes is not done or does not belong there
    #[command(
        after_help = "`completeness` finds stubs, fake results, tests that assert nothing or less than before, dropped errors and commented-out code, in Rust, Python, JavaScript, TypeScript, Go, Java, C, C++, Ruby, PHP, C# and shell. `secrets` finds credentials in new lines. `scope` finds changed files that neither `--allow` nor the document of `--design` lists. `phantoms` finds imports and packages of Rust, Python, JavaScript, TypeScript and Go that no manifest, lock file, file or installed package shows to exist. `licences` finds new packages under licences that `--allow` does not name, by default the permissive ones. Three look at the document of `--design`: `mechanical` at its sections, paths, tables and size, `test-plan` at requirements without a test and tests that say nothing or are left to people, `implementation` at what changed and at the tests that were recorded to pass since. Without options a gate looks at what changed since the last commit, untracked files included.\n\nA comment allows a finding, with the reason: `checkrein: allow empty_body: the trait wants it`.\n\nEach line of a batch is a JSON object: `{\"language\": \"python\", \"code\": \"...\"}`. `in_test` says that it is from a test. The answer repeats its `id`, or else has the number of the line.\n\nExit status: 0 passed, 2 something was found or could not be looked at, 1 error. With `--batch`: 0 all lines answered, 1 some line is not a question.\n\nExamples:\n  checkrein gate completeness\n  checkrein gate completeness --since origin/main --form sarif\n  checkrein gate completeness --staged --strict\n  checkrein gate secrets --staged\n  checkrein gate scope --allow 'src/**' --allow Cargo.lock\n  checkrein gate completeness --batch functions.jsonl"
    )]
    Gate(GateArguments),
    /// Have gates look at what is pushed, as a hook of git
    #[command(after_help = "Examples:\n  checkrein push-hook install\n  checkrein push-hook remove")]
    PushHook {
        #[command(subcommand)]
        command: PushHookCommand,
    },
    /// Run agents, commands, gates and reviews in the order of a file
    #[command(
        after_help = "Examples:\n  checkrein pipeline check fix.yaml\n  checkrein pipeline run fix.yaml --input issue='the index is off by one'\n  checkrein pipeline run --resume"
    )]
    Pipeline {
        #[command(subcommand)]
        command: PipelineCommand,
    },
    /// Take an issue to a reviewed branch (humans only)
    #[command(
        after_help = "The steps: triage, design, review, specification, failing tests, code, gates, review, your approval, the text of a pull request. The task is named after the file. `checkrein pipeline run --resume` continues.\n\nExit status: as `checkrein pipeline run`.\n\nExamples:\n  checkrein task issues/off-by-one.md --input tests='cargo test' \\\n      --input runner=cargo\n  checkrein task issue.md --dry-run"
    )]
    Task(TaskArguments),
    /// Let a call pass that was asked about or refused (humans only)
    #[command(
        after_help = "Allows exactly this call, where it ran, while its effects and the files that it runs are the same: nothing else passes. Code and values that nobody sees beforehand pass once only. What the session, its limits and tripwires say still counts, what changes or deletes Checkrein itself stays refused, and what a rule of your own stops is changed there.\n\nExamples:\n  checkrein allow LAST --once\n  checkrein allow toolu_01 --always --in .\n  checkrein allow --list"
    )]
    Allow(AllowArguments),
    /// Say that a call was stopped without need (humans only)
    #[command(
        after_help = "Counts for the rules that stopped it, and shows which settings would have let it pass.\n\nExamples:\n  checkrein wrong LAST\n  checkrein wrong LAST --set 1"
    )]
    Wrong(OpinionArguments),
    /// Say that a call should have been stopped (humans only)
    #[command(
        after_help = "`LAST` is the newest call of this project that was let pass.\n\nExamples:\n  checkrein missed LAST\n  checkrein missed toolu_01 --set 1"
    )]
    Missed(OpinionArguments),
    /// Halt a session, or all, until a human resumes it
    #[command(
        after_help = "Ends an agent under `checkrein run`, with everything that it started. Any other agent has its next call refused, and all after it. Without this program, make a file named after the session, or `ALL`, in `halts/` of the state directory.\n\nExamples:\n  checkrein halt 4f3c --reason 'wrong branch'\n  checkrein halt --all"
    )]
    Halt {
        /// Start of the name of the session, or LAST
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        session: Option<String>,
        /// Halt every session, also those that start later
        #[arg(long)]
        all: bool,
        /// Take the halt back, as `resume` does
        #[arg(long, hide = true)]
        lift: bool,
        /// Reason for the agent and the records
        #[arg(long, default_value = crate::commands::halt::NO_REASON)]
        reason: String,
    },
    /// Let a halted session, or all, continue (humans only)
    #[command(
        after_help = "Limits and questions count from now on, in this session, and hold until you resume it again.\n\nExamples:\n  checkrein resume\n  checkrein resume 4f3c\n  checkrein resume 4f3c --with-limits\n  checkrein resume 4f3c --file-operations 10 --calls 30\n  checkrein resume 4f3c --ask command --ask file_write\n  checkrein resume --all"
    )]
    Resume {
        /// Start of the name of the session, or LAST [default: the only halted one]
        session: Option<String>,
        /// Resume every session
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        terms: TermsArguments,
    },
    /// Accept what this project's checkrein.yaml loosens (humans only)
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Also confirms your own configuration where it became looser, and the rules that running sessions wait for.\n\nExamples:\n  checkrein trust show\n  checkrein trust"
    )]
    Trust {
        /// Accept without asking
        #[arg(long)]
        yes: bool,
        #[command(subcommand)]
        command: Option<TrustCommand>,
    },
    /// Remove the hooks; keep the records
    #[command(
        after_help = "Says what it removes, and asks once. What serves all your projects stays without `--user` or `--client`. Files of yours beside the records stay.\n\nExamples:\n  checkrein uninstall               this project\n  checkrein uninstall --user --yes  all your projects, every client\n  checkrein uninstall --dry-run     show what would be removed\n  checkrein uninstall --purge       also delete the records and what was saved"
    )]
    Uninstall(UninstallArguments),
    /// List sessions, roll one back, plan a recovery
    #[command(
        after_help = "Examples:\n  checkrein session list\n  checkrein session rollback 4f3c --before 12\n  checkrein session recover 4f3c"
    )]
    Session {
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// List, compare, restore and keep snapshots
    #[command(
        after_help = "Examples:\n  checkrein snapshot list\n  checkrein snapshot diff 17 --patch\n  checkrein snapshot restore 17 src/main.rs"
    )]
    Snapshot {
        #[command(subcommand)]
        command: SnapshotCommand,
    },
    /// Inspect, merge and discard the worktrees of runs
    #[command(
        after_help = "Examples:\n  checkrein worktree list\n  checkrein worktree merge fix-12\n  checkrein worktree discard fix-12"
    )]
    Worktree {
        #[command(subcommand)]
        command: WorktreeCommand,
    },
    /// List and answer the calls that wait for you
    #[command(
        after_help = "Examples:\n  checkrein approval list\n  checkrein approval allow 9f31\n  checkrein approval deny 9f31 --message 'leave that'"
    )]
    Approval {
        #[command(subcommand)]
        command: ApprovalCommand,
    },
    /// Open, approve, verify and close changes of production
    #[command(
        after_help = "What is production stands below `production` in the configuration.\n\nExamples:\n  checkrein change open --issue OPS-12 --rollback 'helm rollback web' \\\n      --verify 'curl --fail https://example.com/health' \\\n      -- 'helm upgrade web ./chart --kube-context prod'\n  checkrein change approve 4f3c9a\n  checkrein change verify 4f3c9a"
    )]
    Change {
        #[command(subcommand)]
        command: ChangeCommand,
    },
    /// List emergency stops and show their reports
    #[command(after_help = "Examples:\n  checkrein incident list\n  checkrein incident show 20261121")]
    Incident {
        #[command(subcommand)]
        command: IncidentCommand,
    },
    /// List detected issues and mark false alarms
    #[command(
        after_help = "Examples:\n  checkrein issue list\n  checkrein issue mark 4f3c:118 false-alarm --note 'a poll that waits'\n  checkrein issue stats"
    )]
    Issue {
        #[command(subcommand)]
        command: IssueCommand,
    },
    /// List and close the actions flagged for you
    #[command(
        after_help = "Examples:\n  checkrein ticket list --open\n  checkrein ticket close 4f3c:17 --note 'as intended'"
    )]
    Ticket {
        #[command(subcommand)]
        command: TicketCommand,
    },
    /// List agents and their trust, and have one overseen more closely
    #[command(
        after_help = "Examples:\n  checkrein agent list\n  checkrein agent tier 1f2e3d4c5b6a 3 --note 'works on payments now'"
    )]
    Agent {
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// List changes that were not predicted
    #[command(after_help = "Example:\n  checkrein surprise list")]
    Surprise {
        #[command(subcommand)]
        command: SurpriseCommand,
    },
    /// Replay a recorded session through the review
    #[command(
        after_help = "Reads a transcript of Claude Code, Codex or Gemini CLI, or JSON Lines {\"id\", \"steps\": [{\"tool\", \"input\", ...}]}.\n\nExamples:\n  checkrein replay examples/session.jsonl\n  checkrein replay ~/.codex/sessions/2026/11/21/rollout-1.jsonl\n  checkrein replay examples/session.jsonl --against stricter.yaml"
    )]
    Replay {
        /// Recording; `-` reads standard input
        file: String,
        /// Show only where this configuration would decide otherwise
        #[arg(long, value_name = "FILE")]
        against: Option<String>,
        /// Add a goal of the session; repeatable
        #[arg(long = "goal", value_name = "TEXT")]
        goals: Vec<String>,
    },
    /// Show and check the configuration
    #[command(
        after_help = "Examples:\n  checkrein config show\n  checkrein config check\n  checkrein config preset solo"
    )]
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Show, check and test tripwires and blueprints
    #[command(after_help = "Examples:\n  checkrein policy show\n  checkrein policy try change.yaml")]
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Verify and export the records
    #[command(after_help = "Examples:\n  checkrein audit verify\n  checkrein audit export --help")]
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Keep the credentials of agents (humans only)
    #[command(after_help = "Example:\n  checkrein credential list")]
    Credential {
        #[command(subcommand)]
        command: CredentialCommand,
    },
    /// Send and test notices
    #[command(after_help = "Examples:\n  checkrein notice test\n  checkrein notice --help")]
    Notice {
        #[command(subcommand)]
        command: NoticeCommand,
    },
    /// Guard an MCP server; list and accept its tools
    #[command(
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true,
        disable_help_subcommand = true,
        after_help = "The client runs this in place of the server, and speaks MCP with it on standard input and output. Calls of tools are reviewed like those that hooks bring, secrets in results are masked, and a tool whose description changed is off until you accept it. `checkrein init --mcp` puts it before the servers of a client.\n\nExit status: that of the server; 1 it could not be started.\n\nExamples:\n  checkrein mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .\n  checkrein mcp list\n  checkrein mcp accept files"
    )]
    Mcp {
        #[command(flatten)]
        wanted: McpArguments,
        #[command(subcommand)]
        command: Option<McpCommand>,
    },
    /// Write, try, enable and list plugins
    #[command(
        after_help = "Examples:\n  checkrein plugin init todo-watch\n  checkrein plugin list\n  checkrein plugin enable --help"
    )]
    Plugin {
        #[command(subcommand)]
        command: PluginCommand,
    },
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  checkrein completions fish > ~/.config/fish/completions/checkrein.fish"
    )]
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Replace the programs by those of a release (humans only)
    #[command(
        after_help = "Fetches the archive for this machine, compares its checksum, and replaces both programs where they lie. Programs that a package manager installed are left to it.\n\nExamples:\n  checkrein update\n  checkrein update --version 0.2.0 --yes\n  checkrein update --from ~/Downloads/release"
    )]
    Update {
        /// Version [default: the newest]
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        /// Release to take, as an address or a directory
        #[arg(long, value_name = "URL|DIR")]
        from: Option<String>,
        /// Also replace newer programs by older ones
        #[arg(long)]
        allow_downgrade: bool,
        /// Replace without asking
        #[arg(long)]
        yes: bool,
    },
    /// Write the manual pages
    #[command(
        after_help = "One page for each command, with its options and examples. `man` finds them below a folder of its path, such as ~/.local/share/man.\n\nExample:\n  checkrein manual --to ~/.local/share/man/man1"
    )]
    Manual {
        /// Directory of the pages; made when it is missing
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
    },
    /// Answer one hook call; clients run this
    #[command(after_help = "Example:\n  checkrein hook claude < payload.json")]
    Hook {
        /// Client
        #[arg(value_parser = client_names())]
        client: String,
    },
    #[command(flatten)]
    Old(OldForm),
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Use your own settings: every project
    #[arg(long, conflicts_with_all = ["local", "team"])]
    pub(crate) user: bool,
    /// Use the committed settings of this project: everyone
    #[arg(long, conflicts_with = "local")]
    pub(crate) team: bool,
    /// Use your own settings in this project; the default (Claude Code)
    #[arg(long)]
    pub(crate) local: bool,
    /// Say in a few lines what would be written; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show every line that changes
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Client, or `all` [default: each that is found here]
    #[arg(long, value_name = "NAME", value_parser = client_names_or_all())]
    pub(crate) client: Option<String>,
    /// Also show the verdicts in the status line (Claude Code)
    #[arg(long)]
    pub(crate) statusline: bool,
    /// Also put the MCP servers of the client behind `checkrein mcp`
    #[arg(long)]
    pub(crate) mcp: bool,
    /// Hook program [default: `checkrein-hook` beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) hook: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArguments {
    /// Remove the hooks from your own settings: every project
    #[arg(long, conflicts_with_all = ["local", "team"])]
    pub(crate) user: bool,
    /// Remove them from the committed settings of this project
    #[arg(long, conflicts_with = "local")]
    pub(crate) team: bool,
    /// Remove them from your own settings in this project
    #[arg(long)]
    pub(crate) local: bool,
    /// Show what would be removed; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show every line that changes
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Remove without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Client, or `all` [default: each with hooks in this project]
    #[arg(long, value_name = "NAME", value_parser = client_names_or_all())]
    pub(crate) client: Option<String>,
    /// Also delete all records, and all that was saved for `undo`
    #[arg(long)]
    pub(crate) purge: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpinionArguments {
    /// Start of its id, SESSION:NUMBER, or LAST
    pub(crate) id: String,
    /// Write the proposed setting with this number
    #[arg(long, value_name = "NUMBER")]
    pub(crate) set: Option<usize>,
    /// Do not ask
    #[arg(short, long, requires = "set")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AllowArguments {
    /// Start of the id of the call, SESSION:NUMBER, or LAST
    #[arg(required_unless_present_any = ["list", "forget"])]
    pub(crate) id: Option<String>,
    /// For one call, within an hour [default]
    #[arg(long, conflicts_with_all = ["session", "always"])]
    pub(crate) once: bool,
    /// For the rest of its session
    #[arg(long, conflicts_with = "always")]
    pub(crate) session: bool,
    /// From now on
    #[arg(long)]
    pub(crate) always: bool,
    /// Directory at and below which it holds [default: where it ran]
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// List what is allowed
    #[arg(long, conflicts_with_all = ["id", "forget"])]
    pub(crate) list: bool,
    /// Take back what is allowed under this name
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    pub(crate) forget: Option<String>,
}

/// The words after `checkrein exec` alone: the command line of all commands together takes longer to build than a scope.
#[cfg(target_os = "linux")]
#[derive(Debug, Parser)]
#[command(name = "exec")]
pub(crate) struct ExecAlone {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) wanted: ExecArguments,
}
