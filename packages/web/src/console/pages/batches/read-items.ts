export type BatchItem = {
  message: string;
  user_id?: string;
  context?: Record<string, unknown>;
  metadata?: Record<string, string>;
};

/** Reads JSON Lines, or CSV with a header. Errors name the line. */
export function readItems(name: string, text: string): BatchItem[] {
  const items = /\.(jsonl|ndjson|json)$/i.test(name) ? ofJsonLines(text) : ofCsv(text);
  if (items.length === 0) throw new Error('The file has no lines.');
  if (items.length > 5000) throw new Error(`The file has ${items.length} lines; a batch has at most 5,000.`);
  return items;
}

function ofJsonLines(text: string): BatchItem[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const item = JSON.parse(line) as BatchItem;
      if (typeof item?.message !== 'string') throw new Error('`message` is missing or not a string');
      return [item];
    } catch (error) {
      throw new Error(`Line ${index + 1} cannot be read: ${(error as Error).message}.`);
    }
  });
}

/** Columns other than `message` and `user_id` become context of the conversation. */
function ofCsv(text: string): BatchItem[] {
  const [head = [], ...lines] = cellsOf(text);
  const names = head.map((name) => name.trim());
  if (!names.includes('message'))
    throw new Error('The first line must name the columns, and one of them must be `message`.');
  return lines.map((cells, index) => {
    if (cells.length !== names.length)
      throw new Error(`Row ${index + 2} has ${cells.length} cells, but the first line names ${names.length} columns.`);
    const row = Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
    const { message = '', user_id = '', ...context } = row;
    if (message.trim() === '') throw new Error(`Row ${index + 2} has no message.`);
    return { message, ...(user_id !== '' && { user_id }), ...(Object.keys(context).length > 0 && { context }) };
  });
}

/** RFC 4180: quoted cells may contain commas, line breaks and doubled quotes. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const given = text.replace(/^\uFEFF/, '');
  for (let at = 0; at < given.length; at++) {
    const sign = given[at] as string;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (given[at + 1] === '"') {
        cell += '"';
        at++;
      } else isQuoted = false;
    } else if (sign === '"' && cell === '') isQuoted = true;
    else if (sign === ',' || sign === '\n') {
      row.push(cell.replace(/\r$/, ''));
      cell = '';
      if (sign === '\n') {
        rows.push(row);
        row = [];
      }
    } else cell += sign;
  }
  if (isQuoted) throw new Error('A quoted cell is never closed.');
  if (cell !== '' || row.length > 0) rows.push([...row, cell.replace(/\r$/, '')]);
  return rows.filter((cells) => cells.length > 1 || cells[0] !== '');
}
