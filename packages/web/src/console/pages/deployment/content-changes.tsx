import { Suspense, useState } from 'react';
import { useOne } from '../../data/queries.ts';
import type { Answer } from '../../data/rows.ts';
import { Icon } from '../../parts/icons.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Loaded, Section, Waiting } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Status, type Tone } from '../../parts/shown.tsx';

const Diff = lazyPart(() => import('../../parts/editor/diff.tsx'));

type Change = Answer<'deployments.contentChanges'>['changes'][number];

const tones: Readonly<Record<Change['change'], Tone>> = { added: 'good', removed: 'danger', changed: 'accent' };

/** What the documents and skills of one version say, and said in another. */
export function ContentChanges({ deploymentId, from, to }: { deploymentId: string; from: string; to: string }) {
  const fields = { deployment_id: deploymentId, version: to, from };
  const changes = useOne('deployments.contentChanges', fields as never);
  return (
    <Section actions={<RequestMenu request={changes.request} />} className="mt-6" title="Documents and skills">
      <Loaded query={changes}>
        {({ changes: found, left_out }) => (
          <>
            {found.length === 0 && <p className="text-quiet">No differences.</p>}
            <ul className="flex flex-col gap-2" data-content-changes="">
              {found.map((change, at) => (
                <OneChange
                  change={change}
                  isOpenFirst={at === 0}
                  // biome-ignore lint/suspicious/noArrayIndexKey: a notebook may have several documents of one title.
                  key={`${from} ${to} ${at}`}
                  labels={[`Version ${from}`, `Version ${to}`]}
                />
              ))}
            </ul>
            {left_out > 0 && <p className="mt-2 text-quiet">{count(left_out)} more are not shown.</p>}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function OneChange({
  change,
  labels,
  isOpenFirst,
}: {
  change: Change;
  labels: [string, string];
  isOpenFirst: boolean;
}) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  return (
    <li className="panel overflow-hidden">
      <button
        aria-expanded={isOpen}
        className="flex w-full flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2 text-left hover:bg-muted/60"
        onClick={() => setIsOpen(!isOpen)}
        type="button"
      >
        <Icon className={`size-4 text-quiet ${isOpen ? 'rotate-90' : ''}`} name="chevron" />
        <span className="min-w-0 break-all font-medium">{change.name}</span>
        <Status tone={tones[change.change]}>{change.change}</Status>
        <span className="ml-auto flex min-w-0 items-center gap-1 text-quiet text-sm">
          <Icon name={change.kind === 'document' ? 'book' : 'skill'} />
          <span className="truncate">{change.of_name}</span>
        </span>
      </button>
      {isOpen && (
        <div className="border-t p-3">
          {change.text_left_out ? (
            <p className="text-quiet">The changes are too large to show all texts. This one is omitted.</p>
          ) : (
            <Suspense fallback={<Waiting />}>
              <Diff after={change.after ?? ''} before={change.before ?? ''} isYaml={false} labels={labels} />
            </Suspense>
          )}
        </div>
      )}
    </li>
  );
}
