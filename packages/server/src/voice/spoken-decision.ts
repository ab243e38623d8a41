import type { InteractionRow } from '../engine/interactions/index.ts';

const yes =
  /^(?:(?:yes|yeah|yep|yup|sure|ok|okay|please|go ahead|do it|do that|confirm|confirmed|approve|approved|i (?:agree|approve|confirm)|that is (?:right|fine|correct)|that's (?:right|fine|correct)|of course|certainly|absolutely|ja|bitte|gerne|sí|si|oui|sim|claro|vale|d'accord|はい)\s*)+$/;
const no =
  /\b(?:no|nope|nah|not|never|don't|do not|stop|cancel|deny|denied|decline|wait|nein|nicht|non|pas|não|nunca)\b|いいえ/;

/** What a person says to a question that takes a yes or a no. Anything but a plain yes is none. */
export function readDecision(heard: string): 'yes' | 'no' | null {
  const text = heard
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^\p{L}\p{N}'\s]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (no.test(text)) return 'no';
  return yes.test(text) ? 'yes' : null;
}

type Asked = Pick<InteractionRow, 'type' | 'kind' | 'moves_money' | 'requires_present_user' | 'details'>;

/**
 * Whether a spoken yes counts. A voice may be anybody's in the room, and is read by a model that mishears: what moves money,
 * what asks for a person who is present, and whatever the deployment lists under `approvals` takes a yes on the page.
 */
export function takesSpokenYes({ type, kind, moves_money, requires_present_user, details }: Asked): boolean {
  if (type !== 'approval' || (kind !== 'tool_permission' && kind !== 'exit_plan')) return false;
  if (moves_money === true || requires_present_user) return false;
  return (details.category ?? null) === null;
}
