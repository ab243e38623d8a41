import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { Request, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, LoadedPage, Section } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { count, Status, Time } from '../../parts/shown.tsx';
import { UserLink } from '../../parts/user-link.tsx';
import { inWords, nextTimes, ownTimeZone } from './next-times.ts';
import { RoutineForm } from './routine-form.tsx';
import { RunCalendar } from './run-calendar.tsx';
import { useRuns } from './runs.ts';

type Routine = RouteAnswer<'routines.get'>;

export default function RoutinePage() {
  const { routine: routine_id } = useParams({ strict: false }) as { routine: string };
  const routine = useOne('routines.get', { routine_id });
  return (
    <LoadedPage above={{ to: '/routines', title: 'Routines' }} query={routine} title="Routine">
      {(found) => <Shown request={routine.request} routine={found} />}
    </LoadedPage>
  );
}

function Shown({ routine, request }: { routine: Routine; request: Request }) {
  const { may } = useRole();
  const go = useGo();
  const calling = useDialogInAddress('call');
  const of = { routine_id: routine.id };
  const run = useChange('routines.run', {
    touches: ['conversations'],
    onDone: ({ status, conversation_id }) => {
      say(status === 'started' ? 'Run started' : `Run ${status}`);
      if (conversation_id) go(`/conversations/${conversation_id}`);
    },
  });
  const turn = useChange('routines.update', {
    onDone: ({ enabled }) => say(enabled ? 'Routine resumed' : 'Routine paused'),
  });
  const isOnCall = routine.kind === 'trigger';
  return (
    <ResourcePage
      above={{ to: '/routines', title: 'Routines' }}
      actions={
        <>
          <Button disabled={!may('routines.run')} isBusy={run.isRunning} look="primary" onClick={() => run.run(of)}>
            Run now
          </Button>
          {isOnCall && (
            <Button disabled={!may('routines.trigger')} onClick={() => calling.open()}>
              {' '}
              Trigger{' '}
            </Button>
          )}
          <Button
            disabled={!may('routines.update')}
            isBusy={turn.isRunning}
            onClick={() => turn.run({ ...of, enabled: !routine.enabled })}
          >
            {routine.enabled ? 'Pause' : 'Resume'}
          </Button>
        </>
      }
      edit={{
        row: 'routines.update',
        form: (close) => (
          <RoutineForm
            onClose={close}
            onDone={() => {
              say('Saved');
              close();
            }}
            routine={routine}
          />
        ),
      }}
      remove={{
        row: 'routines.delete',
        fields: of,
        noun: 'routine',
        loses: (
          <>
            <strong className="break-all text-foreground">{routine.name}</strong> is deleted and does not run again. Its
            conversation is kept. To stop it temporarily, pause it.
          </>
        ),
        search: routine.user_id === null ? {} : { user_id: routine.user_id },
      }}
      request={request}
      title={routine.name}
    >
      {(run.error ?? turn.error) && <Fault className="mb-4" error={(run.error ?? turn.error) as Error} />}
      {routine.last_error && (
        <div className="mb-4 rounded-md border border-danger/30 bg-danger-soft px-3 py-2.5">
          The last scheduled run did not start: {routine.last_error.message}{' '}
          <code className="font-mono text-quiet text-xs">{routine.last_error.code}</code>
        </div>
      )}
      <div className="grid items-start gap-6 *:min-w-0 lg:grid-cols-2">
        <Section title="Routine">
          <Facts
            rows={[
              ['Id', <Id key="id">{routine.id}</Id>],
              ['Status', <Status key="state">{routine.enabled ? routine.status : 'paused'}</Status>],
              ['User', <UserLink id={routine.user_id} key="user" />],
              [
                'Prompt',
                <span className="whitespace-pre-wrap" key="ask">
                  {routine.ask}
                </span>,
              ],
              [
                'Trigger',
                routine.schedule
                  ? (routine.schedule.every ?? <code className="font-mono">{routine.schedule.cron}</code>)
                  : 'API call',
              ],
              ['Time zone', routine.schedule?.timezone],
              ['Runs', count(routine.run_count)],
              ['Last run', <Time at={routine.last_run_at} key="last" />],
              [
                'Conversation',
                routine.conversation_id && (
                  <PageLink
                    className="text-accent underline underline-offset-2"
                    key="conversation"
                    to={`/conversations/${routine.conversation_id}`}
                  >
                    open
                  </PageLink>
                ),
              ],
            ]}
          />
        </Section>
        {routine.schedule ? <NextTimes routine={routine} /> : <HowToCall routine={routine} />}
      </div>
      <Runs routine={routine} />
      {calling.value && <CallRoutine onClose={calling.close} routineId={routine.id} />}
    </ResourcePage>
  );
}

function Runs({ routine }: { routine: Routine }) {
  const routines = useMemo(() => [routine], [routine]);
  const { runs, error } = useRuns(routines, ({ id }) => id === routine.id);
  return (
    <Section title="Runs">
      <RunCalendar error={error} isOfOne runs={runs} timezone={routine.schedule?.timezone ?? ownTimeZone()} />
    </Section>
  );
}

function NextTimes({ routine }: { routine: Routine }) {
  const times = nextTimes(routine);
  return (
    <Section title={times.length > 1 ? 'Next ten runs' : 'Next run'}>
      {times.length === 0 ? (
        <p className="text-quiet">{routine.enabled ? 'No more runs.' : 'No runs while paused.'}</p>
      ) : (
        <ol className="panel divide-y" data-next-times="">
          {times.map((at) => (
            <li className="flex gap-3 px-3 py-1.5" key={at.toISOString()}>
              <time className="grow" dateTime={at.toISOString()}>
                {inWords(at, routine.schedule?.timezone ?? 'UTC')}
              </time>
              <span className="text-quiet text-sm">
                <Time at={at.toISOString()} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function HowToCall({ routine }: { routine: Routine }) {
  return (
    <Section title="API call">
      <CodeBlock
        code={`curl -X POST '${routine.trigger_url ?? ''}' \\\n  -H "Authorization: Bearer $VESTRA_KEY" \\\n  -H 'Content-Type: application/json' -d '{}'`}
        label="The agent receives the payload, at most 4 KB:"
      />
      {routine.trigger?.filters && (
        <CodeBlock code={JSON.stringify(routine.trigger.filters, null, 2)} label="Runs only if the payload contains:" />
      )}
    </Section>
  );
}

function CallRoutine({ routineId, onClose }: { routineId: string; onClose: () => void }) {
  const [text, setText] = useState('{}');
  const [wrong, setWrong] = useState<Error | null>(null);
  const go = useGo();
  const call = useChange('routines.trigger', {
    touches: ['conversations'],
    onDone: ({ status, conversation_id }) => {
      say(status === 'started' ? 'Run started' : `Run ${status}`);
      if (conversation_id) go(`/conversations/${conversation_id}`);
      else onClose();
    },
  });
  const run = () => {
    setWrong(null);
    try {
      call.run({ routine_id: routineId, body: JSON.parse(text) });
    } catch (error) {
      setWrong(new Error(`Invalid JSON: ${(error as Error).message}`));
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title="Trigger this routine">
      <label className="block">
        <span className="mb-1 block font-medium text-sm">Payload</span>
        <textarea
          className="control h-auto py-1.5 font-mono text-sm"
          onChange={(event) => setText(event.target.value)}
          rows={6}
          spellCheck={false}
          value={text}
        />
      </label>
      {(wrong ?? call.error) && <Fault className="mt-3" error={(wrong ?? call.error) as Error} />}
      <DialogActions>
        <span className="mr-auto">
          <RequestMenu
            label="Copy this change as an API request"
            request={{ row: 'routines.trigger', fields: { routine_id: routineId } }}
          />
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button isBusy={call.isRunning} look="primary" onClick={run}>
          {' '}
          Trigger{' '}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
