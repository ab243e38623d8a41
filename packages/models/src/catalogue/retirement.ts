import type { PricedModel } from '../prices.ts';

type Ending = Pick<PricedModel, 'id' | 'retires_on' | 'replacement'>;

const dayMs = 86_400_000;

/**
 * Returns whether the model is retired on that day, YYYY-MM-DD, and a sentence for people; null if no end is announced.
 */
export function retirementOf({ id, retires_on, replacement }: Ending, today: string) {
  if (retires_on === null) return { isPast: false, daysLeft: null, sentence: null } as const;
  const daysLeft = Math.round((Date.parse(retires_on) - Date.parse(today)) / dayMs);
  const isPast = daysLeft <= 0;
  const instead = replacement === null ? ' Choose another model.' : ` Use \`${replacement}\`.`;
  const sentence = `The model \`${id}\` ${isPast ? 'was retired' : 'retires'} on ${retires_on}.${instead}`;
  return { isPast, daysLeft, sentence } as const;
}

/** Models are reported this long before their end, which is the shortest notice of any vendor. */
const noticeDays = 60;

/** One line per model that retires within the notice, soonest first. Retired models are not listed. */
export function retirementNotes(models: readonly Ending[], now: Date): string[] {
  const today = now.toISOString().slice(0, 10);
  return models
    .map((model) => retirementOf(model, today))
    .filter(({ isPast, daysLeft }) => daysLeft !== null && !isPast && daysLeft <= noticeDays)
    .toSorted((one, other) => (one.daysLeft ?? 0) - (other.daysLeft ?? 0))
    .map(({ sentence }) => sentence as string);
}
