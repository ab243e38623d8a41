import { useState } from 'react';
import { useChange } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { useUnsaved } from '../../parts/unsaved.tsx';
import { ApplyNewFile } from '../deployment/apply-new-file.tsx';

type Said = { who: 'you' | 'it'; text: string };

/** Describe a job, answer a few questions, and look at the file that comes of it before it is applied. */
export default function InterviewPage() {
  const go = useGo();
  const [name, setName] = useState('');
  const [typed, setTyped] = useState('');
  const [said, setSaid] = useState<readonly Said[]>([]);
  const [file, setFile] = useState<string | null>(null);
  const interview = useChange('deployments.interview', {
    onDone: ({ question, yaml }) => {
      if (question) setSaid((before) => [...before, { who: 'it', text: question }]);
      if (yaml) setFile(yaml);
    },
  });
  const { answer } = interview;
  const conversation = answer?.conversation_id;
  const isReady = answer?.status === 'ready';
  const unsaved = useUnsaved(typed !== '' || said.length > 0);
  const fields = conversation === undefined ? { deployment: name, describe: typed } : { conversation, answer: typed };
  const tell = async () => {
    if (typed.trim() === '' || interview.isRunning) return;
    setSaid((before) => [...before, { who: 'you', text: typed }]);
    setTyped('');
    try {
      await interview.runNow(fields as never);
    } catch {
      // Why it was refused stands below what was said; the words come back to be said again.
      setSaid((before) => before.slice(0, -1));
      setTyped(typed);
    }
  };
  return (
    <Page
      above={{ to: '/deployments', title: 'Deployments' }}
      lead="Say what the agent is for. A few questions later there is a file that works."
      title="Interview"
    >
      <div className="max-w-3xl">
        <ol aria-label="The interview" aria-live="polite" className="mb-4 flex flex-col gap-3">
          {said.map(({ who, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: what was said stays where it was said.
            <li className={who === 'you' ? 'rounded-md border bg-muted/60 px-3 py-2' : 'px-3'} key={index}>
              <span className="eyebrow">{who === 'you' ? 'You' : 'Vestra'}</span>
              <p className="whitespace-pre-wrap break-words">{text}</p>
            </li>
          ))}
        </ol>
        {interview.isRunning && <p className="mb-4 animate-breathe text-quiet">Thinking…</p>}
        {interview.error && <Fault className="mb-4" error={interview.error} />}
        {!isReady && (
          <form
            className="flex flex-col gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              void tell();
            }}
          >
            {conversation === undefined && (
              <label className="block">
                <span className="mb-1 block font-medium text-sm">Name of the agent</span>
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
              <span className="mb-1 block font-medium text-sm">
                {conversation === undefined ? 'What should it do?' : 'Your answer'}
              </span>
              <textarea
                className="control h-auto min-h-24 py-1.5"
                onChange={(event) => setTyped(event.target.value)}
                placeholder={
                  conversation === undefined
                    ? 'It answers questions about orders of our paper shop, and refunds small ones.'
                    : ''
                }
                required
                rows={4}
                value={typed}
              />
            </label>
            <div className="flex items-center gap-2">
              <Button isBusy={interview.isRunning} look="primary" type="submit">
                {conversation === undefined ? 'Begin' : 'Answer'}
              </Button>
              <RequestMenu label="Copy this as a call" request={interview.requestOf(fields as never)} />
            </div>
          </form>
        )}
      </div>
      {file !== null && (
        <div className="mt-8">
          <h2 className="mb-2 font-semibold">{isReady ? 'The file' : 'The file so far'}</h2>
          <ApplyNewFile
            onApplied={({ id }) => {
              unsaved.letGo();
              go(`/deployments/${id}`);
            }}
            onChange={setFile}
            text={file}
          />
        </div>
      )}
      {unsaved.dialog}
    </Page>
  );
}
