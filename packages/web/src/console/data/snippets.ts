import { type PathRow, paths } from '@vestra/contract/paths';
import { serverUrl } from '../address.ts';
import type { Request } from './rows.ts';

/** The call as a command that does the same with a key of the mode that is on show. */
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
  if (body !== undefined) {
    lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`);
  }
  return lines.join(' \\\n');
}

/** The same in TypeScript. */
export function asSdk({ row, fields }: Request): string {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)));
  const argument = Object.keys(given).length === 0 ? '' : literal(given);
  return [
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
    if (!isGiven(value)) continue;
    const place = row.params?.includes(name) ? params : row.query?.includes(name) ? query : body;
    place[name] = value instanceof Blob ? '<file>' : value;
  }
  return { params, query, body: row.body && (Object.keys(body).length > 0 || !row.bodyOptional) ? body : undefined };
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

/** Nothing within single quotes means anything to a shell, but their end. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const literal = (value: unknown) => JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
