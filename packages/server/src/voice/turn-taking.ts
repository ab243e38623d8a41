/**
 * Whose turn it is in a call, as a decision that touches nothing: what happens goes in, and what is to be done comes out. The
 * line has broken off what the agent says by itself when the person begins to speak.
 */

type Phase = 'listening' | 'hearing' | 'reading' | 'thinking' | 'speaking' | 'ended';

export type Taking = {
  phase: Phase;
  /** The agent was speaking when the person began to. */
  isBrokenOff: boolean;
  /** A reply is being made. */
  isWorking: boolean;
};

export type Happening =
  /** The person begins to speak, or has fallen silent. */
  | 'began'
  | 'fell_silent'
  /** What was heard holds words for the agent, or none: a noise, or the agent's own voice. */
  | 'words'
  | 'no_words'
  | 'reply_begins'
  | 'reply_is_over'
  /** A sentence is ready to be said; the last that was to be said is out. */
  | 'sentence'
  | 'all_said'
  | 'ends';

export type Deed = 'read' | 'send' | 'say' | 'keep' | 'go_on' | 'drop_unsaid';

export const atFirst: Taking = { phase: 'listening', isBrokenOff: false, isWorking: false };

type Step = { taking: Taking; deeds: readonly Deed[] };

export function take(taking: Taking, happening: Happening): Step {
  const { phase, isBrokenOff, isWorking } = taking;
  const to = (next: Partial<Taking>, ...deeds: Deed[]): Step => ({ taking: { ...taking, ...next }, deeds });
  if (phase === 'ended') return to({});
  const isPersons = phase === 'hearing' || phase === 'reading';
  switch (happening) {
    case 'ends':
      return to({ phase: 'ended' }, 'drop_unsaid');
    case 'began':
      return to({ phase: 'hearing', isBrokenOff: isBrokenOff || phase === 'speaking' });
    case 'fell_silent':
      return phase === 'hearing' ? to({ phase: 'reading' }, 'read') : to({});
    case 'words':
      // They went on speaking: what was read comes again with the rest.
      if (phase !== 'reading') return to({});
      return to({ phase: 'thinking', isBrokenOff: false }, 'drop_unsaid', 'send');
    case 'no_words':
      if (phase !== 'reading') return to({});
      if (isBrokenOff) return to({ phase: 'speaking', isBrokenOff: false }, 'go_on');
      return to({ phase: isWorking ? 'thinking' : 'listening' }, 'go_on');
    case 'reply_begins':
      return to({ isWorking: true, phase: phase === 'listening' ? 'thinking' : phase });
    case 'reply_is_over':
      return to({ isWorking: false, phase: phase === 'thinking' ? 'listening' : phase });
    case 'sentence':
      // Nobody talks over a person: it waits for what they say to be read.
      return isPersons ? to({ isBrokenOff: true }, 'keep') : to({ phase: 'speaking' }, 'say');
    case 'all_said':
      return phase === 'speaking' ? to({ phase: isWorking ? 'thinking' : 'listening' }) : to({});
  }
}
