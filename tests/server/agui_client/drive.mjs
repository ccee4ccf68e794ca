// Drives a server with the official AG-UI client: node drive.mjs URL TOKEN THREAD TEXT [approve|deny]
// Prints one JSON object: every event of every run, and the client's own messages and pending interrupts.
import { HttpAgent, buildResumeArray } from "@ag-ui/client";

const [url, token, threadId, text, decision] = process.argv.slice(2);
const agent = new HttpAgent({ url, threadId, headers: { Authorization: `Bearer ${token}` } });
const runs = [];
const run = async (parameters) => {
  const events = [];
  runs.push(events);
  await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
};

agent.addMessage({ id: "m1", role: "user", content: text });
await run({});
const pending = agent.pendingInterrupts.map((interrupt) => interrupt.id);
if (decision) {
  const answer = { status: "resolved", payload: { approved: decision === "approve" } };
  const answers = Object.fromEntries(pending.map((id) => [id, answer]));
  await run({ resume: buildResumeArray(agent.pendingInterrupts, answers) });
}
console.log(JSON.stringify({ runs, pending, messages: agent.messages, left: agent.pendingInterrupts.length }));
