import { useState } from 'react';
import { stringify } from 'yaml';
import { useOrgAndMode } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { keep, kept } from '../../kept.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { ModelText } from '../../parts/model-text.tsx';
import { Page, Waiting } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { useUnsaved } from '../../parts/unsaved.tsx';
import { ApplyNewFile } from '../deployment/apply-new-file.tsx';

type Said = { who: 'you' | 'it'; text: string };
type Dropped = { part: string; name: string | null; message: string };
type Standing = {
  conversation?: string;
  said: readonly Said[];
  file: string | null;
  isReady: boolean;
  dropped: readonly Dropped[];
};

const nothingSaid: Standing = { said: [], file: null, isReady: false, dropped: [] };

/** An interview that writes a deployment file. The server stores it in the conversation `?conversation=conv_…`. */
export default function InterviewPage() {
  const { org, mode } = useOrgAndMode();
  const [{ conversation }, set] = useFilters('conversation');
  const [begunHere, setBegunHere] = useState<string>();
  const [round, setRound] = useState(1);
  const place = `interview.${org}.${mode}`;
  const unfinished = kept(place);
  const begin = (id: string) => {
    keep(place, id);
    setBegunHere(id);
    set({ conversation: id });
  };
  const startOver = () => {
    keep(place, null);
    setRound(round + 1);
    set({ conversation: undefined });
  };
  const onApplied = () => keep(place, null);
  const isOfBefore = conversation !== undefined && conversation !== begunHere;
  return (
    <Page
      above={{ to: '/deployments', title: 'Deployments' }}
      actions={conversation !== undefined && <Button onClick={startOver}>Start over</Button>}
      isWide={conversation !== undefined}
      lead="Describe the agent and answer a few questions. Vestra writes the deployment file."
      title="Interview"
    >
      {conversation === undefined && unfinished !== null && (
        <p className="mb-4 max-w-3xl rounded-md bg-accent-soft px-3 py-2">
          You have an unfinished interview.{' '}
          <button
            className="text-accent underline underline-offset-2"
            onClick={() => set({ conversation: unfinished })}
            type="button"
          >
            Resume
          </button>
        </p>
      )}
      {isOfBefore ? (
        <InterviewOfBefore conversation={conversation} key={conversation} onApplied={onApplied} />
      ) : (
        <Interview from={nothingSaid} key={round} onApplied={onApplied} onBegun={begin} />
      )}
    </Page>
  );
}

function InterviewOfBefore({ conversation, onApplied }: { conversation: string; onApplied: () => void }) {
  const { data, error, isFetching, refetch } = useOne('conversations.messages', {
    conversation_id: conversation,
    limit: 100,
  });
  const [from, setFrom] = useState<Standing>();
  if (from) return <Interview from={from} onApplied={onApplied} />;
  if (error) return <Fault error={error} retry={() => void refetch()} />;
  // Cached messages may be outdated, so this waits for a fresh read.
  if (data && !isFetching) setFrom({ conversation, ...standingAfter(data.data.toReversed()) });
  return <Waiting />;
}

/** The data of the agent's messages in an interview. */
type Progress = { status: 'asking' | 'ready'; file: object | null; dropped?: readonly Dropped[] };

function standingAfter(messages: readonly ItemOf<'conversations.messages'>[]): Standing {
  const latest = messages.findLast(({ role }) => role !== 'user')?.data as Progress | null | undefined;
  return {
    said: messages.map(({ role, text }) => ({ who: role === 'user' ? 'you' : 'it', text })),
    file: latest?.file ? stringify(latest.file) : null,
    isReady: latest?.status === 'ready',
    dropped: latest?.dropped ?? [],
  };
}

type InterviewProps = { from: Standing; onBegun?: (conversation: string) => void; onApplied: () => void };

function Interview({ from, onBegun, onApplied }: InterviewProps) {
  const go = useGo();
  const [name, setName] = useState('');
  const [typed, setTyped] = useState('');
  const [{ conversation, said, file, isReady, dropped }, setStanding] = useState(from);
  const [edited, setEdited] = useState<string | null>(null);
  const interview = useChange('deployments.interview', {
    touches: ['conversations'],
    onDone: ({ conversation_id, status, question, yaml, dropped }) => {
      setStanding((before) => ({
        conversation: conversation_id,
        said: question ? [...before.said, { who: 'it', text: question }] : before.said,
        file: yaml ?? before.file,
        isReady: status === 'ready',
        dropped,
      }));
      setEdited(null);
      if (conversation === undefined) onBegun?.(conversation_id);
    },
  });
  const unsaved = useUnsaved(typed !== '' || edited !== null);
  const fields = conversation === undefined ? { deployment: name, describe: typed } : { conversation, answer: typed };
  const tell = async () => {
    if (typed.trim() === '' || interview.isRunning) return;
    setStanding((before) => ({ ...before, said: [...before.said, { who: 'you', text: typed }] }));
    setTyped('');
    try {
      await interview.runNow(fields as never);
    } catch {
      // On an error the text returns to the input field.
      setStanding((before) => ({ ...before, said: before.said.slice(0, -1) }));
      setTyped(typed);
    }
  };
  const question = conversation === undefined ? 'What should it do?' : isReady ? 'What should change?' : 'Your answer';
  return (
    <div className={file === null ? '' : 'grid gap-8 *:min-w-0 lg:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]'}>
      <div className="max-w-3xl">
        <ol aria-label="Interview" aria-live="polite" className="mb-4 flex flex-col gap-3">
          {said.map(({ who, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order.
            <li className={who === 'you' ? 'rounded-md border bg-muted/60 px-3 py-2' : 'px-3'} key={index}>
              <span className="eyebrow">{who === 'you' ? 'You' : 'Vestra'}</span>
              {who === 'you' ? <p className="whitespace-pre-wrap break-words">{text}</p> : <ModelText text={text} />}
            </li>
          ))}
        </ol>
        {interview.isRunning && <p className="mb-4 animate-breathe text-quiet">Thinking…</p>}
        {interview.error && <Fault className="mb-4" error={interview.error} />}
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            void tell();
          }}
        >
          {conversation === undefined && (
            <label className="block">
              <span className="mb-1 block font-medium text-sm">Agent name</span>
              <input
                className="control max-w-xs"
                onChange={(event) => setName(event.target.value)}
                placeholder="help-desk"
                required
                value={name}
              />
            </label>
          )}
          <label className="block">
            <span className="mb-1 block font-medium text-sm">{question}</span>
            <textarea
              className="control h-auto min-h-24 py-1.5"
              onChange={(event) => setTyped(event.target.value)}
              placeholder={
                conversation === undefined
                  ? 'Answers questions about orders in our paper shop and refunds small ones.'
                  : ''
              }
              required
              rows={4}
              value={typed}
            />
          </label>
          <div className="flex items-center gap-2">
            <Button isBusy={interview.isRunning} look={isReady ? 'plain' : 'primary'} type="submit">
              {conversation === undefined ? 'Start' : isReady ? 'Update the file' : 'Answer'}
            </Button>
            <RequestMenu label="Copy as API request" request={interview.requestOf(fields as never)} />
          </div>
        </form>
      </div>
      {file !== null && (
        <div>
          <h2 className="mb-2 font-semibold">{isReady ? 'Deployment file' : 'Draft of the deployment file'}</h2>
          {dropped.length > 0 && <DroppedParts dropped={dropped} />}
          <ApplyNewFile
            onApplied={({ id }) => {
              unsaved.letGo();
              onApplied();
              go(`/deployments/${id}`, { talk: 'open' });
            }}
            onChange={setEdited}
            text={edited ?? file}
          />
        </div>
      )}
      {unsaved.dialog}
    </div>
  );
}

/** The file lacks these parts, and the person may expect them. */
function DroppedParts({ dropped }: { dropped: readonly Dropped[] }) {
  return (
    <section aria-label="Left out of the file" className="mb-3 max-w-3xl rounded-md bg-accent-soft px-3 py-2 text-sm">
      <p>These parts would not apply, so the file leaves them out. Write in the field above what you want instead.</p>
      <ul className="mt-1 list-disc pl-5">
        {dropped.map(({ part, name, message }) => (
          <li className="break-words" key={`${part} ${name} ${message}`}>
            <code>{name === null ? part : `${part}: ${name}`}</code> {message}
          </li>
        ))}
      </ul>
    </section>
  );
}
