/**
 * Simulates loads that no machine here can carry from the measured costs: 1,000 orgs, a few with most of the load. Prints
 * the tables of docs/load-simulation.md.
 *
 *   node bench/simulate.ts             the loads of the page, about a minute
 *   node bench/simulate.ts --rate 500  one load, turns a second
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { costsFile, type MeasuredCosts } from './scale/costs.ts';
import { type Cells, type Load, type Placement, simulate } from './scale/simulate.ts';

const { values: given } = parseArgs({ options: { rate: { type: 'string', multiple: true } } });
const rates = given.rate?.map(Number) ?? [10, 100, 1_000, 10_000];
if (rates.some((rate) => !(rate > 0))) throw new Error('--rate takes turns a second, such as 500.');
const costs = JSON.parse(await readFile(costsFile, 'utf8')) as MeasuredCosts;

console.log(
  '| turns a second | orgs placed | cells | processes | database cores | busiest cell: processes, database | commits, log a second there | added p50, p99 | open turns | stored a day |',
);
console.log(`|${'---|'.repeat(10)}`);
for (const rate of rates)
  for (const placement of ['by weight', 'by hash'] as const) console.log(rowOf(rate, placement));

function rowOf(turnsPerSecond: number, placement: Placement): string {
  const load: Load = {
    turnsPerSecond,
    orgs: 1_000,
    skew: 1.1,
    seconds: Math.min(120, 240_000 / turnsPerSecond),
    medianTokens: 150,
    seed: 1,
  };
  const cells = cellsFor(load);
  const outcome = simulate(costs, cells, load, placement);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const many = (value: number) => Math.round(value).toLocaleString('en');
  return `| ${[
    many(turnsPerSecond),
    placement,
    cells.count,
    many(cells.count * cells.processesEach),
    many(cells.count * cells.databaseCores),
    `${percent(outcome.processes.most)}, ${percent(outcome.databases.most)}`,
    `${many(outcome.most.commitsPerSecond)}, ${outcome.most.logMbPerSecond.toFixed(1)} MB`,
    `${many(outcome.added.p50)}, ${many(outcome.added.p99)} ms`,
    many(outcome.openTurns),
    `${many(outcome.storedGbPerDay)} GB, ${many(outcome.storedRowsPerDay / 1e6)} million rows`,
  ].join(' | ')} |`;
}

/** As much as keeps everything at about 60 % where the load is spread evenly, in cells of 32 database cores at most. */
function cellsFor({ turnsPerSecond, medianTokens }: Load): Cells {
  const meanTokens = medianTokens * Math.exp(0.5);
  const busy = (turnMs: number, tokenMs: number) => ((turnMs + tokenMs * meanTokens) * turnsPerSecond) / 1_000 / 0.6;
  const cores = busy(costs.turn.postgresMs, costs.typedToken.postgresMs);
  const processes = busy(costs.turn.serverMs, costs.typedToken.serverMs);
  const count = Math.ceil(cores / 32);
  return {
    count,
    processesEach: Math.ceil(processes / count),
    databaseCores: Math.max(2, Math.ceil(cores / count)),
    flushMs: 1,
  };
}
