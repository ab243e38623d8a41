// The tool server of the IT desk: three tools over MCP, with tickets in memory. It needs no packages.
//   node tickets.js
//   TICKETS_TOKEN=… node tickets.js      only answers requests with this token
import { createServer } from 'node:http';

const { PORT = '8931', TICKETS_TOKEN } = process.env;
const versions = ['2025-11-25', '2025-06-18', '2025-03-26'];

const tickets = new Map([
  ['T-17', { id: 'T-17', title: 'The printer on floor 2 jams', status: 'open', owner: 'Mara' }],
  ['T-16', { id: 'T-16', title: 'New laptop for Jonas', status: 'closed', owner: 'Ines' }],
]);

const id = { type: 'string', description: 'The number of the ticket, such as T-17.' };
const tools = {
  find_ticket: {
    description: 'Finds a ticket by its number and returns its title, status and owner.',
    inputSchema: { type: 'object', properties: { id }, required: ['id'] },
    annotations: { readOnlyHint: true },
    run: ({ id }) => found(id),
  },
  open_ticket: {
    description: 'Opens a ticket with a title and returns its number.',
    inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    run({ title }) {
      const ticket = { id: `T-${tickets.size + 16}`, title, status: 'open', owner: null };
      tickets.set(ticket.id, ticket);
      return ticket;
    },
  },
  close_ticket: {
    description: 'Closes a ticket.',
    inputSchema: { type: 'object', properties: { id }, required: ['id'] },
    annotations: { destructiveHint: true, idempotentHint: true },
    run: ({ id }) => Object.assign(found(id), { status: 'closed' }),
  },
};

function found(number) {
  const ticket = tickets.get(number);
  if (!ticket) throw new Error(`There is no ticket ${number}.`);
  return ticket;
}

function call({ name, arguments: given = {} }) {
  const tool = tools[name];
  if (!tool) throw Object.assign(new Error(`There is no tool ${name}.`), { code: -32602 });
  try {
    return { content: [{ type: 'text', text: JSON.stringify(tool.run(given)) }] };
  } catch (error) {
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: versions.includes(protocolVersion) ? protocolVersion : versions[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'tickets', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, { run: _, ...shown }]) => ({ name, ...shown })) }),
  'tools/call': call,
};

function answer({ id, method, params = {} }) {
  try {
    const run = Object.hasOwn(methods, method) ? methods[method] : null;
    if (!run) throw Object.assign(new Error(`There is no method ${method}.`), { code: -32601 });
    return { jsonrpc: '2.0', id, result: run(params) };
  } catch ({ code = -32603, message }) {
    return { jsonrpc: '2.0', id, error: { code, message } };
  }
}

const server = createServer(async (request, response) => {
  const send = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
  if (TICKETS_TOKEN && request.headers.authorization !== `Bearer ${TICKETS_TOKEN}`) return send(401);
  if (new URL(request.url, 'http://localhost').pathname !== '/mcp') return send(404);
  if (request.method !== 'POST') return send(405);
  let text = '';
  for await (const chunk of request) text += chunk;
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return send(400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The body is not JSON.' } });
  }
  // A notification has no id and gets no answer.
  return message?.id === undefined ? send(202) : send(200, answer(message));
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`The ticket server is at http://127.0.0.1:${server.address().port}/mcp`),
);
