import { asMoney, headlineOf, type Row, shownRow } from '../../approval/shown-row.ts';
import { Button } from '../button.tsx';
import { CoinIcon, PersonIcon } from '../icons.tsx';
import { useLanguage } from '../words/words.ts';
import type { Interaction } from './chat-state.ts';
import type { InteractionAnswer } from './use-chat.ts';
import { Buttons, Summary } from './wait-parts.tsx';

type ApprovalProps = {
  interaction: Interaction;
  isSending: boolean;
  send: (answer: InteractionAnswer) => Promise<void>;
};

/** An approval: the action, then its arguments. */
export function Approval({ interaction, isSending, send }: ApprovalProps) {
  const language = useLanguage();
  const { words } = language;
  const { details, moves_money, requires_present_user, needs } = interaction;
  const price = typeof details.price_usd === 'number' ? details.price_usd : null;
  return (
    <>
      <Summary>{headlineOf(interaction)}</Summary>
      {(moves_money === true || details.category === 'payment' || price !== null) && (
        <p className="mt-2 inline-flex items-center gap-1.5 rounded-full bg-accent-soft px-2.5 py-1 text-sm font-medium text-accent">
          <CoinIcon className="size-4 shrink-0" />
          {price === null ? words.movesMoney : words.costs(asMoney(price, 'USD', language))}
        </p>
      )}
      <Rows details={details} />
      {requires_present_user && (
        <p className="mt-3 flex gap-2 text-sm text-muted-foreground">
          <PersonIcon className="mt-0.5 size-4 shrink-0" />
          {words.inPerson}
        </p>
      )}
      <Buttons>
        {!needs.includes('installation') && (
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

function Rows({ details }: { details: Interaction['details'] }) {
  const language = useLanguage();
  const rows = Array.isArray(details.rows) ? details.rows.filter(isRow) : [];
  if (rows.length === 0) return null;
  const more = typeof details.more_rows === 'number' ? details.more_rows : 0;
  return (
    <dl className="mt-3 grid grid-cols-[minmax(4rem,auto)_1fr] gap-x-4 gap-y-1.5 rounded-xl bg-muted px-3.5 py-3 text-[0.9375rem]">
      {rows.map((row) => {
        const { label, value } = shownRow(row, rows, language);
        return (
          <div className="col-span-2 grid grid-cols-subgrid" key={row.label}>
            <dt className="text-muted-foreground wrap-anywhere">
              <bdi>{label}</bdi>
            </dt>
            <dd className="min-w-0 whitespace-pre-wrap wrap-anywhere">
              <bdi>{value}</bdi>
            </dd>
          </div>
        );
      })}
      {more > 0 && (
        <div className="col-span-2 text-muted-foreground">
          <dt className="sr-only">…</dt>
          <dd>{language.words.andMore(new Intl.NumberFormat(language.locale).format(more))}</dd>
        </div>
      )}
    </dl>
  );
}

function isRow(value: unknown): value is Row {
  const { label, title, value: said } = (value ?? {}) as Record<string, unknown>;
  return typeof label === 'string' && typeof said === 'string' && (title === undefined || typeof title === 'string');
}
