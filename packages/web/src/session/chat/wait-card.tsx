import { type ReactNode, useId, useState } from 'react';
import { Button } from '../button.tsx';
import { ExternalIcon, PersonIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';
import type { Interaction } from './chat-state.ts';
import { QuestionForm } from './question-form.tsx';
import type { Answer } from './use-chat.ts';

type WaitProps = {
  interaction: Interaction;
  /** Resolves with why it was not taken, or null. */
  answer: (answer: Answer) => Promise<string | null>;
};

/** Something the agent waits for, with what answers it. */
export function WaitCard({ interaction, answer }: WaitProps) {
  const words = useWords();
  const heading = useId();
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const send = async (given: Answer) => {
    setSending(true);
    setFailure(await answer(given));
    setSending(false);
  };
  const titles = {
    approval: words.approval,
    question: words.question,
    handoff: words.handoff,
    connect: words.connection,
    tool_call: words.notice,
  };
  return (
    <section
      aria-labelledby={heading}
      className="panel animate-rise border-accent/35 p-4 sm:p-5"
      data-wait={interaction.type}
    >
      <p className="mb-1.5 text-sm font-medium text-accent" id={heading}>
        {titles[interaction.type]}
      </p>
      <Body interaction={interaction} isSending={isSending} send={send} />
      {failure !== null && (
        <p className="mt-3 text-sm text-danger" role="alert">
          {words.wrong} <span dir="auto">{failure}</span>
        </p>
      )}
    </section>
  );
}

type BodyProps = { interaction: Interaction; isSending: boolean; send: (answer: Answer) => Promise<void> };

function Body(props: BodyProps) {
  switch (props.interaction.type) {
    case 'approval':
      return <Approval {...props} />;
    case 'question':
      return <Question {...props} />;
    case 'handoff':
      return <Handoff {...props} />;
    default:
      return <Connect interaction={props.interaction} />;
  }
}

function Approval({ interaction, isSending, send }: BodyProps) {
  const words = useWords();
  const { summary, details, moves_money, requires_present_user } = interaction;
  // An ability is installed elsewhere: here it can only be declined.
  const isDeclinedOnly = details.renderer === 'ability_install';
  return (
    <>
      <Summary>{summary}</Summary>
      <Rows details={details} />
      {moves_money === true && <p className="mt-3 text-sm text-muted-foreground">{words.movesMoney}</p>}
      {requires_present_user && (
        <p className="mt-3 flex gap-2 text-sm text-muted-foreground">
          <PersonIcon className="mt-0.5 size-4 shrink-0" />
          {words.inPerson}
        </p>
      )}
      <Buttons>
        {!isDeclinedOnly && (
          <Button disabled={isSending} look="primary" onClick={() => send({ approve: true })}>
            {words.yes}
          </Button>
        )}
        <Button disabled={isSending} onClick={() => send({ approve: false })}>
          {words.no}
        </Button>
      </Buttons>
    </>
  );
}

function Question({ interaction, isSending, send }: BodyProps) {
  const words = useWords();
  return (
    <QuestionForm
      isSending={isSending}
      questions={interaction.questions ?? []}
      submit={(answers) => send({ answers })}
      submitWord={words.answer}
    >
      <Button disabled={isSending} look="quiet" onClick={() => send({ approve: false })}>
        {words.skip}
      </Button>
    </QuestionForm>
  );
}

function Handoff({ interaction, isSending, send }: BodyProps) {
  const words = useWords();
  const { questions = [], details, frame_url, browser, summary } = interaction;
  const asksForValue = details.asks_for_value === true;
  const others = (
    <>
      <Button disabled={isSending} onClick={() => send({ decision: 'could_not' })}>
        {words.couldNot}
      </Button>
      <Button disabled={isSending} look="quiet" onClick={() => send({ decision: 'not_now' })}>
        {words.notNow}
      </Button>
    </>
  );
  return (
    <>
      {!asksForValue && <Summary>{questions[0]?.question ?? summary}</Summary>}
      {browser?.url && (
        <p className="mt-1 truncate text-sm text-muted-foreground" dir="ltr">
          {browser.url}
        </p>
      )}
      {frame_url?.startsWith('data:image/') && (
        <img alt={words.page} className="mt-3 max-h-72 rounded-xl border object-contain" src={frame_url} />
      )}
      {asksForValue ? (
        <QuestionForm
          isSending={isSending}
          questions={questions}
          submit={(answers) => send({ answers })}
          submitWord={words.answer}
        >
          {others}
        </QuestionForm>
      ) : (
        <Buttons>
          <Button disabled={isSending} look="primary" onClick={() => send({ decision: 'done' })}>
            {words.handoffDone}
          </Button>
          {others}
        </Buttons>
      )}
    </>
  );
}

/** It settles by itself once the app is connected. */
function Connect({ interaction }: { interaction: Interaction }) {
  const words = useWords();
  const { name, connect_url } = interaction.details;
  const address = typeof connect_url === 'string' && /^https?:\/\//.test(connect_url) ? connect_url : null;
  return (
    <>
      <Summary>{interaction.summary}</Summary>
      {address && (
        <Buttons>
          <a
            className="pressable inline-flex min-h-10 items-center gap-2 rounded-full bg-primary px-4 text-[0.9375rem] font-medium text-primary-foreground hover:opacity-85"
            href={address}
            rel="noopener noreferrer"
            target="_blank"
          >
            {typeof name === 'string' ? words.connect(name) : words.connectApp}
            <ExternalIcon className="size-4" />
          </a>
        </Buttons>
      )}
    </>
  );
}

function Rows({ details }: { details: Interaction['details'] }) {
  const rows = Array.isArray(details.rows) ? details.rows.filter(isRow) : [];
  if (rows.length === 0) return null;
  return (
    <dl className="mt-3 grid grid-cols-[minmax(4rem,auto)_1fr] gap-x-4 gap-y-1.5 rounded-xl bg-muted px-3.5 py-3 text-[0.9375rem]">
      {rows.map(({ label, value }) => (
        <div className="col-span-2 grid grid-cols-subgrid" key={label}>
          <dt className="text-muted-foreground wrap-anywhere">{label}</dt>
          <dd className="min-w-0 whitespace-pre-wrap wrap-anywhere" dir="auto">
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function isRow(value: unknown): value is { label: string; value: string } {
  const { label, value: said } = (value ?? {}) as Record<string, unknown>;
  return typeof label === 'string' && typeof said === 'string';
}

const Summary = ({ children }: { children: ReactNode }) => (
  <p className="text-[1.0625rem] font-medium leading-snug wrap-anywhere" dir="auto">
    {children}
  </p>
);

const Buttons = ({ children }: { children: ReactNode }) => <div className="mt-4 flex flex-wrap gap-2">{children}</div>;
