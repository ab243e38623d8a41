import { area } from '../requirement.ts';

export const embeddings = area('embeddings', 'done', [
  [
    'EMB-001',
    'docs/embeddings.md',
    'The offline encoder gives the vectors of its package in every way it is run: within 0.9999 exactly, within 0.998 in bytes.',
  ],
  ['EMB-002', 'docs/embeddings.md', "The offline encoder cuts a text into the word pieces of its package's tokenizer."],
  ['EMB-003', 'docs/embeddings.md', 'A text is read to its end, however few word pieces the encoder reads at once.'],
  [
    'EMB-004',
    'docs/embeddings.md',
    'If the native runtime does not load, or ends its process, the portable one takes over and the log says so once.',
  ],
  [
    'EMB-005',
    'docs/embeddings.md',
    'A search of memory finds nothing if no fact fits the query, and only the named fact if one is named.',
  ],
  ['EMB-006', 'docs/embeddings.md', 'A fact of up to 1,000 characters is found by the meaning of any of its parts.'],
  [
    'EMB-007',
    'docs/embeddings.md',
    'Embeddings of OpenAI, Google or a compatible endpoint are asked for in bounded batches, few at once, and again after a passing failure.',
  ],
  ['EMB-008', 'docs/embeddings.md', "A provider's key is in no error of its embeddings."],
  [
    'EMB-009',
    'docs/embeddings.md',
    'Vectors of another size or model are never compared: they are refused, or created again under another name.',
  ],
  [
    'EMB-010',
    'docs/embeddings.md',
    'A provider embeds texts if its key is set and the operator does not set `offline`; an incomplete setting ends the start.',
  ],
  ['EMB-011', 'docs/embeddings.md', 'Recall in languages other than English is measured and documented.'],
  [
    'EMB-012',
    'docs/embeddings.md',
    'Embeddings that hang keep no caller waiting: memory uses words, and facts are stored.',
  ],
  [
    'EMB-541',
    'docs/embeddings.md',
    'With a provider of embeddings a notebook is found in any language, through refusals and failures, and by words alone if the vectors have another size.',
  ],
  [
    'EMB-531',
    'docs/embeddings.md',
    'A search of notebooks waits fifteen seconds for embeddings that hang, and goes by words.',
  ],
  [
    'EMB-500',
    'docs/memory.md#search',
    'A word that a question and a fact share by chance is no match; a person, place or thing that it names is.',
  ],
]);
