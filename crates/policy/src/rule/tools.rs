//! Which tools a rule, a tripwire or a pattern is about.

/// What stands in front of the name of a tool of an MCP server, whichever client calls it.
const SERVERS: &str = "mcp__";
/// What stands between the server and the tool.
const BETWEEN: &str = "__";

/// Whether a list of tools holds this one. An empty list holds every tool; `mcp__SERVER` stands for all tools of an MCP server, and a `*`
/// at the end for any rest of a name.
pub(crate) fn holds(list: &[String], tool: &str) -> bool {
    list.is_empty() || list.iter().any(|named| is_meant(named, tool))
}

fn is_meant(named: &str, tool: &str) -> bool {
    match named.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => named == tool || is_server_of(named, tool),
    }
}

/// Whether a name is that of the MCP server that the tool belongs to.
fn is_server_of(named: &str, tool: &str) -> bool {
    let server = named.strip_prefix(SERVERS).unwrap_or_default();
    // Neither `mcp__` alone nor a tool: those are names like all others.
    let is_server = !server.is_empty() && !server.contains(BETWEEN);
    is_server && tool.strip_prefix(named).is_some_and(|rest| rest.starts_with(BETWEEN))
}

/// Returns the MCP server that a tool belongs to; `None` for every other tool.
pub(crate) fn server_of(tool: &str) -> Option<&str> {
    let (server, _) = tool.strip_prefix(SERVERS)?.split_once(BETWEEN)?;
    Some(server).filter(|server| !server.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds_of(named: &str, tools: [&str; 5]) -> [bool; 5] {
        tools.map(|tool| holds(&[named.to_owned()], tool))
    }

    #[test]
    fn a_list_names_tools_servers_and_beginnings() {
        let tools =
            ["mcp__github__delete_repo", "mcp__github__get", "mcp__github_two__get", "mcp__git__get", "Bash"];
        assert_eq!(holds_of("mcp__github", tools), [true, true, false, false, false]);
        assert_eq!(holds_of("mcp__github__*", tools), [true, true, false, false, false]);
        assert_eq!(holds_of("mcp__github__delete_*", tools), [true, false, false, false, false]);
        assert_eq!(holds_of("mcp__github__get", tools), [false, true, false, false, false]);
        assert_eq!(holds_of("mcp__*", tools), [true, true, true, true, false]);
        assert_eq!(holds_of("*", tools), [true; 5]);
        assert_eq!(holds_of("Bash", tools), [false, false, false, false, true]);
        for nobody in ["mcp__", "mcp", "", "Ba", "github"] {
            assert_eq!(holds_of(nobody, tools), [false; 5], "{nobody}");
        }
        assert!(holds(&[], "Bash"));
    }

    #[test]
    fn a_tool_tells_its_server() {
        assert_eq!(server_of("mcp__github__delete_repo"), Some("github"));
        assert_eq!(server_of("mcp__github__a__b"), Some("github"));
        for other in ["Bash", "mcp__github", "mcp____x", "mcp", "xmcp__a__b"] {
            assert_eq!(server_of(other), None, "{other}");
        }
    }
}
