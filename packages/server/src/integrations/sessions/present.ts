import { sharedNow } from '../../platform/db/clock.ts';
import { statusOf } from './session.ts';
import type { SessionRow } from './tables.ts';

/** `isPrivate`: whether those who only look on see nothing of the screen for now. */
export const presentSession = (row: SessionRow, isPrivate = false, now: number = sharedNow()) => ({
  object: 'session' as const,
  id: row.id,
  user_id: row.user_id,
  conversation_id: row.conversation_id,
  deployment_id: row.deployment_id,
  chat: row.chat,
  screen: row.screen === 'false' ? (false as const) : row.screen,
  voice: row.voice !== null,
  memory: row.memory,
  expires_at: row.expires_at.toISOString(),
  status: statusOf(row, now),
  opening: row.opening,
  ...(isPrivate && row.screen === 'view' && { screen_paused: true as const }),
});
