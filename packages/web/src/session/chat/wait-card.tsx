import { useId, useState } from 'react';
import { Button } from '../button.tsx';
import { ExternalIcon } from '../icons.tsx';
import type { Trouble } from '../trouble.ts';
import { useLanguage, useWords } from '../words/words.ts';
import { Approval } from './approval.tsx';
import type { Interaction } from './chat-state.ts';
import { QuestionForm } from './question-form.tsx';
import { asMoment } from './shown-row.ts';
import type { Answer, Chat } from './use-chat.ts';
import { Buttons, Summary } from './wait-parts.tsx';

type WaitProps = {
  interaction: Interaction;
  /** Resolves with why it was not taken, or null. */
  answer: (answer: Answer) => Promise<Trouble | null>;
  connect: Chat['connect'];
};

/** What the company approves is not the person's to answer, and not theirs to read. */
export const isForCompany = ({ approver }: Interaction) => approver === 'org';

/** Something the agent waits for, with what answers it. */
export function WaitCard({ interaction, answer, connect }: WaitProps) {
  const language = useLanguage();
  const { words } = language;
  const heading = useId();
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<Trouble | null>(null);
  const send = async (given: Answer) => {
    setSending(true);
    setFailure(await answer(given));
    setSending(false);
  };
  if (isForCompany(interaction)) return <CompanyCard />;
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
      <Body connect={connect} interaction={interaction} isSending={isSending} send={send} />
      {interaction.expires_at !== null && (
        <p className="mt-3 text-sm text-muted-foreground">
          {words.answerUntil(asMoment(new Date(interaction.expires_at), language))}
        </p>
      )}
      {failure !== null && (
        <p className="mt-3 text-sm text-danger" role="alert">
          {words[failure]}
        </p>
      )}
    </section>
  );
}

function CompanyCard() {
  const words = useWords();
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="panel animate-rise p-4 sm:p-5" data-wait="company">
      <p className="mb-1.5 flex items-center gap-2.5 text-sm font-medium text-accent" id={heading}>
        <span aria-hidden="true" className="size-2.5 animate-breathe rounded-full bg-accent" />
        {words.waitingForCompany}
      </p>
      <p className="text-muted-foreground">{words.companyDecides}</p>
    </section>
  );
}

type BodyProps = { interaction: Interaction; isSending: boolean; send: (answer: Answer) => Promise<void> };

function Body({ connect, ...props }: BodyProps & Pick<WaitProps, 'connect'>) {
  switch (props.interaction.type) {
    case 'approval':
      return <Approval {...props} />;
    case 'question':
      return <Question {...props} />;
    case 'handoff':
      return <Handoff {...props} />;
    default:
      return <Connect connect={connect} interaction={props.interaction} />;
  }
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

/**
 * It settles by itself once the app is connected. The address is asked for when it is wanted, as it is good for a quarter
 * of an hour, and is a link of its own: a page may not open another one later than at a press.
 */
function Connect({ interaction, connect }: Pick<WaitProps, 'interaction' | 'connect'>) {
  const words = useWords();
  const [isAsking, setAsking] = useState(false);
  const [found, setFound] = useState<{ url: string } | Trouble | null>(null);
  const { app, name } = interaction.details;
  const label = typeof name === 'string' ? words.connect(name) : words.connectApp;
  const begin = async () => {
    setAsking(true);
    setFound(await connect(String(app)));
    setAsking(false);
  };
  return (
    <>
      <Summary>{interaction.summary}</Summary>
      <Buttons>
        {found !== null && typeof found === 'object' ? (
          <a
            className="pressable inline-flex min-h-10 items-center gap-2 rounded-full bg-primary px-4 text-[0.9375rem] font-medium text-primary-foreground hover:opacity-85"
            href={found.url}
            ref={takeFocus}
            rel="noopener noreferrer"
            target="_blank"
          >
            {label}
            <ExternalIcon className="size-4" />
          </a>
        ) : (
          <Button disabled={isAsking} look="primary" onClick={() => void begin()}>
            {label}
          </Button>
        )}
      </Buttons>
      {typeof found === 'string' && (
        <p className="mt-3 text-sm text-danger" role="alert">
          {words[found]}
        </p>
      )}
    </>
  );
}

const takeFocus = (link: HTMLAnchorElement | null) => link?.focus();
