/** Runs in a thread that `reader.ts` ends if a file takes too long or too much memory. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Extraction, extract } from './extract.ts';

parentPort?.postMessage(await extract(workerData as Extraction));
