import { type ReactNode, useId, useState } from 'react';
import { Button } from '../button.tsx';
import { useWords } from '../words/words.ts';
import type { Interaction } from './chat-state.ts';

type Asked = NonNullable<Interaction['questions']>[number];

/** What is chosen of a question's options, and what is written beside them. */
type Draft = { chosen: readonly string[]; written: string };

type QuestionFormProps = {
  questions: readonly Asked[];
  isSending: boolean;
  /** One answer for each question, in order. */
  submit: (answers: string[]) => void;
  submitWord: string;
  /** What else can be said. */
  children: ReactNode;
};

export function QuestionForm({ questions, isSending, submit, submitWord, children }: QuestionFormProps) {
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => questions.map(() => ({ chosen: [], written: '' })));
  const answers = drafts.map(({ chosen, written }) =>
    [...chosen, written.trim()].filter((each) => each !== '').join(', '),
  );
  const isComplete = answers.every((answer) => answer !== '');
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete && !isSending) submit(answers);
      }}
    >
      {questions.map((asked, at) => (
        <Field
          asked={asked}
          change={(draft) => setDrafts(drafts.map((each, index) => (index === at ? draft : each)))}
          draft={drafts[at] as Draft}
          // biome-ignore lint/suspicious/noArrayIndexKey: questions are answered by their place.
          key={at}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button disabled={!isComplete || isSending} look="primary" type="submit">
          {submitWord}
        </Button>
        {children}
      </div>
    </form>
  );
}

function Field({ asked, draft, change }: { asked: Asked; draft: Draft; change: (draft: Draft) => void }) {
  const words = useWords();
  const name = useId();
  const { question, header, options, multi_select } = asked;
  const toggle = (option: string) => {
    const isChosen = draft.chosen.includes(option);
    if (!multi_select) return change({ chosen: [option], written: '' });
    change({ ...draft, chosen: isChosen ? draft.chosen.filter((each) => each !== option) : [...draft.chosen, option] });
  };
  return (
    <fieldset className="min-w-0">
      <legend className="mb-3 w-full text-[1.0625rem] font-medium leading-snug wrap-anywhere">
        {header !== '' && (
          <span className="mb-1 block text-sm font-normal text-muted-foreground">
            <bdi>{header}</bdi>
          </span>
        )}
        <bdi>{question}</bdi>
      </legend>
      <div className="flex flex-col gap-2">
        {options.map((option) => (
          <label
            className="pressable flex items-center gap-3 rounded-xl border px-3.5 py-2.5 hover:bg-muted has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            key={option}
          >
            <input
              checked={draft.chosen.includes(option)}
              className="size-4 shrink-0 accent-accent outline-none"
              name={name}
              onChange={() => toggle(option)}
              type={multi_select ? 'checkbox' : 'radio'}
            />
            <span className="min-w-0 wrap-anywhere" dir="auto">
              {option}
            </span>
          </label>
        ))}
        <input
          aria-label={`${options.length > 0 ? words.otherAnswer : words.yourAnswer}: ${question}`}
          autoComplete="off"
          className="min-h-11 w-full rounded-xl border bg-background px-3.5 py-2.5 placeholder:text-muted-foreground"
          dir={draft.written === '' ? undefined : 'auto'}
          maxLength={4000}
          onChange={({ target }) => change({ chosen: multi_select ? draft.chosen : [], written: target.value })}
          placeholder={options.length > 0 ? words.otherAnswer : words.yourAnswer}
          value={draft.written}
        />
      </div>
    </fieldset>
  );
}
