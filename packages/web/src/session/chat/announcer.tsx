import { useEffect, useRef, useState } from 'react';
import { useWords } from '../words/words.ts';
import type { ChatState } from './chat-state.ts';

/** Says to a screen reader what has come, once it is whole: never word by word. */
export function Announcer({ state }: { state: ChatState }) {
  const words = useWords();
  const told = useRef<{ ids: Set<string>; oldest: string | null } | null>(null);
  const [news, setNews] = useState('');

  useEffect(() => {
    if (!state.isLoaded) return;
    const whole = Object.values(state.messages)
      .filter(({ role, isWhole }) => isWhole && role !== 'user')
      .map(({ id, text }) => ({ id, text: `${words.agent}: ${spoken(text)}` }));
    const open = Object.values(state.waits)
      .filter(({ interaction }) => interaction.status === 'pending')
      .map(({ interaction: { id, summary } }) => ({ id, text: `${words.waitingForYou}: ${summary}` }));
    // In place of the question that was answered: the company's own code is at work now.
    const working = Object.values(state.calls).map(({ id, progress }) => ({
      id: `${id} ${progress ?? ''}`,
      text: progress ?? words.thinking,
    }));
    const known = told.current;
    const fresh = [...whole, ...open, ...working].filter(({ id }) => !known?.ids.has(id));
    told.current = { ids: new Set([...(known?.ids ?? []), ...fresh.map(({ id }) => id)]), oldest: state.oldest };
    // What was there when the page was opened, or is older, is read by whoever looks for it.
    const isNews = known !== null && known.oldest === state.oldest;
    if (isNews && fresh.length > 0) setNews(fresh.map(({ text }) => text).join('\n'));
  }, [state, words]);

  return (
    <div aria-live="polite" className="sr-only" role="status">
      {news}
    </div>
  );
}

/** Without the marks that are seen as form and heard as noise. */
const spoken = (markdown: string) => markdown.replace(/\]\([^)]*\)/g, '').replace(/[*_`#>|~[\]]+/g, ' ');
