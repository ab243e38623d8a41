import { BLOCK, paddingOf, writeHead } from './format.ts';

/** One entry of a tar as an attacker writes it: any name, kind and target. */
function tarEntry({ name, kind = '0', target = '', content = '' }: TarEntry): Buffer {
  const bytes = Buffer.from(content);
  const head = writeHead({ name: 'x', size: bytes.length });
  head.fill(0, 0, 100);
  head.write(name, 0, 'latin1');
  head.write(kind, 156, 'latin1');
  head.write(target, 157, 'latin1');
  head.write('0000001\0', 329, 'latin1');
  head.write('0000001\0', 337, 'latin1');
  head.fill(' ', 148, 156);
  const sum = head.reduce((all, byte) => all + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([head, bytes, Buffer.alloc(paddingOf(bytes.length))]);
}

export const tarOf = (...entries: TarEntry[]): Buffer =>
  Buffer.concat([...entries.map(tarEntry), Buffer.alloc(2 * BLOCK)]);

type TarEntry = { name: string; kind?: string; target?: string; content?: string };
