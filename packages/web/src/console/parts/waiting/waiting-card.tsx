import type { Interaction } from '@vestra/sdk/resources';
import { yesTo } from '@vestra/sdk/yes';
import { type ReactNode, useState } from 'react';
import { headlineOf, type Row, shownRow } from '../../../approval/shown-row.ts';
import { useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { Fields } from '../../data/rows.ts';
import { Button } from '../button.tsx';
import { Fault } from '../fault.tsx';
import { say } from '../notices.tsx';
import { PageLink } from '../page-link.tsx';
import { RequestMenu } from '../request-menu.tsx';
import { Status, Time } from '../shown.tsx';

type Waiting = Pick<
  Interaction,
  'id' | 'type' | 'kind' | 'summary' | 'user_id' | 'conversation_id' | 'created_at' | 'expires_at' | 'needs'
> &
  Partial<Interaction>;
type AnswerFields = Omit<Fields<'interactions.answer'>, 'interaction_id'>;

const words: Record<string, string> = {
  approval: 'Approval',
  question: 'Question',
  connect: 'Connect an app',
  handoff: 'Handoff to a person',
  tool_call: 'Function call',
};

type WaitingCardProps = {
  waiting: Waiting;
  /** The name of the user. The page of one conversation has it elsewhere. */
  user?: ReactNode;
  isInTalk?: boolean;
};

/** A pending interaction with its answer form. */
export function WaitingCard({ waiting, user, isInTalk = false }: WaitingCardProps) {
  const { may } = useRole();
  const answer = useChange('interactions.answer', {
    touches: ['conversations', 'tasks'],
    onDone: () => say('Answered'),
  });
  const cancel = useChange('interactions.cancel', {
    touches: ['conversations', 'tasks'],
    onDone: () => say('Cancelled'),
  });
  const interaction_id = waiting.id;
  const send = (fields: AnswerFields) => answer.run({ interaction_id, ...fields } as Fields<'interactions.answer'>);
  const isOff = answer.isRunning || cancel.isRunning || !may('interactions.answer');
  return (
    <article
      aria-label={waiting.summary}
      className="panel p-4"
      data-interaction={waiting.id}
      data-waiting={waiting.type}
    >
      <header className="mb-2 flex flex-wrap items-center gap-2 text-sm">
        <Status tone="warn">{words[waiting.type] ?? waiting.type}</Status>
        {waiting.approver === 'org' && <Status tone="accent">for the org</Status>}
        {waiting.moves_money && <Status tone="danger">moves money</Status>}
        <span className="min-w-0 text-quiet wrap-anywhere">
          {user && <>{user} · </>}
          <Time at={waiting.created_at} />
          {waiting.expires_at && (
            <>
              {' '}
              · expires <Time at={waiting.expires_at} />
            </>
          )}
        </span>
        <span className="ml-auto flex items-center gap-1">
          {!isInTalk && waiting.conversation_id && (
            <PageLink
              className="text-accent text-sm underline underline-offset-2"
              to={`/conversations/${waiting.conversation_id}`}
            >
              Conversation
            </PageLink>
          )}
          <RequestMenu
            label="Copy the answer as an API request"
            request={{ row: 'interactions.answer', fields: { interaction_id, ...exampleOf(waiting.type) } }}
          />
        </span>
      </header>
      <p className="break-words font-medium">{headlineOf(waiting as Interaction) ?? waiting.summary}</p>
      <Rows details={waiting.details} />
      {/* Cancel is at the end of the row with the buttons of the answer. */}
      <div className="flex flex-wrap items-end gap-2">
        <div className={waiting.type === 'approval' || waiting.type === 'handoff' ? '' : 'w-full'}>
          <Body isBusy={answer.isRunning} isOff={isOff} send={send} waiting={waiting} />
        </div>
        {may('interactions.cancel') && (
          <Button
            className="ml-auto"
            disabled={isOff}
            look="quiet"
            onClick={() => cancel.run({ interaction_id })}
            title="The agent continues without this answer"
          >
            Cancel
          </Button>
        )}
      </div>
      {(answer.error ?? cancel.error) && <Fault className="mt-3" error={(answer.error ?? cancel.error) as Error} />}
    </article>
  );
}

const exampleOf = (type: string) =>
  type === 'tool_call'
    ? { output: {} }
    : type === 'question'
      ? { answers: [''] }
      : type === 'handoff'
        ? { decision: 'done' }
        : { approve: true };

const language = { locale: 'en-US', words: { yes: 'Yes', no: 'No' } };

/** Arguments as the user reads them: names as words, money as money. */
export function shownRows(details: Interaction['details'] | undefined) {
  const rows = (details as { rows?: Row[] } | undefined)?.rows ?? [];
  return rows.map((row) => ({ given: row, ...shownRow(row, rows, language) }));
}

/** Tooltips show the arguments as they are. */
function Rows({ details }: { details: Interaction['details'] | undefined }) {
  const rows = shownRows(details);
  if (rows.length === 0) return null;
  return (
    <dl className="mt-2 grid grid-cols-[max-content_1fr] gap-x-4 gap-y-0.5 text-sm">
      {rows.map(({ given, label, value }) => (
        <div className="contents" key={given.label}>
          <dt className="text-quiet" title={given.label}>
            {label}
          </dt>
          <dd className="min-w-0 whitespace-pre-wrap break-words" title={given.value}>
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

type BodyProps = { waiting: Waiting; send: (fields: AnswerFields) => void; isOff: boolean; isBusy: boolean };

function Body(props: BodyProps): ReactNode {
  const { type } = props.waiting;
  if (type === 'approval') return <Approval {...props} />;
  if (type === 'question') return <Questions {...props} />;
  if (type === 'tool_call') return <ToolResult {...props} />;
  if (type === 'handoff') return <HandOff {...props} />;
  return (
    <p className="mt-3 text-quiet text-sm">
      The user signs in to the app on their session page, or with a link that you create under{' '}
      <PageLink className="text-accent underline underline-offset-2" search={{ connect: '1' }} to="/apps">
        Apps
      </PageLink>
      .
    </p>
  );
}

/** If the approval needs the user in person, the member confirms that the user approved. */
function Approval({ waiting, send, isOff, isBusy }: BodyProps) {
  const needsPerson = waiting.needs.includes('present_user');
  const isElsewhere = waiting.needs.includes('connection') || waiting.needs.includes('installation');
  const [isPresent, setIsPresent] = useState(false);
  return (
    <div className="mt-3">
      {needsPerson && (
        <label className="mb-2 flex gap-2 text-sm">
          <input
            checked={isPresent}
            className="mt-0.5 size-4 accent-accent"
            onChange={(event) => setIsPresent(event.target.checked)}
            type="checkbox"
          />
          The user has just approved this to me in person
        </label>
      )}
      {isElsewhere && <p className="mb-2 text-quiet text-sm">Connecting or installing the app approves this.</p>}
      <div className="flex gap-2">
        <Button
          data-answer="approve"
          disabled={isOff || isElsewhere || (needsPerson && !isPresent)}
          isBusy={isBusy}
          look="primary"
          onClick={() => send(yesTo(waiting as Interaction))}
        >
          Approve
        </Button>
        <Button data-answer="deny" disabled={isOff} onClick={() => send({ approve: false })}>
          Deny
        </Button>
      </div>
    </div>
  );
}

function Questions({ waiting, send, isOff, isBusy }: BodyProps) {
  const questions = waiting.questions ?? [];
  const [answers, setAnswers] = useState<readonly string[]>(questions.map(() => ''));
  const set = (at: number, text: string) =>
    setAnswers((before) => before.map((each, index) => (index === at ? text : each)));
  return (
    <form
      className="mt-3 flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        send({ answers: [...answers] });
      }}
    >
      {questions.map(({ question, options }, at) => (
        <fieldset key={question}>
          <legend className="mb-1 text-sm">{question}</legend>
          <div className="mb-1 flex flex-wrap gap-1.5">
            {options.map((option) => (
              <Button
                aria-pressed={answers[at] === option}
                key={option}
                look={answers[at] === option ? 'primary' : 'plain'}
                onClick={() => set(at, option)}
                shape="small"
              >
                {option}
              </Button>
            ))}
          </div>
          <input
            aria-label={question}
            className="control"
            onChange={(event) => set(at, event.target.value)}
            placeholder="Or type an answer"
            value={answers[at] ?? ''}
          />
        </fieldset>
      ))}
      <div>
        <Button
          disabled={isOff || answers.some((each) => each.trim() === '')}
          isBusy={isBusy}
          look="primary"
          type="submit"
        >
          Answer
        </Button>
      </div>
    </form>
  );
}

/** The result of a function call, as JSON or plain text. */
function ToolResult({ send, isOff, isBusy }: BodyProps) {
  const [text, setText] = useState('{}');
  const [isError, setIsError] = useState(false);
  return (
    <form
      className="mt-3 flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        send(isError ? { error: text } : { output: valueIn(text) });
      }}
    >
      <textarea
        aria-label="Function result"
        className="control h-auto min-h-16 py-1.5 font-mono text-sm"
        onChange={(event) => setText(event.target.value)}
        rows={3}
        value={text}
      />
      <div className="flex items-center gap-3">
        <Button disabled={isOff || text.trim() === ''} isBusy={isBusy} look="primary" type="submit">
          Send result
        </Button>
        <label className="flex items-center gap-2 text-sm">
          <input
            checked={isError}
            className="size-4 accent-accent"
            onChange={(event) => setIsError(event.target.checked)}
            type="checkbox"
          />{' '}
          as an error
        </label>
      </div>
    </form>
  );
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A browser step for a person, with a screenshot of the page. */
function HandOff({ waiting, send, isOff }: BodyProps) {
  const whole = useOne('interactions.get', { interaction_id: waiting.id });
  const asksForValue = (waiting.details as { asks_for_value?: boolean } | undefined)?.asks_for_value === true;
  const [value, setValue] = useState('');
  return (
    <div className="mt-3">
      {whole.data?.frame_url && (
        <img
          alt="The page as the agent sees it"
          className="mb-3 max-h-80 rounded-md border"
          src={whole.data.frame_url}
        />
      )}
      {asksForValue ? (
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            send({ answers: [value] });
          }}
        >
          <input
            aria-label="Value"
            className="control max-w-72"
            onChange={(event) => setValue(event.target.value)}
            value={value}
          />
          <Button disabled={isOff || value === ''} look="primary" type="submit">
            Send
          </Button>
        </form>
      ) : (
        <div className="flex flex-wrap gap-2">
          <Button disabled={isOff} look="primary" onClick={() => send({ decision: 'done' })}>
            Done
          </Button>
          <Button disabled={isOff} onClick={() => send({ decision: 'could_not' })}>
            Could not
          </Button>
          <Button disabled={isOff} onClick={() => send({ decision: 'not_now' })}>
            Not now
          </Button>
        </div>
      )}
    </div>
  );
}
