import { count } from '../../parts/shown.tsx';

type Counts = { queued: number; running: number; succeeded: number; failed: number; cancelled: number };

const parts = [
  ['succeeded', 'bg-good'],
  ['failed', 'bg-danger'],
  ['running', 'bg-accent'],
  ['cancelled', 'bg-strong-line'],
] as const;

/** The progress of a batch. The uncoloured part is queued. */
export function Progress({ counts, total, isTall = false }: { counts: Counts; total: number; isTall?: boolean }) {
  const words = parts.map(([name]) => `${count(counts[name])} ${name}`).join(', ');
  return (
    <span className={`flex w-full overflow-hidden rounded-full bg-muted ${isTall ? 'h-3' : 'h-1.5'}`} title={words}>
      <span className="sr-only">{words}</span>
      {parts.map(([name, colour]) => (
        <span
          className={`transition-[width] duration-500 ${colour}`}
          key={name}
          style={{ width: `${(counts[name] / Math.max(1, total)) * 100}%` }}
        />
      ))}
    </span>
  );
}

export function ProgressLegend({ counts }: { counts: Counts }) {
  return (
    <p className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {parts.map(([name, colour]) => (
        <span className="inline-flex items-center gap-1.5" key={name}>
          <span className={`size-2.5 rounded-xs ${colour}`} />
          {name} <span className="figures text-quiet">{count(counts[name])}</span>
        </span>
      ))}
      <span className="inline-flex items-center gap-1.5">
        <span className="size-2.5 rounded-xs border bg-muted" />
        queued <span className="figures text-quiet">{count(counts.queued)}</span>
      </span>
    </p>
  );
}
