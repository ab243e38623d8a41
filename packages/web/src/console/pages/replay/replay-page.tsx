import { useParams } from '@tanstack/react-router';
import { useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ModelText } from '../../parts/model-text.tsx';
import { type Names, UserName, useNames } from '../../parts/names.tsx';
import { Loaded, Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status, Time, type Tone, Usd } from '../../parts/shown.tsx';

type Replay = RouteAnswer<'replays.get'>;
type Talk = Replay['talks'][number];
type Exchange = Talk['exchanges'][number];
type Side = Exchange['before'];

/** Past conversations answered by another version, compared side by side. */
export default function ReplayPage() {
  const { replay: replay_id = '' } = useParams({ strict: false }) as { replay?: string };
  const { may } = useRole();
  const replay = useOne('replays.get', { replay_id });
  const names = useNames();
  const isOver = replay.data?.finished_at != null;
  // Only its end is an event, so the progress is polled.
  useEvery(2000, replay.data !== undefined && !isOver, () => void replay.refetch());
  const cancel = useChange('replays.cancel');
  return (
    <Page
      above={{ to: '/tests', title: 'Tests' }}
      actions={
        replay.data &&
        (isOver ? (
          <DeleteButton
            back="/tests"
            fields={{ replay_id }}
            loses="The replay, its answers and their conversations are deleted. The original conversations stay. Its cost stays in the usage report."
            noun="replay"
            row="replays.delete"
            touches={['deployments']}
          />
        ) : (
          may('replays.cancel') && (
            <Button isBusy={cancel.isRunning} look="danger-quiet" onClick={() => cancel.run({ replay_id })}>
              <Icon name="stop" /> Cancel
            </Button>
          )
        ))
      }
      lead="Past conversations answered again by another version. Tool results are replayed from the record; no tool runs."
      request={replay.request}
      tabTitle="Replay"
      title={
        <span className="flex flex-wrap items-center gap-2">
          Replay {replay.data && `with version ${replay.data.version}`}
          {replay.data && <Status>{replay.data.status}</Status>}
        </span>
      }
    >
      {cancel.error && <Fault className="mb-4" error={cancel.error} />}
      <Loaded query={replay}>
        {({ counts, talks, cost_usd, created_at, id, error_code }) => (
          <>
            <p
              className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-1 text-quiet text-sm"
              data-counts=""
              role="status"
            >
              <span className="figures">{counts.same} same</span>
              <span className="figures">{counts.different} different</span>
              {counts.failed > 0 && <span className="figures text-danger">{counts.failed} failed</span>}
              {counts.running + counts.queued > 0 && (
                <span className="figures">{counts.running + counts.queued} remaining</span>
              )}
              <Usd value={cost_usd} />
              <Time at={created_at} />
              <Id>{id}</Id>
            </p>
            {error_code && <p className="mb-4 text-danger">{error_code}</p>}
            <ul className="flex flex-col gap-3">
              {talks.map((talk) => (
                <ReplayedTalk key={talk.conversation_id} names={names} talk={talk} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Page>
  );
}

const tones: Partial<Record<Talk['status'], Tone>> = { same: 'good', different: 'warn', failed: 'danger' };

function ReplayedTalk({ talk, names }: { talk: Talk; names: Names }) {
  const { status, exchanges, conversation_id, replayed_conversation_id, user_id, cost_usd, judged_by } = talk;
  const tone = tones[status];
  return (
    <li className="panel">
      <details open={status === 'different' || status === 'failed'}>
        <summary className="flex flex-wrap items-center gap-2 px-4 py-2.5">
          <Status {...(tone && { tone })}>{status}</Status>
          <span className="min-w-0 truncate font-medium">{exchanges[0]?.message ?? conversation_id}</span>
          <span className="figures ml-auto flex gap-3 text-quiet text-sm">
            <span>{user_id === null ? 'the org’s own agent' : <UserName id={user_id} names={names} />}</span>
            <Usd value={cost_usd} />
          </span>
        </summary>
        <div className="border-t px-4 py-3">
          {(talk.error_message ?? talk.error_code) && (
            <p className="mb-3 text-danger">{talk.error_message ?? talk.error_code}</p>
          )}
          <ol className="flex flex-col gap-5">
            {exchanges.map((exchange) => (
              <ReplayedExchange exchange={exchange} key={exchange.turn_id} />
            ))}
          </ol>
          <p className="mt-3 flex flex-wrap gap-4 text-quiet text-sm">
            {judged_by && <span>compared by {judged_by}</span>}
            <PageLink className="text-accent underline underline-offset-2" to={`/conversations/${conversation_id}`}>
              Original conversation
            </PageLink>
            {replayed_conversation_id && (
              <PageLink
                className="text-accent underline underline-offset-2"
                to={`/conversations/${replayed_conversation_id}`}
              >
                Replayed conversation and trace
              </PageLink>
            )}
          </p>
        </div>
      </details>
    </li>
  );
}

function ReplayedExchange({ exchange: { message, before, after, result, reason } }: { exchange: Exchange }) {
  return (
    <li>
      <p className="mb-2 whitespace-pre-wrap break-words">
        <span className="eyebrow block">User</span>
        {message}
      </p>
      <div className="grid gap-3 md:grid-cols-2">
        <Answered side={before} title={`Version ${before.version}, original`} />
        {after ? (
          <Answered side={after} title={`Version ${after.version}, replayed`} />
        ) : (
          <p className="text-quiet">Not reached.</p>
        )}
      </div>
      {result !== 'same' && reason && (
        <p className={`mt-2 text-sm ${result === 'failed' ? 'text-danger' : 'text-warn'}`}>{reason}</p>
      )}
    </li>
  );
}

function Answered({ side: { text, calls }, title }: { side: Side; title: string }) {
  return (
    <div className="min-w-0 rounded-md bg-muted/50 p-3">
      <p className="eyebrow">{title}</p>
      {calls.length > 0 && (
        <ul className="my-1.5 flex flex-col gap-1">
          {calls.map(({ tool, arguments: given, is_matched, is_error }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: calls have no other key.
            <li className="flex flex-wrap items-center gap-2 text-sm" key={index}>
              <code className="min-w-0 break-all font-mono text-xs">
                {tool}({JSON.stringify(given)})
              </code>
              {!is_matched && <Status tone="warn">only here</Status>}
              {is_error && <Status tone="danger">failed</Status>}
            </li>
          ))}
        </ul>
      )}
      {text === '' ? <p>–</p> : <ModelText text={text} />}
    </div>
  );
}
