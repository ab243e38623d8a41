import { randomUUID } from 'node:crypto';
import { type JsonRecord, recordOf, textOf } from './json.ts';
import type { WrittenCall } from './wire.ts';

type Open = { call: WrittenCall; wireId: string; index: number | null };

/**
 * Assembles tool calls from their pieces. Servers number them, or not, or number all of them 0. They repeat id and name
 * in every piece, or send empty ones, or send the name late. Calls are kept in the order of their numbers.
 */
export function createCallPieces(calls: WrittenCall[]): (piece: JsonRecord) => void {
  const open: Open[] = [];
  return (piece) => {
    const { name, arguments: json } = recordOf(piece.function);
    const id = textOf(piece.id).trim();
    const index = typeof piece.index === 'number' ? piece.index : null;
    const called = textOf(name).trim();
    const given = textOf(json);
    const known = open.findLast((each) => isOf(each, id, index)) ?? (called || id ? undefined : open.at(-1));
    if (known && !beginsAnew(known, id, called, given)) {
      known.call.name ||= called;
      known.call.arguments += given;
      return;
    }
    const call = { id: id || `call_${randomUUID()}`, name: called, arguments: given };
    const later = index === null ? -1 : open.findIndex((each) => each.index !== null && each.index > index);
    const at = later === -1 ? open.length : later;
    open.splice(at, 0, { call, wireId: id, index });
    calls.splice(at, 0, call);
  };
}

const isOf = (of: Open, id: string, index: number | null) =>
  index !== null && of.index !== null ? of.index === index : id !== '' && of.wireId === id;

/** A second name starts a new call: that of another tool, or one after complete arguments. */
function beginsAnew({ call, wireId }: Open, id: string, name: string, json: string): boolean {
  if (!name || !call.name) return false;
  if (name !== call.name) return true;
  return isComplete(call.arguments) && ((id !== '' && id !== wireId) || json.trimStart().startsWith('{'));
}

function isComplete(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
