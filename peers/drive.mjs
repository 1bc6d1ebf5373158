// What the clients share: starts an agent, gives it one scenario after the other, and prints a line of JSON for each with
// everything that it sent meanwhile. Anything that is against the protocol makes the exit code 1.
//
//     node client-2.mjs [--meta] [--record FILE] --cwd DIR --scenario NAME … -- AGENT ARGS…

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "acp-sdk-2";
import { scenarios } from "./scenarios.mjs";
import { tap } from "./wire.mjs";

/** Nothing takes this long. */
const GUARD = 60_000;
/** Long enough for the handlers of what has arrived. */
const SETTLE = 5_000;

export function readArguments(flags = []) {
  const [own, agent] = [process.argv.slice(2), []];
  const end = own.indexOf("--");
  if (end >= 0) agent.push(...own.splice(end).slice(1));
  const options = { agent, scenarios: [], meta: false };
  while (own.length > 0) {
    const word = own.shift();
    if (word === "--meta" || flags.includes(word)) options[word.slice(2)] = true;
    else if (word === "--cwd") options.cwd = resolve(own.shift());
    else if (word === "--record") options.record = own.shift();
    else if (word !== "--scenario") options.scenarios.push(word);
  }
  if (options.scenarios.includes("all")) options.scenarios = Object.keys(scenarios);
  if (agent.length === 0 || !options.cwd || options.scenarios.length === 0) {
    console.error("usage: [--meta] [--record FILE] --cwd DIR --scenario NAME ... -- AGENT ARGS ...");
    process.exit(2);
  }
  return options;
}

/** Everything that went wrong, for the line that is printed next. */
class Trouble {
  count = 0;
  #unsaid = [];

  add(what) {
    this.count += 1;
    this.#unsaid.push(what);
  }

  take() {
    return this.#unsaid.splice(0);
  }
}

/** The updates of one prompt, and the report among them; an agent that is not of here makes none. */
class Turn {
  updates = [];
  permissions = [];
  report = null;

  add({ sessionId, update, _meta }) {
    this.updates.push({ sessionId, update, _meta });
    const { sessionUpdate, content } = update;
    if (sessionUpdate === "agent_message_chunk" && content.text?.startsWith("{")) this.report = JSON.parse(content.text);
  }
}

const guarded = (promise, what) => {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`no ${what}`)), GUARD)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/**
 * `equip(app)` adds what this client can beyond showing updates, and `capabilities` says so; `opened(sessionId)` tells it
 * of every session.
 */
export async function drive(options, { capabilities = {}, equip = () => {}, opened = () => {} } = {}) {
  mkdirSync(options.cwd, { recursive: true });
  const trouble = new Trouble();
  let turn = new Turn();
  // What does not fit the schema is received, but no handler is given it.
  let [received, handled] = [0, 0];
  const hear = (message) => {
    if (message.method === "session/update") received += 1;
    if (message.method?.startsWith("terminal/") && !capabilities.terminal) trouble.add(`${message.method} was sent here`);
  };

  const app = client({ name: "wharf-peer" })
    .onNotification(methods.client.session.update, ({ params }) => {
      handled += 1;
      turn.add(params);
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      turn.permissions.push(params);
      return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
    });
  equip(app);

  const child = spawn(options.agent[0], options.agent.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const gone = new Promise((done) => child.on("exit", (code, signal) => done(code ?? signal)));
  child.on("error", (error) => trouble.add(String(error)));
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const { agent } = app.connect(tap(stream, { side: "client", record: options.record, hear }).stream);

  try {
    const sessions = await guarded(open(agent, options, capabilities), "session");
    sessions.forEach(opened);
    for (const scenario of options.scenarios) {
      turn = new Turn();
      await play(agent, sessions[0], scenario, trouble);
      await quiet(() => received === handled);
      const { report, updates, permissions } = turn;
      console.log(JSON.stringify({ scenario, report, updates, permissions, errors: trouble.take() }));
    }
  } catch (error) {
    trouble.add(String(error?.message ?? error));
  }

  child.stdin.end();
  const code = await guarded(gone, "end of the agent").catch((error) => (child.kill("SIGKILL"), error.message));
  if (code !== 0) trouble.add(`the agent ended with ${code}`);
  if (received !== handled) trouble.add(`${received - handled} of ${received} updates do not fit the schema`);
  for (const what of trouble.take()) console.error(what);
  process.exit(trouble.count === 0 ? 0 : 1);
}

/** The SDK hands over the answer to a prompt before updates that came earlier: those are waited for, but not for ever. */
async function quiet(isSo) {
  for (const end = Date.now() + SETTLE; !isSo() && Date.now() < end; ) await new Promise(setImmediate);
}

/** Two sessions in the same directory: one to work in, one whose terminals are somebody else's. */
async function open(agent, { cwd, meta }, capabilities) {
  const clientCapabilities = { ...capabilities, ...(meta && { _meta: { terminal_output: true } }) };
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
  const session = () => agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  return [(await session()).sessionId, (await session()).sessionId];
}

async function play(agent, sessionId, scenario, trouble) {
  const prompt = [{ type: "text", text: scenario }];
  const answer = agent.request(methods.agent.session.prompt, { sessionId, prompt });
  const { stopReason } = await guarded(answer, "answer to the prompt");
  if (stopReason !== "end_turn") trouble.add(`stopped: ${stopReason}`);
}
