import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Command } from '@vestra/contract/derive/commands';
import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import { z } from 'zod';
import { isUnforeseen, type Refusal, refusalOf, toldIfCutShort } from '../refusal.ts';
import { compositeTools } from './composite-tools.ts';
import { callRoute } from './route-tool.ts';
import { answered, type ToolArguments, type ToolCaller } from './tool-caller.ts';
import { allTools, isAllowed } from './tools.ts';

/** Runs a tool. What the API refuses is an answer of the tool, so that the model behind the client can read it. */
export async function callTool(name: string, given: ToolArguments, caller: ToolCaller): Promise<CallToolResult> {
  const tool = allTools().get(name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
  const { command } = tool;
  try {
    if (!isAllowed(command, caller.scopes)) throw missingScope(command);
    refuseUnknown(command, given);
    const composite = compositeTools[name];
    if (!composite) return await callRoute(command, given, caller);
    return answered(await composite(readArguments(command, given), caller));
  } catch (thrown) {
    const error = toldIfCutShort(thrown, caller.signal);
    if (isUnforeseen(error)) caller.logFault(error);
    return refused(namedAsGiven(refusalOf(error, caller.requestId), command));
  }
}

/** Where a refusal carries the API's error. */
const errorKey = 'vestra/error';

/**
 * Without `structuredContent`: clients check that against the tool's `outputSchema`, which an error does not match, and
 * would report the mismatch instead of the reason.
 */
function refused(refusal: Refusal): CallToolResult {
  const { code, message, param, request_id } = refusal;
  const where = param === undefined ? '' : ` (${param})`;
  return {
    isError: true,
    _meta: { [errorKey]: refusal },
    content: [{ type: 'text', text: `${code}${where}: ${message} Request ${request_id}.` }],
  };
}

function missingScope({ scopes }: Command) {
  const needed = Array.isArray(scopes) ? [...scopes, 'all'].join(' or ') : 'all';
  return fail('scope_missing', { message: `This tool needs a key with scope ${needed}.` });
}

function refuseUnknown({ arguments: taken }: Command, given: ToolArguments): void {
  for (const name of Object.keys(given)) {
    if (taken.some((argument) => argument.name === name)) continue;
    throw fail('invalid_request', { param: name, message: `Unknown argument \`${name}\`.` });
  }
}

function readArguments({ arguments: taken }: Command, given: ToolArguments): Record<string, unknown> {
  const schema = z.strictObject(Object.fromEntries(taken.map(({ name, schema: each }) => [name, each])));
  const read = check(schema, given, 'invalid_request');
  if (read.ok) return read.value;
  const [{ code, param, message }] = read.faults;
  throw fail(code, { param, message });
}

/** The API names the field of the request; whoever called the tool knows the argument. */
function namedAsGiven(refusal: Refusal, { arguments: taken }: Command): Refusal {
  if (refusal.param === undefined) return refusal;
  const [first, ...rest] = refusal.param.split('.');
  const name = taken.find(({ field }) => field === first)?.name ?? first;
  return { ...refusal, param: [name, ...rest].join('.') };
}
