import type { Api } from '@vestra/contract/api';
import type { Mode, ResponseOf } from '@vestra/contract/route';
import { integer, json, micros, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export type Replay = ResponseOf<Api['replays']['get']>;
export type ReplayedTalk = Replay['talks'][number];
export type ReplayedExchange = ReplayedTalk['exchanges'][number];

export const replays = table('replays', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  version: integer(),
  status: text<Replay['status']>().withDefault(),
  resumes: integer().withDefault(),
  error_code: text().nullable(),
  created_at: moment().withDefault(),
  started_at: moment().nullable(),
  finished_at: moment().nullable(),
});

export const replayTalks = table('replay_talks', {
  replay_id: text(),
  position: integer(),
  org_id: text(),
  mode: text<Mode>(),
  /** The real talk. */
  source_id: text(),
  user_id: text().nullable(),
  status: text<ReplayedTalk['status']>().withDefault(),
  /** The talk as it is replayed. */
  conversation_id: text().nullable(),
  exchanges: json<ReplayedExchange[]>().withDefault(),
  judged_by: text().nullable(),
  duration_ms: integer().withDefault(),
  cost_micros: micros().withDefault(),
  error_code: text().nullable(),
  error_message: text().nullable(),
  started_at: moment().nullable(),
});

export type ReplayRow = RowOf<typeof replays>;
export type TalkRow = RowOf<typeof replayTalks>;
