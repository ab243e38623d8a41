import {
  bytes,
  column,
  integer,
  integerArray,
  moment,
  type RowOf,
  table,
  text,
  textArray,
} from '../../platform/db/table.ts';

/** Numbers as PostgreSQL writes a set of ranges of them: `{[2,5),[7,)}`. */
const numberRanges = () => column<string>('int4multirange', { read: (ranges) => ranges });

export const notebooks = table('notebooks', {
  id: text(),
  org_id: text(),
  slug: text(),
  name: text(),
  description: text(),
  /** The users whose agents may read it; null: every user's. */
  reader_ids: textArray().nullable(),
  document_count: integer().withDefault(),
  bytes: integer().withDefault(),
  /** Of its newest content: each change of its documents makes a new one. */
  revision: integer().withDefault(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const documents = table('documents', {
  id: text(),
  org_id: text(),
  notebook_id: text(),
  title: text(),
  content_type: text(),
  language: text(),
  bytes: integer(),
  sha256: text(),
  /** Of its notebook, in which it is; without an end while it is in the newest. */
  revisions: numberRanges(),
  created_at: moment().withDefault(),
});

/** The text of a document in order, with what it is searched by, which is never read. */
export const documentPassages = table('document_passages', {
  document_id: text(),
  position: integer(),
  notebook_id: text(),
  language: text(),
  text: text(),
  /** The headings above it, the outermost first; empty where there is none. */
  heading: text().withDefault(),
  /** In a file that has pages, the one on which it begins. */
  page: integer().nullable(),
});

/** How far the vectors of a document are, for each model. */
export const documentIndexes = table('document_indexes', {
  document_id: text(),
  model: text(),
  /** The windows that its text is cut into. */
  total: integer(),
  /** How many of them have their vectors, from the first on. */
  windows: integer().withDefault(),
  begun_at: moment().withDefault(),
  completed_at: moment().nullable(),
});

/** The vectors of some windows that follow each other, with the passage that each stands in. */
export const documentVectors = table('document_vectors', {
  document_id: text(),
  model: text(),
  first_window: integer(),
  positions: integerArray(),
  vectors: bytes(),
});

export type NotebookRow = RowOf<typeof notebooks>;
export type DocumentRow = RowOf<typeof documents>;
export type PassageKey = Pick<RowOf<typeof documentPassages>, 'document_id' | 'position'>;
export type VectorsRow = RowOf<typeof documentVectors>;
