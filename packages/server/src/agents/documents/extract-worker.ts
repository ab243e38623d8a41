/** Runs in a thread of its own, which `reader.ts` ends when a file makes it run too long or grow too large. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Extraction, extract } from './extract.ts';

parentPort?.postMessage(await extract(workerData as Extraction));
