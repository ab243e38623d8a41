import { area } from '../requirement.ts';

export const search = area('search', 'done', [
  [
    'SRCH-700',
    'docs/knowledge.md#search',
    'A search by words parses the query and weighs its words once, however many passages have one of them.',
  ],
  [
    'SRCH-701',
    'docs/knowledge.md#search',
    'Documents of another org change neither the hits of a search nor their order.',
  ],
]);
