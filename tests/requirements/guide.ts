import { area } from '../requirement.ts';

export const guide = area('guide', 'done', [
  [
    'GUIDE-001',
    'docs/server-reference.md#public-pages',
    'Every page of `docs/` is a page of the guide at `/docs/guide`, listed once.',
  ],
  ['GUIDE-002', 'docs/server-reference.md#public-pages', 'Every error code has a page at `/docs/guide/errors/<code>`.'],
  [
    'GUIDE-003',
    'docs/server-reference.md#public-pages',
    'No link of the documentation or of the guide is dead, its heading included.',
  ],
  [
    'GUIDE-004',
    'docs/server-reference.md#public-pages',
    'A page of the guide asks nothing of another host and holds nothing inline.',
  ],
  [
    'GUIDE-005',
    'docs/server-reference.md#public-pages',
    'The search finds every word of the guide without a server that searches.',
  ],
  [
    'GUIDE-006',
    'docs/server-reference.md#public-pages',
    '`/docs/guide/<name>.md` answers the Markdown that the page was made of.',
  ],
  [
    'GUIDE-007',
    'docs/server-reference.md#public-pages',
    'The guide can be read and searched with the keyboard alone, light and dark, on a phone.',
  ],
  [
    'GUIDE-008',
    'docs/server-reference.md#public-pages',
    '`/` leads to the guide and the reference: a page in a browser, lines in a terminal.',
  ],
  [
    'GUIDE-009',
    'docs/server-reference.md#public-pages',
    'Every command and program in the documentation runs in the tests, or states why not.',
  ],
  [
    'GUIDE-010',
    'docs/server-reference.md#public-pages',
    'Every fragment of a deployment file in the documentation is one that the server takes.',
  ],
  [
    'GUIDE-013',
    'docs/server-reference.md#public-pages',
    'The guide shows pictures of the console and the chat, in the light or dark scheme of the reader.',
  ],
  [
    'GUIDE-012',
    'docs/server-reference.md#public-pages',
    'Every command that the docs, the examples and the remedies of errors name exists.',
  ],
  [
    'GUIDE-018',
    'docs/server-reference.md#public-pages',
    'The lines of the log and other sentences that a page of the guide quotes are those of the product.',
  ],
  [
    'GUIDE-011',
    'docs/server-reference.md#public-pages',
    'Getting started, followed literally from an empty folder with the package, ends with an agent that answers.',
  ],
  [
    'GUIDE-015',
    'docs/server-reference.md#public-pages',
    'A page of the guide has at most about three screens of prose. Longer pages are in the group Reference.',
  ],
  [
    'GUIDE-014',
    'docs/server-reference.md#public-pages',
    'Start page, guide, reference and console have the mark as their icon, the bundled typeface, and a picture for sites that link to them, all from the server itself.',
  ],
  [
    'GUIDE-016',
    'docs/server-reference.md#public-pages',
    'The old address of a heading that moved to another page leads to the new one, in the browser and without scripts.',
  ],
  [
    'GUIDE-017',
    'docs/server-reference.md#public-pages',
    'Start page, guide and reference have no barrier that axe knows of, in both themes, and fit 390 pixels.',
  ],
]);
