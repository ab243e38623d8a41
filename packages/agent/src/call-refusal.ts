import { completeArguments } from './call-arguments.ts';
import type { ToolCall } from './message.ts';
import type { ToolRunner } from './ports.ts';
import type { CallResult } from './step.ts';
import { decisionOf, type Tool } from './tool.ts';

const largestArguments = 256 * 1024;
const deepestArguments = 64;
/** Longer than any prefixed tool name of a server. */
const longestName = 200;

/**
 * Returns the call as it is recorded, with a result if it is rejected immediately. Arguments that are too large are not
 * recorded, so the rejection must be written together with the call.
 */
export async function receiveCall(
  call: ToolCall,
  tool: Tool | undefined,
  validate: ToolRunner['validate'],
): Promise<{ call: ToolCall; result: CallResult | null }> {
  const named = { ...call, name: call.name.slice(0, longestName) };
  const unreadable = unreadableArguments(call.arguments);
  if (unreadable !== null) {
    return { call: { ...named, arguments: unreadable.kept }, result: refused(unreadable.message) };
  }
  const allowed = allowedTool(call, tool);
  if ('refusal' in allowed) return { call: named, result: allowed.refusal };
  const complete = { ...call, arguments: completeArguments(call.arguments, allowed.tool.definition.inputSchema) };
  const validity = await validate(complete, allowed.tool);
  return {
    call: complete,
    result: validity.kind === 'ok' ? null : refused(`The arguments do not fit. ${validity.message}`),
  };
}

/** Checked again before the tool runs, because the lists may have changed while the call waited. */
export function allowedTool(call: ToolCall, tool: Tool | undefined): { tool: Tool } | { refusal: CallResult } {
  if (tool === undefined) {
    return { refusal: refused(`There is no tool named ${JSON.stringify(call.name.slice(0, longestName))}.`) };
  }
  if (decisionOf(tool) === 'refuse') return { refusal: refused('This tool may not be called. Do not try again.') };
  return { tool };
}

const refused = (output: string): CallResult => ({ output, isError: true, from: 'run' });

function unreadableArguments(given: unknown): { message: string; kept: unknown } | null {
  if (isDeeperThan(deepestArguments, given)) {
    return { message: `The arguments are nested more than ${deepestArguments} levels deep.`, kept: {} };
  }
  const bytes = Buffer.byteLength(JSON.stringify(given) ?? '');
  if (bytes > largestArguments) {
    return { message: `The arguments have ${bytes} bytes; at most ${largestArguments} are taken.`, kept: {} };
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { message: 'The arguments are not a JSON object.', kept: given ?? null };
  }
  return null;
}

/** Walks level by level: recursion on such a value would overflow the stack. */
function isDeeperThan(levels: number, value: unknown): boolean {
  let current = [value].filter(isObject);
  for (let depth = 0; current.length > 0; depth += 1) {
    if (depth >= levels) return true;
    current = current.flatMap((each) => Object.values(each).filter(isObject));
  }
  return false;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
