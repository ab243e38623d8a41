import { type PathRow, paths } from '@vestra/contract/paths';
import { serverUrl } from '../address.ts';
import type { Request } from './rows.ts';

/** The call as a curl command. */
export function asCurl({ row, fields }: Request): string {
  const path = rowOf(row);
  const { params, query, body } = placed(path, fields);
  const address = path.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name] ?? `{${name}}`)),
  );
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  const lines = [
    `curl${path.method === 'GET' ? '' : ` -X ${path.method}`} ${quoted(`${serverUrl}${address}${search && `?${search}`}`)}`,
    `  -H "Authorization: Bearer $VESTRA_KEY"`,
  ];
  if (path.idempotent) lines.push(`  -H "Idempotency-Key: $(uuidgen)"`);
  return [...lines, ...bodyLines(path, body)].join(' \\\n');
}

/** The call with the TypeScript SDK. */
export function asSdk({ row, fields }: Request): string {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)));
  const argument = Object.keys(given).length === 0 ? '' : literal(withoutSecrets(given));
  return [
    ...(Object.values(given).some(isFile) ? [`import { openAsBlob } from 'node:fs';`] : []),
    `import { createClient } from '@vestra/sdk';`,
    '',
    `const vestra = createClient({ baseUrl: ${JSON.stringify(serverUrl)}, key: process.env.VESTRA_KEY });`,
    `const answer = await vestra.${row}(${argument});`,
  ].join('\n');
}

function rowOf(name: string): PathRow {
  const [family = '', operation = ''] = name.split('.');
  return paths[family]?.[operation] as PathRow;
}

function placed(row: PathRow, fields: Request['fields']) {
  const params: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    // In a body, null clears a field. In a URL, it is left out.
    const isInBody = !row.params?.includes(name) && !row.query?.includes(name);
    if (!isGiven(value) && !(isInBody && value === null)) continue;
    const place = row.params?.includes(name) ? params : isInBody ? body : query;
    place[name] = value;
  }
  return { params, query, body };
}

function bodyLines(row: PathRow, given: Record<string, unknown>): string[] {
  if (!row.body) return [];
  const { file, zip } = given;
  if (isFile(file)) {
    const parts = Object.entries(given).map(([name, value]) => `${name}=${isFile(value) ? `@${value.name}` : value}`);
    return parts.map((part) => `  -F ${quoted(part)}`);
  }
  if (isFile(zip)) return [`  -H 'Content-Type: application/zip'`, `  --data-binary ${quoted(`@${zip.name}`)}`];
  const body = row.body === 'value' ? given.body : given;
  if (body === undefined || (row.bodyOptional && Object.keys(given).length === 0)) return [];
  return [`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(withoutSecrets(body)))}`];
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';
const isFile = (value: unknown): value is File => value instanceof File;

/** Snippets end up in chats and tickets, so secrets are replaced. */
const secretFields = /^(password|.*_password|value|client_secret|api_key|secret|token)$/;

export const withoutSecrets = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || isFile(value)
    ? value
    : Array.isArray(value)
      ? value.map(withoutSecrets)
      : Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            name,
            typeof inner === 'string' && secretFields.test(name) ? '…' : withoutSecrets(inner),
          ]),
        );

/** A shell interprets nothing within single quotes except their end. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const fileMark = 'file of this machine: ';

const literal = (value: unknown) =>
  JSON.stringify(value, (_, inner) => (isFile(inner) ? `${fileMark}${inner.name}` : inner), 2)
    .replace(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll(new RegExp(`"${fileMark}((?:[^"\\\\]|\\\\.)*)"`, 'g'), 'await openAsBlob("$1")');
