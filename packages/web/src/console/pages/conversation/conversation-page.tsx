import { useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { callApi, useOrgAndMode, useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { CostBar } from '../../parts/cost-bar.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { DeploymentLink } from '../../parts/deployment-link.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Status, Time, Usd } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Neighbours } from '../../parts/talk/neighbours.tsx';
import type { Sentence } from '../../parts/talk/sentence.ts';
import { Thread } from '../../parts/talk/thread.tsx';
import { TurnTrace } from '../../parts/talk/turn-trace.tsx';
import { useTalk } from '../../parts/talk/use-talk.ts';
import { UserLink, useUserName } from '../../parts/user-link.tsx';
import { ScenarioOfTalk } from '../tests/scenario-of-talk.tsx';

export default function ConversationPage() {
  const { conversation: id = '' } = useParams({ strict: false }) as { conversation?: string };
  // The stream and its state belong to one conversation.
  return <OneConversation id={id} key={id} />;
}

/** One conversation: thread, events, cost and the trace of a turn (`?turn=…`). */
function OneConversation({ id }: { id: string }) {
  const [{ turn, show }, set] = useFilters('turn', 'show');
  const talk = useTalk(id);
  const { may } = useRole();
  const stop = useChange('conversations.stop', { touches: ['tasks', 'interactions'], onDone: () => say('Stopped') });
  const conversation = talk.conversation.data;
  const chosenTurn = turn ?? talk.said.at(-1)?.turn_id ?? null;
  const isRunning = conversation !== undefined && conversation.status !== 'idle';
  const userName = useUserName(conversation?.user_id);
  const aside = useRef<HTMLElement>(null);
  const [said, setSaid] = useState<Sentence>();
  const choose = (turnId: string, sentence?: Sentence) => {
    set({ turn: turnId });
    setSaid(sentence);
    // In one column the trace is below the thread.
    if (matchMedia('(width < 64rem)').matches) aside.current?.scrollIntoView();
  };
  const at = `/conversations/${id}`;
  return (
    <Page
      above={{ to: '/conversations', title: 'Conversations' }}
      actions={
        <>
          <Neighbours id={id} />
          {isRunning && may('conversations.stop') && (
            <Button isBusy={stop.isRunning} look="danger-quiet" onClick={() => stop.run({ conversation_id: id })}>
              <Icon name="stop" /> Stop
            </Button>
          )}
          {talk.said.length > 0 && <ScenarioOfTalk conversationId={id} />}
          {may('conversations.send') && (
            <PageLink
              className={buttonLook('plain')}
              search={{ conversation: id }}
              title="Continue in the playground"
              to="/playground"
            >
              Playground
            </PageLink>
          )}
          {conversation && (
            <DeleteButton
              back="/conversations"
              fields={{ conversation_id: id }}
              loses="The conversation, its messages, tasks, traces and files are deleted. What runs is stopped first. Its cost stays in the usage report."
              noun="conversation"
              row="conversations.delete"
              touches={['tasks', 'files', 'interactions']}
            />
          )}
        </>
      }
      isWide
      lead={
        conversation && (
          <span className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
            {conversation.deployment_id && (
              <DeploymentLink id={conversation.deployment_id} version={conversation.deployment_version} />
            )}
            <span>
              Started <Time at={conversation.created_at} />
            </span>
            <Usd value={conversation.cost_usd} />
          </span>
        )
      }
      request={talk.conversation.request}
      tabTitle={userName ?? 'Conversation'}
      title={
        <span className="flex flex-wrap items-center gap-2">
          {userName ?? 'Conversation'}
          {talk.status && <Status>{talk.status}</Status>}
        </span>
      }
    >
      {stop.error && <Fault className="mb-4" error={stop.error} />}
      <div className="grid gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
        <div className="min-w-0">
          <Tabs
            chosen={show ?? 'thread'}
            label="Sections"
            tabs={[
              { id: 'thread', title: 'Thread', to: at },
              { id: 'events', title: 'Events', to: at, search: { show: 'events' } },
            ]}
          />
          {show === 'events' ? (
            <EventLog conversationId={id} newest={talk.events.length} />
          ) : (
            <Thread chosenTurn={chosenTurn} onChooseTurn={choose} talk={talk} />
          )}
        </div>
        <aside aria-label="Trace and details" className="min-w-0" ref={aside}>
          {chosenTurn && (
            <TurnTrace
              conversationId={id}
              isRunning={isRunning}
              newest={talk.events.length}
              said={said}
              turnId={chosenTurn}
            />
          )}
          {conversation && (
            <Section title="About this conversation">
              <div className="flex flex-col gap-4">
                <CostBar breakdown={conversation.cost_breakdown} cost={conversation.cost_usd} />
                <Facts
                  rows={[
                    ['Conversation', <Id key="id">{conversation.id}</Id>],
                    ['User', <UserLink id={conversation.user_id} key="user" />],
                    [
                      'Deployment',
                      conversation.deployment_id && (
                        <DeploymentLink
                          id={conversation.deployment_id}
                          key="deployment"
                          version={conversation.deployment_version}
                        />
                      ),
                    ],
                    ['Started', <Time at={conversation.created_at} key="began" />],
                    ['Last active', <Time at={conversation.last_active_at} key="active" />],
                    ...(Object.keys(conversation.metadata).length > 0
                      ? ([
                          [
                            'Metadata',
                            <code className="break-all font-mono text-xs" key="metadata">
                              {JSON.stringify(conversation.metadata)}
                            </code>,
                          ],
                        ] as const)
                      : []),
                  ]}
                />
              </div>
            </Section>
          )}
        </aside>
      </div>
    </Page>
  );
}

type StreamEvent = RouteAnswer<'conversations.events'>['data'][number];

/** All events of the conversation, a hundred at a time. */
function EventLog({ conversationId: conversation_id, newest }: { conversationId: string; newest: number }) {
  const { org, mode } = useOrgAndMode();
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  const [hasMore, setHasMore] = useState(true);
  const [error, setError] = useState<Error | null>(null);
  const isAsking = useRef(false);
  const last = events.at(-1)?.seq ?? 0;
  const more = async (after: number) => {
    if (isAsking.current) return;
    isAsking.current = true;
    try {
      const fields = { conversation_id, format: 'json', after, limit: 100 } as never;
      const { data, next_after } = await callApi({ org, mode }, 'conversations.events', fields);
      setEvents((before) => [...before, ...data.filter(({ seq }) => seq > (before.at(-1)?.seq ?? 0))]);
      setHasMore(next_after !== null);
    } catch (failure) {
      setError(failure as Error);
    } finally {
      isAsking.current = false;
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: read new events when the stream reports one.
  useEffect(() => {
    if (last === 0 || !hasMore) void more(last);
  }, [newest]);
  return (
    <div>
      <p className="mb-2 flex items-center text-quiet text-sm">
        All events of the stream, oldest first
        <span className="ml-auto">
          <RequestMenu request={{ row: 'conversations.events', fields: { conversation_id, format: 'json' } }} />
        </span>
      </p>
      {error && <Fault error={error} retry={() => void more(last)} />}
      <ol className="panel divide-y">
        {events.map((event) => (
          <li key={event.seq}>
            <details>
              <summary className="flex items-center gap-3 px-3 py-1.5 hover:bg-muted/50">
                <span className="figures w-10 text-quiet text-xs">{event.seq}</span>
                <code className="min-w-0 truncate font-mono text-sm">{event.type}</code>
                <span className="ml-auto text-quiet text-sm">
                  <Time at={event.created_at} />
                </span>
              </summary>
              <div className="px-3 pb-3">
                <CodeBlock code={JSON.stringify(event.data, null, 2)} />
              </div>
            </details>
          </li>
        ))}
      </ol>
      {hasMore && events.length > 0 && (
        <Button className="mt-2" onClick={() => void more(last)} shape="small">
          More events
        </Button>
      )}
    </div>
  );
}
