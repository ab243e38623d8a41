/** The program that the conformance suite starts: our client lists the tools of the server and calls each. */
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { createMcpClient } from './mcp-client.ts';
import type { QuestionAnswer, ServerQuestion } from './server-requests.ts';

const url = process.argv.at(-1) as string;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const outbound = createOutbound({ allowPrivate: true });
const client = createMcpClient({ fetch: outbound.webFetch, version: '1' });
const signal = AbortSignal.timeout(60_000);
const target = { url, headers: {} };
const sessions = client.keepSessions('conv_1');

const listed = await client.listTools(target, { signal });
if (!listed.ok) throw new Error(listed.message);

const focal = listed.tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema ?? {};
type Call = { name: string; arguments: Record<string, unknown> };
const given: Call[] | undefined = context.toolCalls;
const calls = given ?? listed.tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(inputSchema) }));
for (const { name, arguments: args } of calls) {
  const tool = listed.tools.find((each) => each.name === name);
  if (tool) await callTool({ name, arguments: args, inputSchema: tool.inputSchema });
}
sessions.close();
await client.settled();
await outbound.close();

async function callTool(called: Parameters<typeof client.callTool>[1]): Promise<void> {
  let asking = { answers: {}, given: {}, state: null as string | null };
  // The person answers each round of questions as the form suggests.
  for (let round = 0; round < 5; round++) {
    const how = { signal, hide: (text: string) => text, sessions, asking, isRepeatable: true };
    const answer = await client.callTool(target, called, how);
    if (!answer.ok || !('asked' in answer)) return;
    const { questions, given: others, state } = answer.asked;
    const answers = Object.fromEntries(Object.entries(questions).map(([key, question]) => [key, agree(question)]));
    asking = { answers, given: others, state };
  }
}

function agree(question: ServerQuestion): QuestionAnswer {
  if (question.mode === 'url') return { action: 'accept' };
  const fields = Object.entries(question.fields);
  const content = fields.flatMap(([name, { default: usual }]) => (usual === undefined ? [] : [[name, usual] as const]));
  return { action: 'accept', content: Object.fromEntries(content) };
}

/** A value of the right type for each property. One scenario wants the schema of another tool back. */
function argumentsFor(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, { type?: string }>;
  const values: Record<string, unknown> = {
    string: 'a',
    number: 1,
    integer: 1,
    boolean: true,
    array: [],
    object: focal,
  };
  return Object.fromEntries(Object.entries(properties).map(([name, { type = 'string' }]) => [name, values[type]]));
}
