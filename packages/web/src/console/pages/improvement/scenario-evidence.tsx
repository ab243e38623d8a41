import { useState } from 'react';
import { useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Fault } from '../../parts/fault.tsx';
import { ModelText } from '../../parts/model-text.tsx';
import { Section, Waiting } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status, type Tone } from '../../parts/shown.tsx';

type Improvement = RouteAnswer<'improvements.get'>;
type Scenario = Improvement['scenarios'][number];
type Played = NonNullable<Scenario['before']>;

/** A reproduced failure is shown by its result, once the change was played. */
function stateOf({ status, after }: Scenario): { label: string; tone: Tone } {
  if (status === 'not_reproduced') return { label: status, tone: 'good' };
  if (status !== 'reproduced') return { label: status, tone: 'quiet' };
  if (after === null || after.runs === 0) return { label: status, tone: 'warn' };
  return after.passed === after.runs ? { label: 'fixed', tone: 'good' } : { label: 'not_fixed', tone: 'danger' };
}

/** The conversations that were played for each real one: before and after the change, side by side. */
export function Evidence({ improvement: { scenarios } }: { improvement: Improvement }) {
  if (scenarios.length === 0) return null;
  return (
    <Section title="Evidence">
      <ul className="flex flex-col gap-3">
        {scenarios.map((scenario, at) => (
          <ScenarioEvidence isFirst={at === 0} key={scenario.scenario_id} scenario={scenario} />
        ))}
      </ul>
    </Section>
  );
}

function ScenarioEvidence({ scenario, isFirst }: { scenario: Scenario; isFirst: boolean }) {
  const { name, goal, conversation_id, success_criteria, must_never, before, after } = scenario;
  const [isOpen, setIsOpen] = useState(isFirst);
  const { label, tone } = stateOf(scenario);
  return (
    <li className="panel" data-scenario={scenario.scenario_id}>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)} open={isOpen}>
        <summary className="flex flex-wrap items-center gap-2 px-4 py-2.5">
          <Status tone={tone}>{label}</Status>
          <span className="min-w-0 truncate font-medium">{name ?? goal ?? conversation_id}</span>
          <span className="figures ml-auto text-quiet text-sm">
            {before && `${before.passed} of ${before.runs} passed before`}
            {before && after && ', '}
            {after && `${after.passed} of ${after.runs} after`}
          </span>
        </summary>
        <div className="border-t px-4 py-3">
          <ul className="mb-3 list-disc pl-5 text-quiet">
            {success_criteria.map((line) => (
              <li key={line}>{line}</li>
            ))}
            {must_never.map((line) => (
              <li key={line}>Never: {line}</li>
            ))}
          </ul>
          {isOpen && (
            <div className="grid gap-3 md:grid-cols-2">
              <PlayedTalk played={before} title="Before" />
              <PlayedTalk played={after} title="After" />
            </div>
          )}
          <PageLink
            className="mt-3 inline-block text-accent text-sm underline underline-offset-2"
            to={`/conversations/${conversation_id}`}
          >
            Real conversation
          </PageLink>
        </div>
      </details>
    </li>
  );
}

function PlayedTalk({ title, played }: { title: string; played: Played | null }) {
  return (
    <div className="min-w-0 rounded-md bg-muted/50 p-3" data-side={title.toLowerCase()}>
      <p className="eyebrow">{title}</p>
      {played?.conversation_id ? (
        <Talk conversationId={played.conversation_id} />
      ) : (
        <p className="text-quiet">Not played.</p>
      )}
    </div>
  );
}

function Talk({ conversationId: conversation_id }: { conversationId: string }) {
  const { data, error } = useOne('conversations.messages', { conversation_id, limit: 100 });
  const messages = data?.data.toReversed();
  if (error) return <Fault error={error} />;
  if (!messages) return <Waiting />;
  return (
    <>
      <ol className="flex flex-col gap-2">
        {messages.map(({ id, role, text }) => (
          <li key={id}>
            <span className="block text-quiet text-xs">{role === 'user' ? 'User' : 'Agent'}</span>
            {role === 'user' ? (
              <p className="whitespace-pre-wrap break-words" dir="auto">
                {text}
              </p>
            ) : (
              <ModelText text={text} />
            )}
          </li>
        ))}
      </ol>
      <PageLink
        className="mt-2 inline-block text-accent text-sm underline underline-offset-2"
        to={`/conversations/${conversation_id}`}
      >
        Conversation and trace
      </PageLink>
    </>
  );
}
