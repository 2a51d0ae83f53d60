//! Reads a credential: a private key, a token, a password store, a `.env` file.

use checkrein_protocol::{Decision, Effect, EffectKind, Nature, Severity, Target};

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
    // What is sent elsewhere is not shown to the model, and another rule says where it goes.
    let is_sent = context.any(|effect| effect.kind == EffectKind::DataUpload);
    // A file that the same command writes is nothing to a secret that does not go into it.
    let is_written = context.writes_secret || context.any(|effect| effect.nature == Nature::SweptIntoFile);
    let end = match (is_sent, is_written) {
        (true, _) => "",
        (false, true) => ", and its content would go into another file or to the model provider",
        (false, false) => ", and its content would go to the model provider",
    };
    let reason = format!("this reads {}{end}", context.named(&secrets));
    let is_variable = |effect: &Effect| {
        effect.kind != EffectKind::SecretRead
            || matches!(&effect.target, Target::Service(name) if name.starts_with('$'))
    };
    if !secrets.is_empty() && !context.any(|effect| !is_variable(effect)) {
        let alternatives = [
            "ask whether it is set: `[ -n \"${NAME:+set}\" ] && echo set`; `compgen -e` prints the names of all variables without their values",
            "ask the user for the value that the task needs",
        ];
        return Finding::on(secrets, RULE.name, Decision::Modify, reason, &alternatives);
    }
    let read = context.effects.iter().filter(|effect| effect.kind == EffectKind::SecretRead);
    let holds: Vec<Holding> = read.map(|effect| Holding::of(&effect.target)).collect();
    let is_all = |wanted: Holding| holds.iter().all(|holding| *holding == wanted);
    let instead = if is_all(Holding::Settings) {
        "read the example beside it if there is one (`.env.example`), or what the code asks for; `wc -l` shows how many settings there are"
    } else if is_all(Holding::SshKey) {
        "`ls -l` shows whether it is there, `ssh-keygen -lf KEY.pub` the fingerprint of its public half; programs that need it read it themselves"
    } else {
        "`ls -l` shows whether it is there; programs that need it read it themselves"
    };
    let alternatives = [instead, "ask the user for the value that the task needs"];
    Finding::on(secrets, RULE.name, Decision::Modify, reason, &alternatives)
}

/// What a secret file holds, as far as it matters to what can be done instead of reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holding {
    /// Settings line by line, such as `.env`.
    Settings,
    /// A key of SSH, which has a public half beside it.
    SshKey,
    /// Anything else, or nobody knows what.
    Other,
}

impl Holding {
    fn of(target: &Target) -> Self {
        let Some(path) = target.path() else { return Self::Other };
        let name = path.name().unwrap_or_default();
        if name == ".env" || name.starts_with(".env.") || name == ".envrc" || name.ends_with(".env") {
            Self::Settings
        } else if path.parts().any(|part| part == ".ssh") || name.starts_with("id_") {
            Self::SshKey
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::AbsolutePath;

    use super::*;

    #[test]
    fn what_a_file_holds_is_told_by_its_name() {
        use Holding::{Other, Settings, SshKey};
        for (path, holding) in [
            ("/p/.env", Settings),
            ("/p/.env.local", Settings),
            ("/p/.envrc", Settings),
            ("/p/prod.env", Settings),
            ("/home/dev/.ssh/work", SshKey),
            ("/p/id_rsa", SshKey),
            ("/p/server.pem", Other),
            ("/home/dev/.aws/credentials", Other),
        ] {
            assert_eq!(Holding::of(&Target::Path(AbsolutePath::new(path).unwrap())), holding, "{path}");
        }
        assert_eq!(Holding::of(&Target::Unknown), Other);
    }
}
