import type { App } from './app.ts';
import { statusOf, userOf } from './connection.ts';
import type { ConnectionRow } from './tables.ts';

export const presentApp = ({ id, name, description, icon_url, connectable }: App) => ({
  object: 'app' as const,
  id,
  name,
  description,
  icon_url,
  connectable,
});

export function presentConnection(row: ConnectionRow, connectUrl: string | null) {
  const status = statusOf(row);
  return {
    object: 'connection' as const,
    id: row.id,
    app: row.app,
    user_id: userOf(row),
    status,
    connect_url: status === 'pending' ? connectUrl : null,
    account: row.account,
    created_at: row.created_at.toISOString(),
  };
}
