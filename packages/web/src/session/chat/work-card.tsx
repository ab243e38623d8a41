import type { Client } from '@vestra/sdk/client';
import { CheckIcon, ChevronIcon, CloseIcon, StopIcon } from '../icons.tsx';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { activityOfTool } from './activity.ts';
import type { Waiting, Work } from './chat-state.ts';
import { FileLink } from './file-link.tsx';
import { SettledWait } from './settled-wait.tsx';

/** A task: plan and activity while it runs, files when it is done. */
export function WorkCard({
  client,
  work,
  settled,
  waitsForCompany,
}: {
  client: Client;
  work: Work;
  settled: readonly Waiting[];
  waitsForCompany: boolean;
}) {
  const words = useWords();
  const status = waitsForCompany ? words.waitingForCompany : statusWord(work, words);
  const isOpen = work.status !== 'done' && work.status !== 'failed';
  const title = work.title ?? words.work;
  const hasPlan = work.progress.length > 0;
  // With a plan, the step count replaces the status.
  const now = isOpen && (work.status === 'working' ? activityOfWork(work, words) : hasPlan && status);
  const completed = work.progress.filter(({ status }) => status === 'completed').length;
  return (
    <section aria-label={title} className="panel overflow-hidden" data-work={work.status}>
      <header className="flex items-center gap-3 px-4 py-3">
        <StatusMark work={work} />
        <h2 className="min-w-0 flex-1 font-medium leading-snug wrap-anywhere">
          <bdi>{title}</bdi>
        </h2>
        <span className="shrink-0 text-sm text-muted-foreground">
          {isOpen && hasPlan ? `${completed}/${work.progress.length}` : status}
        </span>
      </header>
      {hasPlan && (
        <details className="group border-t" open={isOpen}>
          <summary className="flex list-none items-center gap-1.5 px-4 py-2.5 text-sm text-muted-foreground hover:text-foreground">
            <ChevronIcon className="size-4 -rotate-90 motion-safe:transition-transform group-open:rotate-0 rtl:rotate-90 rtl:group-open:rotate-0" />
            {words.plan}
          </summary>
          <Plan steps={work.progress} />
        </details>
      )}
      {now && (
        <p className="truncate border-t px-4 py-2.5 text-sm text-muted-foreground">
          <bdi>{now}</bdi>
        </p>
      )}
      {settled.length > 0 && (
        <ul className="flex flex-col gap-1.5 border-t px-4 py-3">
          {settled.map(({ interaction }) => (
            <li key={interaction.id}>
              <SettledWait interaction={interaction} />
            </li>
          ))}
        </ul>
      )}
      {work.files.length > 0 && (
        <ul className="flex flex-wrap gap-2 border-t px-4 py-3">
          {work.files.map(({ id, filename }) => (
            <li className="min-w-0 max-w-full" key={id}>
              <FileLink client={client} fileId={id} filename={filename ?? id} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function activityOfWork({ activity }: Work, words: Words): string | null {
  if (activity === null) return null;
  return 'text' in activity ? activity.text : activityOfTool(activity.tool, words);
}

function Plan({ steps }: { steps: Work['progress'] }) {
  const words = useWords();
  return (
    <ol className="flex flex-col gap-2 px-4 pb-3.5">
      {steps.map(({ content, status }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps have no other key.
        <li className="flex gap-3 text-[0.9375rem] leading-snug" key={at}>
          <span aria-hidden="true" className="grid size-5 shrink-0 place-items-center">
            {status === 'completed' && <CheckIcon className="size-4 text-good" />}
            {status === 'in_progress' && <span className="size-2 animate-breathe rounded-full bg-accent" />}
            {status === 'pending' && <span className="size-1.5 rounded-full bg-border" />}
          </span>
          <span className={status === 'in_progress' ? '' : 'text-muted-foreground'} dir="auto">
            <span className="sr-only">{stepWord(status, words)} </span>
            {content}
          </span>
        </li>
      ))}
    </ol>
  );
}

function StatusMark({ work }: { work: Work }) {
  const frame = 'grid size-5 shrink-0 place-items-center';
  if (work.status === 'done') {
    return (
      <span aria-hidden="true" className={`${frame} text-good`}>
        <CheckIcon className="size-5" />
      </span>
    );
  }
  if (work.status === 'failed') {
    return (
      <span aria-hidden="true" className={`${frame} text-muted-foreground`}>
        {work.isStopped ? <StopIcon className="size-5" /> : <CloseIcon className="size-4" />}
      </span>
    );
  }
  return (
    <span aria-hidden="true" className={frame}>
      <span className="size-2.5 animate-breathe rounded-full bg-accent" />
    </span>
  );
}

function statusWord({ status, isStopped }: Work, words: Words): string {
  switch (status) {
    case 'queued':
      return words.queuedWork;
    case 'working':
      return words.working;
    case 'waiting':
      return words.waitingForYou;
    case 'done':
      return words.done;
    case 'failed':
      return isStopped ? words.stopped : words.failed;
  }
}

const stepWord = (status: Work['progress'][number]['status'], words: Words) =>
  ({ completed: words.stepDone, in_progress: words.stepNow, pending: words.stepNext })[status];
