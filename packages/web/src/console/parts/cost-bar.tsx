import { usd } from './shown.tsx';

const kinds = [
  ['orchestrator', 'Reply', 'bg-accent'],
  ['intelligence', 'Task', 'bg-good'],
  ['tools', 'Tools', 'bg-warn'],
  ['compute', 'Compute', 'bg-danger'],
  ['background', 'Background', 'bg-quiet'],
  ['voice', 'Voice', 'bg-strong-line'],
  ['improvement', 'Improvement', 'bg-line'],
  ['insight', 'Insights', 'bg-muted'],
] as const;

/** A cost with its breakdown. */
export function CostBar({ cost, breakdown }: { cost: number; breakdown: Readonly<Record<string, number>> }) {
  const whole = kinds.reduce((sum, [kind]) => sum + (breakdown[kind] ?? 0), 0);
  const parts = kinds.filter(([kind]) => (breakdown[kind] ?? 0) > 0);
  return (
    <div>
      <p className="figures font-semibold text-lg">{usd(cost)}</p>
      {parts.length > 0 && (
        <>
          <div aria-hidden="true" className="mt-1 flex h-2 gap-px overflow-hidden rounded-sm">
            {parts.map(([kind, , colour]) => (
              <span className={colour} key={kind} style={{ width: `${((breakdown[kind] ?? 0) / whole) * 100}%` }} />
            ))}
          </div>
          <ul className="mt-1.5 flex flex-wrap gap-x-3 text-quiet text-xs">
            {parts.map(([kind, label, colour]) => (
              <li className="flex items-center gap-1" key={kind}>
                <span aria-hidden="true" className={`size-2 rounded-sm ${colour}`} />
                {label} <span className="figures">{usd(breakdown[kind] ?? 0)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
