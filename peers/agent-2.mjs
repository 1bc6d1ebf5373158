// An agent on the current TypeScript SDK (2.x).

import { agent, methods, ndJsonStream } from "acp-sdk-2";
import { connection, Sessions, versionOf } from "./sessions.mjs";

const sessions = new Sessions();
const sdk = versionOf("acp-sdk-2");

const talk = (client) => ({
  createTerminal: (params) => client.createTerminal(params),
  update: (params) => client.notify(methods.client.session.update, params),
  request: (method, params, options) => client.request(method, params, options),
});

agent({ name: "wharf-peer" })
  .onRequest(methods.agent.initialize, ({ params }) => sessions.initialize(params))
  .onRequest(methods.agent.session.new, ({ params }) => sessions.open(params))
  .onRequest(methods.agent.session.prompt, ({ params, client }) => sessions.turn(params, talk(client), sdk))
  .onNotification(methods.agent.session.cancel, () => {})
  .connect(connection(ndJsonStream).stream);
