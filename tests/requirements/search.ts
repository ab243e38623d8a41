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
  [
    'SRCH-702',
    'docs/knowledge.md#search',
    'Vectors of any size are compared with the same result as by a loop over their numbers.',
  ],
  [
    'SRCH-703',
    'docs/memory.md#search',
    'A search of memory that has nothing to do with the facts finds nothing: `found` is false.',
  ],
  [
    'SRCH-704',
    'docs/memory.md#search',
    'A search of memory sees every fact that was added, changed or deleted before it, also by another process.',
  ],
  [
    'SRCH-705',
    'docs/embeddings.md',
    'Without a setting the embeddings are of the first configured provider with a key, and the start prints which; `offline` keeps texts on the machine.',
  ],
  [
    'SRCH-706',
    'docs/embeddings.md',
    'After a change of the embeddings all facts are embedded again in the background, and vectors of two models are never compared.',
  ],
]);
