// A window on one connection: every message that passes is written to a file, and requests can be sent that the SDK in
// use has no call for. It sits between an SDK and its byte stream and knows nothing of either.

import { openSync, writeSync } from "node:fs";

/** Whom a message goes to; what the recording says. */
const TO = { agent: "client", client: "agent" };

/**
 * Wraps the `{ readable, writable }` of messages that every generation of the SDK takes.
 *
 * `side` is who we are. `hear(message)` is called with everything received, before the SDK sees it.
 */
export function tap(stream, { side, record, hear = () => {} }) {
  const file = record === undefined ? undefined : openSync(record, "w");
  const note = (to, message) => {
    if (file !== undefined) writeSync(file, JSON.stringify({ to, message }) + "\n");
  };

  const writer = stream.writable.getWriter();
  const send = (message) => {
    note(TO[side], message);
    return writer.write(message);
  };
  const writable = new WritableStream({ write: send, close: () => writer.close(), abort: (why) => writer.abort(why) });

  // Requests of our own have ids that no SDK makes, and their answers are not for the SDK.
  const pending = new Map();
  const isOurs = (message) => message?.method === undefined && pending.has(message?.id);
  const readable = stream.readable.pipeThrough(
    new TransformStream({
      transform(message, controller) {
        note(side, message);
        hear(message);
        if (!isOurs(message)) return controller.enqueue(message);
        const { resolve, reject } = pending.get(message.id);
        pending.delete(message.id);
        if (message.error) reject(message.error);
        else resolve(message.result);
      },
    }),
  );

  const request = (method, params, { cancellationSignal } = {}) => {
    const id = `raw-${request.count++}`;
    const answer = new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
    send({ jsonrpc: "2.0", id, method, params });
    cancellationSignal?.addEventListener("abort", () =>
      send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } }),
    );
    return answer;
  };
  request.count = 0;
  return { stream: { readable, writable }, request };
}
