import { useList } from '../../data/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Waiting } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Status, Time, usd } from '../../parts/shown.tsx';

/** The charges behind one task or conversation. */
export function LineItems({ of, onClose }: { of: string; onClose: () => void }) {
  const items = useList(
    'usage.lineItems',
    of.startsWith('task_') ? { task_id: of as never } : { conversation_id: of as never },
  );
  return (
    <Dialog description={of} isOpen onClose={onClose} title="Cost details" width="wide">
      {items.isLoading && <Waiting />}
      {items.error && <Fault error={items.error} retry={items.refetch} />}
      <ul className="divide-y">
        {items.rows.map((item) => (
          <li className="flex flex-wrap items-center gap-x-3 py-1.5" key={item.id}>
            <Status>{item.kind}</Status>
            <span className="min-w-0 grow truncate text-sm">
              {count(item.quantity)} {item.unit.replaceAll('_', ' ')}
              {item.model && <span className="text-quiet"> of {item.model}</span>}
              {item.estimated && <span className="text-quiet">, estimated</span>}
            </span>
            <span className="text-quiet text-sm">
              <Time at={item.created_at} />
            </span>
            <span className="figures w-20 text-right">{usd(item.cost_usd)}</span>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex items-center justify-end gap-2">
        {items.hasMore && (
          <button className="underline underline-offset-2" onClick={items.more} type="button">
            More
          </button>
        )}
        <RequestMenu request={items.request} />
      </div>
    </Dialog>
  );
}
