import { area } from '../requirement.ts';

export const embeddings = area('embeddings', 'done', [
  [
    'EMB-001',
    'decisions.md · 11',
    'The offline encoder gives the vectors of its package in every way it is run: within 0.9999 exactly, within 0.998 in bytes.',
  ],
  ['EMB-002', 'decisions.md · 11', "The offline encoder cuts a text into the word pieces of its package's tokenizer."],
  ['EMB-003', 'decisions.md · 11', 'A text is read to its end, however few word pieces the encoder reads at once.'],
  [
    'EMB-004',
    'decisions.md · 11',
    'Where the native runtime does not load, or ends its process, the portable one takes over and the log says so once.',
  ],
  [
    'EMB-005',
    'decisions.md · 11',
    'A search of memory finds nothing where no fact has to do with the query, and only the fact that is named where one is.',
  ],
  ['EMB-006', 'decisions.md · 11', 'A fact of up to 1,000 characters is found by the meaning of any of its parts.'],
  [
    'EMB-007',
    'decisions.md · 11',
    'Embeddings of OpenAI, Google or a compatible endpoint are asked for in bounded batches, few at once, and again after a passing failure.',
  ],
  ['EMB-008', 'decisions.md · 11', "A provider's key is in no error of its embeddings."],
  [
    'EMB-009',
    'decisions.md · 11',
    'Vectors of another size or model are never compared: they are refused, or made anew under another name.',
  ],
  [
    'EMB-010',
    'decisions.md · 11',
    'A provider embeds texts only where the operator says so, and a half setting ends the start.',
  ],
  ['EMB-011', 'decisions.md · 11', 'What is found in languages other than English is measured and written down.'],
  [
    'EMB-012',
    'decisions.md · 11',
    'Embeddings that hang keep no caller waiting: memory goes by words, and facts are kept.',
  ],
]);
