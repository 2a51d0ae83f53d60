// Written by `checkrein init`; `checkrein uninstall` removes it.
// Asks the hook program of checkrein about every tool call. Without an answer in time the call is refused.
import { spawn } from "node:child_process"

const LINE = CHECKREIN_LINE
const LIMIT_MS = 20000

function ask(payload) {
  return new Promise((resolve) => {
    let output = ""
    let said = ""
    let child
    let timer
    const end = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    const refuse = (why) =>
      end({ decision: "deny", unanswered: true, reason: said.trim() || "checkrein did not answer, so this is refused: " + why })
    timer = setTimeout(() => {
      refuse("no answer in " + LIMIT_MS + " ms")
      try {
        process.kill(-child.pid, "SIGKILL")
      } catch {}
    }, LIMIT_MS)
    try {
      child = spawn("/bin/sh", ["-c", LINE], { stdio: ["pipe", "pipe", "pipe"], detached: true })
    } catch (error) {
      return refuse(String(error))
    }
    child.on("error", (error) => refuse(String(error)))
    // The program may end without reading.
    child.stdin.on("error", () => {})
    // A letter may come in two parts.
    child.stdout.setEncoding("utf8")
    child.stderr.setEncoding("utf8")
    child.stdout.on("data", (data) => (output += data))
    child.stderr.on("data", (data) => (said += data))
    child.on("close", (code, signal) => {
      if (code !== 0) return refuse(signal ? "ended by " + signal : "exit status " + code)
      try {
        const answer = JSON.parse(output)
        if (answer.decision === "deny") return end({ decision: "deny", reason: String(answer.reason || "refused by checkrein") })
        if (answer.decision === "pass") return end(answer)
      } catch {}
      refuse("the answer is not understood")
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Checkrein = async ({ directory }) => {
  const parents = new Map()
  const notes = new Map()
  const base = (name, session) => {
    const parent = parents.get(session)
    return { hook_event_name: name, session_id: parent || session, agent_id: parent ? session : undefined, cwd: directory }
  }
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await ask({
        ...base("PreToolUse", input.sessionID),
        tool_name: input.tool,
        tool_input: output.args,
        tool_use_id: input.callID,
      })
      if (answer.decision !== "pass") throw new Error(answer.reason)
      if (answer.context) notes.set(input.callID, answer.context)
      if (answer.input) {
        // In place: a new object would not be seen.
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, answer.input)
      }
    },
    "tool.execute.after": async (input, output) => {
      const answer = await ask({
        ...base("PostToolUse", input.sessionID),
        tool_name: input.tool,
        tool_input: input.args ?? {},
        tool_use_id: input.callID,
        tool_response: { output: output.output, exit: output.metadata?.exit },
      })
      const said = [notes.get(input.callID), answer.context].filter(Boolean).join("\n")
      notes.delete(input.callID)
      if (answer.decision !== "pass") output.output = answer.reason
      else if (said) output.output = said + "\n\n" + output.output
    },
    "chat.message": async (input, output) => {
      const text = output.parts.filter((part) => part.type === "text").map((part) => part.text).join("\n")
      const answer = await ask({ ...base("UserPromptSubmit", input.sessionID), prompt: text })
      // A prompt changes nothing: without an answer it goes on, and each call of its turn is refused and says why.
      if (answer.decision !== "pass" && !answer.unanswered) throw new Error(answer.reason)
    },
    event: async ({ event }) => {
      if (event.type === "session.created") {
        const info = event.properties.info
        if (info.parentID) parents.set(info.id, parents.get(info.parentID) || info.parentID)
        else await ask({ ...base("SessionStart", info.id), source: "startup" })
      }
      if (event.type === "session.idle" && !parents.has(event.properties.sessionID))
        await ask(base("Stop", event.properties.sessionID))
    },
  }
}
