import type { ReactNode } from 'react';
import type { RouteAnswer } from '../../data/rows.ts';
import { Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { count, duration, percent, Status, Time, type Tone, usd } from '../../parts/shown.tsx';

type Overview = RouteAnswer<'overview.get'>;
type Period = Overview['period'];

export const periods: Readonly<Record<Period, string>> = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' };

/** An address may carry anything. */
export const periodOf = (given: string | undefined): Period =>
  given !== undefined && Object.hasOwn(periods, given) ? (given as Period) : '24h';

/** From this share on, failures are a fault of the agent and not of single requests. */
const highShare = 0.05;

export function Health({ data, deployment }: { data: Overview; deployment: string | undefined }) {
  const { conversation_count, reply_count, failed_count, latency_ms, cost_usd, pending_approval_count } = data;
  const period = periods[data.period];
  return (
    <>
      <Verdict data={data} />
      <div className="mb-4 grid grid-cols-2 gap-3 md:grid-cols-5 max-md:*:last:col-span-2">
        <Figure label="Conversations" note={`${count(reply_count)} ${reply_count === 1 ? 'reply' : 'replies'}`}>
          {count(conversation_count)}
        </Figure>
        <Figure
          label="Failure rate"
          note={`${count(failed_count)} of ${count(reply_count)} failed`}
          tone={failed_count === 0 ? undefined : 'danger'}
        >
          {reply_count === 0 ? '–' : percent(failed_count / reply_count)}
        </Figure>
        <Figure
          label="Latency"
          note={latency_ms ? `median, p95\u00a0${duration(latency_ms.p95).replace(' ', '\u00a0')}` : 'No replies'}
        >
          {latency_ms ? duration(latency_ms.p50) : '–'}
        </Figure>
        <Figure label="Spend" note={`Last ${period}`}>
          {usd(cost_usd)}
        </Figure>
        <Figure
          label="Approvals"
          note={pending_approval_count === 0 ? 'None pending' : 'Pending in the inbox'}
          to="/inbox"
          tone={pending_approval_count === 0 ? undefined : 'warn'}
        >
          {count(pending_approval_count)}
          {pending_approval_count >= 1000 && '+'}
        </Figure>
      </div>
      <Replies data={data} />
      <div className="grid grid-cols-1 gap-x-6 xl:grid-cols-2">
        <Causes data={data} deployment={deployment} />
        <ByDeployment data={data} />
      </div>
    </>
  );
}

/** Whether all is well, in one sentence. */
function Verdict({ data }: { data: Overview }) {
  const { reply_count: replies, failed_count: failed } = data;
  const period = `in the last ${periods[data.period]}`;
  const [tone, word, sentence]: [Tone, string, string] =
    replies === 0
      ? ['quiet', 'quiet', `No replies ${period}.`]
      : failed === 0
        ? [
            'good',
            'healthy',
            replies === 1
              ? `The only reply ${period} succeeded.`
              : `All ${count(replies)} replies ${period} succeeded.`,
          ]
        : [
            failed / replies >= highShare ? 'danger' : 'warn',
            failed / replies >= highShare ? 'failing' : 'some failures',
            `${count(failed)} of ${count(replies)} replies ${period} failed (${percent(failed / replies)}).`,
          ];
  return (
    <p className="mb-3 flex flex-wrap items-center gap-2" data-health={word}>
      <Status tone={tone}>{word}</Status>
      <span>{sentence}</span>
      {isShortened(data) && (
        <span className="text-quiet text-sm">
          Only the newest 50,000 messages, since <Time at={data.from} />.
        </span>
      )}
    </p>
  );
}

const isShortened = ({ from, slots }: Overview) => Date.parse(from) > Date.parse(slots[0]?.at ?? from);

const toneOfFigure = { danger: 'text-danger', warn: 'text-warn' } as const;

function Figure({
  label,
  note,
  tone,
  to,
  children,
}: {
  label: string;
  note: string;
  tone?: keyof typeof toneOfFigure | undefined;
  to?: string;
  children: ReactNode;
}) {
  const inner = (
    <>
      <span className="eyebrow">{label}</span>
      <span className={`figures mt-1 block font-semibold text-2xl leading-tight ${tone ? toneOfFigure[tone] : ''}`}>
        {children}
      </span>
      <span className="figures mt-0.5 block text-quiet text-sm">{note}</span>
    </>
  );
  const look = 'panel block p-4';
  if (!to) return <div className={look}>{inner}</div>;
  return (
    <PageLink className={`${look} hover:border-strong-line`} to={to}>
      {inner}
    </PageLink>
  );
}

const hourOf = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayOf = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Replies of each hour or day with their failures, and a table for screen readers. */
function Replies({ data: { period, slots } }: { data: Overview }) {
  const unit = period === '24h' ? 'hour' : 'day';
  const most = Math.max(...slots.map(({ reply_count }) => reply_count), 1);
  const nameOf = (at: string) => (unit === 'hour' ? hourOf : dayOf).format(new Date(at));
  return (
    <figure className="panel mb-8 p-4">
      <figcaption className="flex items-baseline gap-4 text-sm">
        <span className="eyebrow mr-auto">Replies per {unit}</span>
        <span aria-hidden="true" className="flex items-center gap-1.5 text-quiet">
          <span className="size-2 rounded-full bg-accent" /> succeeded
        </span>
        <span aria-hidden="true" className="flex items-center gap-1.5 text-quiet">
          <span className="size-2 rounded-full bg-danger" /> failed
        </span>
      </figcaption>
      <div aria-hidden="true" className="mt-3 flex h-32 items-end gap-[3px]">
        {slots.map(({ at, reply_count, failed_count }) => (
          <span
            className="flex h-full grow flex-col justify-end gap-px rounded-sm hover:bg-muted"
            key={at}
            title={`${nameOf(at)}: ${count(reply_count)} replies, ${count(failed_count)} failed`}
          >
            {reply_count === 0 && <span className="block h-0.5 rounded-sm bg-line" />}
            <Bar look="bg-danger" share={failed_count / most} />
            <Bar look="bg-accent" share={(reply_count - failed_count) / most} />
          </span>
        ))}
      </div>
      <div aria-hidden="true" className="figures mt-1 flex justify-between text-quiet text-xs">
        <span>{slots[0] && nameOf(slots[0].at)}</span>
        <span>{unit === 'hour' ? 'now' : 'today'}</span>
      </div>
      <table className="sr-only">
        <caption>Replies per {unit}</caption>
        <thead>
          <tr>
            <th scope="col">{unit === 'hour' ? 'Hour' : 'Day'}</th>
            <th scope="col">Replies</th>
            <th scope="col">Failed</th>
          </tr>
        </thead>
        <tbody>
          {slots.map(({ at, reply_count, failed_count }) => (
            <tr key={at}>
              <th scope="row">{nameOf(at)}</th>
              <td>{count(reply_count)}</td>
              <td>{count(failed_count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

/** A single failure among thousands of replies must be visible. */
const Bar = ({ share: part, look }: { share: number; look: string }) =>
  part > 0 && <span className={`block w-full rounded-sm ${look}`} style={{ height: `${Math.max(3, part * 100)}%` }} />;

function Causes({ data: { failures, period, from }, deployment }: { data: Overview; deployment: string | undefined }) {
  return (
    <Section title="Failures by cause">
      {failures.length === 0 ? (
        <p className="panel px-3 py-4 text-quiet">No failures in the last {periods[period]}.</p>
      ) : (
        <ul className="panel divide-y">
          {failures.map(({ code, message, failed_count, conversation_count, conversation_id, last_at }) => (
            <li className="px-3 py-2.5" key={code}>
              <div className="flex items-baseline gap-2">
                <span className="figures font-semibold text-danger">{count(failed_count)}</span>
                <code className="font-mono text-sm">{code}</code>
                <span className="ml-auto whitespace-nowrap text-quiet text-sm">
                  <Time at={last_at} />
                </span>
              </div>
              <p className="mt-0.5 line-clamp-2 text-quiet wrap-anywhere">{message}</p>
              <p className="mt-1 flex flex-wrap gap-x-4 text-sm">
                <PageLink
                  className="text-accent underline underline-offset-2"
                  search={{ error_code: code, failed_after: from, ...(deployment && { deployment }) }}
                  to="/conversations"
                >
                  {conversation_count === 1 ? 'The conversation' : `${count(conversation_count)} conversations`} with{' '}
                  {code}
                </PageLink>
                <PageLink className="text-accent underline underline-offset-2" to={`/conversations/${conversation_id}`}>
                  The newest
                  <span className="sr-only"> with {code}</span>
                </PageLink>
              </p>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function ByDeployment({ data: { deployments, period } }: { data: Overview }) {
  return (
    <Section title="By deployment">
      {deployments.length === 0 ? (
        <p className="panel px-3 py-4 text-quiet">No deployment was used in the last {periods[period]}.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls a table that is wider than a phone.
        <section aria-label="By deployment" className="panel overflow-x-auto" tabIndex={0}>
          <table className="w-full text-left">
            <thead className="text-quiet text-sm">
              <tr className="border-b [&>th]:whitespace-nowrap [&>th]:px-3 [&>th]:py-2 [&>th]:font-medium">
                <th scope="col">Deployment</th>
                <th className="text-right" scope="col">
                  Conversations
                </th>
                <th className="text-right" scope="col">
                  Failed
                </th>
                <th className="text-right max-sm:hidden" scope="col">
                  p95
                </th>
                <th className="text-right" scope="col">
                  Spend
                </th>
              </tr>
            </thead>
            <tbody className="divide-y">
              {deployments.map((row) => (
                <tr className="[&>td]:whitespace-nowrap [&>td]:px-3 [&>td]:py-2" key={row.deployment_id}>
                  <td className="max-w-48 truncate">
                    <PageLink className="font-medium hover:underline" to={`/deployments/${row.deployment_id}`}>
                      {row.name ?? 'Deleted deployment'}
                    </PageLink>
                  </td>
                  <td className="figures text-right">{count(row.conversation_count)}</td>
                  <td className={`figures text-right ${row.failed_count > 0 ? 'text-danger' : ''}`}>
                    {row.reply_count === 0 ? '–' : percent(row.failed_count / row.reply_count)}
                  </td>
                  <td className="figures text-right max-sm:hidden">
                    {row.latency_ms ? duration(row.latency_ms.p95) : '–'}
                  </td>
                  <td className="figures text-right">{usd(row.cost_usd)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Section>
  );
}
