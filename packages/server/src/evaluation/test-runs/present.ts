import { microsToUsd } from '@vestra/contract/money';
import type { TalliedRun } from './store.ts';
import type { TestRun } from './tables.ts';

export const presentTestRun = ({ tally, ...row }: TalliedRun): TestRun => ({
  object: 'test_run',
  id: row.id,
  deployment_id: row.deployment_id,
  version: row.version,
  mode: row.mode,
  status: row.status,
  promote_on_pass: row.promote_on_pass,
  counts: tally.counts,
  results: tally.results.map(({ cost_micros, error_code, error_message, ...result }) => ({
    ...result,
    cost_usd: microsToUsd(BigInt(cost_micros)),
    error_code,
    error_message,
  })),
  resumes: row.resumes,
  error_code: row.error_code,
  note: row.note,
  cost_usd: microsToUsd(BigInt(tally.cost_micros)),
  created_at: row.created_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  finished_at: row.finished_at?.toISOString() ?? null,
});
