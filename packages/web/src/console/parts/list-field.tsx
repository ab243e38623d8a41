import { FieldFrame, useForm } from './form.tsx';

/** A list of strings, one per line. */
export function ListField({
  name,
  label,
  hint,
  placeholder,
  rows = 3,
}: {
  name: string;
  label: string;
  hint?: React.ReactNode;
  placeholder?: string;
  rows?: number;
}) {
  const { values, set } = useForm();
  return (
    <FieldFrame hint={hint} label={label} name={name}>
      {(ids) => (
        <textarea
          {...ids}
          className="control h-auto min-h-16 py-1.5 font-mono text-sm leading-5"
          onChange={(event) => set(name, event.target.value)}
          placeholder={placeholder}
          rows={rows}
          spellCheck={false}
          value={String(values[name] ?? '')}
        />
      )}
    </FieldFrame>
  );
}

export const linesOf = (text: unknown): string[] =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
