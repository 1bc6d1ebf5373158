// Terminals on `child_process`: what an author of a client writes who has read the specification. Two pipes, a string
// that grows, a process group that is signalled.
//
// What it leaves open, as its like do: the order of the two streams, and processes that leave the group.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { methods, RequestError } from "acp-sdk-2";

const DEFAULT_LIMIT = 1024 * 1024;
/** Between the polite signal and the other. */
const GRACE = 2_000;
/** How long output may come after the exit, when somebody else holds the pipe. */
const DRAIN = 200;

class Terminal {
  #output = "";
  #truncated = false;
  #status;

  constructor(child, sessionId, limit, drain) {
    Object.assign(this, { child, sessionId, limit });
    for (const pipe of [child.stdout, child.stderr]) {
      // Decodes across chunks.
      pipe.setEncoding("utf8");
      pipe.on("data", (text) => this.#append(text));
    }
    const closed = new Promise((done) => child.once("close", done));
    this.exited = new Promise((done) => {
      child.once("error", (error) => {
        this.#append(`${error.message}\n`);
        done({ exitCode: 127, signal: null });
      });
      child.once("exit", async (exitCode, signal) => {
        if (drain) await Promise.race([closed, sleep(DRAIN)]);
        done({ exitCode, signal });
      });
    }).then((status) => (this.#status = status));
  }

  #append(text) {
    this.#output += text;
    const over = Buffer.byteLength(this.#output) - this.limit;
    if (over <= 0) return;
    const kept = Buffer.from(this.#output);
    let start = over;
    // On to where a character begins.
    while (start < kept.length && (kept[start] & 0xc0) === 0x80) start += 1;
    this.#output = kept.toString("utf8", start);
    this.#truncated = true;
  }

  answer() {
    return { output: this.#output, truncated: this.#truncated, exitStatus: this.#status };
  }

  async kill() {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), GRACE);
    await this.exited;
    clearTimeout(timer);
  }

  signal(name) {
    try {
      process.kill(-this.child.pid, name);
    } catch {
      // Nobody is left in the group.
    }
  }
}

export class Terminals {
  #terminals = new Map();
  #released = new Set();
  #cwds = new Map();
  #drain;

  constructor({ drain }) {
    this.#drain = drain;
  }

  open(sessionId, cwd) {
    this.#cwds.set(sessionId, cwd);
  }

  equip(app) {
    const { create, output, waitForExit, kill, release } = methods.client.terminal;
    app
      .onRequest(create, ({ params }) => this.#create(params))
      .onRequest(output, ({ params }) => this.#find(params).answer())
      .onRequest(waitForExit, ({ params, signal }) => cancellable(this.#find(params).exited, signal))
      .onRequest(kill, ({ params }) => this.#find(params).kill())
      .onRequest(release, ({ params }) => this.#release(params));
  }

  /** Nothing stays behind. */
  end() {
    for (const terminal of this.#terminals.values()) terminal.signal("SIGKILL");
  }

  #create({ sessionId, command, args = [], env = [], cwd, outputByteLimit }) {
    const sessionCwd = this.#cwds.get(sessionId);
    if (sessionCwd === undefined) throw RequestError.resourceNotFound(sessionId);
    check(cwd == null || isAbsolute(cwd), "cwd is not absolute");
    check(cwd == null || isDirectory(cwd), "cwd is not a directory");
    for (const { name } of env) check(name !== "" && !/[=\0]/.test(name), "not the name of a variable");

    const isLine = args.length === 0 && !isProgram(command);
    const [program, argv] = isLine ? ["/bin/sh", ["-c", command]] : [command, args];
    const child = spawn(program, argv, {
      cwd: cwd ?? sessionCwd,
      env: { ...process.env, PAGER: "cat", GIT_PAGER: "cat", ...Object.fromEntries(env.map((v) => [v.name, v.value])) },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const terminalId = randomUUID();
    const limit = outputByteLimit ?? DEFAULT_LIMIT;
    this.#terminals.set(terminalId, new Terminal(child, sessionId, limit, this.#drain));
    return { terminalId };
  }

  #find({ sessionId, terminalId }) {
    const terminal = this.#terminals.get(terminalId);
    if (terminal?.sessionId !== sessionId) throw RequestError.resourceNotFound(terminalId);
    return terminal;
  }

  async #release({ sessionId, terminalId }) {
    if (this.#released.has(terminalId)) return;
    const terminal = this.#find({ sessionId, terminalId });
    this.#terminals.delete(terminalId);
    this.#released.add(terminalId);
    await terminal.kill();
  }
}

const check = (isSo, why) => {
  if (!isSo) throw RequestError.invalidParams(undefined, why);
};

const isDirectory = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return path.includes("/") && statSync(path).isFile();
  } catch {
    return false;
  }
};

/** The end of the command, or of the wait for it. The request and its cancellation may have come together. */
const cancellable = (exited, signal) =>
  new Promise((resolve, reject) => {
    const cancel = () => reject(RequestError.requestCancelled());
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel);
    exited.then(resolve);
  });
