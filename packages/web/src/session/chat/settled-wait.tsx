import { headlineOf } from '../../approval/shown-row.ts';
import { CheckIcon, CloseIcon } from '../icons.tsx';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import type { Interaction } from './chat-state.ts';
import { isForCompany } from './wait-card.tsx';

/** A settled interaction in one line. */
export function SettledWait({ interaction }: { interaction: Interaction }) {
  const words = useWords();
  const { outcome } = interaction;
  const headline = headlineOf(interaction);
  const isGood = outcome?.decision === 'approved' || outcome?.decision === 'answered';
  const Mark = isGood ? CheckIcon : CloseIcon;
  return (
    <p className="flex gap-2 text-sm leading-relaxed text-muted-foreground" data-outcome={outcome?.decision}>
      <Mark className={`mt-0.5 size-4 shrink-0 ${isGood ? 'text-good' : ''}`} />
      <span className="min-w-0 wrap-anywhere">
        {headline !== null && <bdi>{headline}</bdi>}{' '}
        {/* The dot and the outcome stay together where the line breaks. */}
        <span className="inline-block">
          {headline !== null && '· '}
          <bdi className="text-foreground">{outcome?.answers?.join(', ') || outcomeWord(interaction, words)}</bdi>
        </span>
      </span>
    </p>
  );
}

function outcomeWord(interaction: Interaction, words: Words): string {
  const { kind, status, outcome } = interaction;
  const isOfCompany = isForCompany(interaction);
  if (kind === 'plan_limit') return words.stopped;
  if (status === 'cancelled') return words.withdrawn;
  if (status === 'expired') return words.expired;
  if (outcome?.decision === 'approved') return isOfCompany ? words.companyApproved : words.approved;
  if (outcome?.decision === 'denied') return isOfCompany ? words.companyDeclined : words.declined;
  return words.answered;
}
