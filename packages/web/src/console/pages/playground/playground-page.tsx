import { useState } from 'react';
import { useDeploymentOrDefault } from '../../data/default-deployment.ts';
import { useList } from '../../data/queries.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Page, Waiting } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Column } from './column.tsx';

/**
 * A conversation with any version as any user: `?deployment=help&version=3&user=ada`. `with=4` compares a second version.
 */
export default function PlaygroundPage() {
  const [chosen, set] = useFilters('deployment', 'version', 'with', 'user', 'conversation', 'beside');
  const { deployment: found, list: deployments } = useDeploymentOrDefault(chosen.deployment);
  const open = deployments.rows.filter(({ status }) => status === 'active');
  const deployment = found?.status === 'active' ? found : undefined;
  const versions = useList(
    'deployments.listVersions',
    { deployment_id: deployment?.id ?? '' },
    { enabled: deployment !== undefined },
  );
  const [sent, setSent] = useState<{ text: string; at: number } | null>(null);
  const afresh = { conversation: undefined, beside: undefined };
  const isTalking = chosen.conversation !== undefined || chosen.beside !== undefined;

  if (deployments.isLoading) return <Waiting />;
  if (!deployment && !chosen.conversation) {
    return (
      <Page title="Playground">
        <EmptyState
          action={
            <PageLink className={buttonLook('primary')} to="/deployments/new">
              Create a deployment
            </PageLink>
          }
          icon="play"
          title="No deployments yet"
        >
          Talk to any version of a deployment as any user, watch every step, and answer its approvals and questions.
        </EmptyState>
      </Page>
    );
  }
  const choice = (
    label: string,
    value: string,
    onChange: (value: string) => void,
    options: readonly (readonly [string, string])[],
  ) => (
    <label className="flex items-center gap-1.5 text-quiet text-sm max-sm:flex-col max-sm:items-stretch">
      {label}
      <select
        className="control pr-8 text-foreground sm:w-auto sm:max-w-56"
        onChange={(event) => onChange(event.target.value)}
        value={value}
      >
        {options.map(([id, shown]) => (
          <option key={id} value={id}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
  const versionOptions = versions.rows.map(
    ({ version, is_live, is_draft }) =>
      [String(version), `v${version}${is_live ? ' live' : is_draft ? ' draft' : ''}`] as const,
  );
  const named = (version: string | undefined) =>
    deployment ? (version ? `${deployment.slug}@${version}` : deployment.slug) : '';
  return (
    <Page
      actions={
        isTalking && (
          <Button
            onClick={() => {
              setSent(null);
              set(afresh);
            }}
          >
            New conversation
          </Button>
        )
      }
      title="Playground"
    >
      {/* The choices are hidden once the conversation has started. */}
      <div className={isTalking ? 'hidden' : 'mb-4 flex flex-wrap items-center gap-3 max-sm:grid max-sm:grid-cols-2'}>
        {choice(
          'Deployment',
          deployment?.slug ?? '',
          (slug) => set({ deployment: slug, version: undefined, with: undefined, ...afresh }),
          open.map(({ slug, name }) => [slug, name]),
        )}
        {choice('Version', chosen.version ?? '', (version) => set({ version, ...afresh }), [
          ['', 'current'],
          ...versionOptions,
        ])}
        {choice('Compare with', chosen.with ?? '', (version) => set({ with: version, ...afresh }), [
          ['', 'nothing'],
          ...versionOptions,
        ])}
        <label className="flex items-center gap-1.5 text-quiet text-sm max-sm:flex-col max-sm:items-stretch">
          As user
          <input
            className="control text-foreground sm:w-36"
            defaultValue={chosen.user ?? ''}
            onBlur={(event) =>
              event.target.value !== (chosen.user ?? '') && set({ user: event.target.value || undefined })
            }
            placeholder="playground"
          />
        </label>
      </div>
      <div className={chosen.with ? 'grid gap-8 lg:grid-cols-2' : ''}>
        <Column
          conversationId={chosen.conversation}
          deployment={named(chosen.version)}
          isAlone={!chosen.with}
          key={`first ${chosen.conversation ?? ''}`}
          onBegun={(id) => set({ conversation: id })}
          onSend={(text) => setSent({ text, at: Date.now() })}
          user={chosen.user ?? 'playground'}
        />
        {chosen.with && (
          <Column
            conversationId={chosen.beside}
            deployment={named(chosen.with)}
            heard={sent}
            isAlone={false}
            key="second"
            onBegun={(id) => set({ beside: id })}
            user={chosen.user ?? 'playground'}
          />
        )}
      </div>
    </Page>
  );
}
