import { z } from 'zod';

/** The first entry. It is enough to refuse an archive without reading the rest. */
export const openingName = 'vestra-backup.json';
/** The second-last entry: it lists the parts with their sizes and hashes. */
export const manifestName = 'manifest.json';
/** The last entry: the hash of the manifest. An archive without it is incomplete. */
export const endName = 'end';

/** The homes of computers, packed by the system's tar. */
export const homesPart = 'computers.tar.gz';

/** Files in the store whose name is not the hash of their content. */
export const savedFolder = 'saved';

/** Increase this if older versions cannot read the new format. */
export const format = 1;

const migration = z.object({ name: z.string(), sha256: z.string() });

export const openingSchema = z.object({
  format: z.number(),
  version: z.string(),
  created_at: z.string(),
  migrations: z.array(migration),
  /** Set if the archive holds one org. */
  org: z.object({ id: z.string(), name: z.string() }).optional(),
});
export type Opening = z.infer<typeof openingSchema>;

const part = z.object({ name: z.string(), bytes: z.number(), sha256: z.string() });
export type ArchivePartEntry = z.infer<typeof part>;

export const manifestSchema = z.object({
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.number(), part: z.string() })),
  sequences: z.array(z.object({ name: z.string(), last_value: z.string().nullable() })),
  /** Each file is stored under the hash of its content. `missing` counts rows whose content was not in the store. */
  files: z.object({ count: z.number(), bytes: z.number(), missing: z.number() }),
  /** A key sealed under the master key. It shows whether a given master key is the right one. */
  key_check: z.string().nullable(),
  parts: z.array(part),
  /** Set if the archive holds one org. */
  move: z
    .object({
      move_id: z.string(),
      /** Verifies the hand-over. */
      verify_key: z.string(),
      /** The data key of the org, sealed under the transport key. */
      wrapped_data_key: z.string(),
      homes: z.array(z.object({ mode: z.string(), user_key: z.string(), part: z.string() })),
      /** Proves, with the data key, that nothing above was changed. */
      seal: z.string(),
    })
    .optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Headers of a tar file (ustar) with plain files only. Any tar can read these archives; other entries are refused. */
export type TarHead = { name: string; size: number };

export const BLOCK = 512;

/** Two of these end a tar file. */
export const emptyBlock = Buffer.alloc(BLOCK);

/** The bytes that fill the last block of an entry. */
export const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

const maxNameLength = 100;
const maxSize = 8 ** 11 - 1;

export function writeHead({ name, size }: TarHead): Buffer {
  const cut = name.lastIndexOf('/');
  const [folder, file] = [name.slice(0, Math.max(cut, 0)), name.slice(cut + 1)];
  if (!/^[\x21-\x7e]+$/.test(name) || file.length > maxNameLength || folder.length > 155 || size > maxSize) {
    throw new Error(`An archive cannot hold ${name} with ${size} bytes.`);
  }
  const head = Buffer.alloc(BLOCK);
  head.write(file, 0, 'latin1');
  head.write('0000600\0', 100, 'latin1');
  head.write('0000000\0', 108, 'latin1');
  head.write('0000000\0', 116, 'latin1');
  head.write(octal(size, 11), 124, 'latin1');
  head.write(octal(0, 11), 136, 'latin1');
  head.write('0', 156, 'latin1');
  head.write('ustar\u000000', 257, 'latin1');
  head.write(folder, 345, 'latin1');
  head.write(`${octal(checksum(head), 6)}\0 `, 148, 'latin1');
  return head;
}

/** Returns null at the end of the entries, and undefined if this is not the header of a plain file. */
export function readHead(head: Buffer): TarHead | null | undefined {
  if (head.equals(emptyBlock)) return null;
  const size = textAt(head, 124, 12);
  const isOurs =
    head.toString('latin1', 257, 265) === 'ustar\u000000' &&
    head.toString('latin1', 156, 157) === '0' &&
    /^[0-7]{11}$/.test(size) &&
    Number.parseInt(textAt(head, 148, 8), 8) === checksum(head);
  if (!isOurs) return undefined;
  const folder = textAt(head, 345, 155);
  const file = textAt(head, 0, 100);
  return { name: folder ? `${folder}/${file}` : file, size: Number.parseInt(size, 8) };
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');

function textAt(head: Buffer, from: number, length: number): string {
  const field = head.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end === -1 ? length : end);
}

/** The checksum of all bytes, with its own field counted as blanks. */
function checksum(head: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK; at++) if (at < 148 || at >= 156) sum += head[at] as number;
  return sum;
}
