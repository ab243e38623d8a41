import { z } from 'zod';

/** The first entry: enough to refuse an archive without reading the rest. */
export const openingName = 'vestra-backup.json';
/** The last entry but one: what there is, and what it must come to. */
export const manifestName = 'manifest.json';
/** The last entry: the sum of the manifest. Without it the archive is not whole. */
export const endName = 'end';

/** The homes of computers, as the system's tar packs them. */
export const homesPart = 'computers.tar.gz';

/** What lies in the file store under a name that is not the hash of its content. */
export const savedFolder = 'saved';

/** Goes up when an older program could not read what a newer one writes. */
export const format = 1;

const migration = z.object({ name: z.string(), sha256: z.string() });

export const openingSchema = z.object({
  format: z.number(),
  version: z.string(),
  created_at: z.string(),
  migrations: z.array(migration),
});
export type Opening = z.infer<typeof openingSchema>;

const part = z.object({ name: z.string(), bytes: z.number(), sha256: z.string() });
export type Part = z.infer<typeof part>;

export const manifestSchema = z.object({
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.number(), part: z.string() })),
  sequences: z.array(z.object({ name: z.string(), last_value: z.string().nullable() })),
  /** Each lies under the hash of its content. `missing`: content that was not there, so that its row alone is here. */
  files: z.object({ count: z.number(), bytes: z.number(), missing: z.number() }),
  /** A key sealed under the master key, to tell whether a key that is offered is the right one. */
  key_check: z.string().nullable(),
  parts: z.array(part),
});
export type Manifest = z.infer<typeof manifestSchema>;
