/**
 * The heads of entries in a tar file (ustar), of plain files alone: any tar reads what is written here, and whatever else
 * an archive may hold is refused.
 */
export type TarHead = { name: string; size: number };

export const BLOCK = 512;

/** A tar file ends with two of them. */
export const emptyBlock = Buffer.alloc(BLOCK);

/** What fills the last block of an entry. */
export const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

const LONGEST = 100;
const LARGEST = 8 ** 11 - 1;

export function writeHead({ name, size }: TarHead): Buffer {
  const cut = name.lastIndexOf('/');
  const [folder, file] = [name.slice(0, Math.max(cut, 0)), name.slice(cut + 1)];
  if (!/^[\x21-\x7e]+$/.test(name) || file.length > LONGEST || folder.length > 155 || size > LARGEST) {
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

/** Null: the end of the entries. Undefined: this is no head of a plain file. */
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

/** Of all bytes, with the field of the sum itself as blanks. */
function checksum(head: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK; at++) if (at < 148 || at >= 156) sum += head[at] as number;
  return sum;
}
