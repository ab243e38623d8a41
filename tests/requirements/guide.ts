import { area } from '../requirement.ts';

export const guide = area('guide', 'done', [
  [
    'GUIDE-001',
    'docs/operating.md#public-pages',
    'Every page of `docs/` is a page of the guide at `/docs/guide`, listed once.',
  ],
  ['GUIDE-002', 'docs/operating.md#public-pages', 'Every error code has a page at `/docs/guide/errors/<code>`.'],
  [
    'GUIDE-003',
    'docs/operating.md#public-pages',
    'No link of the documentation or of the guide is dead, its heading included.',
  ],
  [
    'GUIDE-004',
    'docs/operating.md#public-pages',
    'A page of the guide asks nothing of another host and holds nothing inline.',
  ],
  [
    'GUIDE-005',
    'docs/operating.md#public-pages',
    'The search finds every word of the guide without a server that searches.',
  ],
  [
    'GUIDE-006',
    'docs/operating.md#public-pages',
    '`/docs/guide/<name>.md` answers the Markdown that the page was made of.',
  ],
  [
    'GUIDE-007',
    'docs/operating.md#public-pages',
    'The guide can be read and searched with the keyboard alone, light and dark, on a phone.',
  ],
  [
    'GUIDE-008',
    'docs/operating.md#public-pages',
    '`/` leads to the guide and the reference: a page in a browser, lines in a terminal.',
  ],
  [
    'GUIDE-009',
    'docs/operating.md#public-pages',
    'Every command and program in the documentation runs in the tests, or states why not.',
  ],
  [
    'GUIDE-010',
    'docs/operating.md#public-pages',
    'Every fragment of a deployment file in the documentation is one that the server takes.',
  ],
  [
    'GUIDE-011',
    'docs/operating.md#public-pages',
    'Getting started, followed literally from an empty folder with the package, ends with an agent that answers.',
  ],
]);
