//! The commands that make a report of coverage, by the manifests that a project has at its root.

/// Manifests, and the command that leaves a report at a usual place there. Sources: the documentation of pytest-cov, cargo-llvm-cov, `go help
/// testflag`, the plugins of JaCoCo for Maven and Gradle, PHPUnit, gcovr.
const BY_MANIFEST: [(&[&str], &str); 7] = [
    (
        &["pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt"],
        "pytest --cov --cov-report=xml",
    ),
    (&["Cargo.toml"], "cargo llvm-cov --lcov --output-path lcov.info"),
    (&["go.mod"], "go test ./... -coverprofile=coverage.out"),
    (&["pom.xml"], "mvn test jacoco:report"),
    (&["build.gradle", "build.gradle.kts"], "gradle test jacocoTestReport"),
    (&["composer.json"], "vendor/bin/phpunit --coverage-cobertura cobertura.xml"),
    (&["CMakeLists.txt", "Makefile", "meson.build"], "gcovr --cobertura cobertura.xml"),
];

/// Returns the commands that make a report for a project. `has` tells whether a file stands at its root, `package` is the text of its
/// `package.json`, where it has one.
pub fn coverage_commands(has: impl Fn(&str) -> bool, package: Option<&str>) -> Vec<&'static str> {
    let of_node = package.map(|package| match package {
        text if text.contains("\"vitest\"") => "npx vitest run --coverage --coverage.reporter=lcov",
        text if text.contains("\"jest\"") => "npx jest --coverage",
        _ => "npx c8 --reporter=lcov npm test",
    });
    let mut commands: Vec<&str> = BY_MANIFEST
        .iter()
        .filter(|(manifests, _)| manifests.iter().any(|manifest| has(manifest)))
        .map(|(_, command)| *command)
        .collect();
    // A Makefile beside another manifest only starts its tools.
    if commands.len() > 1 || of_node.is_some() {
        commands
            .retain(|command| !command.starts_with("gcovr") || has("CMakeLists.txt") || has("meson.build"));
    }
    commands.extend(of_node);
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_project_is_told_its_own_command() {
        let of = |files: &[&str], package| coverage_commands(|name| files.contains(&name), package);
        assert_eq!(
            of(&["setup.cfg", "Makefile"], None),
            ["pytest --cov --cov-report=xml", "gcovr --cobertura cobertura.xml"][..1]
        );
        assert_eq!(of(&["Makefile"], None), ["gcovr --cobertura cobertura.xml"]);
        assert_eq!(of(&["Cargo.toml", "pom.xml"], None).len(), 2);
        let node = |package| of(&["package.json", "Makefile"], Some(package));
        assert_eq!(node("{\"devDependencies\": {\"jest\": \"30\"}}"), ["npx jest --coverage"]);
        assert_eq!(
            node("{\"devDependencies\": {\"vitest\": \"4\"}}"),
            ["npx vitest run --coverage --coverage.reporter=lcov"]
        );
        assert_eq!(node("{}"), ["npx c8 --reporter=lcov npm test"]);
        assert!(of(&[], None).is_empty());
    }
}
