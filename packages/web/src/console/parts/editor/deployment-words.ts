import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Diagnostic } from '@codemirror/lint';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { check } from '@vestra/contract/fault';
import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { z } from 'zod';

type Json = { [key: string]: unknown };

/** A fault of the file: which field, and what is wrong with it. */
export type FileFault = { param: string; message: string };

/** What is wrong with the text, in the words that the server would say it in, each at its place. */
export function faultsIn(text: string): Diagnostic[] {
  const document = parseDocument(text);
  if (document.errors.length > 0) {
    return document.errors.map(({ pos: [from, to], message }) => ({
      from,
      to: Math.max(to, from + 1),
      severity: 'error',
      message: message.split('\n')[0] ?? message,
    }));
  }
  const checked = check(deploymentFile, document.toJS(), 'invalid_manifest');
  return checked.ok ? [] : placedFaults(document, checked.faults);
}

/** Faults at the places of the fields that they name. */
export const placedIn = (text: string, faults: readonly FileFault[]): Diagnostic[] =>
  placedFaults(parseDocument(text), faults);

function placedFaults(document: Document, faults: readonly FileFault[]): Diagnostic[] {
  return faults.map(({ param, message }) => {
    const [from, to] = rangeOf(document, param === '' ? [] : param.split('.'));
    return {
      from,
      to: Math.max(to, from + 1),
      severity: 'error',
      message: param === '' ? message : `${param}: ${message}`,
    };
  });
}

/** The place of a field, or of what is nearest around it that is there. */
function rangeOf(document: Document, path: readonly string[]): [number, number] {
  let node: unknown = document.contents;
  let range: [number, number] = [0, 1];
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String((key as { value?: unknown }).value ?? key) === step);
      if (!pair) return range;
      const key = pair.key as { range?: [number, number, number] };
      if (key.range) range = [key.range[0], key.range[1]];
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      const item = node as { range?: [number, number, number] } | undefined;
      if (item?.range) range = [item.range[0], Math.min(item.range[1], item.range[0] + 1)];
    } else return range;
  }
  const last = node as { range?: [number, number, number] } | null;
  return last?.range && !isMap(node) && !isSeq(node) ? [last.range[0], last.range[1]] : range;
}

let schema: Json | undefined;
const wholeSchema = () =>
  (schema ??= z.toJSONSchema(deploymentFile, { io: 'input', unrepresentable: 'any' }) as unknown as Json);

/** The fields that may stand where the cursor is, or the values that its field takes. */
export function completeField(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const value = /^(\s*(?:- )?)([\w$]+):\s+([\w-]*)$/.exec(before);
  if (value) {
    const [, indent = '', key = '', typed = ''] = value;
    const field = fieldsAt(pathAbove(context, line.number, indent.length))[key];
    const options = valuesOf(field).map((label): Completion => ({ label, type: 'enum' }));
    return options.length === 0 ? null : { from: context.pos - typed.length, options };
  }
  const key = /^(\s*(?:- )?)([\w$]*)$/.exec(before);
  if (!key || (!context.explicit && key[2] === '')) return null;
  const fields = fieldsAt(pathAbove(context, line.number, (key[1] ?? '').length));
  const options = Object.entries(fields).map(
    ([label, field]): Completion => ({
      label,
      apply: `${label}: `,
      type: 'property',
      detail: typeof field.type === 'string' ? field.type : '',
      ...(typeof field.description === 'string' && { info: field.description }),
    }),
  );
  return options.length === 0 ? null : { from: context.pos - (key[2] ?? '').length, options };
}

/** The names of the fields around a line, outermost first: those above it that are indented less. */
function pathAbove({ state }: CompletionContext, lineNumber: number, indent: number): string[] {
  const path: string[] = [];
  let within = indent;
  for (let number = lineNumber - 1; number > 0 && within > 0; number--) {
    const found = /^(\s*)(- )?([\w$]+):/.exec(state.doc.line(number).text);
    if (!found) continue;
    const [, spaces = '', dash = '', key = ''] = found;
    if (spaces.length + dash.length >= within) continue;
    path.unshift(key);
    within = dash ? spaces.length : spaces.length + dash.length;
  }
  return path;
}

function fieldsAt(path: readonly string[]): Record<string, Json> {
  let here: Json[] = [wholeSchema()];
  for (const step of path)
    here = here.flatMap(propertiesOf).flatMap((fields) => (fields[step] ? [fields[step] as Json] : []));
  return Object.assign({}, ...here.flatMap(propertiesOf));
}

/** The properties of an object, of the items of a list, and of each of several forms. */
function propertiesOf(node: Json): Record<string, Json>[] {
  const forms = [
    ...((node.anyOf as Json[]) ?? []),
    ...((node.oneOf as Json[]) ?? []),
    ...((node.allOf as Json[]) ?? []),
  ];
  const items = node.items ? [node.items as Json] : [];
  const own = node.properties ? [node.properties as Record<string, Json>] : [];
  return [...own, ...[...forms, ...items].flatMap(propertiesOf)];
}

function valuesOf(field: Json | undefined): string[] {
  if (!field) return [];
  if (Array.isArray(field.enum)) return field.enum.map(String);
  if (field.const !== undefined) return [String(field.const)];
  if (field.type === 'boolean') return ['true', 'false'];
  return ((field.anyOf as Json[]) ?? []).flatMap(valuesOf);
}
