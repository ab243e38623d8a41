import { usd } from './shown.tsx';

/** What was spent of what may be spent. */
export function SpendMeter({ label, spent, cap }: { label: string; spent: number; cap: number | null }) {
  const share = cap === null ? 0 : cap === 0 ? 1 : Math.min(1, spent / cap);
  const tone = share >= 1 ? 'bg-danger' : share >= 0.8 ? 'bg-warn' : 'bg-accent';
  return (
    <div className="panel p-4">
      <p className="eyebrow">{label}</p>
      <p className="figures mt-1 font-semibold text-xl tracking-tight">{usd(spent)}</p>
      <div aria-hidden="true" className="mt-2 h-1.5 overflow-hidden rounded-full bg-muted">
        <div className={`h-full rounded-full ${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
      <p className="mt-1.5 text-quiet text-sm">
        {cap === null ? 'No cap of its own' : `${Math.round(share * 100)} % of ${usd(cap)}`}
      </p>
    </div>
  );
}
