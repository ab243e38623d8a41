import { useEffect, useRef, useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { Request } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { DeploymentLink } from '../../parts/deployment-link.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Status, Usd } from '../../parts/shown.tsx';
import type { Sentence } from '../../parts/talk/sentence.ts';
import { Thread } from '../../parts/talk/thread.tsx';
import { TurnTrace } from '../../parts/talk/turn-trace.tsx';
import { useTalk } from '../../parts/talk/use-talk.ts';
import { UserLink } from '../../parts/user-link.tsx';

type ColumnProps = {
  deployment: string;
  user: string;
  conversationId: string | undefined;
  onBegun: (conversationId: string) => void;
  /** With one column the trace is beside the thread, otherwise below it. */
  isAlone: boolean;
  onSend?: (text: string) => void;
  /** The last message of the other column. If set, this column has no composer. */
  heard?: { text: string; at: number } | null;
};

/** A conversation with one version. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: each message is sent once.
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
      <div className={isAlone ? 'grid gap-8 lg:grid-cols-2' : ''}>
        <div className="min-w-0">
          <p className="mb-3 text-quiet">
            <code className="font-mono text-sm">{deployment}</code>{' '}
            {heard === undefined ? 'is ready for your first message.' : 'receives the same messages.'}
          </p>
          {heard !== undefined && error && <Fault error={error} />}
          {composer}
        </div>
        {isAlone && (
          <div className="grid min-h-80 place-content-center rounded-lg border border-dashed px-8 text-center text-quiet max-lg:hidden">
            <p className="font-medium text-foreground">The trace of each reply appears here</p>
            <p className="mt-1 max-w-sm text-balance">
              What the model was sent and answered, every tool call with its result, tokens, time and cost.
            </p>
          </div>
        )}
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
  const [said, setSaid] = useState<Sentence>();
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
            <span className="min-w-0 wrap-anywhere">
              as <UserLink id={conversation.user_id} />
            </span>
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
        <Thread
          chosenTurn={chosen}
          isFollowing
          onChooseTurn={(id, sentence) => {
            setTurn(id);
            setSaid(sentence);
          }}
          talk={talk}
        />
        <div className="sticky bottom-0 bg-background pt-4 pb-3">{composer}</div>
      </div>
      <div className="min-w-0">
        {chosen && (
          <TurnTrace
            conversationId={conversationId}
            isRunning={isRunning}
            newest={talk.events.length}
            said={said}
            turnId={chosen}
          />
        )}
      </div>
    </div>
  );
}

type ComposerProps = {
  /** Resolves to false if sending failed: the text then returns to the field. */
  onSend: (text: string, files: readonly string[]) => Promise<boolean>;
  isBusy: boolean;
  request: Request;
  /** The owner of attached files. */
  user: string;
};

/** Enter sends, Shift+Enter adds a line. Files are attached by the button or dropped. */
function Composer({ onSend, isBusy, request, user }: ComposerProps) {
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly { id: string; filename: string }[]>([]);
  const upload = useChange('files.create', {
    onDone: ({ id, filename }) => setFiles((before) => [...before, { id, filename: filename ?? 'a file' }]),
  });
  const add = (chosen: FileList | null) => {
    for (const file of chosen ?? []) upload.run({ file, user_id: user } as never);
  };
  const isEmpty = text.trim() === '' && files.length === 0;
  const run = async () => {
    if (isEmpty || isBusy || upload.isRunning) return;
    setText('');
    setFiles([]);
    const ids = files.map(({ id }) => id);
    if (await onSend(text, ids)) return;
    setText((now) => now || text);
    setFiles((now) => (now.length > 0 ? now : files));
  };
  return (
    <form
      className="panel p-2 outline-accent has-[textarea:focus-visible]:outline-2"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => add(event.dataTransfer.files)}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {files.length > 0 && (
        <ul className="mb-1 flex flex-wrap gap-1.5">
          {files.map(({ id, filename }) => (
            <li className="flex items-center gap-1 rounded-sm bg-muted px-2 text-sm" key={id}>
              {filename}
              <button
                aria-label={`Remove ${filename}`}
                onClick={() => setFiles(files.filter((each) => each.id !== id))}
                type="button"
              >
                <Icon className="size-3" name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {upload.error && <Fault className="mb-2" error={upload.error} />}
      <div className="flex items-end gap-2">
        <textarea
          aria-label="Message"
          className="field-sizing-content max-h-48 min-h-8 min-w-0 grow resize-none bg-transparent px-1 py-1 outline-none"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void run();
          }}
          placeholder="Send a message"
          rows={1}
          value={text}
        />
        <label className="grid size-8 place-items-center rounded-md text-quiet hover:bg-muted has-focus-visible:outline-2 has-focus-visible:outline-accent">
          <span className="sr-only">Attach files</span>
          <Icon name="plus" />
          <input
            className="sr-only"
            multiple
            onChange={(event) => {
              add(event.target.files);
              event.target.value = '';
            }}
            type="file"
          />
        </label>
        <RequestMenu label="Copy this message as an API request" request={request} />
        <Button disabled={isEmpty} isBusy={isBusy || upload.isRunning} look="primary" type="submit">
          Send
        </Button>
      </div>
    </form>
  );
}
