// What an agent does with terminals, one scenario a function. Each returns what it saw, in a form that does not depend on
// ids, times or the SDK, so that one table holds for every agent. `scenarios.py` is the same in Python.
//
// A terminal is the SDK's own handle: `id`, `currentOutput()`, `waitForExit()`, `kill()`, `release()`.

import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Nothing here takes this long; what does hangs. */
const GUARD = 20_000;
/** How long a process may outlive its terminal: until it was asked, and then told, to end. */
const GRACE = 6_000;

const status = (answer) => ({ exitCode: answer?.exitCode ?? null, signal: answer?.signal ?? null });
const bytes = (text) => Buffer.byteLength(text);

/** "ok", or the code of the error. */
const outcome = (promise) => promise.then(() => "ok", (error) => error.code ?? String(error));

/** Tries until it is so. There is no other way for an agent to learn of output. */
async function until(isSo, what, guard = GUARD) {
  for (const end = Date.now() + guard; ; await sleep(10)) {
    const found = await isSo();
    if (found) return found;
    if (Date.now() > end) throw new Error(`in vain: ${what}`);
  }
}

const printed = (terminal, text) =>
  until(async () => (await terminal.currentOutput()).output.includes(text), `output with ${text}`);

/** A zombie is not: it waits for a parent that may never ask, and does nothing any more. */
const isAlive = (pid) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** Whether a process is gone within the time that its end may take; afterwards it is, in any case. */
async function isGone(pid) {
  const gone = await until(() => !isAlive(pid), `end of ${pid}`, GRACE).catch(() => false);
  if (!gone) process.kill(pid, "SIGKILL");
  return Boolean(gone);
}

/** create → wait → output → release. */
async function run(agent, params) {
  const terminal = await agent.create(params);
  const exit = status(await terminal.waitForExit());
  const { output, truncated, exitStatus } = await terminal.currentOutput();
  await terminal.release();
  return { output, truncated, exit, exitStatus: status(exitStatus) };
}

const sh = (script, more) => ({ command: "sh", args: ["-c", script], ...more });

/** Asks for a command that leaves a mark. What was answered, and whether it ran nevertheless. */
async function refusal(agent, params) {
  const mark = join(agent.cwd, `mark-${refusal.count++}`);
  const answer = await outcome(agent.create(sh(`echo > '${mark}'`, params)));
  return { answer, ran: existsSync(mark) };
}
refusal.count = 0;

const toolCall = (toolCallId, terminal, more) => ({
  sessionUpdate: "tool_call",
  toolCallId,
  title: "Build",
  kind: "execute",
  status: "in_progress",
  content: [{ type: "terminal", terminalId: terminal.id }],
  ...more,
});
const toolUpdate = (toolCallId, more) => ({ sessionUpdate: "tool_call_update", toolCallId, ...more });

/** Prints, waits at a gate, prints again: what is shown in between is shown while it runs. */
function gated(agent, name) {
  const gate = join(agent.cwd, `gate-${name}`);
  const script = `echo first; until [ -e '${gate}' ]; do sleep 0.02; done; echo second`;
  return { script, open: () => writeFileSync(gate, "") };
}

export const scenarios = {
  async basics(agent) {
    const terminal = await agent.create({ command: "printf", args: ["%s\\n", "a  b", "$HOME", "*", "it's"] });
    const exit = status(await terminal.waitForExit());
    const { output, truncated, exitStatus } = await terminal.currentOutput();
    const released = await outcome(terminal.release());
    return { named: terminal.id.length > 0, exit, output, truncated, exitStatus: status(exitStatus), released };
  },

  async shell_line(agent) {
    return run(agent, { command: "for i in 1 2; do echo $i; done | tr '\\n' ' ' && (exit 3)" });
  },

  /** Two streams, one order. */
  async interleaved(agent) {
    return run(agent, sh("echo 1; echo 2 >&2; echo 3; echo 4 >&2"));
  },

  async spaced_path(agent) {
    const dir = join(agent.cwd, "a dir");
    const program = join(dir, "say hello");
    mkdirSync(dir, { recursive: true });
    writeFileSync(program, "#!/bin/sh\necho hello\n", { mode: 0o755 });
    return run(agent, { command: program });
  },

  /** An error or an end that is not success, but never silence and never success. */
  async no_such_program(agent) {
    const create = agent.create({ command: "no-such-program-anywhere", args: ["x"] });
    const terminal = await create.catch(() => undefined);
    if (!terminal) return { honest: true };
    const { exitCode } = status(await terminal.waitForExit());
    await terminal.release();
    return { honest: exitCode !== 0 && exitCode !== null };
  },

  async env_wins(agent) {
    const env = { TERM: "dumb", DEBIAN_FRONTEND: "mine", GREETING: "a b=c" };
    const list = Object.entries(env).map(([name, value]) => ({ name, value }));
    return run(agent, sh('echo "$TERM|$DEBIAN_FRONTEND|$GREETING"', { env: list }));
  },

  async bad_env(agent) {
    const named = (name) => refusal(agent, { env: [{ name, value: "x" }] });
    return { empty: await named(""), equals: await named("A=B"), nul: await named("A\0B") };
  },

  async session_cwd(agent) {
    const sub = join(agent.cwd, "sub");
    mkdirSync(sub, { recursive: true });
    const where = async (params) => (await run(agent, sh("pwd -P", params))).output.trimEnd();
    return {
      default: (await where({})) === realpathSync(agent.cwd),
      given: (await where({ cwd: sub })) === realpathSync(sub),
    };
  },

  async bad_cwd(agent) {
    const file = join(agent.cwd, "a file");
    writeFileSync(file, "");
    return {
      missing: await refusal(agent, { cwd: join(agent.cwd, "nowhere") }),
      file: await refusal(agent, { cwd: file }),
      relative: await refusal(agent, { cwd: "." }),
    };
  },

  async signal_death(agent) {
    const by = async (signal) => {
      const { exit, exitStatus } = await run(agent, sh(`kill -${signal} $$`));
      return { exit, exitStatus };
    };
    return { kill: await by("KILL"), term: await by("TERM"), segv: await by("SEGV") };
  },

  /** The protocol's own recipe. */
  async timeout(agent) {
    const terminal = await agent.create(sh("echo begun; exec sleep 300"));
    await printed(terminal, "begun");
    const wait = terminal.waitForExit();
    const first = await Promise.race([wait.then(() => "exit"), sleep(100, "timer")]);
    await terminal.kill();
    const { output, exitStatus } = await terminal.currentOutput();
    const exit = status(await wait);
    await terminal.release();
    return { first, output, exitStatus: status(exitStatus), exit };
  },

  async kill_is_quiet(agent) {
    const running = await agent.create(sh("exec sleep 300"));
    const first = await outcome(running.kill());
    const again = await outcome(running.kill());
    const exit = status(await running.waitForExit());
    const late = await outcome(running.kill());
    await running.release();

    const ended = await agent.create(sh("echo bye; exit 7"));
    await ended.waitForExit();
    const after = await outcome(ended.kill());
    const { output, exitStatus } = await ended.currentOutput();
    await ended.release();
    return { first, again, late, exit, ended: { kill: after, output, exitStatus: status(exitStatus) } };
  },

  /** A killed tree has no survivors, not even those that left the process group. */
  async kill_reaches_the_tree(agent) {
    const script = "sleep 301 & echo child $!; setsid sh -c 'echo escaped $$; exec sleep 302' & wait";
    const terminal = await agent.create(sh(script));
    const pid = async (name) => {
      const find = async () => (await terminal.currentOutput()).output.match(`${name} (\\d+)\n`);
      return Number((await until(find, name))[1]);
    };
    const [child, escaped] = [await pid("child"), await pid("escaped")];
    await terminal.kill();
    await terminal.release();
    return { child: await isGone(child), escaped: await isGone(escaped) };
  },

  async release_invalidates(agent) {
    const terminal = await agent.create(sh("echo $$; exec sleep 300"));
    await printed(terminal, "\n");
    const pid = Number((await terminal.currentOutput()).output);
    const pending = terminal.waitForExit().then(() => "answered", () => "answered");
    const release = await outcome(terminal.release());
    return {
      release,
      pending: await pending,
      output: await outcome(terminal.currentOutput()),
      wait: await outcome(terminal.waitForExit()),
      kill: await outcome(terminal.kill()),
      again: await outcome(terminal.release()),
      gone: await isGone(pid),
    };
  },

  async unknown_id(agent) {
    const ask = (method) => outcome(agent.request(`terminal/${method}`, { terminalId: "no-such-terminal" }));
    return {
      output: await ask("output"),
      wait: await ask("wait_for_exit"),
      kill: await ask("kill"),
      release: await ask("release"),
    };
  },

  /** A terminal belongs to its session. */
  async other_session(agent) {
    const terminal = await agent.create(sh("echo mine"));
    await terminal.waitForExit();
    const ask = (method, sessionId) =>
      outcome(agent.request(`terminal/${method}`, { sessionId, terminalId: terminal.id }));
    const seen = {
      output: await ask("output", agent.otherSessionId),
      kill: await ask("kill", agent.otherSessionId),
      release: await ask("release", agent.otherSessionId),
      unknownSession: (await ask("output", "no-such-session")) !== "ok",
      create: (await refusal(agent, { sessionId: "no-such-session" })).ran,
    };
    const { output } = await terminal.currentOutput();
    await terminal.release();
    return { ...seen, still: output };
  },

  async truncation(agent) {
    const keep = async (text, outputByteLimit) => {
      const { output, truncated } = await run(agent, { command: "printf", args: ["%s", text], outputByteLimit });
      return { output, truncated };
    };
    return {
      twoByteCut: await keep("ééééé", 5),
      fourByteCut: await keep("a😀😀", 7),
      noWholeCharacter: await keep("😀", 3),
      exact: await keep("0123456789", 10),
      oneOver: await keep("0123456789", 9),
      zero: await keep("0123456789", 0),
      zeroOfNothing: await keep("", 0),
    };
  },

  /** Characters that arrive in pieces; what was read stays as it was read. */
  async prefix_stable(agent) {
    const script = "for i in $(seq 40); do printf 'x\\303'; sleep 0.01; printf '\\251\\n'; done";
    const terminal = await agent.create(sh(script));
    let [last, stable, reads, ended] = ["", true, 0, false];
    const exit = terminal.waitForExit().then(() => (ended = true));
    while (!ended) {
      const { output } = await terminal.currentOutput();
      stable &&= output.startsWith(last);
      [last, reads] = [output, reads + 1];
      await sleep(5);
    }
    await exit;
    const { output } = await terminal.currentOutput();
    stable &&= output.startsWith(last);
    await terminal.release();
    return { stable, readOften: reads > 5, whole: output === "xé\n".repeat(40) };
  },

  /** What `wait` promises: the output is complete. */
  async large_output(agent) {
    const { output, truncated, exit } = await run(agent, {
      command: "seq",
      args: ["1", "200000"],
      outputByteLimit: 4 * 1024 * 1024,
    });
    return { bytes: bytes(output), last: output.slice(-7), truncated, exit };
  },

  async many_waits(agent) {
    const terminal = await agent.create(sh("echo here; exec sleep 300"));
    const waits = Array.from({ length: 300 }, () => terminal.waitForExit());
    await printed(terminal, "here");
    await terminal.kill();
    const answers = await Promise.all(waits);
    await terminal.release();
    return { answers: answers.length, kinds: [...new Set(answers.map((answer) => JSON.stringify(status(answer))))] };
  },

  async cancel_wait(agent) {
    const terminal = await agent.create(sh("exec sleep 300"));
    const wait = (options) => agent.request("terminal/wait_for_exit", { terminalId: terminal.id }, options);
    const controller = new AbortController();
    const cancelled = outcome(wait({ cancellationSignal: controller.signal }));
    let answered = false;
    const other = wait().finally(() => (answered = true));
    controller.abort();
    const seen = { cancelled: await cancelled, otherAnswered: answered };
    const running = (await terminal.currentOutput()).exitStatus == null;
    await terminal.kill();
    const exit = status(await other);
    await terminal.release();
    return { ...seen, running, exit };
  },

  async flood(agent) {
    const limit = 64 * 1024;
    const terminal = await agent.create({ command: "yes", args: [], outputByteLimit: limit });
    const full = await until(async () => {
      const answer = await terminal.currentOutput();
      return answer.truncated && answer;
    }, "a truncated output");
    await terminal.kill();
    const exit = status(await terminal.waitForExit());
    const { output, truncated } = await terminal.currentOutput();
    await terminal.release();
    const isYes = (text) => /^(\n?)(y\n)*y?$/.test(text);
    return {
      bounded: bytes(full.output) <= limit && bytes(output) <= limit,
      full: bytes(full.output) > limit - 4 && bytes(output) > limit - 4,
      yes: isYes(full.output) && isYes(output),
      truncated,
      exit,
    };
  },

  async stdin_at_eof(agent) {
    const line = await run(agent, { command: 'cat; echo "cat $?"; read x || echo nothing' });
    const argv = await run(agent, { command: "cat", args: ["-"] });
    return { line: line.output, argv: argv.exit };
  },

  /** The wait is for the command, not for whoever else holds its output. What stays goes with the terminal. */
  async background_child(agent) {
    const terminal = await agent.create({ command: "sleep 303 & echo $!" });
    const begin = Date.now();
    const exit = status(await terminal.waitForExit());
    const prompt = Date.now() - begin < 5_000;
    const pid = Number((await terminal.currentOutput()).output);
    await terminal.release();
    return { exit, prompt, gone: await isGone(pid) };
  },

  async unfinished_line(agent) {
    const heredoc = await run(agent, { command: "cat <<END\nhello" });
    const quote = await run(agent, { command: 'echo "hello' });
    return { heredoc: heredoc.output.includes("hello"), quoteFails: quote.exit.exitCode > 0 };
  },

  async embed(agent) {
    const { script, open } = gated(agent, "embed");
    const terminal = await agent.create(sh(script));
    await agent.update(toolCall("embed", terminal, { rawInput: { command: "build" } }));
    await printed(terminal, "first");
    // A viewer is shown the first line by now, or soon; nobody tells the agent.
    await sleep(300);
    open();
    const exit = status(await terminal.waitForExit());
    await agent.update(toolUpdate("embed", { status: "completed", rawOutput: { exitCode: 0 } }));
    await terminal.release();
    return { exit };
  },

  /** By an update, beside other content, and released before the call is over. */
  async embed_by_update(agent) {
    const { script, open } = gated(agent, "update");
    const text = { type: "content", content: { type: "text", text: "beside" } };
    await agent.update(toolCall("by-update", { id: "" }, { status: "pending", content: [text] }));
    const terminal = await agent.create(sh(`${script}; exit 4`));
    const content = [text, { type: "terminal", terminalId: terminal.id }];
    await agent.update(toolUpdate("by-update", { status: "in_progress", content }));
    await printed(terminal, "first");
    open();
    const exit = status(await terminal.waitForExit());
    await terminal.release();
    await agent.update(toolUpdate("by-update", { status: "failed" }));
    return { exit };
  },

  /** In the question whether it may go on. */
  async embed_in_permission(agent) {
    const { script, open } = gated(agent, "permission");
    const terminal = await agent.create(sh(script));
    await printed(terminal, "first");
    const { sessionUpdate: _, ...call } = toolCall("permission", terminal, { status: "pending" });
    const options = [{ optionId: "yes", name: "Go on", kind: "allow_once" }];
    const { outcome: chosen } = await agent.request("session/request_permission", { toolCall: call, options });
    open();
    const exit = status(await terminal.waitForExit());
    await agent.update(toolUpdate("permission", { status: "completed" }));
    await terminal.release();
    return { chosen, exit };
  },
};
