import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import type { Contender } from './contender.ts';
import { percentile } from './load.ts';
import { startModelProcess, typedWords } from './model-process.ts';
import { duration, type Row, type Stage } from './report.ts';
import { asOtherOrg, contendWith, startWithModel } from './vestra.ts';

/** How many turns of the flood run at once. The server manages about 250 a second, and each takes 0.4 s. */
const floods = [64, 256];
/** A contender has 64 connections. */
const perContender = 64;
const rounds = 3;

/**
 * Measures the turns of one org while another floods the server, and on the idle server. Both alternate within one run.
 * The model types 21 tokens in 0.4 s, as a fast vendor does. No rate limit slows the flood.
 */
export async function measureFairness(stage: Stage): Promise<Row[]> {
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({ dataDir: join(stage.folder, 'fairness-database'), log: () => {} });
  const { connectionString } = postgres;
  try {
    const env = { DATABASE_URL: connectionString };
    const server = await startWithModel(join(stage.folder, 'fairness'), model.baseUrl, env);
    const flooding = Array.from({ length: Math.max(...floods) / perContender }, () => contendWith(server));
    const other = contendWith(await asOtherOrg(server, connectionString));
    try {
      for (let at = 0; at < 20; at++) await other.turn();
      const rows: Row[] = [];
      const around = { flooding, other, modelUrl: model.baseUrl };
      for (const atOnce of floods) rows.push(...(await measureFlood(around, atOnce, stage.seconds / rounds)));
      return rows;
    } finally {
      await server.stop();
    }
  } finally {
    await model.stop();
    await postgres.stop();
  }
}

type Around = { flooding: Contender[]; other: Contender; modelUrl: string };
/** In milliseconds. */
type Times = { turns: number[]; model: number[] };

async function measureFlood(around: Around, atOnce: number, seconds: number): Promise<Row[]> {
  const idle: Times = { turns: [], model: [] };
  const flooded: Times = { turns: [], model: [] };
  for (let round = 0; round < rounds; round++) {
    await timeTurns(around, seconds, idle);
    let isOver = false;
    const loops = Array.from({ length: atOnce }, async (_, at) => {
      const contender = around.flooding[Math.floor(at / perContender)] as Contender;
      while (!isOver) await contender.turn(typedWords);
    });
    await timeTurns(around, 0.5, { turns: [], model: [] });
    await timeTurns(around, seconds, flooded);
    isOver = true;
    await Promise.all(loops);
  }
  const ratio = (times: (of: Times) => number[]) => {
    const [beside, alone] = [flooded, idle].map((of) => median(times(of))) as [number, number];
    return `${(beside / alone).toFixed(2)} × (${duration(beside)} to ${duration(alone)})`;
  };
  return [
    {
      what: `a turn of one org while another has ${atOnce} at once, to an idle server`,
      measured: ratio(({ turns }) => turns),
      budget: '2 ×',
    },
    { what: '  the model alone at the same times: what the machine costs', measured: ratio(({ model }) => model) },
  ];
}

const median = (times: number[]) =>
  percentile(
    times.sort((a, b) => a - b),
    0.5,
  );

/** Turns of the other org, each followed by the same reply of the model without the server. */
async function timeTurns({ other, modelUrl }: Around, seconds: number, times: Times): Promise<void> {
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    const startedAt = performance.now();
    await other.turn(typedWords);
    const turnedAt = performance.now();
    await askModel(modelUrl);
    times.turns.push(turnedAt - startedAt);
    times.model.push(performance.now() - turnedAt);
  }
}

async function askModel(modelUrl: string): Promise<void> {
  const messages = [{ role: 'user', content: typedWords }];
  const response = await fetch(`${modelUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', stream: true, messages }),
  });
  const text = await response.text();
  if (!text.endsWith('[DONE]\n\n')) throw new Error(`The model answered ${text}`);
}
