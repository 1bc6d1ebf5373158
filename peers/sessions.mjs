// What the agents on every generation of the TypeScript SDK share: sessions, and a turn that runs the scenario which the
// prompt names and reports what it saw as one JSON document. How to talk to the client is the SDK's business.

import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { scenarios } from "./scenarios.mjs";
import { tap } from "./wire.mjs";

/** Our own standard streams, as the SDK wants them. `--record FILE` keeps what passes. */
export function connection(ndJsonStream) {
  const [flag, record] = process.argv.slice(2);
  const stream = ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
  return tap(stream, { side: "agent", record: flag === "--record" ? record : undefined });
}

/** The version of an installed SDK. */
export function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url))).version;
}

export class Sessions {
  #cwds = new Map();
  #capabilities;

  initialize({ clientCapabilities }) {
    this.#capabilities = clientCapabilities;
    return { protocolVersion: 1, agentCapabilities: {} };
  }

  open({ cwd }) {
    const sessionId = `session-${this.#cwds.size + 1}`;
    this.#cwds.set(sessionId, cwd);
    return { sessionId };
  }

  /** `client` has `createTerminal(params)`, `request(method, params, options)` and `update(params)`. */
  async turn({ sessionId, prompt }, client, sdk) {
    const name = prompt.find((block) => block.type === "text").text.trim();
    const agent = this.#view(sessionId, client);
    const report = { scenario: name, sdk, capabilities: this.#capabilities };
    try {
      if (!scenarios[name]) throw new Error(`there is no scenario ${name}`);
      if (!this.#capabilities?.terminal) throw new Error("the client has no terminals");
      report.seen = await scenarios[name](agent);
    } catch (error) {
      report.failed = { code: error.code, message: String(error.message ?? error), data: error.data };
    }
    await agent.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: JSON.stringify(report) } });
    return { stopReason: "end_turn" };
  }

  /** All that a scenario may use. */
  #view(sessionId, client) {
    return {
      cwd: this.#cwds.get(sessionId),
      sessionId,
      otherSessionId: [...this.#cwds.keys()].find((id) => id !== sessionId),
      create: (params) => client.createTerminal({ sessionId, ...params }),
      update: (update) => client.update({ sessionId, update }),
      request: (method, params, options) => client.request(method, { sessionId, ...params }, options),
    };
  }
}
