import { type ReactNode, useState } from 'react';
import { CopyButton } from '../copy.tsx';
import { count } from '../shown.tsx';
import type { Span, Trace } from './spans.ts';

type Call = NonNullable<Span['call']>;
type Sent = NonNullable<Trace['sent']>;
/** A folded part of a request. */
type SentPart = { title: string; note: string; texts: readonly { by: string; text: string }[] };

const roles: Record<Sent['messages'][number]['role'], string> = {
  user: 'User',
  agent: 'Agent',
  work: 'Task',
  summary: 'Summary of older messages',
  brief: 'Request of the task',
};

const unstored: Record<Sent['not_stored'][number], string> = {
  platform_instructions: 'the instructions of the platform',
  memory: 'memory about the user',
  attachments: 'the content of attached files',
  platform_tools: 'tools of the platform',
};

/** The request of a model call: folded, searchable and copyable. */
export function SentParts({ sent, call, trace }: { sent: Sent; call: Call; trace: Trace }) {
  const [typed, setTyped] = useState('');
  const words = typed.trim().toLowerCase();
  const parts = partsOf(sent, call, trace);
  const shown = words === '' ? parts : parts.filter((part) => part.texts.some(({ text }) => has(text, words)));
  return (
    <div className="panel overflow-hidden">
      <div className="flex items-center gap-2 border-b p-2">
        <input
          aria-label="Search what was sent"
          className="control min-w-0"
          onChange={(event) => setTyped(event.target.value)}
          placeholder="Search what was sent"
          type="search"
          value={typed}
        />
        <CopyButton label="Copy what was sent" text={parts.map(asText).join('\n\n')} />
      </div>
      {shown.length === 0 && <p className="px-3 py-2 text-quiet text-sm">Nothing contains “{typed.trim()}”.</p>}
      {shown.map((part) => (
        <details className="group/part border-b" key={part.title} open={words !== '' || undefined}>
          <summary className="flex items-center gap-2 px-3 py-1.5 hover:bg-muted/50">
            <span aria-hidden="true" className="text-quiet text-xs group-open/part:rotate-90">
              ▸
            </span>
            <span className="text-sm">{part.title}</span>
            <span className="ml-auto text-quiet text-xs">{part.note}</span>
          </summary>
          <div className="max-h-96 overflow-y-auto px-3 pb-3">
            <p className="float-right">
              <CopyButton label={`Copy ${part.title.toLowerCase()}`} text={asText(part)} />
            </p>
            {part.texts.map(({ by, text }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: texts keep their order.
              <div className="pt-2" key={at}>
                {by !== '' && <p className="eyebrow">{by}</p>}
                <p className="whitespace-pre-wrap break-words text-sm" dir="auto">
                  {marked(text, words)}
                </p>
              </div>
            ))}
          </div>
        </details>
      ))}
      <p className="px-3 py-2 text-quiet text-xs">
        Not stored, and so not shown: {sent.not_stored.map((each) => unstored[each]).join(', ')}.
        {JSON.stringify(sent).includes('•••') && ' ••• replaces credentials and card numbers.'}
      </p>
    </div>
  );
}

function partsOf({ instructions, messages, messages_left_out, tools }: Sent, call: Call, trace: Trace): SentPart[] {
  const all: SentPart[] = [
    {
      title: 'Instructions',
      note: instructions === null ? 'deleted' : `${count(instructions.length)} characters`,
      texts:
        instructions === '' ? [] : [{ by: '', text: instructions ?? 'The deployment was deleted with its versions.' }],
    },
    {
      title: 'Messages',
      note: messages_left_out > 0 ? `the newest ${messages.length}` : count(messages.length),
      texts: messages.map(({ role, text }) => ({ by: roles[role], text })),
    },
    earlierSteps(call, trace),
    {
      title: 'Tools offered',
      note: count(tools.length),
      texts: tools.map(({ name, description }) => ({ by: name, text: description })),
    },
  ];
  return all.filter(({ texts }) => texts.length > 0);
}

/** Answers and tool results of the same reply before this call. */
function earlierSteps(call: Call, { turns, steps }: Trace): SentPart {
  const before = turns.slice(0, turns.indexOf(call)).filter(({ content }) => content !== undefined);
  const texts = before.flatMap(({ content }) => [
    ...(content?.text ? [{ by: 'Agent', text: content.text }] : []),
    ...steps
      .filter(({ tool_use_id }) => content?.tool_use_ids.includes(tool_use_id))
      .flatMap(({ name, content: given }) => [
        { by: `Call of ${name ?? 'a tool'}`, text: JSON.stringify(given?.input ?? null, null, 2) },
        { by: `Result of ${name ?? 'a tool'}`, text: given?.output ?? '' },
      ]),
  ]);
  return { title: 'Earlier steps', note: count(before.length), texts };
}

const asText = ({ title, texts }: SentPart): string =>
  [`# ${title}`, ...texts.map(({ by, text }) => (by === '' ? text : `${by}: ${text}`))].join('\n\n');

const has = (text: string, words: string) => text.toLowerCase().includes(words);

function marked(text: string, words: string): ReactNode {
  const at = words === '' ? -1 : text.toLowerCase().indexOf(words);
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark className="rounded-sm bg-warn-soft text-foreground">{text.slice(at, at + words.length)}</mark>
      {text.slice(at + words.length)}
    </>
  );
}
