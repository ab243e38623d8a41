import { useQuery } from '@tanstack/react-query';
import type { Api } from '@vestra/contract/api';
import type { PlanOf } from '@vestra/contract/call';
import { useEffect, useState } from 'react';
import { callApi, useOrgAndMode } from '../../data/api.ts';
import { type PlanLine, planLines } from './plan-lines.ts';

type Plan = PlanOf<Api['deployments']['put']>;

/** Wait for a pause in typing, so that not every key sends a request. */
const pauseMs = 700;

/** The plan of the written file, once typing pauses; null while there is none. */
export function usePlan(fields: Readonly<Record<string, unknown>> | null): Plan | null {
  const place = useOrgAndMode();
  const written = fields === null ? null : JSON.stringify(fields);
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(written), pauseMs);
    return () => clearTimeout(timer);
  }, [written]);
  const { data } = useQuery({
    queryKey: [place.org, place.mode, 'deployments.put', { plan: settled }],
    queryFn: async () =>
      (await callApi(place, 'deployments.put', {
        ...JSON.parse(settled as string),
        dry_run: true,
      } as never)) as unknown as Plan,
    enabled: settled !== null && settled === written,
    // A conflict or a lost connection is reported by Apply.
    retry: false,
  });
  return settled === written ? (data ?? null) : null;
}

/** The changes that Apply would make, before it is pressed. */
export function PlanPreview({ plan }: { plan: Plan }) {
  if (plan.faults.length > 0) return null;
  return (
    <section aria-label="Plan" className="panel mt-3 p-3 text-sm">
      <p className="text-quiet">{outcomeOf(plan)}</p>
      {plan.changed.length > 0 && (
        <ul className="mt-2 grid gap-1">
          {plan.changed.map((change) => (
            <li className="wrap-anywhere" key={change.path}>
              <code className="font-mono text-xs">{change.path}</code> <Changed {...change} />
            </li>
          ))}
        </ul>
      )}
      {plan.warnings.map(({ param, message }) => (
        <p className="mt-1 text-warn" key={`${param} ${message}`}>
          <code className="font-mono text-xs">{param}</code> {message}
        </p>
      ))}
    </section>
  );
}

function Changed({ before, after }: Plan['changed'][number]) {
  const lines = planLines(before, after);
  if (lines) {
    return (
      <ul className="mt-0.5 mb-1 grid gap-0.5 border-l-2 pl-3">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines keep their order, and two can be equal.
          <li key={index}>
            <ChangedLine {...line} />
          </li>
        ))}
      </ul>
    );
  }
  const [old, now] = excerpts(before, after);
  return (
    <>
      {before !== null && <del className="text-danger">{old}</del>}
      {before !== null && after !== null && ' → '}
      {after !== null && <ins className="text-good no-underline">{now}</ins>}
    </>
  );
}

function ChangedLine({ sign, text }: PlanLine) {
  if (sign === ' ') return <span className="text-quiet">{text}</span>;
  return sign === '+' ? (
    <ins className="text-good no-underline">+ {text}</ins>
  ) : (
    <del className="text-danger no-underline">− {text}</del>
  );
}

function outcomeOf({ creates_version, promotes, tests_to_run: tests }: Plan): string {
  const after = tests.length === 0 ? '' : ` after its tests pass: ${tests.join(', ')}`;
  if (creates_version && promotes) return `Apply saves a version and promotes it${after}.`;
  if (creates_version) return 'Apply saves a version and does not promote it.';
  return promotes ? `Apply promotes the newest version${after}.` : 'Apply changes nothing.';
}

const longestExcerpt = 160;

/** Both values as text, cut around their first difference. */
function excerpts(before: unknown, after: unknown): [string, string] {
  const [old, now] = [before, after].map((value) => (typeof value === 'string' ? value : JSON.stringify(value))) as [
    string,
    string,
  ];
  let same = 0;
  while (same < old.length && same < now.length && old[same] === now[same]) same++;
  const start = same < longestExcerpt / 2 ? 0 : same - 20;
  const cut = (text: string) =>
    `${start > 0 ? '…' : ''}${text.slice(start, start + longestExcerpt)}${text.length > start + longestExcerpt ? '…' : ''}`;
  return [cut(old), cut(now)];
}
