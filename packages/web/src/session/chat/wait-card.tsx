import { type ReactNode, useId, useState } from 'react';
import { asMoment } from '../../approval/shown-row.ts';
import { Button } from '../button.tsx';
import { ExternalIcon } from '../icons.tsx';
import type { Trouble } from '../trouble.ts';
import { useLanguage, useWords } from '../words/words.ts';
import { Approval } from './approval.tsx';
import type { Interaction } from './chat-state.ts';
import type { Chat, InteractionAnswer } from './use-chat.ts';
import { Buttons, Summary } from './wait-parts.tsx';

type WaitProps = {
  interaction: Interaction;
  /** Resolves with the error, or null. */
  answer: (answer: InteractionAnswer) => Promise<Trouble | null>;
  connect: Chat['connect'];
};

/** Approvals of the company are hidden from the user. */
export const isForCompany = ({ approver }: Interaction) => approver === 'org';

/** A pending interaction with its answer form. */
export function WaitCard({ interaction, answer, connect }: WaitProps) {
  const language = useLanguage();
  const { words } = language;
  const heading = useId();
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<Trouble | null>(null);
  const send = async (given: InteractionAnswer) => {
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

type BodyProps = { interaction: Interaction; isSending: boolean; send: (answer: InteractionAnswer) => Promise<void> };

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

/** The sign-in link is requested on demand, because it expires after 15 minutes. Popup blockers require a real link. */
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

type Asked = NonNullable<Interaction['questions']>[number];

/** The selected options and the free text of a question. */
type Draft = { chosen: readonly string[]; written: string };

type QuestionFormProps = {
  questions: readonly Asked[];
  isSending: boolean;
  /** One answer for each question, in order. */
  submit: (answers: string[]) => void;
  submitWord: string;
  /** Additional buttons. */
  children: ReactNode;
};

function QuestionForm({ questions, isSending, submit, submitWord, children }: QuestionFormProps) {
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => questions.map(() => ({ chosen: [], written: '' })));
  const answers = drafts.map(({ chosen, written }) =>
    [...chosen, written.trim()].filter((each) => each !== '').join(', '),
  );
  const isComplete = answers.every((answer) => answer !== '');
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete && !isSending) submit(answers);
      }}
    >
      {questions.map((asked, at) => (
        <Field
          asked={asked}
          change={(draft) => setDrafts(drafts.map((each, index) => (index === at ? draft : each)))}
          draft={drafts[at] as Draft}
          // biome-ignore lint/suspicious/noArrayIndexKey: questions are answered by their place.
          key={at}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button disabled={!isComplete || isSending} look="primary" type="submit">
          {submitWord}
        </Button>
        {children}
      </div>
    </form>
  );
}

function Field({ asked, draft, change }: { asked: Asked; draft: Draft; change: (draft: Draft) => void }) {
  const words = useWords();
  const name = useId();
  const { question, header, options, multi_select } = asked;
  const toggle = (option: string) => {
    const isChosen = draft.chosen.includes(option);
    if (!multi_select) return change({ chosen: [option], written: '' });
    change({ ...draft, chosen: isChosen ? draft.chosen.filter((each) => each !== option) : [...draft.chosen, option] });
  };
  return (
    <fieldset className="min-w-0">
      <legend className="mb-3 w-full text-[1.0625rem] font-medium leading-snug wrap-anywhere">
        {header !== '' && (
          <span className="mb-1 block text-sm font-normal text-muted-foreground">
            <bdi>{header}</bdi>
          </span>
        )}
        <bdi>{question}</bdi>
      </legend>
      <div className="flex flex-col gap-2">
        {options.map((option) => (
          <label
            className="pressable flex items-center gap-3 rounded-xl border px-3.5 py-2.5 hover:bg-muted has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            key={option}
          >
            <input
              checked={draft.chosen.includes(option)}
              className="size-4 shrink-0 accent-accent outline-none"
              name={name}
              onChange={() => toggle(option)}
              type={multi_select ? 'checkbox' : 'radio'}
            />
            <span className="min-w-0 wrap-anywhere" dir="auto">
              {option}
            </span>
          </label>
        ))}
        <input
          aria-label={`${options.length > 0 ? words.otherAnswer : words.yourAnswer}: ${question}`}
          autoComplete="off"
          className="min-h-11 w-full rounded-xl border bg-background px-3.5 py-2.5 placeholder:text-muted-foreground"
          dir={draft.written === '' ? undefined : 'auto'}
          maxLength={4000}
          onChange={({ target }) => change({ chosen: multi_select ? draft.chosen : [], written: target.value })}
          placeholder={options.length > 0 ? words.otherAnswer : words.yourAnswer}
          value={draft.written}
        />
      </div>
    </fieldset>
  );
}
