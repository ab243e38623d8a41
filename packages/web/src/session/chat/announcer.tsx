import { useEffect, useRef, useState } from 'react';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/words.ts';
import { headlineOf } from './approval.tsx';
import type { ChatState, Interaction } from './chat-state.ts';
import { isForCompany } from './wait-card.tsx';

/** Says to a screen reader what has come, once it is whole: never word by word. */
export function Announcer({ state }: { state: ChatState }) {
  const words = useWords();
  const told = useRef<{ ids: Set<string>; oldest: string | null } | null>(null);
  const isWaitTold = useRef(false);
  const [news, setNews] = useState('');

  useEffect(() => {
    if (!state.isLoaded) return;
    const whole = Object.values(state.messages)
      .filter(({ role, isWhole }) => isWhole && role !== 'user')
      .map(({ id, text }) => ({ id, text: `${words.agent}: ${spoken(text)}` }));
    const open = Object.values(state.waits)
      .filter(({ interaction }) => interaction.status === 'pending')
      .map(({ interaction }) => ({ id: interaction.id, text: waitingText(interaction, words) }));
    // In place of the question that was answered: the company's own code is at work now.
    const working = Object.values(state.calls).map(({ id, progress }) => ({
      id: `${id} ${progress ?? ''}`,
      text: progress ?? words.thinking,
    }));
    const failed = Object.values(state.turns)
      .filter(({ status, task_id }) => status === 'failed' && task_id === null)
      .map(({ id }) => ({ id: `${id} failed`, text: words.replyFailed }));
    const known = told.current;
    const fresh = [...whole, ...open, ...working, ...failed].filter(({ id }) => !known?.ids.has(id));
    told.current = { ids: new Set([...(known?.ids ?? []), ...fresh.map(({ id }) => id)]), oldest: state.oldest };
    // What was there when the page was opened, or is older, is read by whoever looks for it.
    const isNews = known !== null && known.oldest === state.oldest;
    // What was waited for and is not any more must not be read as if it still were.
    const isWaitOver = isWaitTold.current && open.length === 0;
    isWaitTold.current = open.length > 0;
    if (isNews && fresh.length > 0) setNews(fresh.map(({ text }) => text).join('\n'));
    else if (isWaitOver) setNews('');
  }, [state, words]);

  return (
    <div aria-live="polite" className="sr-only" role="status">
      {news}
    </div>
  );
}

const waitingText = (interaction: Interaction, words: Words) =>
  isForCompany(interaction) ? words.waitingForCompany : `${words.waitingForYou}: ${headlineOf(interaction)}`;

/** Without the marks that are seen as form and heard as noise. */
const spoken = (markdown: string) => markdown.replace(/\]\([^)]*\)/g, '').replace(/[*_`#>|~[\]]+/g, ' ');
