import type { ReactNode } from 'react';
import { ModelText } from '../model-text.tsx';
import { Facts } from '../page.tsx';
import { count, duration, exactTime, percent, usd } from '../shown.tsx';
import { SentParts } from './sent-parts.tsx';
import type { Span, Trace } from './spans.ts';
import { ValueView } from './value-view.tsx';

/** One step: what it was given, what it answered, its time, tokens and cost. */
export function SpanDetails({ span, trace }: { span: Span; trace: Trace }) {
  const { step, call } = span;
  return (
    <section aria-label="Step details" className="mt-4 flex flex-col gap-4">
      {call?.error && <p className="break-words rounded-md bg-danger-soft px-3 py-2 text-danger">{call.error}</p>}
      {call && <ModelStep call={call} trace={trace} />}
      {step && <ToolStep step={step} />}
      {step?.media?.map((each) => (
        <Media each={each} key={each.url ?? each.bytes} name={span.name} />
      ))}
      <Facts
        rows={[
          [
            step ? 'Tool' : 'Model',
            <code className="break-all font-mono text-sm" key="name">
              {span.name}
            </code>,
          ],
          ['Started', exactTime(new Date(span.startMs).toISOString())],
          ['Duration', span.isOpen ? 'running' : duration(span.endMs - span.startMs)],
          ...(call
            ? ([
                ['Tokens', `${count(call.input_tokens)} input, ${count(call.output_tokens)} output`],
                ['From cache', `${percent(call.cache_share)} (${count(call.cache_read_tokens)} tokens)`],
                ['Cost', usd(call.cost_usd)],
                ['Status', call.status ?? '–'],
              ] as const)
            : []),
        ]}
      />
    </section>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="min-w-0">
    <h3 className="mb-1 font-medium text-sm">{title}</h3>
    {children}
  </div>
);

function ModelStep({ call, trace }: { call: NonNullable<Span['call']>; trace: Trace }) {
  const { content } = call;
  if (!content) return null;
  const called = trace.steps.filter(({ tool_use_id }) => content.tool_use_ids.includes(tool_use_id));
  return (
    <>
      {(content.text !== '' || called.length > 0) && (
        <Part title="Answer">
          <div className="panel p-3">
            {content.text !== '' && <ModelText text={content.text} />}
            {called.map(({ tool_use_id, name, content: given }) => (
              <div className="not-first:mt-3" key={tool_use_id}>
                <p className="mb-1 text-quiet text-sm">
                  calls <code className="font-mono text-foreground">{name ?? 'tool'}</code>
                </p>
                <ValueView label={`Input of ${name ?? 'tool'}`} value={given?.input} />
              </div>
            ))}
          </div>
        </Part>
      )}
      {trace.sent && (
        <Part title="Sent to the model">
          <SentParts call={call} sent={trace.sent} trace={trace} />
        </Part>
      )}
    </>
  );
}

function ToolStep({ step }: { step: NonNullable<Span['step']> }) {
  const { content, is_error, output_summary, input_summary } = step;
  const output = content ? content.output : output_summary;
  return (
    <>
      <Part title="Input">
        <ValueView label="Input" value={content ? content.input : input_summary} />
      </Part>
      {output !== null && (
        <Part title={is_error ? 'Error' : 'Output'}>
          <ValueView label={is_error ? 'Error' : 'Output'} value={output} />
        </Part>
      )}
    </>
  );
}

function Media({ each, name }: { each: NonNullable<NonNullable<Span['step']>['media']>[number]; name: string }) {
  const { url, media_type, bytes, width, height } = each;
  if (!url || !media_type.startsWith('image/')) {
    return (
      <p className="text-quiet text-sm">
        {media_type}, {count(bytes)} bytes
      </p>
    );
  }
  return (
    <img
      alt={`Output of ${name}`}
      className="max-h-96 rounded-md border"
      height={height ?? undefined}
      src={url}
      width={width ?? undefined}
    />
  );
}
