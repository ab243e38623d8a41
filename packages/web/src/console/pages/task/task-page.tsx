import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi, useOrgAndMode, useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useList, useOne } from '../../data/queries.ts';
import type { ItemOf, Request, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { CostBar } from '../../parts/cost-bar.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { DeploymentLink } from '../../parts/deployment-link.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { AsWrittenToggle, ModelText } from '../../parts/model-text.tsx';
import { Facts, Loaded, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Status, Time } from '../../parts/shown.tsx';
import { TraceView } from '../../parts/trace/trace-view.tsx';
import { UserLink } from '../../parts/user-link.tsx';
import { WaitingCard } from '../../parts/waiting/waiting-card.tsx';
import { ScenarioOfTalk } from '../tests/scenario-of-talk.tsx';

type Task = RouteAnswer<'tasks.get'>;

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
            <DeleteButton
              back="/tasks"
              fields={{ task_id: task.data.id }}
              loses="The task, its trace and its outputs are deleted. A running task is stopped first. Its cost stays in the usage report."
              noun="task"
              row="tasks.delete"
              touches={['files', 'conversations']}
            />
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
  const trace = useOne('tasks.trace', { task_id: task.id, include: 'content' });
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
        {task.ask && (
          <Section title="Request">
            <p className="panel whitespace-pre-wrap break-words p-4">{task.ask}</p>
          </Section>
        )}
        {task.progress.length > 0 && <Plan steps={task.progress} />}
        <Section actions={task.result.text && <AsWrittenToggle />} title="Result">
          {task.result.text ? (
            <div className="panel p-4">
              <ModelText text={task.result.text} />
            </div>
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
            ['User', <UserLink id={task.user_id} key="user" />],
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
                <DeploymentLink id={task.deployment_id} key="deployment" version={task.deployment_version} />
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
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no other key.
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

type StoredFile = ItemOf<'files.list'>;

/** Output files. Download links are valid for 15 minutes, so each click requests a new one. */
function FileList({ files, title }: { files: { rows: readonly StoredFile[]; request: Request }; title: string }) {
  const place = useOrgAndMode();
  const { may } = useRole();
  const [fault, setFault] = useState<Error | null>(null);
  const [asked, setAsked] = useState<StoredFile | null>(null);
  if (files.rows.length === 0) return null;
  const download = async (file_id: string) => {
    setFault(null);
    try {
      const { download_url } = await callApi(place, 'files.get', { file_id });
      location.assign(download_url);
    } catch (error) {
      setFault(error as Error);
    }
  };
  return (
    <Section actions={<RequestMenu request={files.request} />} title={title}>
      <ul className="panel divide-y">
        {files.rows.map((file) => (
          <li className="flex items-center gap-3 px-3 py-1.5" key={file.id}>
            <button
              className="min-w-0 truncate text-accent underline underline-offset-2"
              onClick={() => void download(file.id)}
              type="button"
            >
              {file.filename}
            </button>
            <span className="figures ml-auto whitespace-nowrap text-quiet text-sm">
              {count(file.size_bytes ?? 0)} bytes
            </span>
            {may('files.delete') && (
              <Button aria-label={`Delete ${file.filename}`} look="quiet" onClick={() => setAsked(file)} shape="small">
                <Icon name="trash" />
              </Button>
            )}
          </li>
        ))}
      </ul>
      {fault && <Fault className="mt-2" error={fault} />}
      {asked && (
        <ConfirmChange
          act="Delete file"
          fields={{ file_id: asked.id }}
          loses={`${asked.filename ?? 'The file'} is deleted permanently. Existing links to it stop working.`}
          onClose={() => setAsked(null)}
          row="files.delete"
          title="Delete this file?"
        />
      )}
    </Section>
  );
}
