import type { RouteRow } from '../api.ts';
import type { ExampleCall } from '../examples/step.ts';
import { consoleCookie } from '../members.ts';
import { paths } from '../paths.ts';

export type CodeSample = { lang: string; label: string; source: string };

type Call = ExampleCall & { row: RouteRow };

/** The example of an operation as code. Calls with the console's cookie are made by browsers, so only curl shows them. */
export function codeSamples(row: RouteRow, example: ExampleCall): CodeSample[] {
  const call = { ...example, row };
  const curl = { lang: 'Shell', label: 'curl', source: asCurl(call) };
  if (credentialOf(call) === 'console') return [curl];
  return [
    curl,
    { lang: 'TypeScript', label: 'TypeScript', source: asTypeScript(call) },
    { lang: 'Python', label: 'Python', source: asPython(call) },
  ];
}

type Credential = 'key' | 'session' | 'console' | 'none';

function credentialOf({ as, row: { route } }: Call): Credential {
  if (as === 'nobody' || route.auth === 'open') return 'none';
  if (as === 'console' || route.auth === 'console') return 'console';
  return as === 'session' || route.auth === 'session' ? 'session' : 'key';
}

function asCurl(call: Call): string {
  const { params = {}, query = {}, headers = {}, body, file, row } = call;
  const { method, path, idempotent, accepts = ['application/json'] } = row.route;
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  const address = `"$VESTRA_URL${place}${search && `?${search}`}"`;
  const credential = credentialOf(call);
  const sent = Object.entries(headers).map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`);
  if (credential === 'key' || credential === 'session')
    sent.unshift(`-H "Authorization: Bearer $${credential === 'key' ? 'VESTRA_KEY' : 'SESSION_TOKEN'}"`);
  if (credential === 'console') {
    sent.unshift(`-b "${consoleCookie}=$CONSOLE_COOKIE"`);
    if (method !== 'GET') sent.push('-H "X-CSRF-Token: $CSRF_TOKEN"');
  }
  if (idempotent) sent.push('-H "Idempotency-Key: $(uuidgen)"');
  if (file) {
    sent.push(`-F ${shellText(`file=@${file.name}`)}`);
    for (const [name, value] of Object.entries((body ?? {}) as object))
      sent.push(`-F ${shellText(`${name}=${value}`)}`);
  } else if (body !== undefined) {
    const isForm = accepts[0] === 'application/x-www-form-urlencoded';
    if (isForm) {
      for (const [name, value] of Object.entries(body as object))
        sent.push(`--data-urlencode ${shellText(`${name}=${value}`)}`);
    } else {
      sent.push("-H 'Content-Type: application/json'", `-d ${shellText(jsonText(body))}`);
    }
  }
  const start = method === 'GET' || (method === 'POST' && body !== undefined) || file ? 'curl' : `curl -X ${method}`;
  return [`${start} ${address}`, ...sent].join(' \\\n  ');
}

function jsonText(body: unknown): string {
  const line = JSON.stringify(body);
  return line.length < 70 ? line : JSON.stringify(body, null, 2);
}

/** A shell interprets nothing within single quotes except their end. */
const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The fields of the call under the names of the SDKs. */
function fieldsOf({ params, query, body, row: { family, operation } }: Call): Record<string, unknown> {
  const isWhole = paths[family]?.[operation]?.body === 'value';
  const sent = body === undefined ? {} : isWhole ? { body } : (body as object);
  return { ...params, ...query, ...sent };
}

const waitOf = ({ headers = {} }: Call): number | null => {
  const [, seconds] = /^wait=(\d+)$/.exec(headers.Prefer ?? '') ?? [];
  return seconds === undefined ? null : Number(seconds);
};

function asTypeScript(call: Call): string {
  const { file, row } = call;
  const fields = fieldsOf(call);
  const credential = credentialOf(call);
  const members = Object.entries(fields).map(([name, value]) => `${keyText(name)}: ${literal(value, '  ')}`);
  if (file) members.push(`file: await openAsBlob(${stringText(file.name)})`);
  const options = optionsOf(call).map(([name, value]) => `${name}: ${literal(value, '')}`);
  const isShort = members.every((member) => !member.includes('\n')) && members.join(', ').length < 60;
  const fieldsText = isShort ? `{ ${members.join(', ')} }` : `{\n  ${members.join(',\n  ')},\n}`;
  const given = members.length > 0 ? fieldsText : '{}';
  const optionsText = options.length > 0 ? `, { ${options.join(', ')} }` : '';
  const passed = members.length + options.length === 0 ? '' : given + optionsText;
  const key = credential === 'session' ? '{ key: process.env.SESSION_TOKEN }' : '';
  return [
    ...(file ? ["import { openAsBlob } from 'node:fs';"] : []),
    "import { createClient } from '@vestra/sdk';",
    '',
    `const vestra = createClient(${key});`,
    `const result = await vestra.${row.name}(${passed});`,
    'console.log(result);',
  ].join('\n');
}

function optionsOf(call: Call): [string, unknown][] {
  const wait = waitOf(call);
  const { Prefer: _, ...headers } = call.headers ?? {};
  return [
    ...(wait === null ? [] : ([['wait', wait]] as [string, unknown][])),
    ...(Object.keys(headers).length === 0 ? [] : ([['headers', headers]] as [string, unknown][])),
  ];
}

const keyText = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : stringText(name));

const stringText = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return stringText(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((each) => literal(each, inner))
    : Object.entries(value).map(([name, each]) => `${keyText(name)}: ${literal(each, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }'];
  const line = `${open}${parts.join(', ')}${close}`;
  if (parts.length === 0) return open.trim() + close.trim();
  if (line.length < 70 && !line.includes('\n')) return line;
  return `${open.trim()}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close.trim()}`;
}

const pythonKeywords = new Set(['from', 'as', 'in', 'is', 'class', 'import', 'global', 'with']);

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function asPython(call: Call): string {
  const { params = {}, file, row } = call;
  const fields = Object.entries(fieldsOf(call)).filter(([name]) => !(name in params));
  const credential = credentialOf(call);
  const positional = Object.values(params).map((value) => pythonLiteral(value, ''));
  const named = fields.map(
    ([name, value]) => `${pythonKeywords.has(name) ? `${name}_` : name}=${pythonLiteral(value, '    ')}`,
  );
  if (file) named.push(`file=Path(${JSON.stringify(file.name)})`);
  for (const [name, value] of optionsOf(call))
    named.push(`${name === 'headers' ? 'extra_headers' : name}=${pythonLiteral(value, '    ')}`);
  const all = [...positional, ...named];
  const line = all.join(', ');
  const given = line.length < 70 && !line.includes('\n') ? line : `\n    ${all.join(',\n    ')},\n`;
  const key = credential === 'session' ? 'api_key=os.environ["SESSION_TOKEN"]' : '';
  return [
    ...(key ? ['import os'] : []),
    ...(file ? ['from pathlib import Path'] : []),
    ...(key || file ? [''] : []),
    'from vestra import Vestra',
    '',
    `client = Vestra(${key})`,
    `result = client.${snake(row.family)}.${snake(row.operation)}(${given})`,
    'print(result)',
  ].join('\n');
}

function pythonLiteral(value: unknown, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const parts = Array.isArray(value)
    ? value.map((each) => pythonLiteral(each, inner))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const line = `${open}${parts.join(', ')}${close}`;
  if (line.length < 70 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
