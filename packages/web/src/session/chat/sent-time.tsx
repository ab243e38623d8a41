import { useLanguage } from '../words/words.ts';

const time = { timeStyle: 'short' } as const;
const day = { day: 'numeric', month: 'short' } as const;

/** The time of day, with the date if it is not today. */
export function SentTime({ at, className = '' }: { at: string | null; className?: string }) {
  const { locale } = useLanguage();
  if (at === null) return null;
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date().toDateString();
  const timeOfDay = moment.toLocaleTimeString(locale, time);
  return (
    <time
      className={`px-2 text-xs text-muted-foreground tabular-nums ${className}`}
      dateTime={at}
      title={moment.toLocaleString(locale)}
    >
      {isToday ? timeOfDay : `${moment.toLocaleDateString(locale, day)}, ${timeOfDay}`}
    </time>
  );
}
