import type { Session } from '../use-session.ts';
import { useWords } from '../words/words.ts';

type OpeningProps = { opening: Session['opening']; send: (text: string) => void };

/** What stands where nothing has been said yet. */
export function Opening({ opening, send }: OpeningProps) {
  const words = useWords();
  return (
    <div className="flex animate-rise flex-col items-center gap-6">
      <p
        className="text-center text-2xl font-medium tracking-tight text-balance whitespace-pre-line sm:text-3xl"
        dir="auto"
      >
        {opening?.message ?? words.greeting}
      </p>
      {opening && opening.suggestions.length > 0 && (
        <ul className="flex flex-wrap justify-center gap-2">
          {opening.suggestions.map((text) => (
            <li className="max-w-full" key={text}>
              <button
                className="pressable max-w-full rounded-full border bg-card px-4 py-2 text-start text-[0.9375rem] wrap-anywhere hover:border-muted-foreground/50 hover:bg-muted"
                dir="auto"
                onClick={() => send(text)}
                type="button"
              >
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
