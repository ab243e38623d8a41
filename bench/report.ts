import { writeFile } from 'node:fs/promises';
import { arch, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Measured } from './load.ts';

/** `peers`: the same figure of each peer, in their order; `ratio`: ours to the best peer's. */
export type Row = { what: string; measured: string; budget?: string; peers?: readonly string[]; ratio?: string };

/** Precedes the reason in a cell whose figure is missing. */
export const failedMark = 'failed: ';

/** Settings that every group of measurements receives. */
export type Stage = {
  folder: string;
  /** How long one load is kept up. */
  seconds: number;
  /** How many there are of what is counted in thousands: 1, or less for a look at whether it works. */
  share: number;
  withPeers: boolean;
  peersFolder: string;
  note: (text: string) => void;
};

export function print({ what, measured, budget, peers = [], ratio }: Row): void {
  const rest = [budget && `budget ${budget}`, ...peers.map((each) => `peer ${each}`), ratio].filter(Boolean);
  console.log(`${what.padEnd(62)} ${measured.padStart(36)}   ${rest.join('   ')}`);
}

/** One run, one file: figures of different runs are not to be compared. */
export async function writeResults(rows: readonly Row[], peerNames: readonly string[]): Promise<void> {
  const [cpu] = cpus();
  const machine = [
    `${cpus().length} cores, ${arch()}, ${cpu?.model.trim() ?? 'unknown'}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${process.version}`,
  ];
  const beside = rows.filter(({ peers }) => peers !== undefined);
  const alone = rows.filter(({ peers }) => peers === undefined);
  const text = [
    '# Results',
    [new Date().toISOString().slice(0, 10), ...machine].join(' · '),
    'How each figure is taken, and what is compared with what: [docs/benchmarks.md](../docs/benchmarks.md).',
    '## Beside peers',
    table(
      ['what', 'Vestra', 'budget', ...peerNames, 'Vestra to the best peer'],
      beside.map(({ what, measured, budget = '', peers = [], ratio = '' }) => [
        what,
        measured,
        budget,
        ...peers,
        ratio,
      ]),
    ),
    '## Alone',
    table(
      ['what', 'measured', 'budget'],
      alone.map(({ what, measured, budget = '' }) => [what, measured, budget]),
    ),
  ];
  await writeFile(join(import.meta.dirname, 'results.md'), `${text.join('\n\n')}\n`);
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const cells = (line: readonly string[]) =>
    `| ${line.map((cell) => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [cells(head), `|${'---|'.repeat(head.length)}`, ...lines.map(cells)].join('\n');
}

export function rate({ perSecond, p50, p95 }: Measured): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s, p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)} ms`;
}

export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

export const megabytes = (mb: number) => `${Math.round(mb)} MB`;
