/** The server, which on a SIGUSR2 collects what nobody holds and notes in a file what is left. */
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { programs } from '../server-process.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  // Twice: what came while the first was already marking counts as held for it.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(process.env.HEAP_NOTE as string, JSON.stringify({ heapMb: (heapUsed + external) / 2 ** 20 }));
});
await import(programs.source);
