import { type ApiGroup, apiGroups } from '@vestra/contract/derive/api-pages';
import { introduction } from '@vestra/contract/derive/introduction';
import { errorCatalogue } from '@vestra/contract/errors';
import { escapeHtml } from '../guide/code-colours.ts';
import { renderMarkdown } from '../guide/markdown.ts';
import { guideRoot, referenceRoot, type SiteFile, shellHtml } from '../guide/shell.ts';
import { operationHtml } from './operation.ts';

export type SearchEntry = [page: string, address: string, heading: string, words: string];

/** The groups of the navigation, by page. */
const contents: readonly { title: string; pages: readonly string[] }[] = [
  {
    title: 'Run',
    pages: [
      'conversations',
      'interactions',
      'functions',
      'tasks',
      'users',
      'files',
      'memory',
      'sessions',
      'feedback',
      'browser',
    ],
  },
  {
    title: 'Configure',
    pages: [
      'deployments',
      'scenarios',
      'test-runs',
      'replays',
      'insights',
      'improvements',
      'notebooks',
      'skills',
      'mcp-servers',
      'secrets',
      'models',
      'apps',
      'connections',
    ],
  },
  { title: 'Automate', pages: ['batches', 'routines', 'webhooks', 'events'] },
  { title: 'Other protocols', pages: ['openai', 'ag-ui', 'protocols', 'oauth'] },
];

const pageOf = (group: string) => `${referenceRoot}/api/${group}`;

/** Every page of the API reference by path, and its entries for the search. */
export function referenceSite(): { files: Map<string, SiteFile>; entries: SearchEntry[] } {
  const groups = apiGroups();
  const files = new Map<string, SiteFile>();
  const add = (path: string, text: string) => files.set(path, { mediaType: 'text/html; charset=utf-8', text });
  add(referenceRoot, pageHtml('Introduction', introductionHtml(groups), groups, null));
  for (const group of groups) add(pageOf(group.page), pageHtml(group.tag, groupHtml(group), groups, group));
  const entries = groups.flatMap(({ tag, page, operations, description }): SearchEntry[] => [
    [`${tag} API`, pageOf(page), `${tag} API`, description],
    ...operations.map(
      ({ id, title, method, path }): SearchEntry => [`${tag} API`, `${pageOf(page)}#${id}`, title, `${method} ${path}`],
    ),
  ]);
  return { files, entries };
}

function pageHtml(title: string, main: string, groups: readonly ApiGroup[], current: ApiGroup | null): string {
  return shellHtml({
    title,
    place: 'reference',
    head: `<script src="${referenceRoot}/reference.js"></script>`,
    navigation: navigationHtml(groups, current),
    main: `<article>\n${main}\n</article>\n<footer><a href="/v1/openapi.json">OpenAPI document</a></footer>`,
    aside: '',
  });
}

function navigationHtml(groups: readonly ApiGroup[], current: ApiGroup | null): string {
  const listed = new Set(contents.flatMap(({ pages }) => pages));
  const others = groups.filter(({ page }) => !listed.has(page)).map(({ page }) => page);
  const sections = [...contents, { title: 'Account', pages: others }].map(({ title, pages }) => {
    const items = pages.map((page) => {
      const group = groups.find((each) => each.page === page);
      if (!group) throw new Error(`The reference has no group ${page}.`);
      if (group !== current) return `<li><a href="${pageOf(page)}">${escapeHtml(group.tag)}</a></li>`;
      const operations = group.operations.map(
        ({ id, title: name }) => `<li><a href="#${id}">${escapeHtml(name)}</a></li>`,
      );
      return `<li><a href="${pageOf(page)}" aria-current="page">${escapeHtml(group.tag)}</a><ul class="operations">${operations.join('')}</ul></li>`;
    });
    return `<section><h2>${title}</h2><ul>${items.join('')}</ul></section>`;
  });
  const start = `<section><ul><li><a href="${referenceRoot}"${current ? '' : ' aria-current="page"'}>Introduction</a></li></ul></section>`;
  return [start, ...sections].join('');
}

function introductionHtml(groups: readonly ApiGroup[]): string {
  const rows = groups.map(({ tag, page, description }) => `| [${tag}](${page}.md) | ${description} |`);
  return htmlOf(`# API reference\n\n${introduction}\n\n## Groups\n\n| | |\n|---|---|\n${rows.join('\n')}`);
}

function groupHtml({ tag, description, operations, objects }: ApiGroup): string {
  const sections = operations.map((operation) => operationHtml(operation, htmlOf(operation.text)));
  return [htmlOf(`# ${tag}\n\n${description}`), ...sections, htmlOf(objects)].join('\n');
}

const htmlOf = (markdown: string) => renderMarkdown(markdown, resolveLink, errorPageOf).html;

const errorPageOf = (code: string) => (code in errorCatalogue ? `${guideRoot}/errors/${code}` : null);

/** Texts link to other groups, and with `../` to pages of the guide. */
function resolveLink(target: string): string {
  if (/^(https?:|#|\/)/.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const page = path.replace(/^\.\.\//, '').replace(/\.md$/, '');
  return `${path.startsWith('../') ? `${guideRoot}/${page}` : pageOf(page)}${anchor ? `#${anchor}` : ''}`;
}
