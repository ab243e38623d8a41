import { useEffect, useState } from 'react';
import { callApi, useOrgAndMode, useRole, whileSignedIn } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Section, Waiting } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { exactTime, Status } from '../../parts/shown.tsx';

/** The user's computer: status, screen, active tabs and browser sign-ins. */
export function UserComputer({ userId }: { userId: string }) {
  const { may } = useRole();
  const warm = useChange('users.warm');
  return (
    <>
      <Section
        actions={
          <>
            {warm.answer && (
              <Status tone={warm.answer.status === 'ready' ? 'good' : 'accent'}>{warm.answer.status}</Status>
            )}
            <Button disabled={!may('users.warm')} isBusy={warm.isRunning} onClick={() => warm.run({ user_id: userId })}>
              {' '}
              Start{' '}
            </Button>
          </>
        }
        title="Computer"
      >
        <p className="max-w-prose text-quiet">
          The computer sleeps when idle and starts with the first step that needs it.
        </p>
        {warm.error && <Fault className="mt-2" error={warm.error} />}
      </Section>
      <Screen userId={userId} />
      <Watch userId={userId} />
      <Cookies userId={userId} />
    </>
  );
}

function Screen({ userId }: { userId: string }) {
  const place = useOrgAndMode();
  const [shot, setShot] = useState<{ url: string; at: string } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [isFollowing, setIsFollowing] = useState(false);
  useEffect(() => () => void (shot && URL.revokeObjectURL(shot.url)), [shot]);
  const take = async () => {
    setIsBusy(true);
    setError(null);
    try {
      const picture = await callApi(place, 'users.screenshot', { user_id: userId });
      const blob = new Blob([picture as Uint8Array<ArrayBuffer>], { type: 'image/jpeg' });
      setShot({ url: URL.createObjectURL(blob), at: new Date().toISOString() });
    } catch (failure) {
      setError(failure as Error);
      setIsFollowing(false);
    } finally {
      setIsBusy(false);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `take` is a new function on each render.
  useEffect(() => {
    if (!isFollowing || isBusy) return;
    const timer = setTimeout(() => void take(), 1500);
    return () => clearTimeout(timer);
  }, [isFollowing, isBusy]);
  return (
    <Section
      actions={
        <>
          <label className="flex items-center gap-1.5 text-sm">
            <input
              checked={isFollowing}
              className="size-4 accent-accent"
              onChange={(event) => setIsFollowing(event.target.checked)}
              type="checkbox"
            />
            Auto-refresh
          </label>
          <Button isBusy={isBusy && !isFollowing} onClick={() => void take()}>
            Take screenshot
          </Button>
          <RequestMenu request={{ row: 'users.screenshot', fields: { user_id: userId } }} />
        </>
      }
      title="Screen"
    >
      {error && <Fault className="mb-2" error={error} />}
      {shot ? (
        <figure>
          <img alt={`Screen of ${userId}`} className="panel w-full max-w-3xl" src={shot.url} />
          <figcaption className="mt-1 text-quiet text-sm">{exactTime(shot.at)}</figcaption>
        </figure>
      ) : (
        <EmptyState icon="screen" title="No screenshot yet">
          Taking a screenshot starts the computer.
        </EmptyState>
      )}
    </Section>
  );
}

type Frame = { tab: string; tag: string | null; stage: string | null; url: string | null; image: string | null };

/** Live frames of the tabs that browser/fetch has open. */
function Watch({ userId }: { userId: string }) {
  const place = useOrgAndMode();
  const [isOn, setIsOn] = useState(false);
  const [tabs, setTabs] = useState<Readonly<Record<string, Frame>>>({});
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    if (!isOn) return;
    const ending = new AbortController();
    const follow = async () => {
      const frames = await whileSignedIn(
        (client) =>
          client.browser.watch({ user_id: userId }, { signal: ending.signal }) as unknown as Promise<
            AsyncIterable<Frame & { type: string }>
          >,
        place,
      );
      for await (const frame of frames) {
        setTabs(({ [frame.tab]: _, ...others }) =>
          frame.type === 'browser.closed' ? others : { ...others, [frame.tab]: frame },
        );
      }
    };
    follow().catch((failure: unknown) => {
      if (ending.signal.aborted) return;
      setError(failure as Error);
      setIsOn(false);
    });
    return () => ending.abort();
  }, [isOn, userId, place]);
  const shown = Object.values(tabs);
  return (
    <Section
      actions={
        <Button
          onClick={() => {
            setError(null);
            setIsOn(!isOn);
          }}
        >
          {isOn ? 'Stop watching' : 'Watch'}
        </Button>
      }
      title="Active tabs"
    >
      {error && <Fault className="mb-2" error={error} />}
      {isOn && shown.length === 0 && <Waiting what="Waiting for an active tab" />}
      {!isOn && shown.length === 0 && (
        <p className="max-w-prose text-quiet">
          Watch the tabs that browser/fetch requests have open. Watching does not start the computer.
        </p>
      )}
      <ul className="grid gap-3 sm:grid-cols-2">
        {shown.map(({ tab, tag, stage, url, image }) => (
          <li className="panel p-2" key={tab}>
            {image?.startsWith('data:image/') ? (
              <img alt={`Tab ${tag ?? tab}`} className="w-full rounded-sm" src={image} />
            ) : (
              <p className="py-8 text-center text-quiet">hidden</p>
            )}
            <p className="mt-1 truncate text-sm">
              {tag ?? tab} {stage && <Status>{stage}</Status>} <span className="text-quiet">{url}</span>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Cookies({ userId }: { userId: string }) {
  const [typed, setTyped] = useState({ domain: '', names: '' });
  const [asked, setAsked] = useState<typeof typed | null>(null);
  const found = useOne(
    'browser.cookies',
    { user_id: userId, domain: asked?.domain ?? '', names: asked?.names ?? '' },
    { enabled: asked !== null },
  );
  return (
    <Section title="Browser sign-ins">
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked({ domain: typed.domain.trim(), names: typed.names.trim() });
        }}
      >
        <input
          aria-label="Site"
          className="control w-48"
          onChange={(event) => setTyped({ ...typed, domain: event.target.value })}
          placeholder="example.com"
          required
          value={typed.domain}
        />
        <input
          aria-label="Cookie names"
          className="control w-56"
          onChange={(event) => setTyped({ ...typed, names: event.target.value })}
          placeholder="session, auth"
          required
          value={typed.names}
        />
        <Button type="submit">Check</Button>
      </form>
      <p className="mt-1 text-quiet text-sm">
        Shows which of these cookies exist and when they expire, never their values.
      </p>
      {asked && found.isLoading && <Waiting />}
      {asked && found.error && <Fault className="mt-2" error={found.error} />}
      {asked && found.data && (
        <ul className="panel mt-2 divide-y">
          {found.data.cookies.map(({ name, domain, expires_at }) => (
            <li className="flex gap-3 px-3 py-1.5" key={`${name} ${domain}`}>
              <code className="font-mono">{name}</code>
              <span className="grow text-quiet">{domain}</span>
              <span>{expires_at ? `expires ${exactTime(expires_at)}` : 'session cookie'}</span>
            </li>
          ))}
          {found.data.cookies.length === 0 && <li className="px-3 py-1.5 text-quiet">None of these cookies exist.</li>}
        </ul>
      )}
    </Section>
  );
}
