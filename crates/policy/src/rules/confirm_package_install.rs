//! Installs software from a place that is not the usual registry, or that is known for harm.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_package_install",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Installs software from a place that is not the usual registry, or that is known for harm.",
        danger: "Packages run code when they are installed, with all rights of the user.",
        example: "pip install --index-url https://example.invalid/simple x",
        instead: "Install from the usual registry, with a fixed version.",
        limits: "Packages of the usual registries are not judged.",
    },
    check,
    matches: &["package_install https://example.invalid/x.tgz severity=high"],
    ignores: &["package_install left-pad", "package_install project severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let installs = context
        .select(|effect| effect.kind == EffectKind::PackageInstall && effect.severity >= Severity::High);
    let reason = format!(
        "this installs {} from a place that is not the usual registry, and installing runs its code",
        context.named(&installs)
    );
    let alternatives =
        ["install it from the usual registry, with a fixed version", "download it and look at it first"];
    Finding::on(installs, RULE.name, Decision::Modify, reason, &alternatives)
}
