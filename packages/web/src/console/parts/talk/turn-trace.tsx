import { useEffect, useRef } from 'react';
import { useOne } from '../../data/queries.ts';
import { Loaded, Section } from '../page.tsx';
import { PageLink } from '../page-link.tsx';
import { RequestMenu } from '../request-menu.tsx';
import { TraceView } from '../trace/trace-view.tsx';
import type { Sentence } from './sentence.ts';

/** The trace of a reply and of its task. It refreshes with every event. */
export function TurnTrace({
  conversationId,
  turnId,
  isRunning,
  newest,
  said,
}: {
  conversationId: string;
  turnId: string;
  isRunning: boolean;
  newest: number;
  said?: Sentence | undefined;
}) {
  const trace = useOne('conversations.trace', {
    conversation_id: conversationId,
    turn_id: turnId,
    include: 'content',
  });
  const taskId = trace.data?.turn_id === turnId ? trace.data.task_id : null;
  const ofTask = useOne('tasks.trace', { task_id: taskId ?? '', include: 'content' }, { enabled: taskId !== null });
  const again = useRef(() => {});
  again.current = () => {
    void trace.refetch();
    if (taskId !== null) void ofTask.refetch();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each event may be a step.
  useEffect(() => again.current(), [newest]);
  return (
    <>
      <Section actions={<RequestMenu request={trace.request} />} title="Trace of the reply">
        <Loaded query={trace}>
          {(found) => <TraceView isRunning={isRunning} key={found.turn_id} said={said} trace={found} />}
        </Loaded>
      </Section>
      {taskId !== null && (
        <Section
          actions={
            <PageLink className="text-accent text-sm underline underline-offset-2" to={`/tasks/${taskId}`}>
              Open the task
            </PageLink>
          }
          title="Trace of the task"
        >
          <Loaded query={ofTask}>{(found) => <TraceView isRunning={isRunning} trace={found} />}</Loaded>
        </Section>
      )}
    </>
  );
}
