export type ApprovalCategory = 'payment' | 'booking' | 'cancellation' | 'send_email' | 'publish' | 'delete';

/**
 * Classifies a tool by the words of its name, or of its description if the name matches nothing. The result is
 * deterministic. It labels an approval and never decides whether a call waits.
 */
export function approvalCategory(name: string, description: string): ApprovalCategory | null {
  return categoryIn(wordsOf(name)) ?? categoryIn(wordsOf(description));
}

/**
 * The order matters: payments first, then actions that undo (`cancel_booking` cancels), then the rest. Words that are
 * often nouns (`order`, `post`, `mail`, `transfer`) count only next to another word.
 */
const patterns: readonly (readonly [ApprovalCategory, RegExp])[] = [
  [
    'payment',
    /\b(pay|pays|paying|payment|payments|payout|payouts|prepay|repay|charge|charges|charging|purchase|purchases|purchasing|buy|buys|buying|checkout|check out|refund|refunds|refunding|reimburse|reimburses|donate|donates|withdraw|withdraws|place (an |the )?orders?|top up|(transfer|transfers|send|sends|wire|wires|move|moves) (the |some )?(money|funds|cash))\b/,
  ],
  [
    'cancellation',
    /\b(cancel|cancels|cancell?ing|cancellations?|unsubscribe|unsubscribes|terminate|terminates|revoke|revokes|call off|calls off)\b/,
  ],
  [
    'booking',
    /\b(book|books|booking|bookings|rebook|rebooks|reserve|reserves|reserving|reservation|reservations|schedule (an? )?(appointment|visit|meeting)s?|appointments?)\b/,
  ],
  [
    'delete',
    /\b(delete|deletes|deleting|deletion|remove|removes|removing|removal|erase|erases|erasing|destroy|destroys|purge|purges|wipe|wipes|drop (table|database)s?)\b/,
  ],
  [
    'send_email',
    /\b(emails?|e mails?|emailing|(send|sends|sending|reply|replies|forward|forwards) (an? |the |to )*(mails?|messages?))\b/,
  ],
  [
    'publish',
    /\b(publish|publishes|publishing|publication|tweet|tweets|tweeting|broadcast|broadcasts|go live|goes live|(create|creates|make|makes|write|writes|send|sends|add|adds) (an? |the |new )*(post|posts)|post (to|on|in|an?|the|message|messages|update|updates)|posts (to|on|in|an?|the))\b/,
  ],
];

function categoryIn(words: string): ApprovalCategory | null {
  return patterns.find(([, pattern]) => pattern.test(words))?.[0] ?? null;
}

/** `cancelBooking`, `cancel_booking` and `Cancel booking!` give the same words. */
function wordsOf(text: string): string {
  return text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\d]+/gu, ' ')
    .trim();
}
