import { useEffect, useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { say } from '../../parts/notices.tsx';
import { Section } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Status } from '../../parts/shown.tsx';

type Server = RouteAnswer<'mcpServers.get'>;
type Policy = 'open' | 'ask' | 'deny';

const policies: readonly (readonly [Policy, string])[] = [
  ['open', 'Default'],
  ['ask', 'Approval'],
  ['deny', 'Denied'],
];

/** The policy of each tool, including tools that the server no longer offers. */
export function ToolMatrix({ server }: { server: Server }) {
  const { may } = useRole();
  const check = useChange('mcpServers.check');
  const { run } = check;
  const mayCheck = may('mcpServers.check');
  const serverId = server.id;
  // Checks the server once on load, then on request.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `run` is a new function on each render.
  useEffect(() => {
    if (mayCheck) run({ server_id: serverId });
  }, [mayCheck, serverId]);
  const [chosen, setChosen] = useState<Readonly<Record<string, Policy>>>({});
  const save = useChange('mcpServers.update', {
    onDone: () => {
      say('Policy saved for all deployments');
      setChosen({});
    },
  });

  const offered = check.answer?.tools ?? [];
  const named = [...server.tools.deny, ...server.tools.require_approval].filter(
    (name) => !offered.some((tool) => tool.name === name),
  );
  const rows = [...offered, ...[...new Set(named)].map((name) => ({ name, description: '', read_only: null }))];
  const keptOf = (name: string): Policy =>
    server.tools.deny.includes(name) ? 'deny' : server.tools.require_approval.includes(name) ? 'ask' : 'open';
  const policyOf = (name: string): Policy => chosen[name] ?? keptOf(name);
  const changed = rows.filter(({ name }) => policyOf(name) !== keptOf(name)).length;
  const fields = {
    server_id: server.id,
    tools: {
      deny: rows.flatMap(({ name }) => (policyOf(name) === 'deny' ? [name] : [])),
      require_approval: rows.flatMap(({ name }) => (policyOf(name) === 'ask' ? [name] : [])),
    },
  };

  return (
    <Section
      actions={
        <>
          {check.answer && (
            <Status tone={check.answer.ok ? 'good' : 'danger'}>{check.answer.ok ? 'reachable' : 'unreachable'}</Status>
          )}
          <Button disabled={!mayCheck} isBusy={check.isRunning} onClick={() => check.run({ server_id: server.id })}>
            Check now
          </Button>
          <RequestMenu label="Copy the check as an API request" request={check.requestOf({ server_id: server.id })} />
        </>
      }
      title="Tools"
    >
      <p className="mb-3 max-w-prose text-quiet text-sm">
        Default: each deployment decides. Approval: every call needs approval. Denied: agents cannot see the tool.
      </p>
      {check.error && <Fault className="mb-3" error={check.error} />}
      {check.answer?.error && (
        <Fault className="mb-3" error={new Error(`${check.answer.error.message} (${check.answer.error.code})`)} />
      )}
      {(check.answer?.notes ?? []).map((note) => (
        <p className="mb-2 text-quiet text-sm" key={note}>
          {note}
        </p>
      ))}
      {rows.length === 0 ? (
        <EmptyState icon="server" title={check.isRunning ? 'Checking the server…' : 'No tools yet'}>
          Check the server to list its tools. Then set a policy for each tool.
        </EmptyState>
      ) : (
        <div className="panel overflow-x-auto">
          <table className="w-full text-left">
            <thead>
              <tr className="border-b bg-muted/60">
                <th className="eyebrow px-3 py-2" scope="col">
                  Tool
                </th>
                {policies.map(([policy, title]) => (
                  <th className="eyebrow w-15 px-1 py-2 text-center sm:w-24" key={policy} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, description, read_only }) => (
                <tr className="border-b last:border-0" key={name}>
                  <th className="max-w-0 px-3 py-2 font-normal" scope="row">
                    <span className="flex items-center gap-2">
                      <code className="truncate font-mono text-sm" title={name}>
                        {name}
                      </code>
                      {read_only === true && <Status>read only</Status>}
                      {read_only === null && check.answer?.ok && <Status tone="warn">no longer offered</Status>}
                    </span>
                    {description && (
                      <span className="line-clamp-2 text-quiet text-sm" title={description}>
                        {description}
                      </span>
                    )}
                  </th>
                  {policies.map(([policy, title]) => (
                    <td className="px-2 py-2 text-center" key={policy}>
                      <input
                        aria-label={`${name}: ${title}`}
                        checked={policyOf(name) === policy}
                        className="size-4 accent-accent"
                        disabled={!may('mcpServers.update')}
                        name={`policy ${name}`}
                        onChange={() => setChosen((all) => ({ ...all, [name]: policy }))}
                        type="radio"
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {save.error && <Fault className="mt-3" error={save.error} />}
      {changed > 0 && (
        <div className="mt-3 flex flex-wrap items-center gap-2">
          <span className="grow text-quiet text-sm">
            {changed === 1 ? '1 tool' : `${changed} tools`} changed. This applies to all deployments in both modes.
          </span>
          <RequestMenu label="Copy this change as an API request" request={save.requestOf(fields)} />
          <Button onClick={() => setChosen({})}>Discard</Button>
          <Button isBusy={save.isRunning} look="primary" onClick={() => save.run(fields)}>
            Save policy
          </Button>
        </div>
      )}
    </Section>
  );
}
