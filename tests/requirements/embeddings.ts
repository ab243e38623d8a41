import { area } from '../requirement.ts';

export const embeddings = area('embeddings', 'done', [
  [
    'EMB-001',
    'docs/decisions/0025',
    'The offline encoder gives the vectors of its package in every way it is run: within 0.9999 exactly, within 0.998 in bytes.',
  ],
  [
    'EMB-002',
    'docs/decisions/0025',
    "The offline encoder cuts a text into the word pieces of its package's tokenizer.",
  ],
  ['EMB-003', 'docs/decisions/0025', 'A text is read to its end, however few word pieces the encoder reads at once.'],
  [
    'EMB-004',
    'docs/decisions/0025',
    'Where the native runtime does not load, or ends its process, the portable one takes over and the log says so once.',
  ],
  [
    'EMB-005',
    'decisions.md · 11',
    'A search of memory finds nothing where no fact has to do with the query, and only the fact that is named where one is.',
  ],
  ['EMB-006', 'decisions.md · 11', 'A fact of up to 1,000 characters is found by the meaning of any of its parts.'],
]);
