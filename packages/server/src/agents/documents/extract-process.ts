/** Runs in a sandbox: what is to be read comes by its input, a line that says what it is and then the file. */
import { buffer } from 'node:stream/consumers';
import { type Extraction, extract } from './extract.ts';

const input = await buffer(process.stdin);
const at = input.indexOf('\n');
const { kind, maxCharacters } = JSON.parse(input.subarray(0, at).toString()) as Omit<Extraction, 'content'>;
const bytes = new Uint8Array(input.subarray(at + 1));
const content = kind === 'html' ? Buffer.from(bytes).toString('utf8') : bytes;
const extracted = await extract({ kind, maxCharacters, content });
// More than this is refused, so that more need not be passed on.
if ('text' in extracted) extracted.text = extracted.text.slice(0, maxCharacters + 1);
process.stdout.write(JSON.stringify(extracted));
