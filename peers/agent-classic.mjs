// An agent on the TypeScript SDKs before 2.0: a class with a method for each request, and `AgentSideConnection`.

import { connection, Sessions } from "./sessions.mjs";

export function serve({ AgentSideConnection, ndJsonStream }, sdk) {
  const sessions = new Sessions();
  const { stream, request } = connection(ndJsonStream);
  const talk = (client) => ({
    createTerminal: (params) => client.createTerminal(params),
    update: (params) => client.sessionUpdate(params),
    // The oldest can send no request but those it knows by name, and cancel none.
    request: client.request ? (...args) => client.request(...args) : request,
  });
  new AgentSideConnection(
    (client) => ({
      initialize: async (params) => sessions.initialize(params),
      newSession: async (params) => sessions.open(params),
      prompt: (params) => sessions.turn(params, talk(client), sdk),
      cancel: async () => {},
      authenticate: async () => ({}),
    }),
    stream,
  );
}
