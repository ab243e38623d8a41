import { CopyButton } from '../copy.tsx';
import { CodeBlock } from '../empty-state.tsx';

type Row = Readonly<Record<string, unknown>>;

/** More rows or columns are easier to read as JSON. */
const [mostRows, mostColumns] = [50, 8];

/** A value of a tool: a table if it is flat, otherwise JSON or text. */
export function ValueView({ value, label }: { value: unknown; label: string }) {
  const read = typeof value === 'string' ? (parsed(value) ?? value) : value;
  if (read === null || read === undefined) return <p className="text-quiet text-sm">Nothing</p>;
  if (isRow(read)) {
    const entries = Object.entries(read);
    if (entries.length === 0) return <p className="text-quiet text-sm">No arguments</p>;
    if (entries.every(([, each]) => isPlain(each)))
      return (
        <Table label={label} text={JSON.stringify(read, null, 2)}>
          <tbody className="divide-y">
            {entries.map(([name, each]) => (
              <tr key={name}>
                <th
                  className="w-0 whitespace-nowrap px-3 py-1.5 text-left align-top font-normal text-quiet"
                  scope="row"
                >
                  {name}
                </th>
                <td className="whitespace-pre-wrap px-3 py-1.5 wrap-anywhere">{String(each)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      );
  }
  const columns = columnsOf(read);
  if (columns)
    return (
      <Table label={label} text={JSON.stringify(read, null, 2)}>
        <thead>
          <tr className="border-b bg-muted/60 text-left text-quiet">
            {columns.map((name) => (
              <th className="px-3 py-1.5 font-normal" key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y">
          {(read as Row[]).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result have no other key.
            <tr key={at}>
              {columns.map((name) => (
                <td className="px-3 py-1.5 align-top" key={name}>
                  {row[name] === undefined ? '' : String(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
    );
  return <CodeBlock code={typeof read === 'string' ? read : JSON.stringify(read, null, 2)} name={label} wraps />;
}

function Table({ label, text, children }: { label: string; text: string; children: React.ReactNode }) {
  return (
    <div className="panel relative">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <div className="overflow-x-auto pr-9" tabIndex={0}>
        <table aria-label={label} className="w-full text-sm">
          {children}
        </table>
      </div>
      <span className="absolute top-1 right-1">
        <CopyButton label={`Copy ${label}`} text={text} />
      </span>
    </div>
  );
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

const isPlain = (value: unknown) => value === null || typeof value !== 'object';

function columnsOf(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostRows) return null;
  if (!value.every((each) => isRow(each) && Object.values(each).every(isPlain))) return null;
  const names = [...new Set(value.flatMap((each) => Object.keys(each)))];
  return names.length > 0 && names.length <= mostColumns ? names : null;
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
