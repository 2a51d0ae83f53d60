//! Reads a credential: a private key, a token, a password store, a `.env` file.

use checkrein_protocol::{Decision, Effect, EffectKind, Severity, Target};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_secret_read",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Reads a credential: a private key, a token, a password store, a `.env` file, a variable that holds a secret.",
        danger: "What an agent reads goes into its context, and from there to the provider of its model.",
        example: "cat ~/.aws/credentials",
        instead: "Ask whether a variable is set, or for its name, without printing its value.",
        limits: "Files are recognised by well-known places and names, variables by their names. A list of all variables is asked about when the \
                 environment holds one that names a secret. A search, a count or a copy over the files of the workspace that comes by a \
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
    let is_variable = |effect: &Effect| {
        effect.kind != EffectKind::SecretRead
            || matches!(&effect.target, Target::Service(name) if name.starts_with('$'))
    };
    if !secrets.is_empty() && !context.any(|effect| !is_variable(effect)) {
        let alternatives = [
            "ask whether it is set: `[ -n \"${NAME:+set}\" ] && echo set`; `compgen -e` prints the names of all variables without their values",
            "ask the person for what is needed",
        ];
        return Finding::on(secrets, RULE.name, Decision::Modify, reason, &alternatives);
    }
    let alternatives = [
        "read the example beside it if there is one (`.env.example`), or what the code asks for; `wc -l` shows how many settings there are",
        "ask the person for what is needed",
    ];
    Finding::on(secrets, RULE.name, Decision::Modify, reason, &alternatives)
}
