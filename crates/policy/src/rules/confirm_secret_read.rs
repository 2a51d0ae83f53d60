//! Reads a credential: a private key, a token, a password store, a `.env` file.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_secret_read",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Reads a credential: a private key, a token, a password store, a `.env` file.",
        danger: "What an agent reads goes into its context, and from there to the provider of its model.",
        example: "cat ~/.aws/credentials",
        instead: "Ask whether a variable is set, or for its name, without printing its value.",
        limits: "Files are recognised by well-known places and names. A search, a count or a copy over the files of the workspace that comes by a \
                 secret without naming it, and shows nothing of it, is not asked about.",
    },
    check,
    matches: &["secret_read /home/dev/.ssh/id_rsa", "secret_read /home/dev/proj/.env severity=medium"],
    ignores: &[
        "file_read /home/dev/proj/.env.example",
        "secret_read /home/dev/proj/fixture.key severity=low",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let secrets =
        context.select(|effect| effect.kind == EffectKind::SecretRead && effect.severity > Severity::Low);
    let reason = format!(
        "this reads {}{}, and whatever is read leaves the machine with the conversation",
        context.names(&secrets),
        context.note(&secrets)
    );
    let alternatives = [
        "read the example beside it if there is one (`.env.example`), or what the code asks for; `wc -l` shows how many settings there are",
        "ask the person for what is needed",
    ];
    Finding::on(secrets, RULE.name, Decision::Modify, reason, &alternatives)
}
