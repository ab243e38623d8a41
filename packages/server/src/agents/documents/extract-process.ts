/** Runs in a sandbox. Its input is one line of JSON that describes the file, and then the file. */
import { buffer } from 'node:stream/consumers';
import { type Extraction, extract } from './extract.ts';

const input = await buffer(process.stdin);
const at = input.indexOf('\n');
const { kind, maxCharacters } = JSON.parse(input.subarray(0, at).toString()) as Omit<Extraction, 'content'>;
const bytes = new Uint8Array(input.subarray(at + 1));
const content = kind === 'html' ? Buffer.from(bytes).toString('utf8') : bytes;
const extracted = await extract({ kind, maxCharacters, content });
// A longer text is refused anyway, so the rest is not sent.
if ('text' in extracted) extracted.text = extracted.text.slice(0, maxCharacters + 1);
process.stdout.write(JSON.stringify(extracted));
