/** Writes `llms.txt` and `llms-full.txt` (https://llmstxt.org) from the docs and the routes. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RouteRow, routes } from '@vestra/contract/api';
import { families } from '@vestra/contract/derive/families';

const docs = join(import.meta.dirname, '../../docs');

const heading = `# Vestra

> An open platform for hosting AI agents: a company configures an agent once, in a file, and runs it for every one of its users. It is a
> server with an HTTP API, a command line (\`vestra\`), SDKs, and pages for chat, screen and voice.

Send an API key as \`Authorization: Bearer <API_KEY>\`; test keys run drafts, live keys what was promoted. Every error carries a \`code\` to
branch on. Users are named by the company's own ids. What the agent may do is in \`service.yaml\`, applied with \`vestra apply\`.`;

type Page = { name: string; title: string; about: string; text: string };

/** Links are relative to the server, which prepends its address. */
export function writeLlms(dist: string): void {
  const pages = readdirSync(docs)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map(pageOf);
  const isHistory = ({ name }: Page) => name === 'changelog' || name === 'benchmarks';
  const sections = [
    heading,
    ['## Docs', '', ...pages.filter((page) => !isHistory(page)).map(linkTo)].join('\n'),
    [
      '## API',
      '',
      '- [OpenAPI](/v1/openapi.json): every operation, field, event and error, described, with examples',
      '- [Schema of service.yaml](/schemas/service.yaml.json): JSON Schema of the deployment file',
      '- [All of this in one file](/llms-full.txt): every page of the docs and a list of all operations',
    ].join('\n'),
    ['## Optional', '', ...pages.filter(isHistory).map(linkTo)].join('\n'),
  ];
  writeFileSync(join(dist, 'llms.txt'), `${sections.join('\n\n')}\n`);
  const full = [heading, ...pages.filter((page) => !isHistory(page)).map(({ text }) => text.trim()), operations()];
  writeFileSync(join(dist, 'llms-full.txt'), `${full.join('\n\n')}\n`);
}

function pageOf(file: string): Page {
  const text = readFileSync(join(docs, file), 'utf8');
  const name = file.replace(/\.md$/, '');
  const [, title = name] = /^# (.+)$/m.exec(text) ?? [];
  const [, paragraph = ''] = /^# .+\n+((?:(?!#|\||```|<!|- |\d+\. ).+\n?)+)/m.exec(text) ?? [];
  const plain = paragraph.replace(/\s+/g, ' ').replace(/\[(.+?)\]\(.+?\)/g, '$1');
  const [about = ''] = plain.split(/(?<=[.:])\s/);
  return { name, title, about: about.replace(/:$/, '.').trim(), text };
}

const linkTo = ({ name, title, about }: Page) => `- [${title}](/docs/guide/${name}.md)${about && `: ${about}`}`;

function operations(): string {
  const byFamily = Map.groupBy(routes, ({ family }) => family);
  const sections = [...byFamily].map(([family, rows]) =>
    [`## ${families[family].title}`, '', families[family].description, '', ...rows.map(operationLine)].join('\n'),
  );
  return ['# Operations', ...sections].join('\n\n');
}

const operationLine = ({ route }: RouteRow) =>
  `- \`${route.method} ${route.path}\`: ${route.summary} ${route.description}`;
