import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { measure } from './load.ts';
import { startModelProcess } from './model-process.ts';
import { cpuMs } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import { contendWith, startWithModel } from './vestra.ts';

/** A processor profile of V8. Times are in microseconds: `timeDeltas[n]` passed before `samples[n]`. */
type Profile = { nodes: ProfileNode[]; samples: number[]; timeDeltas: number[] };
type ProfileNode = { id: number; callFrame: { functionName: string; url: string }; children?: number[] };

/**
 * Where the time of the server's main thread goes during turns, 16 at once. Functions of Node count for the package that
 * called them: a write to a socket of PostgreSQL is a part of the client for PostgreSQL.
 */
export async function measureTurnProfile({ folder, seconds, note }: Stage): Promise<Row[]> {
  const model = await startModelProcess();
  const profiles = join(folder, 'profiles');
  const env = { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${profiles}` };
  const contender = contendWith(await startWithModel(join(folder, 'profiled'), model.baseUrl, env));
  const loadSeconds = seconds * 2;
  let cpuPerTurn = 0;
  try {
    await measure(16, seconds, () => contender.turn());
    const before = cpuMs(contender.pid);
    const { count } = await measure(16, loadSeconds, () => contender.turn());
    cpuPerTurn = (cpuMs(contender.pid) - before) / count;
  } finally {
    await contender.stop();
    await model.stop();
  }
  const { layers, callers } = timesOf(await largestOf(profiles), loadSeconds * 1e6);
  for (const [name, share] of callers.slice(0, 30)) note(`${percent(share)} ${name}`);
  return [
    { what: 'server CPU per turn, 16 at once, while it is profiled', measured: duration(cpuPerTurn) },
    ...layers.map(([name, share]) => ({ what: `of the main thread in turns: ${name}`, measured: percent(share) })),
  ];
}

/** Each thread of the server writes a profile. The main thread has by far the most calls. */
async function largestOf(folder: string): Promise<Profile> {
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  const [largest] = texts.toSorted((a, b) => b.length - a.length);
  if (largest === undefined) throw new Error(`The server wrote no profile to ${folder}.`);
  return JSON.parse(largest) as Profile;
}

type Shares = [name: string, share: number][];

/** Counts the last `micros` only: before, the server starts and compiles. */
function timesOf({ nodes, samples, timeDeltas }: Profile, micros: number): { layers: Shares; callers: Shares } {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const layers = new Map<string, number>();
  const callers = new Map<string, number>();
  let [total, left] = [0, micros];
  for (let at = samples.length - 1; at >= 0 && left > 0; at--) {
    const took = timeDeltas[at] as number;
    left -= took;
    const id = samples[at] as number;
    const { functionName } = (byId.get(id) as ProfileNode).callFrame;
    if (functionName === '(idle)') continue;
    let place: string | undefined;
    for (let each: number | undefined = id; each !== undefined && place === undefined; each = parents.get(each)) {
      place = placeOf((byId.get(each) as ProfileNode).callFrame.url);
    }
    place ??= functionName === '(garbage collector)' ? 'garbage collection' : 'Node by itself';
    const layer = Object.entries(layersByPlace).find(([, pattern]) => pattern.test(place))?.[0] ?? place;
    total += took;
    layers.set(layer, (layers.get(layer) ?? 0) + took);
    callers.set(place, (callers.get(place) ?? 0) + took);
  }
  const sorted = (times: Map<string, number>): Shares =>
    [...times].map(([name, time]): Shares[number] => [name, time / total]).sort(([, a], [, b]) => b - a);
  return { layers: sorted(layers), callers: sorted(callers) };
}

/** The package or source file of ours; undefined for Node's own code. */
function placeOf(url: string): string | undefined {
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  const [, ours] = /\/packages\/(.*)$/.exec(url) ?? [];
  return dependency ?? ours?.replace('/src/', '/');
}

const layersByPlace = {
  'PostgreSQL: statements and results': /^pg(-|$)|^postgres-|^server\/platform\/(db|cluster)\//,
  'HTTP: requests, responses, streams': /^hono$|^@hono\/|^zod$|^contract\/|^server\/platform\/http\//,
  'the model call': /^undici$|^eventsource-parser$|^models\//,
  'agent loop, prompt': /^agent\//,
  'turns, runs, conversations': /^server\/engine\//,
  'money: holds, charges': /^server\/billing\//,
  'keys, events, audit': /^server\/account\//,
  'metrics, jobs, the rest of the platform': /^server\/platform\//,
  'other modules': /^server\//,
};

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
