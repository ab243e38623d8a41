/** Writes the files that are generated from the contract and the tree. With `--check` it only reports outdated ones. */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type RouteRow, routes } from '@vestra/contract/api';
import { apiPages } from '@vestra/contract/derive/api-pages';
import { hiddenFields } from '@vestra/contract/derive/session-view';
import { errorRemedies } from '@vestra/contract/error-remedies';
import { type ErrorCode, errorCatalogue } from '@vestra/contract/errors';
import { sessionInteractions } from '@vestra/contract/interactions';
import { sessionAccessOf } from '@vestra/contract/route';
import { callsModule } from './client-calls.ts';
import { eventsPage } from './events-page.ts';
import { isFixed } from './fixed-fields.ts';
import { moduleTable } from './module-table.ts';
import { pythonModules } from './python/modules.ts';

const root = join(import.meta.dirname, '..');

/** Null: a file to be deleted. */
const documents: Record<string, string | null> = {
  'CONTRIBUTING.md': contributing(),
  'docs/routes.md': routesDocument(),
  'docs/errors.md': errorsDocument(),
  'docs/events.md': eventsPage(),
  'docs/session-access.md': sessionAccessDocument(),
  ...apiPages(),
  'packages/contract/src/paths.ts': pathsModule(),
  'packages/sdk/src/calls.ts': callsModule(),
  // A chart reads only files in its folder.
  'deploy/helm/vestra/files/alerts.yaml': read('deploy/prometheus/alerts.yaml'),
  ...withVersion(),
  ...pythonModules(),
};

const stale = Object.entries(documents).filter(([file, text]) => read(file) !== text);
if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} is out of date: run npm run fix`);
  process.exit(stale.length === 0 ? 0 : 1);
}
for (const [file, text] of stale) write(join(root, file), text);
console.log(
  stale.length === 0 ? 'generated files are up to date' : `written: ${stale.map(([file]) => file).join(', ')}`,
);

/** A file of the release. */
function tarballName(): RegExp {
  return /(?<=vestra-(?:sdk-|react-)?)\d+\.\d+\.\d+(?=\.tgz)/g;
}

/** Writes the version of package.json into the files that name it. */
function withVersion(): Record<string, string> {
  const { version } = JSON.parse(read('package.json') ?? '');
  const named: [string, RegExp][] = [
    ['deploy/Dockerfile', /(?<=^ARG VERSION=).*/gm],
    ['deploy/compose.yaml', /(?<=VESTRA_IMAGE:-vestra:)[\d.]+/g],
    ['deploy/helm/vestra/Chart.yaml', /(?<=^(?:appV|v)ersion: ).*/gm],
    ['docs/getting-started.md', tarballName()],
    ['README.md', tarballName()],
    ['docs/python.md', /(?<=vestra-)\d+\.\d+\.\d+(?=-py3)/g],
    ['docs/sdk.md', tarballName()],
    ['docs/cli.md', tarballName()],
    ['docs/functions.md', tarballName()],
    ['docs/embedding.md', tarballName()],
    ['docs/production.md', /(?<=\bvestra(?:-api)?[-:])\d+\.\d+\.\d+(?=\.tgz| dist| --target)/g],
    ...globSync('deploy/helm/rendered/*', { cwd: root }).map((file): [string, RegExp] => [
      file,
      /(?<=vestra(?:-api)?[-:]|\/version: ")\d+\.\d+\.\d+/g,
    ]),
  ];
  return Object.fromEntries(named.map(([file, places]) => [file, (read(file) ?? '').replace(places, version)]));
}

/** Hand-written, except for the map between its two marks. */
function contributing(): string {
  const marked = /(?<=<!-- modules[^>]*-->\n)[\s\S]*(?=<!-- end of modules -->)/;
  return (read('CONTRIBUTING.md') ?? '').replace(marked, () => moduleTable());
}

function routesDocument(): string {
  const families = new Map<string, string[]>();
  for (const { family, route } of routes) {
    const scope = route.auth === 'key' ? [route.scopes, route.session ? 'session' : []].flat().join(', ') : route.auth;
    const command = route.command ? `\`${route.command}\`` : '';
    const row = `| \`${route.method} ${route.path}\` | ${scope} | ${route.summary} | ${command} |`;
    families.set(family, [...(families.get(family) ?? []), row]);
  }
  const sections = [...families].map(([family, rows]) =>
    [`## ${family}`, '', '| route | scope | purpose | command |', '|---|---|---|---|', ...rows].join('\n'),
  );
  return `${['# Routes', 'Every route with its required scope, its purpose and its CLI command. Scope `all` includes every scope. Generated from the contract.', ...sections].join('\n\n')}\n`;
}

function errorsDocument(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} | ${errorRemedies[code as ErrorCode]} |`,
  );
  const table = ['| status | code | problem | remedy |', '|---|---|---|---|', ...rows].join('\n');
  return `${['# Errors', 'Every error code with its meaning and remedy. Branch on `code`; the sentence may change. Generated from the contract.', table].join('\n\n')}\n`;
}

function sessionAccessDocument(): string {
  const rows = routes.flatMap(({ route }) => {
    const access = sessionAccessOf(route);
    if (!access) return [];
    const needs = access.needs === 'itself' ? 'nothing' : either(access.needs);
    const [sends, hidden] = [access.sends, hiddenFields(route)].map((names) => names.map(code).join(', ') || '–');
    return [`| \`${route.method} ${route.path}\` | ${needs} | ${sends} | ${hidden} |`];
  });
  const interactions = Object.entries(sessionInteractions).map(
    ([type, needs]) => `| \`${type}\` | ${needs.length === 0 ? 'never' : either(needs)} |`,
  );
  return `${[
    '# Session tokens',
    'Generated from the contract. A session token belongs to a user, never to the company. Everything not listed here returns\n403 `session_scope`, and `param` names the field.',
    '## Routes',
    ['| route | needs | may send | never shown |', '|---|---|---|---|', ...rows].join('\n'),
    'In every response and event, an error has its code and a sentence for users instead of the one for operators. The events\nof a conversation omit the same fields of turns, messages, tasks and interactions.',
    '## Interactions',
    ['| type | capability to see and answer it |', '|---|---|', ...interactions].join('\n'),
  ].join('\n\n')}\n`;
}

function code(name: string): string {
  return `\`${name}\``;
}

function either(needs: readonly string[]): string {
  return needs.map(code).join(' or ');
}

/** Formatted like the formatter's output, which checks this file too. */
function pathsModule(): string {
  const families = [...new Set(routes.map(({ family }) => family))].map((family) => {
    const rows = routes.filter((row) => row.family === family).map(pathRow);
    return [`  ${family}: {`, ...rows, '  },'].join('\n');
  });
  return `/** Generated by \`npm run fix\` from the table of routes, without schemas. */
export type PathRow = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  params?: readonly string[];
  query?: readonly string[];
  /** \`fields\`: a fixed set of names that differ from params and query; \`value\`: anything else. */
  body?: 'fields' | 'value';
  bodyOptional?: true;
  /** Content types of the body. Default: only JSON. */
  accepts?: readonly string[];
  /** Further content types of the response besides JSON. */
  produces?: readonly string[];
  idempotent?: true;
  streams?: true;
};

/** By family and operation. */
export const paths: Readonly<Record<string, Readonly<Record<string, PathRow>>>> = {
${families.join('\n')}
};
`;
}

function pathRow({ operation, route }: RouteRow): string {
  const fields: [string, string | readonly string[] | true | undefined][] = [
    ['method', route.method],
    ['path', route.path],
    ['params', route.params && Object.keys(route.params.shape)],
    ['query', route.query && Object.keys(route.query.shape)],
    ['body', route.body && (isFixed(route.body) ? 'fields' : 'value')],
    ['bodyOptional', route.bodyOptional],
    ['accepts', route.accepts],
    ['produces', route.produces],
    ['idempotent', route.idempotent],
    ['streams', route.streams],
  ];
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [fieldLine(name, value)]));
  return [`    ${operation}: {`, ...lines, '    },'].join('\n');
}

function fieldLine(name: string, value: string | readonly string[] | true): string {
  if (value === true) return `      ${name}: true,`;
  if (typeof value === 'string') return `      ${name}: '${value}',`;
  const line = `      ${name}: [${value.map((each) => `'${each}'`).join(', ')}],`;
  if (line.length <= 120) return line;
  return [`      ${name}: [`, ...value.map((each) => `        '${each}',`), '      ],'].join('\n');
}

function write(path: string, text: string | null): void {
  if (text === null) {
    rmSync(path);
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function read(file: string): string | null {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return null;
  }
}
