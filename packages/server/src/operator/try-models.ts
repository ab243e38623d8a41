import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { CatalogueModel } from '@vestra/models/catalogue/catalogue';
import { retirementOf } from '@vestra/models/catalogue/retirement';
import { createModels, type Models } from '@vestra/models/models';
import type { MediaKind } from '@vestra/models/settings';
import { checks } from '@vestra/models/trial/checks';
import { startRecorder } from '@vestra/models/trial/recording';
import { createRedactor, secretsOf } from '@vestra/models/trial/redact';
import { type CheckReport, estimateTrial, runTrial } from '@vestra/models/trial/run-trial';
import type { Config } from '../platform/config/config.ts';
import { noSuchModel } from '../platform/config/no-such-model.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { version } from '../platform/version.ts';
import type { Progress } from './progress.ts';

type TrialOptions = {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  /** The ids of the models. None: the default model. */
  ids: readonly string[];
  /** Runs without asking. */
  isConfirmed: boolean;
  /** The file for a recording of all requests and responses. */
  recordTo: string | null;
  progress: Progress;
  /** Writes a line of the report as soon as it is known. */
  print: (line: string) => void;
  signal: AbortSignal;
};

type Estimate = { requests: number; usual_usd: number; most_usd: number };
type ModelReport = {
  model: string;
  provider: string;
  priced: boolean;
  estimate: Estimate;
  checks: CheckReport[];
  cost_usd: number;
  ms: number;
};
export type TrialReport = { ok: boolean; models: ModelReport[]; recording: string | null };

/** Runs the checks of each model against its real provider, with the operator's keys and at the operator's cost. */
export async function tryModels(options: TrialOptions): Promise<TrialReport> {
  const { config, env, ids, isConfirmed, recordTo, print } = options;
  const models = createModels(config.models, { attempts: 2 });
  if (config.asksForModels) await models.askVendors(options.signal);
  const entries = (ids.length === 0 ? [defaultOf(models)] : [...new Set(ids)]).map((id) => findModel(models, id));
  const plans = await Promise.all(
    entries.map(async (entry) => ({ entry, estimate: await estimateTrial(entry, readsOf(models, entry)) })),
  );
  for (const { entry, estimate } of plans) print(estimateLine(entry, estimate));
  if (!isConfirmed) await confirm(options.signal);
  const file = recordTo === null ? null : await openRecording(recordTo);
  const recorder = startRecorder(createRedactor(secretsOf(config.models, env)));
  const reports: ModelReport[] = [];
  try {
    for (const { entry, estimate } of plans) {
      if (options.signal.aborted) break;
      reports.push(await tryModel(options, { models, entry, estimate, recorder }));
    }
  } finally {
    recorder.close();
    if (file) await writeRecording(file, { reports, exchanges: recorder.exchanges() });
  }
  const isOk = reports.every(({ checks: rows }) =>
    rows.every(({ essential, status }) => !essential || status !== 'fails'),
  );
  return { ok: isOk && !options.signal.aborted, models: reports, recording: recordTo };
}

type Plan = {
  models: Models;
  entry: CatalogueModel;
  estimate: Estimate;
  recorder: ReturnType<typeof startRecorder>;
};

async function tryModel({ print, progress, signal }: TrialOptions, plan: Plan): Promise<ModelReport> {
  const { models, entry, estimate, recorder } = plan;
  const reads = readsOf(models, entry);
  const rows: CheckReport[] = [];
  const showNext = () => {
    const next = checks[rows.length];
    if (next) progress.show(`${entry.id}: ${rows.length + 1} of ${checks.length}, ${next.name} …`);
  };
  print(`\n${entry.id} (${entry.provider})`);
  showNext();
  for await (const row of runTrial({ model: models.model(entry.id), entry, reads, recorder, signal })) {
    rows.push(row);
    progress.end();
    print(rowLine(row, entry.priced));
    showNext();
  }
  progress.end();
  const report = {
    model: entry.id,
    provider: entry.provider,
    priced: entry.priced,
    estimate,
    checks: rows,
    cost_usd: rows.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
    ms: rows.reduce((sum, { ms }) => sum + ms, 0),
  };
  print(summaryLine(report));
  return report;
}

const readsOf =
  (models: Models, { id }: CatalogueModel) =>
  (kind: MediaKind) =>
    models.takes(id, kind);

function defaultOf({ catalogue }: Models): string {
  const { defaultModel } = catalogue;
  if (defaultModel === null)
    throw new StartFailure('VESTRA_DEFAULT_MODEL names a model that no configured provider has. Name a model to try.');
  if (defaultModel !== 'offline') return defaultModel;
  throw new StartFailure(
    'No model provider is configured, so there is nothing to try. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_COMPATIBLE_BASE_URL.',
  );
}

function findModel({ catalogue }: Models, asked: string): CatalogueModel {
  const id = asked === 'default' ? defaultOf({ catalogue } as Models) : asked;
  if (id === 'offline') throw new StartFailure('`offline` is the built-in stand-in: it has no provider to try.');
  const entry = catalogue.find('test', id);
  if (!entry) throw new StartFailure(noSuchModel(catalogue, id));
  const { isPast, sentence } = retirementOf(entry, new Date().toISOString().slice(0, 10));
  if (isPast) throw new StartFailure(sentence as string);
  return entry;
}

/** With the digits that a small amount needs. */
const dollars = (usd: number) => `$${usd.toFixed(usd >= 0.1 ? 2 : usd >= 0.001 ? 4 : 6)}`;

function estimateLine({ id, priced }: CatalogueModel, { requests, usual_usd, most_usd }: Estimate): string {
  const cost = priced
    ? `about ${dollars(usual_usd)}, at most ${dollars(most_usd)}`
    : 'at a price that is not known here';
  return `${id}: ${checks.length} checks, about ${requests} requests, ${cost}.`;
}

/** Without a terminal nobody can be asked, and money is only spent on request. */
async function confirm(signal: AbortSignal): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new StartFailure('These requests cost money. Add --yes to send them without a question.');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question('Send these requests to the provider? [y/N] ', { signal }).catch(() => '');
  asking.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new StartFailure('Nothing was sent.');
}

const width = Math.max(...checks.map(({ name }) => name.length));
const signs = { works: 'works  ', partly: 'partly ', fails: 'FAILS  ', skipped: 'skipped' } as const;

function rowLine({ check, status, note, cost_usd, ms, requests }: CheckReport, isPriced: boolean): string {
  const numbers =
    requests === 0
      ? ''
      : `${`${(ms / 1000).toFixed(1)} s`.padStart(7)}  ${(isPriced ? dollars(cost_usd) : '').padStart(9)}`;
  return `  ${signs[status]}  ${check.padEnd(width)}  ${numbers.padEnd(18)}  ${note}`.trimEnd();
}

function summaryLine({ checks: rows, cost_usd, ms, priced }: ModelReport): string {
  const count = (status: CheckReport['status']) => rows.filter((row) => row.status === status).length;
  const untried = checks.length - rows.length;
  const facts = [
    `${count('works')} of ${checks.length} checks work`,
    count('partly') > 0 && `${count('partly')} in part`,
    count('fails') > 0 && `${count('fails')} fail`,
    count('skipped') > 0 && `${count('skipped')} skipped`,
    untried > 0 && `${untried} not tried`,
  ].filter(Boolean);
  return `${facts.join(', ')}. ${priced ? `${dollars(cost_usd)}, ` : ''}${(ms / 1000).toFixed(1)} s.`;
}

/** Opened before the first request, so that no money is spent on a recording that cannot be written. */
async function openRecording(path: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EEXIST' ? 'The file exists already' : `The file cannot be created (${error.code})`;
    throw new StartFailure(`${why}: ${path}. Choose another file for --record.`);
  });
}

async function writeRecording(file: FileHandle, content: object): Promise<void> {
  const head = { vestra: version, recorded_at: new Date().toISOString() };
  await file.writeFile(`${JSON.stringify({ ...head, ...content }, null, 2)}\n`);
  await file.close();
}
