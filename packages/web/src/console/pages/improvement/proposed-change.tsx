import { Suspense } from 'react';
import type { RouteAnswer } from '../../data/rows.ts';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Waiting } from '../../parts/page.tsx';

type Change = NonNullable<RouteAnswer<'improvements.get'>['change']>;

const Diff = lazyPart(() => import('../../parts/editor/diff.tsx'));

/** The texts that a proposal changes, each as a diff with its reason. */
export function ProposedChange({
  change: { instructions, tools, documents },
  labels,
}: {
  change: Change;
  labels: [string, string];
}) {
  const parts = [
    ...(instructions ? [{ title: 'Instructions', ...instructions }] : []),
    ...tools.map((tool) => ({ title: `Description of ${tool.function}`, ...tool })),
    ...documents.map((document) => ({
      ...document,
      title: `${document.title} in ${document.notebook}${document.before === null ? ', new' : ''}`,
    })),
  ];
  if (parts.length === 0) return <p className="text-quiet">Nothing changes.</p>;
  return (
    <ul className="flex flex-col gap-3">
      {parts.map(({ title, reason, before, after }) => (
        <li className="panel" key={title}>
          <div className="border-b px-4 py-2.5">
            <h3 className="font-medium wrap-anywhere">{title}</h3>
            <p className="text-quiet wrap-anywhere">{reason}</p>
          </div>
          <div className="p-3">
            <Suspense fallback={<Waiting />}>
              <Diff after={after} before={before ?? ''} isYaml={false} labels={labels} />
            </Suspense>
          </div>
        </li>
      ))}
    </ul>
  );
}
