import { useList } from '../../data/queries.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Time, usd } from '../../parts/shown.tsx';

type Alert = { cap: string; threshold: number; cap_usd: number; spend_usd: number; user_id: string | null };

const capNames: Readonly<Record<string, string>> = {
  org_daily_usd: 'Daily org cap',
  org_monthly_usd: 'Monthly org cap',
  user_daily_usd: 'Daily user cap',
  user_monthly_usd: 'Monthly user cap',
};

/** The last times that spend came near a cap or reached it, newest first. */
export function Alerts() {
  const near = useList('events.list', { type: 'usage.threshold_reached' }, { limit: 10 });
  const reached = useList('events.list', { type: 'usage.cap_reached' }, { limit: 10 });
  const rows = [...near.rows, ...reached.rows]
    .sort((one, other) => other.created_at.localeCompare(one.created_at))
    .slice(0, 10);
  if (rows.length === 0) {
    return <p className="text-quiet">{near.isLoading || reached.isLoading ? 'Loading…' : 'No alerts yet.'}</p>;
  }
  return (
    <ul className="panel divide-y" data-alerts="">
      {rows.map(({ id, type, data, created_at }) => {
        const { cap, threshold, cap_usd, spend_usd, user_id } = data as unknown as Alert;
        const isReached = type === 'usage.cap_reached';
        return (
          <li key={id}>
            <PageLink className="flex items-center gap-3 px-3 py-2 hover:bg-muted/50" to={`/events/${id}`}>
              <span className={`min-w-0 break-words ${isReached ? 'text-danger' : ''}`}>
                {capNames[cap] ?? cap}
                {user_id !== null && ` of ${user_id}`}, {usd(cap_usd)},{' '}
                {isReached ? 'reached: new requests are rejected' : `${threshold} % used`}
              </span>
              <span className="figures ml-auto whitespace-nowrap text-quiet text-sm max-sm:hidden">
                {usd(spend_usd)} spent
              </span>
              <span className="text-quiet text-sm">
                <Time at={created_at} />
              </span>
            </PageLink>
          </li>
        );
      })}
    </ul>
  );
}
