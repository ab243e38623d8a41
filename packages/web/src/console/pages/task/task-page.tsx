import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useList, useOne } from '../../data/queries.ts';
import type { Answer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { CostBar } from '../../parts/cost-bar.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Facts, Loaded, Page, Section } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { TraceView } from '../../parts/trace/trace-view.tsx';
import { WaitingCard } from '../../parts/waiting/waiting-card.tsx';
import { ScenarioOfTalk } from '../tests/scenario-of-talk.tsx';
import { FileList } from './file-list.tsx';

type Task = Answer<'tasks.get'>;

export default function TaskPage() {
  const { task: task_id = '' } = useParams({ strict: false }) as { task?: string };
  const task = useOne('tasks.get', { task_id });
  return (
    <Page
      above={{ to: '/tasks', title: 'Tasks' }}
      actions={
        task.data && (
          <>
            {task.data.conversation_id && (
              <ScenarioOfTalk conversationId={task.data.conversation_id} taskId={task.data.id} />
            )}
            <DeleteTask task={task.data} />
          </>
        )
      }
      request={task.request}
      tabTitle={task.data?.title ?? 'Task'}
      title={
        <span className="flex flex-wrap items-center gap-2">
          {task.data?.title ?? 'Task'}
          {task.data && <Status>{task.data.status}</Status>}
        </span>
      }
    >
      <Loaded query={task}>{(found) => <TaskDetails task={found} />}</Loaded>
    </Page>
  );
}

function TaskDetails({ task }: { task: Task }) {
  const isRunning = ['queued', 'working', 'waiting'].includes(task.status);
  const trace = useOne('tasks.trace', { task_id: task.id });
  useEvery(2000, isRunning, () => void trace.refetch());
  const waiting = useList('interactions.list', { task_id: task.id } as never, { enabled: task.status === 'waiting' });
  const files = useList('files.list', { task_id: task.id } as never);
  return (
    <div className="grid gap-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
      <div className="min-w-0">
        {waiting.rows.map((each) => (
          <div className="mb-3" key={each.id}>
            <WaitingCard waiting={each} />
          </div>
        ))}
        {task.error && (
          <p className="mb-4 rounded-md bg-danger-soft px-3 py-2 text-danger">
            {task.error.message} <code className="font-mono text-xs">{task.error.code}</code>
          </p>
        )}
        {task.progress.length > 0 && <Plan steps={task.progress} />}
        <Section title="Result">
          {task.result.text ? (
            <p className="panel whitespace-pre-wrap break-words p-4">{task.result.text}</p>
          ) : (
            <p className="text-quiet">{isRunning ? 'Not finished yet.' : 'No result.'}</p>
          )}
          {task.result.truncated && (
            <p className="mt-1 text-sm text-warn">Truncated: the model reached its output limit.</p>
          )}
          {task.result.data !== null && task.result.data !== undefined && (
            <div className="mt-3">
              <CodeBlock code={JSON.stringify(task.result.data, null, 2)} label="Data" />
              <RequestMenu
                label="Copy the API request for this data"
                request={{ row: 'tasks.data', fields: { task_id: task.id } }}
              />
            </div>
          )}
          {task.outcome && (
            <p className="mt-3 flex gap-2">
              <Status tone={task.outcome.met ? 'good' : 'danger'}>{task.outcome.met ? 'met' : 'not met'}</Status>
              <span>{task.outcome.reason}</span>
            </p>
          )}
        </Section>
        <FileList files={files} title="Outputs" />
        <Section actions={<RequestMenu request={trace.request} />} title="Trace">
          <Loaded query={trace}>{(found) => <TraceView isRunning={isRunning} trace={found} />}</Loaded>
        </Section>
      </div>
      <aside aria-label="About this task" className="flex flex-col gap-4">
        <CostBar breakdown={task.cost_breakdown} cost={task.cost_usd} />
        <Facts
          rows={[
            ['Task', <Id key="id">{task.id}</Id>],
            ['User', task.user_id ?? 'the org’s agent'],
            [
              'Conversation',
              task.conversation_id && (
                <PageLink
                  className="break-all text-accent underline underline-offset-2"
                  key="conversation"
                  to={`/conversations/${task.conversation_id}`}
                >
                  {' '}
                  open{' '}
                </PageLink>
              ),
            ],
            [
              'Deployment',
              task.deployment_id && (
                <PageLink
                  className="text-accent underline underline-offset-2"
                  key="deployment"
                  to={`/deployments/${task.deployment_id}`}
                >
                  version {task.deployment_version}
                </PageLink>
              ),
            ],
            ['Started', <Time at={task.created_at} key="began" />],
            ['Updated', <Time at={task.updated_at} key="changed" />],
          ]}
        />
      </aside>
    </div>
  );
}

const marks = { pending: '○', in_progress: '◐', completed: '●' } as const;

function Plan({ steps }: { steps: Task['progress'] }) {
  return (
    <Section title="Plan">
      <ol className="panel divide-y">
        {steps.map(({ content, status }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has no other name than its place in the plan.
          <li className={`flex gap-2 px-3 py-1.5 ${status === 'completed' ? 'text-quiet' : ''}`} key={index}>
            <span aria-hidden="true" className={status === 'in_progress' ? 'animate-breathe text-accent' : ''}>
              {marks[status]}
            </span>
            <span className="min-w-0 break-words">{content}</span>
            <span className="sr-only">({status.replace('_', ' ')})</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function DeleteTask({ task }: { task: Task }) {
  const { may } = useRole();
  const go = useGo();
  const [isAsked, setIsAsked] = useState(false);
  if (!may('tasks.delete')) return null;
  return (
    <>
      <Button look="danger-quiet" onClick={() => setIsAsked(true)}>
        <Icon name="trash" /> Delete
      </Button>
      {isAsked && (
        <ConfirmChange
          act="Delete task"
          fields={{ task_id: task.id }}
          loses="The task, its trace and its outputs are deleted. A running task is stopped first. Its cost stays in the usage report."
          onClose={() => setIsAsked(false)}
          onDone={() => go('/tasks')}
          row="tasks.delete"
          title="Delete this task?"
          touches={['files', 'conversations']}
        />
      )}
    </>
  );
}
