import { percent, usd } from './shown.tsx';

type SpendMeterProps = {
  label: string;
  spent: number;
  cap: number | null;
  /** The remaining amount under the org's cap if there is no own cap. Null means unlimited. */
  left?: number | null;
};

/** Spend as a share of the cap. */
export function SpendMeter({ label, spent, cap, left = null }: SpendMeterProps) {
  const most = cap ?? (left === null ? null : spent + left);
  const share = most === null ? 0 : most === 0 ? 1 : Math.min(1, spent / most);
  const tone = share >= 1 ? 'bg-danger' : share >= 0.8 ? 'bg-warn' : 'bg-accent';
  return (
    <div className="panel p-4">
      <p className="eyebrow">{label}</p>
      <p className="figures mt-1 font-semibold text-xl tracking-tight">{usd(spent)}</p>
      <div aria-hidden="true" className="mt-2 h-1.5 overflow-hidden rounded-full bg-muted">
        <div className={`h-full rounded-full ${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
      <p className="mt-1.5 text-quiet text-sm">
        {cap !== null
          ? `${percent(share)} of ${usd(cap)}`
          : left !== null
            ? `No user cap; ${usd(left)} left under the org’s cap`
            : 'No cap'}
      </p>
    </div>
  );
}
