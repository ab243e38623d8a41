import { useEffect, useRef, useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { DeploymentLink } from '../../parts/deployment-link.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status, Usd } from '../../parts/shown.tsx';
import { Thread } from '../../parts/talk/thread.tsx';
import { TurnTrace } from '../../parts/talk/turn-trace.tsx';
import { useTalk } from '../../parts/talk/use-talk.ts';
import { Composer } from './composer.tsx';

type ColumnProps = {
  deployment: string;
  user: string;
  conversationId: string | undefined;
  onBegun: (conversationId: string) => void;
  /** Alone, the trace stands beside the talk; beside another, below it. */
  isAlone: boolean;
  onSend?: (text: string) => void;
  /** What was said to the one beside it; then this one has no field of its own. */
  heard?: { text: string; at: number } | null;
};

/** One talk with one version. */
export function Column({ deployment, user, conversationId, onBegun, isAlone, onSend, heard }: ColumnProps) {
  const begin = useChange('conversations.create', { onDone: ({ id }) => onBegun(id) });
  const send = useChange('conversations.send');
  const say = async (message: string, files: readonly string[] = []): Promise<boolean> => {
    onSend?.(message);
    const said = { message, ...(files.length > 0 && { attachments: files.map((file_id) => ({ file_id })) }) };
    const sent =
      conversationId === undefined
        ? begin.runNow({ deployment, user_id: user, ...said } as never)
        : send.runNow({ conversation_id: conversationId, ...said } as never);
    return sent.then(
      () => true,
      () => false,
    );
  };
  const follows = useRef<number | undefined>(heard?.at);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each message is said once.
  useEffect(() => {
    if (!heard || heard.at === follows.current) return;
    follows.current = heard.at;
    void say(heard.text);
  }, [heard]);
  const error = begin.error ?? send.error;
  const request =
    conversationId === undefined
      ? begin.requestOf({ deployment, user_id: user, message: '…' } as never)
      : send.requestOf({ conversation_id: conversationId, message: '…' } as never);
  const composer = heard === undefined && (
    <>
      {error && <Fault className="mb-2" error={error} />}
      <Composer isBusy={begin.isRunning || send.isRunning} onSend={say} request={request} user={user} />
    </>
  );
  if (conversationId === undefined) {
    return (
      <div className="max-w-3xl">
        <p className="mb-3 text-quiet">
          <code className="font-mono text-sm">{deployment}</code>{' '}
          {heard === undefined ? 'is ready for your first message.' : 'receives the same messages.'}
        </p>
        {heard !== undefined && error && <Fault error={error} />}
        {composer}
      </div>
    );
  }
  return <Talking composer={composer} conversationId={conversationId} isAlone={isAlone} />;
}

function Talking({
  conversationId,
  composer,
  isAlone,
}: {
  conversationId: string;
  composer: React.ReactNode;
  isAlone: boolean;
}) {
  const talk = useTalk(conversationId);
  const { may } = useRole();
  const [turn, setTurn] = useState<string | null>(null);
  const stop = useChange('conversations.stop', { touches: ['tasks', 'interactions'] });
  const conversation = talk.conversation.data;
  const newestTurn =
    talk.events.findLast(({ turn_id }) => turn_id !== null)?.turn_id ?? talk.said.at(-1)?.turn_id ?? null;
  const chosen = turn ?? newestTurn;
  const isRunning = conversation !== undefined && conversation.status !== 'idle';
  return (
    <div className={isAlone ? 'grid gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]' : ''}>
      <div className="min-w-0">
        <p className="mb-3 flex flex-wrap items-center gap-2 text-quiet text-sm">
          {talk.status && <Status>{talk.status}</Status>}
          {conversation?.deployment_id && (
            <DeploymentLink id={conversation.deployment_id} version={conversation.deployment_version} />
          )}
          {conversation && (
            <span className="min-w-0 wrap-anywhere">as {conversation.user_id ?? 'the org’s agent'}</span>
          )}
          {conversation && <Usd value={conversation.cost_usd} />}
          <PageLink className="text-accent underline underline-offset-2" to={`/conversations/${conversationId}`}>
            Conversation
          </PageLink>
          {isRunning && may('conversations.stop') && (
            <Button
              className="ml-auto"
              isBusy={stop.isRunning}
              onClick={() => stop.run({ conversation_id: conversationId })}
              shape="small"
            >
              <Icon name="stop" /> Stop
            </Button>
          )}
        </p>
        <Thread chosenTurn={chosen} isFollowing onChooseTurn={setTurn} talk={talk} />
        <div className="sticky bottom-0 bg-background pt-4 pb-3">{composer}</div>
      </div>
      <div className="min-w-0">
        {chosen && (
          <TurnTrace
            conversationId={conversationId}
            isRunning={isRunning}
            newest={talk.events.length}
            turnId={chosen}
          />
        )}
      </div>
    </div>
  );
}
