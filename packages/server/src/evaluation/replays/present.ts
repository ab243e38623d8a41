import { microsToUsd } from '@vestra/contract/money';
import type { WholeReplay } from './store.ts';
import type { Replay, ReplayedTalk } from './tables.ts';

export function presentReplay({ row, talks }: WholeReplay): Replay {
  const having = (status: ReplayedTalk['status']) => talks.filter((talk) => talk.status === status).length;
  return {
    object: 'replay',
    id: row.id,
    deployment_id: row.deployment_id,
    version: row.version,
    mode: row.mode,
    status: row.status,
    counts: {
      total: talks.length,
      queued: having('queued'),
      running: having('running'),
      same: having('same'),
      different: having('different'),
      failed: having('failed'),
    },
    talks: talks.map((talk) => ({
      conversation_id: talk.source_id,
      user_id: talk.user_id,
      status: talk.status,
      replayed_conversation_id: talk.conversation_id,
      exchanges: talk.exchanges,
      judged_by: talk.judged_by,
      duration_ms: talk.duration_ms,
      cost_usd: microsToUsd(talk.cost_micros),
      error_code: talk.error_code,
      error_message: talk.error_message,
    })),
    resumes: row.resumes,
    error_code: row.error_code,
    cost_usd: microsToUsd(talks.reduce((sum, { cost_micros }) => sum + cost_micros, 0n)),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
