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

/** An int4multirange in PostgreSQL's notation: `{[2,5),[7,)}`. */
const numberRanges = () => column<string>('int4multirange', { read: (ranges) => ranges });

export const notebooks = table('notebooks', {
  id: text(),
  org_id: text(),
  slug: text(),
  name: text(),
  description: text(),
  /** The users whose agents may read it, or null for all users. */
  reader_ids: textArray().nullable(),
  document_count: integer().withDefault(),
  bytes: integer().withDefault(),
  /** The revision of the newest content. Each change of documents adds one. */
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
  /** The revisions of the notebook that have it. The last range has no end while it is in the newest content. */
  revisions: numberRanges(),
  created_at: moment().withDefault(),
});

/** The column `search` is not declared: it is never read. */
export const documentPassages = table('document_passages', {
  document_id: text(),
  position: integer(),
  notebook_id: text(),
  language: text(),
  text: text(),
  /** The headings above it, outermost first, or an empty text. */
  heading: text().withDefault(),
  /** The page on which it begins, or null if the file has no pages. */
  page: integer().nullable(),
});

/** Progress of indexing a document with a model. */
export const documentIndexes = table('document_indexes', {
  document_id: text(),
  model: text(),
  /** The number of windows of its text. */
  total: integer(),
  /** The number of windows with stored vectors, counted from the first. */
  windows: integer().withDefault(),
  begun_at: moment().withDefault(),
  completed_at: moment().nullable(),
});

/** Vectors of consecutive windows, with the position of the passage of each. */
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
