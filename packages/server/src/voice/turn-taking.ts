import { trimEndOf } from '@vestra/contract/trim-end';

/**
 * Decides whose turn it is in a call. Pure: an event goes in, the next state and actions come out. The connection has
 * already stopped the agent's speech when the user begins to speak.
 */

type Phase = 'listening' | 'hearing' | 'reading' | 'thinking' | 'speaking' | 'ended';

export type TurnState = {
  phase: Phase;
  /** The user began to speak while the agent was speaking. */
  isInterrupted: boolean;
  /** A reply is being generated. */
  isWorking: boolean;
};

export type CallEvent =
  /** The user begins to speak, or falls silent. */
  | 'began'
  | 'fell_silent'
  /** The utterance has words, or none: a noise, or the agent's own voice. */
  | 'words'
  | 'no_words'
  | 'reply_begins'
  | 'reply_is_over'
  /** A sentence is ready; the last queued sentence was spoken. */
  | 'sentence'
  | 'all_said'
  | 'ends';

export type CallAction = 'read' | 'send' | 'say' | 'keep' | 'resume' | 'drop_unsaid';

export const initialTurn: TurnState = { phase: 'listening', isInterrupted: false, isWorking: false };

type TurnTransition = { state: TurnState; actions: readonly CallAction[] };

export function nextTurn(state: TurnState, event: CallEvent): TurnTransition {
  const { phase, isInterrupted, isWorking } = state;
  const to = (next: Partial<TurnState>, ...actions: CallAction[]): TurnTransition => ({
    state: { ...state, ...next },
    actions,
  });
  if (phase === 'ended') return to({});
  const isPersons = phase === 'hearing' || phase === 'reading';
  switch (event) {
    case 'ends':
      return to({ phase: 'ended' }, 'drop_unsaid');
    case 'began':
      return to({ phase: 'hearing', isInterrupted: isInterrupted || phase === 'speaking' });
    case 'fell_silent':
      return phase === 'hearing' ? to({ phase: 'reading' }, 'read') : to({});
    case 'words':
      // The user continued to speak. These words come again with the rest.
      if (phase !== 'reading') return to({});
      return to({ phase: 'thinking', isInterrupted: false }, 'drop_unsaid', 'send');
    case 'no_words':
      if (phase !== 'reading') return to({});
      if (isInterrupted) return to({ phase: 'speaking', isInterrupted: false }, 'resume');
      return to({ phase: isWorking ? 'thinking' : 'listening' }, 'resume');
    case 'reply_begins':
      return to({ isWorking: true, phase: phase === 'listening' ? 'thinking' : phase });
    case 'reply_is_over':
      return to({ isWorking: false, phase: phase === 'thinking' ? 'listening' : phase });
    case 'sentence':
      // Never speak over the user: the sentence waits until their words are transcribed.
      return isPersons ? to({ isInterrupted: true }, 'keep') : to({ phase: 'speaking' }, 'say');
    case 'all_said':
      return phase === 'speaking' ? to({ phase: isWorking ? 'thinking' : 'listening' }) : to({});
  }
}

/** Words that a sentence of their language does not end with. */
const connecting = wordSet(`a an the my your our their its to for with of from at into about because and or but if while
  although unless than whose`);
const fillers = wordSet('um uh uhm erm er hmm hm well so');
const auxiliary = wordSet('is are was were am do does did can could would will shall should has have had must');
const pronouns = wordSet('i you he she it we they that this there not');
const startsClause = /^(?:if|because|although|unless|once|whenever)\b[^,]*\.$/;
const startsRequest =
  /\b(?:(?:tell|show|give|let) me|i want|i need|i'd like|would like|want to know|i'm looking|i am looking)$/;
const asksWith = /^(?:\w+ )?(?:who|what|which|where|when|how|why)\b/;

/**
 * Whether the user is likely to continue after a pause. The recogniser ends half a sentence with a full stop as well,
 * such as "I would like to.", so its last words decide, not its punctuation alone.
 */
export function soundsUnfinished(text: string): boolean {
  if (!/[.!?…。！？]$/.test(text)) return text !== '';
  const said = text.toLowerCase().replaceAll('’', "'");
  const words = said.match(/[\p{L}\p{N}']+/gu) ?? [];
  const last = words.at(-1) ?? '';
  const plain = trimEndOf(said, '.!?…');
  if (fillers.has(last) || startsClause.test(said) || startsRequest.test(plain)) return true;
  // "Who is it for?" is whole; "When does?" is not.
  if (connecting.has(last)) return !(said.endsWith('?') && words.length > 2 && asksWith.test(said));
  return auxiliary.has(last) && !pronouns.has(words.at(-2) ?? '') && !(last === 'do' && words.length <= 2);
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}
