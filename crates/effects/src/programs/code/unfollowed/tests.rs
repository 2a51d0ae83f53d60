use super::families::Deed;
use super::{calls, families, operands};

/// What a text does: the deed, its paths, and whether there is more that is not known.
fn seen(language: &str, text: &str) -> Vec<(Deed, Vec<String>, bool)> {
    let family = families::of(language).unwrap();
    let pieces = operands::pieces(text, family);
    calls(&pieces, family)
        .into_iter()
        .map(|(found, deed)| {
            let given = found.given(&pieces, family, "/home/dev");
            (deed, given.paths, given.is_unknown)
        })
        .collect()
}

#[test]
fn paths_beside_a_function_are_found() {
    for (language, text, deed, path) in [
        ("kotlin", "java.io.File(\"/x/y\").deleteRecursively()", Deed::Delete, "/x/y"),
        (
            "kotlin",
            "java.io.File(System.getProperty(\"user.home\")).deleteRecursively()",
            Deed::Delete,
            "/home/dev",
        ),
        ("groovy", "def d = new File('/x')\nd.deleteDir()", Deed::Delete, "/x"),
        ("scala", "os.remove.all(os.home / \"Documents\")", Deed::Delete, "/home/dev/Documents"),
        ("bb", "(fs/delete-tree (fs/home))", Deed::Delete, "/home/dev"),
        ("clojure", "(def d \"/x\") (clojure.java.io/delete-file d)", Deed::Delete, "/x"),
        ("elixir", "File.rm_rf!(Path.expand(\"~/x\"))", Deed::Delete, "/home/dev/x"),
        ("elixir", "File.rm_rf!(\"_build\")", Deed::Delete, "_build"),
        (
            "rs",
            "let h = std::env::var(\"HOME\").unwrap();\nstd::fs::remove_dir_all(format!(\"{h}/x\")).unwrap();",
            Deed::Delete,
            "/home/dev/x",
        ),
        (
            "rs",
            "std::fs::remove_dir_all(format!(\"{}/x\", std::env::var(\"HOME\").unwrap())).unwrap();",
            Deed::Delete,
            "/home/dev/x",
        ),
        (
            "kotlin",
            "val home = System.getProperty(\"user.home\")\nFile(\"$home/x\").deleteRecursively()",
            Deed::Delete,
            "/home/dev/x",
        ),
        (
            "groovy",
            "def home = System.getProperty('user.home')\nnew File(\"${home}/x\").deleteDir()",
            Deed::Delete,
            "/home/dev/x",
        ),
        (
            "swift",
            "let home = NSHomeDirectory()\ntry FileManager.default.removeItem(atPath: \"\\(home)/x\")",
            Deed::Delete,
            "/home/dev/x",
        ),
        ("gradle", "delete System.getenv('HOME') + '/x', 'build'", Deed::DeleteOther, "/home/dev/x"),
        (
            "kotlin",
            "File(System.getProperty(\"user.home\") + \"/x\").appendText(\"y\")",
            Deed::Write,
            "/home/dev/x",
        ),
        ("go", "os.WriteFile(os.Getenv(\"HOME\")+\"/x\", []byte(\"y\"), 0o600)", Deed::Write, "/home/dev/x"),
        ("c", "snprintf(p, 300, \"%s/x\", getenv(\"HOME\")); unlink(p);", Deed::Delete, "/home/dev/x"),
        (
            "rs",
            "let mut p = PathBuf::from(std::env::var(\"HOME\").unwrap());\np.push(\"x\");\nstd::fs::remove_dir_all(&p).unwrap();",
            Deed::Delete,
            "/home/dev/x",
        ),
        ("elixir", "home = System.user_home()\nFile.rm_rf!(\"#{home}/x\")", Deed::Delete, "/home/dev/x"),
        (
            "go",
            "h, _ := os.UserHomeDir()\nos.RemoveAll(fmt.Sprintf(\"%s/x\", h))",
            Deed::Delete,
            "/home/dev/x",
        ),
        (
            "java",
            "String h = System.getProperty(\"user.home\");\nFileUtils.deleteDirectory(new File(String.format(\"%s/x\", h)));",
            Deed::Delete,
            "/home/dev/x",
        ),
        ("erl", "file:del_dir_r(\"/x\"), halt().", Deed::Delete, "/x"),
        ("julia", "rm(joinpath(homedir(), \"x\"); recursive=true)", Deed::Delete, "/home/dev/x"),
        ("ghc", "System.Directory.removePathForcibly \"/x\"", Deed::Delete, "/x"),
        (
            "swift",
            "import Foundation\ntry! FileManager.default.removeItem(atPath: NSHomeDirectory())",
            Deed::Delete,
            "/home/dev",
        ),
        ("crystal", "FileUtils.rm_rf(\"/x\")", Deed::Delete, "/x"),
        ("racket", "(delete-directory/files \"/x\")", Deed::Delete, "/x"),
        ("emacs", "(delete-directory \"~/x\" t)", Deed::Delete, "/home/dev/x"),
        ("tclsh", "file delete -force /x", Deed::Delete, "/x"),
        ("tclsh", "file delete -force $env(HOME)/x", Deed::Delete, "/home/dev/x"),
        ("swipl", "delete_directory_and_contents('/x')", Deed::Delete, "/x"),
        ("go", "h, _ := os.UserHomeDir()\nos.RemoveAll(h + \"/x\")", Deed::Delete, "/home/dev/x"),
        ("go", "os.RemoveAll(os.Getenv(\"HOME\"))", Deed::Delete, "/home/dev"),
        (
            "rs",
            "let p = std::env::var(\"HOME\").unwrap();\nstd::fs::remove_dir_all(p).unwrap();",
            Deed::Delete,
            "/home/dev",
        ),
        (
            "rs",
            "std::fs::remove_dir_all(std::env::var(\"HOME\").unwrap() + \"/x\").unwrap();",
            Deed::Delete,
            "/home/dev/x",
        ),
        ("c", "int main(void) { unlink(\"/x\"); }", Deed::Delete, "/x"),
        ("ghc", "readFile \".env\" >>= putStr", Deed::Read, ".env"),
        ("raku", "say slurp \".env\"", Deed::Read, ".env"),
        ("kotlin", "java.io.File(\"/x\").writeText(\"y\")", Deed::Write, "/x"),
    ] {
        let seen = seen(language, text);
        assert!(
            seen.iter().any(|(found, paths, _)| *found == deed && paths.iter().any(|found| found == path)),
            "{text}: {seen:?}"
        );
    }
}

#[test]
fn what_is_not_known_is_said_to_be() {
    for (language, text) in [
        ("groovy", "new File(base + '/x').deleteDir()"),
        ("julia", "for f in readdir(d)\n rm(f)\nend"),
        ("go", "os.RemoveAll(dir)"),
        ("clojure", "(run! clojure.java.io/delete-file files)"),
        ("ghc", "mapM_ removeFile names"),
    ] {
        let seen = seen(language, text);
        assert!(seen.iter().any(|(deed, _, unknown)| *deed == Deed::Delete && *unknown), "{text}: {seen:?}");
    }
}

#[test]
fn comments_texts_and_longer_names_do_nothing() {
    for (language, text) in [
        ("go", "// os.RemoveAll(\"/x\")"),
        ("kotlin", "println(\"deleteRecursively\")"),
        ("elixir", "IO.puts(\"File.rm_rf!\")"),
        ("rs", "fn my_remove_file(x: &str) {}"),
        ("emacs", "(my-delete-file-hook \"x\")"),
    ] {
        let seen = seen(language, text);
        assert!(seen.iter().all(|(deed, _, _)| *deed != Deed::Delete), "{text}: {seen:?}");
    }
}
