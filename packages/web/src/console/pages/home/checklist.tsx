import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useDeploymentOrDefault } from '../../data/default-deployment.ts';
import { useList } from '../../data/queries.ts';
import { keep, kept } from '../../kept.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';

type Step = { title: string; hint: string; to: string; search?: Record<string, string>; isDone: boolean };

/** Progress is derived from the org's data. `isUsed`: somebody has talked to an agent. */
export function useSteps(): { steps: Step[]; isUsed: boolean; isLoading: boolean } {
  const { may } = useRole();
  const { deployment, list: deployments } = useDeploymentOrDefault(undefined);
  const conversations = useList('conversations.list', {}, { limit: 1 });
  const keys = useList('keys.list', {}, { limit: 100, enabled: may('keys.list') });
  const members = useList('members.list', {}, { limit: 5, enabled: may('members.list') });
  // Every org starts with default caps. Only the audit log shows whether someone changed them.
  const limitChanges = useList(
    'auditLog.list',
    { action: 'limits.updated' },
    { limit: 20, enabled: may('auditLog.list') },
  );

  const steps: (Step | false)[] = [
    may('deployments.put') && {
      title: 'Write your first agent',
      hint: 'Write one file, or answer a few questions.',
      to: deployment ? `/deployments/${deployment.id}` : '/deployments/new',
      isDone: deployment !== undefined,
    },
    may('conversations.create') && {
      title: 'Talk to it',
      hint: 'In the playground, with a trace of every step.',
      to: '/playground',
      isDone: conversations.rows.length > 0,
    },
    may('deployments.promote') && {
      title: 'Promote a version to live',
      hint: 'When its tests pass, or immediately.',
      to: deployment ? `/deployments/${deployment.id}/versions` : '/deployments',
      isDone: deployments.rows.some(({ live_version }) => live_version !== null),
    },
    may('keys.list') && {
      title: 'Call it from your app',
      hint: 'From your server, with an API key.',
      to: '/keys',
      isDone: keys.rows.some(({ last_used_at }) => last_used_at !== null),
    },
    may('limits.update') && {
      title: 'Set a cap',
      hint: 'Limit spend per day or month.',
      to: '/limits',
      isDone: limitChanges.rows.some(({ details }) => Object.keys((details.caps as object) ?? {}).length > 0),
    },
    may('members.list') && {
      title: 'Invite a colleague',
      hint: 'As owner, admin, developer or viewer.',
      to: '/members',
      isDone: members.rows.length > 1,
    },
  ];
  const isLoading = [deployments, conversations, keys, members, limitChanges].some((query) => query.isLoading);
  return { steps: steps.filter((step) => step !== false), isUsed: conversations.rows.length > 0, isLoading };
}

/** The setup steps of a new org. */
export function Checklist({ steps: shown }: { steps: readonly Step[] }) {
  const [isHidden, setIsHidden] = useState(kept('checklist') === 'hidden');
  const done = shown.filter(({ isDone }) => isDone).length;
  if (isHidden || done === shown.length) return null;
  return (
    <Section
      actions={
        <>
          <span className="figures text-quiet text-sm">
            {done} of {shown.length}
          </span>
          <Button
            look="quiet"
            onClick={() => {
              keep('checklist', 'hidden');
              setIsHidden(true);
            }}
            shape="small"
          >
            Hide
          </Button>
        </>
      }
      title="Getting started"
    >
      <ol className="panel divide-y">
        {shown.map(({ title, hint, to, search, isDone }) => (
          <li key={title}>
            <PageLink
              className="flex items-center gap-3 px-3 py-2.5 hover:bg-muted/50"
              to={to}
              {...(search && { search })}
            >
              <span
                className={`grid size-5 shrink-0 place-items-center rounded-full border ${isDone ? 'border-good bg-good-soft text-good' : 'border-strong-line'}`}
              >
                {isDone && <Icon className="size-3.5" name="check" />}
                <span className="sr-only">{isDone ? 'Done:' : 'To do:'}</span>
              </span>
              <span className={isDone ? 'text-quiet line-through' : 'font-medium'}>{title}</span>
              <span className="ml-auto text-right text-quiet text-sm max-sm:hidden">{hint}</span>
              <Icon className="size-4 text-quiet max-sm:ml-auto" name="chevron" />
            </PageLink>
          </li>
        ))}
      </ol>
    </Section>
  );
}
