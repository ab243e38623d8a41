import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Mode } from '@vestra/contract/route';
import { useState } from 'react';
import { callApi } from '../data/api.ts';
import type { RouteAnswer } from '../data/rows.ts';
import { kept } from '../kept.ts';
import { Button, buttonLook } from '../parts/button.tsx';
import { Fault } from '../parts/fault.tsx';
import { Waiting } from '../parts/page.tsx';
import { AccessFrame } from './access-frame.tsx';
import { type ConsoleSession, useAccess } from './session.ts';

type Asked = RouteAnswer<'mcpGrants.show'>;

/** An MCP client sends the browser here. The signed-in member authorizes the client for one org and mode. */
export default function AuthorizePage() {
  const { session } = useAccess();
  return session && <Consent session={session} />;
}

function Consent({ session }: { session: ConsoleSession }) {
  // The raw query: the router's parser would drop or merge parameters.
  const [query] = useState(() => location.search.slice(1));
  const [org, setOrg] = useState(() => startingOrg(session));
  const [mode, setMode] = useState<Mode>('test');
  const asked = useQuery({
    queryKey: [org, mode, 'mcpGrants.show', query],
    queryFn: () => callApi({ org, mode }, 'mcpGrants.show', { query }),
    placeholderData: (before) => before,
    retry: false,
    // The request must not change while the member is about to approve it.
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [deciding, setDeciding] = useState<'yes' | 'no' | 'done' | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const decide = async (approve: boolean) => {
    setDeciding(approve ? 'yes' : 'no');
    setError(null);
    try {
      const { return_url } = await callApi({ org, mode }, 'mcpGrants.decide', { query, approve });
      setDeciding('done');
      location.assign(return_url);
    } catch (failure) {
      setError(failure as Error);
      setDeciding(null);
    }
  };
  if (asked.error) {
    return (
      <AccessFrame
        lead="The request from this client is invalid. No access was granted."
        title="Cannot connect this client"
      >
        <Fault error={asked.error} />
      </AccessFrame>
    );
  }
  if (!asked.data) {
    return (
      <AccessFrame title="Connect an MCP client">
        <Waiting what="Loading the client" />
      </AccessFrame>
    );
  }
  const { client, refusal } = asked.data;
  if (refusal) return <Refused client={client} refusal={refusal} />;
  if (deciding === 'done') {
    return (
      <AccessFrame lead={`Continue in ${client.name}. You can close this page.`} title="Decision sent">
        {null}
      </AccessFrame>
    );
  }
  return (
    <AccessFrame title={`Authorize ${client.name}?`}>
      <WhoAsks asked={asked.data} />
      <div className="mt-5 flex flex-col gap-4">
        <label className="block">
          <span className="mb-1 block font-medium text-sm">Org</span>
          <select className="control pr-8" onChange={(event) => setOrg(event.target.value)} value={org}>
            {session.orgs.map(({ id, name, role }) => (
              <option key={id} value={id}>
                {name} ({role})
              </option>
            ))}
          </select>
        </label>
        <ModeChoice choose={setMode} mode={mode} />
        <Abilities mode={mode} scopes={asked.data.scopes} />
        <p className="text-quiet text-sm">
          It acts as you, {session.member.email}, within the limits of your role. You can revoke its access at any time
          under Your account.{' '}
          <Link
            className="text-accent underline underline-offset-2"
            search={{ next: `/authorize?${query}` } as never}
            to={'/sign-in' as never}
          >
            Use another account
          </Link>
        </p>
        {error && <Fault error={error} />}
        <div className="flex gap-2">
          <Button
            className="grow"
            disabled={deciding !== null || asked.isPlaceholderData}
            isBusy={deciding === 'yes'}
            look="primary"
            onClick={() => void decide(true)}
          >
            Authorize{' '}
          </Button>
          <Button
            className="grow"
            disabled={deciding !== null}
            isBusy={deciding === 'no'}
            onClick={() => void decide(false)}
          >
            {' '}
            Deny{' '}
          </Button>
        </div>
      </div>
    </AccessFrame>
  );
}

function startingOrg({ orgs, org }: ConsoleSession): string {
  const last = kept('org');
  return orgs.some(({ id }) => id === last) ? (last as string) : org.id;
}

function Refused({ client, refusal }: { client: Asked['client']; refusal: NonNullable<Asked['refusal']> }) {
  return (
    <AccessFrame lead={`The request from ${client.name} cannot be granted.`} title="Cannot connect this client">
      <p className="mb-4 rounded-md bg-warn-soft px-3 py-2.5 text-warn" role="alert">
        {refusal.message}
      </p>
      {/* The member follows this link themselves: an automatic redirect could lead to any address. */}
      <a className={buttonLook('plain')} href={refusal.return_url}>
        Go back to {client.address}
      </a>
    </AccessFrame>
  );
}

function WhoAsks({ asked: { client, goes_to } }: { asked: Asked }) {
  return (
    <>
      <dl className="panel mt-4 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 p-4 text-sm">
        <dt className="text-quiet">Client</dt>
        <dd className="min-w-0 break-words font-medium">{client.name}</dd>
        <dt className="text-quiet">Published by</dt>
        <dd className="min-w-0 break-words">{client.is_verified ? client.address : 'not verified'}</dd>
        <dt className="text-quiet">Access is sent to</dt>
        <dd className="min-w-0 break-words font-medium">{destination[goes_to.kind](goes_to.address)}</dd>
      </dl>
      {!client.is_verified && (
        <p className="mt-3 rounded-md bg-warn-soft px-3 py-2.5 text-sm text-warn">
          The name is not verified. Continue only if you have just started connecting this client yourself.
        </p>
      )}
    </>
  );
}

const destination: Record<Asked['goes_to']['kind'], (address: string) => string> = {
  site: (address) => address,
  computer: () => 'a program on this computer',
  app: (address) => `the app that opens ${address} links`,
};

function ModeChoice({ mode, choose }: { mode: Mode; choose: (mode: Mode) => void }) {
  return (
    <fieldset>
      <legend className="mb-1 font-medium text-sm">Mode</legend>
      <div className="flex flex-col gap-1.5">
        {(
          [
            ['test', 'Test', 'Drafts, test users and test money.'],
            ['live', 'Live', 'Live versions, real users and real money.'],
          ] as const
        ).map(([value, label, about]) => (
          <label className="flex gap-2" key={value}>
            <input
              checked={mode === value}
              className="mt-0.5 size-4 shrink-0 accent-accent"
              name="mode"
              onChange={() => choose(value)}
              type="radio"
            />
            <span>
              {label} <span className="block text-quiet text-sm">{about}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const abilities: Record<Asked['scopes'][number], string> = {
  runtime: 'Talk to agents, answer their questions, and read and change conversations, tasks, users, memory and files.',
  setup: 'Change the agents: deployments, knowledge, skills, tool servers, tests and webhooks.',
  admin: 'Manage the org: settings, limits, usage, the audit log and members.',
};

function Abilities({ scopes, mode }: { scopes: Asked['scopes']; mode: Mode }) {
  return (
    <section>
      <h2 className="mb-1 font-medium text-sm">Permissions in {mode} mode of this org</h2>
      <ul className="list-disc space-y-1 pl-5 text-sm">
        {scopes.map((scope) => (
          <li key={scope}>{abilities[scope]}</li>
        ))}
      </ul>
      <p className="mt-1.5 text-quiet text-sm">It cannot read API keys or secrets.</p>
    </section>
  );
}
